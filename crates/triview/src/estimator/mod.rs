//! From rows, or from their moments, to the answer.

mod amplification;
mod each;
mod estimate;
#[allow(clippy::module_inception, reason = "the estimator itself")]
mod estimator;
pub mod few_labels;
mod labeller;
mod many_classes;
mod params;
mod pooled;
mod solved;

pub use crate::fit::Status;
pub use amplification::Amplified;
pub use each::{Difference, Each, EachView};
pub use estimate::{Estimate, Fit};
pub use estimator::Estimator;
pub use labeller::{Labeller, SurrogateLabels};
pub use params::{Common, Parameters, Params, ScoreTables, Task};
pub use pooled::Drift;
pub use solved::Solved;
