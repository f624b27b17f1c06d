//! How often the prediction is wrong.

use super::{Added, Predicted, Statistic};

/// Whether a row of this class is predicted to be of another.
pub(super) fn value(row: &Predicted<'_>, class: usize) -> f64 {
    f64::from(u8::from(row.class != class))
}

/// One less the share of rows that are predicted right.
pub(crate) struct ErrorRate;

impl Statistic for ErrorRate {
    fn len(&self) -> usize {
        1
    }

    fn add(&self, row: &Predicted<'_>, weights: &[f64], out: &mut Added<'_>) {
        out.push(0, weights[row.class]);
    }

    fn value(&self, sums: &[f64]) -> f64 {
        1.0 - sums[0]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::of_four_rows;
    use super::*;

    #[test]
    fn four_rows_by_hand() {
        assert!((of_four_rows(|_| Box::new(ErrorRate)).1 - 0.5).abs() < 1e-12);
    }
}
