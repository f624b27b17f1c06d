//! Dawid and Skene's expectation maximisation on the views' hard predictions.
//!
//! Dawid and Skene (1979), "Maximum likelihood estimation of observer error-rates using the EM algorithm", from the majority vote.

use super::ballots::{all_predictions, cast, said};
use super::{Said, Unsuited};
use crate::data::Batch;
use crate::loss::Loss;
use crate::votes::{Smoothing, Stop, dawid_skene, majority};

pub(super) fn expectation_maximisation(rows: &Batch, loss: &dyn Loss) -> Result<Said, Unsuited> {
    let votes = cast(&all_predictions(rows), rows.k())?;
    let smoothing = Smoothing::none(rows.k());
    let fitted = dawid_skene(&votes, majority(&votes, &smoothing), &smoothing, Stop::default());
    Ok(said(rows, &fitted.crowd, &votes, loss))
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows_of;
    use super::*;
    use crate::loss::LogLoss;

    #[test]
    fn votes_of_known_confusions() {
        // Every pattern of votes as often as three views with errors 0.1, 0.2 and 0.3 and a prior of 0.6 make it, of
        // 10,000 rows: the likelihood is largest at what made them.
        let errors = [0.1, 0.2, 0.3];
        let chance = |pattern: usize, class: usize| -> f64 {
            (0..3).map(|v| if pattern >> v & 1 == class { 1.0 - errors[v] } else { errors[v] }).product()
        };
        let mut odds = Vec::new();
        // The error of the summed scores is that of the second view, whose odds are the largest.
        for pattern in 0..8usize {
            let count = (10_000.0 * (0.4 * chance(pattern, 0) + 0.6 * chance(pattern, 1))).round() as usize;
            let sign = |v: usize| if pattern >> v & 1 == 1 { 1.0 } else { -1.0 };
            odds.extend(std::iter::repeat_n([sign(0), 5.0 * sign(1), sign(2)], count));
        }
        let said = expectation_maximisation(&rows_of(&odds), &LogLoss).expect("few classes");
        for (found, error) in said.view_error.expect("errors").iter().zip(errors) {
            assert!((found - error).abs() < 3e-3, "{found} {error}");
        }
        let error = said.error_rate.expect("an error rate");
        assert!((error - 0.2).abs() < 3e-3, "{error}");
    }
}
