//! The text of an estimate.

use super::number::{column, plain, with_error};
use super::table::{Align, WIDTH, aligned, facts, name, names, wrapped};
use indicatif::HumanCount;
use triview::estimator::{Estimate, Status};

/// Up to this many classes all are shown, beyond it the [`LARGEST`] and the [`SMALLEST`].
const ALL_CLASSES: usize = 20;
/// So many of the most frequent classes are shown where not all are.
const LARGEST: usize = 10;
/// So many of the rarest classes are shown where not all are.
const SMALLEST: usize = 5;
/// Room for the name of a class.
const CLASS_WIDTH: usize = 16;
/// Room for the name of a view above a column of numbers.
const VIEW_WIDTH: usize = 9;

/// The whole answer: warnings, the risk, what it is the risk of, and how well it could be known.
pub(crate) fn estimate(estimate: &Estimate) -> String {
    let mut parts = warnings(estimate);
    let risk = with_error(estimate.risk, estimate.standard_error);
    parts.push(format!(
        "risk  {risk}  ({} loss, ± one standard error from {} blocks)",
        name(&estimate.loss, 20),
        estimate.blocks
    ));
    parts.push(facts(&[
        ("rows", HumanCount(estimate.rows).to_string()),
        ("views", names(&estimate.views, WIDTH - 12)),
        ("classes", format!("{}: {}", estimate.classes.len(), names(&estimate.classes, WIDTH - 20))),
    ]));
    parts.push(classes(estimate));
    parts.push(conditioning(estimate));
    parts.push(fit(estimate));
    parts.join("\n\n") + "\n"
}

/// What keeps the answer from being trusted, if anything does.
fn warnings(estimate: &Estimate) -> Vec<String> {
    let mut lines = Vec::new();
    match estimate.fit.status {
        Status::Degenerate => lines.push("NOT TO BE TRUSTED: the fit is degenerate".to_owned()),
        Status::IterationLimit => lines.push("caution: the fit stopped before it converged".to_owned()),
        _ if !estimate.alarms.is_empty() => lines.push("caution:".to_owned()),
        _ => return lines,
    }
    lines.extend(estimate.alarms.iter().map(|alarm| wrapped(&format!("- {alarm}"), WIDTH, 2)));
    vec![lines.join("\n")]
}

/// What each view says of the true class, class by class.
fn classes(estimate: &Estimate) -> String {
    let shown = shown_classes(&estimate.class_prior);
    let k = estimate.classes.len();
    let views = estimate.conditional_risk.len();
    let total = |i: usize, j: usize| estimate.conditional_risk.iter().map(|m| m[i][j]).sum::<f64>();
    let rivals: Vec<usize> = shown
        .iter()
        .map(|&j| {
            let others = (0..k).filter(|&i| i != j);
            others.max_by(|&a, &b| total(a, j).total_cmp(&total(b, j))).unwrap_or(j)
        })
        .collect();

    let class = |&j: &usize| name(&estimate.classes[j], CLASS_WIDTH);
    let numbers = |of: &dyn Fn(usize) -> f64| column(&shown.iter().map(|&j| of(j)).collect::<Vec<_>>());
    let mut cells: Vec<Vec<String>> = vec![shown.iter().map(class).collect()];
    cells.push(numbers(&|j| estimate.class_prior[j]));
    for view in 0..views {
        cells.push(numbers(&|j| estimate.conditional_risk[view][j][j]));
    }
    cells.push(numbers(&|j| total(j, j)));
    cells.push(rivals.iter().map(class).collect());
    let leads: Vec<f64> =
        shown.iter().zip(&rivals).map(|(&j, &rival)| total(j, j) - total(rival, j)).collect();
    cells.push(column(&leads));

    let mut header = vec!["class".to_owned(), "prior".to_owned()];
    header.extend(estimate.views.iter().map(|view| name(view, VIEW_WIDTH)));
    header.extend(["sum", "nearest rival", "lead"].map(str::to_owned));
    let mut align = vec![Align::Right; header.len()];
    align[0] = Align::Left;
    align[views + 3] = Align::Left;
    let mut rows = vec![header];
    rows.extend((0..shown.len()).map(|row| cells.iter().map(|column| column[row].clone()).collect()));
    if shown.len() < k {
        rows.insert(LARGEST + 1, vec!["…".to_owned()]);
    }

    let mut text =
        "conditional risk: the mean score E[f(x, j) | y = j] of each class j on its own rows, by view;\n\
        its nearest rival there and its lead over it\n\n"
            .to_owned();
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
fn conditioning(estimate: &Estimate) -> String {
    let conditioning = &estimate.conditioning;
    let mut header = vec!["conditioning".to_owned()];
    header.extend(estimate.views.iter().map(|view| name(view, VIEW_WIDTH)));
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
        ("matching gap", plain(estimate.matching_gap)),
    ]);
    format!("{}\n{rest}", aligned(&align, [header, values]))
}

/// How the moments were solved.
fn fit(estimate: &Estimate) -> String {
    let fit = &estimate.fit;
    let status = match fit.status {
        Status::Converged => "converged",
        Status::IterationLimit => "not converged",
        Status::Degenerate => "degenerate",
    };
    let iterations = HumanCount(fit.iterations as u64);
    let (distance, objective) = (fit.distance, plain(fit.objective));
    facts(&[
        ("fit", format!("{status} after {iterations} iterations from the {} start", fit.start)),
        ("distance", format!("{distance}, {objective} at the end")),
        ("features", format!("{}, with {} surrogate labels", fit.features, fit.surrogate)),
    ])
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use triview::estimator::{Conditioning, Fit};
    use unicode_width::UnicodeWidthStr;

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
            loss: "log".into(),
            rows: 10_000,
            blocks: 64,
            views: ["image", "text", "audio"].map(str::to_owned).to_vec(),
            classes: (0..k).map(|class| format!("class {class}")).collect(),
            class_prior: prior.iter().map(|p| p / sum).collect(),
            conditional_risk: (0..3).map(matrix).collect(),
            matching_gap: 1.934_5,
            fit: Fit {
                status: Status::Converged,
                start: "tensor",
                features: "posterior",
                surrogate: "pair",
                distance: "squares",
                objective: 0.010_34,
                iterations: 87,
            },
            conditioning: Conditioning {
                smallest_singular_value: vec![0.912, 0.881, 0.795],
                smallest_prior: prior[k - 1] / sum,
                tau: 31.25,
            },
            alarms: Vec::new(),
        }
    }

    #[test]
    fn three_classes() {
        insta::assert_snapshot!(super::estimate(&estimate(3)));
    }

    #[test]
    fn many_classes_are_cut() {
        insta::assert_snapshot!(super::estimate(&estimate(100)));
    }

    #[test]
    fn what_is_not_to_be_trusted_says_so_first() {
        let mut degenerate = estimate(2);
        degenerate.fit.status = Status::Degenerate;
        degenerate.alarms =
            vec!["class `class 1` has no rows".into(), "risk below the smallest possible loss".into()];
        insta::assert_snapshot!(super::estimate(&degenerate));
        let mut caution = estimate(2);
        caution.fit.status = Status::IterationLimit;
        assert!(
            super::estimate(&caution).starts_with("caution: the fit stopped before it converged\n\nrisk")
        );
    }

    #[test]
    fn nothing_is_wider_than_the_page() {
        for k in [2, 20, 21, 400] {
            let mut wild = estimate(k);
            wild.views = vec!["v".repeat(300), "視".repeat(300), "a\tb\n".repeat(50)];
            wild.classes = (0..k).map(|class| format!("{class}{}", "級\u{7}x".repeat(90))).collect();
            wild.class_prior.iter_mut().for_each(|p| *p *= 1e-9);
            wild.conditional_risk[0].iter_mut().flatten().for_each(|cell| *cell *= -1.234_567e13);
            wild.conditioning.tau = 1e300;
            wild.rows = u64::MAX;
            wild.risk = -1e15;
            wild.alarms = vec![format!("class `{}` has no rows", "級".repeat(200))];
            let text = super::estimate(&wild);
            for line in text.lines() {
                assert!(line.width() <= WIDTH, "{} columns: {line}", line.width());
            }
        }
    }
}
