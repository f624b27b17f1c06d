//! Why an answer has no metrics of the whole prediction.

use std::fmt;

/// Why nothing is known of the whole prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmeasured {
    /// Sums were at hand, and no rows.
    NoRows,
    /// Too few of the rows were sampled.
    FewRows {
        /// Rows in the sample.
        rows: usize,
        /// Rows that are needed.
        needed: u64,
    },
    /// All rows are in one block, so that nothing is known of any error.
    OneBlock,
}

impl fmt::Display for Unmeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmeasured::NoRows => {
                f.write_str("it takes rows, and a state has none: estimate from the tables")
            }
            Unmeasured::FewRows { rows, needed } => {
                write!(
                    f,
                    "it takes {needed} rows, and {rows} are in the sample of all rows: estimate from these rows alone"
                )
            }
            Unmeasured::OneBlock => {
                f.write_str("all rows are in one block: give clusters of fewer rows, or none")
            }
        }
    }
}

impl std::error::Error for Unmeasured {}
