//! Every metric of the whole prediction from one pass over rows.

use crate::loss::whole::{
    Added, Auc, Brier, Calibration, Confusion, ErrorRate, Hinge, MacroF1, PER_BIN, Predicted, Statistic,
};

/// Which of the statistics is the calibration.
const CALIBRATION: usize = 3;

/// The metrics of a distribution of scores and classes.
#[derive(Debug, Clone)]
pub(crate) struct Values {
    pub(crate) error_rate: f64,
    pub(crate) brier: f64,
    pub(crate) hinge: f64,
    pub(crate) calibration_error: f64,
    pub(crate) macro_f1: f64,
    pub(crate) auc: f64,
    /// Row `i`, column `j`: of the rows of class `j` the share that is predicted to be `i`; cells row by row.
    pub(crate) confusion: Vec<f64>,
    /// Of each bin of confidence, the sums of confidence, of correctness and of rows.
    pub(crate) calibration: Vec<[f64; PER_BIN]>,
}

/// The sums of all of them, one after the other.
pub(super) struct Tally {
    statistics: [Box<dyn Statistic>; 6],
    confusion: Confusion,
}

impl Tally {
    /// For rows whose summed scores are these, `k` numbers a row.
    pub(super) fn new(k: usize, scores: &[f64]) -> Self {
        let statistics: [Box<dyn Statistic>; 6] = [
            Box::new(ErrorRate),
            Box::new(Brier),
            Box::new(Hinge),
            Box::new(Calibration),
            Box::new(MacroF1(k)),
            Box::new(Auc::new(k, scores)),
        ];
        Self { statistics, confusion: Confusion(k) }
    }

    /// The number of sums.
    pub(super) fn len(&self) -> usize {
        self.confusion.len() + self.statistics.iter().map(|statistic| statistic.len()).sum::<usize>()
    }

    /// What one row with these summed scores adds to which sums, if its classes have these weights.
    pub(super) fn add(&self, scores: &[f64], weights: &[f64], out: &mut Vec<(usize, f64)>) {
        out.clear();
        let row = Predicted::new(scores);
        let mut added = Added { from: 0, out };
        self.confusion.add(&row, weights, &mut added);
        added.from += self.confusion.len();
        for statistic in &self.statistics {
            statistic.add(&row, weights, &mut added);
            added.from += statistic.len();
        }
    }

    /// The metrics, from the sums of a distribution of mass one.
    pub(super) fn values(&self, sums: &[f64]) -> Values {
        let (confusion, mut rest) = sums.split_at(self.confusion.len());
        let [error_rate, brier, hinge, calibration_error, macro_f1, auc] =
            self.statistics.each_ref().map(|statistic| {
                let (own, after) = rest.split_at(statistic.len());
                rest = after;
                statistic.value(own)
            });
        let before: usize = self.statistics[..CALIBRATION].iter().map(|statistic| statistic.len()).sum();
        let bins = &sums[self.confusion.len() + before..][..self.statistics[CALIBRATION].len()];
        let calibration = bins.as_chunks().0.to_vec();
        let confusion = self.confusion.shares(confusion);
        Values { error_rate, brier, hinge, calibration_error, macro_f1, auc, confusion, calibration }
    }
}
