//! An estimate for a program.

use super::each::{DifferenceObject, EachObject};
use super::labelled::{BudgetObject, LabelsObject, WithoutLabels};
use super::prediction::{BetterObject, MetricObject, PredictionObject};
use super::{AlarmObject, ByName, LevelledInterval, Made, MeasuredObject, SCHEMA, alarms_of, missing, named};
use crate::remedies::{Remedies, RemediesObject};
use crate::text::Budget;
use crate::words::{Front, Subject, unseen};
use triview::answer::{Bound, Interval};
use triview::data::{VIEWS, Witness};
use triview::diagnostics::{Alarm, Verdict};
use triview::error::Unmeasured;
use triview::estimator::few_labels::Labelled;
use triview::estimator::{Amplified, Estimate, Fit};
use triview::latent::Tried;
use triview::metrics::{Bin, Measured, Metrics};
use triview::moments::{Grouping, OtherPartition};

/// An [`Estimate`] under the names of the contract.
#[derive(Debug, serde::Serialize)]
pub struct EstimateObject<'a> {
    schema: u32,
    risk: f64,
    standard_error: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<Bound>,
    interval: LevelledInterval,
    #[serde(skip_serializing_if = "Option::is_none")]
    wider_interval: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    amplified: Option<AmplifiedObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<LabelsObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    without_labels: Option<WithoutLabels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_budget: Option<BudgetObject>,
    loss: &'a str,
    rows: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<ByName<'a, u64>>,
    views: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    witnesses: Vec<WitnessObject<'a>>,
    groups: Vec<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grouping: Option<GroupingObject<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    extra_features: &'a [String],
    classes: &'a [String],
    class_prior: &'a [f64],
    #[serde(skip_serializing_if = "Option::is_none")]
    latent: Option<LatentObject<'a>>,
    conditional_risk: ByName<'a, Vec<Vec<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view_error: Option<ByName<'a, f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate_interval: Option<LevelledInterval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate_wider_interval: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    floor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate_absent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<MetricsObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    each: Option<Vec<EachObject<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<Vec<DifferenceObject<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prediction: Option<PredictionObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    better_prediction: Option<BetterObject>,
    matching_gap: f64,
    intervals: Intervals<'a>,
    fit: &'a Fit,
    diagnostics: Diagnostics<'a>,
    trusted: bool,
    unseen: Vec<&'static str>,
    #[serde(flatten)]
    made: Option<&'a Made>,
}

/// A column without scores, and the values that are told apart.
#[derive(Debug, serde::Serialize)]
struct WitnessObject<'a> {
    name: &'a str,
    values: Vec<String>,
    /// How many rare values the last of these stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pooled: Option<u64>,
}

impl<'a> WitnessObject<'a> {
    fn new(witness: &'a Witness) -> Self {
        let pooled = Some(witness.pooled()).filter(|pooled| *pooled > 0);
        Self { name: witness.name(), values: witness.values(), pooled }
    }
}

/// What most of several groups of rows agree on.
#[derive(Debug, serde::Serialize)]
struct AmplifiedObject {
    risk: f64,
    standard_error: f64,
    groups: usize,
    kept: usize,
}

/// The intervals of everything else, in the shapes of what they belong to.
#[derive(Debug, serde::Serialize)]
struct Intervals<'a> {
    class_prior: &'a [Interval],
    conditional_risk: ByName<'a, Vec<Vec<Interval>>>,
    matching_gap: Interval,
}

/// Whether to trust it.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Diagnostics<'a> {
    independence: IndependenceObject<'a>,
    conditioning: Conditioning<'a>,
    alarms: Vec<String>,
    alarm_details: Vec<AlarmObject<'a>>,
}

#[derive(Debug, serde::Serialize)]
struct IndependenceObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    statistic: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p_value: Option<f64>,
    verdict: Verdict,
    #[serde(skip_serializing_if = "<[CommonCauseObject]>::is_empty")]
    common_causes: Vec<CommonCauseObject<'a>>,
    degrees_of_freedom: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    dependences: Vec<DependenceObject<'a>>,
}

#[derive(Debug, serde::Serialize)]
struct CommonCauseObject<'a> {
    views: Vec<&'a str>,
    share: f64,
    standard_error: f64,
    misfit: f64,
    p_value: f64,
}

#[derive(Debug, serde::Serialize)]
struct DependenceObject<'a> {
    views: [&'a str; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'a str>,
    correlation: f64,
    p_value: f64,
}

#[derive(Debug, serde::Serialize)]
struct Conditioning<'a> {
    smallest_singular_value: ByName<'a, f64>,
    smallest_prior: f64,
    tau: f64,
    rows_needed: f64,
}

impl<'a> EstimateObject<'a> {
    /// The object for an answer, in the words of whoever shows it, and how it was made, for the whole of an answer.
    pub fn new(estimate: &'a Estimate, front: Front, made: Option<&'a Made>) -> Self {
        let views = &estimate.views;
        let metrics = estimate.metrics.as_ref().ok();
        let levelled = |interval: Interval| LevelledInterval::new(estimate.level, interval);
        let error_rate = metrics.map(|metrics| &metrics.error_rate.estimate);
        Self {
            schema: SCHEMA,
            risk: estimate.risk,
            standard_error: estimate.standard_error,
            bound: estimate.bound,
            interval: levelled(estimate.interval),
            wider_interval: estimate.wider_interval,
            amplified: None,
            labels: None,
            without_labels: None,
            label_budget: None,
            loss: &estimate.loss,
            rows: estimate.rows,
            missing: missing(&estimate.views, &estimate.missing),
            views,
            model: estimate.model.as_deref(),
            witnesses: estimate.witnesses.iter().map(WitnessObject::new).collect(),
            groups: named(&estimate.views, estimate.partition.iter()),
            grouping: GroupingObject::new(&estimate.views, &estimate.grouping),
            extra_features: &estimate.covariates,
            classes: &estimate.classes,
            class_prior: &estimate.class_prior,
            latent: LatentObject::new(estimate),
            conditional_risk: ByName {
                names: &estimate.holders,
                values: (&estimate.conditional_risk).into(),
            },
            view_error: metrics.map(|metrics| ByName {
                names: estimate.scored(),
                values: metrics.view_error.iter().map(|error| error.value).collect(),
            }),
            error_rate: error_rate.map(|rate| rate.value),
            error_rate_interval: error_rate.map(|rate| levelled(rate.interval)),
            error_rate_wider_interval: estimate.wider_error_rate,
            floor: metrics.map(|metrics| metrics.floor),
            error_rate_absent: estimate.metrics.as_ref().err().map(Unmeasured::to_string),
            metrics: metrics.map(MetricsObject::new),
            each: estimate.each.as_ref().map(EachObject::all),
            differences: estimate.each.as_ref().map(DifferenceObject::all),
            prediction: estimate.prediction.as_ref().map(PredictionObject::new),
            better_prediction: BetterObject::new(estimate),
            matching_gap: estimate.matching_gap,
            intervals: Intervals {
                class_prior: &estimate.class_prior_interval,
                conditional_risk: ByName {
                    names: &estimate.holders,
                    values: (&estimate.conditional_risk_interval).into(),
                },
                matching_gap: estimate.matching_gap_interval,
            },
            fit: &estimate.fit,
            diagnostics: Diagnostics::of(estimate, &estimate.alarms, front, Subject::Rows),
            trusted: estimate.trusted(),
            unseen: unseen(estimate),
            made,
        }
    }
}

impl EstimateObject<'_> {
    /// The same with what most of several groups of rows agree on.
    pub fn amplified(mut self, amplified: Option<&Amplified>) -> Self {
        self.amplified = amplified.map(|amplified| AmplifiedObject {
            risk: amplified.risk,
            standard_error: amplified.standard_error,
            groups: amplified.kept.len(),
            kept: amplified.agreed(),
        });
        self
    }
}

impl<'a> EstimateObject<'a> {
    /// The same with the risk and the error rate by labels, and those without them apart.
    pub fn labelled(mut self, labelled: Option<&'a Labelled>, estimate: &'a Estimate, front: Front) -> Self {
        let Some(labelled) = labelled else { return self };
        let Measured { value, standard_error, interval } = labelled.risk.leading;
        let levelled = |interval: Interval| LevelledInterval::new(labelled.level, interval);
        let error_rate = &labelled.error_rate.leading;
        self.without_labels = Some(WithoutLabels {
            risk: std::mem::replace(&mut self.risk, value),
            standard_error: std::mem::replace(&mut self.standard_error, standard_error),
            bound: self.bound.take(),
            interval: std::mem::replace(&mut self.interval, levelled(interval)),
            wider_interval: self.wider_interval.take(),
            error_rate: self.error_rate.replace(error_rate.value),
            error_rate_interval: self.error_rate_interval.replace(levelled(error_rate.interval)),
            error_rate_wider_interval: self.error_rate_wider_interval.take(),
            trusted: std::mem::replace(&mut self.trusted, labelled.trusted()),
        });
        self.error_rate_absent = None;
        self.better_prediction = None;
        self.labels = Some(LabelsObject::new(labelled, (&estimate.classes, estimate.scored()), front));
        self
    }

    /// The same with how many labels would do.
    pub fn budget(mut self, budget: Option<&Budget>) -> Self {
        self.label_budget = budget.map(BudgetObject::new);
        self
    }
}

impl EstimateObject<'_> {
    /// The same with all metrics, or without.
    pub fn metrics(mut self, all: bool) -> Self {
        self.metrics = self.metrics.filter(|_| all);
        self
    }
}

/// The metrics of the whole prediction.
#[derive(Debug, serde::Serialize)]
struct MetricsObject {
    error_rate: MetricObject,
    brier: MetricObject,
    hinge: MetricObject,
    calibration_error: MetricObject,
    macro_f1: MetricObject,
    auc: MetricObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    sensitivity: Option<MeasuredObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    specificity: Option<MeasuredObject>,
    confusion: Vec<Vec<f64>>,
    confusion_axes: [&'static str; 2],
    calibration: Vec<BinObject>,
    rows: usize,
    mass: f64,
}

/// Rows of which the model is about equally sure.
#[derive(Debug, serde::Serialize)]
struct BinObject {
    confidence: f64,
    correct: f64,
    standard_error: f64,
    interval: Interval,
    share: f64,
}

impl BinObject {
    fn new(Bin { confidence, correct, share }: &Bin) -> Self {
        let Measured { value, standard_error, interval } = *correct;
        Self { confidence: *confidence, correct: value, standard_error, interval, share: *share }
    }
}

impl MetricsObject {
    fn new(metrics: &Metrics) -> Self {
        let metric = MetricObject::new;
        let shares = metrics.sensitivity_and_specificity();
        let share = |at: usize| shares.as_ref().map(|shares| MeasuredObject::new(&shares[at]));
        let cells = |row: &Vec<Measured>| row.iter().map(|cell| cell.value).collect();
        Self {
            error_rate: metric(&metrics.error_rate),
            brier: metric(&metrics.brier),
            hinge: metric(&metrics.hinge),
            calibration_error: metric(&metrics.calibration_error),
            macro_f1: metric(&metrics.macro_f1),
            auc: metric(&metrics.auc),
            sensitivity: share(0),
            specificity: share(1),
            confusion: metrics.confusion.iter().map(cells).collect(),
            confusion_axes: ["predicted", "truth"],
            calibration: metrics.calibration.iter().map(BinObject::new).collect(),
            rows: metrics.rows,
            mass: metrics.mass,
        }
    }
}

impl<'a> Diagnostics<'a> {
    /// What speaks for an answer, and against it: these alarms, of rows or of tokens.
    pub(crate) fn of(estimate: &'a Estimate, raised: &'a [Alarm], front: Front, subject: Subject) -> Self {
        let (alarms, alarm_details) = alarms_of(raised, front, subject);
        let (groups, conditioning) = (&estimate.groups, &estimate.conditioning);
        let independence = &estimate.independence;
        let dependences = independence.dependences.iter().map(|dependence| DependenceObject {
            views: dependence.views.map(|v| groups[v].as_str()),
            class: dependence.class.map(|class| estimate.classes[class].as_str()),
            correlation: dependence.correlation,
            p_value: dependence.p_value,
        });
        let common_causes = independence.common_causes.iter().map(|cause| CommonCauseObject {
            views: cause.views.iter().map(|&v| groups[v].as_str()).collect(),
            share: cause.share,
            standard_error: cause.standard_error,
            misfit: cause.misfit,
            p_value: cause.p_value,
        });
        Self {
            independence: IndependenceObject {
                statistic: independence.statistic,
                p_value: independence.p_value,
                verdict: independence.verdict,
                common_causes: common_causes.collect(),
                degrees_of_freedom: independence.degrees_of_freedom,
                reason: independence.reason.as_deref(),
                dependences: dependences.filter(|line| line.correlation.is_finite()).collect(),
            },
            conditioning: Conditioning {
                smallest_singular_value: ByName {
                    names: groups,
                    values: (&conditioning.smallest_singular_value).into(),
                },
                smallest_prior: conditioning.smallest_prior,
                tau: conditioning.tau,
                rows_needed: conditioning.rows_needed.ceil(),
            },
            alarms,
            alarm_details,
        }
    }
}

/// What `diagnose` prints: the diagnostics, with what they are of.
#[derive(Debug, serde::Serialize)]
pub struct Diagnosis<'a> {
    schema: u32,
    rows: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<ByName<'a, u64>>,
    views: &'a [String],
    groups: Vec<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grouping: Option<GroupingObject<'a>>,
    classes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    latent: Option<LatentObject<'a>>,
    #[serde(flatten)]
    diagnostics: Diagnostics<'a>,
    trusted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedies: Option<RemediesObject<'a>>,
    #[serde(flatten)]
    made: &'a Made,
}

impl<'a> Diagnosis<'a> {
    /// The object for a diagnosis, in the words of whoever shows it.
    pub fn new(estimate: &'a Estimate, front: Front, made: &'a Made) -> Self {
        Self {
            schema: SCHEMA,
            rows: estimate.rows,
            missing: missing(&estimate.views, &estimate.missing),
            views: &estimate.views,
            groups: named(&estimate.views, estimate.partition.iter()),
            grouping: GroupingObject::new(&estimate.views, &estimate.grouping),
            classes: &estimate.classes,
            latent: LatentObject::new(estimate),
            diagnostics: Diagnostics::of(estimate, &estimate.alarms, front, Subject::Diagnosis),
            trusted: estimate.trusted(),
            remedies: None,
            made,
        }
    }

    /// The same with what may help.
    pub fn remedies(mut self, remedies: Option<&'a Remedies>) -> Self {
        self.remedies = remedies.map(Remedies::object);
        self
    }
}

/// The latent states, where a number of them was asked for.
#[derive(Debug, serde::Serialize)]
struct LatentObject<'a> {
    states: usize,
    map: Vec<&'a str>,
    given: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    overruled: Option<usize>,
    prior: &'a [f64],
    rank: ByName<'a, usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tried: Vec<TriedObject>,
}

#[derive(Debug, serde::Serialize)]
struct TriedObject {
    states: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    p_value: Option<f64>,
}

impl<'a> LatentObject<'a> {
    fn new(estimate: &'a Estimate) -> Option<Self> {
        let tried = |tried: &Tried| TriedObject { states: tried.states, p_value: tried.p_value };
        estimate.latent.as_ref().map(|latent| Self {
            states: latent.map.len(),
            map: latent.map.iter().map(|&class| estimate.classes[class].as_str()).collect(),
            given: latent.given,
            overruled: latent.given.then_some(latent.overruled),
            prior: &latent.prior,
            rank: ByName { names: &estimate.groups, values: (&latent.rank).into() },
            tried: latent.tried.iter().map(tried).collect(),
        })
    }
}

/// How the views were grouped.
#[derive(Debug, serde::Serialize)]
pub struct GroupingObject<'a> {
    chosen: &'static str,
    together: Vec<Vec<&'a str>>,
    others: Vec<OtherGroupsObject<'a>>,
}

#[derive(Debug, serde::Serialize)]
struct OtherGroupsObject<'a> {
    groups: Vec<Vec<&'a str>>,
    difference: f64,
    standard_error: f64,
}

impl<'a> GroupingObject<'a> {
    /// The object for a grouping; nothing where there is only one way to group the views.
    pub fn new(views: &'a [String], grouping: &Grouping) -> Option<Self> {
        let other = |other: &OtherPartition| OtherGroupsObject {
            groups: named(views, other.partition.iter()),
            difference: other.difference,
            standard_error: other.standard_error,
        };
        (views.len() > VIEWS).then(|| Self {
            chosen: grouping.chosen.name(),
            together: named(views, grouping.together.iter()),
            others: grouping.others.iter().map(other).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::to_text;
    use crate::text::example as estimate;

    fn made() -> Made {
        Made { version: "1.2.3", seed: 7, inputs: vec!["scores.csv".into()] }
    }

    #[test]
    fn the_object_of_the_contract() {
        let (estimate, made) = (estimate(3), made());
        let object = EstimateObject::new(&estimate, Front::CommandLine, Some(&made));
        insta::assert_snapshot!(to_text(&object).expect("serialisable"));
    }

    #[test]
    fn what_is_unknown_is_null_and_never_absent() {
        let mut unknown = estimate(2);
        unknown.standard_error = f64::NAN;
        unknown.interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
        unknown.matching_gap = f64::INFINITY;
        unknown.matching_gap_interval.high = f64::INFINITY;
        let text = to_text(&EstimateObject::new(&unknown, Front::CommandLine, None)).expect("serialisable");
        let object: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        for key in [
            "/standard_error",
            "/interval/low",
            "/interval/high",
            "/matching_gap",
            "/intervals/matching_gap/high",
        ] {
            assert_eq!(object.pointer(key), Some(&serde_json::Value::Null), "{key}: {text}");
        }
    }
}
