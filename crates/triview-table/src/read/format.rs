//! What kind of file a table is in, told by its first bytes and then by its ending.

use crate::error::Error;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use triview::moments::begins_like_safetensors;

/// A file format of score tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Fields between commas, semicolons or tabs, with a header.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, as a file with a footer or as a stream.
    Arrow,
    /// A NumPy array.
    Npy,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Csv => "CSV",
            Format::Parquet => "Parquet",
            Format::Arrow => "Arrow IPC",
            Format::Npy => "NPY",
        })
    }
}

impl Format {
    /// The format that a file's ending promises.
    pub fn of_ending(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(Format::Csv),
            "parquet" | "pq" => Some(Format::Parquet),
            "arrow" | "arrows" | "ipc" | "feather" => Some(Format::Arrow),
            "npy" => Some(Format::Npy),
            _ => None,
        }
    }

    /// The format of an open file at its beginning. `name` is what messages call it.
    pub(crate) fn detect(file: &mut File, name: &Path) -> Result<Format, Error> {
        let read = |source| Error::Read { path: name.into(), source };
        let mut head = Vec::with_capacity(HEAD);
        file.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(read)?;
        if head.is_empty() {
            return Err(Error::EmptyFile { path: name.into() });
        }
        let magic: [(&[u8], Format); 4] = [
            (b"PAR1", Format::Parquet),
            (b"ARROW1", Format::Arrow),
            (&[0xff; 4], Format::Arrow),
            (b"\x93NUMPY", Format::Npy),
        ];
        if let Some((_, format)) = magic.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Ok(*format);
        }
        if let Some(looks) = foreign(&head) {
            return Err(Error::UnknownFormat { path: name.into(), looks });
        }
        match Format::of_ending(name) {
            None | Some(Format::Csv) if head.contains(&0) => {
                Err(Error::UnknownFormat { path: name.into(), looks: "binary data of an unknown kind" })
            }
            None | Some(Format::Csv) => Ok(Format::Csv),
            Some(format) => Err(Error::WrongContent { path: name.into(), format }),
        }
    }
}

/// How many bytes are looked at: enough for every magic and to tell text from binary data.
const HEAD: usize = 1024;

/// Known things that are no score tables.
fn foreign(head: &[u8]) -> Option<&'static str> {
    let known: [(&[u8], &str); 7] = [
        (b"PARE", "an encrypted Parquet file"),
        (b"FEA1", "a Feather file of version 1"),
        (b"PK\x03\x04", "a zip archive (such as .npz or .xlsx); unpack it first"),
        // The mark of UTF-32 begins with that of UTF-16.
        (b"\xff\xfe\0\0", "UTF-32 text; save it as UTF-8"),
        (b"\0\0\xfe\xff", "UTF-32 text; save it as UTF-8"),
        (b"\xff\xfe", "UTF-16 text; save it as UTF-8"),
        (b"\xfe\xff", "UTF-16 text; save it as UTF-8"),
    ];
    if let Some((_, looks)) = known.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(looks);
    }
    begins_like_safetensors(head).then_some("a safetensors file (moments or a model), not a table")
}
