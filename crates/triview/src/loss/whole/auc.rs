//! The mean over classes of the area under the curve of the class against the rest.

use super::{Added, Predicted, Statistic, ratio};
use crate::numeric::linalg::softmax;
use crate::settings::metrics::PROBABILITIES;

/// In bins of a class's probability, of about equally many rows.
pub(crate) struct Auc {
    /// For each class the edges of its bins, ascending.
    edges: Vec<Vec<f64>>,
}

impl Auc {
    /// For rows whose summed scores are these, `k` numbers a row.
    pub(crate) fn new(k: usize, scores: &[f64]) -> Self {
        let probabilities: Vec<f64> = scores.chunks_exact(k).flat_map(softmax).collect();
        let rows = scores.len() / k;
        let edges = (0..k).map(|class| {
            let mut column: Vec<f64> = probabilities[class..].iter().step_by(k).copied().collect();
            column.sort_by(f64::total_cmp);
            let mut edges: Vec<f64> =
                (1..PROBABILITIES).map(|edge| column[edge * rows / PROBABILITIES]).collect();
            edges.dedup();
            edges
        });
        Self { edges: edges.collect() }
    }

    /// The chance that a row of the class has a larger probability of it than a row of another, a tie counting half.
    fn area(bins: &[f64]) -> f64 {
        let (mut below, mut area, mut own) = (0.0, 0.0, 0.0);
        for bin in bins.chunks_exact(2) {
            let (here, others) = (bin[1], bin[0] - bin[1]);
            area += here * (below + 0.5 * others);
            below += others;
            own += here;
        }
        ratio(area, own * below)
    }
}

impl Statistic for Auc {
    /// Of each class and bin of its probability the weight of all rows, and of the class's own.
    fn len(&self) -> usize {
        2 * PROBABILITIES * self.edges.len()
    }

    fn add(&self, row: &Predicted<'_>, weights: &[f64], out: &mut Added<'_>) {
        let all: f64 = weights.iter().sum();
        for (class, (weight, edges)) in weights.iter().zip(&self.edges).enumerate() {
            let bin = edges.partition_point(|edge| *edge <= row.probabilities[class]);
            let at = 2 * (class * PROBABILITIES + bin);
            out.push(at, all);
            out.push(at + 1, *weight);
        }
    }

    fn value(&self, sums: &[f64]) -> f64 {
        sums.chunks_exact(2 * PROBABILITIES).map(Self::area).sum::<f64>() / self.edges.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::of_four_rows;
    use super::*;

    #[test]
    fn four_rows_by_hand() {
        // Of the four pairs of a row of each class three are in order.
        assert!((of_four_rows(|scores| Box::new(Auc::new(2, scores))).1 - 0.75).abs() < 1e-12);
    }
}
