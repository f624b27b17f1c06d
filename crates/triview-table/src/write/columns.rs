//! Tables of named columns of text and numbers, written part by part.

use super::{Output, replace};
use crate::error::Error;
use crate::read::format::Format;
use ::parquet::arrow::ArrowWriter;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The most bytes of a row group, after which the next one begins.
const MOST_HELD: usize = 128 << 20;

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Text.
    Text(Vec<String>),
    /// Text that may be lacking.
    SomeText(Vec<Option<String>>),
    /// Whole numbers that may be lacking.
    SomeWhole(Vec<Option<i64>>),
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Numbers.
    Number(Vec<f64>),
}

impl Values {
    fn array(&self) -> ArrayRef {
        match self {
            Values::Text(values) => Arc::new(StringArray::from_iter_values(values)),
            Values::SomeText(values) => Arc::new(StringArray::from_iter(values)),
            Values::SomeWhole(values) => Arc::new(Int64Array::from_iter(values.iter().copied())),
            Values::Whole(values) => Arc::new(Int64Array::from_iter_values(values.iter().copied())),
            Values::Number(values) => Arc::new(Float64Array::from_iter_values(values.iter().copied())),
        }
    }

    fn kind(&self) -> DataType {
        match self {
            Values::Text(_) | Values::SomeText(_) => DataType::Utf8,
            Values::Whole(_) | Values::SomeWhole(_) => DataType::Int64,
            Values::Number(_) => DataType::Float64,
        }
    }

    fn may_lack(&self) -> bool {
        matches!(self, Values::SomeText(_) | Values::SomeWhole(_))
    }

    fn len(&self) -> usize {
        match self {
            Values::Text(values) => values.len(),
            Values::SomeText(values) => values.len(),
            Values::SomeWhole(values) => values.len(),
            Values::Whole(values) => values.len(),
            Values::Number(values) => values.len(),
        }
    }

    fn text(&self, row: usize) -> String {
        match self {
            Values::Text(values) => values[row].clone(),
            Values::SomeText(values) => values[row].clone().unwrap_or_default(),
            Values::SomeWhole(values) => values[row].map(|value| value.to_string()).unwrap_or_default(),
            Values::Whole(values) => values[row].to_string(),
            // The shortest text that is read back as the same number.
            Values::Number(values) => format!("{:?}", values[row]),
        }
    }
}

/// Writes a table and says how many rows it has. The path's ending chooses the format: `.csv`, `.parquet` or `.arrow`. Every part
/// has one list of values a name, all equally long, of the kinds of the first part.
///
/// # Errors
/// [`Error::OutputFormat`], [`Error::Write`], and whatever a part is in place of values.
pub fn write_columns<E: From<Error>>(
    path: &Path,
    names: &[String],
    parts: impl Iterator<Item = Result<Vec<Values>, E>>,
) -> Result<u64, E> {
    let format = match Format::of_ending(path) {
        Some(Format::Npy) | None => return Err(Error::OutputFormat { path: path.into() }.into()),
        Some(format) => format,
    };
    replace(path, |output| {
        let failed = |source| E::from(Error::Write { path: path.into(), source });
        let mut parts = parts.peekable();
        let first = match parts.peek() {
            Some(Ok(first)) => first.iter().map(|values| (values.kind(), values.may_lack())).collect(),
            _ => vec![(DataType::Utf8, true); names.len()],
        };
        let fields = names.iter().zip(first).map(|(name, (kind, null))| Field::new(name, kind, null));
        let mut writer = Writer::new(format, output, Arc::new(Schema::new(fields.collect::<Vec<Field>>())))
            .map_err(failed)?;
        let mut rows = 0;
        for part in parts {
            let part = part?;
            writer.write(&part).map_err(failed)?;
            rows += part.first().map_or(0, Values::len) as u64;
        }
        writer.close().map_err(failed)?;
        Ok(rows)
    })
}

/// A file of one format, while it is written.
enum Writer<'a> {
    Csv(Box<csv::Writer<&'a mut Output>>),
    Parquet(SchemaRef, Box<ArrowWriter<&'a mut Output>>),
    Arrow(SchemaRef, Box<arrow_ipc::writer::FileWriter<&'a mut Output>>),
}

impl<'a> Writer<'a> {
    fn new(format: Format, output: &'a mut Output, schema: SchemaRef) -> io::Result<Self> {
        Ok(match format {
            Format::Parquet => {
                let writer = ArrowWriter::try_new(output, schema.clone(), None).map_err(io::Error::other)?;
                Writer::Parquet(schema, Box::new(writer))
            }
            Format::Arrow => {
                let writer =
                    arrow_ipc::writer::FileWriter::try_new(output, &schema).map_err(io::Error::other)?;
                Writer::Arrow(schema, Box::new(writer))
            }
            Format::Csv | Format::Npy => {
                let mut writer = csv::Writer::from_writer(output);
                writer.write_record(schema.fields().iter().map(|field| field.name()))?;
                Writer::Csv(Box::new(writer))
            }
        })
    }

    fn write(&mut self, part: &[Values]) -> io::Result<()> {
        let arrays = || part.iter().map(Values::array).collect();
        match self {
            Writer::Csv(writer) => {
                for row in 0..part.first().map_or(0, Values::len) {
                    writer.write_record(part.iter().map(|values| values.text(row)))?;
                }
                Ok(())
            }
            Writer::Parquet(schema, writer) => {
                let batch = RecordBatch::try_new(schema.clone(), arrays()).map_err(io::Error::other)?;
                writer.write(&batch).map_err(io::Error::other)?;
                // A row group is held until it is complete.
                if writer.memory_size() > MOST_HELD {
                    writer.flush().map_err(io::Error::other)?;
                }
                Ok(())
            }
            Writer::Arrow(schema, writer) => {
                let batch = RecordBatch::try_new(schema.clone(), arrays()).map_err(io::Error::other)?;
                writer.write(&batch).map_err(io::Error::other)
            }
        }
    }

    fn close(self) -> io::Result<()> {
        match self {
            Writer::Csv(mut writer) => writer.flush(),
            Writer::Parquet(_, writer) => writer.close().map(|_| ()).map_err(io::Error::other),
            Writer::Arrow(_, mut writer) => writer.finish().map_err(io::Error::other),
        }
    }
}
