//! Sums over scores and classes from which every metric is made.
//!
//! A metric of the whole prediction is a function of how the summed scores `s` and the class `y` are distributed together. A
//! tally holds the sums that all of them need. It is linear in the distribution, which may be that of labelled rows, of
//! rows under a posterior, or signed.

use crate::loss::best;
use crate::numeric::linalg::softmax;

/// Bins of the prediction's confidence, of equal width.
const CONFIDENCES: usize = 15;
/// Bins of a class's probability, of about equally many rows.
const PROBABILITIES: usize = 256;

/// Names of the [`Tally::values`], in order.
pub(super) const NAMES: [&str; 6] =
    ["error rate", "Brier score", "hinge loss", "calibration error", "macro F1", "AUC"];

/// Where each sum lies, and the bins.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    k: usize,
    /// For each class the edges of its bins of probability, ascending.
    edges: Vec<Vec<f64>>,
}

impl Tally {
    /// For rows whose summed scores are these, `k` numbers a row.
    pub(super) fn new(k: usize, scores: &[f64]) -> Self {
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
        Self { k, edges: edges.collect() }
    }

    /// The number of sums.
    pub(super) fn len(&self) -> usize {
        self.auc(self.k, 0)
    }

    /// Weight with this prediction and this class.
    fn confusion(&self, predicted: usize, class: usize) -> usize {
        predicted * self.k + class
    }

    fn brier(&self) -> usize {
        self.k * self.k
    }

    fn hinge(&self) -> usize {
        self.brier() + 1
    }

    /// Weight, confidence and correctness of a bin of confidence.
    fn calibration(&self, bin: usize) -> usize {
        self.hinge() + 1 + 3 * bin
    }

    /// Weight of all rows and of the class's own in a bin of the class's probability.
    fn auc(&self, class: usize, bin: usize) -> usize {
        self.calibration(CONFIDENCES) + 2 * (class * PROBABILITIES + bin)
    }

    /// What one row with these summed scores adds to which sums, if its classes have these weights.
    pub(super) fn add(&self, scores: &[f64], weights: &[f64], out: &mut Vec<(usize, f64)>) {
        out.clear();
        let p = softmax(scores);
        let predicted = best(scores.iter().copied());
        let all: f64 = weights.iter().sum();
        let squares: f64 = p.iter().map(|p| p * p).sum();
        let second =
            (0..self.k).filter(|&i| i != predicted).map(|i| scores[i]).fold(f64::NEG_INFINITY, f64::max);
        let (mut brier, mut hinge) = (0.0, 0.0);
        for (class, weight) in weights.iter().enumerate() {
            out.push((self.confusion(predicted, class), *weight));
            brier += weight * (squares - 2.0 * p[class] + 1.0);
            let rival = if class == predicted { second } else { scores[predicted] };
            hinge += weight * (1.0 + rival - scores[class]).max(0.0);
            let bin = self.edges[class].partition_point(|edge| *edge <= p[class]);
            out.push((self.auc(class, bin), all));
            out.push((self.auc(class, bin) + 1, *weight));
        }
        out.push((self.brier(), brier));
        out.push((self.hinge(), hinge));
        let bin = ((p[predicted] * CONFIDENCES as f64) as usize).min(CONFIDENCES - 1);
        let at = self.calibration(bin);
        out.extend([(at, all), (at + 1, all * p[predicted]), (at + 2, weights[predicted])]);
    }

    /// The metrics in the order of [`NAMES`], then the confusion matrix: row `i`, column `j` is the share of the rows of
    /// class `j` that are predicted to be `i`. The sums are those of a distribution of mass one.
    pub(super) fn values(&self, sums: &[f64]) -> Vec<f64> {
        let k = self.k;
        let joint = |i: usize, j: usize| sums[self.confusion(i, j)];
        let predicted = |i: usize| (0..k).map(|j| joint(i, j)).sum::<f64>();
        let class = |j: usize| (0..k).map(|i| joint(i, j)).sum::<f64>();
        let right: f64 = (0..k).map(|i| joint(i, i)).sum();
        let calibration = (0..CONFIDENCES)
            .map(|bin| (sums[self.calibration(bin) + 1] - sums[self.calibration(bin) + 2]).abs())
            .sum();
        let f1 = (0..k).map(|i| ratio(2.0 * joint(i, i), predicted(i) + class(i))).sum::<f64>() / k as f64;
        let auc = (0..k).map(|j| self.area(j, sums)).sum::<f64>() / k as f64;
        let mut values = vec![1.0 - right, sums[self.brier()], sums[self.hinge()], calibration, f1, auc];
        values.extend((0..k * k).map(|cell| ratio(joint(cell / k, cell % k), class(cell % k))));
        values
    }

    /// The chance that a row of the class has a larger probability of it than a row of another, a tie counting half.
    fn area(&self, class: usize, sums: &[f64]) -> f64 {
        let (mut below, mut area, mut own, mut rest) = (0.0, 0.0, 0.0, 0.0);
        for bin in 0..PROBABILITIES {
            let at = self.auc(class, bin);
            let (here, others) = (sums[at + 1], sums[at] - sums[at + 1]);
            area += here * (below + 0.5 * others);
            below += others;
            own += here;
            rest += others;
        }
        ratio(area, own * rest)
    }
}

/// A ratio, or zero where there is nothing to divide by.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole.abs() > f64::MIN_POSITIVE { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four rows of two classes: logits of the second class -2, -1, 1, 3.
    #[test]
    fn four_rows_by_hand() {
        let logits = [-2.0f64, -1.0, 1.0, 3.0];
        let scores: Vec<f64> = logits.iter().flat_map(|z| [0.0, *z]).collect();
        let tally = Tally::new(2, &scores);
        let mut sums = vec![0.0; tally.len()];
        let mut added = Vec::new();
        for (row, class) in scores.chunks_exact(2).zip([0, 1, 0, 1]) {
            let mut weights = [0.0; 2];
            weights[class] = 0.25;
            tally.add(row, &weights, &mut added);
            added.iter().for_each(|(at, value)| sums[*at] += value);
        }
        let p = logits.map(|z| 1.0 / (1.0 + (-z).exp()));
        let wrong = [p[0], 1.0 - p[1], p[2], 1.0 - p[3]];
        let brier: f64 = wrong.iter().map(|w| 2.0 * w * w).sum::<f64>() / 4.0;
        // Hinges: margins 2, -1, -1, 3. Confidences 0.88, 0.73, 0.73, 0.95 fall into three bins, of which the middle one
        // has two rows that are wrong.
        let calibration = ((p[0] - 0.0) * 0.25).abs() + 0.25 * (2.0 * p[2] - 0.0) + 0.25 * (1.0 - p[3]);
        let values = tally.values(&sums);
        let expected = [0.5, brier, 4.0 / 4.0, calibration, 0.5, 0.75, 0.5, 0.5, 0.5, 0.5];
        for (value, expected) in values.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-12, "{values:?}");
        }
    }
}
