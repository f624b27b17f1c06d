//! What else is said of a model on data without labels, to stand beside the estimate.
//!
//! Each baseline is one file with its reference. Some look at the summed scores alone, some compare them with a labelled
//! [`Old`] domain, some look at the views' hard predictions and, like the estimate, need views that are independent given the class.
//! Where a baseline does not apply it says why.

mod agreement;
mod ballots;
mod confidence;
mod dawid_skene;
mod difference;
mod entropy;
mod gaussian;
mod importance;
mod spectral;
mod threshold;
mod validation;

use crate::data::{Batch, VIEWS};
use crate::loss::{self, Loss};
use crate::numeric::argmax;
use std::borrow::Cow;

/// What a baseline says.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct Said {
    /// The mean loss.
    pub risk: Option<f64>,
    /// How often the class with the largest summed score is wrong.
    pub error_rate: Option<f64>,
    /// How often the class with the largest score of each view is wrong.
    pub view_error: Option<Vec<f64>>,
}

impl Said {
    fn risk(value: f64) -> Self {
        Self { risk: Some(value), ..Self::default() }
    }

    fn error_rate(value: f64) -> Self {
        Self { error_rate: Some(value), ..Self::default() }
    }
}

/// Why a baseline does not apply, in words.
pub type Unsuited = &'static str;

/// A baseline and what it says of some rows.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Baseline {
    /// Its name.
    pub name: &'static str,
    /// Whose it is.
    pub reference: &'static str,
    /// What it says, or why it does not apply.
    pub said: Result<Said, Unsuited>,
}

/// Labelled rows of an old domain.
#[derive(Debug, Clone)]
pub struct Old {
    rows: Batch,
    labels: Vec<usize>,
}

impl Old {
    /// The rows of a batch that have labels; nothing where none has.
    pub fn new(batch: &Batch) -> Option<Self> {
        let labelled: Vec<usize> = (0..batch.rows()).filter(|&row| batch.label(row).is_some()).collect();
        let labels: Vec<usize> = labelled.iter().filter_map(|&row| batch.label(row)).collect();
        (!labels.is_empty()).then(|| Self { rows: batch.select(&labelled), labels })
    }

    /// The same where only the views that a loss judges say something.
    #[must_use]
    pub fn judged(&self, loss: &dyn Loss) -> Self {
        Self { rows: judged(&self.rows, loss).into_owned(), labels: self.labels.clone() }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// Whether the prediction of each row is wrong, as one or zero.
    pub fn wrong(&self) -> Vec<f64> {
        let predicted = predictions(&self.rows);
        predicted.iter().zip(&self.labels).map(|(a, b)| f64::from(u8::from(a != b))).collect()
    }

    /// In how many rows a view's own prediction is wrong, of how many that have the view.
    pub fn view_wrong(&self, view: usize) -> [f64; 2] {
        let votes = ballots::predictions_of(&self.rows, view);
        let cast = votes.iter().zip(&self.labels).filter_map(|(vote, label)| Some((*vote)? != *label));
        cast.fold([0.0; 2], |[wrong, all], is| [wrong + f64::from(u8::from(is)), all + 1.0])
    }

    /// What each row costs.
    pub fn losses(&self, loss: &dyn Loss) -> Vec<f64> {
        let terms: Vec<Vec<f64>> =
            (0..self.rows.views()).map(|view| loss::terms_of(loss, &self.rows, view)).collect();
        loss::losses_of(loss, &self.rows, &terms, &self.labels)
    }
}

const NO_OLD: Unsuited = "it compares with labelled rows of an old domain, the source: give them";
const THREE_VIEWS: Unsuited = "it compares the predictions of three views with scores";
const TWO_CLASSES: Unsuited = "it is for two classes";
const LOG_LOSS: Unsuited = "it is for the log loss";

/// What every baseline says of some rows, beside labelled rows of an old domain where these are given. The old rows must have the
/// same views and classes.
pub fn all(rows: &Batch, old: Option<&Old>, loss: &dyn Loss) -> Vec<Baseline> {
    let old = old.map(|old| old.judged(loss));
    let with_old = |said: &dyn Fn(&Old) -> Said| old.as_ref().map(said).ok_or(NO_OLD);
    // What is made of the views' own predictions looks at all that have any.
    let (all, rows) = (rows.scored(), &*judged(rows, loss));
    let by_votes = |said: &dyn Fn(&Batch) -> Result<Said, Unsuited>| match all.views() {
        ..VIEWS => Err(THREE_VIEWS),
        _ => said(&all),
    };
    let baseline = |name, reference, said| Baseline { name, reference, said };
    vec![
        baseline("entropy", "the model's own posterior", entropy::predictive_entropy(rows, loss)),
        baseline("average-confidence", "Hendrycks and Gimpel 2017", Ok(confidence::average_confidence(rows))),
        baseline(
            "difference-of-confidence",
            "Guillory et al. 2021",
            with_old(&|old| difference::difference_of_confidence(rows, old)),
        ),
        baseline("atc", "Garg et al. 2022", with_old(&|old| threshold::thresholded_confidence(rows, old))),
        baseline("validation", "the old domain's labels", with_old(&|old| validation::validation(old, loss))),
        baseline(
            "importance-weighted",
            "Shimodaira 2000; Bickel et al. 2007",
            with_old(&|old| importance::weighted_validation(rows, old, loss)),
        ),
        baseline(
            "dawid-skene",
            "Dawid and Skene 1979",
            by_votes(&|rows| dawid_skene::expectation_maximisation(rows, loss)),
        ),
        baseline(
            "gaussian-margin",
            "Balasubramanian et al. 2011",
            gaussian::gaussian_margin(rows, old.as_ref(), loss),
        ),
        baseline("agreement-rates", "Platanios et al. 2014", by_votes(&agreement::agreement_rates)),
        baseline(
            "spectral",
            "Jaffe et al. 2015",
            by_votes(&|rows| spectral::spectral_meta_learner(rows, loss)),
        ),
    ]
}

/// The rows where only the views that a loss judges say something.
fn judged<'a>(rows: &'a Batch, loss: &dyn Loss) -> Cow<'a, Batch> {
    loss.judged().map_or(Cow::Borrowed(rows), |views| Cow::Owned(rows.only(views)))
}

/// The class with the largest summed score of each row.
fn predictions(rows: &Batch) -> Vec<usize> {
    let (n, k, total) = (rows.rows(), rows.k(), rows.total());
    (0..n).map(|row| argmax((0..k).map(|class| total[class * n + row]))).collect()
}

/// The softmax of the summed scores, row by row.
fn beliefs(rows: &Batch) -> Vec<Vec<f64>> {
    let (n, k, total) = (rows.rows(), rows.k(), rows.total());
    (0..n)
        .map(|row| {
            crate::numeric::linalg::softmax(&(0..k).map(|class| total[class * n + row]).collect::<Vec<_>>())
        })
        .collect()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::LogLoss;

    /// Rows of three views of two classes with these log odds of the second, view by view.
    pub(super) fn rows_of(odds: &[[f64; 3]]) -> Batch {
        let n = odds.len();
        let of_view = |view: usize| {
            let half = |sign: f64| odds.iter().map(move |row| 0.5 * sign * row[view]);
            half(-1.0).chain(half(1.0)).collect::<Vec<f64>>()
        };
        Batch::new(n, [of_view(0), of_view(1), of_view(2)]).expect("finite")
    }

    #[test]
    fn every_baseline_answers_or_says_why_not() {
        let rows = rows_of(&[[1.0, -1.0, 0.5], [-1.0, -2.0, 1.0], [2.0, 1.0, 1.0], [-0.5, 0.4, -0.3]]);
        let without = all(&rows, None, &LogLoss);
        assert_eq!(without.iter().filter(|baseline| baseline.said == Err(NO_OLD)).count(), 4);
        let labelled = rows.clone().with_labels(vec![Some(1), None, Some(0), Some(0)]).expect("one a row");
        let old = Old::new(&labelled).expect("labels");
        assert_eq!((old.rows(), old.wrong()), (3, vec![0.0, 1.0, 0.0]));
        let with = all(&rows, Some(&old), &LogLoss);
        assert!(with.iter().all(|baseline| baseline.said != Err(NO_OLD)));
        assert!(Old::new(&rows).is_none());
        // Three classes.
        let three =
            Batch::new(1, [vec![0.0, 1.0, 2.0], vec![1.0, 0.0, 0.0], vec![0.0, 0.0, 1.0]]).expect("finite");
        let unsuited = all(&three, None, &LogLoss);
        let binary = unsuited.iter().filter(|baseline| baseline.said == Err(TWO_CLASSES));
        assert_eq!(
            binary.map(|baseline| baseline.name).collect::<Vec<_>>(),
            ["gaussian-margin", "agreement-rates", "spectral"]
        );
    }
}
