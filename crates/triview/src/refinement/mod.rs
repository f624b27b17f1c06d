//! From a start to the prior and class means that fit the moments best.

mod minimise;
mod newton;
mod objective;

pub(crate) use minimise::minimise;
pub(crate) use newton::{Curvature, polish};
pub(crate) use objective::{Distance, Objective};

use crate::decomposition::Mixture;

/// L-BFGS stops here: the gradient of whitened moments is of the order of one away from a minimum.
const COARSE_GRADIENT: f64 = 1e-6;
/// Newton's steps go on until here, which fixes the risk to 1e-9 whatever order the sums were made in.
const FINE_GRADIENT: f64 = 1e-12;
/// L-BFGS iterations at the most; ill-conditioned fits need some hundreds.
const MOST_ITERATIONS: usize = 500;

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
        |point| objective.value_and_gradient(point),
        objective.pack(start),
        COARSE_GRADIENT,
        MOST_ITERATIONS,
    );
    finish(objective, coarse.point, coarse.iterations)
}

/// Refines a start that is near a minimum by Newton's method alone.
pub(crate) fn refine_near(objective: &Objective, start: &Mixture) -> Refined {
    finish(objective, objective.pack(start), 0)
}

fn finish(objective: &Objective, point: Vec<f64>, iterations: usize) -> Refined {
    let fine = polish(objective, point, FINE_GRADIENT, 40);
    Refined {
        mixture: objective.unpack(&fine.point),
        objective: fine.value,
        iterations: iterations + fine.iterations,
        converged: fine.converged,
    }
}

/// Steps of a refit. Leaving out one block of 64 moves the solution little, and the curvature hardly: the
/// second step corrects the first by some hundredths of it.
const REFIT_STEPS: usize = 2;

/// A converged fit that is ready to be repeated on slightly different moments.
pub(crate) struct Refit {
    point: Vec<f64>,
    curvature: Curvature,
}

impl Refit {
    /// From a fit and the objective that it minimises.
    pub(crate) fn new(objective: &Objective, fitted: &Mixture) -> Self {
        let point = objective.pack(fitted);
        let curvature = Curvature::new(objective, &objective.expand(&point));
        Self { point, curvature }
    }

    /// The fit to other moments, by Newton steps with the curvature of the first, shortened where they would
    /// leave the objective's domain.
    pub(crate) fn to(&self, objective: &Objective) -> Mixture {
        let mut point = self.point.clone();
        let mut at = objective.expand(&point);
        for _ in 0..REFIT_STEPS {
            let step = self.curvature.step(objective, &at, &at.gradient);
            for halving in 0..10 {
                let length = 0.5f64.powi(halving);
                let next: Vec<f64> = point.iter().zip(&step).map(|(x, step)| x + length * step).collect();
                let expansion = objective.expand(&next);
                if expansion.value.is_finite() {
                    (point, at) = (next, expansion);
                    break;
                }
            }
        }
        objective.unpack(&point)
    }
}
