//! Arrow IPC, as a file or as a stream.
//!
//! An IPC file is a stream between a magic and a footer, so both are read as streams. The messages are
//! walked here rather than by the readers of `arrow-ipc`, which allocate whatever length a damaged message
//! claims: a length is believed only as far as there are bytes for it. Memory is that of the largest record batch.

use crate::arrays;
use crate::columns::Selection;
use crate::error::Error;
use crate::format::Format;
use crate::lists::first_length_of;
use crate::location::Location;
use crate::table::Inspection;
use arrow_array::ArrayRef;
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary, read_footer_length};
use arrow_ipc::{Endianness, Message, MessageHeader, root_as_message};
use arrow_schema::SchemaRef;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

/// The most that one compressed buffer may unpack to: 128 million float64 in one record batch.
const MOST: i64 = 1 << 30;

/// What stands at the beginning of a message, since Arrow 0.15.
const CONTINUATION: u32 = u32::MAX;

/// Reads the schema and counts the rows, skipping the data.
pub(crate) fn inspect(location: &Location) -> Result<Inspection<SchemaRef>, Error> {
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
            messages.skip(body)?;
        }
        let columns = arrays::columns(schema.fields());
        Ok(Inspection { head: schema, columns, rows: Some(rows), empty: rows == 0 })
    })
}

/// The length of the first list in a column.
pub(crate) fn list_length(
    location: &Location,
    schema: &SchemaRef,
    column: usize,
) -> Result<Option<usize>, Error> {
    first_length_of(Chunks::open(location, schema, vec![column], false)?)
}

/// Reads the rows.
pub(crate) fn read(
    location: &Location,
    schema: &SchemaRef,
    selection: &Selection,
) -> Result<arrays::Rows<Chunks>, Error> {
    let chunks = Chunks::open(location, schema, selection.used(), selection.cluster.is_some())?;
    Ok(arrays::Rows::new(location, Format::Arrow, selection, chunks))
}

/// The record batches of a file, some columns of each.
#[derive(Debug)]
pub(crate) struct Chunks {
    messages: Messages,
    schema: SchemaRef,
    columns: Vec<usize>,
    /// Scores are never dictionaries; only a cluster column may need them.
    dictionaries: Option<HashMap<i64, ArrayRef>>,
    failed: bool,
}

impl Chunks {
    fn open(
        location: &Location,
        schema: &SchemaRef,
        columns: Vec<usize>,
        dictionaries: bool,
    ) -> Result<Self, Error> {
        let mut messages = Messages::open(location)?;
        let found = location.guard(Format::Arrow, || messages.schema())?;
        if found != *schema {
            return Err(location.changed());
        }
        let dictionaries = dictionaries.then(HashMap::new);
        Ok(Self { messages, schema: schema.clone(), columns, dictionaries, failed: false })
    }

    fn read(&mut self) -> Result<Option<Vec<ArrayRef>>, Error> {
        let location = self.messages.location.clone();
        let corrupt = |error| location.corrupt(Format::Arrow, error);
        while let Some((metadata, length)) = self.messages.next()? {
            let message = parse(&location, &metadata)?;
            let version = message.version();
            if let Some(batch) = message.header_as_record_batch() {
                let body = self.messages.read(length)?;
                check_compression(&location, batch, &body)?;
                let none = HashMap::new();
                let dictionaries = self.dictionaries.as_ref().unwrap_or(&none);
                let decoder =
                    RecordBatchDecoder::try_new(&body, batch, self.schema.clone(), dictionaries, &version);
                let arrays = decoder
                    .and_then(|decoder| decoder.with_projection(Some(&self.columns)).read_record_batch())
                    .map_err(corrupt)?;
                return Ok(Some(arrays.columns().to_vec()));
            }
            match (message.header_as_dictionary_batch(), &mut self.dictionaries) {
                (Some(batch), Some(dictionaries)) => {
                    let body = self.messages.read(length)?;
                    if let Some(data) = batch.data() {
                        check_compression(&location, data, &body)?;
                    }
                    read_dictionary(&body, batch, &self.schema, dictionaries, &version).map_err(corrupt)?;
                }
                _ => self.messages.skip(length)?,
            }
        }
        Ok(None)
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

fn parse<'a>(location: &Location, metadata: &'a [u8]) -> Result<Message<'a>, Error> {
    root_as_message(metadata).map_err(|error| location.corrupt(Format::Arrow, error))
}

/// Refuses buffers that claim to unpack to more than anybody writes.
fn check_compression(
    location: &Location,
    batch: arrow_ipc::RecordBatch<'_>,
    body: &Buffer,
) -> Result<(), Error> {
    if batch.compression().is_none() {
        return Ok(());
    }
    for buffer in batch.buffers().iter().flatten() {
        let claimed = usize::try_from(buffer.offset()).ok().and_then(|at| {
            let bytes = body.get(at..at.checked_add(8)?)?;
            Some(i64::from_le_bytes(bytes.try_into().ok()?))
        });
        if buffer.length() > 0 && claimed.is_none_or(|claimed| claimed > MOST) {
            return Err(location.corrupt(Format::Arrow, "a compressed buffer claims an impossible length"));
        }
    }
    Ok(())
}

/// The messages of a stream: the metadata of each, and the length of the body that follows it.
#[derive(Debug)]
struct Messages {
    location: Location,
    input: BufReader<File>,
    /// Bytes up to the end of the stream.
    left: u64,
}

impl Messages {
    /// Opens the stream of a file, or a file that is a stream.
    fn open(location: &Location) -> Result<Self, Error> {
        let unreadable = |source| location.unreadable(source);
        let mut file = location.open()?;
        let length = file.seek(SeekFrom::End(0)).map_err(unreadable)?;
        file.rewind().map_err(unreadable)?;
        let mut magic = [0; 8];
        if length >= 8 {
            file.read_exact(&mut magic).map_err(unreadable)?;
        }
        let (start, end) = if magic.starts_with(b"ARROW1") {
            let no_footer = || location.truncated(Format::Arrow, "it does not end with the footer of one");
            let mut tail = [0; 10];
            if length < 18 {
                return Err(no_footer());
            }
            file.seek(SeekFrom::End(-10)).map_err(unreadable)?;
            file.read_exact(&mut tail).map_err(unreadable)?;
            let footer = read_footer_length(tail).map_err(|_| no_footer())? as u64;
            (8, length.checked_sub(10 + footer).filter(|end| *end >= 8).ok_or_else(no_footer)?)
        } else {
            (0, length)
        };
        file.seek(SeekFrom::Start(start)).map_err(unreadable)?;
        let mut messages =
            Self { location: location.clone(), input: BufReader::new(file), left: end - start };
        if start > 0 {
            messages.skip_padding()?;
        }
        Ok(messages)
    }

    /// Passes over the zeros between a file's magic and its stream: writers align to 8 bytes or to 64.
    fn skip_padding(&mut self) -> Result<(), Error> {
        loop {
            let bytes = self.input.fill_buf().map_err(|source| self.location.unreadable(source))?;
            if self.left < 8 || bytes.get(..8) != Some(&[0; 8]) {
                return Ok(());
            }
            self.skip(8)?;
        }
    }

    /// The first message.
    fn schema(&mut self) -> Result<SchemaRef, Error> {
        let location = self.location.clone();
        let corrupt = |reason| location.corrupt(Format::Arrow, reason);
        let Some((metadata, body)) = self.next()? else { return Err(corrupt("it has no schema")) };
        let message = parse(&location, &metadata)?;
        let schema = match message.header_type() {
            MessageHeader::Schema => message.header_as_schema(),
            _ => None,
        };
        let schema = schema.ok_or_else(|| corrupt("it does not begin with a schema"))?;
        if schema.endianness() != Endianness::Little {
            return Err(corrupt("it is big-endian"));
        }
        let schema = Arc::new(fb_to_schema(schema));
        self.skip(body)?;
        Ok(schema)
    }

    /// The next message; nothing at the end of the stream.
    fn next(&mut self) -> Result<Option<(Vec<u8>, u64)>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut word = self.word()?;
        if word == CONTINUATION {
            word = self.word()?;
        }
        if word == 0 {
            return Ok(None);
        }
        let metadata = self.bytes(word.into())?;
        let message = parse(&self.location, &metadata)?;
        let body = u64::try_from(message.bodyLength()).ok().filter(|body| *body <= self.left);
        let body = body.ok_or_else(|| self.ends_early())?;
        Ok(Some((metadata, body)))
    }

    /// Reads a body.
    fn read(&mut self, body: u64) -> Result<Buffer, Error> {
        Ok(Buffer::from_vec(self.bytes(body)?))
    }

    /// Passes over a body.
    fn skip(&mut self, body: u64) -> Result<(), Error> {
        self.left = self.left.checked_sub(body).ok_or_else(|| self.ends_early())?;
        let skipped = i64::try_from(body).ok().map(|body| self.input.seek_relative(body));
        skipped.ok_or_else(|| self.ends_early())?.map_err(|source| self.location.unreadable(source))
    }

    fn word(&mut self) -> Result<u32, Error> {
        let bytes = self.bytes(4)?;
        Ok(bytes.try_into().map(u32::from_le_bytes).unwrap_or(0))
    }

    fn bytes(&mut self, length: u64) -> Result<Vec<u8>, Error> {
        self.left = self.left.checked_sub(length).ok_or_else(|| self.ends_early())?;
        let mut bytes = Vec::with_capacity(usize::try_from(length).map_err(|_| self.ends_early())?);
        let input = self.input.by_ref();
        input.take(length).read_to_end(&mut bytes).map_err(|source| self.location.unreadable(source))?;
        if bytes.len() as u64 != length {
            return Err(self.location.changed());
        }
        Ok(bytes)
    }

    fn ends_early(&self) -> Error {
        self.location.truncated(Format::Arrow, "a message is longer than what is left of the file")
    }
}
