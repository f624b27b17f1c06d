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

/// One way of fitting a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    /// The share of the old domain's rows.
    pub(super) share: f64,
    pub(super) way: Way,
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
    /// The parameters of the seed model, and `phi-bar`, of standardised features.
    seed: Vec<f64>,
    phi: Vec<f64>,
    /// How far above the smallest value in a ball a fit may stop.
    gap: f64,
}

impl<'a, S: FeatureSource> Fitting<'a, S> {
    /// Reads the rows once for `phi-bar`.
    pub(super) fn new(
        (source, standard): (&'a S, &'a Cached<'a, Standard<'a, S>>),
        (seed, labeller): (&LogisticModel, &'a Labeller),
        (linear, loss): (&'a LinearScores, &'a dyn Loss),
        old: Option<&'a OldRows>,
        gap: f64,
    ) -> Result<Self, S::Error> {
        let mut phi = PhiBar::new(linear.shape.clone());
        for batch in source.batches()? {
            let batch = batch?;
            phi.update(&batch, labeller, &seed.scores(&batch)?)?;
        }
        let (phi, seed) = (linear.units.gradient(&phi.mean()), linear.parameters_of(seed));
        Ok(Self { source, standard, labeller, linear, old, loss, seed, phi, gap })
    }

    /// Fits a model, from a start where the way needs one; nothing where the risk is no number on the way.
    pub(super) fn fit(&self, candidate: Candidate, start: &[f64]) -> Result<Option<ModelFit>, S::Error> {
        let Candidate { share, way } = candidate;
        let old = self.old.filter(|_| share > 0.0).map(|old| (old, share));
        let risk = LogRisk { source: self.standard, shape: &self.linear.shape, phi: &self.phi, old };
        let of_point = |Point { standard, radius, gap, passes }| {
            Some(ModelFit { standard, radius, gap: Some(gap), passes })
        };
        match way {
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
