//! Arrow's record batches in memory, in place of a file.

use crate::error::Error;
use crate::read::arrays;
use crate::read::columns::Selection;
use crate::read::first_length_of;
use crate::read::format::Format;
use crate::read::location::Location;
use crate::read::table::{Inspection, Reader, Visit};
use arrow_array::{ArrayRef, RecordBatch};

/// What messages call them.
pub(crate) const NAME: &str = "record batches";

/// Their columns and rows. All must have the columns of the first.
pub(crate) fn inspect(records: Vec<RecordBatch>) -> Result<Inspection<Vec<RecordBatch>>, Error> {
    let Some(first) = records.first() else { return Err(Error::NoRows { path: NAME.into() }) };
    let columns = arrays::columns(first.schema_ref().fields());
    let alike = |batch: &RecordBatch| arrays::columns(batch.schema_ref().fields()) == columns;
    if let Some(at) = records.iter().position(|batch| !alike(batch)) {
        return Err(Error::RecordsDiffer { batch: at });
    }
    let rows: usize = records.iter().map(RecordBatch::num_rows).sum();
    Ok(Inspection { head: records, columns, rows: Some(rows as u64), empty: rows == 0 })
}

/// The length of the first list in a column.
pub(crate) fn list_length(records: &[RecordBatch], column: usize) -> Result<Option<usize>, Error> {
    first_length_of(chunks(records.to_vec(), vec![column]))
}

/// Reads the rows.
pub(crate) fn read(location: &Location, records: &[RecordBatch], selection: &Selection) -> Box<dyn Reader> {
    let chunks = chunks(records.to_vec(), selection.used());
    Box::new(arrays::Rows::new(location, Format::Arrow, selection, chunks))
}

/// Gives the text of some columns to `visit` row by row.
pub(crate) fn texts(
    location: &Location,
    records: &[RecordBatch],
    columns: &[usize],
    visit: Visit<'_>,
) -> Result<(), Error> {
    arrays::texts(location, Format::Arrow, chunks(records.to_vec(), columns.to_vec()), visit)
}

/// Some columns, batch by batch; the arrays are shared, not copied.
fn chunks(
    records: Vec<RecordBatch>,
    columns: Vec<usize>,
) -> impl Iterator<Item = Result<Vec<ArrayRef>, Error>> + Send {
    let of_batch =
        move |batch: RecordBatch| Ok(columns.iter().map(|&column| batch.column(column).clone()).collect());
    records.into_iter().map(of_batch)
}
