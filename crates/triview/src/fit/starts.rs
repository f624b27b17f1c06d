//! Where refinements begin.

use super::{Mixture, Whitening};
use crate::data::VIEWS;
use crate::moments::Layout;
use crate::numeric::linalg::from_rows;
use faer::Mat;

/// Where a refinement began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// The tensor power method.
    Tensor,
    /// The posterior that the model (or the fitted map) has of its own.
    Posterior,
}

impl Start {
    /// The name that `fit.start` shows.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Start::Tensor => "tensor",
            Start::Posterior => "posterior",
        }
    }
}

/// The class means under the posterior `p(y | x)` of the feature map.
pub(crate) fn posterior_start(whitening: &Whitening, layout: &Layout, sums: &[f64]) -> Mixture {
    let n = layout.rows.scalar(sums);
    let k = layout.posterior[0].shape[0];
    let plain: [Mat<f64>; VIEWS] = std::array::from_fn(|v| {
        let part = &layout.posterior[v];
        let weighted = from_rows(part.of(sums), k, part.shape[1]);
        Mat::from_fn(part.shape[1], k, |i, j| weighted[(j, i)] / weighted[(j, 0)].max(f64::MIN_POSITIVE))
    });
    let prior = (0..k).map(|j| layout.posterior[0].of(sums)[j * layout.posterior[0].shape[1]] / n).collect();
    whitening.mixture(prior, plain)
}
