//! Which views depend on each other, as a picture.

use super::HeatMap;
use triview::diagnostics::{Dependence, LEVEL};
use triview::estimator::Estimate;

/// Classes beyond this many are left out of the picture, the least dependent first.
const MOST_CLASSES: usize = 24;

/// Pairs of views down, classes across: the stronger the dependence, the darker.
pub fn dependence(estimate: &Estimate) -> HeatMap {
    let lines = &estimate.independence.dependences;
    let strongest = |class: usize| {
        let of_class = lines.iter().filter(|line| line.class == Some(class));
        of_class.map(|line| line.correlation).fold(0.0, f64::max)
    };
    let mut classes: Vec<usize> = (0..estimate.classes.len()).collect();
    if classes.len() > MOST_CLASSES {
        classes.retain(|&class| strongest(class) > 0.0);
        classes.sort_by(|&a, &b| strongest(b).total_cmp(&strongest(a)));
        classes.truncate(MOST_CLASSES);
        classes.sort_unstable();
    }
    let columns: Vec<Option<usize>> = [None].into_iter().chain(classes.into_iter().map(Some)).collect();
    let mut pairs: Vec<[usize; 2]> = lines.iter().map(|line| line.views).collect();
    pairs.dedup();
    let cell = |views: [usize; 2], class: Option<usize>| -> Option<&Dependence> {
        lines.iter().find(|line| line.views == views && line.class == class)
    };
    let of_cell = |line: &Dependence| (line.correlation, line.p_value < LEVEL);
    HeatMap {
        title: "Correlation of two views given the class".to_owned(),
        note: match estimate.independence.p_value {
            Some(p) => format!(
                "test of independence given the class: p = {p:.3}; dots: p < {LEVEL} in the cell alone"
            ),
            None => String::new(),
        },
        columns: columns
            .iter()
            .map(|class| class.map_or("all".to_owned(), |class| estimate.classes[class].clone()))
            .collect(),
        rows: pairs.iter().map(|pair| pair.map(|v| estimate.groups[v].as_str()).join(" and ")).collect(),
        cells: pairs
            .iter()
            .map(|&pair| columns.iter().map(|&class| cell(pair, class).map(of_cell)).collect())
            .collect(),
    }
}
