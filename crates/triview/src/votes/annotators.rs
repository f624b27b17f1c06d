//! How far each annotator's confusion matrix may be off.
//!
//! Of the votes of annotator `a`, given what the other votes say of each item, `q`, the log-likelihood is
//! `sum_i log sum_j q_ij C_a[c_i, j]`. Its information is one matrix for each class `c` that is voted for,
//!
//! ```text
//!     I_c = sum over votes for c of  q q^T / (q . C_a[c, .])^2  +  diag(s_c,j / C_a[c, j]^2),
//! ```
//!
//! the second term that of the smoothing; and since columns of `C_a` sum to one, with `S = sum_c I_c^-1` the covariance of
//! row `c` and row `c'` is `1(c = c') I_c^-1 - I_c^-1 S^-1 I_c'^-1`. An interval is Wilson's, of as many votes as would give
//! this variance if every item's class were known.

use super::cast::{ByBallot, Votes};
use super::dawid_skene::{Crowd, Smoothing};
use super::expected::{by_width, width};
use crate::answer::Interval;
use crate::metrics::Measured;
use crate::settings::annotators::{LEAST, MOST_CLASSES};
use faer::Mat;
use faer::Side;
use faer::linalg::solvers::{DenseSolveCore, Llt};
use rayon::prelude::*;

/// For each of an annotator's numbers, which are shares, of how many trials it would be one with the same variance.
pub(crate) struct Trials {
    /// Of each cell of the confusion matrix, row by row.
    pub(crate) cells: Vec<f64>,
    /// Of its error rate.
    pub(crate) error: f64,
}

impl Trials {
    /// Adds a variance that the errors of all annotators have in common.
    pub(crate) fn share_doubt(&mut self, error: f64, variance: f64) {
        let spread = (error * (1.0 - error)).max(f64::MIN_POSITIVE);
        self.error = (spread / (spread / self.error + variance)).max(LEAST);
    }
}

/// Of every annotator, from the class posteriors of each item.
pub(crate) fn trials(
    votes: &Votes,
    by_ballot: &ByBallot,
    crowd: &Crowd,
    posteriors: &[f64],
    smoothing: &Smoothing,
) -> Vec<Trials> {
    let of = |annotator| match votes.k() {
        ..=MOST_CLASSES => {
            of_annotator(votes.k(), by_ballot, crowd, posteriors, smoothing.counts(), annotator)
        }
        k => of_known_classes(k, by_ballot, posteriors, annotator),
    };
    (0..votes.annotators()).into_par_iter().map(of).collect()
}

fn of_annotator(
    k: usize,
    by_ballot: &ByBallot,
    crowd: &Crowd,
    posteriors: &[f64],
    smoothing: &[f64],
    annotator: usize,
) -> Trials {
    let mut inverses: Vec<Mat<f64>> = Vec::with_capacity(k);
    let mut sum = Mat::<f64>::zeros(k, k);
    let mut votes = 0.0_f64;
    for class in 0..k {
        let ballot = annotator * k + class;
        let (own, items) = (crowd.of_ballot(ballot), by_ballot.of(ballot));
        votes += items.len() as f64;
        let products = by_width!(k, products(k, items, posteriors));
        // The posterior is proportional to q C, and whatever scales q cancels: q / (q . C) is the posterior over C.
        let mut information = Mat::from_fn(k, k, |i, j| products[i * k + j] / (own[i] * own[j]));
        for j in 0..k {
            information[(j, j)] += smoothing[class * k + j].max(1e-3) / own[j].powi(2);
        }
        let inverse = invert(&information);
        sum += &inverse;
        inverses.push(inverse);
    }
    let shared = invert(&sum);
    let mut variances = Vec::with_capacity(k * k);
    let mut error = 0.0;
    let mut weighted = Mat::<f64>::zeros(k, 1);
    for (class, inverse) in inverses.iter().enumerate() {
        let product = inverse * &shared;
        for j in 0..k {
            let taken: f64 = (0..k).map(|l| product[(j, l)] * inverse[(l, j)]).sum();
            variances.push(inverse[(j, j)] - taken);
        }
        let weight = crowd.prior[class];
        error += weight * weight * inverse[(class, class)];
        (0..k).for_each(|l| weighted[(l, 0)] += weight * inverse[(l, class)]);
    }
    let taken = weighted.transpose() * &shared * &weighted;
    let right: f64 = (0..k).map(|j| crowd.prior[j] * crowd.of_ballot(annotator * k + j)[j]).sum();
    let trials =
        |share: f64, variance: f64| (share * (1.0 - share) / variance.max(f64::MIN_POSITIVE)).max(LEAST);
    let shares = crowd.of_annotator(annotator).iter().zip(&variances);
    Trials {
        cells: shares.map(|(share, variance)| trials(*share, *variance)).collect(),
        // Smoothing adds no votes of its own to what is known of the error.
        error: trials(right, error - taken[(0, 0)]).min(votes.max(LEAST)),
    }
}

/// The sum over items of `p p^T`, of their posteriors `p`: the lower triangle.
fn products<const K: usize>(k: usize, items: &[u32], posteriors: &[f64]) -> Vec<f64> {
    let k = width::<K>(k);
    let mut sums = vec![0.0; k * k];
    for &item in items {
        let posterior = &posteriors[item as usize * k..(item as usize + 1) * k];
        for (i, sums) in sums.chunks_exact_mut(k).enumerate() {
            (0..=i).for_each(|j| sums[j] += posterior[i] * posterior[j]);
        }
    }
    sums
}

/// The same as if the posteriors were certain.
fn of_known_classes(k: usize, by_ballot: &ByBallot, posteriors: &[f64], annotator: usize) -> Trials {
    let mut items = vec![0.0; k];
    let mut votes = 0.0_f64;
    for class in 0..k {
        for &item in by_ballot.of(annotator * k + class) {
            let posterior = &posteriors[item as usize * k..(item as usize + 1) * k];
            items.iter_mut().zip(posterior).for_each(|(sum, p)| *sum += p);
            votes += 1.0;
        }
    }
    Trials { cells: (0..k * k).map(|at| items[at % k].max(LEAST)).collect(), error: votes.max(LEAST) }
}

/// The inverse of a matrix that is positive definite but for rounding, of which the lower triangle is filled.
fn invert(matrix: &Mat<f64>) -> Mat<f64> {
    let k = matrix.nrows();
    let largest = (0..k).map(|j| matrix[(j, j)]).fold(f64::MIN_POSITIVE, f64::max);
    let raised = |tenfold: i32| {
        let ridge = if tenfold == 0 { 0.0 } else { 1e-15 * largest * 10f64.powi(tenfold) };
        Mat::from_fn(k, k, |i, j| matrix[(i, j)] + if i == j { ridge } else { 0.0 })
    };
    let inverse = |tenfold: i32| Some(Llt::new(raised(tenfold).as_ref(), Side::Lower).ok()?.inverse());
    // Without an inverse nothing is known: the variance is that of the largest.
    (0..20).find_map(inverse).unwrap_or_else(|| Mat::<f64>::identity(k, k) * faer::Scale(1.0 / largest))
}

/// A share of so many trials with its standard error and Wilson's interval, `quantile` standard errors wide.
pub(crate) fn share(value: f64, trials: f64, quantile: f64) -> Measured {
    let value = value.clamp(0.0, 1.0);
    let variance = value * (1.0 - value) / trials;
    Measured { value, standard_error: variance.sqrt(), interval: Interval::of_share(value, trials, quantile) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilsons_interval_by_hand() {
        // 3 of 10 at two standard errors: (0.3 + 0.2) / 1.4 and 2 sqrt(0.021 + 0.01) / 1.4.
        let found = share(0.3, 10.0, 2.0);
        assert!((found.interval.low - (0.5 - 2.0 * 0.031f64.sqrt()) / 1.4).abs() < 1e-12, "{found:?}");
        assert!((found.standard_error - 0.021f64.sqrt()).abs() < 1e-12);
        assert_eq!(share(0.0, 4.0, 2.0).interval, Interval { low: 0.0, high: 0.5 });
    }

    #[test]
    fn certain_posteriors_give_the_number_of_votes() -> crate::Result<()> {
        use crate::votes::{Vote, Votes};
        // Of annotator 0, 6 of 8 votes on class 0 and 5 of 8 on class 1 are right; nobody else votes.
        let class = |item: u32| u32::from(item >= 8);
        let voted = |item: u32| if [1, 5, 8, 9, 10].contains(&item) { 1 - class(item) } else { class(item) };
        let votes: Vec<Vote> = (0..16).map(|item| Vote { item, annotator: 0, class: voted(item) }).collect();
        let votes = Votes::new(2, 1, 16, &votes)?;
        let certain: Vec<f64> =
            (0..16).flat_map(|item| [1.0 - f64::from(class(item)), f64::from(class(item))]).collect();
        let crowd = Crowd { prior: vec![0.5; 2], confusion: vec![0.75, 0.375, 0.25, 0.625] };
        let found = &trials(&votes, &votes.by_ballot(), &crowd, &certain, &Smoothing::none(2))[0];
        for cell in &found.cells {
            assert!((cell - 8.0).abs() < 0.02, "{:?}", found.cells);
        }
        Ok(())
    }
}
