//! What one period says.

use super::{Inputs, KeptRows};
use crate::answer::Interval;
use crate::data::{Batch, InMemory, Sample};
use crate::diagnostics::{Alarm, Verdict};
use crate::error::Result;
use crate::estimator::few_labels::{ByLabels, FEWEST_LABELS, Labelled};
use crate::estimator::{EachView, Estimate, Estimator};
use crate::metrics::Measured;
use crate::moments::Moments;
use serde::{Deserialize, Serialize};

/// A number, how far it may be off, and where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The estimate.
    pub value: f64,
    /// Its standard error.
    pub spread: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Measure {
    /// Nothing where any of it is not known.
    fn new(value: f64, spread: f64, Interval { low, high }: Interval) -> Option<Self> {
        let known = [value, spread, low, high].iter().all(|number| number.is_finite()) && spread > 0.0;
        known.then_some(Self { value, spread, low, high })
    }

    fn of(measured: &Measured) -> Option<Self> {
        Self::new(measured.value, measured.standard_error, measured.interval)
    }

    /// The interval.
    pub fn interval(&self) -> Interval {
        Interval { low: self.low, high: self.high }
    }
}

/// What the rows of one period say: small, and kept beside them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PeriodAnswer {
    /// How many rows it has.
    pub rows: u64,
    /// Rows whose class is known.
    pub labels: usize,
    /// The risk: by the labels where there are enough of them, otherwise without.
    pub risk: Option<Measure>,
    /// How often the prediction is wrong, likewise.
    pub error_rate: Option<Measure>,
    /// Where the risk lies if the views share what these rows cannot show; not where labels say it.
    pub wider: Option<[f64; 2]>,
    /// The share of each class.
    pub class_prior: Vec<f64>,
    /// The chance of what the rows show if the views are independent given the class.
    pub p_value: Option<f64>,
    /// What speaks against it.
    pub alarms: Vec<String>,
    /// Whether that is the test of independence, and nothing else.
    pub rejected_alone: bool,
    /// How many of the rows the answer is of where the plan of all periods tells this one's classes apart no more: these, by a plan of their own.
    pub own_plan: Option<usize>,
    /// Why there is no answer, where there is none.
    pub refused: Option<String>,
    /// What the inputs look like.
    pub inputs: Inputs,
    /// Each view as a model of its own, where that is watched. Labels do not correct it: where they speak for the answer and something speaks
    /// against the views, there is none.
    #[serde(default)]
    pub views: Vec<ViewAnswer>,
}

/// What the rows of one period say of a view by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewAnswer {
    /// Its name.
    pub view: String,
    /// Its risk.
    pub risk: Option<Measure>,
    /// How often its prediction is wrong.
    pub error_rate: Option<Measure>,
}

impl PeriodAnswer {
    /// Whether there is an answer and nothing speaks against it.
    pub fn trusted(&self) -> bool {
        self.refused.is_none() && self.alarms.is_empty() && self.risk.is_some()
    }

    /// Why it is not to be trusted, where it is not.
    pub fn against(&self) -> Option<String> {
        match (&self.refused, self.trusted()) {
            (_, true) => None,
            (Some(refused), _) => Some(refused.clone()),
            (None, _) if self.alarms.is_empty() => Some("its risk is not known".to_owned()),
            (None, _) => Some(self.alarms.join("; ")),
        }
    }

    /// The same rows' answer for a view by itself.
    #[must_use]
    pub fn of_view(&self, view: &str) -> Self {
        let own = self.views.iter().find(|own| own.view == view);
        Self {
            labels: 0,
            risk: own.and_then(|own| own.risk),
            error_rate: own.and_then(|own| own.error_rate),
            wider: None,
            inputs: Inputs::default(),
            views: Vec::new(),
            ..self.clone()
        }
    }

    /// Answers from the moments of a period's rows, some of the rows, and those whose class is known.
    pub fn new(estimator: &Estimator, moments: &Moments, kept: &KeptRows, labelled: &KeptRows) -> Self {
        let answer = Self { rows: moments.rows(), inputs: Inputs::of(moments), ..Self::default() };
        let solved = Self::solve(estimator, moments, kept, labelled);
        // What the views have in common is not looked for in fewer rows.
        let dependent =
            solved.as_ref().is_ok_and(|(estimate, _)| estimate.independence.verdict == Verdict::Fail);
        let trusted = solved.as_ref().is_ok_and(|(estimate, labels)| labels.is_some() || estimate.trusted());
        let own = if trusted || dependent { None } else { Self::solve_anew(estimator, moments, kept) };
        match (own, solved) {
            (Some(own), _) => Self { own_plan: Some(kept.len()), ..answer.filled(&own, None) },
            (None, Ok((estimate, labels))) => answer.filled(&estimate, labels.as_ref()),
            (None, Err(error)) => Self { refused: Some(error.to_string()), ..answer },
        }
    }

    /// The answer of the kept rows by a plan that is fitted to them: features that were fitted to the first rows of all say less and less of
    /// those of a model that has changed. Nothing where that is not to be trusted either.
    fn solve_anew(estimator: &Estimator, moments: &Moments, kept: &KeptRows) -> Option<Estimate> {
        let plan = moments.plan();
        let rows = kept.batch(plan.schema()).ok()??;
        let source = InMemory::new(plan.schema().clone(), [rows]);
        let own: Result<Estimate> = estimator.like(plan).estimate(&source);
        own.ok().filter(Estimate::trusted)
    }

    fn solve(
        estimator: &Estimator,
        moments: &Moments,
        kept: &KeptRows,
        labelled: &KeptRows,
    ) -> Result<(Estimate, Option<Labelled>)> {
        let schema = moments.plan().schema();
        let Some(rows) = kept.batch(schema)? else { return Ok((estimator.answer(moments, None)?, None)) };
        let sample = Sample::new(schema.clone(), rows).among(moments.rows());
        if labelled.len() < FEWEST_LABELS {
            return Ok((estimator.answer(moments, Some(&sample))?, None));
        }
        // Rows that are kept stand for all; those with labels were drawn from these.
        let with_labels: Option<Batch> = labelled.batch(schema)?;
        let batches: Vec<Batch> =
            [sample.rows().clone().without_labels()].into_iter().chain(with_labels).collect();
        let source = InMemory::new(schema.clone(), batches);
        let (estimate, labelled) = estimator.solve_labelled(&source, moments, &sample)?;
        Ok((estimate, Some(labelled)))
    }

    fn filled(self, estimate: &Estimate, labelled: Option<&Labelled>) -> Self {
        let metrics = estimate.metrics.as_ref().ok();
        let of_views = Self {
            risk: Measure::new(estimate.risk, estimate.standard_error, estimate.interval),
            error_rate: metrics.and_then(|metrics| Measure::of(&metrics.error_rate.estimate)),
            wider: estimate.wider_interval.map(|wider| [wider.low, wider.high]),
            class_prior: estimate.class_prior.clone(),
            p_value: estimate.independence.p_value,
            alarms: estimate.alarms.iter().map(ToString::to_string).collect(),
            rejected_alone: matches!(estimate.alarms[..], [Alarm::Dependent { .. }]),
            views: estimate.each.iter().flat_map(|each| &each.views).map(ViewAnswer::of).collect(),
            ..self
        };
        // What stands over time holds whatever the views do.
        let valid = |of: &ByLabels| of.valid.as_ref().and_then(|valid| Measure::of(&valid.estimate));
        match labelled {
            None => of_views,
            // What speaks against the views does not speak against the labels.
            Some(labelled) => Self {
                labels: labelled.labels,
                risk: valid(&labelled.risk),
                error_rate: valid(&labelled.error_rate),
                wider: None,
                rejected_alone: false,
                views: if estimate.trusted() { of_views.views } else { Vec::new() },
                alarms: labelled.alarms.iter().map(ToString::to_string).collect(),
                ..of_views
            },
        }
    }
}

impl ViewAnswer {
    fn of(each: &EachView) -> Self {
        let rate = each.metrics.as_ref().map(|metrics| &metrics.error_rate.estimate);
        Self {
            view: each.view.clone(),
            risk: each.risk.as_ref().and_then(Measure::of),
            error_rate: rate.and_then(Measure::of),
        }
    }
}
