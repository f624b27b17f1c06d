//! A batch while it is being filled.

use crate::columns::Purpose;
use crate::error::shortened;
use crate::hash::key;
use std::collections::BTreeMap;
use triview::views::Batch;

/// How many scores a batch holds at most: batches of 16,384 rows up to three views of 64 classes, fewer beyond.
const CELLS: usize = 3 << 20;

/// The segment of the rows that have no value in the column.
const MISSING: &str = "(missing)";

/// The most characters of a segment's name that are kept.
const LONGEST: usize = 200;

/// Scores in the layout of a [`Batch`], with room for more rows.
///
/// Readers write into the free part of each column, so that values are converted straight into the place
/// where the kernels read them, whatever the chunks of the file are.
#[derive(Debug)]
pub(crate) struct Pending {
    k: usize,
    capacity: usize,
    rows: usize,
    scores: Vec<Vec<f64>>,
    /// For each row one bit a view that is missing, once a reader has marked one.
    missing: Option<Vec<u64>>,
    /// Keys of the rows, once a reader has pushed one.
    clusters: Option<Vec<u64>>,
    segments: Option<Vec<u64>>,
    /// What the keys of the segments stand for.
    names: BTreeMap<u64, String>,
}

impl Pending {
    /// An empty batch for so many views and `k` classes.
    pub(crate) fn new(views: usize, k: usize) -> Self {
        let capacity = (CELLS / (views * k).max(1)).clamp(16, 16_384);
        let scores = vec![vec![0.0; k * capacity]; views];
        Self {
            k,
            capacity,
            rows: 0,
            scores,
            missing: None,
            clusters: None,
            segments: None,
            names: BTreeMap::new(),
        }
    }

    /// The most rows it can hold.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Rows so far.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Rows that still fit.
    pub(crate) fn room(&self) -> usize {
        self.capacity - self.rows
    }

    /// The free part of a column.
    pub(crate) fn column(&mut self, view: usize, class: usize) -> &mut [f64] {
        &mut self.scores[view][class * self.capacity + self.rows..(class + 1) * self.capacity]
    }

    /// Copies rows that lie one after the other (`order[class]` is a class's place in a row) into a view,
    /// from the free row `skip` on.
    pub(crate) fn transpose<T: Copy>(
        &mut self,
        view: usize,
        skip: usize,
        rows: &[T],
        width: usize,
        order: &[usize],
        cast: impl Fn(T) -> f64,
    ) {
        // Tiles keep both the rows read and the columns written in the nearest cache.
        const TILE: usize = 32;
        let (capacity, mut at) = (self.capacity, self.rows + skip);
        for tile in rows.chunks(TILE * width) {
            let height = tile.len() / width;
            for (class, &place) in order.iter().enumerate() {
                let column = &mut self.scores[view][class * capacity + at..][..height];
                for (cell, row) in column.iter_mut().zip(tile.chunks_exact(width)) {
                    *cell = cast(row[place]);
                }
            }
            at += height;
        }
    }

    /// One cell of the first free row.
    pub(crate) fn cell(&mut self, view: usize, class: usize) -> &mut f64 {
        &mut self.scores[view][class * self.capacity + self.rows]
    }

    /// Marks a view as missing in the free row `skip`, whatever its cells hold.
    pub(crate) fn mark_missing(&mut self, view: usize, skip: usize) {
        let at = self.rows + skip;
        for class in 0..self.k {
            self.scores[view][class * self.capacity + at] = 0.0;
        }
        self.missing.get_or_insert_with(|| vec![0; self.capacity])[at] |= 1 << view;
    }

    /// Adds the key of one more row, made of its text. A blank is no text: a CSV file cannot tell the two apart, and
    /// all formats are to agree. Says whether the row can be used: those without a text make a segment of their
    /// own, but which rows they depend on is not known.
    pub(crate) fn push_key(&mut self, purpose: Purpose, text: &[u8]) -> bool {
        let missing = text.trim_ascii().is_empty();
        let key = key(if missing { b"" } else { text });
        let keys = match purpose {
            Purpose::Cluster => &mut self.clusters,
            Purpose::Segment => &mut self.segments,
        };
        keys.get_or_insert_with(|| Vec::with_capacity(self.capacity)).push(key);
        if purpose == Purpose::Cluster {
            return !missing;
        }
        self.names.entry(key).or_insert_with(|| {
            if missing { MISSING.into() } else { shortened(&String::from_utf8_lossy(text), LONGEST) }
        });
        true
    }

    /// Takes the names of the segments that the rows so far are of.
    pub(crate) fn take_names(&mut self) -> BTreeMap<u64, String> {
        std::mem::take(&mut self.names)
    }

    /// The cell of a row that is filled.
    pub(crate) fn at(&self, view: usize, class: usize, row: usize) -> f64 {
        self.scores[view][class * self.capacity + row]
    }

    /// Whether a view is missing in a row that is filled.
    pub(crate) fn is_missing(&self, view: usize, row: usize) -> bool {
        self.missing.as_ref().is_some_and(|missing| missing[row] >> view & 1 == 1)
    }

    /// The key of a row's segment and what it stands for; no name where it has none.
    pub(crate) fn segment(&self, row: usize) -> Option<(u64, &str)> {
        let key = *self.segments.as_ref()?.get(row)?;
        self.names.get(&key).filter(|name| *name != MISSING).map(|name| (key, name.as_str()))
    }

    /// Counts `rows` more rows as filled.
    pub(crate) fn advance(&mut self, rows: usize) {
        self.rows += rows;
    }

    /// All cells that are filled, to be changed; column by column with view and class, and for each row one bit a view
    /// that is missing (nothing where none is).
    pub(crate) fn columns_mut(&mut self) -> (impl Iterator<Item = (usize, usize, &mut [f64])>, &[u64]) {
        let (rows, capacity) = (self.rows, self.capacity);
        let columns = self.scores.iter_mut().enumerate().flat_map(move |(view, scores)| {
            scores
                .chunks_exact_mut(capacity)
                .enumerate()
                .map(move |(class, column)| (view, class, &mut column[..rows]))
        });
        (columns, self.missing.as_deref().unwrap_or_default())
    }

    /// The batch.
    ///
    /// # Errors
    /// [`triview::Error::NotFinite`].
    pub(crate) fn finish(mut self) -> Result<Batch, triview::Error> {
        if self.rows < self.capacity {
            for scores in &mut self.scores {
                for class in 0..self.k {
                    let from = class * self.capacity;
                    scores.copy_within(from..from + self.rows, class * self.rows);
                }
                scores.truncate(self.k * self.rows);
            }
        }
        let mut batch = Batch::new(self.rows, self.scores)?;
        if let Some(mut missing) = self.missing {
            missing.truncate(self.rows);
            batch = batch.with_missing(missing);
        }
        let batch = match self.clusters {
            Some(clusters) => batch.with_clusters(clusters),
            None => batch,
        };
        Ok(match self.segments {
            Some(segments) => batch.with_segments(segments),
            None => batch,
        })
    }
}
