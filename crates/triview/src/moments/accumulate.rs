//! From batches to sums.

use super::kernel;
use super::layout::{Family, Layout, others};
use super::state::{Header, Moments};
use crate::error::{Error, Result};
use crate::features::Evaluated;
use crate::loss::Loss;
use crate::sample::hash;
use crate::views::{Batch, VIEWS};
use rayon::prelude::*;

/// Rows are dealt to the blocks in runs of this many, round-robin: a sorted table must not make blocks
/// unlike each other, and short tables must still reach every block.
const RUN: u64 = 8;

/// The most classes for which the `k^3` cells of the third moment are kept.
pub(crate) const MOST_CLASSES: usize = 64;

/// How many blocks of rows are kept for `k` classes: 64, fewer where a block's `k^3` cells grow large.
pub(crate) fn block_count(k: usize) -> usize {
    if k <= 16 { 64 } else { 32 }
}

/// Which of so many blocks a row of a batch goes to, so many rows having come before the batch.
pub(crate) fn block_of(batch: &Batch, before: u64, row: usize, blocks: u64) -> u64 {
    match batch.clusters() {
        Some(clusters) => hash(clusters[row]) % blocks,
        None => (before + row as u64) / RUN % blocks,
    }
}

/// Sums moments over batches.
pub struct Accumulator {
    header: Header,
    layout: Layout,
    blocks: Vec<Vec<f64>>,
    position: u64,
}

impl Accumulator {
    /// An empty sum of what the header says.
    ///
    /// # Errors
    /// [`Error::TooManyClasses`], or [`Error::InvalidState`] for a broken header.
    pub fn new(header: Header) -> Result<Self> {
        let k = header.schema.k();
        if k > MOST_CLASSES {
            return Err(Error::TooManyClasses { k, most: MOST_CLASSES });
        }
        let layout = header.layout()?;
        let blocks = vec![vec![0.0; layout.len]; block_count(k)];
        Ok(Self { layout, blocks, position: 0, header })
    }

    /// Adds the rows of a batch. Which block a row goes to depends on its position (or its group) alone, and
    /// each block is summed by one thread in order: any number of threads gives the same bits.
    ///
    /// # Errors
    /// [`Error::LossNotFinite`]; the sums are then of no use.
    ///
    /// # Panics
    /// When the batch has another number of classes than the header: a mistake of the caller's.
    pub fn update(&mut self, batch: &Batch) -> Result<()> {
        if batch.rows() == 0 {
            return Ok(());
        }
        assert_eq!(batch.k(), self.header.schema.k(), "classes of the batch");
        let count = self.blocks.len() as u64;
        let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); self.blocks.len()];
        for row in 0..batch.rows() {
            rows_of[block_of(batch, self.position, row, count) as usize].push(row);
        }
        let before = self.position;
        self.position += batch.rows() as u64;
        let (header, layout) = (&self.header, &self.layout);
        self.blocks
            .par_iter_mut()
            .zip(rows_of)
            .try_for_each_init(Workspace::default, |work, (block, rows)| {
                rows.chunks(CHUNK).try_for_each(|rows| work.add(header, layout, batch, rows, block))
            })
            .map_err(|broken| broken.error(&self.header, before))
    }

    /// The finished state.
    ///
    /// # Errors
    /// [`Error::Overflow`].
    pub fn finish(self) -> Result<Moments> {
        if self.blocks.iter().flatten().any(|sum| !sum.is_finite()) {
            return Err(Error::Overflow);
        }
        Moments::new(self.header, self.blocks)
    }
}

/// Rows that are worked on at a time: three views of ten features of so many rows stay in the first cache, and
/// 31 cache lines a column keep columns from competing for the same sets (256 rows ran at two thirds).
const CHUNK: usize = 248;

/// Scratch space of one thread.
#[derive(Default)]
struct Workspace {
    scores: [Vec<f64>; VIEWS],
    terms: [Vec<f64>; VIEWS],
    tails: [Vec<f64>; VIEWS],
    views: [Evaluated; VIEWS],
    bins: [Vec<f64>; VIEWS],
    posterior: Vec<f64>,
    offset: Vec<f64>,
    losses: Vec<f64>,
}

impl Workspace {
    /// Adds some rows of a batch to a block.
    fn add(
        &mut self,
        header: &Header,
        layout: &Layout,
        batch: &Batch,
        rows: &[usize],
        block: &mut [f64],
    ) -> Result<(), BrokenTerm> {
        let (n, k, loss) = (rows.len(), batch.k(), &*header.loss);
        let q = header.features.dimension(k);
        for v in 0..VIEWS {
            self.scores[v].clear();
            for class in 0..k {
                let column = batch.column(v, class);
                self.scores[v].extend(rows.iter().map(|&row| column[row]));
            }
            // A term that a loss forgets to write is seen to be missing.
            self.terms[v].clear();
            self.terms[v].resize(n * k * loss.form().terms(), f64::NAN);
            loss.terms(v, n, &self.scores[v], &mut self.terms[v]);
            if let Some(at) = self.terms[v].iter().position(|term| !term.is_finite()) {
                let value = self.terms[v][at];
                return Err(BrokenTerm { row: rows[at % n], view: v, class: at / n % k, value });
            }
            header.features.evaluate(v, n, &self.scores[v], &mut self.views[v]);
            header.bins[v].evaluate(n, &self.scores[v], &mut self.bins[v]);
        }
        let posteriors: [&[f64]; VIEWS] = self.views.each_ref().map(|view| view.posterior.as_slice());
        self.offset.resize(n, 0.0);
        loss.offset(n, &self.scores.each_ref().map(Vec::as_slice), &mut self.offset);

        header.features.combine(n, &posteriors, &mut self.posterior);
        self.losses.resize(n, 0.0);
        let terms = self.terms.each_ref().map(Vec::as_slice);
        let sums = layout.loss.of_mut(block);
        add_losses(loss, n, &self.offset, terms, &self.posterior, &mut self.losses, sums);
        if let Some(ceilings) = &header.ceilings {
            for v in 0..VIEWS {
                ceilings.cut(v, n, &mut self.terms[v], &mut self.tails[v]);
                let (tails, part) = (&self.tails[v], &layout.tails[v]);
                kernel::cross(tails, &self.posterior, n, tails.len() / n, k, part.of_mut(block));
            }
        }

        layout.rows.of_mut(block)[0] += n as f64;
        let features = self.views.each_ref().map(|view| view.features.as_slice());
        let bins = self.bins.each_ref().map(Vec::as_slice);
        let terms = self.terms.each_ref().map(Vec::as_slice);
        add_family(&layout.features, n, features, terms, block);
        add_family(&layout.bins, n, bins, terms, block);
        for v in 0..VIEWS {
            for (part, a) in layout.bins_features[v].iter().zip(others(v)) {
                kernel::cross(bins[v], features[a], n, bins[v].len() / n, q, part.of_mut(block));
            }
        }

        for v in 0..VIEWS {
            kernel::cross(&self.posterior, features[v], n, k, q, layout.posterior[v].of_mut(block));
        }
        for v in 0..VIEWS {
            let [a, b] = others(v);
            header.features.combine(n, &[posteriors[a], posteriors[b]], &mut self.posterior);
            kernel::cross(&self.posterior, features[v], n, k, q, layout.pair_features[v].of_mut(block));
            let (count, part) = (terms[v].len() / n, &layout.pair_terms[v]);
            kernel::cross(&self.posterior, terms[v], n, k, count, part.of_mut(block));
        }
        Ok(())
    }
}

/// A loss that is not a finite number, in a row of a batch.
struct BrokenTerm {
    row: usize,
    view: usize,
    class: usize,
    value: f64,
}

impl BrokenTerm {
    /// Names it, given how many rows came before the batch.
    fn error(self, header: &Header, before: u64) -> Error {
        let schema = &header.schema;
        Error::LossNotFinite {
            loss: header.loss.name().to_owned(),
            row: before + self.row as u64,
            view: schema.views()[self.view].clone(),
            class: schema.classes()[self.class].clone(),
            value: self.value,
        }
    }
}

/// Adds the moments of one kind of features: `n` rows of each, and of the loss terms.
fn add_family(
    family: &Family,
    n: usize,
    features: [&[f64]; VIEWS],
    terms: [&[f64]; VIEWS],
    block: &mut [f64],
) {
    let q = features.map(|features| features.len() / n);
    kernel::tensor(features[0], features[1], features[2], n, q, family.tensor.of_mut(block));
    for v in 0..VIEWS {
        kernel::gram(features[v], n, q[v], family.gram[v].of_mut(block));
        for (part, a) in family.cross[v].iter().zip(others(v)) {
            kernel::cross(terms[v], features[a], n, terms[v].len() / n, q[a], part.of_mut(block));
        }
    }
}

/// Adds the sums of `A`, `A^2`, the loss and the squared loss under the posterior, the squared terms, and the
/// smallest loss of each row; `losses` is scratch.
fn add_losses(
    loss: &dyn Loss,
    n: usize,
    offset: &[f64],
    terms: [&[f64]; VIEWS],
    posterior: &[f64],
    losses: &mut [f64],
    sums: &mut [f64],
) {
    let squares = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    sums[0] += offset.iter().sum::<f64>();
    sums[1] += squares(offset);
    let mut least = vec![f64::INFINITY; n];
    for (class, posterior) in posterior.chunks_exact(n).enumerate() {
        loss.losses(n, offset, &terms, class, losses);
        for ((p, l), least) in posterior.iter().zip(&*losses).zip(&mut least) {
            sums[2] += p * l;
            sums[3] += p * l * l;
            *least = least.min(*l);
        }
    }
    sums[4] += terms.into_iter().map(squares).sum::<f64>();
    sums[5] += least.iter().sum::<f64>();
}
