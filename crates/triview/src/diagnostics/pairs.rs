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
//! much is not to first order moved by errors in `C_a` or `C_b`. Nothing of the fit is needed. If it is `a` and `c` that depend
//! on each other, `r_b` has mean zero all the same: only the pair at fault shows.

use super::dependence::{Dependence, correlation};
use super::independence::{Independence, LEVEL, Verdict, few_blocks};
use super::signs::Products;
use crate::data::{VIEWS, others};
use crate::error::Result;
use crate::fit::Whitening;
use crate::moments::{Layout, Moments};
use crate::numeric::linalg::{dot, from_rows, pseudo_inverse};
use crate::settings::dependence::FLIPS as FLIPS_OF_A_PAIR;
use crate::settings::independence::{FEWEST_BLOCKS, FLIPS};
use crate::settings::pair_moments::{MOST_SHAKEN, ROUNDING};
use faer::Mat;
use rayon::prelude::*;

/// Tests a state in which pair moments stand for the third moment, by the features of these whitened coordinates.
pub(super) fn test(moments: &Moments, whitening: &Whitening, seed: u64) -> Result<Independence> {
    let (layout, sums) = (moments.layout(), moments.total());
    let bins = Whitening::of(&layout.bins, &sums)?;
    let varying = bins.maps.each_ref().map(|map| map.nrows() - 1);
    let cells = |third: usize| others(third).map(|v| varying[v]).iter().product::<usize>();
    let freedom = (0..VIEWS).map(cells).sum();
    let blocks = moments.filled();
    if blocks.len() < FEWEST_BLOCKS {
        return Ok(Independence::untestable(freedom, few_blocks(blocks.len())));
    }
    let rows = moments.rows() as f64;
    let compared = compare(layout, &blocks, &bins, whitening)?;
    if compared.shaken > MOST_SHAKEN {
        let needed = rows * compared.shaken / MOST_SHAKEN;
        let reason = format!(
            "two views agree too weakly for the test to be made on {rows} rows: about {needed:.0} are needed"
        );
        return Ok(Independence::untestable(freedom, reason));
    }
    let mean = rows / blocks.len() as f64;
    let seen = |third: usize| compared.size[third] > ROUNDING * cells(third) as f64 / mean;
    let (mut products, mut dependences) = (Products::none(blocks.len()), Vec::new());
    for third in (0..VIEWS).rev().filter(|&third| seen(third)) {
        let [a, b] = others(third);
        let (statistic, p_value) = compared.products[third].test(FLIPS_OF_A_PAIR, 1.0, seed);
        let correlation = correlation(statistic, varying[a].min(varying[b]));
        dependences.push(Dependence { views: [a, b], class: None, correlation, p_value });
        products.add(&compared.products[third]);
    }
    let (statistic, p_value) = products.test(FLIPS, 1.0, seed);
    let unseen = (0..VIEWS).rev().find(|&third| !seen(third));
    let verdict = match unseen {
        _ if p_value < LEVEL && !dependences.is_empty() => Verdict::Fail,
        None => Verdict::Pass,
        Some(third) => {
            let names = moments.plan().group_names();
            let [a, b] = others(third).map(|v| &names[v]);
            let reason = format!(
                "view `{a}` or `{b}` takes too few values, as votes do: nothing is left of them beyond the class; give scores \
                 rather than votes"
            );
            return Ok(Independence::untestable(freedom, reason));
        }
    };
    Ok(Independence {
        verdict,
        statistic: Some(statistic),
        deviation: Some(products.deviation()),
        p_value: Some(p_value),
        common_causes: Vec::new(),
        degrees_of_freedom: freedom,
        reason: None,
        dependences,
    })
}

/// The residuals of blocks, compared with each other.
struct Compared {
    /// Their inner products, for the two views other than each one.
    products: [Products; VIEWS],
    /// Their mean squared length.
    size: [f64; VIEWS],
    /// The largest share of their variance that is due to the error of slopes.
    shaken: f64,
}

/// Compares the residuals of blocks.
///
/// What the errors of `C_a` and `C_b` leave in a residual is small in each of its cells, but common to all blocks, and there
/// are many cells. So the two blocks of a product take theirs from other rows: blocks are halved by each binary digit
/// of their number in turn, every half has slopes of its own, and products are between halves. Two blocks that are apart by
/// several digits count the mean of these.
fn compare(
    layout: &Layout,
    blocks: &[(f64, &[f64])],
    bins: &Whitening,
    whitening: &Whitening,
) -> Result<Compared> {
    let count = blocks.len();
    let rows: f64 = blocks.iter().map(|(rows, _)| rows).sum();
    let members = |digit: u32, half: usize| (0..count).filter(move |block| block >> digit & 1 == half);
    // A half of few rows has slopes that are worth nothing.
    let enough =
        |digit: u32, half: usize| members(digit, half).map(|b| blocks[b].0).sum::<f64>() >= rows / 4.0;
    let digits: Vec<u32> = (0..usize::BITS)
        .take_while(|digit| 1 << digit < count)
        .filter(|&digit| (0..2).all(|half| enough(digit, half)))
        .collect();
    let apart = |digit: u32, a: usize, b: usize| (a ^ b) >> digit & 1 == 1;
    let products = std::array::from_fn(|_| Products::none(count));
    let mut compared = Compared { products, size: [0.0; VIEWS], shaken: 0.0 };
    for &digit in &digits {
        let halves = [0, 1].map(|half| {
            let mut sums = vec![0.0; layout.len];
            for block in members(digit, half) {
                sums.iter_mut().zip(blocks[block].1).for_each(|(sum, cell)| *sum += cell);
            }
            sums
        });
        for third in 0..VIEWS {
            let slopes = |half: usize| Pair::new(layout, bins, whitening, third, &halves[half]);
            let pairs = [slopes(0)?, slopes(1)?];
            compared.shaken = pairs.iter().map(|pair| pair.shaken).fold(compared.shaken, f64::max);
            let mean = rows / count as f64;
            let residual = |block: usize| pairs[block >> digit & 1].residual(layout, blocks[block].1, mean);
            let residuals: Vec<Vec<f64>> = (0..count).into_par_iter().map(residual).collect();
            for a in 0..count {
                compared.size[third] += dot(&residuals[a], &residuals[a]) / (count * digits.len()) as f64;
                for b in (0..a).filter(|&b| apart(digit, a, b)) {
                    let times = digits.iter().filter(|&&digit| apart(digit, a, b)).count() as f64;
                    compared.products[third].cells[a][b] += dot(&residuals[a], &residuals[b]) / times;
                }
            }
        }
    }
    Ok(compared)
}

/// What makes the residuals of the two views other than one.
struct Pair {
    third: usize,
    /// For each of the two, the whitening of its bins, and `C` of whitened bins by plain features.
    views: [(Mat<f64>, Mat<f64>); 2],
    /// The larger share of a residual's variance that is due to the error of `C`: the mean of `1 / s^2` over the canonical
    /// correlations `s` with the third view, times their number over that of the rows.
    shaken: f64,
}

impl Pair {
    fn new(
        layout: &Layout,
        bins: &Whitening,
        whitening: &Whitening,
        third: usize,
        sums: &[f64],
    ) -> Result<Self> {
        let rows = layout.rows.of(sums)[0];
        let states = layout.classes.len();
        let mut shaken: f64 = 0.0;
        let mut of_view = |v: usize| -> Result<(Mat<f64>, Mat<f64>)> {
            let rest = VIEWS - v - third;
            // E[u_v u_c^T], views in their order in the state.
            let pair = layout.features.pair(rest, sums);
            let pair = if v < third { pair } else { pair.transpose().to_owned() };
            let [own, instrument] = [v, third].map(|v| &whitening.maps[v]);
            let whitened = own * pair * instrument.transpose() * faer::Scale(1.0 / rows);
            let (inverse, _) = pseudo_inverse(whitened.as_ref(), states)?;
            shaken = shaken.max(inverse.squared_norm_l2() / rows);
            // The leading one is its own feature, and has no residual.
            let all = &bins.maps[v];
            let varying = all.submatrix(1, 0, all.nrows() - 1, all.ncols()).to_owned();
            let cross = bins_by_features(layout, v, third, sums) * faer::Scale(1.0 / rows);
            let slopes = &varying * cross * instrument.transpose() * inverse * own;
            Ok((varying, slopes))
        };
        let [a, b] = others(third);
        let views = [of_view(a)?, of_view(b)?];
        Ok(Self { third, views, shaken })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Batch, Sample};
    use crate::estimator::Params;
    use crate::features::FeatureChoice;
    use crate::lab::{Population, Preset};
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    /// What a linear map makes of each row's columns.
    fn mapped(map: &Mat<f64>, columns: &[f64], rows: usize) -> Vec<Vec<f64>> {
        let cell = |i: usize, row: usize| {
            (0..map.ncols()).map(|c| map[(i, c)] * columns[c * rows + row]).sum::<f64>()
        };
        (0..rows).map(|row| (0..map.nrows()).map(|i| cell(i, row)).collect()).collect()
    }

    #[test]
    fn residuals_from_moments_are_those_of_the_rows() -> Result<()> {
        let population = Population::draw(&Preset::Six.setting(), 5)?;
        let (rows, _) = population.rows(900, &mut Pcg64::seed_from_u64(6));
        let sample = Sample::new(population.schema().clone(), rows.clone());
        let estimator = Params::new().check()?;
        let plan = estimator.planner(&sample)?.plan_many(FeatureChoice::Auto)?;
        let sums_of = |rows: &Batch| -> Result<Moments> {
            let mut sums = plan.keeping_accumulator()?;
            sums.update(rows)?;
            sums.finish()
        };
        let whole = sums_of(&rows)?;
        let (layout, total) = (whole.layout(), whole.total());
        let bins = Whitening::of(&layout.bins, &total)?;
        let whitening = Whitening::of(&layout.features, &total)?;
        let few = rows.select(&(100..137).collect::<Vec<_>>());
        let block = sums_of(&few)?.total();
        let n = few.rows();
        for third in 0..VIEWS {
            let pair = Pair::new(layout, &bins, &whitening, third, &total)?;
            let residuals: Vec<Vec<Vec<f64>>> = others(third)
                .into_iter()
                .zip(&pair.views)
                .map(|(v, (map, slopes))| {
                    let evaluated = plan.evaluate(&few, v);
                    let mut indicators = Vec::new();
                    plan.bins[v].evaluate((n, few.k()), few.view(v), &[], &mut indicators);
                    let (of_bins, explained) =
                        (mapped(map, &indicators, n), mapped(slopes, &evaluated.features, n));
                    let less = |(a, b): (&Vec<f64>, Vec<f64>)| a.iter().zip(b).map(|(a, b)| a - b).collect();
                    of_bins.iter().zip(explained).map(less).collect()
                })
                .collect();
            let from_moments = pair.residual(layout, &block, 10.0);
            let [first, second] = [0, 1].map(|v: usize| residuals[v][0].len());
            assert_eq!(from_moments.len(), first * second);
            for (at, found) in from_moments.iter().enumerate() {
                let (i, j) = (at % first, at / first);
                let sum: f64 = (0..n).map(|row| residuals[0][row][i] * residuals[1][row][j]).sum();
                assert!((found - sum / 10.0).abs() < 1e-9, "{third} {i} {j}: {found} {}", sum / 10.0);
            }
        }
        Ok(())
    }
}
