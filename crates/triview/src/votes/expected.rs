//! What EM needs of the votes: for each annotator, how often it votes for `c` where the class is `j`.
//!
//! The class of gold is what it is, whatever its votes say.
//!
//! Items are read once for both steps of EM: an item's posterior is made and added up at once, so that what is touched is the
//! confusion matrices and their counts, which stay in the processor's caches. The innermost loops are over classes; they are
//! compiled for each number of classes up to ten, which makes them four times as fast.

use super::cast::Votes;
use super::dawid_skene::Crowd;
use crate::numeric::linalg::Product;
use rayon::prelude::*;
use std::ops::Range;

/// Items are dealt out to so many groups, so that one can be left out.
pub(crate) const GROUPS: usize = 16;
/// All of them.
pub(crate) const ALL_GROUPS: [usize; GROUPS] = {
    let mut groups = [0; GROUPS];
    let mut group = 0;
    while group < GROUPS {
        groups[group] = group;
        group += 1;
    }
    groups
};
/// In runs of so many, whatever the order of the file: a sorted one must not make groups unlike each other.
const RUN: usize = 32;
/// Counts that parts have in all at the most: 128 megabytes of them.
const MOST_COUNTS: usize = 1 << 24;
/// Factors that are multiplied before they are scaled: of 1e-30 each, they are above the smallest number there is.
pub(crate) const FACTORS: usize = 8;

/// Expected counts of votes and classes, and the log-likelihood of the crowd that they were expected under.
#[derive(Debug, Clone)]
pub(crate) struct ExpectedCounts {
    /// At `(a * k + c) * k + j`: items of class `j` that annotator `a` votes for `c` on.
    pub(crate) votes: Vec<f64>,
    /// Items of each class.
    pub(crate) classes: Vec<f64>,
    /// The log-likelihood of the votes.
    pub(crate) log_likelihood: f64,
    /// The sum over items of the largest posterior.
    pub(crate) right: f64,
}

/// What makes the posterior of an item.
pub(crate) trait Expect: Sync {
    /// Writes the posterior of an item, given its number and its ballots, and multiplies the likelihood by the item's, where
    /// there is such. `K` is the number of classes, or zero where that is not known beforehand.
    fn expect<const K: usize>(&self, item: usize, ballots: &[u32], out: &mut [f64], likelihood: &mut Product);
}

impl Expect for Crowd {
    #[inline(always)]
    fn expect<const K: usize>(
        &self,
        _item: usize,
        ballots: &[u32],
        out: &mut [f64],
        likelihood: &mut Product,
    ) {
        let k = width::<K>(out.len());
        let out = &mut out[..k];
        out.copy_from_slice(&self.prior[..k]);
        for ballots in ballots.chunks(FACTORS) {
            for &ballot in ballots {
                let factors = &self.confusion[ballot as usize * k..][..k];
                (0..k).for_each(|j| out[j] *= factors[j]);
            }
            let total: f64 = out.iter().sum();
            let scale = 1.0 / total;
            out.iter_mut().for_each(|p| *p = (*p * scale).max(f64::MIN_POSITIVE));
            likelihood.times(total);
        }
    }
}

/// The number of classes, known to the compiler where `K` is.
pub(crate) const fn width<const K: usize>(k: usize) -> usize {
    if K == 0 { k } else { K }
}

impl ExpectedCounts {
    /// Of all items.
    pub(crate) fn of(votes: &Votes, posterior: &impl Expect) -> Self {
        Self::over(votes, posterior, &ALL_GROUPS, [0, 1])
    }

    /// Of the items of some groups, and of these one run in `stride`, from the first, second or a later on. Whatever the number of threads, sums are made in the same
    /// order.
    pub(crate) fn over(votes: &Votes, posterior: &impl Expect, groups: &[usize], every: [usize; 2]) -> Self {
        let k = votes.k();
        let cells = votes.annotators() * k * k;
        // Counts of their own are worth it for as many parts as have more votes than counts.
        let parts =
            (votes.len() / every[1] * k / cells.max(1)).min(MOST_COUNTS / cells.max(1)).clamp(2, GROUPS);
        let of_part = |groups: &[usize]| of_groups(votes, posterior, groups, every);
        let parts: Vec<Self> = groups.par_chunks(groups.len().div_ceil(parts)).map(of_part).collect();
        let mut sum = Self::new(votes.annotators(), k);
        parts.iter().for_each(|part| sum.add(part, 1.0));
        sum
    }

    fn new(annotators: usize, k: usize) -> Self {
        Self { votes: vec![0.0; annotators * k * k], classes: vec![0.0; k], log_likelihood: 0.0, right: 0.0 }
    }

    /// Adds so many times another.
    pub(crate) fn add(&mut self, other: &Self, times: f64) {
        self.votes.iter_mut().zip(&other.votes).for_each(|(sum, more)| *sum += times * more);
        self.classes.iter_mut().zip(&other.classes).for_each(|(sum, more)| *sum += times * more);
        self.log_likelihood += times * other.log_likelihood;
        self.right += times * other.right;
    }

    /// The number of items.
    pub(crate) fn items(&self) -> f64 {
        self.classes.iter().sum()
    }

    /// How often the class with the largest posterior is wrong, as the posteriors have it.
    pub(crate) fn error_rate(&self) -> f64 {
        1.0 - self.right / self.items()
    }

    /// Puts class `order[j]` in place `j`.
    pub(crate) fn reorder(&self, order: &[usize]) -> Self {
        let rows = self.votes.chunks_exact(order.len());
        Self {
            votes: rows.flat_map(|row| order.iter().map(|&j| row[j])).collect(),
            classes: order.iter().map(|&j| self.classes[j]).collect(),
            ..*self
        }
    }
}

/// Calls a generic function with the number of classes, where it is small, as a constant.
macro_rules! by_width {
    ($k:expr, $f:ident($($argument:expr),*)) => {
        match $k {
            2 => $f::<2>($($argument),*),
            3 => $f::<3>($($argument),*),
            4 => $f::<4>($($argument),*),
            5 => $f::<5>($($argument),*),
            6 => $f::<6>($($argument),*),
            7 => $f::<7>($($argument),*),
            8 => $f::<8>($($argument),*),
            9 => $f::<9>($($argument),*),
            10 => $f::<10>($($argument),*),
            _ => $f::<0>($($argument),*),
        }
    };
}

pub(crate) use by_width;

/// The items of a group, run by run, one run in `stride`, from a first one on.
fn runs(items: usize, group: usize, [first, stride]: [usize; 2]) -> impl Iterator<Item = Range<usize>> {
    let all = ((group + first * GROUPS) * RUN..items).step_by(GROUPS * RUN * stride);
    all.map(move |from| from..(from + RUN).min(items))
}

fn of_groups(votes: &Votes, posterior: &impl Expect, groups: &[usize], every: [usize; 2]) -> ExpectedCounts {
    fn sums<const K: usize>(
        votes: &Votes,
        posterior: &impl Expect,
        groups: &[usize],
        every: [usize; 2],
    ) -> ExpectedCounts {
        let k = width::<K>(votes.k());
        let mut tally = ExpectedCounts::new(votes.annotators(), k);
        let (mut own, mut likelihood) = (vec![0.0; k], Product::none());
        for item in groups.iter().flat_map(|group| runs(votes.items(), *group, every)).flatten() {
            let ballots = votes.of_item(item);
            posterior.expect::<K>(item, ballots, &mut own, &mut likelihood);
            if let Some(class) = votes.gold(item) {
                likelihood.times(own[class].max(f64::MIN_POSITIVE));
                certain(&mut own, class);
            }
            let (own, classes) = (&own[..k], &mut tally.classes[..k]);
            (0..k).for_each(|j| classes[j] += own[j]);
            tally.right += own.iter().fold(0.0, |most, p| if *p > most { *p } else { most });
            for &ballot in ballots {
                let counts = &mut tally.votes[ballot as usize * k..][..k];
                (0..k).for_each(|j| counts[j] += own[j]);
            }
        }
        tally.log_likelihood = likelihood.ln();
        tally
    }
    by_width!(votes.k(), sums(votes, posterior, groups, every))
}

/// The posterior of an item whose class is known.
pub(crate) fn certain(posterior: &mut [f64], class: usize) {
    posterior.fill(0.0);
    posterior[class] = 1.0;
}

/// What the votes say of every item, item by item: of gold as of the others.
pub(crate) fn posteriors(votes: &Votes, posterior: &impl Expect) -> Vec<f64> {
    fn fill<const K: usize>(votes: &Votes, posterior: &impl Expect, out: &mut [f64]) {
        let k = width::<K>(votes.k());
        out.par_chunks_mut(RUN * k).enumerate().for_each(|(run, out)| {
            for (at, out) in out.chunks_exact_mut(k).enumerate() {
                let item = run * RUN + at;
                posterior.expect::<K>(item, votes.of_item(item), out, &mut Product::none());
            }
        });
    }
    let mut out = vec![0.0; votes.items() * votes.k()];
    by_width!(votes.k(), fill(votes, posterior, &mut out));
    out
}

/// Posteriors that are known, item by item.
pub(crate) struct Known<'a>(pub(crate) &'a [f64]);

impl Expect for Known<'_> {
    fn expect<const K: usize>(&self, item: usize, _ballots: &[u32], out: &mut [f64], _: &mut Product) {
        let k = width::<K>(out.len());
        out.copy_from_slice(&self.0[item * k..(item + 1) * k]);
    }
}
