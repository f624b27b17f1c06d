//! The error of a classifier whose margin is Gaussian in each class.
//!
//! Balasubramanian, Donmez and Lebanon (2011), "Unsupervised supervised learning II: margin-based classification without labels":
//! the margin `s_1 - s_0` of the summed scores is a mixture of one Gaussian a class, with a class prior that is known. Here it is
//! that of the old domain's labels, or one half. The mixture is fitted by expectation maximisation, and the error rate and the
//! log loss are those of the two Gaussians.

use super::{Old, Said, TWO_CLASSES, Unsuited};
use crate::data::Batch;
use crate::loss::Loss;
use statrs::distribution::{ContinuousCDF, Normal};

/// Steps at the most.
const STEPS: usize = 2000;
/// A step that raises the mean log likelihood by less is the last.
const ENOUGH: f64 = 1e-10;
/// No Gaussian is narrower than this share of the spread of all margins.
const NARROWEST: f64 = 1e-3;
const CONSTANT: Unsuited = "all margins are the same";

/// Mean and standard deviation of the margin in each class.
type Gaussians = [[f64; 2]; 2];

pub(super) fn gaussian_margin(rows: &Batch, old: Option<&Old>, loss: &dyn Loss) -> Result<Said, Unsuited> {
    if rows.k() != 2 {
        return Err(TWO_CLASSES);
    }
    let (n, total) = (rows.rows(), rows.total());
    let margins: Vec<f64> = (0..n).map(|row| total[n + row] - total[row]).collect();
    let prior = old.map_or(0.5, |old| old.labels.iter().sum::<usize>() as f64 / old.rows() as f64);
    let prior = [1.0 - prior, prior];
    let fitted = fit(&margins, prior).ok_or(CONSTANT)?;
    Ok(Said {
        risk: (loss.name() == "log").then(|| risk(prior, &fitted)),
        error_rate: Some(error(prior, &fitted)),
        view_error: None,
    })
}

/// The likeliest Gaussians, that of the second class with the larger mean.
fn fit(margins: &[f64], prior: [f64; 2]) -> Option<Gaussians> {
    let n = margins.len() as f64;
    let mean = margins.iter().sum::<f64>() / n;
    let spread = (margins.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    if !(spread.is_finite() && spread > 0.0) {
        return None;
    }
    let narrowest = NARROWEST * spread;
    // The start: the lower and the upper share of the margins by the prior.
    let mut sorted = margins.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = ((prior[0] * n).round() as usize).clamp(1, margins.len() - 1);
    let of = |part: &[f64]| {
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        let variance = part.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / part.len() as f64;
        [mean, variance.sqrt().max(narrowest)]
    };
    let mut fitted = [of(&sorted[..cut]), of(&sorted[cut..])];
    let mut before = f64::NEG_INFINITY;
    for _ in 0..STEPS {
        let (mut sums, mut likelihood) = ([[0.0; 3]; 2], 0.0);
        for &x in margins {
            let density: [f64; 2] = std::array::from_fn(|y| {
                let [mean, deviation] = fitted[y];
                prior[y].max(f64::MIN_POSITIVE).ln() - deviation.ln() - 0.5 * ((x - mean) / deviation).powi(2)
            });
            let total = crate::numeric::linalg::log_sum_exp(&density);
            likelihood += total / n;
            for (sums, density) in sums.iter_mut().zip(density) {
                let share = (density - total).exp();
                [share, share * x, share * x * x].iter().zip(sums).for_each(|(add, sum)| *sum += add);
            }
        }
        fitted = sums.map(|[count, sum, squares]| {
            let mean = sum / count.max(f64::MIN_POSITIVE);
            [mean, (squares / count.max(f64::MIN_POSITIVE) - mean * mean).max(0.0).sqrt().max(narrowest)]
        });
        if likelihood - before < ENOUGH {
            break;
        }
        before = likelihood;
    }
    if fitted[0][0] > fitted[1][0] {
        fitted.reverse();
    }
    Some(fitted)
}

/// The chance that the margin is on the wrong side of zero.
fn error(prior: [f64; 2], fitted: &Gaussians) -> f64 {
    let normal = Normal::standard();
    let [[low, low_deviation], [high, high_deviation]] = *fitted;
    prior[0] * normal.cdf(low / low_deviation) + prior[1] * normal.cdf(-high / high_deviation)
}

/// The mean of `log(1 + exp(-margin))`, or of `log(1 + exp(margin))` in the first class, by the trapezoidal rule.
fn risk(prior: [f64; 2], fitted: &Gaussians) -> f64 {
    const REACH: f64 = 8.0;
    const POINTS: usize = 2000;
    let of_class = |y: usize| {
        let ([mean, deviation], step) = (fitted[y], 2.0 * REACH / POINTS as f64);
        let point = |at: usize| {
            let z = -REACH + step * at as f64;
            let margin = (mean + deviation * z) * if y == 1 { 1.0 } else { -1.0 };
            let loss = (-margin.abs()).exp().ln_1p() + (-margin).max(0.0);
            step * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt() * loss
        };
        (0..=POINTS).map(point).sum::<f64>()
    };
    prior[0] * of_class(0) + prior[1] * of_class(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_two_gaussians() {
        // 30% of N(-2, 1) and 70% of N(1, 0.5^2), both by their quantiles.
        let normal = Normal::standard();
        let quantiles = |count: usize, mean: f64, deviation: f64| {
            (0..count).map(move |at| mean + deviation * normal.inverse_cdf((at as f64 + 0.5) / count as f64))
        };
        let margins: Vec<f64> = quantiles(3_000, -2.0, 1.0).chain(quantiles(7_000, 1.0, 0.5)).collect();
        let fitted = fit(&margins, [0.3, 0.7]).expect("margins that vary");
        for (found, expected) in fitted.iter().flatten().zip([-2.0, 1.0, 1.0, 0.5]) {
            assert!((found - expected).abs() < 0.01, "{fitted:?}");
        }
        // Phi(-2) in both.
        let error = error([0.3, 0.7], &[[-2.0, 1.0], [1.0, 0.5]]);
        assert!((error - 0.022_750_13).abs() < 1e-7, "{error}");
        assert_eq!(fit(&[1.0; 4], [0.5; 2]), None);
    }

    #[test]
    fn the_risk_of_a_certain_margin() {
        // Next to no spread: log(1 + exp(-1)) in the second class, log(1 + exp(-2)) in the first.
        let found = risk([0.5, 0.5], &[[-2.0, 1e-9], [1.0, 1e-9]]);
        let expected = 0.5 * ((-1f64).exp().ln_1p() + (-2f64).exp().ln_1p());
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}
