//! Periods of time that rows are answered by: the hour, day, week or month of a column of times, or so many units of a number.

use arrow_cast::parse::string_to_datetime;
use chrono::{DateTime, Datelike, NaiveDate, Timelike, Utc, Weekday};
use std::cmp::Ordering;
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

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Period::Hour => f.write_str("hour"),
            Period::Day => f.write_str("day"),
            Period::Week => f.write_str("week"),
            Period::Month => f.write_str("month"),
            Period::Units(units) => units.fmt(f),
        }
    }
}

/// Periods in the order of time: by the number that they begin with, otherwise by their letters, which have the year first. What has no
/// time comes last.
pub fn in_time(a: &str, b: &str) -> Ordering {
    let [x, y] = [a, b].map(|name| name.split(" to ").next().and_then(|from| from.parse::<f64>().ok()));
    match (x, y) {
        (Some(x), Some(y)) => x.total_cmp(&y),
        _ => a.starts_with('(').cmp(&b.starts_with('(')).then_with(|| a.cmp(b)),
    }
}

impl Period {
    /// Whether a period is over at a time in seconds since 1970; of numbers nobody knows, and each is taken to be.
    pub fn is_over(self, name: &str, now: i64) -> bool {
        let current = self.name(&now.to_string());
        matches!(self, Period::Units(_)) || current.is_some_and(|current| in_time(name, &current).is_lt())
    }

    /// Whether a text is the name of one of these periods.
    pub fn has(self, name: &str) -> bool {
        let begins = match self {
            Period::Hour => format!("{name}:00:00"),
            Period::Day => name.to_owned(),
            Period::Month => format!("{name}-01"),
            Period::Week => {
                let monday = || {
                    let (year, week) = name.split_once("-W")?;
                    NaiveDate::from_isoywd_opt(year.parse().ok()?, week.parse().ok()?, Weekday::Mon)
                };
                monday().map_or(String::new(), |monday| monday.to_string())
            }
            Period::Units(_) => name.split(" to ").next().unwrap_or_default().to_owned(),
        };
        self.name(&begins).is_some_and(|own| own == name)
    }

    /// The name of one of these periods, in a message.
    pub fn such_as(self) -> String {
        self.name("1767571200").unwrap_or_default()
    }

    /// Whether it is of times, and not of numbers.
    pub(crate) fn is_of_time(self) -> bool {
        !matches!(self, Period::Units(_))
    }

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
    fn periods_have_an_order_and_an_end() {
        assert!(in_time("9.5 to 10", "10 to 10.5").is_lt());
        assert!(in_time("2026-W53", "2027-W01").is_lt());
        assert!(in_time("(missing)", "2027-W01").is_gt());
        // The first second of 2026, a Thursday of its first week.
        let now = 1_767_225_600;
        assert!(Period::Day.is_over("2025-12-31", now) && !Period::Day.is_over("2026-01-01", now));
        assert!(Period::Week.is_over("2025-W52", now) && !Period::Week.is_over("2026-W01", now));
        assert!(Period::Units(1.0).is_over("5 to 6", now));
    }

    #[test]
    fn a_period_knows_its_names() {
        for period in [Period::Hour, Period::Day, Period::Week, Period::Month, Period::Units(2.5)] {
            for text in ["1767225600", "1", "1e9"] {
                let name = period.name(text).unwrap_or_default();
                assert!(period.has(&name), "{period}: {name}");
            }
            assert!(period.has(&period.such_as()));
            for text in [
                "",
                "banana",
                "2026",
                "2026-W54",
                "2026-W1",
                "2026-13",
                "2026-02-30",
                "1 to 2",
                "2026-01-01T24",
            ] {
                assert!(!period.has(text), "{period}: {text}");
            }
        }
        assert!(!Period::Week.has("2026-01") && !Period::Month.has("2026-W01"));
    }

    #[test]
    fn periods_are_read_by_name() {
        for text in ["hour", "day", "week", "month", "2.5"] {
            assert_eq!(text.parse::<Period>().map(|period| period.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("week".parse(), Ok(Period::Week));
        assert_eq!("2.5".parse(), Ok(Period::Units(2.5)));
        for text in ["weekly", "0", "-1", "inf", "NaN"] {
            assert_eq!(text.parse::<Period>(), Err(NoPeriod), "{text}");
        }
    }
}
