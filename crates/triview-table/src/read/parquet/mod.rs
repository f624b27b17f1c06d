//! Apache Parquet.

mod footer;
mod pages;
mod thrift;

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
use ::parquet::basic::{Encoding, Type};
use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field, Schema};
use pages::{Counter, Pages};
use std::fs::File;
use std::iter;
use std::sync::Arc;
use std::thread::{self, available_parallelism};

/// Rows of text that are decoded at a time.
const TEXTS: usize = 8192;
/// Chunks that a decoding thread may be ahead.
const DEPTH: usize = 2;
/// Rows that are decoded to learn how long the lists are: they may have any length.
const FIRST: usize = 16;
/// Bytes of text that are decoded at a time, by the average of a row group; a single text may be longer.
const TEXT: u64 = 64 << 20;
/// Rows that are decoded at a time of texts which are written as what is new after the one before: any may be as long as its page.
const DELTAS: usize = 256;
/// The stack that a footer is decoded on: a hundred groups within each other take less than a hundredth of it.
const STACK: usize = 16 << 20;

/// Reads the footer.
pub(crate) fn inspect(location: &Location) -> Result<Inspection<ArrowReaderMetadata>, Error> {
    let mut file = location.open()?;
    footer::check(location, &mut file)?;
    // Whoever asks may have a stack of any size, and the decoder of footers recurses.
    thread::scope(|scope| {
        let decode = || inspect_footer(location, &file);
        let thread = thread::Builder::new().name("triview-read".into()).stack_size(STACK);
        let thread = thread.spawn_scoped(scope, decode).map_err(|source| location.unreadable(source))?;
        thread
            .join()
            .unwrap_or_else(|_| Err(location.corrupt(Format::Parquet, "its footer cannot be decoded")))
    })
}

fn inspect_footer(location: &Location, file: &File) -> Result<Inspection<ArrowReaderMetadata>, Error> {
    location.guard(Format::Parquet, || {
        // The Arrow schema that writers embed says nothing about numbers that the Parquet one does not.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let head = ArrowReaderMetadata::load(file, options).map_err(|error| corrupt(location, error))?;
        let columns = head.parquet_schema().num_columns();
        let mut rows = 0_u64;
        for group in head.metadata().row_groups() {
            // What reads columns by their numbers believes this.
            if group.num_columns() != columns {
                let found = group.num_columns();
                let reason = format!("a row group has {found} column(s) where the schema has {columns}");
                return Err(location.corrupt(Format::Parquet, reason));
            }
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
    first_length_of(Lane::open(location, head, &Counter::new(location, head), &[column], FIRST)?)
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
    let chunk = chunk.min(rows_at_a_time(head, &used));
    let counter = Counter::new(location, head);
    let threads = available_parallelism().map_or(1, |threads| threads.get());
    if !prefetch || threads == 1 || used.len() == 1 {
        let lane = Lane::open(location, head, &counter, &used, chunk)?;
        return Ok(Box::new(arrays::Rows::new(location, Format::Parquet, selection, lane)));
    }
    let (left, right) = used.split_at(used.len() / 2);
    let ahead = |columns: &[usize]| {
        let lane = Lane::open(location, head, &counter, columns, chunk)?;
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
    let chunk = TEXTS.min(rows_at_a_time(head, columns));
    let lane = Lane::open(location, head, &Counter::new(location, head), columns, chunk)?;
    arrays::texts(location, Format::Parquet, lane, visit)
}

/// The most rows of some columns that are decoded at a time, for the sake of the texts among them.
fn rows_at_a_time(head: &ArrowReaderMetadata, columns: &[usize]) -> usize {
    let schema = head.parquet_schema();
    let used = |leaf: &usize| columns.binary_search(&schema.get_column_root_idx(*leaf)).is_ok();
    let is_text = |leaf: &usize| schema.column(*leaf).physical_type() == Type::BYTE_ARRAY;
    let texts: Vec<usize> = (0..schema.num_columns()).filter(used).filter(is_text).collect();
    let mut most = usize::MAX;
    for group in head.metadata().row_groups() {
        for &text in &texts {
            let chunk = group.column(text);
            let bytes = u64::try_from(chunk.uncompressed_size()).unwrap_or(0);
            let a_row = bytes / u64::try_from(group.num_rows()).unwrap_or(0).max(1);
            most = most.min(usize::try_from(TEXT / a_row.max(1)).unwrap_or(usize::MAX)).max(1);
            if chunk.encodings().any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY) {
                most = most.min(DELTAS);
            }
        }
    }
    most
}

/// The same columns, with texts as views of their pages: a text that is repeated a million times is in memory once.
fn with_views(head: &ArrowReaderMetadata) -> ::parquet::errors::Result<ArrowReaderMetadata> {
    let mut any = false;
    let fields: Vec<Field> = head
        .schema()
        .fields()
        .iter()
        .map(|field| {
            let view = match field.data_type() {
                DataType::Utf8 => DataType::Utf8View,
                DataType::Binary => DataType::BinaryView,
                _ => return field.as_ref().clone(),
            };
            any = true;
            field.as_ref().clone().with_data_type(view)
        })
        .collect();
    if !any {
        return Ok(head.clone());
    }
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let options = options.with_schema(Arc::new(Schema::new(fields)));
    ArrowReaderMetadata::try_new(head.metadata().clone(), options)
}

/// Some columns of a file, chunk by chunk.
struct Lane {
    location: Location,
    reader: ParquetRecordBatchReader,
    counter: Arc<Counter>,
    /// The columns as the counter knows them: of lists, those of the items.
    leaves: Vec<usize>,
    failed: bool,
}

impl Lane {
    fn open(
        location: &Location,
        head: &ArrowReaderMetadata,
        counter: &Arc<Counter>,
        columns: &[usize],
        chunk: usize,
    ) -> Result<Self, Error> {
        let pages = Pages::new(location.open()?, counter.clone());
        location.guard(Format::Parquet, || {
            let schema = head.parquet_schema();
            let mask = ProjectionMask::roots(schema, columns.iter().copied());
            let used = |leaf: &usize| columns.contains(&schema.get_column_root_idx(*leaf));
            let leaves = (0..schema.num_columns()).filter(used).collect();
            let reader = with_views(head)
                .and_then(|head| {
                    ParquetRecordBatchReaderBuilder::new_with_metadata(pages, head)
                        .with_projection(mask)
                        .with_batch_size(chunk)
                        .build()
                })
                .map_err(|error| counter.refusal().unwrap_or_else(|| corrupt(location, error)))?;
            Ok(Self { location: location.clone(), reader, counter: counter.clone(), leaves, failed: false })
        })
    }
}

impl Iterator for Lane {
    type Item = Result<Vec<ArrayRef>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        self.counter.begin_batch(&self.leaves);
        let (reader, location) = (&mut self.reader, &self.location);
        let next = location.guard(Format::Parquet, || {
            reader.next().transpose().map_err(|error| location.corrupt(Format::Parquet, error))
        });
        let next = next.map_err(|error| self.counter.refusal().unwrap_or(error));
        self.failed = next.is_err();
        next.map(|batch| batch.map(|batch| batch.columns().to_vec())).transpose()
    }
}

fn corrupt(location: &Location, error: ::parquet::errors::ParquetError) -> Error {
    location.corrupt(Format::Parquet, error)
}
