//! Votes: hard predictions, or the labels of a crowd's annotators.

mod cast;
mod dawid_skene;
mod simulate;

pub use cast::{Vote, Votes};
pub use dawid_skene::{Crowd, Fitted, Smoothing, Stop, dawid_skene, majority, shares};
pub use simulate::{CrowdSetting, SimulatedCrowd};
