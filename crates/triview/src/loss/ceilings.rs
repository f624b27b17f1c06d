//! Where the terms of a heavy-tailed loss are cut.
//!
//! `M_v[i, j] = E[f_v(x_v, i) W_-v,j] / pi_j` is unbiased, but its noise is that of `f_v` times that of a surrogate label:
//! where `f_v = exp(-s)` is enormous for rows of other classes, labels that are nearly zero for these rows are not
//! near enough. So a term is split at a ceiling `c`, `f = min(f, c) + (f - c)_+`. The first part is bounded, and
//! labelled by the other views. The second is the tail, labelled by the fitted posterior of all views, `E[(f - c)_+ p_j] /
//! E[p_j]`, which vanishes where the class does. With the ceiling at a high quantile of the class's own terms only that
//! tail rests on the posterior; it is counted among the errors in full.

use crate::settings::tails::SHARE;
use serde::{Deserialize, Serialize};

/// A ceiling for each term of each view, or group of views.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ceilings {
    views: Vec<Vec<f64>>,
}

impl Ceilings {
    /// Quantiles of the terms of views under their posteriors, each with one column a class.
    pub(crate) fn fit<'a>(rows: usize, views: impl Iterator<Item = (&'a [f64], &'a [f64])>) -> Self {
        let of_view = |(terms, posterior): (&[f64], &[f64])| {
            let columns = terms.chunks_exact(rows).zip(posterior.chunks_exact(rows).cycle());
            columns.map(|(terms, weights)| quantile(terms, weights)).collect()
        };
        Self { views: views.map(of_view).collect() }
    }

    /// Whether they are for so many views of so many terms.
    pub(crate) fn fits(&self, views: usize, terms: usize) -> bool {
        let finite = |view: &Vec<f64>| view.len() == terms && view.iter().all(|ceiling| ceiling.is_finite());
        self.views.len() == views && self.views.iter().all(finite)
    }

    /// Cuts the terms of a view, and writes what was cut off.
    pub(crate) fn cut(&self, view: usize, rows: usize, terms: &mut [f64], tails: &mut Vec<f64>) {
        tails.clear();
        for (terms, ceiling) in terms.chunks_exact_mut(rows).zip(&self.views[view]) {
            tails.extend(terms.iter().map(|term| (term - ceiling).max(0.0)));
            terms.iter_mut().for_each(|term| *term = term.min(*ceiling));
        }
    }
}

/// The value below which [`SHARE`] of the weight lies.
fn quantile(values: &[f64], weights: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut left = SHARE * weights.iter().sum::<f64>();
    for &row in &order {
        left -= weights[row];
        if left <= 0.0 {
            return values[row];
        }
    }
    order.last().map_or(0.0, |&row| values[row])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_and_what_is_left_make_the_term() {
        // The second class has all of its weight on the first three of a hundred rows.
        let scores: Vec<f64> = (0..200).map(|at| -f64::from(at % 100) / 50.0).collect();
        let weights: Vec<f64> = (0..200).map(|at| f64::from(u8::from(at < 100 || at < 103))).collect();
        let mut terms: Vec<f64> = scores.iter().map(|score| (-score).exp()).collect();
        let ceilings = Ceilings::fit(100, [(terms.as_slice(), weights.as_slice())].into_iter());
        assert!(ceilings.fits(1, 2) && !ceilings.fits(3, 2));
        assert_eq!(ceilings.views[0], [(99.0f64 / 50.0).exp(), (2.0f64 / 50.0).exp()]);
        let (whole, mut tails) = (terms.clone(), Vec::new());
        ceilings.cut(0, 100, &mut terms, &mut tails);
        assert!(terms[100..].iter().all(|term| *term <= ceilings.views[0][1]));
        for ((term, tail), whole) in terms.iter().zip(&tails).zip(whole) {
            assert!((term + tail - whole).abs() < 1e-12);
        }
    }
}
