//! From sequences to the risk of their labelling.

use super::adapted::Adapted;
use super::chain::Chain;
use super::estimate::{Identification, Parts, SequenceEstimate};
use super::pooled::{Pool, PooledSource};
use super::reading::{Reading, SolvedPart};
use super::sample::{Census, Keyed};
use super::sequences::SequenceSource;
use super::sites::{Decoding, Identified, Track, both_scores, decoding_scores, rows_of_parts, sites, track};
use super::sums::ChainSums;
use crate::answer::{reach, solve};
use crate::data::{Sample, Schema, VIEWS, total};
use crate::diagnostics::{self, Tested, correct_for_each_other};
use crate::error::{Error, Result};
use crate::estimator::{Common, Estimator, Parameters, Params, Solved, Task};
use crate::features::FeatureChoice;
use crate::metrics;
use crate::moments::{Accumulator, Plan};
use crate::numeric::argmax;
use crate::settings::sequences::FEWEST_OF_A_STATE;
use rayon::prelude::*;
use std::ops::Range;

/// What the views of a token are called.
const VIEW_NAMES: [&str; VIEWS] = ["past", "present", "future"];

/// How to estimate the risk of a labelling of sequences.
pub type SequenceParams = Parameters<SequenceTask>;

/// The task of [`SequenceParams`].
#[derive(Debug, Clone, Default)]
pub struct SequenceTask {
    by_position: bool,
}

impl SequenceParams {
    /// Whether the states are identified at each position by itself, for sequences whose emissions or transitions change along the
    /// way, and of which there are enough; otherwise positions are pooled.
    #[must_use]
    pub fn by_position(self, by_position: bool) -> Self {
        self.with(|task| task.by_position = by_position)
    }
}

impl Task for SequenceTask {
    type Checked = SequenceEstimator;

    fn check(self, common: Common) -> Result<SequenceEstimator> {
        let tokens = Params::new().features(FeatureChoice::Posterior).task.check(common)?;
        Ok(SequenceEstimator { tokens, by_position: self.by_position })
    }
}

/// Estimates the risk of a labelling of sequences; made by [`SequenceParams::check`](crate::estimator::Parameters::check).
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
    plan: Plan,
}

/// Sums of all that is read: the moments of each part's tokens, and those over sequences.
struct Summed {
    identified: Identified,
    moments: Vec<Accumulator>,
    sums: ChainSums,
}

/// What they say.
struct Answered {
    parts: Vec<SolvedPart>,
    sums: ChainSums,
    reading: Reading,
}

impl Summed {
    fn new(plan: &Plan, identified: Identified) -> Result<Self> {
        let moments = (0..identified.parts()).map(|_| plan.accumulator()).collect::<Result<_>>()?;
        Ok(Self { identified, moments, sums: ChainSums::new(plan, identified) })
    }

    /// Adds sequences, of the model and of the adapted one.
    fn add(&mut self, plan: &Plan, chains: [&Chain; 2], tracks: &[Track<'_>]) -> Result<()> {
        let all = sites(chains[0].k(), tracks, self.identified);
        match self.moments.as_mut_slice() {
            [only] => only.update(&all)?,
            parts => {
                let rows = rows_of_parts(tracks, self.identified);
                parts.iter_mut().zip(rows).try_for_each(|(part, rows)| part.update(&all.select(&rows)))?;
            }
        }
        self.sums.update(plan, chains, tracks, self.identified);
        Ok(())
    }
}

impl SequenceEstimator {
    /// The risk of the chain's labelling of the sequences of a source.
    ///
    /// # Errors
    /// Those of the source; [`Error::OtherStates`], [`Error::AllTooShort`], [`Error::ImpossibleSequence`], [`Error::NoMemory`],
    /// [`Error::UnseenStates`], by position [`Error::FewAtAPosition`], and whatever keeps tokens
    /// from being answered as rows of three views, see [`Estimator::plan`].
    pub fn estimate<S: SequenceSource + ?Sized>(
        &self,
        chain: &Chain,
        source: &S,
    ) -> Result<SequenceEstimate, S::Error> {
        if source.schema() != chain.states() {
            let (emission, potentials) = (source.schema().clone(), chain.states().to_vec());
            return Err(Error::OtherStates { emission, potentials }.into());
        }
        let census = Census::of(source)?;
        if census.sequences == 0 {
            return Err(Error::AllTooShort { sequences: census.too_short }.into());
        }
        let looked_at = census.sample.looked_at()?;
        let [apart, all] = expected_tokens(chain, &census, &looked_at)?;
        let first = match Pool::of_unseen(chain, &apart, &all) {
            Some(pool) => self.estimate_pooled(chain, source, pool),
            None => self.estimate_seen(chain, source, (&census, &looked_at)),
        };
        if first.as_ref().is_ok_and(SequenceEstimate::is_identified) {
            return first;
        }
        // How many tokens it takes to tell a state apart depends on what is before and after them.
        let pooled = Pool::of_rare(chain, &apart, &all).map(|pool| self.estimate_pooled(chain, source, pool));
        match pooled {
            Some(Ok(estimate)) if estimate.is_identified() => Ok(estimate),
            _ => first,
        }
    }

    /// The same where some states are too rare to be told apart.
    fn estimate_pooled<S: SequenceSource + ?Sized>(
        &self,
        chain: &Chain,
        source: &S,
        pool: Pool,
    ) -> Result<SequenceEstimate, S::Error> {
        let source = PooledSource { source, pool: &pool };
        let census = Census::of(&source)?;
        let looked_at = census.sample.looked_at()?;
        let estimate = self.estimate_seen(pool.chain(), &source, (&census, &looked_at))?;
        let pooled = pool.names(chain);
        Ok(SequenceEstimate { adapted: estimate.adapted.of_all(chain, pool)?, pooled, ..estimate })
    }

    /// The same where none of them are.
    fn estimate_seen<S: SequenceSource + ?Sized>(
        &self,
        chain: &Chain,
        source: &S,
        (census, looked_at): (&Census, &Keyed),
    ) -> Result<SequenceEstimate, S::Error> {
        let adapted = self.adapt(chain, census, looked_at)?;
        let identified = match self.by_position {
            true => census.by_position(chain.k())?,
            false => Identified::Pooled { margin: census.margin() },
        };
        let seen = self.see(chain, looked_at, identified, adapted);
        // A model that rules states out has messages that do not tell them apart: then the seed's have to do.
        let Seen { adapted, tracks, plan } = match seen {
            Err(Error::RankDeficientView { .. } | Error::ConstantView { .. }) => {
                self.see(chain, looked_at, identified, Adapted::seed(chain))?
            }
            seen => seen?,
        };
        let mut summed = Summed::new(&plan, identified)?;
        let mut next = 0;
        for batch in source.batches()? {
            let keyed = Keyed::of(&*batch?, &mut next)?;
            summed.add(&plan, [chain, adapted.chain()], &track(chain, &adapted, &keyed)?)?;
        }
        let answered = self.solve(chain, summed)?;
        Ok(self.answer(chain, census, identified, adapted, &tracks, &answered)?)
    }

    /// The level of confidence of intervals.
    pub(crate) fn level(&self) -> f64 {
        self.tokens.common.level
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
        let plan = self.tokens.plan(&sampled(chain, &tracks, identified)?)?;
        Ok(Seen { adapted, tracks, plan })
    }

    /// The model that sampled sequences suggest: from the surrogate labels that the model's own messages give, on to what makes
    /// the sequences most likely.
    fn adapt(&self, chain: &Chain, census: &Census, looked_at: &Keyed) -> Result<Adapted> {
        let (seed, margin) = (Adapted::seed(chain), census.margin());
        let identified = Identified::Pooled { margin };
        let tracks = track(chain, &seed, looked_at)?;
        let rows = sampled(chain, &tracks, identified)?;
        let plan = self.tokens.plan(&rows).map_err(|error| match error {
            Error::ConstantView { view } if view != VIEW_NAMES[1] => Error::NoMemory,
            Error::RankDeficientView { .. } => {
                let states = unseen(chain, &tracks, identified);
                if states.is_empty() { error } else { Error::UnseenStates { states, margin } }
            }
            other => other,
        })?;
        let mut summed = Summed::new(&plan, identified)?;
        summed.add(&plan, [chain; 2], &tracks)?;
        let Answered { reading, .. } = self.solve(chain, summed)?;
        Ok(Adapted::fit(chain.states(), &plan.features, &reading.starts(), &census.sample)?.unwrap_or(seed))
    }

    fn solve(&self, chain: &Chain, summed: Summed) -> Result<Answered> {
        let Summed { identified, moments, sums } = summed;
        let solved = |moments: Accumulator| {
            let moments = moments.finish()?;
            let solved = solve(&moments, self.tokens.common.seed)?;
            Ok(SolvedPart { moments, solved })
        };
        let parts: Vec<SolvedPart> = moments.into_par_iter().map(solved).collect::<Result<_>>()?;
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
        let (level, seed) = (self.tokens.common.level, self.tokens.common.seed);
        let test = |part: &SolvedPart| diagnostics::test(&part.moments, &part.solved, seed);
        let mut tested: Vec<Tested> = parts.par_iter().map(test).collect::<Result<_>>()?;
        correct_for_each_other(&mut tested);
        let (all, schema) = (sites(chain.k(), tracks, identified), schema(chain)?);
        let decoded = [Decoding::Viterbi, Decoding::Posterior]
            .map(|decoding| decoding_scores(chain, tracks, identified, decoding));
        let both = both_scores(chain, &adapted, tracks, identified);
        let of_part =
            |((part, tested), rows): ((&SolvedPart, Tested), Vec<usize>)| -> Result<Identification> {
                let solved = Solved::tested(&part.moments, part.solved.clone(), tested, (level, seed))?;
                let sample = Sample::new(schema.clone(), all.select(&rows));
                let (mut triples, reach) = solved.triples(&sample);
                let of_rows = |scores: &[Vec<f64>], width: usize| -> Vec<Vec<f64>> {
                    let of_row = |view: &Vec<f64>, row: usize| view[row * width..(row + 1) * width].to_vec();
                    scores
                        .iter()
                        .map(|view| rows.iter().flat_map(|row| of_row(view, *row)).collect())
                        .collect()
                };
                let errors = decoded.each_ref().map(|scores| {
                    triples.score_by(of_rows(scores, chain.k()));
                    metrics::mean_of(&triples, wrong, reach).triples
                });
                triples.score_by(of_rows(&both, 2 * chain.k()));
                let gain = metrics::mean_of(&triples, gained, reach).triples;
                Ok(Identification { estimate: solved.estimate(), errors, gain })
            };
        let rows = rows_of_parts(tracks, identified);
        let identifications: Vec<Identification> =
            parts.par_iter().zip(tested).zip(rows).map(of_part).collect::<Result<_>>()?;
        // An interval reaches as far as the least clear part asks for.
        let reaches = parts.iter().map(|SolvedPart { moments, solved }| {
            reach(level, solved.deviations.count(), solved.variants.clarity(moments.rows()))
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
    f64::from(u8::from(argmax(scores.iter().copied()) != state))
}

/// Whether the first half of the scores is wrong, less whether the second is.
fn gained(views: &[&[f64]], state: usize) -> f64 {
    let (first, second): (Vec<&[f64]>, Vec<&[f64]>) =
        views.iter().map(|scores| scores.split_at(scores.len() / 2)).unzip();
    wrong(&first, state) - wrong(&second, state)
}

/// The identified tokens of some sequences as sampled rows.
fn sampled(chain: &Chain, tracks: &[Track<'_>], identified: Identified) -> Result<Sample> {
    Ok(Sample::new(schema(chain)?, sites(chain.k(), tracks, identified)))
}

/// The names of the views and of the states.
fn schema(chain: &Chain) -> Result<Schema> {
    Schema::new(VIEW_NAMES.map(String::from).to_vec(), chain.states().to_vec())
}

/// How many of some tokens are in each state, as the model believes.
fn expected(chain: &Chain, tracks: &[Track<'_>], taken: impl Fn(usize) -> Range<usize>) -> Vec<f64> {
    let k = chain.k();
    let mut expected = vec![0.0; k];
    for track in tracks {
        let posteriors = track.own.posteriors();
        for t in taken(track.path.len()) {
            expected.iter_mut().zip(&posteriors[t * k..]).for_each(|(sum, p)| *sum += p);
        }
    }
    expected
}

/// The states that fewer than five inner tokens are in, as the model believes.
fn unseen(chain: &Chain, tracks: &[Track<'_>], identified: Identified) -> Vec<String> {
    let expected = expected(chain, tracks, |length| identified.inner(length));
    let named = chain.states().iter().zip(expected);
    named.filter(|(_, expected)| *expected < FEWEST_OF_A_STATE).map(|(state, _)| state.clone()).collect()
}

/// How many tokens are in each state, as the model believes: of those that tell states apart, and of all.
fn expected_tokens(chain: &Chain, census: &Census, looked_at: &Keyed) -> Result<[Vec<f64>; 2]> {
    let tracks = track(chain, &Adapted::seed(chain), looked_at)?;
    let identified = Identified::Pooled { margin: census.margin() };
    let apart = expected(chain, &tracks, |length| identified.inner(length));
    Ok([apart, expected(chain, &tracks, |length| 0..length)])
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
