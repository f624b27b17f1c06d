//! Some rows of a score table.

use super::schema::expect;
use super::{MOST_VIEWS, VIEWS, Witness};
use crate::error::{Error, Result};
use crate::settings::metrics::PREDICTION_ROUNDING;
use std::borrow::Cow;

/// Some rows of a score table.
///
/// Scores lie by view, then by class, then by row: the column of one class in one view is contiguous,
/// which is how columnar files hold them and how the kernels read them.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    rows: usize,
    scores: Vec<Vec<f64>>,
    /// For each view the columns of its covariates; empty where no view has any.
    covariates: Vec<Vec<f64>>,
    /// For each row, one bit a view that is missing in it; absent where none is in any.
    missing: Option<Vec<u64>>,
    clusters: Option<Vec<u64>>,
    segments: Option<Vec<u64>>,
    /// The class of each row that is known; absent where none is asked for.
    labels: Option<Vec<Option<usize>>>,
    /// How many rows each labelled one stands for; absent where all of them had the same chance of a label.
    label_weights: Option<Vec<f64>>,
    /// What another model says of each row, class by class as scores lie; absent where there is none.
    prediction: Option<Vec<f64>>,
}

impl Batch {
    /// A batch of `rows` rows; `scores[v][class * rows + row]` is the score of view `v` for a class.
    ///
    /// # Errors
    /// [`Error::Shape`] where there are fewer than three views, or they differ in length or are no multiple of `rows`;
    /// [`Error::NotFinite`] with the row (within this batch), view and class of the first score that is NaN or infinite.
    pub fn new(rows: usize, scores: impl Into<Vec<Vec<f64>>>) -> Result<Self> {
        let scores = scores.into();
        if !(VIEWS..=MOST_VIEWS).contains(&scores.len()) {
            return Err(Error::Shape { what: "views", given: scores.len(), needed: VIEWS });
        }
        let length = scores[0].len().checked_div(rows).unwrap_or(0) * rows;
        for (view, scores) in scores.iter().enumerate() {
            expect("scores of a view", scores.len(), length)?;
            if let Some(at) = scores.iter().position(|score| !score.is_finite()) {
                return Err(Error::NotFinite { row: at % rows, view, class: at / rows, value: scores[at] });
            }
        }
        Ok(Self::from_finite(rows, scores))
    }

    /// A batch of views that have scores, and witnesses that have none: for each witness the place of its value in each row, nothing
    /// where it is missing ([`Witness::place`]).
    ///
    /// # Errors
    /// Those of [`Batch::new`], and [`Error::Shape`] where there is not one value a row.
    pub fn with_witnesses(
        rows: usize,
        mut scores: Vec<Vec<f64>>,
        witnesses: &[(&Witness, Vec<Option<usize>>)],
    ) -> Result<Self> {
        let (scored, length) = (scores.len(), scores.first().map_or(0, Vec::len));
        scores.extend(witnesses.iter().map(|_| vec![0.0; length]));
        let mut covariates = vec![Vec::new(); scored];
        let mut missing = vec![0; rows];
        for (view, (witness, places)) in (scored..).zip(witnesses) {
            expect("values of a witness", places.len(), rows)?;
            for (missing, place) in missing.iter_mut().zip(places) {
                *missing |= u64::from(place.is_none()) << view;
            }
            covariates.push(witness.indicators(places));
        }
        Self::new(rows, scores)?.with_missing(missing)?.with_covariates(covariates)
    }

    /// A batch from scores that lie row by row, then view by view, then class by class, as a NumPy array of the shape (rows,
    /// views, classes) does.
    ///
    /// ```
    /// use triview::data::Batch;
    ///
    /// // Two rows of three views that each have a score for two classes.
    /// let scores = [0.1_f32, 0.9, 0.3, 0.7, 0.2, 0.8, 1.5, -0.5, 0.4, 0.6, 2.0, -1.0];
    /// let batch = Batch::from_rows(&scores, 3, 2)?;
    /// assert_eq!((batch.rows(), batch.views(), batch.k()), (2, 3, 2));
    /// assert!(Batch::from_rows(&scores[1..], 3, 2).is_err());
    /// # Ok::<(), triview::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Batch::new`], and [`Error::Shape`] for scores that are not those of whole rows.
    pub fn from_rows<T: Copy + Into<f64>>(scores: &[T], views: usize, classes: usize) -> Result<Self> {
        let width = views.checked_mul(classes).filter(|width| *width > 0);
        let width = width.ok_or(Error::Shape { what: "scores a row", given: 0, needed: VIEWS })?;
        let rows = scores.len() / width;
        expect("scores", scores.len(), rows * width)?;
        let of_view = |view: usize| {
            let column = |class: usize| scores[view * classes + class..].iter().step_by(width);
            (0..classes).flat_map(|class| column(class).map(|score| (*score).into())).collect()
        };
        Self::new(rows, if rows == 0 { vec![Vec::new(); views] } else { (0..views).map(of_view).collect() })
    }

    /// A batch from one array a view: the scores of its classes, row by row.
    ///
    /// ```
    /// use triview::data::Batch;
    ///
    /// let (image, text, audio) = (vec![0.1, 0.9, 1.5, -0.5], vec![0.3, 0.7, 0.4, 0.6], vec![0.2, 0.8, 2.0, -1.0]);
    /// let batch = Batch::from_views(&[&image, &text, &audio], 2)?;
    /// assert_eq!((batch.rows(), batch.views(), batch.k()), (2, 3, 2));
    /// assert_eq!(batch.column(2, 1), [0.8, -1.0]);
    /// # Ok::<(), triview::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Batch::new`], and [`Error::Shape`] for scores that are not those of whole rows.
    pub fn from_views<T: Copy + Into<f64>>(views: &[&[T]], classes: usize) -> Result<Self> {
        let length = views.first().map_or(0, |view| view.len());
        let rows = length.checked_div(classes).unwrap_or(0);
        for view in views {
            expect("scores of a view", view.len(), rows * classes)?;
        }
        let column = |view: &[T], class: usize| -> Vec<f64> {
            view.iter().skip(class).step_by(classes.max(1)).map(|score| (*score).into()).collect()
        };
        let of_view = |view: &&[T]| (0..classes).flat_map(|class| column(view, class)).collect();
        Self::new(rows, views.iter().map(of_view).collect::<Vec<_>>())
    }

    /// A batch of scores that were computed here and are finite by construction.
    pub(crate) fn from_finite(rows: usize, scores: Vec<Vec<f64>>) -> Self {
        Self {
            rows,
            scores,
            covariates: Vec::new(),
            missing: None,
            clusters: None,
            segments: None,
            labels: None,
            label_weights: None,
            prediction: None,
        }
    }

    /// The same batch with covariates of its views: `covariates[v][c * rows + row]`. They say nothing of the loss, and
    /// help to tell latent states apart. What they are in rows in which their view is missing is forgotten.
    ///
    /// # Errors
    /// [`Error::Shape`] for columns of another number of views or of another length; [`Error::CovariateNotFinite`] with the row
    /// (within this batch), view and covariate of the first that is NaN or infinite.
    pub fn with_covariates(mut self, mut covariates: Vec<Vec<f64>>) -> Result<Self> {
        expect("lists of covariates", covariates.len(), self.views())?;
        for (view, columns) in covariates.iter_mut().enumerate() {
            expect(
                "covariates of a view",
                columns.len(),
                columns.len().checked_div(self.rows).unwrap_or(0) * self.rows,
            )?;
            for row in self.without(&[view]) {
                columns.iter_mut().skip(row).step_by(self.rows).for_each(|cell| *cell = 0.0);
            }
            if let Some(at) = columns.iter().position(|cell| !cell.is_finite()) {
                let (row, covariate, value) = (at % self.rows, at / self.rows, columns[at]);
                return Err(Error::CovariateNotFinite { row, view, covariate, value });
            }
        }
        if covariates.iter().any(|columns| !columns.is_empty()) {
            self.covariates = covariates;
        }
        Ok(self)
    }

    /// The same batch without some views in some rows: `missing` has for each row one bit a view, the lowest for the
    /// first. What their scores were is forgotten. A row may lack all of its views.
    ///
    /// # Errors
    /// [`Error::Shape`] where there is not one number a row, or a bit stands for no view.
    pub fn with_missing(self, missing: Vec<u64>) -> Result<Self> {
        expect("rows that say which views they lack", missing.len(), self.rows)?;
        let any = missing.iter().fold(0, |any: u64, row| any | row);
        let highest = (u64::BITS - any.leading_zeros()) as usize;
        if highest > self.views() {
            return Err(Error::Shape {
                what: "views that may be missing",
                given: highest,
                needed: self.views(),
            });
        }
        Ok(self.lacking(missing))
    }

    /// The same of bits that are known to be right.
    pub(crate) fn lacking(mut self, missing: Vec<u64>) -> Self {
        let any = missing.iter().fold(0, |any, row| any | row);
        if any == 0 {
            return self;
        }
        let columns = self.scores.iter_mut().enumerate().chain(self.covariates.iter_mut().enumerate());
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
    /// # Errors
    /// [`Error::Shape`] where there is not one key a row.
    pub fn with_clusters(mut self, clusters: Vec<u64>) -> Result<Self> {
        expect("cluster keys", clusters.len(), self.rows)?;
        self.clusters = Some(clusters);
        Ok(self)
    }

    /// A batch of scores that are finite by construction, of rows with these cluster keys.
    pub(crate) fn from_clusters(clusters: Vec<u64>, scores: Vec<Vec<f64>>) -> Self {
        let batch = Self::from_finite(clusters.len(), scores);
        Self { clusters: Some(clusters), ..batch }
    }

    /// The same batch whose rows belong to segments: rows with equal keys are answered together, and apart from
    /// the others, by [`SegmentedAccumulator`](crate::moments::SegmentedAccumulator).
    ///
    /// # Errors
    /// [`Error::Shape`] where there is not one key a row.
    pub fn with_segments(mut self, segments: Vec<u64>) -> Result<Self> {
        expect("segment keys", segments.len(), self.rows)?;
        self.segments = Some(segments);
        Ok(self)
    }

    /// The same batch with the class of each row that is known. What is made of scores alone never looks at them.
    ///
    /// # Errors
    /// [`Error::Shape`] where there is not one entry a row; [`Error::LabelOutside`] for a class that is not one of the batch's.
    pub fn with_labels(mut self, labels: Vec<Option<usize>>) -> Result<Self> {
        expect("labels", labels.len(), self.rows)?;
        let outside = |label: &Option<usize>| label.is_some_and(|class| class >= self.k());
        if let Some(row) = labels.iter().position(outside) {
            return Err(Error::LabelOutside { row, class: labels[row].unwrap_or_default(), k: self.k() });
        }
        self.labels = Some(labels);
        Ok(self)
    }

    /// The same batch where rows had different chances of a label: the chance of each row that has one; of the others it does not matter.
    ///
    /// # Errors
    /// [`Error::Shape`] where there is not one number a row; [`Error::LabelChance`] for that of a labelled row that is not above zero and
    /// at most one.
    pub fn with_label_chances(mut self, chances: Vec<f64>) -> Result<Self> {
        expect("chances of a label", chances.len(), self.rows)?;
        let outside =
            |row: &usize| self.label(*row).is_some() && !(chances[*row] > 0.0 && chances[*row] <= 1.0);
        if let Some(row) = (0..self.rows).find(outside) {
            return Err(Error::LabelChance { row, value: chances[row] });
        }
        self.label_weights = Some(chances.into_iter().map(|chance| 1.0 / chance).collect());
        Ok(self)
    }

    /// The same batch with the output of another model, which is judged and is no view: `probabilities[class * rows + row]`. Each row is made
    /// to add up to exactly one.
    ///
    /// ```
    /// use triview::data::Batch;
    ///
    /// let batch = Batch::new(1, vec![vec![0.1, 0.9]; 3])?;
    /// assert!(batch.clone().with_prediction(vec![0.3, 0.7]).is_ok());
    /// assert!(batch.with_prediction(vec![0.3, 0.9]).is_err());
    /// # Ok::<(), triview::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] where there is not one number a row and class; [`Error::NotProbabilities`] with the first row (within this batch) whose
    /// numbers are not between zero and one, or do not add up to one.
    pub fn with_prediction(mut self, mut probabilities: Vec<f64>) -> Result<Self> {
        expect("probabilities", probabilities.len(), self.rows * self.k())?;
        for row in 0..self.rows {
            let own = || probabilities.iter().skip(row).step_by(self.rows).copied();
            let sum: f64 = own().sum();
            if !own().all(|p| (0.0..=1.0).contains(&p)) || (sum - 1.0).abs() > PREDICTION_ROUNDING {
                return Err(Error::NotProbabilities { row, values: own().collect() });
            }
            probabilities.iter_mut().skip(row).step_by(self.rows).for_each(|p| *p /= sum);
        }
        self.prediction = Some(probabilities);
        Ok(self)
    }

    /// What another model says of each row, class by class, where there is one.
    pub fn prediction(&self) -> Option<&[f64]> {
        self.prediction.as_deref()
    }

    /// The same rows without the classes that are known.
    #[must_use]
    pub(crate) fn without_labels(self) -> Self {
        Self { labels: None, label_weights: None, ..self }
    }

    /// The class of a row, where it is known.
    pub fn label(&self, row: usize) -> Option<usize> {
        self.labels.as_ref().and_then(|labels| labels[row])
    }

    /// The same, with how many rows the label stands for.
    pub(crate) fn weighted_label(&self, row: usize) -> Option<(usize, f64)> {
        self.label(row).map(|class| (class, self.label_weights.as_ref().map_or(1.0, |weights| weights[row])))
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
            covariates: taken(&self.covariates),
            missing: keys(&self.missing),
            clusters: keys(&self.clusters),
            segments: keys(&self.segments),
            labels: self.labels.as_ref().map(|labels| rows.iter().map(|&row| labels[row]).collect()),
            label_weights: self.label_weights.as_ref().map(|weights| take_rows(self.rows, weights, rows)),
            prediction: self.prediction.as_ref().map(|of_all| take_rows(self.rows, of_all, rows)),
        }
    }

    /// The same rows with one view a group, given what of each row's missing views a group's missing follows from: scores are the
    /// sums of those of its views that are there.
    pub(super) fn joined<'g>(
        &self,
        groups: impl Iterator<Item = &'g Vec<usize>> + Clone,
        missing: impl Fn(u64) -> u64,
    ) -> Self {
        Self {
            rows: self.rows,
            scores: groups.clone().map(|views| self.sum(views)).collect(),
            covariates: match self.covariates.is_empty() {
                true => Vec::new(),
                false => groups.map(|views| self.joined_covariates(views)).collect(),
            },
            missing: self.missing.as_ref().map(|rows| rows.iter().map(|row| missing(*row)).collect()),
            clusters: self.clusters.clone(),
            segments: self.segments.clone(),
            labels: self.labels.clone(),
            label_weights: self.label_weights.clone(),
            prediction: self.prediction.clone(),
        }
    }

    /// The covariates of some views, one view after the other. Where a view is missing they are their own mean.
    pub(crate) fn joined_covariates(&self, views: &[usize]) -> Vec<f64> {
        let mut joined = Vec::new();
        for &view in views {
            let (means, missing, from) = (self.covariate_means(view), self.without(&[view]), joined.len());
            joined.extend_from_slice(self.covariates(view));
            for (column, mean) in joined[from..].chunks_exact_mut(self.rows.max(1)).zip(means) {
                missing.iter().for_each(|&row| column[row] = mean);
            }
        }
        joined
    }

    /// The means of a view's covariates over the rows in which it is there.
    pub(crate) fn covariate_means(&self, view: usize) -> Vec<f64> {
        let present = (self.rows - self.without(&[view]).len()).max(1) as f64;
        // In the other rows they are zero.
        let columns = self.covariates(view).chunks_exact(self.rows.max(1));
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

    /// How many rows have a view, and all that it says in those rows: its scores, class by class, then its covariates.
    pub(crate) fn present_inputs(&self, view: usize) -> (usize, Vec<f64>) {
        if self.missing.is_none() {
            return (self.rows, self.inputs(view).into_owned());
        }
        let rows = self.with(&[view]);
        (rows.len(), take_rows(self.rows, &self.inputs(view), &rows))
    }

    /// What some views are told from others by, in the rows that have any of them: their summed scores, or where these never
    /// change, as those of witnesses, with their covariates.
    pub(crate) fn present_evidence(&self, views: &[usize]) -> (usize, Vec<f64>) {
        let (present, mut said) = self.present_scores(views);
        if is_constant(present, &said) {
            said.extend(match self.missing {
                None => self.joined_covariates(views),
                Some(_) => take_rows(self.rows, &self.joined_covariates(views), &self.with(views)),
            });
        }
        (present, said)
    }

    /// All that a view says: its scores, class by class, then its covariates.
    pub(crate) fn inputs(&self, view: usize) -> Cow<'_, [f64]> {
        match self.covariates(view) {
            [] => Cow::Borrowed(self.view(view)),
            covariates => Cow::Owned([self.view(view), covariates].concat()),
        }
    }

    /// The same rows with the views alone that have scores; without covariates.
    pub(crate) fn scored(&self) -> Cow<'_, Self> {
        let says =
            |view: &usize| self.covariates(*view).is_empty() || !is_constant(self.rows, self.view(*view));
        let views: Vec<usize> = (0..self.views()).filter(says).collect();
        if views.len() == self.views() {
            return Cow::Borrowed(self);
        }
        let bits =
            |row: &u64| views.iter().enumerate().fold(0, |bits, (at, view)| bits | (row >> view & 1) << at);
        Cow::Owned(Self {
            scores: views.iter().map(|&view| self.scores[view].clone()).collect(),
            covariates: Vec::new(),
            missing: self.missing.as_ref().map(|rows| rows.iter().map(bits).collect()),
            ..self.clone()
        })
    }

    /// The same rows, in which all views but some say nothing.
    pub(crate) fn only(&self, views: &[usize]) -> Self {
        let silent = |(view, scores): (usize, &Vec<f64>)| match views.contains(&view) {
            true => scores.clone(),
            false => vec![0.0; scores.len()],
        };
        Self { scores: self.scores.iter().enumerate().map(silent).collect(), ..self.clone() }
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

    /// The covariates of a view, one column after the other.
    pub fn covariates(&self, view: usize) -> &[f64] {
        self.covariates.get(view).map_or(&[], Vec::as_slice)
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

/// Whether none of some columns ever changes.
pub(crate) fn is_constant(rows: usize, columns: &[f64]) -> bool {
    columns.chunks_exact(rows.max(1)).all(|column| column.iter().all(|cell| *cell == column[0]))
}

/// One bit a view.
pub(crate) fn bits(views: &[usize]) -> u64 {
    views.iter().fold(0, |bits, view| bits | 1 << view)
}

/// Some rows of columns of `n` numbers.
pub(crate) fn take_rows(n: usize, columns: &[f64], rows: &[usize]) -> Vec<f64> {
    columns.chunks_exact(n.max(1)).flat_map(|column| rows.iter().map(|&row| column[row])).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;

    fn batch() -> Batch {
        Batch::new(2, vec![vec![1.0, 2.0, 3.0, 4.0]; 3]).unwrap()
    }

    #[test]
    fn rows_and_columns_are_the_same_scores() {
        let scores: Vec<f64> = (0..24).map(f64::from).collect();
        let batch = Batch::from_rows(&scores, 4, 3).unwrap();
        assert_eq!((batch.rows(), batch.views(), batch.k()), (2, 4, 3));
        assert_eq!(batch.column(1, 2), [5.0, 17.0]);
        let single: Vec<f32> = (0..24).map(|score| score as f32).collect();
        assert_eq!(Batch::from_rows(&single, 4, 3).unwrap(), batch);
        assert_eq!(Batch::from_rows::<f64>(&[], 3, 2).unwrap().rows(), 0);
        let view =
            |view: usize| scores.chunks_exact(12).flat_map(move |row| row[3 * view..3 * view + 3].to_vec());
        let views: Vec<Vec<f64>> = (0..4).map(|at| view(at).collect()).collect();
        let views: Vec<&[f64]> = views.iter().map(Vec::as_slice).collect();
        assert_eq!(Batch::from_views(&views, 3).unwrap(), batch);
    }

    #[test]
    fn every_wrong_shape_is_refused() {
        let shape = |what, given, needed| Err(Error::Shape { what, given, needed });
        assert_eq!(Batch::new(2, vec![vec![0.0; 4]; 2]), shape("views", 2, 3));
        assert_eq!(Batch::new(2, vec![vec![0.0; 5]; 3]), shape("scores of a view", 5, 4));
        assert_eq!(Batch::new(0, vec![vec![0.0; 5]; 3]), shape("scores of a view", 5, 0));
        assert_eq!(
            Batch::new(2, [vec![0.0; 4], vec![0.0; 2], vec![0.0; 4]]),
            shape("scores of a view", 2, 4)
        );
        assert_eq!(Batch::from_rows(&[0.0; 13], 3, 2), shape("scores", 13, 12));
        assert_eq!(Batch::from_rows(&[0.0; 12], 0, 2), shape("scores a row", 0, 3));
        let views: [&[f64]; 3] = [&[0.0; 4], &[0.0; 4], &[0.0; 6]];
        assert_eq!(Batch::from_views(&views, 2), shape("scores of a view", 6, 4));
        assert_eq!(Batch::from_views(&views[..2], 2), shape("views", 2, 3));
        assert_eq!(Batch::from_views::<f64>(&[[0.0; 3].as_slice(); 3], 2), shape("scores of a view", 3, 2));
        assert!(Batch::from_views::<f64>(&[[0.0; 3].as_slice(); 3], 0).is_err());
        assert_eq!(batch().with_clusters(vec![1]), shape("cluster keys", 1, 2));
        assert_eq!(batch().with_segments(vec![1; 3]), shape("segment keys", 3, 2));
        assert_eq!(batch().with_missing(vec![0]), shape("rows that say which views they lack", 1, 2));
        assert_eq!(batch().with_missing(vec![0, 8]), shape("views that may be missing", 4, 3));
        assert_eq!(batch().with_covariates(vec![vec![]]), shape("lists of covariates", 1, 3));
        assert_eq!(batch().with_covariates(vec![vec![0.0]; 3]), shape("covariates of a view", 1, 0));
        assert_eq!(batch().with_labels(vec![None]), shape("labels", 1, 2));
        assert_eq!(
            batch().with_labels(vec![None, Some(2)]),
            Err(Error::LabelOutside { row: 1, class: 2, k: 2 })
        );
    }

    #[test]
    fn what_is_not_finite_is_named() {
        let mut scores = vec![vec![0.0; 4]; 3];
        scores[1][3] = f64::INFINITY;
        let refused = Batch::new(2, scores);
        assert_eq!(refused, Err(Error::NotFinite { row: 1, view: 1, class: 1, value: f64::INFINITY }));
        let refused = batch().with_covariates(vec![vec![], vec![0.0, f64::NEG_INFINITY], vec![]]);
        let value = f64::NEG_INFINITY;
        assert_eq!(refused, Err(Error::CovariateNotFinite { row: 1, view: 1, covariate: 0, value }));
    }
}
