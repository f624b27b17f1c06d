//! How far the estimate may be off, from the blocks alone.

use crate::decomposition::{Mixture, Whitening};
use crate::error::Result;
use crate::loss::Loss;
use crate::moments::Moments;
use crate::refinement::{Distance, Refit};
use crate::risk::risk;
use crate::solution::Problem;
use crate::surrogate::Kind;
use rayon::prelude::*;

/// What each block adds to the error of the risk, under each kind of surrogate, by the jackknife: each block is
/// left out in turn, the fit is repeated from where it ended, and the risk recomputed. The root of the sum of
/// squares is the standard error; that of a weighted mean of estimates comes from the mean of their parts.
///
/// Blocks may differ in size, so the weighted jackknife is used (Busing, Meijer and van der Leeden 1999):
/// with `h_b = n / n_b` and pseudo-values `h_b R - (h_b - 1) R_-b`, the variance is the mean over blocks of
/// their squared deviations over `h_b - 1`.
pub(crate) fn jackknife(
    loss: &dyn Loss,
    moments: &Moments,
    problem: &Problem<'_>,
    distance: Distance,
    whitening: &Whitening,
    mixture: &Mixture,
    whole: [f64; 2],
) -> Result<[Vec<f64>; 2]> {
    let (layout, total) = (moments.layout(), moments.total());
    let n = layout.rows.of(&total)[0];
    let rows = |block: &[f64]| layout.rows.of(block)[0];
    let blocks: Vec<&Vec<f64>> = moments.blocks().iter().filter(|b| rows(b) > 0.0 && rows(b) < n).collect();
    let fitted = Refit::new(&problem.objective(distance, &total), mixture);
    let without: Vec<[f64; 2]> = blocks
        .par_iter()
        .map(|block| {
            let left: Vec<f64> = total.iter().zip(*block).map(|(total, block)| total - block).collect();
            let refitted = fitted.to(&problem.objective(distance, &left));
            let mut risks = [0.0; 2];
            for (value, kind) in risks.iter_mut().zip(Kind::ALL) {
                *value = risk(loss, kind, whitening, &refitted, layout, &left)?.value;
            }
            Ok(risks)
        })
        .collect::<Result<_>>()?;
    let g = blocks.len() as f64;
    Ok(std::array::from_fn(|kind| {
        let left = blocks.iter().zip(&without);
        let centre = g * whole[kind] - left.clone().map(|(b, r)| (1.0 - rows(b) / n) * r[kind]).sum::<f64>();
        left.map(|(block, risks)| {
            let h = n / rows(block);
            (h * whole[kind] - (h - 1.0) * risks[kind] - centre) / ((h - 1.0) * g).sqrt()
        })
        .collect()
    }))
}
