//! The ordinary multiclass hinge loss of the summed scores: `(1 + max_(i != y) s_i - s_y)_+`.

use super::{Added, Predicted, Statistic};

/// Its mean.
pub(crate) struct Hinge;

impl Statistic for Hinge {
    fn len(&self) -> usize {
        1
    }

    fn add(&self, row: &Predicted<'_>, weights: &[f64], out: &mut Added<'_>) {
        let others = row.scores.iter().enumerate().filter(|(i, _)| *i != row.class);
        let second = others.fold(f64::NEG_INFINITY, |most, (_, score)| most.max(*score));
        let of_class = |(class, weight): (usize, &f64)| {
            let rival = if class == row.class { second } else { row.scores[row.class] };
            weight * (1.0 + rival - row.scores[class]).max(0.0)
        };
        out.push(0, weights.iter().enumerate().map(of_class).sum());
    }

    fn value(&self, sums: &[f64]) -> f64 {
        sums[0]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::of_four_rows;
    use super::*;

    #[test]
    fn four_rows_by_hand() {
        // Margins 2, -1, -1, 3.
        assert!((of_four_rows(|_| Box::new(Hinge)).1 - 4.0 / 4.0).abs() < 1e-12);
    }
}
