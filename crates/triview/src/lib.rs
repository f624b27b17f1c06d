//! Estimate a classifier's risk from unlabelled scores.
#![forbid(unsafe_code)]

pub mod composite;
pub mod error;
pub mod estimator;
pub mod features;
pub mod learning;
pub mod moments;
pub mod views;

pub use error::{Error, Result};
