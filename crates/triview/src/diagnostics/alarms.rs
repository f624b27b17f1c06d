//! What speaks against an answer.

use super::alarm::{Alarm, Given};
use super::{Conditioning, Tested, Verdict};
use crate::answer::{Blended, Shrunk, impossible, least_risk, rows_carrying_squares};
use crate::data::{VIEWS, others};
use crate::fit::{Agreement, Status};
use crate::moments::{Moments, OtherPartition, Plan};
use crate::settings::independence::FEWEST_BLOCKS;
use crate::settings::limits;

/// What the views of a plan are taken to be independent given.
pub(crate) fn given(plan: &Plan) -> Given {
    if plan.states() > plan.schema.k() { Given::LatentState } else { Given::Class }
}

/// What makes an answer of the moments degenerate: a fit that identifies nothing.
pub(crate) fn degeneracies(moments: &Moments, blended: &Blended) -> Vec<Alarm> {
    let (plan, schema) = (moments.plan(), &moments.plan().schema);
    let n = moments.rows() as f64;
    let mut alarms = Vec::new();
    for (class, &prior) in schema.classes().iter().zip(&blended.quantities.prior) {
        if prior * n < limits::FEWEST_OF_A_CLASS {
            alarms.push(Alarm::EmptyClass { class: class.clone(), prior });
        }
    }
    let main = blended.main();
    if given(plan) == Given::LatentState {
        let rare = main.mixture.prior.iter().enumerate().filter(|(_, p)| **p * n < limits::FEWEST_OF_A_CLASS);
        alarms.extend(rare.map(|(state, &prior)| Alarm::EmptyState { state: state + 1, prior }));
        let nameless = main.matching.nameless.iter();
        alarms.extend(nameless.map(|&class| Alarm::NamelessClass { class: schema.classes()[class].clone() }));
    }
    alarms.extend(weak_views(plan, &blended.variants.agreement));
    if blended.deviations.count() < 2 {
        alarms.push(Alarm::OneBlock);
    } else if !(blended.quantities.risk.is_finite() && blended.standard_error().is_finite()) {
        alarms.push(Alarm::NotFinite);
    }
    alarms
}

/// What is said of a loss of which so few rows make up the squares that no rows, with labels or without, tell its mean.
pub(crate) fn heavy_tail(moments: &Moments) -> Option<Alarm> {
    let loss = &moments.plan().loss;
    let rows = rows_carrying_squares(moments.layout(), &moments.total());
    let fewest = limits::FEWEST_CARRYING.min(limits::SMALLEST_SHARE_CARRYING * moments.rows() as f64);
    (loss.heavy_tailed() && rows < fewest).then(|| Alarm::HeavyTail { loss: loss.name().into(), rows })
}

/// All that speaks against an answer as it is printed, and how its fit ended.
pub(crate) fn alarms(
    moments: &Moments,
    answer: &Shrunk,
    tested: &Tested,
    conditioning: &Conditioning,
) -> (Status, Vec<Alarm>) {
    let (plan, total) = (moments.plan(), moments.total());
    let (n, given) = (moments.rows() as f64, given(plan));
    let (risk, error) = (answer.quantities.risk, answer.standard_error());
    let main = answer.blended.main();
    let mut alarms = degeneracies(moments, &answer.blended);
    let degenerate = !alarms.is_empty();

    // What is asked may be another loss, of the whole prediction, that rests on this one's fit.
    let loss = || plan.loss.name().to_owned();
    let blocks = answer.deviations.count();
    if (2..FEWEST_BLOCKS).contains(&blocks) {
        alarms.push(Alarm::FewBlocks { blocks });
    }
    if !main.refined.converged {
        alarms.push(Alarm::NotConverged);
    }
    if tested.independence.verdict == Verdict::Fail {
        let missing = moments.layout().missing.of(&total).iter().any(|missing| *missing > 0.0);
        let p_value = tested.independence.p_value.unwrap_or(0.0);
        alarms.push(Alarm::Dependent { p_value, given, missing });
    }
    let least = least_risk(moments.layout(), &total);
    let (own, own_error) = (answer.blended.quantities.risk, answer.blended.standard_error());
    if impossible(risk, error, least) {
        alarms.push(Alarm::Impossible { loss: loss(), risk, least });
    } else if impossible(own, own_error, least) {
        alarms.push(Alarm::ImpossibleMoments { loss: loss(), risk: own, least });
    }
    alarms.extend(heavy_tail(moments));
    let share = answer.deviations.largest_share(|q| q.risk);
    if blocks >= limits::FEWEST_BLOCKS_COMPARED && share > limits::LARGEST_BLOCK {
        alarms.push(Alarm::OneBlockRules { share });
    }
    if let Some(by_bins) = &tested.by_bins {
        let joint_error = answer.deviations.of_difference(|q| q.risk, &by_bins.deviations, |risk| *risk);
        if (risk - by_bins.risk).abs() > limits::DISAGREEMENT * joint_error {
            alarms.push(Alarm::OtherFeatures { loss: loss(), risk: by_bins.risk, joint_error });
        }
    }
    let apart =
        |other: &&OtherPartition| other.difference.abs() > limits::DISAGREEMENT * other.standard_error;
    if let Some(other) = plan.look.grouping.others.iter().find(apart) {
        alarms.push(Alarm::OtherGroups {
            groups: other.partition.names(plan.schema.views()).to_vec(),
            loss: loss(),
            difference: other.difference,
            joint_error: other.standard_error,
        });
    }
    if let Some(rival) = answer.blended.variants.rival
        && 2.0 * n * rival.excess < limits::EQUAL_FIT
        && rival.difference.abs() > limits::OTHER_OPTIMUM * error
    {
        alarms.push(Alarm::OtherOptimum { loss: loss(), risk: risk + rival.difference });
    }
    let (gap, gap_error) = (answer.quantities.gap, answer.gap_error());
    if gap <= limits::GAP * gap_error {
        alarms.push(Alarm::NamingUnclear { gap, standard_error: gap_error });
    }
    if !degenerate && conditioning.rows_needed > n {
        alarms.push(Alarm::FewRows { needed: conditioning.rows_needed, given });
    }
    let status = match (degenerate, main.refined.converged) {
        (true, _) => Status::Degenerate,
        (false, true) => Status::Converged,
        (false, false) => Status::IterationLimit,
    };
    (status, alarms)
}

/// Names the views that do not tell all classes apart: those that agree with neither of the others in enough
/// directions. Where no single view is to blame, the pairs that do not agree.
fn weak_views(plan: &Plan, agreement: &[Agreement; VIEWS]) -> Vec<Alarm> {
    let (views, states, given) = (plan.group_names(), plan.states(), given(plan));
    let weak: Vec<bool> = agreement.iter().map(|pair| pair.correlation < pair.chance).collect();
    let blamed = |v: usize| !weak[v] && others(v).into_iter().all(|a| weak[a]);
    if let Some(v) = (0..VIEWS).find(|&v| blamed(v)) {
        return vec![Alarm::WeakView { view: views[v].clone(), states, given }];
    }
    let pair = |v: usize| Alarm::WeakPair { views: others(v).map(|a| views[a].clone()), states, given };
    (0..VIEWS).filter(|&v| weak[v]).map(pair).collect()
}
