//! Tokens as rows of three views: what is before it, itself, what is after it.

use super::adapted::Adapted;
use super::chain::{Chain, Paths};
use super::messages::Messages;
use super::sample::Keyed;
use crate::error::{Error, Result};
use crate::loss::best;
use crate::views::{Batch, VIEWS};
use rayon::prelude::*;
use std::borrow::Cow;

/// No message says less than this of a state, relative to its likeliest: identification needs what is bounded.
const FLOOR: f64 = -30.0;

/// The places of the tokens that are identified by their three views: those with at least so many tokens before and after
/// them, where messages have settled.
pub(crate) fn inner(length: usize, margin: usize) -> std::ops::Range<usize> {
    margin..length.saturating_sub(margin).max(margin)
}

/// What the model, and the adapted one, make of a sequence.
pub(crate) struct Track<'a> {
    pub(crate) key: u64,
    pub(crate) emission: &'a [f64],
    /// The model's.
    pub(crate) own: Messages,
    /// The model's best path.
    pub(crate) path: Vec<usize>,
    /// Of the adapted model.
    pub(crate) adapted: Messages,
    /// The adapted posterior of each token by itself.
    pub(crate) alone: Vec<f64>,
}

/// Runs both models over some sequences.
pub(crate) fn track<'a>(chain: &Chain, adapted: &Adapted, keyed: &'a Keyed) -> Result<Vec<Track<'a>>> {
    (0..keyed.len())
        .into_par_iter()
        .map(|at| {
            let (key, emission) = (keyed.keys[at], keyed.sequences.get(at));
            let own = chain.messages(emission, Paths::All);
            if own.log_z == f64::NEG_INFINITY {
                return Err(Error::ImpossibleSequence { sequence: key, length: emission.len() / chain.k() });
            }
            let adapted_emission = adapted.emission(emission);
            let messages = adapted.messages(&adapted_emission);
            let alone = adapted.alone(&adapted_emission);
            Ok(Track { alone, key, emission, own, path: chain.viterbi(emission), adapted: messages })
        })
        .collect()
}

/// The rows of the inner tokens, with the adapted model's messages for past and future, and the model's own scores for
/// the present; rows of a sequence belong together.
pub(crate) fn sites(k: usize, tracks: &[Track<'_>], margin: usize) -> Batch {
    let of = |track: &Track<'_>| inner(track.path.len(), margin);
    let clusters: Vec<u64> = tracks.iter().flat_map(|track| of(track).map(|_| track.key)).collect();
    let mut scores = vec![vec![0.0; clusters.len() * k]; VIEWS];
    let mut row = 0;
    for track in tracks {
        let views = [&track.adapted.past(), &Cow::Borrowed(track.emission), &track.adapted.future()];
        for t in of(track) {
            for (scores, view) in scores.iter_mut().zip(views) {
                for state in 0..k {
                    scores[state * clusters.len() + row] = view[t * k + state];
                }
            }
            row += 1;
        }
    }
    for message in [0, 2] {
        scores[message].iter_mut().for_each(|score| *score = score.max(FLOOR));
    }
    Batch::from_finite(clusters.len(), scores).with_clusters(clusters)
}

/// How a sequence is labelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoding {
    /// As the labelling with the largest score.
    Viterbi,
    /// Token by token as the state with the largest posterior.
    Posterior,
}

impl Track<'_> {
    /// The model's labels.
    pub(crate) fn labels(&self, decoding: Decoding) -> Vec<usize> {
        match decoding {
            Decoding::Viterbi => self.path.clone(),
            Decoding::Posterior => {
                let k = self.emission.len() / self.path.len();
                self.own.posteriors().chunks_exact(k).map(|p| best(p.iter().copied())).collect()
            }
        }
    }
}

/// The scores, view by view, token by token, whose sum is largest at the label that a decoding gives a token: messages of the
/// sum over paths, or of the best path. Functions of one view each, as the law of other tokens' views needs it.
pub(crate) fn decoding_scores(
    chain: &Chain,
    tracks: &[Track<'_>],
    margin: usize,
    decoding: Decoding,
) -> Vec<Vec<f64>> {
    let k = chain.k();
    let mut scores = vec![Vec::new(); VIEWS];
    for track in tracks {
        let best = (decoding == Decoding::Viterbi).then(|| chain.messages(track.emission, Paths::Best));
        let messages = best.as_ref().unwrap_or(&track.own);
        let (past, future) = (messages.past(), messages.future());
        for t in inner(track.path.len(), margin) {
            let token = t * k..(t + 1) * k;
            let bounded = |message: &f64| message.max(-1e300);
            scores[0].extend(past[token.clone()].iter().map(bounded));
            scores[1].extend_from_slice(&track.emission[token.clone()]);
            scores[2].extend(future[token].iter().map(bounded));
        }
    }
    scores
}
