//! The messages of an IPC stream.

use crate::error::Error;
use crate::read::format::Format;
use crate::read::location::Location;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Endianness, Message, root_as_message};
use arrow_schema::SchemaRef;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

/// What stands at the beginning of a message, since Arrow 0.15.
const CONTINUATION: u32 = u32::MAX;

/// Reads a message's metadata.
pub(super) fn parse<'a>(location: &Location, metadata: &'a [u8]) -> Result<Message<'a>, Error> {
    root_as_message(metadata).map_err(|error| location.corrupt(Format::Arrow, error))
}

/// The metadata of a message, and where its body is.
type Found = (Vec<u8>, Range<u64>);

/// The messages of a stream, and the bytes of their bodies.
#[derive(Debug)]
pub(super) struct Messages {
    pub(super) location: Location,
    input: BufReader<File>,
    /// Where the next message begins in the file.
    at: u64,
    /// Where the stream ends.
    end: u64,
    /// Whether its end was said: by a footer, or by the marker of a stream once that is read.
    pub(super) ended: bool,
}

impl Messages {
    /// Opens the stream of a file, or a file that is a stream.
    pub(super) fn open(location: &Location) -> Result<Self, Error> {
        let unreadable = |source| location.unreadable(source);
        let mut file = location.open()?;
        let length = location.length();
        let mut magic = [0; 8];
        if length >= 8 {
            file.read_exact(&mut magic).map_err(unreadable)?;
        }
        let framed = magic.starts_with(b"ARROW1");
        let (at, end) = if framed {
            let no_footer = || location.truncated(Format::Arrow, "it does not end with the footer of one");
            let mut tail = [0; 10];
            if length < 18 {
                return Err(no_footer());
            }
            file.seek(SeekFrom::Start(length - 10)).map_err(unreadable)?;
            file.read_exact(&mut tail).map_err(unreadable)?;
            let footer = read_footer_length(tail).map_err(|_| no_footer())? as u64;
            (8, length.checked_sub(10 + footer).filter(|end| *end >= 8).ok_or_else(no_footer)?)
        } else {
            (0, length)
        };
        file.seek(SeekFrom::Start(at)).map_err(unreadable)?;
        let mut messages =
            Self { location: location.clone(), input: BufReader::new(file), at, end, ended: framed };
        if framed {
            messages.skip_padding()?;
        }
        Ok(messages)
    }

    /// Passes over the zeros between a file's magic and its stream: writers align to 8 bytes or to 64.
    fn skip_padding(&mut self) -> Result<(), Error> {
        loop {
            let bytes = self.input.fill_buf().map_err(|source| self.location.unreadable(source))?;
            if self.at + 8 > self.end || bytes.get(..8) != Some(&[0; 8]) {
                return Ok(());
            }
            self.skip_to(self.at + 8)?;
        }
    }

    /// The first message.
    pub(super) fn schema(&mut self) -> Result<SchemaRef, Error> {
        let location = self.location.clone();
        let corrupt = |reason| location.corrupt(Format::Arrow, reason);
        let Some((metadata, body)) = self.next()? else { return Err(corrupt("it has no schema")) };
        let message = parse(&location, &metadata)?;
        let schema = message.header_as_schema().ok_or_else(|| corrupt("it does not begin with a schema"))?;
        if schema.endianness() != Endianness::Little {
            return Err(corrupt("it is big-endian"));
        }
        let schema = Arc::new(fb_to_schema(schema));
        self.skip_to(body.end)?;
        Ok(schema)
    }

    /// The metadata of the next message, and where its body is; nothing at the end of the stream. The body is to be
    /// read, or passed over, before the next message.
    pub(super) fn next(&mut self) -> Result<Option<Found>, Error> {
        if self.at == self.end {
            return Ok(None);
        }
        let mut word = self.word()?;
        if word == CONTINUATION {
            word = self.word()?;
        }
        if word == 0 {
            // What stands behind the marker is no part of the stream, however often it is asked for.
            (self.ended, self.end) = (true, self.at);
            return Ok(None);
        }
        let metadata = self.bytes(u64::from(word))?;
        let message = parse(&self.location, &metadata)?;
        let length = u64::try_from(message.bodyLength()).ok();
        let end = length.and_then(|length| self.at.checked_add(length)).filter(|end| *end <= self.end);
        let end = end.ok_or_else(|| self.ends_early())?;
        Ok(Some((metadata, self.at..end)))
    }

    /// Reads bytes of a body.
    pub(super) fn read(&mut self, range: Range<u64>) -> Result<Vec<u8>, Error> {
        self.skip_to(range.start)?;
        self.bytes(range.end.saturating_sub(range.start))
    }

    /// Goes to another place of the file.
    pub(super) fn skip_to(&mut self, at: u64) -> Result<(), Error> {
        // Near places are in the buffer already.
        let distance = i64::try_from(at).ok().zip(i64::try_from(self.at).ok()).map(|(to, from)| to - from);
        let distance = distance.filter(|_| at <= self.end).ok_or_else(|| self.ends_early())?;
        self.at = at;
        self.input.seek_relative(distance).map_err(|source| self.location.unreadable(source))
    }

    fn word(&mut self) -> Result<u32, Error> {
        let bytes = self.bytes(4)?;
        Ok(bytes.try_into().map(u32::from_le_bytes).unwrap_or(0))
    }

    fn bytes(&mut self, length: u64) -> Result<Vec<u8>, Error> {
        if length > self.end.saturating_sub(self.at) {
            return Err(self.ends_early());
        }
        self.location.allow(length, "a message")?;
        let bytes = self.location.bytes(&mut self.input, length)?;
        if bytes.len() as u64 != length {
            return Err(self.location.changed());
        }
        self.at += length;
        Ok(bytes)
    }

    fn ends_early(&self) -> Error {
        self.location.truncated(Format::Arrow, "a message is longer than what is left of the file")
    }
}
