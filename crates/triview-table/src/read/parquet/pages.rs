//! The bytes of a Parquet file as its decoder asks for them, and what its pages will take, counted before they are unpacked.
//!
//! A page header claims how much is unpacked of it, a megabyte of nothing may claim two gigabytes, and every column that is read has a page
//! of its own.

use super::thrift::Compact;
use crate::error::Error;
use crate::read::location::Location;
use ::parquet::arrow::arrow_reader::ArrowReaderMetadata;
use ::parquet::basic::{Compression, Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, Length};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many times its size gzip unpacks to at most.
const GZIP: u64 = 1032;
/// What an item of a list takes with its levels.
const ITEM: u64 = 16;
/// A header that is longer has statistics that nobody wrote.
const LONGEST_HEADER: u64 = 16 << 20;

/// A file whose pages are counted.
pub(super) struct Pages {
    file: File,
    counter: Arc<Counter>,
}

/// What the pages of the columns that are read hold in memory, all together.
pub(super) struct Counter {
    location: Location,
    /// The parts of the file that are columns of row groups, in its order.
    parts: Vec<Part>,
    held: Mutex<Held>,
}

/// A column of a row group.
struct Part {
    start: u64,
    end: u64,
    /// The column among all.
    column: usize,
    packed_by_gzip: bool,
    /// Lists, of any length.
    repeated: bool,
    /// Texts, which are not copied: their pages stay as long as the batch.
    text: bool,
}

#[derive(Default)]
struct Held {
    columns: Vec<Column>,
    /// The sum over the columns.
    total: u64,
    /// Why decoders were stopped: of what too many bytes would have been needed.
    refused: Option<(u64, &'static str)>,
}

#[derive(Clone, Default)]
struct Column {
    dictionary: u64,
    page: u64,
    /// Pages of the batch that is being made.
    batch: u64,
    /// Where the data of the last page begin whose header was read.
    data: u64,
}

/// What a page header says.
struct Header {
    length: u64,
    dictionary: bool,
    unpacked: u64,
    packed: u64,
    values: u64,
}

impl Counter {
    /// Of the columns of a file.
    pub(super) fn new(location: &Location, head: &ArrowReaderMetadata) -> Arc<Self> {
        let schema = head.parquet_schema();
        let mut parts = Vec::new();
        for group in head.metadata().row_groups() {
            for (column, chunk) in group.columns().iter().enumerate() {
                // What is out of range the decoder refuses.
                let begin = chunk.dictionary_page_offset().unwrap_or(i64::MAX).min(chunk.data_page_offset());
                let (Ok(start), Ok(length)) = (u64::try_from(begin), u64::try_from(chunk.compressed_size()))
                else {
                    continue;
                };
                let kind = schema.column(column);
                parts.push(Part {
                    start,
                    end: start.saturating_add(length),
                    column,
                    packed_by_gzip: matches!(chunk.compression(), Compression::GZIP(_)),
                    repeated: kind.max_rep_level() > 0,
                    text: kind.physical_type() == Type::BYTE_ARRAY,
                });
            }
        }
        parts.sort_unstable_by_key(|part| part.start);
        let columns = vec![Column::default(); schema.num_columns()];
        let held = Mutex::new(Held { columns, ..Held::default() });
        Arc::new(Self { location: location.clone(), parts, held })
    }

    /// Why the decoder was stopped, if it was here. Several that read at the same time are told alike.
    pub(super) fn refusal(&self) -> Option<Error> {
        let (bytes, what) = self.held().refused?;
        self.location.allow(bytes, what).err()
    }

    /// Stops the decoder where this is more than is allowed.
    fn allow(&self, bytes: u64, what: &'static str) -> Result<(), ParquetError> {
        self.location.allow(bytes, what).map_err(|_| {
            self.held().refused = Some((bytes, what));
            ParquetError::General("more than is allowed".into())
        })
    }

    /// Begins another batch of some columns.
    pub(super) fn begin_batch(&self, columns: &[usize]) {
        let mut held = self.held();
        for &column in columns {
            held.total -= held.columns[column].batch;
            held.columns[column].batch = 0;
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn part(&self, at: u64) -> Option<&Part> {
        let after = self.parts.partition_point(|part| part.start <= at);
        self.parts[..after].last().filter(|part| at < part.end)
    }

    /// Counts a page whose header begins at a place of the file.
    fn count(&self, at: u64, part: &Part, header: &Header) -> Result<(), ParquetError> {
        let mut held = self.held();
        let column = &mut held.columns[part.column];
        let before = column.dictionary + column.page + column.batch;
        let page = header.unpacked.saturating_add(header.packed);
        column.data = at.saturating_add(header.length);
        match header.dictionary {
            true => (column.dictionary, column.page) = (page, 0),
            false => column.page = page,
        }
        if part.text {
            column.batch = column.batch.saturating_add(header.unpacked);
        }
        if part.repeated {
            column.batch = column.batch.saturating_add(header.values.saturating_mul(ITEM));
        }
        let now = column.dictionary.saturating_add(column.page).saturating_add(column.batch);
        held.total = held.total.saturating_sub(before).saturating_add(now);
        let total = held.total;
        drop(held);
        self.allow(total, "what is unpacked of its pages")
    }

    /// Refuses a page that is not as long as it claims, where its codec does not.
    fn count_gzip(&self, bytes: &[u8]) -> Result<(), ParquetError> {
        let most = self.location.memory.bytes();
        if (bytes.len() as u64).saturating_mul(GZIP) <= most {
            return Ok(());
        }
        // What is damaged the decoder says.
        let unpacked = io::copy(&mut MultiGzDecoder::new(bytes).take(most + 1), &mut io::sink());
        self.allow(unpacked.unwrap_or(0), "a page")
    }
}

impl Pages {
    pub(super) fn new(file: File, counter: Arc<Counter>) -> Self {
        Self { file, counter }
    }

    /// The header of a page that begins at a place of the file, where it is longer than most.
    fn long_header(&self, at: u64) -> Result<Header, ParquetError> {
        let mut bytes = Vec::new();
        self.file.get_read(at)?.take(LONGEST_HEADER).read_to_end(&mut bytes)?;
        Header::read(&bytes).ok_or_else(|| ParquetError::General("a page header is not complete".into()))
    }
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut compact = Compact::new(bytes);
        let (mut kind, mut unpacked, mut packed, mut values) = (0, 0, 0, 0);
        compact.each_field(|compact, field| {
            match field.id {
                1 => kind = compact.whole(field)?,
                2 => unpacked = compact.whole(field)?,
                3 => packed = compact.whole(field)?,
                // The header of the page's own kind begins with the number of its values.
                5 | 7 | 8 => {
                    let mut first = true;
                    compact.each_field(|compact, field| match field.id {
                        1 if first => {
                            first = false;
                            values = compact.whole(field)?;
                            Some(())
                        }
                        _ => compact.skip(field),
                    })?;
                }
                _ => compact.skip(field)?,
            }
            Some(())
        })?;
        // A negative length is refused by the decoder.
        let length = (bytes.len() - compact.left()) as u64;
        let [unpacked, packed, values] =
            [unpacked, packed, values].map(|size| u64::try_from(size).unwrap_or(0));
        Some(Self { length, dictionary: kind == 2, unpacked, packed, values })
    }
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for Pages {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let mut read = self.file.get_read(start)?;
        let Some(part) = self.counter.part(start) else { return Ok(read) };
        // The decoder asks again for a page whose header it has looked at before.
        if self.counter.held().columns[part.column].data == start {
            return Ok(read);
        }
        let header = match Header::read(read.fill_buf()?) {
            Some(header) => header,
            None => {
                let header = self.long_header(start)?;
                // All readers of a file are at the same place.
                read = self.file.get_read(start)?;
                header
            }
        };
        self.counter.count(start, part, &header)?;
        Ok(read)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes, ParquetError> {
        let bytes = self.file.get_bytes(start, length)?;
        if self.counter.part(start).is_some_and(|part| part.packed_by_gzip) {
            self.counter.count_gzip(&bytes)?;
        }
        Ok(bytes)
    }
}
