//! The maps from what a view says to what it is identified by.

use super::{Posterior, Softmax, Way};
use crate::data::VIEWS;
use crate::error::{Error, Result};
use crate::numeric::columns;
use serde::{Deserialize, Serialize};

/// No probability is taken to be smaller than this, so that products of three never vanish.
const SMALLEST_PROBABILITY: f64 = 1e-90;

/// A map from a view's scores to its features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum FeatureMap {
    /// The scores themselves, as in the paper, and covariates of the view as they are.
    Scores,
    /// A softmax of each view's standardised scores: bounded, so its third moments are quiet.
    Softmax {
        /// One standardisation a view.
        views: [Softmax; VIEWS],
    },
    /// A class posterior for each view, fitted to the data without labels.
    Posterior {
        /// How it was fitted.
        way: Way,
        /// The class prior that goes with it.
        prior: Vec<f64>,
        /// One posterior a view.
        views: [Posterior; VIEWS],
    },
}

impl FeatureMap {
    /// The name that `fit.features` shows.
    pub fn name(&self) -> &'static str {
        match self {
            FeatureMap::Scores => "scores",
            FeatureMap::Softmax { .. } => "softmax",
            FeatureMap::Posterior { way, .. } => way.name(),
        }
    }

    /// The prior that goes with its posteriors, where it has such.
    pub(crate) fn prior(&self) -> Option<&[f64]> {
        match self {
            FeatureMap::Posterior { prior, .. } => Some(prior),
            _ => None,
        }
    }

    /// Dimension of what a view with so many scores and covariates is identified by, leading one included. Posteriors are of states,
    /// one a class or more.
    pub fn dimension(&self, view: usize, width: usize) -> usize {
        match self {
            FeatureMap::Scores => width + 1,
            FeatureMap::Softmax { views } => views[view].len(),
            FeatureMap::Posterior { prior, .. } => prior.len(),
        }
    }

    /// Checks that a map that was read from a file is one for `k` classes, views of so many scores and covariates, and
    /// so many states.
    ///
    /// # Errors
    /// [`Error::InvalidMoments`].
    pub fn check(&self, k: usize, widths: [usize; VIEWS], states: usize) -> Result<()> {
        let fits = match self {
            FeatureMap::Scores => states == k,
            FeatureMap::Softmax { views } => {
                states == k && views.iter().zip(widths).all(|(view, width)| view.fits(k, width))
            }
            FeatureMap::Posterior { prior, views, .. } => {
                prior.len() == states
                    && prior.iter().all(|p| *p > 0.0)
                    && views.iter().zip(widths).all(|(view, width)| view.fits(k, width, states))
            }
        };
        if fits { Ok(()) } else { Err(Error::InvalidMoments { reason: "its feature map is broken".into() }) }
    }

    /// What one view is identified by and the class posterior that the view alone implies, from the columns of its scores, one
    /// for each of `k` classes, and of its covariates. In the rows `missing`, where the view says nothing, both are
    /// constant: the posterior is uniform, or the map's prior.
    pub(crate) fn evaluate(
        &self,
        view: usize,
        (rows, k): (usize, usize),
        inputs: &[f64],
        missing: &[usize],
        out: &mut Evaluated,
    ) {
        let scores = &inputs[..rows * k];
        out.features.clear();
        out.features.resize(rows, 1.0);
        out.posterior.clear();
        match self {
            FeatureMap::Scores => {
                out.features.extend_from_slice(inputs);
                model_posterior(rows, scores, &mut out.posterior);
            }
            FeatureMap::Softmax { views } => {
                views[view].evaluate(rows, inputs, &mut out.work);
                out.features.extend_from_slice(&out.work[rows..]);
                model_posterior(rows, scores, &mut out.posterior);
            }
            FeatureMap::Posterior { views, .. } => {
                views[view].evaluate(rows, inputs, &mut out.work, &mut out.posterior);
            }
        }
        for (state, column) in out.posterior.chunks_exact_mut(rows).enumerate() {
            let nothing = match self {
                FeatureMap::Posterior { prior, .. } => prior[state],
                _ => 1.0 / k as f64,
            };
            missing.iter().for_each(|&row| column[row] = nothing);
        }
        if let FeatureMap::Posterior { .. } = self {
            out.features.extend_from_slice(&out.posterior[rows..]);
        }
        debug_assert_eq!(out.features.len(), rows * self.dimension(view, inputs.len() / rows));
        for p in &mut out.posterior {
            *p = p.max(SMALLEST_PROBABILITY);
        }
    }

    /// Multiplies the views' posteriors into one, `prod_v q_v / pi^(n - 1)`, normalised.
    pub(crate) fn combine(&self, rows: usize, posteriors: &[&[f64]], out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(posteriors[0]);
        for (n, posterior) in posteriors.iter().enumerate().skip(1) {
            debug_assert!(n < VIEWS);
            for (p, q) in out.iter_mut().zip(*posterior) {
                *p *= q;
            }
        }
        if let FeatureMap::Posterior { prior, .. } = self {
            for (column, prior) in out.chunks_exact_mut(rows).zip(prior) {
                let scale = prior.powi(1 - posteriors.len() as i32);
                column.iter_mut().for_each(|p| *p *= scale);
            }
        }
        let mut sum = vec![0.0; rows];
        for column in out.chunks_exact(rows) {
            sum.iter_mut().zip(column).for_each(|(sum, p)| *sum += p);
        }
        sum.iter_mut().for_each(|sum| *sum = 1.0 / *sum);
        for column in out.chunks_exact_mut(rows) {
            column.iter_mut().zip(&sum).for_each(|(p, inverse)| *p *= inverse);
        }
    }
}

/// The softmax of a view's own scores.
fn model_posterior(rows: usize, scores: &[f64], out: &mut Vec<f64>) {
    out.extend_from_slice(scores);
    columns::softmax_columns(out, rows, scores.len() / rows, None);
}

/// What a feature map makes of one view of some rows; columns of `rows` numbers.
#[derive(Debug, Default)]
pub(crate) struct Evaluated {
    /// The features, the leading ones first.
    pub(crate) features: Vec<f64>,
    /// `q_v(y | x_v)`, one column a class, or a state where there are more.
    pub(crate) posterior: Vec<f64>,
    work: Vec<f64>,
}
