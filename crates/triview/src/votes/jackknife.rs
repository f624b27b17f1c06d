//! What the votes would say without a group of items.
//!
//! Groups of items are left out in turn. To first order the expected counts that EM ends at without group `g` are those of all
//! items less the group's own, moved by what this does to the crowd and so to the posteriors of the items that are left,
//!
//! ```text
//!     N_-g = N(C) - N_g(C) + sum over items of other groups of what (C_-g) - what (C) expects of them,   C_-g the crowd of N_-g:
//! ```
//!
//! a few steps of this from `C_-g = C`, and where they lead. The last sum is made of some of the items where there are many.

use super::cast::Votes;
use super::dawid_skene::{Fitted, Smoothing};
use super::expected::{ALL_GROUPS, ExpectedCounts, GROUPS};
use super::spectral::name;
use crate::answer::Deviations;
use crate::interrupt;
use crate::settings::vote_jackknife::{SEEN, STEPS};
use rayon::prelude::*;

/// The error rate, the lead of the names and the class prior without each group of items.
pub(crate) fn without_groups(votes: &Votes, fitted: &Fitted, smoothing: &Smoothing) -> Deviations<Vec<f64>> {
    let stride = (votes.items() / SEEN).max(1);
    // Other items at each step: an item must not answer to what was made of its own answer.
    let every = |step: usize| [step % stride, stride];
    let whole: Vec<ExpectedCounts> =
        (0..STEPS).map(|step| ExpectedCounts::over(votes, &fitted.crowd, &ALL_GROUPS, every(step))).collect();
    let without = |group: usize| {
        // The group's own items are not among those that are left, and would miss their own votes.
        let others: Vec<usize> = (0..GROUPS).filter(|other| *other != group).collect();
        let mut less = fitted.tally.clone();
        less.add(&ExpectedCounts::over(votes, &fitted.crowd, &[group], [0, 1]), -1.0);
        let mut left = less.clone();
        let mut steps = vec![quantities(&left)];
        for (step, whole) in whole.iter().enumerate() {
            let mut before = whole.clone();
            before.add(&ExpectedCounts::over(votes, &fitted.crowd, &[group], every(step)), -1.0);
            let after = ExpectedCounts::over(votes, &smoothing.maximise(&left), &others, every(step));
            let scale = less.items() / before.items();
            left.clone_from(&less);
            left.add(&after, scale);
            interrupt::check();
            left.add(&before, -scale);
            left.votes.iter_mut().for_each(|count| *count = count.max(0.0));
            steps.push(quantities(&left));
        }
        extrapolate(&steps)
    };
    let left: Vec<Vec<f64>> = (0..GROUPS).into_par_iter().map(without).collect();
    Deviations::of_left_out(&quantities(&fitted.tally), &left)
}

/// Where steps that shrink by a constant factor lead: the last two are taken to.
fn extrapolate(steps: &[Vec<f64>]) -> Vec<f64> {
    let [.., a, b, c] = steps else { return steps.last().cloned().unwrap_or_default() };
    let limit = |i: usize| {
        let (first, second) = (b[i] - a[i], c[i] - b[i]);
        let ratio = if first.abs() > 0.0 { (second / first).clamp(0.0, 0.9) } else { 0.0 };
        c[i] + second * ratio / (1.0 - ratio)
    };
    (0..c.len()).map(limit).collect()
}

/// The error rate, the lead of the names over the second-best, and the class prior.
fn quantities(tally: &ExpectedCounts) -> Vec<f64> {
    let items = tally.items();
    let mut out = vec![tally.error_rate(), lead(tally)];
    out.extend(tally.classes.iter().map(|n| n / items));
    out
}

/// By how much of all votes more are right under the best names than under the second-best.
pub(crate) fn lead(tally: &ExpectedCounts) -> f64 {
    name(tally).gap / tally.votes.iter().sum::<f64>().max(f64::MIN_POSITIVE)
}
