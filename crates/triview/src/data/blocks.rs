//! Blocks of rows, and sums in them: what is merged, resampled and compared.
//!
//! Which block a row goes to follows from its position, or its cluster, alone. So any number of threads gives the same
//! sums, and parts of a data set that each begin where the one before ends are dealt as the whole is.

use super::Batch;
use crate::numeric::hash;
use crate::settings::blocks::RUN;

/// How many blocks of rows are kept for `k` classes: 64, fewer where a block's `k^3` cells grow large.
pub(crate) fn block_count(k: usize) -> usize {
    if k <= 16 { 64 } else { 32 }
}

/// Which of so many blocks a row of a batch goes to, so many rows having come before the batch.
pub(crate) fn block_of(batch: &Batch, before: u64, row: usize, count: usize) -> usize {
    let block = match batch.clusters() {
        Some(clusters) => hash(clusters[row]) % count as u64,
        None => (before + row as u64) / RUN % count as u64,
    };
    block as usize
}

/// The rows of a batch that go to each of `count` blocks: by cluster, or by position, the first row's being `position`.
pub(crate) fn deal(batch: &Batch, position: u64, count: usize) -> Vec<Vec<usize>> {
    sort_out((0..batch.rows()).map(|row| block_of(batch, position, row, count)), count)
}

/// The same by keys, one a row.
pub(crate) fn deal_by(keys: &[u64], count: usize) -> Vec<Vec<usize>> {
    sort_out(keys.iter().map(|key| (key % count as u64) as usize), count)
}

/// The rows that go to each of `count` blocks, given the block of each row.
fn sort_out(blocks: impl Iterator<Item = usize>, count: usize) -> Vec<Vec<usize>> {
    let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); count];
    blocks.enumerate().for_each(|(row, block)| rows_of[block].push(row));
    rows_of
}

/// Sums of the rows of each block. A block that no row went to takes no room.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BlockSums {
    length: usize,
    blocks: Vec<Vec<f64>>,
}

impl BlockSums {
    /// So many empty blocks of so many sums.
    pub(crate) fn new(count: usize, length: usize) -> Self {
        Self { length, blocks: vec![Vec::new(); count] }
    }

    /// Some blocks of so many sums each, or of none.
    pub(crate) fn from_blocks(length: usize, blocks: Vec<Vec<f64>>) -> Self {
        debug_assert!(blocks.iter().all(|block| block.is_empty() || block.len() == length));
        Self { length, blocks }
    }

    /// How many blocks there are.
    pub(crate) fn count(&self) -> usize {
        self.blocks.len()
    }

    /// The sums of a block; none where no row went to it.
    pub(crate) fn block(&self, block: usize) -> Option<&[f64]> {
        Some(self.blocks[block].as_slice()).filter(|sums| !sums.is_empty())
    }

    /// The sums of each block, to be added to; empty ones have room once they are [filled](BlockSums::fill).
    pub(crate) fn blocks_mut(&mut self) -> &mut [Vec<f64>] {
        &mut self.blocks
    }

    /// Makes room in a block.
    pub(crate) fn fill(block: &mut Vec<f64>, length: usize) {
        if block.is_empty() {
            block.resize(length, 0.0);
        }
    }

    /// The blocks that rows went to, with their places.
    pub(crate) fn filled(&self) -> impl Iterator<Item = (usize, &[f64])> {
        (0..self.count()).filter_map(|at| Some((at, self.block(at)?)))
    }

    /// The sums over all blocks.
    pub(crate) fn total(&self) -> Vec<f64> {
        let mut total = vec![0.0; self.length];
        for (_, block) in self.filled() {
            total.iter_mut().zip(block).for_each(|(total, sum)| *total += sum);
        }
        total
    }

    /// Adds the sums of as many blocks of as many sums.
    pub(crate) fn merge(&mut self, other: &BlockSums) {
        for (block, added) in self.blocks.iter_mut().zip(&other.blocks) {
            if block.is_empty() {
                block.clone_from(added);
            } else {
                block.iter_mut().zip(added).for_each(|(sum, added)| *sum += added);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;

    #[test]
    fn rows_are_dealt_in_runs() {
        let batch = Batch::new(20, vec![vec![0.0; 40]; 3]).unwrap();
        let dealt = deal(&batch, 4, 3);
        assert_eq!(dealt, [vec![0, 1, 2, 3], (4..12).collect(), (12..20).collect()]);
        let clustered = batch.with_clusters((0..20).map(|row| row % 5).collect()).unwrap();
        for rows in deal(&clustered, 4, 3) {
            // A cluster is in one block.
            assert!(rows.iter().all(|row| rows.contains(&((row + 5) % 20))));
        }
        assert_eq!(deal_by(&[7, 3, 4], 4), [vec![2], vec![], vec![], vec![0, 1]]);
    }

    #[test]
    fn empty_blocks_take_no_room_and_add_up() {
        let (mut sums, mut others) = (BlockSums::new(3, 2), BlockSums::new(3, 2));
        let add = |sums: &mut BlockSums, block: usize, value: f64| {
            BlockSums::fill(&mut sums.blocks_mut()[block], 2);
            sums.blocks_mut()[block][1] += value;
        };
        add(&mut sums, 0, 1.0);
        add(&mut others, 0, 2.0);
        add(&mut others, 2, 4.0);
        assert_eq!(sums.block(1), None);
        sums.merge(&others);
        assert_eq!(sums.filled().collect::<Vec<_>>(), [(0, [0.0, 3.0].as_slice()), (2, &[0.0, 4.0])]);
        assert_eq!(sums.total(), [0.0, 7.0]);
    }
}
