//! How many classes each pair of views tells apart.

use super::Whitening;
use crate::data::{VIEWS, others};
use crate::error::Result;
use crate::moments::Family;

/// How far the two views other than one agree in the weakest of the `k - 1` directions that classes (or latent states) need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Agreement {
    /// The `k - 1`-th canonical correlation of the two views.
    pub(crate) correlation: f64,
    /// What views that share one direction fewer would show by chance.
    pub(crate) chance: f64,
    /// One more than the number of directions in which they agree beyond chance: so many classes (or states) both are seen to
    /// tell apart, `k` at the most.
    pub(crate) rank: usize,
}

impl Agreement {
    /// Of the views other than each one. Whitened features of unrelated views have correlations of order
    /// `1 / sqrt(n)`, the largest of `a x b` of them about `(sqrt(a) + sqrt(b)) / sqrt(n)`.
    pub(crate) fn all(
        whitening: &Whitening,
        family: &Family,
        k: usize,
        sums: &[f64],
    ) -> Result<[Agreement; VIEWS]> {
        // The first cell is the sum of ones.
        let n = family.tensor.of(sums)[0];
        let mut all = [Agreement { correlation: 0.0, chance: 0.0, rank: 0 }; VIEWS];
        for (v, agreement) in all.iter_mut().enumerate() {
            let [a, b] = others(v);
            // After so many directions that the views share.
            let spare = |v: usize, shared: usize| ((whitening.maps[v].nrows() - 1 - shared) as f64).sqrt();
            let chance = |shared: usize| (spare(a, shared) + spare(b, shared) + 1.0) / n.sqrt();
            let correlations = whitening.correlations(family, sums, v)?;
            agreement.correlation = correlations[k - 2];
            agreement.chance = chance(k - 2);
            let shared = (0..k - 1).take_while(|&at| correlations[at] >= chance(at)).count();
            agreement.rank = 1 + shared;
        }
        Ok(all)
    }
}
