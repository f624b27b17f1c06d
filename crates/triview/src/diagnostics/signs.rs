//! Whether vectors that should have mean zero do.

use crate::numeric::linalg::dot;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// The inner products of some vectors, each with those before it.
#[derive(Debug, Clone)]
pub(crate) struct Products {
    pub(super) cells: Vec<Vec<f64>>,
}

impl Products {
    /// Of so many vectors, all zero.
    pub(super) fn none(count: usize) -> Self {
        Self { cells: (0..count).map(|b| vec![0.0; b]).collect() }
    }

    pub(crate) fn of(vectors: &[Vec<f64>]) -> Self {
        let count = vectors.len();
        Self { cells: (0..count).map(|b| (0..b).map(|c| dot(&vectors[b], &vectors[c])).collect()).collect() }
    }

    /// Those of vectors that are longer by some others.
    pub(super) fn add(&mut self, others: &Self) {
        let cells = self.cells.iter_mut().flatten().zip(others.cells.iter().flatten());
        cells.for_each(|(cell, other)| *cell += other);
    }

    /// The standard deviation of the statistic below over random signs: how large it is by chance.
    pub(super) fn deviation(&self) -> f64 {
        let pairs = self.cells.iter().map(Vec::len).sum::<usize>() as f64;
        self.cells.iter().flatten().map(|cell| cell * cell).sum::<f64>().sqrt() / pairs
    }

    /// `S = sum over b != b' of <r_b, r_b'> / (B (B - 1))`, an unbiased estimate of the squared mean of the vectors, and the share
    /// of random signs for which it is as large, the given signs among them: its p-value, if vectors of mean zero
    /// are as likely as their negatives. No more signs are drawn once the p-value is sure not to be below `level`; what it
    /// is beyond that is not told then.
    pub(crate) fn test(&self, flips: usize, level: f64, seed: u64) -> (f64, f64) {
        let count = self.cells.len();
        let pairs = (count * count.saturating_sub(1)) as f64 / 2.0;
        let statistic = self.cells.iter().flatten().sum::<f64>() / pairs;
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut signs = vec![1.0; count];
        let mut larger = 0;
        let share = |larger: usize| (1 + larger) as f64 / (1 + flips) as f64;
        for _ in 0..flips {
            signs.iter_mut().for_each(|sign| *sign = if rng.random::<bool>() { 1.0 } else { -1.0 });
            let flipped: f64 = self.cells.iter().zip(&signs).map(|(row, sign)| sign * dot(row, &signs)).sum();
            larger += usize::from(flipped / pairs >= statistic);
            if share(larger) >= level {
                break;
            }
        }
        (statistic, share(larger))
    }
}

/// The share of random signs for which the sum of some numbers is as large, the given signs among them: the p-value of a sum
/// above zero, if numbers of mean zero are as likely as their negatives.
pub(super) fn share_as_large(values: &[f64], flips: usize, seed: u64) -> f64 {
    let sum: f64 = values.iter().sum();
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut flipped =
        || values.iter().map(|value| if rng.random::<bool>() { *value } else { -value }).sum::<f64>();
    let larger = (0..flips).filter(|_| flipped() >= sum).count();
    (1 + larger) as f64 / (1 + flips) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_above_zero_are_rare_among_signs() {
        // No other signs of seven equal numbers reach their sum, and few of 999 draws draw these.
        assert!(share_as_large(&[1.0; 7], 999, 1) < 0.02);
        assert!(share_as_large(&[-1.0; 7], 999, 1) == 1.0);
        let level = share_as_large(&[1.0, -1.0, 2.0, -2.0], 999, 1);
        assert!((0.4..0.7).contains(&level), "{level}");
    }

    #[test]
    fn the_deviation_is_that_of_random_signs() {
        let vectors: Vec<Vec<f64>> =
            (0..4).map(|b| (0..3).map(|i| f64::from(3 * b + i).sin()).collect()).collect();
        let products = Products::of(&vectors);
        // All sixteen signs of four vectors; the mean of the statistic over them is zero.
        let flipped = |signs: u32| {
            let sign = |b: usize| if signs >> b & 1 == 1 { 1.0 } else { -1.0 };
            let cells = |b: usize| {
                products.cells[b].iter().enumerate().map(move |(c, cell)| sign(b) * sign(c) * cell)
            };
            (0..4).flat_map(cells).sum::<f64>() / 6.0
        };
        let squares = (0..16).map(|signs| flipped(signs).powi(2)).sum::<f64>() / 16.0;
        assert!((products.deviation() - squares.sqrt()).abs() < 1e-12);
    }
}
