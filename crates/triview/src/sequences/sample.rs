//! A first look at sequences: how many and how long they are, and an even sample of whole ones.

use super::sequences::{SequenceSource, Sequences};
use super::sites::Identified;
use crate::error::{Error, Result};
use crate::numeric::hash;
use crate::settings::sequences::{FEWEST_AT_A_POSITION, FEWEST_TOKENS, MARGIN, MOST_LOOKED_AT, MOST_TOKENS};

/// What there is, and some of it.
pub(crate) struct Census {
    /// Sequences of three tokens or more.
    pub(crate) sequences: u64,
    /// Their tokens.
    pub(crate) tokens: u64,
    /// Sequences that are too short to have three views.
    pub(crate) too_short: u64,
    /// The shortest and the longest of the others.
    pub(crate) lengths: [usize; 2],
    /// How many tokens have at least one, two and three tokens before and after them.
    inner: [u64; MARGIN],
    /// How many sequences there are of each length.
    of_length: Vec<u64>,
    pub(crate) sample: Keyed,
}

/// Sequences with their places among all that are long enough.
#[derive(Debug, Clone)]
pub(crate) struct Keyed {
    pub(crate) sequences: Sequences,
    pub(crate) keys: Vec<u64>,
}

impl Keyed {
    /// The sequences that are long enough; `next` is the place of the first, and is moved on.
    pub(crate) fn of(batch: &Sequences, next: &mut u64) -> Result<Self> {
        let mut keyed = Self { sequences: Sequences::new(batch.k()), keys: Vec::new() };
        let long = |(_, emission): &(usize, &[f64])| emission.len() >= FEWEST_TOKENS * batch.k();
        for (at, emission) in batch.iter().enumerate().filter(long) {
            keyed.sequences.push_labelled(emission, batch.labels(at).map(<[usize]>::to_vec))?;
            keyed.keys.push(*next);
            *next += 1;
        }
        Ok(keyed)
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// As many of the sequences, evenly spread, as are looked at.
    pub(crate) fn looked_at(&self) -> Result<Self> {
        match self.sequences.tokens().div_ceil(MOST_LOOKED_AT) {
            0 | 1 => Ok(self.clone()),
            every => Ok(self.split(every)?.1),
        }
    }

    /// All but every so manieth sequence, and those.
    pub(crate) fn split(&self, every: usize) -> Result<(Self, Self)> {
        let mut parts =
            [(); 2].map(|()| Self { sequences: Sequences::new(self.sequences.k()), keys: Vec::new() });
        for (at, (&key, emission)) in self.keys.iter().zip(self.sequences.iter()).enumerate() {
            let part = &mut parts[usize::from(at % every == every - 1)];
            part.sequences.push(emission)?;
            part.keys.push(key);
        }
        let [most, rest] = parts;
        Ok((most, rest))
    }
}

impl Census {
    /// Reads a source once. A sequence is kept by a hash of its place, so that every one has the same chance and memory does
    /// not grow with their number.
    pub(crate) fn of<S: SequenceSource + ?Sized>(source: &S) -> Result<Self, S::Error> {
        let k = source.schema().len();
        let (mut next, mut too_short, mut tokens) = (0, 0, 0);
        let (mut lengths, mut inner, mut of_length) = ([usize::MAX, 0], [0; MARGIN], Vec::new());
        let (mut level, mut kept, mut kept_tokens) = (0, Vec::<(u64, Vec<f64>)>::new(), 0);
        for batch in source.batches()? {
            let batch = batch?;
            let long = Keyed::of(&batch, &mut next)?;
            too_short += (batch.len() - long.len()) as u64;
            tokens += long.sequences.tokens() as u64;
            for (&key, emission) in long.keys.iter().zip(long.sequences.iter()) {
                let length = emission.len() / k;
                lengths = [lengths[0].min(length), lengths[1].max(length)];
                of_length.resize(lengths[1] + 1, 0);
                of_length[length] += 1;
                for (margin, inner) in inner.iter_mut().enumerate() {
                    *inner += length.saturating_sub(2 * (margin + 1)) as u64;
                }
                if hash(key).trailing_zeros() < level {
                    continue;
                }
                kept.push((key, emission.to_vec()));
                kept_tokens += length;
                while kept_tokens > MOST_TOKENS && kept.len() > 1 {
                    level += 1;
                    kept.retain(|(key, _)| hash(*key).trailing_zeros() >= level);
                    kept_tokens = kept.iter().map(|(_, emission)| emission.len() / k).sum();
                }
            }
        }
        let mut sample = Keyed { sequences: Sequences::new(k), keys: Vec::new() };
        for (key, emission) in &kept {
            sample.sequences.push(emission)?;
            sample.keys.push(*key);
        }
        Ok(Self { sequences: next, tokens, too_short, lengths, inner, of_length, sample })
    }

    /// How many tokens to leave out at either end where positions are pooled: as many as leave half of those that have a past and a
    /// future.
    pub(crate) fn margin(&self) -> usize {
        (1..=MARGIN).rev().find(|margin| 2 * self.inner[margin - 1] >= self.inner[0]).unwrap_or(1)
    }

    /// Each position by itself, from the second token on, as far as there are enough sequences.
    pub(crate) fn by_position(&self, k: usize) -> Result<Identified> {
        let needed = FEWEST_AT_A_POSITION * k as u64;
        let reaching = |position: usize| self.of_length.iter().skip(position + 2).sum::<u64>();
        let positions = (1..self.lengths[1]).take_while(|position| reaching(*position) >= needed).count();
        match positions {
            0 => Err(Error::FewAtAPosition { sequences: self.sequences, needed }),
            positions => Ok(Identified::ByPosition { positions }),
        }
    }
}
