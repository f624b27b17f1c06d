//! Multinomial logistic regression, trained with AdaGrad.
//!
//! The model is linear in each view, `s_v(i) = b_vi + w_vi . x_v`, so its scores are the additive log
//! potentials that the risk estimate starts from.

use super::linear::Shape;
use super::rows::FeatureBatch;
use crate::data::Batch;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::numeric::linalg::log_sum_exp;
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
    /// Minimises the log loss of the rows with labels from weights of zero. Coordinate `c` moves by
    /// `step * g_c / sqrt(sum of g_c^2 so far)` (AdaGrad: Duchi, Hazan and Singer 2011).
    pub fn train(&self, rows: &FeatureBatch, classes: usize) -> LogisticModel {
        let params = &self.0;
        let shape = Shape { widths: rows.widths().to_vec(), classes };
        let mut theta = vec![0.0; shape.len()];
        let mut gradient = theta.clone();
        let mut squares = theta.clone();
        let mut order: Vec<usize> = (0..rows.rows()).filter(|&row| rows.label(row).is_some()).collect();
        let mut rng = Pcg64::seed_from_u64(params.seed);
        for _ in 0..params.epochs {
            order.shuffle(&mut rng);
            for minibatch in order.chunks(params.minibatch) {
                interrupt::check();
                add_gradient(&shape, &theta, rows, minibatch, &mut gradient);
                for ((weight, g), square) in theta.iter_mut().zip(&gradient).zip(&mut squares) {
                    *square += *g * *g;
                    *weight -= params.step * *g / (*square + FLOOR).sqrt();
                }
            }
        }
        LogisticModel::of_theta(&shape, &theta)
    }
}

/// The gradient of the mean log loss over some rows.
fn add_gradient(shape: &Shape, theta: &[f64], rows: &FeatureBatch, chosen: &[usize], gradient: &mut [f64]) {
    gradient.fill(0.0);
    let mut residual = vec![0.0; shape.classes];
    for &row in chosen {
        residual.copy_from_slice(&theta[shape.bias()]);
        for view in 0..rows.views() {
            shape.add_scores(&theta[shape.weights(view)], rows.cells(view), row, &mut residual);
        }
        // The derivative of the loss by the scores: posterior minus label, over the rows averaged.
        let total = log_sum_exp(&residual);
        residual.iter_mut().for_each(|score| *score = (*score - total).exp());
        if let Some(label) = rows.label(row) {
            residual[label] -= 1.0;
        }
        residual.iter_mut().for_each(|r| *r /= chosen.len() as f64);
        gradient[shape.bias()].iter_mut().zip(&residual).for_each(|(sum, r)| *sum += r);
        for view in 0..rows.views() {
            shape.add_products(&mut gradient[shape.weights(view)], rows.cells(view), row, &residual);
        }
    }
}

/// A linear score for every class in every view.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct LogisticModel {
    classes: usize,
    /// Classes x features for each view, column-major: the weights of one feature lie together.
    weights: Vec<Vec<f64>>,
    /// The bias of each class in each view.
    bias: Vec<Vec<f64>>,
}

impl LogisticModel {
    /// A model of these weights, `weights[v][feature * classes + class]`, and biases.
    ///
    /// # Errors
    /// [`Error::ModelNotFinite`] with the view of the first number that is NaN or infinite.
    ///
    /// # Panics
    /// When a view has not one bias a class, or its weights are no multiple of that: a mistake of the caller's.
    pub fn new(weights: Vec<Vec<f64>>, bias: Vec<Vec<f64>>) -> Result<Self> {
        let classes = bias[0].len();
        for (view, (weights, bias)) in weights.iter().zip(&bias).enumerate() {
            assert!(
                bias.len() == classes && weights.len().is_multiple_of(classes),
                "view {view}: ragged model"
            );
            if let Some(value) = weights.iter().chain(bias).find(|number| !number.is_finite()) {
                return Err(Error::ModelNotFinite { view, value: *value });
            }
        }
        Ok(Self { classes, weights, bias })
    }

    /// From all parameters in one vector; the biases are shared out evenly.
    pub(crate) fn of_theta(shape: &Shape, theta: &[f64]) -> Self {
        let views = shape.widths.len();
        let share = theta[shape.bias()].iter().map(|bias| bias / views as f64).collect();
        Self {
            classes: shape.classes,
            weights: (0..views).map(|view| theta[shape.weights(view)].to_vec()).collect(),
            bias: vec![share; views],
        }
    }

    /// The sizes of it.
    pub(crate) fn shape(&self) -> Shape {
        Shape { widths: self.weights.iter().map(|w| w.len() / self.classes).collect(), classes: self.classes }
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The number of views.
    pub fn views(&self) -> usize {
        self.weights.len()
    }

    /// The weights of a view, classes x features, column-major: `weights(v)[feature * classes + class]`.
    pub fn weights(&self, view: usize) -> &[f64] {
        &self.weights[view]
    }

    /// The bias of each class in a view. Those of all views add up to the model's.
    pub fn bias(&self, view: usize) -> &[f64] {
        &self.bias[view]
    }

    /// What each view says of each class. Summed over the views they are the model's scores.
    ///
    /// # Errors
    /// [`Error::NotFinite`] when features are too large for a score to be a number.
    ///
    /// # Panics
    /// When the rows have other features than the model was trained on.
    pub fn scores(&self, rows: &FeatureBatch) -> Result<Batch> {
        let (m, k, shape) = (rows.rows(), self.classes, self.shape());
        assert_eq!(rows.widths(), shape.widths, "rows with other features");
        let of_view = |view: usize| {
            let by_row = shape.view_scores(rows, view, &self.weights[view], &self.bias[view]);
            (0..m * k).map(|at| by_row[at % m * k + at / m]).collect()
        };
        Batch::new(m, (0..self.views()).map(of_view).collect::<Vec<Vec<f64>>>())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{error_rate, log_loss};
    use super::*;
    use crate::data::VIEWS;
    use crate::lab::{Composites, Images, Recipe};
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
        LogisticParams::default().epochs(epochs).seed(seed).check().expect("valid").train(rows.batch(), 3)
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
        let shape = model.shape();
        let bias = (0..3).map(|class| (0..VIEWS).map(|view| model.bias(view)[class]).sum::<f64>());
        let weights = (0..VIEWS).flat_map(|view| model.weights(view).to_vec());
        let theta: Vec<f64> = weights.chain(bias).collect();
        let mut gradient = vec![0.0; shape.len()];
        add_gradient(&shape, &theta, rows.batch(), &chosen, &mut gradient);
        let loss = |theta: &[f64]| {
            let scores = LogisticModel::of_theta(&shape, theta).scores(rows.batch()).expect("finite scores");
            log_loss(&scores, rows.labels()).value
        };
        let h = 1e-5;
        for (at, exact) in gradient.iter().enumerate() {
            let moved = |by: f64| {
                let mut theta = theta.clone();
                theta[at] += by;
                loss(&theta)
            };
            let difference = (moved(h) - moved(-h)) / (2.0 * h);
            // Truncation is of order h^2, rounding of order 1e-16 / h.
            assert!((difference - exact).abs() < 1e-9, "{difference} {exact}");
        }
    }

    #[test]
    fn training_learns_what_can_be_learnt() {
        let (seen, fresh) = (composites(2_000, 1), composites(2_000, 2));
        let model = train(&seen, 10, 1);
        let scores = model.scores(fresh.batch()).expect("finite scores");
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
        let batch = model.scores(rows.batch()).expect("finite scores");
        for row in 0..rows.rows() {
            for class in 0..model.classes() {
                let whole: f64 = (0..VIEWS)
                    .map(|view| {
                        let features = rows.batch().features(view, row);
                        features
                            .iter()
                            .enumerate()
                            .map(|(f, x)| f64::from(*x) * model.weights(view)[f * 3 + class])
                            .sum::<f64>()
                    })
                    .sum();
                let sum: f64 = (0..VIEWS).map(|view| batch.column(view, class)[row]).sum();
                let bias: f64 = (0..VIEWS).map(|view| model.bias(view)[class]).sum();
                assert!((sum - whole - bias).abs() < 1e-12);
            }
        }
    }
}
