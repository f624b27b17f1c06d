//! Newton's method: the last digits of a fit, and refits to slightly different moments.

use super::Misfit;
use super::point::{Expansion, Shape, mixing, of_logits};
use crate::data::VIEWS;
use crate::fit::Mixture;
use crate::interrupt;
use crate::numeric::lbfgs::Minimum;
use crate::numeric::linalg::{Cholesky, dot, pseudo_inverse};
use crate::settings::newton::{MOST_INNER, STALE};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Newton steps from a point near a minimum, until no entry of the gradient exceeds the tolerance.
///
/// Steps that do not lower the objective are halved; when none does, the search ends where it stands. A second derivative that was
/// factored at one point solves nearly at the next ones.
pub(crate) fn polish<M: Misfit>(objective: &M, start: Vec<f64>, tolerance: f64, most: usize) -> Minimum {
    let mut point = start;
    let mut at = objective.expand(&point);
    let mut iterations = 0;
    let mut kept: Option<Preconditioner> = None;
    while largest(&at.gradient) > tolerance && iterations < most {
        interrupt::check();
        iterations += 1;
        let curve = objective.curve(&at);
        let preconditioner = kept.take().unwrap_or_else(|| Preconditioner::new(&curve));
        let (step, inner) = conjugate_gradients(&curve, &at.gradient, &preconditioner);
        let Some((next, expansion)) = descend(objective, &point, &at, &step) else { break };
        (point, at) = (next, expansion);
        kept = (inner <= STALE).then_some(preconditioner);
    }
    // What rounding leaves of a vanishing gradient grows with the moments' own size.
    let converged = largest(&at.gradient) <= tolerance.max(1e-10);
    Minimum { point, value: at.value, iterations, converged }
}

fn largest(gradient: &[f64]) -> f64 {
    gradient.iter().map(|g| g.abs()).fold(0.0, f64::max)
}

/// The second derivative at a point, exact or nearly.
pub(crate) trait Curve: Sync {
    /// Conjugate gradients solve Newton's equations until the squared error, in the preconditioner's norm, has
    /// fallen by this factor.
    const PRECISION: f64;

    /// Applied to a direction.
    fn apply(&self, direction: &[f64]) -> Vec<f64>;

    /// The mixture it is at, and how that lies in a point.
    fn place(&self) -> (Shape, &Mixture);

    /// Factored, where it is positive definite and worth it.
    fn factor(&self) -> Option<Cholesky> {
        None
    }
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

/// Solves `H s = -g` by conjugate gradients, to the curve's precision; and how many steps that took. Stops at a direction of negative curvature.
pub(super) fn conjugate_gradients<C: Curve>(
    curve: &C,
    gradient: &[f64],
    preconditioner: &Preconditioner,
) -> (Vec<f64>, usize) {
    let mut step = vec![0.0; gradient.len()];
    let mut residual: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut scaled = preconditioner.apply(&residual);
    let mut direction = scaled.clone();
    let mut size = dot(&residual, &scaled);
    let target = size * C::PRECISION;
    for inner in 0..MOST_INNER {
        interrupt::check();
        if size <= target || size == 0.0 {
            return (step, inner);
        }
        let bent = curve.apply(&direction);
        let curvature = dot(&direction, &bent);
        if curvature <= 0.0 {
            return if inner == 0 { (direction, MOST_INNER) } else { (step, MOST_INNER) };
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
    (step, MOST_INNER)
}

/// What solves Newton's equations at a point: exactly there, and nearly beside it, or nearly.
#[derive(Debug)]
pub(crate) enum Preconditioner {
    /// The Cholesky factor of the second derivative.
    Factor(Cholesky),
    /// The inverses of the parts of `J^T J` that couple the classes within one view, `pi pi^T o Gamma_a o Gamma_b` with `Gamma = U^T U`, and
    /// of the part of the logits: where the matrix would be too large, or is not positive definite.
    Parts { views: [Mat<f64>; VIEWS], logits: Mat<f64>, shape: Shape },
}

impl Preconditioner {
    /// The factor, if there is one.
    pub(crate) fn new(curve: &impl Curve) -> Self {
        curve.factor().map_or_else(|| Self::parts(curve), Self::Factor)
    }

    pub(super) fn parts(curve: &impl Curve) -> Self {
        let (shape, mixture) = curve.place();
        let k = shape.k;
        let inverse = |of: Mat<f64>| {
            pseudo_inverse(of.as_ref(), k).map_or_else(|_| Mat::identity(k, k), |(inverse, _)| inverse)
        };
        let views = std::array::from_fn(|v| inverse(mixing(mixture, v)));
        Self::Parts { views, logits: inverse(of_logits(mixture)), shape }
    }

    fn apply(&self, gradient: &[f64]) -> Vec<f64> {
        match self {
            Self::Factor(factor) => {
                let mut solved = gradient.to_vec();
                let size = solved.len();
                factor.solve_in_place(MatMut::from_column_major_slice_mut(&mut solved, size, 1));
                solved
            }
            Self::Parts { views, logits, shape: Shape { dims, k } } => {
                let mut out = vec![0.0; gradient.len()];
                let mut solve = |inverse: &Mat<f64>, start: usize, d: usize| {
                    let block = MatRef::from_column_major_slice(&gradient[start..start + d * k], d, *k);
                    let scaled = MatMut::from_column_major_slice_mut(&mut out[start..start + d * k], d, *k);
                    matmul(scaled, Accum::Replace, block, inverse, 1.0, Par::Seq);
                };
                solve(logits, 0, 1);
                let starts = Shape { dims: *dims, k: *k }.starts();
                for ((inverse, d), start) in views.iter().zip(dims).zip(starts) {
                    solve(inverse, start, d - 1);
                }
                out
            }
        }
    }
}

/// A second derivative that solves Newton's equations for many gradients.
pub(crate) struct Curvature<C> {
    curve: C,
    preconditioner: Preconditioner,
}

impl<C: Curve> Curvature<C> {
    /// Of a second derivative.
    pub(crate) fn new(curve: C) -> Self {
        Self { preconditioner: Preconditioner::new(&curve), curve }
    }

    /// The Newton steps `-H^-1 g` for some gradients, all at once where the matrix is factored, otherwise one by one.
    pub(crate) fn steps(&self, gradients: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let Some(size) = gradients.first().map(Vec::len) else { return Vec::new() };
        match &self.preconditioner {
            Preconditioner::Factor(factor) => {
                let mut all = Mat::from_fn(size, gradients.len(), |i, j| -gradients[j][i]);
                factor.solve_in_place(all.as_mut());
                all.col_iter().map(|column| column.iter().copied().collect()).collect()
            }
            parts => gradients
                .par_iter()
                .map(|gradient| conjugate_gradients(&self.curve, gradient, parts).0)
                .collect(),
        }
    }
}
