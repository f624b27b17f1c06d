//! The text of an estimate of sequences.

use super::estimate::{conditioning, fit, percent, range, verdict, warnings};
use super::number::{column, count, plain, with_error};
use super::table::{Align, WIDTH, aligned, facts, name, names};
use crate::words::Front;
use triview::metrics::Measured;
use triview::sequences::{Identified, SequenceEstimate, TokenError};

/// Up to this many states matrices are shown.
const ALL_STATES: usize = 10;
/// Room for the name of a state.
const STATE_WIDTH: usize = 8;

/// The whole answer: warnings, the risk, what it is the risk of, and how well it could be known.
pub fn sequences(estimate: &SequenceEstimate, front: Front) -> String {
    let identification = &estimate.identification;
    let mut parts = warnings(identification, &estimate.alarms, front);
    parts.push(headline(estimate));
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
    parts.push(facts(&lines));
    parts.push(states(estimate));
    if estimate.states.len() <= ALL_STATES {
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
    parts.join("\n\n") + "\n"
}

fn headline(estimate: &SequenceEstimate) -> String {
    let measured = |of: &Measured| with_error(of.value, of.standard_error);
    let error = |of: &TokenError| {
        format!("{}  (the model's own confidence says {})", measured(&of.estimate), plain(of.belief))
    };
    let parts = format!(
        "{} log partition less {} emissions less {} transitions",
        plain(estimate.log_partition),
        measured(&estimate.emission),
        measured(&estimate.transition)
    );
    facts(&[
        (
            "risk",
            format!(
                "{} a sequence  (-log p(labels), ± one standard error from {} blocks)",
                measured(&estimate.risk),
                estimate.identification.blocks
            ),
        ),
        ("", format!("{} a token", measured(&estimate.risk_per_token))),
        (
            "interval",
            format!(
                "{} a sequence, {} a token  ({} confidence)",
                range(estimate.risk.interval),
                range(estimate.risk_per_token.interval),
                percent(estimate.level)
            ),
        ),
        ("parts", parts),
        ("Viterbi error", error(&estimate.viterbi_error)),
        ("posterior error", error(&estimate.posterior_error)),
        ("assumption", verdict(&estimate.identification)),
    ])
}

/// How often each state occurs.
fn states(estimate: &SequenceEstimate) -> String {
    let prior = column(&estimate.state_prior.iter().map(|prior| prior.value).collect::<Vec<f64>>());
    let half = |prior: &Measured| 0.5 * (prior.interval.high - prior.interval.low);
    let reach = column(&estimate.state_prior.iter().map(half).collect::<Vec<f64>>());
    let header = vec!["state".to_owned(), "share".to_owned(), format!("± ({})", percent(estimate.level))];
    let shown = (0..estimate.states.len())
        .map(|j| vec![name(&estimate.states[j], 2 * STATE_WIDTH), prior[j].clone(), reach[j].clone()]);
    let rows: Vec<Vec<String>> = [header].into_iter().chain(shown).collect();
    aligned(&[Align::Left, Align::Right, Align::Right], rows)
}

/// Two matrices, one below the other.
fn matrices(estimate: &SequenceEstimate, title: &str, data: &[Vec<Measured>], model: &[Vec<f64>]) -> String {
    let states = &estimate.states;
    let short = |state: &String| name(state, STATE_WIDTH);
    let mut text = super::table::wrapped(title, WIDTH, 2);
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
