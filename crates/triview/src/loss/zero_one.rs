//! The sum of the views' 0/1 losses (after example 2 of the paper).

use super::Loss;
use crate::numeric::argmax;

/// `L(x, y) = sum_v 1(argmax_i s_v(i) != y)`: how many views are wrong on their own. With `f_v(x_v, i)` one where the
/// view predicts `i` and `A` the number of views, `M_v` is the view's confusion matrix.
#[derive(Debug, Clone, Copy)]
pub struct ZeroOneLoss;

impl Loss for ZeroOneLoss {
    fn name(&self) -> &'static str {
        "zero-one"
    }

    fn range(&self, views: usize) -> [f64; 2] {
        [0.0, views as f64]
    }

    fn terms(&self, _view: usize, rows: usize, scores: &[f64], terms: &mut [f64]) {
        terms.fill(0.0);
        for row in 0..rows {
            terms[argmax(scores[row..].iter().step_by(rows).copied()) * rows + row] = 1.0;
        }
    }

    fn share(&self) -> f64 {
        1.0
    }

    fn offset(&self, _rows: usize, scores: &[&[f64]], offset: &mut [f64]) {
        offset.fill(scores.len() as f64);
    }

    /// It is flat wherever it has a slope.
    fn term_gradient(&self, _view: usize, _scores: &[f64], _term: usize, gradient: &mut [f64]) {
        gradient.fill(0.0);
    }

    fn offset_gradient(&self, _scores: &[&[f64]], gradient: &mut [Vec<f64>]) {
        gradient.iter_mut().for_each(|gradient| gradient.fill(0.0));
    }
}
