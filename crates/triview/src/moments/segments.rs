//! Sums of each segment apart, in one reading of the rows.

use super::accumulate::Accumulator;
use super::moments::Moments;
use super::plan::Plan;
use crate::data::{Batch, block_count};
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::collections::HashMap;

/// The most segments that are summed apart.
pub const MOST_SEGMENTS: usize = 1000;
/// The most memory, in bytes, that all of their moments may take: some three megabytes each for ten classes, once every block has rows.
const MOST_MEMORY: usize = 2 << 30;

/// Moments of all rows and of each segment.
#[derive(Debug, Clone, PartialEq)]
pub struct Segments {
    /// Of all rows.
    pub whole: Moments,
    /// Of each segment with its key, in the order of the segments' first rows.
    pub segments: Vec<(u64, Moments)>,
}

/// Sums moments over batches, each segment's rows on their own.
///
/// Rows are dealt to blocks by their position within their segment, so that a segment which comes round with a
/// period still fills every block. All rows are also summed as one, dealt by their position among all: merged segments
/// would make blocks of the same mix of segments each, and hide what varies with the mix.
pub struct SegmentedAccumulator {
    plan: Plan,
    /// All rows.
    whole: Accumulator,
    /// How many segments there may be.
    most: usize,
    /// Where each key's sums are.
    places: HashMap<u64, usize>,
    /// Key and sums of each segment, in the order of their first rows.
    segments: Vec<(u64, Accumulator)>,
}

impl SegmentedAccumulator {
    /// Empty sums, for each segment to come, of what the plan says.
    ///
    /// # Errors
    /// Those of [`Plan::accumulator`].
    pub fn new(plan: Plan) -> Result<Self> {
        let (length, blocks) = (plan.layout()?.len, block_count(plan.states()));
        let most = (MOST_MEMORY / (8 * length * blocks)).clamp(1, MOST_SEGMENTS);
        let whole = plan.accumulator()?;
        Ok(Self { plan, whole, most, places: HashMap::new(), segments: Vec::new() })
    }

    /// Adds the rows of a batch, each to its segment. Any number of threads gives the same bits.
    ///
    /// # Errors
    /// [`Error::TooManySegments`] when there are more so far than [`MOST_SEGMENTS`], or than memory
    /// allows for so many classes; [`Error::Shape`] for a batch with rows but no segments, or with another number of classes than the
    /// plan; [`Error::LossNotFinite`].
    pub fn update(&mut self, batch: &Batch) -> Result<()> {
        if batch.rows() == 0 {
            return Ok(());
        }
        let Some(keys) = batch.segments() else {
            return Err(Error::Shape { what: "segment keys", given: 0, needed: batch.rows() });
        };
        let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); self.segments.len()];
        for (row, &key) in keys.iter().enumerate() {
            let place = self.place(key)?;
            if place == rows_of.len() {
                rows_of.push(Vec::new());
            }
            rows_of[place].push(row);
        }
        self.whole.update(batch)?;
        self.segments.par_iter_mut().zip(rows_of).try_for_each(|((_, sums), rows)| match rows.len() {
            0 => Ok(()),
            all if all == batch.rows() => sums.update(batch),
            _ => sums.update(&batch.select(&rows)),
        })
    }

    /// Where a segment's sums are; a new one's come after the others'.
    fn place(&mut self, key: u64) -> Result<usize> {
        if let Some(&place) = self.places.get(&key) {
            return Ok(place);
        }
        let place = self.segments.len();
        if place == self.most {
            return Err(Error::TooManySegments { most: self.most });
        }
        self.segments.push((key, self.plan.accumulator()?));
        self.places.insert(key, place);
        Ok(place)
    }

    /// The finished moments.
    ///
    /// # Errors
    /// [`Error::Overflow`].
    pub fn finish(self) -> Result<Segments> {
        let segments = self.segments.into_iter().map(|(key, sums)| Ok((key, sums.finish()?)));
        Ok(Segments { whole: self.whole.finish()?, segments: segments.collect::<Result<_>>()? })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;
    use crate::moments::tests::plan;

    /// Rows that differ, `from` the first on.
    fn batch(from: usize, rows: usize) -> Batch {
        let score = |i: usize, view: usize| ((i * 7 + view * 3) % 11) as f64 - 5.0;
        let column = |view, class| (from..from + rows).map(move |row| score(row * 2 + class, view));
        Batch::new(rows, [0, 1, 2].map(|v| (0..2).flat_map(|c| column(v, c)).collect())).unwrap()
    }

    fn alone(batches: &[Batch]) -> Moments {
        let mut sums = plan().accumulator().unwrap();
        batches.iter().for_each(|batch| sums.update(batch).unwrap());
        sums.finish().unwrap()
    }

    #[test]
    fn a_segment_has_the_sums_of_its_rows_alone() {
        // The third batch brings a segment that the others have not, and the last is of one segment only.
        let keys = |row: usize| [[9, 4, 9], [4, 9, 9], [7, 4, 7], [4, 4, 4]][row / 1000][row % 3];
        let clusters = |row: usize| row as u64 / 5;
        for clustered in [false, true] {
            let part = |rows: &[usize], batch: &Batch| {
                let scores = [0, 1, 2].map(|v| {
                    (0..2)
                        .flat_map(|class| rows.iter().map(move |&row| batch.column(v, class)[row]))
                        .collect()
                });
                Batch::new(rows.len(), scores).unwrap()
            };
            let mut sums = SegmentedAccumulator::new(plan()).unwrap();
            let mut alike: Vec<(u64, Vec<Batch>)> = vec![(9, vec![]), (4, vec![]), (7, vec![])];
            for from in (0..4000).step_by(1000) {
                let whole = batch(from, 1000);
                for (key, batches) in &mut alike {
                    let rows: Vec<usize> = (0..1000).filter(|row| keys(from + row) == *key).collect();
                    let groups = rows.iter().map(|row| clusters(from + row)).collect();
                    let part = part(&rows, &whole);
                    batches.push(if clustered { part.with_clusters(groups).unwrap() } else { part });
                }
                let whole = whole.with_segments((from..from + 1000).map(keys).collect()).unwrap();
                let groups = (from..from + 1000).map(clusters).collect();
                sums.update(&if clustered { whole.with_clusters(groups).unwrap() } else { whole }).unwrap();
            }
            let expected: Vec<(u64, Moments)> =
                alike.iter().map(|(key, batches)| (*key, alone(batches))).collect();
            assert!(sums.finish().unwrap().segments == expected, "clustered: {clustered}");
        }
    }

    #[test]
    fn a_segment_with_a_period_fills_every_block() {
        // As long as a round of the blocks: by position in the whole, every row of a segment were in one block.
        let period = 8 * 64;
        let mut sums = SegmentedAccumulator::new(plan()).unwrap();
        for from in (0..100 * period).step_by(10 * period) {
            let keys = (from..from + 10 * period).map(|row| (row % period / 8) as u64).collect();
            sums.update(&batch(from, 10 * period).with_segments(keys).unwrap()).unwrap();
        }
        let states = sums.finish().unwrap().segments;
        assert_eq!(states.iter().map(|(key, _)| *key).collect::<Vec<_>>(), (0..64).collect::<Vec<_>>());
        for (key, moments) in states {
            assert_eq!(moments.rows(), 800);
            assert_eq!(moments.blocks(), [64, 64]);
            assert!(moments.filled().iter().all(|(rows, _)| *rows >= 8.0), "segment {key}");
        }
    }

    #[test]
    fn too_many_segments_are_refused() {
        let most = MOST_SEGMENTS as u64;
        let mut sums = SegmentedAccumulator::new(plan()).unwrap();
        sums.update(&batch(0, MOST_SEGMENTS).with_segments((0..most).collect()).unwrap()).unwrap();
        sums.update(&batch(0, 2).with_segments(vec![0, most - 1]).unwrap()).unwrap();
        let refused = sums.update(&batch(0, 2).with_segments(vec![0, most]).unwrap());
        assert_eq!(refused, Err(Error::TooManySegments { most: MOST_SEGMENTS }));
    }

    #[test]
    fn no_rows_have_no_segments() {
        let mut sums = SegmentedAccumulator::new(plan()).unwrap();
        sums.update(&Batch::new(0, [vec![], vec![], vec![]]).unwrap()).unwrap();
        assert!(sums.finish().unwrap().segments.is_empty());
    }

    #[test]
    fn rows_without_segments_are_refused() {
        let refused = SegmentedAccumulator::new(plan()).unwrap().update(&batch(0, 3));
        assert_eq!(refused, Err(Error::Shape { what: "segment keys", given: 0, needed: 3 }));
    }
}
