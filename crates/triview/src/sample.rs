//! A first look at the data: an even sample of its rows.

use crate::error::Result;
use crate::views::{Batch, Schema, Source, VIEWS};

/// The most rows that are looked at; feature maps have far fewer parameters.
const MOST_ROWS: usize = 32_768;

/// Rows chosen by a hash of their position: each row has the same chance, in whatever order they lie, the
/// choice is the same in every reading, and memory does not grow with their number.
#[derive(Debug)]
struct Sampler {
    k: usize,
    /// A row is kept when the lowest `level` bits of its hash are zero.
    level: u32,
    position: u64,
    /// Kept rows: hash, group, and the scores of all views, view by view.
    kept: Vec<(u64, Option<u64>, Vec<f64>)>,
}

impl Sampler {
    fn keeps(&self, hash: u64) -> bool {
        hash.trailing_zeros() >= self.level
    }

    fn update(&mut self, batch: &Batch) {
        for row in 0..batch.rows() {
            let hash = hash(self.position);
            self.position += 1;
            if !self.keeps(hash) {
                continue;
            }
            let scores = (0..VIEWS * self.k).map(|c| batch.column(c / self.k, c % self.k)[row]).collect();
            self.kept.push((hash, batch.clusters().map(|clusters| clusters[row]), scores));
            while self.kept.len() > MOST_ROWS {
                self.level += 1;
                let level = self.level;
                self.kept.retain(|(hash, _, _)| hash.trailing_zeros() >= level);
            }
        }
    }

    fn finish(self) -> Batch {
        let rows = self.kept.len();
        let scores = std::array::from_fn(|v| {
            let cells = |class| self.kept.iter().map(move |(_, _, scores)| scores[v * self.k + class]);
            (0..self.k).flat_map(cells).collect()
        });
        let clusters: Option<Vec<u64>> = self.kept.iter().map(|(_, cluster, _)| *cluster).collect();
        let batch = Batch::from_finite(rows, scores);
        match clusters {
            Some(clusters) if rows > 0 => batch.with_clusters(clusters),
            _ => batch,
        }
    }
}

/// Spreads positions over all bits (splitmix64).
pub(crate) fn hash(position: u64) -> u64 {
    let mut z = position.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// An even sample of the rows of a source.
#[derive(Debug, Clone)]
pub struct Sample {
    schema: Schema,
    rows: Batch,
    seen: u64,
}

impl Sample {
    /// The sampled rows.
    pub fn rows(&self) -> &Batch {
        &self.rows
    }

    /// How many rows there were.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// What the columns mean.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Reads a source once.
    ///
    /// # Errors
    /// Those of the source.
    pub fn of<S: Source>(source: &S) -> Result<Self, S::Error> {
        let (rows, seen) = sample(source)?;
        Ok(Self { schema: source.schema().clone(), rows, seen })
    }
}

/// Reads a source once; returns the sample and the number of rows there were.
fn sample<S: Source>(source: &S) -> Result<(Batch, u64), S::Error> {
    let mut sampler = Sampler { k: source.schema().k(), level: 0, position: 0, kept: Vec::new() };
    for batch in source.batches()? {
        sampler.update(&batch?);
    }
    let rows = sampler.position;
    Ok((sampler.finish(), rows))
}
