//! The text of what a few labels say.

use super::estimate::{not_to_be_trusted, percent, range};
use super::number::{count, plain, with_error};
use super::table::{Align, WIDTH, aligned, facts, name, names, wrapped};
use crate::words::{Front, Subject};
use triview::answer::Interval;
use triview::estimator::Estimate;
use triview::estimator::few_labels::{ByLabels, Labelled, Lead, ModelByLabels, Naming, SoftMap};
use triview::metrics::Measured;

/// Room for the name of a class.
const CLASS_WIDTH: usize = 12;
/// Room for the name of a view.
const VIEW_WIDTH: usize = 20;
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
    let mut parts: Vec<String> =
        not_to_be_trusted(&labelled.alarms, front, Subject::Rows).into_iter().collect();
    parts.push(facts(&labels_said(estimate, labelled)));
    parts.extend(models(estimate, labelled));
    parts.extend(labelled.soft_map.as_ref().map(|map| soft_map(estimate, map)));
    parts.push("Without the labels:".to_owned());
    parts.join("\n\n") + "\n\n"
}

/// What an answer takes for granted.
pub(crate) fn assumed(labelled: &Labelled, of: &ByLabels) -> String {
    match (of.leads, labelled.recalibration) {
        (Lead::Recalibrated, Some(by)) => format!(
            "holds as far as {}, made {} times as sure by the labels, is right",
            by.origin.name(),
            plain(by.sharpness)
        ),
        _ => "holds whatever the views do".to_owned(),
    }
}

/// The same in a few words.
fn if_so(of: &ByLabels) -> &'static str {
    match of.leads {
        Lead::Recalibrated => "if the recalibrated posterior is about right",
        Lead::Valid => "whatever the views do",
    }
}

fn shown(measured: &Measured) -> String {
    with_error(measured.value, measured.standard_error)
}

/// With the interval behind it.
fn between(measured: &Measured) -> String {
    format!("{}   {}", shown(measured), range(measured.interval))
}

/// What the labels say, one to a line: first what leads, then the other of the two ways.
pub(crate) fn labels_said(estimate: &Estimate, labelled: &Labelled) -> Vec<(&'static str, String)> {
    let Labelled { labels, level, risk, error_rate, brier, agreement, .. } = labelled;
    let (count, confidence) = (count(*labels as u64), percent(*level));
    let loss = name(&estimate.loss, 20);
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
    let by = match risk.leads {
        Lead::Recalibrated => format!("by a posterior that {count} labels recalibrate"),
        Lead::Valid => format!("by {count} labels and what is imputed to other rows"),
    };
    let aside =
        |of: &ByLabels| if of.leads == risk.leads { String::new() } else { format!("  ({})", if_so(of)) };
    let mut lines = vec![
        ("risk", format!("{}  ({loss} loss, {by})", shown(&risk.leading))),
        ("interval", format!("{}  ({confidence} confidence, {})", range(risk.leading.interval), if_so(risk))),
        ("error rate", between(&error_rate.leading) + &aside(error_rate)),
        ("Brier score", between(&brier.leading) + &aside(brier)),
    ];
    let both = |title: &'static str, of: &dyn Fn(&ByLabels) -> Option<Measured>| {
        let [risk, rate] = [risk, error_rate].map(of);
        risk.zip(rate)
            .map(|(risk, rate)| (title, format!("risk {}, error rate {}", shown(&risk), between(&rate))))
    };
    let valid = |of: &ByLabels| of.valid.as_ref().map(|valid| valid.estimate);
    if let Some(by) = labelled.recalibration {
        lines.extend(both("whatever", &valid));
        lines.push(("", "(whatever the views do)".to_owned()));
        lines.extend(both("recalibrated", &|of| of.recalibrated));
        let sure = format!("made {} times as sure by the labels", plain(by.sharpness));
        lines.push(("", format!("(if {}, {sure}, is about right)", by.origin.name())));
    }
    lines.extend(both("labels alone", &|of| of.valid.as_ref().map(|valid| valid.alone)));
    if let (Some(risk), Some(rate)) = (&risk.valid, &error_rate.valid) {
        let weights = [risk, rate].map(|of| plain(of.weight));
        lines.push((
            "weight",
            format!("{} of what is imputed, {} for the error rate", weights[0], weights[1]),
        ));
    }
    lines.extend([
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

/// What the labels say of every view as a model of its own and of another model's output, where that was asked.
fn models(estimate: &Estimate, labelled: &Labelled) -> Option<String> {
    let mean = |of: &Option<ByLabels>| of.as_ref().map_or("unknown".to_owned(), |of| shown(&of.leading));
    let row =
        |name: String, of: &ModelByLabels| vec![name, mean(&of.risk), mean(&of.error_rate), mean(&of.brier)];
    let views = estimate.scored().iter().zip(&labelled.each);
    let views = views.map(|(view, of)| row(name(view, VIEW_WIDTH), of));
    let prediction = labelled.prediction.as_ref().map(|of| row("prediction".to_owned(), of));
    let rows: Vec<Vec<String>> = views.chain(prediction).collect();
    if rows.is_empty() {
        return None;
    }
    let loss = format!("{} loss", name(&estimate.loss, 12));
    let header = ["by the labels", &loss, "error rate", "Brier score"].map(str::to_owned).to_vec();
    let mut align = [Align::Right; 4];
    align[0] = Align::Left;
    let table = aligned(&align, std::iter::once(header).chain(rows).collect::<Vec<_>>());
    let pairs = labelled.differences.iter().filter_map(|(pair, of)| {
        let of = of.as_ref()?;
        let Measured { value, standard_error, interval } = of.leading;
        let (more, less) = if value < 0.0 { (pair[1], pair[0]) } else { (pair[0], pair[1]) };
        let interval =
            if value < 0.0 { Interval { low: -interval.high, high: -interval.low } } else { interval };
        let [more, less] = [more, less].map(|view| name(&estimate.scored()[view], VIEW_WIDTH));
        let (by, between) = (with_error(value.abs(), standard_error), range(interval));
        let words = format!("{more} is wrong {by} ({between}) more often than {less}, {}", if_so(of));
        Some(wrapped(&words, WIDTH, 2))
    });
    let pairs: Vec<String> = pairs.collect();
    let parts = [Some(table), (!pairs.is_empty()).then(|| pairs.join("\n"))];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n"))
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
