//! The text of an estimate of sequences.

use super::estimate::{conditioning, fit, not_to_be_trusted, percent, range, verdict, warnings};
use super::number::{column, count, plain, with_error};
use super::table::{Align, WIDTH, aligned, facts, name, names, wrapped};
use crate::sequences::{Adapted, Figures, Judge, SequencesAnswer};
use crate::words::{Front, Subject};
use triview::answer::Interval;
use triview::estimator::few_labels::Powered;
use triview::metrics::Measured;
use triview::sequences::{Identified, SequenceEstimate, SequenceLabels};

/// Up to this many states matrices are shown.
const ALL_STATES: usize = 10;
/// Room for the name of a state.
const STATE_WIDTH: usize = 8;

/// The whole answer. What labels say comes first where nothing else is to be trusted, and last where they agree with it.
pub fn sequences(answer: SequencesAnswer<'_>, front: Front) -> String {
    let subject = Subject::Sequences { labelled: answer.labels.is_some() };
    let mut parts = Vec::new();
    if let Some(labels) = answer.by_labels() {
        parts.extend(not_to_be_trusted(&labels.alarms, front, subject));
        parts.push(by_labels(answer, labels));
        parts.push(match answer.estimate {
            Ok(_) => "Without the labels:".to_owned(),
            Err(reason) => wrapped(&format!("Without the labels there is no answer: {reason}"), WIDTH, 0),
        });
    }
    if let Ok(estimate) = answer.estimate {
        parts.push(without_labels(estimate, front, subject));
    }
    if let Some(labels) = answer.labels.filter(|_| answer.by_labels().is_none()) {
        parts.push("By the labels, whatever the chain does:".to_owned());
        parts.extend(not_to_be_trusted(&labels.alarms, front, subject));
        parts.push(by_labels(answer, labels));
    }
    parts.extend(answer.adapted().map(adapted));
    parts.join("\n\n") + "\n"
}

/// Whether the model that the data suggest is better.
fn adapted(adapted: Adapted) -> String {
    let Adapted { better, judged_by, gain } = adapted;
    let by = match judged_by {
        Judge::Labels => "by the labels",
        Judge::Chain => "without labels",
    };
    let verdict = match better {
        true => "is better than the given one",
        false => "cannot be told to be better than the given one",
    };
    let said = format!(
        "The model that the data suggest {verdict}: it has {} fewer of the tokens wrong, {by}.",
        with_error(gain.value, gain.standard_error)
    );
    wrapped(&said, WIDTH, 0)
}

/// The numbers by the labels, and what they rest on.
fn by_labels(answer: SequencesAnswer<'_>, labels: &SequenceLabels) -> String {
    let own = figures(&Figures::by_labels(labels, answer.estimate.ok()), Some(labels));
    facts(&[own, labels_said(labels)].concat())
}

/// The answer without labels: warnings, the risk, what it is the risk of, and how well it could be known.
fn without_labels(estimate: &SequenceEstimate, front: Front, subject: Subject) -> String {
    let identification = &estimate.identification;
    let mut parts = warnings(identification, &estimate.alarms, front, subject);
    let mut said = figures(&Figures::of(estimate), None);
    said[0].1 += &format!("  (-log p(labels), ± one standard error from {} blocks)", identification.blocks);
    said.push(("assumption", verdict(identification)));
    parts.push(facts(&said));
    let [shortest, longest] = estimate.lengths;
    let mut lines = vec![
        ("sequences", format!("{}, of {shortest} to {longest} tokens", count(estimate.sequences))),
        ("tokens", count(estimate.tokens)),
    ];
    if estimate.too_short > 0 {
        lines
            .push(("skipped", format!("{} sequences of fewer than three tokens", count(estimate.too_short))));
    }
    if let Identified::ByPosition { positions } = estimate.identified {
        lines.push((
            "identified",
            format!("at each of {positions} positions by itself, from the second token on"),
        ));
    }
    lines.push(("states", format!("{}: {}", estimate.states.len(), names(&estimate.states, WIDTH - 20))));
    if !estimate.pooled.is_empty() {
        lines.push(("pooled", pooled(&estimate.pooled)));
    }
    parts.push(facts(&lines));
    parts.push(states(estimate));
    if !estimate.is_identified() {
        parts.push("transitions and emissions: as the model believes".to_owned());
    } else if estimate.states.len() <= ALL_STATES {
        let title =
            "transitions: row the state before, column the state after; in the data, then by the model";
        parts.push(matrices(estimate, title, &estimate.transition_matrix, &estimate.model_transition_matrix));
        let title = "emissions: row the state with the largest score, column the true state; in the data, then as the model believes";
        parts.push(matrices(
            estimate,
            title,
            &estimate.emission_confusion,
            &estimate.model_emission_confusion,
        ));
    } else {
        parts.push("transitions and emissions of so many states: --json has them".to_owned());
    }
    parts.push(conditioning(identification));
    parts.push(fit(identification));
    parts.join("\n\n")
}

/// The risk, its parts and the token errors, one to a line.
fn figures(figures: &Figures, labels: Option<&SequenceLabels>) -> Vec<(&'static str, String)> {
    let Figures { risk, risk_per_token, viterbi, posterior, beliefs, .. } = figures;
    let measured = |of: &Measured| with_error(of.value, of.standard_error);
    // Next to others in a line an unknown error is only said once.
    let part = |of: &Measured| if of.standard_error.is_finite() { measured(of) } else { plain(of.value) };
    let by = labels.map_or(String::new(), |labels| {
        format!("  (-log p(labels), by the labels of {} sequences)", count(labels.labels as u64))
    });
    let confidence = percent(figures.level);
    let whatever = match labels {
        Some(_) => format!("{confidence}, whatever the chain does"),
        None => format!("{confidence} confidence"),
    };
    let error = |of: &Measured, belief: f64| {
        // Where it says more than the standard error; otherwise it stands in the JSON and on the page.
        let shown = labels.is_some() || !of.standard_error.is_finite();
        let between = if shown { format!("   {}", range(of.interval)) } else { String::new() };
        format!("{}{between}  (the model's own confidence says {})", measured(of), plain(belief))
    };
    vec![
        ("risk", format!("{} a sequence{by}", measured(risk))),
        ("", format!("{} a token", measured(risk_per_token))),
        (
            "interval",
            format!(
                "{} a sequence, {} a token  ({whatever})",
                from(risk.interval),
                from(risk_per_token.interval)
            ),
        ),
        (
            "parts",
            format!(
                "{} log partition less {} emissions less {} transitions",
                plain(figures.log_partition),
                part(&figures.emission),
                part(&figures.transition)
            ),
        ),
        ("Viterbi error", error(viterbi, beliefs[0])),
        ("posterior error", error(posterior, beliefs[1])),
    ]
}

/// An interval that may have no upper end.
fn from(interval: Interval) -> String {
    match interval.high == f64::INFINITY && interval.low.is_finite() {
        true => format!("at least {}", plain(interval.low)),
        false => range(interval),
    }
}

/// What the labels rest on, one to a line.
pub(crate) fn labels_said(labels: &SequenceLabels) -> Vec<(&'static str, String)> {
    let SequenceLabels { risk, viterbi_error, posterior_error, .. } = labels;
    let alone = |of: &Powered| with_error(of.alone.value, of.alone.standard_error);
    vec![
        (
            "labels alone",
            format!(
                "risk {}, Viterbi error {}, posterior error {}",
                alone(risk),
                alone(viterbi_error),
                alone(posterior_error)
            ),
        ),
        (
            "weight",
            format!(
                "{} of what is imputed, {} and {} for the errors",
                plain(risk.weight),
                plain(viterbi_error.weight),
                plain(posterior_error.weight)
            ),
        ),
        (
            "labelled",
            format!(
                "{} sequences of {}, {} tokens of {}",
                count(labels.labels as u64),
                count(labels.sequences),
                count(labels.labelled_tokens),
                count(labels.tokens)
            ),
        ),
    ]
}

/// What is said of states that are taken as one.
pub(crate) fn pooled(states: &[String]) -> String {
    format!("{}: too rare to be told apart, counted as one", names(states, 36))
}

/// How often each state occurs.
fn states(estimate: &SequenceEstimate) -> String {
    let prior = column(&estimate.state_prior.iter().map(|prior| prior.value).collect::<Vec<f64>>());
    let half = |prior: &Measured| 0.5 * (prior.interval.high - prior.interval.low);
    let reach = column(&estimate.state_prior.iter().map(half).collect::<Vec<f64>>());
    let known = estimate.is_identified();
    let share = if known { "share" } else { "share, as the model believes" };
    let header = vec!["state".to_owned(), share.to_owned(), format!("± ({})", percent(estimate.level))];
    let shown = (0..estimate.states.len())
        .map(|j| vec![name(&estimate.states[j], 2 * STATE_WIDTH), prior[j].clone(), reach[j].clone()]);
    let columns = if known { 3 } else { 2 };
    let rows = [header].into_iter().chain(shown).map(|row| row[..columns].to_vec());
    aligned(&[Align::Left, Align::Right, Align::Right][..columns], rows.collect::<Vec<_>>())
}

/// Two matrices, one below the other.
fn matrices(estimate: &SequenceEstimate, title: &str, data: &[Vec<Measured>], model: &[Vec<f64>]) -> String {
    let states = &estimate.states;
    let short = |state: &String| name(state, STATE_WIDTH);
    let mut text = wrapped(title, WIDTH, 2);
    let data: Vec<Vec<f64>> = data.iter().map(|row| row.iter().map(|cell| cell.value).collect()).collect();
    for cells in [data.as_slice(), model] {
        let header = [String::new()].into_iter().chain(states.iter().map(short)).collect();
        let row = |(state, row): (&String, &Vec<f64>)| -> Vec<String> {
            let numbers = row.iter().map(|cell| format!("{cell:.3}"));
            [short(state)].into_iter().chain(numbers).collect()
        };
        let rows: Vec<Vec<String>> = [header].into_iter().chain(states.iter().zip(cells).map(row)).collect();
        let align: Vec<Align> =
            [Align::Left].into_iter().chain(states.iter().map(|_| Align::Right)).collect();
        text += &format!("\n\n{}", aligned(&align, rows));
    }
    text
}
