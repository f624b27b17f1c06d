//! Score tables and moment states on disk.
//!
//! A score table holds, for each row, what three views say of each class. [`Table`] reads CSV, Parquet, Arrow
//! IPC and NPY files, several of them as one data set, as a [`Source`](triview::data::Source) of batches:
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
//! [`FeatureTable`] reads what models make their scores from, and [`model`] the models.
//!
//! [`state`] reads and writes what is left when the rows are gone. Everything is written through [`replace`]:
//! whole or not at all. No file makes a reader panic, and no length in a file is believed before the bytes are there.
#![forbid(unsafe_code)]

mod arrays;
mod columns;
mod csv;
mod error;
mod features;
mod format;
mod guard;
mod hash;
mod ipc;
mod lists;
mod location;
pub mod model;
mod npy;
mod numbers;
mod parquet;
mod pending;
mod pipeline;
mod prefetch;
mod replace;
mod sequences;
pub mod state;
mod table;
mod transitions;
mod votes;
mod write;
mod write_array;
mod write_columns;

pub use error::Error;
pub use features::{FeatureOptions, FeatureTable};
pub use format::Format;
pub use guard::silence_caught_panics;
pub use replace::replace;
pub use sequences::{Named, SequenceTable};
pub use table::{Input, Keep, ReadOptions, Table};
pub use transitions::{read_transitions, write_transitions};
pub use votes::{VoteOptions, VoteTable};
pub use write::write_scores;
pub use write_array::write_array;
pub use write_columns::{Values, write_columns};
