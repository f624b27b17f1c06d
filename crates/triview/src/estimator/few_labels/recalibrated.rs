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

use super::asked::{Range, of_row};
use super::rows::Rows;
use crate::answer::Interval;
use crate::data::Batch;
use crate::error::{Error, Result};
use crate::estimator::Labeller;
use crate::metrics::Measured;
use crate::numeric::lbfgs::minimise;
use crate::numeric::linalg::{dot, softmax};
use crate::settings::few_labels::recalibration::{
    CONTRADICTED, DOUBT, FOLDS, GRADIENT, ITERATIONS, PRECISION, SMALLEST,
};
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

/// How a posterior is recalibrated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sharpened {
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
    /// The labels that it rests on.
    labels: f64,
}

impl Recalibration {
    /// Fitted to the labelled rows. Where the views are seen to depend on each other, the posterior that takes them to be independent is no choice.
    pub(super) fn fit(rows: &Rows, independent: bool) -> Result<Self> {
        let [k, _] = rows.dimensions();
        let posterior = logs(rows.posteriors.clone());
        let fold = |held: usize| move |at: usize| at % FOLDS != held;
        // As many labels as they are worth, each for the rows that it stands for.
        let scale = rows.labels_worth() / rows.weights.iter().sum::<f64>();
        let weights: Vec<f64> = rows.weights.iter().map(|weight| weight * scale).collect();
        let labels = (rows.classes.as_slice(), weights.as_slice());
        let likelihood = |logits: &[f64]| -> f64 {
            let of_fold = |held: usize| {
                let point = fit(logits, labels, k, fold(held));
                let left = rows.classes.iter().enumerate().filter(|(at, _)| at % FOLDS == held);
                left.map(|(at, &class)| {
                    weights[at] * probabilities(&point, &logits[at * k..(at + 1) * k])[class].ln()
                })
                .sum::<f64>()
            };
            (0..FOLDS).map(of_fold).sum()
        };
        let by_posterior = independent && likelihood(&posterior) >= likelihood(&rows.mean_logs);
        let (origin, logits) =
            if by_posterior { (Origin::Posterior, &posterior) } else { (Origin::Scores, &rows.mean_logs) };
        let point = fit(logits, labels, k, |_| true);
        let mut information = Mat::from_fn(k + 1, k + 1, |i, j| if i == j { PRECISION } else { 0.0 });
        for (z, weight) in logits.chunks_exact(k).zip(&weights) {
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
                information[(i, j)] += weight * (product - mean[i] * mean[j]);
            }
        }
        let factor =
            information.llt(faer::Side::Lower).map_err(|_| Error::Internal("labels have no curvature"))?;
        let covariance = factor.solve(Mat::<f64>::identity(k + 1, k + 1));
        Ok(Self { origin, point, covariance, labels: rows.labels() as f64 })
    }

    /// What was recalibrated, and how.
    pub(super) fn sharpened(&self) -> Sharpened {
        Sharpened { origin: self.origin, sharpness: self.point[0].exp() }
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

/// The likeliest `a` and `b` given some of the labelled rows, each of which counts for so much.
fn fit(
    logits: &[f64],
    (classes, weights): (&[usize], &[f64]),
    k: usize,
    used: impl Fn(usize) -> bool,
) -> Vec<f64> {
    let objective = |point: &[f64]| {
        let mut value = 0.5 * PRECISION * dot(point, point);
        let mut gradient: Vec<f64> = point.iter().map(|x| PRECISION * x).collect();
        for (at, &class) in classes.iter().enumerate().filter(|(at, _)| used(*at)) {
            let z = &logits[at * k..(at + 1) * k];
            let p = probabilities(point, z);
            value -= weights[at] * p[class].ln();
            for (j, p) in p.iter().enumerate() {
                let excess = weights[at] * (p - f64::from(u8::from(j == class)));
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
    weights: Vec<f64>,
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
            weights: Vec::new(),
        }
    }

    /// Adds a row, of what is recalibrated and the posterior that it gives, the loss for each class, and the label with how many rows that
    /// stands for.
    pub(super) fn add(
        &mut self,
        recalibration: &Recalibration,
        (z, p): (&[f64], &[f64]),
        losses: &[f64],
        label: Option<(usize, f64)>,
    ) {
        let mean =
            |of: &dyn Fn(usize) -> f64| p.iter().enumerate().map(|(class, p)| p * of(class)).sum::<f64>();
        let imputed = dot(p, losses);
        let centre = dot(p, z);
        self.rows += 1.0;
        self.imputed += imputed;
        self.squares += imputed * imputed;
        self.claimed += mean(&|class| (losses[class] - imputed).powi(2));
        self.slope[0] += recalibration.point[0].exp() * mean(&|class| losses[class] * (z[class] - centre));
        for (class, p) in p.iter().enumerate() {
            self.slope[1 + class] += p * (losses[class] - imputed);
        }
        if let Some((class, weight)) = label {
            self.residuals.push(losses[class] - imputed);
            self.weights.push(weight);
        }
    }

    /// The mean, weighed against the labelled residuals, and whether these do not speak against it. Without any it rests on the posterior alone.
    pub(super) fn mean(&self, recalibration: &Recalibration, level: f64, range: Range) -> (Measured, bool) {
        let (rows, n) = (self.rows, self.residuals.len() as f64);
        let imputed = self.imputed / rows;
        let k = self.slope.len();
        let slope = Mat::from_fn(k, 1, |i, _| self.slope[i] / rows);
        let of_fit = (slope.transpose() * &recalibration.covariance * &slope)[(0, 0)];
        let own = of_fit + (self.squares / rows - imputed * imputed).max(0.0) / rows;
        let [off, spread, share] = self.of_labels();
        // A few labels may not hold the rare large losses.
        let variance = spread.max(self.claimed / rows);
        let (doubt, of_labels) = (DOUBT * DOUBT * variance, variance * share);
        let weight = if n > 0.0 { doubt / (doubt + of_labels) } else { 0.0 };
        let together = (1.0 - weight).powi(2) * (own + doubt)
            + weight * weight * of_labels
            + 2.0 * weight * (1.0 - weight) * (own * of_labels).sqrt();
        let (value, standard_error) = (imputed + weight * off, together.sqrt());
        let reach = StudentsT::new(0.0, 1.0, recalibration.labels - 2.0)
            .map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + 0.5 * level));
        let (low, high) = match range {
            Range::Any => (f64::NEG_INFINITY, f64::INFINITY),
            Range::UpTo(high) => (0.0, high),
            Range::Share => (0.0, 1.0),
        };
        let interval = Interval::around(value, reach, standard_error).within(low, high);
        let measured = Measured { value: value.clamp(low, high), standard_error, interval };
        (measured, off.abs() <= CONTRADICTED * (of_labels + own).sqrt())
    }

    /// The mean of the labelled residuals, their variance, and by which share of that the mean varies.
    fn of_labels(&self) -> [f64; 3] {
        let (total, n) = (self.weights.iter().sum::<f64>(), self.residuals.len() as f64);
        if n < 2.0 {
            return [self.residuals.first().copied().unwrap_or(0.0), 0.0, 1.0];
        }
        let off = dot(&self.residuals, &self.weights) / total;
        let apart = self.residuals.iter().zip(&self.weights);
        let squares = apart.map(|(own, weight)| weight * (own - off).powi(2)).sum::<f64>();
        [off, squares / total * n / (n - 1.0), dot(&self.weights, &self.weights) / (total * total)]
    }
}
