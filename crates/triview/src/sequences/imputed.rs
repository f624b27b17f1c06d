//! A mean over sequences, or over their tokens, of which some whole sequences are labelled.
//!
//! With the sizes `n` of sequences (one each, or their tokens), losses `L` and what is imputed `h`, the mean is
//!
//! ```text
//!     sum L / sum n over the labelled + w (sum h / sum n over all - sum h / sum n over the labelled),
//! ```
//!
//! whose error is to first order that of the residuals `L - (sum L / sum n) n` and those of `h`. The weight `w` is the slope of the first
//! by the second, and zero where it cannot be told from that.

use crate::estimator::few_labels::{Powered, Range, Worth, skewness_shift};
use crate::settings::few_labels::TOLD;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// What is imputed to all sequences, and what the labelled ones cost.
#[derive(Debug, Clone, Default)]
pub(crate) struct Imputed {
    sequences: f64,
    size: f64,
    imputed: f64,
    /// Of what is imputed, its products with sizes, and of sizes, over all sequences.
    squares: [f64; 3],
    losses: Vec<f64>,
    labelled_imputed: Vec<f64>,
    sizes: Vec<f64>,
}

impl Imputed {
    /// Adds a sequence.
    pub(crate) fn add(&mut self, size: f64, imputed: f64, loss: Option<f64>) {
        self.sequences += 1.0;
        self.size += size;
        self.imputed += imputed;
        let squares = [imputed * imputed, imputed * size, size * size];
        self.squares.iter_mut().zip(squares).for_each(|(sum, square)| *sum += square);
        if let Some(loss) = loss {
            self.losses.push(loss);
            self.labelled_imputed.push(imputed);
            self.sizes.push(size);
        }
    }

    /// How many sequences have labels.
    pub(crate) fn labels(&self) -> usize {
        self.losses.len()
    }

    /// The size of all.
    pub(crate) fn size(&self) -> f64 {
        self.size
    }

    /// That of the labelled ones.
    pub(crate) fn labelled_size(&self) -> f64 {
        self.sizes.iter().sum()
    }

    /// The squared residuals of what is imputed, over all sequences.
    fn spread_of_all(&self) -> f64 {
        let mean = self.imputed / self.size;
        let [squares, products, sizes] = self.squares;
        (squares - 2.0 * mean * products + mean * mean * sizes).max(0.0)
    }

    /// By how many standard errors what is imputed to the labelled sequences differs from what is to all of them.
    pub(crate) fn unlikeness(&self) -> f64 {
        let (n, all) = (self.labels() as f64, self.sequences);
        let size = self.size / all;
        let apart = sum(&self.labelled_imputed) / self.labelled_size() - self.imputed / self.size;
        apart * size / (self.spread_of_all() / all * (1.0 / n - 1.0 / all)).sqrt()
    }

    /// The mean by the labels.
    pub(crate) fn powered(&self, level: f64, range: Range) -> Powered {
        let (n, size) = (self.labels() as f64, self.labelled_size());
        let alone = sum(&self.losses) / size;
        let imputed_mean = sum(&self.labelled_imputed) / size;
        let apart = |values: &[f64], mean: f64| -> Vec<f64> {
            values.iter().zip(&self.sizes).map(|(value, size)| value - mean * size).collect()
        };
        let losses = apart(&self.losses, alone);
        let imputed = apart(&self.labelled_imputed, imputed_mean);
        let spread = products(&imputed, &imputed);
        let slope = products(&losses, &imputed) / spread;
        let unexplained = products(&losses, &losses) - slope * slope * spread;
        let told = slope > TOLD * (unexplained.max(0.0) / (n - 2.0) / spread).sqrt();
        // Few labels have the large losses where those have no bound: there a slope beyond one is mostly noise. Of shares it is that of a
        // model that is too sure of itself, and taking it whole narrows the interval further.
        let most = if range == Range::Share { f64::INFINITY } else { 1.0 };
        let weight = if told { slope.min(most) } else { 0.0 };
        // A sequence draws the slope to itself by its leverage, so that its residual is too small by that share (HC3).
        let residual = |(loss, imputed): (&f64, &f64)| {
            let leverage = 1.0 / n + if told { imputed * imputed / spread } else { 0.0 };
            (loss - weight * imputed) / (1.0 - leverage).max(1.0 / n)
        };
        let residuals: Vec<f64> = match told {
            true => losses.iter().zip(&imputed).map(residual).collect(),
            false => losses.clone(),
        };
        let squared = |residuals: &[f64]| products(residuals, residuals) * n / (n - 1.0) / (size * size);
        let of_all = self.spread_of_all() / (self.size * self.size);
        let imputed_variance = weight * weight * of_all;
        let estimate = alone + weight * (self.imputed / self.size - imputed_mean);
        let shift = skewness_shift(&residuals) * n / size;
        let measured = |value: f64, shift: f64, squared: f64, lost: f64| {
            let standard_error = squared.sqrt();
            let reach = StudentsT::new(0.0, 1.0, (n - lost).max(1.0))
                .map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + 0.5 * level));
            // As many tokens on their own as would have the same error. Without a wrong one nothing tells how far the
            // tokens of a sequence go together: then a sequence counts as one.
            let trials = alone * (1.0 - alone) / squared;
            let trials = if trials.is_finite() && trials > 0.0 { trials } else { n };
            range.measured(value, (shift, standard_error, reach), trials)
        };
        let lost = if told { 2.0 } else { 1.0 };
        let left = squared(&residuals);
        Powered {
            estimate: measured(estimate, shift, left + imputed_variance, lost),
            alone: measured(alone, 0.0, squared(&losses), 1.0),
            weight,
            imputed: self.imputed / self.size,
            worth: Worth { residual_variance: left * n, imputed_variance },
            enough: true,
        }
    }
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

fn products(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Interval;
    use crate::metrics::Measured;

    /// Five sequences, three of them labelled: sizes, what is imputed, losses.
    fn five() -> Imputed {
        let mut sums = Imputed::default();
        for (size, imputed, loss) in [
            (2.0, 0.2, Some(0.0)),
            (4.0, 1.0, Some(2.0)),
            (4.0, 0.4, Some(1.0)),
            (3.0, 0.9, None),
            (7.0, 0.7, None),
        ] {
            sums.add(size, imputed, loss);
        }
        sums
    }

    #[test]
    fn a_mean_over_tokens_is_a_ratio() {
        let sums = five();
        let powered = sums.powered(0.95, Range::Any);
        // 3 wrong of 10; residuals -0.6, 0.8, -0.2.
        assert!((powered.alone.value - 0.3).abs() < 1e-12);
        assert!((powered.alone.standard_error.powi(2) - 1.04 * 1.5 / 100.0).abs() < 1e-12);
        assert!((powered.imputed - 3.2 / 20.0).abs() < 1e-12);
        // Of what is imputed 1.6 / 10: residuals -0.12, 0.36, -0.24, whose slope of 0.408 / 0.2016 stands out by less than two errors.
        assert_eq!(powered.weight, 0.0);
        assert_eq!(powered.estimate.value, powered.alone.value);
    }

    #[test]
    fn sizes_of_one_make_it_a_mean_with_its_usual_interval() {
        let mut sums = Imputed::default();
        [1.0, 2.0, 6.0].into_iter().for_each(|loss| sums.add(1.0, 0.5, Some(loss)));
        let powered = sums.powered(0.95, Range::Any);
        // Variance 7 over 3; Student's t with two degrees of freedom.
        let error = (7.0_f64 / 3.0).sqrt();
        assert!((powered.alone.standard_error - error).abs() < 1e-12);
        assert!((powered.alone.interval.high - 3.0 - 4.302_652_7 * error).abs() < 1e-5);
        assert_eq!(powered.weight, 0.0, "what is imputed is the same everywhere");
    }

    #[test]
    fn what_is_imputed_well_narrows_the_interval_and_what_is_not_leaves_it() {
        let (mut well, mut badly) = (Imputed::default(), Imputed::default());
        for at in 0..400_u32 {
            let loss = f64::from(at * 7 % 11) + 0.1 * f64::from(at % 3);
            let label = (at % 8 == 0).then_some(loss);
            well.add(11.0, f64::from(at * 7 % 11), label);
            badly.add(11.0, f64::from(at * 5 % 13), label);
        }
        let width = |powered: &Measured| powered.interval.high - powered.interval.low;
        let [well, badly] = [well, badly].map(|sums| sums.powered(0.95, Range::Share));
        assert!((well.weight - 1.0).abs() < 0.05 && width(&well.estimate) < 0.4 * width(&well.alone));
        assert_eq!((badly.weight, width(&badly.estimate)), (0.0, width(&badly.alone)));
        let truth = (5.0 + 0.1) / 11.0;
        assert!((well.estimate.value - truth).abs() < 0.01, "{well:?}");
    }

    #[test]
    fn without_a_wrong_token_a_sequence_counts_as_one() {
        let mut sums = Imputed::default();
        (0..50).for_each(|_| sums.add(20.0, 0.1, Some(0.0)));
        let Interval { low, high } = sums.powered(0.95, Range::Share).estimate.interval;
        let z = 2.009_575_f64.powi(2);
        assert!(low.abs() < 1e-12 && (high - z / (50.0 + z)).abs() < 1e-5, "{low} {high}");
    }

    #[test]
    fn labelled_sequences_that_are_unlike_the_others_are_seen() {
        let mut sums = Imputed::default();
        (0..1000).for_each(|at| sums.add(1.0, f64::from(at % 10), (at % 10 > 5 && at < 400).then_some(1.0)));
        assert!(sums.unlikeness() > 8.0, "{}", sums.unlikeness());
        let mut even = Imputed::default();
        (0..1000).for_each(|at| even.add(1.0, f64::from(at % 10), (at < 100).then_some(1.0)));
        assert!(even.unlikeness().abs() < 1e-9);
    }
}
