//! From batches to sums.

use super::layout::{Family, Layout, others};
use super::moments::{Header, Holder, Moments};
use super::rows::{Chunk, Kept};
use crate::data::hash;
use crate::data::{Batch, VIEWS};
use crate::error::{Error, Result};
use crate::features::Evaluated;
use crate::loss::{Loss, write_terms};
use crate::numeric::kernel;
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
pub(crate) fn block_of(batch: &Batch, before: u64, row: usize, count: usize) -> usize {
    let block = match batch.clusters() {
        Some(clusters) => hash(clusters[row]) % count as u64,
        None => (before + row as u64) / RUN % count as u64,
    };
    block as usize
}

/// The rows of a batch that go to each of `count` blocks: by cluster, or by position, the first row's being `position`.
pub(crate) fn deal(batch: &Batch, position: u64, count: usize) -> Vec<Vec<usize>> {
    sort_out((0..batch.rows()).map(|row| block_of(batch, position, row, count)), count)
}

/// The rows that go to each of `count` blocks, given the block of each row.
fn sort_out(blocks: impl Iterator<Item = usize>, count: usize) -> Vec<Vec<usize>> {
    let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); count];
    blocks.enumerate().for_each(|(row, block)| rows_of[block].push(row));
    rows_of
}

/// What is summed: everything about a state but its sums.
struct Plan {
    header: Header,
    holders: Vec<Holder>,
    layout: Layout,
}

/// Sums moments over batches.
pub struct Accumulator {
    plan: Plan,
    blocks: Vec<Vec<f64>>,
    /// The features of all rows of each block, where the third moment is not formed.
    kept: Option<Vec<Vec<Chunk>>>,
    position: u64,
}

impl Accumulator {
    /// An empty sum of what the header says.
    ///
    /// # Errors
    /// [`Error::NoState`], or [`Error::InvalidState`] for a broken header.
    pub fn new(header: Header) -> Result<Self> {
        let k = header.states();
        if k > MOST_CLASSES {
            return Err(Error::NoState { k, most: MOST_CLASSES });
        }
        let layout = header.layout()?;
        Self::laid_out(header, layout, None)
    }

    /// The same that forms no third moment and keeps the features of all rows instead, for many classes.
    pub(crate) fn keeping(header: Header) -> Result<Self> {
        let layout = header.layout_without_tensor()?;
        let kept = vec![Vec::new(); block_count(header.schema.k())];
        Self::laid_out(header, layout, Some(kept))
    }

    fn laid_out(header: Header, layout: Layout, kept: Option<Vec<Vec<Chunk>>>) -> Result<Self> {
        let blocks = vec![vec![0.0; layout.len]; block_count(header.schema.k())];
        let holders = header.holders();
        Ok(Self { plan: Plan { header, holders, layout }, blocks, kept, position: 0 })
    }

    /// Adds the rows of a batch. Which block a row goes to depends on its position (or its group) alone, and
    /// each block is summed by one thread in order: any number of threads gives the same bits.
    ///
    /// # Errors
    /// [`Error::LossNotFinite`]; the sums are then of no use.
    ///
    /// # Panics
    /// When the batch has another number of views or classes than the header: a mistake of the caller's.
    pub fn update(&mut self, batch: &Batch) -> Result<()> {
        if batch.rows() == 0 {
            return Ok(());
        }
        let rows_of = deal(batch, self.position, self.blocks.len());
        self.add(batch, rows_of)
    }

    /// The same where rows are dealt to the blocks by these keys, one a row.
    pub(crate) fn update_by(&mut self, batch: &Batch, keys: &[u64]) -> Result<()> {
        let count = self.blocks.len();
        self.add(batch, sort_out(keys.iter().map(|key| (key % count as u64) as usize), count))
    }

    /// Adds the rows of a batch that go to each block.
    fn add(&mut self, batch: &Batch, rows_of: Vec<Vec<usize>>) -> Result<()> {
        assert_eq!(batch.k(), self.plan.header.schema.k(), "classes of the batch");
        assert_eq!(batch.views(), self.plan.header.schema.views().len(), "views of the batch");
        let before = self.position;
        self.position += batch.rows() as u64;
        let plan = &self.plan;
        let kept: Vec<Option<&mut Vec<Chunk>>> = match &mut self.kept {
            Some(kept) => kept.iter_mut().map(Some).collect(),
            None => self.blocks.iter().map(|_| None).collect(),
        };
        self.blocks
            .par_iter_mut()
            .zip(rows_of)
            .zip(kept)
            .try_for_each_init(Workspace::default, |work, ((block, rows), mut kept)| {
                rows.chunks(CHUNK).try_for_each(|rows| {
                    work.add(plan, batch, rows, block)?;
                    if let Some(kept) = &mut kept {
                        kept.push(Chunk::new(rows.len(), work.features()));
                    }
                    Ok(())
                })
            })
            .map_err(|broken: BrokenTerm| broken.error(&self.plan.header, before))
    }

    /// The finished state.
    ///
    /// # Errors
    /// [`Error::Overflow`].
    pub fn finish(self) -> Result<Moments> {
        Ok(self.finish_keeping()?.0)
    }

    /// The finished state, and the features of all rows where they were kept.
    pub(crate) fn finish_keeping(self) -> Result<(Moments, Option<Kept>)> {
        if self.blocks.iter().flatten().any(|sum| !sum.is_finite()) {
            return Err(Error::Overflow);
        }
        let moments = Moments::laid_out(self.plan.header, self.plan.layout, self.blocks)?;
        Ok((moments, self.kept.map(|blocks| Kept { blocks })))
    }
}

/// Rows that are worked on at a time: three views of ten features of so many rows stay in the first cache, and
/// 31 cache lines a column keep columns from competing for the same sets (256 rows ran at two thirds).
const CHUNK: usize = 248;

/// Scratch space of one thread.
#[derive(Default)]
struct Workspace {
    /// The scores, and the further features, of each view.
    scores: Vec<Vec<f64>>,
    extras: Vec<Vec<f64>>,
    /// The sums of the scores of each group of several views, and its features.
    sums: [Vec<f64>; VIEWS],
    /// The rows in which each view, and each group, is missing.
    missing: Vec<Vec<usize>>,
    missing_groups: [Vec<usize>; VIEWS],
    terms: Vec<Vec<f64>>,
    factor: Vec<f64>,
    tails: Vec<f64>,
    groups: [Evaluated; VIEWS],
    bins: [Vec<f64>; VIEWS],
    posterior: Vec<f64>,
    class_posterior: Vec<f64>,
    offset: Vec<f64>,
    losses: Vec<f64>,
}

impl Workspace {
    /// The features of the rows that were added last.
    fn features(&self) -> [&[f64]; VIEWS] {
        self.groups.each_ref().map(|view| view.features.as_slice())
    }

    /// Adds some rows of a batch to a block.
    fn add(
        &mut self,
        plan: &Plan,
        batch: &Batch,
        rows: &[usize],
        block: &mut [f64],
    ) -> Result<(), BrokenTerm> {
        let Plan { header, layout, .. } = plan;
        let (n, k, loss) = (rows.len(), batch.k(), &*header.loss);
        let states = header.states();
        let q = layout.features.gram.each_ref().map(|part| part.shape[0]);
        let gather = |columns: &[f64], out: &mut Vec<f64>| {
            out.clear();
            for column in columns.chunks_exact(batch.rows()) {
                out.extend(rows.iter().map(|&row| column[row]));
            }
        };
        self.scores.resize_with(batch.views(), Vec::new);
        self.extras.resize_with(batch.views(), Vec::new);
        for view in 0..batch.views() {
            gather(batch.view(view), &mut self.scores[view]);
            gather(batch.features(view), &mut self.extras[view]);
        }
        self.find_missing(plan, batch, rows);
        self.multiply_terms(plan, rows)?;
        for (g, members) in header.grouping.groups.iter().enumerate() {
            let missing = &self.missing_groups[g];
            let said = Said { n, scores: &self.scores, features: &self.extras, missing: &self.missing };
            let inputs = said.by(members, (missing, &header.absent[g]), &mut self.sums[g]);
            header.features.evaluate(g, (n, k), inputs, missing, &mut self.groups[g]);
            header.bins[g].evaluate((n, k), inputs, missing, &mut self.bins[g]);
        }
        self.offset.resize(n, 0.0);
        let scores: Vec<&[f64]> = self.scores.iter().map(Vec::as_slice).collect();
        loss.offset(n, &scores, &mut self.offset);
        for &row in self.missing.iter().flatten() {
            self.offset[row] -= loss.share();
        }

        let posteriors: [&[f64]; VIEWS] = self.groups.each_ref().map(|group| group.posterior.as_slice());
        header.features.combine(n, &posteriors, &mut self.posterior);
        let of_classes = header.class_posterior(n, &self.posterior, &mut self.class_posterior);
        self.losses.resize(n, 0.0);
        let terms: Vec<&[f64]> = self.terms.iter().map(Vec::as_slice).collect();
        let sums = layout.loss.of_mut(block);
        add_losses(loss, n, &self.offset, &terms, of_classes, &mut self.losses, sums);
        if let Some(ceilings) = &header.ceilings {
            for (t, (terms, part)) in self.terms.iter_mut().zip(&layout.tails).enumerate() {
                ceilings.cut(t, n, terms, &mut self.tails);
                kernel::cross(&self.tails, of_classes, n, self.tails.len() / n, k, part.of_mut(block));
            }
        }
        for (terms, part) in self.terms.iter().zip(&layout.posterior_terms) {
            kernel::cross(terms, of_classes, n, terms.len() / n, k, part.of_mut(block));
        }

        layout.rows.of_mut(block)[0] += n as f64;
        for (count, missing) in layout.missing.of_mut(block).iter_mut().zip(&self.missing) {
            *count += missing.len() as f64;
        }
        let features = self.groups.each_ref().map(|group| group.features.as_slice());
        let bins = self.bins.each_ref().map(Vec::as_slice);
        let terms: Vec<&[f64]> = self.terms.iter().map(Vec::as_slice).collect();
        add_family(layout, &layout.features, n, features, &terms, block);
        add_family(layout, &layout.bins, n, bins, &terms, block);
        for v in 0..VIEWS {
            for (part, a) in layout.bins_features[v].iter().zip(others(v)) {
                kernel::cross(bins[v], features[a], n, bins[v].len() / n, q[a], part.of_mut(block));
            }
        }

        for v in 0..VIEWS {
            kernel::cross(&self.posterior, features[v], n, states, q[v], layout.posterior[v].of_mut(block));
        }
        for v in 0..VIEWS {
            let [a, b] = others(v);
            header.features.combine(n, &[posteriors[a], posteriors[b]], &mut self.posterior);
            kernel::cross(
                &self.posterior,
                features[v],
                n,
                states,
                q[v],
                layout.pair_features[v].of_mut(block),
            );
            for t in (0..terms.len()).filter(|&t| layout.holders[t] == v) {
                let (count, part) = (terms[t].len() / n, &layout.pair_terms[t]);
                kernel::cross(&self.posterior, terms[t], n, states, count, part.of_mut(block));
            }
        }
        Ok(())
    }

    /// Finds the rows at hand in which views, and groups, are missing.
    fn find_missing(&mut self, plan: &Plan, batch: &Batch, rows: &[usize]) {
        self.missing.resize_with(batch.views(), Vec::new);
        self.missing.iter_mut().chain(&mut self.missing_groups).for_each(Vec::clear);
        let Some(missing) = batch.missing() else { return };
        for (at, &row) in rows.iter().enumerate().filter(|(_, row)| missing[**row] != 0) {
            let views = missing[row];
            let groups = plan.header.grouping.groups.missing(views);
            let set = |bits: u64, all: &mut [Vec<usize>]| {
                all.iter_mut()
                    .enumerate()
                    .filter(|(bit, _)| bits >> bit & 1 == 1)
                    .for_each(|(_, of)| of.push(at));
            };
            set(views, &mut self.missing);
            set(groups, &mut self.missing_groups);
        }
    }

    /// The terms of the rows at hand: a view's own, or the product over a group.
    fn multiply_terms(&mut self, plan: &Plan, rows: &[usize]) -> Result<(), BrokenTerm> {
        let (n, loss) = (rows.len(), &*plan.header.loss);
        let k = plan.header.schema.k();
        let finite = |view: usize, terms: &[f64]| match terms.iter().position(|term| !term.is_finite()) {
            Some(at) => Err(BrokenTerm { row: rows[at % n], view, class: at / n % k, value: terms[at] }),
            None => Ok(()),
        };
        let (scores, missing) = (&self.scores, &self.missing);
        let of_view = |view: usize, terms: &mut Vec<f64>| {
            write_terms(loss, view, n, &scores[view], &missing[view], terms);
            finite(view, terms)
        };
        self.terms.resize_with(plan.holders.len(), Vec::new);
        for (terms, Holder { views, .. }) in self.terms.iter_mut().zip(&plan.holders) {
            of_view(views[0], terms)?;
            for &view in &views[1..] {
                of_view(view, &mut self.factor)?;
                terms.iter_mut().zip(&self.factor).for_each(|(product, factor)| *product *= factor);
                finite(view, terms)?;
            }
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

/// What the views say in `n` rows, and where each is missing.
struct Said<'a> {
    n: usize,
    scores: &'a [Vec<f64>],
    features: &'a [Vec<f64>],
    missing: &'a [Vec<usize>],
}

impl<'a> Said<'a> {
    /// The sums of the scores of some views and after them their features, where a view is missing what stands for its
    /// features, and in some rows what stands for all of it; in `work` where it is not the scores of one view.
    fn by(
        &self,
        views: &[usize],
        (missing, absent): (&[usize], &[f64]),
        work: &'a mut Vec<f64>,
    ) -> &'a [f64] {
        let plain = views.iter().all(|&view| self.features[view].is_empty());
        if let ([view], true) = (views, plain && missing.is_empty()) {
            return &self.scores[*view];
        }
        work.clone_from(&self.scores[views[0]]);
        for &view in &views[1..] {
            work.iter_mut().zip(&self.scores[view]).for_each(|(sum, score)| *sum += score);
        }
        let stand_in = |columns: &mut [f64], absent: &[f64], rows: &[usize]| {
            for (column, absent) in columns.chunks_exact_mut(self.n).zip(absent) {
                rows.iter().for_each(|&row| column[row] = *absent);
            }
        };
        for &view in views {
            let from = work.len();
            work.extend_from_slice(&self.features[view]);
            stand_in(&mut work[from..], &absent[from / self.n..], &self.missing[view]);
        }
        stand_in(work, absent, missing);
        work
    }
}

/// Adds the moments of one kind of features: `n` rows of each, and of the loss terms.
fn add_family(
    layout: &Layout,
    family: &Family,
    n: usize,
    features: [&[f64]; VIEWS],
    terms: &[&[f64]],
    block: &mut [f64],
) {
    let q = features.map(|features| features.len() / n);
    let formed = [0, 1, 2].map(|v| family.tensor.shape[v]);
    kernel::tensor(features[0], features[1], features[2], n, formed, family.tensor.of_mut(block));
    for (part, v) in family.pairs.iter().flatten().zip(0..VIEWS) {
        let [a, b] = others(v);
        kernel::cross(features[a], features[b], n, q[a], q[b], part.of_mut(block));
    }
    for v in 0..VIEWS {
        kernel::gram(features[v], n, q[v], family.gram[v].of_mut(block));
    }
    for ((terms, parts), &own) in terms.iter().zip(&family.cross).zip(&layout.holders) {
        for (part, a) in parts.iter().zip(others(own)) {
            kernel::cross(terms, features[a], n, terms.len() / n, q[a], part.of_mut(block));
        }
    }
}

/// Adds the sums of `A`, `A^2`, the loss and the squared loss under the posterior, the squared terms, the smallest loss of each
/// row and the square of its squared loss; `losses` is scratch.
fn add_losses(
    loss: &dyn Loss,
    n: usize,
    offset: &[f64],
    terms: &[&[f64]],
    posterior: &[f64],
    losses: &mut [f64],
    sums: &mut [f64],
) {
    let squares = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    sums[0] += offset.iter().sum::<f64>();
    sums[1] += squares(offset);
    let mut least = vec![f64::INFINITY; n];
    let mut of_rows = vec![0.0; n];
    for (class, posterior) in posterior.chunks_exact(n).enumerate() {
        loss.losses(n, offset, terms, class, losses);
        for (((p, l), least), of_row) in posterior.iter().zip(&*losses).zip(&mut least).zip(&mut of_rows) {
            sums[2] += p * l;
            *of_row += p * l * l;
            *least = least.min(*l);
        }
    }
    sums[4] += terms.iter().map(|terms| squares(terms)).sum::<f64>();
    sums[3] += of_rows.iter().sum::<f64>();
    sums[5] += least.iter().sum::<f64>();
    sums[6] += squares(&of_rows);
}
