//! How far a mixture's third moment is from the data's.

use super::Misfit;
use super::cells::{contract, model_cells, tangent};
use super::point::{Expansion, Shape, inner, product};
use super::second_derivative::{At, SecondDerivative};
use crate::data::VIEWS;
use crate::fit::Mixture;
use crate::numeric::linalg::dot;
use faer::Mat;

/// What distance is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Distance {
    /// `1/2 |T - M|^2`: right where every cell is equally noisy, as whitened cells of overlapping classes are.
    Squares,
    /// `sum T log(T / M) - T + M`: right where cells are counts, as those of posteriors of well separated
    /// classes nearly are. Cells must be positive.
    KullbackLeibler,
}

impl Distance {
    /// The name that `fit.distance` shows.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Distance::Squares => "squares",
            Distance::KullbackLeibler => "kullback-leibler",
        }
    }

    /// The distance of two cells and its first two derivatives in the mixture's.
    fn expand(self, cell: f64, model: f64) -> [f64; 3] {
        match self {
            Distance::Squares => [0.5 * (model - cell) * (model - cell), model - cell, 1.0],
            Distance::KullbackLeibler if model <= 0.0 => [f64::INFINITY, 0.0, 0.0],
            Distance::KullbackLeibler => {
                let ratio = cell / model;
                [model - cell + cell * ratio.ln(), 1.0 - ratio, ratio / model]
            }
        }
    }
}

/// The distance as a function of a point.
pub(crate) struct Objective {
    distance: Distance,
    /// The third moment, slowest index the first view's.
    cells: Vec<f64>,
    /// Dimensions of the mixture's features, leading ones included.
    dims: [usize; VIEWS],
    /// For each view the map from the mixture's features to those of the cells, where these are others.
    maps: Option<[Mat<f64>; VIEWS]>,
    k: usize,
}

/// Everything about a point that its value, gradient and curvature have in common.
pub(crate) struct Cells {
    /// Class means in the cells' features.
    means: [Mat<f64>; VIEWS],
    /// First and second derivative of the distance in each cell.
    slopes: Vec<f64>,
    bends: Vec<f64>,
    /// The slopes contracted with the class means of the other views.
    contracted: [Mat<f64>; VIEWS],
    /// The derivative in the prior, before its softmax.
    prior_gradient: Vec<f64>,
}

impl Misfit for Objective {
    type Detail = Cells;
    type Curve<'a> = SecondDerivative;

    fn shape(&self) -> Shape {
        Shape { dims: self.dims, k: self.k }
    }

    fn expand(&self, point: &[f64]) -> Expansion<Cells> {
        let mixture = self.shape().unpack(point);
        let means = self.in_cells(&mixture.means);
        let model = model_cells(&mixture.prior, means.each_ref());
        let (mut value, mut slopes, mut bends) = (0.0, Vec::with_capacity(model.len()), model);
        for (cell, model) in self.cells.iter().zip(&mut bends) {
            let [distance, slope, bend] = self.distance.expand(*cell, *model);
            value += distance;
            slopes.push(slope);
            *model = bend;
        }
        let contracted = contract(&slopes, means.each_ref());
        let prior_gradient: Vec<f64> =
            (0..self.k).map(|j| dot(contracted[0].col_as_slice(j), means[0].col_as_slice(j))).collect();
        let pulled = match &self.maps {
            None => &contracted,
            Some(maps) => &std::array::from_fn(|v| inner(&maps[v], &contracted[v])),
        };
        let gradient = self.shape().pack_gradient(&mixture.prior, &prior_gradient, pulled);
        let detail = Cells { means, slopes, bends, contracted, prior_gradient };
        Expansion { mixture, value, gradient, detail }
    }

    fn curve(&self, at: &Expansion<Cells>) -> SecondDerivative {
        let bends = match self.distance {
            Distance::Squares => None,
            Distance::KullbackLeibler => Some(at.detail.bends.as_slice()),
        };
        SecondDerivative::new(&At {
            shape: self.shape(),
            mixture: &at.mixture,
            maps: self.maps.as_ref(),
            means: &at.detail.means,
            slopes: &at.detail.slopes,
            bends,
            contracted: &at.detail.contracted,
            prior_gradient: &at.detail.prior_gradient,
        })
    }
}

impl Objective {
    /// The squared distance from these cells, in the mixture's own features.
    pub(crate) fn squares(cells: Vec<f64>, dims: [usize; VIEWS], k: usize) -> Self {
        Self { distance: Distance::Squares, cells, dims, maps: None, k }
    }

    /// The Kullback-Leibler divergence from these cells, in features that the mixture's are mapped to.
    pub(crate) fn kullback_leibler(cells: Vec<f64>, maps: [Mat<f64>; VIEWS], k: usize) -> Self {
        let dims = maps.each_ref().map(Mat::ncols);
        Self { distance: Distance::KullbackLeibler, cells, dims, maps: Some(maps), k }
    }

    /// Class means in the features of the cells.
    fn in_cells(&self, means: &[Mat<f64>; VIEWS]) -> [Mat<f64>; VIEWS] {
        match &self.maps {
            None => means.clone(),
            Some(maps) => std::array::from_fn(|v| product(&maps[v], &means[v])),
        }
    }

    /// How the mixture's cells change along a direction: the Jacobian applied to it.
    pub(crate) fn tangent(&self, at: &Expansion<Cells>, direction: &[f64]) -> Vec<f64> {
        let (d_prior, d_means) = self.shape().change(&at.mixture.prior, direction);
        tangent((&at.mixture.prior, &at.detail.means), (&d_prior, &self.in_cells(&d_means)))
    }

    /// Whether the distance is a number at a point.
    pub(super) fn is_defined(&self, point: &[f64]) -> bool {
        match self.distance {
            Distance::Squares => point.iter().all(|x| x.is_finite()),
            Distance::KullbackLeibler => {
                self.cells_of(&self.shape().unpack(point)).iter().all(|cell| *cell > 0.0 && cell.is_finite())
            }
        }
    }

    /// The cells that a mixture implies.
    pub(crate) fn cells_of(&self, mixture: &Mixture) -> Vec<f64> {
        model_cells(&mixture.prior, self.in_cells(&mixture.means).each_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::refinement::newton::Curve;

    /// A mixture of three classes with two to four features a view, and moments that it does not fit.
    fn example(distance: Distance) -> (Objective, Vec<f64>) {
        let wave = |i: usize, j: usize| 0.2 + 0.15 * ((3 * i + 5 * j) as f64).sin();
        let maps = [3, 2, 4].map(|d| Mat::from_fn(d, d, |i, j| wave(i, j) + f64::from(u8::from(i == j))));
        let cells = (0..24).map(|cell| 0.1 + 0.05 * (cell as f64).cos()).collect();
        let objective = match distance {
            Distance::Squares => Objective::squares(cells, [3, 2, 4], 3),
            Distance::KullbackLeibler => Objective::kullback_leibler(cells, maps, 3),
        };
        let point = (0..3 + 3 * (2 + 1 + 3)).map(|i| 0.3 + 0.2 * (7.0 * i as f64).sin()).collect();
        (objective, point)
    }

    #[test]
    fn gradient_and_curvature_match_finite_differences() {
        for distance in [Distance::Squares, Distance::KullbackLeibler] {
            let (objective, point) = example(distance);
            let at = objective.expand(&point);
            let curve = objective.curve(&at);
            let formed = curve.formed();
            for i in 0..point.len() {
                let moved = |step: f64| {
                    let mut moved = point.clone();
                    moved[i] += step;
                    objective.expand(&moved)
                };
                let (up, down) = (moved(1e-5), moved(-1e-5));
                let slope = (up.value - down.value) / 2e-5;
                assert!((slope - at.gradient[i]).abs() < 1e-8, "{distance:?} {i}");
                let unit: Vec<f64> = (0..point.len()).map(|j| f64::from(u8::from(i == j))).collect();
                let bent = curve.apply(&unit);
                for j in 0..point.len() {
                    let bend = (up.gradient[j] - down.gradient[j]) / 2e-5;
                    assert!((bend - bent[j]).abs() < 1e-7, "{distance:?} {i} {j}: {bend} {}", bent[j]);
                    let gauge = if i < 3 && j < 3 { 1.0 / 3.0 } else { 0.0 };
                    let (row, column) = (i.max(j), i.min(j));
                    assert!((bent[j] + gauge - formed[(row, column)]).abs() < 1e-10, "{distance:?} {i} {j}");
                }
            }
        }
    }
}
