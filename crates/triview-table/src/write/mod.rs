//! Tables, written: whole or not at all.

mod array;
mod columns;
mod replace;
mod scores;
mod transitions;

pub use array::write_array;
pub use columns::{Values, write_columns};
pub use replace::replace;
pub use scores::write_scores;
pub use transitions::write_transitions;
