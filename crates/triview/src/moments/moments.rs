//! The finished sums.

use super::layout::Layout;
use super::plan::Plan;
use crate::data::BlockSums;
use crate::error::{Error, Result};

/// Moments of a data set in blocks of rows: all that is needed to estimate, merge, and resample.
///
/// Moments of parts that were summed by one plan add up to those of the whole, in any order. They are the same from bytes
/// ([`Moments::from_bytes`]) as they were.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    plan: Plan,
    layout: Layout,
    sums: BlockSums,
}

impl Moments {
    /// Moments from their sums, which lie as the layout says.
    pub(crate) fn new(plan: Plan, layout: Layout, sums: BlockSums) -> Result<Self> {
        if sums.count() == 0 {
            return Err(Error::InvalidMoments { reason: "they have no blocks".into() });
        }
        for (b, block) in sums.filled() {
            if let Some(at) = block.iter().position(|sum| !sum.is_finite()) {
                let reason = format!("block {b} has {} at place {at}", block[at]);
                return Err(Error::InvalidMoments { reason });
            }
        }
        Ok(Self { plan, layout, sums })
    }

    /// What the sums are sums of.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Where each sum lies in a block.
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The sums of each block of rows.
    pub(crate) fn sums(&self) -> &BlockSums {
        &self.sums
    }

    /// The number of blocks, and of those that have rows.
    pub fn blocks(&self) -> [usize; 2] {
        [self.sums.count(), self.sums.filled().count()]
    }

    /// The sums of the blocks that have rows, each with their number.
    pub(crate) fn filled(&self) -> Vec<(f64, &[f64])> {
        self.sums.filled().map(|(_, block)| (self.layout.rows.scalar(block), block)).collect()
    }

    /// The moments of some of the blocks that have rows.
    pub(crate) fn part(&self, blocks: impl Iterator<Item = usize>) -> Self {
        let filled: Vec<&[f64]> = self.sums.filled().map(|(_, block)| block).collect();
        let blocks = blocks.map(|at| filled[at].to_vec()).collect();
        let sums = BlockSums::from_blocks(self.layout.len, blocks);
        Self { plan: self.plan.clone(), layout: self.layout.clone(), sums }
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.filled().iter().map(|(rows, _)| rows).sum::<f64>() as u64
    }

    /// The number of rows in which each view is missing.
    pub fn missing(&self) -> Vec<u64> {
        self.layout.missing.of(&self.total()).iter().map(|rows| *rows as u64).collect()
    }

    /// The sums over all blocks.
    pub(crate) fn total(&self) -> Vec<f64> {
        self.sums.total()
    }

    /// The moments of the rows of both.
    ///
    /// # Errors
    /// [`Error::PlansDiffer`] when they are not sums of the same things.
    pub fn merge(mut self, other: &Moments) -> Result<Self> {
        self.plan.expect_same(&other.plan)?;
        let [left, right] = [&self, other].map(|moments| moments.sums.count());
        if left != right {
            let (left, right) = (left.to_string(), right.to_string());
            return Err(Error::PlansDiffer { what: "the number of blocks", left, right });
        }
        self.sums.merge(&other.sums);
        Ok(self)
    }
}
