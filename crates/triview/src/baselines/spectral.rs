//! The spectral meta-learner with an unknown class imbalance.
//!
//! Jaffe, Nadler and Kluger (2015), "Estimating the accuracies of multiple classifiers without labeled data". With votes `f_i` of
//! -1 and 1 that are independent given the class, means `mu_i` and imbalance `b = P(1) - P(-1)`, covariances and third central
//! moments of different views are
//!
//! ```text
//!     Q_ij = v_i v_j,   T_ijl = alpha v_i v_j v_l,   alpha = -2 b / sqrt(1 - b^2),
//!     psi_i = (1 + mu_i + v_i sqrt((1 - b) / (1 + b))) / 2,   eta_i = (1 - mu_i + v_i sqrt((1 + b) / (1 - b))) / 2
//! ```
//!
//! (its lemmas 1 and 2): the sensitivities `psi` and specificities `eta` of the views.

use super::ballots::{all_predictions, cast, said};
use super::{Said, TWO_CLASSES, Unsuited};
use crate::data::Batch;
use crate::loss::Loss;
use crate::votes::Crowd;

const NO_COVARIANCE: Unsuited = "some views do not covary as views that are better than chance would";
/// Chances are kept this far from zero and one.
const MARGIN: f64 = 1e-6;

pub(super) fn spectral_meta_learner(rows: &Batch, loss: &dyn Loss) -> Result<Said, Unsuited> {
    if rows.k() != 2 {
        return Err(TWO_CLASSES);
    }
    let predictions = all_predictions(rows);
    Ok(said(rows, &crowd(&predictions)?, &cast(&predictions, 2)?, loss))
}

/// The class prior and confusion matrices from the votes' first three moments, over the rows that have all views.
fn crowd(votes: &[Vec<Option<usize>>]) -> Result<Crowd, Unsuited> {
    let views = votes.len();
    let signed = |row: usize| -> Option<Vec<f64>> {
        votes.iter().map(|votes| votes[row].map(|vote| 2.0 * vote as f64 - 1.0)).collect()
    };
    let mut rows: Vec<Vec<f64>> = (0..votes[0].len()).filter_map(signed).collect();
    let n = rows.len().max(1) as f64;
    let means: Vec<f64> = (0..views).map(|i| rows.iter().map(|row| row[i]).sum::<f64>() / n).collect();
    rows.iter_mut().for_each(|row| row.iter_mut().zip(&means).for_each(|(vote, mean)| *vote -= mean));
    let moment =
        |of: &[usize]| rows.iter().map(|row| of.iter().map(|&i| row[i]).product::<f64>()).sum::<f64>() / n;
    let pairs = |but: usize| {
        (0..views)
            .flat_map(move |j| (j + 1..views).map(move |l| (j, l)))
            .filter(move |(j, l)| *j != but && *l != but)
    };
    let covary = |(i, j): (usize, usize)| moment(&[i, j]) > 0.0;
    if !(0..views).flat_map(|i| (i + 1..views).map(move |j| (i, j))).all(covary) {
        return Err(NO_COVARIANCE);
    }
    // The entries of a matrix of rank one from those off its diagonal, mean over the pairs of other views.
    let mut v = Vec::with_capacity(views);
    for i in 0..views {
        let squares: Vec<f64> =
            pairs(i).map(|(j, l)| moment(&[i, j]) * moment(&[i, l]) / moment(&[j, l])).collect();
        v.push(squares.iter().map(|square| square.sqrt()).sum::<f64>() / squares.len() as f64);
    }
    let (mut product, mut squares) = (0.0, 0.0);
    for (i, (j, l)) in
        (0..views).flat_map(|i| pairs(i).filter(move |(j, _)| *j > i).map(move |pair| (i, pair)))
    {
        let of_votes = v[i] * v[j] * v[l];
        product += moment(&[i, j, l]) * of_votes;
        squares += of_votes * of_votes;
    }
    let alpha = product / squares;
    let b = -alpha / (4.0 + alpha * alpha).sqrt();
    let chance = |p: f64| p.clamp(MARGIN, 1.0 - MARGIN);
    let of_view = |i: usize| {
        let psi = chance(0.5 * (1.0 + means[i] + v[i] * ((1.0 - b) / (1.0 + b)).sqrt()));
        let eta = chance(0.5 * (1.0 - means[i] + v[i] * ((1.0 + b) / (1.0 - b)).sqrt()));
        [eta, 1.0 - psi, 1.0 - eta, psi]
    };
    Ok(Crowd {
        prior: vec![0.5 * (1.0 - b), 0.5 * (1.0 + b)],
        confusion: (0..views).flat_map(of_view).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_moments_give_the_confusions_back() {
        // Every pattern of votes as often as these chances make it, of 10^7 rows in units of a thousand.
        let (prior, truth) = (0.7, [(0.9, 0.8), (0.75, 0.85), (0.8, 0.7), (0.6, 0.95)]);
        let mut votes = vec![Vec::new(); 4];
        for pattern in 0..16usize {
            let given_one: f64 =
                (0..4).map(|v| if pattern >> v & 1 == 1 { truth[v].0 } else { 1.0 - truth[v].0 }).product();
            let given_zero: f64 =
                (0..4).map(|v| if pattern >> v & 1 == 0 { truth[v].1 } else { 1.0 - truth[v].1 }).product();
            let count = (100_000.0 * (prior * given_one + (1.0 - prior) * given_zero)).round() as usize;
            (0..4).for_each(|v| votes[v].extend(std::iter::repeat_n(Some(pattern >> v & 1), count)));
        }
        let found = crowd(&votes).expect("good views");
        assert!((found.prior[1] - prior).abs() < 1e-3, "{:?}", found.prior);
        for (view, (psi, eta)) in truth.into_iter().enumerate() {
            let matrix = found.of_annotator(view);
            assert!((matrix[3] - psi).abs() < 1e-3 && (matrix[0] - eta).abs() < 1e-3, "{matrix:?}");
        }
    }

    #[test]
    fn constant_votes_are_refused() {
        let votes = vec![vec![Some(1); 5]; 3];
        assert_eq!(crowd(&votes), Err(NO_COVARIANCE));
    }
}
