//! Some of a period's rows, for what moments cannot tell: the error rate, and what labels say.

use crate::data::{Batch, Schema};
use crate::error::{Error, Result};
use crate::numeric::{checksum, hash};
use std::collections::{HashMap, HashSet};

/// The most rows that are kept: as many as a period of some thousand has, and enough for an error rate known to half a per cent.
const MOST_ROWS: usize = 5_000;
/// Rows are taken to be there again where so many times more of them have the numbers of others' rows than of their own's.
const AGAIN: usize = 10;
/// What the bytes begin with.
const MAGIC: &[u8; 8] = b"triviewR";

/// An even sample of rows, each drawn by a hash of its file and its place: in whatever order files are added, the same rows are kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KeptRows {
    /// Ascending by their hash.
    rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq)]
struct Row {
    hash: u64,
    label: Option<usize>,
    missing: u64,
    cluster: Option<u64>,
    /// Scores, view by view, then covariates.
    numbers: Vec<f64>,
}

impl KeptRows {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Offers rows of a batch, each with the number that tells it from all others of its file.
    pub fn offer(&mut self, batch: &Batch, file: u64, rows: impl Iterator<Item = (usize, u64)>) {
        let (mut largest, before) = (self.largest(), self.rows.len());
        for (row, place) in rows {
            let hash = hash(file ^ hash(place));
            if hash >= largest {
                continue;
            }
            let scores =
                (0..batch.views()).flat_map(|v| (0..batch.k()).map(move |class| batch.column(v, class)[row]));
            let covariates = (0..batch.views())
                .flat_map(|v| batch.covariates(v).iter().skip(row).step_by(batch.rows()).copied());
            self.rows.push(Row {
                hash,
                label: batch.label(row),
                missing: batch.missing().map_or(0, |missing| missing[row]),
                cluster: batch.clusters().map(|clusters| clusters[row]),
                numbers: scores.chain(covariates).collect(),
            });
            if self.rows.len() >= 2 * MOST_ROWS {
                self.settle();
                largest = self.largest();
            }
        }
        if self.rows.len() > before {
            self.settle();
        }
    }

    /// The hash from which on a row is not kept.
    fn largest(&self) -> u64 {
        if self.rows.len() < MOST_ROWS { u64::MAX } else { self.rows[MOST_ROWS - 1].hash }
    }

    fn settle(&mut self) {
        // A row that is told again, now with its label, is still one row.
        self.rows.sort_by_key(|row| (row.hash, row.label.is_none()));
        self.rows.dedup_by_key(|row| row.hash);
        self.rows.truncate(MOST_ROWS);
    }

    /// Adds those of another sample of other rows.
    pub fn merge(&mut self, other: KeptRows) {
        self.rows.extend(other.rows);
        self.settle();
    }

    /// How many rows of another sample are rows of this one again: those with the very numbers of one, where that is more than chance and
    /// coarse scores explain, by how many rows of either sample have the numbers of another of their own. None where rows are of clusters,
    /// for these are looked at again and again.
    pub fn again_in(&self, other: &KeptRows) -> usize {
        let numbers = |row: &Row| row.numbers.iter().map(|number| number.to_bits()).collect::<Vec<u64>>();
        if self.rows.iter().chain(&other.rows).any(|row| row.cluster.is_some()) {
            return 0;
        }
        let mut known: HashMap<Vec<u64>, usize> = HashMap::with_capacity(self.len());
        for row in self.rows.iter().map(numbers) {
            *known.entry(row).or_default() += 1;
        }
        let mut own = HashSet::with_capacity(other.len());
        let (mut again, mut alike) = (0, 0);
        for row in other.rows.iter().map(numbers) {
            again += usize::from(known.contains_key(&row));
            alike += usize::from(!own.insert(row));
        }
        // A row that has nothing to do with these has the numbers of one as often as one of these has those of another.
        let shared: usize = known.values().filter(|count| **count > 1).sum();
        let by_chance = (other.len() * shared).div_ceil(self.len().max(1)).max(alike);
        if again > AGAIN * (by_chance + 1) { again } else { 0 }
    }

    /// As a batch of the schema's rows; nothing where there are none.
    ///
    /// # Errors
    /// [`Error::InvalidMoments`] for rows that are of another schema.
    pub(crate) fn batch(&self, schema: &Schema) -> Result<Option<Batch>> {
        let (n, views, k) = (self.rows.len(), schema.views().len(), schema.k());
        if n == 0 {
            return Ok(None);
        }
        let covariates: Vec<usize> = (0..views).map(|view| schema.covariates(view).len()).collect();
        let width = views * k + covariates.iter().sum::<usize>();
        if self.rows.iter().any(|row| row.numbers.len() != width) {
            return Err(Error::InvalidMoments { reason: "its rows are of other views or classes".into() });
        }
        let columns = |from: usize, count: usize| -> Vec<f64> {
            (from..from + count).flat_map(|at| self.rows.iter().map(move |row| row.numbers[at])).collect()
        };
        let scores: Vec<Vec<f64>> = (0..views).map(|view| columns(view * k, k)).collect();
        let mut from = views * k;
        let of_view = covariates.iter().map(|count| {
            from += count;
            columns(from - count, *count)
        });
        let of_view: Vec<Vec<f64>> = of_view.collect();
        let missing = self.rows.iter().map(|row| row.missing).collect();
        let mut batch = Batch::new(n, scores)?.with_missing(missing)?.with_covariates(of_view)?;
        if self.rows.iter().any(|row| row.label.is_some()) {
            batch = batch.with_labels(self.rows.iter().map(|row| row.label).collect())?;
        }
        match self.rows.iter().map(|row| row.cluster).collect::<Option<Vec<u64>>>() {
            Some(clusters) => Ok(Some(batch.with_clusters(clusters)?)),
            None => Ok(Some(batch)),
        }
    }

    /// As bytes, the same on every machine.
    pub fn to_bytes(&self) -> Vec<u8> {
        let width = self.rows.first().map_or(0, |row| row.numbers.len());
        let mut bytes = MAGIC.to_vec();
        let mut put = |number: u64| bytes.extend(number.to_le_bytes());
        put(self.rows.len() as u64);
        put(width as u64);
        for row in &self.rows {
            put(row.hash);
            put(row.label.map_or(0, |label| label as u64 + 1));
            put(row.missing);
            put(u64::from(row.cluster.is_some()));
            put(row.cluster.unwrap_or(0));
            row.numbers.iter().for_each(|number| put(number.to_bits()));
        }
        let sum = checksum([bytes.as_slice()]);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    /// From the bytes that [`KeptRows::to_bytes`] made.
    ///
    /// # Errors
    /// [`Error::InvalidMoments`] for any others.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let damaged = || Error::InvalidMoments { reason: "its kept rows are damaged".into() };
        let (body, sum) = bytes.split_last_chunk::<8>().ok_or_else(damaged)?;
        let numbers = body.strip_prefix(MAGIC.as_slice()).ok_or_else(damaged)?;
        if checksum([body]) != u64::from_le_bytes(*sum) || numbers.len() % 8 != 0 {
            return Err(damaged());
        }
        let (numbers, _) = numbers.as_chunks::<8>();
        let numbers: Vec<u64> = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let [count, width, cells @ ..] = numbers.as_slice() else { return Err(damaged()) };
        let each = usize::try_from(*width).ok().and_then(|width| width.checked_add(5)).ok_or_else(damaged)?;
        if cells.len() % each != 0 || (cells.len() / each) as u64 != *count {
            return Err(damaged());
        }
        let row = |cells: &[u64]| Row {
            hash: cells[0],
            label: cells[1].checked_sub(1).map(|label| label as usize),
            missing: cells[2],
            cluster: (cells[3] == 1).then_some(cells[4]),
            numbers: cells[5..].iter().map(|bits| f64::from_bits(*bits)).collect(),
        };
        Ok(Self { rows: cells.chunks_exact(each).map(row).collect() })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;

    fn batch(rows: usize, shift: f64) -> Batch {
        let scores = [0, 1, 2].map(|v| (0..2 * rows).map(|at| shift + (at * (v + 1)) as f64).collect());
        Batch::new(rows, scores)
            .unwrap()
            .with_labels((0..rows).map(|row| (row % 3 == 0).then_some(1)).collect())
            .unwrap()
    }

    fn offered(order: &[u64], rows: usize) -> KeptRows {
        let mut kept = KeptRows::default();
        for &file in order {
            kept.offer(&batch(rows, file as f64), file, (0..rows).map(|row| (row, row as u64)));
        }
        kept
    }

    #[test]
    fn the_same_rows_are_kept_in_any_order() {
        let kept = offered(&[1, 2, 3], 4_000);
        assert_eq!(kept.len(), MOST_ROWS);
        assert_eq!(kept, offered(&[3, 1, 2], 4_000));
        let mut merged = offered(&[2], 4_000);
        merged.merge(offered(&[3, 1], 4_000));
        assert_eq!(merged, kept);
        // A row that comes again is not there twice.
        assert_eq!(offered(&[1, 1], 100).len(), 100);
    }

    #[test]
    fn rows_that_come_again_under_another_name_are_seen() {
        let numbers = |file: u64, shift: f64, rows: usize| {
            let mut kept = KeptRows::default();
            kept.offer(&batch(rows, shift), file, (0..rows).map(|row| (row, row as u64)));
            kept
        };
        let kept = numbers(1, 0.0, 200);
        assert_eq!(kept.again_in(&numbers(2, 0.0, 100)), 0, "numbers of other rows");
        assert_eq!(kept.again_in(&numbers(2, 0.0, 200)), 200);
        assert_eq!(kept.again_in(&numbers(2, 0.5, 200)), 0);
        // Coarse scores are alike within a file as well.
        let coarse = |file: u64| {
            let mut kept = KeptRows::default();
            for part in 0..50 {
                kept.offer(&batch(4, 0.0), file, (0..4).map(|row| (row, (4 * part + row) as u64)));
            }
            kept
        };
        assert_eq!(coarse(1).again_in(&coarse(2)), 0);
        // A few rows beside many: most have the numbers of one of these, and few those of each other.
        let some = |file: u64, rows: usize| {
            let mut kept = KeptRows::default();
            let scores = |row: usize| (hash(hash(file) ^ row as u64) % 1_000) as f64;
            let scores = [0; 3].map(|_| [(0..rows).map(scores).collect(), vec![0.0; rows]].concat());
            kept.offer(&Batch::new(rows, scores).unwrap(), file, (0..rows).map(|row| (row, row as u64)));
            kept
        };
        assert_eq!(some(1, 4_000).again_in(&some(2, 50)), 0);
    }

    #[test]
    fn bytes_are_the_same_rows_and_every_bit_counts() {
        let kept = offered(&[1], 50);
        let bytes = kept.to_bytes();
        assert_eq!(KeptRows::from_bytes(&bytes).unwrap(), kept);
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            assert!(KeptRows::from_bytes(&flipped).is_err(), "byte {at}");
        }
        assert!(KeptRows::from_bytes(&[]).is_err());
        let schema = Schema::numbered(3, 2).unwrap();
        assert_eq!(kept.batch(&schema).unwrap().unwrap().rows(), 50);
        assert!(kept.batch(&Schema::numbered(3, 4).unwrap()).is_err());
        assert_eq!(KeptRows::default().batch(&schema).unwrap(), None);
    }
}
