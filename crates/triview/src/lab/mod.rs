//! Data with known truth, and what is kept for comparison only.

mod composite;
mod simulate;

pub use composite::*;
pub use simulate::*;
