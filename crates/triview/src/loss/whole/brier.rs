//! The Brier score: `sum_i (p_i - 1(y = i))^2`.

use super::{Added, Predicted, Statistic};

/// The score of a row of this class.
pub(super) fn value(row: &Predicted<'_>, class: usize) -> f64 {
    let own = |(i, p): (usize, &f64)| (p - f64::from(u8::from(i == class))).powi(2);
    row.probabilities.iter().enumerate().map(own).sum()
}

/// Its mean.
pub(crate) struct Brier;

impl Statistic for Brier {
    fn len(&self) -> usize {
        1
    }

    fn add(&self, row: &Predicted<'_>, weights: &[f64], out: &mut Added<'_>) {
        let squares: f64 = row.probabilities.iter().map(|p| p * p).sum();
        let of_class = |(weight, p): (&f64, &f64)| weight * (squares - 2.0 * p + 1.0);
        out.push(0, weights.iter().zip(&row.probabilities).map(of_class).sum());
    }

    fn value(&self, sums: &[f64]) -> f64 {
        sums[0]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{of_four_rows, probabilities};
    use super::*;

    #[test]
    fn four_rows_by_hand() {
        let p = probabilities();
        let wrong = [p[0], 1.0 - p[1], p[2], 1.0 - p[3]];
        let expected = wrong.iter().map(|w| 2.0 * w * w).sum::<f64>() / 4.0;
        assert!((of_four_rows(|_| Box::new(Brier)).1 - expected).abs() < 1e-12);
    }
}
