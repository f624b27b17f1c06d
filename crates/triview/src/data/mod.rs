//! What the method is given: names, batches of scores, and where batches come from.

mod batch;
mod partition;
mod sample;

pub use batch::{Batch, InMemory, MOST_VIEWS, Schema, Source, VIEWS};
pub(crate) use batch::{bits, take_rows, total};
pub use partition::Groups;
pub use sample::Sample;
pub(crate) use sample::{hash, keys};
