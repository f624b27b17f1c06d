//! The unknowns of a fit as one list of numbers.

use crate::data::{VIEWS, others};
use crate::fit::Mixture;
use crate::numeric::linalg::{dot, softmax};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

/// How a mixture lies in a point: `k` logits of `pi`, then the class means of each view, class by class, without
/// the first row, which is fixed at one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Dimensions of the mixture's features, leading ones included.
    pub(crate) dims: [usize; VIEWS],
    /// The number of classes.
    pub(crate) k: usize,
}

impl Shape {
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
        Mixture { prior: softmax(&point[..self.k]), means: self.unpack_means(&point[self.k..], 1.0) }
    }

    /// Class means, or a change of them, from a point's entries; `first` is the first row.
    fn unpack_means(&self, entries: &[f64], first: f64) -> [Mat<f64>; VIEWS] {
        let mut at = 0;
        self.dims.map(|d| {
            let entry = |i: usize, j: usize| if i == 0 { first } else { entries[at + j * (d - 1) + i - 1] };
            let means = Mat::from_fn(d, self.k, entry);
            at += (d - 1) * self.k;
            means
        })
    }

    /// How the prior and the class means change along a direction.
    pub(super) fn change(&self, prior: &[f64], direction: &[f64]) -> (Vec<f64>, [Mat<f64>; VIEWS]) {
        let shift = dot(prior, &direction[..self.k]);
        let d_prior = prior.iter().zip(direction).map(|(p, z)| p * (z - shift)).collect();
        (d_prior, self.unpack_means(&direction[self.k..], 0.0))
    }

    /// The derivative in a point's entries from that in the prior and, for each unit of prior, in the class means.
    pub(super) fn pack_gradient(
        &self,
        prior: &[f64],
        in_prior: &[f64],
        in_means: &[Mat<f64>; VIEWS],
    ) -> Vec<f64> {
        let mean = dot(prior, in_prior);
        let mut gradient: Vec<f64> = prior.iter().zip(in_prior).map(|(p, g)| p * (g - mean)).collect();
        for in_means in in_means {
            for (j, p) in prior.iter().enumerate() {
                gradient.extend(in_means.col_as_slice(j)[1..].iter().map(|g| p * g));
            }
        }
        gradient
    }

    /// The number of a point's entries.
    pub(super) fn unknowns(&self) -> usize {
        self.k + self.dims.iter().map(|d| self.k * (d - 1)).sum::<usize>()
    }

    /// Where the means of each view begin in a point.
    pub(super) fn starts(&self) -> [usize; VIEWS] {
        let [d1, d2, _] = self.dims;
        [self.k, self.k * d1, self.k * (d1 + d2 - 1)]
    }
}

/// What is known of a fit at a point: `detail` is what its curvature needs beside.
pub(crate) struct Expansion<D> {
    pub(super) mixture: Mixture,
    pub(crate) value: f64,
    pub(crate) gradient: Vec<f64>,
    pub(super) detail: D,
}

/// `U^T U`.
pub(super) fn gram(means: &Mat<f64>) -> Mat<f64> {
    inner(means, means)
}

/// `A^T B`.
pub(super) fn inner(a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.ncols(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a.transpose(), b, 1.0, Par::Seq);
    out
}

/// `A B`.
pub(super) fn product(a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// `pi pi^T o Gamma_a o Gamma_b` for the views other than `v`, `Gamma = U^T U`: how the squared distance couples
/// the classes' means within one view.
pub(super) fn mixing(mixture: &Mixture, v: usize) -> Mat<f64> {
    let [a, b] = others(v).map(|a| gram(&mixture.means[a]));
    let prior = &mixture.prior;
    Mat::from_fn(prior.len(), prior.len(), |i, j| prior[i] * prior[j] * a[(i, j)] * b[(i, j)])
}

/// The same of the logits of the prior, with unit curvature along equal shifts of all, which change nothing.
pub(super) fn of_logits(mixture: &Mixture) -> Mat<f64> {
    let prior = &mixture.prior;
    let k = prior.len();
    let grams = mixture.means.each_ref().map(gram);
    let joint =
        Mat::from_fn(k, k, |i, j| prior[i] * prior[j] * grams.iter().map(|g| g[(i, j)]).product::<f64>());
    through_softmax(prior, &joint)
}

/// A curvature in the shares of the prior, times the shares, as one in their logits: with unit curvature along equal shifts of all, which
/// change nothing.
pub(super) fn through_softmax(prior: &[f64], joint: &Mat<f64>) -> Mat<f64> {
    let k = prior.len();
    let of_row: Vec<f64> = (0..k).map(|j| joint.row(j).iter().sum()).collect();
    let all: f64 = of_row.iter().sum();
    let cell = |i: usize, j: usize| {
        joint[(i, j)] - prior[i] * of_row[j] - of_row[i] * prior[j] + prior[i] * prior[j] * all
    };
    Mat::from_fn(k, k, |i, j| cell(i, j) + 1.0 / k as f64)
}

/// How the contractions of a mixture's third moment with the class means of two views, class by class, change with its prior and its class
/// means: by inner products of class means alone. `grams` are `U_v^T U_v`.
pub(super) fn change_of_mixture(
    (prior, means): (&[f64], &[Mat<f64>; VIEWS]),
    grams: &[Mat<f64>; VIEWS],
    (d_prior, d_means): (&[f64], &[Mat<f64>; VIEWS]),
) -> [Mat<f64>; VIEWS] {
    let k = prior.len();
    // <dU_l, U_j>
    let turned: [Mat<f64>; VIEWS] = std::array::from_fn(|v| inner(&d_means[v], &means[v]));
    std::array::from_fn(|v| {
        let [a, b] = others(v);
        let (mut of_means, mut of_changes) = (Mat::zeros(k, k), Mat::zeros(k, k));
        for j in 0..k {
            let columns = [&grams[a], &grams[b], &turned[a], &turned[b]].map(|m| m.col_as_slice(j));
            let (out, out_changes) = (of_means.col_as_slice_mut(j), of_changes.col_as_slice_mut(j));
            for l in 0..k {
                let [gram_a, gram_b, turned_a, turned_b] = columns.map(|column| column[l]);
                let both = gram_a * gram_b;
                out[l] = d_prior[l] * both + prior[l] * (turned_a * gram_b + gram_a * turned_b);
                out_changes[l] = prior[l] * both;
            }
        }
        let mut change = product(&means[v], &of_means);
        matmul(change.as_mut(), Accum::Add, &d_means[v], &of_changes, 1.0, Par::Seq);
        change
    })
}
