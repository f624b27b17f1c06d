//! The exponential loss of the summed scores (extension 2 of the paper).

use super::{Form, Loss};

/// `L(x, y) = exp(-sum_v s_v(y))`, one product of the views' factors `f_v = exp(-s_v)`.
#[derive(Debug, Clone, Copy)]
pub struct ExponentialLoss;

impl Loss for ExponentialLoss {
    fn name(&self) -> &'static str {
        "exponential"
    }

    fn form(&self) -> Form {
        Form::Products(1)
    }

    fn heavy_tailed(&self) -> bool {
        true
    }

    fn terms(&self, _view: usize, _rows: usize, scores: &[f64], terms: &mut [f64]) {
        terms.iter_mut().zip(scores).for_each(|(term, score)| *term = (-score).exp());
    }

    fn offset(&self, _rows: usize, _scores: &[&[f64]], offset: &mut [f64]) {
        offset.fill(0.0);
    }

    fn term_gradient(&self, _view: usize, scores: &[f64], term: usize, gradient: &mut [f64]) {
        gradient.fill(0.0);
        gradient[term] = -(-scores[term]).exp();
    }

    fn offset_gradient(&self, _scores: &[&[f64]], gradient: &mut [Vec<f64>]) {
        gradient.iter_mut().for_each(|gradient| gradient.fill(0.0));
    }
}
