//! Scores in Arrow arrays, as the Parquet and the IPC reader decode them.

use crate::columns::{Column, KeyColumn, Kind, Place, Selection};
use crate::error::Error;
use crate::format::Format;
use crate::lists;
use crate::location::Location;
use crate::numbers::Number;
use crate::pending::Pending;
use crate::table::Reader;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Fields};
use std::fmt::Write;

/// Runs `$body` with the values of a numeric array; nothing for any other array.
macro_rules! with_values {
    ($array:expr, $values:ident => $body:expr; $($variant:ident $primitive:ident),*) => {
        match $array.data_type() {
            $(DataType::$variant => {
                let $values = $array.as_primitive::<$primitive>().values();
                Some($body)
            })*
            _ => None,
        }
    };
    ($array:expr, $values:ident => $body:expr) => {
        with_values!($array, $values => $body;
            Float16 Float16Type, Float32 Float32Type, Float64 Float64Type,
            Int8 Int8Type, Int16 Int16Type, Int32 Int32Type, Int64 Int64Type,
            UInt8 UInt8Type, UInt16 UInt16Type, UInt32 UInt32Type, UInt64 UInt64Type)
    };
}

/// The columns of an Arrow schema.
pub(crate) fn columns(fields: &Fields) -> Vec<Column> {
    fields.iter().map(|field| Column { name: field.name().clone(), kind: kind(field.data_type()) }).collect()
}

fn kind(data_type: &DataType) -> Kind {
    let number = |data_type: &DataType| data_type.is_integer() || data_type.is_floating();
    match data_type {
        data_type if number(data_type) => Kind::Number,
        DataType::List(item) | DataType::LargeList(item) if number(item.data_type()) => Kind::List(None),
        DataType::FixedSizeList(item, length) if number(item.data_type()) => {
            Kind::List(Some(usize::try_from(*length).unwrap_or(0)))
        }
        other => Kind::Other(other.to_string()),
    }
}

/// Rows that arrive in chunks of arrays, one array for each of the selection's columns.
#[derive(Debug)]
pub(crate) struct Rows<I> {
    location: Location,
    format: Format,
    selection: Selection,
    used: Vec<usize>,
    chunks: I,
    chunk: Vec<ArrayRef>,
    /// Rows of the present chunk that are done.
    done: usize,
    /// Rows before the present chunk.
    before: u64,
}

impl<I> Rows<I> {
    /// Rows of `chunks`, whose arrays are those of [`Selection::used`], in that order.
    pub(crate) fn new(location: &Location, format: Format, selection: &Selection, chunks: I) -> Self {
        Self {
            location: location.clone(),
            format,
            selection: selection.clone(),
            used: selection.used(),
            chunks,
            chunk: Vec::new(),
            done: 0,
            before: 0,
        }
    }

    /// Rows of the present chunk.
    fn len(&self) -> usize {
        self.chunk.first().map_or(0, |array| array.len())
    }

    /// The array of a column of the file.
    fn array(&self, column: usize) -> Result<&ArrayRef, Error> {
        let at = self.used.binary_search(&column).ok();
        at.and_then(|at| self.chunk.get(at)).ok_or_else(|| self.location.changed())
    }

    /// The row of the file that is row `at` of the chunk.
    fn row(&self, at: usize) -> u64 {
        self.before + at as u64 + 1
    }

    /// Checks what the copying relies on: equal lengths, numbers, no nulls, lists of one length.
    fn check(&self) -> Result<(), Error> {
        if self.chunk.iter().any(|array| array.len() != self.len()) {
            return Err(self.location.corrupt(self.format, "its columns differ in length"));
        }
        for view in 0..self.selection.places.len() {
            match &self.selection.places[view] {
                Place::Columns(columns) => {
                    for (class, &column) in columns.iter().enumerate() {
                        let array = self.array(column)?;
                        self.no_null(array, |_| self.selection.label(view, class), |at| at)?;
                        with_values!(array, _values => ()).ok_or_else(|| self.location.changed())?;
                    }
                }
                Place::List { column, order } => {
                    let name = self.selection.views[view].clone();
                    let array = self.array(*column)?;
                    self.no_null(array, |_| name.clone(), |at| at)?;
                    let lengths = lists::lengths(array).ok_or_else(|| self.location.changed())?;
                    let wrong = lengths.enumerate().find(|(_, length)| *length != order.len());
                    if let Some((at, found)) = wrong {
                        return Err(Error::ListLength {
                            path: self.location.name.clone(),
                            row: self.row(at),
                            column: name,
                            expected: order.len(),
                            found,
                        });
                    }
                    let width = order.len();
                    let items =
                        lists::items(array, 0, array.len(), width).ok_or_else(|| self.location.changed())?;
                    self.no_null(&items, |at| format!("{name}[{}]", at % width), |at| at / width)?;
                    with_values!(items, _values => ()).ok_or_else(|| self.location.changed())?;
                }
            }
        }
        Ok(())
    }

    /// Refuses an array with nulls, naming the first.
    fn no_null(
        &self,
        array: &ArrayRef,
        column: impl Fn(usize) -> String,
        row: impl Fn(usize) -> usize,
    ) -> Result<(), Error> {
        match array.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => Ok(()),
            Some(nulls) => {
                let at = nulls.iter().position(|valid| !valid).unwrap_or(0);
                let path = self.location.name.clone();
                Err(Error::Null { path, row: self.row(row(at)), column: column(at) })
            }
        }
    }

    /// Copies `rows` rows from the present chunk.
    fn copy(&self, rows: usize, pending: &mut Pending) -> Result<(), Error> {
        let from = self.done;
        for (view, place) in self.selection.places.iter().enumerate() {
            match place {
                Place::Columns(columns) => {
                    for (class, &column) in columns.iter().enumerate() {
                        let cells = &mut pending.column(view, class)[..rows];
                        with_values!(self.array(column)?, values => {
                            for (cell, value) in cells.iter_mut().zip(&values[from..from + rows]) {
                                *cell = value.value();
                            }
                        });
                    }
                }
                Place::List { column, order } => {
                    if let Some(items) = lists::items(self.array(*column)?, from, rows, order.len()) {
                        with_values!(items, values => {
                            pending.transpose(view, 0, values, order.len(), order, Number::value);
                        });
                    }
                }
            }
        }
        self.selection.keys.iter().try_for_each(|column| self.copy_keys(column, rows, pending))
    }

    /// Copies the keys of `rows` rows: those of the text of each value, of which a null has none.
    fn copy_keys(&self, column: &KeyColumn, rows: usize, pending: &mut Pending) -> Result<(), Error> {
        let refuse = |reason: &dyn std::fmt::Display| self.location.corrupt(self.format, reason);
        let mut array = self.array(column.at)?.slice(self.done, rows);
        if let DataType::Timestamp(unit, Some(_)) = array.data_type() {
            // Parquet keeps no other time zone, and the formatter knows none by its name.
            let utc = DataType::Timestamp(*unit, Some("+00:00".into()));
            array = cast(&array, &utc).map_err(|error| refuse(&error))?;
        }
        let options = FormatOptions::default();
        let values = ArrayFormatter::try_new(&array, &options).map_err(|error| refuse(&error))?;
        let mut text = String::new();
        for at in 0..rows {
            text.clear();
            write!(text, "{}", values.value(at)).map_err(|error| refuse(&error))?;
            if !pending.push_key(column.purpose, text.as_bytes()) {
                let (path, row) = (self.location.name.clone(), self.row(self.done + at));
                return Err(Error::Null { path, row, column: column.name.clone() });
            }
        }
        Ok(())
    }
}

impl<I> Reader for Rows<I>
where
    I: Iterator<Item = Result<Vec<ArrayRef>, Error>> + Send,
{
    fn fill(&mut self, pending: &mut Pending) -> Result<usize, Error> {
        let mut filled = 0;
        while pending.room() > 0 {
            if self.done == self.len() {
                self.before += self.len() as u64;
                self.done = 0;
                self.chunk.clear();
                match self.chunks.next() {
                    None => break,
                    Some(chunk) => self.chunk = chunk?,
                }
                self.check()?;
                continue;
            }
            let rows = pending.room().min(self.len() - self.done);
            self.copy(rows, pending)?;
            pending.advance(rows);
            self.done += rows;
            filled += rows;
        }
        Ok(filled)
    }
}
