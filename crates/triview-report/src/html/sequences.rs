//! The page of a sequence model.

use super::estimate::independence;
use super::verdict::{headline, reasons, share};
use super::{Page, Section, Standing, Tile};
use crate::draw::{Dot, Dots, Mark, Panel};
use crate::picture;
use crate::text::{Share, count, names, p_value, percent, percents, plain, range};
use crate::words::Front;
use triview::metrics::Measured;
use triview::sequences::{Identified, SequenceEstimate, TokenError};

/// Room for lists of names.
const NAMES: usize = 160;

/// The risk and the token error of a sequence model.
pub fn sequences(estimate: &SequenceEstimate, front: Front) -> Page {
    let standing = match (estimate.trusted(), &estimate.identification.independence.reason) {
        (false, _) => Standing::Doubted,
        (true, Some(_)) => Standing::Untested,
        (true, None) => Standing::Trusted,
    };
    let viterbi = &estimate.viterbi_error.estimate;
    let sentence = share(viterbi, estimate.level, "of the tokens are labelled wrong");
    let reasons = reasons(&estimate.alarms, front, false);
    let (headline, mut lead) = headline(standing, reasons.len(), sentence);
    lead.push("This is of the Viterbi labelling. No label was used.".to_owned());
    let sections = vec![
        Section::new("How wrong the model is").picture(errors(estimate).picture()),
        Section::new("State by state").picture(
            picture::shares("state", &estimate.states, &estimate.state_prior, estimate.trusted()).picture(),
        ),
        matrix(
            estimate,
            ["Transitions in the data", "What follows what, in the data"],
            ["state before", "state after"],
            &values(&estimate.transition_matrix),
        ),
        matrix(
            estimate,
            ["Transitions by the model", "What follows what, by the model"],
            ["state before", "state after"],
            &estimate.model_transition_matrix,
        ),
        matrix(
            estimate,
            ["Emissions in the data", "What emissions take states for, in the data"],
            ["largest score", "true state"],
            &values(&estimate.emission_confusion),
        ),
        matrix(
            estimate,
            ["Emissions by the model", "What emissions take states for, as the model believes"],
            ["largest score", "true state"],
            &estimate.model_emission_confusion,
        ),
        independence(&estimate.identification),
        looked_at(estimate),
    ];
    Page {
        about: "a sequence model without labels",
        standing,
        headline,
        lead,
        reasons,
        tiles: tiles(estimate),
        sections,
    }
}

fn values(cells: &[Vec<Measured>]) -> Vec<Vec<f64>> {
    cells.iter().map(|row| row.iter().map(|cell| cell.value).collect()).collect()
}

fn tiles(estimate: &SequenceEstimate) -> Vec<Tile> {
    let level = percent(estimate.level);
    let error = |what: &str, of: &TokenError| {
        let between = percents(of.estimate.interval)
            .map_or("interval unknown".to_owned(), |(_, [low, high])| format!("{low} to {high}"));
        Tile::new(what, Share(of.estimate.value).within(of.estimate.interval), format!("{between} ({level})"))
    };
    let mean = |what: &str, of: &Measured| {
        Tile::new(what, plain(of.value), format!("{} ({level})", range(of.interval)))
    };
    let test = estimate.identification.independence.p_value.map_or("untested".to_owned(), p_value);
    vec![
        error("Viterbi error", &estimate.viterbi_error),
        error("posterior error", &estimate.posterior_error),
        mean("risk a sequence", &estimate.risk),
        mean("risk a token", &estimate.risk_per_token),
        Tile::new("test of independence", test, "of past, present and future given the state"),
        Tile::new("tokens", count(estimate.tokens), format!("in {} sequences", count(estimate.sequences))),
    ]
}

/// The token errors beside what the model believes of them, and the risk.
fn errors(estimate: &SequenceEstimate) -> Dots {
    let mark = if estimate.trusted() { Mark::Own } else { Mark::Doubted };
    let belief =
        |value: f64| Dot { value, interval: None, label: Share(value).to_string(), mark: Mark::Other };
    let mut rows = Vec::new();
    for (name, error) in [("Viterbi", &estimate.viterbi_error), ("posterior", &estimate.posterior_error)] {
        rows.push((name.to_owned(), picture::share(&error.estimate, mark)));
        rows.push((format!("{name}, believed"), belief(error.belief)));
    }
    let said = Share(estimate.viterbi_error.estimate.value).between(estimate.viterbi_error.estimate.interval);
    Dots {
        title: "How often a token\u{2019}s label is wrong".to_owned(),
        description: format!(
            "Dots with intervals: of the Viterbi labels {said} are wrong, beside what the model believes."
        ),
        kind: "decoding".to_owned(),
        note: format!("Lines are intervals of {} confidence.", percent(estimate.level)),
        rows: rows.iter().map(|(name, _)| name.clone()).collect(),
        panels: vec![Panel {
            title: "token error".to_owned(),
            share: true,
            line: None,
            dots: rows.into_iter().map(|(_, dot)| Some(dot)).collect(),
        }],
    }
}

fn matrix(
    estimate: &SequenceEstimate,
    [section, title]: [&str; 2],
    axes: [&str; 2],
    cells: &[Vec<f64>],
) -> Section {
    let description = format!("A table of shades: for each {} and {}, the share.", axes[0], axes[1]);
    let map = picture::square([title.to_owned(), description], axes, &estimate.states, cells, |j| {
        estimate.state_prior[j].value
    });
    Section::new(section).picture(map.picture())
}

fn looked_at(estimate: &SequenceEstimate) -> Section {
    let [shortest, longest] = estimate.lengths;
    let identified = match estimate.identified {
        Identified::Pooled { .. } => "over all positions".to_owned(),
        Identified::ByPosition { positions } => format!("at each of {positions} positions by itself"),
    };
    let parts = format!(
        "{} log partition less {} emissions less {} transitions",
        plain(estimate.log_partition),
        plain(estimate.emission.value),
        plain(estimate.transition.value)
    );
    let facts = [
        ("sequences", format!("{}, of {shortest} to {longest} tokens", count(estimate.sequences))),
        ("tokens", count(estimate.tokens)),
        ("skipped", format!("{} sequences of fewer than three tokens", count(estimate.too_short))),
        ("states", format!("{}: {}", estimate.states.len(), names(&estimate.states, NAMES))),
        ("risk", format!("\u{2212}log p(labels) a sequence: {parts}")),
        ("identified", identified),
    ];
    Section::new("What was looked at").facts(facts).wide()
}
