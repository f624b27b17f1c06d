//! The text of what votes say.

use super::Budget;
use super::estimate::{not_to_be_trusted, percent, range};
use super::number::{column, count, plain, with_error};
use super::table::{Align, WIDTH, aligned, facts, name, names, wrapped};
use crate::words::{Front, Subject};
use triview::metrics::Measured;
use triview::votes::{Annotator, Bound, NoSpectralStart, VoteEstimate};

/// Annotators that are shown: the worst and the best of more.
const SHOWN: usize = 20;
/// Pairs that depend on each other that are shown.
const PAIRS: usize = 10;
/// Room for a name.
const NAME: usize = 24;

/// The whole answer: warnings, the error rate of the labels, the classes, the annotators, and who depends on whom.
pub fn votes(estimate: &VoteEstimate, annotators: &[String], front: Front) -> String {
    let mut parts: Vec<String> =
        not_to_be_trusted(&estimate.alarms, front, Subject::Rows).into_iter().collect();
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

/// How an error rate is read.
fn bounded(bound: Option<Bound>) -> &'static str {
    bound.map_or("", |_| "at least ")
}

fn headline(estimate: &VoteEstimate) -> String {
    let error = &estimate.error_rate;
    let value = with_error(error.value, error.standard_error);
    let rate = match estimate.bound {
        Some(Bound::AtLeast) => {
            format!("at least {value} of the aggregated labels are wrong, if annotators err independently")
        }
        None => format!("{value} of the aggregated labels are wrong"),
    };
    let mut lines = vec![
        ("error rate", rate),
        ("interval", format!("{}  ({} confidence)", range(error.interval), percent(estimate.level))),
    ];
    if let Some(gold) = &estimate.gold {
        lines.push((
            "gold",
            format!(
                "{} items, the labels of {} wrong: {} {}",
                count(gold.items as u64),
                count(gold.wrong as u64),
                plain(gold.alone.value),
                range(gold.alone.interval)
            ),
        ));
        lines.push((
            "recalibrated",
            format!(
                "{}  (posteriors to the power {}, chosen by gold; doubted by {})",
                plain(gold.recalibrated.value),
                plain(gold.power),
                plain(gold.doubt)
            ),
        ));
    }
    lines.push(("majority", majority(estimate)));
    lines.push((
        "belief",
        format!("{}  (what the fitted annotators themselves say)", plain(estimate.believed_error_rate)),
    ));
    lines.push((
        "floor",
        format!(
            "a vote is wrong at least {} of the time, whatever annotators have in common",
            plain(estimate.agreement.floor)
        ),
    ));
    lines.push((
        "voters",
        format!(
            "{} votes an item are worth {}{} of annotators who err independently",
            plain(estimate.agreement.voters),
            if estimate.gold.is_none() { "at most " } else { "" },
            plain(estimate.agreement.effective_voters)
        ),
    ));
    facts(&lines)
}

/// What the majority would do.
fn majority(estimate: &VoteEstimate) -> String {
    let majority = &estimate.majority;
    let gold = match &estimate.gold {
        Some(gold) => {
            format!(", {} of the {} gold", count(majority.wrong_gold as u64), count(gold.items as u64))
        }
        None => String::new(),
    };
    format!(
        "{}{} of its labels are wrong{gold}; it differs on {} of the items",
        bounded(estimate.bound),
        plain(majority.error_rate),
        count(majority.differs as u64)
    )
}

/// The error rate in one line.
pub fn votes_in_a_line(estimate: &VoteEstimate) -> String {
    let error = &estimate.error_rate;
    let condition = estimate.bound.map_or("", |_| ", if annotators err independently");
    format!(
        "{}{} {} of the labels are wrong{condition}; of the majority's {}{}",
        bounded(estimate.bound),
        with_error(error.value, error.standard_error),
        range(error.interval),
        bounded(estimate.bound),
        plain(estimate.majority.error_rate)
    )
}

/// How many items of known class bring the interval to a width.
pub fn gold_budget(budget: &Budget) -> String {
    let width = plain(budget.width);
    let mut text = match (budget.labels, budget.more()) {
        (Some(_), Some(0)) => {
            format!("label budget: the gold there is brings the interval to a width of {width}.")
        }
        (Some(items), Some(more)) => format!(
            "label budget: the class of {} items in all, {} more, drawn at random, brings the interval of the error rate to a width of \
             about {width}.",
            count(items),
            count(more)
        ),
        _ => format!(
            "label budget: not even the class of all items brings the interval to a width of {width}; with all of them it is {}.",
            plain(budget.smallest)
        ),
    };
    if budget.present == 0 {
        text += " This is a guess before any is known: label some 20 and ask again.";
    }
    wrapped(&text, WIDTH, 0) + "\n"
}

/// By how much the names of the classes lead, and over which.
pub(crate) fn naming(estimate: &VoteEstimate) -> String {
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

/// The annotators that are shown, the worst first, and how many voted at all: those surely bad, and last those surely good. Who has few
/// votes is neither.
pub(crate) fn shown_annotators(all: &[Annotator]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..all.len()).filter(|a| all[*a].votes > 0).collect();
    order.sort_by(|&a, &b| all[b].error.interval.high.total_cmp(&all[a].error.interval.high).then(a.cmp(&b)));
    let shown: Vec<usize> = match order.len() > SHOWN {
        true => {
            let (rest, best) = order.split_at(order.len() - SHOWN / 2);
            let mut worst = rest.to_vec();
            worst.sort_by(|&a, &b| {
                all[b].error.interval.low.total_cmp(&all[a].error.interval.low).then(a.cmp(&b))
            });
            worst.iter().take(SHOWN / 2).chain(best).copied().collect()
        }
        false => order.clone(),
    };
    (shown, order.len())
}

/// The annotators, the worst first.
fn crowd(estimate: &VoteEstimate, annotators: &[String]) -> String {
    let all: Vec<Annotator> = (0..estimate.annotators()).map(|a| estimate.annotator(a)).collect();
    let (shown, voters) = shown_annotators(&all);
    let error = column(&shown.iter().map(|a| all[*a].error.value).collect::<Vec<f64>>());
    let header = ["annotator", "votes", "error", "interval", "worth", "mistakes most often"];
    let mut header = header.map(str::to_owned).to_vec();
    if estimate.annotator_bound.is_some() {
        header[2] = "error at least".to_owned();
    }
    let row = |(at, &a): (usize, &usize)| {
        vec![
            name(&annotators[a], NAME),
            count(u64::from(all[a].votes)),
            error[at].clone(),
            range(all[a].error.interval),
            format!("{:.2}", all[a].worth),
            confusion(estimate, &all[a].confusion),
        ]
    };
    let align = [Align::Left, Align::Right, Align::Right, Align::Left, Align::Right, Align::Left];
    let rows = [header].into_iter().chain(shown.iter().enumerate().map(row));
    let text = aligned(&align, rows.collect::<Vec<_>>());
    match voters - shown.len() {
        0 => text,
        more => {
            format!("{text}\nand {} between the worst and the best: --json has them", count(more as u64))
        }
    }
}

/// Which vote an annotator gives for which class most often, of those that are wrong.
pub(crate) fn most_confused(estimate: &VoteEstimate, cells: &[Vec<Measured>]) -> Option<(usize, usize)> {
    let k = cells.len();
    let often = |c: usize, j: usize| cells[c][j].value * estimate.class_prior[j].value;
    let pairs = (0..k * k).map(|at| (at / k, at % k)).filter(|(c, j)| c != j);
    pairs.max_by(|a, b| often(a.0, a.1).total_cmp(&often(b.0, b.1)))
}

/// What an annotator takes for what, most often.
fn confusion(estimate: &VoteEstimate, cells: &[Vec<Measured>]) -> String {
    most_confused(estimate, cells).map_or_else(String::new, |(c, j)| {
        let [vote, class] = [c, j].map(|class| name(&estimate.classes[class], 12));
        format!("{class} for {vote} ({:.0}%)", 100.0 * cells[c][j].value)
    })
}

fn independence(estimate: &VoteEstimate, annotators: &[String]) -> String {
    let mut parts = vec![wrapped(&together(estimate), WIDTH, 2)];
    if !estimate.dependent.is_empty() {
        parts.push(dependent(estimate, annotators));
    }
    for group in &estimate.alike {
        let members: Vec<String> = group.iter().map(|a| name(&annotators[*a], NAME)).collect();
        parts.push(wrapped(
            &format!("look alike (copies, or of one family): {}", names(&members, 4 * WIDTH)),
            WIDTH,
            2,
        ));
    }
    parts.join("\n")
}

/// What the test of all annotators at once says, and how many pairs were tested.
pub(crate) fn together(estimate: &VoteEstimate) -> String {
    let pairs = match (estimate.smallest_p_value, estimate.dependent.is_empty()) {
        (None, _) => "no two annotators share enough items to be tested as a pair".to_owned(),
        (Some(p), true) => format!(
            "none of {} pairs depends on each other (p = {p:.2}, corrected for their number)",
            count(estimate.pairs_tested as u64)
        ),
        (Some(_), false) => "these pairs depend on each other:".to_owned(),
    };
    match &estimate.omnibus {
        None => format!("independence: untestable, as there are too few annotators; {pairs}"),
        Some(omnibus) => format!(
            "independence: all annotators at once p {} (hard items z = {:.1}, disagreements that pile up z = {:.1}; {} items); {pairs}",
            if omnibus.p_value < 0.001 { "< 0.001".to_owned() } else { format!("= {:.3}", omnibus.p_value) },
            omnibus.hard_items,
            omnibus.overdispersion,
            count(omnibus.items as u64)
        ),
    }
}

fn dependent(estimate: &VoteEstimate, annotators: &[String]) -> String {
    let header = ["depend on each other", "", "items", "agree", "expected", "p"].map(str::to_owned).to_vec();
    let row = |pair: &triview::votes::Pair| {
        let [first, second] = pair.annotators.map(|a| name(&annotators[a], NAME));
        let [agree, expected] = [pair.agreement, pair.expected].map(|share| format!("{share:.3}"));
        vec![first, second, pair.items.to_string(), agree, expected, format!("{:.1e}", pair.p_value)]
    };
    let rows = [header].into_iter().chain(estimate.dependent.iter().take(PAIRS).map(row));
    let align = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right];
    let text = aligned(&align, rows.collect::<Vec<_>>());
    let (all, tested) = (estimate.dependent.len(), count(estimate.pairs_tested as u64));
    format!("{text}\n{all} of {tested} pairs that share enough items; p is corrected for their number")
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
