//! Shares in percent, and chances.

use super::number::to_digits_of;
use std::fmt;
use triview::answer::Interval;

/// A share of one, shown in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 100.0 * self.0;
        if !percent.is_finite() {
            return f.write_str("unknown");
        }
        // Two digits of what is small, and no more than a tenth of a percent of what is not.
        let width = if percent.abs() < 1.0 { percent.abs() } else { 1.0 };
        write!(f, "{}%", to_digits_of(percent, width))
    }
}

impl Share {
    /// The share with as many digits as its interval is worth.
    pub(crate) fn within(self, interval: Interval) -> String {
        match percents(interval) {
            Some((half, _)) => to_digits_of(100.0 * self.0, half) + "%",
            None => self.to_string(),
        }
    }

    /// The same, and the interval behind it.
    pub(crate) fn between(self, interval: Interval) -> String {
        match percents(interval) {
            Some((_, [low, high])) => format!("{} ({low} to {high})", self.within(interval)),
            None => format!("{self} (interval unknown)"),
        }
    }
}

/// Half the width of an interval in percent, and its ends.
pub(crate) fn percents(interval: Interval) -> Option<(f64, [String; 2])> {
    let half = 50.0 * (interval.high - interval.low);
    let ends = || [interval.low, interval.high].map(|end| to_digits_of(100.0 * end, half) + "%");
    half.is_finite().then(|| (half, ends()))
}

/// A chance as it is said: none is zero.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {p:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_the_digits_they_are_worth() {
        assert_eq!(
            [0.1604, 0.016, 0.0007, 0.0, 1.0].map(|s| Share(s).to_string()),
            ["16.0%", "1.6%", "0.070%", "0%", "100.0%"]
        );
        let interval = Interval { low: 0.1312, high: 0.1898 };
        assert_eq!(Share(0.1604).within(interval), "16.0%");
        assert_eq!(Share(0.1604).between(interval), "16.0% (13.1% to 19.0%)");
        let endless = Interval { low: 0.0, high: f64::INFINITY };
        assert_eq!(Share(0.1604).between(endless), "16.0% (interval unknown)");
        assert_eq!(Share(f64::NAN).to_string(), "unknown");
    }

    #[test]
    fn no_chance_is_zero() {
        assert_eq!([0.0, 0.0421].map(p_value), ["p < 0.001", "p = 0.042"]);
    }
}
