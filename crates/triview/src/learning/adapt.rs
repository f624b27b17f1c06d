//! From a seed model and unlabelled rows to a better model.
//!
//! The seed model scores the rows; the scores give surrogate labels, and these `phi-bar` (eq. 7). The risk
//! `E[A(theta; x)] - theta . phi-bar` is then minimised in a ball. Where no radius is given it is the one whose model has the
//! smallest estimated risk on rows that neither the model nor the labels saw: half of the rows adapt a model that is
//! judged on the other half, and the other way round. So is the share that labelled rows of an old domain have, if there are
//! such: they are of another distribution, and may have none. Losses other than the log loss are minimised by dual averaging
//! (algorithm 2), of which the step is chosen in the same way.

use super::ball::OldRows;
use super::fits::{Candidate, Labels, Way};
use super::general::LinearScores;
use super::halves::{Compared, Fits, Told, best_of};
use super::judge::LEAST;
use super::logistic::LogisticModel;
use super::parts::Cached;
use super::rows::{FeatureBatch, FeatureSource};
use crate::answer::{Interval, impossible};
use crate::data::{Schema, expect};
use crate::error::{Error, Result};
use crate::estimator::{Common, Estimate, Estimator, Parameters, Params, Task};
use crate::loss::{self, Loss, SharedLoss};
use crate::metrics::Measured;
use crate::settings::adaptation::{
    LABELS as FEWEST_LABELS, NO_WORSE, NO_WORSE_LEVEL, PENALTIES, ROWS, ROWS_A_CLASS, SHARES, STEPS,
};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

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
    /// The labels of some rows say that it is smaller, not beyond chance, and that it is hardly larger at the worst: where the views cannot be
    /// relied on.
    Likely,
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
    /// Whether the risks and error rates are those of the labelled rows, too: where the views cannot be relied on.
    pub of_labels: bool,
    /// The error rate of the adapted model.
    pub adapted_error: Measured,
    /// That of the seed model.
    pub seed_error: Measured,
    /// Whether the adapted model is better.
    pub verdict: Verdict,
}

/// How far an adaptation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Fits that are done.
    pub done: usize,
    /// The most fits that there may be: those that do not get better are left out.
    pub most: usize,
    /// At the first report, how many features of all rows are not zero: a fit reads them some hundreds of times.
    pub numbers: u64,
}

/// What is told how far an adaptation is; threads may tell at once.
pub type Report<'a> = &'a (dyn Fn(Progress) + Sync);

/// An adapted model.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Adaptation {
    /// The model.
    pub model: LogisticModel,
    /// The norm of its parameters, in standardised features.
    pub radius: f64,
    /// By how much the minimised value may be above the smallest in the ball of that radius, where there is a ball.
    pub gap: Option<f64>,
    /// Whether that is as little as was asked for: a fit to a ball too large for the rows ends before.
    pub converged: bool,
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
        self.adapt_telling(source, None, seed, schema, &|_| {})
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
        self.adapt_telling(source, Some(old), seed, schema, &|_| {})
    }

    /// The labelled rows of an old domain.
    fn labelled(&self, old: &FeatureBatch) -> Result<FeatureBatch> {
        let refuse = |name, value: &str, expected| {
            Err(Error::InvalidParameter { name, value: value.into(), expected })
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
        Ok(old.select(&known))
    }

    /// Either of both, telling how far it is.
    ///
    /// # Errors
    /// Those of [`Adapter::adapt`] and [`Adapter::adapt_with`].
    pub fn adapt_telling<S: FeatureSource>(
        &self,
        source: &S,
        old: Option<&FeatureBatch>,
        seed: &LogisticModel,
        schema: &Schema,
        report: Report<'_>,
    ) -> Result<Adaptation, S::Error> {
        let old = old.map(|old| self.labelled(old)).transpose()?;
        let shape = seed.shape();
        for (given, needed) in source.schema().widths().into_iter().zip(&shape.widths) {
            expect("features of a view", given, *needed)?;
        }
        expect("views", source.schema().views().len(), shape.widths.len())?;
        let kept = Cached::of(source)?;
        let linear = LinearScores::of(&kept, shape.classes)?;
        let old = old.map(|rows| OldRows::new(source.schema(), &shape, &rows)).transpose()?;
        let (gap, level) = (self.task.gap, self.estimator.common.level);
        let candidates = self.candidates(old.is_some());
        let fits = if self.task.judged { 2 * candidates.len() + 1 } else { 1 };
        let told = Told::new(report, fits, kept.numbers());
        let mut task = Fits {
            estimator: &self.estimator,
            loss: &*self.loss,
            gap,
            level,
            seed,
            schema,
            old,
            candidates,
            told,
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
        let no_number = || Error::InvalidParameter {
            name: "loss",
            value: self.loss.name().into(),
            expected: "its risk is no finite number on these rows; take the log loss",
        };
        // Labels judge by themselves where the views cannot be relied on.
        let labels = if estimate.trusted() { 0 } else { Fits::count_labels(&kept)? };
        let (judgement, (place, start)) = if self.task.judged && labels >= FEWEST_LABELS {
            task.candidates = self.candidates_by_labels(task.old.is_some());
            task.told = task.told.of(task.candidates.len() + 1, kept.numbers());
            let by_labels = task.judge_by_labels(&kept, (&labelled.labeller, labels, rows))?;
            let best = by_labels.chosen().ok_or_else(no_number)?;
            (task.compare_by_labels(&by_labels).map(|it| Judgement::by_labels(it, &*self.loss)), best)
        } else if self.task.judged {
            let halves = task.halves(&kept)?;
            let best = best_of(&halves).ok_or_else(no_number)?;
            (task.compare(&kept, &halves)?.map(|it| Judgement::new(it, estimate.trusted())), best)
        } else {
            (None, (0, vec![0.0; shape.len()]))
        };
        let fitted = task.fit(&kept, &linear, &labelled.labeller, place, &start)?.ok_or_else(no_number)?;
        Ok(Adaptation {
            model: linear.model(&fitted.standard),
            radius: fitted.radius,
            gap: fitted.gap,
            converged: fitted.gap.is_none_or(|reached| reached <= gap),
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
        let with = |share: f64| ways.iter().map(move |&way| Candidate { share, labels: Labels::Views, way });
        shares.into_iter().flat_map(with).collect()
    }

    /// The same where labels judge them. What views that depend on each other say of each other may lead anywhere; what the seed itself says
    /// leads to a model that is at most as sure as the seed.
    fn candidates_by_labels(&self, old: bool) -> Vec<Candidate> {
        let by_views = self.candidates(old);
        let by_seed = by_views.iter().filter(|candidate| matches!(candidate.way, Way::Penalty(_)));
        let by_seed = by_seed.map(|candidate| Candidate { labels: Labels::Seed, ..*candidate });
        by_seed.chain(by_views.iter().copied()).collect()
    }
}

impl Adaptation {
    /// Whether there is reason to use the model in the seed's place: it was found to be better, or nothing was asked, no diagnostic
    /// speaks against what it was made of, and it is the one that was asked for.
    pub fn supported(&self) -> bool {
        match &self.judgement {
            Some(judgement) => matches!(judgement.verdict, Verdict::Improved | Verdict::Likely),
            None => self.seed.trusted() && self.converged,
        }
    }
}

impl Judgement {
    /// What was compared, by estimates that are to be trusted or not.
    fn new(compared: Compared, trusted: bool) -> Self {
        let Compared { adapted, seed, difference, adapted_error, seed_error, by_labels } = compared;
        let failed = [adapted, seed].iter().any(|it| impossible(it.value, it.standard_error, LEAST));
        let sound = trusted && !failed;
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
        let [adapted, seed] = [adapted, seed].map(possible);
        let unknown = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
        let difference = if failed { not_known(adapted.value - seed.value, unknown) } else { difference };
        Self { adapted, seed, difference, by_labels, of_labels: false, adapted_error, seed_error, verdict }
    }

    /// What was compared on labelled rows alone.
    fn by_labels(compared: Compared, loss: &dyn Loss) -> Self {
        let Compared { adapted, seed, difference, adapted_error, seed_error, by_labels } = compared;
        // What a loss of another kind may lose is in other units.
        let worst =
            difference.value + Normal::standard().inverse_cdf(NO_WORSE_LEVEL) * difference.standard_error;
        let hardly_worse = loss.name() == "log" && worst < NO_WORSE;
        let verdict = if difference.interval.high < 0.0 {
            Verdict::Improved
        } else if difference.value < 0.0 && hardly_worse {
            Verdict::Likely
        } else {
            Verdict::Failed
        };
        Self { adapted, seed, difference, by_labels, of_labels: true, adapted_error, seed_error, verdict }
    }
}

/// A risk; of one that comes out below the smallest that can be, that it is no smaller.
fn possible(risk: Measured) -> Measured {
    if impossible(risk.value, risk.standard_error, LEAST) {
        not_known(LEAST, Interval { low: LEAST, high: f64::INFINITY })
    } else {
        risk
    }
}

fn not_known(value: f64, interval: Interval) -> Measured {
    Measured { value, standard_error: f64::INFINITY, interval }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(value: f64, standard_error: f64) -> Measured {
        Measured { value, standard_error, interval: Interval::around(value, 2.0, standard_error) }
    }

    #[test]
    fn a_risk_that_cannot_be_is_a_failed_judgement_and_not_shown() {
        let judge = |adapted: Measured| {
            let (seed, rate) = (measured(0.4, 0.01), measured(0.1, 0.01));
            let difference = measured(adapted.value - seed.value, 0.01);
            let [adapted_error, seed_error] = [rate; 2];
            let compared = Compared { adapted, seed, difference, adapted_error, seed_error, by_labels: None };
            Judgement::new(compared, true)
        };
        let below = judge(measured(-23.2, 2.4));
        assert_eq!(below.verdict, Verdict::Doubtful);
        assert_eq!((below.adapted.value, below.adapted.interval.low), (0.0, 0.0));
        for unknown in [below.adapted, below.difference] {
            assert!(
                unknown.standard_error.is_infinite() && unknown.interval.high.is_infinite(),
                "{unknown:?}"
            );
        }
        let noise = judge(measured(-0.01, 0.01));
        assert_eq!((noise.verdict, noise.adapted.value), (Verdict::Improved, -0.01));
    }

    #[test]
    fn labels_that_are_few_say_likely_where_little_can_be_lost() {
        let verdict = |difference: f64, error: f64, loss: &str| {
            let rate = measured(0.2, 0.05);
            let difference = measured(difference, error);
            let [adapted, seed, adapted_error, seed_error] = [rate; 4];
            let compared = Compared {
                adapted,
                seed,
                difference,
                adapted_error,
                seed_error,
                by_labels: Some(difference),
            };
            Judgement::by_labels(compared, &*loss::by_name(loss).expect("a loss")).verdict
        };
        assert_eq!(verdict(-0.3, 0.1, "log"), Verdict::Improved);
        assert_eq!(verdict(-0.03, 0.04, "log"), Verdict::Likely);
        // It may be worse by a tenth, though it seems better.
        assert_eq!(verdict(-0.03, 0.1, "log"), Verdict::Failed);
        assert_eq!(verdict(0.01, 0.01, "log"), Verdict::Failed);
        assert_eq!(verdict(-0.03, 0.04, "hinge"), Verdict::Failed);
    }
}
