//! The model that the data themselves suggest: calibrated emissions, and transitions as they occur.

use super::chain::{Chain, Paths};
use super::likelihood::{Likelihood, Parameters, Start, widened};
use super::messages::Messages;
use super::pooled::Pool;
use super::sample::Keyed;
use crate::error::Result;
use crate::features::{Basis, FeatureMap, Posterior};
use crate::numeric::golden_section;
use crate::numeric::linalg::softmax;
use crate::settings::chain_fit::{HELD_OUT, SMALLEST};
use crate::settings::temperature::{RANGE, STEPS};

/// Tokens that are calibrated at a time.
const CHUNK: usize = 248;

/// A chain whose emission scores are the seed model's, calibrated without labels, and whose transitions are those that the data
/// have: unsupervised re-estimation of the seed model.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Adapted {
    chain: Chain,
    /// Absent in the seed model itself.
    emission: Option<Emission>,
    /// The states that the emission takes as one, where there are such.
    pool: Option<Pool>,
}

/// `b (log q(y | x_t) - log pi) - c`.
#[derive(Debug, Clone, serde::Serialize)]
struct Emission {
    posterior: Posterior,
    prior: Vec<f64>,
    /// `b`: what is fitted is too sharp for other tokens.
    sharpness: f64,
    /// `c`, for each state: what makes it the logarithm of a density again.
    offset: Vec<f64>,
}

impl Adapted {
    /// The seed model itself.
    pub(crate) fn seed(chain: &Chain) -> Self {
        Self { chain: chain.clone(), emission: None, pool: None }
    }

    /// What makes the sampled sequences most likely, from a feature map's posteriors of the token itself and the best of these
    /// starts on.
    pub(crate) fn fit(
        states: &[String],
        map: &FeatureMap,
        starts: &[Start],
        sample: &Keyed,
    ) -> Result<Option<Self>> {
        let FeatureMap::Posterior { views, .. } = map else { return Ok(None) };
        let Basis::Whitened { .. } = &views[1].basis else { return Ok(None) };
        let (fitted, held_out) = sample.split(HELD_OUT)?;
        let posterior = widened(&views[1], &fitted)?;
        let [of_fitted, of_held_out] =
            [&fitted, &held_out].map(|keyed| Likelihood::new(states, keyed, &posterior.basis));
        let end = of_fitted.maximise(&posterior, starts, &of_held_out);
        let log = |p: &f64| p.max(SMALLEST).ln();
        let initial = end.first.iter().map(log).collect();
        let chain = Chain::new(states.to_vec(), Some(initial), end.transition.iter().map(log).collect())?;
        let Parameters { posterior, prior, .. } = end;
        let offset = vec![0.0; states.len()];
        let mut emission = Emission { posterior, prior, sharpness: 1.0, offset };
        let scores: Vec<Vec<f64>> = held_out.sequences.iter().map(|scores| emission.scores(scores)).collect();
        if !scores.is_empty() {
            let likelihood = |log: f64| -> f64 {
                let offset = log_means(states.len(), &scores, log.exp());
                let sharpened = |at: (usize, &f64)| log.exp() * at.1 - offset[at.0 % offset.len()];
                let of = |scores: &Vec<f64>| scores.iter().enumerate().map(sharpened).collect::<Vec<f64>>();
                scores.iter().map(|scores| chain.messages(&of(scores), Paths::All).log_z).sum()
            };
            emission.sharpness = golden_section(RANGE, STEPS, likelihood).exp();
            emission.offset = log_means(states.len(), &scores, emission.sharpness);
        }
        Ok(Some(Self { chain, emission: Some(emission), pool: None }))
    }

    /// The model of all states of the seed, where this is one of pooled states.
    pub(crate) fn of_all(self, chain: &Chain, pool: Pool) -> Result<Self> {
        match self.emission {
            None => Ok(Self::seed(chain)),
            emission => {
                let chain = pool.chain_of_all(chain.states(), &self.chain)?;
                Ok(Self { chain, emission, pool: Some(pool) })
            }
        }
    }

    /// Whether it is another model than the seed.
    pub(crate) fn is_new(&self) -> bool {
        self.emission.is_some()
    }

    /// The log probabilities of first states and of transitions.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The emission scores of some tokens, from the seed model's, `k` numbers a token.
    pub fn emission(&self, scores: &[f64]) -> Vec<f64> {
        match (&self.emission, &self.pool) {
            (Some(emission), Some(pool)) => pool.shared_out(scores, &emission.scores(&pool.emission(scores))),
            (Some(emission), None) => emission.scores(scores),
            (None, _) => scores.to_vec(),
        }
    }

    /// The labelling with the largest score, from the seed model's emission scores.
    pub fn viterbi(&self, scores: &[f64]) -> Vec<usize> {
        self.chain.viterbi(&self.emission(scores))
    }

    /// The posterior of every token, from the seed model's emission scores, `k` numbers a token.
    pub fn posteriors(&self, scores: &[f64]) -> Vec<f64> {
        let emission = self.emission(scores);
        self.messages(&emission).posteriors()
    }

    /// The messages of a sequence with the adapted emission scores.
    pub(crate) fn messages(&self, emission: &[f64]) -> Messages {
        self.chain.messages(emission, Paths::All)
    }

    /// The posterior of each token by itself, from the adapted emission scores.
    pub(crate) fn alone(&self, emission: &[f64]) -> Vec<f64> {
        let k = self.chain.k();
        let log_prior = |state: usize| match (&self.emission, &self.pool) {
            (Some(emission), Some(pool)) => pool.log_prior(&emission.prior, state),
            (Some(emission), None) => emission.prior[state].ln(),
            (None, _) => 0.0,
        };
        let log_prior: Vec<f64> = (0..k).map(log_prior).collect();
        let logit = |token: &[f64]| -> Vec<f64> {
            token.iter().zip(&log_prior).map(|(g, prior)| g + prior).collect()
        };
        emission.chunks_exact(k).flat_map(|token| softmax(&logit(token))).collect()
    }
}

impl Emission {
    fn scores(&self, scores: &[f64]) -> Vec<f64> {
        let k = self.prior.len();
        let (mut out, mut columns, mut work, mut q) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for tokens in scores.chunks(CHUNK * k) {
            let n = tokens.len() / k;
            columns.clear();
            (0..k).for_each(|state| columns.extend(tokens[state..].iter().step_by(k)));
            self.posterior.evaluate(n, &columns, &mut work, &mut q);
            let score = |at: usize| (q[at % k * n + at / k].max(f64::MIN_POSITIVE) / self.prior[at % k]).ln();
            out.extend((0..n * k).map(|at| self.sharpness * score(at) - self.offset[at % k]));
        }
        out
    }
}

/// For each state the logarithm of the mean of `exp(b score)` over tokens.
fn log_means(k: usize, scores: &[Vec<f64>], sharpness: f64) -> Vec<f64> {
    let mut sums = vec![0.0; k];
    let mut tokens = 0.0;
    for token in scores.iter().flat_map(|scores| scores.chunks_exact(k)) {
        sums.iter_mut().zip(token).for_each(|(sum, score)| *sum += (sharpness * score).exp());
        tokens += 1.0;
    }
    sums.iter().map(|sum: &f64| (sum / tokens).max(f64::MIN_POSITIVE).ln()).collect()
}
