//! A first look at the data: what is to be summed over all rows.

mod grouping;
mod look;

pub(crate) use grouping::Proposal;
pub use grouping::{Chosen, Grouping, OtherGroups};
pub(crate) use look::*;
