//! Periods of time that rows are answered by: the hour, day, week or month of a column of times, or so many units of a number.

use arrow_cast::parse::string_to_datetime;
use chrono::{DateTime, Datelike, Timelike, Utc};
use std::fmt;
use std::str::FromStr;

/// How a column of times is cut into segments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Period {
    /// Hours of the day, in universal time.
    Hour,
    /// Days.
    Day,
    /// Weeks from Monday on, numbered as ISO 8601 does.
    Week,
    /// Months.
    Month,
    /// So many units of a column of numbers, counted from zero.
    Units(f64),
}

/// Why a text names no period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoPeriod;

impl fmt::Display for NoPeriod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a period is hour, day, week, month, or a number above zero: so many units of a column of numbers")
    }
}

impl std::error::Error for NoPeriod {}

impl FromStr for Period {
    type Err = NoPeriod;

    fn from_str(text: &str) -> Result<Self, NoPeriod> {
        match text {
            "hour" => Ok(Period::Hour),
            "day" => Ok(Period::Day),
            "week" => Ok(Period::Week),
            "month" => Ok(Period::Month),
            number => match number.parse::<f64>() {
                Ok(units) if units > 0.0 && units.is_finite() => Ok(Period::Units(units)),
                _ => Err(NoPeriod),
            },
        }
    }
}

impl Period {
    /// What is expected of a column, in a message.
    pub(crate) fn expects(self) -> &'static str {
        match self {
            Period::Units(_) => "a number",
            _ => "a time such as 2026-01-31, 2026-01-31T23:59:59Z or the seconds since 1970",
        }
    }

    /// The period that a time is in; nothing for what is no time. Names of periods sort as the periods do, but for units.
    pub(crate) fn name(self, text: &str) -> Option<String> {
        let text = text.trim();
        if let Period::Units(units) = self {
            let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
            let from = (number / units).floor() * units;
            return Some(format!("{from} to {}", from + units));
        }
        let time = time(text)?;
        Some(match self {
            Period::Hour => format!("{}T{:02}", time.date_naive(), time.hour()),
            Period::Day => time.date_naive().to_string(),
            Period::Week => {
                let week = time.iso_week();
                format!("{}-W{:02}", week.year(), week.week())
            }
            Period::Month | Period::Units(_) => format!("{}-{:02}", time.year(), time.month()),
        })
    }
}

/// A time as it is written by most programs: ISO 8601, in universal time where no zone is said, or a count since 1970, of which the
/// size tells whether it is of seconds, milliseconds, microseconds or nanoseconds.
fn time(text: &str) -> Option<DateTime<Utc>> {
    if let Ok(number) = text.parse::<f64>() {
        let seconds = match number.abs() {
            size if size < 1e11 => number,
            size if size < 1e14 => number / 1e3,
            size if size < 1e17 => number / 1e6,
            _ => number / 1e9,
        };
        return seconds.is_finite().then(|| DateTime::from_timestamp(seconds.floor() as i64, 0)).flatten();
    }
    string_to_datetime(&Utc, text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_its_period() {
        let name = |period: Period, text: &str| period.name(text).unwrap_or_default();
        assert_eq!(name(Period::Day, "2026-01-31"), "2026-01-31");
        assert_eq!(name(Period::Hour, "2026-01-31 23:59:59.5"), "2026-01-31T23");
        assert_eq!(name(Period::Hour, "2026-01-31T23:59:59+02:00"), "2026-01-31T21");
        assert_eq!(name(Period::Week, "2027-01-01T00:00:00Z"), "2026-W53");
        assert_eq!(name(Period::Month, " 2026-12-01 "), "2026-12");
        for seconds in ["1767225600", "1767225600000", "1767225600000000", "1767225600000000000"] {
            assert_eq!(name(Period::Day, seconds), "2026-01-01");
        }
        assert_eq!(name(Period::Units(7.0), "-1"), "-7 to 0");
        assert_eq!(name(Period::Units(0.5), "1.6"), "1.5 to 2");
        for text in ["", "yesterday", "31.01.2026", "NaN"] {
            assert_eq!(Period::Week.name(text), None, "{text}");
        }
        assert_eq!(Period::Units(7.0).name("soon"), None);
    }

    #[test]
    fn periods_are_read_by_name() {
        assert_eq!("week".parse(), Ok(Period::Week));
        assert_eq!("2.5".parse(), Ok(Period::Units(2.5)));
        for text in ["weekly", "0", "-1", "inf", "NaN"] {
            assert_eq!(text.parse::<Period>(), Err(NoPeriod), "{text}");
        }
    }
}
