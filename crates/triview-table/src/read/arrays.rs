//! Scores in Arrow arrays, as the Parquet and the IPC reader decode them.

use crate::error::Error;
use crate::read::columns::{Column, KeyColumn, Kind, Place, Selection};
use crate::read::format::Format;
use crate::read::lists;
use crate::read::location::Location;
use crate::read::numbers::Number;
use crate::read::pending::{NoKey, Pending};
use crate::read::period::Period;
use crate::read::table::{Reader, Visit};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Float64Array, PrimitiveArray};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType, Fields, TimeUnit};
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

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

/// Of rows of `width` numbers that lie one after the other, the numbers at some places of each; none of what are no numbers.
pub(crate) fn cut(items: &ArrayRef, width: usize, places: Range<usize>) -> ArrayRef {
    match items.data_type() {
        // As they are: NumPy's arrays, of which there may be many.
        DataType::Float32 => cut_as::<Float32Type>(items, width, &places),
        DataType::Float64 => cut_as::<Float64Type>(items, width, &places),
        _ => {
            let numbers: Option<Vec<f64>> = with_values!(items, values => {
                let rows = values.chunks_exact(width.max(1));
                rows.flat_map(|row| row[places.clone()].iter().map(|number| number.value())).collect()
            });
            Arc::new(Float64Array::from(numbers.unwrap_or_default()))
        }
    }
}

fn cut_as<T: ArrowPrimitiveType>(items: &ArrayRef, width: usize, places: &Range<usize>) -> ArrayRef {
    let rows = items.as_primitive::<T>().values().chunks_exact(width.max(1));
    let mut cells = Vec::with_capacity(rows.len() * places.len());
    rows.for_each(|row| cells.extend_from_slice(&row[places.clone()]));
    Arc::new(PrimitiveArray::<T>::new(cells.into(), None))
}

/// The columns of an Arrow schema.
pub(crate) fn columns(fields: &Fields) -> Vec<Column> {
    let column = |name: &String, data_type: &DataType| Column {
        name: name.clone(),
        kind: kind(data_type),
        whole: data_type.is_integer() && *data_type != DataType::UInt64,
    };
    fields.iter().map(|field| column(field.name(), field.data_type())).collect()
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
    /// For each view the rows of the present chunk in which it is missing, ascending.
    missing: Vec<Vec<usize>>,
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
            missing: Vec::new(),
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

    /// Checks what the copying relies on: equal lengths, numbers, lists of one length; and finds the rows in which a view
    /// is missing, which is null in all of its classes. Nulls in some of them are refused.
    fn check(&mut self) -> Result<(), Error> {
        if self.chunk.iter().any(|array| array.len() != self.len()) {
            return Err(self.location.corrupt(self.format, "its columns differ in length"));
        }
        let places = &self.selection.places;
        let missing = (0..places.len()).map(|view| match &places[view] {
            Place::Columns(columns) => self.check_columns(view, columns),
            Place::Second(column) => self.check_columns(view, &[*column]),
            Place::List { column, order } => self.check_lists(view, *column, order.len()),
        });
        self.missing = missing.collect::<Result<_, _>>()?;
        self.check_features()
    }

    /// Checks that the features are numbers, and there wherever their view is.
    fn check_features(&self) -> Result<(), Error> {
        for (view, features) in self.selection.features.iter().enumerate() {
            for (at, (_, column)) in features.iter().enumerate() {
                let array = self.array(*column)?;
                with_values!(array, _values => ()).ok_or_else(|| self.location.changed())?;
                let there = |row: &usize| self.missing[view].binary_search(row).is_err();
                let nulls = (0..array.len()).filter(|row| array.null_count() > 0 && array.is_null(*row));
                if let Some(row) = nulls.into_iter().find(there) {
                    let (path, column) = (self.location.name.clone(), self.selection.feature_label(view, at));
                    return Err(Error::Null { path, row: self.row(row), column });
                }
            }
        }
        Ok(())
    }

    /// Checks the columns of a view, and finds the rows in which it is missing.
    fn check_columns(&self, view: usize, columns: &[usize]) -> Result<Vec<usize>, Error> {
        let mut arrays = Vec::with_capacity(columns.len());
        for &column in columns {
            let array = self.array(column)?;
            with_values!(array, _values => ()).ok_or_else(|| self.location.changed())?;
            arrays.push(array);
        }
        if arrays.iter().all(|array| array.null_count() == 0) {
            return Ok(Vec::new());
        }
        let null = |row: usize, class: usize| arrays[class].is_null(row);
        self.missing_rows(columns.len(), null, |class| self.selection.label(view, class))
    }

    /// Checks the lists of a view, and finds the rows in which it is missing: the list is null, or all of its items are.
    fn check_lists(&self, view: usize, column: usize, width: usize) -> Result<Vec<usize>, Error> {
        let name = &self.selection.views[view];
        let array = self.array(column)?;
        let lengths = lists::lengths(array).ok_or_else(|| self.location.changed())?;
        let wrong = lengths.enumerate().find(|(at, length)| *length != width && array.is_valid(*at));
        if let Some((at, found)) = wrong {
            let (path, row, column) = (self.location.name.clone(), self.row(at), name.clone());
            return Err(Error::ListLength { path, row, column, expected: width, found });
        }
        let empty = lists::items(array, 0, 0, width).ok_or_else(|| self.location.changed())?;
        with_values!(empty, _values => ()).ok_or_else(|| self.location.changed())?;
        if array.null_count() == 0 {
            let items = lists::items(array, 0, array.len(), width).ok_or_else(|| self.location.changed())?;
            if items.null_count() == 0 {
                return Ok(Vec::new());
            }
        }
        let mut nulls = vec![false; array.len() * width];
        for (row, nulls) in nulls.chunks_exact_mut(width).enumerate() {
            let list = lists::list(array, row).ok_or_else(|| self.location.changed())?;
            let null = |at: usize| array.is_null(row) || list.is_null(at);
            nulls.iter_mut().enumerate().for_each(|(at, cell)| *cell = null(at));
        }
        self.missing_rows(width, |row, at| nulls[row * width + at], |at| format!("{name}[{at}]"))
    }

    /// The rows of the chunk in which all of a view's cells are null; refuses those in which some are, naming the first.
    fn missing_rows(
        &self,
        width: usize,
        null: impl Fn(usize, usize) -> bool,
        label: impl Fn(usize) -> String,
    ) -> Result<Vec<usize>, Error> {
        let mut missing = Vec::new();
        for row in 0..self.len() {
            match (0..width).filter(|&at| null(row, at)).count() {
                0 => {}
                all if all == width => missing.push(row),
                _ => {
                    let column = label((0..width).find(|&at| null(row, at)).unwrap_or(0));
                    return Err(Error::Null { path: self.location.name.clone(), row: self.row(row), column });
                }
            }
        }
        Ok(missing)
    }

    /// Copies `rows` rows from the present chunk.
    fn copy(&self, rows: usize, pending: &mut Pending) -> Result<(), Error> {
        let from = self.done;
        for (view, place) in self.selection.places.iter().enumerate() {
            match place {
                Place::Columns(_) | Place::Second(_) => {
                    for (class, column) in place.columns() {
                        let cells = &mut pending.column(view, class)[..rows];
                        with_values!(self.array(column)?, values => {
                            for (cell, value) in cells.iter_mut().zip(&values[from..from + rows]) {
                                *cell = value.value();
                            }
                        });
                    }
                }
                Place::List { column, order } if self.missing[view].is_empty() => {
                    if let Some(items) = lists::items(self.array(*column)?, from, rows, order.len()) {
                        with_values!(items, values => {
                            pending.transpose(view, 0, values, order.len(), order, Number::value);
                        });
                    }
                }
                // Lists that are null may have any length, so that the others do not lie one after the other.
                Place::List { column, order } => {
                    let array = self.array(*column)?;
                    for at in (0..rows).filter(|at| self.missing[view].binary_search(&(from + at)).is_err()) {
                        if let Some(items) = lists::list(array, from + at) {
                            with_values!(items, values => {
                                pending.transpose(view, at, values, order.len(), order, Number::value);
                            });
                        }
                    }
                }
            }
            let missing = &self.missing[view];
            let begin = missing.partition_point(|row| *row < from);
            missing[begin..].iter().take_while(|row| **row < from + rows).for_each(|row| {
                pending.mark_missing(view, row - from);
            });
        }
        for (view, features) in self.selection.features.iter().enumerate() {
            for (at, (_, column)) in features.iter().enumerate() {
                let cells = &mut pending.feature(view, at)[..rows];
                with_values!(self.array(*column)?, values => {
                    for (cell, value) in cells.iter_mut().zip(&values[from..from + rows]) {
                        *cell = value.value();
                    }
                });
            }
        }
        self.selection.keys.iter().try_for_each(|column| self.copy_keys(column, rows, pending))
    }

    /// Copies the keys of `rows` rows: those of the text of each value, of which a null has none.
    fn copy_keys(&self, column: &KeyColumn, rows: usize, pending: &mut Pending) -> Result<(), Error> {
        let refuse = |reason: &dyn std::fmt::Display| self.location.corrupt(self.format, reason);
        let array = self.array(column.at)?.slice(self.done, rows);
        if column.period.is_some_and(Period::is_of_time) && is_time(array.data_type()) {
            let seconds =
                cast(&array, &DataType::Timestamp(TimeUnit::Second, None)).map_err(|error| refuse(&error))?;
            let seconds = seconds.as_primitive::<TimestampSecondType>();
            for (at, second) in seconds.iter().enumerate() {
                let pushed = match second {
                    Some(second) => pending.push_time(column, second),
                    None => pending.push_key(column, b""),
                };
                pushed.map_err(|no_key| no_key.at(&self.location.name, self.row(self.done + at), column))?;
            }
            return Ok(());
        }
        let array = printable(array).map_err(|error| refuse(&error))?;
        let options = FormatOptions::default();
        let values = ArrayFormatter::try_new(&array, &options).map_err(|error| refuse(&error))?;
        let mut text = String::new();
        for at in 0..rows {
            text.clear();
            write!(text, "{}", values.value(at)).map_err(|error| refuse(&error))?;
            let refuse = |no_key: NoKey| no_key.at(&self.location.name, self.row(self.done + at), column);
            pending.push_key(column, text.as_bytes()).map_err(refuse)?;
        }
        Ok(())
    }
}

/// Whether values are times by their type, and not by what is written in them.
fn is_time(values: &DataType) -> bool {
    matches!(values, DataType::Timestamp(..) | DataType::Date32 | DataType::Date64)
}

/// The same values in a type that has a text.
fn printable(array: ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        // Parquet keeps no other time zone, and the formatter knows none by its name.
        DataType::Timestamp(unit, Some(_)) => {
            cast(&array, &DataType::Timestamp(*unit, Some("+00:00".into())))
        }
        _ => Ok(array),
    }
}

/// Gives the text of some columns, whose arrays arrive in chunks, to `visit` row by row; a null has none.
pub(crate) fn texts(
    location: &Location,
    format: Format,
    chunks: impl Iterator<Item = Result<Vec<ArrayRef>, Error>>,
    visit: Visit<'_>,
) -> Result<(), Error> {
    let refuse = |reason: &dyn std::fmt::Display| location.corrupt(format, reason);
    let mut row = 0;
    for chunk in chunks {
        let arrays: Vec<ArrayRef> =
            chunk?.into_iter().map(printable).collect::<Result<_, _>>().map_err(|error| refuse(&error))?;
        let options = FormatOptions::default();
        let values = arrays.iter().map(|array| ArrayFormatter::try_new(array, &options));
        let values: Vec<ArrayFormatter<'_>> =
            values.collect::<Result<_, _>>().map_err(|error| refuse(&error))?;
        let mut texts = vec![String::new(); arrays.len()];
        for at in 0..arrays.iter().map(|array| array.len()).min().unwrap_or(0) {
            for (text, values) in texts.iter_mut().zip(&values) {
                text.clear();
                write!(text, "{}", values.value(at)).map_err(|error| refuse(&error))?;
            }
            row += 1;
            visit(row, &texts.iter().map(|text| text.trim().as_bytes()).collect::<Vec<_>>())?;
        }
    }
    Ok(())
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
