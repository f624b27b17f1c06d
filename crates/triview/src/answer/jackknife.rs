//! How far quantities may be off, from the blocks alone.

use super::numbers::Numbers;
use crate::error::Result;
use crate::fit::Mixture;
use crate::fit::refinement::{Objective, Refit};
use crate::interrupt;
use crate::moments::Moments;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What each block adds to the error of some quantities. The root of the sum of squares is a quantity's
/// standard error; deviations of a sum of quantities are the sum of theirs.
#[derive(Debug, Clone)]
pub(crate) struct Deviations<T> {
    blocks: Vec<T>,
    /// What the quantities would change by if something were chosen otherwise that no rows decide.
    doubt: Option<T>,
}

impl<T: Numbers> Deviations<T> {
    /// Of quantities that were computed once more without each block, to first order: what they change by.
    pub(crate) fn of_left_out(whole: &T, without: &[T]) -> Self {
        let change = |left: &T| T::combine(&[(whole, 1.0), (left, -1.0)]);
        Self { blocks: without.iter().map(change).collect(), doubt: None }
    }

    /// The mean of several, with these weights.
    pub(crate) fn mean(all: &[(&Deviations<T>, f64)]) -> Self {
        let mean = |pick: &dyn Fn(&Deviations<T>) -> Option<&T>| {
            let picked = all.iter().filter_map(|(of, weight)| Some((pick(of)?, *weight)));
            Some(picked.collect::<Vec<_>>())
                .filter(|picked| !picked.is_empty())
                .map(|picked| T::combine(&picked))
        };
        let blocks = (0..all[0].0.blocks.len()).filter_map(|b| mean(&|of| of.blocks.get(b)));
        let doubt = all[0].0.doubt.as_ref().and_then(|_| mean(&|of| of.doubt.as_ref()));
        Self { blocks: blocks.collect(), doubt }
    }

    /// The same with a doubt beside the error of sampling; standard errors have both in quadrature.
    pub(crate) fn with_doubt(self, doubt: T) -> Self {
        Self { doubt: Some(doubt), ..self }
    }

    /// What each block says of the quantities, given what all say: independent of each other, with the mean of
    /// all and the deviations' covariance.
    pub(crate) fn values(&self, whole: &T) -> Vec<T> {
        let scale = self.blocks.len() as f64;
        self.blocks.iter().map(|block| T::combine(&[(whole, 1.0), (block, scale)])).collect()
    }

    /// What the quantities are without one of some groups of blocks, to first order.
    pub(crate) fn without(&self, whole: &T, group: usize, groups: usize) -> T {
        let left_out = self.blocks.iter().skip(group).step_by(groups).map(|block| (block, -1.0));
        T::combine(&[(whole, 1.0)].into_iter().chain(left_out).collect::<Vec<_>>())
    }
}

impl<T> Deviations<T> {
    /// Of other quantities, which are linear in these.
    pub(crate) fn map<U>(&self, of: impl Fn(&T) -> U) -> Deviations<U> {
        Deviations { blocks: self.blocks.iter().map(&of).collect(), doubt: self.doubt.as_ref().map(of) }
    }

    /// The standard error of a linear function of the quantities; infinite where one is not a number, or where there
    /// are no two blocks to compare.
    pub(crate) fn standard_error(&self, of: impl Fn(&T) -> f64) -> f64 {
        self.root(self.blocks.iter().chain(&self.doubt).map(|block| of(block).powi(2)))
    }

    /// The root of a sum of squares, one a block.
    fn root(&self, squares: impl Iterator<Item = f64>) -> f64 {
        let error = squares.sum::<f64>().sqrt();
        if error.is_nan() || self.blocks.len() < 2 { f64::INFINITY } else { error }
    }

    /// The largest share of a block in the squared standard error of a function of the quantities.
    pub(crate) fn largest_share(&self, of: impl Fn(&T) -> f64) -> f64 {
        let squares: Vec<f64> = self.blocks.iter().map(|block| of(block).powi(2)).collect();
        squares.iter().copied().fold(0.0, f64::max) / squares.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// The standard error of one quantity less a quantity of the same blocks.
    pub(crate) fn of_difference<U>(
        &self,
        of: impl Fn(&T) -> f64,
        other: &Deviations<U>,
        of_other: impl Fn(&U) -> f64,
    ) -> f64 {
        let pairs = self.blocks.iter().zip(&other.blocks).chain(self.doubt.iter().zip(&other.doubt));
        self.root(pairs.map(|(a, b)| (of(a) - of_other(b)).powi(2)))
    }

    /// What each block adds to the error of a linear function of the quantities.
    pub(crate) fn of_blocks(&self, of: impl Fn(&T) -> f64) -> Vec<f64> {
        self.blocks.iter().map(of).collect()
    }

    /// How many blocks there are.
    pub(crate) fn count(&self) -> usize {
        self.blocks.len()
    }
}

/// The jackknife: each block is left out in turn and the quantities are computed from its place and the sums that are
/// left.
///
/// Blocks may differ in size, so the weighted jackknife is used (Busing, Meijer and van der Leeden 1999):
/// with `h_b = n / n_b` and pseudo-values `h_b R - (h_b - 1) R_-b`, the variance is the mean over blocks of
/// their squared deviations over `h_b - 1`.
pub(crate) fn jackknife<T: Numbers>(
    moments: &Moments,
    whole: &T,
    without: impl Fn(usize, &[f64]) -> Result<T> + Sync,
) -> Result<Deviations<T>> {
    let n = moments.layout().rows.scalar(&moments.total());
    let (rows, left_out): (Vec<f64>, Vec<Result<T>>) =
        without_each(moments, |at, rows, left| (rows, without(at, left))).into_iter().unzip();
    let left_out: Vec<T> = left_out.into_iter().collect::<Result<_>>()?;
    Ok(weighted(whole, &left_out, &rows, n))
}

/// What is made of the sums without each block, given the block's place and its rows; none where there is but one block.
pub(crate) fn without_each<T: Send>(
    moments: &Moments,
    of: impl Fn(usize, f64, &[f64]) -> T + Sync,
) -> Vec<T> {
    let total = moments.total();
    let n = moments.layout().rows.scalar(&total);
    let counted = moments.sums().filled().map(|(at, block)| (at, moments.layout().rows.scalar(block), block));
    let blocks: Vec<(usize, f64, &[f64])> = counted.filter(|(_, rows, _)| *rows < n).collect();
    blocks
        .par_iter()
        .map(|(at, rows, block)| {
            interrupt::check();
            let left: Vec<f64> = total.iter().zip(*block).map(|(total, block)| total - block).collect();
            of(*at, *rows, &left)
        })
        .collect()
}

/// The fits to the moments without each block, by its place.
pub(crate) fn refits(
    moments: &Moments,
    refit: &Refit,
    objective: impl Fn(&[f64]) -> Objective + Sync,
) -> BTreeMap<usize, Mixture> {
    let (places, objectives): (Vec<usize>, Vec<Objective>) =
        without_each(moments, |at, _, left| (at, objective(left))).into_iter().unzip();
    places.into_iter().zip(refit.to(&objectives)).collect()
}

/// The deviations from values without each block, which has so many of `n` rows.
fn weighted<T: Numbers>(whole: &T, left_out: &[T], rows: &[f64], n: f64) -> Deviations<T> {
    let g = rows.len() as f64;
    let shares = left_out.iter().zip(rows).map(|(left, rows)| (left, rows / n - 1.0));
    let centre = T::combine(&[(whole, g)].into_iter().chain(shares).collect::<Vec<_>>());
    let deviation = |(left, rows): (&T, &f64)| {
        let h = n / rows;
        let scale = ((h - 1.0) * g).sqrt();
        T::combine(&[(whole, h / scale), (left, (1.0 - h) / scale), (&centre, -1.0 / scale)])
    };
    Deviations { blocks: left_out.iter().zip(rows).map(deviation).collect(), doubt: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in blocks of these sizes, and what the jackknife says of their mean.
    fn mean_of(sizes: &[usize]) -> (Vec<f64>, Deviations<f64>) {
        let n: usize = sizes.iter().sum();
        let values: Vec<f64> = (0..n).map(|i| (i as f64 * 1.7).sin() * 3.0 + (i % 7) as f64).collect();
        let total: f64 = values.iter().sum();
        let mut from = 0;
        let mut left_out = Vec::new();
        for size in sizes {
            let own: f64 = values[from..from + size].iter().sum();
            left_out.push((total - own) / (n - size) as f64);
            from += size;
        }
        let rows: Vec<f64> = sizes.iter().map(|size| *size as f64).collect();
        let deviations = weighted(&(total / n as f64), &left_out, &rows, n as f64);
        (values, deviations)
    }

    #[test]
    fn of_a_mean_over_blocks_of_one_it_is_the_textbook_standard_error() {
        let (values, deviations) = mean_of(&[1; 60]);
        let mean = values.iter().sum::<f64>() / 60.0;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 59.0;
        let error = deviations.standard_error(|x| *x);
        assert!((error - (variance / 60.0).sqrt()).abs() < 1e-12, "{error}");
    }

    #[test]
    fn blocks_of_unequal_size_weigh_as_they_should() {
        // The pseudo-value of a block is its own mean, so that with shares p_b of the rows the variance is
        // the mean over blocks of p_b / (1 - p_b) (mean_b - mean)^2.
        let sizes = [5, 17, 8, 30, 40];
        let (values, deviations) = mean_of(&sizes);
        let (n, mut from, mut squares) = (100.0, 0, 0.0);
        let mean = values.iter().sum::<f64>() / n;
        for size in sizes {
            let own = values[from..from + size].iter().sum::<f64>() / size as f64;
            let p = size as f64 / n;
            squares += p / (1.0 - p) * (own - mean).powi(2);
            from += size;
        }
        let error = deviations.standard_error(|x| *x);
        assert!((error - (squares / 5.0).sqrt()).abs() < 1e-12, "{error} {}", (squares / 5.0).sqrt());
    }

    #[test]
    fn deviations_are_linear() {
        let (_, one) = mean_of(&[10; 8]);
        let twice = one.map(|x| vec![*x, 2.0 * x]);
        assert_eq!(one.of_difference(|x| 2.0 * x, &twice, |x| x[1]), 0.0);
        let mean = Deviations::mean(&[(&twice, 0.5), (&twice, 0.5)]);
        assert!((mean.standard_error(|x| x[1]) - 2.0 * one.standard_error(|x| *x)).abs() < 1e-12);
        let doubted = one.clone().with_doubt(3.0).standard_error(|x| *x);
        assert!((doubted - one.standard_error(|x| *x).hypot(3.0)).abs() < 1e-12);
        // Left out all together, what blocks add is taken from the whole.
        let added: f64 = one.of_blocks(|x| *x).iter().sum();
        assert!((one.without(&10.0, 0, 1) - (10.0 - added)).abs() < 1e-12);
        assert_eq!(one.count(), 8);
    }

    #[test]
    fn one_block_says_nothing() {
        let (_, deviations) = mean_of(&[3, 2]);
        assert!(deviations.standard_error(|x| *x).is_finite());
        let alone = Deviations { blocks: vec![1.0], doubt: None };
        assert_eq!(alone.standard_error(|x| *x), f64::INFINITY);
    }
}
