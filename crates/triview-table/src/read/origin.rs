//! Where rows come from: files, or memory.

use arrow_array::RecordBatch;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the rows of a table come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    /// A file; `-` is standard input.
    File(PathBuf),
    /// Arrow's record batches in memory.
    Records(Records),
}

/// Arrow's record batches in memory, shared and not copied, and what messages call them.
///
/// A column of fixed-size lists of fixed-size lists of numbers is an array with the axes (rows, views, classes), as an NPY file
/// holds it: its views are called 1, 2, 3 and so on.
#[derive(Debug, Clone, PartialEq)]
pub struct Records {
    name: Arc<str>,
    pub(crate) batches: Arc<[RecordBatch]>,
}

impl Records {
    /// Record batches of this name.
    pub fn new(name: &str, batches: Vec<RecordBatch>) -> Self {
        Self { name: name.into(), batches: batches.into() }
    }

    /// What messages call them.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Origin {
    /// Those of files.
    pub fn files(paths: &[PathBuf]) -> Vec<Self> {
        paths.iter().cloned().map(Self::File).collect()
    }

    /// The file, where it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Origin::File(path) => Some(path),
            Origin::Records(_) => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File(path) => path.display().fmt(f),
            Origin::Records(records) => f.write_str(records.name()),
        }
    }
}

impl From<PathBuf> for Origin {
    fn from(path: PathBuf) -> Self {
        Origin::File(path)
    }
}

impl From<OsString> for Origin {
    fn from(path: OsString) -> Self {
        Origin::File(path.into())
    }
}

impl From<Vec<RecordBatch>> for Origin {
    fn from(batches: Vec<RecordBatch>) -> Self {
        Origin::Records(Records::new("record batches", batches))
    }
}
