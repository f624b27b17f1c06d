//! The answer of sequences for a program.

use super::estimate::Diagnostics;
use super::labelled::PoweredObject;
use super::{AlarmObject, LevelledInterval, Made, MeasuredObject, SCHEMA, alarms_of};
use crate::sequences::{Adapted, Figures, Judge, SequencesAnswer};
use crate::words::{Front, Subject};
use triview::estimator::Fit;
use triview::metrics::Measured;
use triview::sequences::{Identified, Imputer, SequenceEstimate, SequenceLabels};

/// A [`SequencesAnswer`] under stable names. What could not be answered without labels is absent.
#[derive(Debug, serde::Serialize)]
pub struct SequencesObject<'a> {
    schema: u32,
    risk: f64,
    standard_error: f64,
    interval: LevelledInterval,
    risk_per_token: MeasuredObject,
    parts: Parts,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<SequenceLabelsObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    without_labels: Option<WithoutLabels<'a>>,
    loss: &'static str,
    sequences: u64,
    tokens: u64,
    too_short: u64,
    states: &'a [String],
    token_error: TokenErrors,
    #[serde(skip_serializing_if = "Option::is_none")]
    adapted: Option<AdaptedObject>,
    #[serde(flatten)]
    chain: Option<ChainObject<'a>>,
    trusted: bool,
    #[serde(flatten)]
    made: &'a Made,
}

/// Whether the model that the data suggest is better than the given one.
#[derive(Debug, serde::Serialize)]
struct AdaptedObject {
    better: bool,
    judged_by: Judge,
    gain: MeasuredObject,
}

impl AdaptedObject {
    fn new(adapted: Adapted) -> Self {
        let Adapted { better, judged_by, gain } = adapted;
        Self { better, judged_by, gain: MeasuredObject::new(&gain) }
    }
}

/// What is known of the chain without labels.
#[derive(Debug, serde::Serialize)]
struct ChainObject<'a> {
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pooled_states: &'a [String],
    lengths: [usize; 2],
    positions: Positions,
    state_prior: Vec<f64>,
    transition_matrix: Vec<Vec<f64>>,
    model_transition_matrix: &'a [Vec<f64>],
    emission_confusion: Vec<Vec<f64>>,
    model_emission_confusion: &'a [Vec<f64>],
    standard_errors: StandardErrors,
    fit: &'a Fit,
    diagnostics: Diagnostics<'a>,
}

/// What the labels of some whole sequences say.
#[derive(Debug, serde::Serialize)]
struct SequenceLabelsObject<'a> {
    count: usize,
    tokens: u64,
    risk: PoweredObject,
    risk_per_token: PoweredObject,
    parts: LabelledParts,
    token_error: LabelledErrors,
    imputer: Imputer,
    alarms: Vec<String>,
    alarm_details: Vec<AlarmObject<'a>>,
}

#[derive(Debug, serde::Serialize)]
struct LabelledParts {
    log_partition: f64,
    emission: PoweredObject,
    transition: PoweredObject,
}

#[derive(Debug, serde::Serialize)]
struct LabelledErrors {
    viterbi: PoweredObject,
    posterior: PoweredObject,
}

/// What is said without labels, where the answer is theirs: the numbers, or why there are none.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
enum WithoutLabels<'a> {
    Answered(Box<AnsweredObject>),
    Refused { reason: &'a str },
}

/// The numbers that are said without labels.
#[derive(Debug, serde::Serialize)]
struct AnsweredObject {
    risk: f64,
    standard_error: f64,
    interval: LevelledInterval,
    risk_per_token: MeasuredObject,
    parts: Parts,
    token_error: TokenErrors,
    trusted: bool,
}

/// The risk is the log partition less the two scores.
#[derive(Debug, serde::Serialize)]
struct Parts {
    log_partition: f64,
    emission: MeasuredObject,
    transition: MeasuredObject,
}

/// Which tokens the risk is of, and which identify the states.
#[derive(Debug, serde::Serialize)]
struct Positions {
    risk: &'static str,
    identification: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    margin: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identified: Option<usize>,
}

impl Positions {
    fn new(identified: Identified) -> Self {
        let (identification, margin, identified) = match identified {
            Identified::Pooled { margin } => ("pooled", Some(margin), None),
            Identified::ByPosition { positions } => ("by position", None, Some(positions)),
        };
        Self { risk: "all", identification, margin, identified }
    }
}

/// The per-token error of the model's two decodings.
#[derive(Debug, serde::Serialize)]
struct TokenErrors {
    viterbi: ErrorObject,
    posterior: ErrorObject,
}

#[derive(Debug, serde::Serialize)]
struct ErrorObject {
    #[serde(flatten)]
    estimate: MeasuredObject,
    belief: f64,
}

/// In the shapes of what they belong to.
#[derive(Debug, serde::Serialize)]
struct StandardErrors {
    state_prior: Vec<f64>,
    transition_matrix: Vec<Vec<f64>>,
    emission_confusion: Vec<Vec<f64>>,
}

impl Parts {
    fn new(figures: &Figures) -> Self {
        Self {
            log_partition: figures.log_partition,
            emission: MeasuredObject::new(&figures.emission),
            transition: MeasuredObject::new(&figures.transition),
        }
    }
}

impl TokenErrors {
    fn new(figures: &Figures) -> Self {
        let [viterbi, posterior] = figures.beliefs;
        let error = |of: &Measured, belief| ErrorObject { estimate: MeasuredObject::new(of), belief };
        Self { viterbi: error(&figures.viterbi, viterbi), posterior: error(&figures.posterior, posterior) }
    }
}

impl<'a> SequenceLabelsObject<'a> {
    fn new(labels: &'a SequenceLabels, front: Front) -> Self {
        let (alarms, alarm_details) = alarms_of(&labels.alarms, front, Subject::Sequences { labelled: true });
        Self {
            count: labels.labels,
            tokens: labels.labelled_tokens,
            risk: PoweredObject::new(&labels.risk),
            risk_per_token: PoweredObject::new(&labels.risk_per_token),
            parts: LabelledParts {
                log_partition: labels.log_partition,
                emission: PoweredObject::new(&labels.emission),
                transition: PoweredObject::new(&labels.transition),
            },
            token_error: LabelledErrors {
                viterbi: PoweredObject::new(&labels.viterbi_error),
                posterior: PoweredObject::new(&labels.posterior_error),
            },
            imputer: labels.imputer,
            alarms,
            alarm_details,
        }
    }
}

impl<'a> WithoutLabels<'a> {
    fn new(estimate: Result<&SequenceEstimate, &'a str>) -> Self {
        match estimate {
            Ok(estimate) => {
                let figures = Figures::of(estimate);
                Self::Answered(Box::new(AnsweredObject {
                    risk: figures.risk.value,
                    standard_error: figures.risk.standard_error,
                    interval: LevelledInterval::new(figures.level, figures.risk.interval),
                    risk_per_token: MeasuredObject::new(&figures.risk_per_token),
                    parts: Parts::new(&figures),
                    token_error: TokenErrors::new(&figures),
                    trusted: estimate.trusted(),
                }))
            }
            Err(reason) => Self::Refused { reason },
        }
    }
}

impl<'a> SequencesObject<'a> {
    /// The object for an answer, in the words of whoever shows it.
    pub fn new(answer: SequencesAnswer<'a>, front: Front, made: &'a Made) -> Self {
        let figures = answer.figures();
        let subject = Subject::Sequences { labelled: answer.labels.is_some() };
        Self {
            schema: SCHEMA,
            risk: figures.risk.value,
            standard_error: figures.risk.standard_error,
            interval: LevelledInterval::new(figures.level, figures.risk.interval),
            risk_per_token: MeasuredObject::new(&figures.risk_per_token),
            parts: Parts::new(&figures),
            labels: answer.labels.map(|labels| SequenceLabelsObject::new(labels, front)),
            without_labels: answer.by_labels().map(|_| WithoutLabels::new(answer.estimate)),
            loss: "log",
            sequences: figures.sequences,
            tokens: figures.tokens,
            too_short: figures.too_short,
            states: answer.states,
            token_error: TokenErrors::new(&figures),
            adapted: answer.adapted().map(AdaptedObject::new),
            chain: answer.estimate.ok().map(|estimate| ChainObject::new(estimate, front, subject)),
            trusted: answer.trusted(),
            made,
        }
    }
}

impl<'a> ChainObject<'a> {
    fn new(estimate: &'a SequenceEstimate, front: Front, subject: Subject) -> Self {
        let matrix = |cells: &[Vec<Measured>]| -> Vec<Vec<f64>> {
            cells.iter().map(|row| row.iter().map(|cell| cell.value).collect()).collect()
        };
        let errors = |cells: &[Vec<Measured>]| -> Vec<Vec<f64>> {
            cells.iter().map(|row| row.iter().map(|cell| cell.standard_error).collect()).collect()
        };
        Self {
            pooled_states: &estimate.pooled,
            lengths: estimate.lengths,
            positions: Positions::new(estimate.identified),
            state_prior: estimate.state_prior.iter().map(|prior| prior.value).collect(),
            transition_matrix: matrix(&estimate.transition_matrix),
            model_transition_matrix: &estimate.model_transition_matrix,
            emission_confusion: matrix(&estimate.emission_confusion),
            model_emission_confusion: &estimate.model_emission_confusion,
            standard_errors: StandardErrors {
                state_prior: estimate.state_prior.iter().map(|prior| prior.standard_error).collect(),
                transition_matrix: errors(&estimate.transition_matrix),
                emission_confusion: errors(&estimate.emission_confusion),
            },
            fit: &estimate.identification.fit,
            diagnostics: Diagnostics::of(&estimate.identification, &estimate.alarms, front, subject),
        }
    }
}
