//! Arithmetic that knows nothing of views, classes or rows.

pub(crate) mod adam;
pub(crate) mod columns;
pub mod kernel;
pub(crate) mod lbfgs;
pub(crate) mod linalg;
