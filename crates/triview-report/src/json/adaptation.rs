//! An adaptation for a program.

use super::{AlarmObject, Made, MeasuredObject, SCHEMA, alarms};
use crate::words::Front;
use serde::Serialize;
use triview::answer::Interval;
use triview::learning::{Adaptation, Verdict};
use triview::metrics::Measured;

/// An [`Adaptation`] under stable names. Without a judgement nothing is known of the adapted model.
#[derive(Debug, Serialize)]
pub struct AdaptObject<'a> {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    risk: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standard_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<RiskObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<RiskObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference_by_labels: Option<RiskObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate_interval: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<MetricsObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    /// What the risks and error rates are by.
    #[serde(skip_serializing_if = "Option::is_none")]
    judged_by: Option<&'static str>,
    level: f64,
    loss: &'a str,
    rows: u64,
    radius: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<f64>,
    converged: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_weight: Option<f64>,
    passes: usize,
    class_prior: &'a [f64],
    matching_gap: f64,
    matching_gap_interval: Interval,
    alarms: Vec<String>,
    alarm_details: Vec<AlarmObject<'a>>,
    trusted: bool,
    #[serde(flatten)]
    made: MadeFrom<'a>,
}

/// How it was made; `seed` is the seed model's risk here.
#[derive(Debug, Serialize)]
struct MadeFrom<'a> {
    version: &'a str,
    random_seed: u64,
    inputs: &'a [String],
}

/// Error rates with their errors.
#[derive(Debug, Serialize)]
struct MetricsObject {
    error_rate: MeasuredObject,
    seed_error_rate: MeasuredObject,
}

/// A risk with its error.
#[derive(Debug, Serialize)]
struct RiskObject {
    risk: f64,
    standard_error: f64,
    interval: Interval,
}

impl RiskObject {
    fn new(measured: &Measured) -> Self {
        let Measured { value, standard_error, interval } = *measured;
        Self { risk: value, standard_error, interval }
    }
}

impl<'a> AdaptObject<'a> {
    /// The object for an answer, in the words of whoever shows it.
    pub fn new(adaptation: &'a Adaptation, level: f64, front: Front, made: &'a Made) -> Self {
        let (alarms, alarm_details) = alarms(&adaptation.seed.alarms, front);
        let Adaptation { radius, gap, passes, seed, judgement, loss, share, .. } = adaptation;
        let judged = judgement.as_ref();
        Self {
            schema: SCHEMA,
            risk: judged.map(|it| it.adapted.value),
            standard_error: judged.map(|it| it.adapted.standard_error),
            interval: judged.map(|it| it.adapted.interval),
            seed: judged.map(|it| RiskObject::new(&it.seed)),
            difference: judged.map(|it| RiskObject::new(&it.difference)),
            difference_by_labels: judged.and_then(|it| it.by_labels.as_ref().map(RiskObject::new)),
            error_rate: judged.map(|it| it.adapted_error.value),
            error_rate_interval: judged.map(|it| it.adapted_error.interval),
            metrics: judged.map(|it| MetricsObject {
                error_rate: MeasuredObject::new(&it.adapted_error),
                seed_error_rate: MeasuredObject::new(&it.seed_error),
            }),
            verdict: judged.map(|it| match it.verdict {
                Verdict::Improved => "improved",
                Verdict::Likely => "likely",
                Verdict::Failed => "failed",
                Verdict::Doubtful => "doubtful",
            }),
            judged_by: judged.map(|it| if it.of_labels { "labels" } else { "views" }),
            level,
            loss,
            rows: seed.rows,
            radius: *radius,
            gap: *gap,
            converged: adaptation.converged,
            source_weight: *share,
            passes: *passes,
            class_prior: &seed.class_prior,
            matching_gap: seed.matching_gap,
            matching_gap_interval: seed.matching_gap_interval,
            alarms,
            alarm_details,
            trusted: adaptation.supported(),
            made: MadeFrom { version: made.version, random_seed: made.seed, inputs: &made.inputs },
        }
    }
}
