//! A class posterior of one view, log-linear in a basis of functions of its scores.

use super::Basis;
use crate::error::Result;
use crate::numeric::columns;
use crate::numeric::linalg::{from_rows, symmetric_eigen};
use faer::Mat;
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

/// The least share of the variance that is taken to be within classes.
const LEAST_WITHIN: f64 = 1e-4;

/// Linear discriminant weights, one row a class, constant first: `B_j = S^-1 mu_j`,
/// `b_j = log pi_j - mu_j . B_j / 2` with the covariance within classes
/// `S = E[phi phi^T] - sum_j pi_j mu_j mu_j^T`.
///
/// `second` is `E[phi phi^T]` (row by row) and `means` has one column a class. The means may come from signed
/// surrogate labels, so `S` may be indefinite by noise: its eigenvalues are kept above a twentieth of their
/// mean.
pub(crate) fn discriminant(prior: &[f64], second: &[f64], means: &Mat<f64>) -> Result<Vec<f64>> {
    let (p, k) = (means.nrows(), prior.len());
    let mut within = from_rows(second, p, p);
    for a in 0..p {
        for b in 0..p {
            within[(a, b)] -= (0..k).map(|j| prior[j] * means[(a, j)] * means[(b, j)]).sum::<f64>();
        }
    }
    let (values, vectors) = symmetric_eigen(within.as_ref())?;
    let mean = |sum: f64| sum / p as f64;
    // Classes within which nothing varies (votes that tell them) leave a share of what varies over all rows.
    let least = LEAST_WITHIN * mean((0..p).map(|a| second[a * p + a]).sum());
    let floor = (0.05 * mean(values.iter().map(|value| value.max(0.0)).sum())).max(least);
    let projected = vectors.transpose() * means;
    let mut weights = Vec::with_capacity(k * (p + 1));
    for j in 0..k {
        let scaled: Vec<f64> =
            (0..p).map(|a| projected[(a, j)] / values[a].max(floor).max(f64::MIN_POSITIVE)).collect();
        let row: Vec<f64> =
            (0..p).map(|a| (0..p).map(|b| vectors[(a, b)] * scaled[b]).sum::<f64>()).collect();
        let half: f64 = row.iter().enumerate().map(|(a, w)| 0.5 * w * means[(a, j)]).sum();
        weights.push(prior[j].max(1e-6).ln() - half);
        weights.extend(row);
    }
    Ok(weights)
}
