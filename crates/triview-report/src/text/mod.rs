//! The answers for a person: text that one would paste into a report.

mod adaptation;
mod estimate;
mod labelled;
mod metrics;
mod number;
mod sequences;
mod share;
mod table;
mod votes;

pub use adaptation::adaptation;
#[cfg(test)]
pub(crate) use estimate::tests::estimate as example;
pub use estimate::{diagnosis, estimate, missing, range};
pub(crate) use estimate::{facts_of, floor, given, percent, rows_needed, verdict};
pub(crate) use labelled::labels_said;
pub use labelled::{Budget, budget, labelled};
pub use metrics::metrics;
pub use number::{count, plain, with_error};
pub use sequences::sequences;
pub(crate) use share::{Share, p_value, percents};
pub use table::{Align, WIDTH, aligned, facts, name, names, wrapped};
pub use votes::{gold_budget, votes, votes_in_a_line};
pub(crate) use votes::{most_confused, naming, shown_annotators, together};
