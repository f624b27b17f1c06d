//! How hard the problem is: the quantities of Theorem 1.

use crate::answer::Shrunk;
use crate::fit::Agreement;
use crate::moments::Moments;
use crate::settings::conditioning::CLEAR;

/// The quantities of Theorem 1, and what they ask of the number of rows.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Conditioning {
    /// For each view, the smallest singular value of the whitened class means of its features: the theorem's
    /// `lambda`, near zero where a view does not tell all classes apart.
    pub smallest_singular_value: Vec<f64>,
    /// The smallest class prior.
    pub smallest_prior: f64,
    /// `E[sum_v,j f_v(x_v, j)^2]`.
    pub tau: f64,
    /// About how many rows it takes to tell all classes apart: in the weakest of the directions that classes need,
    /// two views correlate by `rho`, about the product of their singular values times the prior. By chance they
    /// would by some `c / sqrt(n)`, and that should be two thirds of `rho` at most.
    pub rows_needed: f64,
}

impl Conditioning {
    pub(crate) fn new(moments: &Moments, answer: &Shrunk) -> Self {
        let (layout, total) = (moments.layout(), moments.total());
        let k = moments.plan().states();
        let n = layout.rows.scalar(&total);
        let singular = |means: &faer::Mat<f64>| {
            means.singular_values().ok().and_then(|values| values.get(k - 1).copied()).unwrap_or(0.0)
        };
        let needed = |pair: &Agreement| n * (CLEAR * pair.chance / pair.correlation).powi(2);
        Self {
            smallest_singular_value: answer.blended.main().mixture.means.iter().map(singular).collect(),
            smallest_prior: answer.blended.quantities.prior.iter().copied().fold(f64::INFINITY, f64::min),
            tau: layout.squared_terms.scalar(&total) / n,
            rows_needed: answer.blended.variants.agreement.iter().map(needed).fold(0.0, f64::max),
        }
    }
}
