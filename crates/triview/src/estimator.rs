//! From rows, or from a state, to the risk.

use serde::Serialize;

/// How a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// At a minimum, away from every border.
    Converged,
    /// The iterations ran out first.
    IterationLimit,
    /// At a minimum that identifies nothing: a class without rows, or a view that cannot tell two classes
    /// apart. The numbers are not to be trusted.
    Degenerate,
}

/// How the moments were solved for the class prior and the conditional means.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// How it ended.
    pub status: Status,
    /// The start that led to the lowest objective: `tensor` or `posterior`.
    pub start: &'static str,
    /// The feature map.
    pub features: &'static str,
    /// The surrogate labels: `linear` or `pair`.
    pub surrogate: &'static str,
    /// Half the squared distance between the moments and the fit, in whitened coordinates.
    pub objective: f64,
    /// Iterations of the refinement.
    pub iterations: usize,
}

/// The quantities of Theorem 1 that say how hard the problem is.
#[derive(Debug, Clone, PartialEq)]
pub struct Conditioning {
    /// For each view, the smallest singular value of the whitened class means of its features.
    pub smallest_singular_value: Vec<f64>,
    /// The smallest class prior.
    pub smallest_prior: f64,
    /// `E[sum_v,j f_v(x_v, j)^2]`.
    pub tau: f64,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The estimated risk.
    pub risk: f64,
    /// Its standard error (jackknife over blocks).
    pub standard_error: f64,
    /// Name of the loss.
    pub loss: String,
    /// Rows it rests on.
    pub rows: u64,
    /// Names of the views.
    pub views: Vec<String>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Probability of each class.
    pub class_prior: Vec<f64>,
    /// For each view, row `i`, column `j`: `E[f_v(x, i) | y = j]` (eq. 2).
    pub conditional_risk: Vec<Vec<Vec<f64>>>,
    /// The risk of the rows of each class, `E[L | y = j]`... absent where the loss has none.
    pub matching_gap: f64,
    /// How the moments were solved.
    pub fit: Fit,
    /// How hard the problem was.
    pub conditioning: Conditioning,
    /// What is wrong with it, in words; empty when nothing is.
    pub alarms: Vec<String>,
}
