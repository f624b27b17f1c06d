//! Functions of a view's scores, and of its further features, that a posterior is a log-linear combination of.

use super::Softmax;
use crate::error::Result;
use crate::numeric::columns;
use crate::numeric::kernel;
use crate::numeric::linalg::{RANK_TOLERANCE, from_rows, symmetric_eigen};
use serde::{Deserialize, Serialize};

/// The functions, without the constant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Basis {
    /// Whitened scores, and smooth ridge functions of them.
    Whitened {
        /// One row a direction: the constant, then a weight for each class's score and each feature.
        whitening: Vec<f64>,
        /// One row a ridge function: the constant, then a weight for each whitened score.
        ridges: Vec<f64>,
        /// Number of whitened scores.
        rank: usize,
    },
    /// The softmax features but the first.
    Softmax(Softmax),
}

impl Basis {
    /// Whitened scores with `ridges` ridge functions `t / sqrt(1 + t^2)`, `t = z . z_a / |z_a| - c`.
    ///
    /// The directions `z_a` are those of rows of the data and the offsets `c` the projections of other
    /// rows: inner products of whitened scores do not change with the order (or any other invertible
    /// linear map) of the scores, so neither does anything fitted on this basis. Which rows is decided by their
    /// whitened length, so the order of the rows does not matter either.
    pub(crate) fn fit(rows: usize, scores: &[f64], ridges: usize) -> Result<Self> {
        let k = scores.len() / rows;
        let (whitening, rank) = whiten(rows, scores)?;
        let mut z = vec![0.0; rows * rank];
        columns::affine_columns(scores, rows, k, &whitening, rank, &mut z);
        let row = |i: usize| (0..rank).map(|j| z[j * rows + i]).collect::<Vec<f64>>();
        let length = |i: usize| (0..rank).map(|j| z[j * rows + i].powi(2)).sum::<f64>();
        let mut by_length: Vec<(f64, usize)> = (0..rows).map(|i| (length(i), i)).collect();
        by_length.sort_by(|a, b| a.0.total_cmp(&b.0));
        let landmark = |r: usize| row(by_length[(2 * r + 1) * rows / (4 * ridges)].1);
        let mut weights = Vec::with_capacity(ridges * (rank + 1));
        for r in 0..ridges {
            // Short rows give directions, long ones offsets: bends lie out to where the rows do.
            let (direction, offset) = (landmark(r), landmark(2 * ridges - 1 - r));
            let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-12);
            let projected: f64 = direction.iter().zip(&offset).map(|(a, b)| a * b / norm).sum();
            weights.push(-projected);
            weights.extend(direction.iter().map(|x| x / norm));
        }
        Ok(Basis::Whitened { whitening, ridges: weights, rank })
    }

    /// The number of functions.
    pub(crate) fn len(&self) -> usize {
        match self {
            Basis::Whitened { ridges, rank, .. } => rank + ridges.len() / (rank + 1),
            Basis::Softmax(softmax) => softmax.len() - 1,
        }
    }

    /// How many of the functions, the first ones, are linear in the scores.
    pub(crate) fn linear(&self) -> usize {
        match self {
            Basis::Whitened { rank, .. } => *rank,
            Basis::Softmax(_) => 0,
        }
    }

    /// Whether it is one for `k` classes, and so many scores and features.
    pub(crate) fn fits(&self, k: usize, width: usize) -> bool {
        match self {
            Basis::Whitened { whitening, ridges, rank } => {
                *rank <= width
                    && whitening.len() == rank * (width + 1)
                    && ridges.len().is_multiple_of(rank + 1)
                    && whitening.iter().chain(ridges).all(|weight| weight.is_finite())
            }
            Basis::Softmax(softmax) => softmax.fits(k, width),
        }
    }

    /// One column a function.
    pub(crate) fn evaluate(&self, rows: usize, scores: &[f64], out: &mut Vec<f64>) {
        let k = scores.len() / rows;
        match self {
            Basis::Whitened { whitening, ridges, rank } => {
                out.clear();
                out.resize(rows * self.len(), 0.0);
                let (z, t) = out.split_at_mut(rows * rank);
                columns::affine_columns(scores, rows, k, whitening, *rank, z);
                columns::affine_columns(z, rows, *rank, ridges, t.len() / rows, t);
                columns::ridge_in_place(t);
            }
            Basis::Softmax(softmax) => {
                softmax.evaluate(rows, scores, out);
                out.drain(..rows);
            }
        }
    }
}

/// The rows of `D^(-1/2) V^T (s - mean)` for the covariance `V D V^T` of the scores, directions without
/// variance left out, each with its constant first; and how many there are.
fn whiten(rows: usize, scores: &[f64]) -> Result<(Vec<f64>, usize)> {
    let k = scores.len() / rows;
    let mean: Vec<f64> =
        scores.chunks_exact(rows).map(|column| column.iter().sum::<f64>() / rows as f64).collect();
    let mut centred = scores.to_vec();
    for (column, mean) in centred.chunks_exact_mut(rows).zip(&mean) {
        column.iter_mut().for_each(|s| *s -= mean);
    }
    let mut covariance = vec![0.0; k * k];
    kernel::cross(&centred, &centred, rows, k, k, &mut covariance);
    covariance.iter_mut().for_each(|c| *c /= rows as f64);
    let (values, vectors) = symmetric_eigen(from_rows(&covariance, k, k).as_ref())?;
    let largest = values[k - 1];
    let mut whitening = Vec::new();
    let mut rank = 0;
    for j in (0..k).filter(|&j| values[j] > RANK_TOLERANCE * largest) {
        let weights: Vec<f64> = (0..k).map(|i| vectors[(i, j)] / values[j].sqrt()).collect();
        whitening.push(-weights.iter().zip(&mean).map(|(w, m)| w * m).sum::<f64>());
        whitening.extend(weights);
        rank += 1;
    }
    Ok((whitening, rank))
}
