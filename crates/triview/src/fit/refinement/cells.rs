//! Arithmetic on the cells of a third moment, slowest index the first view's.

use crate::data::VIEWS;
use crate::numeric::linalg::dot;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

/// One column for each pair of classes, the second no later than the first: the product of their means.
pub(super) fn class_pairs(means: &Mat<f64>) -> Mat<f64> {
    let (d, k) = (means.nrows(), means.ncols());
    let mut out = Mat::zeros(d, k * (k + 1) / 2);
    let mut at = 0;
    for j in 0..k {
        for l in 0..=j {
            let products = means.col_as_slice(j).iter().zip(means.col_as_slice(l));
            out.col_as_slice_mut(at).iter_mut().zip(products).for_each(|(out, (a, b))| *out = a * b);
            at += 1;
        }
    }
    out
}

/// Cells as a matrix: one row a pair of features of the views other than `c`, in order, one column a feature of `c`.
pub(crate) fn unfold(cells: &[f64], [d1, d2, d3]: [usize; VIEWS], c: usize) -> Mat<f64> {
    match c {
        0 => Mat::from_fn(d2 * d3, d1, |pair, x| cells[x * d2 * d3 + pair]),
        1 => Mat::from_fn(d1 * d3, d2, |pair, y| cells[(pair / d3 * d2 + y) * d3 + pair % d3]),
        _ => MatRef::from_row_major_slice(cells, d1 * d2, d3).to_owned(),
    }
}

/// The inner product, in eight sums at a time.
pub(super) fn lanes_dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = dot(a_chunks.remainder(), b_chunks.remainder());
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// How the mixture's cells change with its prior and its class means: the Jacobian applied to a direction.
pub(super) fn tangent(
    (prior, [u1, u2, u3]): (&[f64], &[Mat<f64>; VIEWS]),
    (d_prior, [d1, d2, d3]): (&[f64], &[Mat<f64>; VIEWS]),
) -> Vec<f64> {
    let mut change = model_cells(d_prior, [u1, u2, u3]);
    for factors in [[d1, u2, u3], [u1, d2, u3], [u1, u2, d3]] {
        let part = model_cells(prior, factors);
        change.iter_mut().zip(part).for_each(|(sum, cell)| *sum += cell);
    }
    change
}

/// `sum_j weight_j F_1j (x) F_2j (x) F_3j`.
pub(super) fn model_cells(weights: &[f64], factors: [&Mat<f64>; VIEWS]) -> Vec<f64> {
    let [d1, d2, d3] = factors.map(Mat::nrows);
    let products = pair_products(weights, factors[0], factors[1]);
    let mut cells = vec![0.0; d1 * d2 * d3];
    let out = faer::MatMut::from_row_major_slice_mut(&mut cells, d1 * d2, d3);
    matmul(out, Accum::Replace, products.as_ref(), factors[2].transpose(), 1.0, Par::Seq);
    cells
}

/// One row for each pair of features of two views, one column a class.
fn pair_products(weights: &[f64], first: &Mat<f64>, second: &Mat<f64>) -> Mat<f64> {
    let (d1, d2) = (first.nrows(), second.nrows());
    let mut products = Mat::zeros(d1 * d2, weights.len());
    for (j, weight) in weights.iter().enumerate() {
        let rows = products.col_as_slice_mut(j).chunks_exact_mut(d2);
        for (row, a) in rows.zip(first.col_as_slice(j)) {
            row.iter_mut().zip(second.col_as_slice(j)).for_each(|(cell, b)| *cell = weight * a * b);
        }
    }
    products
}

/// For each view, class by class, cells contracted with the factors of the two other views: column `j` of the
/// first is `T(., F_2j, F_3j)`.
pub(super) fn contract(cells: &[f64], factors: [&Mat<f64>; VIEWS]) -> [Mat<f64>; VIEWS] {
    let [d1, d2, d3] = factors.map(Mat::nrows);
    let k = factors[0].ncols();
    let unfolded = MatRef::from_row_major_slice(cells, d1 * d2, d3);
    let mut slices = Mat::zeros(d1 * d2, k);
    matmul(slices.as_mut(), Accum::Replace, unfolded, factors[2], 1.0, Par::Seq);
    let (mut first, mut second, mut third) = (Mat::zeros(d1, k), Mat::zeros(d2, k), Mat::zeros(d3, k));
    for j in 0..k {
        let (f1, f2) = (factors[0].col_as_slice(j), factors[1].col_as_slice(j));
        let (out1, out2) = (first.col_as_slice_mut(j), second.col_as_slice_mut(j));
        for (a, row) in slices.col_as_slice(j).chunks_exact(d2).enumerate() {
            out1[a] = lanes_dot(row, f2);
            out2.iter_mut().zip(row).for_each(|(sum, cell)| *sum += f1[a] * cell);
        }
    }
    let products = pair_products(&vec![1.0; k], factors[0], factors[1]);
    matmul(third.as_mut(), Accum::Replace, unfolded.transpose(), products.as_ref(), 1.0, Par::Seq);
    [first, second, third]
}
