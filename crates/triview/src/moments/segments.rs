//! Sums of each segment apart, in one reading of the rows.

use super::accumulate::Accumulator;
use super::moments::Moments;
use super::plan::Plan;
use crate::data::{Batch, Batches, Schema, ScoreSource, Source, block_count};
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// The most segments that are summed apart.
pub const MOST_SEGMENTS: usize = 5000;
/// The most memory, in bytes, that all of their moments may take: some three megabytes each for ten classes, once every block has rows.
const MOST_MEMORY: usize = 2 << 30;
/// The most memory that the moments of a part of the segments may take, where each part is a reading of its own, and the most parts.
const PART_MEMORY: usize = 512 << 20;
const MOST_PARTS: usize = 16;

/// How many segments of which each block has sums of this length there is so much memory for.
fn room(memory: usize, length: usize, states: usize) -> usize {
    (memory / (8 * length * block_count(states))).max(1)
}

/// A source whose segments are counted while it is read for something else, so that too many of them are refused before any is
/// summed: as soon as the first of those too many is seen, or once it is known what will be summed.
pub struct CountedSegments<'a, S> {
    source: &'a S,
    seen: Mutex<Seen>,
}

/// The keys of segments, in the order of their first rows.
#[derive(Default)]
struct Seen {
    keys: Vec<u64>,
    known: HashSet<u64>,
}

impl<'a, S: ScoreSource> CountedSegments<'a, S> {
    /// Counts the segments of a source.
    pub fn of(source: &'a S) -> Self {
        Self { source, seen: Mutex::default() }
    }

    /// The keys of the segments that were read, in the order of their first rows, in parts whose sums there is memory for at once.
    ///
    /// # Errors
    /// [`Error::TooManySegments`] for more than some readings can sum, and those of [`Plan::accumulator`].
    pub fn parts(&self, plan: &Plan) -> Result<Vec<Vec<u64>>> {
        let at_once = room(PART_MEMORY, plan.layout()?.len, plan.states());
        let most = (at_once * MOST_PARTS).min(MOST_SEGMENTS);
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.keys.len() > most {
            return Err(Error::TooManySegments { most });
        }
        Ok(seen.keys.chunks(at_once).map(<[u64]>::to_vec).collect())
    }

    fn count(&self, batch: &Batch) -> Result<()> {
        // The third moment alone; what else is summed is known once there is a plan.
        let at_once = room(PART_MEMORY, batch.k().max(1).pow(3), batch.k());
        let most = (at_once * MOST_PARTS).min(MOST_SEGMENTS);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last = None;
        for &key in batch.segments().unwrap_or_default() {
            if last.replace(key) == Some(key) || !seen.known.insert(key) {
                continue;
            }
            if seen.keys.len() == most {
                return Err(Error::TooManySegments { most });
            }
            seen.keys.push(key);
        }
        Ok(())
    }
}

impl<S: ScoreSource> Source for CountedSegments<'_, S> {
    type Schema = Schema;
    type Batch = Batch;
    type Error = S::Error;

    fn schema(&self) -> &Schema {
        self.source.schema()
    }

    fn batches(&self) -> Result<Batches<'_, Batch, S::Error>, S::Error> {
        Ok(Box::new(self.source.batches()?.map(|batch| {
            let batch = batch?;
            self.count(&batch)?;
            Ok(batch)
        })))
    }
}

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
    /// All rows, where these are wanted too.
    whole: Option<Accumulator>,
    /// How many segments there may be.
    most: usize,
    /// Whether rows of other segments than those that were begun are passed over.
    settled: bool,
    /// Where each key's sums are.
    places: HashMap<u64, usize>,
    /// Key and sums of each segment, in the order of their first rows.
    segments: Vec<(u64, Accumulator)>,
    /// Rows that were given, whether or not they are of a segment.
    seen: u64,
}

impl SegmentedAccumulator {
    /// Empty sums, for each segment to come, of what the plan says.
    ///
    /// # Errors
    /// Those of [`Plan::accumulator`].
    pub fn new(plan: Plan) -> Result<Self> {
        let most = room(MOST_MEMORY, plan.layout()?.len, plan.states()).min(MOST_SEGMENTS);
        let whole = Some(plan.accumulator()?);
        Ok(Self { plan, whole, most, settled: false, places: HashMap::new(), segments: Vec::new(), seen: 0 })
    }

    /// The same without the sums of all rows.
    ///
    /// # Errors
    /// Those of [`Plan::accumulator`].
    pub fn apart(plan: Plan) -> Result<Self> {
        Ok(Self { whole: None, ..Self::new(plan)? })
    }

    /// The same for these segments alone, rows of others being passed over; with the sums of all rows or without.
    ///
    /// # Errors
    /// Those of [`SegmentedAccumulator::begin`].
    pub fn of_part(plan: Plan, keys: &[u64], whole: bool) -> Result<Self> {
        let mut sums = if whole { Self::new(plan)? } else { Self::apart(plan)? };
        keys.iter().try_for_each(|key| sums.begin(*key, 0))?;
        Ok(Self { settled: true, ..sums })
    }

    /// Whether there are sums of a segment.
    pub fn has(&self, key: u64) -> bool {
        self.places.contains_key(&key)
    }

    /// Begins the sums of a segment of which so many rows have been summed elsewhere.
    ///
    /// # Errors
    /// Those of [`SegmentedAccumulator::update`].
    pub fn begin(&mut self, key: u64, rows: u64) -> Result<()> {
        let place = self.segments.len();
        if place == self.most {
            return Err(Error::TooManySegments { most: self.most });
        }
        self.segments.push((key, self.plan.accumulator()?.starting_at(rows)));
        self.places.insert(key, place);
        Ok(())
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
        let mut last = None;
        for (row, &key) in keys.iter().enumerate() {
            // Rows of one segment mostly lie together.
            let place = match last {
                Some((known, place)) if known == key => place,
                _ => self.place(key)?,
            };
            last = Some((key, place));
            let Some(place) = place else { continue };
            if place == rows_of.len() {
                rows_of.push(Vec::new());
            }
            rows_of[place].push(row);
        }
        if let Some(whole) = &mut self.whole {
            whole.update(batch)?;
        }
        let seen = self.seen;
        self.seen += batch.rows() as u64;
        let filled = self.segments.par_iter_mut().zip(rows_of).filter(|(_, rows)| !rows.is_empty());
        filled.try_for_each(|((_, sums), rows)| {
            let before = sums.position();
            let added = match rows.len() {
                all if all == batch.rows() => sums.update(batch),
                _ => sums.update(&batch.select(&rows)),
            };
            // A person looks for a row among all, not among those of its segment.
            added.map_err(|error| error.with_row(|row| seen + rows[(row - before) as usize] as u64))
        })
    }

    /// Where a segment's sums are, if it has any; a new one's come after the others'.
    fn place(&mut self, key: u64) -> Result<Option<usize>> {
        if let Some(&place) = self.places.get(&key) {
            return Ok(Some(place));
        }
        if self.settled {
            return Ok(None);
        }
        self.begin(key, 0)?;
        Ok(Some(self.segments.len() - 1))
    }

    /// The finished moments.
    ///
    /// # Errors
    /// [`Error::Overflow`]; [`Error::InvalidMoments`] where all rows were not summed.
    pub fn finish(mut self) -> Result<Segments> {
        let whole = self.whole.take();
        let whole =
            whole.ok_or_else(|| Error::InvalidMoments { reason: "its rows were summed apart".into() })?;
        Ok(Segments { whole: whole.finish()?, segments: self.finish_apart()? })
    }

    /// The finished moments of each segment, with its key, in the order of the segments' first rows.
    ///
    /// # Errors
    /// [`Error::Overflow`].
    pub fn finish_apart(self) -> Result<Vec<(u64, Moments)>> {
        self.segments.into_iter().map(|(key, sums)| Ok((key, sums.finish()?))).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;
    use crate::data::{InMemory, Sample};
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
    fn parts_of_the_segments_have_the_sums_that_all_have() {
        let keyed = |from: usize| {
            batch(from, 1000).with_segments((from..from + 1000).map(|row| row as u64 % 7).collect())
        };
        let summed = |mut sums: SegmentedAccumulator| {
            (0..3000).step_by(1000).for_each(|from| sums.update(&keyed(from).unwrap()).unwrap());
            sums
        };
        let all = summed(SegmentedAccumulator::new(plan()).unwrap()).finish().unwrap();
        let [first, second] = [(&[0, 1, 2, 3][..], true), (&[4, 5, 6], false)]
            .map(|(keys, whole)| summed(SegmentedAccumulator::of_part(plan(), keys, whole).unwrap()));
        let first = first.finish().unwrap();
        assert!(first.whole == all.whole);
        assert!([first.segments, second.finish_apart().unwrap()].concat() == all.segments);
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
    fn too_many_segments_are_refused_before_any_is_summed() {
        let most = MOST_SEGMENTS as u64;
        let source = |keys: Vec<Vec<u64>>| {
            let batches = keys.into_iter().map(|keys| batch(0, keys.len()).with_segments(keys).unwrap());
            InMemory::new(Schema::numbered(3, 2).unwrap(), batches.collect::<Vec<_>>())
        };
        let (first, again) = ((0..most).collect::<Vec<u64>>(), vec![0, most - 1]);
        let just = source(vec![first.clone(), again.clone()]);
        let counted = CountedSegments::of(&just);
        assert_eq!(Sample::of(&counted).unwrap().seen(), most + 2);
        assert_eq!(counted.parts(&plan()).unwrap().concat(), (0..most).collect::<Vec<u64>>());
        // A block of three classes has some two thousand sums.
        assert_eq!(room(PART_MEMORY, 2048, 3), 512);
        let many = source(vec![first, again, vec![most]]);
        let refused = Sample::of(&CountedSegments::of(&many)).map(|sample| sample.seen());
        assert_eq!(refused, Err(Error::TooManySegments { most: MOST_SEGMENTS }));
        // Memory is what counts where there are many classes: of eighty some sixty.
        let names = |count: usize| (0..count).map(|name| name.to_string()).collect();
        let schema = Schema::new(names(3), names(80)).unwrap();
        let rows = Batch::new(200, [0, 1, 2].map(|_| vec![0.5; 200 * 80])).unwrap();
        let many = InMemory::new(schema, [rows.with_segments((0..200).collect()).unwrap()]);
        let refused = Sample::of(&CountedSegments::of(&many)).map(|sample| sample.seen());
        assert!(matches!(refused, Err(Error::TooManySegments { most: 10..100 })), "{refused:?}");
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
