//! Estimate a classifier's risk from unlabelled scores.
#![forbid(unsafe_code)]

pub mod composite;
mod decomposition;
pub mod error;
pub mod estimator;
pub mod features;
mod fitting;
mod interval;
pub mod learning;
mod linalg;
pub mod loss;
mod matching;
pub mod moments;
mod refinement;
mod risk;
mod sample;
pub mod simulate;
mod solution;
mod surrogate;
mod vectorised;
pub mod views;

pub use error::{Error, Result};
