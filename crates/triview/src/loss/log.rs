//! The log loss of the summed scores (example 1 of the paper).

use super::Loss;
use crate::vectorised;

/// `L(x, y) = log sum_i exp(sum_v s_v(i)) - sum_v s_v(y)`: scores are additive log potentials.
#[derive(Debug, Clone, Copy)]
pub struct LogLoss;

impl Loss for LogLoss {
    fn name(&self) -> &'static str {
        "log"
    }

    fn terms(&self, _rows: usize, scores: &[f64], terms: &mut [f64]) {
        terms.copy_from_slice(scores);
    }

    fn offset(&self, rows: usize, scores: &[&[f64]], offset: &mut [f64]) {
        let mut total = scores[0].to_vec();
        for scores in &scores[1..] {
            total.iter_mut().zip(*scores).for_each(|(total, score)| *total += score);
        }
        let k = total.len().checked_div(rows).unwrap_or(0);
        vectorised::softmax_columns(&mut total, rows, k, Some(offset));
    }
}
