//! From rows, or from their moments, to the answer.

mod amplification;
mod estimate;
#[allow(clippy::module_inception, reason = "the estimator itself")]
mod estimator;
pub mod few_labels;
mod labeller;
mod many_classes;

pub use amplification::Amplified;
pub use estimate::{Estimate, Fit, Status};
pub(crate) use estimator::enough_rows;
pub use estimator::{Estimator, Features, Params};
pub(crate) use labeller::label_basis;
pub use labeller::{Labeller, SurrogateLabels};
