//! Arrow's three kinds of list arrays, as one.

use crate::error::Error;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

/// Where a list begins among the items.
type Start<'a> = Box<dyn Fn(usize) -> usize + 'a>;

/// The items of a list array, and where each list begins among them (and after the last list, their end).
fn starts(array: &ArrayRef) -> Option<(&ArrayRef, Start<'_>)> {
    Some(match array.data_type() {
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            (list.values(), Box::new(|at| list.offsets()[at] as usize))
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            (list.values(), Box::new(|at| list.offsets()[at] as usize))
        }
        DataType::FixedSizeList(_, width) => {
            let width = *width as usize;
            (array.as_fixed_size_list().values(), Box::new(move |at| at * width))
        }
        _ => return None,
    })
}

/// The length of each list.
pub(crate) fn lengths(array: &ArrayRef) -> Option<impl Iterator<Item = usize>> {
    let (_, start) = starts(array)?;
    Some((0..array.len()).map(move |at| start(at + 1) - start(at)))
}

/// The length of the first list that is there, in the first column of some chunks.
pub(crate) fn first_length_of(
    chunks: impl Iterator<Item = Result<Vec<ArrayRef>, Error>>,
) -> Result<Option<usize>, Error> {
    for chunk in chunks {
        let chunk = chunk?;
        let Some(array) = chunk.first() else { continue };
        let mut lengths = lengths(array).into_iter().flatten().enumerate();
        if let Some((_, length)) = lengths.find(|(at, _)| array.is_valid(*at)) {
            return Ok(Some(length));
        }
    }
    Ok(None)
}

/// The items of one list.
pub(crate) fn list(array: &ArrayRef, at: usize) -> Option<ArrayRef> {
    let (values, start) = starts(array)?;
    let (start, end) = (start(at), start(at + 1));
    (start <= end && end <= values.len()).then(|| values.slice(start, end - start))
}

/// The items of `rows` lists of `width` items each, from list `from` on.
pub(crate) fn items(array: &ArrayRef, from: usize, rows: usize, width: usize) -> Option<ArrayRef> {
    let (values, start) = starts(array)?;
    let (start, length) = (start(from), rows.checked_mul(width)?);
    (start.checked_add(length)? <= values.len()).then(|| values.slice(start, length))
}
