//! Forward-backward: what is before and after each token says of its state.
//!
//! Messages are passed on as numbers whose largest is one, so that a token costs products and one division; the logarithms
//! of what was divided by make the log partition. Where numbers so far apart meet that some of them underflowed, the sequence is done
//! again in logarithms throughout: nothing is lost, whatever the potentials are.

use super::chain::{Chain, Paths};
use super::kernel::add;
use crate::numeric::columns::{self, exp_in_place};
use crate::numeric::linalg::{Product, largest, log_sum_exp, log_sum_exp_of};
use std::borrow::Cow;

/// A sum of numbers of which none is above one is exact above this: what underflowed in its terms, even in products of two such
/// sums, is less than the last digit.
const SAFE: f64 = 1e-120;

/// What the tokens before and after each one say of its state.
#[derive(Debug, Clone, PartialEq)]
pub struct Messages {
    k: usize,
    form: Form,
    /// `sum over y_1 .. y_{t-1}` of the scores up to the transition to `y_t`, without the token's own emission.
    past: Vec<f64>,
    /// The token's own emission.
    own: Vec<f64>,
    /// `sum over y_{t+1} .. y_T` of the scores from the transition from `y_t` on.
    future: Vec<f64>,
    /// The logarithm of the sum over all labellings (or the score of the best); minus infinity where none is possible.
    pub log_z: f64,
}

/// How messages are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As numbers, the largest of a token's being one.
    Scaled,
    /// As logarithms, the largest of a token's message being zero; emissions as they are.
    Logs,
}

impl Messages {
    /// As numbers; nothing where one may have been lost.
    pub(super) fn scaled(chain: &Chain, emission: &[f64]) -> Option<Self> {
        columns::dispatch(
            #[inline(always)]
            || Self::pass(chain, emission),
        )
    }

    #[inline(always)]
    fn pass(chain: &Chain, emission: &[f64]) -> Option<Self> {
        let k = chain.k();
        let length = emission.len() / k;
        let mut own = vec![0.0; emission.len()];
        let mut log_z = chain.forward.largest * (length - 1) as f64;
        for (own, scores) in own.chunks_exact_mut(k).zip(emission.chunks_exact(k)) {
            let top = largest(scores);
            log_z += top;
            own.iter_mut().zip(scores).for_each(|(own, score)| *own = score - top);
        }
        exp_in_place(&mut own);
        let mut past = vec![0.0; emission.len()];
        let mut future = vec![0.0; emission.len()];
        let mut incoming = vec![0.0; k];

        let top = largest(chain.initial());
        past[..k].iter_mut().zip(chain.initial()).for_each(|(past, log)| *past = (log - top).exp());
        let lost = |(past, log): (&f64, &f64)| *past < SAFE && *log > f64::NEG_INFINITY;
        if past.iter().zip(chain.initial()).any(lost) {
            return None;
        }
        log_z += top;
        let mut scale = Product::none();
        for t in 1..length {
            let (before, after) = past.split_at_mut(t * k);
            let before = &before[(t - 1) * k..];
            multiply(before, &own[(t - 1) * k..t * k], &mut incoming);
            let out = &mut after[..k];
            let top = chain.forward.multiply(&incoming, out);
            if top < SAFE {
                return None;
            }
            scale.times(top);
            out.iter_mut().for_each(|x| *x /= top);
            let lost = |b: usize| out[b] < SAFE && chain.forward.reaches(|a| before[a] > 0.0, b);
            if (0..k).any(lost) {
                return None;
            }
        }
        let mut total: f64 = 0.0;
        future[(length - 1) * k..].fill(1.0);
        for t in (0..length).rev() {
            if t + 1 < length {
                let (before, after) = future.split_at_mut((t + 1) * k);
                multiply(&after[..k], &own[(t + 1) * k..(t + 2) * k], &mut incoming);
                let out = &mut before[t * k..];
                let top = chain.backward.multiply(&incoming, out);
                if top < SAFE {
                    return None;
                }
                out.iter_mut().for_each(|x| *x /= top);
                let lost = |b: usize| out[b] < SAFE && chain.backward.reaches(|a| after[a] > 0.0, b);
                if (0..k).any(lost) {
                    return None;
                }
            }
            let at = t * k..(t + 1) * k;
            let labellings = past[at.clone()].iter().zip(&own[at.clone()]).zip(&future[at]);
            let sum: f64 = labellings.map(|((past, own), future)| past * own * future).sum();
            if sum < SAFE {
                return None;
            }
            if t + 1 == length {
                total = sum;
            }
        }
        log_z += scale.ln() + total.ln();
        Some(Self { k, form: Form::Scaled, past, own, future, log_z })
    }

    /// In logarithms throughout.
    pub(super) fn in_logs(chain: &Chain, emission: &[f64], paths: Paths) -> Self {
        let k = chain.k();
        let length = emission.len() / k;
        let mut past = vec![0.0; emission.len()];
        let mut future = vec![0.0; emission.len()];
        let mut work = vec![0.0; k];
        past[..k].copy_from_slice(chain.initial());
        let mut log_scale = centre(&mut past[..k]);
        for t in 1..length {
            let (before, after) = past.split_at_mut(t * k);
            add(&before[(t - 1) * k..], &emission[(t - 1) * k..t * k], &mut work);
            let out = &mut after[..k];
            chain.forward.step(&mut work, out, paths);
            log_scale += centre(out);
        }
        for t in (0..length - 1).rev() {
            let (before, after) = future.split_at_mut((t + 1) * k);
            add(&after[..k], &emission[(t + 1) * k..(t + 2) * k], &mut work);
            let out = &mut before[t * k..];
            chain.backward.step(&mut work, out, paths);
            centre(out);
        }
        add(&past[(length - 1) * k..], &emission[(length - 1) * k..], &mut work);
        let log_z = log_scale
            + match paths {
                Paths::All => log_sum_exp(&work),
                Paths::Best => largest(&work),
            };
        Self { k, form: Form::Logs, past, own: emission.to_vec(), future, log_z }
    }

    /// The number of states.
    pub(super) fn k(&self) -> usize {
        self.k
    }

    /// The logarithm of what is before each token says of its states, shifted so that its largest number is zero.
    pub fn past(&self) -> Cow<'_, [f64]> {
        self.logs(&self.past)
    }

    /// The same of what is after it.
    pub fn future(&self) -> Cow<'_, [f64]> {
        self.logs(&self.future)
    }

    fn logs<'a>(&self, message: &'a [f64]) -> Cow<'a, [f64]> {
        match self.form {
            Form::Scaled => message.iter().map(|x| x.ln()).collect(),
            Form::Logs => Cow::Borrowed(message),
        }
    }

    /// The posterior `p(y_t | x)` of every token under the model, where [`Paths::All`] were taken.
    pub fn posteriors(&self) -> Vec<f64> {
        let parts = self.past.iter().zip(&self.own).zip(&self.future);
        match self.form {
            Form::Scaled => {
                let mut out: Vec<f64> = parts.map(|((past, own), future)| past * own * future).collect();
                for token in out.chunks_exact_mut(self.k) {
                    let scale = 1.0 / token.iter().sum::<f64>();
                    token.iter_mut().for_each(|p| *p *= scale);
                }
                out
            }
            Form::Logs => {
                let mut out: Vec<f64> = parts.map(|((past, own), future)| past + own + future).collect();
                for token in out.chunks_exact_mut(self.k) {
                    let total = log_sum_exp(token);
                    token.iter_mut().for_each(|p| *p = (*p - total).exp());
                }
                out
            }
        }
    }

    /// Visits the posterior `p(y_{t-1}, y_t | x)` of every token `t` but the first with the one before it, row by row, where
    /// [`Paths::All`] were taken with this chain.
    pub fn pairs(&self, chain: &Chain, mut visit: impl FnMut(usize, &[f64])) {
        let k = self.k;
        let mut pairs = vec![0.0; k * k];
        for t in 1..self.past.len() / k {
            let (before, own) = ((t - 1) * k, t * k);
            match self.form {
                Form::Scaled => {
                    let mut total = 0.0;
                    for (a, row) in pairs.chunks_exact_mut(k).enumerate() {
                        let left = self.past[before + a] * self.own[before + a];
                        let potentials = &chain.forward.exponentials[a * k..(a + 1) * k];
                        let right = self.own[own..own + k].iter().zip(&self.future[own..own + k]);
                        for ((pair, potential), (own, future)) in row.iter_mut().zip(potentials).zip(right) {
                            *pair = left * potential * (own * future);
                        }
                        total += row.iter().sum::<f64>();
                    }
                    let scale = 1.0 / total;
                    pairs.iter_mut().for_each(|p| *p *= scale);
                }
                Form::Logs => {
                    let log = |at: usize| {
                        let (a, b) = (before + at / k, own + at % k);
                        self.past[a] + self.own[a] + chain.forward.logs[at] + self.own[b] + self.future[b]
                    };
                    let total = log_sum_exp_of(k * k, log);
                    (0..k * k).for_each(|at| pairs[at] = (log(at) - total).exp());
                }
            }
            visit(t, &pairs);
        }
    }
}

#[inline(always)]
fn multiply(a: &[f64], b: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (a, b))| *out = a * b);
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
