//! Importance-weighted validation: the old domain's labelled rows, weighted by how much more frequent such rows are now.
//!
//! Shimodaira (2000), "Improving predictive inference under covariate shift by weighting the log-likelihood function"; the ratio of
//! densities by a classifier of the two domains, Bickel, Brückner and Scheffer (2007), here logistic regression on
//! the standardised scores of all views. It is right where the class given the scores has not changed.

use super::{Old, Said};
use crate::data::Batch;
use crate::loss::Loss;
use crate::numeric::lbfgs::minimise;

/// Penalty on half the squared weights of standardised scores.
const PENALTY: f64 = 1e-3;

pub(super) fn weighted_validation(rows: &Batch, old: &Old, loss: &dyn Loss) -> Said {
    let weights = weights(rows, &old.rows);
    let total: f64 = weights.iter().sum();
    let mean = |values: Vec<f64>| weights.iter().zip(values).map(|(w, value)| w * value).sum::<f64>() / total;
    Said { risk: Some(mean(old.losses(loss))), error_rate: Some(mean(old.wrong())), view_error: None }
}

/// For each old row the odds of the new domain against the old, given its scores.
fn weights(new: &Batch, old: &Batch) -> Vec<f64> {
    let columns = |rows: &Batch| -> Vec<Vec<f64>> {
        let all = (0..rows.views()).flat_map(|view| (0..rows.k()).map(move |class| (view, class)));
        all.map(|(view, class)| rows.column(view, class).to_vec()).collect()
    };
    let (mut new, mut old) = (columns(new), columns(old));
    for (a, b) in new.iter_mut().zip(&mut old) {
        let n = (a.len() + b.len()) as f64;
        let mean = a.iter().chain(b.iter()).sum::<f64>() / n;
        let spread = (a.iter().chain(b.iter()).map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
        let scale = if spread > 0.0 { 1.0 / spread } else { 0.0 };
        a.iter_mut().chain(b.iter_mut()).for_each(|x| *x = (*x - mean) * scale);
    }
    // Both domains count alike, however many rows they have.
    let domains = [(&new, 1.0), (&old, -1.0)];
    let logits = |columns: &[Vec<f64>], point: &[f64]| -> Vec<f64> {
        let mut logits = vec![point[0]; columns[0].len()];
        for (column, weight) in columns.iter().zip(&point[1..]) {
            logits.iter_mut().zip(column).for_each(|(logit, x)| *logit += weight * x);
        }
        logits
    };
    let objective = |point: &[f64]| {
        let (mut value, mut gradient) = (0.0, vec![0.0; point.len()]);
        for (columns, sign) in domains {
            let share = 0.5 / columns[0].len() as f64;
            let slopes: Vec<f64> = logits(columns, point)
                .into_iter()
                .map(|logit| {
                    let margin: f64 = sign * logit;
                    value += share * ((-margin.abs()).exp().ln_1p() + (-margin).max(0.0));
                    -sign * share / (1.0 + margin.exp())
                })
                .collect();
            gradient[0] += slopes.iter().sum::<f64>();
            for (slot, column) in gradient[1..].iter_mut().zip(columns) {
                *slot += column.iter().zip(&slopes).map(|(x, slope)| x * slope).sum::<f64>();
            }
        }
        for (weight, slot) in point.iter().zip(&mut gradient).skip(1) {
            value += 0.5 * PENALTY * weight * weight;
            *slot += PENALTY * weight;
        }
        (value, gradient)
    };
    let fitted = minimise(objective, vec![0.0; new.len() + 1], 1e-7, 200).point;
    logits(&old, &fitted).into_iter().map(f64::exp).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows_of;
    use super::*;
    use crate::loss::LogLoss;

    #[test]
    fn weights_are_the_ratio_of_frequencies() {
        // Two kinds of rows, half and half in the old domain, one to three in the new; rows of the second kind are wrong. With the
        // penalty the odds are a little nearer to one than 1/2 and 3/2.
        let kind = |second: bool| [if second { 1.0 } else { -1.0 }, 0.0, 0.0];
        let rows =
            |seconds: usize, of: usize| rows_of(&(0..of).map(|row| kind(row < seconds)).collect::<Vec<_>>());
        let old = rows(200, 400).with_labels(vec![Some(0); 400]).expect("one a row");
        let said = weighted_validation(&rows(300, 400), &Old::new(&old).expect("labels"), &LogLoss);
        let error = said.error_rate.expect("an error rate");
        assert!((error - 0.75).abs() < 0.01, "{error}");
        let loss = |odds: f64| (1.0 + odds.exp()).ln();
        let expected = error * loss(1.0) + (1.0 - error) * loss(-1.0);
        assert!((said.risk.expect("a risk") - expected).abs() < 1e-12);
    }
}
