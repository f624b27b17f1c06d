//! Another model's output, and the prediction that would be better than the model's own, for a program.

use super::MeasuredObject;
use triview::answer::Interval;
use triview::estimator::Estimate;
use triview::metrics::{Metric, PredictionMetrics};

/// A metric in every way that it is estimated.
#[derive(Debug, serde::Serialize)]
pub(crate) struct MetricObject {
    #[serde(flatten)]
    estimate: MeasuredObject,
    triples: MeasuredObject,
    posterior: MeasuredObject,
    belief: f64,
    disagree: bool,
}

impl MetricObject {
    pub(crate) fn new(metric: &Metric) -> Self {
        Self {
            estimate: MeasuredObject::new(&metric.estimate),
            triples: MeasuredObject::new(&metric.triples),
            posterior: MeasuredObject::new(&metric.posterior),
            belief: metric.belief,
            disagree: metric.disagree,
        }
    }
}

/// The metrics of another model's output.
#[derive(Debug, serde::Serialize)]
pub(crate) struct PredictionObject {
    error_rate: MetricObject,
    log_loss: MetricObject,
    brier: MetricObject,
    calibration_error: MetricObject,
    auc: MetricObject,
    error_rate_whatever_known: Interval,
    disagree: bool,
}

impl PredictionObject {
    pub(crate) fn new(metrics: &PredictionMetrics) -> Self {
        Self {
            error_rate: MetricObject::new(&metrics.error_rate),
            log_loss: MetricObject::new(&metrics.log_loss),
            brier: MetricObject::new(&metrics.brier),
            calibration_error: MetricObject::new(&metrics.calibration_error),
            auc: MetricObject::new(&metrics.auc),
            error_rate_whatever_known: metrics.error_rate_whatever_known,
            disagree: metrics.all().iter().any(|metric| metric.disagree),
        }
    }
}

/// How often the class that all views make likeliest would be wrong, where that is less often than the model's own prediction.
#[derive(Debug, serde::Serialize)]
pub(crate) struct BetterObject {
    error_rate: MeasuredObject,
    own: MeasuredObject,
    difference: MeasuredObject,
}

impl BetterObject {
    pub(crate) fn new(estimate: &Estimate) -> Option<Self> {
        let better = estimate.better_prediction()?;
        let own = &estimate.metrics.as_ref().ok()?.error_rate;
        Some(Self {
            error_rate: MeasuredObject::new(&better.error_rate.estimate),
            own: MeasuredObject::new(&own.estimate),
            difference: MeasuredObject::new(&better.excess.estimate),
        })
    }
}
