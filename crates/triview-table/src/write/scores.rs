//! Score tables, written.

use super::array::write_rows;
use super::{Output, replace};
use crate::error::Error;
use crate::read::format::Format;
use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression;
use ::parquet::file::properties::WriterProperties;
use ::parquet::schema::types::ColumnPath;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, SchemaRef};
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::Arc;
use triview::data::{Batch, Schema};

/// The column of true classes in a table with labels.
const LABEL: &str = "label";

/// The class of each row, where it is known.
type Labels = Vec<Option<usize>>;

/// Writes a score table with a `label` column, empty where no label is known, and says how many rows it has. The path's ending chooses the format:
/// `.csv`, `.parquet`, `.arrow`, or `.npy` (an array of scores, without labels and missing views).
///
/// # Errors
/// [`Error::OutputFormat`], [`Error::ViewName`], [`Error::Write`], or what a batch could not be had for.
///
/// # Panics
/// When a batch does not have the schema's views and classes, or not one label a row: a mistake of the caller's.
pub fn write_scores(
    path: &Path,
    schema: &Schema,
    batches: impl Iterator<Item = Result<(Batch, Vec<Option<usize>>), Error>>,
) -> Result<u64, Error> {
    let format = Format::of_ending(path).ok_or_else(|| Error::OutputFormat { path: path.into() })?;
    if let Some(view) = schema.views().iter().find(|view| view.is_empty() || view.contains(':')) {
        return Err(Error::ViewName { view: view.clone() });
    }
    replace(path, |output| {
        // A batch that cannot be had ends the writing, and keeps what was written from being kept.
        let mut failed = None;
        let batches = batches.map_while(|batch| batch.map_err(|error| failed = Some(error)).ok());
        let batches = batches.inspect(|(batch, labels)| {
            assert!(batch.rows() == 0 || batch.k() == schema.k(), "a batch of other classes");
            assert_eq!(batch.views(), schema.views().len(), "a batch of other views");
            assert_eq!(batch.rows(), labels.len(), "one label a row, or none");
        });
        let rows = match format {
            Format::Csv => write_csv(output, schema, batches),
            Format::Parquet => write_parquet(output, schema, batches),
            Format::Arrow => write_arrow(output, schema, batches),
            Format::Npy => write_npy(output, schema, batches),
        };
        match failed {
            Some(error) => Err(error),
            None => rows.map_err(|source| Error::Write { path: path.into(), source }),
        }
    })
}

/// The names of the score columns, view by view.
fn names(schema: &Schema) -> impl Iterator<Item = String> {
    schema.views().iter().flat_map(|view| schema.classes().iter().map(move |class| format!("{view}:{class}")))
}

fn write_csv(
    output: &mut Output,
    schema: &Schema,
    batches: impl Iterator<Item = (Batch, Labels)>,
) -> io::Result<u64> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(names(schema).chain([LABEL.to_owned()]))?;
    let mut rows = 0;
    let mut number = String::new();
    for (batch, labels) in batches {
        for (row, &label) in labels.iter().enumerate() {
            for (view, class) in cells(schema) {
                number.clear();
                // The shortest text that is read back as the same number.
                if !batch.is_missing(view, row) {
                    let _ = write!(number, "{:?}", batch.column(view, class)[row]);
                }
                writer.write_field(&number)?;
            }
            writer.write_field(label.map_or("", |label| &schema.classes()[label]))?;
            writer.write_record(None::<&[u8]>)?;
        }
        rows += batch.rows() as u64;
    }
    writer.flush()?;
    Ok(rows)
}

fn write_parquet(
    output: &mut Output,
    schema: &Schema,
    batches: impl Iterator<Item = (Batch, Labels)>,
) -> io::Result<u64> {
    // Scores hardly ever repeat: a dictionary would only be built to be thrown away.
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_column_dictionary_enabled(ColumnPath::from(LABEL), true)
        .build();
    let arrow = arrow_schema(schema);
    let mut writer =
        ArrowWriter::try_new(output, arrow.clone(), Some(properties)).map_err(io::Error::other)?;
    let mut rows = 0;
    for (batch, labels) in batches {
        writer.write(&record_batch(&arrow, schema, &batch, &labels)?).map_err(io::Error::other)?;
        rows += batch.rows() as u64;
    }
    writer.close().map_err(io::Error::other)?;
    Ok(rows)
}

fn write_arrow(
    output: &mut Output,
    schema: &Schema,
    batches: impl Iterator<Item = (Batch, Labels)>,
) -> io::Result<u64> {
    let arrow = arrow_schema(schema);
    let mut writer = arrow_ipc::writer::FileWriter::try_new(output, &arrow).map_err(io::Error::other)?;
    let mut rows = 0;
    for (batch, labels) in batches {
        writer.write(&record_batch(&arrow, schema, &batch, &labels)?).map_err(io::Error::other)?;
        rows += batch.rows() as u64;
    }
    writer.finish().map_err(io::Error::other)?;
    Ok(rows)
}

fn write_npy(
    output: &mut Output,
    schema: &Schema,
    batches: impl Iterator<Item = (Batch, Labels)>,
) -> io::Result<u64> {
    let parts = batches.map(|(batch, _)| {
        if batch.missing().is_some() {
            let reason = "an array cannot say that a view is missing, but .csv, .parquet and .arrow can";
            return Err(io::Error::other(reason));
        }
        let row = |row: usize| cells(schema).map(move |(view, class)| (view, class, row));
        let all = (0..batch.rows()).flat_map(row);
        Ok(all.map(|(view, class, row)| batch.column(view, class)[row]).collect())
    });
    write_rows(output, [schema.views().len(), schema.k()], parts)
}

/// View and class of each score, in the order of the columns.
fn cells(schema: &Schema) -> impl Iterator<Item = (usize, usize)> {
    let k = schema.k();
    (0..schema.views().len()).flat_map(move |view| (0..k).map(move |class| (view, class)))
}

fn arrow_schema(schema: &Schema) -> SchemaRef {
    let mut fields: Vec<Field> =
        names(schema).map(|name| Field::new(name, DataType::Float64, true)).collect();
    fields.push(Field::new(LABEL, DataType::Utf8, true));
    Arc::new(arrow_schema::Schema::new(fields))
}

fn record_batch(
    arrow: &SchemaRef,
    schema: &Schema,
    batch: &Batch,
    labels: &[Option<usize>],
) -> io::Result<RecordBatch> {
    let mut columns: Vec<ArrayRef> = cells(schema)
        .map(|(view, class)| Arc::new(Float64Array::from_iter(column(batch, view, class))) as ArrayRef)
        .collect();
    let labels = labels.iter().map(|label| label.map(|label| schema.classes()[label].as_str()));
    columns.push(Arc::new(StringArray::from_iter(labels)));
    RecordBatch::try_new(arrow.clone(), columns).map_err(io::Error::other)
}

/// The scores of a column, nothing where the view is missing.
fn column(batch: &Batch, view: usize, class: usize) -> impl Iterator<Item = Option<f64>> {
    let scores = if batch.rows() == 0 { &[] } else { batch.column(view, class) };
    scores.iter().enumerate().map(move |(row, score)| (!batch.is_missing(view, row)).then_some(*score))
}
