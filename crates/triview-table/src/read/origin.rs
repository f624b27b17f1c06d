//! Where rows come from: files, or memory.

use crate::error::Error;
use crate::read::format::Format;
use crate::read::location::{Identity, Location};
use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twox_hash::xxhash3_128::Hasher;

/// Where the rows of a table come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    /// A file; `-` is standard input.
    File(PathBuf),
    /// Arrow's record batches in memory.
    Records(Records),
}

/// Arrow's record batches in memory, shared and not copied, and what messages call them.
///
/// A column of fixed-size lists of fixed-size lists of numbers is an array with the axes (rows, views, classes), as an NPY file
/// holds it: its views are called 1, 2, 3 and so on.
#[derive(Debug, Clone, PartialEq)]
pub struct Records {
    name: Arc<str>,
    pub(crate) batches: Arc<[RecordBatch]>,
}

/// What a file was when it was looked at: its device and number, its length and when it was written last.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Stamp(Option<Identity>);

/// Bytes on their way to a hash.
struct Hashed<'a>(&'a mut Hasher);

impl Write for Hashed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Records {
    /// As the bytes of an Arrow stream.
    fn digest(&self, hasher: &mut Hasher) -> Result<(), Error> {
        let Some(first) = self.batches.first() else { return Ok(()) };
        let mut write = || -> Result<(), ArrowError> {
            let mut stream = StreamWriter::try_new(Hashed(hasher), &first.schema())?;
            self.batches.iter().try_for_each(|batch| stream.write(batch))?;
            stream.finish()
        };
        let unreadable = |error: ArrowError| Location::of_records(self).corrupt(Format::Arrow, error);
        write().map_err(unreadable)
    }

    /// Record batches of this name.
    pub fn new(name: &str, batches: Vec<RecordBatch>) -> Self {
        Self { name: name.into(), batches: batches.into() }
    }

    /// What messages call them.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Origin {
    /// Those of files.
    pub fn files(paths: &[PathBuf]) -> Vec<Self> {
        paths.iter().cloned().map(Self::File).collect()
    }

    /// What its content is known by: the bytes of a file, or what is in memory. With it, what tells whether the file has changed since.
    ///
    /// No more is read than the length that the file had at first: one that grows has an end.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Folder`] and [`Error::Read`]; [`Error::Changed`] for a file that is not at its end what it was at its
    /// beginning; [`Error::ReadOnce`] for standard input and pipes.
    pub fn digest(&self) -> Result<([u8; 16], Stamp), Error> {
        let mut hasher = Hasher::new();
        let stamp = match self {
            Origin::Records(records) => {
                records.digest(&mut hasher)?;
                Stamp::default()
            }
            Origin::File(path) => {
                let location = Location::of(path);
                if path.as_os_str() == "-" || location.is_pipe() {
                    return Err(Error::ReadOnce { path: path.clone() });
                }
                let mut file = location.open_whole()?;
                let mut buffer = vec![0; 1 << 20];
                loop {
                    match file.read(&mut buffer).map_err(|source| location.unreadable(source))? {
                        0 => break,
                        read => hasher.write(&buffer[..read]),
                    }
                }
                location.unless_changed(Ok(()))?;
                Stamp(Some(Identity::of(
                    &file.get_ref().metadata().map_err(|source| location.unreadable(source))?,
                )))
            }
        };
        Ok((hasher.finish_128().to_le_bytes(), stamp))
    }

    /// What a file is now.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Folder`] and [`Error::Read`].
    pub fn stamp(&self) -> Result<Stamp, Error> {
        let Origin::File(path) = self else { return Ok(Stamp::default()) };
        let location = Location::of(path);
        let metadata = location.open()?.metadata().map_err(|source| location.unreadable(source))?;
        Ok(Stamp(Some(Identity::of(&metadata))))
    }

    /// Refuses a file that is not as it was.
    ///
    /// # Errors
    /// [`Error::Changed`], and those of [`Origin::stamp`].
    pub fn expect_unchanged(&self, since: &Stamp) -> Result<(), Error> {
        match self {
            Origin::File(path) if self.stamp()? != *since => Err(Location::of(path).changed()),
            _ => Ok(()),
        }
    }

    /// The file, where it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Origin::File(path) => Some(path),
            Origin::Records(_) => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File(path) => path.display().fmt(f),
            Origin::Records(records) => f.write_str(records.name()),
        }
    }
}

impl From<PathBuf> for Origin {
    fn from(path: PathBuf) -> Self {
        Origin::File(path)
    }
}

impl From<OsString> for Origin {
    fn from(path: OsString) -> Self {
        Origin::File(path.into())
    }
}

impl From<Vec<RecordBatch>> for Origin {
    fn from(batches: Vec<RecordBatch>) -> Self {
        Origin::Records(Records::new("record batches", batches))
    }
}
