//! Whether vectors that should have mean zero do.

use crate::linalg::dot;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// `S = sum over b != b' of <r_b, r_b'> / (B (B - 1))`, an unbiased estimate of the squared mean of independent vectors,
/// and the share of random signs for which it is as large, the given signs among them: its p-value, if vectors of
/// mean zero are as likely as their negatives. No more signs are drawn once the p-value is sure not to be below
/// `level`; what it is beyond that is not told then.
pub(crate) fn signs_test(residuals: &[Vec<f64>], flips: usize, level: f64, seed: u64) -> (f64, f64) {
    let count = residuals.len();
    let products: Vec<Vec<f64>> =
        (0..count).map(|b| (0..b).map(|c| dot(&residuals[b], &residuals[c])).collect()).collect();
    let pairs = (count * count.saturating_sub(1)) as f64 / 2.0;
    let statistic = products.iter().flatten().sum::<f64>() / pairs;
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut signs = vec![1.0; count];
    let mut larger = 0;
    let share = |larger: usize| (1 + larger) as f64 / (1 + flips) as f64;
    for _ in 0..flips {
        signs.iter_mut().for_each(|sign| *sign = if rng.random::<bool>() { 1.0 } else { -1.0 });
        let flipped: f64 = products.iter().zip(&signs).map(|(row, sign)| sign * dot(row, &signs)).sum();
        larger += usize::from(flipped / pairs >= statistic);
        if share(larger) >= level {
            break;
        }
    }
    (statistic, share(larger))
}
