//! What each view says of each class: names, batches of scores, and where batches come from.

use crate::data::Groups;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

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
    /// For each view the names of its further features; empty where no view has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    features: Vec<Vec<String>>,
}

/// The unchecked form of a [`Schema`], as it is read from a file.
#[derive(Deserialize)]
struct Names {
    views: Vec<String>,
    classes: Vec<String>,
    #[serde(default)]
    features: Vec<Vec<String>>,
}

impl TryFrom<Names> for Schema {
    type Error = Error;

    fn try_from(names: Names) -> Result<Self> {
        if !names.features.is_empty() && names.features.len() != names.views.len() {
            return Err(Error::InvalidState { reason: "its features are not of its views".into() });
        }
        Schema::new(names.views, names.classes)?.with_features(names.features)
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
            refuse_duplicates(kind, names)?;
        }
        Ok(Self { views, classes, features: Vec::new() })
    }

    /// The same views with further features of them, of which these are the names, view by view: what tells states apart
    /// that a view's scores do not.
    ///
    /// # Errors
    /// [`Error::DuplicateName`].
    ///
    /// # Panics
    /// When there are names for another number of views: a mistake of the caller's.
    pub fn with_features(mut self, features: Vec<Vec<String>>) -> Result<Self> {
        for names in &features {
            refuse_duplicates("feature", names)?;
        }
        if features.iter().any(|names| !names.is_empty()) {
            assert_eq!(features.len(), self.views.len(), "names of the features of every view");
            self.features = features;
        }
        Ok(self)
    }

    /// The further features of all views, `view:feature`.
    pub fn all_features(&self) -> Vec<String> {
        let of_view = |(view, names): (&String, &Vec<String>)| {
            names.iter().map(|name| format!("{view}:{name}")).collect::<Vec<_>>()
        };
        self.views.iter().zip(&self.features).flat_map(of_view).collect()
    }

    /// How many further features some views have in all.
    pub(crate) fn features_of(&self, views: &[usize]) -> usize {
        views.iter().map(|&view| self.features(view).len()).sum()
    }

    /// Names of a view's further features.
    pub fn features(&self, view: usize) -> &[String] {
        self.features.get(view).map_or(&[], Vec::as_slice)
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

/// Refuses a name that stands twice.
fn refuse_duplicates(kind: &'static str, names: &[String]) -> Result<()> {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::DuplicateName { kind, name: pair[0].clone() }),
        None => Ok(()),
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
    /// For each view the columns of its further features; empty where no view has any.
    features: Vec<Vec<f64>>,
    /// For each row, one bit a view that is missing in it; absent where none is in any.
    missing: Option<Vec<u64>>,
    clusters: Option<Vec<u64>>,
    segments: Option<Vec<u64>>,
    /// The class of each row that is known; absent where none is asked for.
    labels: Option<Vec<Option<usize>>>,
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
        Self {
            rows,
            scores,
            features: Vec::new(),
            missing: None,
            clusters: None,
            segments: None,
            labels: None,
        }
    }

    /// The same batch with further features of its views: `features[v][f * rows + row]`. They say nothing of the loss, and
    /// help to tell states apart. What they are in rows in which their view is missing is forgotten.
    ///
    /// # Errors
    /// [`Error::FeatureNotFinite`] with the row (within this batch), view and feature of the first that is NaN or infinite.
    ///
    /// # Panics
    /// When there are columns for another number of views, or of another length: a mistake of the caller's.
    pub fn with_features(mut self, mut features: Vec<Vec<f64>>) -> Result<Self> {
        assert_eq!(features.len(), self.views(), "columns of the features of every view");
        for (view, columns) in features.iter_mut().enumerate() {
            assert!(
                self.rows == 0 || columns.len().is_multiple_of(self.rows),
                "view {view}: ragged features"
            );
            for row in self.without(&[view]) {
                columns.iter_mut().skip(row).step_by(self.rows).for_each(|cell| *cell = 0.0);
            }
            if let Some(at) = columns.iter().position(|cell| !cell.is_finite()) {
                let (row, feature, value) = (at % self.rows, at / self.rows, columns[at]);
                return Err(Error::FeatureNotFinite { row, view, feature, value });
            }
        }
        if features.iter().any(|columns| !columns.is_empty()) {
            self.features = features;
        }
        Ok(self)
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
        let columns = self.scores.iter_mut().enumerate().chain(self.features.iter_mut().enumerate());
        for (view, columns) in columns.filter(|(view, _)| any >> view & 1 == 1) {
            for column in columns.chunks_exact_mut(self.rows) {
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

    /// The same batch with the class of each row that is known. What is made of scores alone never looks at them.
    ///
    /// # Panics
    /// When there is not one entry a row, or a class is not one of the batch's.
    #[must_use]
    pub fn with_labels(mut self, labels: Vec<Option<usize>>) -> Self {
        assert_eq!(labels.len(), self.rows, "one label a row, or none");
        assert!(labels.iter().flatten().all(|class| *class < self.k()), "a label of another class");
        self.labels = Some(labels);
        self
    }

    /// The class of a row, where it is known.
    pub fn label(&self, row: usize) -> Option<usize> {
        self.labels.as_ref().and_then(|labels| labels[row])
    }

    /// The rows at these places, in this order, with their groups, segments and labels.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let keys = |keys: &Option<Vec<u64>>| {
            keys.as_ref().map(|keys| rows.iter().map(|&row| keys[row]).collect::<Vec<_>>())
        };
        let taken = |views: &[Vec<f64>]| views.iter().map(|view| take_rows(self.rows, view, rows)).collect();
        Self {
            rows: rows.len(),
            scores: taken(&self.scores),
            features: taken(&self.features),
            missing: keys(&self.missing),
            clusters: keys(&self.clusters),
            segments: keys(&self.segments),
            labels: self.labels.as_ref().map(|labels| rows.iter().map(|&row| labels[row]).collect()),
        }
    }

    /// The same rows with one view a group, whose scores are the sums of those of its members that are there; it is
    /// missing where all of them are.
    pub(crate) fn grouped(&self, groups: &Groups) -> Self {
        Self {
            rows: self.rows,
            scores: groups.iter().map(|views| self.sum(views)).collect(),
            features: match self.features.is_empty() {
                true => Vec::new(),
                false => groups.iter().map(|views| self.joined_features(views)).collect(),
            },
            missing: self.missing.as_ref().map(|rows| rows.iter().map(|row| groups.missing(*row)).collect()),
            clusters: self.clusters.clone(),
            segments: self.segments.clone(),
            labels: self.labels.clone(),
        }
    }

    /// The features of some views, one view after the other. Where a view is missing they are their own mean.
    fn joined_features(&self, views: &[usize]) -> Vec<f64> {
        let mut joined = Vec::new();
        for &view in views {
            let (means, missing, from) = (self.feature_means(view), self.without(&[view]), joined.len());
            joined.extend_from_slice(self.features(view));
            for (column, mean) in joined[from..].chunks_exact_mut(self.rows.max(1)).zip(means) {
                missing.iter().for_each(|&row| column[row] = mean);
            }
        }
        joined
    }

    /// The means of a view's features over the rows in which it is there.
    pub(crate) fn feature_means(&self, view: usize) -> Vec<f64> {
        let present = (self.rows - self.without(&[view]).len()).max(1) as f64;
        // In the other rows they are zero.
        let columns = self.features(view).chunks_exact(self.rows.max(1));
        columns.map(|column| column.iter().sum::<f64>() / present).collect()
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

    /// How many rows have a view, and all that it says in those rows: its scores, class by class, then its features.
    pub(crate) fn present_inputs(&self, view: usize) -> (usize, Vec<f64>) {
        if self.missing.is_none() {
            return (self.rows, self.inputs(view).into_owned());
        }
        let rows = self.with(&[view]);
        (rows.len(), take_rows(self.rows, &self.inputs(view), &rows))
    }

    /// All that a view says: its scores, class by class, then its features.
    pub(crate) fn inputs(&self, view: usize) -> Cow<'_, [f64]> {
        match self.features(view) {
            [] => Cow::Borrowed(self.view(view)),
            features => Cow::Owned([self.view(view), features].concat()),
        }
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

    /// The further features of a view, one column after the other.
    pub fn features(&self, view: usize) -> &[f64] {
        self.features.get(view).map_or(&[], Vec::as_slice)
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
    columns.chunks_exact(n.max(1)).flat_map(|column| rows.iter().map(|&row| column[row])).collect()
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
