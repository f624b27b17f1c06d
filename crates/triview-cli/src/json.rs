//! The answers for a program: one object, whose keys are stable.

use crate::labelled_json::{BudgetObject, LabelsObject, WithoutLabels};
use crate::printer::Budget;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use std::borrow::Cow;
use std::io::{self, Write};
use triview::answer::Interval;
use triview::data::VIEWS;
use triview::diagnostics::{Alarm, Verdict};
use triview::estimator::Amplified;
use triview::estimator::few_labels::Labelled;
use triview::estimator::{Estimate, Fit};
use triview::latent::Tried;
use triview::metrics::{Measured, Metric, Metrics, Unmeasured};
use triview::planning::{Grouping, OtherGroups};

/// The version of every object printed here.
pub(crate) const SCHEMA: u32 = 1;

/// An [`Estimate`] under the names of the contract. What cannot be filled is absent.
#[derive(Debug, serde::Serialize)]
pub(crate) struct EstimateObject<'a> {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    risk: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standard_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<LevelledInterval>,
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
    error_rate_absent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<MetricsObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matching_gap: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<Intervals<'a>>,
    fit: &'a Fit,
    diagnostics: Diagnostics<'a>,
    trusted: bool,
}

/// What most of several groups of rows agree on.
#[derive(Debug, serde::Serialize)]
struct AmplifiedObject {
    risk: f64,
    standard_error: f64,
    groups: usize,
    kept: usize,
}

/// The interval of the risk.
#[derive(Debug, serde::Serialize)]
pub(crate) struct LevelledInterval {
    pub(crate) level: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
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
    alarms: Vec<&'a str>,
}

#[derive(Debug, serde::Serialize)]
struct IndependenceObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    statistic: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p_value: Option<f64>,
    verdict: Verdict,
    degrees_of_freedom: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    dependences: Vec<DependenceObject<'a>>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    rows_needed: Option<f64>,
}

impl<'a> EstimateObject<'a> {
    /// The object for an answer.
    pub(crate) fn new(estimate: &'a Estimate) -> Self {
        let views = &estimate.views;
        let metrics = estimate.metrics.as_ref().ok();
        let Interval { low, high } = estimate.interval;
        let interval =
            bounded(&estimate.interval).then_some(LevelledInterval { level: estimate.level, low, high });
        let all_bounded = estimate.class_prior_interval.iter().all(bounded)
            && estimate.conditional_risk_interval.iter().flatten().flatten().all(bounded)
            && bounded(&estimate.matching_gap_interval);
        Self {
            schema: SCHEMA,
            risk: finite(estimate.risk),
            standard_error: finite(estimate.standard_error),
            interval,
            amplified: None,
            labels: None,
            without_labels: None,
            label_budget: None,
            loss: &estimate.loss,
            rows: estimate.rows,
            missing: missing(&estimate.views, &estimate.missing),
            views,
            groups: named(&estimate.views, estimate.grouping.groups.iter()),
            grouping: GroupingObject::new(&estimate.views, &estimate.grouping),
            extra_features: &estimate.features,
            classes: &estimate.classes,
            class_prior: &estimate.class_prior,
            latent: LatentObject::new(estimate),
            conditional_risk: ByName {
                names: &estimate.holders,
                values: (&estimate.conditional_risk).into(),
            },
            view_error: metrics.map(|metrics| ByName {
                names: views,
                values: metrics.view_error.iter().map(|error| error.value).collect(),
            }),
            error_rate: metrics.map(|metrics| metrics.error_rate.estimate.value),
            error_rate_absent: estimate.metrics.as_ref().err().map(Unmeasured::to_string),
            metrics: metrics.map(MetricsObject::new),
            matching_gap: finite(estimate.matching_gap),
            intervals: all_bounded.then(|| Intervals {
                class_prior: &estimate.class_prior_interval,
                conditional_risk: ByName {
                    names: &estimate.holders,
                    values: (&estimate.conditional_risk_interval).into(),
                },
                matching_gap: estimate.matching_gap_interval,
            }),
            fit: &estimate.fit,
            diagnostics: Diagnostics::new(estimate),
            trusted: estimate.trusted(),
        }
    }
}

impl EstimateObject<'_> {
    /// The same with what most of several groups of rows agree on.
    pub(crate) fn amplified(mut self, amplified: Option<&Amplified>) -> Self {
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
    pub(crate) fn labelled(mut self, labelled: Option<&'a Labelled>, classes: &'a [String]) -> Self {
        let Some(labelled) = labelled else { return self };
        let Measured { value, standard_error, interval } = labelled.risk.estimate;
        let levelled = LevelledInterval { level: labelled.level, low: interval.low, high: interval.high };
        self.without_labels = Some(WithoutLabels {
            risk: std::mem::replace(&mut self.risk, finite(value)),
            standard_error: std::mem::replace(&mut self.standard_error, finite(standard_error)),
            interval: self.interval.replace(levelled),
            error_rate: self.error_rate.replace(labelled.error_rate.estimate.value),
            trusted: std::mem::replace(&mut self.trusted, labelled.trusted()),
        });
        self.error_rate_absent = None;
        self.labels = Some(LabelsObject::new(labelled, classes));
        self
    }

    /// The same with how many labels would do.
    pub(crate) fn budget(mut self, budget: Option<&Budget>) -> Self {
        self.label_budget = budget.map(BudgetObject::new);
        self
    }
}

impl EstimateObject<'_> {
    /// The same with all metrics, or without.
    pub(crate) fn metrics(mut self, all: bool) -> Self {
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
    confusion: Vec<Vec<f64>>,
    rows: usize,
    mass: f64,
}

/// A metric in every way that it is estimated.
#[derive(Debug, serde::Serialize)]
struct MetricObject {
    #[serde(flatten)]
    estimate: MeasuredObject,
    triples: MeasuredObject,
    posterior: MeasuredObject,
    belief: f64,
    disagree: bool,
}

/// An estimate and how far it may be off.
#[derive(Debug, serde::Serialize)]
pub(crate) struct MeasuredObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standard_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<Interval>,
}

impl MeasuredObject {
    pub(crate) fn new(measured: &Measured) -> Self {
        Self {
            value: finite(measured.value),
            standard_error: finite(measured.standard_error),
            interval: Some(measured.interval).filter(bounded),
        }
    }
}

impl MetricsObject {
    fn new(metrics: &Metrics) -> Self {
        let metric = |metric: &Metric| MetricObject {
            estimate: MeasuredObject::new(&metric.estimate),
            triples: MeasuredObject::new(&metric.triples),
            posterior: MeasuredObject::new(&metric.posterior),
            belief: metric.belief,
            disagree: metric.disagree,
        };
        let cells = |row: &Vec<Measured>| row.iter().map(|cell| cell.value).collect();
        Self {
            error_rate: metric(&metrics.error_rate),
            brier: metric(&metrics.brier),
            hinge: metric(&metrics.hinge),
            calibration_error: metric(&metrics.calibration_error),
            macro_f1: metric(&metrics.macro_f1),
            auc: metric(&metrics.auc),
            confusion: metrics.confusion.iter().map(cells).collect(),
            rows: metrics.rows,
            mass: metrics.mass,
        }
    }
}

impl<'a> Diagnostics<'a> {
    /// What speaks for and against an answer.
    fn new(estimate: &'a Estimate) -> Self {
        Self::of(estimate, &estimate.alarms)
    }

    /// The same with these alarms.
    pub(crate) fn of(estimate: &'a Estimate, alarms: &'a [Alarm]) -> Self {
        let (groups, conditioning) = (&estimate.groups, &estimate.conditioning);
        let independence = &estimate.independence;
        let dependences = independence.dependences.iter().map(|dependence| DependenceObject {
            views: dependence.views.map(|v| groups[v].as_str()),
            class: dependence.class.map(|class| estimate.classes[class].as_str()),
            correlation: dependence.correlation,
            p_value: dependence.p_value,
        });
        Self {
            independence: IndependenceObject {
                statistic: independence.statistic.and_then(finite),
                p_value: independence.p_value,
                verdict: independence.verdict,
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
                rows_needed: finite(conditioning.rows_needed.ceil()),
            },
            alarms: alarms.iter().map(|alarm| alarm.message.as_str()).collect(),
        }
    }
}

/// What `diagnose` prints: the diagnostics, with what they are of.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Diagnosis<'a> {
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
}

impl<'a> Diagnosis<'a> {
    /// The object for a diagnosis.
    pub(crate) fn new(estimate: &'a Estimate) -> Self {
        Self {
            schema: SCHEMA,
            rows: estimate.rows,
            missing: missing(&estimate.views, &estimate.missing),
            views: &estimate.views,
            groups: named(&estimate.views, estimate.grouping.groups.iter()),
            grouping: GroupingObject::new(&estimate.views, &estimate.grouping),
            classes: &estimate.classes,
            latent: LatentObject::new(estimate),
            diagnostics: Diagnostics::new(estimate),
            trusted: estimate.trusted(),
        }
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
pub(crate) struct GroupingObject<'a> {
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
    pub(crate) fn new(views: &'a [String], grouping: &Grouping) -> Option<Self> {
        let other = |other: &OtherGroups| OtherGroupsObject {
            groups: named(views, other.groups.iter()),
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

/// Rows in which each view is missing, where any is.
pub(crate) fn missing<'a>(views: &'a [String], rows: &'a [u64]) -> Option<ByName<'a, u64>> {
    rows.iter().any(|rows| *rows > 0).then_some(ByName { names: views, values: rows.into() })
}

/// The names of the views of some sets.
pub(crate) fn named<'a, 's>(
    views: &'a [String],
    sets: impl Iterator<Item = &'s Vec<usize>>,
) -> Vec<Vec<&'a str>> {
    sets.map(|set| set.iter().map(|&view| views[view].as_str()).collect()).collect()
}

pub(crate) fn bounded(interval: &Interval) -> bool {
    interval.low.is_finite() && interval.high.is_finite()
}

/// JSON has no word for infinity or for nothing at all; the key is left out then.
pub(crate) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Values under names, in the order of the names.
#[derive(Debug)]
pub(crate) struct ByName<'a, T: Clone> {
    /// The keys.
    pub(crate) names: &'a [String],
    /// A value for each.
    pub(crate) values: Cow<'a, [T]>,
}

impl<T: Serialize + Clone> Serialize for ByName<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.names.len()))?;
        for (name, value) in self.names.iter().zip(&*self.values) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// An object as text: a line for each key, arrays in one line, a line break at the end.
pub(crate) fn to_text(object: &impl Serialize) -> serde_json::Result<String> {
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, Layout::default());
    object.serialize(&mut serializer)?;
    text.push(b'\n');
    String::from_utf8(text).map_err(serde::ser::Error::custom)
}

/// Objects over lines as a person reads them, arrays in one line: a matrix would fill pages otherwise.
#[derive(Default)]
struct Layout {
    pretty: PrettyFormatter<'static>,
    arrays: usize,
}

impl Formatter for Layout {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.arrays += 1;
        CompactFormatter.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.arrays -= 1;
        CompactFormatter.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.arrays > 0 { CompactFormatter.begin_object(writer) } else { self.pretty.begin_object(writer) }
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.arrays > 0 { CompactFormatter.end_object(writer) } else { self.pretty.end_object(writer) }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if self.arrays == 0 {
            self.pretty.begin_object_key(writer, first)
        } else if first {
            Ok(())
        } else {
            writer.write_all(b", ")
        }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.arrays > 0 { Ok(()) } else { self.pretty.end_object_value(writer) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printer::example as estimate;

    #[test]
    fn the_object_of_the_contract() {
        insta::assert_snapshot!(to_text(&EstimateObject::new(&estimate(3))).expect("serialisable"));
    }

    #[test]
    fn what_is_not_a_number_is_absent() {
        let mut unknown = estimate(2);
        unknown.standard_error = f64::NAN;
        unknown.matching_gap = f64::INFINITY;
        unknown.matching_gap_interval.high = f64::INFINITY;
        let text = to_text(&EstimateObject::new(&unknown)).expect("serialisable");
        assert!(!text.contains("standard_error") && !text.contains("matching_gap"), "{text}");
        assert!(!text.contains("null"), "{text}");
    }

    #[test]
    fn objects_in_arrays_stay_in_their_line() {
        let rows = serde_json::json!({ "rows": [{ "a": 1, "b": [] }, { "a": 2, "b": [3, 4] }], "none": {} });
        let text = to_text(&rows).expect("serialisable");
        let expected =
            "{\n  \"none\": {},\n  \"rows\": [{\"a\": 1, \"b\": []}, {\"a\": 2, \"b\": [3, 4]}]\n}\n";
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("JSON"), rows);
    }
}
