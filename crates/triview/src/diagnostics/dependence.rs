//! Which views depend on each other, within which class, how strongly.

use super::LEVEL;
use super::signs::Products;
use crate::data::others;
use crate::error::Result;
use crate::fit::{Mixture, Whitened};
use crate::numeric::linalg::{beyond, pseudo_inverse};
use crate::settings::dependence::FLIPS;
use faer::{Mat, MatRef};

/// How two views depend on each other, on the whole or within one class.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Dependence {
    /// The two views.
    pub views: [usize; 2],
    /// The class; all of them where absent.
    pub class: Option<usize>,
    /// The root mean square correlation of their bins, in units of their variance over all rows: of all rows in the
    /// directions that the classes do not explain, or in all directions within a class.
    pub correlation: f64,
    /// The chance of it if these views are independent given the class.
    pub p_value: f64,
}

/// The moments of one block's bins.
pub(crate) struct Block {
    /// Its rows over those of a block on average.
    pub(crate) weight: f64,
    pub(crate) moments: Whitened,
}

/// The line of a pair of views and, where it says that they depend on each other, those of its classes. Classes are left
/// out elsewhere, because a fit to views of which another pair depends on each other bends, and spreads that
/// dependence over all pairs within classes.
///
/// `within` has what each block says of [`within_classes`].
pub(crate) fn of_pair(
    whole: &Whitened,
    blocks: &[Block],
    views: [usize; 2],
    (prior, names): (&[f64], &[usize]),
    within: &[Vec<f64>],
    seed: u64,
) -> Result<Vec<Dependence>> {
    let k = prior.len();
    let line = |class, values: &[Vec<f64>], directions: usize| {
        let (statistic, p_value) = Products::of(values).test(FLIPS, 1.0, seed);
        Dependence { views, class, correlation: correlation(statistic, directions), p_value }
    };
    let directions = views.map(|v| whole.dims[v] - 1);
    let fewer = directions[0].min(directions[1]);
    let pair = match (fewer + 1).saturating_sub(k) {
        0 => line(None, &weighted(within, prior), fewer),
        spare => {
            let pair = |moments: &Whitened| moments.pair(views[0], views[1]);
            let of_blocks = blocks.iter().map(|block| pair(&block.moments) * faer::Scale(block.weight));
            line(None, &beyond_classes(&pair(whole), of_blocks, k)?, spare)
        }
    };
    let mut lines = vec![pair];
    if lines[0].p_value < LEVEL {
        let cells = directions[0] * directions[1];
        for class in 0..=names.iter().copied().max().unwrap_or(0) {
            let of_class: Vec<Vec<f64>> =
                within.iter().map(|block| of_class(block, cells, (prior, names), class)).collect();
            lines.push(line(Some(class), &of_class, fewer));
        }
    }
    Ok(lines)
}

/// The mean over the latent states of a class of the covariances within them.
fn of_class(within: &[f64], cells: usize, (prior, names): (&[f64], &[usize]), class: usize) -> Vec<f64> {
    let states = || (0..names.len()).filter(|&z| names[z] == class);
    let total: f64 = states().map(|z| prior[z]).sum();
    (0..cells).map(|cell| states().map(|z| prior[z] / total * within[z * cells + cell]).sum()).collect()
}

/// Covariances within classes, so that squares add up over the classes of a row.
fn weighted(within: &[Vec<f64>], prior: &[f64]) -> Vec<Vec<f64>> {
    let weigh = |block: &Vec<f64>| {
        let cells = block.len() / prior.len();
        block.iter().enumerate().map(|(cell, value)| value * prior[cell / cells].sqrt()).collect()
    };
    within.iter().map(weigh).collect()
}

/// For each block, how two views correlate beyond the `k` directions in which classes can make them: if they are
/// independent given the class their pair moment `E[b_1 b_2^T]` has rank `k`, whatever other views do, and no fit is needed to
/// see that it has not. Blocks' moments are weighted by their rows over those of a block on average.
fn beyond_classes(
    whole: &Mat<f64>,
    blocks: impl Iterator<Item = Mat<f64>>,
    k: usize,
) -> Result<Vec<Vec<f64>>> {
    let (left, right) = beyond(whole.as_ref(), k)?;
    let cells = |block: Mat<f64>| {
        let rest = left.transpose() * block * &right;
        rest.col_iter().flat_map(|column| column.iter().copied().collect::<Vec<f64>>()).collect()
    };
    Ok(blocks.map(cells).collect())
}

/// How strongly two views correlate beyond what `k` classes explain, and the chance of it if they are independent given the
/// class, from their whitened bins: the moments of all rows and of each block, weighted as in [`beyond_classes`].
/// Chances from `level` on are not told exactly. Nothing where there are no directions to spare.
pub(crate) fn of_bins(
    whole: &Mat<f64>,
    blocks: impl Iterator<Item = Mat<f64>>,
    k: usize,
    flips: usize,
    level: f64,
    seed: u64,
) -> Result<Option<(f64, f64)>> {
    let spare = whole.nrows().min(whole.ncols()).saturating_sub(k);
    if spare == 0 {
        return Ok(None);
    }
    let (statistic, p_value) = Products::of(&beyond_classes(whole, blocks, k)?).test(flips, level, seed);
    Ok(Some((correlation(statistic, spare), p_value)))
}

/// The root mean square correlation over so many directions.
pub(super) fn correlation(statistic: f64, directions: usize) -> f64 {
    (statistic.max(0.0) / directions as f64).sqrt().min(1.0)
}

/// Class by class, the covariances of the bins of the two views other than `third` within the class, as the third
/// view's surrogate label `w` has them: `E[b_1 b_2^T w_j] / pi_j` less the product of `E[b w_j] / pi_j`.
pub(crate) fn within_classes(mixture: &Mixture, whitened: &Whitened, third: usize) -> Result<Vec<f64>> {
    let k = mixture.prior.len();
    let mut out = Vec::new();
    let (labels, _) = pseudo_inverse(mixture.means[third].as_ref(), k)?;
    let slices = whitened.slices(third, &labels.transpose().to_owned());
    let [rows, columns] = others(third).map(|v| whitened.dims[v]);
    for class in 0..k {
        let joint = MatRef::from_row_major_slice(slices.col_as_slice(class), rows, columns);
        let prior = joint[(0, 0)];
        for j in 1..columns {
            let within = |i: usize| joint[(i, j)] / prior - joint[(i, 0)] * joint[(0, j)] / (prior * prior);
            out.extend((1..rows).map(within));
        }
    }
    Ok(out)
}
