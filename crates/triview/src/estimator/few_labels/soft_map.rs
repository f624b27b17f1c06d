//! The soft map from latent states to classes, `P(y | z)`.
//!
//! The mediating variable (extension 3 of the paper) has each state determine a class. Where that is too hard a map, a few labels
//! give a softer one: given the state's posterior `r_z(x)` a label has the probability `sum_z r_z(x) P(y | z)`, whose logarithm is
//! concave in the map and is maximised by expectation maximisation. The risk is then
//!
//! ```text
//!     E[L] = E[ sum_z r_z(x) sum_y P(y | z) L(x, y) ],
//! ```
//!
//! which rests on the class being independent of the row given the state.

use super::rows::Rows;
use crate::answer::Interval;
use crate::metrics::Measured;
use crate::settings::soft_map::{FOLDS, STEPS};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The map, and the risk under it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SoftMap {
    /// For each state of the posterior the probability of each class.
    pub probability: Vec<Vec<f64>>,
    /// The risk if each class is independent of the row given the state; its error is that of the labels alone.
    pub risk: Measured,
}

/// Fits the map, where there are more states than classes.
pub(super) fn fit(rows: &Rows, level: f64) -> Option<SoftMap> {
    let [k, states] = rows.dimensions();
    if states <= k {
        return None;
    }
    let risk = |map: &[f64]| {
        map.iter().zip(&rows.state_losses).map(|(p, sum)| p * sum).sum::<f64>() / rows.count() as f64
    };
    let whole = maximise(rows, |_| true);
    let value = risk(&whole);
    let squares: f64 =
        (0..FOLDS).map(|fold| (risk(&maximise(rows, |label| label % FOLDS != fold)) - value).powi(2)).sum();
    let standard_error = (squares * (FOLDS as f64 - 1.0) / FOLDS as f64).sqrt();
    let reach = StudentsT::new(0.0, 1.0, FOLDS as f64 - 1.0)
        .map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + 0.5 * level));
    Some(SoftMap {
        probability: whole.chunks_exact(k).map(<[f64]>::to_vec).collect(),
        risk: Measured { value, standard_error, interval: Interval::around(value, reach, standard_error) },
    })
}

/// The likeliest map given some of the labels, state by state. No label is made up: one in thirty of a class whose loss is twelve
/// moved a risk of 0.16 to 0.57. A state that no label speaks of has the classes' frequencies among them.
fn maximise(rows: &Rows, used: impl Fn(usize) -> bool) -> Vec<f64> {
    let [k, states] = rows.dimensions();
    let labels: Vec<usize> = (0..rows.labels()).filter(|&label| used(label)).collect();
    let mut frequency = vec![0.0; k];
    labels.iter().for_each(|&label| frequency[rows.classes[label]] += 1.0 / labels.len() as f64);
    let mut map: Vec<f64> = (0..states).flat_map(|_| frequency.iter().copied()).collect();
    for _ in 0..STEPS {
        let mut counts = vec![0.0; states * k];
        for &label in &labels {
            let (class, r) =
                (rows.classes[label], &rows.state_posteriors[label * states..(label + 1) * states]);
            let shares: Vec<f64> = (0..states).map(|z| r[z] * map[z * k + class]).collect();
            let total: f64 = shares.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            shares.iter().enumerate().for_each(|(z, share)| counts[z * k + class] += share / total);
        }
        for (map, counts) in map.chunks_exact_mut(k).zip(counts.chunks_exact(k)) {
            let total: f64 = counts.iter().sum();
            if total > 0.0 {
                map.iter_mut().zip(counts).for_each(|(p, count)| *p = count / total);
            }
        }
    }
    map
}
