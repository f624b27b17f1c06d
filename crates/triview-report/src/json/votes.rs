//! The answer of votes for a program.

use super::{AlarmObject, ByName, LevelledInterval, Made, SCHEMA, alarms};
use crate::words::Front;
use triview::answer::Interval;
use triview::diagnostics::Verdict;
use triview::metrics::Measured;
use triview::votes::{Annotator, Pair, VoteEstimate};

/// A [`VoteEstimate`] under the names of the contract: an annotator is a view, and the risk is the error rate of the labels.
#[derive(Debug, serde::Serialize)]
pub struct VotesObject<'a> {
    schema: u32,
    risk: f64,
    standard_error: f64,
    interval: LevelledInterval,
    loss: &'static str,
    rows: usize,
    votes: usize,
    single_votes: usize,
    views: &'a [String],
    classes: &'a [String],
    class_prior: Vec<f64>,
    conditional_risk: ByName<'a, Vec<Vec<f64>>>,
    view_error: ByName<'a, f64>,
    view_votes: ByName<'a, u32>,
    error_rate: f64,
    error_rate_interval: LevelledInterval,
    believed_error_rate: f64,
    matching_gap: f64,
    second_best_names: Vec<&'a str>,
    intervals: Intervals<'a>,
    fit: FitObject,
    diagnostics: Diagnostics<'a>,
    trusted: bool,
    #[serde(flatten)]
    made: &'a Made,
}

/// In the shapes of what they belong to.
#[derive(Debug, serde::Serialize)]
struct Intervals<'a> {
    class_prior: Vec<Interval>,
    conditional_risk: ByName<'a, Vec<Vec<Interval>>>,
    view_error: ByName<'a, Interval>,
    matching_gap: Interval,
}

#[derive(Debug, serde::Serialize)]
struct FitObject {
    status: &'static str,
    start: &'static str,
    objective: f64,
    majority_objective: f64,
    log_likelihood: f64,
    iterations: usize,
    smoothing: f64,
}

#[derive(Debug, serde::Serialize)]
struct Diagnostics<'a> {
    independence: Independence<'a>,
    alarms: Vec<String>,
    alarm_details: Vec<AlarmObject<'a>>,
}

#[derive(Debug, serde::Serialize)]
struct Independence<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    p_value: Option<f64>,
    verdict: Verdict,
    pairs_tested: usize,
    dependences: Vec<Dependence<'a>>,
}

#[derive(Debug, serde::Serialize)]
struct Dependence<'a> {
    views: [&'a str; 2],
    items: usize,
    agreement: f64,
    expected: f64,
    p_value: f64,
}

impl<'a> VotesObject<'a> {
    /// The object for an answer, in the words of whoever shows it; the annotators have these names.
    pub fn new(estimate: &'a VoteEstimate, names: &'a [String], front: Front, made: &'a Made) -> Self {
        let (alarms, alarm_details) = alarms(&estimate.alarms, front);
        let all: Vec<Annotator> = (0..estimate.annotators()).map(|a| estimate.annotator(a)).collect();
        let interval = LevelledInterval::new(estimate.level, estimate.error_rate.interval);
        let dependence = |pair: &Pair| Dependence {
            views: pair.annotators.map(|annotator| names[annotator].as_str()),
            items: pair.items,
            agreement: pair.agreement,
            expected: pair.expected,
            p_value: pair.p_value,
        };
        Self {
            schema: SCHEMA,
            risk: estimate.error_rate.value,
            standard_error: estimate.error_rate.standard_error,
            interval,
            loss: "error",
            rows: estimate.items,
            votes: estimate.votes,
            single_votes: estimate.single_votes,
            views: names,
            classes: &estimate.classes,
            class_prior: estimate.class_prior.iter().map(|prior| prior.value).collect(),
            conditional_risk: by_name(names, &all, |annotator| matrix(annotator, |cell| cell.value)),
            view_error: by_name(names, &all, |annotator| annotator.error.value),
            view_votes: by_name(names, &all, |annotator| annotator.votes),
            error_rate: estimate.error_rate.value,
            error_rate_interval: interval,
            believed_error_rate: estimate.believed_error_rate,
            matching_gap: estimate.matching_gap.value,
            second_best_names: estimate.second_best.iter().map(|&j| estimate.classes[j].as_str()).collect(),
            intervals: Intervals {
                class_prior: estimate.class_prior.iter().map(|prior| prior.interval).collect(),
                conditional_risk: by_name(names, &all, |annotator| matrix(annotator, |cell| cell.interval)),
                view_error: by_name(names, &all, |annotator| annotator.error.interval),
                matching_gap: estimate.matching_gap.interval,
            },
            fit: FitObject {
                status: if estimate.fit.converged { "converged" } else { "iteration limit" },
                start: estimate.fit.start.name(),
                objective: estimate.fit.objective,
                majority_objective: estimate.fit.majority_objective,
                log_likelihood: estimate.fit.log_likelihood,
                iterations: estimate.fit.iterations,
                smoothing: estimate.fit.smoothing,
            },
            diagnostics: Diagnostics {
                independence: Independence {
                    p_value: estimate.smallest_p_value,
                    verdict: estimate.verdict(),
                    pairs_tested: estimate.pairs_tested,
                    dependences: estimate.dependent.iter().map(dependence).collect(),
                },
                alarms,
                alarm_details,
            },
            trusted: estimate.trusted(),
            made,
        }
    }
}

/// Something of each annotator, under its name.
fn by_name<'a, T: Clone>(
    names: &'a [String],
    all: &[Annotator],
    of: impl Fn(&Annotator) -> T,
) -> ByName<'a, T> {
    ByName { names, values: all.iter().map(of).collect::<Vec<T>>().into() }
}

/// Something of each cell of an annotator's confusion matrix.
fn matrix<T>(annotator: &Annotator, of: impl Fn(&Measured) -> T) -> Vec<Vec<T>> {
    annotator.confusion.iter().map(|row| row.iter().map(&of).collect()).collect()
}
