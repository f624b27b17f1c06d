//! What is said of a sequence model: without labels, where that could be answered, and by the labels of some sequences.

use triview::metrics::Measured;
use triview::sequences::{SequenceEstimate, SequenceLabels};

/// An answer of sequences.
#[derive(Debug, Clone, Copy)]
pub struct SequencesAnswer<'a> {
    pub(crate) states: &'a [String],
    /// Without labels; nothing where that could not be answered, and why.
    pub(crate) estimate: Result<&'a SequenceEstimate, &'a str>,
    pub(crate) labels: Option<&'a SequenceLabels>,
}

/// Whether the model that the data suggest is better than the given one.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub(crate) struct Adapted {
    pub(crate) better: bool,
    /// What says so.
    pub(crate) judged_by: Judge,
    /// How many fewer tokens it has wrong, as a share, by that.
    pub(crate) gain: Measured,
}

/// Who judges the model that the data suggest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Judge {
    /// The labels.
    Labels,
    /// What is before and after the tokens, without labels.
    Chain,
}

/// The numbers that are said first.
pub(crate) struct Figures {
    pub(crate) level: f64,
    pub(crate) risk: Measured,
    pub(crate) risk_per_token: Measured,
    pub(crate) log_partition: f64,
    pub(crate) emission: Measured,
    pub(crate) transition: Measured,
    pub(crate) viterbi: Measured,
    pub(crate) posterior: Measured,
    /// What the model believes of the two errors.
    pub(crate) beliefs: [f64; 2],
    pub(crate) sequences: u64,
    pub(crate) tokens: u64,
    pub(crate) too_short: u64,
}

impl<'a> SequencesAnswer<'a> {
    /// One without labels.
    pub fn new(estimate: &'a SequenceEstimate) -> Self {
        Self { states: &estimate.states, estimate: Ok(estimate), labels: None }
    }

    /// One with the labels of some sequences of these states, beside that without them, or why there is none.
    pub fn labelled(
        states: &'a [String],
        estimate: Result<&'a SequenceEstimate, &'a str>,
        labels: &'a SequenceLabels,
    ) -> Self {
        let states = estimate.map_or(states, |estimate| &estimate.states);
        Self { states, estimate, labels: Some(labels) }
    }

    /// What the labels say, where that is the answer: where nothing else is to be trusted.
    pub(crate) fn by_labels(self) -> Option<&'a SequenceLabels> {
        self.labels.filter(|_| !self.estimate.is_ok_and(SequenceEstimate::trusted))
    }

    /// Whether nothing speaks against what is said first.
    pub fn trusted(self) -> bool {
        match self.by_labels() {
            Some(labels) => labels.trusted(),
            None => self.estimate.is_ok_and(SequenceEstimate::trusted),
        }
    }

    /// Whether the model that the data suggest is better: by labels where these decide, and otherwise by what is said without them.
    pub(crate) fn adapted(self) -> Option<Adapted> {
        let estimate = self.estimate.ok()?;
        let labels = self.labels.and_then(|labels| Some((labels.adapted_is_better()?, labels.gain?)));
        Some(match labels {
            Some((better, gain)) => Adapted { better, judged_by: Judge::Labels, gain },
            None => {
                let gain = estimate.gain?;
                Adapted { better: estimate.adapted_is_better(), judged_by: Judge::Chain, gain }
            }
        })
    }

    /// Whether the model that the data suggest can be told to be better than the given one.
    pub fn adapted_is_better(self) -> bool {
        self.adapted().is_some_and(|adapted| adapted.better)
    }

    /// What is said first.
    pub(crate) fn figures(self) -> Figures {
        match (self.by_labels(), self.estimate) {
            (Some(labels), estimate) => Figures::by_labels(labels, estimate.ok()),
            (None, Ok(estimate)) => Figures::of(estimate),
            (None, Err(_)) => unreachable!("an answer is of one of the two"),
        }
    }
}

impl Figures {
    /// Those without labels.
    pub(crate) fn of(estimate: &SequenceEstimate) -> Self {
        Self {
            level: estimate.level,
            risk: estimate.risk,
            risk_per_token: estimate.risk_per_token,
            log_partition: estimate.log_partition,
            emission: estimate.emission,
            transition: estimate.transition,
            viterbi: estimate.viterbi_error.estimate,
            posterior: estimate.posterior_error.estimate,
            beliefs: [estimate.viterbi_error.belief, estimate.posterior_error.belief],
            sequences: estimate.sequences,
            tokens: estimate.tokens,
            too_short: estimate.too_short,
        }
    }

    /// Those by labels, beside that without them.
    pub(crate) fn by_labels(labels: &SequenceLabels, estimate: Option<&SequenceEstimate>) -> Self {
        // Without another answer the model itself imputes: that is what it believes.
        let beliefs = estimate
            .map_or([labels.viterbi_error.imputed, labels.posterior_error.imputed], |estimate| {
                [estimate.viterbi_error.belief, estimate.posterior_error.belief]
            });
        Self {
            level: labels.level,
            risk: labels.risk.estimate,
            risk_per_token: labels.risk_per_token.estimate,
            log_partition: labels.log_partition,
            emission: labels.emission.estimate,
            transition: labels.transition.estimate,
            viterbi: labels.viterbi_error.estimate,
            posterior: labels.posterior_error.estimate,
            beliefs,
            sequences: labels.sequences,
            tokens: labels.tokens,
            too_short: labels.too_short,
        }
    }
}
