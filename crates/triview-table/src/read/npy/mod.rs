//! NumPy arrays of shape (rows, views, classes).
//!
//! Written by hand because `ndarray-npy` loads an array whole, or maps it into memory by unsafe means:
//! here the header is parsed and the numbers are read in runs of rows, in whichever order they lie.

mod header;

use crate::error::Error;
use crate::read::columns::{Column, Kind, Place, Selection};
use crate::read::format::Format;
use crate::read::location::Location;
use crate::read::numbers::Number;
use crate::read::pending::Pending;
use crate::read::table::{Inspection, Reader};
use half::f16;
pub(crate) use header::Header;
use header::Scalar;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// How many numbers are decoded at a time.
const CELLS: usize = 1 << 20;

/// Reads the header and checks it against the length of the file.
pub(crate) fn inspect(location: &Location) -> Result<Inspection<Header>, Error> {
    let (_, head) = open(location)?;
    let column = |view: u64| Column {
        name: view.to_string(),
        kind: Kind::List(Some(usize::try_from(head.classes).unwrap_or(usize::MAX))),
        whole: false,
    };
    // Views are columns that must be named; no array has that many.
    const MOST_VIEWS: u64 = 10_000;
    let columns = (1..=head.views.min(MOST_VIEWS)).map(column).collect();
    let rows = head.rows;
    Ok(Inspection { head, columns, rows: Some(rows), empty: rows == 0 })
}

/// Reads the rows.
pub(crate) fn read(location: &Location, head: &Header, selection: &Selection) -> Result<Rows, Error> {
    let (file, found) = open(location)?;
    if found != *head {
        return Err(location.changed());
    }
    let place = |place: &Place| match place {
        Place::List { column, order } => (*column, order.clone()),
        Place::Columns(columns) => (0, columns.clone()),
        Place::Second(column) => (0, vec![*column]),
    };
    Ok(Rows {
        location: location.clone(),
        file,
        head: found,
        places: selection.places.iter().map(place).collect(),
        done: 0,
        bytes: Vec::new(),
        values: Vec::new(),
    })
}

fn open(location: &Location) -> Result<(File, Header), Error> {
    let mut file = location.open()?;
    let length = location.length();
    let head = Header::read(&mut file, location)?;
    let found = length.saturating_sub(head.start);
    if found < head.bytes {
        let detail = format!("its header promises {} bytes of numbers, there are {found}", head.bytes);
        return Err(location.truncated(Format::Npy, detail));
    }
    Ok((file, head))
}

/// The rows of an array.
#[derive(Debug)]
pub(crate) struct Rows {
    location: Location,
    file: File,
    head: Header,
    /// Position of each view, and of each class within it.
    places: Vec<(usize, Vec<usize>)>,
    done: u64,
    bytes: Vec<u8>,
    values: Vec<f64>,
}

impl Reader for Rows {
    fn fill(&mut self, pending: &mut Pending) -> Result<usize, Error> {
        let left = self.head.rows - self.done;
        let rows = pending.room().min(usize::try_from(left).unwrap_or(usize::MAX));
        if rows == 0 {
            return Ok(0);
        }
        if self.head.fortran {
            self.by_column(rows, pending)?;
        } else {
            self.by_row(rows, pending)?;
        }
        pending.advance(rows);
        self.done += rows as u64;
        Ok(rows)
    }
}

impl Rows {
    /// Rows lie one after the other (C order).
    fn by_row(&mut self, rows: usize, pending: &mut Pending) -> Result<(), Error> {
        let (views, classes) = (self.head.views as usize, self.head.classes as usize);
        let width = views * classes;
        // Some rows at a time: an array may have many more views than are read.
        let most = CELLS.div_ceil(width);
        let mut left = rows;
        let mut filled = 0;
        while left > 0 {
            let part = left.min(most);
            self.numbers((self.done + filled) * width as u64, part * width)?;
            for (view, (at, order)) in self.places.iter().enumerate() {
                let places: Vec<usize> = order.iter().map(|class| at * classes + class).collect();
                pending.transpose(view, filled as usize, &self.values, width, &places, |value| value);
            }
            left -= part;
            filled += part as u64;
        }
        Ok(())
    }

    /// All rows of one view's class lie one after the other (Fortran order).
    fn by_column(&mut self, rows: usize, pending: &mut Pending) -> Result<(), Error> {
        for view in 0..self.places.len() {
            for class in 0..self.places[view].1.len() {
                let (at, place) = (self.places[view].0 as u64, self.places[view].1[class] as u64);
                let column = at + self.head.views * place;
                self.numbers(column * self.head.rows + self.done, rows)?;
                pending.column(view, class)[..rows].copy_from_slice(&self.values);
            }
        }
        Ok(())
    }

    /// Reads `count` numbers from the `first` on.
    fn numbers(&mut self, first: u64, count: usize) -> Result<(), Error> {
        let size = self.head.scalar.size();
        let length = count as u64 * size as u64;
        self.location.allow(length.saturating_mul(2), "a row")?;
        let more = length.saturating_sub(self.bytes.len() as u64);
        self.location.reserve(&mut self.bytes, more)?;
        self.bytes.resize(count * size, 0);
        let at = self.head.start + first * size as u64;
        let read = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.read_exact(&mut self.bytes));
        read.map_err(|source| self.location.unreadable(source))?;
        self.values.clear();
        decode(self.head.scalar, self.head.big_endian, &self.bytes, &mut self.values);
        Ok(())
    }
}

/// Appends the numbers that these bytes are.
fn decode(scalar: Scalar, big_endian: bool, bytes: &[u8], values: &mut Vec<f64>) {
    macro_rules! decode {
        ($type:ty) => {{
            let (cells, _) = bytes.as_chunks();
            if big_endian {
                values.extend(cells.iter().map(|cell| <$type>::from_be_bytes(*cell).value()));
            } else {
                values.extend(cells.iter().map(|cell| <$type>::from_le_bytes(*cell).value()));
            }
        }};
    }
    match scalar {
        Scalar::F16 => decode!(f16),
        Scalar::F32 => decode!(f32),
        Scalar::F64 => decode!(f64),
        Scalar::I8 => decode!(i8),
        Scalar::I16 => decode!(i16),
        Scalar::I32 => decode!(i32),
        Scalar::I64 => decode!(i64),
        Scalar::U8 => decode!(u8),
        Scalar::U16 => decode!(u16),
        Scalar::U32 => decode!(u32),
        Scalar::U64 => decode!(u64),
    }
}
