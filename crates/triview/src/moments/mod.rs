//! A small state that adds up: the sums of every moment, in blocks of rows.

mod accumulate;
mod kept;
pub mod kernel;
mod layout;
mod segments;
mod state;

pub use accumulate::Accumulator;
pub(crate) use accumulate::{MOST_CLASSES, block_count, block_of, deal};
pub(crate) use kept::{Chunk, Kept};
pub use layout::{Family, Layout, Part, Terms, others};
pub use segments::{MOST_SEGMENTS, SegmentedAccumulator, Segments};
pub use state::{Header, Holder, Moments};
