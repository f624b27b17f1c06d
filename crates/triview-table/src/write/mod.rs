//! Tables, written: whole or not at all.

mod array;
mod beside;
mod columns;
mod disk;
mod replace;
mod scores;
mod transitions;

pub use array::write_array;
pub use beside::write_beside;
pub use columns::{Values, write_columns};
pub use disk::Sink;
pub use replace::{Output, replace};
pub use scores::write_scores;
pub use transitions::write_transitions;
