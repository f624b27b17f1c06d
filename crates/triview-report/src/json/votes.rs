//! The answer of votes for a program.

use super::labelled::BudgetObject;
use super::{AlarmObject, ByName, LevelledInterval, Made, SCHEMA, alarms};
use crate::text::Budget;
use crate::words::Front;
use triview::answer::Interval;
use triview::diagnostics::Verdict;
use triview::metrics::Measured;
use triview::votes::{Annotator, Bound, GoldReport, Pair, VoteEstimate};

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
    bound: Option<Bound>,
    floor: f64,
    effective_voters: f64,
    effective_voters_bound: Option<&'static str>,
    votes_per_item: f64,
    majority: MajorityObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    gold: Option<GoldObject>,
    view_error_bound: Option<Bound>,
    view_worth: ByName<'a, f64>,
    view_agreement: ByName<'a, Option<f64>>,
    alike: Vec<Vec<&'a str>>,
    believed_error_rate: f64,
    matching_gap: f64,
    second_best_names: Vec<&'a str>,
    intervals: Intervals<'a>,
    fit: FitObject,
    diagnostics: Diagnostics<'a>,
    trusted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_budget: Option<BudgetObject>,
    #[serde(flatten)]
    made: &'a Made,
}

#[derive(Debug, serde::Serialize)]
struct MajorityObject {
    error_rate: f64,
    differs: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong_gold: Option<usize>,
}

#[derive(Debug, serde::Serialize)]
struct GoldObject {
    items: usize,
    wrong: usize,
    alone: f64,
    alone_interval: Interval,
    recalibrated: f64,
    recalibrated_interval: Interval,
    power: f64,
    doubt: f64,
    contradicts_names: bool,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    hard_items: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overdispersion: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items_tested: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    smallest_pair_p_value: Option<f64>,
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
        let omnibus = estimate.omnibus.as_ref();
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
            bound: estimate.bound,
            floor: estimate.agreement.floor,
            effective_voters: estimate.agreement.effective_voters,
            effective_voters_bound: estimate.gold.is_none().then_some("at most"),
            votes_per_item: estimate.agreement.voters,
            majority: MajorityObject {
                error_rate: estimate.majority.error_rate,
                differs: estimate.majority.differs,
                wrong_gold: estimate.gold.as_ref().map(|_| estimate.majority.wrong_gold),
            },
            gold: estimate.gold.as_ref().map(GoldObject::new),
            view_error_bound: estimate.annotator_bound,
            view_worth: by_name(names, &all, |annotator| annotator.worth),
            view_agreement: by_name(names, &all, |annotator| {
                Some(annotator.beyond_chance).filter(|kappa| kappa.is_finite())
            }),
            alike: estimate
                .alike
                .iter()
                .map(|group| group.iter().map(|annotator| names[*annotator].as_str()).collect())
                .collect(),
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
                    p_value: omnibus.map(|omnibus| omnibus.p_value),
                    verdict: estimate.verdict(),
                    hard_items: omnibus.map(|omnibus| omnibus.hard_items),
                    overdispersion: omnibus.map(|omnibus| omnibus.overdispersion),
                    items_tested: omnibus.map(|omnibus| omnibus.items),
                    smallest_pair_p_value: estimate.smallest_p_value,
                    pairs_tested: estimate.pairs_tested,
                    dependences: estimate.dependent.iter().map(dependence).collect(),
                },
                alarms,
                alarm_details,
            },
            trusted: estimate.trusted(),
            label_budget: None,
            made,
        }
    }

    /// The same with the number of items whose class is still to be known.
    pub fn budget(mut self, budget: Option<&Budget>) -> Self {
        self.label_budget = budget.map(BudgetObject::new);
        self
    }
}

impl GoldObject {
    fn new(gold: &GoldReport) -> Self {
        Self {
            items: gold.items,
            wrong: gold.wrong,
            alone: gold.alone.value,
            alone_interval: gold.alone.interval,
            recalibrated: gold.recalibrated.value,
            recalibrated_interval: gold.recalibrated.interval,
            power: gold.power,
            doubt: gold.doubt,
            contradicts_names: gold.contradicts_names,
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
