//! Apache Parquet.

use crate::error::Error;
use crate::read::arrays;
use crate::read::columns::Selection;
use crate::read::format::Format;
use crate::read::lists::first_length_of;
use crate::read::location::Location;
use crate::read::prefetch::Ahead;
use crate::read::table::{Inspection, Reader, Visit};
use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use arrow_array::ArrayRef;
use std::io::{Read, Seek, SeekFrom};
use std::iter;
use std::thread::available_parallelism;

/// Rows of text that are decoded at a time.
const TEXTS: usize = 8192;
/// Chunks that a decoding thread may be ahead.
const DEPTH: usize = 2;

/// Reads the footer.
pub(crate) fn inspect(location: &Location) -> Result<Inspection<ArrowReaderMetadata>, Error> {
    let mut file = location.open()?;
    let unreadable = |source| location.unreadable(source);
    let length = file.seek(SeekFrom::End(0)).map_err(unreadable)?;
    let mut end = [0; 4];
    if length >= 12 {
        file.seek(SeekFrom::End(-4)).map_err(unreadable)?;
        file.read_exact(&mut end).map_err(unreadable)?;
    }
    if end != *b"PAR1" {
        return Err(location.truncated(Format::Parquet, "it does not end with the footer of one"));
    }
    location.guard(Format::Parquet, || {
        // The Arrow schema that writers embed says nothing about numbers that the Parquet one does not.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let head = ArrowReaderMetadata::load(&file, options).map_err(|error| corrupt(location, error))?;
        let mut rows = 0_u64;
        for group in head.metadata().row_groups() {
            let more = u64::try_from(group.num_rows()).ok();
            rows = more
                .and_then(|more| rows.checked_add(more))
                .ok_or_else(|| location.corrupt(Format::Parquet, "its row count is out of range"))?;
        }
        let columns = arrays::columns(head.schema().fields());
        Ok(Inspection { head, columns, rows: Some(rows), empty: rows == 0 })
    })
}

/// The length of the first list in a column.
pub(crate) fn list_length(
    location: &Location,
    head: &ArrowReaderMetadata,
    column: usize,
) -> Result<Option<usize>, Error> {
    first_length_of(Lane::open(location, head, &[column], 1024)?)
}

/// Reads the rows, `chunk` at a time. With `prefetch`, the columns are decoded on two threads: their halves, not
/// their row groups, because a row group may be as large as the file and would have to be held in memory.
pub(crate) fn read(
    location: &Location,
    head: &ArrowReaderMetadata,
    selection: &Selection,
    chunk: usize,
    prefetch: bool,
) -> Result<Box<dyn Reader>, Error> {
    let used = selection.used();
    let threads = available_parallelism().map_or(1, |threads| threads.get());
    if !prefetch || threads == 1 || used.len() == 1 {
        let lane = Lane::open(location, head, &used, chunk)?;
        return Ok(Box::new(arrays::Rows::new(location, Format::Parquet, selection, lane)));
    }
    let (left, right) = used.split_at(used.len() / 2);
    let ahead = |columns: &[usize]| {
        let lane = Lane::open(location, head, columns, chunk)?;
        Ahead::new(lane, DEPTH).map_err(|source| location.unreadable(source))
    };
    let (mut left, mut right) = (ahead(left)?, ahead(right)?);
    let here = location.clone();
    let both = iter::from_fn(move || match (left.next(), right.next()) {
        (None, None) => None,
        (Some(Ok(mut arrays)), Some(Ok(more))) => {
            arrays.extend(more);
            Some(Ok(arrays))
        }
        (Some(Err(error)), _) | (_, Some(Err(error))) => Some(Err(error)),
        _ => Some(Err(here.corrupt(Format::Parquet, "its columns differ in length"))),
    });
    Ok(Box::new(arrays::Rows::new(location, Format::Parquet, selection, both)))
}

/// Gives the text of some columns, in the order of the file, to `visit` row by row.
pub(crate) fn texts(
    location: &Location,
    head: &ArrowReaderMetadata,
    columns: &[usize],
    visit: Visit<'_>,
) -> Result<(), Error> {
    arrays::texts(location, Format::Parquet, Lane::open(location, head, columns, TEXTS)?, visit)
}

/// Some columns of a file, chunk by chunk.
struct Lane {
    location: Location,
    reader: ParquetRecordBatchReader,
    failed: bool,
}

impl Lane {
    fn open(
        location: &Location,
        head: &ArrowReaderMetadata,
        columns: &[usize],
        chunk: usize,
    ) -> Result<Self, Error> {
        let file = location.open()?;
        location.guard(Format::Parquet, || {
            let mask = ProjectionMask::roots(head.parquet_schema(), columns.iter().copied());
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, head.clone())
                .with_projection(mask)
                .with_batch_size(chunk)
                .build()
                .map_err(|error| corrupt(location, error))?;
            Ok(Self { location: location.clone(), reader, failed: false })
        })
    }
}

impl Iterator for Lane {
    type Item = Result<Vec<ArrayRef>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let reader = &mut self.reader;
        let next = self.location.guard(Format::Parquet, || {
            reader.next().transpose().map_err(|error| self.location.corrupt(Format::Parquet, error))
        });
        self.failed = next.is_err();
        next.map(|batch| batch.map(|batch| batch.columns().to_vec())).transpose()
    }
}

fn corrupt(location: &Location, error: ::parquet::errors::ParquetError) -> Error {
    location.corrupt(Format::Parquet, error)
}
