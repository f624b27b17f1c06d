//! What an estimate may be.

use crate::error::{Error, Result};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// What is between two numbers with the estimate's level of confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The estimate and so many standard errors on either side.
    pub(crate) fn around(estimate: f64, reach: f64, standard_error: f64) -> Self {
        Self { low: estimate - reach * standard_error, high: estimate + reach * standard_error }
    }

    /// Wilson's of a share of so many trials: the shares `p` with `|p - share| <= reach sqrt(p (1 - p) / trials)`.
    pub(crate) fn of_share(share: f64, trials: f64, reach: f64) -> Self {
        let z = reach * reach / trials;
        let centre = (share + 0.5 * z) / (1.0 + z);
        let half = (z * share * (1.0 - share) + 0.25 * z * z).sqrt() / (1.0 + z);
        Self::around(centre, 1.0, half).within(0.0, 1.0)
    }

    /// What of it is possible; where nothing of it is, all that is.
    pub(crate) fn within(self, low: f64, high: f64) -> Self {
        if self.misses(low, high) {
            return Self { low, high };
        }
        Self { low: self.low.clamp(low, high), high: self.high.clamp(low, high) }
    }

    /// Whether nothing of it is in a range.
    pub(crate) fn misses(self, low: f64, high: f64) -> bool {
        self.high < low || self.low > high
    }
}

/// How a risk, or an error rate of votes, is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub enum Bound {
    /// What voters or views get wrong together leaves too little trace: it is this or more.
    #[serde(rename = "at least")]
    AtLeast,
}

impl Bound {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Bound::AtLeast => "at least",
        }
    }
}

/// Refuses a level of confidence that is not between 0 and 1.
pub(crate) fn check_level(level: f64) -> Result<()> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    Err(Error::InvalidParameter {
        name: "level",
        value: level.to_string(),
        expected: "a number between 0 and 1, such as 0.95, is needed",
    })
}

/// How many standard errors an interval reaches, where the standard error rests on so many blocks and two views agree
/// on the weakest direction that the classes need by `clarity` standard errors.
///
/// A quantile `t` of Student's distribution, where that direction is clear. Errors grow with one over the agreement,
/// which the standard error takes to be known: where it is not, `t` is divided by what is left of the agreement at
/// its lower confidence limit, `1 - t / clarity`, as in Fieller's interval of a ratio. An agreement that could be
/// none has an interval without ends.
pub(crate) fn reach(level: f64, blocks: usize, clarity: f64) -> f64 {
    let freedom = blocks.saturating_sub(1).max(1) as f64;
    let quantile =
        StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + 0.5 * level));
    if clarity > quantile { quantile / (1.0 - quantile / clarity) } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_reach_as_far_as_students_quantile_where_classes_are_clear() {
        // With 63 degrees of freedom.
        assert!((reach(0.95, 64, f64::INFINITY) - 1.998_340).abs() < 1e-6);
        // An agreement of four times the quantile leaves three quarters of it at its lower limit.
        assert!((reach(0.95, 64, 4.0 * 1.998_340_5) - 1.998_340_5 / 0.75).abs() < 1e-5);
        assert_eq!(reach(0.95, 64, 1.9), f64::INFINITY);
    }

    #[test]
    fn wilsons_interval_has_the_shares_that_are_so_far_from_what_was_seen() {
        let Interval { low, high } = Interval::of_share(0.3, 50.0, 2.0);
        for share in [low, high] {
            assert!(((share - 0.3).abs() - 2.0 * (share * (1.0 - share) / 50.0).sqrt()).abs() < 1e-12);
        }
        assert!(Interval::of_share(0.0, 50.0, 2.0).low.abs() < 1e-12);
    }
}
