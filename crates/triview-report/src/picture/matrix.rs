//! Square matrices of shares: what is taken for what, what follows what.

use super::{MOST_CLASSES, foremost, left_out};
use crate::draw::{Cell, HeatMap};
use crate::text::Share;
use triview::estimator::Estimate;
use triview::metrics::Metrics;

/// A square matrix of shares, its rows and columns under the same names; `weight` says which are drawn where not all are.
pub(crate) fn square(
    [title, description]: [String; 2],
    axes: [&str; 2],
    names: &[String],
    cells: &[Vec<f64>],
    weight: impl Fn(usize) -> f64,
) -> HeatMap {
    let shown = foremost(names.len(), MOST_CLASSES, weight);
    let name = |&at: &usize| names[at].clone();
    let cell = |i: usize, j: usize| Some(Cell { value: cells[i][j], marked: false });
    HeatMap {
        title,
        description,
        note: left_out(shown.len(), names.len(), "names"),
        axes: axes.map(str::to_owned),
        columns: shown.iter().map(name).collect(),
        rows: shown.iter().map(name).collect(),
        cells: shown.iter().map(|&i| shown.iter().map(|&j| cell(i, j)).collect()).collect(),
        absent: "none",
        full: 1.0,
    }
}

/// What is predicted of the rows of each class.
pub(crate) fn confusion(estimate: &Estimate, metrics: &Metrics) -> HeatMap {
    let k = estimate.classes.len();
    let cells: Vec<Vec<f64>> =
        metrics.confusion.iter().map(|row| row.iter().map(|cell| cell.value).collect()).collect();
    let off = (0..k * k).map(|at| (at / k, at % k)).filter(|(i, j)| i != j);
    let worst = off.max_by(|a, b| cells[a.0][a.1].total_cmp(&cells[b.0][b.1]));
    let worst = worst.map_or(String::new(), |(i, j)| {
        let [truth, taken] = [j, i].map(|class| &estimate.classes[class]);
        format!(" Most often {truth} is taken for {taken}: {} of its rows.", Share(cells[i][j]))
    });
    square(
        [
            "What the rows of each class are taken for".to_owned(),
            format!(
                "A table of shades: of the rows of each column\u{2019}s class, the share predicted as each row\u{2019}s.{worst}"
            ),
        ],
        ["predicted", "true class"],
        &estimate.classes,
        &cells,
        |j| estimate.class_prior[j] * (1.0 - cells[j][j]),
    )
}
