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
use crate::error::Result;
use crate::features::{Basis, Posterior};
use crate::interrupt;
use crate::numeric::adam::Adam;
use crate::numeric::columns;
use crate::numeric::hash;
use crate::numeric::kernel;
use crate::numeric::lbfgs::minimise;
use crate::numeric::linalg::softmax;
use crate::settings::chain_fit::{
    ENOUGH, FIRST_TOKENS, ITERATIONS, LOOKS, RENEWED, RIDGE, RIDGE_OF_STATES, RIDGES, STEP_SHARE,
    STEP_TOKENS, STEPS, STEPS_OF_STATES,
};
use rayon::prelude::*;

/// Tokens that one thread works on at a time, at least: sums are formed in the same order on any number of threads.
const CHUNK: usize = 512;

/// The sample, as the likelihood needs it.
pub(crate) struct Likelihood<'a> {
    states: &'a [String],
    k: usize,
    rank: usize,
    /// How many ridge functions there are.
    count: usize,
    chunks: Vec<Chunk>,
    tokens: usize,
}

/// Some sequences.
struct Chunk {
    lengths: Vec<usize>,
    /// Whitened scores of every token, in columns.
    whitened: Vec<f64>,
    tokens: usize,
}

/// Means over tokens: of `q`, and of the posterior given the whole sequence.
#[derive(Clone)]
struct Means {
    alone: Vec<f64>,
    whole: Vec<f64>,
}

/// What one chunk of sequences adds.
struct Part {
    log_likelihood: f64,
    /// In columns.
    posterior: Vec<f64>,
    pairs: Vec<f64>,
    first: Vec<f64>,
}

impl<'a> Likelihood<'a> {
    /// Of sequences in an order that does not depend on theirs.
    pub(crate) fn new(states: &'a [String], keyed: &Keyed, basis: &Basis) -> Self {
        let (k, rank) = (states.len(), basis.linear());
        let mut order: Vec<usize> = (0..keyed.len()).collect();
        order.sort_by_key(|at| hash(keyed.keys[*at]));
        let mut chunks = Vec::new();
        let mut scores: Vec<&[f64]> = Vec::new();
        let mut tokens = 0;
        for (nth, &at) in order.iter().enumerate() {
            scores.push(keyed.sequences.get(at));
            tokens += keyed.sequences.get(at).len() / k;
            if tokens >= CHUNK || nth + 1 == order.len() {
                let mut whitened = Vec::new();
                basis.evaluate(tokens, &columns(k, &scores), &mut whitened);
                whitened.truncate(tokens * rank);
                let lengths = scores.drain(..).map(|scores| scores.len() / k).collect();
                chunks.push(Chunk { lengths, whitened, tokens });
                tokens = 0;
            }
        }
        Self { states, k, rank, count: basis.len() - rank, chunks, tokens: keyed.sequences.tokens() }
    }

    /// The best from posteriors and from one of some starts of the chain, as far as other sequences agree: by L-BFGS over some of the
    /// sequences from each start, and from the best of them on by steps over some of all sequences each, which are too many to go on
    /// like that.
    pub(crate) fn maximise(&self, posterior: &Posterior, starts: &[Start], others: &Self) -> Parameters {
        let logs = |p: &[f64]| p.iter().map(|p| p.max(1e-4).ln()).collect::<Vec<f64>>();
        let first = &self.chunks[self.batches(FIRST_TOKENS).first().cloned().unwrap_or(0..0)];
        let of_first = |point: &[f64]| {
            let mut means = Means { alone: vec![0.0; self.k], whole: vec![0.0; self.k] };
            self.value_and_gradient(first, point, &mut means, [1.0, RIDGE])
        };
        let from = |start: &Start| {
            let parts =
                [&posterior.weights, bends(&posterior.basis), &logs(&start.transition), &logs(&start.first)];
            let point = minimise(of_first, parts.concat(), 1e-6, ITERATIONS).point;
            (others.value_at(&point, &self.means_at(&point)), point)
        };
        let ends = starts.iter().map(from).min_by(|a, b| a.0.total_cmp(&b.0));
        let mut best = ends.unwrap_or_else(|| unreachable!("there is a start"));
        let mut point = best.1.clone();
        let batches = self.batches((self.tokens / STEP_SHARE).min(STEP_TOKENS));
        let most = (STEPS_OF_STATES / self.k).clamp(STEPS[0], STEPS[1]);
        let steps = if enough(self.tokens) { most } else { 0 };
        let ridge = RIDGE_OF_STATES / self.k as f64;
        let mut adam = Adam::new(point.len(), steps);
        let mut means = self.means_at(&point);
        for step in 0..steps {
            interrupt::check();
            let batch = &self.chunks[batches[step % batches.len()].clone()];
            let (_, gradient) = self.value_and_gradient(batch, &point, &mut means, [RENEWED, ridge]);
            adam.step(&mut point, &gradient);
            if (step + 1) % (steps / LOOKS).max(1) == 0 || step + 1 == steps {
                let value = others.value_at(&point, &self.means_at(&point));
                if value < best.0 {
                    best = (value, point.clone());
                } else {
                    point.clone_from(&best.1);
                    means = self.means_at(&point);
                    adam.slow_down();
                }
            }
        }
        let best = best.1;
        let [weights, bends, transition, first] = self.split(&best);
        let mut posterior = Posterior { basis: posterior.basis.clone(), weights: weights.to_vec() };
        if let Basis::Whitened { ridges, .. } = &mut posterior.basis {
            *ridges = bends.to_vec();
        }
        Parameters {
            posterior,
            prior: self.means_at(&best).alone,
            transition: transition.chunks_exact(self.k).flat_map(softmax).collect(),
            first: softmax(first),
        }
    }

    /// Ranges of chunks of so many tokens or more.
    fn batches(&self, tokens: usize) -> Vec<std::ops::Range<usize>> {
        let mut batches = Vec::new();
        let (mut from, mut sum) = (0, 0);
        for (at, chunk) in self.chunks.iter().enumerate() {
            sum += chunk.tokens;
            if sum >= tokens || at + 1 == self.chunks.len() {
                batches.push(from..at + 1);
                (from, sum) = (at + 1, 0);
            }
        }
        batches
    }

    fn split<'b>(&self, point: &'b [f64]) -> [&'b [f64]; 4] {
        let width = self.rank + self.count;
        let (weights, rest) = point.split_at(self.k * (width + 1));
        let (bends, rest) = rest.split_at(self.count * (self.rank + 1));
        let (transition, first) = rest.split_at(self.k * self.k);
        [weights, bends, transition, first]
    }

    /// The basis functions of a chunk's tokens, in columns: whitened scores, then ridge functions of them; and `q`.
    fn posteriors(&self, chunk: &Chunk, point: &[f64]) -> [Vec<f64>; 2] {
        let [weights, bends, ..] = self.split(point);
        let n = chunk.tokens;
        let mut functions = chunk.whitened.clone();
        functions.resize(n * (self.rank + self.count), 0.0);
        let ridges = &mut functions[n * self.rank..];
        columns::affine_columns(&chunk.whitened, n, self.rank, bends, self.count, ridges);
        columns::ridge_in_place(ridges);
        let mut q = vec![0.0; n * self.k];
        columns::affine_columns(&functions, n, self.rank + self.count, weights, self.k, &mut q);
        columns::softmax_columns(&mut q, n, self.k, None);
        [functions, q]
    }

    /// The means of `q` over all tokens, also for those of the posterior, which it should have.
    fn means_at(&self, point: &[f64]) -> Means {
        let sums: Vec<Vec<f64>> = self
            .chunks
            .par_iter()
            .map(|chunk| sums(&self.posteriors(chunk, point)[1], chunk.tokens))
            .collect();
        let alone = mean(&sums, self.tokens);
        Means { whole: alone.clone(), alone }
    }

    fn chain(&self, point: &[f64]) -> Result<Chain> {
        let log = |p: Vec<f64>| p.into_iter().map(f64::ln).collect::<Vec<f64>>();
        let [.., transition, first] = self.split(point);
        let logs = transition.chunks_exact(self.k).flat_map(|row| log(softmax(row))).collect();
        Chain::new(self.states.to_vec(), Some(log(softmax(first))), logs)
    }

    /// The negative mean log likelihood of a token, given the means of `q`.
    fn value_at(&self, point: &[f64], means: &Means) -> f64 {
        let Ok(chain) = self.chain(point) else { return f64::INFINITY };
        let of = |chunk: &Chunk| {
            let [_, q] = self.posteriors(chunk, point);
            emissions(chunk, &q, &means.alone)
                .map(|scores| chain.messages(&scores, Paths::All).log_z)
                .sum::<f64>()
        };
        let parts: Vec<f64> = self.chunks.par_iter().map(of).collect();
        -parts.iter().sum::<f64>() / self.tokens.max(1) as f64
    }

    /// The negative mean log likelihood of a token with the penalty, and its derivatives, over some chunks. Means over all tokens
    /// are kept as running averages, of which this share is renewed.
    fn value_and_gradient(
        &self,
        chunks: &[Chunk],
        point: &[f64],
        means: &mut Means,
        [renewed, ridge]: [f64; 2],
    ) -> (f64, Vec<f64>) {
        let k = self.k;
        let [weights, _, transition, first] = self.split(point);
        let n: usize = chunks.iter().map(|chunk| chunk.tokens).sum();
        let Ok(chain) = self.chain(point) else { return (f64::INFINITY, vec![0.0; point.len()]) };
        let renew = |old: &mut Vec<f64>, sums: &[Vec<f64>]| {
            let new = mean(sums, n);
            old.iter_mut().zip(new).for_each(|(old, new)| *old += renewed * (new - *old));
        };
        let alone: Vec<[Vec<f64>; 2]> =
            chunks.par_iter().map(|chunk| self.posteriors(chunk, point)).collect();
        let of_chunks = || chunks.iter().zip(&alone);
        let totals: Vec<Vec<f64>> = of_chunks().map(|(chunk, [_, q])| sums(q, chunk.tokens)).collect();
        renew(&mut means.alone, &totals);
        let parts: Vec<Part> = chunks
            .par_iter()
            .zip(&alone)
            .map(|(chunk, [_, q])| Part::of(&chain, chunk, q, &means.alone))
            .collect();
        let totals: Vec<Vec<f64>> =
            chunks.iter().zip(&parts).map(|(chunk, part)| sums(&part.posterior, chunk.tokens)).collect();
        renew(&mut means.whole, &totals);
        let ratios: Vec<f64> = means.whole.iter().zip(&means.alone).map(|(whole, q)| whole / q).collect();
        let gradients: Vec<Vec<f64>> = (0..chunks.len())
            .into_par_iter()
            .map(|at| self.gradient(&chunks[at], weights, &alone[at], &parts[at].posterior, &ratios))
            .collect();

        let tokens = n as f64;
        let mut value = -parts.iter().map(|part| part.log_likelihood).sum::<f64>() / tokens;
        let mut gradient = vec![0.0; point.len()];
        for part in &gradients {
            gradient.iter_mut().zip(part).for_each(|(sum, g)| *sum -= g / tokens);
        }
        for (g, w) in gradient.iter_mut().zip(weights) {
            *g += ridge * w;
            value += 0.5 * ridge * w * w;
        }
        let counted = |pick: &dyn Fn(&Part) -> Vec<f64>| {
            let all: Vec<Vec<f64>> = parts.iter().map(pick).collect();
            mean(&all, n)
        };
        let pairs = counted(&|part| part.pairs.clone());
        let firsts = counted(&|part| part.first.clone());
        let rest = gradient.len() - k * (k + 1);
        let logits = transition.chunks_exact(k).chain([first]);
        let counts = pairs.chunks_exact(k).chain([firsts.as_slice()]);
        for ((logits, counts), out) in logits.zip(counts).zip(gradient[rest..].chunks_exact_mut(k)) {
            let total: f64 = counts.iter().sum();
            let slopes = softmax(logits).into_iter().zip(counts).map(|(p, count)| total * p - count);
            out.iter_mut().zip(slopes).for_each(|(out, slope)| *out = slope);
        }
        (value, gradient)
    }

    /// The derivative of a chunk's log likelihood in the weights of `q` and in what ridge functions are made of: that in the
    /// logits of `q` is `g_j - q_j sum_i g_i` with `g_j = rho_j - mean(rho_j) / mean(q_j) q_j`, and the derivative of
    /// `h = t / sqrt(1 + t^2)` is `(1 - h^2)^(3/2)`.
    fn gradient(
        &self,
        chunk: &Chunk,
        weights: &[f64],
        [functions, q]: &[Vec<f64>; 2],
        rho: &[f64],
        ratios: &[f64],
    ) -> Vec<f64> {
        let (k, n, rank, count) = (self.k, chunk.tokens, self.rank, self.count);
        let width = rank + count;
        let mut logits = rho.to_vec();
        let mut all = vec![0.0; n];
        for (j, (g, q)) in logits.chunks_exact_mut(n).zip(q.chunks_exact(n)).enumerate() {
            for (row, (g, q)) in g.iter_mut().zip(q).enumerate() {
                *g -= ratios[j] * q;
                all[row] += *g;
            }
        }
        for (g, q) in logits.chunks_exact_mut(n).zip(q.chunks_exact(n)) {
            g.iter_mut().zip(q.iter().zip(&all)).for_each(|(g, (q, all))| *g -= q * all);
        }
        let mut gradient = Vec::with_capacity(k * (width + 1) + count * (rank + 1));
        add_affine(&mut gradient, &logits, functions, n);
        // Of the ridge functions themselves: the transposed weights, then the slope.
        let transposed: Vec<f64> =
            (0..count * k).map(|at| weights[at % k * (width + 1) + 1 + rank + at / k]).collect();
        let mut slopes =
            if count > 0 { columns::linear_columns(&logits, n, &transposed, count) } else { Vec::new() };
        for (slope, h) in slopes.iter_mut().zip(&functions[n * rank..]) {
            let flat = 1.0 - h * h;
            *slope *= flat * flat.sqrt();
        }
        add_affine(&mut gradient, &slopes, &chunk.whitened, n);
        gradient.resize(gradient.len() + k * (k + 1), 0.0);
        gradient
    }
}

/// Appends, for each column of slopes, its sum and its sums with columns of functions.
fn add_affine(gradient: &mut Vec<f64>, slopes: &[f64], functions: &[f64], n: usize) {
    let (rows, width) = (slopes.len() / n, functions.len() / n);
    let mut inner = vec![0.0; rows * width];
    kernel::cross(slopes, functions, n, rows, width, &mut inner);
    for (at, column) in slopes.chunks_exact(n).enumerate() {
        gradient.push(column.iter().sum());
        gradient.extend_from_slice(&inner[at * width..(at + 1) * width]);
    }
}

/// The sums of columns.
fn sums(columns: &[f64], n: usize) -> Vec<f64> {
    columns.chunks_exact(n).map(|column| column.iter().sum()).collect()
}

/// The mean of so many tokens, from sums over parts of them.
fn mean(parts: &[Vec<f64>], tokens: usize) -> Vec<f64> {
    let width = parts.first().map_or(0, Vec::len);
    (0..width).map(|at| parts.iter().map(|part| part[at]).sum::<f64>() / tokens as f64).collect()
}

/// The emission scores `log q_j / mean(q_j)` of each sequence of a chunk.
fn emissions<'b>(chunk: &'b Chunk, q: &'b [f64], means: &'b [f64]) -> impl Iterator<Item = Vec<f64>> + 'b {
    let (k, n) = (means.len(), chunk.tokens);
    let mut from = 0;
    chunk.lengths.iter().map(move |&length| {
        let score = |at: usize| (q[at % k * n + from + at / k].max(f64::MIN_POSITIVE) / means[at % k]).ln();
        let scores = (0..length * k).map(score).collect();
        from += length;
        scores
    })
}

impl Part {
    fn of(chain: &Chain, chunk: &Chunk, q: &[f64], means: &[f64]) -> Self {
        let (k, n) = (chain.k(), chunk.tokens);
        let mut part = Self {
            log_likelihood: 0.0,
            posterior: vec![0.0; n * k],
            pairs: vec![0.0; k * k],
            first: vec![0.0; k],
        };
        let mut row = 0;
        for emission in emissions(chunk, q, means) {
            let messages = chain.messages(&emission, Paths::All);
            let posterior = messages.posteriors();
            part.log_likelihood += messages.log_z;
            part.first.iter_mut().zip(&posterior).for_each(|(sum, p)| *sum += p);
            messages.pairs(chain, |_, pairs| {
                part.pairs.iter_mut().zip(pairs).for_each(|(sum, p)| *sum += p);
            });
            for token in posterior.chunks_exact(k) {
                token.iter().enumerate().for_each(|(j, p)| part.posterior[j * n + row] = *p);
                row += 1;
            }
        }
        part
    }
}

/// What a likelihood is a function of.
#[derive(Debug, Clone)]
pub(crate) struct Parameters {
    /// Of a token by itself.
    pub(crate) posterior: Posterior,
    /// The posterior's mean over tokens.
    pub(crate) prior: Vec<f64>,
    /// Row by row.
    pub(crate) transition: Vec<f64>,
    /// Of first states.
    pub(crate) first: Vec<f64>,
}

/// Where to begin with the chain: probabilities of first states and transitions.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub(crate) first: Vec<f64>,
    /// Row by row.
    pub(crate) transition: Vec<f64>,
}

/// Whether so many tokens are enough for a second maximisation.
fn enough(tokens: usize) -> bool {
    tokens > ENOUGH * FIRST_TOKENS
}

/// A posterior with more ridge functions, whose weights are zero yet, where the sampled tokens are enough for them.
pub(crate) fn widened(posterior: &Posterior, sample: &Keyed) -> Result<Posterior> {
    let Basis::Whitened { whitening, ridges, rank } = &posterior.basis else { return Ok(posterior.clone()) };
    let (tokens, width) = (sample.sequences.tokens(), posterior.basis.len());
    let more = RIDGES.saturating_sub(width - rank);
    if more == 0 || !enough(tokens) {
        return Ok(posterior.clone());
    }
    let k = sample.sequences.k();
    let scores: Vec<&[f64]> = sample.sequences.iter().collect();
    let mut whitened = Vec::new();
    posterior.basis.evaluate(tokens, &columns(k, &scores), &mut whitened);
    whitened.truncate(tokens * rank);
    let Basis::Whitened { ridges: added, .. } = Basis::fit(tokens, &whitened, more)? else {
        return Ok(posterior.clone());
    };
    // Whitened again they may have fewer directions: then the functions do not fit.
    if added.len() != more * (rank + 1) {
        return Ok(posterior.clone());
    }
    let ridges = [ridges.as_slice(), &added].concat();
    let none = vec![0.0; more];
    let weights = posterior.weights.chunks_exact(width + 1).flat_map(|row| [row, &none].concat()).collect();
    Ok(Posterior { basis: Basis::Whitened { whitening: whitening.clone(), ridges, rank: *rank }, weights })
}

/// What the ridge functions of a basis are made of.
fn bends(basis: &Basis) -> &[f64] {
    match basis {
        Basis::Whitened { ridges, .. } => ridges,
        Basis::Softmax(_) => &[],
    }
}

/// The scores of all tokens, in columns.
fn columns(k: usize, sequences: &[&[f64]]) -> Vec<f64> {
    let of =
        |state: usize| sequences.iter().flat_map(move |scores| scores[state..].iter().step_by(k).copied());
    (0..k).flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::lab::{ChainPopulation, ChainSetting};
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    #[test]
    fn gradient_matches_finite_differences() -> Result<()> {
        let setting = ChainSetting { lengths: [1, 6], ..ChainSetting::new(3, 1.5) };
        let population = ChainPopulation::draw(&setting, 1)?;
        let (sequences, _) = population.sequences(90, &mut Pcg64::seed_from_u64(2))?;
        let keyed = Keyed { keys: (0..90).collect(), sequences };
        let states = population.model().states();
        let scores: Vec<&[f64]> = keyed.sequences.iter().collect();
        let basis = Basis::fit(keyed.sequences.tokens(), &columns(3, &scores), 2)?;
        let likelihood = Likelihood::new(states, &keyed, &basis);
        let evaluate = |point: &[f64]| {
            let mut means = likelihood.means_at(point);
            likelihood.value_and_gradient(&likelihood.chunks, point, &mut means, [1.0, 3e-5])
        };
        let length = 3 * 6 + 2 * 4 + 3 * 3 + 3;
        let point: Vec<f64> = (0..length).map(|i| 0.8 * (i as f64 * 0.7).sin()).collect();
        let (_, gradient) = evaluate(&point);
        assert_eq!(gradient.len(), length);
        for i in 0..length {
            let at = |step: f64| {
                let mut moved = point.clone();
                moved[i] += step;
                evaluate(&moved).0
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - gradient[i]).abs() < 1e-8, "{i}: {slope} {}", gradient[i]);
        }
        Ok(())
    }
}
