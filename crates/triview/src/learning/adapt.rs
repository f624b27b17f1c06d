//! From a seed model and unlabelled rows to a better model.
//!
//! The seed model scores the rows; the scores give surrogate labels, and these `phi-bar` (eq. 7). The risk
//! `E[A(theta; x)] - theta . phi-bar` is then minimised in a ball. Where no radius is given it is the one whose model has the
//! smallest estimated risk on rows that neither the model nor the labels saw: half of the rows adapt a model that is
//! judged on the other half, and the other way round.

use super::ball::{Point, Problem};
use super::judge::{Judged, over_halves};
use super::linear::Shape;
use super::logistic::LogisticModel;
use super::objective::PhiBar;
use super::parts::{Half, Kept, Scored};
use super::rows::{FeatureBatch, FeatureSource};
use super::units::Units;
use crate::error::{Error, Result};
use crate::estimator::{Estimate, Estimator, Params};
use crate::interval::{Interval, reach};
use crate::labelling::Labeller;
use crate::metrics::Measured;
use crate::views::Schema;

/// Penalties on half the squared norm that are tried, each leading to a radius, from the strongest on.
const PENALTIES: [f64; 6] = [0.3, 0.1, 0.03, 0.01, 0.003, 0.001];

/// Penalties in a row whose risk is larger than the smallest so far, after which weaker ones are not tried.
const PATIENCE: usize = 2;

/// How to adapt, not checked yet.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptParams {
    radius: Option<f64>,
    gap: f64,
    level: f64,
    seed: u64,
    judged: bool,
}

impl Default for AdaptParams {
    fn default() -> Self {
        Self { radius: None, gap: 1e-3, level: 0.95, seed: 0, judged: true }
    }
}

impl AdaptParams {
    /// The radius of the ball, in standardised features; otherwise the one with the smallest estimated risk.
    #[must_use]
    pub fn radius(mut self, radius: f64) -> Self {
        self.radius = Some(radius);
        self
    }

    /// How far above the smallest value in the ball the minimisation may stop.
    #[must_use]
    pub fn gap(mut self, gap: f64) -> Self {
        self.gap = gap;
        self
    }

    /// The level of confidence of the intervals.
    #[must_use]
    pub fn level(mut self, level: f64) -> Self {
        self.level = level;
        self
    }

    /// The seed of everything random.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Whether the adapted model is judged, which takes about twice as long again; without it a radius is needed.
    #[must_use]
    pub fn judged(mut self, judged: bool) -> Self {
        self.judged = judged;
        self
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a radius or gap that is not a positive number, a level that is not between 0 and
    /// 1, and no radius where nothing is judged.
    pub fn check(self) -> Result<Adapter> {
        let refuse = |name, value: String, expected| Err(Error::InvalidParameter { name, value, expected });
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if let Some(radius) = self.radius.filter(|radius| !positive(*radius)) {
            return refuse("radius", radius.to_string(), "the ball of parameters needs a radius above zero");
        }
        if !positive(self.gap) {
            return refuse("gap", self.gap.to_string(), "a number above zero, such as 0.001, is needed");
        }
        if self.radius.is_none() && !self.judged {
            return refuse(
                "radius",
                "not given".into(),
                "without judging the result there is nothing to choose it by; give one, such as 2",
            );
        }
        let estimator = Params::new().level(self.level).seed(self.seed).check()?;
        Ok(Adapter { params: self, estimator })
    }
}

/// Checked parameters, ready to adapt with.
#[derive(Debug, Clone)]
pub struct Adapter {
    params: AdaptParams,
    estimator: Estimator,
}

/// Whether an adaptation was worth it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The risk is smaller than the seed model's, by the interval of their difference.
    Improved,
    /// It cannot be told to be smaller: keep the seed model.
    Failed,
}

/// What is known of the adapted model's risk: means over rows that neither the model nor the labels were fitted on.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The log risk of the adapted model.
    pub adapted: Measured,
    /// That of the seed model.
    pub seed: Measured,
    /// The adapted model's less the seed model's, row by row.
    pub difference: Measured,
    /// Whether the adapted model is better.
    pub verdict: Verdict,
}

/// An adapted model.
#[derive(Debug, Clone)]
pub struct Adaptation {
    /// The model.
    pub model: LogisticModel,
    /// The norm of its parameters, in standardised features.
    pub radius: f64,
    /// By how much the minimised value may be above the smallest in the ball of that radius.
    pub gap: f64,
    /// How often the rows were read for the last fit.
    pub passes: usize,
    /// What the rows say of the seed model.
    pub seed: Estimate,
    /// What is known of the adapted model's risk, where that was asked for.
    pub judgement: Option<Judgement>,
}

/// What one half of the rows makes of the other.
struct HalfFit {
    labeller: Labeller,
    /// The seed model and the models of each penalty on the other half.
    seed: Judged,
    judged: Vec<Judged>,
}

impl HalfFit {
    fn risks(&self) -> Vec<f64> {
        self.judged.iter().map(|judged| judged.risk(&self.labeller)).collect()
    }
}

impl Adapter {
    /// Adapts a model with these views and classes to the rows of a source. Rows whose class is known count with it.
    ///
    /// # Errors
    /// Those of the source; [`Error::WeakSeed`] when the seed model does not tell which class is which; and whatever
    /// keeps the rows from being answered, see [`Estimator::look`].
    ///
    /// # Panics
    /// When the source has other features than the model: a mistake of the caller's.
    pub fn adapt<S: FeatureSource>(
        &self,
        source: &S,
        seed: &LogisticModel,
        schema: &Schema,
    ) -> Result<Adaptation, S::Error> {
        let shape = seed.shape();
        assert_eq!(source.schema().widths(), shape.widths, "rows with other features");
        let kept = Kept::of(source)?;
        let (estimate, labeller) = self.label(&kept, seed, schema)?;
        estimate.expect_strong_seed()?;
        let units = Units::of(&kept, shape.classes)?;
        let halves = match self.params.judged {
            true => Some([0, 1].map(|half| self.half(&kept, seed, schema, &units, half))),
            false => None,
        };
        let halves = match halves {
            Some([first, second]) => Some([first?, second?]),
            None => None,
        };
        let phi = phi_bar(&kept, &shape, seed, &labeller)?;
        let problem = Problem { source: &kept, shape: &shape, phi: &phi, units: &units };
        let start = vec![0.0; shape.len()];
        let point = match (self.params.radius, &halves) {
            (None, Some(halves)) => {
                let best = smallest(&mean_risks(halves));
                problem.penalised(PENALTIES[best], &start, self.params.gap)?
            }
            (radius, _) => problem.in_ball(radius.unwrap_or(1.0), &start, self.params.gap)?,
        };
        let Point { standard, radius, gap, passes } = point;
        Ok(Adaptation {
            model: LogisticModel::of_theta(&shape, &units.plain(&standard)),
            radius,
            gap,
            passes,
            judgement: halves.map(|halves| self.judge(&halves)),
            seed: estimate,
        })
    }

    /// What the scores of a model say of the rows, and what labels them.
    fn label<S: FeatureSource>(
        &self,
        source: &S,
        seed: &LogisticModel,
        schema: &Schema,
    ) -> Result<(Estimate, Labeller), S::Error> {
        let scored =
            Scored { source, scores: |rows: &FeatureBatch| seed.scores(rows), schema: schema.clone() };
        let header = self.estimator.look(&scored)?;
        let moments = self.estimator.moments(&scored, &header)?;
        Ok(self.estimator.solve_labelling(&moments)?)
    }

    /// Adapts to one half of the rows, and judges the results on the other.
    fn half<S: FeatureSource>(
        &self,
        source: &S,
        seed: &LogisticModel,
        schema: &Schema,
        units: &Units,
        half: u64,
    ) -> Result<HalfFit, S::Error> {
        let (fitted, other) = (Half { source, half: 1 - half }, Half { source, half });
        // The half is read some hundred times.
        let fitted = Kept::of(&fitted)?;
        let (_, labeller) = self.label(&fitted, seed, schema)?;
        let shape = seed.shape();
        let phi = phi_bar(&fitted, &shape, seed, &labeller)?;
        let problem = Problem { source: &fitted, shape: &shape, phi: &phi, units };
        let mut at = vec![0.0; shape.len()];
        let seed_judged = judged(&other, seed, seed, &labeller)?;
        let mut fit = HalfFit { labeller, seed: seed_judged, judged: Vec::new() };
        let judge = |standard: &[f64], fit: &mut HalfFit| -> Result<(), S::Error> {
            let model = LogisticModel::of_theta(&shape, &units.plain(standard));
            let judged = judged(&other, &model, seed, &fit.labeller)?;
            fit.judged.push(judged);
            Ok(())
        };
        if let Some(radius) = self.params.radius {
            judge(&problem.in_ball(radius, &at, self.params.gap)?.standard, &mut fit)?;
            return Ok(fit);
        }
        for penalty in PENALTIES {
            at = problem.penalised(penalty, &at, self.params.gap)?.standard;
            judge(&at, &mut fit)?;
            let risks = fit.risks();
            if risks.len() > smallest(&risks) + PATIENCE {
                break;
            }
        }
        Ok(fit)
    }

    /// The judgement of both halves together. Which penalty a half's model has is decided by the other half.
    fn judge(&self, halves: &[HalfFit; 2]) -> Judgement {
        let tried = |half: usize| halves[half].judged.len() - 1;
        let chosen = [0, 1].map(|half: usize| smallest(&halves[1 - half].risks()).min(tried(half)));
        let adapted = [0, 1].map(|half: usize| &halves[half].judged[chosen[half]]);
        let seed = halves.each_ref().map(|half| &half.seed);
        let differences = [0, 1].map(|half: usize| adapted[half].minus(seed[half]));
        let blocks = halves.iter().map(|half| half.labeller.moved().count()).sum();
        let reach = reach(self.params.level, blocks, f64::INFINITY);
        let measured = |judged: [&Judged; 2]| {
            let (value, standard_error) =
                over_halves([0, 1].map(|half: usize| (judged[half], &halves[half].labeller)));
            Measured { value, standard_error, interval: Interval::around(value, reach, standard_error) }
        };
        let difference = measured(differences.each_ref());
        let verdict = if difference.interval.high < 0.0 { Verdict::Improved } else { Verdict::Failed };
        Judgement { adapted: measured(adapted), seed: measured(seed), difference, verdict }
    }
}

/// Reads the rows once for `phi-bar`.
fn phi_bar<S: FeatureSource>(
    source: &S,
    shape: &Shape,
    seed: &LogisticModel,
    labeller: &Labeller,
) -> Result<Vec<f64>, S::Error> {
    let mut phi = PhiBar::new(shape.clone());
    for batch in source.batches()? {
        let batch = batch?;
        phi.update(&batch, labeller, &seed.scores(&batch)?);
    }
    Ok(phi.mean())
}

/// Judges a model on the rows of a source, which are labelled by their scores under the seed model.
fn judged<S: FeatureSource>(
    source: &S,
    model: &LogisticModel,
    seed: &LogisticModel,
    labeller: &Labeller,
) -> Result<Judged, S::Error> {
    let mut judged = Judged::new(seed.classes());
    for batch in source.batches()? {
        let batch = batch?;
        judged.update(labeller, &model.scores(&batch)?, &seed.scores(&batch)?);
    }
    Ok(judged)
}

/// The risk of each penalty that both halves tried, over both.
fn mean_risks(halves: &[HalfFit; 2]) -> Vec<f64> {
    let rows: f64 = halves.iter().map(|half| half.seed.rows()).sum();
    let weighted = halves.each_ref().map(|half| {
        half.risks().into_iter().map(|risk| risk * half.seed.rows() / rows).collect::<Vec<f64>>()
    });
    weighted[0].iter().zip(&weighted[1]).map(|(first, second)| first + second).collect()
}

/// The place of the smallest number.
fn smallest(numbers: &[f64]) -> usize {
    (0..numbers.len()).fold(0, |best, at| if numbers[at] < numbers[best] { at } else { best })
}
