//! What views may have in common beyond the class: rows that are hard in several of them at once.
//!
//! A row whose views all say little of its class makes the views agree in strength more than the class explains. In such a row
//! a view is taken to have the law that favours no class, the geometric mean of its laws of all classes. If a share of
//! the rows are hard in some views at once, the third moment moves by that share of
//!
//! ```text
//!     d = x_1 (x) x_2 (x) x_3 - T
//! ```
//!
//! with `x_v` the mean of a view's bins under that law, or over all rows for a view that is not among them. The part of `d` counts that no fit
//! explains, off the tangent space. The inner product of the blocks' residuals with it is one number a block, of mean zero if the views
//! are independent; over the squared norm of that part it is the share itself, as far as moments show it. Any dependence shows here
//! with which views are strong together, not these laws alone; noise that two views share shows with either sign.
//!
//! What is too small to be seen moves the risk all the same. With a share of such rows added to the moments, the fit is made
//! again: the risk that it then says and the risk that there would be are apart by what such rows hide.

use super::signs::share_as_large;
use crate::answer::{Interval, Risk};
use crate::data::{VIEWS, others};
use crate::error::Result;
use crate::fit::{Mixture, Whitening};
use crate::moments::Moments;
use crate::numeric::linalg::dot;
use crate::settings::causes::{HALF_SEEN, LARGEST_SHARE};
use crate::settings::independence::FLIPS;
use faer::Mat;
use serde::Serialize;

/// Views that are hard in the same rows, as far as it shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CommonCause {
    /// The views.
    pub views: Vec<usize>,
    /// The share of rows that would have to be hard in all of them to explain what is seen; below zero where they have less in common
    /// than the class explains.
    pub share: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// How much of the squared misfit in whitened coordinates is in its direction, an unbiased estimate.
    pub misfit: f64,
    /// The chance of such a share if the views are independent: of one so large for all views, of one so far from zero for two.
    pub p_value: f64,
}

/// A cause, before it is looked for.
#[derive(Debug, Clone)]
pub(super) struct Cause {
    /// Which views are hard.
    hard: [bool; VIEWS],
    /// The mean of each view's plain bins.
    means: [Vec<f64>; VIEWS],
}

impl Cause {
    /// All views together, then each pair.
    pub(super) fn all(moments: &Moments, whitening: &Whitening, mixture: &Mixture) -> Result<Vec<Self>> {
        let back = whitening.inverses()?;
        let plain: [Mat<f64>; VIEWS] = std::array::from_fn(|v| &back[v] * &mixture.means[v]);
        let hard: [Vec<f64>; VIEWS] = std::array::from_fn(|v| moments.plan().bins[v].undecided(&plain[v]));
        let usual: [Vec<f64>; VIEWS] = std::array::from_fn(|v| {
            (0..plain[v].nrows()).map(|i| weighted(plain[v].row(i).iter(), &mixture.prior)).collect()
        });
        let cause = |spared: Option<usize>| {
            let of = |v: usize| if spared == Some(v) { &usual[v] } else { &hard[v] };
            Self {
                hard: std::array::from_fn(|v| spared != Some(v)),
                means: std::array::from_fn(|v| of(v).clone()),
            }
        };
        Ok([None, Some(2), Some(1), Some(0)].into_iter().map(cause).collect())
    }

    /// The third moment of its rows, in plain coordinates.
    fn tensor(&self) -> impl Iterator<Item = f64> {
        let [first, second, third] = &self.means;
        let plane = move |a: f64| second.iter().flat_map(move |b| third.iter().map(move |c| a * b * c));
        first.iter().flat_map(move |a| plane(*a))
    }

    /// In whitened coordinates.
    pub(super) fn whitened(&self, whitening: &Whitening) -> Vec<f64> {
        let means = std::array::from_fn(|v| {
            let plain = Mat::from_fn(self.means[v].len(), 1, |i, _| self.means[v][i]);
            (&whitening.maps[v] * plain).col(0).iter().copied().collect()
        });
        Self { hard: self.hard, means }.tensor().collect()
    }

    /// What is seen of it, from what the fit leaves of the moments of each block, and of the direction of its rows.
    pub(super) fn seen(&self, residuals: &[Vec<f64>], direction: &[f64], seed: u64) -> CommonCause {
        let norm = dot(direction, direction).max(f64::MIN_POSITIVE);
        let shares: Vec<f64> = residuals.iter().map(|residual| dot(residual, direction) / norm).collect();
        let count = shares.len() as f64;
        let share = shares.iter().sum::<f64>() / count;
        let squares = shares.iter().map(|own| (own - share).powi(2)).sum::<f64>();
        let above = share_as_large(&shares, FLIPS, seed);
        // Less than nothing in common is nothing that hard rows explain, but two views may as well share noise that sets them against
        // each other.
        let two_sided = 2.0 * above.min(1.0 + 1.0 / (1 + FLIPS) as f64 - above);
        let everywhere = self.hard.iter().all(|hard| *hard);
        let variance = squares / (count * (count - 1.0));
        CommonCause {
            views: (0..VIEWS).filter(|&v| self.hard[v]).collect(),
            share,
            standard_error: variance.sqrt(),
            misfit: norm * (share * share - variance),
            p_value: if everywhere { above } else { two_sided.min(1.0) },
        }
    }

    /// The moments of all rows with a share of these among them, and the risk that there would be: given the risk as it is, and
    /// the names of the latent classes.
    pub(super) fn mixed_in(
        &self,
        share: f64,
        moments: &Moments,
        (risk, mixture, names): (&Risk, &Mixture, &[usize]),
    ) -> (Vec<f64>, f64) {
        let (layout, mut sums) = (moments.layout(), moments.total());
        let rows = layout.rows.scalar(&sums);
        let mix = |cells: &mut [f64], own: &mut dyn Iterator<Item = f64>| {
            cells.iter_mut().zip(own).for_each(|(cell, own)| *cell += share * (rows * own - *cell));
        };
        mix(layout.bins.tensor.of_mut(&mut sums), &mut self.tensor());
        let usual = |terms: &Mat<f64>, i: usize| weighted(terms.row(i).iter(), &mixture.prior);
        let undecided = |terms: &Mat<f64>, i: usize| terms.row(i).iter().sum::<f64>() / terms.ncols() as f64;
        let mut conditional = Vec::new();
        for ((terms, cross), &own) in risk.conditional.iter().zip(&layout.bins.cross).zip(&layout.holders) {
            let mean = |i: usize| if self.hard[own] { undecided(terms, i) } else { usual(terms, i) };
            for (part, a) in cross.iter().zip(others(own)) {
                let cells = (0..terms.nrows()).flat_map(|i| self.means[a].iter().map(move |b| (i, b)));
                mix(part.of_mut(&mut sums), &mut cells.map(|(i, b)| mean(i) * b));
            }
            let cell = |i: usize, j: usize| if self.hard[own] { undecided(terms, i) } else { terms[(i, j)] };
            conditional.push(Mat::from_fn(terms.nrows(), terms.ncols(), cell));
        }
        let offset = layout.offset.scalar(&sums) / rows;
        let of_cause = moments.plan().loss.risk(offset, &mixture.prior, &conditional, names);
        (sums, risk.value + share * (of_cause - risk.value))
    }
}

/// A mean with these weights.
fn weighted<'a>(values: impl Iterator<Item = &'a f64>, weights: &[f64]) -> f64 {
    values.zip(weights).map(|(value, weight)| value * weight).sum()
}

/// How far the risk may be off by what is too small to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Unseen {
    /// By how much it may be larger than it is said to be.
    pub(crate) above: f64,
    /// By how much smaller.
    pub(crate) below: f64,
}

impl Unseen {
    /// The larger of two.
    pub(super) fn or(self, shift: f64) -> Self {
        Self { above: self.above.max(shift), below: self.below.max(-shift) }
    }

    /// An interval wider by it, times a factor.
    pub(crate) fn widen(&self, interval: Interval, factor: f64) -> Interval {
        Interval { low: interval.low - factor * self.below, high: interval.high + factor * self.above }
    }
}

/// The shares of a cause that the test would miss half the time.
pub(super) fn unseen_shares(seen: &CommonCause) -> impl Iterator<Item = f64> {
    let share = (HALF_SEEN * seen.standard_error).min(LARGEST_SHARE);
    // Nothing makes all views less often hard together than never.
    let less = (seen.views.len() < VIEWS).then_some(-share);
    std::iter::once(share).chain(less)
}
