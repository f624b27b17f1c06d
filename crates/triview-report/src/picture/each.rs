//! Each view as a model of its own, drawn.

use super::{MOST_CLASSES, foremost, left_out, measured, share};
use crate::draw::{Dots, Mark, Panel};
use triview::estimator::{Each, Estimate};

/// The risk and the error rate of each view by itself, beside those of what is judged.
pub(crate) fn each(estimate: &Estimate, each: &Each) -> Dots {
    let rate = |v: usize| each.views[v].metrics.as_ref().map(|of| of.error_rate.estimate);
    let shown = foremost(each.views.len(), MOST_CLASSES, |v| rate(v).map_or(0.0, |rate| rate.value));
    let mark = if estimate.trusted() { Mark::Own } else { Mark::Doubted };
    let whole = estimate.metrics.as_ref().ok().map(|metrics| metrics.error_rate.estimate.value);
    let judged = estimate.model.as_ref().map_or("all together".to_owned(), |views| views.join("+"));
    let rates = Panel {
        title: "error rate".to_owned(),
        share: true,
        line: whole.map(|whole| (judged, whole)),
        dots: shown.iter().map(|&v| rate(v).map(|rate| share(&rate, mark))).collect(),
    };
    let risks = Panel {
        title: format!("{} loss", estimate.loss),
        dots: shown.iter().map(|&v| each.views[v].risk.map(|risk| measured(&risk, mark))).collect(),
        ..Panel::default()
    };
    Dots {
        title: "Each view as a model of its own".to_owned(),
        description: "Dots with intervals, one row a view: how often it is wrong by itself, and its loss."
            .to_owned(),
        kind: "view".to_owned(),
        note: left_out(shown.len(), each.views.len(), "views"),
        rows: shown.iter().map(|&v| each.views[v].view.clone()).collect(),
        panels: [rates, risks].into_iter().filter(|panel| panel.dots.iter().any(Option::is_some)).collect(),
    }
}
