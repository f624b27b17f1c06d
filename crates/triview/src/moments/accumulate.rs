//! From batches to sums.

use super::layout::{Family, Layout};
use super::moments::Moments;
use super::plan::{Holder, Plan};
use super::rows::{Chunk, FeatureRows};
use crate::data::{Batch, BlockSums, VIEWS, block_count, deal, deal_by, others};
use crate::error::{Error, Result};
use crate::features::Evaluated;
use crate::interrupt;
use crate::loss::{Loss, write_terms};
use crate::numeric::kernel;
use rayon::prelude::*;

/// What is summed: everything about moments but their sums.
struct Summed {
    plan: Plan,
    holders: Vec<Holder>,
    layout: Layout,
}

/// Sums moments over batches; made by [`Plan::accumulator`].
///
/// ```
/// use triview::data::{Batch, Sample, Schema};
/// use triview::Params;
///
/// # fn scores(rows: std::ops::Range<u64>) -> Vec<f64> {
/// #     let hash = |x: u64| (x + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40;
/// #     let noise = |at: u64| hash(at) as f64 / (1 << 24) as f64 - 0.5;
/// #     let score = |at: u64| 2.0 * noise(at) + if hash(at / 6 + 7_777_777) % 2 == at % 2 { 1.0 } else { 0.0 };
/// #     (rows.start * 6..rows.end * 6).map(score).collect()
/// # }
/// // Two parts of a data set: scores of three views for two classes, row by row.
/// let [first, second] = [Batch::from_rows(&scores(0..600), 3, 2)?, Batch::from_rows(&scores(600..1000), 3, 2)?];
/// let sample = Sample::new(Schema::numbered(3, 2)?, first.clone());
/// let plan = Params::new().check()?.plan(&sample)?;
///
/// // Each part is summed by itself, on any machine. The second begins where the first ends.
/// let mut sums = [plan.accumulator()?, plan.accumulator()?.starting_at(600)];
/// sums[0].update(&first)?;
/// sums[1].update(&second)?;
/// let [first, second] = sums.map(|sums| sums.finish());
/// let moments = first?.merge(&second?)?;
/// assert_eq!(moments.rows(), 1000);
/// # Ok::<(), triview::Error>(())
/// ```
pub struct Accumulator {
    summed: Summed,
    sums: BlockSums,
    /// The features of all rows of each block, where the third moment is not formed.
    kept: Option<Vec<Vec<Chunk>>>,
    position: u64,
}

impl Plan {
    /// Empty sums of what the plan says.
    ///
    /// # Errors
    /// [`Error::NoMoments`], or [`Error::InvalidMoments`] for a broken plan.
    pub fn accumulator(&self) -> Result<Accumulator> {
        Plan::check_size(self.states())?;
        Ok(Accumulator::laid_out(self.clone(), self.layout()?, false))
    }

    /// The same that forms no third moment and keeps the features of all rows instead, for many classes.
    pub(crate) fn keeping_accumulator(&self) -> Result<Accumulator> {
        Ok(Accumulator::laid_out(self.clone(), self.layout_without_tensor()?, true))
    }
}

impl Accumulator {
    fn laid_out(plan: Plan, layout: Layout, keeping: bool) -> Self {
        let count = block_count(plan.states());
        let sums = BlockSums::new(count, layout.len);
        let kept = keeping.then(|| vec![Vec::new(); count]);
        Self { summed: Summed { holders: plan.holders(), plan, layout }, sums, kept, position: 0 }
    }

    /// The same where the next row is at this place among all rows: rows of parts are then dealt to the blocks as if the parts
    /// stood in a row.
    #[must_use]
    pub fn starting_at(mut self, position: u64) -> Self {
        self.position = position;
        self
    }

    /// Adds the rows of a batch. Which block a row goes to depends on its position (or its cluster) alone, and
    /// each block is summed by one thread in order: any number of threads gives the same bits.
    ///
    /// # Errors
    /// [`Error::Shape`] for a batch with another number of views, classes or covariates than the plan;
    /// [`Error::LossNotFinite`], and the sums are then of no use.
    pub fn update(&mut self, batch: &Batch) -> Result<()> {
        if batch.rows() == 0 {
            return Ok(());
        }
        let rows_of = deal(batch, self.position, self.sums.count());
        self.add(batch, rows_of)
    }

    /// The same where rows are dealt to the blocks by these keys, one a row.
    pub(crate) fn update_by(&mut self, batch: &Batch, keys: &[u64]) -> Result<()> {
        self.add(batch, deal_by(keys, self.sums.count()))
    }

    /// Adds the rows of a batch that go to each block.
    fn add(&mut self, batch: &Batch, rows_of: Vec<Vec<usize>>) -> Result<()> {
        interrupt::check();
        self.summed.plan.schema.expect_rows(batch)?;
        let before = self.position;
        self.position += batch.rows() as u64;
        let summed = &self.summed;
        let kept: Vec<Option<&mut Vec<Chunk>>> = match &mut self.kept {
            Some(kept) => kept.iter_mut().map(Some).collect(),
            None => rows_of.iter().map(|_| None).collect(),
        };
        self.sums
            .blocks_mut()
            .par_iter_mut()
            .zip(rows_of)
            .zip(kept)
            .filter(|((_, rows), _)| !rows.is_empty())
            .try_for_each_init(Workspace::default, |work, ((block, rows), mut kept)| {
                BlockSums::fill(block, summed.layout.len);
                rows.chunks(CHUNK).try_for_each(|rows| {
                    work.add(summed, batch, rows, block)?;
                    if let Some(kept) = &mut kept {
                        kept.push(Chunk::new(rows.len(), work.features()));
                    }
                    Ok(())
                })
            })
            .map_err(|broken: BrokenTerm| broken.error(&self.summed.plan, before))
    }

    /// The place of the next row among all rows.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Adds the rows that another accumulator of the same plan has.
    ///
    /// # Errors
    /// [`Error::PlansDiffer`].
    pub fn merge(&mut self, other: &Accumulator) -> Result<()> {
        self.summed.plan.expect_same(&other.summed.plan)?;
        self.sums.merge(&other.sums);
        if let (Some(kept), Some(more)) = (&mut self.kept, &other.kept) {
            kept.iter_mut().zip(more).for_each(|(kept, more)| kept.extend(more.iter().cloned()));
        }
        Ok(())
    }

    /// The finished moments.
    ///
    /// # Errors
    /// [`Error::Overflow`].
    pub fn finish(self) -> Result<Moments> {
        Ok(self.finish_keeping()?.0)
    }

    /// The finished moments, and the features of all rows where they were kept.
    pub(crate) fn finish_keeping(self) -> Result<(Moments, Option<FeatureRows>)> {
        if self.sums.filled().any(|(_, block)| block.iter().any(|sum| !sum.is_finite())) {
            return Err(Error::Overflow);
        }
        let moments = Moments::new(self.summed.plan, self.summed.layout, self.sums)?;
        Ok((moments, self.kept.map(|blocks| FeatureRows { blocks })))
    }
}

/// Rows that are worked on at a time: three views of ten features of so many rows stay in the first cache, and
/// 31 cache lines a column keep columns from competing for the same sets (256 rows ran at two thirds).
const CHUNK: usize = 248;

/// Scratch space of one thread.
#[derive(Default)]
struct Workspace {
    /// The scores, and the covariates, of each view.
    scores: Vec<Vec<f64>>,
    covariates: Vec<Vec<f64>>,
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
        summed: &Summed,
        batch: &Batch,
        rows: &[usize],
        block: &mut [f64],
    ) -> Result<(), BrokenTerm> {
        let Summed { plan, layout, .. } = summed;
        let (n, k, loss) = (rows.len(), batch.k(), &*plan.loss);
        let states = plan.states();
        let q = layout.features.gram.each_ref().map(|part| part.shape[0]);
        let gather = |columns: &[f64], out: &mut Vec<f64>| {
            out.clear();
            for column in columns.chunks_exact(batch.rows()) {
                out.extend(rows.iter().map(|&row| column[row]));
            }
        };
        self.scores.resize_with(batch.views(), Vec::new);
        self.covariates.resize_with(batch.views(), Vec::new);
        for view in 0..batch.views() {
            gather(batch.view(view), &mut self.scores[view]);
            gather(batch.covariates(view), &mut self.covariates[view]);
        }
        self.find_missing(summed, batch, rows);
        self.multiply_terms(summed, rows)?;
        for (g, members) in plan.partition.iter().enumerate() {
            let missing = &self.missing_groups[g];
            let said = Said { n, scores: &self.scores, covariates: &self.covariates, missing: &self.missing };
            let inputs = said.by(members, (missing, &plan.absent[g]), &mut self.sums[g]);
            plan.features.evaluate(g, (n, k), inputs, missing, &mut self.groups[g]);
            plan.bins[g].evaluate((n, k), inputs, missing, &mut self.bins[g]);
        }
        self.offset.resize(n, 0.0);
        let scores: Vec<&[f64]> = self.scores.iter().map(Vec::as_slice).collect();
        loss.offset(n, &scores, &mut self.offset);
        for (_, rows) in self.missing.iter().enumerate().filter(|(view, _)| loss.judges(*view)) {
            rows.iter().for_each(|&row| self.offset[row] -= loss.share());
        }

        if !layout.alone.is_empty() {
            self.losses.resize(n, 0.0);
            let sums = layout.alone.of_mut(block).iter_mut();
            for ((sum, scores), missing) in sums.zip(&self.scores).zip(&self.missing) {
                loss.offset_alone(n, scores, &mut self.losses);
                missing.iter().for_each(|&row| self.losses[row] = 0.0);
                *sum += self.losses.iter().sum::<f64>();
            }
        }

        let posteriors: [&[f64]; VIEWS] = self.groups.each_ref().map(|group| group.posterior.as_slice());
        plan.features.combine(n, &posteriors, &mut self.posterior);
        let of_classes = plan.class_posterior(n, &self.posterior, &mut self.class_posterior);
        self.losses.resize(n, 0.0);
        let terms: Vec<&[f64]> = self.terms.iter().map(Vec::as_slice).collect();
        add_losses(loss, (&self.offset, &terms, of_classes), &mut self.losses, layout, block);
        if let Some(ceilings) = &plan.ceilings {
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
            plan.features.combine(n, &[posteriors[a], posteriors[b]], &mut self.posterior);
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
    fn find_missing(&mut self, summed: &Summed, batch: &Batch, rows: &[usize]) {
        self.missing.resize_with(batch.views(), Vec::new);
        self.missing.iter_mut().chain(&mut self.missing_groups).for_each(Vec::clear);
        let Some(missing) = batch.missing() else { return };
        for (at, &row) in rows.iter().enumerate().filter(|(_, row)| missing[**row] != 0) {
            let views = missing[row];
            let groups = summed.plan.partition.missing(views);
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
    fn multiply_terms(&mut self, summed: &Summed, rows: &[usize]) -> Result<(), BrokenTerm> {
        let (n, loss) = (rows.len(), &*summed.plan.loss);
        let k = summed.plan.schema.k();
        let finite = |view: usize, terms: &[f64]| match terms.iter().position(|term| !term.is_finite()) {
            Some(at) => Err(BrokenTerm { row: rows[at % n], view, class: at / n % k, value: terms[at] }),
            None => Ok(()),
        };
        let (scores, missing) = (&self.scores, &self.missing);
        let of_view = |view: usize, terms: &mut Vec<f64>| {
            write_terms(loss, view, n, &scores[view], &missing[view], terms);
            finite(view, terms)
        };
        self.terms.resize_with(summed.holders.len(), Vec::new);
        for (terms, Holder { views, .. }) in self.terms.iter_mut().zip(&summed.holders) {
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
    fn error(self, plan: &Plan, before: u64) -> Error {
        let schema = &plan.schema;
        Error::LossNotFinite {
            loss: plan.loss.name().to_owned(),
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
    covariates: &'a [Vec<f64>],
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
        let plain = views.iter().all(|&view| self.covariates[view].is_empty());
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
            work.extend_from_slice(&self.covariates[view]);
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

/// Adds the sums of `A`, of the smallest loss of each row, of squared terms, and of the squared loss under the posterior, given `A`,
/// the terms and the posterior of some rows; `losses` is scratch.
fn add_losses(
    loss: &dyn Loss,
    (offset, terms, posterior): (&[f64], &[&[f64]], &[f64]),
    losses: &mut [f64],
    layout: &Layout,
    block: &mut [f64],
) {
    let n = offset.len();
    let squares = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    let mut least = vec![f64::INFINITY; n];
    let mut squared = vec![0.0; n];
    for (class, posterior) in posterior.chunks_exact(n).enumerate() {
        loss.losses(n, offset, terms, class, losses);
        for (((p, l), least), squared) in posterior.iter().zip(&*losses).zip(&mut least).zip(&mut squared) {
            *squared += p * l * l;
            *least = least.min(*l);
        }
    }
    let sums = [
        (&layout.offset, offset.iter().sum::<f64>()),
        (&layout.least_loss, least.iter().sum::<f64>()),
        (&layout.squared_terms, terms.iter().map(|terms| squares(terms)).sum::<f64>()),
        (&layout.squared_loss, squared.iter().sum::<f64>()),
        (&layout.squared_loss_squared, squares(&squared)),
    ];
    for (part, sum) in sums {
        part.of_mut(block)[0] += sum;
    }
}
