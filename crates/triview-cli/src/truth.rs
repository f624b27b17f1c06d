//! What labels say of rows as they are drawn: the truth that an estimate is judged by.

use triview::data::Batch;
use triview::loss::{self, Loss, Whole};

/// Sums over rows and their labels.
#[derive(Debug, Clone)]
pub(crate) struct Truth {
    rows: u64,
    /// Mean loss and the sum of squared deviations from it (Welford's update: no cancellation, however many rows).
    risk: f64,
    deviations: f64,
    wrong: u64,
    by_class: Vec<u64>,
    /// For each view, row `i`, column `j`: sum of `f_v(x, i)` over the rows of class `j`.
    terms: Vec<Vec<Vec<f64>>>,
}

impl Truth {
    /// Nothing seen yet, of so many views and `k` classes.
    pub(crate) fn new(views: usize, k: usize) -> Self {
        let terms = vec![vec![vec![0.0; k]; k]; views];
        Self { rows: 0, risk: 0.0, deviations: 0.0, wrong: 0, by_class: vec![0; k], terms }
    }

    /// Adds rows with the class of each. The risk is that of the loss, or of one of the whole prediction in its stead.
    pub(crate) fn update(&mut self, loss: &dyn Loss, whole: Option<Whole>, batch: &Batch, labels: &[usize]) {
        let (rows, k) = (batch.rows(), batch.k());
        let mut of_view = |view: usize| {
            let terms = loss::terms_of(loss, batch, view);
            for (row, &label) in labels.iter().enumerate() {
                for class in 0..k {
                    self.terms[view][class][label] += terms[class * rows + row];
                }
            }
            terms
        };
        let terms: Vec<Vec<f64>> = (0..batch.views()).map(&mut of_view).collect();
        let score = |row: usize, class: usize| {
            (0..batch.views()).map(|view| batch.column(view, class)[row]).sum::<f64>()
        };
        let scores = |row: usize| (0..k).map(|class| score(row, class)).collect::<Vec<f64>>();
        let losses = match whole {
            Some(whole) => {
                labels.iter().enumerate().map(|(row, &label)| whole.value(&scores(row), label)).collect()
            }
            None => loss::losses_of(loss, batch, &terms, labels),
        };
        for (row, (&label, value)) in labels.iter().zip(losses).enumerate() {
            self.rows += 1;
            self.by_class[label] += 1;
            let deviation = value - self.risk;
            self.risk += deviation / self.rows as f64;
            self.deviations += deviation * (value - self.risk);
            let own = score(row, label);
            self.wrong += u64::from((0..k).any(|class| class != label && score(row, class) > own));
        }
    }

    /// Rows seen.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Mean loss.
    pub(crate) fn risk(&self) -> f64 {
        self.risk
    }

    /// How far the mean loss of other such rows may be from it.
    pub(crate) fn standard_error(&self) -> f64 {
        let rows = self.rows as f64;
        (self.deviations / (rows - 1.0).max(1.0) / rows).sqrt()
    }

    /// Fraction of rows that the summed scores give to another class.
    pub(crate) fn error_rate(&self) -> f64 {
        self.wrong as f64 / self.rows as f64
    }

    /// Fraction of rows of each class.
    pub(crate) fn class_prior(&self) -> Vec<f64> {
        self.by_class.iter().map(|&count| count as f64 / self.rows as f64).collect()
    }

    /// For each view, row `i`, column `j`: mean of `f_v(x, i)` over the rows of class `j`.
    pub(crate) fn conditional_risk(&self) -> Vec<Vec<Vec<f64>>> {
        let mean = |row: &Vec<f64>| -> Vec<f64> {
            row.iter().zip(&self.by_class).map(|(sum, &count)| sum / count as f64).collect()
        };
        self.terms.iter().map(|matrix| matrix.iter().map(mean).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triview::loss::LogLoss;

    #[test]
    fn two_rows_by_hand() {
        // Summed scores (0, ln 3) and (ln 3, 0): probabilities (1/4, 3/4) and (3/4, 1/4).
        let third = 3f64.ln() / 3.0;
        let view = vec![0.0, third, third, 0.0];
        let batch = Batch::new(2, [view.clone(), view.clone(), view]).expect("finite");
        let mut truth = Truth::new(3, 2);
        truth.update(&LogLoss, None, &batch, &[1, 1]);
        let losses = [-(0.75f64.ln()), -(0.25f64.ln())];
        let mean = (losses[0] + losses[1]) / 2.0;
        assert!((truth.risk() - mean).abs() < 1e-12);
        assert!((truth.standard_error() - (losses[1] - losses[0]).abs() / 2.0).abs() < 1e-12);
        assert_eq!(truth.error_rate(), 0.5);
        assert_eq!(truth.class_prior(), [0.0, 1.0]);
        let conditional = &truth.conditional_risk()[2];
        assert!((conditional[0][1] - third / 2.0).abs() < 1e-12 && conditional[0][0].is_nan());

        let mut truth = Truth::new(3, 2);
        truth.update(&LogLoss, Some(Whole::Brier), &batch, &[1, 1]);
        assert!((truth.risk() - 0.5 * (0.125 + 1.125)).abs() < 1e-12, "{}", truth.risk());
    }
}
