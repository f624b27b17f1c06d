//! Which views depend on each other.

use super::{MOST_CLASSES, foremost, left_out};
use crate::draw::{Cell, HeatMap};
use crate::text::p_value;
use triview::diagnostics::{Dependence, LEVEL};
use triview::estimator::Estimate;

/// The scale reaches at least this far, so that noise is not drawn as if it were much.
const LEAST_SCALE: f64 = 0.2;

/// Pairs of views down, classes across: the stronger the dependence, the darker.
pub(crate) fn dependence(estimate: &Estimate) -> HeatMap {
    let lines = &estimate.independence.dependences;
    let strongest = |class: usize| {
        let of_class = lines.iter().filter(|line| line.class == Some(class));
        of_class.map(|line| line.correlation).fold(f64::NEG_INFINITY, f64::max)
    };
    // Classes are looked at where a pair is at fault; columns of nothing would only take room.
    let tested: Vec<usize> =
        (0..estimate.classes.len()).filter(|&class| strongest(class).is_finite()).collect();
    let shown = foremost(tested.len(), MOST_CLASSES, |at| strongest(tested[at]));
    let note = left_out(shown.len(), tested.len(), "classes");
    let columns: Vec<Option<usize>> =
        [None].into_iter().chain(shown.into_iter().map(|at| Some(tested[at]))).collect();
    let mut pairs: Vec<[usize; 2]> = lines.iter().map(|line| line.views).collect();
    pairs.dedup();
    let cell = |views: [usize; 2], class: Option<usize>| -> Option<Cell> {
        let line: &Dependence = lines.iter().find(|line| line.views == views && line.class == class)?;
        Some(Cell { value: line.correlation, marked: line.p_value < LEVEL })
    };
    let named = |pair: &[usize; 2]| pair.map(|v| estimate.groups[v].as_str()).join(" and ");
    let test = match estimate.independence.p_value {
        Some(p) => format!("The test of all pairs together has {}.", p_value(p)),
        None => String::new(),
    };
    let at_fault: Vec<String> =
        pairs.iter().filter(|pair| cell(**pair, None).is_some_and(|cell| cell.marked)).map(named).collect();
    let faults = match at_fault.is_empty() {
        true => "No pair alone stands out.".to_owned(),
        false => format!("Pairs that stand out: {}.", at_fault.join(", ")),
    };
    let untested = if columns.len() > 1 {
        " \u{2013}: not looked at, as the pair is not at fault."
    } else {
        " Classes are looked at where a pair is at fault."
    };
    HeatMap {
        title: "How strongly two views depend on each other within a class".to_owned(),
        description: format!(
            "A table of shades: correlations of pairs of views given the class. {test} {faults}"
        ),
        note: format!("{test} A small square: p < {LEVEL} in the cell alone.{untested} {note}"),
        axes: ["views", "class"].map(str::to_owned),
        columns: columns
            .iter()
            .map(|class| class.map_or("all".to_owned(), |class| estimate.classes[class].clone()))
            .collect(),
        rows: pairs.iter().map(named).collect(),
        cells: pairs.iter().map(|&pair| columns.iter().map(|&class| cell(pair, class)).collect()).collect(),
        absent: "not tested",
        full: LEAST_SCALE,
    }
}
