//! Models whose scores add up over the views: what labels say of them, and how they are learnt with labels and without.

mod adapt;
mod ball;
mod by_labels;
mod cells;
mod evaluation;
#[cfg(test)]
pub(crate) mod example;
mod fits;
mod general;
mod halves;
mod judge;
mod linear;
mod logistic;
mod objective;
mod parts;
mod rows;
mod supervised;
mod units;

pub use adapt::{AdaptParams, AdaptTask, Adaptation, Adapter, Judgement, Progress, Report, Verdict};
pub use evaluation::{Mean, error_rate, log_loss, mean_loss, predictive_entropy};
pub use general::{Averaged, DualAveraging, LinearScores, ViewModel};
pub use logistic::{LogisticModel, LogisticParams, LogisticTrainer};
pub use rows::{FeatureBatch, FeatureSchema, FeatureSource};
pub use supervised::train_by_lbfgs;
