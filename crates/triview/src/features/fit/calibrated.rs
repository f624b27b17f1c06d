//! Posterior features for many classes: the model's own scores, calibrated.

use crate::data::{Batch, VIEWS};
use crate::error::Result;
use crate::features::fit::sieve::Sieve;
use crate::features::{Basis, FeatureMap, Way};
use crate::numeric::lbfgs::minimise;
use crate::settings::calibrated::ITERATIONS;

/// Posteriors `q_v = softmax(t_v s_v + b_v)` of each view, with the temperatures `t_v`, the offsets `b_v` and the prior that
/// make the rows most likely (see [`Sieve`]).
///
/// Free weights on all scores, as the sieve has them, are `k^2` a view. Fitted to the rows that they are then used on,
/// they tie each row's features to what its other views say by a share of `k^2 / n`, which is not small here. These are
/// `k + 1` a view.
pub(crate) fn calibrated(rows: &Batch) -> Result<FeatureMap> {
    let k = rows.k();
    let basis = |v: usize| {
        let (present, scores) = rows.present_scores(&[v]);
        Basis::fit(present, &scores, 0)
    };
    let bases = [basis(0)?, basis(1)?, basis(2)?];
    let own = bases.each_ref().map(|basis| own_weights(basis, k));
    let sieve = Sieve::new(rows, &bases, rows.k(), 0.0);
    let weights = Tempered { own, k };
    let objective = |short: &[f64]| {
        let (value, gradient) = sieve.value_and_gradient(&weights.point(short));
        (value, weights.pull_back(short, &gradient))
    };
    let start = vec![0.0; VIEWS + (VIEWS + 1) * k];
    let fitted = minimise(objective, start, 1e-5, ITERATIONS).point;
    let (views, prior) = sieve.unpack(&weights.point(&fitted), bases);
    Ok(FeatureMap::Posterior { way: Way::Calibration, prior, views })
}

/// A point of the sieve as a function of few numbers: the logarithms of the temperatures, view by view the offsets of
/// the classes, and the logits of the prior.
struct Tempered {
    /// For each view the weights of its own scores, one row a class, the constant first.
    own: [Vec<f64>; VIEWS],
    k: usize,
}

impl Tempered {
    /// The point.
    fn point(&self, short: &[f64]) -> Vec<f64> {
        let mut point = Vec::new();
        for (v, own) in self.own.iter().enumerate() {
            let temperature = short[v].exp();
            for (j, row) in own.chunks_exact(own.len() / self.k).enumerate() {
                let start = point.len();
                point.extend(row.iter().map(|weight| temperature * weight));
                point[start] += short[VIEWS + v * self.k + j];
            }
        }
        point.extend_from_slice(&short[VIEWS + VIEWS * self.k..]);
        point
    }

    /// The derivative in the few numbers from that in the point.
    fn pull_back(&self, short: &[f64], gradient: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; short.len()];
        let mut start = 0;
        for (v, own) in self.own.iter().enumerate() {
            let of_view = &gradient[start..start + own.len()];
            out[v] = short[v].exp() * of_view.iter().zip(own).map(|(g, weight)| g * weight).sum::<f64>();
            for (j, row) in of_view.chunks_exact(own.len() / self.k).enumerate() {
                out[VIEWS + v * self.k + j] = row[0];
            }
            start += own.len();
        }
        out[VIEWS + VIEWS * self.k..].copy_from_slice(&gradient[start..]);
        out
    }
}

/// The weights under which the posterior is the softmax of the view's own scores, one row a class, the constant first.
///
/// A row of the whitening is an eigenvector over the root of its eigenvalue `d`, so `d` is one over its squared length,
/// and scores are their means and the eigenvectors times `sqrt(d)` times the whitened scores.
fn own_weights(basis: &Basis, k: usize) -> Vec<f64> {
    let width = basis.len() + 1;
    let mut weights = vec![0.0; k * width];
    if let Basis::Whitened { whitening, .. } = basis {
        for (a, row) in whitening.chunks_exact(k + 1).enumerate() {
            let variance = 1.0 / row[1..].iter().map(|weight| weight * weight).sum::<f64>();
            for j in 0..k {
                let weight = row[1 + j] * variance;
                weights[j * width + 1 + a] = weight;
                weights[j * width] -= weight * row[0];
            }
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{Population, Preset};
    use crate::numeric::columns;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    #[test]
    fn own_weights_give_back_the_scores() -> Result<()> {
        let population = Population::draw(&Preset::Six.setting(), 3)?;
        let (rows, _) = population.rows(500, &mut Pcg64::seed_from_u64(4));
        let basis = Basis::fit(500, rows.view(1), 0)?;
        let (mut functions, mut scores) = (Vec::new(), vec![0.0; 500 * 6]);
        basis.evaluate(500, rows.view(1), &mut functions);
        columns::affine_columns(&functions, 500, basis.len(), &own_weights(&basis, 6), 6, &mut scores);
        for (score, own) in scores.iter().zip(rows.view(1)) {
            assert!((score - own).abs() < 1e-9, "{score} {own}");
        }
        Ok(())
    }

    #[test]
    fn the_derivative_is_that_of_the_point() {
        let own = std::array::from_fn(|v| (0..8).map(|i| ((v * 8 + i) as f64).cos()).collect());
        let weights = Tempered { own, k: 2 };
        let short: Vec<f64> = (0..11).map(|i| 0.3 * (i as f64).sin()).collect();
        let slopes: Vec<f64> = (0..26).map(|i| (2.0 * i as f64).cos()).collect();
        let along =
            |short: &[f64]| weights.point(short).iter().zip(&slopes).map(|(x, slope)| x * slope).sum::<f64>();
        for (i, slope) in weights.pull_back(&short, &slopes).iter().enumerate() {
            let moved = |step: f64| {
                let mut moved = short.clone();
                moved[i] += step;
                along(&moved)
            };
            assert!(((moved(1e-5) - moved(-1e-5)) / 2e-5 - slope).abs() < 1e-8, "{i}");
        }
    }
}
