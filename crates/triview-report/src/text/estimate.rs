//! The text of an estimate.

use super::number::{column, count, plain, to_digits_of, with_error};
use super::prediction::better;
use super::table::{Align, WIDTH, aligned, facts, name, names, wrapped};
use crate::words::{Front, Subject, unseen};
use triview::answer::Interval;
use triview::data::{VIEWS, Witness};
use triview::diagnostics::{Alarm, Dependence, Verdict};
use triview::estimator::{Amplified, Estimate, Fit, Status};
use triview::latent::Tried;
use triview::loss::{self, Form, Whole};
use triview::moments::{Chosen, OtherPartition};

/// Up to this many classes all are shown, beyond it the [`LARGEST`] and the [`SMALLEST`].
const ALL_CLASSES: usize = 20;
/// So many of the most frequent classes are shown where not all are.
const LARGEST: usize = 10;
/// So many of the rarest classes are shown where not all are.
const SMALLEST: usize = 5;
/// So many lines of dependences within a class are shown.
const SHOWN_DEPENDENCES: usize = 12;
/// Room for the name of a class.
const CLASS_WIDTH: usize = 14;
/// Room for the name of a group of views above a column of numbers.
const VIEW_WIDTH: usize = 9;

/// The whole answer: the risk and whether to trust it in five lines, what speaks against it, what it is the risk of and, where everything is
/// asked for, how well it could be known.
pub fn estimate(
    estimate: &Estimate,
    amplified: Option<&Amplified>,
    front: Front,
    everything: bool,
) -> String {
    let mut parts = vec![headline(estimate, amplified)];
    parts.extend(reasons(&estimate.alarms, front, Subject::Rows));
    parts.extend(estimate.independence.reason.as_ref().map(|reason| {
        wrapped(
            &format!("Not tested is whether the views are independent given the class: {reason}."),
            WIDTH,
            2,
        )
    }));
    parts.extend(better(estimate).map(|words| wrapped(&words, WIDTH, 2)));
    let mut lines: Vec<(&str, String)> = floor(estimate).into_iter().collect();
    lines.push(("rows", count(estimate.rows)));
    lines.push(("views", names(&estimate.views, WIDTH - 12)));
    lines.extend(witnesses(estimate));
    lines.extend(estimate.witnesses.iter().map(without_scores));
    lines.extend(groups(estimate));
    lines.extend(missing(&estimate.views, &estimate.missing).map(|line| ("missing", line)));
    if !estimate.covariates.is_empty() {
        lines.push(("beside", format!("features {}", names(&estimate.covariates, WIDTH - 25))));
    }
    lines.push(("classes", format!("{}: {}", estimate.classes.len(), names(&estimate.classes, WIDTH - 20))));
    lines.extend(latent(estimate));
    parts.push(facts(&lines));
    parts.push(classes(estimate));
    if everything {
        parts.push(conditioning(estimate));
        parts.push(fit(estimate));
    }
    parts.join("\n\n") + "\n"
}

/// The assumption test and the conditioning alone.
pub fn diagnosis(estimate: &Estimate, front: Front) -> String {
    let mut parts: Vec<String> =
        not_to_be_trusted(&estimate.alarms, front, Subject::Diagnosis).into_iter().collect();
    parts.extend(untested(estimate, Subject::Diagnosis));
    let mut lines = groups(estimate);
    lines.extend(latent(estimate));
    if !lines.is_empty() {
        parts.push(facts(&lines));
    }
    parts.push(independence(estimate));
    if !estimate.independence.dependences.is_empty() {
        parts.push(dependences(estimate));
    }
    parts.push(conditioning(estimate));
    parts.join("\n\n") + "\n"
}

/// In how many rows each view is missing, where any is.
pub fn missing(views: &[String], rows: &[u64]) -> Option<String> {
    let counted = views.iter().zip(rows).filter(|(_, rows)| **rows > 0);
    let lines: Vec<String> =
        counted.map(|(view, rows)| format!("{} in {} rows", name(view, VIEW_WIDTH), count(*rows))).collect();
    (!lines.is_empty()).then(|| names(&lines, WIDTH - 12))
}

/// Whose risk it is, and which views only identify, where not all views make the prediction.
fn witnesses(estimate: &Estimate) -> Option<(&'static str, String)> {
    let model = estimate.model.as_ref()?;
    let others: Vec<String> = estimate.views.iter().filter(|view| !model.contains(view)).cloned().collect();
    let [judged, others] = [model, &others].map(|views| names(views, (WIDTH - 40) / 2));
    let plural = if model.len() == 1 { "is" } else { "are" };
    Some(("model", format!("{judged} {plural} judged; witnesses are {others}")))
}

/// The values of a witness that has no scores.
fn without_scores(witness: &Witness) -> (&'static str, String) {
    let values = witness.values();
    let shown = names(&values, WIDTH - 50);
    let pooled = match witness.pooled() {
        0 => String::new(),
        pooled => format!(", the last for {} rare ones", count(pooled)),
    };
    (
        "witness",
        format!(
            "{} without scores, {} values{pooled}: {shown}",
            name(witness.name(), VIEW_WIDTH),
            values.len()
        ),
    )
}

/// How the views are grouped and why, where that is not plain.
fn groups(estimate: &Estimate) -> Vec<(&'static str, String)> {
    if estimate.views.len() == estimate.groups.len() {
        return Vec::new();
    }
    let grouping = &estimate.grouping;
    let chosen = match grouping.chosen {
        Chosen::Automatic => "chosen by what the rows say",
        Chosen::ByHand => "as asked",
    };
    let mut lines = vec![("groups", format!("{}  ({chosen})", names(&estimate.groups, WIDTH - 45)))];
    if !grouping.together.is_empty() {
        let joined = |views: &Vec<usize>| {
            views.iter().map(|&view| estimate.views[view].as_str()).collect::<Vec<_>>().join("+")
        };
        let together: Vec<String> = grouping.together.iter().map(joined).collect();
        let because = "they depend on each other given the class";
        lines.push(("together", format!("{}  ({because})", names(&together, WIDTH - 60))));
    }
    let furthest =
        |a: &&OtherPartition, b: &&OtherPartition| a.difference.abs().total_cmp(&b.difference.abs());
    if let Some(other) = grouping.others.iter().max_by(furthest) {
        let difference = with_error(other.difference, other.standard_error);
        let count = grouping.others.len();
        lines.push((
            "spread",
            format!("{difference}  (the furthest of {count} other groupings, on a first look)"),
        ));
    }
    lines
}

/// The latent states and their classes, where a number of them was asked for, and how that number was found.
fn latent(estimate: &Estimate) -> Vec<(&'static str, String)> {
    let Some(latent) = &estimate.latent else { return Vec::new() };
    let of_class = |(j, class): (usize, &String)| {
        let states = latent.map.iter().zip(&latent.prior).filter(|(of, _)| **of == j);
        let shares: Vec<String> = states.map(|(_, prior)| format!("{prior:.3}")).collect();
        format!("{} {}", name(class, CLASS_WIDTH), shares.join(" + "))
    };
    let classes: Vec<String> = estimate.classes.iter().enumerate().map(of_class).collect();
    let count = latent.map.len();
    let given = if latent.given { ", as given" } else { "" };
    let mut lines =
        vec![("latent", format!("{count} states{given}: {}", names(&classes, WIDTH - 25 - given.len())))];
    if latent.overruled > 0 {
        let states = if latent.overruled == 1 { "state" } else { "states" };
        let words =
            format!("the scores of {} {states} favour another class than the given", latent.overruled);
        lines.push(("against", words));
    }
    let seen: Vec<String> = estimate
        .groups
        .iter()
        .zip(&latent.rank)
        .map(|(group, rank)| format!("{} {rank}", name(group, VIEW_WIDTH)))
        .collect();
    let full = latent.rank.iter().all(|rank| *rank == count);
    let verdict = if full { "full" } else { "not full" };
    lines.push(("rank", format!("{verdict}: states told apart by {}", names(&seen, WIDTH - 45))));
    if !latent.tried.is_empty() {
        let p = |p_value: Option<f64>| p_value.map_or("untested".to_owned(), |p| format!("p = {p:.3}"));
        let tried = |tried: &Tried| format!("{} ({})", tried.states, p(tried.p_value));
        let all: Vec<String> = latent.tried.iter().map(tried).collect();
        lines.push(("tried", format!("{} states, on a first look", names(&all, WIDTH - 40))));
    }
    lines
}

/// The risk, its interval, its test, and whether to trust it: five lines.
fn headline(estimate: &Estimate, amplified: Option<&Amplified>) -> String {
    let mut lines =
        vec![("risk", risk(estimate)), ("interval", interval(estimate)), ("assumption", verdict(estimate))];
    let error_rate = match &estimate.metrics {
        Ok(metrics) => {
            let error = &metrics.error_rate;
            let rate = with_error(error.estimate.value, error.estimate.standard_error);
            let belief = plain(error.belief);
            let wider = estimate.wider_error_rate.filter(|_| estimate.trusted());
            let wider = wider.map_or(String::new(), |wider| format!("; {} if so", range(wider)));
            let of = match estimate.model.as_deref() {
                None => "of the summed scores, which themselves say".to_owned(),
                Some([view]) => format!("of {}, which itself says", name(view, CLASS_WIDTH)),
                Some(views) => {
                    format!("of {}, which themselves say", name(&views.join("+"), 2 * CLASS_WIDTH))
                }
            };
            format!("{rate}{wider}  ({of} {belief})")
        }
        Err(why) => format!("not known: {why}"),
    };
    lines.insert(2, ("error rate", error_rate));
    if let Some(amplified) = amplified {
        let kept = amplified.agreed();
        let risk = with_error(amplified.risk, amplified.standard_error);
        lines.push((
            "amplified",
            format!("{risk}  (the median of {kept} of {} groups)", amplified.kept.len()),
        ));
    }
    let first = match (estimate.alarms.len(), &estimate.independence.reason) {
        (0, None) => {
            lines.push(("trusted", format!("yes; not seen without labels: {}", unseen(estimate).join(", "))));
            return facts(&lines);
        }
        (0, Some(_)) => "UNTESTED: whether the views are independent given the class".to_owned(),
        (1, _) => "NOT TO BE TRUSTED, for the reason below".to_owned(),
        (reasons, _) => format!("NOT TO BE TRUSTED, for the {reasons} reasons below"),
    };
    format!("{first}\n{}", facts(&lines))
}

/// The risk, and how it is to be read. A bound below what any labels could say is no bound: then it is that.
fn risk(estimate: &Estimate) -> String {
    let (own, loss) = (with_error(estimate.risk, estimate.standard_error), name(&estimate.loss, 20));
    match (estimate.bound, impossible(estimate)) {
        (Some(_), Some([said, least])) => {
            let [said, least] = [with_error(said, estimate.standard_error), plain(least)];
            format!("at least {least}  ({loss} loss; what the views say, {said}, is impossible)")
        }
        (bound, _) => {
            let at_least = bound.map_or("", |_| "at least ");
            format!("{at_least}{own}  ({loss} loss, ± one standard error from {} blocks)", estimate.blocks)
        }
    }
}

/// What the views say where that is below what any labels could, and the least that these could.
fn impossible(estimate: &Estimate) -> Option<[f64; 2]> {
    estimate.alarms.iter().find_map(|alarm| match alarm {
        Alarm::Impossible { loss, risk, least } if *loss == estimate.loss => Some([*risk, *least]),
        _ => None,
    })
}

/// The interval, and what it would be if the views had in common what the rows cannot show. An answer that is not to be trusted has
/// the first alone: what was seen is more than what cannot be.
fn interval(estimate: &Estimate) -> String {
    if impossible(estimate).is_some() {
        return "unknown: nothing within the errors of the risk is possible".to_owned();
    }
    let own = range(estimate.interval);
    let level = percent(estimate.level);
    match estimate.wider_interval.filter(|_| estimate.trusted()) {
        Some(wider) => {
            format!("{own} at {level}; {} if the views share what these rows cannot show", range(wider))
        }
        None => format!("{own}  ({level} confidence, for the population's risk)"),
    }
}

/// What holds whatever the views have in common.
pub(crate) fn floor(estimate: &Estimate) -> Option<(&'static str, String)> {
    let floor = plain(estimate.metrics.as_ref().ok()?.floor);
    let words = format!(
        "a view alone is wrong at least {floor} of the time, on average, whatever they have in common"
    );
    Some(("floor", words))
}

/// Reasons not to trust an answer, and what to do about each of them, beside a diagnosis or not.
pub(super) fn reasons(alarms: &[Alarm], front: Front, subject: Subject) -> Option<String> {
    let lines = alarms.iter().flat_map(|alarm| {
        let remedy = front.remedy_of(alarm, subject);
        [
            wrapped(&format!("- {}", subject.message(alarm)), WIDTH, 2),
            wrapped(&format!("> {remedy}"), WIDTH, 2),
        ]
    });
    (!alarms.is_empty()).then(|| lines.collect::<Vec<_>>().join("\n"))
}

/// That an answer is not to be trusted, and why.
pub(super) fn not_to_be_trusted(alarms: &[Alarm], front: Front, subject: Subject) -> Option<String> {
    reasons(alarms, front, subject).map(|reasons| format!("NOT TO BE TRUSTED\n{reasons}"))
}

/// What could not be tested, and why.
fn untested(estimate: &Estimate, subject: Subject) -> Option<String> {
    let what = match subject {
        Subject::Rows | Subject::Diagnosis => "the views are independent given the class",
        Subject::Sequences { .. } => {
            "what is before a token, in it and after it is independent given its state"
        }
    };
    let words = |reason| format!("UNTESTED: whether {what}: {reason}");
    estimate.independence.reason.as_ref().map(|reason| wrapped(&words(reason), WIDTH, 2))
}

/// What keeps an answer from being trusted, if anything does, and what to do about it; what could not be tested.
pub(super) fn warnings(estimate: &Estimate, alarms: &[Alarm], front: Front, subject: Subject) -> Vec<String> {
    not_to_be_trusted(alarms, front, subject).into_iter().chain(untested(estimate, subject)).collect()
}

/// What the views are taken to be independent given.
pub(crate) fn given(estimate: &Estimate) -> &'static str {
    match &estimate.latent {
        Some(latent) if latent.map.len() > estimate.classes.len() => "the latent state",
        _ => "the class",
    }
}

/// The test in a line.
pub(crate) fn verdict(estimate: &Estimate) -> String {
    let (independence, given) = (&estimate.independence, given(estimate));
    match (independence.verdict, independence.p_value) {
        (Verdict::Untestable, _) | (_, None) => {
            format!("independence of the views given {given} cannot be tested")
        }
        (Verdict::Pass, Some(p)) => {
            format!("no dependence of the views given {given} was seen (p = {p:.3})")
        }
        (Verdict::Fail, Some(p)) => format!("the views depend on each other given {given} (p = {p:.3})"),
    }
}

/// The test in full.
fn independence(estimate: &Estimate) -> String {
    let independence = &estimate.independence;
    let mut lines = vec![("assumption", verdict(estimate))];
    if let Some(statistic) = independence.statistic {
        lines.push((
            "statistic",
            format!("{} (squared misfit, zero on average if independent)", plain(statistic)),
        ));
        lines.push((
            "freedom",
            format!("{} moments to test with", count(independence.degrees_of_freedom as u64)),
        ));
    }
    for cause in &independence.common_causes {
        let views: Vec<String> = cause.views.iter().map(|&v| estimate.groups[v].clone()).collect();
        let views = if views.len() == VIEWS { "all views".to_owned() } else { names(&views, 40) };
        let share = with_error(cause.share, cause.standard_error);
        lines.push((
            "in common",
            format!("{share} of the rows hard in {views} at once (p = {:.3})", cause.p_value),
        ));
    }
    facts(&lines)
}

/// Which views depend on each other, within which class, how strongly: each pair on the whole, then the strongest.
fn dependences(estimate: &Estimate) -> String {
    let all = &estimate.independence.dependences;
    let mut shown: Vec<&Dependence> = all.iter().filter(|line| line.class.is_none()).collect();
    let mut within: Vec<&Dependence> = all.iter().filter(|line| line.class.is_some()).collect();
    within.sort_by(|a, b| a.p_value.total_cmp(&b.p_value).then(b.correlation.total_cmp(&a.correlation)));
    let left_out = within.len().saturating_sub(SHOWN_DEPENDENCES);
    shown.extend(within.into_iter().take(SHOWN_DEPENDENCES));
    let header = ["views", "", "within class", "correlation", "p"].map(str::to_owned).to_vec();
    let mut rows = vec![header];
    rows.extend(shown.iter().map(|line| {
        let [a, b] = line.views.map(|v| name(&estimate.groups[v], CLASS_WIDTH));
        let class = line.class.map_or("all".to_owned(), |class| name(&estimate.classes[class], CLASS_WIDTH));
        vec![a, b, class, format!("{:.3}", line.correlation), format!("{:.3}", line.p_value)]
    }));
    let align = [Align::Left, Align::Left, Align::Left, Align::Right, Align::Right];
    let mut text =
        "correlation of two views given the class: each pair, then the classes of the pairs at fault\n\n"
            .to_owned();
    text += &aligned(&align, rows);
    if left_out > 0 {
        text += &format!("\n\n{left_out} more lines left out here; --json has them all");
    }
    text
}

/// An interval with as many digits as its width is worth.
pub fn range(interval: Interval) -> String {
    let half = 0.5 * (interval.high - interval.low);
    if !half.is_finite() {
        return "unknown".to_owned();
    }
    let [low, high] = [interval.low, interval.high].map(|end| to_digits_of(end, half));
    format!("{low} to {high}")
}

/// A level of confidence as people say it.
pub(crate) fn percent(level: f64) -> String {
    let digits = format!("{:.8}", 100.0 * level);
    format!("{}%", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// What each group of views says of the true class, class by class.
fn classes(estimate: &Estimate) -> String {
    let shown = shown_classes(&estimate.class_prior);
    let k = estimate.classes.len();
    let of_group = |group: usize, j: usize| {
        let terms = estimate.conditional_risk.iter().zip(&estimate.holder_groups);
        terms.filter(|(_, of)| **of == group).map(|(m, _)| m[j][j]).sum::<f64>()
    };
    // Those of witnesses alone have no scores.
    let groups: Vec<usize> =
        (0..estimate.groups.len()).filter(|group| estimate.holder_groups.contains(group)).collect();
    let products = loss::by_name(&estimate.loss).is_ok_and(|loss| loss.form() != Form::Sum);
    let total = |i: usize, j: usize| {
        let terms = estimate.conditional_risk.iter().map(|m| m[i][j]);
        if products { terms.product::<f64>() } else { terms.sum() }
    };
    // A product is the loss itself, and the smaller the better.
    let gain = |i: usize, j: usize| if products { -total(i, j) } else { total(i, j) };
    let rivals: Vec<usize> = shown
        .iter()
        .map(|&j| {
            let others = (0..k).filter(|&i| i != j);
            others.max_by(|&a, &b| gain(a, j).total_cmp(&gain(b, j))).unwrap_or(j)
        })
        .collect();

    let class = |&j: &usize| name(&estimate.classes[j], CLASS_WIDTH);
    let numbers = |of: &dyn Fn(usize) -> f64| column(&shown.iter().map(|&j| of(j)).collect::<Vec<_>>());
    let mut cells: Vec<Vec<String>> = vec![shown.iter().map(class).collect()];
    cells.push(numbers(&|j| estimate.class_prior[j]));
    cells.push(numbers(&|j| {
        let Interval { low, high } = estimate.class_prior_interval[j];
        0.5 * (high - low)
    }));
    for &group in &groups {
        cells.push(numbers(&|j| of_group(group, j)));
    }
    cells.push(numbers(&|j| total(j, j)));
    cells.push(rivals.iter().map(class).collect());
    let leads: Vec<f64> = shown.iter().zip(&rivals).map(|(&j, &rival)| gain(j, j) - gain(rival, j)).collect();
    cells.push(column(&leads));

    let mut header = vec!["class".to_owned(), "prior".to_owned(), format!("± ({})", percent(estimate.level))];
    header.extend(groups.iter().map(|&group| name(&estimate.groups[group], VIEW_WIDTH)));
    let whole = if products { "product" } else { "sum" };
    header.extend([whole, "nearest rival", "lead"].map(str::to_owned));
    let mut align = vec![Align::Right; header.len()];
    align[0] = Align::Left;
    align[groups.len() + 4] = Align::Left;
    let mut rows = vec![header];
    rows.extend((0..shown.len()).map(|row| cells.iter().map(|column| column[row].clone()).collect()));
    if shown.len() < k {
        rows.insert(LARGEST + 1, vec!["…".to_owned()]);
    }

    let by = if estimate.views.len() > estimate.groups.len() { "group" } else { "view" };
    // A loss of the whole prediction has no terms; the fit that it rests on is the log loss's.
    let scores = estimate.loss == "log" || Whole::named(&estimate.loss).is_some();
    let term = if scores { "score" } else { "term" };
    let mut text = format!(
        "conditional risk: the mean {term} E[f(x, j) | y = j] of each class j on its own rows, by {by};\n\
        its nearest rival there and its lead over it\n\n"
    );
    text += &aligned(&align, rows);
    if shown.len() < k {
        text += &format!("\n\n{} of {k} classes left out here; --json has them all", k - shown.len());
    }
    text
}

/// The classes to show, most frequent first where not all are.
fn shown_classes(prior: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..prior.len()).collect();
    if prior.len() <= ALL_CLASSES {
        return order;
    }
    order.sort_by(|&a, &b| prior[b].total_cmp(&prior[a]));
    order.drain(LARGEST..prior.len() - SMALLEST);
    order
}

/// The quantities that say how hard the problem was.
pub(super) fn conditioning(estimate: &Estimate) -> String {
    let conditioning = &estimate.conditioning;
    let mut header = vec!["conditioning".to_owned()];
    header.extend(estimate.groups.iter().map(|group| name(group, VIEW_WIDTH)));
    let mut values = vec!["smallest singular value".to_owned()];
    values.extend(column(&conditioning.smallest_singular_value));
    let mut align = vec![Align::Right; header.len()];
    align[0] = Align::Left;
    let rarest = (0..estimate.classes.len())
        .min_by(|&a, &b| estimate.class_prior[a].total_cmp(&estimate.class_prior[b]))
        .map_or(String::new(), |j| format!(" ({})", name(&estimate.classes[j], CLASS_WIDTH)));
    let rest = facts(&[
        ("smallest prior", plain(conditioning.smallest_prior) + &rarest),
        ("tau", plain(conditioning.tau)),
        ("rows needed", format!("{} to tell all classes apart", rows_needed(conditioning.rows_needed))),
        (
            "matching gap",
            format!("{}, {}", plain(estimate.matching_gap), range(estimate.matching_gap_interval)),
        ),
    ]);
    format!("{}\n{rest}", aligned(&align, [header, values]))
}

/// A number of rows to two digits: it is no more than a rule of thumb.
pub(crate) fn rows_needed(rows: f64) -> String {
    if rows.is_nan() || rows >= 1e12 {
        return "more than there could be".to_owned();
    }
    let digit = 10f64.powf((rows.max(10.0).log10().floor() - 1.0).max(0.0));
    format!("about {}", count(((rows / digit).ceil() * digit) as u64))
}

/// Whatever else is known of what was looked at, and of how well it could be known: one to a line.
pub(crate) fn facts_of(estimate: &Estimate) -> Vec<(&'static str, String)> {
    let conditioning = &estimate.conditioning;
    let mut lines = groups(estimate);
    lines.extend(missing(&estimate.views, &estimate.missing).map(|line| ("missing", line)));
    if !estimate.covariates.is_empty() {
        lines.push(("beside", format!("features {}", names(&estimate.covariates, WIDTH))));
    }
    lines.extend(latent(estimate));
    lines.push((
        "rows needed",
        format!("{} to tell all classes apart", rows_needed(conditioning.rows_needed)),
    ));
    lines.push(("tau", plain(conditioning.tau)));
    let gap = format!("{}, {}", plain(estimate.matching_gap), range(estimate.matching_gap_interval));
    lines.push(("matching gap", gap));
    let Fit { start, features, surrogate, .. } = &estimate.fit;
    let how = format!("from the {start} start, features {features}, surrogate labels {surrogate}");
    lines.push((
        "fit",
        format!("{} after {} iterations {how}", ended(estimate), count(estimate.fit.iterations as u64)),
    ));
    lines
}

/// How the fit ended.
fn ended(estimate: &Estimate) -> &'static str {
    match estimate.fit.status {
        Status::Converged => "converged",
        Status::IterationLimit => "not converged",
        Status::Degenerate => "degenerate",
    }
}

/// How the moments were solved.
pub(super) fn fit(estimate: &Estimate) -> String {
    let fit = &estimate.fit;
    let status = ended(estimate);
    let iterations = count(fit.iterations as u64);
    let (distance, objective) = (fit.distance, plain(fit.objective));
    let answer = match fit.moments_share {
        1.0 => "the moments' own".to_owned(),
        share => format!("{share:.2} the moments', the rest the fitted posterior's"),
    };
    facts(&[
        ("fit", format!("{status} after {iterations} iterations from the {} start", fit.start)),
        ("distance", format!("{distance}, {objective} at the end")),
        ("features", format!("{}, with {} surrogate labels", fit.features, fit.surrogate)),
        ("answer", answer),
    ])
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use triview::data::Partition;
    use triview::diagnostics::{Alarm, Conditioning, Independence};
    use triview::error::Unmeasured;
    use triview::moments::Grouping;
    use unicode_width::UnicodeWidthStr;

    fn around(value: f64) -> Interval {
        Interval { low: value - 0.0123, high: value + 0.0123 }
    }

    fn dependence(line: usize) -> Dependence {
        Dependence {
            views: [0, 1],
            class: line.checked_sub(1),
            correlation: 0.02 * line as f64,
            p_value: 1.0 / (2.0 + line as f64),
        }
    }

    fn empty(class: &str) -> Alarm {
        Alarm::EmptyClass { class: class.into(), prior: 1e-5 }
    }

    /// An answer for `k` classes whose numbers are easy to recognise.
    pub(crate) fn estimate(k: usize) -> Estimate {
        let prior: Vec<f64> = (0..k).map(|j| (k - j) as f64).collect();
        let sum: f64 = prior.iter().sum();
        let matrix = |view: usize| -> Vec<Vec<f64>> {
            let cell = |i: usize, j: usize| {
                if i == j { -0.25 * (view + 1) as f64 } else { -1.5 - i as f64 / k as f64 }
            };
            (0..k).map(|i| (0..k).map(|j| cell(i, j)).collect()).collect()
        };
        Estimate {
            risk: 0.171_234,
            standard_error: 0.006_14,
            tail: 0.0,
            interval: around(0.171_234),
            bound: None,
            wider_interval: None,
            wider_error_rate: None,
            level: 0.95,
            loss: "log".into(),
            rows: 10_000,
            missing: vec![0; 3],
            blocks: 64,
            views: ["image", "text", "audio"].map(str::to_owned).to_vec(),
            model: None,
            witnesses: Vec::new(),
            each: None,
            prediction: None,
            partition: Partition::single(),
            grouping: Grouping { chosen: Chosen::Automatic, together: Vec::new(), others: Vec::new() },
            groups: ["image", "text", "audio"].map(str::to_owned).to_vec(),
            holders: ["image", "text", "audio"].map(str::to_owned).to_vec(),
            holder_groups: vec![0, 1, 2],
            covariates: Vec::new(),
            classes: (0..k).map(|class| format!("class {class}")).collect(),
            class_prior: prior.iter().map(|p| p / sum).collect(),
            class_prior_interval: prior.iter().map(|p| around(p / sum)).collect(),
            latent: None,
            conditional_risk: (0..3).map(matrix).collect(),
            conditional_risk_interval: vec![vec![vec![around(-1.0); k]; k]; 3],
            matching_gap: 1.934_5,
            matching_gap_interval: around(1.934_5),
            fit: Fit {
                status: Status::Converged,
                start: "tensor",
                features: "posterior",
                surrogate: "pair",
                distance: "squares",
                objective: 0.010_34,
                iterations: 87,
                moments_share: 0.25,
            },
            conditioning: Conditioning {
                smallest_singular_value: vec![0.912, 0.881, 0.795],
                smallest_prior: prior[k - 1] / sum,
                tau: 31.25,
                rows_needed: 1_234.5,
            },
            independence: Independence {
                verdict: Verdict::Pass,
                statistic: Some(0.000_31),
                deviation: Some(0.000_5),
                p_value: Some(0.283),
                common_causes: Vec::new(),
                degrees_of_freedom: 12,
                reason: None,
                dependences: (0..=k).map(dependence).collect(),
            },
            metrics: Err(Unmeasured::NoRows),
            alarms: Vec::new(),
        }
    }

    #[test]
    fn three_classes() {
        insta::assert_snapshot!(super::estimate(&estimate(3), None, Front::CommandLine, true));
    }

    #[test]
    fn the_first_five_lines_are_what_people_came_for() {
        let short = super::estimate(&estimate(3), None, Front::CommandLine, false);
        let first: Vec<&str> =
            short.lines().take(6).map(|line| line.split("  ").next().unwrap_or("")).collect();
        assert_eq!(first, ["risk", "interval", "error rate", "assumption", "trusted", ""]);
        assert!(short.lines().nth(4).is_some_and(|line| line.contains("crossed") && line.contains("share")));
        let full = super::estimate(&estimate(3), None, Front::CommandLine, true);
        for word in ["tau", "singular", "distance", "fit "] {
            assert!(!short.contains(word) && full.contains(word), "{word}");
        }
        let mut doubted = estimate(3);
        doubted.alarms = vec![empty("class 1")];
        let text = super::estimate(&doubted, None, Front::CommandLine, false);
        let lines: Vec<&str> = text.lines().take(7).collect();
        assert_eq!(lines[0], "NOT TO BE TRUSTED, for the reason below");
        assert!(
            lines[1].starts_with("risk") && lines[5].is_empty() && lines[6].starts_with("- class"),
            "{text}"
        );
    }

    #[test]
    fn many_classes_are_cut() {
        insta::assert_snapshot!(super::estimate(&estimate(100), None, Front::CommandLine, true));
    }

    #[test]
    fn what_is_not_to_be_trusted_says_so_first() {
        let mut degenerate = estimate(2);
        degenerate.fit.status = Status::Degenerate;
        degenerate.alarms =
            vec![empty("class 1"), Alarm::Impossible { loss: "log".into(), risk: -0.5, least: 0.01 }];
        insta::assert_snapshot!(super::estimate(&degenerate, None, Front::CommandLine, true));
        let mut untested = estimate(2);
        untested.independence.verdict = Verdict::Untestable;
        untested.independence.reason = Some("there is too little to test with".into());
        let text = super::estimate(&untested, None, Front::CommandLine, true);
        assert!(text.starts_with("UNTESTED"), "{text}");
    }

    #[test]
    fn a_diagnosis_names_the_views_and_classes() {
        insta::assert_snapshot!(diagnosis(&estimate(14), Front::CommandLine));
    }

    #[test]
    fn nothing_is_wider_than_the_page() {
        for k in [2, 20, 21, 400] {
            let mut wild = estimate(k);
            wild.views = vec!["v".repeat(300), "視".repeat(300), "a\tb\n".repeat(50), "w".into()];
            wild.groups = wild.views[..3].to_vec();
            wild.grouping.together = vec![vec![0, 1, 2, 3]];
            wild.grouping.others = vec![OtherPartition {
                partition: Partition::single(),
                difference: -1e12,
                standard_error: 1e-3,
            }];
            wild.classes = (0..k).map(|class| format!("{class}{}", "級\u{7}x".repeat(90))).collect();
            wild.class_prior.iter_mut().for_each(|p| *p *= 1e-9);
            wild.conditional_risk[0].iter_mut().flatten().for_each(|cell| *cell *= -1.234_567e13);
            wild.conditioning.tau = 1e300;
            wild.rows = u64::MAX;
            wild.missing = vec![u64::MAX; 4];
            wild.risk = -1e15;
            wild.alarms = vec![empty(&"級".repeat(200))];
            wild.interval = Interval { low: -1e15, high: 1e16 };
            let front = Front::CommandLine;
            let text = super::estimate(&wild, None, front, true) + &diagnosis(&wild, front);
            for line in text.lines() {
                assert!(line.width() <= WIDTH, "{} columns: {line}", line.width());
            }
        }
    }
}
