//! How far an estimate may be off, from the blocks alone.

use crate::error::{Error, Result};
use crate::moments::Moments;
use rayon::prelude::*;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// What is between two numbers with the estimate's level of confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The estimate and so many standard errors on either side.
    pub(crate) fn around(estimate: f64, reach: f64, standard_error: f64) -> Self {
        Self { low: estimate - reach * standard_error, high: estimate + reach * standard_error }
    }

    /// Wilson's of a share of so many trials: the shares `p` with `|p - share| <= reach sqrt(p (1 - p) / trials)`.
    pub(crate) fn of_share(share: f64, trials: f64, reach: f64) -> Self {
        let z = reach * reach / trials;
        let centre = (share + 0.5 * z) / (1.0 + z);
        let half = (z * share * (1.0 - share) + 0.25 * z * z).sqrt() / (1.0 + z);
        Self::around(centre, 1.0, half).within(0.0, 1.0)
    }

    /// What of it is possible.
    pub(crate) fn within(self, low: f64, high: f64) -> Self {
        Self { low: self.low.clamp(low, high), high: self.high.clamp(low, high) }
    }
}

/// Refuses a level of confidence that is not between 0 and 1.
pub(crate) fn check_level(level: f64) -> Result<()> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    Err(Error::InvalidParameter {
        name: "level",
        value: level.to_string(),
        expected: "a number between 0 and 1, such as 0.95, is needed",
    })
}

/// How many standard errors an interval reaches, where the standard error rests on so many blocks and two views agree
/// on the weakest direction that the classes need by `clarity` standard errors.
///
/// A quantile `t` of Student's distribution, where that direction is clear. Errors grow with one over the agreement,
/// which the standard error takes to be known: where it is not, `t` is divided by what is left of the agreement at
/// its lower confidence limit, `1 - t / clarity`, as in Fieller's interval of a ratio. An agreement that could be
/// none has an interval without ends.
pub(crate) fn reach(level: f64, blocks: usize, clarity: f64) -> f64 {
    let freedom = blocks.saturating_sub(1).max(1) as f64;
    let quantile =
        StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + 0.5 * level));
    if clarity > quantile { quantile / (1.0 - quantile / clarity) } else { f64::INFINITY }
}

/// The share of a difference that is believed, given its square and that of its error, times a constant.
pub(crate) fn share_believed(squared: f64, noise: f64) -> f64 {
    if noise > 0.0 { squared / (squared + noise) } else { 1.0 }
}

/// What each block adds to the error of each of some quantities. The root of the sum of squares is a quantity's
/// standard error; deviations of a sum of quantities are the sum of theirs.
#[derive(Debug, Clone)]
pub(crate) struct Deviations {
    blocks: Vec<Vec<f64>>,
    /// What the quantities would change by if something were chosen otherwise that no rows decide.
    doubt: Option<Vec<f64>>,
}

impl Deviations {
    /// Of quantities that were computed once more without each block, to first order: what they change by.
    pub(crate) fn of_left_out(whole: &[f64], without: &[Vec<f64>]) -> Self {
        let change = |left: &Vec<f64>| whole.iter().zip(left).map(|(whole, left)| whole - left).collect();
        Self { blocks: without.iter().map(change).collect(), doubt: None }
    }

    /// The mean of several, with these weights.
    pub(crate) fn mean(all: &[(&Deviations, f64)]) -> Self {
        let first = all[0].0;
        let mean = |pick: &dyn Fn(&Deviations) -> f64| all.iter().map(|(of, weight)| weight * pick(of)).sum();
        let blocks =
            first.blocks.iter().enumerate().map(|(b, block)| {
                (0..block.len()).map(|i| mean(&|of: &Deviations| of.blocks[b][i])).collect()
            });
        let doubt_of = |of: &Deviations, i: usize| of.doubt.as_ref().map_or(0.0, |doubt| doubt[i]);
        let doubt = first
            .doubt
            .as_ref()
            .map(|doubt| (0..doubt.len()).map(|i| mean(&|of: &Deviations| doubt_of(of, i))).collect());
        Self { blocks: blocks.collect(), doubt }
    }

    /// The same with a doubt beside the error of sampling; standard errors have both in quadrature.
    pub(crate) fn with_doubt(self, doubt: Vec<f64>) -> Self {
        Self { doubt: Some(doubt), ..self }
    }

    /// Some of the quantities.
    pub(crate) fn part(&self, from: usize, to: usize) -> Self {
        let cut = |quantities: &Vec<f64>| quantities[from..to].to_vec();
        Self { blocks: self.blocks.iter().map(cut).collect(), doubt: self.doubt.as_ref().map(cut) }
    }

    /// Of other quantities, which are linear in these.
    pub(crate) fn map(&self, of: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        let of = |quantities: &Vec<f64>| of(quantities);
        Self { blocks: self.blocks.iter().map(of).collect(), doubt: self.doubt.as_ref().map(of) }
    }

    /// The standard error of a linear function of the quantities; infinite where one is not a number, or where there
    /// are no two blocks to compare.
    pub(crate) fn standard_error(&self, of: impl Fn(&[f64]) -> f64) -> f64 {
        self.root(self.blocks.iter().chain(&self.doubt).map(|block| of(block).powi(2)))
    }

    /// The root of a sum of squares, one a block.
    fn root(&self, squares: impl Iterator<Item = f64>) -> f64 {
        let error = squares.sum::<f64>().sqrt();
        if error.is_nan() || self.blocks.len() < 2 { f64::INFINITY } else { error }
    }

    /// The largest share of a block in the squared standard error of a function of the quantities.
    pub(crate) fn largest_share(&self, of: impl Fn(&[f64]) -> f64) -> f64 {
        let squares: Vec<f64> = self.blocks.iter().map(|block| of(block).powi(2)).collect();
        squares.iter().copied().fold(0.0, f64::max) / squares.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// The standard error of one quantity less a quantity of the same blocks.
    pub(crate) fn of_difference(&self, other: &Deviations) -> f64 {
        let pairs = self.blocks.iter().zip(&other.blocks).chain(self.doubt.iter().zip(&other.doubt));
        self.root(pairs.map(|(a, b)| (a[0] - b[0]).powi(2)))
    }

    /// What each block says of some of the quantities, given what all say: independent of each other, with the mean of
    /// all and the deviations' covariance.
    pub(crate) fn values(&self, whole: &[f64], from: usize, to: usize) -> Vec<Vec<f64>> {
        let scale = self.blocks.len() as f64;
        let value = |block: &Vec<f64>| (from..to).map(|i| whole[i] + scale * block[i]).collect();
        self.blocks.iter().map(value).collect()
    }

    /// What the quantities are without one of some groups of blocks, to first order.
    pub(crate) fn without(&self, whole: &[f64], group: usize, groups: usize) -> Vec<f64> {
        let mut left = whole.to_vec();
        for block in self.blocks.iter().skip(group).step_by(groups) {
            left.iter_mut().zip(block).for_each(|(left, moved)| *left -= moved);
        }
        left
    }

    /// What each block adds to the error of a linear function of the quantities.
    pub(crate) fn of_blocks(&self, of: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        self.blocks.iter().map(|block| of(block)).collect()
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
pub(crate) fn jackknife(
    moments: &Moments,
    whole: &[f64],
    without: impl Fn(usize, &[f64]) -> Result<Vec<f64>> + Sync,
) -> Result<Deviations> {
    let total = moments.total();
    let n = moments.layout().rows.of(&total)[0];
    let rows_of = |block: &Vec<f64>| moments.layout().rows.of(block)[0];
    let counted = moments.blocks().iter().enumerate().map(|(at, block)| (at, rows_of(block), block));
    let blocks: Vec<(usize, f64, &Vec<f64>)> =
        counted.filter(|(_, rows, _)| *rows > 0.0 && *rows < n).collect();
    let left_out: Vec<Vec<f64>> = blocks
        .par_iter()
        .map(|(at, _, block)| {
            let left: Vec<f64> = total.iter().zip(*block).map(|(total, block)| total - block).collect();
            without(*at, &left)
        })
        .collect::<Result<_>>()?;
    let g = blocks.len() as f64;
    let mut deviations = vec![vec![0.0; whole.len()]; blocks.len()];
    for (i, whole) in whole.iter().enumerate() {
        let left = || blocks.iter().zip(&left_out);
        let centre = g * whole - left().map(|((_, rows, _), left)| (1.0 - rows / n) * left[i]).sum::<f64>();
        for (((_, rows, _), left), deviations) in left().zip(&mut deviations) {
            let h = n / rows;
            deviations[i] = (h * whole - (h - 1.0) * left[i] - centre) / ((h - 1.0) * g).sqrt();
        }
    }
    Ok(Deviations { blocks: deviations, doubt: None })
}
