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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Latent {
    /// One a class.
    #[default]
    Classes,
    /// So many, at least one a class.
    States(usize),
    /// As few as the test of independence accepts on a first look at the data.
    Auto,
}

impl Latent {
    /// Refuses more than one state a class, for so many classes that no third moment is formed.
    pub(crate) fn refuse_for_many(self, k: usize) -> Result<()> {
        if self == Latent::Classes || self == Latent::States(k) {
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
            Latent::Auto => f.write_str("auto"),
        }
    }
}

impl FromStr for Latent {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Latent::Auto),
            _ => text.parse().map(Latent::States).map_err(|_| Error::InvalidParameter {
                name: "latent",
                value: text.into(),
                expected: "a number of latent states, or auto, is needed",
            }),
        }
    }
}

/// The states of a feature map, where more of them than classes were asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mediator {
    /// The class that each state of the feature map is of, by what the map itself says.
    pub(crate) map: Vec<usize>,
    /// The numbers of states that were tried to find this one.
    #[serde(default)]
    pub(crate) tried: Vec<Tried>,
}

impl Mediator {
    /// One state a class.
    pub(crate) fn classes(k: usize) -> Self {
        Self { map: (0..k).collect(), tried: Vec::new() }
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.map.len()
    }

    /// Whether every class, and no other, has a state.
    pub(crate) fn fits(&self, k: usize) -> bool {
        self.map.iter().all(|class| *class < k) && (0..k).all(|class| self.map.contains(&class))
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
#[derive(Debug, Clone, PartialEq)]
pub struct States {
    /// The class of each state.
    pub map: Vec<usize>,
    /// The probability of each state.
    pub prior: Vec<f64>,
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
