//! The mean of a loss over rows of which a few have labels.

use crate::answer::Interval;
use crate::metrics::Measured;
use crate::settings::few_labels::TOLD;
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
    /// The labelled rows' losses, and what is imputed to them.
    losses: Vec<f64>,
    imputed: Vec<f64>,
}

impl Imputed {
    pub(super) fn new(blocks: usize) -> Self {
        Self {
            blocks: vec![[0.0; 2]; blocks],
            squares: 0.0,
            claimed: 0.0,
            losses: Vec::new(),
            imputed: Vec::new(),
        }
    }

    /// Adds a row with this posterior, and what it costs for each class.
    pub(super) fn add(
        &mut self,
        block: usize,
        posterior: &[f64],
        loss: impl Fn(usize) -> f64,
        label: Option<usize>,
    ) {
        let mean = |of: &dyn Fn(usize) -> f64| {
            posterior.iter().enumerate().map(|(class, p)| p * of(class)).sum::<f64>()
        };
        let imputed = mean(&loss);
        self.claimed += mean(&|class| (loss(class) - imputed).powi(2));
        self.squares += imputed * imputed;
        self.blocks[block][0] += 1.0;
        self.blocks[block][1] += imputed;
        if let Some(class) = label {
            self.losses.push(loss(class));
            self.imputed.push(imputed);
        }
    }

    /// What is imputed to each labelled row.
    pub(super) fn imputed(&self) -> &[f64] {
        &self.imputed
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
    pub(super) fn powered(&self, clusters: Option<&[u64]>, level: f64, share: bool) -> Powered {
        let n = self.losses.len() as f64;
        let (alone, imputed_mean) = (mean(&self.losses), mean(&self.imputed));
        let [imputed, error_of_all, _] = self.over_all();
        let products = |a: &[f64], b: &[f64]| -> f64 {
            let (mean_a, mean_b) = (mean(a), mean(b));
            a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum()
        };
        let spread = products(&self.imputed, &self.imputed);
        let slope = products(&self.losses, &self.imputed) / spread;
        let unexplained = products(&self.losses, &self.losses) - slope * slope * spread;
        // A slope that cannot be told from zero is left out, and beyond one it is mostly noise: few labels have the large losses.
        let told = slope > TOLD * (unexplained / (n - 2.0) / spread).sqrt();
        let weight = if told { slope.min(1.0) } else { 0.0 };
        // A row draws the slope to itself by its leverage, so that its residual is too small by that share (HC3).
        let residual = |(loss, imputed): (&f64, &f64)| {
            let apart = imputed - imputed_mean;
            let leverage = 1.0 / n + if told { apart * apart / spread } else { 0.0 };
            (loss - alone - weight * apart) / (1.0 - leverage).max(1.0 / n)
        };
        let residuals: Vec<f64> = self.losses.iter().zip(&self.imputed).map(residual).collect();
        let residual_error = squared_error(&residuals, clusters);
        let alone_error = squared_error(&self.losses, clusters);
        // A sample without the rare large losses does not know what they are: labels leave no less than the posterior itself
        // admits.
        let residual_error = residual_error.max(self.claimed / self.rows() / n);
        let imputed_variance = weight * weight * error_of_all;
        let value = alone + weight * (imputed - imputed_mean);
        let freedom = distinct(clusters).unwrap_or(self.losses.len()) as f64;
        let measured = |value: f64, shift: f64, squared: f64, lost: f64| {
            let standard_error = squared.sqrt();
            let reach = StudentsT::new(0.0, 1.0, (freedom - lost).max(1.0))
                .map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + 0.5 * level));
            match share {
                true => {
                    // As many labels on their own as would have the same error; without a wrong row among them, all.
                    let size = alone * (1.0 - alone) * n / (n - 1.0) / squared;
                    let value = value.clamp(0.0, 1.0);
                    let size = if size.is_finite() && size > 0.0 { size } else { n };
                    Measured { value, standard_error, interval: Interval::of_share(value, size, reach) }
                }
                false => Measured {
                    value,
                    standard_error,
                    // No loss is below zero.
                    interval: Interval::around(value + shift, reach, standard_error)
                        .within(0.0, f64::INFINITY),
                },
            }
        };
        Powered {
            estimate: measured(value, skewness_shift(&residuals), residual_error + imputed_variance, 2.0),
            alone: measured(alone, 0.0, alone_error, 1.0),
            weight,
            imputed,
            worth: Worth { residual_variance: residual_error * n, imputed_variance },
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// By how much the interval of a mean moves towards the longer tail, `m3 / (6 m2 n)` (Johnson 1978): a sample that lacks the tail
/// has both a smaller mean and a smaller error.
fn skewness_shift(values: &[f64]) -> f64 {
    let centre = mean(values);
    let moment = |power: i32| values.iter().map(|value| (value - centre).powi(power)).sum::<f64>();
    let second = moment(2);
    if second > 0.0 { moment(3) / (6.0 * second * values.len() as f64) } else { 0.0 }
}

/// The squared standard error of a mean, of rows that are independent or in clusters.
fn squared_error(values: &[f64], clusters: Option<&[u64]>) -> f64 {
    let (n, mean) = (values.len() as f64, mean(values));
    let (squares, groups) = match clusters {
        None => (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>(), n),
        Some(clusters) => {
            let mut sums: BTreeMap<u64, f64> = BTreeMap::new();
            for (cluster, value) in clusters.iter().zip(values) {
                *sums.entry(*cluster).or_default() += value - mean;
            }
            (sums.values().map(|sum| sum * sum).sum(), sums.len() as f64)
        }
    };
    squares / (n * n) * groups / (groups - 1.0).max(1.0)
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
            tally.add(block, &[1.0 - p, p], |class| class as f64, label);
        }
        tally
    }

    #[test]
    fn the_weight_is_the_slope_and_the_mean_is_corrected_by_it() {
        let mut tally = tally();
        tally.losses = vec![0.0, 0.4, 0.5, 0.1];
        let powered = tally.powered(None, 0.95, false);
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
        let left = tally.powered(None, 0.95, false).worth.residual_variance;
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
            assert_eq!(tally.powered(None, 0.95, false).weight, weight);
        }
    }

    #[test]
    fn a_share_without_a_wrong_row_still_has_an_interval() {
        let mut tally = Imputed::new(4);
        (0..100).for_each(|row| tally.add(row % 4, &[0.99, 0.01], |class| class as f64, Some(0)));
        let powered = tally.powered(None, 0.95, true);
        let Interval { low, high } = powered.alone.interval;
        // Wilson's upper end is z^2 / (n + z^2), with Student's z for 99 degrees of freedom.
        let z = 1.984_217_f64.powi(2);
        assert!(low.abs() < 1e-12 && (high - z / (100.0 + z)).abs() < 1e-6, "{low} {high}");
        assert!((powered.estimate.interval.high - high).abs() < 1e-3);
    }

    #[test]
    fn the_interval_leans_towards_the_longer_tail() {
        // Less their mean of 1: -1, -1, -1, 3; cubes sum to 24, squares to 12.
        assert!((skewness_shift(&[0.0, 0.0, 0.0, 4.0]) - 24.0 / (6.0 * 12.0 * 4.0)).abs() < 1e-12);
        assert!(skewness_shift(&[1.0, 2.0, 3.0]).abs() < 1e-12 && skewness_shift(&[2.0; 3]) == 0.0);
        let mut tally = tally();
        (tally.losses, tally.imputed, tally.claimed) = (vec![0.0, 0.0, 0.0, 4.0], vec![0.5; 4], 0.0);
        let powered = tally.powered(None, 0.95, false);
        let Interval { low, high } = powered.estimate.interval;
        assert!(0.5 * (low + high) > powered.estimate.value + 0.05);
    }

    #[test]
    fn clusters_of_equal_rows_count_once() {
        let single = squared_error(&[0.0, 1.0, 3.0], None);
        let twice = [0.0, 0.0, 1.0, 1.0, 3.0, 3.0];
        assert!((squared_error(&twice, Some(&[1, 1, 2, 2, 3, 3])) - single).abs() < 1e-12);
        assert!(squared_error(&twice, None) < single);
    }

    #[test]
    fn enough_labels_bring_the_interval_to_the_width() {
        let worth = tally().powered(None, 0.95, false).worth;
        let needed = worth.labels_for(2.0, 0.95, 1_000).expect("some number");
        let width = |labels: f64| {
            2.0 * 1.959_964 * (worth.residual_variance / labels + worth.imputed_variance).sqrt()
        };
        assert!(width(needed as f64) <= 2.0 && width(needed as f64 - 1.0) > 2.0, "{needed}");
        assert_eq!(worth.labels_for(1e-6, 0.95, 1_000), None);
    }
}
