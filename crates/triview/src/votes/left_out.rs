//! Posteriors that do not confirm themselves.
//!
//! An item's votes are among those that the confusion matrices were fitted to, so its posterior under them is too sure of
//! itself: with ten classes and 100 votes an annotator, EM is sure of 98% of the labels where 92% are right. So each item's
//! own part is taken out of the counts before they are used on it,
//!
//! ```text
//!     p_ij = pi_j prod_a (N_a[c, j] - p_ij + s_c,j) / (N_a[., j] - p_ij + s_j),   N_a[c, j] = sum of p_ij over a's votes for c,
//! ```
//!
//! over and over until it holds (known as CVB0: Asuncion et al. 2009). Gold counts as what it is, and is told what its votes say
//! of it all the same, without its own part: how good such posteriors are is seen there.

use super::cast::Votes;
use super::dawid_skene::{Fitted, Smoothing};
use super::expected::{Expect, ExpectedCounts, FACTORS, Known, certain, posteriors, width};
use crate::numeric::argmax;
use crate::numeric::linalg::Product;
use crate::settings::em::FLOOR;
use crate::settings::left_out::{CHANGE, ROUNDS};

/// What was found.
pub(crate) struct LeftOut {
    /// The class posteriors of each item by its votes, item by item.
    pub(crate) posteriors: Vec<f64>,
    /// Expected counts under them.
    pub(crate) tally: ExpectedCounts,
}

impl LeftOut {
    /// From the crowd that EM ended at.
    pub(crate) fn new(votes: &Votes, fitted: &Fitted, smoothing: &Smoothing) -> Self {
        let k = votes.k();
        let clamp = |known: &mut [f64]| {
            votes.golds().for_each(|[item, class]| certain(&mut known[item * k..(item + 1) * k], class));
        };
        let mut known = fitted.crowd.posteriors(votes);
        let mut tally = fitted.tally.clone();
        for _ in 0..ROUNDS {
            clamp(&mut known);
            known = posteriors(votes, &Without::new(&tally, smoothing, &known));
            let next = ExpectedCounts::of(votes, &Known(&known));
            let change = (next.right - tally.right).abs();
            tally = next;
            if change < CHANGE * votes.items() as f64 {
                break;
            }
        }
        if settle(votes, &fitted.crowd.posteriors(votes), &mut known) {
            tally = ExpectedCounts::of(votes, &Known(&known));
        }
        Self { posteriors: known, tally }
    }
}

/// Where the fitted crowd would give another label, the posterior becomes the mean of the two: its labels are right a little more
/// often, for all that it is too sure of them. Says whether there is any such item; gold is none, as the crowd has seen its class.
fn settle(votes: &Votes, fitted: &[f64], known: &mut [f64]) -> bool {
    let k = votes.k();
    let mut any = false;
    for (item, (own, fitted)) in known.chunks_exact_mut(k).zip(fitted.chunks_exact(k)).enumerate() {
        let differ = argmax(own.iter().copied()) != argmax(fitted.iter().copied());
        if differ && votes.gold(item).is_none() {
            own.iter_mut().zip(fitted).for_each(|(own, fitted)| *own = 0.5 * (*own + fitted));
            any = true;
        }
    }
    any
}

/// Counts, less what an item itself adds to them.
struct Without<'a> {
    tally: &'a ExpectedCounts,
    /// At `a * k + j`: items of class `j` that annotator `a` votes on, smoothing included.
    totals: Vec<f64>,
    smoothing: &'a [f64],
    known: &'a [f64],
}

impl<'a> Without<'a> {
    fn new(tally: &'a ExpectedCounts, smoothing: &'a Smoothing, known: &'a [f64]) -> Self {
        let (k, smoothing) = (tally.classes.len(), smoothing.counts());
        let of_class = |cells: &[f64], j: usize| (0..k).map(|c| cells[c * k + j]).sum::<f64>();
        let added: Vec<f64> = (0..k).map(|j| of_class(smoothing, j)).collect();
        let annotators = tally.votes.chunks_exact(k * k);
        let totals =
            annotators.flat_map(|cells| (0..k).map(|j| of_class(cells, j) + added[j]).collect::<Vec<f64>>());
        Self { tally, totals: totals.collect(), smoothing, known }
    }
}

impl Expect for Without<'_> {
    fn expect<const K: usize>(&self, item: usize, ballots: &[u32], out: &mut [f64], _: &mut Product) {
        let k = width::<K>(out.len());
        let (out, own) = (&mut out[..k], &self.known[item * k..(item + 1) * k]);
        (0..k).for_each(|j| out[j] = (self.tally.classes[j] - own[j]).max(FLOOR));
        for ballots in ballots.chunks(FACTORS) {
            for &ballot in ballots {
                let (ballot, class) = (ballot as usize, ballot as usize % k);
                let counts = &self.tally.votes[ballot * k..(ballot + 1) * k];
                let totals = &self.totals[(ballot - class)..][..k];
                let added = &self.smoothing[class * k..(class + 1) * k];
                for j in 0..k {
                    // Rounding leaves less than nothing of a count that was all the item's own.
                    let left = (counts[j] - own[j]).max(0.0) + added[j];
                    out[j] *= (left / (totals[j] - own[j]).max(FLOOR)).max(FLOOR);
                }
            }
            let scale = 1.0 / out.iter().sum::<f64>();
            out.iter_mut().for_each(|p| *p = (*p * scale).max(f64::MIN_POSITIVE));
        }
    }
}
