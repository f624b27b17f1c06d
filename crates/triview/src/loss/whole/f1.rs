//! Macro F1: the mean over classes of the harmonic mean of precision and recall.

use super::{Added, Predicted, Statistic, ratio};

/// Of so many classes.
pub(crate) struct MacroF1(pub(crate) usize);

impl Statistic for MacroF1 {
    /// Of each class the rows that are it and are predicted so, those that are predicted so, and those that are it.
    fn len(&self) -> usize {
        3 * self.0
    }

    fn add(&self, row: &Predicted<'_>, weights: &[f64], out: &mut Added<'_>) {
        out.push(3 * row.class, weights[row.class]);
        out.push(3 * row.class + 1, weights.iter().sum());
        weights.iter().enumerate().for_each(|(class, weight)| out.push(3 * class + 2, *weight));
    }

    fn value(&self, sums: &[f64]) -> f64 {
        sums.chunks_exact(3).map(|of| ratio(2.0 * of[0], of[1] + of[2])).sum::<f64>() / self.0 as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::of_four_rows;
    use super::*;

    #[test]
    fn four_rows_by_hand() {
        assert!((of_four_rows(|_| Box::new(MacroF1(2))).1 - 0.5).abs() < 1e-12);
    }
}
