//! What EM needs of the votes: for each annotator, how often it votes for `c` where the class is `j`.
//!
//! Items are read once for both steps of EM: an item's posterior is made and added up at once, so that what is touched is the
//! confusion matrices and their counts, which stay in the processor's caches. The innermost loops are over classes; they are
//! compiled for each number of classes up to ten, which makes them four times as fast.

use super::cast::Votes;
use super::dawid_skene::Crowd;
use rayon::prelude::*;

/// Items are dealt out to so many groups, so that one can be left out.
pub(crate) const GROUPS: usize = 16;
/// In runs of so many, whatever the order of the file: a sorted one must not make groups unlike each other.
const RUN: usize = 32;
/// Counts that parts have in all at the most: 128 megabytes of them.
const MOST_COUNTS: usize = 1 << 24;
/// Factors that are multiplied before they are scaled: of 1e-30 each, they are above the smallest number there is.
const FACTORS: usize = 8;

/// Expected counts of votes and classes, and the log-likelihood of the crowd that they were expected under.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    /// At `(a * k + c) * k + j`: items of class `j` that annotator `a` votes for `c` on.
    pub(crate) counts: Vec<f64>,
    /// Items of each class.
    pub(crate) classes: Vec<f64>,
    /// The log-likelihood of the votes.
    pub(crate) log_likelihood: f64,
    /// The sum over items of the largest posterior.
    pub(crate) right: f64,
}

/// What makes the posterior of an item, given its number and its ballots; gives back its log-likelihood.
pub(crate) trait Expect: Sync {
    /// Writes the item's posterior. `K` is the number of classes, or zero where that is not known beforehand.
    fn expect<const K: usize>(&self, item: usize, ballots: &[u32], out: &mut [f64]) -> f64;
}

impl Expect for Crowd {
    fn expect<const K: usize>(&self, _item: usize, ballots: &[u32], out: &mut [f64]) -> f64 {
        let k = width::<K>(out.len());
        let (out, mut log) = (&mut out[..k], 0.0);
        out.copy_from_slice(&self.prior[..k]);
        for ballots in ballots.chunks(FACTORS) {
            for &ballot in ballots {
                let at = ballot as usize * k;
                let factors = &self.confusion[at..at + k];
                (0..k).for_each(|j| out[j] *= factors[j]);
            }
            let total: f64 = out.iter().sum();
            let scale = 1.0 / total;
            out.iter_mut().for_each(|p| *p = (*p * scale).max(f64::MIN_POSITIVE));
            log += total.ln();
        }
        log
    }
}

/// The number of classes, known to the compiler where `K` is.
pub(crate) const fn width<const K: usize>(k: usize) -> usize {
    if K == 0 { k } else { K }
}

impl Tally {
    /// Of all items.
    pub(crate) fn of(votes: &Votes, posterior: &impl Expect) -> Self {
        Self::without(votes, posterior, None)
    }

    /// Of all items but those of a group. Whatever the number of threads, sums are made in the same order.
    pub(crate) fn without(votes: &Votes, posterior: &impl Expect, left_out: Option<usize>) -> Self {
        let k = votes.k();
        let cells = votes.annotators() * k * k;
        let groups: Vec<usize> = (0..GROUPS).filter(|group| Some(*group) != left_out).collect();
        // Counts of their own are worth it for as many parts as have more votes than counts.
        let parts = (votes.len() * k / cells.max(1)).min(MOST_COUNTS / cells.max(1)).clamp(2, GROUPS);
        let of_part = |groups: &[usize]| of_groups(votes, posterior, groups);
        let parts: Vec<Self> = groups.par_chunks(groups.len().div_ceil(parts)).map(of_part).collect();
        let mut sum = Self::new(votes.annotators(), k);
        parts.iter().for_each(|part| sum.add(part));
        sum
    }

    fn new(annotators: usize, k: usize) -> Self {
        Self { counts: vec![0.0; annotators * k * k], classes: vec![0.0; k], log_likelihood: 0.0, right: 0.0 }
    }

    fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, more)| *sum += more);
        self.classes.iter_mut().zip(&other.classes).for_each(|(sum, more)| *sum += more);
        self.log_likelihood += other.log_likelihood;
        self.right += other.right;
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

/// The items of a group, run by run.
fn runs(items: usize, group: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (group * RUN..items).step_by(GROUPS * RUN).map(move |from| from..(from + RUN).min(items))
}

fn of_groups(votes: &Votes, posterior: &impl Expect, groups: &[usize]) -> Tally {
    fn sums<const K: usize>(votes: &Votes, posterior: &impl Expect, groups: &[usize]) -> Tally {
        let k = width::<K>(votes.k());
        let mut tally = Tally::new(votes.annotators(), k);
        let mut own = vec![0.0; k];
        for item in groups.iter().flat_map(|group| runs(votes.items(), *group)).flatten() {
            let ballots = votes.of_item(item);
            tally.log_likelihood += posterior.expect::<K>(item, ballots, &mut own);
            let (own, classes) = (&own[..k], &mut tally.classes[..k]);
            (0..k).for_each(|j| classes[j] += own[j]);
            tally.right += own.iter().fold(0.0, |most, p| if *p > most { *p } else { most });
            for &ballot in ballots {
                let at = ballot as usize * k;
                let counts = &mut tally.counts[at..at + k];
                (0..k).for_each(|j| counts[j] += own[j]);
            }
        }
        tally
    }
    by_width!(votes.k(), sums(votes, posterior, groups))
}

/// The posteriors of all items, item by item.
pub(crate) fn posteriors(votes: &Votes, posterior: &impl Expect) -> Vec<f64> {
    fn fill<const K: usize>(votes: &Votes, posterior: &impl Expect, out: &mut [f64]) {
        let k = width::<K>(votes.k());
        out.par_chunks_mut(RUN * k).enumerate().for_each(|(run, out)| {
            for (at, out) in out.chunks_exact_mut(k).enumerate() {
                let item = run * RUN + at;
                posterior.expect::<K>(item, votes.of_item(item), out);
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
    fn expect<const K: usize>(&self, item: usize, _ballots: &[u32], out: &mut [f64]) -> f64 {
        let k = width::<K>(out.len());
        out.copy_from_slice(&self.0[item * k..(item + 1) * k]);
        0.0
    }
}
