//! The text of what votes say.

use super::estimate::{not_to_be_trusted, percent, range};
use super::number::{column, count, plain, with_error};
use super::table::{Align, WIDTH, aligned, facts, name, names};
use crate::words::Front;
use triview::diagnostics::Verdict;
use triview::metrics::Measured;
use triview::votes::{Annotator, NoSpectralStart, VoteEstimate};

/// Annotators that are shown: the worst and the best of more.
const SHOWN: usize = 20;
/// Pairs that depend on each other that are shown.
const PAIRS: usize = 10;
/// Room for a name.
const NAME: usize = 24;

/// The whole answer: warnings, the error rate of the labels, the classes, the annotators, and who depends on whom.
pub fn votes(estimate: &VoteEstimate, annotators: &[String], front: Front) -> String {
    let mut parts: Vec<String> = not_to_be_trusted(&estimate.alarms, front).into_iter().collect();
    parts.push(headline(estimate));
    let counted = |n: usize| count(n as u64);
    let mut lines = vec![
        ("items", counted(estimate.items)),
        ("votes", format!("{} of {} annotators", counted(estimate.votes), counted(annotators.len()))),
    ];
    if estimate.single_votes > 0 {
        lines.push(("single", format!("{} items have one vote", counted(estimate.single_votes))));
    }
    lines.push(("classes", format!("{}: {}", estimate.classes.len(), names(&estimate.classes, WIDTH - 20))));
    lines.push(("names", naming(estimate)));
    parts.push(facts(&lines));
    parts.push(classes(estimate));
    parts.push(crowd(estimate, annotators));
    parts.push(independence(estimate, annotators));
    parts.push(fit(estimate));
    parts.join("\n\n") + "\n"
}

fn headline(estimate: &VoteEstimate) -> String {
    let error = &estimate.error_rate;
    facts(&[
        (
            "error rate",
            format!("{} of the aggregated labels are wrong", with_error(error.value, error.standard_error)),
        ),
        ("interval", format!("{}  ({} confidence)", range(error.interval), percent(estimate.level))),
        (
            "belief",
            format!("{}  (what the fitted annotators themselves say)", plain(estimate.believed_error_rate)),
        ),
    ])
}

/// By how much the names of the classes lead, and over which.
fn naming(estimate: &VoteEstimate) -> String {
    let swapped = estimate.second_best.iter().enumerate().filter(|(j, other)| j != *other);
    let swapped: Vec<String> = swapped
        .map(|(j, &other)| {
            let [own, called] = [j, other].map(|class| name(&estimate.classes[class], 12));
            format!("{own} called {called}")
        })
        .collect();
    let gap = &estimate.matching_gap;
    format!(
        "right in {} more of the votes than with {}",
        with_error(gap.value, gap.standard_error),
        names(&swapped, WIDTH - 60)
    )
}

fn classes(estimate: &VoteEstimate) -> String {
    let share = column(&estimate.class_prior.iter().map(|prior| prior.value).collect::<Vec<f64>>());
    let header = ["class", "share", "interval"].map(str::to_owned).to_vec();
    let row = |j: usize| {
        let prior = &estimate.class_prior[j];
        vec![name(&estimate.classes[j], NAME), share[j].clone(), range(prior.interval)]
    };
    let most = estimate.classes.len().min(SHOWN);
    let text = aligned(
        &[Align::Left, Align::Right, Align::Left],
        [header].into_iter().chain((0..most).map(row)).collect::<Vec<_>>(),
    );
    match estimate.classes.len() - most {
        0 => text,
        more => format!("{text}\nand {more} more: --json has them"),
    }
}

/// The annotators, those with the largest error first.
fn crowd(estimate: &VoteEstimate, annotators: &[String]) -> String {
    let all: Vec<Annotator> = (0..estimate.annotators()).map(|a| estimate.annotator(a)).collect();
    let mut order: Vec<usize> = (0..all.len()).filter(|a| all[*a].votes > 0).collect();
    order.sort_by(|&a, &b| all[b].error.value.total_cmp(&all[a].error.value).then(a.cmp(&b)));
    let shown: Vec<usize> = match order.len() > SHOWN {
        true => order[..SHOWN / 2].iter().chain(&order[order.len() - SHOWN / 2..]).copied().collect(),
        false => order.clone(),
    };
    let error = column(&shown.iter().map(|a| all[*a].error.value).collect::<Vec<f64>>());
    let header =
        ["annotator", "votes", "error", "interval", "mistakes most often"].map(str::to_owned).to_vec();
    let row = |(at, &a): (usize, &usize)| {
        vec![
            name(&annotators[a], NAME),
            count(u64::from(all[a].votes)),
            error[at].clone(),
            range(all[a].error.interval),
            confusion(estimate, &all[a].confusion),
        ]
    };
    let align = [Align::Left, Align::Right, Align::Right, Align::Left, Align::Left];
    let rows = [header].into_iter().chain(shown.iter().enumerate().map(row));
    let text = aligned(&align, rows.collect::<Vec<_>>());
    match order.len() - shown.len() {
        0 => text,
        more => {
            format!("{text}\nand {} between the worst and the best: --json has them", count(more as u64))
        }
    }
}

/// What an annotator takes for what, most often.
fn confusion(estimate: &VoteEstimate, cells: &[Vec<Measured>]) -> String {
    let k = cells.len();
    let often = |c: usize, j: usize| cells[c][j].value * estimate.class_prior[j].value;
    let pairs = (0..k * k).map(|at| (at / k, at % k)).filter(|(c, j)| c != j);
    let worst = pairs.max_by(|a, b| often(a.0, a.1).total_cmp(&often(b.0, b.1)));
    worst.map_or_else(String::new, |(c, j)| {
        let [vote, class] = [c, j].map(|class| name(&estimate.classes[class], 12));
        format!("{class} for {vote} ({:.0}%)", 100.0 * cells[c][j].value)
    })
}

fn independence(estimate: &VoteEstimate, annotators: &[String]) -> String {
    let tested = count(estimate.pairs_tested as u64);
    match (estimate.verdict(), estimate.smallest_p_value) {
        (Verdict::Untestable, _) | (_, None) => {
            "independence: untested, as no two annotators share enough items".to_owned()
        }
        (Verdict::Fail, _) => {
            let header =
                ["depend on each other", "", "items", "agree", "expected", "p"].map(str::to_owned).to_vec();
            let row = |pair: &triview::votes::Pair| {
                let [first, second] = pair.annotators.map(|a| name(&annotators[a], NAME));
                let numbers = [pair.agreement, pair.expected].map(|share| format!("{share:.3}"));
                let [agree, expected] = numbers;
                vec![first, second, pair.items.to_string(), agree, expected, format!("{:.1e}", pair.p_value)]
            };
            let rows = [header].into_iter().chain(estimate.dependent.iter().take(PAIRS).map(row));
            let align = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right];
            let text = aligned(&align, rows.collect::<Vec<_>>());
            let all = estimate.dependent.len();
            format!(
                "{text}\n{all} of {tested} pairs that share enough items; p is corrected for their number"
            )
        }
        (_, Some(p)) => format!(
            "independence: none of {tested} pairs of annotators depends on each other given the class (p = {p:.2}, corrected for \
             their number)"
        ),
    }
}

fn fit(estimate: &VoteEstimate) -> String {
    let fit = &estimate.fit;
    let other = match fit.no_spectral {
        None => "the better of two, the majority's and that of the moments of three blocks of annotators",
        Some(NoSpectralStart::FewItems) => {
            "the only one: too few items have votes from all of three blocks of annotators"
        }
        Some(NoSpectralStart::ManyClasses) => "the only one: there are too many classes for moments",
        Some(NoSpectralStart::Degenerate) => {
            "the only one: three blocks of annotators do not tell all classes apart"
        }
    };
    facts(&[
        (
            "fit",
            format!(
                "{} after {} iterations of EM, log-likelihood {:.1}, smoothed by {} votes a class",
                if fit.converged { "converged" } else { "stopped" },
                fit.iterations,
                fit.log_likelihood,
                plain(fit.smoothing)
            ),
        ),
        ("start", format!("{}, {other}", fit.start.name())),
    ])
}
