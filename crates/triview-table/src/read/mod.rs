//! From the bytes of files to batches.

pub(crate) mod arrays;
pub(crate) mod columns;
mod csv;
mod features;
pub(crate) mod format;
mod guard;
mod hash;
mod ipc;
mod json_lines;
mod lists;
pub(crate) mod location;
mod npy;
mod numbers;
pub(crate) mod origin;
mod parquet;
mod pending;
mod pipeline;
mod prefetch;
mod sequences;
pub(crate) mod table;
mod transitions;
mod votes;

pub use features::{FeatureOptions, FeatureTable};
pub use format::Format;
pub use guard::silence_caught_panics;
pub(crate) use lists::first_length_of;
pub use origin::{Origin, Records};
pub use sequences::{Named, SequenceTable};
pub use table::{Input, Keep, ReadOptions, Table};
pub(crate) use transitions::INITIAL;
pub use transitions::read_transitions;
pub use votes::{VoteOptions, VoteTable};
