//! Data with known truth, and what is kept for comparison only.

mod chains;
mod composite;
mod crowds;
mod regression;
mod simulate;
mod tensor_alone;

pub use chains::{ChainPopulation, ChainSetting};
pub use composite::*;
pub use crowds::{CrowdSetting, SimulatedCrowd};
pub use regression::regression_plan;
pub use simulate::*;
pub use tensor_alone::tensor_risk;
