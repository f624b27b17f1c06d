//! A linear chain: what a hidden Markov model and a linear conditional random field have in common.
//!
//! The score of a labelling `y` of a sequence `x` is `i(y_1) + sum_t g(y_t, x_t) + sum_t f(y_{t-1}, y_t)`, with the log
//! potentials `i` of first states and `f` of transitions held here, and emission scores `g` that come with the sequence.

use crate::error::{Error, Result};
use crate::linalg::{log_sum_exp, log_sum_exp_of};
use crate::loss::best;

/// Below this sum of scaled potentials, terms that underflowed may matter and logarithms are summed one by one.
const SAFE: f64 = 1e-250;

/// Log potentials of first states and of transitions, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    states: Vec<String>,
    initial: Vec<f64>,
    forward: Kernel,
    backward: Kernel,
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
        let k = self.k();
        assert!(
            !emission.is_empty() && emission.len().is_multiple_of(k),
            "scores of every state for every token"
        );
        let length = emission.len() / k;
        let mut past = vec![0.0; emission.len()];
        let mut future = vec![0.0; emission.len()];
        let mut work = vec![0.0; k];
        past[..k].copy_from_slice(&self.initial);
        let mut log_scale = centre(&mut past[..k]);
        for t in 1..length {
            let (before, after) = past.split_at_mut(t * k);
            add(&before[(t - 1) * k..], &emission[(t - 1) * k..t * k], &mut work);
            let out = &mut after[..k];
            self.forward.step(&mut work, out, paths);
            log_scale += centre(out);
        }
        for t in (0..length - 1).rev() {
            let (before, after) = future.split_at_mut((t + 1) * k);
            add(&after[..k], &emission[(t + 1) * k..(t + 2) * k], &mut work);
            let out = &mut before[t * k..];
            self.backward.step(&mut work, out, paths);
            centre(out);
        }
        add(&past[(length - 1) * k..], &emission[(length - 1) * k..], &mut work);
        let log_z = log_scale
            + match paths {
                Paths::All => log_sum_exp(&work),
                Paths::Best => largest(&work),
            };
        Messages { k, past, future, log_z }
    }

    /// The labelling with the largest score, by the Viterbi algorithm; of equal ones the first in the order of the states,
    /// decided from the end.
    ///
    /// # Panics
    /// See [`Chain::messages`].
    pub fn viterbi(&self, emission: &[f64]) -> Vec<usize> {
        let k = self.k();
        let length = emission.len() / k;
        let past = self.messages(emission, Paths::Best).past;
        let mut path = vec![0; length];
        let mut scores = vec![0.0; k];
        for t in (0..length).rev() {
            add(&past[t * k..(t + 1) * k], &emission[t * k..(t + 1) * k], &mut scores);
            if let Some(&next) = path.get(t + 1) {
                (0..k).for_each(|a| scores[a] += self.forward.logs[a * k + next]);
            }
            path[t] = best(scores.iter().copied());
        }
        path
    }
}

/// What the tokens before and after each one say of its state, each shifted so that its largest number is zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Messages {
    k: usize,
    /// `log sum over y_1 .. y_{t-1}` of the scores up to the transition to `y_t`, without the token's own emission.
    pub past: Vec<f64>,
    /// `log sum over y_{t+1} .. y_T` of the scores from the transition from `y_t` on.
    pub future: Vec<f64>,
    /// The logarithm of the sum over all labellings (or the score of the best); minus infinity where none is possible.
    pub log_z: f64,
}

impl Messages {
    /// The posterior `p(y_t | x)` of every token under the model, where [`Paths::All`] were taken.
    pub fn posteriors(&self, emission: &[f64]) -> Vec<f64> {
        let mut out: Vec<f64> =
            self.past.iter().zip(&self.future).zip(emission).map(|((a, b), g)| a + b + g).collect();
        for token in out.chunks_exact_mut(self.k) {
            let total = log_sum_exp(token);
            token.iter_mut().for_each(|p| *p = (*p - total).exp());
        }
        out
    }

    /// Visits the posterior `p(y_{t-1}, y_t | x)` of every token `t` but the first with the one before it, row by row, where
    /// [`Paths::All`] were taken.
    pub fn pairs(&self, chain: &Chain, emission: &[f64], mut visit: impl FnMut(usize, &[f64])) {
        let k = self.k;
        let mut pairs = vec![0.0; k * k];
        let (mut left, mut right) = (vec![0.0; k], vec![0.0; k]);
        for t in 1..emission.len() / k {
            let (before, own) = ((t - 1) * k..t * k, t * k..(t + 1) * k);
            add(&self.past[before.clone()], &emission[before], &mut left);
            add(&self.future[own.clone()], &emission[own], &mut right);
            for side in [&mut left, &mut right] {
                let top = largest(side);
                side.iter_mut().for_each(|x| *x = (*x - top).exp());
            }
            let top = chain.forward.largest;
            let mut total = 0.0;
            for (a, row) in pairs.chunks_exact_mut(k).enumerate() {
                for b in 0..k {
                    row[b] = left[a] * chain.forward.exponentials[a * k + b] * right[b];
                    total += row[b];
                }
            }
            if total > SAFE {
                pairs.iter_mut().for_each(|p| *p /= total);
            } else {
                let log = |at: usize| {
                    let before = (t - 1) * k + at / k;
                    let own = t * k + at % k;
                    self.past[before] + emission[before] + chain.forward.logs[at] - top
                        + emission[own]
                        + self.future[own]
                };
                let total = log_sum_exp_of(k * k, log);
                (0..k * k).for_each(|at| pairs[at] = (log(at) - total).exp());
            }
            visit(t, &pairs);
        }
    }
}

/// Potentials in the order in which a message is passed along them.
#[derive(Debug, Clone, PartialEq)]
struct Kernel {
    k: usize,
    /// By incoming, then by outgoing state.
    logs: Vec<f64>,
    /// The largest of each outgoing state.
    scale: Vec<f64>,
    /// `exp(log - scale)`.
    scaled: Vec<f64>,
    /// The largest of all.
    largest: f64,
    /// `exp(log - largest)`.
    exponentials: Vec<f64>,
}

impl Kernel {
    fn new(k: usize, logs: Vec<f64>) -> Self {
        let scale: Vec<f64> = (0..k)
            .map(|b| (0..k).map(|a| logs[a * k + b]).fold(f64::NEG_INFINITY, f64::max))
            .map(|scale| if scale.is_finite() { scale } else { 0.0 })
            .collect();
        let scaled = (0..k * k).map(|at| (logs[at] - scale[at % k]).exp()).collect();
        let largest = largest(&logs);
        let exponentials = logs.iter().map(|log| (log - largest).exp()).collect();
        Self { k, scale, scaled, largest, exponentials, logs }
    }

    /// Passes a message on; `incoming` is used up.
    fn step(&self, incoming: &mut [f64], out: &mut [f64], paths: Paths) {
        match paths {
            Paths::All => self.sum(incoming, out),
            Paths::Best => {
                for (b, out) in out.iter_mut().enumerate() {
                    let of = |a: usize| incoming[a] + self.logs[a * self.k + b];
                    *out = (0..self.k).map(of).fold(f64::NEG_INFINITY, f64::max);
                }
            }
        }
    }

    /// `out_b = log sum_a exp(incoming_a + log_ab)`: one exponential a state in, one logarithm a state out, and products
    /// between. All terms are positive, so what underflows does not matter unless nothing else is left: then the
    /// logarithms are summed one by one.
    fn sum(&self, incoming: &mut [f64], out: &mut [f64]) {
        let top = largest(incoming);
        if top == f64::NEG_INFINITY {
            out.fill(f64::NEG_INFINITY);
            return;
        }
        out.fill(0.0);
        for (a, x) in incoming.iter().enumerate() {
            let weight = (x - top).exp();
            if weight > 0.0 {
                let row = &self.scaled[a * self.k..(a + 1) * self.k];
                out.iter_mut().zip(row).for_each(|(sum, p)| *sum += weight * p);
            }
        }
        for b in 0..self.k {
            out[b] = match out[b] > SAFE {
                true => out[b].ln() + top + self.scale[b],
                false => {
                    let of = |a: usize| incoming[a] + self.logs[a * self.k + b];
                    log_sum_exp_of(self.k, of)
                }
            };
        }
    }
}

fn add(a: &[f64], b: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (a, b))| *out = a + b);
}

fn largest(x: &[f64]) -> f64 {
    x.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Shifts numbers so that the largest is zero; returns by how much.
fn centre(x: &mut [f64]) -> f64 {
    let top = largest(x);
    if top.is_finite() {
        x.iter_mut().for_each(|x| *x -= top);
        return top;
    }
    0.0
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;
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
            let length = if k == 4 { length.min(7) } else { length };
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
            let posteriors = messages.posteriors(&emission);
            let of_best = chain.messages(&emission, Paths::Best);
            prop_assert!(close(of_best.log_z, largest(&scores)));
            let path = chain.viterbi(&emission);
            let at = all.iter().position(|(other, _)| *other == path).unwrap();
            prop_assert!(close(scores[at], of_best.log_z));
            messages.pairs(&chain, &emission, |t, pairs| {
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
                    let joint = |i: usize| messages.past[i] + messages.future[i] + emission[i];
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
        assert_eq!(messages.past[2..], [0.0, -2000.0]);
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
