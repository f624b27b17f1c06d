//! Chains with known truth.
//!
//! States follow each other by a transition matrix whose rows stay with a given probability and otherwise move on by
//! chance weights. A token is the mean of its state in `k` dimensions plus Laplace noise of unit variance; the model scores
//! it by the linear discriminant of means that are wrong, and has wrong transitions.

use super::simulate::{draw_class, laplace};
use crate::error::{Error, Result};
use crate::sequences::{Chain, Sequences};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1, StandardNormal};
use rand_pcg::Pcg64;

/// What to simulate.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainSetting {
    /// Number of states, `k`.
    pub states: usize,
    /// `s`: the states' means are drawn from `N(0, s^2 / 2)` in each of `k` dimensions.
    pub separation: f64,
    /// How wrong the model's means are, as a fraction of the spread of the true ones.
    pub model_noise: f64,
    /// The probability to stay in a state; `1 / k` with [`ChainSetting::even`] moves is a chain without memory.
    pub stay: f64,
    /// Whether a state that is left goes to every other with the same chance.
    pub even: bool,
    /// The share of the model's transitions that is not the truth but even chance.
    pub model_blur: f64,
    /// The shortest and the longest sequence; lengths between are equally likely.
    pub lengths: [usize; 2],
}

impl ChainSetting {
    /// Chains that stay with probability 0.6, of length 5 to 200; the model's means are off by half their spread, and
    /// three tenths of its transitions are chance.
    pub fn new(states: usize, separation: f64) -> Self {
        Self {
            states,
            separation,
            model_noise: 0.5,
            stay: 0.6,
            even: false,
            model_blur: 0.3,
            lengths: [5, 200],
        }
    }
}

/// Means and transitions, true and as the model has them: what sequences are drawn from.
#[derive(Debug, Clone)]
pub struct ChainPopulation {
    initial: Vec<f64>,
    /// Row by row.
    transition: Vec<f64>,
    means: Vec<Vec<f64>>,
    model_means: Vec<Vec<f64>>,
    model: Chain,
    lengths: [usize; 2],
}

impl ChainPopulation {
    /// Draws means and transitions.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`].
    pub fn draw(setting: &ChainSetting, seed: u64) -> Result<Self> {
        let k = setting.states;
        let refuse = |name, value: String, expected| Err(Error::InvalidParameter { name, value, expected });
        if k < 2 {
            return refuse("states", k.to_string(), "at least two are needed");
        }
        for (name, value) in [("separation", setting.separation), ("model noise", setting.model_noise)] {
            if !(value.is_finite() && value >= 0.0) {
                return refuse(name, value.to_string(), "a finite number, zero or more, is needed");
            }
        }
        for (name, value) in [("stay", setting.stay), ("model blur", setting.model_blur)] {
            if !(0.0..=1.0).contains(&value) {
                return refuse(name, value.to_string(), "a probability, from 0 to 1, is needed");
            }
        }
        let [shortest, longest] = setting.lengths;
        if shortest == 0 || shortest > longest {
            return refuse(
                "lengths",
                format!("{shortest} to {longest}"),
                "a shortest length of at least one and a longest no shorter are needed",
            );
        }
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut transition = Vec::with_capacity(k * k);
        for a in 0..k {
            let weights: Vec<f64> = (0..k)
                .map(|b| match (a == b, setting.even) {
                    (true, _) => 0.0,
                    (false, true) => 1.0,
                    (false, false) => Exp1.sample(&mut rng),
                })
                .collect();
            let total: f64 = weights.iter().sum();
            let moves = weights.iter().map(|weight| (1.0 - setting.stay) * weight / total);
            transition.extend(moves.enumerate().map(|(b, p)| if a == b { setting.stay } else { p }));
        }
        let mut normal = |scale: f64| scale * Distribution::<f64>::sample(&StandardNormal, &mut rng);
        let spread = setting.separation / 2f64.sqrt();
        let means: Vec<Vec<f64>> = (0..k).map(|_| (0..k).map(|_| normal(spread)).collect()).collect();
        let off = spread * setting.model_noise;
        let model_means = means.iter().map(|mean| mean.iter().map(|x| x + normal(off)).collect()).collect();
        let blurred = |p: &f64| ((1.0 - setting.model_blur) * p + setting.model_blur / k as f64).ln();
        let states = (0..k).map(|state| state.to_string()).collect();
        let even = vec![-(k as f64).ln(); k];
        let model = Chain::new(states, Some(even), transition.iter().map(blurred).collect())?;
        let initial = stationary(k, &transition);
        Ok(Self { initial, transition, means, model_means, model, lengths: setting.lengths })
    }

    /// The model's own chain.
    pub fn model(&self) -> &Chain {
        &self.model
    }

    /// The true transition matrix, row by row.
    pub fn transition(&self) -> &[f64] {
        &self.transition
    }

    /// How often each state occurs.
    pub fn prior(&self) -> &[f64] {
        &self.initial
    }

    /// Draws so many sequences: the model's emission scores, and the state of each token, sequence by sequence.
    pub fn sequences(&self, count: usize, rng: &mut Pcg64) -> Result<(Sequences, Vec<Vec<usize>>)> {
        let k = self.means.len();
        let mut sequences = Sequences::new(k);
        let mut labels = Vec::with_capacity(count);
        for _ in 0..count {
            let length = rng.random_range(self.lengths[0]..=self.lengths[1]);
            let mut states: Vec<usize> = Vec::with_capacity(length);
            let mut emission = Vec::with_capacity(length * k);
            for t in 0..length {
                let state = match t {
                    0 => draw_class(&self.initial, rng),
                    _ => draw_class(&self.transition[states[t - 1] * k..(states[t - 1] + 1) * k], rng),
                };
                states.push(state);
                let x: Vec<f64> = self.means[state].iter().map(|mean| mean + laplace(rng)).collect();
                let score = |m: &Vec<f64>| m.iter().zip(&x).map(|(m, x)| m * (x - 0.5 * m)).sum::<f64>();
                emission.extend(self.model_means.iter().map(score));
            }
            sequences.push(&emission)?;
            labels.push(states);
        }
        Ok((sequences, labels))
    }
}

/// The distribution that a transition matrix leaves as it is, by repeated steps; a chain that never mixes keeps an even one.
fn stationary(k: usize, transition: &[f64]) -> Vec<f64> {
    let mut prior = vec![1.0 / k as f64; k];
    for _ in 0..1000 {
        prior = (0..k).map(|b| (0..k).map(|a| prior[a] * transition[a * k + b]).sum()).collect();
    }
    prior
}
