//! Arrays of three axes, written part by part as NPY.

use super::{Output, replace};
use crate::error::Error;
use crate::read::format::Format;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// Writes an array of so many rows as there are, each of this shape, and says how many there are. Every part has the numbers of
/// some rows, one row after the other. The path must end in `.npy`.
///
/// # Errors
/// [`Error::OutputFormat`], [`Error::Write`], and whatever a part is in place of numbers.
pub fn write_array<E: From<Error>>(
    path: &Path,
    shape: [usize; 2],
    parts: impl Iterator<Item = Result<Vec<f64>, E>>,
) -> Result<u64, E> {
    if Format::of_ending(path) != Some(Format::Npy) {
        return Err(Error::OutputFormat { path: path.into() }.into());
    }
    replace(path, |output| {
        // A part that cannot be had ends the writing, and keeps what was written from being kept.
        let mut failed = None;
        let parts = parts.map_while(|part| part.map_err(|error| failed = Some(error)).ok());
        let rows = write_rows(output, shape, parts.map(Ok));
        match failed {
            Some(error) => Err(error),
            None => rows.map_err(|source| Error::Write { path: path.into(), source }.into()),
        }
    })
}

/// Writes the header and the rows of an array.
pub(crate) fn write_rows(
    output: &mut Output,
    shape: [usize; 2],
    parts: impl Iterator<Item = io::Result<Vec<f64>>>,
) -> io::Result<u64> {
    output.write_all(&header(0, shape))?;
    let mut numbers = 0;
    for part in parts {
        let part = part?;
        part.iter().try_for_each(|number| output.write_all(&number.to_le_bytes()))?;
        numbers += part.len() as u64;
    }
    let rows = numbers / (shape[0] * shape[1]).max(1) as u64;
    // Only now is the number of rows known; the header has room for any.
    output.seek(SeekFrom::Start(0))?;
    output.write_all(&header(rows, shape))?;
    Ok(rows)
}

/// A header of version 1, which is as long for every number of rows.
fn header(rows: u64, [middle, last]: [usize; 2]) -> Vec<u8> {
    const LENGTH: usize = 118;
    let entries =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {middle}, {last}), }}");
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((LENGTH as u16).to_le_bytes());
    header.extend(format!("{entries:<width$}\n", width = LENGTH - 1).bytes());
    header
}
