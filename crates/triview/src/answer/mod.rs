//! From a fit to the risk, in named stages: the variants of the answer, their mean (`Blended`), and that shrunk towards
//! the fitted posterior (`Shrunk`), which is what is printed.

mod blend;
mod interval;
mod jackknife;
mod matching;
mod numbers;
mod quantities;
mod risk;
mod shrink;
mod surrogate;
mod variants;

pub(crate) use blend::Blended;
pub use interval::{Bound, Interval};
pub(crate) use interval::{check_level, reach};
pub(crate) use jackknife::{Deviations, jackknife, refits};
pub(crate) use matching::{Matching, assign, call_counted, call_states};
pub(crate) use numbers::Numbers;
pub(crate) use quantities::Quantities;
pub(crate) use risk::{Risk, identify, impossible, least_risk, linear_risk, rows_carrying_squares};
pub(crate) use shrink::{PlugIn, Shrunk, share_believed};
pub(crate) use surrogate::{Kind, LabelMaps, Surrogates, label_basis};
pub(crate) use variants::{Labels, fitted, solve, solve_rows};
