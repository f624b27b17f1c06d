//! The answers for a person: text that one would paste into a report.

mod adaptation;
mod each;
mod estimate;
mod labelled;
mod metrics;
mod number;
mod prediction;
mod sequences;
mod share;
mod table;
mod votes;

pub use adaptation::adaptation;
pub use each::each;
#[cfg(test)]
pub(crate) use estimate::tests::estimate as example;
pub use estimate::{diagnosis, estimate, missing, range};
pub(crate) use estimate::{facts_of, floor, given, percent, rows_needed, verdict};
pub use labelled::{Budget, budget, labelled};
pub(crate) use labelled::{assumed, labels_said};
pub use metrics::metrics;
pub use number::{count, plain, with_error};
pub use prediction::{better, prediction};
pub(crate) use prediction::{disagreement, knowing_no_more};
pub use sequences::sequences;
pub(crate) use sequences::{labels_said as sequence_labels_said, pooled};
pub(crate) use share::{Share, p_value, percents};
pub use table::{Align, WIDTH, aligned, facts, name, names, wrapped};
pub use votes::{gold_budget, votes, votes_in_a_line};
pub(crate) use votes::{most_confused, naming, shown_annotators, together};
