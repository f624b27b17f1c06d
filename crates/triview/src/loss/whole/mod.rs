//! Losses and metrics of the whole prediction, which no sum and no product over views gives: one file each.
//!
//! Each is a function of how the summed scores and the class are distributed together. A [`Statistic`] holds the sums that it
//! needs. They are linear in the distribution, which may be that of labelled rows, of rows under a posterior, or signed.

mod auc;
mod brier;
mod calibration;
mod confusion;
mod error_rate;
mod f1;
mod hinge;

pub(crate) use auc::Auc;
pub(crate) use brier::Brier;
pub(crate) use calibration::{Calibration, PER_BIN};
pub(crate) use confusion::Confusion;
pub(crate) use error_rate::ErrorRate;
pub(crate) use f1::MacroF1;
pub(crate) use hinge::Hinge;

use crate::numeric::argmax;
use crate::numeric::linalg::softmax;

/// A loss of the summed scores: its mean is estimated from rows (see [`metrics`](crate::metrics)). Everything that the
/// estimate rests on, from the features to the names of the classes, is that of the log loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    /// Whether the class with the largest summed score is another than the row's: its mean is the error rate.
    Error,
    /// `sum_i (p_i - 1(y = i))^2` with `p` the softmax of the summed scores.
    Brier,
}

impl Whole {
    /// Every one of them.
    pub const ALL: [Whole; 2] = [Whole::Error, Whole::Brier];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Whole::Error => "error",
            Whole::Brier => "brier",
        }
    }

    /// The one of this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|whole| whole.name() == name)
    }

    /// The largest that it can be; the smallest is zero.
    pub(crate) fn largest(self) -> f64 {
        match self {
            Whole::Error => 1.0,
            Whole::Brier => 2.0,
        }
    }

    /// What a row costs whose scores say nothing, over `k` classes that are all as likely.
    pub(crate) fn of_guessing(self, k: usize) -> f64 {
        (0..k).map(|class| self.value(&vec![0.0; k], class)).sum::<f64>() / k as f64
    }

    /// What a row with these summed scores costs if it is of this class.
    pub fn value(self, scores: &[f64], class: usize) -> f64 {
        let row = Predicted::new(scores);
        match self {
            Whole::Error => error_rate::value(&row, class),
            Whole::Brier => brier::value(&row, class),
        }
    }
}

/// What the model says of a row.
pub(crate) struct Predicted<'a> {
    pub(crate) scores: &'a [f64],
    /// The softmax of the scores.
    pub(crate) probabilities: Vec<f64>,
    /// The class with the largest score.
    pub(crate) class: usize,
}

impl<'a> Predicted<'a> {
    pub(crate) fn new(scores: &'a [f64]) -> Self {
        Self { scores, probabilities: softmax(scores), class: argmax(scores.iter().copied()) }
    }
}

/// Sums over rows that a number about scores and classes is made from.
pub(crate) trait Statistic: Sync {
    /// How many sums there are.
    fn len(&self) -> usize;

    /// What one row adds to which sums, if its classes have these weights.
    fn add(&self, row: &Predicted<'_>, weights: &[f64], out: &mut Added<'_>);

    /// The number, from the sums of a distribution of mass one.
    fn value(&self, sums: &[f64]) -> f64;
}

/// Where a row's additions to sums are written.
pub(crate) struct Added<'a> {
    /// The place of the first sum.
    pub(crate) from: usize,
    pub(crate) out: &'a mut Vec<(usize, f64)>,
}

impl Added<'_> {
    fn push(&mut self, at: usize, value: f64) {
        self.out.push((self.from + at, value));
    }
}

/// A ratio, or zero where there is nothing to divide by.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole.abs() > f64::MIN_POSITIVE { part / whole } else { 0.0 }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The statistic of four rows of two classes, 0, 1, 0, 1, whose logits of the second class are -2, -1, 1, 3: sums, and value.
    pub(crate) fn of_four_rows(of: impl Fn(&[f64]) -> Box<dyn Statistic>) -> (Vec<f64>, f64) {
        let scores: Vec<f64> = LOGITS.iter().flat_map(|z| [0.0, *z]).collect();
        let statistic = of(&scores);
        let mut sums = vec![0.0; statistic.len()];
        for (row, class) in scores.chunks_exact(2).zip([0, 1, 0, 1]) {
            let mut weights = [0.0; 2];
            weights[class] = 0.25;
            let mut added = Vec::new();
            statistic.add(&Predicted::new(row), &weights, &mut Added { from: 0, out: &mut added });
            added.iter().for_each(|(at, value)| sums[*at] += value);
        }
        let value = statistic.value(&sums);
        (sums, value)
    }

    pub(crate) const LOGITS: [f64; 4] = [-2.0, -1.0, 1.0, 3.0];

    /// The probabilities of the second class.
    pub(crate) fn probabilities() -> [f64; 4] {
        LOGITS.map(|z| 1.0 / (1.0 + (-z).exp()))
    }

    #[test]
    fn values_by_hand() {
        let scores = [0.0, 3f64.ln()];
        assert_eq!([0, 1].map(|class| Whole::Error.value(&scores, class)), [1.0, 0.0]);
        // Probabilities 1/4 and 3/4.
        let [first, second] = [0, 1].map(|class| Whole::Brier.value(&scores, class));
        assert!((first - 1.125).abs() < 1e-12 && (second - 0.125).abs() < 1e-12, "{first} {second}");
        assert_eq!(Whole::ALL.map(|whole| Whole::named(whole.name())), Whole::ALL.map(Some));
        assert_eq!(Whole::named("log"), None);
    }
}
