//! Multinomial logistic regression, trained with AdaGrad.
//!
//! The model is linear in each view, `s_v(i) = b_vi + w_vi . x_v`, so its scores are the additive log
//! potentials that the risk estimate starts from.

use super::evaluation::log_sum_exp;
use crate::composite::Composites;
use crate::error::{Error, Result};
use crate::views::{Batch, VIEWS};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// Keeps the first steps finite where a gradient is exactly zero.
const FLOOR: f64 = 1e-12;

/// How to train, not checked yet. The defaults are those of the experiments on composite digits.
#[derive(Debug, Clone, PartialEq)]
pub struct LogisticParams {
    step: f64,
    epochs: usize,
    minibatch: usize,
    seed: u64,
}

impl Default for LogisticParams {
    fn default() -> Self {
        Self { step: 0.04, epochs: 10, minibatch: 20, seed: 0 }
    }
}

impl LogisticParams {
    /// Length of AdaGrad's first step in each coordinate.
    #[must_use]
    pub fn step(mut self, step: f64) -> Self {
        self.step = step;
        self
    }

    /// How often every row is seen.
    #[must_use]
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.epochs = epochs;
        self
    }

    /// Rows that one step averages the gradient over.
    #[must_use]
    pub fn minibatch(mut self, minibatch: usize) -> Self {
        self.minibatch = minibatch;
        self
    }

    /// Seed of the order of the rows.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when the step is not a positive number, or there are no epochs or no rows
    /// in a minibatch.
    pub fn check(self) -> Result<LogisticTrainer> {
        let refuse = |name, value: String, expected| Err(Error::InvalidParameter { name, value, expected });
        if !(self.step.is_finite() && self.step > 0.0) {
            return refuse("step", self.step.to_string(), "a positive number");
        }
        if self.epochs == 0 {
            return refuse("epochs", self.epochs.to_string(), "at least 1");
        }
        if self.minibatch == 0 {
            return refuse("minibatch", self.minibatch.to_string(), "at least 1 row");
        }
        Ok(LogisticTrainer(self))
    }
}

/// Checked parameters, ready to train with.
#[derive(Debug, Clone, PartialEq)]
pub struct LogisticTrainer(LogisticParams);

impl LogisticTrainer {
    /// Minimises the log loss of the labels from weights of zero. Coordinate `c` moves by
    /// `step * g_c / sqrt(sum of g_c^2 so far)` (AdaGrad: Duchi, Hazan and Singer 2011).
    pub fn train(&self, rows: &Composites) -> LogisticModel {
        let params = &self.0;
        let mut model = LogisticModel::zero(rows.widths(), rows.classes());
        let mut gradient = model.clone();
        let mut squares = model.clone();
        let mut order: Vec<usize> = (0..rows.rows()).collect();
        let mut rng = Pcg64::seed_from_u64(params.seed);
        for _ in 0..params.epochs {
            order.shuffle(&mut rng);
            for minibatch in order.chunks(params.minibatch) {
                model.gradient(rows, minibatch, &mut gradient);
                for (part, (gradient, squares)) in
                    model.parts_mut().zip(gradient.parts_mut().zip(squares.parts_mut()))
                {
                    for ((weight, g), square) in part.iter_mut().zip(gradient).zip(squares) {
                        *square += *g * *g;
                        *weight -= params.step * *g / (*square + FLOOR).sqrt();
                    }
                }
            }
        }
        model
    }
}

/// A linear score for every class in every view.
#[derive(Debug, Clone, PartialEq)]
pub struct LogisticModel {
    classes: usize,
    /// Classes x features for each view, column-major: the weights of one pixel lie together.
    weights: [Vec<f64>; VIEWS],
    bias: Vec<f64>,
}

impl LogisticModel {
    fn zero(widths: [usize; VIEWS], classes: usize) -> Self {
        Self { classes, weights: widths.map(|width| vec![0.0; width * classes]), bias: vec![0.0; classes] }
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The weights of a view, classes x features, column-major: `weights(v)[feature * classes + class]`.
    pub fn weights(&self, view: usize) -> &[f64] {
        &self.weights[view]
    }

    /// The bias of each class, shared by the three views in equal parts.
    pub fn bias(&self) -> &[f64] {
        &self.bias
    }

    /// What each view says of each class. Summed over the views they are the model's scores.
    ///
    /// # Errors
    /// [`Error::NotFinite`] when features are too large for a score to be a number.
    ///
    /// # Panics
    /// When the rows have other features than the model was trained on.
    pub fn scores(&self, rows: &Composites) -> Result<Batch> {
        let (m, k) = (rows.rows(), self.classes);
        let mut scores: [Vec<f64>; VIEWS] = std::array::from_fn(|_| vec![0.0; m * k]);
        let mut of_row = vec![0.0; k];
        for (view, scores) in scores.iter_mut().enumerate() {
            for row in 0..m {
                for (score, bias) in of_row.iter_mut().zip(&self.bias) {
                    *score = bias / VIEWS as f64;
                }
                self.add_view(view, rows.features(view, row), &mut of_row);
                for (class, score) in of_row.iter().enumerate() {
                    scores[class * m + row] = *score;
                }
            }
        }
        Batch::new(m, scores)
    }

    /// Adds a view's weighted features to the scores. Zeros are skipped: four in five pixels of MNIST
    /// are zero.
    fn add_view(&self, view: usize, features: &[f32], scores: &mut [f64]) {
        assert_eq!(self.weights[view].len(), features.len() * self.classes, "view {view}: other features");
        for (weights, &x) in self.weights[view].chunks_exact(self.classes).zip(features) {
            if x != 0.0 {
                for (score, weight) in scores.iter_mut().zip(weights) {
                    *score += weight * f64::from(x);
                }
            }
        }
    }

    /// The gradient of the mean log loss over some rows.
    fn gradient(&self, rows: &Composites, chosen: &[usize], gradient: &mut LogisticModel) {
        gradient.parts_mut().for_each(|part| part.fill(0.0));
        let mut residual = vec![0.0; self.classes];
        for &row in chosen {
            residual.copy_from_slice(&self.bias);
            for view in 0..VIEWS {
                self.add_view(view, rows.features(view, row), &mut residual);
            }
            // The derivative of the loss by the scores: posterior minus label, over the rows averaged.
            let total = log_sum_exp(&residual);
            residual.iter_mut().for_each(|score| *score = (*score - total).exp());
            residual[usize::from(rows.labels()[row])] -= 1.0;
            residual.iter_mut().for_each(|r| *r /= chosen.len() as f64);
            for (bias, r) in gradient.bias.iter_mut().zip(&residual) {
                *bias += r;
            }
            for view in 0..VIEWS {
                let columns = gradient.weights[view].chunks_exact_mut(self.classes);
                for (weights, &x) in columns.zip(rows.features(view, row)) {
                    if x != 0.0 {
                        for (weight, r) in weights.iter_mut().zip(&residual) {
                            *weight += r * f64::from(x);
                        }
                    }
                }
            }
        }
    }

    /// All parameters: the weights of each view, then the bias.
    fn parts_mut(&mut self) -> impl Iterator<Item = &mut Vec<f64>> {
        self.weights.iter_mut().chain([&mut self.bias])
    }
}

#[cfg(test)]
mod tests {
    use super::super::{error_rate, log_loss};
    use super::*;
    use crate::composite::{Images, Recipe};
    use rand::RngExt;

    /// Noisy 6 x 6 images: class `c` is bright in its own two rows of pixels.
    fn stripes() -> Images {
        let mut rng = Pcg64::seed_from_u64(3);
        let labels: Vec<u8> = (0..300).map(|i| (i % 3) as u8).collect();
        let pixels = labels
            .iter()
            .flat_map(|&label| (0..36).map(move |p| p / 12 == usize::from(label)))
            .map(|bright| rng.random_range(0.0..1.0f32) * if bright { 1.0 } else { 0.6 })
            .collect();
        Images::new(6, pixels, labels, 3).expect("valid images")
    }

    fn composites(rows: usize, seed: u64) -> Composites {
        Composites::draw(&stripes(), &Recipe::new(rows), seed).expect("composites")
    }

    fn train(rows: &Composites, epochs: usize, seed: u64) -> LogisticModel {
        LogisticParams::default().epochs(epochs).seed(seed).check().expect("valid").train(rows)
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let refused = |params: LogisticParams, parameter: &str| match params.check() {
            Err(Error::InvalidParameter { name, .. }) => assert_eq!(name, parameter),
            other => panic!("{other:?}"),
        };
        refused(LogisticParams::default().step(0.0), "step");
        refused(LogisticParams::default().step(f64::NAN), "step");
        refused(LogisticParams::default().epochs(0), "epochs");
        refused(LogisticParams::default().minibatch(0), "minibatch");
    }

    #[test]
    fn gradient_is_that_of_the_log_loss() {
        let rows = composites(40, 1);
        let chosen: Vec<usize> = (0..rows.rows()).collect();
        let model = train(&rows, 1, 1);
        let mut gradient = LogisticModel::zero(rows.widths(), rows.classes());
        model.gradient(&rows, &chosen, &mut gradient);
        let loss = |model: &LogisticModel| {
            log_loss(&model.scores(&rows).expect("finite scores"), rows.labels()).value
        };
        let h = 1e-5;
        for (part, exact) in gradient.parts_mut().enumerate() {
            for at in 0..exact.len() {
                let moved = |by: f64| {
                    let mut model = model.clone();
                    model.parts_mut().nth(part).expect("a part")[at] += by;
                    loss(&model)
                };
                let difference = (moved(h) - moved(-h)) / (2.0 * h);
                // Truncation is of order h^2, rounding of order 1e-16 / h.
                assert!((difference - exact[at]).abs() < 1e-9, "{difference} {}", exact[at]);
            }
        }
    }

    #[test]
    fn training_learns_what_can_be_learnt() {
        let (seen, fresh) = (composites(2_000, 1), composites(2_000, 2));
        let model = train(&seen, 10, 1);
        let scores = model.scores(&fresh).expect("finite scores");
        // Chance is 2/3 and ln 3; a pixel's brightness means 0.5 or 0.3, twelve pixels to a class.
        let error = error_rate(&scores, fresh.labels()).value;
        let risk = log_loss(&scores, fresh.labels()).value;
        assert!(error < 0.15, "{error}");
        assert!(risk < 0.4, "{risk}");
    }

    #[test]
    fn same_seed_same_bits() {
        let rows = composites(100, 1);
        assert_eq!(train(&rows, 2, 5), train(&rows, 2, 5));
        assert_ne!(train(&rows, 2, 5), train(&rows, 2, 6));
    }

    #[test]
    fn views_sum_to_the_model() {
        let rows = composites(5, 1);
        let model = train(&rows, 3, 1);
        let batch = model.scores(&rows).expect("finite scores");
        for row in 0..rows.rows() {
            for class in 0..model.classes() {
                let whole: f64 = (0..VIEWS)
                    .map(|view| {
                        let features = rows.features(view, row).iter().enumerate();
                        features.map(|(f, x)| f64::from(*x) * model.weights(view)[f * 3 + class]).sum::<f64>()
                    })
                    .sum();
                let sum: f64 = (0..VIEWS).map(|view| batch.column(view, class)[row]).sum();
                assert!((sum - whole - model.bias()[class]).abs() < 1e-12);
            }
        }
    }
}
