//! Where batches come from.

use super::{Batch, Schema};
use crate::error::{Error, Result};
use std::sync::Arc;

/// Something that can be read from its beginning more than once, batch by batch.
///
/// The batches are of scores ([`ScoreSource`]), or of what else is summed over rows: a model's input features, or sequences. A
/// source can be used through `&dyn Source<Schema = .., Batch = .., Error = ..>`.
pub trait Source {
    /// What the columns mean.
    type Schema;
    /// Some rows.
    type Batch;
    /// What reading may fail with.
    type Error: From<Error>;

    /// What the columns mean.
    fn schema(&self) -> &Self::Schema;

    /// Reads all rows from the first on. Batches of some ten thousand rows suit the kernels best; their
    /// order and sizes must be the same in every reading.
    ///
    /// # Errors
    /// Whatever keeps the source from being opened again.
    fn batches(&self) -> Result<Batches<'_, Self::Batch, Self::Error>, Self::Error>;
}

/// One reading of a [`Source`].
pub type Batches<'a, B, E> = Box<dyn Iterator<Item = Result<Arc<B>, E>> + 'a>;

/// A source of scores.
pub trait ScoreSource: Source<Schema = Schema, Batch = Batch> {}

impl<S: Source<Schema = Schema, Batch = Batch> + ?Sized> ScoreSource for S {}

/// Batches that are in memory already. They are read, not copied.
#[derive(Debug, Clone)]
pub struct InMemory<S = Schema, B = Batch> {
    schema: S,
    batches: Vec<Arc<B>>,
}

impl<S, B> InMemory<S, B> {
    /// A source over these batches.
    pub fn new(schema: S, batches: impl IntoIterator<Item = B>) -> Self {
        Self { schema, batches: batches.into_iter().map(Arc::new).collect() }
    }
}

impl<S, B> Source for InMemory<S, B> {
    type Schema = S;
    type Batch = B;
    type Error = Error;

    fn schema(&self) -> &S {
        &self.schema
    }

    fn batches(&self) -> Result<Batches<'_, B, Error>> {
        Ok(Box::new(self.batches.iter().cloned().map(Ok)))
    }
}

/// How many rows of so many numbers each a batch should have: batches of 16,384 rows up to three views of 64 classes, fewer beyond.
/// Sources that cut the same rows into the same batches give the same bits.
pub fn rows_a_batch(width: usize) -> usize {
    ((3 << 20) / width.max(1)).clamp(16, 16_384)
}

/// Scores that lie in memory as one array, row by row, then view by view, then class by class. They are read where they lie, some
/// thousand rows at a time.
///
/// ```
/// use triview::data::{Rows, Schema, Source};
///
/// let scores = vec![0.25_f32; 5 * 3 * 2];
/// let source = Rows::new(Schema::numbered(3, 2)?, &scores)?;
/// let rows: usize = source.batches()?.map(|batch| batch.map_or(0, |batch| batch.rows())).sum();
/// assert_eq!(rows, 5);
/// # Ok::<(), triview::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rows<'a, T> {
    schema: Schema,
    scores: &'a [T],
}

impl<'a, T: Copy + Into<f64>> Rows<'a, T> {
    /// A source over these scores.
    ///
    /// # Errors
    /// [`Error::Shape`] for scores that are not those of whole rows.
    pub fn new(schema: Schema, scores: &'a [T]) -> Result<Self> {
        let width = schema.views().len() * schema.k();
        super::schema::expect("scores", scores.len(), scores.len() / width * width)?;
        Ok(Self { schema, scores })
    }
}

impl<T: Copy + Into<f64>> Source for Rows<'_, T> {
    type Schema = Schema;
    type Batch = Batch;
    type Error = Error;

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn batches(&self) -> Result<Batches<'_, Batch, Error>> {
        let (views, k) = (self.schema.views().len(), self.schema.k());
        let rows = rows_a_batch(views * k);
        let batch = move |(at, scores): (usize, &[T])| {
            Batch::from_rows(scores, views, k).map(Arc::new).map_err(|error| error.after(at * rows))
        };
        Ok(Box::new(self.scores.chunks(rows * views * k).enumerate().map(batch)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;

    #[test]
    fn a_source_can_be_used_through_a_pointer() {
        let batch = Batch::new(2, vec![vec![0.0; 4]; 3]).unwrap();
        let source = InMemory::new(Schema::numbered(3, 2).unwrap(), [batch.clone(), batch]);
        let pointer: &dyn Source<Schema = Schema, Batch = Batch, Error = Error> = &source;
        assert_eq!(pointer.batches().unwrap().count(), 2);
        // Not a copy of the rows, but the rows.
        let first = || source.batches().unwrap().next().unwrap().unwrap();
        assert!(Arc::ptr_eq(&first(), &first()));
    }

    #[test]
    fn rows_are_counted_over_all_of_an_array() {
        let rows = rows_a_batch(6);
        let mut scores = vec![0.0_f32; (rows + 3) * 6];
        scores[(rows + 1) * 6 + 5] = f32::NAN;
        let schema = Schema::numbered(3, 2).unwrap();
        assert!(Rows::new(schema.clone(), &scores[1..]).is_err());
        let source = Rows::new(schema, &scores).unwrap();
        let error = source.batches().unwrap().find_map(Result::err).unwrap();
        let Error::NotFinite { row, view, class, .. } = error else { panic!("{error}") };
        assert_eq!([row, view, class], [rows + 1, 2, 1]);
    }
}
