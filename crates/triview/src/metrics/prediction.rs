//! The metrics of another model's output that rides along with the rows.
//!
//! An average of probabilities or a joint network is no sum of views: its output is a function of all of them at once, known for the rows that there
//! are. See `Triples::joint_means`.
//!
//! All of it takes the output to say no more of the class than the views' scores do: given these it is independent of the class. An average of the views'
//! probabilities is; a network that looks at the rows themselves may know more, and nothing in rows without labels tells knowledge from error. What holds
//! whatever it knows is an inequality. Let `m` be the class that the views' posterior finds likeliest, `e_m` how often that is wrong, and `d` how often the output
//! says another class. Where the two differ at least one is wrong, and where they agree both are wrong or neither is, so the output's error rate is
//! from `|e_m - d|` to `e_m + d`.

use super::left_out::LeftOut;
use super::tally::{Tally, Values};
use super::triples::{Triples, by_row};
use super::{Metric, Metrics};
use crate::answer::Interval;
use crate::numeric::argmax;
use crate::numeric::linalg::softmax;
use crate::settings::metrics::{LOG_LOSS_OF_ERRORS, SMALLEST_PROBABILITY};
use serde::Serialize;

/// The metrics of a model that is no sum of the views, of which only the output is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictionMetrics {
    /// How often the class with the largest probability is another than the row's.
    pub error_rate: Metric,
    /// The mean of minus the logarithm of the true class's probability; probabilities below 1e-15 count as that.
    pub log_loss: Metric,
    /// `sum_i (p_i - 1(y = i))^2` of the probabilities.
    pub brier: Metric,
    /// How far confidence and correctness are apart, in fifteen bins of confidence.
    pub calibration_error: Metric,
    /// The mean over classes of the area under the curve of the class against the rest.
    pub auc: Metric,
    /// Where the error rate is, whatever the model knows of the class beyond what the views say.
    pub error_rate_whatever_known: Interval,
}

/// The metrics, and the log loss beside them.
type All = (Values, f64);

/// What scores are worth that are known for the rows that there are.
struct Judged {
    corrected: LeftOut<All>,
    posterior: LeftOut<All>,
    belief: All,
}

impl Judged {
    /// Of scores row by row.
    fn new(triples: &Triples<'_>, scores: &[f64]) -> Self {
        let (k, rows) = (triples.classes(), triples.rows());
        let tally = Tally::new(k, scores);
        let log_loss = tally.len();
        let add = |row: usize, weights: &[f64], out: &mut Vec<(usize, f64)>| {
            let scores = &scores[row * k..(row + 1) * k];
            tally.add(scores, weights, out);
            let losses = softmax(scores).into_iter().zip(weights);
            out.push((log_loss, losses.map(|(p, weight)| -p.max(SMALLEST_PROBABILITY).ln() * weight).sum()));
        };
        let values = |sums: &Vec<f64>| (tally.values(&sums[..log_loss]), sums[log_loss]);
        let [posterior, corrected] = triples
            .joint_means(log_loss + 1, |row, class, out| {
                let mut weights = vec![0.0; k];
                weights[class] = 1.0;
                add(row, &weights, out);
            })
            .map(|means| means.map(values));
        let (mut sums, mut added) = (vec![0.0; log_loss + 1], Vec::new());
        for row in 0..rows {
            let own = softmax(&scores[row * k..(row + 1) * k]);
            add(row, &own.iter().map(|p| p / rows as f64).collect::<Vec<_>>(), &mut added);
            added.iter().for_each(|(at, value)| sums[*at] += value);
        }
        Self { corrected, posterior, belief: values(&sums) }
    }

    fn metric(&self, name: &'static str, of: fn(&All) -> f64, reach: f64) -> Metric {
        Metric::new(name, [&self.corrected.map(of), &self.posterior.map(of)], of(&self.belief), reach)
    }
}

impl PredictionMetrics {
    /// Of probabilities that lie class by class; intervals reach so many standard errors. How far the same way is off for the summed scores, of which triples
    /// know better, counts as an error: a fitted posterior knows less of a row than the views say, and a prediction looks the worse for it.
    pub(crate) fn new(triples: &Triples<'_>, probabilities: &[f64], whole: &Metrics, reach: f64) -> Self {
        let scores = by_row(triples.rows(), probabilities);
        let scores: Vec<f64> = scores.into_iter().map(|p| p.max(SMALLEST_PROBABILITY).ln()).collect();
        let own = Judged::new(triples, &scores);
        let summed = Judged::new(triples, &triples.row_scores()).corrected.whole.0;
        let off = |value: f64, metric: &Metric| (value - metric.triples.value).abs();
        let error_rate = off(summed.error_rate, &whole.error_rate);
        let brier = off(summed.brier, &whole.brier);
        // A log loss moves about twice as far as what is wrong.
        let log_loss = LOG_LOSS_OF_ERRORS * error_rate.max(brier);
        let calibration_error = off(summed.calibration_error, &whole.calibration_error).max(error_rate);
        let auc = off(summed.auc, &whole.auc);
        let metric = |name, of: fn(&All) -> f64, off: f64| own.metric(name, of, reach).widened(off, reach);
        Self {
            error_rate: metric("error rate", |all| all.0.error_rate, error_rate).share(),
            log_loss: metric("log loss", |all| all.1, log_loss),
            brier: metric("Brier score", |all| all.0.brier, brier),
            calibration_error: metric("calibration error", |all| all.0.calibration_error, calibration_error)
                .share(),
            auc: metric("AUC", |all| all.0.auc, auc).share(),
            error_rate_whatever_known: whatever_known(triples, &scores, whole),
        }
    }

    /// All of them, in the order that they are shown in.
    pub fn all(&self) -> [&Metric; 5] {
        [&self.error_rate, &self.log_loss, &self.brier, &self.calibration_error, &self.auc]
    }
}

/// Where the error rate of scores is, row by row, that may know more of the class than the views say.
fn whatever_known(triples: &Triples<'_>, scores: &[f64], whole: &Metrics) -> Interval {
    let Some(by_posterior) = &whole.by_posterior else { return Interval { low: 0.0, high: 1.0 } };
    let best = |of_row: &[f64]| argmax(of_row.iter().copied());
    let (k, posteriors) = (triples.classes(), triples.row_posteriors());
    let rows = posteriors.chunks_exact(k).zip(scores.chunks_exact(k));
    let differ = rows.filter(|(p, scores)| best(p) != best(scores)).count() as f64 / triples.rows() as f64;
    let Interval { low, high } = by_posterior.error_rate.estimate.interval;
    let least = (differ - high).max(low - differ).max(0.0);
    Interval { low: least, high: high + differ }.within(0.0, 1.0)
}
