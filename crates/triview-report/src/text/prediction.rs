//! The text of another model's output, and of the prediction that would be better than the model's own.

use super::number::{plain, with_error};
use super::range;
use super::share::Share;
use super::table::{Align, WIDTH, aligned, wrapped};
use triview::answer::Interval;
use triview::estimator::Estimate;
use triview::metrics::{ByPosterior, Metric, PredictionMetrics};

/// What the output of another model is worth: one line a metric.
pub fn prediction(metrics: &PredictionMetrics) -> String {
    let header = ["prediction", "estimate", "interval", "by labels", "by the posterior", "its own belief"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(metrics.all().map(|metric: &Metric| {
        let [estimate, labels, posterior] = [&metric.estimate, &metric.triples, &metric.posterior]
            .map(|measured| with_error(measured.value, measured.standard_error));
        let belief = if metric.belief.abs() < 1e-12 { 0.0 } else { metric.belief };
        let interval = range(metric.estimate.interval);
        vec![metric.name.to_owned(), estimate, interval, labels, posterior, plain(belief)]
    }));
    let mut align = [Align::Right; 6];
    align[0] = Align::Left;
    let mut parts = vec![aligned(&align, rows)];
    parts.push(wrapped(&knowing_no_more(metrics), WIDTH, 2));
    parts.extend(disagreement(metrics).map(|words| wrapped(&words, WIDTH, 2)));
    parts.join("\n\n") + "\n"
}

/// What all this takes for granted, and what holds without it.
pub(crate) fn knowing_no_more(metrics: &PredictionMetrics) -> String {
    let Interval { low, high } = metrics.error_rate_whatever_known;
    let [low, high] = [low, high].map(|share| Share(share).to_string());
    format!(
        "All of this holds if the model knows no more of the class than the views' scores say, as an average of theirs does; a network that sees the rows \
         themselves may know more. Whatever it knows, its error rate is from {low} to {high}."
    )
}

/// Of which metrics the two ways of estimating disagree, where they do.
pub(crate) fn disagreement(metrics: &PredictionMetrics) -> Option<String> {
    let disagree: Vec<&str> =
        metrics.all().into_iter().filter(|metric| metric.disagree).map(|metric| metric.name).collect();
    (!disagree.is_empty()).then(|| {
        format!(
            "By labels and by the posterior they disagree beyond their errors: {}; the posterior is not right there.",
            disagree.join(", ")
        )
    })
}

/// That the posterior of all views would be a better prediction than the summed scores, where it would.
pub fn better(estimate: &Estimate) -> Option<String> {
    let ByPosterior { error_rate, .. } = estimate.better_prediction()?;
    let own = &estimate.metrics.as_ref().ok()?.error_rate.estimate;
    let [better, own] =
        [&error_rate.estimate, own].map(|measured| with_error(measured.value, measured.standard_error));
    Some(format!(
        "The class that all views together make likeliest would be wrong {better} of the time, the class with the largest summed score is {own} of the \
         time. Probabilities of several models that are multiplied count the class prior once a model; what the views imply is written by `label`."
    ))
}
