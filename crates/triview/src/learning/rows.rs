//! Feature rows: what a model makes its scores from.

use super::cells::Cells;
use crate::data::{MOST_VIEWS, Source, VIEWS, expect, refuse_duplicates};
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::sync::Arc;

/// What the columns of a feature table mean: the views, and the features of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureSchema {
    views: Vec<String>,
    features: Vec<Vec<String>>,
}

impl FeatureSchema {
    /// Three or more views with the names of their features.
    ///
    /// # Errors
    /// [`Error::ViewCount`], [`Error::TooManyViews`], [`Error::NoFeatures`] or [`Error::DuplicateName`].
    pub fn new(views: Vec<(String, Vec<String>)>) -> Result<Self> {
        let (views, features): (Vec<String>, Vec<Vec<String>>) = views.into_iter().unzip();
        if views.len() < VIEWS {
            return Err(Error::ViewCount { views });
        }
        if views.len() > MOST_VIEWS {
            return Err(Error::TooManyViews { views: views.len(), most: MOST_VIEWS });
        }
        if let Some(view) = features.iter().position(Vec::is_empty) {
            return Err(Error::NoFeatures { view: views[view].clone() });
        }
        for (kind, names) in
            [("view", &views)].into_iter().chain(features.iter().map(|names| ("feature", names)))
        {
            refuse_duplicates(kind, names)?;
        }
        Ok(Self { views, features })
    }

    /// From names that were made here and are right by construction.
    pub(crate) fn of_valid<'a>(views: impl Iterator<Item = (&'a str, Vec<String>)>) -> Self {
        let (views, features) = views.map(|(view, features)| (view.to_owned(), features)).unzip();
        Self { views, features }
    }

    /// Names of the views.
    pub fn views(&self) -> &[String] {
        &self.views
    }

    /// Names of a view's features.
    pub fn features(&self, view: usize) -> &[String] {
        &self.features[view]
    }

    /// The number of features of each view.
    pub fn widths(&self) -> Vec<usize> {
        self.features.iter().map(Vec::len).collect()
    }
}

/// Some rows of a feature table: for each view its features, row by row. Of a view that is mostly zeros only the others are held.
#[derive(Debug, Clone)]
pub struct FeatureBatch {
    rows: usize,
    widths: Vec<usize>,
    features: Vec<Cells>,
    /// The class of each row that is known; absent where none is.
    labels: Option<Vec<Option<usize>>>,
}

impl FeatureBatch {
    /// A batch of `rows` rows; `features[v][row * width + feature]`.
    ///
    /// # Errors
    /// [`Error::Shape`] where a view is not `rows` times its width long; [`Error::FeatureNotFinite`] with the row (within this
    /// batch), view and feature of the first that is NaN or infinite.
    pub fn new(rows: usize, widths: Vec<usize>, features: Vec<Vec<f32>>) -> Result<Self> {
        expect("widths of views", widths.len(), features.len())?;
        for (view, (features, &width)) in features.iter().zip(&widths).enumerate() {
            expect("features of a view", features.len(), rows * width)?;
            if let Some(at) = features.iter().position(|feature| !feature.is_finite()) {
                let (row, feature) = (at / width, at % width);
                return Err(Error::FeatureNotFinite { row, view, feature, value: features[at].into() });
            }
        }
        let features = features.into_iter().zip(&widths).map(|(features, &width)| Cells::of(width, features));
        Ok(Self { rows, features: features.collect(), widths, labels: None })
    }

    /// The same rows, with the class of each that is known.
    ///
    /// # Errors
    /// [`Error::Shape`] where there is not one entry a row.
    pub fn with_labels(mut self, labels: Vec<Option<usize>>) -> Result<Self> {
        expect("labels", labels.len(), self.rows)?;
        self.labels = Some(labels);
        Ok(self)
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of views.
    pub fn views(&self) -> usize {
        self.widths.len()
    }

    /// The number of features of each view.
    pub fn widths(&self) -> &[usize] {
        &self.widths
    }

    /// All features of a view, row by row.
    pub fn view(&self, view: usize) -> Cow<'_, [f32]> {
        self.features[view].dense(self.widths[view])
    }

    /// The features of one row in one view.
    pub fn features(&self, view: usize, row: usize) -> Cow<'_, [f32]> {
        self.features[view].rows(self.widths[view], row..row + 1)
    }

    /// The features of a view as they are held.
    pub(crate) fn cells(&self, view: usize) -> &Cells {
        &self.features[view]
    }

    /// The class of a row, where it is known.
    pub fn label(&self, row: usize) -> Option<usize> {
        self.labels.as_ref().and_then(|labels| labels[row])
    }

    /// The rows at these places, in this order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let features = self.features.iter().zip(&self.widths);
        Self {
            rows: rows.len(),
            widths: self.widths.clone(),
            features: features.map(|(cells, &width)| cells.select(width, rows)).collect(),
            labels: self.labels.as_ref().map(|labels| rows.iter().map(|&row| labels[row]).collect()),
        }
    }

    /// All rows of some batches of the same widths, one batch after the other.
    ///
    /// # Errors
    /// [`Error::Shape`] where there is no batch, or their widths differ.
    pub fn concatenate(batches: &[Arc<FeatureBatch>]) -> Result<Self> {
        let first = batches.first().ok_or(Error::Shape { what: "batches", given: 0, needed: 1 })?;
        let widths = first.widths.clone();
        let alike = batches.iter().filter(|batch| batch.widths == widths).count();
        expect("batches of the same features", alike, batches.len())?;
        let view = |(view, &width): (usize, &usize)| {
            Cells::concatenate(width, batches.iter().map(|batch| &batch.features[view]))
        };
        let labels = batches.iter().flat_map(|batch| (0..batch.rows).map(|row| batch.label(row)));
        Ok(Self {
            rows: batches.iter().map(|batch| batch.rows).sum(),
            features: widths.iter().enumerate().map(view).collect(),
            labels: Some(labels.collect()),
            widths,
        })
    }

    /// The same rows with other features of each view, as many.
    pub(crate) fn map_views(&self, mut of_view: impl FnMut(usize, &Cells) -> Cells) -> Self {
        let features = self.features.iter().enumerate().map(|(view, cells)| of_view(view, cells));
        let features = features.collect();
        Self { rows: self.rows, widths: self.widths.clone(), features, labels: self.labels.clone() }
    }

    /// Whether every view is held without its zeros, and not centred.
    pub(crate) fn is_sparse(&self) -> bool {
        let sparse = |cells: &Cells| matches!(cells, Cells::Sparse(sparse) if sparse.centre().is_none());
        self.features.iter().all(sparse)
    }

    /// How many features are held.
    pub(crate) fn numbers(&self) -> u64 {
        self.features.iter().map(|cells| cells.numbers() as u64).sum()
    }

    /// How many bytes its features take.
    pub(crate) fn bytes(&self) -> usize {
        self.features.iter().map(Cells::bytes).sum()
    }
}

/// Batches are equal whose rows are, however they are held.
impl PartialEq for FeatureBatch {
    fn eq(&self, other: &Self) -> bool {
        let alike = || (0..self.views()).all(|view| self.view(view) == other.view(view));
        (self.rows, &self.widths, &self.labels) == (other.rows, &other.widths, &other.labels) && alike()
    }
}

/// A source of feature rows, which two readers may read at once.
pub trait FeatureSource: Source<Schema = FeatureSchema, Batch = FeatureBatch, Error: Send> + Sync {}

impl<S: Source<Schema = FeatureSchema, Batch = FeatureBatch, Error: Send> + Sync> FeatureSource for S {}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;

    #[test]
    fn every_wrong_shape_is_refused() {
        let shape = |what, given, needed| Err(Error::Shape { what, given, needed });
        let batch = |widths: &[usize]| {
            FeatureBatch::new(2, widths.to_vec(), widths.iter().map(|width| vec![0.5; 2 * width]).collect())
        };
        assert_eq!(FeatureBatch::new(2, vec![1], vec![]), shape("widths of views", 1, 0));
        assert_eq!(FeatureBatch::new(2, vec![2], vec![vec![0.5; 3]]), shape("features of a view", 3, 4));
        let one = Arc::new(batch(&[1, 2]).unwrap());
        assert_eq!(FeatureBatch::clone(&one).with_labels(vec![None]), shape("labels", 1, 2));
        assert_eq!(FeatureBatch::concatenate(&[]), shape("batches", 0, 1));
        let other = Arc::new(batch(&[2, 1]).unwrap());
        let refused = FeatureBatch::concatenate(&[one.clone(), other]);
        assert_eq!(refused, shape("batches of the same features", 1, 2));
        assert_eq!(FeatureBatch::concatenate(&[one.clone(), one]).unwrap().rows(), 4);
    }
}
