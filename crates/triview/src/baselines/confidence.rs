//! Average confidence: the error rate that the model expects of itself.
//!
//! Hendrycks and Gimpel (2017), "A baseline for detecting misclassified and out-of-distribution examples in neural networks".

use super::{Said, beliefs, mean};
use crate::data::Batch;

/// One less the mean of the largest probability.
pub(super) fn average_confidence(rows: &Batch) -> Said {
    Said::error_rate(1.0 - mean(confidences(rows).into_iter()))
}

/// The largest probability of each row.
pub(super) fn confidences(rows: &Batch) -> Vec<f64> {
    beliefs(rows).iter().map(|p| p.iter().copied().fold(0.0, f64::max)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows_of;
    use super::*;

    #[test]
    fn by_hand() {
        // Probabilities 3/4 and 4/5.
        let rows = rows_of(&[[3f64.ln(), 0.0, 0.0], [0.0, 0.0, -(4f64.ln())]]);
        let error = average_confidence(&rows).error_rate.expect("an error rate");
        assert!((error - 0.5 * (0.25 + 0.2)).abs() < 1e-12, "{error}");
    }
}
