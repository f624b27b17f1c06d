//! The answers for a person: text that one would paste into a report.

mod estimate;
mod labelled;
mod metrics;
mod number;
mod sequences;
mod table;
mod votes;

#[cfg(test)]
pub(crate) use estimate::tests::estimate as example;
pub(crate) use estimate::{diagnosis, estimate, missing, range};
pub(crate) use labelled::{Budget, budget, labelled};
pub(crate) use metrics::metrics;
pub(crate) use number::{plain, with_error};
pub(crate) use sequences::sequences;
pub(crate) use table::{Align, WIDTH, aligned, facts, name, names, wrapped};
pub(crate) use votes::votes;
