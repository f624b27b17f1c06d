//! What each view says of each class: names, batches of scores, and where batches come from.

use crate::error::{Error, Result};
use crate::groups::Groups;
use serde::{Deserialize, Serialize};

/// The method rests on three views that are independent given the class; where a table has more, they are grouped
/// into three (see [`Groups`]).
pub const VIEWS: usize = 3;

/// The most input views: one bit each, and every pair of them is looked at when they are grouped.
pub const MOST_VIEWS: usize = 64;

/// What the columns of a score table mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Names")]
pub struct Schema {
    views: Vec<String>,
    classes: Vec<String>,
}

/// The unchecked form of a [`Schema`], as it is read from a file.
#[derive(Deserialize)]
struct Names {
    views: Vec<String>,
    classes: Vec<String>,
}

impl TryFrom<Names> for Schema {
    type Error = Error;

    fn try_from(names: Names) -> Result<Self> {
        Schema::new(names.views, names.classes)
    }
}

impl Schema {
    /// Checks the names: three or more different views, two or more different classes.
    ///
    /// # Errors
    /// [`Error::ViewCount`], [`Error::TooManyViews`], [`Error::ClassCount`] or [`Error::DuplicateName`].
    pub fn new(views: Vec<String>, classes: Vec<String>) -> Result<Self> {
        if views.len() < VIEWS {
            return Err(Error::ViewCount { views });
        }
        if views.len() > MOST_VIEWS {
            return Err(Error::TooManyViews { views: views.len(), most: MOST_VIEWS });
        }
        if classes.len() < 2 {
            return Err(Error::ClassCount { classes });
        }
        for (kind, names) in [("view", &views), ("class", &classes)] {
            let mut sorted: Vec<&String> = names.iter().collect();
            sorted.sort();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(Error::DuplicateName { kind, name: pair[0].clone() });
            }
        }
        Ok(Self { views, classes })
    }

    /// Names of the input views.
    pub fn views(&self) -> &[String] {
        &self.views
    }

    /// Names of the classes, in the order of every matrix in a result.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The number of classes, `k`.
    pub fn k(&self) -> usize {
        self.classes.len()
    }
}

/// Some rows of a score table.
///
/// Scores lie by view, then by class, then by row: the column of one class in one view is contiguous,
/// which is how columnar files hold them and how the kernels read them.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    rows: usize,
    scores: Vec<Vec<f64>>,
    /// For each row, one bit a view that is missing in it; absent where none is in any.
    missing: Option<Vec<u64>>,
    clusters: Option<Vec<u64>>,
    segments: Option<Vec<u64>>,
}

impl Batch {
    /// A batch of `rows` rows; `scores[v][class * rows + row]` is the score of view `v` for a class.
    ///
    /// # Errors
    /// [`Error::NotFinite`] with the row (within this batch), view and class of the first score that is
    /// NaN or infinite.
    ///
    /// # Panics
    /// When there are fewer than three views, or they differ in length or are no multiple of `rows`: a mistake of the
    /// caller's.
    pub fn new(rows: usize, scores: impl Into<Vec<Vec<f64>>>) -> Result<Self> {
        let scores = scores.into();
        assert!(scores.len() >= VIEWS, "a batch of {} views", scores.len());
        for (view, scores) in scores.iter().enumerate() {
            assert!(rows == 0 || scores.len().is_multiple_of(rows), "view {view}: ragged batch");
            if let Some(at) = scores.iter().position(|score| !score.is_finite()) {
                return Err(Error::NotFinite { row: at % rows, view, class: at / rows, value: scores[at] });
            }
        }
        assert!(scores.iter().all(|other| other.len() == scores[0].len()), "views of unequal length");
        Ok(Self::from_finite(rows, scores))
    }

    /// A batch of scores that were computed here and are finite by construction.
    pub(crate) fn from_finite(rows: usize, scores: Vec<Vec<f64>>) -> Self {
        Self { rows, scores, missing: None, clusters: None, segments: None }
    }

    /// The same batch without some views in some rows: `missing` has for each row one bit a view, the lowest for the
    /// first. What their scores were is forgotten. A row may lack all of its views.
    ///
    /// # Panics
    /// When there is not one number a row, or a bit stands for no view: a mistake of the caller's.
    #[must_use]
    pub fn with_missing(mut self, missing: Vec<u64>) -> Self {
        assert_eq!(missing.len(), self.rows, "missing views of every row");
        let any = missing.iter().fold(0, |any, row| any | row);
        assert!(self.views() == MOST_VIEWS || any >> self.views() == 0, "a bit for every view");
        if any == 0 {
            return self;
        }
        for (view, scores) in self.scores.iter_mut().enumerate().filter(|(view, _)| any >> view & 1 == 1) {
            for column in scores.chunks_exact_mut(self.rows) {
                let cells = column.iter_mut().zip(&missing);
                cells.filter(|(_, row)| *row >> view & 1 == 1).for_each(|(cell, _)| *cell = 0.0);
            }
        }
        self.missing = Some(missing);
        self
    }

    /// The same batch whose rows belong to groups: rows with equal keys are kept in one block, so that
    /// the standard error is right for rows that depend on each other.
    ///
    /// # Panics
    /// When there is not one key a row.
    #[must_use]
    pub fn with_clusters(mut self, clusters: Vec<u64>) -> Self {
        assert_eq!(clusters.len(), self.rows, "one cluster key a row");
        self.clusters = Some(clusters);
        self
    }

    /// The same batch whose rows belong to segments: rows with equal keys are answered together, and apart from
    /// the others, by [`SegmentedAccumulator`](crate::moments::SegmentedAccumulator).
    ///
    /// # Panics
    /// When there is not one key a row.
    #[must_use]
    pub fn with_segments(mut self, segments: Vec<u64>) -> Self {
        assert_eq!(segments.len(), self.rows, "one segment key a row");
        self.segments = Some(segments);
        self
    }

    /// The rows at these places, in this order, with their groups and segments.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let keys = |keys: &Option<Vec<u64>>| {
            keys.as_ref().map(|keys| rows.iter().map(|&row| keys[row]).collect::<Vec<_>>())
        };
        let scores = (0..self.views()).map(|view| {
            let mut scores = Vec::with_capacity(self.k() * rows.len());
            for class in 0..self.k() {
                let column = self.column(view, class);
                scores.extend(rows.iter().map(|&row| column[row]));
            }
            scores
        });
        Self {
            rows: rows.len(),
            scores: scores.collect(),
            missing: keys(&self.missing),
            clusters: keys(&self.clusters),
            segments: keys(&self.segments),
        }
    }

    /// The same rows with one view a group, whose scores are the sums of those of its members that are there; it is
    /// missing where all of them are.
    pub(crate) fn grouped(&self, groups: &Groups) -> Self {
        Self {
            rows: self.rows,
            scores: groups.iter().map(|views| self.sum(views)).collect(),
            missing: self.missing.as_ref().map(|rows| rows.iter().map(|row| groups.missing(*row)).collect()),
            clusters: self.clusters.clone(),
            segments: self.segments.clone(),
        }
    }

    /// The rows in which all of some views are missing.
    pub(crate) fn without(&self, views: &[usize]) -> Vec<usize> {
        let bits = bits(views);
        let missing = |row: &usize| self.missing.as_ref().is_some_and(|missing| missing[*row] & bits == bits);
        if self.missing.is_some() { (0..self.rows).filter(missing).collect() } else { Vec::new() }
    }

    /// The rows in which any of some views is there.
    pub(crate) fn with(&self, views: &[usize]) -> Vec<usize> {
        let mut there = vec![true; self.rows];
        self.without(views).into_iter().for_each(|row| there[row] = false);
        (0..self.rows).filter(|&row| there[row]).collect()
    }

    /// How many rows have any of some views, and the summed scores of these in those rows, class by class.
    pub(crate) fn present_scores(&self, views: &[usize]) -> (usize, Vec<f64>) {
        if self.missing.is_none() {
            return (self.rows, self.sum(views));
        }
        let rows = self.with(views);
        (rows.len(), take_rows(self.rows, &self.sum(views), &rows))
    }

    /// The sums of the scores of some views, class by class.
    pub(crate) fn sum(&self, views: &[usize]) -> Vec<f64> {
        total(views.iter().map(|&view| self.view(view)))
    }

    /// The scores summed over all views, class by class.
    pub(crate) fn total(&self) -> Vec<f64> {
        total((0..self.views()).map(|view| self.view(view)))
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of input views.
    pub fn views(&self) -> usize {
        self.scores.len()
    }

    /// The number of classes (0 in a batch without rows).
    pub fn k(&self) -> usize {
        self.scores[0].len().checked_div(self.rows).unwrap_or(0)
    }

    /// All scores of a view, class by class.
    pub fn view(&self, view: usize) -> &[f64] {
        &self.scores[view]
    }

    /// The scores of one view for one class, row by row.
    pub fn column(&self, view: usize, class: usize) -> &[f64] {
        &self.scores[view][class * self.rows..(class + 1) * self.rows]
    }

    /// Whether a view is missing in a row.
    pub fn is_missing(&self, view: usize, row: usize) -> bool {
        self.missing.as_ref().is_some_and(|missing| missing[row] >> view & 1 == 1)
    }

    /// For each row, one bit a view that is missing in it; absent where none is in any.
    pub fn missing(&self) -> Option<&[u64]> {
        self.missing.as_deref()
    }

    /// The group of each row, where rows are grouped.
    pub fn clusters(&self) -> Option<&[u64]> {
        self.clusters.as_deref()
    }

    /// The segment of each row, where rows have segments.
    pub fn segments(&self) -> Option<&[u64]> {
        self.segments.as_deref()
    }
}

/// The sum over views of their scores, which lie alike in each.
pub(crate) fn total<'a>(mut views: impl Iterator<Item = &'a [f64]>) -> Vec<f64> {
    let mut total = views.next().unwrap_or_default().to_vec();
    for view in views {
        total.iter_mut().zip(view).for_each(|(total, score)| *total += score);
    }
    total
}

/// One bit a view.
pub(crate) fn bits(views: &[usize]) -> u64 {
    views.iter().fold(0, |bits, view| bits | 1 << view)
}

/// Some rows of columns of `n` numbers.
pub(crate) fn take_rows(n: usize, columns: &[f64], rows: &[usize]) -> Vec<f64> {
    columns.chunks_exact(n).flat_map(|column| rows.iter().map(|&row| column[row])).collect()
}

/// Something that can be read from its beginning more than once, batch by batch.
pub trait Source {
    /// What reading may fail with.
    type Error: From<Error>;

    /// What the columns mean.
    fn schema(&self) -> &Schema;

    /// Reads all rows from the first on. Batches of some ten thousand rows suit the kernels best; their
    /// order and sizes must be the same in every reading.
    ///
    /// # Errors
    /// Whatever keeps the source from being opened again.
    fn batches(&self) -> Result<impl Iterator<Item = Result<Batch, Self::Error>>, Self::Error>;
}

/// Batches that are in memory already.
#[derive(Debug, Clone)]
pub struct InMemory {
    schema: Schema,
    batches: Vec<Batch>,
}

impl InMemory {
    /// A source over these batches.
    pub fn new(schema: Schema, batches: Vec<Batch>) -> Self {
        Self { schema, batches }
    }
}

impl Source for InMemory {
    type Error = Error;

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn batches(&self) -> Result<impl Iterator<Item = Result<Batch>>> {
        Ok(self.batches.iter().cloned().map(Ok))
    }
}
