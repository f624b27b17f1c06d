//! A batch while it is being filled, of scores or of features.

use crate::error::{Error, shortened};
use crate::memory::{Memory, trying};
use crate::read::columns::{KeyColumn, Purpose};
use crate::read::hash::key;
use std::collections::BTreeMap;
use std::path::Path;
use triview::data::{Batch, Witness, rows_a_batch};
use triview::learning::FeatureBatch;

/// The segment of the rows that have no value in the column.
const MISSING: &str = "(missing)";

/// The room that a text takes, in numbers.
const TEXT: usize = 8;

/// The most characters of a segment's name that are kept.
const LONGEST: usize = 200;

/// Scores in the layout of a [`Batch`], with room for more rows.
///
/// Readers write into the free part of each column, so that values are converted straight into the place
/// where the kernels read them, whatever the chunks of the file are.
#[derive(Debug)]
pub(crate) struct Pending {
    capacity: usize,
    rows: usize,
    scores: Vec<Vec<f64>>,
    /// The further features of each view.
    features: Vec<Vec<f64>>,
    /// For each row one bit a view that is missing, once a reader has marked one.
    missing: Option<Vec<u64>>,
    /// Keys of the rows, once a reader has pushed one.
    clusters: Option<Vec<u64>>,
    segments: Option<Vec<u64>>,
    /// Keys of the rows' labels.
    labels: Option<Vec<u64>>,
    /// With what chance each row was to have one; no number where that is not said.
    label_chances: Option<Vec<f64>>,
    /// The texts of the columns that go with their rows.
    kept: Vec<Vec<Option<String>>>,
    /// The views that have no scores, and the place of the value of each in each row.
    witnesses: Vec<Witness>,
    places: Vec<Vec<Option<usize>>>,
    /// What the keys of the segments and labels stand for.
    names: BTreeMap<u64, String>,
    /// The hour of the last time that was pushed, and its key.
    last_hour: Option<(i64, u64)>,
}

/// Why the text of a row is no key.
#[derive(Debug, PartialEq)]
pub(crate) enum NoKey {
    /// There is none.
    Missing,
    /// It is no time, where a time is needed.
    NoTime { text: String },
    /// It is no number, where one is needed.
    NoNumber { text: String },
}

impl NoKey {
    /// The error of a row of a file.
    pub(crate) fn at(self, path: &Path, row: u64, column: &KeyColumn) -> Error {
        let (path, name) = (path.to_owned(), column.name.clone());
        match self {
            NoKey::Missing => Error::Null { path, row, column: name },
            NoKey::NoTime { text } => {
                let expected = column.period.map_or("a time", |period| period.expects());
                Error::NotATime { path, row, column: name, text, expected }
            }
            NoKey::NoNumber { text } => Error::NotANumber { path, row, column: name, text },
        }
    }
}

impl Pending {
    /// An empty batch for views of these widths, of so many classes or of so many features, with so many further features of
    /// each view, for witnesses, and with so many columns beside them; the bytes that cannot be had where the system refuses them.
    pub(crate) fn new(
        widths: &[usize],
        features: &[usize],
        witnesses: &[Witness],
        kept: usize,
    ) -> Result<Self, Memory> {
        let width = widths.iter().chain(features).sum::<usize>();
        // A text takes some eight times the room of a number.
        let capacity = rows_a_batch(width).min(rows_a_batch(TEXT * kept));
        let cells = |width: &usize| {
            let (mut cells, count) = (Vec::new(), width.saturating_mul(capacity));
            trying(|| cells.try_reserve_exact(count))
                .map_err(|_| Memory::of_bytes(count.saturating_mul(size_of::<f64>()) as u64))?;
            cells.resize(count, 0.0);
            Ok(cells)
        };
        let [scores, features] =
            [widths, features].map(|widths| widths.iter().map(cells).collect::<Result<_, Memory>>());
        let (scores, features) = (scores?, features?);
        Ok(Self {
            capacity,
            rows: 0,
            scores,
            features,
            missing: None,
            clusters: None,
            segments: None,
            labels: None,
            label_chances: None,
            kept: Vec::new(),
            witnesses: witnesses.to_vec(),
            places: vec![Vec::new(); witnesses.len()],
            names: BTreeMap::new(),
            last_hour: None,
        })
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

    /// The free part of the column of a feature.
    pub(crate) fn feature(&mut self, view: usize, feature: usize) -> &mut [f64] {
        &mut self.features[view][feature * self.capacity + self.rows..(feature + 1) * self.capacity]
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
        for column in self.scores[view].chunks_exact_mut(self.capacity) {
            column[at] = 0.0;
        }
        self.missing.get_or_insert_with(|| vec![0; self.capacity])[at] |= 1 << view;
    }

    /// Adds the key of one more row, made of its text. A blank is no text: a CSV file cannot tell the two apart, and
    /// all formats are to agree. Rows without a text make a segment of their own, but which rows they depend on is not known.
    pub(crate) fn push_key(&mut self, column: &KeyColumn, text: &[u8]) -> Result<(), NoKey> {
        let missing = text.trim_ascii().is_empty();
        let period = match column.period.filter(|_| !missing) {
            Some(period) => {
                let text = String::from_utf8_lossy(text);
                Some(period.name(&text).ok_or_else(|| NoKey::NoTime { text: shortened(text.trim(), 40) })?)
            }
            None => None,
        };
        let text = period.as_deref().map_or(text, str::as_bytes);
        let key = key(if missing { b"" } else { text });
        let keys = match column.purpose {
            Purpose::Cluster => &mut self.clusters,
            Purpose::Segment => &mut self.segments,
            Purpose::Label => &mut self.labels,
            Purpose::LabelChance => {
                let text = String::from_utf8_lossy(text);
                let chance = match missing {
                    true => f64::NAN,
                    false => text
                        .trim()
                        .parse()
                        .map_err(|_| NoKey::NoNumber { text: shortened(text.trim(), 40) })?,
                };
                self.label_chances.get_or_insert_with(|| Vec::with_capacity(self.capacity)).push(chance);
                return Ok(());
            }
            Purpose::Witness(place) => {
                self.places[place].push(self.witnesses[place].place(&String::from_utf8_lossy(text)));
                return Ok(());
            }
            Purpose::Kept(place) => {
                let text = (!missing).then(|| String::from_utf8_lossy(text).into_owned());
                self.kept.resize_with(self.kept.len().max(place + 1), Vec::new);
                self.kept[place].push(text);
                return Ok(());
            }
        };
        keys.get_or_insert_with(|| Vec::with_capacity(self.capacity)).push(key);
        if column.purpose == Purpose::Cluster {
            return if missing { Err(NoKey::Missing) } else { Ok(()) };
        }
        self.names.entry(key).or_insert_with(|| {
            if missing { MISSING.into() } else { shortened(&String::from_utf8_lossy(text), LONGEST) }
        });
        Ok(())
    }

    /// Adds the key of one more row, made of its time in seconds since 1970: the same as that of the time's text, without the text. Rows of
    /// one hour are of one period, so that most need neither.
    pub(crate) fn push_time(&mut self, column: &KeyColumn, second: i64) -> Result<(), NoKey> {
        let hour = second.div_euclid(3600);
        match (column.purpose, self.last_hour) {
            (Purpose::Segment, Some((known, key))) if known == hour => {
                self.segments.get_or_insert_with(|| Vec::with_capacity(self.capacity)).push(key);
                Ok(())
            }
            _ => {
                self.push_key(column, second.to_string().as_bytes())?;
                let key = self.segments.as_ref().and_then(|keys| keys.last());
                self.last_hour = key.map(|key| (hour, *key)).filter(|_| column.purpose == Purpose::Segment);
                Ok(())
            }
        }
    }

    /// Takes the keys of the labels, where a column is read for them.
    pub(crate) fn take_labels(&mut self) -> Option<Vec<u64>> {
        self.labels.take()
    }

    /// Takes the chances of the labels, where a column is read for them.
    pub(crate) fn take_label_chances(&mut self) -> Option<Vec<f64>> {
        self.label_chances.take()
    }

    /// Takes the texts of the columns that go with their rows.
    pub(crate) fn take_kept(&mut self) -> Vec<Vec<Option<String>>> {
        std::mem::take(&mut self.kept)
    }

    /// Takes the names of the segments and labels that the rows so far are of.
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

    /// The key of a row's label, and what it stands for, where a column is read for them.
    pub(crate) fn label(&self, row: usize) -> Option<(u64, &str)> {
        let key = *self.labels.as_ref()?.get(row)?;
        Some((key, self.names.get(&key).map_or("", String::as_str)))
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

    /// The views whose rows all look like probabilities, numbers from 0 to 1 that add up to one, and the others; a view that is missing in
    /// all rows is neither. Of `second`, views with one column for the second of two classes, only the first can be told. Zeros and ones alone
    /// are hard predictions, which are such only beside others that are not.
    pub(crate) fn like_probabilities(&self, second: &[usize]) -> (Vec<usize>, Vec<usize>) {
        // Of a hundred classes rounded to three decimals the sum is off by 0.003 or so.
        const ROUNDING: f64 = 0.02;
        let cells = |view: usize, row: usize| self.scores[view].iter().skip(row).step_by(self.capacity);
        let there = |view: usize| (0..self.rows).filter(move |&row| !self.is_missing(view, row));
        let likely = |view: usize, row: usize| {
            let within = cells(view, row).all(|cell| (0.0..=1.0).contains(cell));
            within && (second.contains(&view) || (cells(view, row).sum::<f64>() - 1.0).abs() <= ROUNDING)
        };
        let soft =
            |view: usize| there(view).any(|row| cells(view, row).any(|cell| *cell > 0.0 && *cell < 1.0));
        let present = (0..self.scores.len()).filter(|&view| there(view).next().is_some());
        let (alike, others): (Vec<usize>, Vec<usize>) =
            present.partition(|&view| there(view).all(|row| likely(view, row)));
        if alike.iter().any(|&view| soft(view)) { (alike, others) } else { (Vec::new(), others) }
    }

    /// Gives the first of two classes what the second leaves of one, in views that have a column for the second alone.
    pub(crate) fn fill_in_complements(&mut self, views: &[usize]) {
        for &view in views {
            let (first, second) = self.scores[view].split_at_mut(self.capacity);
            for (first, second) in first.iter_mut().zip(second).take(self.rows) {
                *first = 1.0 - second.clamp(0.0, 1.0);
            }
        }
    }

    /// Takes what stands after all views: a prediction, class by class.
    ///
    /// # Errors
    /// The first row that has none.
    pub(crate) fn take_prediction(&mut self) -> Result<Vec<f64>, usize> {
        let columns = self.scores.pop().unwrap_or_default();
        let bit = 1_u64 << self.scores.len();
        let mut missing = self.missing.iter().flat_map(|rows| &rows[..self.rows]);
        match missing.position(|row| row & bit != 0) {
            Some(row) => Err(row),
            None => {
                let filled = columns.chunks_exact(self.capacity).map(|column| &column[..self.rows]);
                Ok(filled.flatten().copied().collect())
            }
        }
    }

    /// The first row and view that is missing, where one is.
    pub(crate) fn first_missing(&self) -> Option<(usize, usize)> {
        let missing = self.missing.iter().flat_map(|rows| &rows[..self.rows]).enumerate();
        missing
            .into_iter()
            .find(|(_, views)| **views != 0)
            .map(|(row, views)| (row, views.trailing_zeros() as usize))
    }

    /// The batch as features of each view, row by row, and the keys of the segments.
    ///
    /// # Errors
    /// [`triview::Error::FeatureNotFinite`].
    pub(crate) fn finish_features(self) -> Result<(FeatureBatch, Option<Vec<u64>>), triview::Error> {
        let widths: Vec<usize> = self.scores.iter().map(|view| view.len() / self.capacity).collect();
        let of_view = |(cells, &width): (&Vec<f64>, &usize)| {
            let mut rows = vec![0.0f32; self.rows * width];
            for (feature, column) in cells.chunks_exact(self.capacity).enumerate() {
                for (row, value) in column[..self.rows].iter().enumerate() {
                    rows[row * width + feature] = *value as f32;
                }
            }
            rows
        };
        let features = self.scores.iter().zip(&widths).map(of_view).collect();
        Ok((FeatureBatch::new(self.rows, widths, features)?, self.segments))
    }

    /// The batch.
    ///
    /// # Errors
    /// [`triview::Error::NotFinite`] and [`triview::Error::FeatureNotFinite`].
    pub(crate) fn finish(mut self) -> Result<Batch, triview::Error> {
        if self.rows < self.capacity {
            for columns in self.scores.iter_mut().chain(&mut self.features) {
                let count = columns.len() / self.capacity;
                for column in 0..count {
                    let from = column * self.capacity;
                    columns.copy_within(from..from + self.rows, column * self.rows);
                }
                columns.truncate(count * self.rows);
            }
        }
        let (scored, scores) = (self.scores.len(), self.scores[0].len());
        for (view, (witness, places)) in (scored..).zip(self.witnesses.iter().zip(&self.places)) {
            self.scores.push(vec![0.0; scores]);
            self.features.push(witness.indicators(places));
            for (row, _) in places.iter().enumerate().filter(|(_, place)| place.is_none()) {
                self.missing.get_or_insert_with(|| vec![0; self.capacity])[row] |= 1 << view;
            }
        }
        let mut batch = Batch::new(self.rows, self.scores)?;
        if let Some(mut missing) = self.missing {
            missing.truncate(self.rows);
            batch = batch.with_missing(missing)?;
        }
        batch = batch.with_covariates(self.features)?;
        if let Some(clusters) = self.clusters {
            batch = batch.with_clusters(clusters)?;
        }
        match self.segments {
            Some(segments) => batch.with_segments(segments),
            None => Ok(batch),
        }
    }
}
