//! Whether the views are independent given the class, for so many classes that no third moment is formed.
//!
//! With `u_v` the features of a view, `b_v` its bins and `c` the third view,
//!
//! ```text
//!     r_a = b_a - C_a u_a,    C_a = E[b_a u_c^T] E[u_a u_c^T]^-1
//! ```
//!
//! has mean zero in every class: `E[r_a u_c^T] = sum_j pi_j E[r_a | j] E[u_c | j]^T` is zero, and the class means of `u_c` have
//! full rank. The same goes for `r_b`. So `E[r_a r_b^T]` is zero if the two views are independent given the class, and by how
//! much is not to first order moved by errors in `C_a` or `C_b`. Nothing of the fit is needed.

use super::dependence::{Dependence, FLIPS as FLIPS_OF_A_PAIR, correlation};
use super::independence::{FEWEST_BLOCKS, FLIPS, Independence, LEVEL, Verdict, few_blocks};
use super::signs::Products;
use crate::decomposition::Whitening;
use crate::error::Result;
use crate::linalg::{dot, from_rows, pseudo_inverse};
use crate::moments::{Layout, Moments, others};
use crate::views::VIEWS;
use faer::Mat;
use rayon::prelude::*;

/// Tests a state in which pair moments stand for the third moment, by the features of these whitened coordinates.
pub(super) fn test(moments: &Moments, whitening: &Whitening, seed: u64) -> Result<Independence> {
    let (layout, sums) = (moments.layout(), moments.total());
    let bins = Whitening::of(&layout.bins, &sums)?;
    let varying = bins.maps.each_ref().map(|map| map.nrows() - 1);
    if let Some(v) = (0..VIEWS).find(|&v| varying[v] == 0) {
        let view = &moments.header().group_names()[v];
        let reason = format!("most scores of view `{view}` are the same: give scores rather than votes");
        return Ok(Independence::untestable(0, reason));
    }
    let blocks = moments.filled();
    if blocks.len() < FEWEST_BLOCKS {
        return Ok(Independence::untestable(0, few_blocks(blocks.len())));
    }
    let mut products = Products::none(blocks.len());
    let (mut dependences, mut freedom) = (Vec::new(), 0);
    for third in (0..VIEWS).rev() {
        let of_pair = compare(layout, &blocks, &bins, whitening, third)?;
        let [a, b] = others(third);
        let (statistic, p_value) = of_pair.test(FLIPS_OF_A_PAIR, 1.0, seed);
        let correlation = correlation(statistic, varying[a].min(varying[b]));
        dependences.push(Dependence { views: [a, b], class: None, correlation, p_value });
        freedom += varying[a] * varying[b];
        products.add(&of_pair);
    }
    let (statistic, p_value) = products.test(FLIPS, 1.0, seed);
    Ok(Independence {
        verdict: if p_value < LEVEL { Verdict::Fail } else { Verdict::Pass },
        statistic: Some(statistic),
        p_value: Some(p_value),
        degrees_of_freedom: freedom,
        reason: None,
        dependences,
    })
}

/// The inner products of the residuals of blocks, for the two views other than `third`.
///
/// What the errors of `C_a` and `C_b` leave in a residual is small in each of its cells, but common to all blocks, and there
/// are many cells. So the two blocks of a product take theirs from other rows: blocks are halved by each binary digit
/// of their number in turn, every half has slopes of its own, and products are between halves. Two blocks are apart by one
/// digit or more, and count the mean of these.
fn compare(
    layout: &Layout,
    blocks: &[(f64, &Vec<f64>)],
    bins: &Whitening,
    whitening: &Whitening,
    third: usize,
) -> Result<Products> {
    let count = blocks.len();
    let mean = blocks.iter().map(|(rows, _)| rows).sum::<f64>() / count as f64;
    let members = |digit: u32, half: usize| (0..count).filter(move |block| block >> digit & 1 == half);
    // A half of few blocks has slopes that are worth nothing.
    let even = |digit: &u32| (0..2).all(|half| members(*digit, half).count() >= count / 4);
    let digits: Vec<u32> = (0..usize::BITS).take_while(|digit| 1 << digit < count).filter(even).collect();
    let apart = |digit: u32, a: usize, b: usize| (a ^ b) >> digit & 1 == 1;
    let mut products = Products::none(count);
    for &digit in &digits {
        let slopes = |half: usize| {
            let mut sums = vec![0.0; layout.len];
            for block in members(digit, half) {
                sums.iter_mut().zip(blocks[block].1).for_each(|(sum, cell)| *sum += cell);
            }
            Pair::new(layout, bins, whitening, third, &sums)
        };
        let pairs = [slopes(0)?, slopes(1)?];
        let residual = |block: usize| pairs[block >> digit & 1].residual(layout, blocks[block].1, mean);
        let residuals: Vec<Vec<f64>> = (0..count).into_par_iter().map(residual).collect();
        for a in 0..count {
            for b in (0..a).filter(|&b| apart(digit, a, b)) {
                let times = digits.iter().filter(|&&digit| apart(digit, a, b)).count() as f64;
                products.cells[a][b] += dot(&residuals[a], &residuals[b]) / times;
            }
        }
    }
    Ok(products)
}

/// What makes the residuals of the two views other than one.
struct Pair {
    third: usize,
    /// For each of the two, the whitening of its bins, and `C` of whitened bins by plain features.
    views: [(Mat<f64>, Mat<f64>); 2],
}

impl Pair {
    fn new(
        layout: &Layout,
        bins: &Whitening,
        whitening: &Whitening,
        third: usize,
        sums: &[f64],
    ) -> Result<Self> {
        let of_view = |v: usize| -> Result<(Mat<f64>, Mat<f64>)> {
            let rest = 3 - v - third;
            // E[u_v u_c^T], views in their order in the state.
            let pair = layout.features.pair(rest, sums);
            let pair = if v < third { pair } else { pair.transpose().to_owned() };
            let [own, instrument] = [v, third].map(|v| &whitening.maps[v]);
            let (inverse, _) = pseudo_inverse((own * pair * instrument.transpose()).as_ref(), own.nrows())?;
            // The leading one is its own feature, and has no residual.
            let all = &bins.maps[v];
            let varying = all.submatrix(1, 0, all.nrows() - 1, all.ncols()).to_owned();
            let cross = bins_by_features(layout, v, third, sums);
            let slopes = &varying * cross * instrument.transpose() * inverse * own;
            Ok((varying, slopes))
        };
        let [a, b] = others(third);
        Ok(Self { third, views: [of_view(a)?, of_view(b)?] })
    }

    /// The sums of `r_a r_b^T` over the rows of a block, over the rows of a block on average.
    fn residual(&self, layout: &Layout, block: &[f64], rows: f64) -> Vec<f64> {
        let [a, b] = others(self.third);
        let [(bins_a, slopes_a), (bins_b, slopes_b)] = &self.views;
        let of_b = layout.bins.pair(self.third, block) * bins_b.transpose()
            - bins_by_features(layout, a, b, block) * slopes_b.transpose();
        let by_features = bins_by_features(layout, b, a, block).transpose() * bins_b.transpose()
            - layout.features.pair(self.third, block) * slopes_b.transpose();
        let residual = (bins_a * of_b - slopes_a * by_features) * faer::Scale(1.0 / rows);
        residual.col_iter().flat_map(|column| column.iter().copied().collect::<Vec<f64>>()).collect()
    }
}

/// The sums of `b_v u_a^T`.
fn bins_by_features(layout: &Layout, v: usize, a: usize, sums: &[f64]) -> Mat<f64> {
    let part = &layout.bins_features[v][usize::from(others(v)[1] == a)];
    from_rows(part.of(sums), part.shape[0], part.shape[1])
}
