//! A small state that adds up: the sums of every moment, in blocks of rows.

mod accumulate;
mod layout;
#[allow(clippy::module_inception, reason = "the moments themselves")]
mod moments;
mod rows;
mod segments;

pub use accumulate::Accumulator;
pub(crate) use accumulate::{MOST_CLASSES, block_count, block_of, deal};
pub use layout::{Family, Layout, Part, Terms, others};
pub use moments::{Header, Holder, Moments};
pub(crate) use rows::{Chunk, Kept};
pub use segments::{MOST_SEGMENTS, SegmentedAccumulator, Segments};
