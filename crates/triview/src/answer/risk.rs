//! From moments and a fit to the risk.

use super::matching::{Matching, assign, call_counted, call_states};
use super::surrogate::{Kind, Surrogates};
use crate::error::Result;
use crate::fit::{Mixture, Whitening};
use crate::loss::Loss;
use crate::moments::{Family, Layout, Part};
use crate::settings::limits::BELOW_POSSIBLE;
use faer::Mat;

/// The risk and what it was made of.
#[derive(Debug, Clone)]
pub(crate) struct Risk {
    /// The risk itself.
    pub(crate) value: f64,
    /// What of it was cut off and rests on the fitted posterior.
    pub(crate) tail: f64,
    /// The risk of each view as a model of its own, over the rows that have it; none where that is not asked.
    pub(crate) alone: Vec<f64>,
    /// `M_v` (eq. 2) of each holder of terms, one row a term, one column a state or a class.
    pub(crate) conditional: Vec<Mat<f64>>,
}

impl Risk {
    /// The risk of the rows of these sums (eq. 3).
    pub(crate) fn new(
        loss: &dyn Loss,
        prior: &[f64],
        names: &[usize],
        mut conditional: Vec<Mat<f64>>,
        layout: &Layout,
        sums: &[f64],
    ) -> Self {
        let mean_offset = layout.offset.scalar(sums) / layout.rows.scalar(sums);
        let cut = loss.risk(mean_offset, prior, &conditional, names);
        for (tails, conditional) in layout.tails.iter().zip(&mut conditional) {
            add_tails(tails, names, layout, sums, conditional);
        }
        let value = loss.risk(mean_offset, prior, &conditional, names);
        let rows = layout.rows.scalar(sums);
        let of_view = |(view, offset): (usize, &f64)| {
            let label = |(z, (p, &name)): (usize, (&f64, &usize))| p * conditional[view][(name, z)];
            let gain: f64 = prior.iter().zip(names).enumerate().map(label).sum();
            (offset - rows * gain) / (rows - layout.missing.of(sums)[view])
        };
        let alone = layout.alone.of(sums).iter().enumerate().map(of_view).collect();
        Self { value, tail: value - cut, alone, conditional }
    }
}

/// Adds to the class means of cut terms those of what was cut off, `E[(f - c)_+ p_j] / E[p_j]`; all states of a class
/// have the same.
fn add_tails(tails: &Part, names: &[usize], layout: &Layout, sums: &[f64], conditional: &mut Mat<f64>) {
    if tails.is_empty() {
        return;
    }
    let k = tails.shape[1];
    let mass = posterior_mass(layout, k, sums);
    for (z, &class) in names.iter().enumerate() {
        for term in 0..conditional.nrows() {
            conditional[(term, z)] += tails.of(sums)[term * k + class] / mass[class];
        }
    }
}

/// The sum of each class's posterior.
fn posterior_mass(layout: &Layout, k: usize, sums: &[f64]) -> Vec<f64> {
    let posterior = &layout.posterior[0];
    let mut mass = vec![0.0; k];
    for (state, &class) in layout.classes.iter().enumerate() {
        // The first feature is the leading one.
        mass[class] += posterior.of(sums)[state * posterior.shape[1]];
    }
    mass
}

/// The prior and the risk under the feature map's own posterior of all groups: `pi_j = E[p_j]` and
/// `M_t[i, j] = E[f_t,i p_j] / E[p_j]`.
pub(crate) fn posterior_risk(loss: &dyn Loss, layout: &Layout, sums: &[f64]) -> (Vec<f64>, Risk) {
    let rows = layout.rows.of(sums)[0];
    let [terms, k] = [0, 1].map(|at| layout.posterior_terms[0].shape[at]);
    let mass = posterior_mass(layout, k, sums);
    let means = |part: &Part| {
        Mat::from_fn(terms, k, |i, j| part.of(sums)[i * k + j] / mass[j].max(f64::MIN_POSITIVE))
    };
    let conditional = layout.posterior_terms.iter().map(means).collect();
    let prior: Vec<f64> = mass.iter().map(|mass| mass / rows).collect();
    let names: Vec<usize> = (0..k).collect();
    let risk = Risk::new(loss, &prior, &names, conditional, layout, sums);
    (prior, risk)
}

/// The mean of the smallest loss of each row: no labels could make the risk smaller.
pub(crate) fn least_risk(layout: &Layout, sums: &[f64]) -> f64 {
    layout.least_loss.scalar(sums) / layout.rows.scalar(sums)
}

/// Whether a risk is below the smallest possible one by more than its error explains.
pub(crate) fn impossible(risk: f64, error: f64, least: f64) -> bool {
    risk < least - BELOW_POSSIBLE * error
}

/// How many rows make up the mean of the squared loss under the posterior: all of them if it is the same in each, one if one
/// outweighs all others.
pub(crate) fn rows_carrying_squares(layout: &Layout, sums: &[f64]) -> f64 {
    layout.squared_loss.scalar(sums).powi(2) / layout.squared_loss_squared.scalar(sums)
}

/// The risk of the rows of these sums by surrogate labels of their features, latent classes called by these names.
pub(crate) fn risk(
    loss: &dyn Loss,
    kind: Kind,
    surrogates: &Surrogates,
    (prior, names): (&[f64], &[usize]),
    layout: &Layout,
    sums: &[f64],
) -> Risk {
    let conditional = match kind {
        Kind::Linear => class_means(&layout.features, surrogates, prior, layout, sums),
        Kind::Pair => surrogates.pair_risk(prior, layout, sums),
    };
    Risk::new(loss, prior, names, conditional, layout, sums)
}

/// The risk by linear surrogates under a fit to any of the kinds of features.
pub(crate) fn linear_risk(
    loss: &dyn Loss,
    family: &Family,
    whitening: &Whitening,
    (mixture, names): (&Mixture, &[usize]),
    layout: &Layout,
    sums: &[f64],
) -> Result<Risk> {
    let surrogates = Surrogates::new(whitening, mixture, family, sums)?;
    let conditional = class_means(family, &surrogates, &mixture.prior, layout, sums);
    Ok(Risk::new(loss, &mixture.prior, names, conditional, layout, sums))
}

/// The class means of the terms, cut where they are, of each of their holders, by linear surrogates.
fn class_means(
    family: &Family,
    surrogates: &Surrogates,
    prior: &[f64],
    layout: &Layout,
    sums: &[f64],
) -> Vec<Mat<f64>> {
    let of_holder = |(cross, &own): (&[Part; 2], &usize)| surrogates.class_means(own, prior, cross, sums);
    family.cross.iter().zip(&layout.holders).map(of_holder).collect()
}

/// Puts the classes of a fit to any of the kinds of features into the order with the smallest risk. Tails are left out:
/// what labels them has its classes in order already, and the fit has not. More latent states than classes are each called
/// by a class, and put into the order of these.
pub(crate) fn identify(
    loss: &dyn Loss,
    family: &Family,
    whitening: &Whitening,
    mixture: &Mixture,
    layout: &Layout,
    sums: &[f64],
) -> Result<(Mixture, Matching)> {
    let surrogates = Surrogates::new(whitening, mixture, family, sums)?;
    let latent = class_means(family, &surrogates, &mixture.prior, layout, sums);
    let (states, k) = (mixture.prior.len(), latent[0].nrows() / loss.form().terms());
    let weights = Mat::from_fn(states, k, |i, j| mixture.prior[i] * loss.gain(&latent, j, i));
    let matching = match &layout.counts {
        Some(counts) if states > k => call_counted(&weights, &mixture.prior, counts),
        _ if states > k => call_states(&weights, &mixture.prior),
        _ => assign(&weights),
    };
    Ok((mixture.reorder(&matching.order), matching))
}
