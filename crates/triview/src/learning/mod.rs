//! Models whose scores add up over the views, and what labels say of them.

mod evaluation;
mod logistic;

pub use evaluation::{Mean, error_rate, log_loss, mean_loss, predictive_entropy};
pub use logistic::{LogisticModel, LogisticParams, LogisticTrainer};
