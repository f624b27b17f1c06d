//! Text tables: fields between commas, semicolons or tabs.
//!
//! The `csv` crate splits the rows and the standard library reads the numbers: unlike a decoder into Arrow
//! arrays, that leaves the row, the column and the text at hand when something is wrong.

use crate::error::{Error, shortened};
use crate::read::columns::{Column, Kind, Selection};
use crate::read::format::Format;
use crate::read::location::Location;
use crate::read::pending::Pending;
use crate::read::quotes::{Quotes, Unclosed};
use crate::read::separator::separator;
use crate::read::table::{Inspection, Reader, Visit};
use csv::{ByteRecord, ErrorKind, ReaderBuilder};
use std::fs::File;
use std::io::{self, Read, Take};

/// The most bytes that one row may have; a quote that is never closed would make a row of the whole file.
const MOST: u64 = 64 << 20;

/// The names in the first row, and what stands between them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Header {
    names: Vec<String>,
    separator: u8,
}

/// Reads the header, and whether there is a row.
pub(crate) fn inspect(location: &Location) -> Result<Inspection<Header>, Error> {
    let separator = separator(location)?;
    let mut records = Records::open(location, separator)?;
    let names = records.names()?;
    let empty = !records.next(&mut ByteRecord::new())?;
    let columns =
        names.iter().map(|name| Column { name: name.clone(), kind: Kind::Number, whole: false }).collect();
    Ok(Inspection { head: Header { names, separator }, columns, rows: None, empty })
}

/// Reads the rows.
pub(crate) fn read(location: &Location, header: &Header, selection: &Selection) -> Result<Rows, Error> {
    let mut records = Records::open(location, header.separator)?;
    if records.names()? != header.names {
        return Err(location.changed());
    }
    let mut cells = Vec::new();
    for (view, place) in selection.places.iter().enumerate() {
        cells.extend(place.columns().map(|(class, field)| Cell { field, view, class }));
    }
    cells.sort_unstable_by_key(|cell| cell.field);
    let empty = vec![0; selection.places.len()];
    Ok(Rows { records, record: ByteRecord::new(), cells, empty, selection: selection.clone() })
}

/// Gives the text of some fields of each row to `visit`, blanks around it taken away, with the number of the row.
pub(crate) fn texts(
    location: &Location,
    header: &Header,
    fields: &[usize],
    visit: Visit<'_>,
) -> Result<(), Error> {
    let mut records = Records::open(location, header.separator)?;
    if records.names()? != header.names {
        return Err(location.changed());
    }
    let mut record = ByteRecord::new();
    while records.next(&mut record)? {
        let texts: Vec<&[u8]> = fields.iter().map(|&field| record[field].trim_ascii()).collect();
        visit(records.row, &texts)?;
    }
    Ok(())
}

/// A field of a row and what it is the score of.
#[derive(Debug, Clone, Copy)]
struct Cell {
    field: usize,
    view: usize,
    class: usize,
}

/// The rows of a CSV file.
#[derive(Debug)]
pub(crate) struct Rows {
    records: Records,
    record: ByteRecord,
    cells: Vec<Cell>,
    /// How many cells of each view are empty in the present row.
    empty: Vec<usize>,
    selection: Selection,
}

impl Reader for Rows {
    fn fill(&mut self, pending: &mut Pending) -> Result<usize, Error> {
        let mut filled = 0;
        while pending.room() > 0 && self.records.next(&mut self.record)? {
            self.fill_row(pending)?;
            for column in &self.selection.keys {
                let (path, row) = (&self.records.location.name, self.records.row);
                pending
                    .push_key(column, &self.record[column.at])
                    .map_err(|no_key| no_key.at(path, row, column))?;
            }
            pending.advance(1);
            filled += 1;
        }
        Ok(filled)
    }
}

impl Rows {
    /// Reads the scores of the present row. A view of which all cells are empty is missing.
    fn fill_row(&mut self, pending: &mut Pending) -> Result<(), Error> {
        self.empty.fill(0);
        for cell in &self.cells {
            let field = &self.record[cell.field];
            match number(field) {
                Some(score) => *pending.cell(cell.view, cell.class) = score,
                None if field.trim_ascii().is_empty() => self.empty[cell.view] += 1,
                None => return Err(self.refuse(field, self.selection.label(cell.view, cell.class))),
            }
        }
        for (view, &empty) in self.empty.iter().enumerate().filter(|(_, empty)| **empty > 0) {
            if empty < self.selection.places[view].width() {
                return Err(self.refuse(b"", self.selection.label(view, self.first_empty(view))));
            }
            pending.mark_missing(view, 0);
        }
        self.fill_features(pending)
    }

    /// Reads the further features of the views that are there in the present row.
    fn fill_features(&self, pending: &mut Pending) -> Result<(), Error> {
        for (view, features) in
            self.selection.features.iter().enumerate().filter(|(v, _)| self.empty[*v] == 0)
        {
            for (at, (_, field)) in features.iter().enumerate() {
                let field = &self.record[*field];
                let value = number(field)
                    .ok_or_else(|| self.refuse(field, self.selection.feature_label(view, at)))?;
                pending.feature(view, at)[0] = value;
            }
        }
        Ok(())
    }

    /// The first class of a view, in the order of the file, whose cell is empty.
    fn first_empty(&self, view: usize) -> usize {
        let empty = |cell: &&Cell| cell.view == view && self.record[cell.field].trim_ascii().is_empty();
        self.cells.iter().find(empty).map_or(0, |cell| cell.class)
    }

    /// Why a field of the present row cannot be used.
    fn refuse(&self, field: &[u8], column: String) -> Error {
        let (path, row) = (self.records.location.name.clone(), self.records.row);
        let text = String::from_utf8_lossy(field.trim_ascii());
        if text.is_empty() {
            return Error::Null { path, row, column };
        }
        let shown = shortened(&text, 40);
        if text.matches(',').count() == 1 && number(text.replace(',', ".").as_bytes()).is_some() {
            return Error::DecimalComma { path, row, column, text: shown };
        }
        Error::NotANumber { path, row, column, text: shown }
    }
}

/// The number a field holds, blanks around it allowed.
fn number(field: &[u8]) -> Option<f64> {
    let parse = |field| std::str::from_utf8(field).ok()?.parse().ok();
    parse(field).or_else(|| parse(field.trim_ascii()))
}

/// The records of a file, with errors that name the row.
#[derive(Debug)]
struct Records {
    location: Location,
    reader: csv::Reader<Allowance<Quotes<Take<File>>>>,
    /// Rows read so far, so in an error the number of the row at hand.
    row: u64,
}

impl Records {
    fn open(location: &Location, separator: u8) -> Result<Self, Error> {
        let input = Allowance { input: Quotes::new(location.open_whole()?, separator), left: MOST };
        let reader = ReaderBuilder::new().delimiter(separator).buffer_capacity(1 << 16).from_reader(input);
        Ok(Self { location: location.clone(), reader, row: 0 })
    }

    fn names(&mut self) -> Result<Vec<String>, Error> {
        let names = match self.reader.headers() {
            Ok(header) => header.iter().map(|name| name.trim().to_owned()).collect(),
            Err(error) => return Err(self.refuse(error)),
        };
        Ok(names)
    }

    /// Reads the next row; false at the end.
    fn next(&mut self, record: &mut ByteRecord) -> Result<bool, Error> {
        self.reader.get_mut().left = MOST;
        self.row += 1;
        self.reader.read_byte_record(record).map_err(|error| self.refuse(error))
    }

    fn refuse(&self, error: csv::Error) -> Error {
        let (path, row) = (self.location.name.clone(), self.row);
        match error.into_kind() {
            ErrorKind::UnequalLengths { expected_len: expected, len: found, .. } => {
                Error::RowLength { path, row, expected, found }
            }
            ErrorKind::Io(source) if source.kind() == io::ErrorKind::FileTooLarge => {
                Error::RowTooLong { path, row, most: MOST }
            }
            ErrorKind::Io(source) => {
                match source.get_ref().and_then(|error| error.downcast_ref::<Unclosed>()) {
                    Some(unclosed) => Error::UnclosedQuote { path, row: unclosed.row },
                    None => self.location.unreadable(source),
                }
            }
            ErrorKind::Utf8 { .. } => self.location.corrupt(Format::Csv, "the header is not UTF-8 text"),
            other => self.location.corrupt(Format::Csv, format!("{other:?}")),
        }
    }
}

/// A reader that gives out only so many bytes until the allowance is renewed.
#[derive(Debug)]
struct Allowance<R> {
    input: R,
    left: u64,
}

impl<R: Read> Read for Allowance<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let read = self.input.read(buffer)?;
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}
