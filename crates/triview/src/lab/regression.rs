//! Posteriors of classes by regression of the labels that the other views give, one of the ways to a second pass.

use crate::data::{Batch, Sample, VIEWS, take_rows};
use crate::error::{Error, Result};
use crate::estimator::Estimator;
use crate::features::fit::{Present, class_means, discriminant, label_products, second_moment};
use crate::features::{Basis, FeatureMap, Posterior, Way};
use crate::moments::Plan;
use crate::numeric::columns;
use crate::numeric::lbfgs::minimise;

/// Penalty on the squared weights.
const PENALTY: f64 = 1e-3;

/// A plan whose features are posteriors by regression: a point of comparison, whose answers are further off than those of
/// [`Estimator::plan`] (`docs/accuracy.md`).
///
/// # Errors
/// Those of [`Estimator::plan`].
pub fn regression_plan(estimator: &Estimator, sample: &Sample) -> Result<Plan> {
    estimator.planner(sample)?.plan_by_labels(regression)
}

/// Posteriors by softmax regression of the other views' surrogate labels on a view's scores: minimises
/// `E[log sum_j exp(B phi)_j - W_-v . B phi]`.
fn regression(rows: &Batch, labels: &[Vec<f64>; VIEWS]) -> Result<FeatureMap> {
    let mut mean = vec![0.0; rows.k()];
    let mut fitted = Vec::with_capacity(VIEWS);
    for (view, labels) in Present::all(rows).into_iter().zip(labels) {
        let n = view.rows.len();
        let basis = Basis::fit(n, &view.inputs, 0)?;
        let (functions, labels) = (view.evaluate(&basis), take_rows(rows.rows(), labels, &view.rows));
        let (prior, means) = class_means(n, &functions, &labels);
        mean.iter_mut().zip(&prior).for_each(|(sum, p)| *sum += p / VIEWS as f64);
        let start = discriminant(&prior, &second_moment(n, &functions), &means)?;
        let target = label_products(n, &functions, &labels);
        let objective = |weights: &[f64]| softmax_regression(n, rows.k(), &functions, &target, weights);
        fitted.push(Posterior { basis, weights: minimise(objective, start, 1e-6, 100).point });
    }
    let views = fitted.try_into().map_err(|_| Error::Internal("three views make three posteriors"))?;
    let prior = mean.iter().map(|p| p.max(1e-6)).collect();
    Ok(FeatureMap::Posterior { way: Way::Regression, prior, views })
}

/// Value and gradient of `E[log sum_j exp(B phi)_j] - <B, target>` with a small penalty.
fn softmax_regression(n: usize, k: usize, phi: &[f64], target: &[f64], weights: &[f64]) -> (f64, Vec<f64>) {
    let width = phi.len() / n;
    let mut q = vec![0.0; n * k];
    let mut log_sum = vec![0.0; n];
    columns::affine_columns(phi, n, width, weights, k, &mut q);
    columns::softmax_columns(&mut q, n, k, Some(&mut log_sum));
    let mut value = log_sum.iter().sum::<f64>() / n as f64;
    let mut gradient = label_products(n, phi, &q);
    for i in 0..weights.len() {
        value += 0.5 * PENALTY * weights[i] * weights[i] - weights[i] * target[i];
        gradient[i] += PENALTY * weights[i] - target[i];
    }
    (value, gradient)
}
