//! Sequences of emission scores, and where they come from.

use crate::data::Source;
use crate::error::{Error, Result};

/// Some sequences: the emission scores of each of their tokens for each state.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequences {
    k: usize,
    /// Where each sequence begins, in tokens, and where the last ends.
    starts: Vec<usize>,
    emission: Vec<f64>,
    /// The true states of each, where they are known.
    labels: Vec<Option<Vec<usize>>>,
}

impl Sequences {
    /// No sequences yet, of `k` states.
    pub fn new(k: usize) -> Self {
        Self { k, starts: vec![0], emission: Vec::new(), labels: Vec::new() }
    }

    /// Adds a sequence, `k` scores a token.
    ///
    /// # Errors
    /// [`Error::EmissionNotFinite`] with the token (from 0) and the state of the first score that is NaN or infinite.
    ///
    /// # Panics
    /// When there are no tokens, or not `k` scores a token: a mistake of the caller's.
    pub fn push(&mut self, emission: &[f64]) -> Result<()> {
        self.push_labelled(emission, None)
    }

    /// Adds a sequence, `k` scores a token, and the true state of each token where they are known.
    ///
    /// # Errors
    /// As [`Sequences::push`]'s.
    ///
    /// # Panics
    /// When there are no tokens, not `k` scores a token, not one state a token, or a state beyond the last: a mistake of the caller's.
    pub fn push_labelled(&mut self, emission: &[f64], states: Option<Vec<usize>>) -> Result<()> {
        assert!(
            !emission.is_empty() && emission.len().is_multiple_of(self.k),
            "scores of every state for every token"
        );
        let fits = |states: &Vec<usize>| {
            states.len() * self.k == emission.len() && states.iter().all(|state| *state < self.k)
        };
        assert!(states.as_ref().is_none_or(fits), "one of the states for every token");
        if let Some(at) = emission.iter().position(|score| !score.is_finite()) {
            let (token, state, value) = (at / self.k, at % self.k, emission[at]);
            return Err(Error::EmissionNotFinite { sequence: self.len(), token, state, value });
        }
        self.emission.extend_from_slice(emission);
        self.starts.push(self.emission.len() / self.k);
        self.labels.push(states);
        Ok(())
    }

    /// The same sequences with other labels: the true states of each, where they are known.
    ///
    /// # Panics
    /// When there is not one entry a sequence, or as [`Sequences::push_labelled`] does.
    #[must_use]
    pub fn with_labels(&self, labels: Vec<Option<Vec<usize>>>) -> Self {
        assert_eq!(labels.len(), self.len(), "states or none for every sequence");
        let tokens = |sequence: usize| self.starts[sequence + 1] - self.starts[sequence];
        let fits = |(sequence, states): (usize, &Option<Vec<usize>>)| {
            let fits = |states: &Vec<usize>| {
                states.len() == tokens(sequence) && states.iter().all(|state| *state < self.k)
            };
            states.as_ref().is_none_or(fits)
        };
        assert!(labels.iter().enumerate().all(fits), "one of the states for every token");
        Self { labels, ..self.clone() }
    }

    /// The number of states.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The number of sequences.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of tokens of all of them.
    pub fn tokens(&self) -> usize {
        self.emission.len() / self.k
    }

    /// The emission scores of one sequence, `k` numbers a token.
    pub fn get(&self, sequence: usize) -> &[f64] {
        &self.emission[self.starts[sequence] * self.k..self.starts[sequence + 1] * self.k]
    }

    /// The true states of the tokens of one sequence, where they are known.
    pub fn labels(&self, sequence: usize) -> Option<&[usize]> {
        self.labels[sequence].as_deref()
    }

    /// The emission scores of each sequence.
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.len()).map(|sequence| self.get(sequence))
    }
}

/// A source of sequences; its schema are the names of the states, in the order of the scores.
pub trait SequenceSource: Source<Schema = Vec<String>, Batch = Sequences> {}

impl<S: Source<Schema = Vec<String>, Batch = Sequences> + ?Sized> SequenceSource for S {}
