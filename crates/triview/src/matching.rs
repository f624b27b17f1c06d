//! Who is who: the order of the latent classes (appendix A of the paper).

use faer::Mat;
use ordered_float::OrderedFloat;
use pathfinding::matrix::Matrix;
use pathfinding::prelude::kuhn_munkres;

/// An assignment of latent classes to named ones.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Matching {
    /// For each named class, its latent one.
    pub(crate) order: Vec<usize>,
    /// By how much the second-best assignment is worse: `gap(theta_0)` of section 4 of the paper.
    pub(crate) gap: f64,
}

/// The assignment with the largest total weight, in `O(k^3)`, and its lead over the second-best, in `k` more
/// solutions: the second-best lacks at least one pair of the best. `weights[(i, j)]` is the gain from calling
/// latent class `i` by name `j`, `X_ij = pi_i sum_v M_v[j, i]`.
pub(crate) fn assign(weights: &Mat<f64>) -> Matching {
    let k = weights.nrows();
    let cells = |at: (usize, usize)| weights[(at.1, at.0)];
    let (best, order) = solve(k, cells);
    let all = || (0..k).flat_map(|i| (0..k).map(move |j| (i, j)));
    let (least, most) = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), (i, j)| {
        (least.min(weights[(i, j)]), most.max(weights[(i, j)]))
    });
    let forbidden = least - (k as f64) * (most - least) - 1.0;
    let second = (0..k)
        .map(|name| solve(k, |at| if at == (name, order[name]) { forbidden } else { cells(at) }).0)
        .fold(f64::NEG_INFINITY, f64::max);
    Matching { gap: best - second, order }
}

/// The best total and, for each row, its column.
fn solve(k: usize, weight: impl Fn((usize, usize)) -> f64) -> (f64, Vec<usize>) {
    let matrix = Matrix::from_fn(k, k, |at| OrderedFloat(weight(at)));
    let (_, order) = kuhn_munkres(&matrix);
    (order.iter().enumerate().map(|(row, &column)| weight((row, column))).sum(), order)
}
