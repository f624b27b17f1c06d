//! From a start to the prior and class means that fit the moments best.

mod implicit;
mod newton;
mod objective;
mod point;
mod pull;

pub(crate) use implicit::Implicit;
pub(crate) use newton::{Curvature, polish};
pub(crate) use objective::{Distance, Objective};
pub(crate) use point::{Expansion, Shape};

use crate::fit::Mixture;
use crate::interrupt;
use crate::numeric::lbfgs::minimise;
use crate::settings::refinement::{COARSE_GRADIENT, FINE_GRADIENT, MOST_ITERATIONS, REFIT_STEPS};
use faer::linalg::solvers::Llt;

/// How far mixtures are from the moments of some rows, as a function of a point: what a fit minimises, whether the
/// third moment is formed ([`Objective`]) or not ([`Implicit`]).
pub(crate) trait Misfit {
    /// What curvature needs of a point beside its mixture.
    type Detail;

    /// Conjugate gradients solve Newton's equations until the squared error, in the preconditioner's norm, has
    /// fallen by this factor.
    const PRECISION: f64;

    /// How a mixture lies in a point.
    fn shape(&self) -> Shape;

    /// Value, gradient, and what curvature needs.
    fn expand(&self, point: &[f64]) -> Expansion<Self::Detail>;

    /// The second derivative at a point, exact or nearly, applied to a direction.
    fn curvature(&self, at: &Expansion<Self::Detail>, direction: &[f64]) -> Vec<f64>;

    /// The factored second derivative, where it is positive definite and small enough to be formed.
    fn factor(&self, _at: &Expansion<Self::Detail>) -> Option<Llt<f64>> {
        None
    }
}

/// A refined fit.
#[derive(Debug, Clone)]
pub(crate) struct Refined {
    /// The prior and class means.
    pub(crate) mixture: Mixture,
    /// Half the squared distance to the moments.
    pub(crate) objective: f64,
    /// Iterations of L-BFGS and Newton's method.
    pub(crate) iterations: usize,
    /// Whether the gradient vanished.
    pub(crate) converged: bool,
}

/// Refines a start by L-BFGS (the paper's choice), then by Newton's method: L-BFGS slows down where classes
/// overlap, and the last digits are what makes merged states agree.
pub(crate) fn refine(objective: &Objective, start: &Mixture) -> Refined {
    let coarse = minimise(
        |point| {
            let at = objective.expand(point);
            (at.value, at.gradient)
        },
        objective.shape().pack(start),
        COARSE_GRADIENT,
        MOST_ITERATIONS,
    );
    finish(objective, coarse.point, FINE_GRADIENT, coarse.iterations)
}

/// Refines a start that is near a minimum by Newton's method alone.
pub(crate) fn refine_near(objective: &Objective, start: &Mixture) -> Refined {
    finish(objective, objective.shape().pack(start), FINE_GRADIENT, 0)
}

fn finish<M: Misfit>(objective: &M, point: Vec<f64>, tolerance: f64, iterations: usize) -> Refined {
    let fine = polish(objective, point, tolerance, 40);
    Refined {
        mixture: objective.shape().unpack(&fine.point),
        objective: fine.value,
        iterations: iterations + fine.iterations,
        converged: fine.converged,
    }
}

/// A converged fit that is ready to be repeated on slightly different moments.
pub(crate) struct Refit {
    point: Vec<f64>,
    curvature: Curvature,
}

impl Refit {
    /// From a fit and the objective that it minimises.
    pub(crate) fn new(objective: &Objective, fitted: &Mixture) -> Self {
        let point = objective.shape().pack(fitted);
        let curvature = Curvature::new(objective, &objective.expand(&point));
        Self { point, curvature }
    }

    /// The fit to other moments, by Newton steps with the curvature of the first, shortened where they would
    /// leave the objective's domain.
    pub(crate) fn to(&self, objective: &Objective) -> Mixture {
        let mut point = self.point.clone();
        let mut at = objective.expand(&point);
        for _ in 0..REFIT_STEPS {
            interrupt::check();
            let step = self.curvature.step(objective, &at, &at.gradient);
            for halving in 0..10 {
                interrupt::check();
                let length = 0.5f64.powi(halving);
                let next: Vec<f64> = point.iter().zip(&step).map(|(x, step)| x + length * step).collect();
                let expansion = objective.expand(&next);
                if expansion.value.is_finite() {
                    (point, at) = (next, expansion);
                    break;
                }
            }
        }
        objective.shape().unpack(&point)
    }
}
