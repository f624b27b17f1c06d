//! The few dense decompositions that the method needs, over faer.

use crate::error::{Error, Result};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::cholesky::llt::solve::solve_in_place;
use faer::{Mat, MatMut, MatRef, Par, Side};

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

/// A positive definite matrix, factored in its own place.
#[derive(Debug)]
pub(crate) struct Cholesky {
    lower: Mat<f64>,
}

impl Cholesky {
    /// Of a matrix of which the lower triangle is looked at; nothing where it is not positive definite.
    pub(crate) fn of(mut matrix: Mat<f64>) -> Option<Self> {
        let scratch = cholesky_in_place_scratch::<f64>(matrix.nrows(), Par::Seq, Default::default());
        let mut buffer = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut buffer);
        let done =
            cholesky_in_place(matrix.as_mut(), Default::default(), Par::Seq, stack, Default::default());
        done.ok().map(|_| Self { lower: matrix })
    }

    /// Solves for each column.
    pub(crate) fn solve_in_place(&self, right: MatMut<'_, f64>) {
        let stack = &mut [];
        solve_in_place(self.lower.as_ref(), right, Par::Seq, MemStack::new(stack));
    }
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

/// The place of the largest number; the first of those that tie.
pub(crate) fn argmax(numbers: impl Iterator<Item = f64>) -> usize {
    let largest = |best: (usize, f64), next: (usize, f64)| if next.1 > best.1 { next } else { best };
    numbers.enumerate().fold((0, f64::NEG_INFINITY), largest).0
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

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Mat<f64> {
        Mat::from_fn(4, 3, |i, j| ((3 * i + j) as f64 * 0.7).sin() + if i == j { 2.0 } else { 0.0 })
    }

    #[test]
    fn the_pseudo_inverse_is_one() -> Result<()> {
        let a = example();
        let (inverse, values) = pseudo_inverse(a.as_ref(), 3)?;
        let identity = &inverse * &a;
        // Rounding grows with the condition.
        let tolerance = 12.0 * f64::EPSILON * values[0] / values[2];
        for (i, j) in (0..9).map(|at| (at / 3, at % 3)) {
            assert!((identity[(i, j)] - f64::from(u8::from(i == j))).abs() < tolerance);
        }
        Ok(())
    }

    #[test]
    fn a_factor_solves_and_what_is_not_positive_definite_has_none() {
        let a = example();
        let positive = a.transpose() * &a;
        let right = Mat::from_fn(3, 2, |i, j| (i + 2 * j) as f64);
        let mut solved = right.clone();
        // The upper triangle is not looked at.
        let lower = Mat::from_fn(3, 3, |i, j| if j > i { f64::NAN } else { positive[(i, j)] });
        Cholesky::of(lower).expect("a factor").solve_in_place(solved.as_mut());
        let back = &positive * &solved;
        assert!((0..6).all(|at| (back[(at % 3, at / 3)] - right[(at % 3, at / 3)]).abs() < 1e-12));
        assert!(Cholesky::of(positive * faer::Scale(-1.0)).is_none());
    }

    #[test]
    fn eigenvectors_reconstruct_the_matrix() -> Result<()> {
        let a = example();
        let symmetric = a.transpose() * &a;
        let (values, vectors) = symmetric_eigen(symmetric.as_ref())?;
        assert!(values.is_sorted());
        let back = Mat::from_fn(3, 3, |i, j| {
            (0..3).map(|l| vectors[(i, l)] * values[l] * vectors[(j, l)]).sum::<f64>()
        });
        for (i, j) in (0..9).map(|at| (at / 3, at % 3)) {
            assert!((back[(i, j)] - symmetric[(i, j)]).abs() < 9.0 * f64::EPSILON * values[2]);
        }
        Ok(())
    }

    #[test]
    fn what_is_beyond_a_rank_is_at_right_angles_to_it() -> Result<()> {
        let a = example();
        let (left, right) = beyond(a.as_ref(), 2)?;
        assert_eq!((left.ncols(), right.ncols()), (2, 1));
        let rest = left.transpose() * &a * &right;
        let smallest = pseudo_inverse(a.as_ref(), 3)?.1[2];
        assert!((rest[(0, 0)].abs() - smallest).abs() < 1e-12 && rest[(1, 0)].abs() < 1e-12);
        Ok(())
    }

    #[test]
    fn sums_of_exponentials_do_not_overflow() {
        assert!((log_sum_exp(&[1000.0, 1000.0]) - (1000.0 + 2f64.ln())).abs() < 1e-12);
        assert_eq!(log_sum_exp(&[f64::NEG_INFINITY; 2]), f64::NEG_INFINITY);
        assert!((softmax(&[-1000.0, -1000.0 + 3f64.ln()])[1] - 0.75).abs() < 1e-12);
        let mut product = Product::none();
        (0..1000).for_each(|_| product.times(1e-3));
        product.times(1e-200);
        assert!((product.ln() + (3000.0 + 200.0) * 10f64.ln()).abs() < 1e-8);
    }

    #[test]
    fn ties_are_the_firsts() {
        assert_eq!(argmax([1.0, 2.0, 2.0].into_iter()), 1);
        assert_eq!(argmax([-5.0].into_iter()), 0);
    }
}
