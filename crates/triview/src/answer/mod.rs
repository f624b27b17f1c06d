//! From a fit to the risk, and how far it may be off.

mod interval;
mod matching;
mod risk;
mod shrink;
mod solution;
mod surrogate;

pub use interval::Interval;
pub(crate) use interval::{Deviations, check_level, jackknife, reach, share_believed};
pub(crate) use matching::{Matching, assign, call_counted, call_states};
pub(crate) use risk::{Risk, identify, least_risk, linear_risk, posterior_risk, risk, rows_carrying_squares};
pub(crate) use shrink::{Drawn, PlugIn};
pub(crate) use solution::{Agreement, Answer, Labels, Quantities, Solution, solve, solve_kept, tensor_risk};
pub(crate) use surrogate::{Kind, Surrogates};
