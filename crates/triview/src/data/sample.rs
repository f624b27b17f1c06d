//! A first look at the data: an even sample of its rows.

use super::{Batch, Schema, ScoreSource};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::numeric::hash;
use crate::settings::first_look::{MOST_ROWS, MOST_SCORES};
use std::collections::HashMap;
use std::sync::Arc;

/// Rows chosen by a hash of their position: each row has the same chance, in whatever order they lie, the
/// choice is the same in every reading, and memory does not grow with their number.
#[derive(Debug)]
struct Sampler {
    views: usize,
    k: usize,
    /// The number of covariates of each view.
    covariates: Vec<usize>,
    /// The most rows to keep.
    most: usize,
    /// A row is kept when the lowest `level` bits of its hash are zero.
    level: u32,
    position: u64,
    kept: Vec<SampledRow>,
}

/// A row that is kept.
#[derive(Debug)]
struct SampledRow {
    /// Its place among all rows, and the hash of that.
    position: u64,
    hash: u64,
    cluster: Option<u64>,
    segment: Option<u64>,
    label: Option<usize>,
    /// One bit a view that is missing.
    missing: u64,
    /// The scores of all views, view by view, and their covariates.
    scores: Vec<f64>,
    covariates: Vec<f64>,
    /// What another model says of each class; nothing where there is none.
    prediction: Vec<f64>,
}

impl Sampler {
    fn keeps(&self, hash: u64) -> bool {
        hash.trailing_zeros() >= self.level
    }

    fn update(&mut self, batch: &Batch) {
        interrupt::check();
        for row in 0..batch.rows() {
            let position = self.position;
            let hash = hash(position);
            self.position += 1;
            if !self.keeps(hash) {
                continue;
            }
            let scores =
                (0..self.views * self.k).map(|c| batch.column(c / self.k, c % self.k)[row]).collect();
            self.kept.push(SampledRow {
                position,
                hash,
                cluster: batch.clusters().map(|clusters| clusters[row]),
                segment: batch.segments().map(|segments| segments[row]),
                label: batch.label(row),
                missing: batch.missing().map_or(0, |missing| missing[row]),
                scores,
                covariates: (0..self.views)
                    .flat_map(|v| batch.covariates(v).iter().skip(row).step_by(batch.rows()).copied())
                    .collect(),
                prediction: batch.prediction().map_or_else(Vec::new, |said| {
                    said.iter().skip(row).step_by(batch.rows()).copied().collect()
                }),
            });
            while self.kept.len() > self.most {
                self.level += 1;
                let level = self.level;
                self.kept.retain(|kept| kept.hash.trailing_zeros() >= level);
            }
        }
    }

    fn finish(self) -> Result<Batch> {
        let rows = self.kept.len();
        let of_view = |v: usize| {
            let cells = |class| self.kept.iter().map(move |kept| kept.scores[v * self.k + class]);
            (0..self.k).flat_map(cells).collect()
        };
        let scores = (0..self.views).map(of_view).collect();
        let mut from = 0;
        let covariates = self.covariates.iter().map(|count| {
            from += count;
            (from - count..from)
                .flat_map(|at| self.kept.iter().map(move |kept| kept.covariates[at]))
                .collect()
        });
        let covariates = covariates.collect();
        let clusters: Option<Vec<u64>> = self.kept.iter().map(|kept| kept.cluster).collect();
        let missing = self.kept.iter().map(|kept| kept.missing).collect();
        let segments: Option<Vec<u64>> = self.kept.iter().map(|kept| kept.segment).collect();
        let mut batch =
            Batch::from_finite(rows, scores).with_missing(missing)?.with_covariates(covariates)?;
        if self.kept.iter().any(|kept| kept.label.is_some()) {
            batch = batch.with_labels(self.kept.iter().map(|kept| kept.label).collect())?;
        }
        if rows > 0 && self.kept.iter().all(|kept| kept.prediction.len() == self.k) {
            let of_class = |class: usize| self.kept.iter().map(move |kept| kept.prediction[class]);
            batch = batch.with_prediction((0..self.k).flat_map(of_class).collect())?;
        }
        if let Some(clusters) = clusters.filter(|_| rows > 0) {
            batch = batch.with_clusters(clusters)?;
        }
        match segments {
            Some(segments) if rows > 0 => batch.with_segments(segments),
            _ => Ok(batch),
        }
    }
}

/// A key for each row that does not depend on the order of rows, views or classes: its cluster where there are such, or what its
/// scores are and how many equal rows came before it.
pub(crate) fn keys(batch: &Batch) -> Vec<u64> {
    if let Some(clusters) = batch.clusters() {
        return clusters.iter().map(|cluster| hash(*cluster)).collect();
    }
    let sum = |hashes: &mut dyn Iterator<Item = u64>| hashes.fold(0, u64::wrapping_add);
    let of_view = |view: usize, row: usize| {
        // Minus zero is zero.
        let score = |class: usize| batch.column(view, class)[row] + 0.0;
        hash(sum(&mut (0..batch.k()).map(|class| hash(score(class).to_bits()))))
    };
    let mut seen = HashMap::new();
    let of_row = |row: usize| {
        let content = sum(&mut (0..batch.views()).map(|view| of_view(view, row)));
        let equal = seen.entry(content).or_insert(0u64);
        *equal += 1;
        hash(content.wrapping_add(*equal))
    };
    (0..batch.rows()).map(of_row).collect()
}

/// An even sample of the rows of a source.
#[derive(Debug, Clone)]
pub struct Sample {
    schema: Schema,
    rows: Batch,
    seen: u64,
    /// The places of the rows among all, where they are known.
    positions: Option<Arc<[u64]>>,
}

impl Sample {
    /// Rows that were drawn evenly from all already; [`Sample::of`] draws them from a source.
    pub fn new(schema: Schema, rows: Batch) -> Self {
        Self { schema, seen: rows.rows() as u64, rows, positions: None }
    }

    /// The same rows, of so many.
    #[must_use]
    pub fn among(self, seen: u64) -> Self {
        Self { seen, ..self }
    }

    /// The sampled rows.
    pub fn rows(&self) -> &Batch {
        &self.rows
    }

    /// How many rows there were.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// What the columns mean.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The sampled rows of one segment, of which there were so many. Rows without segments are of none.
    #[must_use]
    pub fn of_segment(&self, key: u64, seen: u64) -> Self {
        let segments = self.rows.segments().unwrap_or_default().iter().enumerate();
        let rows: Vec<usize> = segments.filter(|(_, of)| **of == key).map(|(row, _)| row).collect();
        let at = |all: &Arc<[u64]>| rows.iter().map(|row| all[*row]).collect();
        let positions = self.positions.as_ref().map(at);
        Self { schema: self.schema.clone(), rows: self.rows.select(&rows), seen, positions }
    }

    /// Reads a source once.
    ///
    /// # Errors
    /// Those of the source, and [`Error::Shape`](crate::Error::Shape) for batches that are not of its schema.
    pub fn of<S: ScoreSource + ?Sized>(source: &S) -> Result<Self, S::Error> {
        let schema = source.schema();
        let (views, k) = (schema.views().len(), schema.k());
        let covariates: Vec<usize> = (0..views).map(|view| schema.covariates(view).len()).collect();
        let most = MOST_ROWS.min(MOST_SCORES / (views * k + covariates.iter().sum::<usize>()));
        let mut sampler = Sampler { views, k, covariates, most, level: 0, position: 0, kept: Vec::new() };
        for batch in source.batches()? {
            let batch = batch?;
            schema.expect_rows(&batch)?;
            sampler.update(&batch);
        }
        let seen = sampler.position;
        let positions = Some(sampler.kept.iter().map(|kept| kept.position).collect());
        Ok(Self { schema: schema.clone(), rows: sampler.finish()?, seen, positions })
    }

    /// What is wrong with a row of the sample, which is called by its place among all rows.
    pub(crate) fn named(&self, error: Error) -> Error {
        let place = |row: u64| self.positions.as_ref()?.get(usize::try_from(row).ok()?).copied();
        error.with_row(|row| place(row).unwrap_or(row))
    }
}
