//! A state solved: the fit, its names, its risk and its standard error.

use crate::decomposition::{Mixture, Whitened, Whitening, power_method};
use crate::error::Result;
use crate::interval::jackknife;
use crate::linalg::from_rows;
use crate::loss;
use crate::matching::Matching;
use crate::moments::{Layout, Moments};
use crate::refinement::{Refined, refine};
use crate::risk::{Risk, identify, risk};
use crate::surrogate::Kind;
use crate::views::VIEWS;
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

/// Everything that a state says, classes in the order of their names.
#[derive(Debug, Clone)]
pub(crate) struct Solution {
    pub(crate) whitening: Whitening,
    pub(crate) mixture: Mixture,
    pub(crate) start: Start,
    pub(crate) refined: Refined,
    pub(crate) matching: Matching,
    pub(crate) kind: Kind,
    pub(crate) risk: Risk,
    pub(crate) standard_error: f64,
}

/// Solves a state: fit from both starts, keep the lower objective, find the names, and of the two kinds of
/// surrogate take the one with the smaller standard error.
pub(crate) fn solve(moments: &Moments, seed: u64) -> Result<Solution> {
    let (header, layout, sums) = (moments.header(), moments.layout(), moments.total());
    let loss = loss::by_name(&header.loss)?;
    let whitening = Whitening::fit(&header.schema, layout, &sums)?;
    let whitened = whitening.apply(layout, &sums);
    let (start, refined) = fit(&whitening, &whitened, layout, &sums, seed)?;
    let (mixture, matching) = identify(loss, &whitening, &refined.mixture, layout, &sums)?;
    let risks = Kind::ALL.map(|kind| risk(loss, kind, &whitening, &mixture, layout, &sums));
    let [linear, pair] = risks;
    let risks = [linear?, pair?];
    let errors = jackknife(loss, moments, &whitening, &mixture, [risks[0].value, risks[1].value])?;
    let best = usize::from(errors[1] < errors[0]);
    let [linear, pair] = risks;
    Ok(Solution {
        whitening,
        mixture,
        start,
        refined,
        matching,
        kind: Kind::ALL[best],
        risk: if best == 0 { linear } else { pair },
        standard_error: errors[best],
    })
}

/// The better of the refinements from the two starts.
fn fit(
    whitening: &Whitening,
    whitened: &Whitened,
    layout: &Layout,
    sums: &[f64],
    seed: u64,
) -> Result<(Start, Refined)> {
    let k = layout.posterior[0].shape[0];
    let own = refine(whitened, &posterior_start(whitening, layout, sums));
    match power_method(whitened, k, seed)? {
        None => Ok((Start::Posterior, own)),
        Some(start) => {
            let tensor = refine(whitened, &start);
            // Both starts mostly end in the same minimum; which of the two is named must not hang on rounding.
            if tensor.objective <= own.objective * (1.0 + 1e-9) {
                Ok((Start::Tensor, tensor))
            } else {
                Ok((Start::Posterior, own))
            }
        }
    }
}

/// The class means under the posterior `p(y | x)` of the feature map.
fn posterior_start(whitening: &Whitening, layout: &Layout, sums: &[f64]) -> Mixture {
    let n = layout.rows.of(sums)[0];
    let k = layout.posterior[0].shape[0];
    let plain: [Mat<f64>; VIEWS] = std::array::from_fn(|v| {
        let part = &layout.posterior[v];
        let weighted = from_rows(part.of(sums), k, part.shape[1]);
        Mat::from_fn(part.shape[1], k, |i, j| weighted[(j, i)] / weighted[(j, 0)].max(f64::MIN_POSITIVE))
    });
    let prior = (0..k).map(|j| layout.posterior[0].of(sums)[j * layout.posterior[0].shape[1]] / n).collect();
    whitening.mixture(prior, plain)
}
