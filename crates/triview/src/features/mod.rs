//! What each view is identified by.
//!
//! Any features of a view alone will do (the decomposition is consistent for all of them), so they are
//! chosen for how little noise they leave.

use serde::{Deserialize, Serialize};

/// A map from a view's scores to its features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum FeatureMap {
    /// The scores themselves.
    Scores,
}

impl FeatureMap {
    /// The name that `fit.features` shows.
    pub fn name(&self) -> &'static str {
        match self {
            FeatureMap::Scores => "scores",
        }
    }

    /// Dimension of each view's features for `k` classes, leading one included.
    pub fn dimensions(&self, k: usize) -> [usize; 3] {
        match self {
            FeatureMap::Scores => [k + 1; 3],
        }
    }
}
