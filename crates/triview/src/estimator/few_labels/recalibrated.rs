//! The mean of a loss by a posterior that a few labels recalibrate.
//!
//! What labels correct row by row ([`Powered`](super::Powered)) is valid whatever the views do, and gains little where they depend on each
//! other: their posterior is then too sure of itself in a way that few labels cannot tell apart from chance. But it is mostly too sure in one
//! way, which few labels do show. With `z` the mean over the views of the logarithms of their own probabilities or, where the views are not seen to depend
//! on each other and the labels like it better by cross-validation, the logarithms of the posterior that they imply,
//!
//! ```text
//!     p(y | x) = softmax(e^a z(x) + b)_y,     a, b_j ~ N(0, 1/4),
//! ```
//!
//! is fitted to the labels, and the loss that it imputes is read off over all rows. A doubt that such a posterior is right stands beside the
//! error of `a` and `b`: a twentieth of the loss's standard deviation, against which the labelled residuals are weighed.

use super::rows::{Rows, of_row};
use crate::answer::Interval;
use crate::data::Batch;
use crate::error::{Error, Result};
use crate::estimator::Labeller;
use crate::metrics::Measured;
use crate::numeric::lbfgs::minimise;
use crate::numeric::linalg::{dot, softmax};
use crate::settings::few_labels::recalibration::{DOUBT, FOLDS, GRADIENT, ITERATIONS, PRECISION, SMALLEST};
use faer::Mat;
use faer::linalg::solvers::Solve;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// What a posterior is recalibrated from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The posterior that the views imply if they are independent given the class.
    Posterior,
    /// The mean over the views of the logarithms of their own probabilities.
    Scores,
}

impl Origin {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Posterior => "the posterior of the views",
            Origin::Scores => "the mean of the views' scores",
        }
    }
}

/// Means by a recalibrated posterior: right as far as it is, which is doubted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recalibrated {
    /// The risk.
    pub risk: Measured,
    /// How often the class with the largest summed score is wrong.
    pub error_rate: Measured,
    /// What was recalibrated.
    pub origin: Origin,
    /// `e^a`: below one where it was too sure of itself.
    pub sharpness: f64,
}

/// The mean over the views that a row has of the logarithms of their probabilities.
pub(super) fn mean_logs(batch: &Batch, row: usize) -> Vec<f64> {
    let mut out = vec![0.0; batch.k()];
    let missing = batch.missing().map_or(0, |missing| missing[row]);
    let present: Vec<usize> = (0..batch.views()).filter(|view| missing >> view & 1 == 0).collect();
    for &view in &present {
        let scores: Vec<f64> = (0..out.len()).map(|class| batch.column(view, class)[row]).collect();
        for (sum, p) in out.iter_mut().zip(softmax(&scores)) {
            *sum += p.max(SMALLEST).ln() / present.len() as f64;
        }
    }
    out
}

/// The logarithms of a row's posterior.
fn logs(posterior: Vec<f64>) -> Vec<f64> {
    posterior.into_iter().map(|p| p.max(SMALLEST).ln()).collect()
}

/// `a` and `b`, and how far they may be off.
pub(super) struct Recalibration {
    origin: Origin,
    point: Vec<f64>,
    covariance: Mat<f64>,
}

impl Recalibration {
    /// Fitted to the labelled rows. Where the views are seen to depend on each other, the posterior that takes them to be independent is no choice.
    pub(super) fn fit(rows: &Rows, independent: bool) -> Result<Self> {
        let [k, _] = rows.dimensions();
        let posterior = logs(rows.posteriors.clone());
        let fold = |held: usize| move |at: usize| at % FOLDS != held;
        let likelihood = |logits: &[f64]| -> f64 {
            let of_fold = |held: usize| {
                let point = fit(logits, &rows.classes, k, fold(held));
                let left = rows.classes.iter().enumerate().filter(|(at, _)| at % FOLDS == held);
                left.map(|(at, &class)| probabilities(&point, &logits[at * k..(at + 1) * k])[class].ln())
                    .sum::<f64>()
            };
            (0..FOLDS).map(of_fold).sum()
        };
        let by_posterior = independent && likelihood(&posterior) >= likelihood(&rows.mean_logs);
        let (origin, logits) =
            if by_posterior { (Origin::Posterior, &posterior) } else { (Origin::Scores, &rows.mean_logs) };
        let point = fit(logits, &rows.classes, k, |_| true);
        let mut information = Mat::from_fn(k + 1, k + 1, |i, j| if i == j { PRECISION } else { 0.0 });
        for z in logits.chunks_exact(k) {
            let p = probabilities(&point, z);
            // The derivatives of each class's logit.
            let slope = |class: usize, at: usize| match at {
                0 => point[0].exp() * z[class],
                at => f64::from(u8::from(at - 1 == class)),
            };
            let mean: Vec<f64> =
                (0..=k).map(|at| (0..k).map(|class| p[class] * slope(class, at)).sum()).collect();
            for (i, j) in (0..=k).flat_map(|i| (0..=k).map(move |j| (i, j))) {
                let product = (0..k).map(|class| p[class] * slope(class, i) * slope(class, j)).sum::<f64>();
                information[(i, j)] += product - mean[i] * mean[j];
            }
        }
        let factor =
            information.llt(faer::Side::Lower).map_err(|_| Error::Internal("labels have no curvature"))?;
        Ok(Self { origin, point, covariance: factor.solve(Mat::<f64>::identity(k + 1, k + 1)) })
    }

    /// The risk and the error rate from their sums.
    pub(super) fn read(&self, risk: &Sums, error: &Sums, level: f64, largest: f64) -> Recalibrated {
        Recalibrated {
            risk: risk.mean(self, level, largest),
            error_rate: error.mean(self, level, 1.0),
            origin: self.origin,
            sharpness: self.point[0].exp(),
        }
    }

    /// What is recalibrated of each row of a batch.
    pub(super) fn logits(&self, labeller: &Labeller, batch: &Batch) -> Result<Vec<Vec<f64>>> {
        let rows = batch.rows();
        Ok(match self.origin {
            Origin::Posterior => {
                let posterior = labeller.class_posterior(rows, &labeller.state_posterior(batch)?);
                (0..rows).map(|row| logs(of_row(&posterior, rows, row))).collect()
            }
            Origin::Scores => (0..rows).map(|row| mean_logs(batch, row)).collect(),
        })
    }

    /// The recalibrated posterior of a row.
    pub(super) fn posterior(&self, z: &[f64]) -> Vec<f64> {
        probabilities(&self.point, z)
    }
}

/// `softmax(e^a z + b)`.
fn probabilities(point: &[f64], z: &[f64]) -> Vec<f64> {
    let sharpness = point[0].exp();
    let logits: Vec<f64> = z.iter().zip(&point[1..]).map(|(z, b)| sharpness * z + b).collect();
    softmax(&logits).into_iter().map(|p| p.max(f64::MIN_POSITIVE)).collect()
}

/// The likeliest `a` and `b` given some of the labelled rows.
fn fit(logits: &[f64], classes: &[usize], k: usize, used: impl Fn(usize) -> bool) -> Vec<f64> {
    let objective = |point: &[f64]| {
        let mut value = 0.5 * PRECISION * dot(point, point);
        let mut gradient: Vec<f64> = point.iter().map(|x| PRECISION * x).collect();
        for (at, &class) in classes.iter().enumerate().filter(|(at, _)| used(*at)) {
            let z = &logits[at * k..(at + 1) * k];
            let p = probabilities(point, z);
            value -= p[class].ln();
            for (j, p) in p.iter().enumerate() {
                let excess = p - f64::from(u8::from(j == class));
                gradient[0] += excess * point[0].exp() * z[j];
                gradient[1 + j] += excess;
            }
        }
        (value, gradient)
    };
    minimise(objective, vec![0.0; k + 1], GRADIENT, ITERATIONS).point
}

/// Sums over all rows of what a recalibrated posterior imputes for one loss.
pub(super) struct Sums {
    rows: f64,
    imputed: f64,
    squares: f64,
    claimed: f64,
    slope: Vec<f64>,
    residuals: Vec<f64>,
}

impl Sums {
    pub(super) fn new(k: usize) -> Self {
        Self {
            rows: 0.0,
            imputed: 0.0,
            squares: 0.0,
            claimed: 0.0,
            slope: vec![0.0; k + 1],
            residuals: Vec::new(),
        }
    }

    /// Adds a row, of what is recalibrated and the posterior that it gives, the loss for each class, and the label.
    pub(super) fn add(
        &mut self,
        recalibration: &Recalibration,
        (z, p): (&[f64], &[f64]),
        loss: impl Fn(usize) -> f64,
        label: Option<usize>,
    ) {
        let mean =
            |of: &dyn Fn(usize) -> f64| p.iter().enumerate().map(|(class, p)| p * of(class)).sum::<f64>();
        let imputed = mean(&loss);
        let centre = mean(&|class| z[class]);
        self.rows += 1.0;
        self.imputed += imputed;
        self.squares += imputed * imputed;
        self.claimed += mean(&|class| (loss(class) - imputed).powi(2));
        self.slope[0] += recalibration.point[0].exp() * mean(&|class| loss(class) * (z[class] - centre));
        for (class, p) in p.iter().enumerate() {
            self.slope[1 + class] += p * (loss(class) - imputed);
        }
        self.residuals.extend(label.map(|class| loss(class) - imputed));
    }

    /// The mean, weighed against the labelled residuals.
    pub(super) fn mean(&self, recalibration: &Recalibration, level: f64, largest: f64) -> Measured {
        let (rows, n) = (self.rows, self.residuals.len() as f64);
        let imputed = self.imputed / rows;
        let k = self.slope.len();
        let slope = Mat::from_fn(k, 1, |i, _| self.slope[i] / rows);
        let of_fit = (slope.transpose() * &recalibration.covariance * &slope)[(0, 0)];
        let of_rows = (self.squares / rows - imputed * imputed).max(0.0) / rows;
        let off = self.residuals.iter().sum::<f64>() / n;
        let spread = self.residuals.iter().map(|own| (own - off).powi(2)).sum::<f64>() / (n - 1.0);
        // A few labels may not hold the rare large losses.
        let variance = spread.max(self.claimed / rows);
        let (doubt, of_labels) = (DOUBT * DOUBT * variance, variance / n);
        let weight = doubt / (doubt + of_labels);
        let own = of_fit + of_rows;
        let together = (1.0 - weight).powi(2) * (own + doubt)
            + weight * weight * of_labels
            + 2.0 * weight * (1.0 - weight) * (own * of_labels).sqrt();
        let (value, standard_error) = (imputed + weight * off, together.sqrt());
        let reach =
            StudentsT::new(0.0, 1.0, n - 2.0).map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + 0.5 * level));
        let interval = Interval::around(value, reach, standard_error).within(0.0, largest);
        Measured { value: value.clamp(0.0, largest), standard_error, interval }
    }
}
