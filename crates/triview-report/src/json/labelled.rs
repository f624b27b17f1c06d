//! What a few labels say, for a program.

use super::{AlarmObject, LevelledInterval, MeasuredObject, alarms};
use crate::text::Budget;
use crate::words::Front;
use serde::Serialize;
use triview::answer::{Bound, Interval};
use triview::estimator::few_labels::{Labelled, Naming, Powered};

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
    risk: PoweredObject,
    error_rate: PoweredObject,
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

/// A mean by labels.
#[derive(Debug, Serialize)]
struct PoweredObject {
    #[serde(flatten)]
    estimate: MeasuredObject,
    weight: f64,
    imputed: f64,
    alone: MeasuredObject,
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
    pub(crate) fn new(labelled: &'a Labelled, classes: &'a [String], front: Front) -> Self {
        let (alarms, alarm_details) = alarms(&labelled.alarms, front);
        let agreement = &labelled.agreement;
        let names = agreement.names.iter().map(|&class| classes[class].as_str()).collect();
        Self {
            count: labelled.labels,
            risk: PoweredObject::new(&labelled.risk),
            error_rate: PoweredObject::new(&labelled.error_rate),
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
    fn new(powered: &Powered) -> Self {
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
