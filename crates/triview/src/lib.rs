//! Estimate a classifier's risk from unlabelled scores.
#![forbid(unsafe_code)]

pub mod error;
pub mod estimator;
pub mod features;
pub mod moments;
#[allow(dead_code)] // until the feature maps call all of it
pub(crate) mod vectorised;
pub mod views;

pub use error::{Error, Result};
