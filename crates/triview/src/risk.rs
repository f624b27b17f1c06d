//! From moments and a fit to the risk.

use crate::decomposition::{Mixture, Whitening};
use crate::error::Result;
use crate::loss::Loss;
use crate::matching::{Matching, assign};
use crate::moments::{Family, Layout};
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

impl Risk {
    /// The risk of the rows of these sums (eq. 3).
    pub(crate) fn new(
        loss: &dyn Loss,
        prior: &[f64],
        conditional: [Mat<f64>; VIEWS],
        layout: &Layout,
        sums: &[f64],
    ) -> Self {
        let mean_offset = layout.loss.of(sums)[0] / layout.rows.of(sums)[0];
        Self { value: loss.risk(mean_offset, prior, &conditional), conditional }
    }
}

/// The risk of the rows of these sums under a fit to their features, classes in order.
pub(crate) fn risk(
    loss: &dyn Loss,
    kind: Kind,
    whitening: &Whitening,
    mixture: &Mixture,
    layout: &Layout,
    sums: &[f64],
) -> Result<Risk> {
    let surrogates = Surrogates::new(whitening, mixture, &layout.features, sums)?;
    let conditional = match kind {
        Kind::Linear => linear(&surrogates, &mixture.prior, &layout.features, sums),
        Kind::Pair => surrogates.pair_risk(&mixture.prior, layout, sums),
    };
    Ok(Risk::new(loss, &mixture.prior, conditional, layout, sums))
}

/// The same from the bins alone, by linear surrogates.
pub(crate) fn risk_by_bins(
    loss: &dyn Loss,
    whitening: &Whitening,
    mixture: &Mixture,
    layout: &Layout,
    sums: &[f64],
) -> Result<Risk> {
    let surrogates = Surrogates::new(whitening, mixture, &layout.bins, sums)?;
    let conditional = linear(&surrogates, &mixture.prior, &layout.bins, sums);
    Ok(Risk::new(loss, &mixture.prior, conditional, layout, sums))
}

fn linear(surrogates: &Surrogates, prior: &[f64], family: &Family, sums: &[f64]) -> [Mat<f64>; VIEWS] {
    std::array::from_fn(|v| surrogates.class_means(v, prior, &family.cross[v], sums))
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
    Ok(name(loss, mixture, &latent))
}

/// Puts the classes of a fit into the order with the smallest risk, given the risk in the order they have.
pub(crate) fn name(loss: &dyn Loss, mixture: &Mixture, latent: &Risk) -> (Mixture, Matching) {
    let k = mixture.prior.len();
    let weights = Mat::from_fn(k, k, |i, j| mixture.prior[i] * loss.gain(&latent.conditional, j, i));
    let matching = assign(&weights);
    (mixture.reorder(&matching.order), matching)
}
