//! Dawid and Skene's model of annotators (1979) and the EM algorithm that fits it.
//!
//! Given an item's class `y`, annotators vote independently of each other, annotator `a` for class `c` with probability
//! `C_a[c, y]`. So with the class prior `pi`
//!
//! ```text
//!     p(votes of an item) = sum_j pi_j prod_a C_a[vote of a, j].
//! ```

use super::cast::Votes;
use super::expected::{Expect, ExpectedCounts, posteriors, width};
use crate::interrupt;
use crate::numeric::linalg::Product;
use crate::settings::em::{FLOOR, SAME};

/// A class prior and the confusion matrix of each annotator.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Crowd {
    /// `pi`.
    pub prior: Vec<f64>,
    /// `C_a[c, j]` at `(a * k + c) * k + j`: the probability that annotator `a` votes for `c` where the class is `j`.
    pub confusion: Vec<f64>,
}

impl Crowd {
    /// What a vote says of each class: `C_a[c, j]` for each `j`.
    pub(crate) fn of_ballot(&self, ballot: usize) -> &[f64] {
        let k = self.prior.len();
        &self.confusion[ballot * k..(ballot + 1) * k]
    }

    /// `C_a`, row by row: one row a vote, one column a class.
    pub fn of_annotator(&self, annotator: usize) -> &[f64] {
        let cells = self.prior.len().pow(2);
        &self.confusion[annotator * cells..(annotator + 1) * cells]
    }

    /// The class posteriors of each item, `p(y | votes)`, item by item: the E-step. An item without votes has the prior.
    pub fn posteriors(&self, votes: &Votes) -> Vec<f64> {
        posteriors(votes, self)
    }

    /// The log-likelihood of the votes.
    pub fn log_likelihood(&self, votes: &Votes) -> f64 {
        ExpectedCounts::of(votes, self).log_likelihood
    }

    /// Puts class `order[j]` in place `j`.
    pub(crate) fn reorder(&self, order: &[usize]) -> Self {
        let cells = self.confusion.chunks_exact(order.len());
        Self {
            prior: order.iter().map(|&j| self.prior[j]).collect(),
            confusion: cells.flat_map(|row| order.iter().map(|&j| row[j])).collect(),
        }
    }
}

/// What is added to the counts that confusion matrices are made from, `s_c,j` votes for `c` where the class is `j` for every
/// annotator: the logarithm of a Dirichlet prior. Row by row, one row a vote.
#[derive(Debug, Clone, PartialEq)]
pub struct Smoothing {
    counts: Vec<f64>,
}

impl Smoothing {
    /// None: the most likely crowd, whatever it is.
    pub fn none(k: usize) -> Self {
        Self { counts: vec![0.0; k * k] }
    }

    /// So many votes for each class, shared out as all annotators together vote where the majority says that it is the class.
    pub fn pooled(votes: &Votes, strength: f64) -> Self {
        Self::shared_out(&by_majority(votes), strength)
    }

    /// The same from the counts that the majority makes.
    pub(crate) fn shared_out(by_majority: &ExpectedCounts, strength: f64) -> Self {
        let k = by_majority.classes.len();
        let mut counts = vec![1.0 / k as f64; k * k];
        for (ballot, row) in by_majority.votes.chunks_exact(k).enumerate() {
            counts[ballot % k * k..(ballot % k + 1) * k].iter_mut().zip(row).for_each(|(sum, n)| *sum += n);
        }
        normalise_columns(&mut counts, k);
        counts.iter_mut().for_each(|share| *share *= strength);
        Self { counts }
    }

    /// `s`, row by row.
    pub(crate) fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// The logarithm of the prior of a crowd, up to a constant.
    fn log_density(&self, crowd: &Crowd) -> f64 {
        if self.counts.iter().all(|s| *s == 0.0) {
            return 0.0;
        }
        let of_annotator = |cells: &[f64]| -> f64 {
            cells.iter().zip(&self.counts).filter(|(_, s)| **s > 0.0).map(|(cell, s)| s * cell.ln()).sum()
        };
        crowd.confusion.chunks_exact(self.counts.len()).map(of_annotator).sum()
    }

    /// The crowd that makes expected counts most likely: the M-step.
    pub(crate) fn maximise(&self, tally: &ExpectedCounts) -> Crowd {
        let k = tally.classes.len();
        let mut confusion = tally.votes.clone();
        for cells in confusion.chunks_exact_mut(k * k) {
            cells.iter_mut().zip(&self.counts).for_each(|(cell, s)| *cell += s);
            normalise_columns(cells, k);
        }
        let total: f64 = tally.classes.iter().sum();
        Crowd { prior: tally.classes.iter().map(|n| (n / total).max(FLOOR)).collect(), confusion }
    }
}

/// Makes each column of a matrix sum to one; a column without votes is even.
pub(crate) fn normalise_columns(cells: &mut [f64], k: usize) {
    for j in 0..k {
        let total: f64 = (0..k).map(|c| cells[c * k + j]).sum();
        let scale = 1.0 / total;
        for c in 0..k {
            let cell = &mut cells[c * k + j];
            *cell = if total > 0.0 { (*cell * scale).max(FLOOR) } else { 1.0 / k as f64 };
        }
    }
}

/// When EM stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Iterations at the most.
    pub iterations: usize,
    /// When an iteration gains less than this of the objective, for each vote.
    pub tolerance: f64,
}

impl Default for Stop {
    fn default() -> Self {
        Self { iterations: 500, tolerance: 1e-6 }
    }
}

/// A crowd that EM ended at.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The class prior and the confusion matrices.
    pub crowd: Crowd,
    /// The log-likelihood of the votes.
    pub log_likelihood: f64,
    /// What EM maximises: the log-likelihood, and where there is smoothing the logarithm of its prior.
    pub objective: f64,
    /// Iterations.
    pub iterations: usize,
    /// Whether the last one gained next to nothing.
    pub converged: bool,
    /// Expected counts under the crowd.
    pub(crate) tally: ExpectedCounts,
}

impl Fitted {
    /// Whether it is on the way to where another ended: no higher, and next to no vote is of another class.
    pub(crate) fn nears(&self, other: &Fitted) -> bool {
        let counts = self.tally.votes.iter().zip(&other.tally.votes);
        let moved: f64 = counts.map(|(own, other)| 0.5 * (own - other).abs()).sum();
        self.objective <= other.objective && moved < SAME * other.tally.votes.iter().sum::<f64>()
    }
}

/// Climbs the likelihood of the votes from a crowd, to the nearest top of `log p(votes) + log p(crowd)`. No step goes down.
///
/// The EM algorithm of Dawid and Skene (1979). Where it ends depends on where it starts: [`majority`] is the usual start.
/// [`Crowd::posteriors`] has what the fitted crowd says of each item.
pub fn dawid_skene(votes: &Votes, start: Crowd, smoothing: &Smoothing, stop: Stop) -> Fitted {
    climb(votes, start, smoothing, stop, |_| false)
}

/// The same, which also ends where the last fit is one to end at.
pub(crate) fn climb(
    votes: &Votes,
    start: Crowd,
    smoothing: &Smoothing,
    stop: Stop,
    ends: impl Fn(&Fitted) -> bool,
) -> Fitted {
    let least = stop.tolerance * votes.len() as f64;
    let at = |crowd: Crowd, iterations: usize, last: f64| {
        let tally = ExpectedCounts::of(votes, &crowd);
        let log_likelihood = tally.log_likelihood;
        let objective = log_likelihood + smoothing.log_density(&crowd);
        Fitted { crowd, log_likelihood, objective, iterations, converged: objective - last < least, tally }
    };
    let mut fitted = at(start, 0, f64::NEG_INFINITY);
    while fitted.iterations < stop.iterations && !fitted.converged && !ends(&fitted) {
        interrupt::check();
        fitted = at(smoothing.maximise(&fitted.tally), fitted.iterations + 1, fitted.objective);
    }
    fitted
}

/// The share of an item's votes that each class has; of an item without votes, of all votes.
struct Shares {
    of_all: Vec<f64>,
}

impl Expect for Shares {
    fn expect<const K: usize>(&self, _item: usize, ballots: &[u32], out: &mut [f64], _: &mut Product) {
        let k = width::<K>(out.len());
        if ballots.is_empty() {
            out.copy_from_slice(&self.of_all);
            return;
        }
        let share = 1.0 / ballots.len() as f64;
        out.fill(0.0);
        ballots.iter().for_each(|&ballot| out[ballot as usize % k] += share);
    }
}

fn share_of_all(votes: &Votes) -> Vec<f64> {
    let k = votes.k();
    let mut all = vec![0.0; k];
    let one = 1.0 / votes.len().max(1) as f64;
    votes.cast().iter().enumerate().for_each(|(ballot, n)| all[ballot % k] += f64::from(*n) * one);
    all
}

/// The share of an item's votes that each class has, item by item; of an item without votes, of all votes.
pub fn shares(votes: &Votes) -> Vec<f64> {
    posteriors(votes, &Shares { of_all: share_of_all(votes) })
}

/// Counts where each class is as far an item's as it has its votes.
pub(crate) fn by_majority(votes: &Votes) -> ExpectedCounts {
    ExpectedCounts::of(votes, &Shares { of_all: share_of_all(votes) })
}

/// The crowd that the votes' majority suggests: each class as far an item's as it has its votes.
pub fn majority(votes: &Votes, smoothing: &Smoothing) -> Crowd {
    smoothing.maximise(&by_majority(votes))
}
