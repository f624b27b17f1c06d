//! Arrow's record batches in memory, in place of a file.

use crate::error::Error;
use crate::read::arrays;
use crate::read::columns::{Column, Kind, Selection};
use crate::read::first_length_of;
use crate::read::format::Format;
use crate::read::location::Location;
use crate::read::origin::Records;
use crate::read::table::{Inspection, Reader, Visit};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeListArray, RecordBatch, make_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use std::path::PathBuf;
use std::sync::Arc;

/// Rows of an array that are cut into views at a time.
const RUN: usize = 8_192;

/// Where a column of the table is.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// A column of the record batches.
    Column(usize),
    /// One view of a column that is an array with the axes (rows, views, classes).
    View { column: usize, view: usize },
}

/// Their columns and rows. All must have the columns of the first.
pub(crate) fn inspect(records: &Records) -> Result<Inspection<Records>, Error> {
    let path = PathBuf::from(records.name());
    let Some(first) = records.batches.first() else { return Err(Error::NoRows { path }) };
    let columns = columns(first);
    if let Some(at) = records.batches.iter().position(|batch| self::columns(batch) != columns) {
        return Err(Error::RecordsDiffer { batch: at });
    }
    let rows: usize = records.batches.iter().map(RecordBatch::num_rows).sum();
    Ok(Inspection { head: records.clone(), columns, rows: Some(rows as u64), empty: rows == 0 })
}

/// The columns as a file would have them.
fn columns(batch: &RecordBatch) -> Vec<Column> {
    let mut columns = Vec::new();
    for (own, field) in
        arrays::columns(batch.schema_ref().fields()).into_iter().zip(batch.schema_ref().fields())
    {
        match axes(field.data_type()) {
            None => columns.push(own),
            Some((views, classes)) => columns.extend((1..=views).map(|view| Column {
                name: view.to_string(),
                kind: Kind::List(Some(classes)),
                whole: false,
            })),
        }
    }
    columns
}

/// Where each column of the table is.
fn places(batch: &RecordBatch) -> Vec<Place> {
    let of_field = |(column, field): (usize, &FieldRef)| match axes(field.data_type()) {
        None => vec![Place::Column(column)],
        Some((views, _)) => (0..views).map(|view| Place::View { column, view }).collect(),
    };
    batch.schema_ref().fields().iter().enumerate().flat_map(of_field).collect()
}

/// The numbers of views and of classes of an array.
fn axes(kind: &DataType) -> Option<(usize, usize)> {
    let DataType::FixedSizeList(inner, views) = kind else { return None };
    let DataType::FixedSizeList(number, classes) = inner.data_type() else { return None };
    let is_number = number.data_type().is_integer() || number.data_type().is_floating();
    is_number.then_some((usize::try_from(*views).ok()?, usize::try_from(*classes).ok()?))
}

/// The length of the first list in a column.
pub(crate) fn list_length(records: &Records, column: usize) -> Result<Option<usize>, Error> {
    first_length_of(chunks(records, vec![column]))
}

/// Reads the rows.
pub(crate) fn read(location: &Location, records: &Records, selection: &Selection) -> Box<dyn Reader> {
    let chunks = chunks(records, selection.used());
    Box::new(arrays::Rows::new(location, Format::Arrow, selection, chunks))
}

/// Gives the text of some columns to `visit` row by row.
pub(crate) fn texts(
    location: &Location,
    records: &Records,
    columns: &[usize],
    visit: Visit<'_>,
) -> Result<(), Error> {
    arrays::texts(location, Format::Arrow, chunks(records, columns.to_vec()), visit)
}

/// Some columns, batch by batch. Columns are shared, not copied; the views of an array are copied run by run.
fn chunks(
    records: &Records,
    columns: Vec<usize>,
) -> impl Iterator<Item = Result<Vec<ArrayRef>, Error>> + Send + use<> {
    let (batches, location) = (records.batches.to_vec(), Location::of_records(records));
    batches.into_iter().flat_map(move |batch| {
        let places = places(&batch);
        let places: Vec<Place> = columns.iter().map(|&column| places[column]).collect();
        let whole = places.iter().all(|place| matches!(place, Place::Column(_)));
        let run = if whole { batch.num_rows().max(1) } else { RUN };
        let location = location.clone();
        (0..batch.num_rows()).step_by(run).map(move |from| {
            let rows = run.min(batch.num_rows() - from);
            let array = |place: &Place| match *place {
                Place::Column(column) => Ok(batch.column(column).slice(from, rows)),
                Place::View { column, view } => of_view(batch.column(column), view, from, rows),
            };
            let arrays: Result<_, ArrowError> = places.iter().map(array).collect();
            arrays.map_err(|error| location.corrupt(Format::Arrow, error))
        })
    })
}

/// One view of some rows of an array.
fn of_view(array: &ArrayRef, view: usize, from: usize, rows: usize) -> Result<ArrayRef, ArrowError> {
    let by_row = array.slice(from, rows);
    let by_row = by_row.as_fixed_size_list();
    let by_view = by_row.values().as_fixed_size_list();
    let (views, classes) = (by_row.value_length() as usize, by_view.value_length() as usize);
    let items = by_view.values();
    let numbers = arrays::cut(items, views * classes, view * classes..(view + 1) * classes);
    let any = [by_row.null_count(), by_view.null_count(), items.null_count()].iter().any(|nulls| *nulls > 0);
    let nulls: Option<NullBuffer> = any.then(|| {
        let there = |row: usize, class: usize| {
            let list = row * views + view;
            by_row.is_valid(row) && by_view.is_valid(list) && items.is_valid(list * classes + class)
        };
        let cells = (0..rows).flat_map(|row| (0..classes).map(move |class| (row, class)));
        cells.map(|(row, class)| there(row, class)).collect()
    });
    let field = Arc::new(Field::new_list_field(numbers.data_type().clone(), true));
    let numbers = make_array(numbers.to_data().into_builder().nulls(nulls).build()?);
    Ok(Arc::new(FixedSizeListArray::try_new(field, classes as i32, numbers, None)?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;
    use crate::read::{Origin, ReadOptions, Table};
    use arrow_array::{Float32Array, Int16Array, StringArray};
    use triview::data::{Batch, Source};

    /// Rows of three views of two classes, some of them null, with a column beside them.
    fn table(numbers: ArrayRef, views: Option<NullBuffer>) -> Table {
        let list = |array: ArrayRef, length: i32, nulls| {
            let field = Arc::new(Field::new_list_field(array.data_type().clone(), true));
            Arc::new(FixedSizeListArray::new(field, length, array, nulls)) as ArrayRef
        };
        let array = list(list(numbers, 2, views), 3, None);
        let rows = StringArray::from_iter_values((0..array.len()).map(|row| row.to_string()));
        let columns = [("scores", array), ("id", Arc::new(rows) as ArrayRef)];
        let origin = Origin::from(vec![RecordBatch::try_from_iter(columns).unwrap()]);
        Table::of(&[origin], &ReadOptions::default()).unwrap()
    }

    fn batch(table: &Table) -> Arc<Batch> {
        table.batches().unwrap().next().unwrap().unwrap()
    }

    #[test]
    fn an_array_is_cut_into_its_views() {
        let single = table(Arc::new(Float32Array::from_iter_values((0..12).map(|at| at as f32))), None);
        assert_eq!(single.schema().views(), ["1", "2", "3"].map(str::to_owned));
        assert_eq!((single.rows(), single.ignored_columns()), (Some(2), ["id".to_owned()].as_slice()));
        let read = batch(&single);
        assert_eq!((read.column(0, 1), read.column(2, 0)), ([1.0, 7.0].as_slice(), [4.0, 10.0].as_slice()));
        let whole = table(Arc::new(Int16Array::from_iter_values(0..12)), None);
        assert_eq!(batch(&whole), read);
    }

    #[test]
    fn a_file_of_the_same_name_is_not_read() {
        // Files are looked at for their packing; what is in memory is no file, whatever it is called.
        let packed = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(packed.path(), [0x1f, 0x8b, 0x08]).unwrap();
        let columns = (0..6).map(|at| {
            let name = format!("{}:{}", ["a", "b", "c"][at / 2], at % 2);
            (name, Arc::new(Float32Array::from(vec![at as f32; 2])) as ArrayRef)
        });
        let records = vec![RecordBatch::try_from_iter(columns).unwrap()];
        let origin = Origin::Records(Records::new(packed.path().to_str().unwrap(), records));
        assert_eq!(batch(&Table::of(&[origin], &ReadOptions::default()).unwrap()).column(2, 1), [5.0, 5.0]);
    }

    #[test]
    fn views_of_an_array_may_be_missing() {
        let there: NullBuffer = [true, true, true, true, false, true].into_iter().collect();
        let numbers = Arc::new(Float32Array::from_iter_values((0..12).map(|at| at as f32)));
        let read = batch(&table(numbers, Some(there)));
        assert!(read.is_missing(1, 1) && !read.is_missing(1, 0) && !read.is_missing(0, 1));
        assert_eq!(read.column(2, 1), [5.0, 11.0]);
    }
}
