//! What is fitted: a class prior and the class means of each view.

use crate::data::VIEWS;
use faer::Mat;

/// `T = sum_j pi_j U_1j (x) U_2j (x) U_3j`: a class prior and the class means of each view's features.
#[derive(Debug, Clone)]
pub(crate) struct Mixture {
    /// `pi`.
    pub(crate) prior: Vec<f64>,
    /// `U_v`: one row a feature, the first all ones, one column a class.
    pub(crate) means: [Mat<f64>; VIEWS],
}

impl Mixture {
    /// The class means of features that are scaled by one factor a view, the leading ones apart.
    pub(crate) fn scaled(&self, factors: [f64; VIEWS]) -> Mixture {
        let scale = |v: usize| {
            let means = &self.means[v];
            let weigh = |i: usize, j: usize| if i == 0 { means[(i, j)] } else { factors[v] * means[(i, j)] };
            Mat::from_fn(means.nrows(), means.ncols(), weigh)
        };
        Mixture { prior: self.prior.clone(), means: std::array::from_fn(scale) }
    }

    /// Puts class `order[j]` in place `j`.
    pub(crate) fn reorder(&self, order: &[usize]) -> Mixture {
        let column = |means: &Mat<f64>| Mat::from_fn(means.nrows(), order.len(), |i, j| means[(i, order[j])]);
        Mixture {
            prior: order.iter().map(|&j| self.prior[j]).collect(),
            means: std::array::from_fn(|v| column(&self.means[v])),
        }
    }
}
