//! Which annotators depend on each other.
//!
//! Given the class, two annotators who do not know of each other agree on an item with probability
//! `e = sum_j q_j sum_c C_a[c, j] C_b[c, j]`, `q` the class posterior from all other votes on it. Over the items that both
//! vote on, `z = sum (1(agree) - e) / sqrt(sum e (1 - e))` is then a standard normal number; who copies, or errs on the same
//! items, agrees more often.

use super::cast::{ByBallot, Votes};
use super::dawid_skene::Crowd;
use super::expected::{by_width, width};
use crate::settings::vote_pairs::{FEWEST_SHARED, LEAST_VARIANCE, MOST_MEETINGS};
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal};
use std::ops::Range;

/// Bands of annotators for each thread, at the least: the first have the most pairs.
const BANDS: usize = 2;
/// Pairs of an annotator of a band and any other, at the most.
const MOST_CELLS: usize = 1 << 22;

/// How two annotators agree.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
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
    let annotators = votes.annotators();
    let meetings: usize = (0..votes.items()).map(|item| votes.of_item(item).len().pow(2) / 2).sum();
    let stride = meetings.div_ceil(MOST_MEETINGS).max(1);
    let inverse: Vec<f64> = crowd.confusion.iter().map(|cell| 1.0 / cell).collect();
    let known = Known { votes, by_ballot, crowd, inverse, posteriors, stride };
    let even = annotators.div_ceil(BANDS * rayon::current_num_threads());
    let width = (MOST_CELLS / annotators.max(1)).min(even).max(1);
    let of_band = |slots: &mut Vec<u32>, band: usize| {
        let band = band * width..((band + 1) * width).min(annotators);
        by_width!(votes.k(), with_later(&known, slots, band))
    };
    let bands = (0..annotators.div_ceil(width)).into_par_iter();
    let found: Vec<Vec<Pair>> = bands.map_init(|| vec![0; width * annotators], of_band).collect();
    let mut pairs: Vec<Pair> = found.into_iter().flatten().collect();
    pairs.sort_by(|a, b| a.p_value.total_cmp(&b.p_value).then(a.annotators.cmp(&b.annotators)));
    let (count, mut last) = (pairs.len(), 0.0_f64);
    for (rank, pair) in pairs.iter_mut().enumerate() {
        last = last.max((pair.p_value * (count - rank) as f64).min(1.0));
        pair.p_value = last;
    }
    pairs
}

/// The votes and what is known of them.
struct Known<'a> {
    votes: &'a Votes,
    by_ballot: &'a ByBallot,
    crowd: &'a Crowd,
    /// One over each cell of the confusion matrices.
    inverse: Vec<f64>,
    posteriors: &'a [f64],
    /// One item in so many is looked at.
    stride: usize,
}

impl Known<'_> {
    /// The items that are looked at of those that some annotators vote on, in their order: read one after the other, they come
    /// from memory five times as fast as annotator by annotator.
    fn items(&self, band: &Range<usize>) -> Vec<usize> {
        let k = self.votes.k();
        let mut voted = vec![false; self.votes.items()];
        for ballot in band.start * k..band.end * k {
            self.by_ballot.of(ballot).iter().for_each(|&item| voted[item as usize] = true);
        }
        (0..self.votes.items()).step_by(self.stride).filter(|&item| voted[item]).collect()
    }
}

/// Two annotators, and what is added up over the items that they share.
#[derive(Debug, Clone)]
struct Meetings {
    annotators: [usize; 2],
    items: usize,
    agreed: f64,
    expected: f64,
    variance: f64,
}

/// How each annotator of a band agrees with each later one; chances are those of one pair alone. `slots` is zero before and
/// after: for an annotator of the band and any other how often they meet, then one more than the place of their meetings.
fn with_later<const K: usize>(known: &Known<'_>, slots: &mut [u32], band: Range<usize>) -> Vec<Pair> {
    let k = width::<K>(known.votes.k());
    let own = band.start * k..band.end * k;
    let slot = |first: usize, second: usize| (first - band.start) * known.votes.annotators() + second;
    let items = known.items(&band);
    let mut met: Vec<[usize; 2]> = Vec::new();
    for &item in &items {
        let ballots = known.votes.of_item(item);
        for (at, first) in ballots.iter().enumerate().filter(|(_, ballot)| own.contains(&(**ballot as usize)))
        {
            for second in &ballots[at + 1..] {
                let annotators = [*first, *second].map(|ballot| ballot as usize / k);
                let times = &mut slots[slot(annotators[0], annotators[1])];
                if *times == 0 {
                    met.push(annotators);
                }
                *times += 1;
            }
        }
    }
    // Who meets too seldom is forgotten; of the others the slots have the places now.
    let (mut all, mut alike): (Vec<Meetings>, Vec<f64>) = Default::default();
    for annotators in met {
        let times = std::mem::take(&mut slots[slot(annotators[0], annotators[1])]) as usize;
        if times < FEWEST_SHARED {
            continue;
        }
        all.push(Meetings { annotators, items: times, agreed: 0.0, expected: 0.0, variance: 0.0 });
        slots[slot(annotators[0], annotators[1])] = all.len() as u32;
        let [own, their] = annotators.map(|annotator| known.crowd.of_annotator(annotator));
        alike.extend((0..k).map(|j| (0..k).map(|c| own[c * k + j] * their[c * k + j]).sum::<f64>()));
    }
    let mut without = vec![0.0; k];
    for &item in &items {
        let (ballots, posterior) = (known.votes.of_item(item), &known.posteriors[item * k..][..k]);
        for (at, &first) in
            ballots.iter().enumerate().filter(|(_, ballot)| own.contains(&(**ballot as usize)))
        {
            let mine = &known.inverse[first as usize * k..][..k];
            (0..k).for_each(|j| without[j] = posterior[j] * mine[j]);
            for &second in &ballots[at + 1..] {
                let place = slots[slot(first as usize / k, second as usize / k)] as usize;
                if place == 0 {
                    continue;
                }
                let (met, alike) = (&mut all[place - 1], &alike[(place - 1) * k..][..k]);
                let theirs = &known.inverse[second as usize * k..][..k];
                let (mut total, mut chance) = (0.0, 0.0);
                for j in 0..k {
                    let q = without[j] * theirs[j];
                    total += q;
                    chance += q * alike[j];
                }
                chance /= total;
                met.agreed += f64::from(u8::from(first as usize % k == second as usize % k));
                met.expected += chance;
                met.variance += chance * (1.0 - chance);
            }
        }
    }
    all.iter().for_each(|met| slots[slot(met.annotators[0], met.annotators[1])] = 0);
    all.into_iter().filter_map(Meetings::compare).collect()
}

impl Meetings {
    /// Their agreement, where it varies enough to tell.
    fn compare(self) -> Option<Pair> {
        let Self { annotators, items, agreed, expected, variance } = self;
        if variance.is_nan() || variance < LEAST_VARIANCE {
            return None;
        }
        let beyond = ((agreed - expected).abs() - 0.5).max(0.0) / variance.sqrt();
        Some(Pair {
            annotators,
            items,
            agreement: agreed / items as f64,
            expected: expected / items as f64,
            p_value: 2.0 * Normal::standard().sf(beyond),
        })
    }
}
