//! What is asked of the whole prediction: the error rate, and any loss at all.
//!
//! No sum over views gives the error rate of the summed scores. But independence gives more than moments: for class `j`
//! the law of `(x_1, x_2, x_3)` is the product of the laws of `x_v` given `j`, and each of these is that of the rows of view
//! `v` weighted by the surrogate labels `W_-v,j` that the other views give them. So for any `L(x, y)`
//!
//! ```text
//!     E[L] = sum_j pi_j E[L(x_1, x_2, x_3, j)],   x_v drawn on its own from the weighted rows of view v:
//! ```
//!
//! triples of rows. Beside it stands the plug-in, the mean over rows of `sum_j p(j | x) L(x, j)` under the fitted posterior `p`: less noisy,
//! and right as far as the posterior is. The triples are used to correct it,
//!
//! ```text
//!     E[L] = E[sum_j p(j | x) L(x, j)] + E[D],   D = L(x, y) - sum_j p(j | x) L(x, j),
//! ```
//!
//! the first over rows as they are, the second over triples: whatever depends on `x` alone comes from the rows, free of the
//! weights' noise, and where the posterior is right the second mean is zero whatever the triples are.
//!
//! Were all three rows drawn by absolute weight and the product of the signs carried along, the noise of three labels would multiply. Let
//! `P_v` be the rows of view `v` weighted by `W_-v,j` and `Q_v` by `p(j | x)`. To first order in how far these are apart
//!
//! ```text
//!     E_P1 P2 P3[D] = E_Q1 Q2 Q3[D] + sum_v E_(P_v - Q_v) Q_-v[D]:
//! ```
//!
//! only one row of a triple is drawn by labels, in proportion to `|W_-v,j - p(j | x)|`, and the others by the posterior. What is left out is
//! a product of two differences. On the presets `six` and `three` the error of the corrected error rate fell from 0.0061 and 0.0086 to
//! 0.0036 and 0.0039, and its standard error from 0.012 and 0.010 to 0.0033.
//!
//! Where there are more latent states than classes, all of this holds given the state: triples are drawn state by state, and are of the
//! state's class. States of the posterior are in another order than those of the labels, and triples are then drawn by absolute weight.
//!
//! The answer is the plug-in with as much of the correction `d` as stands out of its error `s`, a share `d^2 / (d^2 + s^2)`.
//! Its standard error is that of the triples: a posterior can be checked no better than they allow.

mod alone;
mod left_out;
mod prediction;
mod tally;
mod temperature;
mod triples;

use crate::answer::{Interval, share_believed};
use crate::data::Batch;
use crate::loss::Whole;
use crate::numeric::argmax;
use crate::numeric::linalg::softmax;
use crate::settings::limits::UNKNOWN_ERROR;
use crate::settings::metrics::{BETTER, DISAGREEMENT, FEWEST_OF_A_BIN, LEAST_GAIN};
use crate::settings::shrinkage::METRICS_CAUTION;
pub use alone::ViewMetrics;
pub(crate) use alone::{Alone, compared};
use left_out::LeftOut;
pub use prediction::PredictionMetrics;
use serde::Serialize;
use tally::Tally;
pub(crate) use tally::Values;
pub(crate) use triples::{Triples, by_row};

/// An estimate and how far it may be off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// The estimate.
    pub value: f64,
    /// Its standard error (jackknife over groups of rows).
    pub standard_error: f64,
    /// The interval of the population's value.
    pub interval: Interval,
}

/// A number about scores and classes, estimated in two ways.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// The answer: what the posterior says, corrected as far as the triples are sure of it.
    pub estimate: Measured,
    /// By triples of rows: consistent whatever the posterior is.
    pub triples: Measured,
    /// Under the fitted posterior: less noisy, and right as far as the posterior is.
    pub posterior: Measured,
    /// Under the model's own posterior, the softmax of the summed scores: what the model believes of itself.
    pub belief: f64,
    /// Whether the two ways disagree beyond their errors.
    pub disagree: bool,
}

/// The rows of which the model is about equally sure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bin {
    /// The mean probability of the class that is predicted, as the model has it.
    pub confidence: f64,
    /// How often that class is right.
    pub correct: Measured,
    /// The share of the rows.
    pub share: f64,
}

/// The class that the fitted posterior of all views finds likeliest, as a prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ByPosterior {
    /// How often it is wrong.
    pub error_rate: Metric,
    /// How much more often the model's own prediction is wrong, on the same rows.
    pub excess: Metric,
}

impl ByPosterior {
    /// Whether it is wrong less often than the model's own prediction, beyond the errors of both ways of estimating and by more than a trifle.
    pub fn is_better(&self) -> bool {
        let Metric { estimate, triples, .. } = &self.excess;
        let own = self.error_rate.estimate.value + estimate.value;
        let beyond = |excess: &Measured| {
            excess.value > BETTER * excess.standard_error && excess.value > LEAST_GAIN * own
        };
        beyond(estimate) && beyond(triples)
    }
}

/// The metrics of the whole prediction, which is the class with the largest summed score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Metrics {
    /// How often the prediction is wrong.
    pub error_rate: Metric,
    /// `sum_i (p_i - 1(y = i))^2` of the model's probabilities.
    pub brier: Metric,
    /// `(1 + max_(i != y) s_i - s_y)_+` of the summed scores.
    pub hinge: Metric,
    /// The expected calibration error: how far confidence and correctness are apart, in fifteen bins of confidence.
    pub calibration_error: Metric,
    /// The mean over classes of the harmonic mean of precision and recall.
    pub macro_f1: Metric,
    /// The mean over classes of the area under the curve of the class against the rest.
    pub auc: Metric,
    /// Row `i`, column `j`: of the rows of class `j`, the share that is predicted to be `i`; by triples.
    pub confusion: Vec<Vec<Measured>>,
    /// How sure the model is and how often it is right, in bins of confidence that have rows; by triples.
    pub calibration: Vec<Bin>,
    /// How often the class with the largest score of each view alone is wrong, of the rows that have the view.
    pub view_error: Vec<Measured>,
    /// How often the class with the largest score of a view alone is wrong at the least, on average over the views, whatever they have in
    /// common: where two of them differ one is wrong.
    pub floor: f64,
    /// What the class that the fitted posterior finds likeliest would do in place of the prediction; nothing where that is not known.
    pub by_posterior: Option<ByPosterior>,
    /// The rows that were looked at.
    pub rows: usize,
    /// Parts of them that the standard errors rest on.
    pub parts: usize,
    /// The mean absolute weight of a triple, for a distribution of mass one: the larger, the more the triples' errors
    /// cancel.
    pub mass: f64,
}

impl Metrics {
    /// All but the matrices, in the order that they are shown in.
    pub fn all(&self) -> [&Metric; 6] {
        [&self.error_rate, &self.brier, &self.hinge, &self.calibration_error, &self.macro_f1, &self.auc]
    }

    /// Of two classes the sensitivity, the share of the rows of the second class that are predicted to be of it, and the specificity, that of
    /// the first; by triples.
    pub fn sensitivity_and_specificity(&self) -> Option<[Measured; 2]> {
        match self.confusion.as_slice() {
            [negative, positive] => Some([positive[1], negative[0]]),
            _ => None,
        }
    }

    /// The one whose estimate is the mean of this loss.
    pub fn of(&self, loss: Whole) -> &Metric {
        match loss {
            Whole::Error => &self.error_rate,
            Whole::Brier => &self.brier,
        }
    }

    /// From triples of rows; intervals reach so many standard errors.
    pub(crate) fn new(triples: &Triples<'_>, reach: f64) -> Self {
        let k = triples.classes();
        let tally = Tally::new(k, &triples.row_scores());
        // Beside the tally, how often the posterior's own prediction is wrong.
        let wrong = tally.len();
        let sums = triples.means(wrong + 1, |views, posterior, weights, out| {
            tally.add(&triples.summed(views), weights, out);
            let right = weights[argmax(posterior.iter().copied())];
            out.push((wrong, weights.iter().sum::<f64>() - right));
        });
        let wrong = sums.each_ref().map(|sums| sums.map(|sums| sums[wrong]));
        let [posterior, corrected] = sums.map(|sums| sums.map(|sums| tally.values(&sums[..tally.len()])));
        let by_posterior = {
            let own = [&posterior, &corrected].map(|way| way.map(|all| all.error_rate));
            let excess = [own[0].less(&wrong[0]), own[1].less(&wrong[1])];
            let belief = wrong[0].whole;
            ByPosterior {
                error_rate: Metric::new("error rate", [&wrong[1], &wrong[0]], belief, reach).share(),
                excess: Metric::new("error rate", [&excess[1], &excess[0]], own[0].whole - belief, reach),
            }
        };
        let belief = tally.values(&triples.plain_mean(tally.len(), |views, out| {
            let scores = triples.summed(views);
            tally.add(&scores, &softmax(&scores), out);
        }));
        let metric = |name, of: fn(&Values) -> f64| {
            Metric::new(name, [&corrected.map(of), &posterior.map(of)], of(&belief), reach)
        };
        let cell = |i: usize, j: usize| corrected.measured(|all| all.confusion[i * k + j], reach).share();
        let bin = |at: usize| {
            let [confidence, _, share] = corrected.whole.calibration[at];
            let correct = |all: &Values| all.calibration[at][1] / all.calibration[at][2];
            let enough = share * triples.rows() as f64 >= FEWEST_OF_A_BIN;
            enough.then(|| Bin {
                confidence: confidence / share,
                correct: corrected.measured(correct, reach).share(),
                share,
            })
        };
        let right = triples.mean_labels(|scores| argmax(scores.iter().copied()));
        let wrong = |view: usize| right.measured(|right| 1.0 - right[view], reach).share();
        Self {
            error_rate: metric("error rate", |all| all.error_rate).share(),
            brier: metric("Brier score", |all| all.brier),
            hinge: metric("hinge loss", |all| all.hinge),
            calibration_error: metric("calibration error", |all| all.calibration_error).share(),
            macro_f1: metric("macro F1", |all| all.macro_f1).share(),
            auc: metric("AUC", |all| all.auc).share(),
            confusion: (0..k).map(|i| (0..k).map(|j| cell(i, j)).collect()).collect(),
            calibration: (0..corrected.whole.calibration.len()).filter_map(bin).collect(),
            view_error: (0..triples.scored()).map(wrong).collect(),
            floor: triples.floor(),
            by_posterior: Some(by_posterior),
            rows: triples.rows(),
            parts: triples.parts(),
            mass: triples.mass(),
        }
    }
}

impl Measured {
    /// The same of a share: no less than zero, no more than one.
    pub(crate) fn share(self) -> Self {
        self.in_range(0.0, 1.0)
    }

    /// The same of what is in a range. Where its interval is not, or its error is beyond reason, nothing is known.
    pub(crate) fn in_range(self, low: f64, high: f64) -> Self {
        let value = self.value.clamp(low, high);
        if self.standard_error <= UNKNOWN_ERROR && !self.interval.misses(low, high) {
            return Self { value, interval: self.interval.within(low, high), ..self };
        }
        Self { value, standard_error: f64::INFINITY, interval: Interval { low, high } }
    }
}

impl Metric {
    fn new(name: &'static str, ways: [&LeftOut<f64>; 2], belief: f64, reach: f64) -> Self {
        let [triples, posterior] = ways;
        let difference = triples.less(posterior);
        let (correction, error) = (difference.whole, difference.standard_error(|x| *x));
        let [triples, posterior] = [triples, posterior].map(|way| way.measured(|x| *x, reach));
        let share = share_believed(correction * correction, METRICS_CAUTION * error * error);
        let (value, standard_error) = (posterior.value + share * correction, triples.standard_error);
        let interval = Interval::around(value, reach, standard_error);
        let disagree = correction.abs() > DISAGREEMENT * error;
        let estimate = Measured { value, standard_error, interval };
        Self { name, estimate, triples, posterior, belief, disagree }
    }

    /// The same where what is not the posterior's may be off by so much more.
    fn widened(mut self, by: f64, reach: f64) -> Self {
        for measured in [&mut self.estimate, &mut self.triples] {
            measured.standard_error = measured.standard_error.hypot(by);
            measured.interval = Interval::around(measured.value, reach, measured.standard_error);
        }
        let correction = self.triples.value - self.posterior.value;
        self.disagree &= correction.abs() > DISAGREEMENT * by;
        self
    }

    /// The same of a share.
    fn share(self) -> Self {
        let [estimate, triples, posterior] =
            [self.estimate, self.triples, self.posterior].map(Measured::share);
        Self { estimate, triples, posterior, ..self }
    }
}

/// The mean of any loss of a row's scores, view by view, and a class.
pub(crate) fn mean_of(
    triples: &Triples<'_>,
    loss: impl Fn(&[&[f64]], usize) -> f64 + Sync,
    reach: f64,
) -> Metric {
    let add = |views: &[&[f64]], weights: &[f64], out: &mut Vec<(usize, f64)>| {
        out.clear();
        out.push((0, weights.iter().enumerate().map(|(class, weight)| weight * loss(views, class)).sum()));
    };
    let [posterior, corrected] = triples
        .means(1, |views, _, weights, out| add(views, weights, out))
        .map(|means| means.map(|means| means[0]));
    let belief = triples.plain_mean(1, |views, out| add(views, &softmax(&triples.summed(views)), out))[0];
    Metric::new("mean loss", [&corrected, &posterior], belief, reach)
}

/// The metrics of rows whose classes are known, in the order of [`Metrics::all`].
///
/// # Panics
/// When there is not one label a row, each below the number of classes.
pub fn labelled(batch: &Batch, labels: &[impl Copy + Into<usize>]) -> [f64; 6] {
    assert_eq!(batch.rows(), labels.len(), "one label a row");
    let (rows, k) = (batch.rows(), batch.k());
    let scores = by_row(rows, &batch.total());
    let tally = Tally::new(k, &scores);
    let (mut sums, mut added) = (vec![0.0; tally.len()], Vec::new());
    for (scores, &label) in scores.chunks_exact(k).zip(labels) {
        let mut weights = vec![0.0; k];
        weights[label.into()] = 1.0 / rows as f64;
        tally.add(scores, &weights, &mut added);
        added.iter().for_each(|(at, value)| sums[*at] += value);
    }
    let Values { error_rate, brier, hinge, calibration_error, macro_f1, auc, .. } = tally.values(&sums);
    [error_rate, brier, hinge, calibration_error, macro_f1, auc]
}
