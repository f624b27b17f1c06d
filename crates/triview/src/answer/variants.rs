//! The variants of an answer: what each distance and each kind of surrogate says of the same moments.

use super::blend::Blended;
use super::jackknife::{Deviations, jackknife, refits};
use super::matching::Matching;
use super::numbers::Numbers;
use super::quantities::Quantities;
use super::risk::{Risk, identify, linear_risk, risk};
use super::surrogate::{Kind, LabelMaps, Surrogates};
use crate::data::VIEWS;
use crate::error::Result;
use crate::fit::refinement::{Distance, Refined, Refit, refine_near};
use crate::fit::{Agreement, FromStarts, Mixture, Start, Target, Whitening};
use crate::loss::Loss;
use crate::moments::{FeatureRows, Moments};
use crate::settings::pull;

/// What one distance and one kind of surrogate say, classes in the order of their names, and latent states in the order of their classes.
#[derive(Debug, Clone)]
pub(crate) struct Variant {
    pub(crate) distance: Distance,
    pub(crate) refined: Refined,
    /// The fit, classes in order.
    pub(crate) mixture: Mixture,
    /// How its latent states, one a class or more, are called.
    pub(crate) matching: Matching,
    pub(crate) labels: Labels,
    /// What of the risk was cut off and rests on the fitted posterior.
    pub(crate) tail: f64,
    pub(crate) quantities: Quantities,
    pub(crate) deviations: Deviations<Quantities>,
}

/// Surrogate labels, and what each block adds to the error of what makes them.
#[derive(Debug, Clone)]
pub(crate) struct Labels {
    pub(crate) kind: Kind,
    pub(crate) maps: LabelMaps,
    pub(crate) moved: Deviations<LabelMaps>,
    /// Of the prior of the latent states.
    pub(crate) moved_prior: Deviations<Vec<f64>>,
}

impl Variant {
    pub(crate) fn standard_error(&self) -> f64 {
        self.deviations.standard_error(|q| q.risk)
    }
}

/// Another optimum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rival {
    /// By how much its distance from the moments is larger.
    pub(crate) excess: f64,
    /// Its risk, by linear surrogates, less that of the optimum that was kept.
    pub(crate) difference: f64,
}

/// All variants, and what they have in common.
#[derive(Debug, Clone)]
pub(crate) struct Variants {
    pub(crate) whitening: Whitening,
    pub(crate) start: Start,
    /// What the other start led to, where that is another optimum.
    pub(crate) rival: Option<Rival>,
    pub(crate) agreement: [Agreement; VIEWS],
    /// [`Distance::Squares`] first, linear surrogates first.
    pub(crate) all: Vec<Variant>,
    /// Whether the third moment was not formed.
    pub(crate) implicit: bool,
}

/// Solves moments: fits from both starts, keeps the lower objective, finds the names, reads off every variant of the answer and averages
/// them.
pub(crate) fn solve(moments: &Moments, seed: u64) -> Result<Blended> {
    Ok(Variants::new(moments, None, seed)?.blend(moments))
}

/// The fit of least squares alone, classes in the order of their names, and the coordinates that it is in.
pub(crate) fn fitted(moments: &Moments, seed: u64) -> Result<(Whitening, Mixture)> {
    let (plan, layout, sums) = (moments.plan(), moments.layout(), moments.total());
    let whitening = Whitening::fit(&plan.group_names(), layout, &sums)?;
    let FromStarts { best, .. } = Target::new(moments, None, &whitening)?.fit(&sums, seed)?;
    let loss = &*plan.loss;
    let (mixture, _) = identify(loss, &layout.features, &whitening, &best.mixture, layout, &sums)?;
    Ok((whitening, mixture))
}

/// What [`solve`] says of moments whose third moment is not formed, from the features of all their rows.
pub(crate) fn solve_rows(moments: &Moments, rows: &FeatureRows) -> Result<Blended> {
    Ok(Variants::new(moments, Some(rows), 0)?.blend(moments))
}

impl Variants {
    fn new(moments: &Moments, rows: Option<&FeatureRows>, seed: u64) -> Result<Self> {
        let (plan, layout, sums) = (moments.plan(), moments.layout(), moments.total());
        let loss = &*plan.loss;
        let whitening = match rows {
            Some(_) => Whitening::of_rank(&plan.group_names(), layout, &sums)?,
            None => Whitening::fit(&plan.group_names(), layout, &sums)?,
        };
        let target = Target::new(moments, rows, &whitening)?;
        let FromStarts { start, best: squares, other } = target.fit(&sums, seed)?;
        let (named, _) = identify(loss, &layout.features, &whitening, &squares.mixture, layout, &sums)?;
        let mut all = Vec::new();
        for distance in target.distances() {
            let refined = match distance {
                Distance::Squares => squares.clone(),
                Distance::KullbackLeibler => {
                    refine_near(&target.objective(distance, &sums), &target.positive(&named))
                }
            };
            all.extend(read_off(loss, moments, &target, distance, &refined, &sums)?);
        }
        let rival = match other {
            Some(other) => {
                let (mixture, matching) =
                    identify(loss, &layout.features, &whitening, &other.mixture, layout, &sums)?;
                let named = (&mixture, matching.names.as_slice());
                let theirs = linear_risk(loss, &layout.features, &whitening, named, layout, &sums)?.value;
                let difference = theirs - all[0].quantities.risk;
                Some(Rival { excess: other.objective - squares.objective, difference })
            }
            None => None,
        };
        let agreement = Agreement::all(&whitening, &layout.features, plan.states(), &sums)?;
        Ok(Self { start, rival, agreement, all, implicit: rows.is_some(), whitening })
    }

    /// By how many of its standard errors the weakest direction that classes need shows in so many rows.
    pub(crate) fn clarity(&self, rows: u64) -> f64 {
        let root = (rows as f64).sqrt();
        self.agreement.iter().map(|pair| pair.correlation * root).fold(f64::INFINITY, f64::min)
    }
}

/// What is read off a fit by both kinds of surrogate.
#[derive(Clone)]
struct Reading {
    quantities: [Quantities; 2],
    maps: [LabelMaps; 2],
    state_prior: Vec<f64>,
}

impl Numbers for Reading {
    fn combine(parts: &[(&Self, f64)]) -> Self {
        let quantities: Vec<_> = parts.iter().map(|(part, times)| (&part.quantities, *times)).collect();
        let maps: Vec<_> = parts.iter().map(|(part, times)| (&part.maps, *times)).collect();
        let prior: Vec<_> = parts.iter().map(|(part, times)| (&part.state_prior, *times)).collect();
        Self {
            quantities: Numbers::combine(&quantities),
            maps: Numbers::combine(&maps),
            state_prior: Numbers::combine(&prior),
        }
    }
}

/// What both kinds of surrogate say of one fit, with their deviations from one jackknife: each block is left out in
/// turn, and the fit is repeated from where it ended.
fn read_off(
    loss: &dyn Loss,
    moments: &Moments,
    target: &Target<'_>,
    distance: Distance,
    refined: &Refined,
    sums: &[f64],
) -> Result<[Variant; 2]> {
    let (layout, whitening) = (target.layout, target.whitening);
    let (mixture, matching) = identify(loss, &layout.features, whitening, &refined.mixture, layout, sums)?;
    let kinds = [Kind::Linear, Kind::Pair];
    let read = |mixture: &Mixture, sums: &[f64]| -> Result<([Risk; 2], Reading)> {
        let surrogates = Surrogates::new(whitening, mixture, &layout.features, sums)?;
        let named = (mixture.prior.as_slice(), matching.names.as_slice());
        let risks = kinds.map(|kind| risk(loss, kind, &surrogates, named, layout, sums));
        let quantities = risks.each_ref().map(|r| Quantities::new(loss, &mixture.prior, r, &matching));
        let maps = kinds.map(|kind| surrogates.label_maps(kind, layout, sums));
        Ok((risks, Reading { quantities, maps, state_prior: mixture.prior.clone() }))
    };
    let (risks, whole) = read(&mixture, sums)?;
    let deviations = match (target.implicit(sums, pull::STRONG), target.implicit(sums, pull::WEAK)) {
        (Some(strong), Some(weak)) => {
            let fitted = strong.without_blocks(&refined.mixture);
            let refit = |block: usize| fitted[block].reorder(&matching.order);
            let sampling = jackknife(moments, &whole, |block, left| Ok(read(&refit(block), left)?.1))?;
            let (_, otherwise) = read(&weak.refine().mixture.reorder(&matching.order), sums)?;
            sampling.with_doubt(Reading::combine(&[(&otherwise, 1.0), (&whole, -1.0)]))
        }
        _ => {
            let refit = Refit::new(&target.objective(distance, sums), &refined.mixture);
            let fitted = refits(moments, &refit, |left| target.objective(distance, left));
            jackknife(moments, &whole, |block, left| {
                Ok(read(&fitted[&block].reorder(&matching.order), left)?.1)
            })?
        }
    };
    let variant = |at: usize| Variant {
        distance,
        refined: refined.clone(),
        mixture: mixture.clone(),
        matching: matching.clone(),
        labels: Labels {
            kind: kinds[at],
            maps: whole.maps[at].clone(),
            moved: deviations.map(|reading| reading.maps[at].clone()),
            moved_prior: deviations.map(|reading| reading.state_prior.clone()),
        },
        tail: risks[at].tail,
        quantities: whole.quantities[at].clone(),
        deviations: deviations.map(|reading| reading.quantities[at].clone()),
    };
    Ok([variant(0), variant(1)])
}
