//! Columns that are made for the rows of Parquet files, beside others of theirs that are copied.

use super::{Output, replace};
use crate::error::Error;
use crate::read::carried::{Carried, CarriedFile};
use crate::read::spool::Spool;
use ::parquet::arrow::add_encoded_arrow_schema_to_metadata;
use ::parquet::basic::{Repetition, Type as Physical};
use ::parquet::data_type::DoubleType;
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{Type, TypePtr};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

/// Writes a Parquet table and says how many rows it has: the columns that are carried, copied as they are, and beside them those
/// of numbers that are made, part by part. Every part has one list of numbers a name, all equally long; together they are as many as the rows of the
/// carried columns. No column is decoded, and what is held in memory does not grow with the rows or the columns.
///
/// # Errors
/// [`Error::Write`], [`Error::Corrupt`] and [`Error::Changed`] of what is copied, and whatever a part is in place of numbers.
pub fn write_beside<E: From<Error>>(
    path: &Path,
    carried: &Carried,
    names: &[String],
    parts: impl Iterator<Item = Result<Vec<Vec<f64>>, E>>,
) -> Result<u64, E> {
    replace(path, |output| {
        let failed = |error: ParquetError| {
            let source = match error {
                ParquetError::External(error) => match error.downcast::<io::Error>() {
                    Ok(source) => *source,
                    Err(error) => io::Error::other(error),
                },
                error => io::Error::other(error),
            };
            E::from(Error::Write { path: path.into(), source })
        };
        let properties = properties(carried, names);
        let schema = schema(carried, names).map_err(failed)?;
        let mut writer = SerializedFileWriter::new(output, schema, Arc::new(properties)).map_err(failed)?;
        let spooled = |source| E::from(Error::Write { path: std::env::temp_dir(), source });
        let mut made = Made::new(names.len()).map_err(spooled)?;
        let mut parts = parts;
        for file in carried.files() {
            let open = file.open()?;
            for (at, rows) in file.groups().enumerate().filter(|(_, rows)| *rows > 0) {
                while made.rows < rows {
                    let part = parts.next().ok_or_else(|| file.other_rows())??;
                    made.push(&part).map_err(spooled)?;
                }
                let mut group = writer.next_row_group().map_err(failed)?;
                copy(file, &open, at, &mut group)?;
                for column in 0..names.len() {
                    let mut into = group.next_column().map_err(failed)?;
                    if let Some(into) = &mut into {
                        let typed = into.typed::<DoubleType>();
                        made.each(column, rows, |numbers| {
                            typed.write_batch(numbers, None, None).map(|_| ()).map_err(io::Error::other)
                        })
                        .map_err(spooled)?;
                    }
                    into.map(|into| into.close()).transpose().map_err(failed)?;
                }
                group.close().map_err(failed)?;
                made.drop_rows(rows).map_err(spooled)?;
            }
            file.unless_changed()?;
        }
        if let (Some(file), true) = (carried.files().last(), made.rows > 0 || parts.next().is_some()) {
            return Err(file.other_rows().into());
        }
        let written = writer.close().map_err(failed)?;
        Ok(u64::try_from(written.file_metadata().num_rows()).unwrap_or(0))
    })
}

/// Copies what is carried of a row group.
fn copy(
    file: &CarriedFile,
    open: &File,
    group: usize,
    into: &mut SerializedRowGroupWriter<'_, &mut Output>,
) -> Result<(), Error> {
    file.copy(open, group, into)
}

/// The carried columns, then those that are made.
fn schema(carried: &Carried, names: &[String]) -> Result<TypePtr, ParquetError> {
    let made = names.iter().map(|name| {
        let made = Type::primitive_type_builder(name, Physical::DOUBLE);
        made.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
    });
    let fields = carried.types().iter().cloned().map(Ok).chain(made).collect::<Result<_, _>>()?;
    Ok(Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?))
}

/// What is noted of the types, where the carried columns' own are.
fn properties(carried: &Carried, names: &[String]) -> WriterProperties {
    // The places of pages within the file are noted for all columns or for none, and those of the copied ones are not known here.
    let mut properties = WriterProperties::builder()
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false)
        .build();
    if let Some(fields) = carried.fields() {
        let made = names.iter().map(|name| Arc::new(Field::new(name, DataType::Float64, false)));
        let fields: Vec<FieldRef> = fields.iter().cloned().chain(made).collect();
        add_encoded_arrow_schema_to_metadata(&Schema::new(fields), &mut properties);
    }
    properties
}

/// Columns of numbers that are waiting for the rest of their row group, which may be as large as its file: in a temporary file.
struct Made {
    spool: Spool,
    columns: usize,
    /// Where each part begins in the file, in numbers, how many rows it has, and how many of them are done.
    parts: Vec<(u64, usize, usize)>,
    /// Rows that are waiting.
    rows: usize,
    length: u64,
}

impl Made {
    fn new(columns: usize) -> io::Result<Self> {
        Ok(Self { spool: Spool::new()?, columns, parts: Vec::new(), rows: 0, length: 0 })
    }

    /// Adds a part, column by column.
    fn push(&mut self, part: &[Vec<f64>]) -> io::Result<()> {
        let rows = part.first().map_or(0, Vec::len);
        for column in part {
            let bytes: Vec<u8> = column.iter().flat_map(|number| number.to_le_bytes()).collect();
            self.spool.write_all(&bytes)?;
        }
        self.parts.push((self.length, rows, 0));
        self.length += (rows * self.columns) as u64;
        self.rows += rows;
        Ok(())
    }

    /// Gives the first rows of a column to `visit`, part by part.
    fn each(
        &self,
        column: usize,
        mut rows: usize,
        mut visit: impl FnMut(&[f64]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut file = File::open(self.spool.path())?;
        for &(start, all, done) in &self.parts {
            let wanted = rows.min(all - done);
            if wanted == 0 {
                continue;
            }
            let mut bytes = vec![0; wanted * 8];
            file.seek(SeekFrom::Start(8 * (start + (column * all + done) as u64)))?;
            file.read_exact(&mut bytes)?;
            let numbers = bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
            visit(&numbers.collect::<Vec<f64>>())?;
            rows -= wanted;
        }
        Ok(())
    }

    /// Drops the first rows.
    fn drop_rows(&mut self, mut rows: usize) -> io::Result<()> {
        self.rows -= rows;
        for (_, all, done) in &mut self.parts {
            let dropped = rows.min(*all - *done);
            *done += dropped;
            rows -= dropped;
        }
        self.parts.retain(|(_, all, done)| done < all);
        if self.parts.is_empty() {
            // The room of the last row group is that of the next.
            self.length = 0;
            self.spool.rewind()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_cut_where_row_groups_are() {
        let mut made = Made::new(2).expect("a temporary folder");
        let part = |from: i32, to: i32| -> Vec<Vec<f64>> {
            vec![(from..to).map(f64::from).collect(), (from..to).map(|x| -f64::from(x)).collect()]
        };
        made.push(&part(0, 3)).expect("room");
        made.push(&part(3, 5)).expect("room");
        let column = |made: &Made, column, rows| {
            let mut all = Vec::new();
            let read = made.each(column, rows, |numbers| {
                all.extend_from_slice(numbers);
                Ok(())
            });
            read.expect("what was written");
            all
        };
        assert_eq!(column(&made, 1, 4), [0.0, -1.0, -2.0, -3.0]);
        made.drop_rows(4).expect("a file");
        made.push(&part(5, 6)).expect("room");
        assert_eq!((made.rows, column(&made, 0, 2)), (2, vec![4.0, 5.0]));
        made.drop_rows(2).expect("a file");
        made.push(&part(6, 8)).expect("room");
        assert_eq!((made.length, column(&made, 1, 2)), (4, vec![-6.0, -7.0]));
    }
}
