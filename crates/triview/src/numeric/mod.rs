//! Arithmetic that knows nothing of views, classes or losses.

pub(crate) mod adam;
pub(crate) mod columns;
mod golden_section;
mod hash;
pub mod kernel;
pub(crate) mod kmeans;
pub(crate) mod lbfgs;
pub(crate) mod linalg;

pub(crate) use golden_section::golden_section;
pub(crate) use hash::{checksum, hash};
pub(crate) use linalg::argmax;
