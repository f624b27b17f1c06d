//! Tokens as rows of three views: what is before it, itself, what is after it.

use super::adapted::Adapted;
use super::chain::{Chain, Paths};
use super::messages::Messages;
use super::sample::Keyed;
use crate::data::{Batch, VIEWS};
use crate::error::{Error, Result};
use crate::numeric::argmax;
use crate::settings::sequences::FLOOR;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Which tokens are identified by their three views, and which of them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub enum Identified {
    /// Those with at least so many tokens before and after them, where messages have settled, pooled over positions.
    Pooled {
        /// Tokens that are left out at either end of a sequence.
        margin: usize,
    },
    /// Those of each position by themselves, from the second token on. Emissions and transitions may then change along
    /// a sequence.
    ByPosition {
        /// How many positions there are; tokens further on count as those near the ends do.
        positions: usize,
    },
}

impl Identified {
    /// How many identifications there are.
    pub(crate) fn parts(self) -> usize {
        match self {
            Self::Pooled { .. } => 1,
            Self::ByPosition { positions } => positions,
        }
    }

    /// The tokens of a sequence that are identified.
    pub(crate) fn inner(self, length: usize) -> Range<usize> {
        match self {
            Self::Pooled { margin } => margin..length.saturating_sub(margin).max(margin),
            Self::ByPosition { positions } => 1..length.saturating_sub(1).min(positions + 1).max(1),
        }
    }

    /// The part that identifies one of these.
    pub(crate) fn part(self, token: usize) -> usize {
        match self {
            Self::Pooled { .. } => 0,
            Self::ByPosition { .. } => token - 1,
        }
    }

    /// The tokens of a sequence that a part identifies.
    pub(crate) fn of_part(self, part: usize, length: usize) -> Range<usize> {
        let inner = self.inner(length);
        match self {
            Self::Pooled { .. } => inner,
            Self::ByPosition { .. } if inner.contains(&(part + 1)) => part + 1..part + 2,
            Self::ByPosition { .. } => 0..0,
        }
    }

    /// The part that identifies the tokens before those of a part.
    pub(crate) fn before(self, part: usize) -> usize {
        match self {
            Self::Pooled { .. } => 0,
            Self::ByPosition { .. } => part.saturating_sub(1),
        }
    }
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

/// The rows of the identified tokens, with the adapted model's messages for past and future, and the model's own scores for
/// the present; rows of a sequence belong together.
pub(crate) fn sites(k: usize, tracks: &[Track<'_>], identified: Identified) -> Batch {
    let of = |track: &Track<'_>| identified.inner(track.path.len());
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
    Batch::from_clusters(clusters, scores)
}

/// Which of these rows are of each part.
pub(crate) fn rows_of_parts(tracks: &[Track<'_>], identified: Identified) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); identified.parts()];
    let tokens = tracks.iter().flat_map(|track| identified.inner(track.path.len()));
    tokens.enumerate().for_each(|(row, token)| rows[identified.part(token)].push(row));
    rows
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
                self.own.posteriors().chunks_exact(k).map(|p| argmax(p.iter().copied())).collect()
            }
        }
    }
}

/// The scores, view by view, token by token, whose sum is largest at the label that a decoding gives a token: messages of the
/// sum over paths, or of the best path. Functions of one view each, as the law of other tokens' views needs it.
pub(crate) fn decoding_scores(
    chain: &Chain,
    tracks: &[Track<'_>],
    identified: Identified,
    decoding: Decoding,
) -> Vec<Vec<f64>> {
    let mut scores = vec![Vec::new(); VIEWS];
    for track in tracks {
        let best = (decoding == Decoding::Viterbi).then(|| chain.messages(track.emission, Paths::Best));
        add_scores(best.as_ref().unwrap_or(&track.own), track.emission, identified, &mut scores);
    }
    scores
}

/// Side by side the scores of the Viterbi labels of the model and those of the adapted one, `2 k` a token.
pub(crate) fn both_scores(
    chain: &Chain,
    adapted: &Adapted,
    tracks: &[Track<'_>],
    identified: Identified,
) -> Vec<Vec<f64>> {
    let k = chain.k();
    let of_adapted = {
        let mut scores = vec![Vec::new(); VIEWS];
        for track in tracks {
            let emission = adapted.emission(track.emission);
            let best = adapted.chain().messages(&emission, Paths::Best);
            add_scores(&best, &emission, identified, &mut scores);
        }
        scores
    };
    let own = decoding_scores(chain, tracks, identified, Decoding::Viterbi);
    let side_by_side = |(own, adapted): (&Vec<f64>, &Vec<f64>)| {
        own.chunks_exact(k).zip(adapted.chunks_exact(k)).flat_map(|pair| [pair.0, pair.1].concat()).collect()
    };
    own.iter().zip(&of_adapted).map(side_by_side).collect()
}

/// The identified tokens' scores of one sequence, view by view.
fn add_scores(messages: &Messages, emission: &[f64], identified: Identified, scores: &mut [Vec<f64>]) {
    let (past, future) = (messages.past(), messages.future());
    let k = messages.k();
    let bounded = |message: &f64| message.max(-1e300);
    for t in identified.inner(emission.len() / k) {
        let token = t * k..(t + 1) * k;
        scores[0].extend(past[token.clone()].iter().map(bounded));
        scores[1].extend_from_slice(&emission[token.clone()]);
        scores[2].extend(future[token].iter().map(bounded));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_each_part() {
        let pooled = Identified::Pooled { margin: 2 };
        assert_eq!((pooled.parts(), pooled.inner(7), pooled.of_part(0, 7)), (1, 2..5, 2..5));
        assert!(pooled.inner(3).is_empty());
        let by_position = Identified::ByPosition { positions: 3 };
        assert_eq!((by_position.parts(), by_position.inner(4), by_position.inner(9)), (3, 1..3, 1..4));
        assert_eq!(by_position.of_part(1, 4), 2..3);
        assert!(by_position.of_part(2, 4).is_empty() && by_position.inner(2).is_empty());
        assert_eq!((by_position.part(2), by_position.before(1)), (1, 0));
    }
}
