//! What holds class means together that too few rows would scatter.

use crate::data::{VIEWS, others};
use crate::fit::Mixture;
use crate::numeric::linalg::dot;
use faer::Mat;

/// The penalty `1/2 sum_vj weight_vj |D_vj|^2` on what of the difference `D_vj` of a class's means from a centre is not
/// along the centre.
///
/// There are `k` numbers in a class's means and `n / k` rows to tell them by. Each of these errors is harmless, but
/// squared they add up, to a bias of the risk of the order of `k^2 / n`. How well a view tells a class from all others is
/// along the centre, is well determined, and is left free; what is across is which classes it is confused with. The
/// penalty vanishes as rows become many.
pub(super) struct Pull {
    centre: Mixture,
    weights: [Vec<f64>; VIEWS],
}

impl Pull {
    /// The penalty for `rows` rows: its weights are `strength k^2 / rows` times the distance's own curvature,
    /// `pi_j^2 |U_aj|^2 |U_bj|^2`.
    pub(super) fn new(centre: Mixture, strength: f64, rows: f64) -> Self {
        let k = centre.prior.len();
        let strength = strength * (k * k) as f64 / rows;
        let squared = |v: usize, j: usize| {
            let column = centre.means[v].col_as_slice(j);
            dot(column, column)
        };
        let weights = std::array::from_fn(|v| {
            let [a, b] = others(v);
            let weight = |j: usize| strength * centre.prior[j].powi(2) * squared(a, j) * squared(b, j);
            (0..k).map(weight).collect()
        });
        Self { centre, weights }
    }

    /// The mixture that class means are drawn to.
    pub(super) fn centre(&self) -> &Mixture {
        &self.centre
    }

    /// The penalty of some class means, and its derivative in those of each view.
    pub(super) fn expand(&self, means: &[Mat<f64>; VIEWS]) -> (f64, [Mat<f64>; VIEWS]) {
        let away: [Mat<f64>; VIEWS] = std::array::from_fn(|v| &means[v] - &self.centre.means[v]);
        let slopes = self.curvature(&away);
        let of_view = |v: usize| {
            let columns = away[v].col_iter().zip(slopes[v].col_iter());
            columns.map(|(away, slope)| away.transpose() * slope).sum::<f64>()
        };
        let value = 0.5 * (0..VIEWS).map(of_view).sum::<f64>();
        (value, slopes)
    }

    /// How its derivative changes as class means do: what of the change is across the centre, times the weight.
    pub(super) fn curvature(&self, change: &[Mat<f64>; VIEWS]) -> [Mat<f64>; VIEWS] {
        std::array::from_fn(|v| {
            let mut out = change[v].clone();
            for j in 0..out.ncols() {
                let (along, weight) = (&self.centre.means[v].col_as_slice(j)[1..], self.weights[v][j]);
                let column = &mut out.col_as_slice_mut(j)[1..];
                let share = dot(column, along) / dot(along, along).max(f64::MIN_POSITIVE);
                column.iter_mut().zip(along).for_each(|(x, along)| *x = weight * (*x - share * along));
            }
            out
        })
    }
}
