//! Feature rows kept in memory as far as there is room, halves of them, and their scores.

use super::rows::{FeatureBatch, FeatureSchema, FeatureSource};
use crate::data::{Batch, Batches, Schema, Source};
use crate::error::Result;
use crate::numeric::hash;
use std::sync::Arc;

/// The most bytes of features that are kept in memory, twice, as they are and standardised; beyond, the source is read
/// again for every pass.
const MOST_BYTES: usize = 1 << 29;

/// Rows of kept batches without zeros are put together until there are so many: a pass sums each batch into numbers of its own, as many
/// as there are parameters, and readers give wide tables in batches of some dozens of rows.
const ROWS: usize = 1 << 13;

/// A source whose rows are kept in memory, unless they are too many.
pub(crate) struct Cached<'a, S> {
    source: &'a S,
    batches: Option<Vec<Arc<FeatureBatch>>>,
    /// How many features are not zero, or are held all the same.
    numbers: u64,
}

impl<'a, S: FeatureSource> Cached<'a, S> {
    /// Reads the source once.
    pub(crate) fn of(source: &'a S) -> Result<Self, S::Error> {
        Self::within(source, MOST_BYTES)
    }

    fn within(source: &'a S, most: usize) -> Result<Self, S::Error> {
        let (mut batches, mut bytes, mut numbers) = (Some(Vec::new()), 0, 0);
        for batch in source.batches()? {
            let batch = batch?;
            bytes += batch.bytes();
            numbers += batch.numbers();
            if bytes > most {
                batches = None;
            }
            if let Some(batches) = &mut batches {
                batches.push(batch);
            }
        }
        let batches = batches.map(joined).transpose()?;
        Ok(Self { source, batches, numbers })
    }

    /// How many features are not zero, or are held all the same.
    pub(crate) fn numbers(&self) -> u64 {
        self.numbers
    }

    /// Whether the rows were few enough to be kept.
    pub(crate) fn in_memory(&self) -> bool {
        self.batches.is_some()
    }
}

/// The same rows, with batches without zeros put together.
fn joined(batches: Vec<Arc<FeatureBatch>>) -> Result<Vec<Arc<FeatureBatch>>> {
    let (mut all, mut parts): (Vec<Arc<FeatureBatch>>, Vec<Arc<FeatureBatch>>) = (Vec::new(), Vec::new());
    let join = |parts: &mut Vec<Arc<FeatureBatch>>, all: &mut Vec<Arc<FeatureBatch>>| -> Result<()> {
        match parts.len() {
            0 | 1 => all.append(parts),
            _ => all.push(Arc::new(FeatureBatch::concatenate(&std::mem::take(parts))?)),
        }
        Ok(())
    };
    let mut rows = 0;
    for batch in batches {
        if rows + batch.rows() > ROWS || !batch.is_sparse() {
            join(&mut parts, &mut all)?;
            rows = 0;
        }
        if batch.is_sparse() {
            rows += batch.rows();
            parts.push(batch);
        } else {
            all.push(batch);
        }
    }
    join(&mut parts, &mut all)?;
    Ok(all)
}

impl<S: FeatureSource> Source for Cached<'_, S> {
    type Schema = FeatureSchema;
    type Batch = FeatureBatch;
    type Error = S::Error;

    fn schema(&self) -> &FeatureSchema {
        self.source.schema()
    }

    fn batches(&self) -> Result<Batches<'_, FeatureBatch, S::Error>, S::Error> {
        let again = match &self.batches {
            Some(_) => None,
            None => Some(self.source.batches()?),
        };
        let kept = self.batches.iter().flatten().cloned().map(Ok);
        Ok(Box::new(kept.chain(again.into_iter().flatten())))
    }
}

/// Half of a source's rows, by a hash of their position: in whatever order they lie, the halves are alike, and equally large.
pub(crate) struct Half<'a, S> {
    pub(crate) source: &'a S,
    pub(crate) half: u64,
}

impl<S: FeatureSource> Source for Half<'_, S> {
    type Schema = FeatureSchema;
    type Batch = FeatureBatch;
    type Error = S::Error;

    fn schema(&self) -> &FeatureSchema {
        self.source.schema()
    }

    fn batches(&self) -> Result<Batches<'_, FeatureBatch, S::Error>, S::Error> {
        let mut position = 0;
        let in_half = move |_: &FeatureBatch, _| {
            position += 1;
            half_of(position - 1) == self.half
        };
        Ok(chosen(self.source.batches()?, in_half))
    }
}

/// Some of the rows of batches: of one row after the other, by its place in its batch, it is asked whether it is one of them.
pub(crate) fn chosen<'a, E: 'a>(
    batches: Batches<'a, FeatureBatch, E>,
    mut is_chosen: impl FnMut(&FeatureBatch, usize) -> bool + 'a,
) -> Batches<'a, FeatureBatch, E> {
    Box::new(batches.map(move |batch| {
        let batch = batch?;
        let rows: Vec<usize> = (0..batch.rows()).filter(|&row| is_chosen(&batch, row)).collect();
        Ok(Arc::new(batch.select(&rows)))
    }))
}

/// The half that a row belongs to: of every two rows in a row each half has one. Samples are drawn by the lowest bits of the
/// hash, so that it is the highest here.
fn half_of(position: u64) -> u64 {
    (hash(position / 2) >> 63) ^ (position % 2)
}

/// The scores of a source's rows.
pub(crate) struct Scored<'a, S, F> {
    pub(crate) source: &'a S,
    /// What a model says of some rows.
    pub(crate) scores: F,
    pub(crate) schema: Schema,
}

impl<S: FeatureSource, F: Fn(&FeatureBatch) -> Result<Batch>> Source for Scored<'_, S, F> {
    type Schema = Schema;
    type Batch = Batch;
    type Error = S::Error;

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn batches(&self) -> Result<Batches<'_, Batch, S::Error>, S::Error> {
        let mut before = 0;
        let scores = move |batch: Result<Arc<FeatureBatch>, S::Error>| {
            let batch = batch?;
            let scores = (self.scores)(&batch).map_err(|error| error.after(before))?;
            before += batch.rows();
            Ok(Arc::new(scores))
        };
        Ok(Box::new(self.source.batches()?.map(scores)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::InMemory;

    /// Batches of rows that are told by their only feature, the same in each view.
    fn numbered(sizes: &[usize]) -> InMemory<FeatureSchema, FeatureBatch> {
        let schema = FeatureSchema::new(["a", "b", "c"].map(|v| (v.into(), vec!["n".into()])).to_vec());
        let mut next = 0;
        let batches = sizes.iter().map(|&rows| {
            let column: Vec<f32> = (next..next + rows).map(|n| n as f32).collect();
            next += rows;
            FeatureBatch::new(rows, vec![1; 3], vec![column; 3]).expect("finite")
        });
        InMemory::new(schema.expect("a schema"), batches.collect::<Vec<_>>())
    }

    fn numbers<S: FeatureSource>(source: &S) -> Vec<f32>
    where
        S::Error: std::fmt::Debug,
    {
        let batches = source.batches().expect("batches");
        batches.flat_map(|batch| batch.expect("a batch").view(1).to_vec()).collect()
    }

    #[test]
    fn halves_are_apart_and_together_all_rows_however_they_are_batched() {
        let (one, many) = (numbered(&[1000]), numbered(&[1, 400, 599]));
        let mut all = Vec::new();
        for half in [0, 1] {
            let rows = numbers(&Half { source: &one, half });
            assert_eq!(rows, numbers(&Half { source: &many, half }));
            assert_eq!(rows.len(), 500);
            // As good as random: of the first row of each pair, about half; 250 with a standard error of 11.
            let first = rows.iter().filter(|row| **row % 2.0 == 0.0).count();
            assert!((200..300).contains(&first), "{first}");
            all.extend(rows);
        }
        all.sort_by(f32::total_cmp);
        assert_eq!(all, numbers(&one));
    }

    #[test]
    fn what_does_not_fit_is_read_again() {
        let source = numbered(&[10, 10]);
        let (kept, streamed) =
            (Cached::of(&source).expect("rows"), Cached::within(&source, 150).expect("rows"));
        assert!(kept.in_memory() && !streamed.in_memory());
        assert_eq!(numbers(&kept), numbers(&streamed));
    }
}
