//! The text of an adaptation.

use super::estimate::{range, reasons};
use super::number::{count, plain, with_error};
use super::table::{WIDTH, facts, wrapped};
use crate::words::{Front, Subject};
use triview::learning::{Adaptation, Judgement, Verdict};
use triview::metrics::Measured;

/// What is said of a fit that ended before it was done.
const UNFINISHED: &str = "The minimisation ended before it reached the gap that was asked for: the model is not known to be the best in its \
                          ball, which is too large for these rows. Take a smaller radius, or a larger gap.";

/// What is known of the adapted model and of the seed, and what to do with them.
pub fn adaptation(adaptation: &Adaptation, front: Front) -> String {
    let Adaptation { radius, gap, seed, judgement, loss, share, .. } = adaptation;
    let shown = |measured: &Measured| {
        let error = with_error(measured.value, measured.standard_error);
        format!("{error}   {}", range(measured.interval))
    };
    let mut lines = Vec::new();
    if let Some(judgement) = judgement {
        let Judgement { adapted, seed, difference, by_labels, of_labels, adapted_error, seed_error, .. } =
            judgement;
        if *of_labels {
            lines.push((
                "judged by",
                "the rows whose class is known: the views cannot be relied on".to_owned(),
            ));
        }
        lines.push(("risk, adapted", shown(adapted)));
        lines.push(("risk, seed", shown(seed)));
        lines.push(("difference", shown(difference)));
        if let Some(by_labels) = by_labels.as_ref().filter(|_| !of_labels) {
            lines.push(("difference by labels", shown(by_labels)));
        }
        lines.push(("error rate, adapted", shown(adapted_error)));
        lines.push(("error rate, seed", shown(seed_error)));
    }
    lines.push(("loss", (*loss).to_owned()));
    lines.push(("rows", count(seed.rows)));
    let reached = gap.map(|gap| format!(", minimised to a gap of {}", plain(gap))).unwrap_or_default();
    lines.push(("radius", plain(*radius) + &reached));
    if let Some(share) = share {
        lines.push(("weight of the source", share.to_string()));
    }
    let lead = format!("{}   {}", plain(seed.matching_gap), range(seed.matching_gap_interval));
    lines.push(("naming leads by", lead));
    let verdict = judgement.as_ref().map(|it| {
        let words = wrapped(said(it.verdict), WIDTH, 0);
        if it.verdict == Verdict::Doubtful { format!("NOT TO BE TRUSTED\n{words}") } else { words }
    });
    let unfinished = (!adaptation.converged).then(|| wrapped(UNFINISHED, WIDTH, 0));
    let reasons = reasons(&seed.alarms, front, Subject::Rows);
    let parts = [verdict, Some(facts(&lines)), unfinished, reasons];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n") + "\n"
}

/// What is known of the adapted model, and what to do.
fn said(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Improved => "The adapted model is better than the seed model on these rows.",
        Verdict::Likely => {
            "The adapted model is likely better than the seed model: on the rows whose class is known its risk is smaller, though not beyond \
             chance, and with 90% confidence it is larger by less than 0.05 at the worst. More known classes would settle it."
        }
        Verdict::Failed => {
            "The adaptation failed: the adapted model cannot be told to be better than the seed model on these \
             rows. Keep the seed model, adapt to more rows, or within a smaller radius."
        }
        Verdict::Doubtful => {
            "Whether the adapted model is better cannot be told: it seems so, but by an estimate that cannot be relied on here, \
             and views that depend on each other make any model look better. Give the class of some rows, drawn at random, \
             cut the views otherwise, take a smaller radius, or keep the seed model."
        }
    }
}
