//! Potentials in the order in which messages are passed along them.

use super::chain::Paths;
use crate::numeric::linalg::{largest, log_sum_exp_of};

/// Below this sum of scaled potentials, terms that underflowed may matter and logarithms are summed one by one.
const SAFE: f64 = 1e-250;

/// States that one tile of potentials leads to: numbers that a processor multiplies together.
pub(super) const TILE: usize = 4;

/// Potentials by incoming, then by outgoing state.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kernel {
    k: usize,
    pub(super) logs: Vec<f64>,
    /// The largest of each outgoing state.
    scale: Vec<f64>,
    /// `exp(log - scale)`.
    scaled: Vec<f64>,
    /// The largest of all.
    pub(super) largest: f64,
    /// `exp(log - largest)`.
    pub(super) exponentials: Vec<f64>,
    /// The same in tiles of so many outgoing states, by incoming state in each; zero beyond the last.
    tiles: Vec<[f64; TILE]>,
}

impl Kernel {
    pub(super) fn new(k: usize, logs: Vec<f64>) -> Self {
        let scale: Vec<f64> = (0..k)
            .map(|b| (0..k).map(|a| logs[a * k + b]).fold(f64::NEG_INFINITY, f64::max))
            .map(|scale| if scale.is_finite() { scale } else { 0.0 })
            .collect();
        let scaled = (0..k * k).map(|at| (logs[at] - scale[at % k]).exp()).collect();
        let largest = largest(&logs);
        let exponentials: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
        let cell = |a: usize, b: usize| if b < k { exponentials[a * k + b] } else { 0.0 };
        let tile = |at: usize| std::array::from_fn(|lane| cell(at % k, at / k * TILE + lane));
        let tiles = (0..k.div_ceil(TILE) * k).map(tile).collect();
        Self { k, scale, scaled, largest, exponentials, tiles, logs }
    }

    /// Passes a message on; `incoming` is used up.
    pub(super) fn step(&self, incoming: &mut [f64], out: &mut [f64], paths: Paths) {
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

    /// `out_b = sum_a incoming_a exp(log_ab - largest)`; returns the largest of them.
    #[inline(always)]
    pub(super) fn multiply(&self, incoming: &[f64], out: &mut [f64]) -> f64 {
        let mut top = [0.0_f64; TILE];
        for (tiles, out) in self.tiles.chunks_exact(self.k).zip(out.chunks_mut(TILE)) {
            let mut sums = [0.0; TILE];
            for (x, tile) in incoming.iter().zip(tiles) {
                for lane in 0..TILE {
                    sums[lane] += x * tile[lane];
                }
            }
            for lane in 0..TILE {
                top[lane] = if sums[lane] > top[lane] { sums[lane] } else { top[lane] };
            }
            out.copy_from_slice(&sums[..out.len()]);
        }
        top.into_iter().fold(0.0, f64::max)
    }

    /// Whether some state that is not ruled out may lead to `b`.
    pub(super) fn reaches(&self, possible: impl Fn(usize) -> bool, b: usize) -> bool {
        (0..self.k).any(|a| possible(a) && self.logs[a * self.k + b] > f64::NEG_INFINITY)
    }
}

pub(super) fn add(a: &[f64], b: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (a, b))| *out = a + b);
}
