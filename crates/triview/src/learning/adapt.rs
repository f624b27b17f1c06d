//! From a seed model and unlabelled rows to a better model.
//!
//! The seed model scores the rows; the scores give surrogate labels, and these `phi-bar` (eq. 7). The risk
//! `E[A(theta; x)] - theta . phi-bar` is then minimised in a ball. Where no radius is given it is the one whose model has the
//! smallest estimated risk on rows that neither the model nor the labels saw: half of the rows adapt a model that is
//! judged on the other half, and the other way round. So is the share that labelled rows of an old domain have, if there are
//! such: they are of another distribution, and may have none. Losses other than the log loss are minimised by dual averaging
//! (algorithm 2), of which the step is chosen in the same way.

use super::ball::OldRows;
use super::fits::{Candidate, Way};
use super::general::LinearScores;
use super::halves::{Compared, Fits, best_of};
use super::logistic::LogisticModel;
use super::parts::Cached;
use super::rows::{FeatureBatch, FeatureSource};
use crate::answer::impossible;
use crate::data::{Schema, expect};
use crate::error::{Error, Result};
use crate::estimator::{Common, Estimate, Estimator, Parameters, Params, Task};
use crate::loss::{self, SharedLoss};
use crate::metrics::Measured;
use crate::settings::adaptation::{PENALTIES, SHARES, STEPS};
use crate::settings::adaptation::{ROWS, ROWS_A_CLASS};
use serde::Serialize;

/// No loss that can be adapted to is smaller.
const LEAST: f64 = 0.0;

/// How to adapt a model to rows without labels.
pub type AdaptParams = Parameters<AdaptTask>;

/// The task of [`AdaptParams`].
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptTask {
    loss: String,
    radius: Option<f64>,
    share: Option<f64>,
    gap: f64,
    judged: bool,
}

impl Default for AdaptTask {
    fn default() -> Self {
        Self { loss: "log".into(), radius: None, share: None, gap: 1e-3, judged: true }
    }
}

impl AdaptParams {
    /// The loss whose risk is minimised, by its name: one of [`loss::named`] that has slopes.
    #[must_use]
    pub fn loss(self, name: &str) -> Self {
        self.with(|task| task.loss = name.into())
    }

    /// The share of the old domain's rows in what is minimised, zero to (not including) one; otherwise the one with the
    /// smallest estimated risk.
    #[must_use]
    pub fn share(self, share: f64) -> Self {
        self.with(|task| task.share = Some(share))
    }

    /// The radius of the ball, in standardised features; otherwise the one with the smallest estimated risk.
    #[must_use]
    pub fn radius(self, radius: f64) -> Self {
        self.with(|task| task.radius = Some(radius))
    }

    /// How far above the smallest value in the ball the minimisation may stop.
    #[must_use]
    pub fn gap(self, gap: f64) -> Self {
        self.with(|task| task.gap = gap)
    }

    /// Whether the adapted model is judged, which takes about twice as long again; without it a radius is needed.
    #[must_use]
    pub fn judged(self, judged: bool) -> Self {
        self.with(|task| task.judged = judged)
    }
}

impl Task for AdaptTask {
    type Checked = Adapter;

    /// Refuses a radius or gap that is not a positive number, a share that is not one, no radius where nothing is judged, and what is
    /// for the log loss only with another.
    fn check(self, common: Common) -> Result<Adapter> {
        let refuse = |name, value: String, expected| Err(Error::InvalidParameter { name, value, expected });
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if let Some(radius) = self.radius.filter(|radius| !positive(*radius)) {
            return refuse("radius", radius.to_string(), "the ball of parameters needs a radius above zero");
        }
        if !positive(self.gap) {
            return refuse("gap", self.gap.to_string(), "a number above zero, such as 0.001, is needed");
        }
        if let Some(share) = self.share.filter(|share| !(0.0..1.0).contains(share)) {
            return refuse(
                "weight of the source",
                share.to_string(),
                "a number from 0 to less than 1 is needed",
            );
        }
        let loss = loss::by_name(&self.loss)?;
        match loss.name() {
            "log" if self.radius.is_none() && !self.judged => {
                let expected =
                    "without judging the result there is nothing to choose it by; give one, such as 2";
                return refuse("radius", "not given".into(), expected);
            }
            "log" => {}
            "zero-one" => {
                return refuse(
                    "loss",
                    self.loss,
                    "this loss has no slopes to follow; take log, hinge or exponential",
                );
            }
            _ if !self.judged => {
                return refuse(
                    "loss",
                    self.loss,
                    "without judging the result only the log loss can be minimised",
                );
            }
            _ if self.radius.is_some() => {
                return refuse("loss", self.loss, "a radius is for the log loss only; leave it out");
            }
            _ => {}
        }
        let estimator = Params::new().task.check(common)?;
        Ok(Adapter { task: self, loss, estimator })
    }
}

/// Checked parameters, ready to adapt with.
#[derive(Debug, Clone)]
pub struct Adapter {
    task: AdaptTask,
    loss: SharedLoss,
    estimator: Estimator,
}

/// Whether an adaptation was worth it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The risk is smaller than the seed model's, by the interval of their difference.
    Improved,
    /// It cannot be told to be smaller: keep the seed model.
    Failed,
    /// It seems smaller, by a judgement that cannot be relied on: a diagnostic speaks against the estimate, or a risk comes out below
    /// the smallest that can be. Views that depend on each other make the estimated risk fall without end.
    Doubtful,
}

/// What is known of the adapted model's risk: means over rows that neither the model nor the labels were fitted on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// The risk of the adapted model.
    pub adapted: Measured,
    /// That of the seed model.
    pub seed: Measured,
    /// The adapted model's less the seed model's, row by row.
    pub difference: Measured,
    /// The same on the rows whose class is known, where these are enough to tell: it holds whatever the views do.
    pub by_labels: Option<Measured>,
    /// The error rate of the adapted model.
    pub adapted_error: Measured,
    /// That of the seed model.
    pub seed_error: Measured,
    /// Whether the adapted model is better.
    pub verdict: Verdict,
}

/// An adapted model.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Adaptation {
    /// The model.
    pub model: LogisticModel,
    /// The norm of its parameters, in standardised features.
    pub radius: f64,
    /// By how much the minimised value may be above the smallest in the ball of that radius, where there is a ball.
    pub gap: Option<f64>,
    /// How often the rows were read for the last fit.
    pub passes: usize,
    /// The loss that was minimised.
    pub loss: &'static str,
    /// The share that the old domain's rows had, where there were such.
    pub share: Option<f64>,
    /// What the rows say of the seed model.
    pub seed: Estimate,
    /// What is known of the adapted model's risk, where that was asked for.
    pub judgement: Option<Judgement>,
}

impl Adapter {
    /// Adapts a model with these views and classes to the rows of a source. Rows whose class is known count with it.
    ///
    /// # Errors
    /// Those of the source; [`Error::WeakSeed`] when the seed model does not tell which class is which;
    /// [`Error::InvalidParameter`] for too few rows to judge by, or a loss whose risk is no number on the way; and whatever keeps the rows from being answered, see [`Estimator::plan`].
    /// [`Error::Shape`] for rows with other features than the model.
    pub fn adapt<S: FeatureSource>(
        &self,
        source: &S,
        seed: &LogisticModel,
        schema: &Schema,
    ) -> Result<Adaptation, S::Error> {
        self.run(source, None, seed, schema)
    }

    /// The same with labelled rows of an old domain, whose mean log loss has a share in what is minimised; rows without a
    /// label are left out. Each domain's features are standardised by its own rows, so that domains which differ in the scale and
    /// offset of features only do not differ.
    ///
    /// # Errors
    /// Those of [`Adapter::adapt`]; [`Error::InvalidParameter`] when no old row has a label, the loss is not the log loss, or
    /// nothing is judged and no share is given.
    ///
    /// # Panics
    /// When the source or the old rows have other features than the model, or a label is no class of it: a mistake of the
    /// caller's.
    pub fn adapt_with<S: FeatureSource>(
        &self,
        source: &S,
        old: &FeatureBatch,
        seed: &LogisticModel,
        schema: &Schema,
    ) -> Result<Adaptation, S::Error> {
        let refuse = |name, value: &str, expected| {
            Err(Error::InvalidParameter { name, value: value.into(), expected }.into())
        };
        let known: Vec<usize> = (0..old.rows()).filter(|&row| old.label(row).is_some()).collect();
        if known.is_empty() {
            return refuse("labelled rows of the source", "0", "at least 1 is needed");
        }
        if self.loss.name() != "log" {
            return refuse("loss", self.loss.name(), "rows of a source are used with the log loss only");
        }
        if self.task.share.is_none() && !self.task.judged {
            let expected =
                "without judging the result there is nothing to choose it by; give one, such as 0.1";
            return refuse("weight of the source", "not given", expected);
        }
        self.run(source, Some(&old.select(&known)), seed, schema)
    }

    fn run<S: FeatureSource>(
        &self,
        source: &S,
        old: Option<&FeatureBatch>,
        seed: &LogisticModel,
        schema: &Schema,
    ) -> Result<Adaptation, S::Error> {
        let shape = seed.shape();
        for (given, needed) in source.schema().widths().into_iter().zip(&shape.widths) {
            expect("features of a view", given, *needed)?;
        }
        expect("views", source.schema().views().len(), shape.widths.len())?;
        let kept = Cached::of(source)?;
        let linear = LinearScores::of(&kept, shape.classes)?;
        let old = old.map(|rows| OldRows::new(source.schema(), &shape, rows)).transpose()?;
        let (gap, level) = (self.task.gap, self.estimator.common.level);
        let candidates = self.candidates(old.is_some());
        let task = Fits {
            estimator: &self.estimator,
            loss: &*self.loss,
            gap,
            level,
            seed,
            schema,
            linear,
            old,
            candidates,
        };
        let (estimate, labelled) = task.label(&kept)?;
        estimate.expect_strong_seed()?;
        let rows = estimate.rows;
        if self.task.judged && rows < (ROWS_A_CLASS * shape.classes).max(ROWS) as u64 {
            return Err(Error::InvalidParameter {
                name: "number of rows",
                value: rows.to_string(),
                expected: "half of so few cannot judge what the other half made: at least 1000, and 150 a class, are needed, or \
                           a radius and no judgement",
            }
            .into());
        }
        let halves = if self.task.judged { Some(task.halves(&kept)?) } else { None };
        let no_number = || Error::InvalidParameter {
            name: "loss",
            value: self.loss.name().into(),
            expected: "its risk is no finite number on these rows; take the log loss",
        };
        let (judgement, (place, start)) = match &halves {
            Some(halves) => {
                let best = best_of(halves).ok_or_else(no_number)?;
                (task.compare(&kept, halves)?.map(|it| Judgement::new(it, estimate.trusted())), best)
            }
            None => (None, (0, vec![0.0; shape.len()])),
        };
        let fitted = task.fit(&kept, &labelled.labeller, place, &start)?.ok_or_else(no_number)?;
        Ok(Adaptation {
            model: task.linear.model(&fitted.standard),
            radius: fitted.radius,
            gap: fitted.gap,
            passes: fitted.passes,
            loss: self.loss.name(),
            share: task.old.is_some().then_some(task.candidates[place].share),
            judgement,
            seed: estimate,
        })
    }

    /// The ways of fitting that are tried, those of one share together.
    fn candidates(&self, old: bool) -> Vec<Candidate> {
        let shares = match (old, self.task.share) {
            (false, _) => vec![0.0],
            (true, Some(share)) => vec![share],
            (true, None) => SHARES.to_vec(),
        };
        let ways: Vec<Way> = match self.task.radius {
            Some(radius) => vec![Way::Radius(radius)],
            None if self.loss.name() == "log" => PENALTIES.map(Way::Penalty).to_vec(),
            None => STEPS.map(Way::Step).to_vec(),
        };
        let with = |share: f64| ways.iter().map(move |&way| Candidate { share, way });
        shares.into_iter().flat_map(with).collect()
    }
}

impl Adaptation {
    /// Whether there is reason to use the model in the seed's place: it was found to be better, or nothing was asked and no diagnostic
    /// speaks against what it was made of.
    pub fn supported(&self) -> bool {
        match &self.judgement {
            Some(judgement) => judgement.verdict == Verdict::Improved,
            None => self.seed.trusted(),
        }
    }
}

impl Judgement {
    /// What was compared, by estimates that are to be trusted or not.
    fn new(compared: Compared, trusted: bool) -> Self {
        let Compared { adapted, seed, difference, adapted_error, seed_error, by_labels } = compared;
        let sound =
            trusted && ![adapted, seed].iter().any(|it| impossible(it.value, it.standard_error, LEAST));
        // Labels decide where they can.
        let known = by_labels.map(|it| it.interval);
        let verdict = if known.is_some_and(|it| it.high < 0.0) {
            Verdict::Improved
        } else if known.is_some_and(|it| it.low > 0.0) || difference.interval.high >= 0.0 {
            Verdict::Failed
        } else if sound {
            Verdict::Improved
        } else {
            Verdict::Doubtful
        };
        Self { adapted, seed, difference, by_labels, adapted_error, seed_error, verdict }
    }
}
