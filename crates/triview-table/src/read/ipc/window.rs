//! Some rows of a large record batch.
//!
//! Writers may put a whole table into one record batch, and reading that whole would make memory grow with the
//! rows. An uncompressed batch lies in the file column by column, so a run of rows is some bytes of each
//! column's buffers, and only those are read.

use super::messages::Messages;
use crate::error::Error;
use crate::read::format::Format;
use arrow_array::{ArrayRef, make_array};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_ipc::{FieldNode, RecordBatch};
use arrow_schema::{DataType, FieldRef, Schema};
use std::ops::Range;

/// A record batch that is read a run of rows at a time.
#[derive(Debug)]
pub(super) struct Window {
    columns: Vec<Column>,
    rows: u64,
    done: u64,
    /// Where the batch ends in the file.
    end: u64,
}

/// Which buffers of a batch are of some columns, ascending; nothing where their places depend on more than the schema.
pub(super) fn used_buffers(schema: &Schema, batch: RecordBatch<'_>, columns: &[usize]) -> Option<Vec<bool>> {
    let mut cursor = Cursor { batch, node: 0, buffer: 0, body: 0..0 };
    let mut used = Vec::new();
    for (at, field) in schema.fields().iter().enumerate() {
        cursor.pass(field.data_type())?;
        used.resize(cursor.buffer, columns.binary_search(&at).is_ok());
    }
    Some(used)
}

/// Where the values of a column are in the file.
#[derive(Debug)]
enum Column {
    /// One value a row.
    Plain { kind: DataType, values: Range<u64> },
    /// As many values a row as the type says.
    Fixed { kind: DataType, item: DataType, size: u64, values: Range<u64> },
    /// Values between offsets: lists, and text as lists of bytes.
    Offsets { kind: DataType, item: Option<DataType>, large: bool, offsets: Range<u64>, values: Range<u64> },
}

impl Window {
    /// A window over the `columns` of a batch whose body is at `body`; nothing for a batch that has to be
    /// decoded whole: compressed, with nulls in these columns, or of other types.
    pub(super) fn new(
        schema: &Schema,
        batch: RecordBatch<'_>,
        columns: &[usize],
        body: Range<u64>,
    ) -> Option<Self> {
        if batch.compression().is_some() {
            return None;
        }
        let rows = u64::try_from(batch.length()).ok()?;
        let mut cursor = Cursor { batch, node: 0, buffer: 0, body: body.clone() };
        let mut chosen = Vec::with_capacity(columns.len());
        let last = *columns.last()?;
        for (at, field) in schema.fields().iter().enumerate().take(last + 1) {
            if columns.binary_search(&at).is_ok() {
                chosen.push(cursor.column(field, rows)?);
            } else {
                cursor.pass(field.data_type())?;
            }
        }
        Some(Self { columns: chosen, rows, done: 0, end: body.end })
    }

    /// The next `most` rows, or what is left; nothing at the end, and then the messages go on.
    pub(super) fn next(
        &mut self,
        messages: &mut Messages,
        most: u64,
    ) -> Result<Option<Vec<ArrayRef>>, Error> {
        let rows = most.min(self.rows - self.done);
        if rows == 0 {
            messages.skip_to(self.end)?;
            return Ok(None);
        }
        let run = self.done..self.done + rows;
        let arrays =
            self.columns.iter().map(|column| column.read(messages, run.clone())).collect::<Result<_, _>>()?;
        self.done += rows;
        Ok(Some(arrays))
    }
}

impl Column {
    /// The array of a run of rows.
    fn read(&self, messages: &mut Messages, run: Range<u64>) -> Result<ArrayRef, Error> {
        let rows = (run.end - run.start) as usize;
        let data = match self {
            Column::Plain { kind, values } => {
                let bytes = read(messages, values, run, width(kind))?;
                ArrayData::try_new(kind.clone(), rows, None, 0, vec![bytes], vec![])
            }
            Column::Fixed { kind, item, size, values } => {
                let run = run.start.saturating_mul(*size)..run.end.saturating_mul(*size);
                let length = (run.end - run.start) as usize;
                let bytes = read(messages, values, run, width(item))?;
                ArrayData::try_new(item.clone(), length, None, 0, vec![bytes], vec![])
                    .and_then(|items| ArrayData::try_new(kind.clone(), rows, None, 0, vec![], vec![items]))
            }
            Column::Offsets { kind, item, large, offsets, values } => {
                let bytes = read(messages, offsets, run.start..run.end + 1, if *large { 8 } else { 4 })?;
                let (first, last, offsets) = rebase(&bytes, *large).ok_or_else(|| {
                    messages.location.corrupt(Format::Arrow, "its list offsets are not in order")
                })?;
                let bytes = read(messages, values, first..last, item.as_ref().map_or(1, width))?;
                match item {
                    None => ArrayData::try_new(kind.clone(), rows, None, 0, vec![offsets, bytes], vec![]),
                    Some(item) => {
                        let length = (last - first) as usize;
                        ArrayData::try_new(item.clone(), length, None, 0, vec![bytes], vec![]).and_then(
                            |items| {
                                ArrayData::try_new(kind.clone(), rows, None, 0, vec![offsets], vec![items])
                            },
                        )
                    }
                }
            }
        };
        data.map(make_array).map_err(|error| messages.location.corrupt(Format::Arrow, error))
    }
}

/// Reads the values of a run from a buffer of values `width` bytes wide.
fn read(messages: &mut Messages, buffer: &Range<u64>, run: Range<u64>, width: u64) -> Result<Buffer, Error> {
    let place = |at: u64| {
        let at = buffer.start.checked_add(at.checked_mul(width)?)?;
        (at <= buffer.end).then_some(at)
    };
    let range = place(run.start).zip(place(run.end)).filter(|(start, end)| start <= end);
    let (start, end) = range
        .ok_or_else(|| messages.location.corrupt(Format::Arrow, "a buffer is shorter than its rows need"))?;
    Ok(Buffer::from_vec(messages.read(start..end)?))
}

/// The first and the last of some offsets, and all of them counted from the first.
fn rebase(bytes: &[u8], large: bool) -> Option<(u64, u64, Buffer)> {
    macro_rules! rebase {
        ($type:ty) => {{
            let (words, _) = bytes.as_chunks();
            let mut offsets: Vec<$type> = words.iter().map(|word| <$type>::from_le_bytes(*word)).collect();
            let (first, last) = (*offsets.first()?, *offsets.last()?);
            for offset in &mut offsets {
                *offset = offset.checked_sub(first)?;
            }
            (u64::try_from(first).ok()?, u64::try_from(last).ok()?, Buffer::from_vec(offsets))
        }};
    }
    Some(if large { rebase!(i64) } else { rebase!(i32) })
}

/// Bytes of one value; zero for a type that has no fixed width.
fn width(kind: &DataType) -> u64 {
    kind.primitive_width().map_or(0, |width| width as u64)
}

/// Walks the nodes and buffers of a batch, which stand in the order of the schema.
struct Cursor<'a> {
    batch: RecordBatch<'a>,
    node: usize,
    buffer: usize,
    body: Range<u64>,
}

impl<'a> Cursor<'a> {
    /// The next node, if it has no nulls.
    fn full(&mut self) -> Option<&'a FieldNode> {
        let nodes = self.batch.nodes()?;
        let node = (self.node < nodes.len()).then(|| nodes.get(self.node))?;
        self.node += 1;
        (node.null_count() == 0).then_some(node)
    }

    /// Where the next buffer is in the file.
    fn buffer(&mut self) -> Option<Range<u64>> {
        let buffers = self.batch.buffers()?;
        let buffer = (self.buffer < buffers.len()).then(|| buffers.get(self.buffer))?;
        self.buffer += 1;
        let start = self.body.start.checked_add(u64::try_from(buffer.offset()).ok()?)?;
        let end = start.checked_add(u64::try_from(buffer.length()).ok()?)?;
        (end <= self.body.end).then_some(start..end)
    }

    /// Where a column is that is read.
    fn column(&mut self, field: &FieldRef, rows: u64) -> Option<Column> {
        let kind = field.data_type().clone();
        let node = self.full()?;
        if u64::try_from(node.length()).ok()? != rows {
            return None;
        }
        let _validity = self.buffer()?;
        Some(match field.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 => {
                let large = kind == DataType::LargeUtf8;
                Column::Offsets { kind, item: None, large, offsets: self.buffer()?, values: self.buffer()? }
            }
            DataType::List(item) | DataType::LargeList(item) => {
                let large = matches!(kind, DataType::LargeList(_));
                let offsets = self.buffer()?;
                let (item, values) = self.items(item)?;
                Column::Offsets { kind, item: Some(item), large, offsets, values }
            }
            DataType::FixedSizeList(item, size) => {
                let size = u64::try_from(*size).ok()?;
                let (item, values) = self.items(item)?;
                Column::Fixed { kind, item, size, values }
            }
            number if width(number) > 0 => Column::Plain { kind, values: self.buffer()? },
            _ => return None,
        })
    }

    /// The items of lists of numbers.
    fn items(&mut self, item: &FieldRef) -> Option<(DataType, Range<u64>)> {
        self.full()?;
        let _validity = self.buffer()?;
        let values = self.buffer()?;
        (width(item.data_type()) > 0).then(|| (item.data_type().clone(), values))
    }

    /// Passes over a column that is not read.
    fn pass(&mut self, kind: &DataType) -> Option<()> {
        self.node += 1;
        self.buffer += match kind {
            DataType::Boolean | DataType::FixedSizeBinary(_) | DataType::Dictionary(..) => 2,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => 3,
            DataType::List(_) | DataType::LargeList(_) | DataType::Map(..) => 2,
            DataType::FixedSizeList(..) | DataType::Struct(_) => 1,
            kind if width(kind) > 0 => 2,
            // The buffers of the rest depend on more than the type.
            _ => return None,
        };
        match kind {
            DataType::List(item)
            | DataType::LargeList(item)
            | DataType::Map(item, _)
            | DataType::FixedSizeList(item, _) => self.pass(item.data_type()),
            DataType::Struct(fields) => fields.iter().try_for_each(|field| self.pass(field.data_type())),
            _ => Some(()),
        }
    }
}
