//! Columns of Parquet files that go with their rows as they are, without being decoded.

use crate::error::Error;
use crate::read::format::Format;
use crate::read::location::Location;
use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use ::parquet::basic::Repetition;
use ::parquet::column::writer::ColumnCloseResult;
use ::parquet::file::metadata::{KeyValue, ParquetMetaData};
use ::parquet::file::writer::SerializedRowGroupWriter;
use ::parquet::schema::types::TypePtr;
use arrow_schema::FieldRef;
use std::fs::File;
use std::io;
use std::sync::Arc;

/// What the writers of Arrow note their own types under.
const ARROW: &str = "ARROW:schema";

/// The columns of Parquet files that go with their rows, to be copied byte by byte: [`Table::carried`](crate::Table::carried) gives
/// them, and [`write_beside`](crate::write_beside) writes others beside them.
#[derive(Debug)]
pub struct Carried {
    /// The types of the columns, in their order.
    types: Vec<TypePtr>,
    /// What Arrow makes of them, where the files' writers noted it.
    fields: Option<Vec<FieldRef>>,
    files: Vec<CarriedFile>,
}

/// The columns of one file.
#[derive(Debug)]
pub(crate) struct CarriedFile {
    location: Location,
    metadata: Arc<ParquetMetaData>,
    /// Their places in it.
    places: Vec<usize>,
}

impl Carried {
    /// The columns at these places of files; nothing where they are not single columns of the same types in every file.
    pub(crate) fn of<'a>(
        files: impl Iterator<Item = (&'a Location, &'a ArrowReaderMetadata, Vec<usize>)>,
    ) -> Option<Self> {
        let mut carried: Option<Self> = None;
        for (location, head, places) in files {
            let metadata = head.metadata().clone();
            let schema = metadata.file_metadata().schema_descr();
            let types = schema.root_schema().get_fields();
            // Then a column's place among those of Arrow is that among those of the file, and each has one run of pages.
            let single = |at: &usize| {
                types.get(*at).is_some_and(|of| {
                    of.is_primitive() && of.get_basic_info().repetition() != Repetition::REPEATED
                })
            };
            if types.len() != schema.num_columns() || types.len() != head.schema().fields().len() {
                return None;
            }
            let wanted = places.iter().filter(|at| single(at)).map(|at| types[*at].clone());
            let wanted: Vec<TypePtr> = wanted.collect();
            if wanted.len() != places.len() {
                return None;
            }
            let file = CarriedFile { location: location.clone(), metadata, places };
            match &mut carried {
                None => {
                    let fields = file.fields();
                    carried = Some(Self { types: wanted, fields, files: vec![file] });
                }
                Some(carried) if carried.types == wanted => {
                    carried.fields =
                        carried.fields.take().filter(|fields| file.fields().as_ref() == Some(fields));
                    carried.files.push(file);
                }
                Some(_) => return None,
            }
        }
        carried
    }

    /// The types of the columns.
    pub(crate) fn types(&self) -> &[TypePtr] {
        &self.types
    }

    /// What Arrow makes of them, where that is known.
    pub(crate) fn fields(&self) -> Option<&[FieldRef]> {
        self.fields.as_deref()
    }

    /// The files.
    pub(crate) fn files(&self) -> &[CarriedFile] {
        &self.files
    }
}

impl CarriedFile {
    /// What Arrow makes of the columns, where the file's writer noted it and it can be read.
    fn fields(&self) -> Option<Vec<FieldRef>> {
        let notes = self.metadata.file_metadata().key_value_metadata()?;
        notes.iter().find(|KeyValue { key, .. }| key == ARROW)?;
        let head = self.location.guard(Format::Parquet, || {
            ArrowReaderMetadata::try_new(self.metadata.clone(), ArrowReaderOptions::new())
                .map_err(|error| self.location.corrupt(Format::Parquet, error))
        });
        let head = head.ok()?;
        self.places.iter().map(|at| head.schema().fields().get(*at).cloned()).collect()
    }

    /// The rows of each of its row groups.
    pub(crate) fn groups(&self) -> impl Iterator<Item = usize> {
        self.metadata.row_groups().iter().map(|group| usize::try_from(group.num_rows()).unwrap_or(0))
    }

    /// Opens it.
    pub(crate) fn open(&self) -> Result<File, Error> {
        self.location.open()
    }

    /// Copies the columns of a row group.
    pub(crate) fn copy<W: io::Write + Send>(
        &self,
        file: &File,
        group: usize,
        into: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), Error> {
        let group = self.metadata.row_group(group);
        let rows = u64::try_from(group.num_rows()).unwrap_or(0);
        self.location.guard(Format::Parquet, || {
            for &place in &self.places {
                let column = group.column(place);
                let (_, bytes) = column.byte_range();
                let close = ColumnCloseResult {
                    bytes_written: bytes,
                    rows_written: rows,
                    metadata: column.clone(),
                    bloom_filter: None,
                    column_index: None,
                    offset_index: None,
                };
                into.append_column(file, close)
                    .map_err(|error| self.location.corrupt(Format::Parquet, error))?;
            }
            Ok(())
        })
    }

    /// What was copied, unless the file is no longer what it was.
    pub(crate) fn unless_changed(&self) -> Result<(), Error> {
        self.location.unless_changed(Ok(()))
    }

    /// Other rows than the file says.
    pub(crate) fn other_rows(&self) -> Error {
        self.location.corrupt(Format::Parquet, "its row groups have other rows than its footer says")
    }
}
