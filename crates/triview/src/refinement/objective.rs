//! Half the squared distance between the third moment and a mixture's.

use crate::decomposition::{Mixture, Whitened};
use crate::views::VIEWS;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

/// A third moment, as far as a fit needs it: contracted with class means. It may be held as an array, or
/// contracted anew from rows where an array would be too large.
pub(crate) trait ThirdMoment: Sync {
    /// Dimensions of the three views.
    fn dims(&self) -> [usize; VIEWS];

    /// The sum of its squared cells.
    fn squared_norm(&self) -> f64;

    /// For each view `v`, class by class, the moment contracted with the class means of the two other views:
    /// column `j` of the first is `T(., U_2j, U_3j)`.
    fn contract(&self, means: [MatRef<'_, f64>; VIEWS]) -> [Mat<f64>; VIEWS];
}

impl ThirdMoment for Whitened {
    fn dims(&self) -> [usize; VIEWS] {
        self.dims
    }

    fn squared_norm(&self) -> f64 {
        self.tensor.iter().map(|cell| cell * cell).sum()
    }

    fn contract(&self, means: [MatRef<'_, f64>; VIEWS]) -> [Mat<f64>; VIEWS] {
        let [d1, d2, d3] = self.dims;
        let k = means[0].ncols();
        let mut first = Mat::zeros(d1, k);
        let mut second = Mat::zeros(d2, k);
        let mut third = Mat::zeros(d3, k);
        // T(., ., U_3j): one row for each pair of features of the first two views.
        let unfolded = MatRef::from_row_major_slice(&self.tensor, d1 * d2, d3);
        let mut slices = Mat::zeros(d1 * d2, k);
        matmul(slices.as_mut(), Accum::Replace, unfolded, means[2], 1.0, Par::Seq);
        let mut products = Mat::zeros(d1 * d2, k);
        for j in 0..k {
            let (u1, u2) = (column(means[0], j), column(means[1], j));
            let slice = slices.col_as_slice(j);
            let second = second.col_as_slice_mut(j);
            let products = products.col_as_slice_mut(j);
            for a in 0..d1 {
                let row = &slice[a * d2..(a + 1) * d2];
                let mut sum = 0.0;
                for b in 0..d2 {
                    sum += row[b] * u2[b];
                    second[b] += row[b] * u1[a];
                    products[a * d2 + b] = u1[a] * u2[b];
                }
                first[(a, j)] = sum;
            }
        }
        matmul(third.as_mut(), Accum::Replace, unfolded.transpose(), products.as_ref(), 1.0, Par::Seq);
        [first, second, third]
    }
}

fn column(matrix: MatRef<'_, f64>, j: usize) -> Vec<f64> {
    (0..matrix.nrows()).map(|i| matrix[(i, j)]).collect()
}

/// `1/2 |T - sum_j pi_j U_1j (x) U_2j (x) U_3j|^2` as a function of a point: `k` logits of `pi`, then the class
/// means of each view, class by class, without the first row, which is fixed at one.
pub(crate) struct Objective<'a> {
    moments: &'a dyn ThirdMoment,
    squared_norm: f64,
    k: usize,
}

/// Everything about a point that its value, gradient and curvature have in common.
pub(crate) struct Expansion {
    mixture: Mixture,
    /// `U_v^T U_v`.
    grams: [Mat<f64>; VIEWS],
    /// The moment contracted with the class means.
    contracted: [Mat<f64>; VIEWS],
    /// The derivative in the prior, before its softmax.
    prior_gradient: Vec<f64>,
    pub(crate) value: f64,
    pub(crate) gradient: Vec<f64>,
}

impl<'a> Objective<'a> {
    pub(crate) fn new(moments: &'a dyn ThirdMoment, k: usize) -> Self {
        Self { moments, squared_norm: moments.squared_norm(), k }
    }

    /// The number of classes.
    pub(crate) fn classes(&self) -> usize {
        self.k
    }

    /// Dimensions of the three views.
    pub(crate) fn dims(&self) -> [usize; VIEWS] {
        self.moments.dims()
    }

    /// The point of a mixture.
    pub(crate) fn pack(&self, mixture: &Mixture) -> Vec<f64> {
        let mut point: Vec<f64> = mixture.prior.iter().map(|p| p.max(1e-8).ln()).collect();
        for means in &mixture.means {
            for j in 0..self.k {
                point.extend_from_slice(&means.col_as_slice(j)[1..]);
            }
        }
        point
    }

    /// The mixture of a point.
    pub(crate) fn unpack(&self, point: &[f64]) -> Mixture {
        let largest = point[..self.k].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = point[..self.k].iter().map(|z| (z - largest).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mut at = self.k;
        let means = self.moments.dims().map(|d| {
            let means =
                Mat::from_fn(d, self.k, |i, j| if i == 0 { 1.0 } else { point[at + j * (d - 1) + i - 1] });
            at += (d - 1) * self.k;
            means
        });
        Mixture { prior: weights.iter().map(|w| w / total).collect(), means }
    }

    /// Value and gradient.
    pub(crate) fn value_and_gradient(&self, point: &[f64]) -> (f64, Vec<f64>) {
        let expansion = self.expand(point);
        (expansion.value, expansion.gradient)
    }

    /// Value, gradient, and what curvature needs.
    pub(crate) fn expand(&self, point: &[f64]) -> Expansion {
        let k = self.k;
        let mixture = self.unpack(point);
        let prior = &mixture.prior;
        let grams: [Mat<f64>; VIEWS] =
            std::array::from_fn(|v| product(mixture.means[v].transpose(), mixture.means[v].as_ref()));
        let contracted = self.moments.contract(std::array::from_fn(|v| mixture.means[v].as_ref()));
        let overlap = |i: usize, j: usize| grams[0][(i, j)] * grams[1][(i, j)] * grams[2][(i, j)];
        let (mut value, mut prior_gradient) = (0.5 * self.squared_norm, vec![0.0; k]);
        for j in 0..k {
            let inner = dot(contracted[0].col_as_slice(j), mixture.means[0].col_as_slice(j));
            let model: f64 = (0..k).map(|i| prior[i] * overlap(i, j)).sum();
            value += prior[j] * (0.5 * model - inner);
            prior_gradient[j] = model - inner;
        }
        let mut gradient = softmax_gradient(prior, &prior_gradient);
        for v in 0..VIEWS {
            let mixed = product(mixture.means[v].as_ref(), self.mixing(prior, &grams, v).as_ref());
            for j in 0..k {
                let (model, moment) = (mixed.col_as_slice(j), contracted[v].col_as_slice(j));
                gradient.extend(model.iter().zip(moment).skip(1).map(|(m, t)| m - prior[j] * t));
            }
        }
        Expansion { mixture, grams, contracted, prior_gradient, value, gradient }
    }

    /// `pi pi^T o Gamma_a o Gamma_b` for the views other than `v`: how classes mix in the gradient of `U_v`.
    pub(crate) fn mixing(&self, prior: &[f64], grams: &[Mat<f64>; VIEWS], v: usize) -> Mat<f64> {
        let [a, b] = crate::moments::others(v);
        Mat::from_fn(self.k, self.k, |i, j| prior[i] * prior[j] * grams[a][(i, j)] * grams[b][(i, j)])
    }

    /// The same matrix at an expansion's point.
    pub(crate) fn mixing_at(&self, at: &Expansion, v: usize) -> Mat<f64> {
        self.mixing(&at.mixture.prior, &at.grams, v)
    }

    /// The exact second derivative at a point, applied to a direction.
    pub(crate) fn curvature(&self, at: &Expansion, direction: &[f64]) -> Vec<f64> {
        let k = self.k;
        let (prior, means) = (&at.mixture.prior, &at.mixture.means);
        // The direction, as changes of the prior and of the means.
        let shift = dot(prior, &direction[..k]);
        let d_prior: Vec<f64> = prior.iter().zip(direction).map(|(p, z)| p * (z - shift)).collect();
        let mut start = k;
        let d_means: [Mat<f64>; VIEWS] = self.moments.dims().map(|d| {
            let slice = &direction[start..start + (d - 1) * k];
            start += (d - 1) * k;
            Mat::from_fn(d, k, |i, j| if i == 0 { 0.0 } else { slice[j * (d - 1) + i - 1] })
        });
        let mut d_contracted: [Mat<f64>; VIEWS] =
            std::array::from_fn(|v| Mat::zeros(means[v].nrows(), k));
        for changed in 0..VIEWS {
            let mixed =
                std::array::from_fn(|v| if v == changed { d_means[v].as_ref() } else { means[v].as_ref() });
            let change = self.moments.contract(mixed);
            for v in (0..VIEWS).filter(|&v| v != changed) {
                d_contracted[v] += &change[v];
            }
        }
        let d_grams: [Mat<f64>; VIEWS] = std::array::from_fn(|v| {
            let half = product(d_means[v].transpose(), means[v].as_ref());
            &half + half.transpose()
        });

        let gram = |v: usize, i: usize, j: usize| at.grams[v][(i, j)];
        let mut d_prior_gradient = vec![0.0; k];
        for j in 0..k {
            let mut sum = 0.0;
            for i in 0..k {
                let [g0, g1, g2] = [gram(0, i, j), gram(1, i, j), gram(2, i, j)];
                let change =
                    d_grams[0][(i, j)] * g1 * g2 + g0 * d_grams[1][(i, j)] * g2 + g0 * g1 * d_grams[2][(i, j)];
                sum += d_prior[i] * g0 * g1 * g2 + prior[i] * change;
            }
            d_prior_gradient[j] = sum
                - dot(d_contracted[0].col_as_slice(j), means[0].col_as_slice(j))
                - dot(at.contracted[0].col_as_slice(j), d_means[0].col_as_slice(j));
        }
        let mean_gradient = dot(prior, &at.prior_gradient);
        let d_mean = dot(&d_prior, &at.prior_gradient) + dot(prior, &d_prior_gradient);
        let mut out: Vec<f64> = (0..k)
            .map(|j| {
                d_prior[j] * (at.prior_gradient[j] - mean_gradient)
                    + prior[j] * (d_prior_gradient[j] - d_mean)
            })
            .collect();
        for v in 0..VIEWS {
            let [a, b] = crate::moments::others(v);
            let d_mixing = Mat::from_fn(k, k, |i, j| {
                (d_prior[i] * prior[j] + prior[i] * d_prior[j]) * gram(a, i, j) * gram(b, i, j)
                    + prior[i]
                        * prior[j]
                        * (d_grams[a][(i, j)] * gram(b, i, j) + gram(a, i, j) * d_grams[b][(i, j)])
            });
            let mut mixed = product(d_means[v].as_ref(), self.mixing_at(at, v).as_ref());
            mixed += product(means[v].as_ref(), d_mixing.as_ref());
            for j in 0..k {
                let (model, moment, d_moment) =
                    (mixed.col_as_slice(j), at.contracted[v].col_as_slice(j), d_contracted[v].col_as_slice(j));
                out.extend(
                    (1..model.len()).map(|i| model[i] - prior[j] * d_moment[i] - d_prior[j] * moment[i]),
                );
            }
        }
        out
    }
}

/// The gradient in the logits of a softmax from the gradient in its probabilities.
fn softmax_gradient(prior: &[f64], gradient: &[f64]) -> Vec<f64> {
    let mean = dot(prior, gradient);
    prior.iter().zip(gradient).map(|(p, g)| p * (g - mean)).collect()
}

fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
