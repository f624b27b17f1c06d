//! The page of a sequence model.

use super::estimate::independence;
use super::verdict::{headline, reasons, share};
use super::{Page, Section, Standing, Tile};
use crate::draw::{Dot, Dots, Mark, Panel};
use crate::picture;
use crate::sequences::{Figures, SequencesAnswer};
use crate::text::{
    Share, count, names, p_value, percent, percents, plain, pooled, range, sequence_labels_said, with_error,
};
use crate::words::{Front, Subject};
use triview::diagnostics::Alarm;
use triview::metrics::Measured;
use triview::sequences::{Identified, SequenceEstimate, SequenceLabels};

/// Room for lists of names.
const NAMES: usize = 160;

/// The risk and the token error of a sequence model.
pub fn sequences(answer: SequencesAnswer<'_>, front: Front) -> Page {
    let figures = answer.figures();
    let reason = |estimate: &SequenceEstimate| estimate.identification.independence.reason.is_some();
    let untested = answer.by_labels().is_none() && answer.estimate.is_ok_and(reason);
    let standing = match (answer.trusted(), untested) {
        (false, _) => Standing::Doubted,
        (true, true) => Standing::Untested,
        (true, false) => Standing::Trusted,
    };
    let alarms: &[Alarm] = match (answer.by_labels(), answer.estimate) {
        (Some(labels), _) => &labels.alarms,
        (None, Ok(estimate)) => &estimate.alarms,
        (None, Err(_)) => &[],
    };
    let sentence = share(&figures.viterbi, figures.level, "of the tokens are labelled wrong");
    let reasons = reasons(alarms, front, Subject::Sequences { labelled: answer.labels.is_some() });
    let (headline, mut lead) = headline(standing, reasons.len(), sentence);
    lead.push(rests_on(answer));
    let mut sections =
        vec![Section::new("How wrong the model is").picture(errors(&figures, answer.trusted()).picture())];
    sections.extend(answer.labels.map(by_labels));
    if let Ok(estimate) = answer.estimate {
        sections.extend(of_chain(estimate));
    }
    sections.push(looked_at(answer, &figures));
    Page {
        about: "a sequence model without labels",
        standing,
        headline,
        lead,
        reasons,
        tiles: tiles(answer, &figures),
        sections,
    }
}

/// What the answer rests on, in a sentence.
fn rests_on(answer: SequencesAnswer<'_>) -> String {
    let Some(labels) = answer.by_labels() else {
        let used = answer.labels.map_or("No label was used.", |_| "The labels do not contradict it.");
        return format!("This is of the Viterbi labelling. {used}");
    };
    let without = match answer.estimate {
        Ok(_) => "What the sequences say without labels is not to be trusted.".to_owned(),
        Err(reason) => format!("Without the labels there is no answer: {reason}."),
    };
    format!(
        "This is of the Viterbi labelling, by the labels of {} of {} sequences, and holds whatever the chain does. {without}",
        count(labels.labels as u64),
        count(labels.sequences)
    )
}

/// What the labels say, in a table.
fn by_labels(labels: &SequenceLabels) -> Section {
    let mean = |of: &Measured| with_error(of.value, of.standard_error);
    let own = [
        ("risk", format!("{} a sequence", mean(&labels.risk.estimate))),
        ("", format!("{} a token", mean(&labels.risk_per_token.estimate))),
        ("Viterbi error", mean(&labels.viterbi_error.estimate)),
        ("posterior error", mean(&labels.posterior_error.estimate)),
    ];
    Section::new("What the labels say").facts(own.into_iter().chain(sequence_labels_said(labels)))
}

/// What is known of the chain without labels. Where nothing of the data is, the model's own matrices alone.
fn of_chain(estimate: &SequenceEstimate) -> Vec<Section> {
    let shares = picture::shares("state", &estimate.states, &estimate.state_prior, estimate.trusted());
    let (before, largest) = (["state before", "state after"], ["largest score", "true state"]);
    let data = |titles, axes, cells: &[Vec<Measured>]| {
        estimate.is_identified().then(|| matrix(estimate, titles, axes, &values(cells)))
    };
    let model = |titles, axes, cells: &[Vec<f64>]| Some(matrix(estimate, titles, axes, cells));
    let sections = [
        Some(Section::new("State by state").picture(shares.picture())),
        data(
            ["Transitions in the data", "What follows what, in the data"],
            before,
            &estimate.transition_matrix,
        ),
        model(
            ["Transitions by the model", "What follows what, by the model"],
            before,
            &estimate.model_transition_matrix,
        ),
        data(
            ["Emissions in the data", "What emissions take states for, in the data"],
            largest,
            &estimate.emission_confusion,
        ),
        model(
            ["Emissions by the model", "What emissions take states for, as the model believes"],
            largest,
            &estimate.model_emission_confusion,
        ),
        Some(independence(&estimate.identification)),
    ];
    sections.into_iter().flatten().collect()
}

fn values(cells: &[Vec<Measured>]) -> Vec<Vec<f64>> {
    cells.iter().map(|row| row.iter().map(|cell| cell.value).collect()).collect()
}

fn tiles(answer: SequencesAnswer<'_>, figures: &Figures) -> Vec<Tile> {
    let level = percent(figures.level);
    let error = |what: &str, of: &Measured| {
        let between = percents(of.interval)
            .map_or("interval unknown".to_owned(), |(_, [low, high])| format!("{low} to {high}"));
        Tile::new(what, Share(of.value).within(of.interval), format!("{between} ({level})"))
    };
    let mean = |what: &str, of: &Measured| {
        Tile::new(what, plain(of.value), format!("{} ({level})", range(of.interval)))
    };
    let tested = answer.estimate.ok().and_then(|estimate| estimate.identification.independence.p_value);
    let test = tested.map_or("untested".to_owned(), p_value);
    vec![
        error("Viterbi error", &figures.viterbi),
        error("posterior error", &figures.posterior),
        mean("risk a sequence", &figures.risk),
        mean("risk a token", &figures.risk_per_token),
        Tile::new("test of independence", test, "of past, present and future given the state"),
        Tile::new("tokens", count(figures.tokens), format!("in {} sequences", count(figures.sequences))),
    ]
}

/// The token errors beside what the model believes of them, and the risk.
fn errors(figures: &Figures, trusted: bool) -> Dots {
    let mark = if trusted { Mark::Own } else { Mark::Doubted };
    let belief =
        |value: f64| Dot { value, interval: None, label: Share(value).to_string(), mark: Mark::Other };
    let mut rows = Vec::new();
    let errors = [("Viterbi", &figures.viterbi), ("posterior", &figures.posterior)];
    for ((name, error), believed) in errors.into_iter().zip(figures.beliefs) {
        rows.push((name.to_owned(), picture::share(error, mark)));
        rows.push((format!("{name}, believed"), belief(believed)));
    }
    let said = Share(figures.viterbi.value).between(figures.viterbi.interval);
    Dots {
        title: "How often a token\u{2019}s label is wrong".to_owned(),
        description: format!(
            "Dots with intervals: of the Viterbi labels {said} are wrong, beside what the model believes."
        ),
        kind: "decoding".to_owned(),
        note: format!("Lines are intervals of {} confidence.", percent(figures.level)),
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

fn looked_at(answer: SequencesAnswer<'_>, figures: &Figures) -> Section {
    let lengths = answer.estimate.ok().map_or(String::new(), |estimate| {
        let [shortest, longest] = estimate.lengths;
        format!(", of {shortest} to {longest} tokens")
    });
    let identified = answer.estimate.ok().map(|estimate| match estimate.identified {
        Identified::Pooled { .. } => "over all positions".to_owned(),
        Identified::ByPosition { positions } => format!("at each of {positions} positions by itself"),
    });
    let parts = format!(
        "{} log partition less {} emissions less {} transitions",
        plain(figures.log_partition),
        plain(figures.emission.value),
        plain(figures.transition.value)
    );
    let mut facts = vec![
        ("sequences", format!("{}{lengths}", count(figures.sequences))),
        ("tokens", count(figures.tokens)),
        ("skipped", format!("{} sequences of fewer than three tokens", count(figures.too_short))),
        ("states", format!("{}: {}", answer.states.len(), names(answer.states, NAMES))),
        ("risk", format!("\u{2212}log p(labels) a sequence: {parts}")),
    ];
    let rare = answer.estimate.ok().map(|estimate| &estimate.pooled).filter(|pooled| !pooled.is_empty());
    facts.extend(rare.map(|states| ("pooled", pooled(states))));
    facts.extend(identified.map(|identified| ("identified", identified)));
    Section::new("What was looked at").facts(facts).wide()
}
