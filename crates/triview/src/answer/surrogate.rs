//! Surrogate labels: unbiased, if noisy, one-hot labels made from some views alone.
//!
//! `w_v = pinv(U_v) u_v` has `E[w_v | y = j] = e_j`. So for any function `g` of another view,
//! `E[g(x_a) w_v,j] = pi_j E[g(x_a) | y = j]`: averages over unlabelled rows become averages over a class.

use crate::data::{VIEWS, others};
use crate::error::Result;
use crate::features::Evaluated;
use crate::fit::{Mixture, Whitening};
use crate::moments::{Family, Layout, Part, Plan};
use crate::numeric::linalg::{from_rows, pseudo_inverse};
use crate::settings::surrogates::SMALLEST_NOISE;
use faer::Mat;
use faer::linalg::solvers::Solve;

/// How the labels for one view are made from the two others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `W_-v`: the weighted mean of the two views' own surrogates. Better where classes are well apart.
    Linear,
    /// `W_-v = C^-1 p(y | x_a, x_b)`: the two views' joint posterior, calibrated by view `v`'s surrogate,
    /// `C = E[p w_v^T] diag(1 / pi)`. Better where classes overlap.
    Pair,
}

impl Kind {
    /// The name that `fit.surrogate` shows.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Linear => "linear",
            Kind::Pair => "pair",
        }
    }
}

/// For each group the map from what its labels `W_-v` are made of to the labels: one row a latent state, cells row by row.
pub(crate) type LabelMaps = [Vec<f64>; VIEWS];

/// The surrogate labels of each view as linear functions of its plain features.
#[derive(Debug, Clone)]
pub(crate) struct Surrogates {
    /// `w_v = S_v u_v`.
    pub(crate) maps: [Mat<f64>; VIEWS],
    /// Rows of the sums that they were made from.
    rows: f64,
    /// Precision of each view's label, `1 / (E|w|^2 - 1)`: both views share `e_y`, only the excess is noise.
    pub(crate) precision: [f64; VIEWS],
}

impl Surrogates {
    /// From the class means in whitened coordinates, for the rows of these sums.
    pub(crate) fn new(
        whitening: &Whitening,
        mixture: &Mixture,
        family: &Family,
        sums: &[f64],
    ) -> Result<Self> {
        // The first cell of a third moment is the sum of ones.
        let n = family.tensor.of(sums)[0];
        let k = mixture.prior.len();
        let mut maps = Vec::with_capacity(VIEWS);
        let mut precision = [0.0; VIEWS];
        for v in 0..VIEWS {
            let (inverse, _) = pseudo_inverse(mixture.means[v].as_ref(), k)?;
            let mut map = inverse * &whitening.maps[v];
            // With more features than classes the labels of a row sum to one on average only. Spreading the
            // rest evenly keeps them unbiased and makes what all classes' terms share cancel exactly.
            for c in 0..map.ncols() {
                let sum: f64 = (0..k).map(|j| map[(j, c)]).sum();
                let missing = (f64::from(u8::from(c == 0)) - sum) / k as f64;
                for j in 0..k {
                    map[(j, c)] += missing;
                }
            }
            let gram = from_rows(family.gram[v].of(sums), map.ncols(), map.ncols());
            let product = &map * gram;
            let squared: f64 =
                (0..k).map(|j| (0..map.ncols()).map(|c| product[(j, c)] * map[(j, c)]).sum::<f64>()).sum();
            precision[v] = 1.0 / (squared / n - 1.0).max(SMALLEST_NOISE);
            maps.push(map);
        }
        let maps =
            maps.try_into().map_err(|_| crate::Error::Internal("three views make three surrogates"))?;
        Ok(Self { maps, precision, rows: n })
    }

    /// `C`, what the posterior of the two views other than `v` says of each class, by view `v`'s surrogate.
    fn calibration(&self, v: usize, layout: &Layout, sums: &[f64]) -> Mat<f64> {
        let (features, k) = (&layout.pair_features[v], self.maps[v].nrows());
        let mut calibration = from_rows(features.of(sums), k, features.shape[1]) * self.maps[v].transpose();
        for j in 0..k {
            let sum: f64 = (0..k).map(|i| calibration[(i, j)]).sum();
            for i in 0..k {
                calibration[(i, j)] /= sum;
            }
        }
        calibration
    }

    /// The labels `W_-v` of each group as a linear function, one row a class, cells row by row: of the features of
    /// the two others, one after the other, or of their posterior.
    pub(crate) fn label_maps(&self, kind: Kind, layout: &Layout, sums: &[f64]) -> LabelMaps {
        std::array::from_fn(|v| match kind {
            Kind::Linear => {
                let parts = || others(v).into_iter().zip(self.weights(v));
                let row = |j: usize| {
                    parts().flat_map(move |(a, share)| self.maps[a].row(j).iter().map(move |s| share * s))
                };
                (0..self.maps[v].nrows()).flat_map(row).collect()
            }
            Kind::Pair => {
                let k = self.maps[v].nrows();
                let inverse =
                    self.calibration(v, layout, sums).partial_piv_lu().solve(Mat::<f64>::identity(k, k));
                (0..k * k).map(|cell| inverse[(cell / k, cell % k)]).collect()
            }
        })
    }

    /// The weights of the two views other than `v` in `W_-v`.
    pub(crate) fn weights(&self, v: usize) -> [f64; 2] {
        let [a, b] = others(v).map(|a| self.precision[a]);
        [a / (a + b), b / (a + b)]
    }

    /// `E[g_v W_-v^T] diag(1 / pi)`, the class means of some function `g_v` of group `v`, from the sums of `g_v (x) u_a`
    /// for the two other groups `a`. Of the loss terms they are the conditional risk (eq. 2).
    pub(crate) fn class_means(&self, v: usize, prior: &[f64], cross: &[Part; 2], sums: &[f64]) -> Mat<f64> {
        let rows = cross[0].shape[0];
        let mut product = Mat::zeros(rows, prior.len());
        for ((part, a), weight) in cross.iter().zip(others(v)).zip(self.weights(v)) {
            let cross = from_rows(part.of(sums), rows, part.shape[1]);
            product += cross * self.maps[a].transpose() * faer::Scale(weight / self.rows);
        }
        divide_columns(&mut product, prior);
        product
    }

    /// The conditional risk by the pair surrogate, for each holder of terms.
    pub(crate) fn pair_risk(&self, prior: &[f64], layout: &Layout, sums: &[f64]) -> Vec<Mat<f64>> {
        let k = prior.len();
        let calibrations: [_; VIEWS] =
            std::array::from_fn(|v| self.calibration(v, layout, sums).partial_piv_lu());
        let of_holder = |(part, &own): (&Part, &usize)| {
            let terms = from_rows(part.of(sums), k, part.shape[1]);
            let solved = calibrations[own].solve(&terms) * faer::Scale(1.0 / self.rows);
            let mut product = solved.transpose().to_owned();
            divide_columns(&mut product, prior);
            product
        };
        layout.pair_terms.iter().zip(&layout.holders).map(of_holder).collect()
    }
}

/// What the labels of a group are linear in: the features of the two others, or their posterior.
pub(crate) fn label_basis(
    plan: &Plan,
    kind: Kind,
    evaluated: &[Evaluated; VIEWS],
    group: usize,
    rows: usize,
) -> Vec<f64> {
    let [a, b] = others(group).map(|other| &evaluated[other]);
    let mut columns = Vec::new();
    match kind {
        Kind::Linear => {
            columns.extend_from_slice(&a.features);
            columns.extend_from_slice(&b.features);
        }
        Kind::Pair => plan.features.combine(rows, &[&a.posterior, &b.posterior], &mut columns),
    }
    columns
}

fn divide_columns(matrix: &mut Mat<f64>, by: &[f64]) {
    for (j, by) in by.iter().enumerate() {
        for i in 0..matrix.nrows() {
            matrix[(i, j)] /= by;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::exact::Exact;

    fn surrogates(exact: &Exact) -> Result<Surrogates> {
        let whitening = Whitening::of(&exact.family, &exact.sums)?;
        let mixture = whitening.mixture(exact.prior.clone(), exact.means.clone());
        Surrogates::new(&whitening, &mixture, &exact.family, &exact.sums)
    }

    #[test]
    fn labels_are_one_hot_on_average_over_the_rows_of_a_class() -> Result<()> {
        for (k, values) in [(2, [2, 3, 2]), (3, [4, 3, 5]), (4, [6, 5, 4])] {
            let exact = Exact::new(k, values);
            for (map, means) in surrogates(&exact)?.maps.iter().zip(&exact.means) {
                // E[w | y = j] = S U_j.
                let labels = map * means;
                for (i, j) in (0..k * k).map(|at| (at / k, at % k)) {
                    let expected = f64::from(u8::from(i == j));
                    assert!((labels[(i, j)] - expected).abs() < 1e-9, "{i} {j}: {}", labels[(i, j)]);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn labels_of_a_row_sum_to_one() -> Result<()> {
        let exact = Exact::new(3, [6, 5, 4]);
        for map in &surrogates(&exact)?.maps {
            for c in 0..map.ncols() {
                let sum: f64 = (0..3).map(|j| map[(j, c)]).sum();
                assert!((sum - f64::from(u8::from(c == 0))).abs() < 1e-12, "{c}: {sum}");
            }
        }
        Ok(())
    }

    #[test]
    fn the_other_views_labels_give_class_means() -> Result<()> {
        let exact = Exact::new(3, [4, 3, 5]);
        let surrogates = surrogates(&exact)?;
        for v in 0..VIEWS {
            // The function is the view's features themselves.
            let means = surrogates.class_means(v, &exact.prior, &exact.family.cross[v], &exact.sums);
            for (i, j) in (0..means.nrows()).flat_map(|i| (0..3).map(move |j| (i, j))) {
                assert!((means[(i, j)] - exact.means[v][(i, j)]).abs() < 1e-9, "{v} {i} {j}");
            }
            assert!((surrogates.weights(v).iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        Ok(())
    }
}
