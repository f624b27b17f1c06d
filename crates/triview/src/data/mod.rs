//! What the method is given: names, batches of scores, where batches come from, how views form three groups, and how
//! rows form blocks.

mod batch;
mod blocks;
mod partition;
mod sample;
mod schema;
mod source;
mod witness;

pub use batch::Batch;
pub(crate) use batch::{bits, is_constant, take_rows, total};
pub(crate) use blocks::{BlockSums, block_count, block_of, deal, deal_by};
pub use partition::{Partition, others};
pub use sample::Sample;
pub(crate) use sample::keys;
pub use schema::{MOST_VIEWS, Schema};
pub(crate) use schema::{expect, refuse_duplicates};
pub use source::{Batches, InMemory, Rows, ScoreSource, Source, rows_a_batch};
pub use witness::{Counted, Witness};

/// The method rests on three views that are independent given the class; where a table has more, they are grouped
/// into three (see [`Partition`]).
pub const VIEWS: usize = 3;
