//! L-BFGS over argmin, for any smooth function that gives its value and gradient together.

use crate::interrupt;
use argmin::core::{CostFunction, Executor, Gradient, State, TerminationReason, TerminationStatus};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use std::sync::{Mutex, PoisonError};

/// Pairs of steps that L-BFGS remembers.
const MEMORY: usize = 10;

/// Where a minimisation ended.
#[derive(Debug, Clone)]
pub(crate) struct Minimum {
    /// The point.
    pub(crate) point: Vec<f64>,
    /// The value there.
    pub(crate) value: f64,
    /// Iterations it took.
    pub(crate) iterations: usize,
    /// Whether it stopped at a minimum rather than by running out of iterations.
    pub(crate) converged: bool,
}

/// A point, the value there and the gradient there.
type Evaluation = (Vec<f64>, f64, Vec<f64>);

/// The function, with its last evaluation, since argmin asks for value and gradient one after the other at the
/// same point, and its best one, since argmin forgets it when a line search fails.
struct Memo<'a, F> {
    function: F,
    last: Mutex<Option<Evaluation>>,
    best: &'a Mutex<(Vec<f64>, f64)>,
}

impl<F: Fn(&[f64]) -> (f64, Vec<f64>)> Memo<'_, F> {
    /// What is asked at a point. Where that is not a number the search ends: a line search among such never does.
    fn at<T>(&self, point: &[f64], pick: impl Fn(f64, &[f64]) -> T) -> Result<T, argmin::core::Error> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, value, gradient)) if known == point => Ok(pick(*value, gradient)),
            _ => {
                interrupt::check();
                let (value, gradient) = (self.function)(point);
                if !(value.is_finite() && gradient.iter().all(|slope| slope.is_finite())) {
                    return Err(argmin::core::Error::msg("the value or its gradient is not finite"));
                }
                let picked = pick(value, &gradient);
                let mut best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
                if value < best.1 {
                    *best = (point.to_vec(), value);
                }
                *last = Some((point.to_vec(), value, gradient));
                Ok(picked)
            }
        }
    }
}

impl<F: Fn(&[f64]) -> (f64, Vec<f64>)> CostFunction for Memo<'_, F> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, point: &Vec<f64>) -> Result<f64, argmin::core::Error> {
        self.at(point, |value, _| value)
    }
}

impl<F: Fn(&[f64]) -> (f64, Vec<f64>)> Gradient for Memo<'_, F> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, point: &Vec<f64>) -> Result<Vec<f64>, argmin::core::Error> {
        self.at(point, |_, gradient| gradient.to_vec())
    }
}

/// Minimises a function that returns its value and gradient.
///
/// A line search that finds no lower point ends the search where it stands: at the accuracy of the numbers
/// that is convergence, and elsewhere `converged` is false.
pub(crate) fn minimise(
    function: impl Fn(&[f64]) -> (f64, Vec<f64>),
    start: Vec<f64>,
    gradient_tolerance: f64,
    most_iterations: usize,
) -> Minimum {
    let best = Mutex::new((start.clone(), f64::INFINITY));
    let problem = Memo { function, last: Mutex::new(None), best: &best };
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY)
        .with_tolerance_grad(gradient_tolerance)
        .and_then(|solver| solver.with_tolerance_cost(1e-15));
    let outcome = solver.and_then(|solver| {
        Executor::new(problem, solver)
            .configure(|state| state.param(start).max_iters(most_iterations as u64))
            .run()
    });
    let (iterations, converged) = outcome.map_or((0, false), |outcome| {
        let reason = outcome.state().get_termination_status();
        let converged = matches!(reason, TerminationStatus::Terminated(TerminationReason::SolverConverged));
        (outcome.state().get_iter() as usize, converged)
    });
    let (point, value) = best.into_inner().unwrap_or_else(PoisonError::into_inner);
    Minimum { point, value, iterations, converged }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_ends_the_search() {
        // The logarithm is not a number beyond zero, where the first step leads.
        let logarithm = |point: &[f64]| (point[0].ln(), vec![1.0 / point[0]]);
        let found = minimise(logarithm, vec![1e-3], 1e-9, 50);
        assert!(found.value.is_finite() && found.point[0] > 0.0, "{found:?}");
        let nothing = minimise(|_| (f64::NAN, vec![f64::NAN]), vec![1.0], 1e-9, 50);
        assert_eq!((nothing.point, nothing.converged), (vec![1.0], false));
    }
}
