//! A linear chain: what a hidden Markov model and a linear conditional random field have in common.
//!
//! The score of a labelling `y` of a sequence `x` is `i(y_1) + sum_t g(y_t, x_t) + sum_t f(y_{t-1}, y_t)`, with the log
//! potentials `i` of first states and `f` of transitions held here, and emission scores `g` that come with the sequence.

use super::kernel::{Kernel, add};
use super::messages::Messages;
use crate::error::{Error, Result};
use crate::numeric::argmax;
use serde::ser::SerializeStruct;

/// Log potentials of first states and of transitions, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    states: Vec<String>,
    initial: Vec<f64>,
    pub(super) forward: Kernel,
    pub(super) backward: Kernel,
}

impl serde::Serialize for Chain {
    /// Names and log potentials, as they were given.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut chain = serializer.serialize_struct("Chain", 3)?;
        chain.serialize_field("states", &self.states)?;
        chain.serialize_field("initial", &self.initial)?;
        chain.serialize_field("transition", &self.transition())?;
        chain.end()
    }
}

/// How scores of paths are taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paths {
    /// By the sum of their exponentials: marginals.
    All,
    /// By the largest: the best path.
    Best,
}

impl Chain {
    /// A chain over named states; `transition[a * k + b]` is the log potential from state `a` to state `b`, minus infinity
    /// where it cannot be, and `initial` that of the first state (all zero where absent).
    ///
    /// # Errors
    /// [`Error::ClassCount`], [`Error::DuplicateName`]; [`Error::Potentials`] for a wrong number of potentials, and
    /// [`Error::Potential`] for one that is NaN or plus infinity, or for a state that nothing leads from or to.
    pub fn new(states: Vec<String>, initial: Option<Vec<f64>>, transition: Vec<f64>) -> Result<Self> {
        let k = states.len();
        if k < 2 {
            return Err(Error::ClassCount { classes: states });
        }
        let mut sorted: Vec<&String> = states.iter().collect();
        sorted.sort();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::DuplicateName { kind: "state", name: pair[0].clone() });
        }
        let initial = initial.unwrap_or_else(|| vec![0.0; k]);
        for (what, given, needed) in
            [("transitions", transition.len(), k * k), ("first states", initial.len(), k)]
        {
            if given != needed {
                return Err(Error::Potentials { what, given, needed });
            }
        }
        let usable = |value: f64| !value.is_nan() && value < f64::INFINITY;
        if let Some(b) = initial.iter().position(|value| !usable(*value)) {
            return Err(Error::Potential {
                from: "initial".into(),
                to: states[b].clone(),
                value: initial[b],
            });
        }
        if let Some(at) = transition.iter().position(|value| !usable(*value)) {
            let (from, to) = (states[at / k].clone(), states[at % k].clone());
            return Err(Error::Potential { from, to, value: transition[at] });
        }
        if initial.iter().all(|value| *value == f64::NEG_INFINITY) {
            return Err(Error::NoFirstState);
        }
        for (b, state) in states.iter().enumerate() {
            let possible = |value: f64| value > f64::NEG_INFINITY;
            let reached = possible(initial[b]) || (0..k).any(|a| possible(transition[a * k + b]));
            if !reached {
                return Err(Error::UnreachableState { state: state.clone() });
            }
        }
        let transposed = (0..k * k).map(|at| transition[at % k * k + at / k]).collect();
        Ok(Self {
            states,
            initial,
            forward: Kernel::new(k, transition),
            backward: Kernel::new(k, transposed),
        })
    }

    /// Names of the states.
    pub fn states(&self) -> &[String] {
        &self.states
    }

    /// The number of states.
    pub fn k(&self) -> usize {
        self.states.len()
    }

    /// Log potentials of first states.
    pub fn initial(&self) -> &[f64] {
        &self.initial
    }

    /// Log potentials of transitions, row by row: the state before, then the state after.
    pub fn transition(&self) -> &[f64] {
        &self.forward.logs
    }

    /// The messages of a sequence whose emission scores are `k` numbers a token, `emission[t * k + state]`.
    ///
    /// # Panics
    /// When there are no tokens, or the scores are no multiple of `k`: a mistake of the caller's.
    pub fn messages(&self, emission: &[f64], paths: Paths) -> Messages {
        assert!(
            !emission.is_empty() && emission.len().is_multiple_of(self.k()),
            "scores of every state for every token"
        );
        let scaled = match paths {
            Paths::All => Messages::scaled(self, emission),
            Paths::Best => None,
        };
        scaled.unwrap_or_else(|| Messages::in_logs(self, emission, paths))
    }

    /// The score of a labelling, `sum_t log g(y_t, x_t) + sum_t log f(y_{t-1}, y_t)`, the first state's potential included:
    /// `-log p(y | x)` is the `log_z` of [`Chain::messages`] less this.
    ///
    /// # Panics
    /// For an empty labelling, one that is longer than the sequence, or a state that the chain does not have.
    pub fn score(&self, emission: &[f64], states: &[usize]) -> f64 {
        let k = self.k();
        let mut score = self.initial()[states[0]];
        for (t, &state) in states.iter().enumerate() {
            score += emission[t * k + state];
            if t > 0 {
                score += self.transition()[states[t - 1] * k + state];
            }
        }
        score
    }

    /// The labelling with the largest score, by the Viterbi algorithm; of equal ones the first in the order of the states,
    /// decided from the end.
    ///
    /// # Panics
    /// See [`Chain::messages`].
    pub fn viterbi(&self, emission: &[f64]) -> Vec<usize> {
        let k = self.k();
        let length = emission.len() / k;
        let messages = self.messages(emission, Paths::Best);
        let past = messages.past();
        let mut path = vec![0; length];
        let mut scores = vec![0.0; k];
        for t in (0..length).rev() {
            add(&past[t * k..(t + 1) * k], &emission[t * k..(t + 1) * k], &mut scores);
            if let Some(&next) = path.get(t + 1) {
                (0..k).for_each(|a| scores[a] += self.forward.logs[a * k + next]);
            }
            path[t] = argmax(scores.iter().copied());
        }
        path
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;
    use crate::numeric::linalg::{largest, log_sum_exp};
    use proptest::prelude::*;

    fn names(k: usize) -> Vec<String> {
        (0..k).map(|state| state.to_string()).collect()
    }

    /// Every labelling with its score.
    fn labellings(chain: &Chain, emission: &[f64]) -> Vec<(Vec<usize>, f64)> {
        let k = chain.k();
        let length = emission.len() / k;
        (0..k.pow(length as u32))
            .map(|code| {
                let path: Vec<usize> = (0..length).map(|t| code / k.pow(t as u32) % k).collect();
                let mut score = chain.initial()[path[0]];
                for t in 0..length {
                    score += emission[t * k + path[t]];
                    if t > 0 {
                        score += chain.transition()[path[t - 1] * k + path[t]];
                    }
                }
                (path, score)
            })
            .collect()
    }

    #[test]
    fn the_score_of_a_labelling_by_hand() {
        let chain = Chain::new(names(2), Some(vec![0.5, 1.0]), vec![0.1, 0.2, 0.3, 0.4]).unwrap();
        // First state 1, then 0 and 0: 1.0 + 20 + 0.3 + 30 + 0.1 + 50.
        let score = chain.score(&[10.0, 20.0, 30.0, 40.0, 50.0, 60.0], &[1, 0, 0]);
        assert!((score - 101.4).abs() < 1e-12, "{score}");
    }

    fn close(a: f64, b: f64) -> bool {
        a == b || (a - b).abs() <= 1e-10 * (1.0 + a.abs().min(b.abs()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn messages_are_those_of_enumeration(
            k in 2_usize..=4, length in 1_usize..=8, scale in 0.1..400.0_f64, forbidden in 0_u64..u64::MAX,
            seed in 0_u64..1 << 40,
        ) {
            let wave = |i: usize| ((seed as f64 * 1e-3 + i as f64 * 1.7) * 1.3).sin();
            // Four transitions in eleven are forbidden, never those to the next state.
            let transition: Vec<f64> = (0..k * k)
                .map(|at| {
                    let free = at % k == (at / k + 1) % k || (forbidden >> (3 * at) & 7) > 2;
                    if free { scale * wave(at) } else { f64::NEG_INFINITY }
                })
                .collect();
            let mut initial: Vec<f64> = (0..k).map(|at| scale * wave(100 + at)).collect();
            if forbidden & 1 == 1 {
                initial[0] = f64::NEG_INFINITY;
            }
            let emission: Vec<f64> = (0..k * length).map(|at| scale * wave(200 + at)).collect();
            let chain = Chain::new(names(k), Some(initial), transition).unwrap();
            let all = labellings(&chain, &emission);
            let scores: Vec<f64> = all.iter().map(|(_, score)| *score).collect();
            let messages = chain.messages(&emission, Paths::All);
            prop_assert!(close(messages.log_z, log_sum_exp(&scores)));
            let posteriors = messages.posteriors();
            let (past, future) = (messages.past(), messages.future());
            let of_best = chain.messages(&emission, Paths::Best);
            prop_assert!(close(of_best.log_z, largest(&scores)));
            let path = chain.viterbi(&emission);
            let at = all.iter().position(|(other, _)| *other == path).unwrap();
            prop_assert!(close(scores[at], of_best.log_z));
            messages.pairs(&chain, |t, pairs| {
                for at in 0..k * k {
                    let of: Vec<f64> = all
                        .iter()
                        .filter(|(path, _)| [path[t - 1], path[t]] == [at / k, at % k])
                        .map(|(_, score)| *score)
                        .collect();
                    let expected = (log_sum_exp(&of) - messages.log_z).exp();
                    assert!((pairs[at] - expected).abs() < 1e-10, "{} {expected}", pairs[at]);
                }
            });
            for t in 0..length {
                // A message is known up to a shift: compare it with its largest number at zero.
                let sums: Vec<f64> = (0..k)
                    .map(|state| {
                        let of: Vec<f64> =
                            all.iter().filter(|(path, _)| path[t] == state).map(|(_, score)| *score).collect();
                        log_sum_exp(&of)
                    })
                    .collect();
                for state in 0..k {
                    let expected = (sums[state] - messages.log_z).exp();
                    prop_assert!((posteriors[t * k + state] - expected).abs() < 1e-10);
                    let joint = |i: usize| past[i] + future[i] + emission[i];
                    let (own, top) = (joint(t * k + state), (0..k).map(|s| joint(t * k + s)).fold(f64::NEG_INFINITY, f64::max));
                    prop_assert!(close(own - top, sums[state] - largest(&sums)), "{} {}", own - top, sums[state] - largest(&sums));
                }
            }
        }
    }

    #[test]
    fn a_state_that_only_a_hopeless_one_leads_to_is_reached() {
        // From state 0 only 0 follows, and state 1 has e^-2000 of the first token's mass.
        let none = f64::NEG_INFINITY;
        let chain = Chain::new(names(2), None, vec![0.0, none, none, 0.0]).unwrap();
        let messages = chain.messages(&[0.0, -2000.0, 0.0, 0.0], Paths::All);
        assert_eq!(messages.past()[2..], [0.0, -2000.0]);
    }

    #[test]
    fn a_sequence_without_a_possible_labelling_says_so() {
        let none = f64::NEG_INFINITY;
        let chain = Chain::new(names(2), Some(vec![0.0, none]), vec![none, 0.0, none, none]).unwrap();
        assert_eq!(chain.messages(&[0.0; 4], Paths::All).log_z, 0.0);
        assert_eq!(chain.messages(&[0.0; 6], Paths::All).log_z, none);
    }

    #[test]
    fn potentials_are_checked() {
        let new = |initial, transition| Chain::new(names(2), initial, transition).unwrap_err();
        let none = f64::NEG_INFINITY;
        assert_eq!(new(None, vec![0.0; 3]), Error::Potentials { what: "transitions", given: 3, needed: 4 });
        assert_eq!(
            new(Some(vec![0.0]), vec![0.0; 4]),
            Error::Potentials { what: "first states", given: 1, needed: 2 }
        );
        assert!(matches!(new(None, vec![0.0, f64::NAN, 0.0, 0.0]), Error::Potential { .. }));
        assert!(matches!(new(Some(vec![f64::INFINITY, 0.0]), vec![0.0; 4]), Error::Potential { .. }));
        assert_eq!(new(Some(vec![none; 2]), vec![0.0; 4]), Error::NoFirstState);
        assert_eq!(
            new(Some(vec![0.0, none]), vec![0.0, none, 0.0, none]),
            Error::UnreachableState { state: "1".into() }
        );
        assert_eq!(
            Chain::new(vec!["a".into(); 2], None, vec![0.0; 4]).unwrap_err(),
            Error::DuplicateName { kind: "state", name: "a".into() }
        );
        assert!(matches!(Chain::new(names(1), None, vec![0.0]).unwrap_err(), Error::ClassCount { .. }));
    }
}
