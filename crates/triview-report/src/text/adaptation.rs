//! The text of an adaptation.

use super::estimate::range;
use super::number::{count, plain, with_error};
use super::table::{WIDTH, facts, wrapped};
use crate::words::Front;
use triview::learning::{Adaptation, Judgement, Verdict};
use triview::metrics::Measured;

/// What is known of the adapted model and of the seed, and what to do with them.
pub fn adaptation(adaptation: &Adaptation, front: Front) -> String {
    let Adaptation { radius, gap, seed, judgement, loss, share, .. } = adaptation;
    let shown = |measured: &Measured| {
        let error = with_error(measured.value, measured.standard_error);
        format!("{error}   {}", range(measured.interval))
    };
    let mut lines = Vec::new();
    if let Some(Judgement { adapted, seed, difference, by_labels, adapted_error, seed_error, .. }) = judgement
    {
        lines.push(("risk, adapted", shown(adapted)));
        lines.push(("risk, seed", shown(seed)));
        lines.push(("difference", shown(difference)));
        if let Some(by_labels) = by_labels {
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
    let mut text = facts(&lines) + "\n";
    if let Some(Judgement { verdict, .. }) = judgement {
        let words = match verdict {
            Verdict::Improved => "The adapted model is better than the seed model on these rows.",
            Verdict::Failed => {
                "The adaptation failed: the adapted model cannot be told to be better than the seed model on these \
                 rows. Keep the seed model, or adapt to more rows."
            }
            Verdict::Doubtful => {
                "Whether the adapted model is better cannot be told: it seems so, but by an estimate that cannot be relied on here, \
                 and views that depend on each other make any model look better. Give the class of some rows, drawn at random, \
                 cut the views otherwise, or keep the seed model."
            }
        };
        text += &format!("\n{}\n", wrapped(words, WIDTH, 0));
    }
    for alarm in &seed.alarms {
        text += &format!("\n{}\n", wrapped(&format!("- {alarm}"), WIDTH, 2));
        text += &format!("{}\n", wrapped(&format!("> {}", front.remedy(alarm)), WIDTH, 2));
    }
    text
}
