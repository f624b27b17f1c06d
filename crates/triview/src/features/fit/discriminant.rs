//! Posteriors that are linear discriminants: where likelihoods are climbed from, and what moments alone imply.

use crate::data::VIEWS;
use crate::error::Result;
use crate::features::{Basis, FeatureMap, Posterior, Way};
use crate::numeric::linalg::{from_rows, symmetric_eigen};
use crate::settings::discriminant::LEAST_WITHIN;
use faer::Mat;

/// Linear discriminant weights, one row a class, constant first: `B_j = S^-1 mu_j`,
/// `b_j = log pi_j - mu_j . B_j / 2` with the covariance within classes
/// `S = E[phi phi^T] - sum_j pi_j mu_j mu_j^T`.
///
/// `second` is `E[phi phi^T]` (row by row) and `means` has one column a class. The means may come from signed
/// surrogate labels, so `S` may be indefinite by noise: its eigenvalues are kept above a twentieth of their
/// mean.
pub(crate) fn discriminant(prior: &[f64], second: &[f64], means: &Mat<f64>) -> Result<Vec<f64>> {
    let (p, k) = (means.nrows(), prior.len());
    let mut within = from_rows(second, p, p);
    for a in 0..p {
        for b in 0..p {
            within[(a, b)] -= (0..k).map(|j| prior[j] * means[(a, j)] * means[(b, j)]).sum::<f64>();
        }
    }
    let (values, vectors) = symmetric_eigen(within.as_ref())?;
    let mean = |sum: f64| sum / p as f64;
    // Classes within which nothing varies (votes that tell them) leave a share of what varies over all rows.
    let least = LEAST_WITHIN * mean((0..p).map(|a| second[a * p + a]).sum());
    let floor = (0.05 * mean(values.iter().map(|value| value.max(0.0)).sum())).max(least);
    let projected = vectors.transpose() * means;
    let mut weights = Vec::with_capacity(k * (p + 1));
    for j in 0..k {
        let scaled: Vec<f64> =
            (0..p).map(|a| projected[(a, j)] / values[a].max(floor).max(f64::MIN_POSITIVE)).collect();
        let row: Vec<f64> =
            (0..p).map(|a| (0..p).map(|b| vectors[(a, b)] * scaled[b]).sum::<f64>()).collect();
        let half: f64 = row.iter().enumerate().map(|(a, w)| 0.5 * w * means[(a, j)]).sum();
        weights.push(prior[j].max(1e-6).ln() - half);
        weights.extend(row);
    }
    Ok(weights)
}

/// The posteriors that a fit to the moments of a feature map implies, without rows: linear discriminants of the map's features, by
/// the prior, and for each view the map `Z_v` that whitens its features and the class means of these.
pub(crate) fn discriminant_map(
    map: &FeatureMap,
    prior: &[f64],
    whitening: &[Mat<f64>; VIEWS],
    means: &[Mat<f64>; VIEWS],
) -> Result<FeatureMap> {
    let prior: Vec<f64> = prior.iter().map(|p| p.max(1e-6)).collect();
    let k = prior.len();
    let of_view = |v: usize| {
        let (whitening, means) = (&whitening[v], &means[v]);
        let rank = means.nrows() - 1;
        let varying = Mat::from_fn(rank, k, |i, j| means[(i + 1, j)]);
        // Whitened features have no mean and unit covariance.
        let unit: Vec<f64> = (0..rank * rank).map(|at| f64::from(u8::from(at / rank == at % rank))).collect();
        let weights = discriminant(&prior, &unit, &varying)?;
        let row = |i: usize| (0..whitening.ncols()).map(move |c| whitening[(i + 1, c)]);
        match map {
            FeatureMap::Scores => {
                let whitening = (0..rank).flat_map(row).collect();
                Ok(Posterior { basis: Basis::Whitened { whitening, ridges: Vec::new(), rank }, weights })
            }
            FeatureMap::Softmax { views } => {
                let rows = weights.chunks_exact(rank + 1).flat_map(|weights| {
                    (0..whitening.ncols()).map(move |c| {
                        let constant = if c == 0 { weights[0] } else { 0.0 };
                        constant + (0..rank).map(|i| weights[i + 1] * whitening[(i + 1, c)]).sum::<f64>()
                    })
                });
                Ok(Posterior { weights: rows.collect(), basis: Basis::Softmax(views[v].clone()) })
            }
            FeatureMap::Posterior { views, .. } => Ok(views[v].clone()),
        }
    };
    let views = [of_view(0)?, of_view(1)?, of_view(2)?];
    Ok(FeatureMap::Posterior { way: Way::Discriminant, prior, views })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discriminants_of_normal_classes_are_the_log_odds() -> Result<()> {
        // Two classes with means (1, 0) and (-1, 0.5), covariance diag(1, 4), prior 0.3 and 0.7.
        let (prior, mu) = ([0.3, 0.7], [[1.0, 0.0], [-1.0, 0.5]]);
        let means = Mat::from_fn(2, 2, |i, j| mu[j][i]);
        let variance = [1.0, 4.0];
        let second: Vec<f64> = (0..4)
            .map(|at| {
                let (a, b) = (at / 2, at % 2);
                let between: f64 = (0..2).map(|j| prior[j] * mu[j][a] * mu[j][b]).sum();
                between + if a == b { variance[a] } else { 0.0 }
            })
            .collect();
        let weights = discriminant(&prior, &second, &means)?;
        let x = [0.4, -1.3];
        let logit = |j: usize| weights[3 * j] + weights[3 * j + 1] * x[0] + weights[3 * j + 2] * x[1];
        let density = |j: usize| -> f64 {
            let square = (0..2).map(|i| (x[i] - mu[j][i]).powi(2) / variance[i]).sum::<f64>();
            prior[j].ln() - 0.5 * square
        };
        assert!((logit(0) - logit(1) - (density(0) - density(1))).abs() < 1e-9);
        Ok(())
    }
}
