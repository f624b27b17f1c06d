//! Each view as a model of its own, for a program.

use super::MeasuredObject;
use triview::estimator::{Difference, Each, EachView};

/// One view as a model of its own; what is not known is absent.
#[derive(Debug, serde::Serialize)]
pub(crate) struct EachObject<'a> {
    view: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    risk: Option<MeasuredObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate: Option<MeasuredObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    brier: Option<MeasuredObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration_error: Option<MeasuredObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auc: Option<MeasuredObject>,
}

impl<'a> EachObject<'a> {
    pub(crate) fn all(each: &'a Each) -> Vec<Self> {
        let of_view = |EachView { view, risk, metrics }: &'a EachView| {
            let metrics = metrics.as_ref();
            Self {
                view,
                risk: risk.as_ref().map(MeasuredObject::new),
                error_rate: metrics.map(|of| MeasuredObject::new(&of.error_rate.estimate)),
                brier: metrics.map(|of| MeasuredObject::new(&of.brier.estimate)),
                calibration_error: metrics.map(|of| MeasuredObject::new(&of.calibration_error.estimate)),
                auc: metrics.map(|of| MeasuredObject::new(&of.auc.estimate)),
            }
        };
        each.views.iter().map(of_view).collect()
    }
}

/// The first of two views less the second, on the same rows.
#[derive(Debug, serde::Serialize)]
pub(crate) struct DifferenceObject<'a> {
    views: [&'a str; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    risk: Option<MeasuredObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate: Option<MeasuredObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    brier: Option<MeasuredObject>,
    better: Option<&'a str>,
    confidence: Option<f64>,
}

impl<'a> DifferenceObject<'a> {
    pub(crate) fn all(each: &'a Each) -> Vec<Self> {
        let name = |view: usize| each.views[view].view.as_str();
        let of_pair = |difference: &'a Difference| Self {
            views: difference.views.map(name),
            risk: difference.risk.as_ref().map(MeasuredObject::new),
            error_rate: difference.error_rate.as_ref().map(MeasuredObject::new),
            brier: difference.brier.as_ref().map(MeasuredObject::new),
            better: difference.better.map(name),
            confidence: difference.confidence,
        };
        each.differences.iter().map(of_pair).collect()
    }
}
