//! From sequences to the risk of their labelling.

use super::adapted::Adapted;
use super::chain::Chain;
use super::estimate::{Parts, SequenceEstimate};
use super::reading::Reading;
use super::sample::{Census, Keyed};
use super::sequences::SequenceSource;
use super::sites::{Decoding, Track, decoding_scores, inner, sites, track};
use super::sums::ChainSums;
use crate::diagnostics;
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::estimator::{Estimator, Features, Params};
use crate::interval::reach;
use crate::loss::best;
use crate::metrics::{self, Metric};
use crate::moments::{Accumulator, Header, Moments};
use crate::sample::Sample;
use crate::solution::{Solution, solve};
use crate::views::{Schema, VIEWS, total};

/// What the views of a token are called.
const VIEW_NAMES: [&str; VIEWS] = ["past", "present", "future"];

/// A state that fewer tokens than this are in is not told apart from the others.
const FEWEST_OF_A_STATE: f64 = 5.0;

/// What to estimate, and how; checked once by [`SequenceParams::check`].
#[derive(Debug, Clone)]
pub struct SequenceParams {
    level: f64,
    seed: u64,
}

impl Default for SequenceParams {
    fn default() -> Self {
        Self::new()
    }
}

impl SequenceParams {
    /// Intervals at 0.95, a fixed seed.
    pub fn new() -> Self {
        Self { level: 0.95, seed: 0 }
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

    /// Checks all of it.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a level that is not between 0 and 1.
    pub fn check(self) -> Result<SequenceEstimator> {
        let tokens = Params::new().features(Features::Posterior).level(self.level).seed(self.seed).check()?;
        Ok(SequenceEstimator { tokens })
    }
}

/// Estimates the risk of a labelling of sequences; made by [`SequenceParams::check`].
///
/// The states are identified from tokens pooled over positions, each with the three views past, present and future, away from
/// the ends of sequences. Emissions and transitions are taken to be the same all along a sequence. Sequences are read twice.
#[derive(Debug, Clone)]
pub struct SequenceEstimator {
    /// Of tokens as rows of three views.
    tokens: Estimator,
}

/// A first look at sequences.
struct Seen<'a> {
    adapted: Adapted,
    tracks: Vec<Track<'a>>,
    sample: Sample,
    header: Header,
}

/// Sums of all that is read.
struct Summed {
    moments: Moments,
    sums: ChainSums,
    solution: Solution,
    reading: Reading,
}

impl SequenceEstimator {
    /// The risk of the chain's labelling of the sequences of a source.
    ///
    /// # Errors
    /// Those of the source; [`Error::OtherStates`], [`Error::AllTooShort`], [`Error::ImpossibleSequence`], [`Error::NoMemory`],
    /// [`Error::UnseenStates`], and whatever keeps tokens
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
        let margin = census.margin();
        let looked_at = census.sample.looked_at()?;
        let adapted = self.adapt(chain, &census.sample, &looked_at, margin)?;
        let seen = self.see(chain, &looked_at, margin, adapted);
        // A model that rules states out has messages that do not tell them apart: then the seed's have to do.
        let Seen { adapted, tracks, sample, header } = match seen {
            Err(Error::RankDeficientView { .. } | Error::ConstantView { .. }) => {
                self.see(chain, &looked_at, margin, Adapted::seed(chain))?
            }
            seen => seen?,
        };
        let (mut moments, mut sums) = (Accumulator::new(header.clone())?, ChainSums::new(&header));
        let mut next = 0;
        for batch in source.read()? {
            let keyed = Keyed::of(&batch?, &mut next)?;
            let tracks = track(chain, &adapted, &keyed)?;
            add(&mut moments, &mut sums, (&header, adapted.chain()), &tracks, margin)?;
        }
        let summed = self.solve(chain, moments, sums)?;
        Ok(self.answer(chain, &census, margin, adapted, (&tracks, &sample), &summed)?)
    }

    /// The inner tokens of sampled sequences, with the messages of a model, and the feature map for them.
    fn see<'a>(
        &self,
        chain: &Chain,
        sequences: &'a Keyed,
        margin: usize,
        adapted: Adapted,
    ) -> Result<Seen<'a>> {
        let tracks = track(chain, &adapted, sequences)?;
        let sample = sampled(chain, &tracks, margin)?;
        let header = self.tokens.look_at(&sample)?;
        Ok(Seen { adapted, tracks, sample, header })
    }

    /// The model that sampled sequences suggest: from the surrogate labels that the model's own messages give, on to what makes
    /// the sequences most likely.
    fn adapt(&self, chain: &Chain, sample: &Keyed, looked_at: &Keyed, margin: usize) -> Result<Adapted> {
        let seed = Adapted::seed(chain);
        let tracks = track(chain, &seed, looked_at)?;
        let rows = sampled(chain, &tracks, margin)?;
        let header = self.tokens.look_at(&rows).map_err(|error| match error {
            Error::ConstantView { view } if view != VIEW_NAMES[1] => Error::NoMemory,
            Error::RankDeficientView { .. } => {
                let states = unseen(chain, &tracks, margin);
                if states.is_empty() { error } else { Error::UnseenStates { states, margin } }
            }
            other => other,
        })?;
        let (mut moments, mut sums) = (Accumulator::new(header.clone())?, ChainSums::new(&header));
        add(&mut moments, &mut sums, (&header, chain), &tracks, margin)?;
        let Summed { reading, .. } = self.solve(chain, moments, sums)?;
        let (at, k) = (reading.places, chain.k());
        let row = |a: usize| at.transition().start + a * k..at.transition().start + (a + 1) * k;
        let transition: Vec<f64> = (0..k).flat_map(|a| reading.shares(row(a))).collect();
        let first = reading.shares(at.first());
        Ok(Adapted::fit(chain.states(), &header.features, &first, &transition, sample)?.unwrap_or(seed))
    }

    fn solve(&self, chain: &Chain, moments: Accumulator, sums: ChainSums) -> Result<Summed> {
        let moments = moments.finish()?;
        let solution = solve(&moments, self.tokens.seed)?;
        let reading = Reading::new(chain, &moments, &solution, &sums);
        Ok(Summed { moments, sums, solution, reading })
    }

    fn answer(
        &self,
        chain: &Chain,
        census: &Census,
        margin: usize,
        adapted: Adapted,
        (tracks, sample): (&[Track<'_>], &Sample),
        summed: &Summed,
    ) -> Result<SequenceEstimate> {
        let Summed { moments, sums, solution, reading } = summed;
        let (level, seed) = (self.tokens.level, self.tokens.seed);
        let tested = diagnostics::test(moments, solution, seed)?;
        let identification = Estimate::new(moments, solution, tested, level)?;
        let (mut triples, of_triples) = self.tokens.triples(moments, solution, sample);
        let mut error_of = |decoding: Decoding| -> Metric {
            triples.score_by(decoding_scores(chain, tracks, margin, decoding));
            let wrong = |views: &[&[f64]], state: usize| {
                let scores = total(views.iter().copied());
                f64::from(u8::from(best(scores.iter().copied()) != state))
            };
            metrics::mean_of(&triples, wrong, of_triples)
        };
        let errors = [error_of(Decoding::Viterbi), error_of(Decoding::Posterior)];
        let reach = reach(level, solution.deviations.count(), solution.clarity(moments.rows()));
        let parts =
            Parts { chain, census, margin, reading, sums, identification, errors, adapted, level, reach };
        Ok(SequenceEstimate::new(parts))
    }
}

/// The inner tokens of some sequences as sampled rows.
fn sampled(chain: &Chain, tracks: &[Track<'_>], margin: usize) -> Result<Sample> {
    let views = VIEW_NAMES.map(String::from).to_vec();
    let schema = Schema::new(views, chain.states().to_vec())?;
    Ok(Sample::new(schema, sites(chain.k(), tracks, margin)))
}

/// The states that fewer than five inner tokens are in, as the model believes.
fn unseen(chain: &Chain, tracks: &[Track<'_>], margin: usize) -> Vec<String> {
    let k = chain.k();
    let mut expected = vec![0.0; k];
    for track in tracks {
        let posteriors = track.own.posteriors();
        for t in inner(track.path.len(), margin) {
            expected.iter_mut().zip(&posteriors[t * k..]).for_each(|(sum, p)| *sum += p);
        }
    }
    let named = chain.states().iter().zip(expected);
    named.filter(|(_, expected)| *expected < FEWEST_OF_A_STATE).map(|(state, _)| state.clone()).collect()
}

/// Adds sequences to both sums.
fn add(
    moments: &mut Accumulator,
    sums: &mut ChainSums,
    (header, adapted): (&Header, &Chain),
    tracks: &[Track<'_>],
    margin: usize,
) -> Result<()> {
    moments.update(&sites(adapted.k(), tracks, margin))?;
    sums.update(header, adapted, tracks, margin);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hmm::Sequences;

    #[test]
    fn states_that_inner_tokens_are_never_in_are_named() -> Result<()> {
        let chain = Chain::new(["a", "b", "c"].map(String::from).to_vec(), None, vec![0.0; 9])?;
        let mut sequences = Sequences::new(3);
        // The third state is that of first tokens only.
        let token = |t: usize| if t == 0 { [0.0, 0.0, 9.0] } else { [9.0 * (t % 2) as f64, 4.5, -9.0] };
        (0..20).try_for_each(|_| sequences.push(&(0..9).flat_map(token).collect::<Vec<f64>>()))?;
        let keyed = Keyed { sequences, keys: (0..20).collect() };
        let tracks = track(&chain, &Adapted::seed(&chain), &keyed)?;
        assert_eq!(unseen(&chain, &tracks, 2), ["c"]);
        assert!(unseen(&chain, &tracks, 0).is_empty());
        Ok(())
    }
}
