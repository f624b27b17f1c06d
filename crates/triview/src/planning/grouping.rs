//! How views are grouped into three where there are more.
//!
//! Groups should say about equally much of the class: an estimate is only as good as the weakest of the three. What
//! a view says is seen in how it agrees with the others, since given the class it has nothing to do with them. Where two
//! views do depend on each other given the class, which a test on bins of their scores sees, they go into one group.

use crate::data::{Batch, Partition, VIEWS, block_count, deal};
use crate::diagnostics::{LEVEL, of_bins};
use crate::error::Result;
use crate::features::{Basis, Bins, Softmax};
use crate::fit::whiten;
use crate::moments::{Chosen, Grouping};
use crate::numeric::linalg::from_rows;
use crate::numeric::{columns, kernel};
use crate::settings::grouping::{DRAWN, LESS_BALANCED, MOST_COMPARED, OTHERS};
use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;

/// A proposal for grouping the views.
pub(super) struct Proposal {
    pub(super) partition: Partition,
    /// How it came about.
    pub(super) grouping: Grouping,
    /// Other ways that would do nearly as well and have few views together that the proposal has.
    pub(super) others: Vec<Partition>,
}

impl Proposal {
    /// Groups that say about equally much on these rows, views that depend on each other in one.
    pub(super) fn new(rows: &Batch, seed: u64) -> Result<Self> {
        if rows.views() == VIEWS {
            let grouping = Grouping::chosen(Chosen::Automatic);
            return Ok(Self { partition: Partition::single(), grouping, others: Vec::new() });
        }
        let sets = joined(rows.views(), &dependent_pairs(rows, seed)?);
        let information = information(rows, &sets)?;
        let ways = ranked_ways(&information, seed);
        let grouping = Grouping {
            chosen: Chosen::Automatic,
            together: sets.iter().filter(|views| views.len() > 1).cloned().collect(),
            others: Vec::new(),
        };
        let others = unlike_ways(&ways, &information).into_iter().map(|way| partition(&sets, way));
        Ok(Self { partition: partition(&sets, &ways[0]), grouping, others: others.collect() })
    }
}

/// Pairs of views that depend on each other given the class, the most dependent first: those that a test on bins of their scores
/// rejects at [`LEVEL`] for all pairs together (Holm's correction).
fn dependent_pairs(rows: &Batch, seed: u64) -> Result<Vec<[usize; 2]>> {
    let (views, k) = (rows.views(), rows.k());
    let blocks = binned_blocks(rows)?;
    let pairs: Vec<[usize; 2]> = (0..views).flat_map(|b| (0..b).map(move |a| [a, b])).collect();
    // The smallest p-value must be well below what is asked of the smallest of all.
    let flips = (40 * pairs.len()).max(499);
    let mean = rows.rows() as f64 / blocks.len() as f64;
    let tested: Vec<Option<(f64, f64)>> = pairs
        .par_iter()
        .map(|&[a, b]| {
            let of_blocks: Vec<Mat<f64>> = blocks.iter().map(|block| block.pair(a, b, mean)).collect();
            let mut whole = Mat::zeros(of_blocks[0].nrows(), of_blocks[0].ncols());
            of_blocks.iter().for_each(|block| whole += block * faer::Scale(1.0 / blocks.len() as f64));
            of_bins(&whole, of_blocks.into_iter(), k, flips, LEVEL, seed)
        })
        .collect::<Result<_>>()?;
    let mut tested: Vec<([usize; 2], f64, f64)> = pairs
        .into_iter()
        .zip(tested)
        .filter_map(|(pair, test)| test.map(|(correlation, p_value)| (pair, correlation, p_value)))
        .collect();
    tested.sort_by(|a, b| a.2.total_cmp(&b.2));
    let count = tested.len();
    let accepted = tested.iter().enumerate().position(|(i, (_, _, p))| *p > LEVEL / (count - i) as f64);
    tested.truncate(accepted.unwrap_or(count));
    tested.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(tested.into_iter().map(|(pair, _, _)| pair).collect())
}

/// Some rows, and the whitened bins of each view of them, leading ones first.
struct BinnedBlock {
    rows: usize,
    views: Vec<Vec<f64>>,
}

impl BinnedBlock {
    /// `sum b_1 b_2^T` over the rows, divided by `mean`.
    fn pair(&self, a: usize, b: usize, mean: f64) -> Mat<f64> {
        let [p, q] = [a, b].map(|view| self.views[view].len() / self.rows);
        let mut cells = vec![0.0; p * q];
        kernel::cross(&self.views[a], &self.views[b], self.rows, p, q, &mut cells);
        from_rows(&cells, p, q) * faer::Scale(1.0 / mean)
    }
}

/// The bins of every view, whitened, in blocks that are dealt as those of a state are.
fn binned_blocks(rows: &Batch) -> Result<Vec<BinnedBlock>> {
    let dealt: Vec<Batch> = deal(rows, 0, block_count(rows.k()))
        .into_iter()
        .filter(|of_block| !of_block.is_empty())
        .map(|of_block| rows.select(&of_block))
        .collect();
    let mut blocks: Vec<BinnedBlock> =
        dealt.iter().map(|block| BinnedBlock { rows: block.rows(), views: Vec::new() }).collect();
    for view in 0..rows.views() {
        let (present, evidence) = rows.present_evidence(&[view]);
        let width = evidence.len() / present;
        let bins = Bins::fit((present, rows.k()), &evidence, rows.k(), present < rows.rows());
        let q = bins.dimension();
        let mut gram = vec![0.0; q * q];
        for (part, block) in dealt.iter().zip(&mut blocks) {
            let mut indicators = Vec::new();
            let inputs = &part.inputs(view)[..part.rows() * width];
            bins.evaluate((part.rows(), part.k()), inputs, &part.without(&[view]), &mut indicators);
            kernel::gram(&indicators, part.rows(), q, &mut gram);
            block.views.push(indicators);
        }
        let map = whiten(&gram, q)?;
        let weights: Vec<f64> =
            (0..map.nrows()).flat_map(|i| (0..q).map(move |c| (i, c))).map(|at| map[at]).collect();
        for block in &mut blocks {
            let mut whitened = vec![0.0; block.rows * map.nrows()];
            // The leading one is the constant of an affine map.
            let indicators = &block.views[view][block.rows..];
            columns::affine_columns(indicators, block.rows, q - 1, &weights, map.nrows(), &mut whitened);
            block.views[view] = whitened;
        }
    }
    Ok(blocks)
}

/// The views in sets, each pair in one set as long as three sets are left: where everything hangs together, the weakest
/// dependences are left between the groups, and the test of the whole says so.
fn joined(views: usize, pairs: &[[usize; 2]]) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = (0..views).map(|view| vec![view]).collect();
    for pair in pairs {
        let [a, b] = pair.map(|view| sets.iter().position(|set| set.contains(&view)).unwrap_or(0));
        if a != b && sets.len() > VIEWS {
            let moved = sets.remove(a.max(b));
            sets[a.min(b)].extend(moved);
        }
    }
    sets.iter_mut().for_each(|set| set.sort_unstable());
    sets
}

/// What each of some sets of views says of the class: the mean, over the other sets, of the sum of its squared
/// canonical correlations with the other. Features are softmaxes of the sets' summed scores.
fn information(rows: &Batch, sets: &[Vec<usize>]) -> Result<Vec<f64>> {
    let n = rows.rows();
    let mut whitened = Vec::with_capacity(sets.len());
    for views in sets {
        let (present, evidence) = rows.present_evidence(views);
        let softmax = Softmax::fit((present, rows.k()), &evidence);
        let mut columns = Vec::new();
        let inputs = [rows.sum(views), rows.joined_covariates(views)].concat();
        softmax.evaluate(n, &inputs, &mut columns);
        // Where all of them are missing indicators are their means already.
        if evidence.len() == present * rows.k() {
            for row in rows.without(views) {
                columns.iter_mut().skip(row).step_by(n).for_each(|cell| *cell = 1.0 / rows.k() as f64);
            }
        }
        let mut features = Vec::new();
        Basis::fit(n, &columns, 0)?.evaluate(n, &columns, &mut features);
        whitened.push(features);
    }
    let mut information = vec![0.0; sets.len()];
    for a in 0..sets.len() {
        for b in 0..a {
            let width = [a, b].map(|set| whitened[set].len() / n);
            let mut correlations = vec![0.0; width[0] * width[1]];
            kernel::cross(&whitened[a], &whitened[b], n, width[0], width[1], &mut correlations);
            let squares: f64 = correlations.iter().map(|sum| (sum / n as f64).powi(2)).sum();
            for set in [a, b] {
                information[set] += squares / (sets.len() - 1) as f64;
            }
        }
    }
    Ok(information)
}

/// Ways to deal sets to three groups, the one with the largest product of what its groups say first.
fn ranked_ways(information: &[f64], seed: u64) -> Vec<Vec<usize>> {
    let mut ways = if information.len() <= MOST_COMPARED {
        every_way(information.len())
    } else {
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut blurred = || information.iter().map(|x| x * rng.random_range(0.5..2.0)).collect::<Vec<f64>>();
        let more = (0..DRAWN).map(|_| greedy(&blurred()));
        [greedy(information)].into_iter().chain(more).collect()
    };
    ways.sort_by(|a, b| balance(b, information).total_cmp(&balance(a, information)));
    ways
}

/// Of ranked ways, some that are nearly as balanced as the first and have as few sets together as can be that the first,
/// or one before, has together.
fn unlike_ways<'a>(ways: &'a [Vec<usize>], information: &[f64]) -> Vec<&'a Vec<usize>> {
    let enough = balance(&ways[0], information) - LESS_BALANCED.ln();
    let nearly: Vec<&Vec<usize>> =
        ways.iter().take_while(|way| balance(way, information) >= enough).collect();
    let together = |way: &[usize], a: usize, b: usize| way[a] == way[b];
    let alike = |one: &[usize], other: &[usize]| {
        let pairs = (0..one.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        pairs.filter(|&(a, b)| together(one, a, b) && together(other, a, b)).count()
    };
    let differ = |one: &[usize], other: &[usize]| {
        (0..one.len()).any(|b| (0..b).any(|a| together(one, a, b) != together(other, a, b)))
    };
    let mut picked = vec![&ways[0]];
    while picked.len() <= OTHERS {
        let fresh = nearly.iter().filter(|way| picked.iter().all(|other| differ(way, other)));
        match fresh.min_by_key(|way| picked.iter().map(|other| alike(way, other)).sum::<usize>()) {
            Some(way) => picked.push(way),
            None => break,
        }
    }
    picked.split_off(1)
}

/// The sum over groups of the logarithm of what their sets say together.
fn balance(way: &[usize], information: &[f64]) -> f64 {
    let mut sums = [f64::MIN_POSITIVE; VIEWS];
    way.iter().zip(information).for_each(|(&group, information)| sums[group] += information);
    sums.iter().map(|sum| sum.ln()).sum()
}

/// Every way to deal so many sets to three groups that are not empty, the first set to the first group, and each group
/// begun before the next.
fn every_way(sets: usize) -> Vec<Vec<usize>> {
    let mut ways = vec![Vec::new()];
    for _ in 0..sets {
        ways = ways
            .into_iter()
            .flat_map(|way: Vec<usize>| {
                let begun = way.iter().max().map_or(0, |last| last + 1);
                (0..=begun.min(VIEWS - 1)).map(move |group| [way.as_slice(), &[group]].concat())
            })
            .collect();
    }
    ways.retain(|way| way.contains(&(VIEWS - 1)));
    ways
}

/// Deals the sets that say most first, each to the group that says least so far.
fn greedy(information: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..information.len()).collect();
    order.sort_by(|&a, &b| information[b].total_cmp(&information[a]));
    let mut sums = [0.0; VIEWS];
    let mut way = vec![0; information.len()];
    for set in order {
        let least = (0..VIEWS).fold(0, |least, group| if sums[group] < sums[least] { group } else { least });
        way[set] = least;
        sums[least] += information[set];
    }
    way
}

/// The partition that a way of dealing some sets makes.
fn partition(sets: &[Vec<usize>], way: &[usize]) -> Partition {
    let members = std::array::from_fn(|group| {
        let dealt = sets.iter().zip(way).filter(|(_, of)| **of == group);
        dealt.flat_map(|(views, _)| views.iter().copied()).collect()
    });
    Partition::ordered(members)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;
    use crate::lab::{Population, Preset, Setting};
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    fn members(groups: &Partition) -> Vec<Vec<usize>> {
        groups.iter().cloned().collect()
    }

    #[test]
    fn every_way_is_there_once() {
        // Stirling numbers of the second kind.
        assert_eq!(every_way(3), [[0, 1, 2]]);
        assert_eq!([4, 5, 8].map(|sets| every_way(sets).len()), [6, 25, 966]);
    }

    #[test]
    fn strong_views_are_dealt_to_different_groups() {
        let sets: Vec<Vec<usize>> = (0..5).map(|view| vec![view]).collect();
        let information = [0.1, 2.0, 0.2, 1.0, 1.1];
        let best = partition(&sets, &ranked_ways(&information, 1)[0]);
        assert_eq!(members(&best), [vec![0, 4], vec![1], vec![2, 3]]);
        assert_eq!(partition(&sets, &greedy(&information)), best);
    }

    #[test]
    fn pairs_are_joined_as_long_as_three_sets_are_left() {
        assert_eq!(joined(4, &[]), [[0], [1], [2], [3]]);
        assert_eq!(joined(6, &[[1, 4], [2, 4]]), [vec![0], vec![1, 2, 4], vec![3], vec![5]]);
        assert_eq!(joined(5, &[[3, 4], [0, 1], [1, 2]]), [vec![0, 1], vec![2], vec![3, 4]]);
    }

    #[test]
    fn other_ways_keep_little_together() {
        let information = [1.0; 6];
        let ways = ranked_ways(&information, 1);
        let others = unlike_ways(&ways, &information);
        assert_eq!(ways[0], [0, 0, 1, 1, 2, 2]);
        // Six sets in pairs can be paired anew without repeating a pair.
        assert_eq!(others.len(), OTHERS);
        for other in others {
            assert!((0..3).all(|pair| other[2 * pair] != other[2 * pair + 1]), "{other:?}");
        }
        let only = [1.0; 3];
        assert!(unlike_ways(&ranked_ways(&only, 1), &only).is_empty());
        let many: Vec<f64> = (0..20).map(|set| 1.0 + f64::from(set)).collect();
        assert_eq!(unlike_ways(&ranked_ways(&many, 1), &many).len(), OTHERS);
    }

    #[test]
    fn a_view_that_says_more_has_more_information() {
        let setting = Setting { views: 4, ..Preset::Three.setting() };
        let population = Population::draw(&setting, 3).unwrap();
        let (rows, _) = population.rows(4_000, &mut Pcg64::seed_from_u64(1));
        // The last view is drowned in what the rows before say, which has nothing to do with the class of its row.
        let drowned = |class: usize| {
            let column = rows.column(3, class);
            (0..4_000).map(|row| column[row] + 3.0 * column[(row + 17) % 4_000]).collect::<Vec<f64>>()
        };
        let mut scores: Vec<Vec<f64>> = (0..3).map(|view| rows.view(view).to_vec()).collect();
        scores.push((0..3).flat_map(drowned).collect());
        let sets: Vec<Vec<usize>> = (0..4).map(|view| vec![view]).collect();
        let found = information(&Batch::new(4_000, scores).unwrap(), &sets).unwrap();
        assert!((0..3).all(|view| found[view] > 1.5 * found[3]), "{found:?}");
    }
}
