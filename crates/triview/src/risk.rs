//! From moments and a fit to the risk.

use crate::decomposition::{Mixture, Whitening};
use crate::error::Result;
use crate::loss::Loss;
use crate::matching::{Matching, assign};
use crate::moments::Layout;
use crate::surrogate::{Kind, Surrogates};
use crate::views::VIEWS;
use faer::Mat;

/// The risk and what it was made of.
#[derive(Debug, Clone)]
pub(crate) struct Risk {
    /// The risk itself.
    pub(crate) value: f64,
    /// `M_v` (eq. 2).
    pub(crate) conditional: [Mat<f64>; VIEWS],
}

/// The risk of the rows of these sums under a fit whose classes are in order (eq. 3).
pub(crate) fn risk(
    loss: &dyn Loss,
    kind: Kind,
    whitening: &Whitening,
    mixture: &Mixture,
    layout: &Layout,
    sums: &[f64],
) -> Result<Risk> {
    let surrogates = Surrogates::new(whitening, mixture, layout, sums)?;
    let conditional = surrogates.conditional_risk(kind, &mixture.prior, layout, sums);
    let mean_offset = layout.loss.of(sums)[0] / layout.rows.of(sums)[0];
    Ok(Risk { value: loss.risk(mean_offset, &mixture.prior, &conditional), conditional })
}

/// Finds the names of a fit's classes: the assignment with the smallest risk.
pub(crate) fn identify(
    loss: &dyn Loss,
    whitening: &Whitening,
    mixture: &Mixture,
    layout: &Layout,
    sums: &[f64],
) -> Result<(Mixture, Matching)> {
    let latent = risk(loss, Kind::Linear, whitening, mixture, layout, sums)?;
    let k = mixture.prior.len();
    let weights = Mat::from_fn(k, k, |i, j| mixture.prior[i] * loss.gain(&latent.conditional, j, i));
    let matching = assign(&weights);
    Ok((mixture.reorder(&matching.order), matching))
}
