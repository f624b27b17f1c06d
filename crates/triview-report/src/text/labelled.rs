//! The text of what a few labels say.

use super::estimate::{not_to_be_trusted, percent, range};
use super::number::{count, plain, with_error};
use super::table::{Align, WIDTH, aligned, facts, name, names, wrapped};
use crate::words::Front;
use triview::estimator::Estimate;
use triview::estimator::few_labels::{Labelled, Naming, Powered, SoftMap};
use triview::metrics::Measured;

/// Room for the name of a class.
const CLASS_WIDTH: usize = 12;
/// So many classes of the soft map are shown.
const SHOWN_CLASSES: usize = 6;

/// How many labels would bring the interval to a width.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// The width asked for.
    pub width: f64,
    /// How many there are.
    pub present: u64,
    /// How many it takes in all, where any number would do.
    pub labels: Option<u64>,
    /// The width if all rows had labels.
    pub smallest: f64,
}

impl Budget {
    /// How many are still to be had.
    pub fn more(&self) -> Option<u64> {
        self.labels.map(|labels| labels.saturating_sub(self.present))
    }
}

/// What the labels say; the estimate without them comes after.
pub fn labelled(estimate: &Estimate, labelled: &Labelled, front: Front) -> String {
    let mut parts: Vec<String> = not_to_be_trusted(&labelled.alarms, front, false).into_iter().collect();
    parts.push(facts(&labels_said(estimate, labelled)));
    parts.extend(labelled.soft_map.as_ref().map(|map| soft_map(estimate, map)));
    parts.push("Without the labels:".to_owned());
    parts.join("\n\n") + "\n\n"
}

/// What the labels say, one to a line.
pub(crate) fn labels_said(estimate: &Estimate, labelled: &Labelled) -> Vec<(&'static str, String)> {
    let Labelled { labels, level, risk, error_rate, agreement, .. } = labelled;
    let (count, confidence) = (count(*labels as u64), percent(*level));
    let loss = name(&estimate.loss, 20);
    let mean = |of: &Powered| with_error(of.estimate.value, of.estimate.standard_error);
    let alone = |of: &Powered| with_error(of.alone.value, of.alone.standard_error);
    let naming = match agreement.naming {
        Naming::Confirmed => "the labels confirm it".to_owned(),
        Naming::Undecided => "the labels do not decide it".to_owned(),
        Naming::Contradicted => {
            let other = |(class, &called): (usize, &usize)| {
                let [from, to] = [class, called].map(|class| name(&estimate.classes[class], CLASS_WIDTH));
                (class != called).then(|| format!("{from} is {to}"))
            };
            let others: Vec<String> = agreement.names.iter().enumerate().filter_map(other).collect();
            format!("the labels contradict it: {}", names(&others, WIDTH - 45))
        }
    };
    let mut lines = vec![
        (
            "risk",
            format!("{}  ({loss} loss, by {count} labels and what is imputed to other rows)", mean(risk)),
        ),
        (
            "interval",
            format!("{}  ({confidence} confidence, whatever the views do)", range(risk.estimate.interval)),
        ),
        ("error rate", format!("{}   {}", mean(error_rate), range(error_rate.estimate.interval))),
        ("labels alone", format!("risk {}, error rate {}", alone(risk), alone(error_rate))),
    ];
    if let Some(by) = &labelled.recalibrated {
        let [risk, error] = [&by.risk, &by.error_rate];
        let mean = |of: &Measured| with_error(of.value, of.standard_error);
        let origin = by.origin.name();
        lines.push((
            "recalibrated",
            format!("risk {}, error rate {}   {}", mean(risk), mean(error), range(error.interval)),
        ));
        lines.push((
            "",
            format!(
                "(if {origin}, made {} times as sure by the labels, is about right)",
                plain(by.sharpness)
            ),
        ));
    }
    lines.extend([
        (
            "weight",
            format!(
                "{} of what is imputed, {} for the error rate",
                plain(risk.weight),
                plain(error_rate.weight)
            ),
        ),
        ("naming", naming),
        (
            "agreement",
            format!(
                "{:.1}% of the labels are the likeliest class; {:.1}% is expected",
                100.0 * agreement.share,
                100.0 * agreement.expected
            ),
        ),
    ]);
    if let Some(z) = agreement.z {
        let verdict = if z.abs() > 3.0 { "they contradict each other" } else { "they agree" };
        lines.push(("without labels", format!("the risk is {z:+.1} standard errors off: {verdict}")));
    }
    lines
}

/// The probability of each class given each latent state.
fn soft_map(estimate: &Estimate, map: &SoftMap) -> String {
    let shown = estimate.classes.len().min(SHOWN_CLASSES);
    let mut rows = vec![
        ["state".to_owned()]
            .into_iter()
            .chain(estimate.classes[..shown].iter().map(|class| name(class, CLASS_WIDTH)))
            .collect::<Vec<_>>(),
    ];
    rows.extend(map.probability.iter().enumerate().map(|(state, classes)| {
        [(state + 1).to_string()]
            .into_iter()
            .chain(classes[..shown].iter().map(|p| format!("{p:.3}")))
            .collect()
    }));
    let risk = with_error(map.risk.value, map.risk.standard_error);
    format!(
        "P(class | latent state) by the labels; the risk under it is {risk} (the labels' error alone)\n\n{}",
        aligned(&vec![Align::Right; shown + 1], rows)
    )
}

/// How many labels would do.
pub fn budget(budget: &Budget, trusted: bool) -> String {
    let width = plain(budget.width);
    let mut text = match (budget.labels, budget.more()) {
        (Some(_), Some(0)) => {
            format!("label budget: the labels there are bring the interval to a width of {width}.")
        }
        (Some(labels), Some(more)) => format!(
            "label budget: {} labels in all, {} more, of rows drawn at random, bring the interval of the risk to a width of \
             about {width}.",
            count(labels),
            count(more)
        ),
        _ => format!(
            "label budget: no number of labels of these rows brings the interval to a width of {width}; with all of them it \
             is {}.",
            plain(budget.smallest)
        ),
    };
    if budget.present == 0 {
        text += " This is by the fitted posterior alone";
        text += if trusted {
            "."
        } else {
            ", which is not to be trusted here: label some 50 rows and ask again."
        };
    }
    wrapped(&text, WIDTH, 0) + "\n"
}
