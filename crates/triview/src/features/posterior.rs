//! A class posterior of one view, log-linear in a basis of functions of its scores.

use super::Basis;
use crate::numeric::columns;
use serde::{Deserialize, Serialize};

/// How posteriors were fitted without labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Linear discriminants from the first pass's own moments; needs no rows.
    Discriminant,
    /// Softmax regression of the other views' surrogate labels on the view's scores.
    Regression,
    /// Maximum likelihood of the three views over a sieve of ridge functions.
    Sieve,
    /// The model's own scores with a temperature a view and an offset a view and class, by maximum likelihood of the
    /// three views.
    Calibration,
}

impl Way {
    /// The name that `fit.features` shows.
    pub fn name(self) -> &'static str {
        match self {
            Way::Discriminant => "discriminant",
            Way::Regression => "regression",
            Way::Sieve => "posterior",
            Way::Calibration => "calibrated",
        }
    }
}

/// `q(y | x_v) = softmax(B phi(x_v))`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Posterior {
    pub(crate) basis: Basis,
    /// `B`, one row a class (or a state, where there are more), the constant first.
    pub(crate) weights: Vec<f64>,
}

impl Posterior {
    /// Whether it is one for `k` classes, so many scores and features, and so many states.
    pub(crate) fn fits(&self, k: usize, width: usize, states: usize) -> bool {
        self.basis.fits(k, width)
            && self.weights.len() == states * (self.basis.len() + 1)
            && self.weights.iter().all(|weight| weight.is_finite())
    }

    /// One column a state; `work` is scratch.
    pub(crate) fn evaluate(&self, rows: usize, scores: &[f64], work: &mut Vec<f64>, out: &mut Vec<f64>) {
        let width = self.basis.len();
        let states = self.weights.len() / (width + 1);
        self.basis.evaluate(rows, scores, work);
        out.clear();
        out.resize(rows * states, 0.0);
        columns::affine_columns(work, rows, width, &self.weights, states, out);
        columns::softmax_columns(out, rows, states, None);
    }
}
