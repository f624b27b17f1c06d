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

    /// Whether another has the same classes, in any order, up to a share of how far classes' means are from the leading one alone.
    pub(crate) fn is_about(&self, other: &Mixture, share: f64) -> bool {
        let k = self.prior.len();
        let apart = |j: usize, l: usize| {
            let of_view = |v: usize| {
                let pairs = self.means[v].col_as_slice(j).iter().zip(other.means[v].col_as_slice(l));
                pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
            };
            (0..VIEWS).map(of_view).sum::<f64>()
        };
        let size = |j: usize| {
            (0..VIEWS)
                .map(|v| self.means[v].col_as_slice(j)[1..].iter().map(|x| x * x).sum::<f64>())
                .sum::<f64>()
        };
        let mut taken = vec![false; k];
        (0..k).all(|j| {
            let nearest = (0..k).map(|l| (apart(j, l), l)).min_by(|a, b| a.0.total_cmp(&b.0));
            nearest.is_some_and(|(apart, l)| {
                apart <= share * share * size(j) && !std::mem::replace(&mut taken[l], true)
            })
        })
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
