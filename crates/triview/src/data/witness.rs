//! A column without scores that tells classes apart by how its values are distributed.
//!
//! It is a view whose scores say nothing and whose covariates are indicators of its values: it identifies, and is not judged.

use super::schema::refuse_duplicates;
use crate::error::{Error, Result};
use crate::settings::witness::{BINS, MOST_COUNTED, MOST_KEPT, MOST_VALUES, RAREST};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The value that stands for all that are rare, or were not seen when the values were counted.
const OTHER: &str = "(other)";

/// A column without scores: its name, and the values that are told apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Witness {
    name: String,
    values: Values,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Values {
    /// The most frequent first; where some are pooled, [`OTHER`] is the last.
    Named { names: Vec<String>, pooled: u64 },
    /// Bins of numbers, from below each edge to above the last.
    Numbers { edges: Vec<f64> },
}

impl Witness {
    /// Of a column's texts, row by row; blank ones are missing. A view has to have as many values as there are classes.
    ///
    /// ```
    /// use triview::data::Witness;
    ///
    /// let hospitals = ["north", "south", "north", "", "south", "east"].repeat(100);
    /// let witness = Witness::of("hospital", hospitals.iter().copied())?;
    /// assert_eq!(witness.values(), ["north", "south", "east"]);
    /// assert_eq!(witness.place("south"), Some(1));
    /// assert_eq!(witness.place(""), None);
    /// # Ok::<(), triview::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Counted::witness`].
    pub fn of<'a>(name: &str, texts: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut counted = Counted::default();
        texts.into_iter().for_each(|text| counted.add(text));
        counted.witness(name)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its indicators are of: its values, or the bins of numbers.
    pub fn values(&self) -> Vec<String> {
        match &self.values {
            Values::Named { names, .. } => names.clone(),
            Values::Numbers { edges } => {
                let between = edges.windows(2).map(|pair| format!("{} to {}", pair[0], pair[1]));
                let (first, last) = (edges[0], edges[edges.len() - 1]);
                [format!("below {first}")]
                    .into_iter()
                    .chain(between)
                    .chain([format!("from {last} on")])
                    .collect()
            }
        }
    }

    /// How many rare values are pooled into one, where any are.
    pub fn pooled(&self) -> u64 {
        match &self.values {
            Values::Named { pooled, .. } => *pooled,
            Values::Numbers { .. } => 0,
        }
    }

    /// Whether its values are bins of numbers.
    pub fn is_binned(&self) -> bool {
        matches!(self.values, Values::Numbers { .. })
    }

    /// How many values it tells apart.
    pub(crate) fn width(&self) -> usize {
        match &self.values {
            Values::Named { names, .. } => names.len(),
            Values::Numbers { edges } => edges.len() + 1,
        }
    }

    /// The place of a text among its values; nothing where it is missing. A value that was never seen is one of the rare ones where there
    /// are any, and otherwise missing.
    pub fn place(&self, text: &str) -> Option<usize> {
        let text = text.trim();
        match &self.values {
            Values::Named { names, pooled } => {
                let named = names.iter().position(|name| name == text);
                let rare = (*pooled > 0 && !text.is_empty()).then(|| names.len() - 1);
                named.or(rare)
            }
            Values::Numbers { edges } => {
                let number = number(text)?;
                Some(edges.partition_point(|edge| *edge <= number))
            }
        }
    }

    /// One column of indicators a value.
    pub fn indicators(&self, places: &[Option<usize>]) -> Vec<f64> {
        let is = |value: usize| places.iter().map(move |place| f64::from(u8::from(*place == Some(value))));
        (0..self.width()).flat_map(is).collect()
    }

    /// Whether what was read from a file can be one.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.values {
            Values::Named { names, .. } if names.len() > 1 => refuse_duplicates("value", names),
            Values::Numbers { edges }
                if !edges.is_empty() && edges.windows(2).all(|pair| pair[0] < pair[1]) =>
            {
                Ok(())
            }
            _ => Err(Error::InvalidMoments { reason: format!("witness `{}` has no values", self.name) }),
        }
    }
}

/// The number that a text is, if it is one.
fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Whether a text says that there is no value.
fn is_missing(text: &str) -> bool {
    text.is_empty() || text.parse().is_ok_and(|number: f64| number.is_nan())
}

/// The values of a column while they are counted.
#[derive(Debug, Clone)]
pub struct Counted {
    rows: u64,
    counts: HashMap<String, u64>,
    /// Whether there are more values than are counted.
    many: bool,
    /// A text that is no number.
    text: Option<String>,
    /// Whether every number is whole.
    whole: bool,
    /// An even sample of the numbers: one in `2^level` rows.
    numbers: Vec<f64>,
    level: u32,
}

impl Default for Counted {
    fn default() -> Self {
        Self {
            rows: 0,
            counts: HashMap::new(),
            many: false,
            text: None,
            whole: true,
            numbers: Vec::new(),
            level: 0,
        }
    }
}

impl Counted {
    /// Counts the text of one more row.
    pub fn add(&mut self, text: &str) {
        let text = text.trim();
        if is_missing(text) {
            return;
        }
        match number(text) {
            Some(number) => {
                self.whole &= number.fract() == 0.0;
                if self.rows.is_multiple_of(1 << self.level) {
                    self.numbers.push(number);
                }
                if self.numbers.len() > MOST_KEPT {
                    self.level += 1;
                    let mut place = 0;
                    self.numbers.retain(|_| {
                        place += 1;
                        place % 2 == 1
                    });
                }
            }
            None if self.text.is_none() => self.text = Some(text.to_owned()),
            None => {}
        }
        self.rows += 1;
        if let Some(count) = self.counts.get_mut(text) {
            *count += 1;
        } else if self.counts.len() < MOST_COUNTED {
            self.counts.insert(text.to_owned(), 1);
        } else {
            self.many = true;
        }
    }

    /// What was counted, as a witness of this name: the values as they are; many different numbers in bins of about equally many rows; rare
    /// values as one.
    ///
    /// # Errors
    /// [`Error::ConstantWitness`] for fewer than two values and [`Error::WitnessOfRows`] for about one value a row.
    pub fn witness(self, name: &str) -> Result<Witness> {
        let values = self.counts.len();
        if values < 2 {
            let value = self.counts.into_keys().next();
            return Err(Error::ConstantWitness { witness: name.to_owned(), value });
        }
        let of_rows =
            Error::WitnessOfRows { witness: name.to_owned(), values: values as u64, rows: self.rows };
        let numbers = self.text.is_none();
        let each_its_own = self.many || 2 * values as u64 > self.rows;
        let identifies = if numbers { self.whole && values as u64 == self.rows } else { each_its_own };
        if identifies {
            return Err(of_rows);
        }
        // Where a sample has one number alone, the others are rare.
        let edges = if numbers && values > MOST_VALUES { edges(&self.numbers) } else { Vec::new() };
        let values = if edges.is_empty() { self.named() } else { Values::Numbers { edges } };
        let witness = Witness { name: name.to_owned(), values };
        if witness.width() < 2 {
            return Err(Error::ConstantWitness { witness: name.to_owned(), value: witness.values().pop() });
        }
        Ok(witness)
    }

    fn named(self) -> Values {
        let mut counts: Vec<(String, u64)> = self.counts.into_iter().collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let rarest = (RAREST * self.rows as f64).max(1.0);
        let frequent = counts.iter().take_while(|(_, count)| *count as f64 >= rarest).count();
        let mut named = frequent.min(if counts.len() > MOST_VALUES { MOST_VALUES - 1 } else { MOST_VALUES });
        // What is rare even together goes with the least frequent of the others.
        let left: u64 = counts[named..].iter().map(|(_, count)| count).sum();
        if left > 0 && (left as f64) < rarest && named > 2 {
            named -= 1;
        }
        if named + 1 >= counts.len() {
            named = counts.len();
        }
        let pooled = (counts.len() - named) as u64;
        let mut names: Vec<String> = counts.into_iter().take(named).map(|(name, _)| name).collect();
        if pooled > 0 {
            names.retain(|name| name != OTHER);
            names.push(OTHER.to_owned());
        }
        Values::Named { names, pooled }
    }
}

/// Edges between bins of about equally many of some numbers; none where all are the same.
fn edges(numbers: &[f64]) -> Vec<f64> {
    let mut numbers = numbers.to_vec();
    numbers.sort_by(f64::total_cmp);
    let (first, count) = (numbers[0], numbers.len());
    let mut edges: Vec<f64> = (1..BINS).map(|bin| numbers[bin * count / BINS]).collect();
    edges.dedup();
    edges.retain(|edge| *edge > first);
    if edges.is_empty() {
        edges.extend(numbers.into_iter().find(|number| *number > first));
    }
    edges
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;

    fn repeated(counts: &[(&str, usize)]) -> Vec<String> {
        counts.iter().flat_map(|(text, count)| std::iter::repeat_n((*text).to_owned(), *count)).collect()
    }

    fn witness(texts: &[String]) -> Result<Witness> {
        Witness::of("w", texts.iter().map(String::as_str))
    }

    #[test]
    fn rare_values_are_one() {
        let texts = repeated(&[("a", 600), (" b", 380), ("c", 12), ("d", 4), ("e", 2), ("f", 2)]);
        let pooled = witness(&texts).unwrap();
        assert_eq!(pooled.values(), ["a", "b", "c", OTHER]);
        assert_eq!(pooled.pooled(), 3);
        let places = ["b ", "d", "unheard of", "", "NaN"].map(|text| pooled.place(text));
        assert_eq!(places[..4], [Some(1), Some(3), Some(3), None]);
        assert_eq!(pooled.indicators(&places[..2]), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        // What is rare even together is pooled with one that is not.
        let texts = repeated(&[("a", 600), ("b", 380), ("c", 18), ("d", 1), ("e", 1)]);
        assert_eq!(witness(&texts).unwrap().values(), ["a", "b", OTHER]);
        let texts = repeated(&[("a", 600), ("b", 380)]);
        let plain = witness(&texts).unwrap();
        assert_eq!((plain.values(), plain.place("unheard of")), (vec!["a".to_owned(), "b".to_owned()], None));
    }

    #[test]
    fn of_many_values_the_frequent_ones_are_told_apart() {
        let texts: Vec<String> = (0..4_000).map(|row| format!("shop {}", row % 100)).collect();
        let shops = witness(&texts).unwrap();
        assert_eq!((shops.width(), shops.pooled()), (MOST_VALUES, 100 - MOST_VALUES as u64 + 1));
        // As many frequent ones as are told apart, and a rare one.
        let mut texts: Vec<String> = (0..3_200).map(|row| format!("shop {}", row % 32)).collect();
        texts.push("kiosk".to_owned());
        let shops = witness(&texts).unwrap();
        assert_eq!((shops.width(), shops.pooled()), (MOST_VALUES, 2));
    }

    #[test]
    fn many_numbers_are_binned_and_few_are_values() {
        let texts: Vec<String> = (0..4_000).map(|row| format!("{}", f64::from(row % 400) / 8.0)).collect();
        let binned = witness(&texts).unwrap();
        assert!(binned.is_binned() && binned.width() == BINS);
        let mut counts = vec![0; BINS];
        texts.iter().for_each(|text| counts[binned.place(text).unwrap()] += 1);
        assert!(counts.iter().all(|count| (320..=350).contains(count)), "{counts:?}");
        assert_eq!(binned.place("nan"), None);
        let weeks: Vec<String> = (0..4_000).map(|row| (row % 5).to_string()).collect();
        assert_eq!(witness(&weeks).unwrap().values(), ["0", "1", "2", "3", "4"]);
    }

    #[test]
    fn what_cannot_tell_classes_apart_is_refused() {
        let constant = witness(&repeated(&[("a", 100)]));
        assert!(matches!(constant, Err(Error::ConstantWitness { value: Some(value), .. }) if value == "a"));
        assert!(matches!(witness(&[]), Err(Error::ConstantWitness { value: None, .. })));
        let texts: Vec<String> = (0..300).map(|row| format!("row {row}")).collect();
        let rows = Error::WitnessOfRows { witness: "w".into(), values: 300, rows: 300 };
        assert_eq!(witness(&texts), Err(rows.clone()));
        let numbers: Vec<String> = (0..300).map(|row| row.to_string()).collect();
        assert_eq!(witness(&numbers), Err(rows));
        // A measurement may well have another value in every row.
        let measured: Vec<String> = (0..300).map(|row| format!("{}", f64::from(row) + 0.5)).collect();
        assert!(witness(&measured).unwrap().is_binned());
    }

    #[test]
    fn a_long_column_is_binned_by_a_sample() {
        let texts =
            (0..3 * MOST_KEPT as u64).map(|row| format!("{:.3}", (row * 7_919 % 100_003) as f64 / 7.0));
        let mut counted = Counted::default();
        texts.for_each(|text| counted.add(&text));
        assert!(counted.numbers.len() <= MOST_KEPT);
        assert_eq!(counted.witness("w").unwrap().width(), BINS);
    }

    #[test]
    fn numbers_that_a_sample_has_none_of_are_rare() {
        let mut counted = Counted::default();
        // Of the rows beyond the first only each second one is in the sample.
        for row in 0..2 * MOST_KEPT {
            let own = row > MOST_KEPT + 1 && row % 2 == 1 && row < MOST_KEPT + 200;
            counted.add(&if own { row.to_string() } else { "0".to_owned() });
        }
        assert!(counted.numbers.iter().all(|number| *number == 0.0));
        assert_eq!(counted.witness("w").unwrap().values(), ["0", OTHER]);
    }
}
