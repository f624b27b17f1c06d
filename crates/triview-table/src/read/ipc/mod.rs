//! Arrow IPC, as a file or as a stream.
//!
//! An IPC file is a stream between a magic and a footer, so both are read as streams. The messages are
//! walked here rather than by the readers of `arrow-ipc`, which allocate whatever length a damaged message
//! claims: a length is believed only as far as there are bytes for it. A record batch that is larger than a
//! batch of scores is read in parts; a compressed one cannot be, and is held in memory whole, if that is allowed.

mod lz4;
mod messages;
mod window;

use crate::error::Error;
use crate::read::arrays;
use crate::read::columns::Selection;
use crate::read::format::Format;
use crate::read::lists::first_length_of;
use crate::read::location::Location;
use crate::read::table::{Inspection, Visit};
use arrow_array::ArrayRef;
use arrow_buffer::Buffer;
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_ipc::{CompressionType, RecordBatch};
use arrow_schema::SchemaRef;
use messages::{Messages, parse};
use std::collections::HashMap;
use window::{Window, used_buffers};

/// Rows of text that are decoded at a time.
const TEXTS: usize = 8192;
/// Rows that are decoded to learn how long the lists are: they may have any length.
const FIRST: usize = 16;

/// What a file or a stream says of its rows.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) schema: SchemaRef,
    /// Whether it ends as it should: a stream that was cut between two messages does not.
    pub(crate) ended: bool,
}

/// Reads the schema and counts the rows, skipping the data.
pub(crate) fn inspect(location: &Location) -> Result<Inspection<Head>, Error> {
    let mut messages = Messages::open(location)?;
    location.guard(Format::Arrow, || {
        let schema = messages.schema()?;
        let mut rows = 0_u64;
        while let Some((metadata, body)) = messages.next()? {
            let message = parse(location, &metadata)?;
            if let Some(batch) = message.header_as_record_batch() {
                let more = u64::try_from(batch.length()).ok();
                rows = more
                    .and_then(|more| rows.checked_add(more))
                    .ok_or_else(|| location.corrupt(Format::Arrow, "its row count is out of range"))?;
            }
            messages.skip_to(body.end)?;
        }
        let columns = arrays::columns(schema.fields());
        let head = Head { schema, ended: messages.ended };
        Ok(Inspection { head, columns, rows: Some(rows), empty: rows == 0 })
    })
}

/// The length of the first list in a column.
pub(crate) fn list_length(
    location: &Location,
    schema: &SchemaRef,
    column: usize,
) -> Result<Option<usize>, Error> {
    first_length_of(Chunks::open(location, schema, vec![column], false, FIRST)?)
}

/// Reads the rows, record batches of more than `chunk` rows in parts.
pub(crate) fn read(
    location: &Location,
    schema: &SchemaRef,
    selection: &Selection,
    chunk: usize,
) -> Result<arrays::Rows<Chunks>, Error> {
    let chunks = Chunks::open(location, schema, selection.used(), !selection.keys.is_empty(), chunk)?;
    Ok(arrays::Rows::new(location, Format::Arrow, selection, chunks))
}

/// Gives the text of some columns, in the order of the file, to `visit` row by row.
pub(crate) fn texts(
    location: &Location,
    schema: &SchemaRef,
    columns: &[usize],
    visit: Visit<'_>,
) -> Result<(), Error> {
    let chunks = Chunks::open(location, schema, columns.to_vec(), true, TEXTS)?;
    arrays::texts(location, Format::Arrow, chunks, visit)
}

/// The record batches of a file, some columns of each.
#[derive(Debug)]
pub(crate) struct Chunks {
    messages: Messages,
    schema: SchemaRef,
    columns: Vec<usize>,
    /// Scores are never dictionaries; only a column to cluster or segment by may need them.
    dictionaries: Option<HashMap<i64, ArrayRef>>,
    /// What the dictionaries take.
    kept: u64,
    /// The most rows to read at once.
    chunk: u64,
    window: Option<Window>,
    failed: bool,
}

impl Chunks {
    fn open(
        location: &Location,
        schema: &SchemaRef,
        columns: Vec<usize>,
        dictionaries: bool,
        chunk: usize,
    ) -> Result<Self, Error> {
        let mut messages = Messages::open(location)?;
        let found = location.guard(Format::Arrow, || messages.schema())?;
        if found != *schema {
            return Err(location.changed());
        }
        let dictionaries = dictionaries.then(HashMap::new);
        let (schema, chunk) = (schema.clone(), chunk as u64);
        Ok(Self { messages, schema, columns, dictionaries, kept: 0, chunk, window: None, failed: false })
    }

    fn read(&mut self) -> Result<Option<Vec<ArrayRef>>, Error> {
        let location = self.messages.location.clone();
        let corrupt = |error| location.corrupt(Format::Arrow, error);
        loop {
            if let Some(window) = &mut self.window {
                if let Some(arrays) = window.next(&mut self.messages, self.chunk)? {
                    return Ok(Some(arrays));
                }
                self.window = None;
            }
            let Some((metadata, body)) = self.messages.next()? else { return Ok(None) };
            let message = parse(&location, &metadata)?;
            let version = message.version();
            if let Some(batch) = message.header_as_record_batch() {
                if batch.length() > self.chunk as i64 {
                    self.window = Window::new(&self.schema, batch, &self.columns, body.clone());
                }
                if self.window.is_some() {
                    continue;
                }
                let body = Buffer::from_vec(self.messages.read(body)?);
                let used = used_buffers(&self.schema, batch, &self.columns);
                let unpacked = unpacked_length(&location, batch, &body, used.as_deref())?;
                location.allow(self.kept.saturating_add(unpacked), "a record batch")?;
                let none = HashMap::new();
                let dictionaries = self.dictionaries.as_ref().unwrap_or(&none);
                let schema = self.schema.clone();
                let arrays = RecordBatchDecoder::try_new(&body, batch, schema, dictionaries, &version)
                    .and_then(|decoder| decoder.with_projection(Some(&self.columns)).read_record_batch())
                    .map_err(corrupt)?;
                return Ok(Some(arrays.columns().to_vec()));
            }
            match (message.header_as_dictionary_batch(), &mut self.dictionaries) {
                (Some(batch), Some(dictionaries)) => {
                    let body = Buffer::from_vec(self.messages.read(body)?);
                    if let Some(data) = batch.data() {
                        let unpacked = unpacked_length(&location, data, &body, None)?;
                        self.kept = self.kept.saturating_add(unpacked);
                    }
                    location.allow(self.kept, "its dictionaries")?;
                    read_dictionary(&body, batch, &self.schema, dictionaries, &version).map_err(corrupt)?;
                }
                _ => self.messages.skip_to(body.end)?,
            }
        }
    }
}

impl Iterator for Chunks {
    type Item = Result<Vec<ArrayRef>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let location = self.messages.location.clone();
        let next = location.guard(Format::Arrow, || self.read());
        self.failed = next.is_err();
        next.transpose()
    }
}

/// What the body of a batch takes when it is unpacked, itself included: of these buffers, or of all.
fn unpacked_length(
    location: &Location,
    batch: RecordBatch<'_>,
    body: &Buffer,
    used: Option<&[bool]>,
) -> Result<u64, Error> {
    let Some(compression) = batch.compression() else { return Ok(body.len() as u64) };
    let mut sum = body.len() as u64;
    for (at, buffer) in batch.buffers().iter().flatten().enumerate() {
        if buffer.length() == 0 || used.is_some_and(|used| used.get(at) == Some(&false)) {
            continue;
        }
        let packed = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let packed = packed.and_then(|(at, length)| body.get(at..at.checked_add(length)?));
        let (claimed, packed) = packed.and_then(|packed| packed.split_first_chunk()).ok_or_else(|| {
            location.corrupt(Format::Arrow, "a compressed buffer is not where it should be")
        })?;
        // A buffer that is not packed after all has a length of -1.
        let claimed = u64::try_from(i64::from_le_bytes(*claimed)).unwrap_or(0);
        let most = if compression.codec() == CompressionType::LZ4_FRAME { lz4::most(packed) } else { 0 };
        sum = sum.saturating_add(claimed.max(most));
    }
    Ok(sum)
}
