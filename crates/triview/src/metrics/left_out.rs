//! Numbers from all rows, and from all but each of some groups of rows.

use super::Measured;
use crate::answer::Interval;

/// Numbers from all rows, and from all but each group.
pub(super) struct LeftOut {
    pub(super) whole: Vec<f64>,
    pub(super) without: Vec<Vec<f64>>,
}

impl LeftOut {
    /// Means over rows from sums in several parts, of each group, with the numbers of the groups' rows.
    pub(super) fn of_groups(parts: &[Vec<Vec<f64>>], counts: &[f64], length: usize) -> Self {
        let mut sums = vec![vec![0.0; length]; counts.len()];
        for part in parts {
            for (sums, part) in sums.iter_mut().zip(part) {
                sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
            }
        }
        let total: Vec<f64> = (0..length).map(|at| sums.iter().map(|sums| sums[at]).sum()).collect();
        let rows: f64 = counts.iter().sum();
        let without = sums.iter().zip(counts).map(|(sums, count)| {
            let left = (rows - count).max(1.0);
            total.iter().zip(sums).map(|(total, sum)| (total - sum) / left).collect()
        });
        Self { without: without.collect(), whole: total.iter().map(|sum| sum / rows).collect() }
    }

    /// The same with what several parts add to each number: to that of all rows first, then to those without each group.
    pub(super) fn plus(&self, parts: &[Vec<f64>]) -> Self {
        let ways = self.without.len() + 1;
        let sum = |own: &Vec<f64>, way: usize| {
            let added = |at: usize| parts.iter().map(|part| part[at * ways + way]).sum::<f64>();
            own.iter().enumerate().map(|(at, own)| own + added(at)).collect()
        };
        Self {
            whole: sum(&self.whole, 0),
            without: self.without.iter().enumerate().map(|(group, own)| sum(own, group + 1)).collect(),
        }
    }

    /// Functions of the numbers.
    pub(super) fn map(&self, of: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        Self { whole: of(&self.whole), without: self.without.iter().map(|numbers| of(numbers)).collect() }
    }

    /// One number less the same of another.
    pub(super) fn difference(&self, other: &Self, at: usize) -> Self {
        let pairs = self.without.iter().zip(&other.without);
        Self {
            whole: vec![self.whole[at] - other.whole[at]],
            without: pairs.map(|(own, other)| vec![own[at] - other[at]]).collect(),
        }
    }

    /// The jackknife's standard error of one number.
    pub(super) fn standard_error(&self, at: usize) -> f64 {
        let groups = self.without.len() as f64;
        let mean = self.without.iter().map(|numbers| numbers[at]).sum::<f64>() / groups;
        let squares = self.without.iter().map(|numbers| (numbers[at] - mean).powi(2)).sum::<f64>();
        (squares * (groups - 1.0) / groups).sqrt()
    }

    /// One number with its interval, which reaches so many standard errors.
    pub(super) fn measured(&self, at: usize, reach: f64) -> Measured {
        let (value, standard_error) = (self.whole[at], self.standard_error(at));
        Measured { value, standard_error, interval: Interval::around(value, reach, standard_error) }
    }
}
