//! The few dense decompositions that the method needs, over faer.

use crate::error::{Error, Result};
use faer::{Mat, MatRef, Side};

/// Singular or eigenvalues below this fraction of the largest count as zero.
pub(crate) const RANK_TOLERANCE: f64 = 1e-9;

/// Eigenvalues, ascending, and eigenvectors of a symmetric matrix.
pub(crate) fn symmetric_eigen(a: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    let eigen = a
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| Error::Internal("an eigenvalue problem did not converge"))?;
    let values = (0..a.nrows()).map(|i| eigen.S()[i]).collect();
    Ok((values, eigen.U().to_owned()))
}

/// The Moore-Penrose inverse that keeps the `rank` largest singular values, and the singular values.
pub(crate) fn pseudo_inverse(a: MatRef<'_, f64>, rank: usize) -> Result<(Mat<f64>, Vec<f64>)> {
    let svd = a.thin_svd().map_err(|_| Error::Internal("a singular value problem did not converge"))?;
    let values: Vec<f64> = (0..a.nrows().min(a.ncols())).map(|i| svd.S()[i]).collect();
    let floor = values.first().copied().unwrap_or(0.0) * 1e-14;
    let mut scaled = svd.V().to_owned();
    for j in 0..scaled.ncols() {
        let inverse = if j < rank && values[j] > floor { 1.0 / values[j] } else { 0.0 };
        for i in 0..scaled.nrows() {
            scaled[(i, j)] *= inverse;
        }
    }
    Ok((scaled * svd.U().transpose(), values))
}

/// The left and right singular vectors beyond the `rank` largest singular values.
pub(crate) fn beyond(a: MatRef<'_, f64>, rank: usize) -> Result<(Mat<f64>, Mat<f64>)> {
    let svd = a.svd().map_err(|_| Error::Internal("a singular value problem did not converge"))?;
    let rest = |vectors: MatRef<'_, f64>| vectors.get(.., rank..).to_owned();
    Ok((rest(svd.U()), rest(svd.V())))
}

/// A matrix from its cells, row by row.
pub(crate) fn from_rows(cells: &[f64], rows: usize, columns: usize) -> Mat<f64> {
    MatRef::from_row_major_slice(cells, rows, columns).to_owned()
}

/// The inner product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The largest number; minus infinity where there are none.
#[inline(always)]
pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(f64::NEG_INFINITY, |top, x| if *x > top { *x } else { top })
}

/// A product of many numbers, whose logarithm is wanted: logarithms are slow, and few are taken.
#[derive(Debug)]
pub(crate) struct Product {
    log: f64,
    rest: f64,
}

impl Product {
    /// Neither a number below this, nor what is above it times a number that is, falls below the smallest there is.
    const SMALL: f64 = 1e-150;

    /// Of no numbers.
    pub(crate) fn none() -> Self {
        Self { log: 0.0, rest: 1.0 }
    }

    /// Takes in a number, of at most `1 / SMALL`.
    #[inline]
    pub(crate) fn times(&mut self, number: f64) {
        if number < Self::SMALL {
            self.log += number.ln();
            return;
        }
        self.rest *= number;
        if !(Self::SMALL..1.0 / Self::SMALL).contains(&self.rest) {
            self.log += self.rest.ln();
            self.rest = 1.0;
        }
    }

    pub(crate) fn ln(&self) -> f64 {
        self.log + self.rest.ln()
    }
}

/// `log sum_i exp(x_i)`, without overflow; minus infinity where all are.
pub(crate) fn log_sum_exp(x: &[f64]) -> f64 {
    log_sum_exp_of(x.len(), |i| x[i])
}

/// The same of so many numbers that are made when they are needed.
pub(crate) fn log_sum_exp_of(count: usize, of: impl Fn(usize) -> f64) -> f64 {
    let top = (0..count).map(&of).fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + (0..count).map(|i| (of(i) - top).exp()).sum::<f64>().ln()
}

/// The probabilities of some logits.
pub(crate) fn softmax(logits: &[f64]) -> Vec<f64> {
    let top = largest(logits);
    let weights: Vec<f64> = logits.iter().map(|z| (z - top).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w / total).collect()
}
