//! The truth, from labels, and what a model believes of itself, without them.

use crate::data::Batch;
use crate::loss::{self, Loss};
use crate::numeric::argmax;
use crate::numeric::linalg::log_sum_exp;

/// A mean over rows, and how far it may be from the population's.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// Its standard error; not a number for a single row.
    pub standard_error: f64,
}

impl Mean {
    pub(crate) fn of(values: &[f64]) -> Self {
        let rows = values.len() as f64;
        let value = values.iter().sum::<f64>() / rows;
        let spread = values.iter().map(|x| (x - value) * (x - value)).sum::<f64>();
        Self { value, standard_error: (spread / (rows - 1.0) / rows).sqrt() }
    }
}

/// The log loss `logsumexp_i s_i - s_y` of the summed scores `s` against the labels.
///
/// # Panics
/// When there is not one label a row, each below the number of classes.
pub fn log_loss(batch: &Batch, labels: &[impl Copy + Into<usize>]) -> Mean {
    by_row(batch, labels, |scores, label| log_sum_exp(scores) - scores[label])
}

/// Any loss that is made of terms of the views, against the labels.
///
/// # Panics
/// When there is not one label a row, each below the number of classes.
pub fn mean_loss(loss: &dyn Loss, batch: &Batch, labels: &[impl Copy + Into<usize>]) -> Mean {
    assert_eq!(batch.rows(), labels.len(), "one label a row");
    let terms: Vec<Vec<f64>> = (0..batch.views()).map(|view| loss::terms_of(loss, batch, view)).collect();
    Mean::of(&loss::losses_of(loss, batch, &terms, labels))
}

/// How often the largest of the summed scores is not the label's.
///
/// # Panics
/// When there is not one label a row, each below the number of classes.
pub fn error_rate(batch: &Batch, labels: &[impl Copy + Into<usize>]) -> Mean {
    by_row(batch, labels, |scores, label| f64::from(u8::from(argmax(scores.iter().copied()) != label)))
}

/// The entropy `-sum_i p_i log p_i` of the model's own posterior: its log loss if it were calibrated.
pub fn predictive_entropy(batch: &Batch) -> Mean {
    let mut scores = vec![0.0; batch.k()];
    let entropies: Vec<f64> = (0..batch.rows())
        .map(|row| {
            sum_views(batch, row, &mut scores);
            // -sum_i p_i (s_i - logsumexp s), which needs no logarithm of a p_i that is zero.
            let total = log_sum_exp(&scores);
            scores.iter().map(|s| (s - total).exp() * (total - s)).sum()
        })
        .collect();
    Mean::of(&entropies)
}

/// The mean of a loss of the summed scores and the label.
fn by_row(batch: &Batch, labels: &[impl Copy + Into<usize>], loss: impl Fn(&[f64], usize) -> f64) -> Mean {
    assert_eq!(batch.rows(), labels.len(), "one label a row");
    let mut scores = vec![0.0; batch.k()];
    let losses: Vec<f64> = labels
        .iter()
        .enumerate()
        .map(|(row, &label)| {
            sum_views(batch, row, &mut scores);
            loss(&scores, label.into())
        })
        .collect();
    Mean::of(&losses)
}

/// The scores of a row, summed over the views.
fn sum_views(batch: &Batch, row: usize, scores: &mut [f64]) {
    for (class, score) in scores.iter_mut().enumerate() {
        *score = (0..batch.views()).map(|view| batch.column(view, class)[row]).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows, three classes: posteriors (1/2, 1/4, 1/4) and (1/8, 1/8, 3/4) once the views are summed.
    fn batch() -> Batch {
        let posterior = [[0.5f64, 0.25, 0.25], [0.125, 0.125, 0.75]];
        let column = |scale: f64| {
            (0..3).flat_map(|class| posterior.map(|p| scale * p[class].ln() + 100.0)).collect::<Vec<f64>>()
        };
        Batch::new(2, [column(0.5), column(0.75), column(-0.25)]).expect("finite scores")
    }

    #[test]
    fn figures_are_those_of_the_summed_scores() {
        let risk = log_loss(&batch(), &[1u8, 2]);
        let (first, second) = (4.0f64.ln(), (4.0f64 / 3.0).ln());
        assert!((risk.value - (first + second) / 2.0).abs() < 1e-12);
        assert!((risk.standard_error - (first - second) / 2.0).abs() < 1e-12);
        assert_eq!(error_rate(&batch(), &[1usize, 2]).value, 0.5);
        let entropy = (1.5 * 2.0f64.ln() + 0.25 * 8.0f64.ln() + 0.75 * second) / 2.0;
        assert!((predictive_entropy(&batch()).value - entropy).abs() < 1e-12);
    }

    #[test]
    fn extreme_scores_do_not_overflow() {
        let scores = || vec![1e4, -1e4];
        let batch = Batch::new(1, [scores(), scores(), scores()]).expect("finite scores");
        assert_eq!(log_loss(&batch, &[1u8]).value, 6e4);
        assert_eq!(predictive_entropy(&batch).value, 0.0);
    }
}
