//! Means over the rows in which a view is there.

use crate::data::{Batch, VIEWS};
use crate::features::Basis;
use crate::numeric::{columns, kernel};
use faer::Mat;

/// The rows in which a view is there, and its scores and covariates in them.
pub(crate) struct Present {
    pub(crate) rows: Vec<usize>,
    pub(crate) inputs: Vec<f64>,
}

impl Present {
    /// Of each of three views.
    pub(crate) fn all(rows: &Batch) -> [Self; VIEWS] {
        std::array::from_fn(|v| Self { rows: rows.with(&[v]), inputs: rows.present_inputs(v).1 })
    }

    /// The basis functions of these rows.
    pub(crate) fn evaluate(&self, basis: &Basis) -> Vec<f64> {
        let mut out = Vec::new();
        basis.evaluate(self.rows.len(), &self.inputs, &mut out);
        out
    }
}

/// `E[phi phi^T]`.
pub(crate) fn second_moment(n: usize, phi: &[f64]) -> Vec<f64> {
    let p = phi.len() / n;
    let mut second = vec![0.0; p * p];
    kernel::cross(phi, phi, n, p, p, &mut second);
    second.iter_mut().for_each(|cell| *cell /= n as f64);
    second
}

/// `E[l_j]` and, one column a class, `E[phi l_j] / E[l_j]` for labels that may be soft or signed.
pub(crate) fn class_means(n: usize, phi: &[f64], labels: &[f64]) -> (Vec<f64>, Mat<f64>) {
    let (p, k) = (phi.len() / n, labels.len() / n);
    let products = label_products(n, phi, labels);
    let prior: Vec<f64> = (0..k).map(|j| products[j * (p + 1)].max(1e-4)).collect();
    let means = Mat::from_fn(p, k, |i, j| products[j * (p + 1) + 1 + i] / prior[j]);
    (prior, means)
}

/// `E[l_j [1, phi]]`, one row a class.
pub(crate) fn label_products(n: usize, phi: &[f64], labels: &[f64]) -> Vec<f64> {
    let (p, k) = (phi.len() / n, labels.len() / n);
    let mut inner = vec![0.0; k * p];
    kernel::cross(labels, phi, n, k, p, &mut inner);
    let mut products = Vec::with_capacity(k * (p + 1));
    for j in 0..k {
        products.push(labels[j * n..(j + 1) * n].iter().sum::<f64>() / n as f64);
        products.extend(inner[j * p..(j + 1) * p].iter().map(|cell| cell / n as f64));
    }
    products
}

/// The softmax of the summed scores.
pub(crate) fn model_posterior(rows: &Batch) -> Vec<f64> {
    let mut total = rows.total();
    columns::softmax_columns(&mut total, rows.rows(), rows.k(), None);
    total
}
