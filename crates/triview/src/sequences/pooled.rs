//! States too rare to be told apart, taken as one.
//!
//! A state that hardly any token is in has no column of its own in the moments, and would keep all others from being identified. Taken together
//! with the next rarest it is one of fewer states: with shares `w` of the states of a pool `A` and `B` the potentials are
//!
//! ```text
//!     g(A, x) = log sum_a w_a exp g(a, x),        f(A, B) = log sum_a w_a sum_b exp f(a, b),
//! ```
//!
//! and what is found of the pool is shared out among its states as the model itself believes.

use super::chain::Chain;
use super::sequences::{SequenceSource, Sequences};
use crate::data::{Batches, Source};
use crate::error::Result;
use crate::numeric::linalg::{log_sum_exp, softmax};
use crate::settings::sequences::{FEWEST_OF_A_STATE, MOST_POOLED, SMALLEST_SHARE};
use std::sync::Arc;

/// Which states are taken as one.
#[derive(Debug, Clone, serde::Serialize)]
pub(crate) struct Pool {
    /// For each state that of the pooled chain that it is part of.
    of: Vec<usize>,
    /// The logarithm of each state's share in it.
    log_share: Vec<f64>,
    chain: Chain,
    #[serde(skip)]
    states: Vec<String>,
}

impl Pool {
    /// The states that fewer tokens than make a state are in, with the next rarest: from how many tokens are in each as the model
    /// believes, of those that tell states apart and of all. Nothing where a state that is not rare would be taken for another, or where one state would be left.
    pub(crate) fn of_unseen(chain: &Chain, apart: &[f64], all: &[f64]) -> Option<Self> {
        let unseen = apart.iter().filter(|tokens| **tokens < FEWEST_OF_A_STATE).count();
        Self::new(chain, &by_rarity(apart), unseen, all)
    }

    /// As many of the rarest states as all of them together are rare, with the next rarest.
    pub(crate) fn of_rare(chain: &Chain, apart: &[f64], all: &[f64]) -> Option<Self> {
        let rarest = by_rarity(apart);
        let together = |size: &usize| rarest[..*size].iter().map(|&state| all[state]).sum::<f64>();
        let most = MOST_POOLED * all.iter().sum::<f64>();
        let rare = (1..chain.k()).take_while(|size| together(size) <= most).count();
        Self::new(chain, &rarest, rare, all)
    }

    /// So many of the rarest states and the next rarest.
    fn new(chain: &Chain, rarest: &[usize], rare: usize, all: &[f64]) -> Option<Self> {
        let k = chain.k();
        let tokens: f64 = all.iter().sum();
        let of_rare: f64 = rarest[..rare].iter().map(|&state| all[state]).sum();
        if rare == 0 || rare + 1 >= k || of_rare > MOST_POOLED * tokens {
            return None;
        }
        let pooled = &rarest[..=rare];
        // The pool has the place of its first state.
        let first = *pooled.iter().min()?;
        let mut kept: Vec<usize> =
            (0..k).filter(|state| *state == first || !pooled.contains(state)).collect();
        kept.sort_unstable();
        let place = |state: usize| {
            let at = if pooled.contains(&state) { first } else { state };
            kept.iter().take_while(|&&kept| kept < at).count()
        };
        let of: Vec<usize> = (0..k).map(place).collect();
        let total: f64 = pooled.iter().map(|&state| all[state]).sum();
        let log_share = |state: usize| {
            if pooled.contains(&state) { (all[state] / total).max(SMALLEST_SHARE).ln() } else { 0.0 }
        };
        let log_share: Vec<f64> = (0..k).map(log_share).collect();
        let members = |place: usize| (0..k).filter(|&state| of[state] == place).collect::<Vec<usize>>();
        let name = |place: usize| {
            let names: Vec<&str> =
                members(place).iter().map(|&state| chain.states()[state].as_str()).collect();
            names.join(" or ")
        };
        let states: Vec<String> = (0..kept.len()).map(name).collect();
        let sum = |terms: Vec<f64>| log_sum_exp(&terms);
        let potential = |at: usize| {
            let (from, to) = (members(at / kept.len()), members(at % kept.len()));
            let pairs = from.iter().flat_map(|&a| to.iter().map(move |&b| (a, b)));
            sum(pairs.map(|(a, b)| log_share[a] + chain.transition()[a * k + b]).collect())
        };
        let initial = |place: usize| sum(members(place).iter().map(|&b| chain.initial()[b]).collect());
        let chain = Chain::new(
            states.clone(),
            Some((0..kept.len()).map(initial).collect()),
            (0..kept.len() * kept.len()).map(potential).collect(),
        );
        Some(Self { of, log_share, chain: chain.ok()?, states })
    }

    /// The model with the pooled states.
    pub(crate) fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The names of the states that are taken as one.
    pub(crate) fn names(&self, chain: &Chain) -> Vec<String> {
        let many = |place: usize| self.of.iter().filter(|of| **of == place).count() > 1;
        let named = chain.states().iter().zip(&self.of);
        named.filter(|(_, place)| many(**place)).map(|(name, _)| name.clone()).collect()
    }

    /// The logarithm of the prior of a state, from those of the pooled states.
    pub(crate) fn log_prior(&self, pooled: &[f64], state: usize) -> f64 {
        pooled[self.of[state]].ln() + self.log_share[state]
    }

    /// The emission scores of the pooled states, from those of all.
    pub(crate) fn emission(&self, scores: &[f64]) -> Vec<f64> {
        let weighed = self.weighed(scores);
        let token = |token: &[f64]| -> Vec<f64> {
            (0..self.chain.k()).map(|place| log_sum_exp(&self.members(token, place))).collect()
        };
        weighed.chunks_exact(self.of.len()).flat_map(token).collect()
    }

    /// The emission scores of all states, from these and those of the pooled states: within a pool as the model believes.
    pub(crate) fn shared_out(&self, scores: &[f64], pooled: &[f64]) -> Vec<f64> {
        let (k, weighed) = (self.of.len(), self.weighed(scores));
        let token = |(token, pooled): (&[f64], &[f64])| -> Vec<f64> {
            let mut shares = vec![0.0; k];
            for place in 0..self.chain.k() {
                let of_place = softmax(&self.members(token, place));
                let states = (0..k).filter(|&state| self.of[state] == place);
                states.zip(of_place).for_each(|(state, share)| shares[state] = share.max(SMALLEST_SHARE));
            }
            (0..k).map(|state| pooled[self.of[state]] + shares[state].ln() - self.log_share[state]).collect()
        };
        weighed.chunks_exact(k).zip(pooled.chunks_exact(self.chain.k())).flat_map(token).collect()
    }

    /// A chain of all states from one of the pooled states.
    pub(crate) fn chain_of_all(&self, names: &[String], pooled: &Chain) -> Result<Chain> {
        let k = self.of.len();
        let potential = |at: usize| {
            let (from, to) = (self.of[at / k], self.of[at % k]);
            pooled.transition()[from * pooled.k() + to] + self.log_share[at % k]
        };
        let initial = |state: usize| pooled.initial()[self.of[state]] + self.log_share[state];
        Chain::new(names.to_vec(), Some((0..k).map(initial).collect()), (0..k * k).map(potential).collect())
    }

    /// Scores with their states' shares.
    fn weighed(&self, scores: &[f64]) -> Vec<f64> {
        scores.iter().enumerate().map(|(at, score)| score + self.log_share[at % self.of.len()]).collect()
    }

    /// The numbers of a pool's states.
    fn members(&self, token: &[f64], place: usize) -> Vec<f64> {
        token.iter().zip(&self.of).filter(|(_, of)| **of == place).map(|(score, _)| *score).collect()
    }
}

/// The states, those with the fewest tokens first.
fn by_rarity(tokens: &[f64]) -> Vec<usize> {
    let mut rarest: Vec<usize> = (0..tokens.len()).collect();
    rarest.sort_by(|&a, &b| tokens[a].total_cmp(&tokens[b]));
    rarest
}

/// Sequences with the scores of pooled states, without their labels.
pub(crate) struct PooledSource<'a, S: ?Sized> {
    pub(crate) source: &'a S,
    pub(crate) pool: &'a Pool,
}

impl<S: SequenceSource + ?Sized> Source for PooledSource<'_, S> {
    type Schema = Vec<String>;
    type Batch = Sequences;
    type Error = S::Error;

    fn schema(&self) -> &Vec<String> {
        &self.pool.states
    }

    fn batches(&self) -> Result<Batches<'_, Sequences, S::Error>, S::Error> {
        let pooled = |batch: &Sequences| -> Result<Sequences> {
            let mut pooled = Sequences::new(self.pool.chain.k());
            batch.iter().try_for_each(|scores| pooled.push(&self.pool.emission(scores)))?;
            Ok(pooled)
        };
        Ok(Box::new(self.source.batches()?.map(move |batch| Ok(Arc::new(pooled(&*batch?)?)))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::chain::Paths;
    use super::*;
    use crate::error::Error;

    #[test]
    fn what_is_pooled_and_shared_out_again_has_the_posteriors_of_the_pool() -> Result<()> {
        let names = ["a", "b", "c", "d"].map(String::from).to_vec();
        let transition: Vec<f64> = (0..16).map(|at| (at as f64 * 1.3).sin()).collect();
        let chain = Chain::new(names.clone(), None, transition)?;
        let pool = Pool::of_unseen(&chain, &[900.0, 1.0, 600.0, 40.0], &[950.0, 2.0, 640.0, 48.0]);
        let pool = pool.ok_or(Error::Internal("nothing is pooled"))?;
        assert_eq!((pool.names(&chain), pool.chain().k()), (vec!["b".to_owned(), "d".to_owned()], 3));
        assert_eq!(pool.chain().states(), ["a", "b or d", "c"]);
        let scores: Vec<f64> = (0..24).map(|at| (at as f64 * 0.7).cos() * 2.0).collect();
        let pooled = pool.emission(&scores);
        let all = pool.chain_of_all(&names, pool.chain())?;
        let of_pool = pool.chain().messages(&pooled, Paths::All);
        let of_all = all.messages(&pool.shared_out(&scores, &pooled), Paths::All);
        assert!((of_pool.log_z - of_all.log_z).abs() < 1e-9);
        for (pooled, all) in of_pool.posteriors().chunks(3).zip(of_all.posteriors().chunks(4)) {
            assert!((pooled[1] - all[1] - all[3]).abs() < 1e-9 && (pooled[2] - all[2]).abs() < 1e-9);
        }
        Ok(())
    }

    #[test]
    fn states_that_are_not_rare_are_not_pooled() -> Result<()> {
        let chain = Chain::new(["a", "b", "c"].map(String::from).to_vec(), None, vec![0.0; 9])?;
        // That of first tokens only.
        assert!(Pool::of_unseen(&chain, &[500.0, 500.0, 0.0], &[500.0, 500.0, 200.0]).is_none());
        assert!(Pool::of_unseen(&chain, &[500.0, 500.0, 9.0], &[500.0, 500.0, 9.0]).is_none());
        let two = Chain::new(["a", "b"].map(String::from).to_vec(), None, vec![0.0; 4])?;
        assert!(Pool::of_unseen(&two, &[500.0, 1.0], &[500.0, 1.0]).is_none());
        Ok(())
    }
}
