//! Emissions and transitions that make the sequences most likely, from the seed's scores and without labels.
//!
//! With posteriors `q(y | x_t) = softmax(B phi(x_t))` of each token alone, log-linear in a basis of functions of its scores, the
//! law of a token given its state is `q_j(x) / mean(q_j)` times that of all tokens. So sequences have the likelihood
//!
//! ```text
//!     sum over y of  p(y_1) prod_t P(y_{t-1}, y_t) prod_t q_{y_t}(x_t) / mean(q_{y_t}),
//! ```
//!
//! up to what does not depend on the parameters, and its derivatives come out of forward-backward. It starts from what the
//! surrogate labels say and goes on from there: those are consistent, this is less noisy.

use super::chain::{Chain, Paths};
use super::sample::Keyed;
use crate::features::{Basis, Posterior};
use crate::linalg::softmax;
use crate::moments::kernel;
use crate::refinement::minimise;
use crate::vectorised;
use rayon::prelude::*;

/// Sequences that one thread works on at a time: sums are formed in the same order on any number of threads.
const CHUNK: usize = 64;
/// Penalty on the squared weights of posteriors, beside the mean log likelihood.
const RIDGE: f64 = 3e-5;
/// Iterations of the maximisation.
const ITERATIONS: usize = 60;

/// The sample, as the likelihood needs it.
pub(crate) struct Likelihood<'a> {
    keyed: &'a Keyed,
    states: &'a [String],
    k: usize,
    /// Whitened scores of every token, in columns, and how many there are.
    whitened: Vec<f64>,
    rank: usize,
    /// How many ridge functions there are.
    count: usize,
}

/// What one chunk of sequences adds.
struct Part {
    log_likelihood: f64,
    posterior: Vec<f64>,
    pairs: Vec<f64>,
    first: Vec<f64>,
}

impl<'a> Likelihood<'a> {
    pub(crate) fn new(states: &'a [String], keyed: &'a Keyed, basis: &Basis) -> Self {
        let (k, n) = (states.len(), keyed.sequences.tokens());
        let scores = columns(k, keyed);
        let mut whitened = Vec::new();
        basis.evaluate(n, &scores, &mut whitened);
        let rank = basis.linear();
        whitened.truncate(n * rank);
        Self { keyed, states, k, whitened, rank, count: basis.len() - rank }
    }

    /// The best from a start.
    pub(crate) fn maximise(&self, start: &Parameters) -> Parameters {
        let logs = |p: &[f64]| p.iter().map(|p| p.max(1e-4).ln()).collect::<Vec<f64>>();
        let weights = &start.posterior.weights;
        let point = [
            weights.as_slice(),
            bends(&start.posterior.basis),
            &logs(&start.transition),
            &logs(&start.first),
        ];
        let best = minimise(|point| self.value_and_gradient(point), point.concat(), 1e-6, ITERATIONS).point;
        let [weights, bends, transition, first] = self.split(&best);
        let q = self.posteriors(weights, &self.functions(bends));
        let mut posterior = Posterior { basis: start.posterior.basis.clone(), weights: weights.to_vec() };
        if let Basis::Whitened { ridges, .. } = &mut posterior.basis {
            *ridges = bends.to_vec();
        }
        Parameters {
            posterior,
            prior: self.means(&q),
            transition: transition.chunks_exact(self.k).flat_map(softmax).collect(),
            first: softmax(first),
        }
    }

    fn split<'b>(&self, point: &'b [f64]) -> [&'b [f64]; 4] {
        let width = self.rank + self.count;
        let (weights, rest) = point.split_at(self.k * (width + 1));
        let (bends, rest) = rest.split_at(self.count * (self.rank + 1));
        let (transition, first) = rest.split_at(self.k * self.k);
        [weights, bends, transition, first]
    }

    /// The basis functions of every token, in columns: whitened scores, then ridge functions of them.
    fn functions(&self, bends: &[f64]) -> Vec<f64> {
        let n = self.keyed.sequences.tokens();
        let mut functions = self.whitened.clone();
        functions.resize(n * (self.rank + self.count), 0.0);
        let ridges = &mut functions[n * self.rank..];
        vectorised::affine_columns(&self.whitened, n, self.rank, bends, self.count, ridges);
        vectorised::ridge_in_place(ridges);
        functions
    }

    /// `q`, in columns.
    fn posteriors(&self, weights: &[f64], functions: &[f64]) -> Vec<f64> {
        let n = self.keyed.sequences.tokens();
        let mut q = vec![0.0; n * self.k];
        vectorised::affine_columns(functions, n, self.rank + self.count, weights, self.k, &mut q);
        vectorised::softmax_columns(&mut q, n, self.k, None);
        q
    }

    fn means(&self, q: &[f64]) -> Vec<f64> {
        let n = q.len() / self.k;
        q.chunks_exact(n).map(|column| column.iter().sum::<f64>() / n as f64).collect()
    }

    /// The negative mean log likelihood of a token with the penalty, and its derivatives.
    fn value_and_gradient(&self, point: &[f64]) -> (f64, Vec<f64>) {
        let (k, n) = (self.k, self.keyed.sequences.tokens());
        let [weights, bends, transition, first] = self.split(point);
        let functions = self.functions(bends);
        let q = self.posteriors(weights, &functions);
        let means = self.means(&q);
        let log = |p: Vec<f64>| p.into_iter().map(f64::ln).collect::<Vec<f64>>();
        let logs = transition.chunks_exact(k).flat_map(|row| log(softmax(row))).collect();
        let Ok(chain) = Chain::new(self.states.to_vec(), Some(log(softmax(first))), logs) else {
            return (f64::INFINITY, vec![0.0; point.len()]);
        };
        let starts: Vec<usize> = self
            .keyed
            .sequences
            .iter()
            .scan(0, |from, emission| {
                let start = *from;
                *from += emission.len() / k;
                Some(start)
            })
            .collect();
        let places: Vec<usize> = (0..self.keyed.len()).collect();
        let parts: Vec<Part> = places
            .par_chunks(CHUNK)
            .map(|sequences| {
                let mut part = Part {
                    log_likelihood: 0.0,
                    posterior: Vec::new(),
                    pairs: vec![0.0; k * k],
                    first: vec![0.0; k],
                };
                for &at in sequences {
                    let length = self.keyed.sequences.get(at).len() / k;
                    let emission: Vec<f64> = (0..length * k)
                        .map(|c| {
                            (q[c % k * n + starts[at] + c / k].max(f64::MIN_POSITIVE) / means[c % k]).ln()
                        })
                        .collect();
                    part.add(&chain, &emission);
                }
                part
            })
            .collect();
        let mut log_likelihood = 0.0;
        let (mut pairs, mut firsts) = (vec![0.0; k * k], vec![0.0; k]);
        let mut rho = vec![0.0; n * k];
        let mut from = 0;
        for part in &parts {
            log_likelihood += part.log_likelihood;
            pairs.iter_mut().zip(&part.pairs).for_each(|(sum, x)| *sum += x);
            firsts.iter_mut().zip(&part.first).for_each(|(sum, x)| *sum += x);
            for token in part.posterior.chunks_exact(k) {
                token.iter().enumerate().for_each(|(j, p)| rho[j * n + from] = *p);
                from += 1;
            }
        }
        // The derivative in the logits of q: with g_j = rho_j - mean(rho_j) / mean(q_j) q_j it is g_j - q_j sum_i g_i.
        let ratios: Vec<f64> = self.means(&rho).iter().zip(&means).map(|(rho, q)| rho / q).collect();
        let mut logits = vec![0.0; n * k];
        for row in 0..n {
            let g = |j: usize| rho[j * n + row] - ratios[j] * q[j * n + row];
            let sum: f64 = (0..k).map(g).sum();
            (0..k).for_each(|j| logits[j * n + row] = g(j) - q[j * n + row] * sum);
        }
        let width = self.rank + self.count;
        let mut inner = vec![0.0; k * width];
        kernel::cross(&logits, &functions, n, k, width, &mut inner);
        let tokens = n as f64;
        let mut value = -log_likelihood / tokens;
        let mut gradient = Vec::with_capacity(point.len());
        for j in 0..k {
            gradient.push(-logits[j * n..(j + 1) * n].iter().sum::<f64>() / tokens);
            gradient.extend(inner[j * width..(j + 1) * width].iter().map(|g| -g / tokens));
        }
        for (g, w) in gradient.iter_mut().zip(weights) {
            *g += RIDGE * w;
            value += 0.5 * RIDGE * w * w;
        }
        gradient.extend(self.bend_gradient(weights, &functions, &logits));
        for (row, counts) in transition.chunks_exact(k).zip(pairs.chunks_exact(k)) {
            let total: f64 = counts.iter().sum();
            gradient.extend(softmax(row).iter().zip(counts).map(|(p, count)| (total * p - count) / tokens));
        }
        let total: f64 = firsts.iter().sum();
        gradient.extend(softmax(first).iter().zip(&firsts).map(|(p, count)| (total * p - count) / tokens));
        (value, gradient)
    }

    /// The derivative of the negative mean log likelihood in what ridge functions are made of, from that in the logits: the
    /// derivative of `h = t / sqrt(1 + t^2)` is `(1 - h^2)^(3/2)`.
    fn bend_gradient(&self, weights: &[f64], functions: &[f64], logits: &[f64]) -> Vec<f64> {
        let (k, n) = (self.k, self.keyed.sequences.tokens());
        let width = self.rank + self.count;
        let slopes: Vec<Vec<f64>> = (0..self.count)
            .into_par_iter()
            .map(|r| {
                let h = &functions[(self.rank + r) * n..(self.rank + r + 1) * n];
                let mut slope = vec![0.0; n];
                for j in 0..k {
                    let weight = weights[j * (width + 1) + 1 + self.rank + r];
                    let column = &logits[j * n..(j + 1) * n];
                    slope.iter_mut().zip(column).for_each(|(sum, g)| *sum += weight * g);
                }
                slope.iter_mut().zip(h).for_each(|(g, h)| {
                    let flat = 1.0 - h * h;
                    *g *= flat * flat.sqrt();
                });
                slope
            })
            .collect();
        let slopes = slopes.concat();
        let mut inner = vec![0.0; self.count * self.rank];
        kernel::cross(&slopes, &self.whitened, n, self.count, self.rank, &mut inner);
        let mut gradient = Vec::with_capacity(self.count * (self.rank + 1));
        for r in 0..self.count {
            gradient.push(-slopes[r * n..(r + 1) * n].iter().sum::<f64>() / n as f64);
            gradient.extend(inner[r * self.rank..(r + 1) * self.rank].iter().map(|g| -g / n as f64));
        }
        gradient
    }
}

impl Part {
    fn add(&mut self, chain: &Chain, emission: &[f64]) {
        let messages = chain.messages(emission, Paths::All);
        let posterior = messages.posteriors(emission);
        self.log_likelihood += messages.log_z;
        self.first.iter_mut().zip(&posterior).for_each(|(sum, p)| *sum += p);
        messages.pairs(chain, emission, |_, pairs| {
            self.pairs.iter_mut().zip(pairs).for_each(|(sum, p)| *sum += p);
        });
        self.posterior.extend(posterior);
    }
}

/// What a likelihood is a function of.
#[derive(Debug, Clone)]
pub(crate) struct Parameters {
    posterior: Posterior,
    /// The posterior's mean over tokens.
    pub(crate) prior: Vec<f64>,
    /// Row by row.
    pub(crate) transition: Vec<f64>,
    /// Of first states.
    pub(crate) first: Vec<f64>,
}

impl Parameters {
    pub(crate) fn new(posterior: &Posterior, prior: &[f64], transition: &[f64], first: &[f64]) -> Self {
        let [prior, transition, first] = [prior, transition, first].map(<[f64]>::to_vec);
        Self { posterior: posterior.clone(), prior, transition, first }
    }

    /// The posterior of a token by itself.
    pub(crate) fn posterior(&self) -> &Posterior {
        &self.posterior
    }
}

/// What the ridge functions of a basis are made of.
fn bends(basis: &Basis) -> &[f64] {
    match basis {
        Basis::Whitened { ridges, .. } => ridges,
        Basis::Softmax(_) => &[],
    }
}

/// The scores of all tokens, in columns.
fn columns(k: usize, keyed: &Keyed) -> Vec<f64> {
    (0..k)
        .flat_map(|state| {
            keyed.sequences.iter().flat_map(move |emission| emission[state..].iter().step_by(k).copied())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::hmm::{ChainPopulation, ChainSetting};
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    #[test]
    fn gradient_matches_finite_differences() -> Result<()> {
        let setting = ChainSetting { lengths: [1, 6], ..ChainSetting::new(3, 1.5) };
        let population = ChainPopulation::draw(&setting, 1)?;
        let (sequences, _) = population.sequences(90, &mut Pcg64::seed_from_u64(2))?;
        let keyed = Keyed { keys: (0..90).collect(), sequences };
        let states = population.model().states();
        let basis = Basis::fit(keyed.sequences.tokens(), &columns(3, &keyed), 2)?;
        let likelihood = Likelihood::new(states, &keyed, &basis);
        let length = 3 * 6 + 2 * 4 + 3 * 3 + 3;
        let point: Vec<f64> = (0..length).map(|i| 0.8 * (i as f64 * 0.7).sin()).collect();
        let (_, gradient) = likelihood.value_and_gradient(&point);
        assert_eq!(gradient.len(), length);
        for i in 0..length {
            let at = |step: f64| {
                let mut moved = point.clone();
                moved[i] += step;
                likelihood.value_and_gradient(&moved).0
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - gradient[i]).abs() < 1e-8, "{i}: {slope} {}", gradient[i]);
        }
        Ok(())
    }
}
