//! A first look at the data, and from it the plan of what is summed over all rows.

mod grouping;
mod planner;
mod states;
mod witnesses;

pub(crate) use planner::Planner;
