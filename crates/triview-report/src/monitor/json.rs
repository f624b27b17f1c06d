//! For a program.

use super::{Curve, Monitored};
use crate::json::{Made, SCHEMA};
use serde::Serialize;
use triview::answer::Interval;
use triview::monitoring::{InputChange, Measure};

/// The object of `monitor --json`.
#[derive(Debug, Serialize)]
pub struct MonitorObject<'a> {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// What it was made from; `inputs` are what the views are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<&'a str>,
    time: &'a str,
    period: &'a str,
    loss: &'a str,
    level: f64,
    classes: &'a [String],
    groups: &'a [String],
    files: usize,
    /// What of the limits is passed, or cannot be judged, in sentences.
    limits: Vec<String>,
    #[serde(flatten)]
    whole: CurveObject<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<By<'a>>,
    /// Each view as a model of its own, where that is watched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    each: Vec<CurveObject<'a>>,
    trusted: bool,
    quiet: bool,
}

#[derive(Debug, Serialize)]
struct By<'a> {
    column: &'a str,
    segments: Vec<CurveObject<'a>>,
}

#[derive(Debug, Serialize)]
struct CurveObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    segment: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<&'a str>,
    current: Option<&'a str>,
    baseline: BaselineObject<'a>,
    worse: WorseObject<'a>,
    inputs: InputsObject<'a>,
    independence_p_value: Option<f64>,
    periods: Vec<PeriodObject<'a>>,
}

#[derive(Debug, Serialize)]
struct BaselineObject<'a> {
    from: Option<&'a str>,
    to: Option<&'a str>,
    risk: Option<MeasureObject>,
    error_rate: Option<MeasureObject>,
}

#[derive(Debug, Serialize)]
struct WorseObject<'a> {
    alarm: bool,
    factor: f64,
    seen_in: Option<&'a str>,
    /// The last period in which it was looked for and had not begun, where it has by `begun_about`.
    begun_after: Option<&'a str>,
    begun_about: Option<&'a str>,
    false_alarm_rate: f64,
}

#[derive(Debug, Serialize)]
struct InputsObject<'a> {
    changed: bool,
    since: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct MeasureObject {
    value: f64,
    standard_error: f64,
    interval: Interval,
}

#[derive(Debug, Serialize)]
struct PeriodObject<'a> {
    period: &'a str,
    complete: bool,
    rows: u64,
    labels: usize,
    risk: Option<MeasureObject>,
    error_rate: Option<MeasureObject>,
    wider_interval: Option<Interval>,
    class_prior: &'a [f64],
    independence_p_value: Option<f64>,
    worse: f64,
    inputs: Option<InputChange>,
    inputs_changed: bool,
    trusted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<String>,
}

fn measure(of: Option<Measure>) -> Option<MeasureObject> {
    of.map(|of| MeasureObject { value: of.value, standard_error: of.spread, interval: of.interval() })
}

impl Monitored {
    /// The object of `--json`.
    pub fn object<'a>(&'a self, made: Option<&'a Made>) -> MonitorObject<'a> {
        let whole = self.whole();
        let segments = self.curves[1..].iter().map(curve).collect();
        MonitorObject {
            schema: SCHEMA,
            version: made.map(|made| made.version),
            seed: made.map(|made| made.seed),
            store: made.and_then(|made| made.inputs.first()).map(String::as_str),
            time: &self.time,
            period: &self.period,
            loss: &self.loss,
            level: self.level,
            classes: &self.classes,
            groups: &self.groups,
            files: self.files,
            limits: self.sentences(),
            whole: curve(whole),
            by: self.by.as_ref().map(|column| By { column, segments }),
            each: self.views.iter().map(curve).collect(),
            trusted: whole.current_period().is_some_and(|period| period.answer.trusted()),
            quiet: self.quiet(),
        }
    }
}

fn curve(curve: &Curve) -> CurveObject<'_> {
    let (watch, named) = (&curve.watch, |at: Option<usize>| at.map(|at| curve.named(at)));
    let baseline = &watch.baseline.periods;
    let there = !baseline.is_empty();
    let periods = curve.periods.iter().zip(&watch.judged).map(|(period, judged)| {
        let answer = &period.answer;
        PeriodObject {
            period: &period.name,
            complete: period.complete,
            rows: answer.rows,
            labels: answer.labels,
            risk: measure(answer.risk),
            error_rate: measure(answer.error_rate),
            wider_interval: answer.wider.map(|[low, high]| Interval { low, high }),
            class_prior: &answer.class_prior,
            independence_p_value: answer.p_value,
            worse: judged.worse,
            inputs: judged.inputs,
            inputs_changed: judged.inputs_changed,
            trusted: answer.trusted(),
            against: answer.against(),
        }
    });
    CurveObject {
        segment: curve.segment.as_deref(),
        view: curve.view.as_deref(),
        current: curve.current_period().map(|period| period.name.as_str()),
        baseline: BaselineObject {
            from: named(there.then_some(baseline.start)),
            to: named(there.then(|| baseline.end - 1)),
            risk: measure(watch.baseline.risk),
            error_rate: measure(watch.baseline.error_rate),
        },
        worse: WorseObject {
            alarm: watch.alarm.is_some(),
            factor: curve.factor(),
            seen_in: named(watch.alarm),
            begun_after: named(watch.since.as_ref().and_then(|since| since.start.checked_sub(1))),
            begun_about: named(watch.since.as_ref().map(|since| since.end - 1)),
            false_alarm_rate: triview::monitoring::Watch::LEVEL,
        },
        inputs: InputsObject { changed: watch.inputs_alarm.is_some(), since: named(watch.inputs_alarm) },
        independence_p_value: watch.p_value,
        periods: periods.collect(),
    }
}
