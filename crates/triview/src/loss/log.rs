//! The log loss of the summed scores (example 1 of the paper).

use super::Loss;
use crate::data::total;
use crate::numeric::columns;
use crate::numeric::linalg::softmax;

/// `L(x, y) = log sum_i exp(sum_v s_v(i)) - sum_v s_v(y)`: scores are additive log potentials.
#[derive(Debug, Clone, Copy)]
pub struct LogLoss;

impl Loss for LogLoss {
    fn name(&self) -> &'static str {
        "log"
    }

    fn terms(&self, _view: usize, _rows: usize, scores: &[f64], terms: &mut [f64]) {
        terms.copy_from_slice(scores);
    }

    fn offset(&self, rows: usize, scores: &[&[f64]], offset: &mut [f64]) {
        let mut total = total(scores.iter().copied());
        let k = total.len().checked_div(rows).unwrap_or(0);
        columns::softmax_columns(&mut total, rows, k, Some(offset));
    }

    fn term_gradient(&self, _view: usize, _scores: &[f64], term: usize, gradient: &mut [f64]) {
        gradient.fill(0.0);
        gradient[term] = 1.0;
    }

    fn offset_gradient(&self, scores: &[&[f64]], gradient: &mut [Vec<f64>]) {
        gradient.fill(softmax(&total(scores.iter().copied())));
    }
}
