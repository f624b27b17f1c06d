//! What a few labels say, for a program.

use super::{AlarmObject, LevelledInterval, MeasuredObject, alarms};
use crate::text::Budget;
use crate::words::Front;
use serde::Serialize;
use triview::answer::{Bound, Interval};
use triview::estimator::few_labels::{
    ByLabels, Labelled, Lead, ModelByLabels, Naming, Origin, Powered, SegmentByLabels,
};

/// The risk that the views say without labels.
#[derive(Debug, Serialize)]
pub(crate) struct WithoutLabels {
    pub(crate) risk: f64,
    pub(crate) standard_error: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bound: Option<Bound>,
    pub(crate) interval: LevelledInterval,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wider_interval: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_rate_interval: Option<LevelledInterval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_rate_wider_interval: Option<Interval>,
    pub(crate) trusted: bool,
}

/// What the labels say.
#[derive(Debug, Serialize)]
pub struct LabelsObject<'a> {
    count: usize,
    risk: Option<PoweredObject>,
    error_rate: Option<PoweredObject>,
    brier: Option<PoweredObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recalibrated: Option<RecalibratedObject>,
    leads: Leads,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    each: Vec<ModelObject<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differences: Vec<PairObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prediction: Option<ModelObject<'a>>,
    naming: Naming,
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<Vec<&'a str>>,
    agreement: f64,
    expected_agreement: f64,
    by_class: &'a [usize],
    #[serde(skip_serializing_if = "Option::is_none")]
    z: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    soft_map: Option<SoftMapObject<'a>>,
    alarms: Vec<String>,
    alarm_details: Vec<AlarmObject<'a>>,
}

/// Which way comes first.
#[derive(Debug, Serialize)]
struct Leads {
    risk: Lead,
    error_rate: Lead,
    brier: Lead,
}

/// A mean by labels in both ways.
#[derive(Debug, Serialize)]
pub(crate) struct ByLabelsObject {
    #[serde(flatten)]
    leading: MeasuredObject,
    leads: Lead,
    #[serde(skip_serializing_if = "Option::is_none")]
    valid: Option<PoweredObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recalibrated: Option<MeasuredObject>,
}

/// What labels say of one model.
#[derive(Debug, Serialize)]
struct ModelObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    risk: Option<ByLabelsObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate: Option<ByLabelsObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    brier: Option<ByLabelsObject>,
}

/// How much more often the first of two views is wrong.
#[derive(Debug, Serialize)]
struct PairObject<'a> {
    views: [&'a str; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate: Option<ByLabelsObject>,
}

/// What labels say of a segment's rows.
#[derive(Debug, Serialize)]
pub(crate) struct SegmentLabelsObject {
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    risk: Option<ByLabelsObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate: Option<ByLabelsObject>,
}

impl SegmentLabelsObject {
    pub(crate) fn new(of: &SegmentByLabels) -> Self {
        let SegmentByLabels { labels, risk, error_rate, .. } = of;
        let [risk, error_rate] = [risk, error_rate].map(|of| of.as_ref().map(ByLabelsObject::new));
        Self { count: *labels, risk, error_rate }
    }
}

impl ByLabelsObject {
    pub(crate) fn new(of: &ByLabels) -> Self {
        Self {
            leading: MeasuredObject::new(&of.leading),
            leads: of.leads,
            valid: of.valid.as_ref().map(PoweredObject::new),
            recalibrated: of.recalibrated.as_ref().map(MeasuredObject::new),
        }
    }
}

impl<'a> ModelObject<'a> {
    fn new(view: Option<&'a str>, of: &ModelByLabels) -> Self {
        let [risk, error_rate, brier] =
            [&of.risk, &of.error_rate, &of.brier].map(|of| of.as_ref().map(ByLabelsObject::new));
        Self { view, risk, error_rate, brier }
    }
}

/// A mean by labels.
#[derive(Debug, Serialize)]
pub(crate) struct PoweredObject {
    #[serde(flatten)]
    estimate: MeasuredObject,
    weight: f64,
    imputed: f64,
    alone: MeasuredObject,
}

/// Means by a posterior that the labels recalibrate.
#[derive(Debug, Serialize)]
struct RecalibratedObject {
    risk: Option<MeasuredObject>,
    error_rate: Option<MeasuredObject>,
    brier: Option<MeasuredObject>,
    origin: Origin,
    sharpness: f64,
}

#[derive(Debug, Serialize)]
struct SoftMapObject<'a> {
    probability: &'a [Vec<f64>],
    risk: MeasuredObject,
}

/// How many labels would do.
#[derive(Debug, Serialize)]
pub struct BudgetObject {
    width: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    smallest_width: Option<f64>,
    basis: &'static str,
}

impl<'a> LabelsObject<'a> {
    pub(crate) fn new(
        labelled: &'a Labelled,
        (classes, views): (&'a [String], &'a [String]),
        front: Front,
    ) -> Self {
        let (alarms, alarm_details) = alarms(&labelled.alarms, front);
        let Labelled { risk, error_rate, brier, agreement, .. } = labelled;
        let names = agreement.names.iter().map(|&class| classes[class].as_str()).collect();
        let valid = |of: &ByLabels| of.valid.as_ref().map(PoweredObject::new);
        let recalibrated = |of: &ByLabels| of.recalibrated.as_ref().map(MeasuredObject::new);
        let view = |(view, of): (&'a String, &ModelByLabels)| ModelObject::new(Some(view), of);
        let pair = |([a, b], of): &([usize; 2], Option<ByLabels>)| PairObject {
            views: [&views[*a], &views[*b]],
            error_rate: of.as_ref().map(ByLabelsObject::new),
        };
        Self {
            count: labelled.labels,
            risk: valid(risk),
            error_rate: valid(error_rate),
            brier: valid(brier),
            recalibrated: labelled.recalibration.map(|by| RecalibratedObject {
                risk: recalibrated(risk),
                error_rate: recalibrated(error_rate),
                brier: recalibrated(brier),
                origin: by.origin,
                sharpness: by.sharpness,
            }),
            leads: Leads { risk: risk.leads, error_rate: error_rate.leads, brier: brier.leads },
            each: views.iter().zip(&labelled.each).map(view).collect(),
            differences: labelled.differences.iter().map(pair).collect(),
            prediction: labelled.prediction.as_ref().map(|of| ModelObject::new(None, of)),
            naming: agreement.naming,
            names: (agreement.naming == Naming::Contradicted).then_some(names),
            agreement: agreement.share,
            expected_agreement: agreement.expected,
            by_class: &agreement.by_class,
            z: agreement.z,
            soft_map: labelled.soft_map.as_ref().map(|map| SoftMapObject {
                probability: &map.probability,
                risk: MeasuredObject::new(&map.risk),
            }),
            alarms,
            alarm_details,
        }
    }
}

impl PoweredObject {
    pub(crate) fn new(powered: &Powered) -> Self {
        Self {
            estimate: MeasuredObject::new(&powered.estimate),
            weight: powered.weight,
            imputed: powered.imputed,
            alone: MeasuredObject::new(&powered.alone),
        }
    }
}

impl BudgetObject {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            width: budget.width,
            labels: budget.labels,
            more: budget.more(),
            smallest_width: Some(budget.smallest).filter(|_| budget.labels.is_none()),
            basis: if budget.present > 0 { "labels" } else { "posterior" },
        }
    }
}
