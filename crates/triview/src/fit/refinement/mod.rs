//! From a start to the prior and class means that fit the moments best.

mod cells;
mod implicit;
mod newton;
mod objective;
mod point;
mod pull;
mod second_derivative;

pub(crate) use cells::unfold;
pub(crate) use implicit::Implicit;
pub(crate) use newton::{Curvature, Curve};
pub(crate) use objective::{Distance, Objective};
pub(crate) use point::{Expansion, Shape};

use crate::fit::Mixture;
use crate::interrupt;
use crate::numeric::lbfgs::{Minimum, minimise};
use crate::settings::refinement::{COARSE_GRADIENT, FINE_GRADIENT, MOST_ITERATIONS, REFIT_STEPS, SAME};
use newton::polish;
use rayon::prelude::*;
use second_derivative::SecondDerivative;

/// How far mixtures are from the moments of some rows, as a function of a point: what a fit minimises, whether the
/// third moment is formed ([`Objective`]) or not ([`Implicit`]).
pub(crate) trait Misfit {
    /// What curvature needs of a point beside its mixture.
    type Detail;

    /// The second derivative.
    type Curve<'a>: Curve
    where
        Self: 'a;

    /// How a mixture lies in a point.
    fn shape(&self) -> Shape;

    /// Value, gradient, and what curvature needs.
    fn expand(&self, point: &[f64]) -> Expansion<Self::Detail>;

    /// The second derivative at a point, exact or nearly.
    fn curve(&self, at: &Expansion<Self::Detail>) -> Self::Curve<'_>;
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
    let coarse = descend(objective, start);
    finish(objective, coarse.point, coarse.iterations)
}

/// Refines a start that is near a minimum by Newton's method alone.
pub(crate) fn refine_near(objective: &Objective, start: &Mixture) -> Refined {
    finish(objective, objective.shape().pack(start), 0)
}

/// Refines two starts. Where both lead to the same minimum, what the second would be is left out.
pub(crate) fn refine_both(objective: &Objective, starts: [&Mixture; 2]) -> (Refined, Option<Refined>) {
    let [first, second] = starts.map(|start| descend(objective, start));
    let [one, other] = [&first, &second].map(|coarse| objective.shape().unpack(&coarse.point));
    if one.is_about(&other, SAME) {
        return (finish(objective, first.point, first.iterations), None);
    }
    let [first, second] = [first, second].map(|coarse| finish(objective, coarse.point, coarse.iterations));
    // Which of two equals is named must not hang on rounding.
    let same = (first.objective - second.objective).abs() <= 1e-9 * first.objective;
    (first, (!same).then_some(second))
}

fn descend(objective: &Objective, start: &Mixture) -> Minimum {
    minimise(
        |point| {
            let at = objective.expand(point);
            (at.value, at.gradient)
        },
        objective.shape().pack(start),
        COARSE_GRADIENT,
        MOST_ITERATIONS,
    )
}

fn finish(objective: &Objective, point: Vec<f64>, iterations: usize) -> Refined {
    let minimum = polish(objective, point, FINE_GRADIENT, 40);
    Refined {
        mixture: objective.shape().unpack(&minimum.point),
        objective: minimum.value,
        iterations: iterations + minimum.iterations,
        converged: minimum.converged,
    }
}

/// A converged fit that is ready to be repeated on slightly different moments.
pub(crate) struct Refit {
    point: Vec<f64>,
    curvature: Curvature<SecondDerivative>,
}

impl Refit {
    /// From a fit and the objective that it minimises.
    pub(crate) fn new(objective: &Objective, fitted: &Mixture) -> Self {
        let point = objective.shape().pack(fitted);
        let curvature = Curvature::new(objective.curve(&objective.expand(&point)));
        Self { point, curvature }
    }

    /// The fits to other moments, by Newton steps with the curvature of the first, shortened where they would
    /// leave the objective's domain.
    pub(crate) fn to(&self, objectives: &[Objective]) -> Vec<Mixture> {
        let at = |point: &Vec<f64>, objective: &Objective| objective.expand(point).gradient;
        let mut points = vec![self.point.clone(); objectives.len()];
        for _ in 0..REFIT_STEPS {
            let gradients: Vec<Vec<f64>> =
                points.par_iter().zip(objectives).map(|(point, objective)| at(point, objective)).collect();
            let steps = self.curvature.steps(&gradients);
            let moved = |((point, step), objective): ((&mut Vec<f64>, &Vec<f64>), &Objective)| {
                interrupt::check();
                for halving in 0..10 {
                    let length = 0.5f64.powi(halving);
                    let next: Vec<f64> = point.iter().zip(step).map(|(x, step)| x + length * step).collect();
                    if objective.is_defined(&next) {
                        *point = next;
                        break;
                    }
                }
            };
            points.par_iter_mut().zip(&steps).zip(objectives).for_each(moved);
        }
        points.iter().zip(objectives).map(|(point, objective)| objective.shape().unpack(point)).collect()
    }
}
