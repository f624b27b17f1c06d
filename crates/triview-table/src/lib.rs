//! Score tables, moments and models on disk, and Arrow's record batches in memory.
//!
//! A score table holds, for each row, what three views say of each class. [`Table`] reads CSV, JSON Lines,
//! Parquet, Arrow IPC and NPY files, several of them as one data set, as a [`Source`](triview::data::Source) of batches:
//!
//! ```no_run
//! use triview::data::Source;
//! use triview_table::{ReadOptions, Table};
//!
//! let table = Table::open(&["scores.parquet".into()], &ReadOptions::default())?;
//! println!("{} classes", table.schema().k());
//! for batch in table.batches()? {
//!     println!("{} rows", batch?.rows());
//! }
//! # Ok::<(), triview_table::Error>(())
//! ```
//!
//! Where the scores are: columns named `view:class` (the view is the text before the first colon), or one column
//! of lists for each view; in an array, axes (rows, views, classes). Other columns are ignored, and
//! [`Table::ignored_columns`] names them. Memory does not grow with the number of rows.
//!
//! [`Table::of_records`] takes Arrow's record batches in place of files:
//!
//! ```
//! use arrow_array::{Float64Array, RecordBatch};
//! use std::sync::Arc;
//! use triview::data::Source;
//! use triview_table::{ReadOptions, Table};
//!
//! let columns = ["a:cat", "a:dog", "b:cat", "b:dog", "c:cat", "c:dog"];
//! let column = |at: usize| Arc::new(Float64Array::from(vec![0.5 * at as f64, 1.5])) as _;
//! let records = RecordBatch::try_from_iter(columns.into_iter().enumerate().map(|(at, name)| (name, column(at))))?;
//! let table = Table::of_records(vec![records], &ReadOptions::default())?;
//! assert_eq!((table.schema().views().len(), table.schema().k()), (3, 2));
//! assert_eq!(table.batches()?.next().transpose()?.map(|batch| batch.rows()), Some(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`FeatureTable`] reads what models make their scores from, and [`model`] the models.
//!
//! [`moments`] reads and writes what is left when the rows are gone. Everything is written through [`replace`]:
//! whole or not at all. No file makes a reader panic, and no length in a file is believed before the bytes are there.
#![forbid(unsafe_code)]

mod arrow;
mod envelope;
mod error;
mod memory;
pub mod model;
pub mod moments;
mod read;
mod temporary;
mod write;

pub use error::Error;
pub use memory::{Memory, NoMemory, is_asking_for_memory, set_default_memory};
pub use read::{
    Carried, ClassPattern, FeatureOptions, FeatureTable, Format, Input, Keep, Named, NoPeriod, Origin,
    Pattern, Period, ReadOptions, Records, SequenceTable, Stamp, Table, VoteOptions, VoteTable, in_time,
    read_transitions, silence_caught_panics,
};
pub use temporary::{Named as Temporary, remove_temporary_files};
pub use write::{
    Output, Sink, Values, replace, write_array, write_beside, write_columns, write_scores, write_transitions,
};

/// The README's own examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
