//! The expected calibration error: how far confidence and correctness are apart, in bins of confidence.

use super::{Added, Predicted, Statistic};
use crate::settings::metrics::CONFIDENCES;

/// Sums of a bin.
pub(crate) const PER_BIN: usize = 3;

/// The sum over bins of equal width of how far the confidence and the correctness of their rows are apart.
pub(crate) struct Calibration;

impl Statistic for Calibration {
    /// Confidence and correctness of each bin, and how much of the rows it has.
    fn len(&self) -> usize {
        PER_BIN * CONFIDENCES
    }

    fn add(&self, row: &Predicted<'_>, weights: &[f64], out: &mut Added<'_>) {
        let (all, confidence) = (weights.iter().sum::<f64>(), row.probabilities[row.class]);
        let bin = ((confidence * CONFIDENCES as f64) as usize).min(CONFIDENCES - 1);
        out.push(PER_BIN * bin, all * confidence);
        out.push(PER_BIN * bin + 1, weights[row.class]);
        out.push(PER_BIN * bin + 2, all);
    }

    fn value(&self, sums: &[f64]) -> f64 {
        sums.chunks_exact(PER_BIN).map(|bin| (bin[0] - bin[1]).abs()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{of_four_rows, probabilities};
    use super::*;

    #[test]
    fn four_rows_by_hand() {
        let p = probabilities();
        // Confidences 0.88, 0.73, 0.73, 0.95 fall into three bins, of which the middle one has two rows that are wrong.
        let expected = 0.25 * p[0] + 0.25 * 2.0 * p[2] + 0.25 * (1.0 - p[3]);
        assert!((of_four_rows(|_| Box::new(Calibration)).1 - expected).abs() < 1e-12);
    }
}
