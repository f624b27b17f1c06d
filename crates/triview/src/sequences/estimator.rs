//! From sequences to the risk of their labelling.

use super::adapted::Adapted;
use super::chain::Chain;
use super::estimate::{Identification, Parts, SequenceEstimate};
use super::reading::{Reading, Solved};
use super::sample::{Census, Keyed};
use super::sequences::SequenceSource;
use super::sites::{Decoding, Identified, Track, decoding_scores, rows_of_parts, sites, track};
use super::sums::ChainSums;
use crate::answer::reach;
use crate::answer::solve;
use crate::data::Sample;
use crate::data::{Schema, VIEWS, total};
use crate::diagnostics::{self, Tested, correct_for_each_other};
use crate::error::{Error, Result};
use crate::estimator::Estimate;
use crate::estimator::{Estimator, Features, Params};
use crate::loss::best;
use crate::metrics;
use crate::moments::{Accumulator, Header};
use rayon::prelude::*;

/// What the views of a token are called.
const VIEW_NAMES: [&str; VIEWS] = ["past", "present", "future"];

/// A state that fewer tokens than this are in is not told apart from the others.
const FEWEST_OF_A_STATE: f64 = 5.0;

/// What to estimate, and how; checked once by [`SequenceParams::check`].
#[derive(Debug, Clone)]
pub struct SequenceParams {
    level: f64,
    seed: u64,
    by_position: bool,
}

impl Default for SequenceParams {
    fn default() -> Self {
        Self::new()
    }
}

impl SequenceParams {
    /// Intervals at 0.95, a fixed seed, positions pooled.
    pub fn new() -> Self {
        Self { level: 0.95, seed: 0, by_position: false }
    }

    /// The level of confidence of the intervals.
    #[must_use]
    pub fn level(self, level: f64) -> Self {
        Self { level, ..self }
    }

    /// The seed of everything random.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Whether the states are identified at each position by itself, for sequences whose emissions or transitions change along the
    /// way, and of which there are enough.
    #[must_use]
    pub fn by_position(self, by_position: bool) -> Self {
        Self { by_position, ..self }
    }

    /// Checks all of it.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a level that is not between 0 and 1.
    pub fn check(self) -> Result<SequenceEstimator> {
        let tokens = Params::new().features(Features::Posterior).level(self.level).seed(self.seed).check()?;
        Ok(SequenceEstimator { tokens, by_position: self.by_position })
    }
}

/// Estimates the risk of a labelling of sequences; made by [`SequenceParams::check`].
///
/// The states are identified from tokens with the three views past, present and future: pooled over positions, away from
/// the ends of sequences, where emissions and transitions are the same all along a sequence; or at each position by itself. Sequences are read twice.
#[derive(Debug, Clone)]
pub struct SequenceEstimator {
    /// Of tokens as rows of three views.
    tokens: Estimator,
    by_position: bool,
}

/// A first look at sequences.
struct Seen<'a> {
    adapted: Adapted,
    tracks: Vec<Track<'a>>,
    header: Header,
}

/// Sums of all that is read: the moments of each part's tokens, and those over sequences.
struct Summed {
    identified: Identified,
    moments: Vec<Accumulator>,
    sums: ChainSums,
}

/// What they say.
struct Answered {
    parts: Vec<Solved>,
    sums: ChainSums,
    reading: Reading,
}

impl Summed {
    fn new(header: &Header, identified: Identified) -> Result<Self> {
        let moments =
            (0..identified.parts()).map(|_| Accumulator::new(header.clone())).collect::<Result<_>>()?;
        Ok(Self { identified, moments, sums: ChainSums::new(header, identified) })
    }

    /// Adds sequences.
    fn add(&mut self, header: &Header, adapted: &Chain, tracks: &[Track<'_>]) -> Result<()> {
        let all = sites(adapted.k(), tracks, self.identified);
        match self.moments.as_mut_slice() {
            [only] => only.update(&all)?,
            parts => {
                let rows = rows_of_parts(tracks, self.identified);
                parts.iter_mut().zip(rows).try_for_each(|(part, rows)| part.update(&all.select(&rows)))?;
            }
        }
        self.sums.update(header, adapted, tracks, self.identified);
        Ok(())
    }
}

impl SequenceEstimator {
    /// The risk of the chain's labelling of the sequences of a source.
    ///
    /// # Errors
    /// Those of the source; [`Error::OtherStates`], [`Error::AllTooShort`], [`Error::ImpossibleSequence`], [`Error::NoMemory`],
    /// [`Error::UnseenStates`], by position [`Error::FewAtAPosition`], and whatever keeps tokens
    /// from being answered as rows of three views, see [`Estimator::look`].
    pub fn estimate<S: SequenceSource>(
        &self,
        chain: &Chain,
        source: &S,
    ) -> Result<SequenceEstimate, S::Error> {
        if source.states() != chain.states() {
            let (emission, potentials) = (source.states().to_vec(), chain.states().to_vec());
            return Err(Error::OtherStates { emission, potentials }.into());
        }
        let census = Census::of(source)?;
        if census.sequences == 0 {
            return Err(Error::AllTooShort { sequences: census.too_short }.into());
        }
        let identified = match self.by_position {
            true => census.by_position(chain.k())?,
            false => Identified::Pooled { margin: census.margin() },
        };
        let looked_at = census.sample.looked_at()?;
        let adapted = self.adapt(chain, &census, &looked_at)?;
        let seen = self.see(chain, &looked_at, identified, adapted);
        // A model that rules states out has messages that do not tell them apart: then the seed's have to do.
        let Seen { adapted, tracks, header } = match seen {
            Err(Error::RankDeficientView { .. } | Error::ConstantView { .. }) => {
                self.see(chain, &looked_at, identified, Adapted::seed(chain))?
            }
            seen => seen?,
        };
        let mut summed = Summed::new(&header, identified)?;
        let mut next = 0;
        for batch in source.read()? {
            let keyed = Keyed::of(&batch?, &mut next)?;
            summed.add(&header, adapted.chain(), &track(chain, &adapted, &keyed)?)?;
        }
        let answered = self.solve(chain, summed)?;
        Ok(self.answer(chain, &census, identified, adapted, &tracks, &answered)?)
    }

    /// Sampled sequences, with the messages of a model, and the feature map for their tokens.
    fn see<'a>(
        &self,
        chain: &Chain,
        sequences: &'a Keyed,
        identified: Identified,
        adapted: Adapted,
    ) -> Result<Seen<'a>> {
        let tracks = track(chain, &adapted, sequences)?;
        let header = self.tokens.look_at(&sampled(chain, &tracks, identified)?)?;
        Ok(Seen { adapted, tracks, header })
    }

    /// The model that sampled sequences suggest: from the surrogate labels that the model's own messages give, on to what makes
    /// the sequences most likely.
    fn adapt(&self, chain: &Chain, census: &Census, looked_at: &Keyed) -> Result<Adapted> {
        let (seed, margin) = (Adapted::seed(chain), census.margin());
        let identified = Identified::Pooled { margin };
        let tracks = track(chain, &seed, looked_at)?;
        let rows = sampled(chain, &tracks, identified)?;
        let header = self.tokens.look_at(&rows).map_err(|error| match error {
            Error::ConstantView { view } if view != VIEW_NAMES[1] => Error::NoMemory,
            Error::RankDeficientView { .. } => {
                let states = unseen(chain, &tracks, identified);
                if states.is_empty() { error } else { Error::UnseenStates { states, margin } }
            }
            other => other,
        })?;
        let mut summed = Summed::new(&header, identified)?;
        summed.add(&header, chain, &tracks)?;
        let Answered { reading, .. } = self.solve(chain, summed)?;
        Ok(Adapted::fit(chain.states(), &header.features, &reading.starts(), &census.sample)?.unwrap_or(seed))
    }

    fn solve(&self, chain: &Chain, summed: Summed) -> Result<Answered> {
        let Summed { identified, moments, sums } = summed;
        let solved = |moments: Accumulator| {
            let moments = moments.finish()?;
            let solution = solve(&moments, self.tokens.seed)?;
            Ok(Solved { moments, solution })
        };
        let parts: Vec<Solved> = moments.into_par_iter().map(solved).collect::<Result<_>>()?;
        let reading = Reading::new(chain, identified, &parts, &sums);
        Ok(Answered { parts, sums, reading })
    }

    fn answer(
        &self,
        chain: &Chain,
        census: &Census,
        identified: Identified,
        adapted: Adapted,
        tracks: &[Track<'_>],
        answered: &Answered,
    ) -> Result<SequenceEstimate> {
        let Answered { parts, sums, reading } = answered;
        let level = self.tokens.level;
        let test = |part: &Solved| diagnostics::test(&part.moments, &part.solution, self.tokens.seed);
        let mut tested: Vec<Tested> = parts.par_iter().map(test).collect::<Result<_>>()?;
        correct_for_each_other(&mut tested);
        let (all, schema) = (sites(chain.k(), tracks, identified), schema(chain)?);
        let decoded = [Decoding::Viterbi, Decoding::Posterior]
            .map(|decoding| decoding_scores(chain, tracks, identified, decoding));
        let of_part = |((part, tested), rows): ((&Solved, Tested), Vec<usize>)| -> Result<Identification> {
            let estimate = Estimate::new(&part.moments, &part.solution, tested, level)?;
            let sample = Sample::new(schema.clone(), all.select(&rows));
            let (mut triples, reach) = self.tokens.triples(&part.moments, &part.solution, &sample);
            let errors = decoded.each_ref().map(|scores| {
                let of_rows = |view: &Vec<f64>| {
                    rows.iter()
                        .flat_map(|row| view[row * chain.k()..(row + 1) * chain.k()].iter().copied())
                        .collect()
                };
                triples.score_by(scores.iter().map(of_rows).collect());
                metrics::mean_of(&triples, wrong, reach).triples
            });
            Ok(Identification { estimate, errors })
        };
        let rows = rows_of_parts(tracks, identified);
        let identifications: Vec<Identification> =
            parts.par_iter().zip(tested).zip(rows).map(of_part).collect::<Result<_>>()?;
        // An interval reaches as far as the least clear part asks for.
        let reaches = parts.iter().map(|Solved { moments, solution }| {
            reach(level, solution.deviations.count(), solution.clarity(moments.rows()))
        });
        let reach = reaches.fold(0.0, f64::max);
        let parts =
            Parts { chain, census, identified, reading, sums, identifications, adapted, level, reach };
        Ok(SequenceEstimate::new(parts))
    }
}

/// Whether scores, one list a view, are largest in all at another state.
fn wrong(views: &[&[f64]], state: usize) -> f64 {
    let scores = total(views.iter().copied());
    f64::from(u8::from(best(scores.iter().copied()) != state))
}

/// The identified tokens of some sequences as sampled rows.
fn sampled(chain: &Chain, tracks: &[Track<'_>], identified: Identified) -> Result<Sample> {
    Ok(Sample::new(schema(chain)?, sites(chain.k(), tracks, identified)))
}

/// The names of the views and of the states.
fn schema(chain: &Chain) -> Result<Schema> {
    Schema::new(VIEW_NAMES.map(String::from).to_vec(), chain.states().to_vec())
}

/// The states that fewer than five inner tokens are in, as the model believes.
fn unseen(chain: &Chain, tracks: &[Track<'_>], identified: Identified) -> Vec<String> {
    let k = chain.k();
    let mut expected = vec![0.0; k];
    for track in tracks {
        let posteriors = track.own.posteriors();
        for t in identified.inner(track.path.len()) {
            expected.iter_mut().zip(&posteriors[t * k..]).for_each(|(sum, p)| *sum += p);
        }
    }
    let named = chain.states().iter().zip(expected);
    named.filter(|(_, expected)| *expected < FEWEST_OF_A_STATE).map(|(state, _)| state.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequences::Sequences;

    #[test]
    fn states_that_inner_tokens_are_never_in_are_named() -> Result<()> {
        let chain = Chain::new(["a", "b", "c"].map(String::from).to_vec(), None, vec![0.0; 9])?;
        let mut sequences = Sequences::new(3);
        // The third state is that of first tokens only.
        let token = |t: usize| if t == 0 { [0.0, 0.0, 9.0] } else { [9.0 * (t % 2) as f64, 4.5, -9.0] };
        (0..20).try_for_each(|_| sequences.push(&(0..9).flat_map(token).collect::<Vec<f64>>()))?;
        let keyed = Keyed { sequences, keys: (0..20).collect() };
        let tracks = track(&chain, &Adapted::seed(&chain), &keyed)?;
        assert_eq!(unseen(&chain, &tracks, Identified::Pooled { margin: 2 }), ["c"]);
        assert!(unseen(&chain, &tracks, Identified::Pooled { margin: 0 }).is_empty());
        Ok(())
    }
}
