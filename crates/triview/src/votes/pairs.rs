//! Which annotators depend on each other.
//!
//! Given the class, two annotators who do not know of each other agree on an item with probability
//! `e = sum_j q_j sum_c C_a[c, j] C_b[c, j]`, `q` the class posterior from all other votes on it. Over the items that both
//! vote on, `z = sum (1(agree) - e) / sqrt(sum e (1 - e))` is then a standard normal number; who copies, or errs on the same
//! items, agrees more often.

use super::cast::{ByBallot, Votes};
use super::dawid_skene::Crowd;
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal};

/// Items that two annotators must share.
const FEWEST_SHARED: usize = 20;
/// The least variance of their agreements for its sum to be near normal.
const LEAST_VARIANCE: f64 = 5.0;
/// Pairs of votes on an item that are looked at in all, at the most; items are left out evenly where there are more.
const MOST_MEETINGS: usize = 20_000_000;

/// How two annotators agree.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The two.
    pub annotators: [usize; 2],
    /// Items that both voted on.
    pub items: usize,
    /// How often they agree.
    pub agreement: f64,
    /// How often they would if they were independent given the class.
    pub expected: f64,
    /// The chance of a difference as large if they were, times the number of pairs that are left when those with a smaller one
    /// are out (Holm 1979): small for one pair of all only if some pair depends on each other.
    pub p_value: f64,
}

/// The pairs that share enough items, the least likely to be independent first.
pub(crate) fn pairs(votes: &Votes, by_ballot: &ByBallot, crowd: &Crowd, posteriors: &[f64]) -> Vec<Pair> {
    let k = votes.k();
    let meetings: usize = (0..votes.items()).map(|item| votes.of_item(item).len().pow(2) / 2).sum();
    let stride = meetings.div_ceil(MOST_MEETINGS).max(1) as u32;
    let of_annotator = |annotator: usize| -> Vec<Pair> {
        // Ballots of later annotators on this one's items, by their annotator.
        let mut met: Vec<(u32, u32, u32)> = Vec::new();
        for own in annotator * k..(annotator + 1) * k {
            for &item in by_ballot.of(own).iter().filter(|item| **item % stride == 0) {
                let later = votes.of_item(item as usize).iter().filter(|&&b| b as usize / k > annotator);
                met.extend(later.map(|&ballot| (ballot / k as u32, item, ballot)));
            }
        }
        met.sort_unstable();
        let with = met.chunk_by(|a, b| a.0 == b.0).filter(|with| with.len() >= FEWEST_SHARED);
        with.filter_map(|with| compare(votes, crowd, posteriors, annotator, with)).collect()
    };
    let mut pairs: Vec<Pair> = (0..votes.annotators()).into_par_iter().flat_map_iter(of_annotator).collect();
    pairs.sort_by(|a, b| a.p_value.total_cmp(&b.p_value).then(a.annotators.cmp(&b.annotators)));
    let (count, mut last) = (pairs.len(), 0.0_f64);
    for (rank, pair) in pairs.iter_mut().enumerate() {
        last = last.max((pair.p_value * (count - rank) as f64).min(1.0));
        pair.p_value = last;
    }
    pairs
}

/// How an annotator agrees with another, whose votes these are; its chance is that of one pair alone.
fn compare(
    votes: &Votes,
    crowd: &Crowd,
    posteriors: &[f64],
    annotator: usize,
    with: &[(u32, u32, u32)],
) -> Option<Pair> {
    let k = votes.k();
    let other = with[0].0 as usize;
    let [own, their] = [annotator, other].map(|a| crowd.of_annotator(a));
    let alike: Vec<f64> = (0..k).map(|j| (0..k).map(|c| own[c * k + j] * their[c * k + j]).sum()).collect();
    let (mut agreed, mut expected, mut variance) = (0.0, 0.0, 0.0);
    for &(_, item, ballot) in with {
        let item = item as usize;
        let mine = votes.of_item(item).iter().find(|&&b| b as usize / k == annotator)?;
        let [first, second] = [*mine, ballot].map(|ballot| crowd.of_ballot(ballot as usize));
        let posterior = &posteriors[item * k..(item + 1) * k];
        let without = |j: usize| posterior[j] / (first[j] * second[j]);
        let total: f64 = (0..k).map(without).sum();
        let chance = (0..k).map(|j| without(j) * alike[j]).sum::<f64>() / total;
        agreed += f64::from(u8::from(*mine as usize % k == ballot as usize % k));
        expected += chance;
        variance += chance * (1.0 - chance);
    }
    if variance.is_nan() || variance < LEAST_VARIANCE {
        return None;
    }
    let beyond = ((agreed - expected).abs() - 0.5).max(0.0) / variance.sqrt();
    let items = with.len();
    Some(Pair {
        annotators: [annotator, other],
        items,
        agreement: agreed / items as f64,
        expected: expected / items as f64,
        p_value: 2.0 * Normal::standard().sf(beyond),
    })
}
