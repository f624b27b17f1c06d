//! Numbers from all rows, and from all but each of some groups of rows.

use super::Measured;
use crate::answer::Interval;
use crate::settings::limits::UNKNOWN_ERROR;

/// What is known from all rows, and from all but each group.
pub(super) struct LeftOut<T = Vec<f64>> {
    pub(super) whole: T,
    pub(super) without: Vec<T>,
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
}

impl<T> LeftOut<T> {
    /// What follows from it.
    pub(super) fn map<U>(&self, of: impl Fn(&T) -> U) -> LeftOut<U> {
        LeftOut { whole: of(&self.whole), without: self.without.iter().map(of).collect() }
    }

    /// The jackknife's standard error of a number.
    pub(super) fn standard_error(&self, of: impl Fn(&T) -> f64) -> f64 {
        let groups = self.without.len() as f64;
        let mean = self.without.iter().map(&of).sum::<f64>() / groups;
        let squares = self.without.iter().map(|left| (of(left) - mean).powi(2)).sum::<f64>();
        (squares * (groups - 1.0) / groups).sqrt()
    }

    /// A number with its interval, which reaches so many standard errors.
    pub(super) fn measured(&self, of: impl Fn(&T) -> f64, reach: f64) -> Measured {
        let (value, standard_error) = (of(&self.whole), self.standard_error(of));
        let known = standard_error <= UNKNOWN_ERROR * value.abs().max(1.0);
        let standard_error = if known { standard_error } else { f64::INFINITY };
        Measured { value, standard_error, interval: Interval::around(value, reach, standard_error) }
    }
}

impl LeftOut<f64> {
    /// One number less another.
    pub(super) fn less(&self, other: &Self) -> Self {
        let pairs = self.without.iter().zip(&other.without);
        Self { whole: self.whole - other.whole, without: pairs.map(|(own, other)| own - other).collect() }
    }
}
