//! What is known class by class, view by view, and by how sure the model is.

use super::risk::share;
use super::{MOST_CLASSES, foremost, left_out};
use crate::draw::{Chart, Dots, Mark, Panel, Point, Reference, Series, Spread};
use crate::text::{Share, plain};
use triview::answer::Interval;
use triview::estimator::Estimate;
use triview::metrics::{Measured, Metrics};

/// The mark of an answer's numbers.
fn mark(estimate: &Estimate) -> Mark {
    if estimate.trusted() { Mark::Own } else { Mark::Doubted }
}

/// How often a class is taken for another: of the rows that truly are of it.
fn missed(metrics: &Metrics, class: usize) -> Measured {
    let Measured { value, standard_error, interval } = metrics.confusion[class][class];
    let interval = Interval { low: 1.0 - interval.high, high: 1.0 - interval.low };
    Measured { value: 1.0 - value, standard_error, interval }
}

/// How often each class is taken for another, and how often it occurs.
pub(crate) fn classes(estimate: &Estimate, metrics: &Metrics) -> Dots {
    let k = estimate.classes.len();
    let shown = foremost(k, MOST_CLASSES, |j| estimate.class_prior[j] * missed(metrics, j).value);
    let worst = shown.iter().max_by(|a, b| missed(metrics, **a).value.total_cmp(&missed(metrics, **b).value));
    let worst = worst.map_or(String::new(), |&j| {
        let rate = Share(missed(metrics, j).value);
        format!(" The class that is missed most often is {}: {rate} of its rows.", estimate.classes[j])
    });
    let dots =
        |of: &dyn Fn(usize) -> Measured| shown.iter().map(|&j| Some(share(&of(j), mark(estimate)))).collect();
    let prior = |j: usize| prior_of(estimate, j);
    Dots {
        title: "How often each class is missed, and how often it occurs".to_owned(),
        description: format!("Dots with intervals, one row a class.{worst}"),
        kind: "class".to_owned(),
        note: left_out(shown.len(), k, "classes"),
        rows: shown.iter().map(|&j| estimate.classes[j].clone()).collect(),
        panels: vec![
            Panel {
                title: "missed".to_owned(),
                share: true,
                dots: dots(&|j| missed(metrics, j)),
                ..Panel::default()
            },
            Panel { title: "share of rows".to_owned(), share: true, dots: dots(&prior), ..Panel::default() },
        ],
    }
}

fn prior_of(estimate: &Estimate, class: usize) -> Measured {
    let interval = estimate.class_prior_interval[class];
    let (low, high) = (interval.low.max(0.0), interval.high.min(1.0));
    let value = estimate.class_prior[class];
    Measured { value, standard_error: f64::NAN, interval: Interval { low, high } }
}

/// How often each class occurs, where more is not known.
pub(crate) fn prior(estimate: &Estimate) -> Dots {
    let all: Vec<Measured> = (0..estimate.classes.len()).map(|j| prior_of(estimate, j)).collect();
    shares("class", &estimate.classes, &all, estimate.trusted())
}

/// How often each of some kinds occurs.
pub(crate) fn shares(kind: &str, names: &[String], all: &[Measured], trusted: bool) -> Dots {
    let shown = foremost(names.len(), MOST_CLASSES, |j| all[j].value);
    let mark = if trusted { Mark::Own } else { Mark::Doubted };
    Dots {
        title: format!("How often each {kind} occurs"),
        description: format!("Dots with intervals, one row a {kind}."),
        kind: kind.to_owned(),
        note: left_out(shown.len(), names.len(), "names"),
        rows: shown.iter().map(|&j| names[j].clone()).collect(),
        panels: vec![Panel {
            title: "share".to_owned(),
            share: true,
            line: None,
            dots: shown.iter().map(|&j| Some(share(&all[j], mark))).collect(),
        }],
    }
}

/// How often each view alone is wrong, beside all of them together.
pub(crate) fn views(estimate: &Estimate, metrics: &Metrics) -> Dots {
    let shown = foremost(metrics.view_error.len(), MOST_CLASSES, |v| metrics.view_error[v].value);
    let whole = metrics.error_rate.estimate.value;
    let dots = shown.iter().map(|&v| Some(share(&metrics.view_error[v], mark(estimate)))).collect();
    Dots {
        title: "How often each view alone is wrong".to_owned(),
        description: format!(
            "Dots with intervals, one row a view; the line is the error rate of all views together, {}.",
            Share(whole)
        ),
        kind: "view".to_owned(),
        note: left_out(shown.len(), metrics.view_error.len(), "views"),
        rows: shown.iter().map(|&v| estimate.views[v].clone()).collect(),
        panels: vec![Panel {
            title: "error rate".to_owned(),
            share: true,
            line: Some(("all together".to_owned(), whole)),
            dots,
        }],
    }
}

/// How often the model is right, by how sure it is.
pub(crate) fn calibration(metrics: &Metrics) -> Chart {
    let point = |bin: &triview::metrics::Bin| {
        Point::new(bin.confidence, bin.correct.value).between(bin.correct.interval)
    };
    let bins = &metrics.calibration;
    let ends = bins.iter().map(|bin| bin.confidence);
    let (low, high) = (ends.clone().fold(1.0, f64::min), ends.fold(0.0, f64::max));
    Chart {
        title: "How often the model is right when it is so sure".to_owned(),
        description: format!(
            "A curve with error bars over the model\u{2019}s confidence, beside the diagonal where both are the same. The calibration \
             error is {}.",
            plain(metrics.calibration_error.estimate.value)
        ),
        note: "Below the dashed line the model is surer than it is right.".to_owned(),
        x_label: "confidence".to_owned(),
        y_label: "share that is right".to_owned(),
        series: vec![Series {
            name: "right".to_owned(),
            points: bins.iter().map(point).collect(),
            spread: Spread::Bars,
        }],
        reference: (low < high).then(|| Reference {
            name: "as sure as right".to_owned(),
            from: (low, low),
            to: (high, high),
        }),
        ..Chart::default()
    }
}
