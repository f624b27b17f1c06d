//! What is asked not to be passed.

use std::fmt;
use std::str::FromStr;

/// What a limit is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// The risk.
    Risk,
    /// How often the prediction is wrong.
    ErrorRate,
    /// The number of rows.
    Rows,
}

impl Quantity {
    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Risk => "risk",
            Quantity::ErrorRate => "error_rate",
            Quantity::Rows => "rows",
        }
    }
}

/// What a quantity is held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Against {
    /// A number.
    Number(f64),
    /// What is normal, and so much more.
    Baseline {
        /// In the quantity's own units.
        plus: f64,
        /// In standard errors of the difference between the period and what is normal.
        errors: f64,
    },
}

/// What is asked not to be passed: `error_rate>0.05`, `risk>baseline+3se`, or `worse`, what the sequential test says; of a view by itself
/// with its name before it, `image:error_rate>0.05`.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// The view by itself that it is about; otherwise it is about what is judged.
    pub view: Option<String>,
    /// What may not be.
    pub rule: Rule,
}

/// What may not be.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// A quantity of the last complete period.
    Of {
        /// The quantity.
        quantity: Quantity,
        /// Whether it may not be above, or not below.
        above: bool,
        /// What.
        against: Against,
    },
    /// The sequential test's alarm.
    Worse,
}

/// Why a text is no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoLimit;

impl fmt::Display for NoLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a limit is `worse`, or one of risk, error_rate, rows, then > or <, then a number, `baseline`, `baseline+0.02` or \
             `baseline+3se`: error_rate>0.05, risk>baseline+3se, rows<1000; of a view that is watched by itself with its name before it: \
             image:error_rate>0.05",
        )
    }
}

impl std::error::Error for NoLimit {}

impl FromStr for Limit {
    type Err = NoLimit;

    fn from_str(text: &str) -> Result<Self, NoLimit> {
        let end = text.find(['>', '<']).unwrap_or(text.len());
        let (view, from) = match text[..end].rfind(':') {
            Some(at) => (Some(text[..at].trim()), at + 1),
            None => (None, 0),
        };
        if view == Some("") {
            return Err(NoLimit);
        }
        Ok(Self { view: view.map(str::to_owned), rule: text[from..].parse()? })
    }
}

impl FromStr for Rule {
    type Err = NoLimit;

    fn from_str(text: &str) -> Result<Self, NoLimit> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        if text == "worse" {
            return Ok(Rule::Worse);
        }
        let at = text.find(['>', '<']).ok_or(NoLimit)?;
        let quantity = match &text[..at] {
            "risk" => Quantity::Risk,
            "error_rate" | "error-rate" => Quantity::ErrorRate,
            "rows" => Quantity::Rows,
            _ => return Err(NoLimit),
        };
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or(NoLimit);
        let right = &text[at + 1..];
        let against = match right.strip_prefix("baseline") {
            None => Against::Number(number(right)?),
            Some(_) if quantity == Quantity::Rows => return Err(NoLimit),
            Some("") => Against::Baseline { plus: 0.0, errors: 0.0 },
            Some(more) if !more.starts_with(['+', '-']) => return Err(NoLimit),
            Some(more) => match more.strip_suffix("se") {
                Some(errors) => Against::Baseline { plus: 0.0, errors: number(errors)? },
                None => Against::Baseline { plus: number(more)?, errors: 0.0 },
            },
        };
        Ok(Rule::Of { quantity, above: text[at..].starts_with('>'), against })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.view {
            Some(view) => write!(f, "{view}:{}", self.rule),
            None => write!(f, "{}", self.rule),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rule::Of { quantity, above, against } = self else { return f.write_str("worse") };
        write!(f, "{}{}", quantity.name(), if *above { '>' } else { '<' })?;
        match against {
            Against::Number(number) => write!(f, "{number}"),
            Against::Baseline { plus: 0.0, errors: 0.0 } => f.write_str("baseline"),
            Against::Baseline { plus: 0.0, errors } => write!(f, "baseline{errors:+}se"),
            Against::Baseline { plus, .. } => write!(f, "baseline{plus:+}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_said() {
        for text in [
            "error_rate>0.05",
            "risk>baseline+3se",
            "risk<baseline-0.1",
            "rows<1000",
            "risk>baseline",
            "worse",
            "image:error_rate>0.05",
            "front camera:worse",
            "a:b:risk>baseline+3se",
        ] {
            assert_eq!(text.parse::<Limit>().map(|limit| limit.to_string()), Ok(text.to_owned()));
        }
        assert_eq!(" error-rate > 5e-2 ".parse::<Limit>(), "error_rate>0.05".parse());
        let bad = [
            "",
            "risk",
            "risk>",
            "risk>much",
            "risk>baseline3se",
            "accuracy>0.9",
            "rows>baseline",
            "risk>inf",
            "risk>=1",
            "worse!",
            ":risk>1",
            "image:",
            "image:accuracy>0.9",
        ];
        for text in bad {
            assert_eq!(text.parse::<Limit>(), Err(NoLimit), "{text}");
        }
    }
}
