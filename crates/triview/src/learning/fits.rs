//! Ways of fitting a model to surrogate labels.

use super::ball::{LogRisk, OldRows, Point, norm};
use super::general::{LinearScores, Risk, Step};
use super::logistic::LogisticModel;
use super::objective::PhiBar;
use super::parts::Cached;
use super::rows::FeatureSource;
use super::units::Standard;
use crate::error::Result;
use crate::estimator::Labeller;
use crate::loss::Loss;
use crate::settings::adaptation::STEP_COUNT;
use crate::settings::ball::RAY_STEPS;

/// One way of fitting a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    /// The share of the old domain's rows.
    pub(super) share: f64,
    /// What labels the rows.
    pub(super) labels: Labels,
    pub(super) way: Way,
}

/// What labels rows whose class is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Labels {
    /// The other views: right whatever the seed believes, as far as the views are independent.
    Views,
    /// The seed's own belief. What a model with a penalty makes of it is the part that shows in many rows of the new domain; it is as sure as the
    /// seed is.
    Seed,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// The minimiser of the log risk with this penalty.
    Penalty(f64),
    /// The minimiser of the log risk in the ball of this radius.
    Radius(f64),
    /// Dual averaging (algorithm 2) of which the first step is this share of the seed's length.
    Step(f64),
}

/// A model that was fitted.
#[derive(Debug, Clone)]
pub(super) struct ModelFit {
    /// The parameters of standardised features.
    pub(super) standard: Vec<f64>,
    pub(super) radius: f64,
    /// By how much the value may be above the smallest in the ball of that radius, where that is known.
    pub(super) gap: Option<f64>,
    pub(super) passes: usize,
}

/// What is fitted to: rows, their labels and what is needed of both.
pub(super) struct Fitting<'a, S> {
    source: &'a S,
    standard: &'a Cached<'a, Standard<'a, S>>,
    labeller: &'a Labeller,
    linear: &'a LinearScores,
    old: Option<&'a OldRows>,
    loss: &'a dyn Loss,
    /// The parameters of the seed model, of standardised features.
    seed: Vec<f64>,
    /// `phi-bar` by the labels of the views, and by those of the seed.
    phi: Vec<f64>,
    belief: Option<Vec<f64>>,
    /// How far above the smallest value in a ball a fit may stop.
    gap: f64,
}

impl<'a, S: FeatureSource> Fitting<'a, S> {
    /// Reads the rows once for `phi-bar`, that of the seed's own labels where they are wanted, too.
    pub(super) fn new(
        (source, standard): (&'a S, &'a Cached<'a, Standard<'a, S>>),
        (seed, labeller): (&LogisticModel, &'a Labeller),
        (linear, loss): (&'a LinearScores, &'a dyn Loss),
        old: Option<&'a OldRows>,
        (gap, believed): (f64, bool),
    ) -> Result<Self, S::Error> {
        let [mut phi, mut belief] = [(); 2].map(|()| PhiBar::new(linear.shape.clone()));
        for batch in source.batches()? {
            let batch = batch?;
            let scores = seed.scores(&batch)?;
            phi.update(&batch, labeller, &scores)?;
            if believed {
                belief.update_by_belief(&batch, &scores);
            }
        }
        let phi = linear.units.gradient(&phi.mean());
        let belief = believed.then(|| linear.units.gradient(&belief.mean()));
        let seed = linear.parameters_of(seed);
        Ok(Self { source, standard, labeller, linear, old, loss, seed, phi, belief, gap })
    }

    /// Fits a model, from a start where the way needs one; nothing where the risk is no number on the way.
    pub(super) fn fit(&self, candidate: Candidate, start: &[f64]) -> Result<Option<ModelFit>, S::Error> {
        let Candidate { share, labels, way } = candidate;
        let old = self.old.filter(|_| share > 0.0).map(|old| (old, share));
        let risk = LogRisk {
            source: self.standard,
            shape: &self.linear.shape,
            phi: self.belief.as_ref().filter(|_| labels == Labels::Seed).unwrap_or(&self.phi),
            old,
        };
        let of_point = |Point { standard, radius, gap, passes }| {
            Some(ModelFit { standard, radius, gap: Some(gap), passes })
        };
        match way {
            Way::Penalty(penalty) if labels == Labels::Seed => {
                let Point { standard, passes, .. } = risk.penalised(penalty, start, self.gap)?;
                let standard = risk.on_ray(&standard)?;
                Ok(Some(ModelFit {
                    radius: norm(&standard),
                    standard,
                    gap: None,
                    passes: passes + RAY_STEPS + 2,
                }))
            }
            Way::Penalty(penalty) => risk.penalised(penalty, start, self.gap).map(of_point),
            Way::Radius(radius) => risk.in_ball(radius, start, self.gap).map(of_point),
            Way::Step(step) => {
                let Self { source, labeller, linear: model, loss, seed, .. } = self;
                let risk = Risk { loss: *loss, labeller, model: *model, source: *source, start: seed };
                let descended = risk.descend(Step::Relative(step), STEP_COUNT)?;
                Ok(descended.map(|(standard, _)| ModelFit {
                    radius: norm(&standard),
                    standard,
                    gap: None,
                    passes: STEP_COUNT,
                }))
            }
        }
    }
}
