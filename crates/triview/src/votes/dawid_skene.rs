//! Dawid and Skene's model of annotators (1979) and the EM algorithm that fits it.
//!
//! Given an item's class `y`, annotators vote independently of each other, annotator `a` for class `c` with probability
//! `C_a[c, y]`. So with the class prior `pi`
//!
//! ```text
//!     p(votes of an item) = sum_j pi_j prod_a C_a[vote of a, j].
//! ```

use super::cast::Votes;
use rayon::prelude::*;

/// Items that a thread takes at a time.
const ITEMS: usize = 2048;
/// Factors that are multiplied before they are scaled: of 1e-30 each, they are above the smallest number there is.
const FACTORS: usize = 8;
/// No probability is smaller than this, so that no item is ever impossible.
const FLOOR: f64 = 1e-30;

/// A class prior and the confusion matrix of each annotator.
#[derive(Debug, Clone, PartialEq)]
pub struct Crowd {
    /// `pi`.
    pub prior: Vec<f64>,
    /// `C_a[c, j]` at `(a * k + c) * k + j`: the probability that annotator `a` votes for `c` where the class is `j`.
    pub confusion: Vec<f64>,
}

impl Crowd {
    /// What annotator `a`'s vote for `c` says of each class: `C_a[c, j]` for each `j`.
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
        self.expect(votes).0
    }

    /// The log-likelihood of the votes.
    pub fn log_likelihood(&self, votes: &Votes) -> f64 {
        self.expect(votes).1
    }

    fn expect(&self, votes: &Votes) -> (Vec<f64>, f64) {
        let k = self.prior.len();
        let mut posteriors = vec![0.0; votes.items() * k];
        let parts: Vec<f64> = posteriors
            .par_chunks_mut(ITEMS * k)
            .enumerate()
            .map(|(chunk, out)| {
                let of_item = |(at, out)| self.expect_item(votes.of_item(chunk * ITEMS + at), out);
                out.chunks_exact_mut(k).enumerate().map(of_item).sum()
            })
            .collect();
        (posteriors, parts.iter().sum())
    }

    /// The posterior of an item with these ballots, and its log-likelihood. Products are cheaper than sums of logarithms.
    pub(crate) fn expect_item(&self, ballots: &[u32], out: &mut [f64]) -> f64 {
        out.copy_from_slice(&self.prior);
        let mut log = 0.0;
        for ballots in ballots.chunks(FACTORS) {
            for &ballot in ballots {
                let factors = self.of_ballot(ballot as usize);
                out.iter_mut().zip(factors).for_each(|(p, factor)| *p *= factor);
            }
            let total: f64 = out.iter().sum();
            out.iter_mut().for_each(|p| *p = (*p / total).max(f64::MIN_POSITIVE));
            log += total.ln();
        }
        log
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

    /// So many votes for each class, shared out as all annotators together vote where the class has these posteriors.
    pub fn pooled(votes: &Votes, posteriors: &[f64], strength: f64) -> Self {
        let k = votes.k();
        let mut counts = vec![0.0; k * k];
        for ballot in 0..votes.annotators() * k {
            let row = &mut counts[ballot % k * k..(ballot % k + 1) * k];
            add_items(votes, posteriors, ballot, row);
        }
        // One vote spread evenly: what was never seen is possible.
        counts.iter_mut().for_each(|count| *count += 1.0 / k as f64);
        normalise_columns(&mut counts, k);
        counts.iter_mut().for_each(|share| *share *= strength);
        Self { counts }
    }

    /// The logarithm of the prior of a crowd, up to a constant.
    fn log_density(&self, crowd: &Crowd) -> f64 {
        let of_annotator = |cells: &[f64]| -> f64 {
            cells.iter().zip(&self.counts).filter(|(_, s)| **s > 0.0).map(|(cell, s)| s * cell.ln()).sum()
        };
        crowd.confusion.par_chunks(self.counts.len()).map(of_annotator).collect::<Vec<f64>>().iter().sum()
    }

    /// The crowd that items of these posteriors make most likely: the M-step.
    pub fn maximise(&self, votes: &Votes, posteriors: &[f64]) -> Crowd {
        let k = votes.k();
        let mut confusion = vec![0.0; votes.annotators() * k * k];
        confusion.par_chunks_mut(k * k).enumerate().for_each(|(annotator, cells)| {
            cells.copy_from_slice(&self.counts);
            for (class, row) in cells.chunks_exact_mut(k).enumerate() {
                add_items(votes, posteriors, annotator * k + class, row);
            }
            normalise_columns(cells, k);
        });
        let parts: Vec<Vec<f64>> = posteriors
            .par_chunks(ITEMS * k)
            .map(|items| {
                let mut sum = vec![0.0; k];
                items.chunks_exact(k).for_each(|item| add(&mut sum, item));
                sum
            })
            .collect();
        let mut prior = vec![0.0; k];
        parts.iter().for_each(|part| add(&mut prior, part));
        let total: f64 = prior.iter().sum();
        prior.iter_mut().for_each(|p| *p = (*p / total).max(FLOOR));
        Crowd { prior, confusion }
    }
}

/// Adds the posteriors of the items that a ballot was cast for.
fn add_items(votes: &Votes, posteriors: &[f64], ballot: usize, sum: &mut [f64]) {
    let k = sum.len();
    for &item in votes.of_ballot(ballot) {
        add(sum, &posteriors[item as usize * k..(item as usize + 1) * k]);
    }
}

fn add(sum: &mut [f64], more: &[f64]) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// Makes each column of a matrix sum to one; a column without votes is even.
fn normalise_columns(cells: &mut [f64], k: usize) {
    for j in 0..k {
        let total: f64 = (0..k).map(|c| cells[c * k + j]).sum();
        for c in 0..k {
            let cell = &mut cells[c * k + j];
            *cell = if total > 0.0 { (*cell / total).max(FLOOR) } else { 1.0 / k as f64 };
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
        Self { iterations: 500, tolerance: 1e-7 }
    }
}

/// A crowd that EM ended at.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The class prior and the confusion matrices.
    pub crowd: Crowd,
    /// The class posteriors of each item under it, item by item.
    pub posteriors: Vec<f64>,
    /// The log-likelihood of the votes.
    pub log_likelihood: f64,
    /// What EM maximises: the log-likelihood, and where there is smoothing the logarithm of its prior.
    pub objective: f64,
    /// Iterations.
    pub iterations: usize,
    /// Whether the last one gained next to nothing.
    pub converged: bool,
}

/// Climbs the likelihood of the votes from a crowd, to the nearest top of `log p(votes) + log p(crowd)`. No step goes down.
///
/// The EM algorithm of Dawid and Skene (1979). Where it ends depends on where it starts: [`majority`] is the usual start.
pub fn dawid_skene(votes: &Votes, start: Crowd, smoothing: &Smoothing, stop: Stop) -> Fitted {
    let least = stop.tolerance * votes.len() as f64;
    let mut crowd = start;
    let (mut posteriors, mut log_likelihood) = crowd.expect(votes);
    let mut objective = log_likelihood + smoothing.log_density(&crowd);
    let (mut iterations, mut converged) = (0, false);
    while iterations < stop.iterations && !converged {
        crowd = smoothing.maximise(votes, &posteriors);
        (posteriors, log_likelihood) = crowd.expect(votes);
        let next = log_likelihood + smoothing.log_density(&crowd);
        iterations += 1;
        converged = next - objective < least;
        objective = next;
    }
    Fitted { crowd, posteriors, log_likelihood, objective, iterations, converged }
}

/// The share of an item's votes that each class has, item by item; of an item without votes, of all votes.
pub fn shares(votes: &Votes) -> Vec<f64> {
    let k = votes.k();
    let mut all = vec![0.0; k];
    (0..votes.annotators() * k).for_each(|ballot| all[ballot % k] += votes.of_ballot(ballot).len() as f64);
    all.iter_mut().for_each(|share| *share /= votes.len().max(1) as f64);
    let mut shares = vec![0.0; votes.items() * k];
    for (item, shares) in shares.chunks_exact_mut(k).enumerate() {
        let ballots = votes.of_item(item);
        if ballots.is_empty() {
            shares.copy_from_slice(&all);
        }
        ballots.iter().for_each(|&ballot| shares[ballot as usize % k] += 1.0 / ballots.len() as f64);
    }
    shares
}

/// The crowd that the votes' majority suggests: each class as far an item's as it has its votes.
pub fn majority(votes: &Votes, smoothing: &Smoothing) -> Crowd {
    smoothing.maximise(votes, &shares(votes))
}
