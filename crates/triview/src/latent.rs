//! The mediating variable (extension 3 of the paper): views that are independent only given a state `z` which
//! determines the class, `y = r(z)`.
//!
//! Everything that is fitted then has one column a state, `K >= k` of them, and `M_v[i, z] = E[f_v(x_v, i) | z]` has `k` rows
//! and `K` columns. Each state is called by the class that lowers the risk the most, `r(z) = argmax_j sum_v M_v[j, z]`, and
//!
//! ```text
//!     E[L] = E[A] - sum_z pi_z sum_v M_v[r(z), z]
//! ```
//!
//! (the paper has a plus sign there, which its own eq. 3 has not). What is said of classes is summed over their states.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How many latent states the views are taken to be independent given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Latent {
    /// One a class.
    #[default]
    Classes,
    /// So many, at least one a class.
    States(usize),
    /// So many of each class that is named, and one of every other: the map from states to classes is known, up to the
    /// order of the states of a class, which means nothing.
    OfClasses(Vec<(String, usize)>),
    /// As few as the test of independence accepts on a first look at the data.
    Auto,
}

impl Latent {
    /// The known map from states to classes: the class of each state.
    pub fn map<C: Into<String>>(classes: impl IntoIterator<Item = C>) -> Self {
        let mut counts: Vec<(String, usize)> = Vec::new();
        for class in classes.into_iter().map(C::into) {
            match counts.iter_mut().find(|(of, _)| *of == class) {
                Some((_, count)) => *count += 1,
                None => counts.push((class, 1)),
            }
        }
        Latent::OfClasses(counts)
    }

    /// How many states each of these classes has, where that is known.
    pub(crate) fn counts(&self, classes: &[String]) -> Result<Option<Vec<usize>>> {
        let Latent::OfClasses(named) = self else { return Ok(None) };
        let refuse = |class: &String, expected| {
            Err(Error::InvalidParameter { name: "latent", value: format!("`{class}` in {self}"), expected })
        };
        let mut counts = vec![None; classes.len()];
        for (class, count) in named {
            let Some(at) = classes.iter().position(|known| known == class) else {
                return Err(Error::UnknownClass { class: class.clone(), known: classes.to_vec() });
            };
            if counts[at].replace(*count).is_some() {
                return refuse(class, "each class is named once, with the number of all its states");
            }
            if *count == 0 {
                return refuse(class, "every class has at least one latent state");
            }
        }
        Ok(Some(counts.into_iter().map(|count| count.unwrap_or(1)).collect()))
    }

    /// Refuses more than one state a class, for so many classes that no third moment is formed.
    pub(crate) fn refuse_for_many(&self, k: usize) -> Result<()> {
        if *self == Latent::Classes || *self == Latent::States(k) {
            return Ok(());
        }
        Err(Error::InvalidParameter {
            name: "latent",
            value: self.to_string(),
            expected: "for more than 64 classes there is one latent state a class; leave it out",
        })
    }
}

impl fmt::Display for Latent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Latent::Classes => f.write_str("classes"),
            Latent::States(states) => write!(f, "{states}"),
            Latent::OfClasses(counts) => {
                let all: Vec<String> =
                    counts.iter().map(|(class, count)| format!("{class}={count}")).collect();
                f.write_str(&all.join(","))
            }
            Latent::Auto => f.write_str("auto"),
        }
    }
}

impl FromStr for Latent {
    type Err = Error;

    /// Reads `6`, `auto` or `cat=2,dog=1`. Names of classes may hold either separator: a name ends at the first `=` with a
    /// number after it and then a comma or the end.
    fn from_str(text: &str) -> Result<Self> {
        let refuse = || Error::InvalidParameter {
            name: "latent",
            value: text.into(),
            expected: "a number of latent states, auto, or the numbers of states of classes, such as cat=2,dog=1, is needed",
        };
        if text == "auto" {
            return Ok(Latent::Auto);
        }
        if !text.contains('=') {
            return text.parse().map(Latent::States).map_err(|_| refuse());
        }
        let (mut counts, mut rest) = (Vec::new(), Some(text));
        while let Some(left) = rest {
            let (class, count, after) = first_count(left).ok_or_else(refuse)?;
            counts.push((class.trim().to_owned(), count));
            rest = after;
        }
        Ok(Latent::OfClasses(counts))
    }
}

/// The first `name=number` of a list, and what comes after its comma.
fn first_count(text: &str) -> Option<(&str, usize, Option<&str>)> {
    text.match_indices('=').filter(|(at, _)| *at > 0).find_map(|(at, _)| {
        let after = &text[at + 1..];
        let digits = after.find(|symbol: char| !symbol.is_ascii_digit()).unwrap_or(after.len());
        let rest = match after[digits..].strip_prefix(',') {
            Some(rest) => Some(rest),
            None if digits == after.len() => None,
            None => return None,
        };
        Some((&text[..at], after[..digits].parse().ok()?, rest))
    })
}

/// The states of a feature map, where more of them than classes were asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mediator {
    /// The class that each state of the feature map is of, by what the map itself says.
    pub(crate) map: Vec<usize>,
    /// How many states each class has, where that is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) counts: Option<Vec<usize>>,
}

impl Mediator {
    /// One state a class.
    pub(crate) fn classes(k: usize) -> Self {
        Self { map: (0..k).collect(), counts: None }
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.map.len()
    }

    /// Whether every class, and no other, has a state.
    pub(crate) fn fits(&self, k: usize) -> bool {
        let states = |class: usize| self.map.iter().filter(|of| **of == class).count();
        self.map.iter().all(|class| *class < k)
            && (0..k).all(|class| states(class) > 0)
            && self.counts.as_ref().is_none_or(|counts| (0..k).map(states).eq(counts.iter().copied()))
    }
}

/// A number of states, and the chance of what was seen if the views are independent given so many.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// The number of states.
    pub states: usize,
    /// The p-value of the test of independence; absent where nothing could be tested.
    pub p_value: Option<f64>,
}

/// The states of an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct States {
    /// The class of each state.
    pub map: Vec<usize>,
    /// The probability of each state.
    pub prior: Vec<f64>,
    /// Whether the number of states of each class was given.
    pub given: bool,
    /// How many states are then of a class that the scores in them do not favour.
    pub overruled: usize,
    /// For each group of views, how many states it is seen to tell apart: the rank of its class means, which is full where it
    /// is the number of states.
    pub rank: Vec<usize>,
    /// The numbers of states that were tried to find this one.
    pub tried: Vec<Tried>,
}

/// Sums the columns of states, each of `rows` numbers, over the states of a class.
pub(crate) fn by_class(rows: usize, k: usize, map: &[usize], states: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.resize(rows * k, 0.0);
    for (column, &class) in states.chunks_exact(rows).zip(map) {
        let sums = &mut out[class * rows..(class + 1) * rows];
        sums.iter_mut().zip(column).for_each(|(sum, cell)| *sum += cell);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_they_are_written() {
        let counts = |text: &str| text.parse::<Latent>().unwrap();
        assert_eq!(counts("cat=2,dog=1"), Latent::OfClasses(vec![("cat".into(), 2), ("dog".into(), 1)]));
        assert_eq!(counts("a=b=3,c,d=2"), Latent::OfClasses(vec![("a=b".into(), 3), ("c,d".into(), 2)]));
        assert_eq!(counts("cat=2,dog=1").to_string(), "cat=2,dog=1");
        assert_eq!(Latent::map(["dog", "cat", "dog"]), counts("dog=2,cat=1"));
        assert_eq!((counts("12"), counts("auto")), (Latent::States(12), Latent::Auto));
        for text in
            ["", "many", "1.5", "cat=", "=2", "cat=two", "cat=2,", "cat=2,dog", "cat=99999999999999999999"]
        {
            let message = text.parse::<Latent>().unwrap_err().to_string();
            assert!(
                message.contains(&format!("latent is {text}: a number of latent states, auto")),
                "{message}"
            );
        }
    }

    #[test]
    fn counts_are_of_the_classes() {
        let classes = ["cat", "dog", "cow"].map(str::to_owned);
        let counts = |text: &str| text.parse::<Latent>().unwrap().counts(&classes);
        assert_eq!(counts("cow=3,cat=2"), Ok(Some(vec![2, 1, 3])));
        assert_eq!(counts("6"), Ok(None));
        let refused = |text: &str| counts(text).unwrap_err().to_string();
        assert_eq!(
            refused("cat=2,hen=1"),
            "there is no class `hen` to have latent states; the classes are cat, dog, cow"
        );
        assert!(refused("cat=2,cat=1").contains("`cat` in cat=2,cat=1: each class is named once"));
        assert!(refused("dog=0").contains("every class has at least one latent state"));
    }
}
