//! The risk and the error rate with their intervals.

use crate::draw::{Dot, Dots, Mark, Panel};
use crate::text::{Share, name, plain, range};
use triview::answer::Interval;
use triview::estimator::Estimate;
use triview::estimator::few_labels::{ByLabels, Labelled};
use triview::metrics::Measured;

/// A number with its interval.
pub(crate) fn measured(measured: &Measured, mark: Mark) -> Dot {
    let Measured { value, interval, .. } = *measured;
    Dot { value, interval: Some(interval), label: plain(value), mark }
}

/// The same of a share, in percent.
pub(crate) fn share(measured: &Measured, mark: Mark) -> Dot {
    let Measured { value, interval, .. } = *measured;
    Dot { value, interval: Some(interval), label: Share(value).within(interval), mark }
}

/// A share of which nothing more is known.
fn alone(value: f64) -> Dot {
    Dot { value, interval: None, label: Share(value).to_string(), mark: Mark::Other }
}

/// The risk beside the error rate, and beside what the model believes of itself; with labels what they say, and what was said without.
pub(crate) fn risk(estimate: &Estimate, labelled: Option<&Labelled>) -> Dots {
    let mark = if estimate.trusted() { Mark::Own } else { Mark::Doubted };
    let Estimate { risk: value, standard_error, interval, .. } = *estimate;
    let own = Measured { value, standard_error, interval };
    let error_rate = estimate.metrics.as_ref().ok().map(|metrics| &metrics.error_rate);
    let mut rows = vec![(
        if labelled.is_some() { "without labels" } else { "estimate" },
        Some(measured(&own, mark)),
        error_rate.map(|rate| share(&rate.estimate, mark)),
    )];
    // What was seen is more than what cannot be: an answer that is not to be trusted has its own interval alone.
    if let Some(interval) = estimate.wider_interval.filter(|_| estimate.trusted()) {
        let wider = |own: &Measured, interval: Interval| Measured { interval, ..*own };
        let rate = error_rate.zip(estimate.wider_error_rate);
        rows.push((
            "if views share more",
            Some(measured(&wider(&own, interval), Mark::Other)),
            rate.map(|(rate, interval)| share(&wider(&rate.estimate, interval), Mark::Other)),
        ));
    }
    if let Some(labelled) = labelled {
        let mark = if labelled.trusted() { Mark::Own } else { Mark::Doubted };
        let row = |name: &'static str, of: &dyn Fn(&ByLabels) -> Option<Measured>, mark: Mark| {
            let [risk, rate] = [&labelled.risk, &labelled.error_rate].map(of);
            (name, risk.map(|risk| measured(&risk, mark)), rate.map(|rate| share(&rate, mark)))
        };
        let valid = |of: &ByLabels| Some(of.valid.as_ref()?.estimate);
        let mut by_labels = vec![row("estimate", &|of| Some(of.leading), mark)];
        if labelled.recalibration.is_some() {
            by_labels.push(row("recalibrated", &|of| of.recalibrated, Mark::Other));
            by_labels.push(row("whatever views do", &valid, Mark::Other));
        }
        rows.splice(0..0, by_labels);
        rows.push(row("labels alone", &|of| Some(of.valid.as_ref()?.alone), Mark::Other));
    }
    if let Some(rate) = error_rate {
        rows.push(("model\u{2019}s belief", None, Some(alone(rate.belief))));
    }
    let loss = name(&estimate.loss, 20);
    let (of_error, labels) = (estimate.loss == "error", labelled.is_some());
    let first = labelled.map_or(own, |labelled| labelled.risk.leading);
    let first_rate =
        labelled.map(|it| it.error_rate.leading).or_else(|| error_rate.map(|rate| rate.estimate));
    let said = format!(
        "Dots with intervals: the risk is {} ({}), {}.",
        plain(first.value),
        range(first.interval),
        match first_rate {
            Some(rate) => format!("the error rate {}", Share(rate.value).between(rate.interval)),
            None => "the error rate is not known".to_owned(),
        }
    );
    let mut panels = Vec::new();
    if !of_error {
        let dots = rows.iter().map(|(_, risk, _)| risk.clone()).collect();
        panels.push(Panel { title: format!("{loss} risk"), dots, ..Panel::default() });
    }
    if error_rate.is_some() || labels {
        let dots = rows.iter().map(|(_, _, rate)| rate.clone()).collect();
        panels.push(Panel { title: "error rate".to_owned(), share: true, dots, ..Panel::default() });
    }
    Dots {
        title: if of_error { "The error rate".to_owned() } else { "The risk and the error rate".to_owned() },
        description: said,
        kind: "by".to_owned(),
        note: interval_note(estimate.level, own.interval),
        rows: rows.iter().map(|(name, ..)| (*name).to_owned()).collect(),
        panels,
    }
}

/// What the lines through the dots are.
fn interval_note(level: f64, interval: Interval) -> String {
    match (interval.high - interval.low).is_finite() {
        true => format!("Lines are intervals of {} confidence.", crate::text::percent(level)),
        false => "How far the risk may be off is not known.".to_owned(),
    }
}
