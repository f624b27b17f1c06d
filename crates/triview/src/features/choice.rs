//! Which feature map is asked for.

use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Which feature map to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FeatureChoice {
    /// The one with the smallest standard error on a first look at the data.
    #[default]
    Auto,
    /// The scores.
    Scores,
    /// A softmax of standardised scores.
    Softmax,
    /// Posteriors by maximum likelihood over a sieve.
    Posterior,
}

impl FeatureChoice {
    /// Every choice.
    pub const ALL: [FeatureChoice; 4] =
        [FeatureChoice::Auto, FeatureChoice::Scores, FeatureChoice::Softmax, FeatureChoice::Posterior];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            FeatureChoice::Auto => "auto",
            FeatureChoice::Scores => "scores",
            FeatureChoice::Softmax => "softmax",
            FeatureChoice::Posterior => "posterior",
        }
    }
}

impl fmt::Display for FeatureChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FeatureChoice {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        FeatureChoice::ALL.into_iter().find(|features| features.name() == name).ok_or_else(|| {
            Error::InvalidParameter {
                name: "feature map",
                value: name.into(),
                expected: "one of auto, scores, softmax, posterior",
            }
        })
    }
}
