//! A start for EM that no majority has to be right for (Zhang, Chen, Zhou and Jordan 2014).
//!
//! Annotators are dealt out to three blocks. The shares of a block's votes on an item are its view of it: given the class the
//! blocks are independent, so the third moment of the shares decomposes as that of any three views does. The surrogate labels
//! of two blocks then read off the confusion matrix of each annotator of the third,
//!
//! ```text
//!     E[1(vote of a = c) W_j] = pi_j C_a[c, j].
//! ```
//!
//! Which annotators vote on an item may be anything that does not depend on its class.

use super::cast::Votes;
use super::dawid_skene::{Crowd, Smoothing};
use super::expected::ExpectedCounts;
use crate::answer::Surrogates;
use crate::answer::assign;
use crate::data::VIEWS;
use crate::error::Result;
use crate::fit::refinement::{Objective, refine};
use crate::fit::{Mixture, Whitening, power_method};
use crate::moments::{Family, Part};
use crate::numeric::kernel;
use crate::settings::em::FLOOR;
use crate::settings::spectral::{ITEMS_PER_NUMBER, MOST_CLASSES, MOST_ITEMS};
use faer::Mat;

/// Why there is no such start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub enum NoSpectralStart {
    /// Too few items have votes from all three blocks.
    FewItems,
    /// More than 32 classes.
    ManyClasses,
    /// The blocks do not tell all classes apart.
    Degenerate,
}

/// The annotators of three blocks.
pub(crate) struct Blocks {
    of: Vec<u8>,
}

impl Blocks {
    /// Deals annotators out, those with the most votes first, each to the block that has the fewest.
    pub(crate) fn new(votes: &Votes) -> Self {
        let counts = votes.by_annotator();
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_by_key(|&annotator| std::cmp::Reverse(counts[annotator]));
        let (mut of, mut sizes) = (vec![0; counts.len()], [0_u64; VIEWS]);
        for annotator in order {
            let smallest = (0..VIEWS).fold(0, |best, v| if sizes[v] < sizes[best] { v } else { best });
            of[annotator] = smallest as u8;
            sizes[smallest] += u64::from(counts[annotator]);
        }
        Self { of }
    }

    /// The shares of each block's votes on an item, block by block; and how many votes each has.
    fn shares(&self, ballots: &[u32], k: usize, out: &mut [f64]) -> [u32; VIEWS] {
        out.fill(0.0);
        let mut counts = [0; VIEWS];
        for &ballot in ballots {
            let (annotator, class) = (ballot as usize / k, ballot as usize % k);
            let block = usize::from(self.of[annotator]);
            out[block * k + class] += 1.0;
            counts[block] += 1;
        }
        for (shares, count) in out.chunks_exact_mut(k).zip(counts) {
            shares.iter_mut().for_each(|share| *share /= f64::from(count.max(1)));
        }
        counts
    }
}

/// The crowd that the moments of three blocks suggest, its classes in the order that most votes are right with.
pub(crate) fn spectral(
    votes: &Votes,
    smoothing: &Smoothing,
    seed: u64,
) -> Result<std::result::Result<Crowd, NoSpectralStart>> {
    let k = votes.k();
    if k > MOST_CLASSES {
        return Ok(Err(NoSpectralStart::ManyClasses));
    }
    let blocks = Blocks::new(votes);
    let (family, sums) = moments(votes, &blocks);
    if (family.tensor.of(&sums)[0] as usize) < ITEMS_PER_NUMBER * k * k {
        return Ok(Err(NoSpectralStart::FewItems));
    }
    let whitening = Whitening::of(&family, &sums)?;
    if whitening.maps.iter().any(|map| map.nrows() < k) {
        return Ok(Err(NoSpectralStart::Degenerate));
    }
    let whitened = whitening.apply(&family, &sums);
    let Some(start) = power_method(&whitened, k, seed)? else { return Ok(Err(NoSpectralStart::Degenerate)) };
    let objective = Objective::squares(whitened.tensor, whitened.dims, k);
    let mixture = refine(&objective, &start).mixture;
    let surrogates = Surrogates::new(&whitening, &mixture, &family, &sums)?;
    let tally = read_off(votes, &blocks, &surrogates, &mixture);
    let crowd = smoothing.maximise(&tally);
    Ok(Ok(crowd.reorder(&name(&tally).order)))
}

/// Who is who: the class names under which most votes are right, from expected counts.
pub(crate) fn name(tally: &ExpectedCounts) -> crate::answer::Matching {
    let k = tally.classes.len();
    let mut weights = Mat::zeros(k, k);
    for (ballot, row) in tally.votes.chunks_exact(k).enumerate() {
        row.iter().enumerate().for_each(|(latent, count)| weights[(latent, ballot % k)] += count);
    }
    assign(&weights)
}

/// The moments of the blocks' shares, of items that all blocks vote on. Of the shares, which sum to one, the first is left
/// out for the leading one.
fn moments(votes: &Votes, blocks: &Blocks) -> (Family, Vec<f64>) {
    let k = votes.k();
    let mut len = 0;
    let mut part = |name: &str, shape: Vec<usize>| {
        let part = Part { name: name.into(), shape, offset: len };
        len += part.len();
        part
    };
    let family = Family {
        tensor: part("tensor", vec![k; VIEWS]),
        pairs: None,
        gram: std::array::from_fn(|_| part("gram", vec![k, k])),
        cross: Vec::new(),
    };
    let mut columns: [Vec<f64>; VIEWS] = Default::default();
    let mut shares = vec![0.0; VIEWS * k];
    let stride = votes.items().div_ceil(MOST_ITEMS);
    let mut rows = 0;
    for item in (0..votes.items()).step_by(stride) {
        if blocks.shares(votes.of_item(item), k, &mut shares).contains(&0) {
            continue;
        }
        rows += 1;
        for (column, shares) in columns.iter_mut().zip(shares.chunks_exact(k)) {
            column.push(1.0);
            column.extend_from_slice(&shares[1..]);
        }
    }
    let columns = columns.map(|by_row| {
        (0..k * rows).map(|at| by_row[at % rows.max(1) * k + at / rows.max(1)]).collect::<Vec<f64>>()
    });
    let mut sums = vec![0.0; len];
    let [first, second, third] = &columns;
    kernel::tensor(first, second, third, rows, [k; VIEWS], family.tensor.of_mut(&mut sums));
    for (part, column) in family.gram.iter().zip(&columns) {
        kernel::gram(column, rows, k, part.of_mut(&mut sums));
    }
    (family, sums)
}

/// The expected counts of each annotator by the surrogate labels of the other blocks that vote on an item. Surrogates have
/// negative entries, and so have sums of few: these are none.
fn read_off(votes: &Votes, blocks: &Blocks, surrogates: &Surrogates, mixture: &Mixture) -> ExpectedCounts {
    let k = votes.k();
    let mut counts = vec![0.0; votes.annotators() * k * k];
    let (mut shares, mut labels) = (vec![0.0; VIEWS * k], vec![0.0; VIEWS * k]);
    for item in (0..votes.items()).step_by(votes.items().div_ceil(MOST_ITEMS)) {
        let ballots = votes.of_item(item);
        let present = blocks.shares(ballots, k, &mut shares);
        for (v, map) in surrogates.maps.iter().enumerate().filter(|(v, _)| present[*v] > 0) {
            for j in 0..k {
                let shares = &shares[v * k + 1..(v + 1) * k];
                let varying: f64 = shares.iter().enumerate().map(|(i, share)| map[(j, i + 1)] * share).sum();
                labels[v * k + j] = map[(j, 0)] + varying;
            }
        }
        for &ballot in ballots {
            let own = usize::from(blocks.of[ballot as usize / k]);
            let others = || (0..VIEWS).filter(|&v| v != own && present[v] > 0);
            let total: f64 = others().map(|v| surrogates.precision[v]).sum();
            for v in others() {
                let weight = surrogates.precision[v] / total;
                let row = &mut counts[ballot as usize * k..(ballot as usize + 1) * k];
                row.iter_mut().zip(&labels[v * k..]).for_each(|(count, label)| *count += weight * label);
            }
        }
    }
    counts.iter_mut().for_each(|count| *count = count.max(0.0));
    let classes = mixture.prior.iter().map(|p| (p * votes.items() as f64).max(FLOOR)).collect();
    ExpectedCounts { votes: counts, classes, log_likelihood: f64::NAN, right: f64::NAN }
}
