//! The second derivative of the distance at a point: applied to directions, or formed.
//!
//! With slopes `s` and bends `b`, the first and second derivative of the distance in each cell, a change `D_v` of the class means changes the
//! slopes contracted with the other views' means by
//!
//! ```text
//!     b times the change of the mixture's cells, contracted again,    and    S_cj D_bj,    S_cj = s contracted with U_cj,
//! ```
//!
//! `b` and `c` the two other views. The slices `S_cj` are made once a point and applied in `O(k^3)`. Where all bends are one, as those of
//! squares are, the first part too takes inner products of class means alone (Sorber, Van Barel and De Lathauwer 2013), and nothing of
//! the size of the third moment is touched for a direction.
//!
//! Formed, it takes one number for each pair of classes and each pair of features: never the derivative of every cell in every
//! unknown.

use super::cells::{class_pairs, contract, lanes_dot, tangent, unfold};
use super::newton::Curve;
use super::point::{Shape, change_of_mixture, gram, inner, product, through_softmax};
use crate::data::{VIEWS, others};
use crate::fit::Mixture;
use crate::numeric::linalg::{Cholesky, dot};
use crate::settings::newton::MOST_FACTORED;
use faer::Mat;

/// The second derivative of a distance at a point.
pub(crate) struct SecondDerivative {
    shape: Shape,
    mixture: Mixture,
    /// For each view the map from the mixture's features to the cells', where these are others.
    maps: Option<[Mat<f64>; VIEWS]>,
    /// Class means in the cells' features.
    means: [Mat<f64>; VIEWS],
    bends: Bends,
    /// `S_cj`: one column a class, one row a pair of features of the other two views.
    slices: [Mat<f64>; VIEWS],
    /// The slopes contracted with the class means of the other views.
    contracted: [Mat<f64>; VIEWS],
    /// The derivative in the prior, before its softmax.
    prior_gradient: Vec<f64>,
}

/// The second derivative of the distance in each cell.
enum Bends {
    /// One in each; `U_v^T U_v` of each view.
    One([Mat<f64>; VIEWS]),
    /// Any.
    Any(Vec<f64>),
}

/// What of a point the second derivative is made of.
pub(super) struct At<'a> {
    pub(super) shape: Shape,
    pub(super) mixture: &'a Mixture,
    pub(super) maps: Option<&'a [Mat<f64>; VIEWS]>,
    pub(super) means: &'a [Mat<f64>; VIEWS],
    /// The derivative of the distance in each cell, and the second where it is not one.
    pub(super) slopes: &'a [f64],
    pub(super) bends: Option<&'a [f64]>,
    pub(super) contracted: &'a [Mat<f64>; VIEWS],
    pub(super) prior_gradient: &'a [f64],
}

impl SecondDerivative {
    pub(super) fn new(at: &At<'_>) -> Self {
        let dims = at.means.each_ref().map(Mat::nrows);
        let slices = std::array::from_fn(|c| unfold(at.slopes, dims, c) * &at.means[c]);
        let bends = match at.bends {
            None => Bends::One(at.means.each_ref().map(gram)),
            Some(bends) => Bends::Any(bends.to_vec()),
        };
        Self {
            shape: at.shape,
            mixture: at.mixture.clone(),
            maps: at.maps.cloned(),
            means: at.means.clone(),
            bends,
            slices,
            contracted: at.contracted.clone(),
            prior_gradient: at.prior_gradient.to_vec(),
        }
    }

    /// How the contracted slopes change because their cells do: the bends times the change of the mixture, contracted again.
    fn change_of_cells(&self, d_prior: &[f64], d_means: &[Mat<f64>; VIEWS]) -> [Mat<f64>; VIEWS] {
        let (prior, means) = (&self.mixture.prior, &self.means);
        match &self.bends {
            Bends::One(grams) => change_of_mixture((prior, means), grams, (d_prior, d_means)),
            Bends::Any(bends) => {
                let mut change = tangent((prior, means), (d_prior, d_means));
                change.iter_mut().zip(bends).for_each(|(change, bend)| *change *= bend);
                contract(&change, means.each_ref())
            }
        }
    }

    /// How they change because the means that slopes are contracted with do.
    fn add_change_of_means(&self, d_means: &[Mat<f64>; VIEWS], out: &mut [Mat<f64>; VIEWS]) {
        for (c, slices) in self.slices.iter().enumerate() {
            let [a, b] = others(c);
            let (head, tail) = out.split_at_mut(b);
            let (out_a, out_b) = (&mut head[a], &mut tail[0]);
            for j in 0..self.shape.k {
                let rows = slices.col_as_slice(j).chunks_exact(d_means[b].nrows());
                let (d_a, d_b) = (d_means[a].col_as_slice(j), d_means[b].col_as_slice(j));
                let (out_a, out_b) = (out_a.col_as_slice_mut(j), out_b.col_as_slice_mut(j));
                for ((row, d_a), out_a) in rows.zip(d_a).zip(out_a) {
                    *out_a += lanes_dot(row, d_b);
                    out_b.iter_mut().zip(row).for_each(|(out, cell)| *out += d_a * cell);
                }
            }
        }
    }

    /// A derivative in class means of the cells' features as one in those of the mixture's.
    fn pulled(&self, of_cells: [Mat<f64>; VIEWS]) -> [Mat<f64>; VIEWS] {
        match &self.maps {
            None => of_cells,
            Some(maps) => std::array::from_fn(|v| inner(&maps[v], &of_cells[v])),
        }
    }

    /// Formed, of which the lower triangle is filled, with unit curvature along the one direction that changes nothing, equal shifts
    /// of all logits.
    pub(super) fn formed(&self) -> Mat<f64> {
        let (k, prior) = (self.shape.k, &self.mixture.prior);
        let starts = self.shape.starts();
        let size = self.shape.unknowns();
        let mut out = Mat::zeros(size, size);
        let pairs = Pairs::new(self);
        self.form_prior(&pairs, &mut out);
        for v in 0..VIEWS {
            let free = self.shape.dims[v] - 1;
            for j in 0..k {
                for l in 0..=j {
                    let weight = pairs.of_view(v, j, l);
                    let block = self.squeezed(v, &weight, prior[j] * prior[l]);
                    for i in 0..free {
                        let column = out.col_as_slice_mut(starts[v] + l * free + i);
                        let rows = &mut column[starts[v] + j * free..][..free];
                        match &block {
                            Squeezed::Diagonal(diagonal) => rows[i] = diagonal[i + 1],
                            Squeezed::Full(block) => {
                                rows.copy_from_slice(&block.col_as_slice(i + 1)[1..]);
                            }
                        }
                    }
                }
            }
        }
        for c in 0..VIEWS {
            self.form_pair(c, &pairs, &mut out);
        }
        out
    }

    /// `A^T diag(weight) A` for the map `A` of a view, times a number.
    fn squeezed(&self, v: usize, weight: &[f64], by: f64) -> Squeezed {
        match &self.maps {
            None => Squeezed::Diagonal(weight.iter().map(|weight| by * weight).collect()),
            Some(maps) => {
                let weighted =
                    Mat::from_fn(maps[v].nrows(), maps[v].ncols(), |i, j| by * weight[i] * maps[v][(i, j)]);
                Squeezed::Full(inner(&maps[v], &weighted))
            }
        }
    }

    /// The rows and columns of the prior.
    fn form_prior(&self, pairs: &Pairs<'_>, out: &mut Mat<f64>) {
        let (k, prior) = (self.shape.k, &self.mixture.prior);
        let mean = dot(prior, &self.prior_gradient);
        let pull: Vec<f64> = (0..k).map(|j| prior[j] * (self.prior_gradient[j] - mean)).collect();
        let joint = Mat::from_fn(k, k, |j, l| {
            let means = [j, l].map(|class| self.means[0].col_as_slice(class));
            let cells = pairs.of_view(0, j, l);
            let sum: f64 = (0..cells.len()).map(|x| cells[x] * means[0][x] * means[1][x]).sum();
            prior[j] * prior[l] * sum
        });
        let logits = through_softmax(prior, &joint);
        for i in 0..k {
            for j in 0..=i {
                out[(i, j)] = logits[(i, j)] - prior[i] * pull[j] - pull[i] * prior[j];
            }
            out[(i, i)] += pull[i];
        }
        let starts = self.shape.starts();
        let contracted = self.pulled(self.contracted.clone());
        for v in 0..VIEWS {
            let free = self.shape.dims[v] - 1;
            for j in 0..k {
                // One column a logit, before the softmax.
                let mut cells = Mat::zeros(self.means[v].nrows(), k);
                for l in 0..k {
                    let weight = pairs.of_view(v, j, l);
                    let column = cells.col_as_slice_mut(l).iter_mut().zip(&weight);
                    let by = prior[j] * prior[l];
                    column
                        .zip(self.means[v].col_as_slice(l))
                        .for_each(|((out, weight), mean)| *out = by * weight * mean);
                }
                let cells = match &self.maps {
                    None => cells,
                    Some(maps) => inner(&maps[v], &cells),
                };
                for i in 0..free {
                    let total: f64 = cells.row(i + 1).iter().sum();
                    for l in 0..k {
                        let own = f64::from(u8::from(j == l)) - prior[l];
                        out[(starts[v] + j * free + i, l)] =
                            cells[(i + 1, l)] - prior[l] * total + prior[j] * own * contracted[v][(i + 1, j)];
                    }
                }
            }
        }
    }

    /// The rows of one view and the columns of another, for the two views other than `c`.
    fn form_pair(&self, c: usize, pairs: &Pairs<'_>, out: &mut Mat<f64>) {
        let (k, prior) = (self.shape.k, &self.mixture.prior);
        let [a, b] = others(c);
        let starts = self.shape.starts();
        let (free_a, free_b) = (self.shape.dims[a] - 1, self.shape.dims[b] - 1);
        let wide = self.means[b].nrows();
        for j in 0..k {
            for l in 0..k {
                let by = prior[j] * prior[l];
                let (first, second) = (self.means[a].col_as_slice(l), self.means[b].col_as_slice(j));
                let weight = pairs.of_cells(c, j, l);
                let own = if j == l { prior[j] } else { 0.0 };
                let slices = self.slices[c].col_as_slice(j);
                // One column a feature of the first view.
                let block = Mat::from_fn(wide, first.len(), |y, x| {
                    let weight = match weight {
                        Weight::One(weight) => weight,
                        Weight::Any(cells) => cells[x * wide + y],
                    };
                    by * weight * first[x] * second[y] + own * slices[x * wide + y]
                });
                let block = match &self.maps {
                    None => block,
                    Some(maps) => inner(&maps[b], &product(&block, &maps[a])),
                };
                for i in 0..free_a {
                    let column = out.col_as_slice_mut(starts[a] + j * free_a + i);
                    let rows = &mut column[starts[b] + l * free_b..][..free_b];
                    rows.copy_from_slice(&block.col_as_slice(i + 1)[1..]);
                }
            }
        }
    }
}

impl Curve for SecondDerivative {
    // The last digits are what makes merged states agree.
    const PRECISION: f64 = 1e-20;

    fn apply(&self, direction: &[f64]) -> Vec<f64> {
        let (k, prior) = (self.shape.k, &self.mixture.prior);
        let (d_prior, d_mixture) = self.shape.change(prior, direction);
        let d_means = match &self.maps {
            None => d_mixture,
            Some(maps) => std::array::from_fn(|v| product(&maps[v], &d_mixture[v])),
        };
        let mut changes = self.change_of_cells(&d_prior, &d_means);
        self.add_change_of_means(&d_means, &mut changes);
        let d_prior_gradient: Vec<f64> = (0..k)
            .map(|j| {
                dot(changes[0].col_as_slice(j), self.means[0].col_as_slice(j))
                    + dot(self.contracted[0].col_as_slice(j), d_means[0].col_as_slice(j))
            })
            .collect();
        for (changes, contracted) in changes.iter_mut().zip(&self.contracted) {
            for j in 0..k {
                let ratio = d_prior[j] / prior[j];
                let cells = changes.col_as_slice_mut(j).iter_mut().zip(contracted.col_as_slice(j));
                cells.for_each(|(change, slope)| *change += ratio * slope);
            }
        }
        let mut out = self.shape.pack_gradient(prior, &d_prior_gradient, &self.pulled(changes));
        let mean = dot(prior, &self.prior_gradient);
        let d_mean = dot(&d_prior, &self.prior_gradient);
        for j in 0..k {
            out[j] += d_prior[j] * (self.prior_gradient[j] - mean) - prior[j] * d_mean;
        }
        out
    }

    fn factor(&self) -> Option<Cholesky> {
        // Applied by inner products, it is solved faster by conjugate gradients where there are many unknowns.
        let many = self.shape.unknowns() > MOST_FACTORED && matches!(self.bends, Bends::One(_));
        if many { None } else { Cholesky::of(self.formed()) }
    }

    fn place(&self) -> (Shape, &Mixture) {
        (self.shape, &self.mixture)
    }
}

/// `A^T diag(w) A`.
enum Squeezed {
    Diagonal(Vec<f64>),
    Full(Mat<f64>),
}

/// What bends add up to over the cells, for two classes.
enum Weight<'a> {
    /// The same for all cells of two views.
    One(f64),
    /// One for each cell of two views.
    Any(&'a [f64]),
}

/// The bends contracted with products of the class means of two classes.
struct Pairs<'a> {
    means: &'a [Mat<f64>; VIEWS],
    contracted: Contracted<'a>,
}

/// For each view `c`, `sum_z b(x, y, z) U_cj[z] U_cl[z]`.
enum Contracted<'a> {
    /// Where all bends are one, `U_c^T U_c`.
    One(&'a [Mat<f64>; VIEWS]),
    /// One column a pair of classes, the second no later than the first, one row a pair of features of the other two views.
    Any([Mat<f64>; VIEWS]),
}

impl<'a> Pairs<'a> {
    fn new(of: &'a SecondDerivative) -> Self {
        let means = &of.means;
        let contracted = match &of.bends {
            Bends::One(grams) => Contracted::One(grams),
            Bends::Any(bends) => {
                let dims = means.each_ref().map(Mat::nrows);
                Contracted::Any(std::array::from_fn(|c| unfold(bends, dims, c) * class_pairs(&means[c])))
            }
        };
        Self { means, contracted }
    }

    /// `sum_z b(x, y, z) U_cj[z] U_cl[z]`.
    fn of_cells(&self, c: usize, j: usize, l: usize) -> Weight<'_> {
        match &self.contracted {
            Contracted::One(grams) => Weight::One(grams[c][(j, l)]),
            Contracted::Any(cells) => {
                let (first, second) = (j.max(l), j.min(l));
                Weight::Any(cells[c].col_as_slice(first * (first + 1) / 2 + second))
            }
        }
    }

    /// `sum_yz b(x, y, z) U_aj[y] U_al[y] U_bj[z] U_bl[z]` for each feature `x` of a view.
    fn of_view(&self, v: usize, j: usize, l: usize) -> Vec<f64> {
        let dims = self.means.each_ref().map(Mat::nrows);
        // Contract the last of the other views, then the first.
        let [other, c] = others(v);
        let [first, second] = [j, l].map(|class| self.means[other].col_as_slice(class));
        let both: Vec<f64> = first.iter().zip(second).map(|(a, b)| a * b).collect();
        match self.of_cells(c, j, l) {
            Weight::One(weight) => vec![weight * both.iter().sum::<f64>(); dims[v]],
            Weight::Any(cells) if v < other => {
                cells.chunks_exact(dims[other]).map(|row| dot(row, &both)).collect()
            }
            Weight::Any(cells) => {
                let mut out = vec![0.0; dims[v]];
                for (row, both) in cells.chunks_exact(dims[v]).zip(&both) {
                    out.iter_mut().zip(row).for_each(|(out, cell)| *out += both * cell);
                }
                out
            }
        }
    }
}
