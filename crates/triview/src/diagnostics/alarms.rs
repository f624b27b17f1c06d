//! What speaks against an answer, in words, and what to do about it.

use super::independence::FEWEST_BLOCKS;
use super::{Conditioning, Tested, Verdict};
use crate::answer::{Agreement, Quantities, Solution};
use crate::answer::{least_risk, rows_carrying_squares};
use crate::data::VIEWS;
use crate::estimator::Status;
use crate::moments::{Moments, others};
use crate::planning::OtherGroups;
use std::fmt;

/// A class that has fewer rows than this by the fit is not identified.
const FEWEST_OF_A_CLASS: f64 = 5.0;
/// Fewer rows than this, and than this share of all, that make up the squares of a heavy-tailed loss leave nothing to go by. Terms whose
/// number beyond `t` falls with `t^-2`, which is where the variance becomes infinite, have some 60 of 20,000 rows, and with `t^-2.5` some 800.
const FEWEST_CARRYING: f64 = 800.0;
const SMALLEST_SHARE_CARRYING: f64 = 0.04;
/// Standard errors by which a risk must be below the smallest possible loss.
const BELOW_POSSIBLE: f64 = 2.0;
/// Standard errors by which two estimates of the same risk must differ.
const DISAGREEMENT: f64 = 4.0;
/// Standard errors by which the best naming must lead the second-best.
const GAP_ERRORS: f64 = 2.0;
/// A block of rows that makes up more than this share of the squared standard error holds something enormous; of 64
/// blocks of like rows the largest makes up a sixth.
const LARGEST_BLOCK: f64 = 0.5;
/// Two optima fit equally well when `2 n` times the difference of their squared distances, which is of the order of
/// a chi-squared variable, is no larger than this.
const EQUAL_FIT: f64 = 6.0;

/// A reason not to trust an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub remedy: &'static str,
}

impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What makes a solution degenerate: a fit that identifies nothing.
pub(crate) fn degeneracies(moments: &Moments, solution: &Solution) -> Vec<Alarm> {
    let (schema, layout, total) = (&moments.header().schema, moments.layout(), moments.total());
    let n = layout.rows.of(&total)[0];
    let mut alarms = Vec::new();
    let mut raise = |message: String, remedy| alarms.push(Alarm { message, remedy });
    for (class, p) in schema.classes().iter().zip(&solution.prior) {
        if p * n < FEWEST_OF_A_CLASS {
            raise(
                format!("class `{class}` has a prior of {p:.2e}: next to no rows are its own"),
                "leave the class out, or give rows in which it occurs",
            );
        }
    }
    let header = moments.header();
    if header.states() > schema.k() {
        for (state, p) in
            solution.main.mixture.prior.iter().enumerate().filter(|(_, p)| **p * n < FEWEST_OF_A_CLASS)
        {
            raise(
                format!("latent state {} has a prior of {p:.2e}: next to no rows are its own", state + 1),
                "ask for fewer latent states",
            );
        }
        for &class in &solution.main.matching.nameless {
            raise(
                format!("class `{}` is the best name of no latent state", schema.classes()[class]),
                "ask for another number of latent states, or leave the class out",
            );
        }
    }
    let remedy = match header.states() > schema.k() {
        true => "give more rows, stronger views, or ask for fewer latent states",
        false => "give more rows, stronger views, or merge classes that a view cannot tell apart",
    };
    let told_apart = format!("all {} {}", header.states(), header.latent_noun());
    for message in weak_views(&header.group_names(), header.states(), &told_apart, &solution.agreement) {
        raise(message, remedy);
    }
    if solution.deviations.count() < 2 {
        raise(
            "all rows are in one block, so nothing is known of the error".into(),
            "give clusters of fewer rows, or none",
        );
    } else if !(solution.risk.value.is_finite() && solution.standard_error().is_finite()) {
        raise(
            "the risk is not a finite number".into(),
            "look for enormous scores, or try --feature-map softmax",
        );
    }
    alarms
}

/// Whether a risk is below the smallest possible one by more than its error explains.
pub(crate) fn impossible(risk: f64, error: f64, least: f64) -> bool {
    risk < least - BELOW_POSSIBLE * error
}

/// What is said of a loss of which so few rows make up the squares that no rows, with labels or without, tell its mean.
pub(crate) fn heavy_tail(moments: &Moments) -> Option<Alarm> {
    let loss = &moments.header().loss;
    let carrying = rows_carrying_squares(moments.layout(), &moments.total());
    let fewest = FEWEST_CARRYING.min(SMALLEST_SHARE_CARRYING * moments.rows() as f64);
    (loss.heavy_tailed() && carrying < fewest).then(|| Alarm {
        message: format!(
            "about {carrying:.0} of the rows make up the squares of the {} loss: its tail is so heavy that its variance may \
             be infinite, and neither these rows nor their labels tell its mean",
            loss.name()
        ),
        remedy: "scale the scores down, centre them over the classes, or take another loss",
    })
}

/// All that speaks against a solution, and how its fit ended.
pub(crate) fn alarms(
    moments: &Moments,
    solution: &Solution,
    tested: &Tested,
    conditioning: &Conditioning,
    gap_error: f64,
) -> (Status, Vec<Alarm>) {
    let (layout, total) = (moments.layout(), moments.total());
    let n = layout.rows.of(&total)[0];
    let (risk, error) = (solution.risk.value, solution.standard_error());
    let mut alarms = degeneracies(moments, solution);
    let degenerate = !alarms.is_empty();

    // What is asked may be another loss, of the whole prediction, that rests on this one's fit.
    let loss = moments.header().loss.name();
    let mut raise = |message: String, remedy| alarms.push(Alarm { message, remedy });
    let blocks = solution.deviations.count();
    if (2..FEWEST_BLOCKS).contains(&blocks) {
        raise(
            format!("the rows are in {blocks} blocks, so next to nothing is known of the error"),
            "give clusters of fewer rows, or none",
        );
    }
    if !solution.main.refined.converged {
        raise("the fit did not converge".into(), "give more rows, or try --feature-map softmax");
    }
    if tested.independence.verdict == Verdict::Fail {
        let p = tested.independence.p_value.unwrap_or(0.0);
        if moments.header().states() > moments.header().schema.k() {
            raise(
                format!("the views are not independent given the latent state (p = {p:.3})"),
                "ask for more latent states: --latent auto takes as few as the test accepts",
            );
        } else if layout.missing.of(&total).iter().any(|missing| *missing > 0.0) {
            raise(
                format!("the views are not independent given the class (p = {p:.3})"),
                "views that are missing together depend on each other, and so do those of a table without the rows that lack \
                 every view; otherwise replace one of the views that `triview diagnose` shows, or cut them so that they share \
                 no noise",
            );
        } else {
            raise(
                format!("the views are not independent given the class (p = {p:.3})"),
                "`triview diagnose` shows which views depend on each other: replace one, or cut them so that they share no noise",
            );
        }
    }
    let least = least_risk(layout, &total);
    if impossible(risk, error, least) {
        raise(
            format!(
                "the {loss} risk {risk:.4} is below the smallest possible loss of these rows, {least:.4}"
            ),
            "the views depend on each other: `triview diagnose` may show which",
        );
    }
    alarms.extend(heavy_tail(moments));
    let mut raise = |message: String, remedy| alarms.push(Alarm { message, remedy });
    let largest = solution.deviations.largest_share(Quantities::risk);
    if solution.deviations.count() >= 16 && largest > LARGEST_BLOCK {
        raise(
            format!("a single block of rows makes up {:.0}% of the squared standard error", 100.0 * largest),
            "look for enormous scores, or see what most groups of rows agree on with --amplify 16",
        );
    }
    if let Some(by_bins) = &tested.by_bins {
        let joint = solution.deviations.of_difference(&by_bins.deviations);
        if (risk - by_bins.risk).abs() > DISAGREEMENT * joint {
            raise(
                format!(
                    "another feature map says {:.4} of the {loss} risk, beyond their joint error of {joint:.4}",
                    by_bins.risk
                ),
                "the views may depend on each other: `triview diagnose` may show which",
            );
        }
    }
    let header = moments.header();
    let apart = |other: &&OtherGroups| other.difference.abs() > DISAGREEMENT * other.standard_error;
    if let Some(other) = header.grouping.others.iter().find(apart) {
        raise(
            format!(
                "with the views grouped into {} the {loss} risk is {:+.4} off, beyond the joint error of {:.4}",
                other.groups.names(header.schema.views()).join(", "),
                other.difference,
                other.standard_error
            ),
            "views that depend on each other are in different groups: put what shares noise into one with --group",
        );
    }
    if let Some(rival) = solution.rival
        && 2.0 * n * rival.excess < EQUAL_FIT
        && rival.difference.abs() > 2.0 * error
    {
        raise(
            format!(
                "another optimum fits as well and says {:.4} of the {loss} risk",
                risk + rival.difference
            ),
            "give more rows: these do not decide between the two",
        );
    }
    if solution.gap <= GAP_ERRORS * gap_error {
        raise(
            "the best naming of the classes leads the second-best by less than its error".into(),
            "the model hardly tells some classes apart: merge them, or give more rows",
        );
    }
    if !degenerate && conditioning.rows_needed > n {
        raise(
            format!(
                "about {:.0} rows are needed to tell all {} apart",
                conditioning.rows_needed,
                header.latent_noun()
            ),
            "give more rows, stronger views, or merge classes that a view cannot tell apart",
        );
    }
    let status = match (degenerate, solution.main.refined.converged) {
        (true, _) => Status::Degenerate,
        (false, true) => Status::Converged,
        (false, false) => Status::IterationLimit,
    };
    (status, alarms)
}

/// Names the views that do not tell all classes apart: those that agree with neither of the others in enough
/// directions. Where no single view is to blame, the pairs that do not agree.
fn weak_views(views: &[String], k: usize, all: &str, agreement: &[Agreement; VIEWS]) -> Vec<String> {
    let weak: Vec<bool> = agreement.iter().map(|pair| pair.correlation < pair.chance).collect();
    let blamed = |v: usize| !weak[v] && others(v).into_iter().all(|a| weak[a]);
    if let Some(v) = (0..VIEWS).find(|&v| blamed(v)) {
        return vec![format!("view `{}` does not tell {all} apart", views[v])];
    }
    let pair = |v: usize| {
        let [a, b] = others(v);
        format!(
            "views `{}` and `{}` agree in fewer than {} directions: not {all} are told apart",
            views[a],
            views[b],
            k - 1
        )
    };
    (0..VIEWS).filter(|&v| weak[v]).map(pair).collect()
}
