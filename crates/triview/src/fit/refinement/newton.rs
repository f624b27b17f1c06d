//! Newton's method: the last digits of a fit, and refits to slightly different moments.

use super::Misfit;
use super::point::{Expansion, Shape, mixing};
use crate::data::VIEWS;
use crate::fit::Mixture;
use crate::interrupt;
use crate::numeric::lbfgs::Minimum;
use crate::numeric::linalg::{dot, pseudo_inverse};
use crate::settings::newton::MOST_INNER;
use faer::linalg::matmul::matmul;
use faer::linalg::solvers::{Llt, Solve};
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// Newton steps from a point near a minimum, until no entry of the gradient exceeds the tolerance.
///
/// Steps that do not lower the objective are halved; when none does, the search ends where it stands.
pub(crate) fn polish<M: Misfit>(objective: &M, start: Vec<f64>, tolerance: f64, most: usize) -> Minimum {
    let mut point = start;
    let mut at = objective.expand(&point);
    let mut iterations = 0;
    while largest(&at.gradient) > tolerance && iterations < most {
        interrupt::check();
        iterations += 1;
        let step = Curvature::new(objective, &at).step(objective, &at, &at.gradient);
        let Some((next, expansion)) = descend(objective, &point, &at, &step) else { break };
        (point, at) = (next, expansion);
    }
    // What rounding leaves of a vanishing gradient grows with the moments' own size.
    let converged = largest(&at.gradient) <= tolerance.max(1e-10);
    Minimum { point, value: at.value, iterations, converged }
}

fn largest(gradient: &[f64]) -> f64 {
    gradient.iter().map(|g| g.abs()).fold(0.0, f64::max)
}

/// The first of the steps 1, 1/2, 1/4, ... that lowers the objective, or the gradient where the objective no
/// longer shows a difference.
fn descend<M: Misfit>(
    objective: &M,
    point: &[f64],
    at: &Expansion<M::Detail>,
    step: &[f64],
) -> Option<(Vec<f64>, Expansion<M::Detail>)> {
    let mut length = 1.0;
    for _ in 0..12 {
        let next: Vec<f64> = point.iter().zip(step).map(|(x, s)| x + length * s).collect();
        let expansion = objective.expand(&next);
        let rounding = 1e-14 * (1.0 + at.value.abs());
        let lower = expansion.value < at.value - rounding;
        let level = expansion.value <= at.value + rounding;
        if lower || (level && largest(&expansion.gradient) < largest(&at.gradient)) {
            return Some((next, expansion));
        }
        length *= 0.5;
    }
    None
}

/// How Newton's equations are solved.
pub(crate) enum Curvature {
    /// By the Cholesky factor of the second derivative.
    Factored(Llt<f64>),
    /// By conjugate gradients: where the matrix would be too large, or is not positive definite.
    Iterative,
}

impl Curvature {
    pub(crate) fn new<M: Misfit>(objective: &M, at: &Expansion<M::Detail>) -> Self {
        objective.factor(at).map_or(Curvature::Iterative, Curvature::Factored)
    }

    /// The Newton step `-H^-1 g` with the curvature at `at`.
    pub(crate) fn step<M: Misfit>(
        &self,
        objective: &M,
        at: &Expansion<M::Detail>,
        gradient: &[f64],
    ) -> Vec<f64> {
        match self {
            Curvature::Factored(factor) => {
                let solved = factor.solve(Mat::from_fn(gradient.len(), 1, |i, _| -gradient[i]));
                solved.col_as_slice(0).to_vec()
            }
            Curvature::Iterative => {
                let preconditioner = Preconditioner::new(objective.shape(), &at.mixture);
                conjugate_gradients(objective, at, gradient, &preconditioner)
            }
        }
    }
}

/// Solves `H s = -g` by conjugate gradients, preconditioned by the part of `H` that couples classes within one
/// view (what alternating least squares solves). Stops at a direction of negative curvature.
pub(super) fn conjugate_gradients<M: Misfit>(
    objective: &M,
    at: &Expansion<M::Detail>,
    gradient: &[f64],
    preconditioner: &Preconditioner,
) -> Vec<f64> {
    let mut step = vec![0.0; gradient.len()];
    let mut residual: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut scaled = preconditioner.apply(&residual);
    let mut direction = scaled.clone();
    let mut size = dot(&residual, &scaled);
    let target = size * M::PRECISION;
    for inner in 0..MOST_INNER {
        interrupt::check();
        if size <= target || size == 0.0 {
            break;
        }
        let bent = objective.curvature(at, &direction);
        let curvature = dot(&direction, &bent);
        if curvature <= 0.0 {
            return if inner == 0 { direction } else { step };
        }
        let length = size / curvature;
        for i in 0..step.len() {
            step[i] += length * direction[i];
            residual[i] -= length * bent[i];
        }
        scaled = preconditioner.apply(&residual);
        let next = dot(&residual, &scaled);
        for (d, s) in direction.iter_mut().zip(&scaled) {
            *d = s + next / size * *d;
        }
        size = next;
    }
    step
}

/// The inverse of `pi pi^T o Gamma_a o Gamma_b` for each view.
pub(super) struct Preconditioner {
    inverses: [Mat<f64>; VIEWS],
    shape: Shape,
}

impl Preconditioner {
    pub(super) fn new(shape: Shape, mixture: &Mixture) -> Self {
        let k = shape.k;
        let inverses = std::array::from_fn(|v| {
            pseudo_inverse(mixing(mixture, v).as_ref(), k)
                .map_or_else(|_| Mat::identity(k, k), |(inverse, _)| inverse)
        });
        Self { inverses, shape }
    }

    fn apply(&self, gradient: &[f64]) -> Vec<f64> {
        let Shape { dims, k } = self.shape;
        let mut out = gradient.to_vec();
        for ((inverse, d), start) in self.inverses.iter().zip(dims).zip(self.shape.starts()) {
            let range = start..start + (d - 1) * k;
            let block = MatRef::from_column_major_slice(&gradient[range.clone()], d - 1, k);
            let scaled = MatMut::from_column_major_slice_mut(&mut out[range], d - 1, k);
            matmul(scaled, Accum::Replace, block, inverse, 1.0, Par::Seq);
        }
        out
    }
}
