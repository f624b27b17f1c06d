//! A small state that adds up: the sums of every moment, in blocks of rows.

pub mod kernel;
mod layout;
mod state;

pub use layout::{Layout, Part, others};
pub use state::{Header, Moments};
