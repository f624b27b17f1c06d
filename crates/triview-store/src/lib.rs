//! What monitoring remembers: the plan, the periods and segments with their moments, and which files have been added, in one SQLite file.
//!
//! A file is added in one transaction, so that it is there whole or not at all, whatever happens to the process, the machine or the disk.
//! It is known by its content and never added twice. [`Store`] reads; [`Adding`] holds the store alone while it writes, and others wait.
#![forbid(unsafe_code)]

mod adding;
mod error;
mod schema;
mod store;

pub use adding::Adding;
pub use error::Error;
pub use store::{Added, Digest, Part, Place, Store};
