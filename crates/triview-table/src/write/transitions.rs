//! Files of transition potentials, written.

use super::{Output, replace};
use crate::error::Error;
use crate::read::INITIAL;
use std::io;
use std::path::Path;
use triview::sequences::Chain;

/// Writes the log potentials of a chain, as [`read_transitions`](crate::read_transitions) reads them.
///
/// # Errors
/// [`Error::Write`].
pub fn write_transitions(path: &Path, chain: &Chain) -> Result<(), Error> {
    let write = |output: &mut Output| -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(output);
        let states = chain.states();
        writer.write_record(["state"].into_iter().chain(states.iter().map(String::as_str)))?;
        let rows = chain.transition().chunks_exact(states.len());
        let named = states.iter().map(String::as_str).zip(rows).chain([(INITIAL, chain.initial())]);
        for (name, row) in named {
            let numbers = row.iter().map(|value| format!("{value:?}"));
            writer.write_record([name.to_owned()].into_iter().chain(numbers))?;
        }
        writer.flush()
    };
    replace(path, |output| write(output).map_err(|source| Error::Write { path: path.into(), source }))
}
