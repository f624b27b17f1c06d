//! More latent states than classes: how many, and which class each is of.

use super::planner::{Planner, SettledMap, surrogate_labels};
use crate::answer::{call_counted, call_states, solve};
use crate::data::{Batch, VIEWS};
use crate::diagnostics::{self, LEVEL};
use crate::error::{Error, Result};
use crate::features::fit::state_posteriors;
use crate::features::{Evaluated, FeatureChoice, FeatureMap};
use crate::latent::{Mediator, Tried};
use crate::moments::{Grouping, Plan};
use crate::settings::MOST_CLASSES;
use crate::settings::planning::ROWS_A_STATE;
use faer::Mat;

/// As few latent states as the test of independence accepts; where it accepts none, those with the largest p-value.
pub(super) fn fewest(planner: &Planner<'_>, grouping: &Grouping, features: FeatureChoice) -> Result<Plan> {
    let k = planner.schema.k();
    let mut tried = Vec::new();
    let mut best: Option<(f64, Plan)> = None;
    for states in k..=most(planner) {
        let chosen = match states == k {
            true => planner.choose(features).map(|map| (map, Mediator::classes(k))),
            false => choose(planner, features, states, None),
        };
        let plan = chosen.map(|(map, mediator)| planner.with_bins(grouping, map, Some(mediator)));
        let tested = plan.and_then(|plan| Ok((p_value(planner, &plan)?, plan)));
        let (p_value, plan) = match tested {
            // What is too much for these rows is no reason not to answer with fewer.
            Err(_) if best.is_some() => break,
            tested => tested?,
        };
        tried.push(Tried { states, p_value });
        // What cannot be tested with one state a class is not tested by more.
        let p = p_value.unwrap_or(if states == k { 1.0 } else { 0.0 });
        if best.as_ref().is_none_or(|(best, _)| p > *best) {
            best = Some((p, plan));
        }
        if p >= LEVEL {
            break;
        }
    }
    let (_, mut plan) = best.ok_or(Error::Internal("one state a class can be tried"))?;
    plan.look.tried = tried;
    Ok(plan)
}

/// The chance of the rows looked at if the views are independent given the states of a plan; nothing where it cannot be tested.
fn p_value(planner: &Planner<'_>, plan: &Plan) -> Result<Option<f64>> {
    let moments = planner.moments(plan)?;
    let solved = solve(&moments, planner.seed)?;
    Ok(diagnostics::test(&moments, &solved, planner.seed)?.independence.p_value)
}

/// The most latent states that are tried: four a class, each with some thirty rows.
fn most(planner: &Planner<'_>) -> usize {
    let k = planner.schema.k();
    (4 * k).min(MOST_CLASSES).min(planner.rows.rows() / ROWS_A_STATE).max(k)
}

/// Refuses fewer states than classes, and more than there is room or are rows for.
pub(super) fn check(planner: &Planner<'_>, states: usize) -> Result<()> {
    let refuse =
        |expected| Err(Error::InvalidParameter { name: "latent", value: states.to_string(), expected });
    if states < planner.schema.k() {
        return refuse("at least as many latent states as classes are needed");
    }
    if states > MOST_CLASSES {
        return refuse("at most 64 latent states can be told apart");
    }
    if states * ROWS_A_STATE > planner.rows.rows() {
        return refuse("at least 30 rows for each latent state are needed; ask for fewer, or give more rows");
    }
    Ok(())
}

/// Posteriors of more latent states than classes, with how good the answers of their moments are, and the class of each state.
pub(super) fn choose(
    planner: &Planner<'_>,
    features: FeatureChoice,
    states: usize,
    counts: Option<&[usize]>,
) -> Result<(SettledMap, Mediator)> {
    if !matches!(features, FeatureChoice::Auto | FeatureChoice::Posterior) {
        return Err(Error::InvalidParameter {
            name: "feature map",
            value: features.to_string(),
            expected: "more latent states than classes are told apart by posteriors: leave it out, or take posterior",
        });
    }
    let rows = &planner.grouped;
    let labels = surrogate_labels(rows, &planner.first()?)?;
    let map = state_posteriors(rows, &planner.keys, &labels, states, counts, planner.seed)?;
    let mediator = name(rows, &map, counts);
    let candidate = planner.solved(map, Some(mediator.clone()))?;
    Ok((candidate.settled()?, mediator))
}

/// Calls each state of a feature map by the class with the largest mean summed score in it, or so that each class has as many
/// as are given.
fn name(rows: &Batch, map: &FeatureMap, counts: Option<&[usize]>) -> Mediator {
    let (n, k) = (rows.rows(), rows.k());
    let posteriors: [Vec<f64>; VIEWS] = std::array::from_fn(|v| {
        let mut evaluated = Evaluated::default();
        map.evaluate(v, (n, k), &rows.inputs(v), &rows.without(&[v]), &mut evaluated);
        evaluated.posterior
    });
    let mut joint = Vec::new();
    map.combine(n, &posteriors.each_ref().map(Vec::as_slice), &mut joint);
    let states = joint.len() / n;
    let score = |row: usize, class: usize| (0..VIEWS).map(|v| rows.column(v, class)[row]).sum::<f64>();
    let gain = |state: usize, class: usize| {
        let posterior = &joint[state * n..(state + 1) * n];
        posterior.iter().enumerate().map(|(row, p)| p * score(row, class)).sum::<f64>() / n as f64
    };
    let prior: Vec<f64> = joint.chunks_exact(n).map(|column| column.iter().sum()).collect();
    let weights = Mat::from_fn(states, k, gain);
    let matching = match counts {
        Some(counts) => call_counted(&weights, &prior, counts),
        None => call_states(&weights, &prior),
    };
    let mut classes = vec![0; states];
    matching.order.iter().zip(&matching.names).for_each(|(&state, &class)| classes[state] = class);
    Mediator { map: classes, counts: counts.map(<[usize]>::to_vec) }
}
