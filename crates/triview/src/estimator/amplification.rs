//! Success amplification (the paper's appendix, preliminary reductions of the proof of theorem 1): a risk that a
//! few enormous scores cannot ruin.
//!
//! Means and third moments of heavy tails are noise: one row in ten thousand can carry a plain estimate, and its
//! standard error, anywhere. Of several estimates from rows of their own it ruins few, and the others say which.

use super::Estimator;
use super::solved::enough_rows;
use crate::answer::solve;
use crate::diagnostics::degeneracies;
use crate::error::{Error, Result};
use crate::moments::Moments;
use rayon::prelude::*;
use serde::Serialize;
use std::f64::consts::FRAC_PI_2;

/// What most of several independent estimates agree on; made by [`Estimator::amplify`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Amplified {
    /// The median of the estimates that were kept: where bad ones slipped in, it moves less than their mean.
    pub risk: f64,
    /// Its standard error, `sqrt(pi / 2) s / sqrt(kept)`, the asymptotic one of a median. `s` is the larger of
    /// the spread of the kept estimates and the median of their own standard errors: estimates are kept for lying
    /// close together, and by the spread alone two of five draws of five groups were off by more than two errors.
    pub standard_error: f64,
    /// The risk by each group of rows; absent where a group could not be solved or its fit is degenerate.
    pub estimates: Vec<Option<f64>>,
    /// Which of them were kept.
    pub kept: Vec<bool>,
}

impl Amplified {
    /// How many of the estimates were kept.
    pub fn agreed(&self) -> usize {
        self.kept.iter().filter(|kept| **kept).count()
    }
}

impl Estimator {
    /// The risk from moments of scores that may be heavy-tailed: deals their blocks to groups, solves each group,
    /// discards the estimates that are far from most, and takes the median of the rest.
    ///
    /// Enormous scores must be in fewer than half of the groups, so take many: with two such rows in 40,000 on
    /// average, 16 groups were ruined in none of 240 draws, 8 in 3, 5 in 18. On healthy scores the error is 1.2 to
    /// 1.5 times a plain estimate's, as that of a median is. Where the risk itself is made by a few enormous
    /// losses, a median misses them and is too low, and its standard error does not show it.
    ///
    /// The feature map is the moments'. Enormous scores ruin its fit too, for all groups at once: let
    /// [`Estimator::plan`] see rows without them where there are such.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a loss of the whole prediction, for fewer than three groups, more than one for every two blocks that have
    /// rows, or so many that a group has too few rows to be solved. [`Error::NoMajority`] when half of the
    /// groups or more cannot be solved.
    pub fn amplify(&self, moments: &Moments, groups: usize) -> Result<Amplified> {
        let refuse =
            |expected| Error::InvalidParameter { name: "groups", value: groups.to_string(), expected };
        if groups < 3 {
            return Err(refuse("at least three are needed for most of them to agree"));
        }
        if let Some(loss) = self.whole {
            return Err(Error::InvalidParameter {
                name: "loss",
                value: loss.name().into(),
                expected: "groups of rows agree on the mean of a loss that is made of terms of one view each, such as log",
            });
        }
        let [_, filled] = moments.blocks();
        // A single block has no jackknife, and so no standard error.
        if groups > filled / 2 {
            return Err(refuse("every group needs two of the blocks that have rows; take fewer groups"));
        }
        let of_group = |group: usize| {
            let moments = moments.part((group..filled).step_by(groups));
            enough_rows(moments.rows(), moments.plan().states())
                .map_err(|_| refuse("a group has too few rows to be solved; take fewer groups"))?;
            Ok(self.solve_group(&moments))
        };
        let solved: Vec<Result<OfGroup, String>> =
            self.common.run(|| (0..groups).into_par_iter().map(of_group).collect::<Result<_>>())?;
        let estimates: Vec<Option<f64>> =
            solved.iter().map(|group| group.as_ref().ok().map(|solved| solved.risk)).collect();
        let Some(kept) = agreeing(&estimates) else {
            let reason = solved.into_iter().find_map(Result::err).unwrap_or_default();
            return Err(Error::NoMajority { solved: estimates.iter().flatten().count(), groups, reason });
        };
        let agreed = || solved.iter().zip(&kept).filter(|(_, kept)| **kept).flat_map(|(group, _)| group);
        let risks: Vec<f64> = agreed().map(|solved| solved.risk).collect();
        let errors: Vec<f64> = agreed().map(|solved| solved.standard_error).collect();
        let spread = spread(&risks).max(median(&errors));
        let standard_error = FRAC_PI_2.sqrt() * spread / (risks.len() as f64).sqrt();
        Ok(Amplified { risk: median(&risks), standard_error, estimates, kept })
    }

    /// What one group says, or why it says nothing.
    fn solve_group(&self, moments: &Moments) -> Result<OfGroup, String> {
        let solved = solve(moments, self.common.seed).map_err(|error| error.to_string())?;
        match degeneracies(moments, &solved).first() {
            Some(alarm) => Err(alarm.to_string()),
            None => Ok(OfGroup { risk: solved.quantities.risk, standard_error: solved.standard_error() }),
        }
    }
}

/// The risk by one group of rows.
struct OfGroup {
    risk: f64,
    standard_error: f64,
}

/// Which estimates to keep; `None` when no majority of them was solved.
///
/// The paper discards what is more than `2 epsilon` from at least half of the others, where a majority lies
/// within `epsilon` of the truth. No `epsilon` is known here: in its place stands the length `e` of the shortest
/// interval that holds a majority, which is at most `2 epsilon`, as the interval around the truth holds one. What
/// is kept has a majority of all, itself included, within `2 e`. Two majorities share a member, so what is kept
/// lies within `2 e <= 4 epsilon` of an estimate that is within `epsilon` of the truth: `5 epsilon` where the
/// paper has 3. Half of `e` would keep the 3, but discards a third of good estimates and adds as much error.
///
/// For an odd number this keeps an estimate that is near just half of the others, which the paper's words discard:
/// of three all would have to agree. What is not solved is far from all.
fn agreeing(estimates: &[Option<f64>]) -> Option<Vec<bool>> {
    let majority = estimates.len() / 2 + 1;
    let mut sorted: Vec<f64> = estimates.iter().flatten().copied().collect();
    sorted.sort_by(f64::total_cmp);
    let shortest =
        sorted.windows(majority).map(|window| window[majority - 1] - window[0]).min_by(f64::total_cmp)?;
    let near = |x: f64| sorted.iter().filter(|y| (x - **y).abs() <= 2.0 * shortest).count();
    Some(estimates.iter().map(|estimate| estimate.is_some_and(|x| near(x) >= majority)).collect())
}

/// The sample standard deviation, of two numbers or more.
fn spread(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
}

/// The middle number, or the mean of the two in the middle.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) { 0.5 * (sorted[middle - 1] + sorted[middle]) } else { sorted[middle] }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_far_from_the_most_is_discarded() {
        let kept = agreeing(&[Some(1.0), Some(9.0), Some(1.1), None, Some(0.9), Some(1.25), Some(1.05)]);
        assert_eq!(kept, Some(vec![true, false, true, false, true, true, true]));
    }

    #[test]
    fn of_three_two_that_agree_are_kept() {
        assert_eq!(agreeing(&[Some(0.5), Some(80.0), Some(0.6)]), Some(vec![true, false, true]));
        assert_eq!(agreeing(&[Some(0.5), None, Some(0.6)]), Some(vec![true, false, true]));
    }

    #[test]
    fn half_of_them_are_no_majority() {
        assert_eq!(agreeing(&[Some(0.5), None, Some(0.6), None]), None);
    }

    proptest! {
        #[test]
        fn whatever_a_minority_says_all_that_is_kept_is_within_five_epsilon(
            good in prop::collection::vec(-1.0..1.0, 2..12), bad in prop::collection::vec(-40.0..40.0, 0..11),
        ) {
            // The truth is 0 and epsilon is 1.
            let minority = bad.into_iter().take(good.len() - 1);
            let estimates: Vec<Option<f64>> = good.iter().copied().chain(minority).map(Some).collect();
            let kept = agreeing(&estimates).unwrap();
            prop_assert!(kept.iter().filter(|kept| **kept).count() > estimates.len() / 2);
            for (estimate, kept) in estimates.iter().flatten().zip(kept) {
                prop_assert!(!kept || estimate.abs() <= 5.0, "{} was kept", estimate);
            }
        }
    }
}
