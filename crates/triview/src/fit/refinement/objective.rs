//! How far a mixture's third moment is from the data's.

use super::Misfit;
use super::point::{Expansion, Shape, inner, product};
use crate::data::{VIEWS, others};
use crate::fit::{Mixture, slice};
use crate::numeric::linalg::dot;
use crate::settings::second_derivative::MOST_FACTORED;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::solvers::Llt;
use faer::{Accum, Mat, MatRef, Par, Side};

/// What distance is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Distance {
    /// `1/2 |T - M|^2`: right where every cell is equally noisy, as whitened cells of overlapping classes are.
    Squares,
    /// `sum T log(T / M) - T + M`: right where cells are counts, as those of posteriors of well separated
    /// classes nearly are. Cells must be positive.
    KullbackLeibler,
}

impl Distance {
    /// The name that `fit.distance` shows.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Distance::Squares => "squares",
            Distance::KullbackLeibler => "kullback-leibler",
        }
    }

    /// The distance of two cells and its first two derivatives in the mixture's.
    fn expand(self, cell: f64, model: f64) -> [f64; 3] {
        match self {
            Distance::Squares => [0.5 * (model - cell) * (model - cell), model - cell, 1.0],
            Distance::KullbackLeibler if model <= 0.0 => [f64::INFINITY, 0.0, 0.0],
            Distance::KullbackLeibler => {
                let ratio = cell / model;
                [model - cell + cell * ratio.ln(), 1.0 - ratio, ratio / model]
            }
        }
    }
}

/// The distance as a function of a point.
pub(crate) struct Objective {
    distance: Distance,
    /// The third moment, slowest index the first view's.
    cells: Vec<f64>,
    /// For each view the map from the features that a mixture has the means of to those of the cells.
    maps: [Mat<f64>; VIEWS],
    k: usize,
}

/// Everything about a point that its value, gradient and curvature have in common.
pub(crate) struct Cells {
    /// Class means in the cells' features.
    means: [Mat<f64>; VIEWS],
    /// First and second derivative of the distance in each cell.
    slopes: Vec<f64>,
    bends: Vec<f64>,
    /// The slopes contracted with the class means of the other views.
    contracted: [Mat<f64>; VIEWS],
    /// The derivative in the prior, before its softmax.
    prior_gradient: Vec<f64>,
}

impl Misfit for Objective {
    type Detail = Cells;

    // The last digits are what makes merged states agree.
    const PRECISION: f64 = 1e-20;

    fn shape(&self) -> Shape {
        Shape { dims: self.maps.each_ref().map(Mat::ncols), k: self.k }
    }

    fn expand(&self, point: &[f64]) -> Expansion<Cells> {
        let mixture = self.shape().unpack(point);
        let means: [Mat<f64>; VIEWS] = std::array::from_fn(|v| product(&self.maps[v], &mixture.means[v]));
        let model = model_cells(&mixture.prior, means.each_ref());
        let (mut value, mut slopes, mut bends) = (0.0, Vec::with_capacity(model.len()), model);
        for (cell, model) in self.cells.iter().zip(&mut bends) {
            let [distance, slope, bend] = self.distance.expand(*cell, *model);
            value += distance;
            slopes.push(slope);
            *model = bend;
        }
        let contracted = contract(&slopes, means.each_ref());
        let prior_gradient: Vec<f64> =
            (0..self.k).map(|j| dot(contracted[0].col_as_slice(j), means[0].col_as_slice(j))).collect();
        let gradient = self.shape().pack_gradient(&mixture.prior, &prior_gradient, &self.pulled(&contracted));
        let detail = Cells { means, slopes, bends, contracted, prior_gradient };
        Expansion { mixture, value, gradient, detail }
    }

    /// The exact second derivative at a point, applied to a direction.
    fn curvature(&self, at: &Expansion<Cells>, direction: &[f64]) -> Vec<f64> {
        let k = self.k;
        let (prior, detail) = (&at.mixture.prior, &at.detail);
        let (d_prior, d_means) = self.change(at, direction);
        let [u1, u2, u3] = &detail.means;
        let [d1, d2, d3] = &d_means;
        let mut d_slopes = self.tangent(at, direction);
        d_slopes.iter_mut().zip(&detail.bends).for_each(|(change, bend)| *change *= bend);

        // How the contracted slopes change: with the slopes, and with the means they are contracted with.
        let mut d_contracted = contract(&d_slopes, [u1, u2, u3]);
        for (changed, factors) in [[d1, u2, u3], [u1, d2, u3], [u1, u2, d3]].into_iter().enumerate() {
            let change = contract(&detail.slopes, factors);
            for v in (0..VIEWS).filter(|&v| v != changed) {
                d_contracted[v] += &change[v];
            }
        }
        let d_prior_gradient: Vec<f64> = (0..k)
            .map(|j| {
                dot(d_contracted[0].col_as_slice(j), u1.col_as_slice(j))
                    + dot(detail.contracted[0].col_as_slice(j), d1.col_as_slice(j))
            })
            .collect();
        for v in 0..VIEWS {
            for j in 0..k {
                let ratio = d_prior[j] / prior[j];
                let change = d_contracted[v].col_as_slice_mut(j);
                for (change, slope) in change.iter_mut().zip(detail.contracted[v].col_as_slice(j)) {
                    *change += ratio * slope;
                }
            }
        }
        let mut out = self.shape().pack_gradient(prior, &d_prior_gradient, &self.pulled(&d_contracted));
        let mean = dot(prior, &detail.prior_gradient);
        let d_mean = dot(&d_prior, &detail.prior_gradient);
        for j in 0..k {
            out[j] += d_prior[j] * (detail.prior_gradient[j] - mean) - prior[j] * d_mean;
        }
        out
    }

    fn factor(&self, at: &Expansion<Cells>) -> Option<Llt<f64>> {
        if at.gradient.len() > MOST_FACTORED {
            return None;
        }
        self.hessian(at).llt(Side::Lower).ok()
    }
}

impl Objective {
    pub(crate) fn new(distance: Distance, cells: Vec<f64>, maps: [Mat<f64>; VIEWS], k: usize) -> Self {
        Self { distance, cells, maps, k }
    }

    /// The derivative in the class means from that in the means of the cells' features.
    fn pulled(&self, of_cells: &[Mat<f64>; VIEWS]) -> [Mat<f64>; VIEWS] {
        std::array::from_fn(|v| inner(&self.maps[v], &of_cells[v]))
    }

    /// How the prior and the class means in the cells' features change along a direction.
    fn change(&self, at: &Expansion<Cells>, direction: &[f64]) -> (Vec<f64>, [Mat<f64>; VIEWS]) {
        let (d_prior, d_mixture) = self.shape().change(&at.mixture.prior, direction);
        (d_prior, std::array::from_fn(|v| product(&self.maps[v], &d_mixture[v])))
    }

    /// How the mixture's cells change along a direction: the Jacobian applied to it.
    pub(crate) fn tangent(&self, at: &Expansion<Cells>, direction: &[f64]) -> Vec<f64> {
        let (d_prior, [d1, d2, d3]) = self.change(at, direction);
        let [u1, u2, u3] = &at.detail.means;
        let mut change = model_cells(&d_prior, [u1, u2, u3]);
        for factors in [[&d1, u2, u3], [u1, &d2, u3], [u1, u2, &d3]] {
            let part = model_cells(&at.mixture.prior, factors);
            change.iter_mut().zip(part).for_each(|(sum, cell)| *sum += cell);
        }
        change
    }

    /// The cells that a mixture implies.
    pub(crate) fn cells_of(&self, mixture: &Mixture) -> Vec<f64> {
        let means: [Mat<f64>; VIEWS] = std::array::from_fn(|v| product(&self.maps[v], &mixture.means[v]));
        model_cells(&mixture.prior, means.each_ref())
    }

    /// The exact second derivative at a point as a matrix, of which the lower triangle is filled, with unit curvature
    /// along the one direction that changes nothing, equal shifts of all logits.
    ///
    /// It is `J^T diag(bends) J` for the Jacobian `J` of the cells, and what the slopes add because the cells are
    /// products of class means.
    fn hessian(&self, at: &Expansion<Cells>) -> Mat<f64> {
        let (k, size) = (self.k, at.gradient.len());
        let prior = &at.mixture.prior;
        let jacobian = self.jacobian(at, size);
        let bent = match self.distance {
            Distance::Squares => None,
            Distance::KullbackLeibler => Some(scaled(&jacobian, &at.detail.bends)),
        };
        let mut hessian = Mat::zeros(size, size);
        triangular::matmul(
            hessian.as_mut(),
            BlockStructure::TriangularLower,
            Accum::Replace,
            jacobian.transpose(),
            BlockStructure::Rectangular,
            bent.as_ref().unwrap_or(&jacobian).as_ref(),
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );

        let mean = dot(prior, &at.detail.prior_gradient);
        let pull: Vec<f64> = (0..k).map(|j| prior[j] * (at.detail.prior_gradient[j] - mean)).collect();
        for i in 0..k {
            for j in 0..=i {
                hessian[(i, j)] += 1.0 / k as f64 - prior[i] * pull[j] - pull[i] * prior[j];
            }
            hessian[(i, i)] += pull[i];
        }
        let starts = self.shape().starts();
        for v in 0..VIEWS {
            let pulled = inner(&self.maps[v], &at.detail.contracted[v]);
            let free = pulled.nrows() - 1;
            for j in 0..k {
                for i in 0..free {
                    let at = starts[v] + j * free + i;
                    for l in 0..k {
                        let change = prior[j] * (f64::from(u8::from(j == l)) - prior[l]) * pulled[(i + 1, j)];
                        hessian[(at, l)] += change;
                    }
                }
            }
        }
        let dims = self.maps.each_ref().map(Mat::nrows);
        for third in 0..VIEWS {
            let [a, b] = others(third);
            for j in 0..k {
                let slice = slice(&at.detail.slopes, dims, third, at.detail.means[third].col_as_slice(j));
                let block = self.maps[a].transpose() * slice * &self.maps[b];
                let (free_a, free_b) = (block.nrows() - 1, block.ncols() - 1);
                for i in 0..free_a {
                    for l in 0..free_b {
                        let change = prior[j] * block[(i + 1, l + 1)];
                        let (row, column) = (starts[a] + j * free_a + i, starts[b] + j * free_b + l);
                        hessian[(column, row)] += change;
                    }
                }
            }
        }
        hessian
    }

    /// The derivative of every cell in every entry of the point.
    fn jacobian(&self, at: &Expansion<Cells>, size: usize) -> Mat<f64> {
        let (k, prior) = (self.k, &at.mixture.prior);
        let [d1, d2, d3] = at.detail.means.each_ref().map(Mat::nrows);
        let mut jacobian = Mat::zeros(d1 * d2 * d3, size);
        let starts = self.shape().starts();
        let mut fill = |column: usize, weight: f64, factors: [&[f64]; VIEWS]| {
            let cells = jacobian.col_as_slice_mut(column);
            for (a, first) in factors[0].iter().enumerate().filter(|(_, first)| **first != 0.0) {
                for (b, second) in factors[1].iter().enumerate().filter(|(_, second)| **second != 0.0) {
                    let product = weight * first * second;
                    let row = &mut cells[(a * d2 + b) * d3..][..d3];
                    row.iter_mut().zip(factors[2]).for_each(|(cell, third)| *cell = product * third);
                }
            }
        };
        for j in 0..k {
            let means = at.detail.means.each_ref().map(|means| means.col_as_slice(j));
            fill(j, prior[j], means);
            for v in 0..VIEWS {
                let free = self.maps[v].ncols() - 1;
                for i in 0..free {
                    let mut factors = means;
                    factors[v] = self.maps[v].col_as_slice(i + 1);
                    fill(starts[v] + j * free + i, prior[j], factors);
                }
            }
        }
        // Through the softmax: a logit raises its own class and lowers all in proportion to their prior.
        let total: Vec<f64> =
            (0..jacobian.nrows()).map(|cell| (0..k).map(|j| jacobian[(cell, j)]).sum()).collect();
        for j in 0..k {
            let column = jacobian.col_as_slice_mut(j);
            column.iter_mut().zip(&total).for_each(|(cell, total)| *cell -= prior[j] * total);
        }
        jacobian
    }
}

/// Each row of a matrix times a number.
fn scaled(matrix: &Mat<f64>, by: &[f64]) -> Mat<f64> {
    let mut scaled = Mat::zeros(matrix.nrows(), matrix.ncols());
    for column in 0..matrix.ncols() {
        let cells = scaled.col_as_slice_mut(column).iter_mut().zip(matrix.col_as_slice(column));
        cells.zip(by).for_each(|((scaled, cell), by)| *scaled = cell * by);
    }
    scaled
}

/// `sum_j weight_j F_1j (x) F_2j (x) F_3j`.
fn model_cells(weights: &[f64], factors: [&Mat<f64>; VIEWS]) -> Vec<f64> {
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
fn contract(cells: &[f64], factors: [&Mat<f64>; VIEWS]) -> [Mat<f64>; VIEWS] {
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
            out1[a] = dot(row, f2);
            out2.iter_mut().zip(row).for_each(|(sum, cell)| *sum += f1[a] * cell);
        }
    }
    let products = pair_products(&vec![1.0; k], factors[0], factors[1]);
    matmul(third.as_mut(), Accum::Replace, unfolded.transpose(), products.as_ref(), 1.0, Par::Seq);
    [first, second, third]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mixture of three classes with two to four features a view, and moments that it does not fit.
    fn example(distance: Distance) -> (Objective, Vec<f64>) {
        let wave = |i: usize, j: usize| 0.2 + 0.15 * ((3 * i + 5 * j) as f64).sin();
        let maps = [3, 2, 4].map(|d| Mat::from_fn(d, d, |i, j| wave(i, j) + f64::from(u8::from(i == j))));
        let cells = (0..24).map(|cell| 0.1 + 0.05 * (cell as f64).cos()).collect();
        let objective = Objective::new(distance, cells, maps, 3);
        let point = (0..3 + 3 * (2 + 1 + 3)).map(|i| 0.3 + 0.2 * (7.0 * i as f64).sin()).collect();
        (objective, point)
    }

    #[test]
    fn gradient_and_curvature_match_finite_differences() {
        for distance in [Distance::Squares, Distance::KullbackLeibler] {
            let (objective, point) = example(distance);
            let at = objective.expand(&point);
            let hessian = objective.hessian(&at);
            for i in 0..point.len() {
                let moved = |step: f64| {
                    let mut moved = point.clone();
                    moved[i] += step;
                    objective.expand(&moved)
                };
                let (up, down) = (moved(1e-5), moved(-1e-5));
                let slope = (up.value - down.value) / 2e-5;
                assert!((slope - at.gradient[i]).abs() < 1e-8, "{distance:?} {i}");
                let unit: Vec<f64> = (0..point.len()).map(|j| f64::from(u8::from(i == j))).collect();
                let bent = objective.curvature(&at, &unit);
                for j in 0..point.len() {
                    let bend = (up.gradient[j] - down.gradient[j]) / 2e-5;
                    assert!((bend - bent[j]).abs() < 1e-7, "{distance:?} {i} {j}: {bend} {}", bent[j]);
                    let gauge = if i < 3 && j < 3 { 1.0 / 3.0 } else { 0.0 };
                    let (row, column) = (i.max(j), i.min(j));
                    assert!((bent[j] + gauge - hessian[(row, column)]).abs() < 1e-10, "{distance:?} {i} {j}");
                }
            }
        }
    }
}
