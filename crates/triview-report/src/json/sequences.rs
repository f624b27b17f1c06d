//! The answer of sequences for a program.

use super::estimate::Diagnostics;
use super::{LevelledInterval, Made, MeasuredObject, SCHEMA};
use crate::words::Front;
use triview::estimator::Fit;
use triview::metrics::Measured;
use triview::sequences::{Identified, SequenceEstimate, TokenError};

/// A [`SequenceEstimate`] under stable names.
#[derive(Debug, serde::Serialize)]
pub struct SequencesObject<'a> {
    schema: u32,
    risk: f64,
    standard_error: f64,
    interval: LevelledInterval,
    risk_per_token: MeasuredObject,
    parts: Parts,
    loss: &'static str,
    sequences: u64,
    tokens: u64,
    too_short: u64,
    lengths: [usize; 2],
    positions: Positions,
    states: &'a [String],
    state_prior: Vec<f64>,
    token_error: TokenErrors,
    transition_matrix: Vec<Vec<f64>>,
    model_transition_matrix: &'a [Vec<f64>],
    emission_confusion: Vec<Vec<f64>>,
    model_emission_confusion: &'a [Vec<f64>],
    standard_errors: StandardErrors,
    fit: &'a Fit,
    diagnostics: Diagnostics<'a>,
    trusted: bool,
    #[serde(flatten)]
    made: &'a Made,
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

impl ErrorObject {
    fn new(error: &TokenError) -> Self {
        Self { estimate: MeasuredObject::new(&error.estimate), belief: error.belief }
    }
}

impl<'a> SequencesObject<'a> {
    /// The object for an answer, in the words of whoever shows it.
    pub fn new(estimate: &'a SequenceEstimate, front: Front, made: &'a Made) -> Self {
        let matrix = |cells: &[Vec<Measured>]| -> Vec<Vec<f64>> {
            cells.iter().map(|row| row.iter().map(|cell| cell.value).collect()).collect()
        };
        let errors = |cells: &[Vec<Measured>]| -> Vec<Vec<f64>> {
            cells.iter().map(|row| row.iter().map(|cell| cell.standard_error).collect()).collect()
        };
        Self {
            schema: SCHEMA,
            risk: estimate.risk.value,
            standard_error: estimate.risk.standard_error,
            interval: LevelledInterval::new(estimate.level, estimate.risk.interval),
            risk_per_token: MeasuredObject::new(&estimate.risk_per_token),
            parts: Parts {
                log_partition: estimate.log_partition,
                emission: MeasuredObject::new(&estimate.emission),
                transition: MeasuredObject::new(&estimate.transition),
            },
            loss: "log",
            sequences: estimate.sequences,
            tokens: estimate.tokens,
            too_short: estimate.too_short,
            lengths: estimate.lengths,
            positions: Positions::new(estimate.identified),
            states: &estimate.states,
            state_prior: estimate.state_prior.iter().map(|prior| prior.value).collect(),
            token_error: TokenErrors {
                viterbi: ErrorObject::new(&estimate.viterbi_error),
                posterior: ErrorObject::new(&estimate.posterior_error),
            },
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
            diagnostics: Diagnostics::of(&estimate.identification, &estimate.alarms, front),
            trusted: estimate.trusted(),
            made,
        }
    }
}
