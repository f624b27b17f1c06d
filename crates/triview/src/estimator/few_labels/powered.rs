//! The mean of a loss over rows of which a few have labels.

use super::asked::Range;
use crate::answer::Interval;
use crate::metrics::Measured;
use crate::numeric::linalg::dot;
use crate::settings::few_labels::{LABELS_OF_SKEWNESS, TOLD};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use std::collections::BTreeMap;

/// A mean by labels, with and without what is imputed to the other rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Powered {
    /// The mean by labels and imputed losses: unbiased whatever the views do.
    pub estimate: Measured,
    /// The mean of the labelled rows alone.
    pub alone: Measured,
    /// The weight of what is imputed.
    pub weight: f64,
    /// The mean over all rows of what is imputed.
    pub imputed: f64,
    /// What one more label is worth.
    pub worth: Worth,
    /// Whether there are labels enough for so skewed losses: the interval of a mean of fewer often lacks the rare large ones (Cochran's rule, 25 times
    /// the squared skewness). A share has an interval of its own, for which any number is enough.
    pub enough: bool,
}

/// What labels leave of the error of a mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Worth {
    /// The variance that a label leaves, `Var(L - w h)`.
    pub residual_variance: f64,
    /// The squared standard error of the mean of `w h` over all rows, which no label lowers.
    pub imputed_variance: f64,
}

impl Worth {
    /// The width of the interval with so many labels.
    pub fn width(&self, labels: u64, level: f64) -> f64 {
        let variance = self.residual_variance / labels as f64 + self.imputed_variance;
        2.0 * Normal::standard().inverse_cdf(0.5 + 0.5 * level) * variance.sqrt()
    }

    /// How many labels, of so many rows, would bring the interval to this width; none where no number of them would.
    pub fn labels_for(&self, width: f64, level: f64, rows: u64) -> Option<u64> {
        let reach = Normal::standard().inverse_cdf(0.5 + 0.5 * level);
        let variance = (0.5 * width / reach).powi(2) - self.imputed_variance;
        let labels = (self.residual_variance / variance).ceil();
        (variance > 0.0 && labels <= rows as f64).then_some(labels as u64)
    }
}

/// What is imputed to all rows, and what the labelled ones cost.
#[derive(Debug, Clone)]
pub(super) struct Imputed {
    /// Rows of each block, and the sum of what is imputed to them.
    blocks: Vec<[f64; 2]>,
    /// Over all rows the sum of the squares of what is imputed.
    squares: f64,
    /// Over all rows the sum of the loss's variance given the row, by the posterior.
    claimed: f64,
    /// The labelled rows' losses, what is imputed to them, and how many rows each stands for.
    losses: Vec<f64>,
    imputed: Vec<f64>,
    weights: Vec<f64>,
    /// Over the labelled rows the sum of the loss's variance given the row, times the square of what each stands for.
    claimed_of_labelled: f64,
}

impl Imputed {
    pub(super) fn new(blocks: usize) -> Self {
        Self {
            blocks: vec![[0.0; 2]; blocks],
            squares: 0.0,
            claimed: 0.0,
            losses: Vec::new(),
            imputed: Vec::new(),
            weights: Vec::new(),
            claimed_of_labelled: 0.0,
        }
    }

    /// Adds a row with this posterior, what it costs for each class, and its label with how many rows that stands for.
    pub(super) fn add(
        &mut self,
        block: usize,
        posterior: &[f64],
        losses: &[f64],
        label: Option<(usize, f64)>,
    ) {
        let imputed = dot(posterior, losses);
        let apart = posterior.iter().zip(losses).map(|(p, loss)| p * (loss - imputed).powi(2));
        let claimed = apart.sum::<f64>();
        self.claimed += claimed;
        self.squares += imputed * imputed;
        self.blocks[block][0] += 1.0;
        self.blocks[block][1] += imputed;
        if let Some((class, weight)) = label {
            self.losses.push(losses[class]);
            self.imputed.push(imputed);
            self.weights.push(weight);
            self.claimed_of_labelled += weight * weight * claimed;
        }
    }

    /// The weighted mean of what is imputed to the labelled rows.
    pub(super) fn over_labelled(&self) -> f64 {
        mean(&self.imputed, &self.weights)
    }

    /// How many rows have labels.
    pub(super) fn labels(&self) -> usize {
        self.losses.len()
    }

    fn rows(&self) -> f64 {
        self.blocks.iter().map(|block| block[0]).sum()
    }

    /// The mean over all rows of what is imputed, its squared standard error by the blocks, and the variance of a row's.
    pub(super) fn over_all(&self) -> [f64; 3] {
        let rows = self.rows();
        let mean = self.blocks.iter().map(|block| block[1]).sum::<f64>() / rows;
        let filled = self.blocks.iter().filter(|block| block[0] > 0.0);
        let spread: f64 = filled.clone().map(|[n, sum]| (sum - n * mean).powi(2)).sum();
        let count = filled.count() as f64;
        let error = spread / (rows * rows) * count / (count - 1.0).max(1.0);
        [mean, error, (self.squares / rows - mean * mean).max(0.0)]
    }

    /// What labels would be worth if the posterior were right: their weight one, and what they leave the variance given the row.
    pub(super) fn expected(&self) -> Worth {
        let [_, imputed_variance, _] = self.over_all();
        Worth { residual_variance: self.claimed / self.rows(), imputed_variance }
    }

    /// The mean by the labels, of rows in these clusters. A share (a loss that is zero or one) has Wilson's interval for as many
    /// labels as would have the same variance, which needs no wrong row among the labelled ones to be right.
    pub(super) fn powered(&self, clusters: Option<&[u64]>, level: f64, range: Range) -> Powered {
        let (n, weights) = (self.losses.len() as f64, self.weights.as_slice());
        let (alone, imputed_mean) = (mean(&self.losses, weights), mean(&self.imputed, weights));
        let [imputed, error_of_all, _] = self.over_all();
        let products = |a: &[f64], b: &[f64]| -> f64 {
            let (mean_a, mean_b) = (mean(a, weights), mean(b, weights));
            let of_rows = a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b));
            of_rows.zip(weights).map(|(product, weight)| product * weight).sum()
        };
        let spread = products(&self.imputed, &self.imputed);
        let slope = products(&self.losses, &self.imputed) / spread;
        let unexplained = products(&self.losses, &self.losses) - slope * slope * spread;
        // A slope that cannot be told from zero is left out, and beyond one it is mostly noise: few labels have the large losses.
        let told = slope > TOLD * (unexplained / (n - 2.0) / spread).sqrt();
        let weight = if told { slope.min(1.0) } else { 0.0 };
        let total: f64 = weights.iter().sum();
        // A row draws the slope to itself by its leverage, so that its residual is too small by that share (HC3).
        let residual = |((loss, imputed), own): ((&f64, &f64), &f64)| {
            let apart = imputed - imputed_mean;
            let leverage = own / total + if told { own * apart * apart / spread } else { 0.0 };
            (loss - alone - weight * apart) / (1.0 - leverage).max(own / total)
        };
        let residuals: Vec<f64> = self.losses.iter().zip(&self.imputed).zip(weights).map(residual).collect();
        let residual_error = squared_error(&residuals, weights, clusters);
        let alone_error = squared_error(&self.losses, weights, clusters);
        // A sample without the rare large losses does not know what they are: labels leave no less than the posterior itself
        // admits, of all rows where these had the same chance of a label.
        let alike = weights.iter().all(|own| *own == weights[0]);
        let admitted =
            if alike { self.claimed / self.rows() / n } else { self.claimed_of_labelled / (total * total) };
        let residual_error = residual_error.max(admitted);
        let imputed_variance = weight * weight * error_of_all;
        let value = alone + weight * (imputed - imputed_mean);
        let freedom = distinct(clusters).unwrap_or(self.losses.len()) as f64;
        let measured = |value: f64, shift: f64, squared: f64, lost: f64| {
            let standard_error = squared.sqrt();
            let reach = StudentsT::new(0.0, 1.0, (freedom - lost).max(1.0))
                .map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + 0.5 * level));
            // As many labels on their own as would have the same error; without a wrong row among them, all.
            let size = alone * (1.0 - alone) * n / (n - 1.0) / squared;
            let size = if size.is_finite() && size > 0.0 { size } else { n };
            range.measured(value, (shift, standard_error, reach), size)
        };
        Powered {
            estimate: measured(value, skewness_shift(&residuals), residual_error + imputed_variance, 2.0),
            alone: measured(alone, 0.0, alone_error, 1.0),
            weight,
            imputed,
            worth: Worth { residual_variance: residual_error * n, imputed_variance },
            enough: range == Range::Share || n >= LABELS_OF_SKEWNESS * skewness(&residuals).powi(2),
        }
    }
}

impl Range {
    /// A mean with its error, whose interval is moved by so much and reaches so many errors; of a share as that of so many trials.
    pub(crate) fn measured(
        self,
        value: f64,
        (shift, standard_error, reach): (f64, f64, f64),
        trials: f64,
    ) -> Measured {
        let around = Interval::around(value + shift, reach, standard_error);
        let (value, interval) = match self {
            Range::Any => (value, around),
            Range::UpTo(high) => (value, around.within(0.0, high)),
            Range::Share => {
                let value = value.clamp(0.0, 1.0);
                (value, Interval::of_share(value, trials, reach))
            }
        };
        Measured { value, standard_error, interval }
    }
}

fn mean(values: &[f64], weights: &[f64]) -> f64 {
    dot(values, weights) / weights.iter().sum::<f64>()
}

/// By how much the interval of a mean moves towards the longer tail, `m3 / (6 m2 n)` (Johnson 1978): a sample that lacks the tail
/// has both a smaller mean and a smaller error.
pub(crate) fn skewness_shift(values: &[f64]) -> f64 {
    let centre = values.iter().sum::<f64>() / values.len() as f64;
    let moment = |power: i32| values.iter().map(|value| (value - centre).powi(power)).sum::<f64>();
    let second = moment(2);
    if second > 0.0 { moment(3) / (6.0 * second * values.len() as f64) } else { 0.0 }
}

/// The third moment of values around their mean over the power of the second that has its units.
fn skewness(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let centre = values.iter().sum::<f64>() / n;
    let moment = |power: i32| values.iter().map(|value| (value - centre).powi(power)).sum::<f64>() / n;
    let second = moment(2);
    if second > 0.0 { moment(3) / second.powf(1.5) } else { 0.0 }
}

/// The squared standard error of a weighted mean, of rows that are independent or in clusters.
fn squared_error(values: &[f64], weights: &[f64], clusters: Option<&[u64]>) -> f64 {
    let (total, mean) = (weights.iter().sum::<f64>(), mean(values, weights));
    let residuals = values.iter().zip(weights).map(|(value, weight)| weight * (value - mean));
    let (squares, groups) = match clusters {
        None => (residuals.map(|residual| residual * residual).sum::<f64>(), values.len() as f64),
        Some(clusters) => {
            let mut sums: BTreeMap<u64, f64> = BTreeMap::new();
            for (cluster, residual) in clusters.iter().zip(residuals) {
                *sums.entry(*cluster).or_default() += residual;
            }
            (sums.values().map(|sum| sum * sum).sum(), sums.len() as f64)
        }
    };
    squares / (total * total) * groups / (groups - 1.0).max(1.0)
}

/// How many clusters there are.
fn distinct(clusters: Option<&[u64]>) -> Option<usize> {
    clusters.map(|clusters| clusters.iter().collect::<std::collections::BTreeSet<_>>().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two classes, loss 0 and 1; four labelled rows of six.
    fn tally() -> Imputed {
        let mut tally = Imputed::new(6);
        let rows = [(0.1, Some(0)), (0.6, Some(1)), (0.8, Some(1)), (0.1, Some(0)), (0.3, None), (0.5, None)];
        for (block, (p, label)) in rows.into_iter().enumerate() {
            tally.add(block, &[1.0 - p, p], &[0.0, 1.0], label.map(|class| (class, 1.0)));
        }
        tally
    }

    #[test]
    fn the_weight_is_the_slope_and_the_mean_is_corrected_by_it() {
        let mut tally = tally();
        tally.losses = vec![0.0, 0.4, 0.5, 0.1];
        let powered = tally.powered(None, 0.95, Range::POSITIVE);
        // Imputed 0.1, 0.6, 0.8, 0.1 with mean 0.4: squares 0.09 + 0.04 + 0.16 + 0.09 = 0.38, products with losses less their
        // mean of 0.25: 0.075 + 0.03 + 0.1 + 0.045 = 0.25.
        let slope = 0.25 / 0.38;
        assert!((powered.weight - slope).abs() < 1e-12, "{}", powered.weight);
        assert!((powered.imputed - 0.4).abs() < 1e-12);
        assert!((powered.alone.value - 0.25).abs() < 1e-12 && (powered.estimate.value - 0.25).abs() < 1e-12);
        // Squares of losses less their mean, 0.0625 + 0.0225 + 0.0625 + 0.0225 = 0.17, over 4 * 3.
        assert!((powered.alone.standard_error.powi(2) - 0.17 / 12.0).abs() < 1e-12);
        // Residuals over one less the leverage, 1/4 at the least.
        let residual =
            |loss: f64, apart: f64| (loss - slope * apart) / (0.75 - apart * apart / 0.38_f64).max(0.25);
        let residuals =
            [residual(-0.25, -0.3), residual(0.15, 0.2), residual(0.25, 0.4), residual(-0.15, -0.3)];
        let mean = residuals.iter().sum::<f64>() / 4.0;
        let variance = residuals.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / 3.0;
        // The posterior admits more: (0.09 + 0.24 + 0.16 + 0.09 + 0.21 + 0.25) / 6.
        assert!((powered.worth.residual_variance - 1.04 / 6.0).abs() < 1e-12);
        tally.claimed = 0.0;
        let left = tally.powered(None, 0.95, Range::POSITIVE).worth.residual_variance;
        assert!((left - variance).abs() < 1e-12, "{left} {variance}");
    }

    #[test]
    fn the_weight_is_between_zero_and_one() {
        // A slope beyond one, one below zero, and one that is above zero by less than two standard errors.
        let all = [([0.0, 9.0, 9.0, 0.0], 1.0), ([9.0, 0.0, 0.0, 9.0], 0.0), ([0.0, 1.0, 0.0, 0.0], 0.0)];
        for (losses, weight) in all {
            let mut tally = tally();
            tally.losses = losses.to_vec();
            tally.imputed = vec![0.1, 0.6, 0.8, 0.1];
            assert_eq!(tally.powered(None, 0.95, Range::POSITIVE).weight, weight);
        }
    }

    #[test]
    fn a_share_without_a_wrong_row_still_has_an_interval() {
        let mut tally = Imputed::new(4);
        (0..100).for_each(|row| tally.add(row % 4, &[0.99, 0.01], &[0.0, 1.0], Some((0, 1.0))));
        let powered = tally.powered(None, 0.95, Range::Share);
        let Interval { low, high } = powered.alone.interval;
        // Wilson's upper end is z^2 / (n + z^2), with Student's z for 99 degrees of freedom.
        let z = 1.984_217_f64.powi(2);
        assert!(low.abs() < 1e-12 && (high - z / (100.0 + z)).abs() < 1e-6, "{low} {high}");
        assert!((powered.estimate.interval.high - high).abs() < 1e-3);
    }

    #[test]
    fn a_label_counts_for_the_rows_that_it_stands_for() {
        // Of 100 rows, ten of which cost one: all ten are labelled, and every tenth of the others.
        let mut tally = Imputed::new(4);
        for row in 0..100 {
            let hard = row < 10;
            let label = (hard || row % 10 == 0).then_some((usize::from(hard), if hard { 1.0 } else { 10.0 }));
            tally.add(row % 4, &[0.9, 0.1], &[0.0, 1.0], label);
        }
        let powered = tally.powered(None, 0.95, Range::Share);
        assert!((powered.alone.value - 0.1).abs() < 1e-12 && powered.weight == 0.0, "{powered:?}");
        // Squares of 0.9 ten times, and of 10 times 0.1 nine times, over the square of 100.
        let expected = (10.0 * 0.81 + 9.0) / 10_000.0 * 19.0 / 18.0;
        assert!((powered.alone.standard_error.powi(2) - expected).abs() < 1e-12, "{powered:?}");
    }

    #[test]
    fn the_interval_leans_towards_the_longer_tail() {
        // Less their mean of 1: -1, -1, -1, 3; cubes sum to 24, squares to 12.
        assert!((skewness_shift(&[0.0, 0.0, 0.0, 4.0]) - 24.0 / (6.0 * 12.0 * 4.0)).abs() < 1e-12);
        assert!(skewness_shift(&[1.0, 2.0, 3.0]).abs() < 1e-12 && skewness_shift(&[2.0; 3]) == 0.0);
        let mut tally = tally();
        (tally.losses, tally.imputed, tally.claimed) = (vec![0.0, 0.0, 0.0, 4.0], vec![0.5; 4], 0.0);
        let powered = tally.powered(None, 0.95, Range::POSITIVE);
        let Interval { low, high } = powered.estimate.interval;
        assert!(0.5 * (low + high) > powered.estimate.value + 0.05);
    }

    #[test]
    fn clusters_of_equal_rows_count_once() {
        let single = squared_error(&[0.0, 1.0, 3.0], &[1.0; 3], None);
        let twice = [0.0, 0.0, 1.0, 1.0, 3.0, 3.0];
        assert!((squared_error(&twice, &[1.0; 6], Some(&[1, 1, 2, 2, 3, 3])) - single).abs() < 1e-12);
        assert!(squared_error(&twice, &[1.0; 6], None) < single);
        // What all rows stand for alike does not matter.
        assert!((squared_error(&[0.0, 1.0, 3.0], &[7.0; 3], None) - single).abs() < 1e-12);
    }

    #[test]
    fn enough_labels_bring_the_interval_to_the_width() {
        let worth = tally().powered(None, 0.95, Range::POSITIVE).worth;
        let needed = worth.labels_for(2.0, 0.95, 1_000).expect("some number");
        let width = |labels: f64| {
            2.0 * 1.959_964 * (worth.residual_variance / labels + worth.imputed_variance).sqrt()
        };
        assert!(width(needed as f64) <= 2.0 && width(needed as f64 - 1.0) > 2.0, "{needed}");
        assert_eq!(worth.labels_for(1e-6, 0.95, 1_000), None);
    }
}
