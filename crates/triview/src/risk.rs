//! From moments and a fit to the risk.

use crate::decomposition::{Mixture, Whitening};
use crate::error::Result;
use crate::loss::Loss;
use crate::matching::{Matching, assign};
use crate::moments::{Family, Layout, Part};
use crate::surrogate::{Kind, Surrogates};
use faer::Mat;

/// The risk and what it was made of.
#[derive(Debug, Clone)]
pub(crate) struct Risk {
    /// The risk itself.
    pub(crate) value: f64,
    /// `M_v` (eq. 2), for each term.
    pub(crate) conditional: Vec<Mat<f64>>,
}

impl Risk {
    /// The risk of the rows of these sums (eq. 3).
    pub(crate) fn new(
        loss: &dyn Loss,
        prior: &[f64],
        conditional: Vec<Mat<f64>>,
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
    if kind == Kind::Linear {
        return linear_risk(loss, &layout.features, whitening, mixture, layout, sums);
    }
    let surrogates = Surrogates::new(whitening, mixture, &layout.features, sums)?;
    let conditional = surrogates.pair_risk(&mixture.prior, layout, sums);
    Ok(Risk::new(loss, &mixture.prior, conditional, layout, sums))
}

/// The risk by linear surrogates under a fit to any of the kinds of features.
pub(crate) fn linear_risk(
    loss: &dyn Loss,
    family: &Family,
    whitening: &Whitening,
    mixture: &Mixture,
    layout: &Layout,
    sums: &[f64],
) -> Result<Risk> {
    let surrogates = Surrogates::new(whitening, mixture, family, sums)?;
    let of_term =
        |(cross, &own): (&[Part; 2], &usize)| surrogates.class_means(own, &mixture.prior, cross, sums);
    let conditional = family.cross.iter().zip(&layout.terms).map(of_term).collect();
    Ok(Risk::new(loss, &mixture.prior, conditional, layout, sums))
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
