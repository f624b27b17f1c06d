//! A crowd: how often its labels are wrong, and its annotators.

use super::left_out;
use super::risk::share;
use crate::draw::{Dot, Dots, Mark, Panel};
use crate::text::{Share, count, shown_annotators};
use triview::votes::{Annotator, VoteEstimate};

/// How often labels are wrong: the aggregated ones, those of gold alone, those of the majority, and what the fitted crowd believes.
pub(crate) fn labels(estimate: &VoteEstimate) -> Dots {
    let mark = if estimate.trusted() { Mark::Own } else { Mark::Doubted };
    let alone =
        |value: f64| Dot { value, interval: None, label: Share(value).to_string(), mark: Mark::Other };
    let mut rows = vec![("labels", share(&estimate.error_rate, mark))];
    if let Some(gold) = &estimate.gold {
        rows.push(("gold alone", share(&gold.alone, Mark::Other)));
    }
    rows.push(("majority", alone(estimate.majority.error_rate)));
    rows.push(("crowd\u{2019}s belief", alone(estimate.believed_error_rate)));
    let (bound, least) = if estimate.bound.is_some() { ("at least ", ", at the least") } else { ("", "") };
    let rate = Share(estimate.error_rate.value).between(estimate.error_rate.interval);
    Dots {
        title: format!("How often labels are wrong{least}"),
        description: format!("Dots with intervals: {bound}{rate} of the aggregated labels are wrong."),
        kind: "by".to_owned(),
        note: format!(
            "A vote is wrong at least {} of the time, whatever annotators have in common.",
            Share(estimate.agreement.floor)
        ),
        rows: rows.iter().map(|(name, _)| (*name).to_owned()).collect(),
        panels: vec![Panel {
            title: format!("{bound}wrong"),
            share: true,
            line: None,
            dots: rows.into_iter().map(|(_, dot)| Some(dot)).collect(),
        }],
    }
}

/// How often each annotator errs, the worst first, and how many votes it cast.
pub(crate) fn annotators(estimate: &VoteEstimate, names: &[String]) -> Dots {
    let all: Vec<Annotator> = (0..estimate.annotators()).map(|a| estimate.annotator(a)).collect();
    let mark = if estimate.trusted() { Mark::Own } else { Mark::Doubted };
    let (shown, voters) = shown_annotators(&all);
    let (bound, least) =
        if estimate.annotator_bound.is_some() { ("at least ", ", at the least") } else { ("", "") };
    let votes = |a: usize| {
        let votes = all[a].votes;
        Dot { value: f64::from(votes), interval: None, label: count(u64::from(votes)), mark: Mark::Own }
    };
    let worst = shown.first().map_or(String::new(), |&a| {
        format!(" The worst is {}, wrong {} of the time.", names[a], Share(all[a].error.value))
    });
    Dots {
        title: format!("How often each annotator errs{least}; the worst first"),
        description: format!("Dots with intervals, one row an annotator.{worst}"),
        kind: "annotator".to_owned(),
        note: left_out(shown.len(), voters, "annotators"),
        rows: shown.iter().map(|&a| names[a].clone()).collect(),
        panels: vec![
            Panel {
                title: format!("{bound}wrong"),
                share: true,
                line: None,
                dots: shown.iter().map(|&a| Some(share(&all[a].error, mark))).collect(),
            },
            Panel {
                title: "votes".to_owned(),
                dots: shown.iter().map(|&a| Some(votes(a))).collect(),
                ..Panel::default()
            },
        ],
    }
}
