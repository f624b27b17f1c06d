//! The text of each view as a model of its own.

use super::number::with_error;
use super::range;
use super::table::{Align, WIDTH, aligned, name, wrapped};
use triview::answer::Interval;
use triview::estimator::{Difference, Each, EachView, Estimate};
use triview::loss::Whole;
use triview::metrics::{Measured, ViewMetrics};

/// Room for the name of a view.
const VIEW_WIDTH: usize = 20;

/// What every view is worth by itself, and how far it is from the best.
pub fn each(estimate: &Estimate, each: &Each) -> String {
    // A loss of the whole prediction is one of the metrics.
    let of_views = Whole::named(&estimate.loss).is_none();
    let loss = of_views.then(|| format!("{} loss", name(&estimate.loss, 12)));
    let metrics = ["error rate", "Brier score", "calibration error", "AUC"].map(str::to_owned);
    let columns = metrics.len();
    let mut rows: Vec<Vec<String>> =
        vec![["view alone".to_owned()].into_iter().chain(loss).chain(metrics).collect()];
    let shown = |measured: Option<&Measured>| {
        measured.map_or("none".to_owned(), |it| with_error(it.value, it.standard_error))
    };
    rows.extend(each.views.iter().map(|EachView { view, risk, metrics }| {
        let metrics = metrics.as_ref().map(ViewMetrics::all);
        let of_predictions = (0..columns).map(|at| shown(metrics.map(|all| &all[at].estimate)));
        let risk = of_views.then(|| shown(risk.as_ref()));
        [name(view, VIEW_WIDTH)].into_iter().chain(risk).chain(of_predictions).collect()
    }));
    let mut align = vec![Align::Right; rows[0].len()];
    align[0] = Align::Left;
    let mut parts = vec![aligned(&align, rows)];
    if !estimate.trusted() && !each.differences.is_empty() {
        parts.push("Which of them is better is not said: the answer is not to be trusted.".to_owned());
    } else if let Some(best) = best(each) {
        let lines: Vec<String> =
            each.differences.iter().filter_map(|pair| to_the_best(each, pair, best)).collect();
        parts.push(lines.join("\n"));
    }
    parts.join("\n\n") + "\n"
}

/// The view that no other is better than.
pub(crate) fn best(each: &Each) -> Option<usize> {
    let beaten = |view: &usize| {
        each.differences
            .iter()
            .any(|pair| pair.views.contains(view) && pair.better.is_none_or(|better| better != *view))
    };
    (0..each.views.len()).find(|view| !beaten(view))
}

/// How far a view is from the best, and with what confidence that is the better one.
fn to_the_best(each: &Each, pair: &Difference, best: usize) -> Option<String> {
    let [first, second] = pair.views;
    let (other, sign) = if second == best { (first, 1.0) } else { (second, -1.0) };
    if ![first, second].contains(&best) {
        return None;
    }
    let said = |what: &str, measured: Measured| {
        let Interval { low, high } = measured.interval;
        let interval = if sign > 0.0 { measured.interval } else { Interval { low: -high, high: -low } };
        let value = with_error(sign * measured.value, measured.standard_error);
        format!("the {what} is {value} ({}) higher", range(interval))
    };
    let risk = pair.risk.filter(|risk| Some(*risk) != pair.error_rate);
    let differences: Vec<String> = [("error rate", pair.error_rate), ("risk", risk)]
        .into_iter()
        .filter_map(|(what, measured)| Some(said(what, measured?)))
        .collect();
    let [best, other] = [best, other].map(|view| name(&each.views[view].view, VIEW_WIDTH));
    let confidence = match pair.confidence? {
        sure if sure > 0.999 => "more than 99.9%".to_owned(),
        confidence => format!("{:.1}%", 100.0 * confidence),
    };
    let words = format!(
        "{best} is better than {other} with {confidence} confidence: of {other} {}",
        differences.join(", ")
    );
    Some(wrapped(&words, WIDTH, 2))
}
