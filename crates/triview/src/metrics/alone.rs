//! The metrics of each view as a model of its own.
//!
//! What a view says by itself is labelled by the others: `E[g(x_v, y)] = E[sum_j W_-v,j g(x_v, j)]` for any `g`, over rows as they are. No
//! triples are needed, and two views are compared on the same rows.

use super::Metric;
use super::left_out::LeftOut;
use super::tally::{Tally, Values};
use super::triples::Triples;
use crate::loss::Whole;
use crate::numeric::linalg::softmax;
use serde::Serialize;

/// The metrics of one view as a model of its own, over the rows that have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ViewMetrics {
    /// How often the class with the largest score is another than the row's.
    pub error_rate: Metric,
    /// `sum_i (p_i - 1(y = i))^2` of the view's probabilities.
    pub brier: Metric,
    /// How far confidence and correctness are apart, in fifteen bins of confidence.
    pub calibration_error: Metric,
    /// The mean over classes of the area under the curve of the class against the rest.
    pub auc: Metric,
}

impl ViewMetrics {
    /// All of them, in the order that they are shown in.
    pub fn all(&self) -> [&Metric; 4] {
        [&self.error_rate, &self.brier, &self.calibration_error, &self.auc]
    }

    /// The one whose estimate is the mean of this loss.
    pub fn of(&self, loss: Whole) -> &Metric {
        match loss {
            Whole::Error => &self.error_rate,
            Whole::Brier => &self.brier,
        }
    }
}

/// The same in all ways of leaving rows out.
pub(crate) struct Alone {
    /// By the other views' surrogate labels.
    labelled: LeftOut<Values>,
    /// Under the fitted posterior.
    posterior: LeftOut<Values>,
    /// Under the view's own probabilities.
    belief: Values,
}

impl Alone {
    pub(crate) fn new(triples: &Triples<'_>, view: usize) -> Self {
        let k = triples.classes();
        let present = triples.rows_with(view);
        let scores: Vec<f64> = present.iter().flat_map(|&row| triples.of_view(view, row)).copied().collect();
        let tally = Tally::new(k, &scores);
        let unit = |row: usize, class: usize, out: &mut Vec<(usize, f64)>| {
            let mut weights = vec![0.0; k];
            weights[class] = 1.0;
            tally.add(triples.of_view(view, row), &weights, out);
        };
        let [labelled, posterior] = triples
            .labelled_means(view, &present, tally.len(), unit)
            .map(|means| means.map(|sums| tally.values(sums)));
        let (mut sums, mut added) = (vec![0.0; tally.len()], Vec::new());
        for scores in scores.chunks_exact(k) {
            let weights: Vec<f64> = softmax(scores).iter().map(|p| p / present.len() as f64).collect();
            tally.add(scores, &weights, &mut added);
            added.iter().for_each(|(at, value)| sums[*at] += value);
        }
        Self { labelled, posterior, belief: tally.values(&sums) }
    }

    fn metric(&self, name: &'static str, of: fn(&Values) -> f64, reach: f64) -> Metric {
        Metric::new(name, [&self.labelled.map(of), &self.posterior.map(of)], of(&self.belief), reach)
    }

    /// With intervals that reach so many standard errors.
    pub(crate) fn metrics(&self, reach: f64) -> ViewMetrics {
        ViewMetrics {
            error_rate: self.metric("error rate", |all| all.error_rate, reach).share(),
            brier: self.metric("Brier score", |all| all.brier, reach),
            calibration_error: self.metric("calibration error", |all| all.calibration_error, reach).share(),
            auc: self.metric("AUC", |all| all.auc, reach).share(),
        }
    }
}

/// A number about one view less that about another, on the same rows.
pub(crate) fn compared([one, other]: [&Alone; 2], of: fn(&Values) -> f64, reach: f64) -> Metric {
    let difference = |own: &LeftOut<Values>, other: &LeftOut<Values>| own.map(of).less(&other.map(of));
    let [labelled, posterior] =
        [difference(&one.labelled, &other.labelled), difference(&one.posterior, &other.posterior)];
    let belief = of(&one.belief) - of(&other.belief);
    Metric::new("difference", [&labelled, &posterior], belief, reach)
}
