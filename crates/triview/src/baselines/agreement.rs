//! Error rates from how often the views agree.
//!
//! Platanios, Blum and Mitchell (2014), "Estimating accuracy from unlabeled data", for errors that are independent: views `i` and
//! `j` agree with the chance `a_ij = 1 - e_i - e_j + 2 e_i e_j`, so `2 a_ij - 1 = (1 - 2 e_i) (1 - 2 e_j)`, and
//!
//! ```text
//!     1 - 2 e_i = sqrt( (2 a_ij - 1) (2 a_il - 1) / (2 a_jl - 1) ),
//! ```
//!
//! the mean over the pairs of other views `j`, `l`. Views are taken to be better than chance.

use super::ballots::all_predictions;
use super::{Said, TWO_CLASSES, Unsuited};
use crate::data::Batch;

const NO_AGREEMENT: Unsuited = "some views agree no more often than by chance";

pub(super) fn agreement_rates(rows: &Batch) -> Result<Said, Unsuited> {
    if rows.k() != 2 {
        return Err(TWO_CLASSES);
    }
    Ok(Said { view_error: Some(errors(&all_predictions(rows))?), ..Said::default() })
}

/// The error of each view.
fn errors(votes: &[Vec<Option<usize>>]) -> Result<Vec<f64>, Unsuited> {
    let views = votes.len();
    // `2 a - 1` of each pair, over the rows that have both.
    let beyond_chance = |i: usize, j: usize| {
        let both = votes[i].iter().zip(&votes[j]).filter_map(|(a, b)| Some((*a)? == (*b)?));
        let (agreed, all) =
            both.fold((0.0, 0.0), |(agreed, all), same| (agreed + f64::from(u8::from(same)), all + 1.0));
        2.0 * agreed / f64::max(all, 1.0) - 1.0
    };
    let mut all_pairs = (0..views).flat_map(|i| (i + 1..views).map(move |j| (i, j)));
    if all_pairs.any(|(i, j)| beyond_chance(i, j) <= 0.0) {
        return Err(NO_AGREEMENT);
    }
    let mut errors = Vec::with_capacity(views);
    for i in 0..views {
        let (mut sum, mut count) = (0.0, 0.0);
        for (j, l) in
            (0..views).flat_map(|j| (j + 1..views).map(move |l| (j, l))).filter(|(j, l)| *j != i && *l != i)
        {
            let squared = beyond_chance(i, j) * beyond_chance(i, l) / beyond_chance(j, l);
            sum += squared.sqrt().min(1.0);
            count += 1.0;
        }
        errors.push(0.5 * (1.0 - sum / count));
    }
    Ok(errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Of eight rows views 1 and 2 agree in seven, 1 and 3 in six, 2 and 3 in seven: 3/4, 1/2, 3/4 beyond chance.
        let first = vec![0, 0, 0, 0, 1, 1, 1, 1];
        let second = vec![0, 0, 0, 0, 1, 1, 1, 0];
        let third = vec![0, 0, 0, 0, 1, 1, 0, 0];
        let votes: Vec<Vec<Option<usize>>> =
            [first, second, third].into_iter().map(|votes| votes.into_iter().map(Some).collect()).collect();
        let errors = errors(&votes).expect("agreement");
        // sqrt(3/4 * 1/2 / (3/4)) = sqrt(1/2); sqrt(3/4 * 3/4 / (1/2)) > 1, so none.
        let expected = [0.5 * (1.0 - 0.5f64.sqrt()), 0.0, 0.5 * (1.0 - 0.5f64.sqrt())];
        errors.iter().zip(expected).for_each(|(error, expected)| assert!((error - expected).abs() < 1e-12));
        // Two that always disagree.
        let opposite = vec![vec![Some(0), Some(1)], vec![Some(1), Some(0)], vec![Some(0), Some(1)]];
        assert_eq!(super::errors(&opposite), Err(NO_AGREEMENT));
    }
}
