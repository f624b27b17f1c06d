//! Numbers as a reader wants them: no more digits than they are worth.

/// More decimals than this say nothing to a reader.
const MOST_DECIMALS: usize = 8;
/// The same for the numbers of a column, which have to leave room for others.
const COLUMN_DECIMALS: usize = 5;
/// From here on a number is written with an exponent.
const EXPONENT_FROM: f64 = 1e7;

/// A whole number with a comma between thousands.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `value ± error` with two significant digits of the error.
pub fn with_error(value: f64, error: f64) -> String {
    if !error.is_finite() {
        return format!("{} (standard error unknown)", fixed(value, 4));
    }
    if error <= 0.0 || error >= EXPONENT_FROM {
        return format!("{} ± {}", plain(value), plain(error));
    }
    let decimals = decimals_for(error, 2);
    format!("{} ± {}", fixed(value, decimals), fixed(error, decimals))
}

/// A number with as many decimals as show two significant digits of a width.
pub(super) fn to_digits_of(value: f64, width: f64) -> String {
    if width <= 0.0 || value.abs() >= EXPONENT_FROM {
        plain(value)
    } else {
        fixed(value, decimals_for(width, 2))
    }
}

/// A lone number with four significant digits.
pub fn plain(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let small = value.abs() < 1e-4;
    if small { format!("{value:.2e}") } else { fixed(value, decimals_for(value.abs(), 4)) }
}

/// The numbers of one column with the same decimals, three unless all are small.
pub(super) fn column(values: &[f64]) -> Vec<String> {
    let largest = values.iter().filter(|value| value.is_finite()).fold(0.0, |most: f64, v| most.max(v.abs()));
    let decimals = match largest {
        0.0 => 3,
        _ if largest < 1.0 => decimals_for(largest, 3).min(COLUMN_DECIMALS),
        _ if largest < 10.0 => 3,
        _ if largest < 1e5 => 2,
        _ => 0,
    };
    values.iter().map(|&value| fixed(value, decimals)).collect()
}

/// How many decimals show this many significant digits of a positive number.
fn decimals_for(value: f64, significant: i32) -> usize {
    let magnitude = value.log10().floor().clamp(-300.0, 300.0) as i32;
    usize::try_from(significant - 1 - magnitude).unwrap_or(0).min(MOST_DECIMALS)
}

/// A number with so many decimals, without a minus before a zero.
fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "unknown".to_owned();
    }
    if value.abs() >= EXPONENT_FROM {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|byte| matches!(byte, b'0' | b'.')) => digits.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_apart() {
        assert_eq!(
            [0, 999, 1_000, 20_000, 1_234_567].map(count),
            ["0", "999", "1,000", "20,000", "1,234,567"]
        );
    }

    #[test]
    fn error_sets_the_digits() {
        assert_eq!(with_error(0.171_234, 0.006_14), "0.1712 ± 0.0061");
        assert_eq!(with_error(21.04, 0.153), "21.04 ± 0.15");
        assert_eq!(with_error(1234.5, 56.7), "1234 ± 57");
        assert_eq!(with_error(-0.00001, 0.01), "0.000 ± 0.010");
        assert_eq!(with_error(0.5, f64::NAN), "0.5000 (standard error unknown)");
        assert_eq!(with_error(0.5, 0.0), "0.5000 ± 0");
    }

    #[test]
    fn a_column_has_one_number_of_decimals() {
        assert_eq!(column(&[0.1, -0.25, -0.0001]), ["0.100", "-0.250", "0.000"]);
        assert_eq!(column(&[-12345.678, 0.5]), ["-12345.68", "0.50"]);
        assert_eq!(column(&[123_456.7, 0.5]), ["123457", "0"]);
        assert_eq!(column(&[0.012_34, 0.000_5]), ["0.0123", "0.0005"]);
        assert_eq!(column(&[0.0]), ["0.000"]);
        assert_eq!(column(&[3.2e9, f64::NAN]), ["3.20e9", "unknown"]);
    }

    #[test]
    fn a_lone_number_has_four_digits() {
        assert_eq!(plain(0.010_34), "0.01034");
        assert_eq!(plain(31.249), "31.25");
        assert_eq!(plain(0.0), "0");
        assert_eq!(plain(1.234e-7), "1.23e-7");
    }
}
