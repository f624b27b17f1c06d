//! Quantile bins of a view's scores and further features: many plain features, in which dependence shows that few fitted ones hide.

use crate::settings::MOST_CLASSES;
use crate::settings::bins::{BINS_A_STATE, FINELY_CUT, SMALLEST_CHANCE};
use faer::Mat;
use serde::{Deserialize, Serialize};

/// Indicators of a class's score, centred on the mean over the classes, or of a feature, being above some edges. Their span is
/// that of the bins between the edges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bins {
    /// For each class, and after these for each feature, the edges, ascending.
    edges: Vec<Vec<f64>>,
    /// Whether there is one more indicator, of the view being missing.
    missing: bool,
}

/// Where the scores of a class are cut, as shares of the rows below. For two classes one class's score says all, and
/// seven edges cut it into eight bins; more classes have more scores to cut, each in fewer places. The last edge then
/// leaves above it as many rows as a class has on average, which tells classes apart far better than the middle. Where no
/// third moment is formed the test tells them apart by the features, and bins are to show what these do not.
///
/// Where there are more latent states than classes there are at least [`BINS_A_STATE`] bins a state.
fn shares(k: usize, states: usize, class: usize) -> Vec<f64> {
    let own = 1.0 - 1.0 / k as f64;
    let spread = |edges: usize| (1..=edges).map(|edge| edge as f64 / (edges + 1) as f64).collect();
    match (k, class) {
        (2, 0) if states > k => spread((BINS_A_STATE * states).max(7)),
        (3.., _) if states > k => spread((BINS_A_STATE * states).div_ceil(k).max(3)),
        (2, 0) => (1..8).map(|edge| f64::from(edge) / 8.0).collect(),
        (2, _) => Vec::new(),
        (3, _) => vec![0.25, 0.5, 0.75],
        (4..9, _) => vec![0.5, own],
        (..=MOST_CLASSES, _) => vec![own],
        _ => vec![0.5],
    }
}

/// Where each of so many features is cut: into four, or, where there are many features, in two; finer where states need it.
fn feature_shares(k: usize, features: usize, states: usize) -> Vec<f64> {
    let fewest = if features <= FINELY_CUT { 3 } else { 1 };
    let needed = if states > k { (BINS_A_STATE * states).div_ceil(k + features) } else { 0 };
    let edges = needed.max(fewest);
    (1..=edges).map(|edge| edge as f64 / (edges + 1) as f64).collect()
}

impl Bins {
    /// No bins of so many scores and features, of which nothing can be tested.
    pub fn none(width: usize) -> Self {
        Self { edges: vec![Vec::new(); width], missing: false }
    }

    /// Bins of about equally many of these rows. Edges that would leave a bin empty are left out: scores may take
    /// few values. `missing` says whether the view is missing in other rows.
    pub(crate) fn fit((rows, k): (usize, usize), inputs: &[f64], states: usize, missing: bool) -> Self {
        let features = inputs.len() / rows - k;
        let mut centred = centre((rows, k), inputs);
        let edges = centred.chunks_exact_mut(rows).enumerate().map(|(class, column)| {
            column.sort_by(f64::total_cmp);
            // The last edge there can be is the largest score but those that equal the largest.
            let below = &column[..column.partition_point(|score| *score < column[rows - 1])];
            let Some(last) = below.last() else { return Vec::new() };
            let edge = |share: f64| column[(share * rows as f64) as usize].min(*last);
            let shares =
                if class < k { shares(k, states, class) } else { feature_shares(k, features, states) };
            let mut of_class: Vec<f64> = shares.into_iter().map(edge).collect();
            of_class.dedup();
            of_class
        });
        Self { edges: edges.collect(), missing }
    }

    /// Whether they are for so many scores and features.
    pub(crate) fn fits(&self, width: usize) -> bool {
        self.edges.len() == width && self.edges.iter().flatten().all(|edge| edge.is_finite())
    }

    /// The number of indicators and one for the leading one.
    pub fn dimension(&self) -> usize {
        1 + self.edges.iter().map(Vec::len).sum::<usize>() + usize::from(self.missing)
    }

    /// The mean of the indicators in a row that favours no class, with the leading one: of each score or feature, each bin has the geometric
    /// mean of its probabilities in all classes, given the classes' means of the indicators, one column a class.
    pub(crate) fn undecided(&self, means: &Mat<f64>) -> Vec<f64> {
        let k = means.ncols();
        let missing = usize::from(self.missing);
        let counts = self.edges.iter().map(Vec::len).chain(std::iter::repeat_n(1, missing));
        let mut out = vec![1.0];
        for count in counts {
            let from = out.len();
            // The chance of being above each edge; certain of none, and none of all.
            let above = |edge: usize, class: usize| match edge {
                0 => 1.0,
                edge if edge > count => 0.0,
                edge => means[(from + edge - 1, class)],
            };
            let log_chance = |bin: usize, class: usize| {
                (above(bin, class) - above(bin + 1, class)).max(SMALLEST_CHANCE).ln()
            };
            let middle = |bin: usize| ((0..k).map(|c| log_chance(bin, c)).sum::<f64>() / k as f64).exp();
            let chances: Vec<f64> = (0..=count).map(middle).collect();
            let total: f64 = chances.iter().sum();
            let mut left = total;
            for chance in &chances[..count] {
                left -= chance;
                out.push(left / total);
            }
        }
        out
    }

    /// The leading ones, then one column an indicator. In the rows `missing` no score is above any edge.
    pub(crate) fn evaluate(
        &self,
        (rows, k): (usize, usize),
        inputs: &[f64],
        missing: &[usize],
        out: &mut Vec<f64>,
    ) {
        out.clear();
        out.resize(rows, 1.0);
        if self.dimension() == 1 {
            return;
        }
        let centred = centre((rows, k), inputs);
        for (column, edges) in centred.chunks_exact(rows).zip(&self.edges) {
            for edge in edges {
                out.extend(column.iter().map(|score| f64::from(u8::from(score > edge))));
            }
        }
        if self.missing {
            out.resize(out.len() + rows, 0.0);
        }
        for &row in missing {
            out[rows..].iter_mut().skip(row).step_by(rows).for_each(|cell| *cell = 0.0);
        }
        if self.missing {
            let last = out.len() - rows;
            missing.iter().for_each(|row| out[last + row] = 1.0);
        }
    }
}

/// The scores of `k` classes less their mean over the classes of the row; features as they are.
fn centre((rows, k): (usize, usize), inputs: &[f64]) -> Vec<f64> {
    let (scores, features) = inputs.split_at(rows * k);
    let mut mean = vec![0.0; rows];
    for column in scores.chunks_exact(rows) {
        mean.iter_mut().zip(column).for_each(|(mean, score)| *mean += score / k as f64);
    }
    let centred = |column: &[f64]| column.iter().zip(&mean).map(|(s, m)| s - m).collect::<Vec<f64>>();
    scores.chunks_exact(rows).flat_map(centred).chain(features.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_favours_no_class_is_between_the_classes() {
        let bins = Bins { edges: vec![vec![-1.0, 1.0], vec![0.0]], missing: true };
        // Two classes that mirror each other, of which one is missing twice as often.
        let means =
            Mat::from_fn(5, 2, |i, j| [[1.0, 1.0], [0.5, 0.8], [0.2, 0.5], [0.1, 0.9], [0.1, 0.2]][i][j]);
        let middle = bins.undecided(&means);
        assert_eq!(middle.len(), bins.dimension());
        assert_eq!(middle[0], 1.0);
        // Bins of 0.5, 0.3, 0.2 and of 0.2, 0.3, 0.5.
        let outer = 0.1_f64.sqrt();
        assert!((middle[1] - (outer + 0.3) / (2.0 * outer + 0.3)).abs() < 1e-12, "{middle:?}");
        assert!((middle[2] - outer / (2.0 * outer + 0.3)).abs() < 1e-12, "{middle:?}");
        assert!((middle[3] - 0.5).abs() < 1e-12, "{middle:?}");
        let (present, absent) = (0.72_f64.sqrt(), 0.02_f64.sqrt());
        assert!((middle[4] - absent / (present + absent)).abs() < 1e-12, "{middle:?}");
    }
}
