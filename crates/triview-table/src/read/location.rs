//! Where a file is, what messages call it, and the errors that name it.

use crate::error::Error;
use crate::read::format::Format;
use crate::read::guard::guarded;
use crate::read::origin::Records;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A file to read, or what is in memory in its place. Standard input has a name that differs from the path of its copy.
#[derive(Debug, Clone)]
pub(crate) struct Location {
    pub(crate) name: PathBuf,
    pub(crate) path: PathBuf,
    pub(crate) records: Option<Records>,
}

impl Location {
    /// A file that is called by its path.
    pub(crate) fn of(path: &Path) -> Self {
        Self { name: path.into(), path: path.into(), records: None }
    }

    /// What is in memory.
    pub(crate) fn of_records(records: &Records) -> Self {
        Self { records: Some(records.clone()), ..Self::of(Path::new(records.name())) }
    }

    /// Whether it is something that can be read only once, such as a named pipe or a shell's `<(command)`.
    pub(crate) fn is_pipe(&self) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
    }

    /// Opens the file at its beginning.
    pub(crate) fn open(&self) -> Result<File, Error> {
        let metadata = std::fs::metadata(&self.path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => Error::Missing { path: self.name.clone() },
            _ => self.unreadable(source),
        })?;
        if metadata.is_dir() {
            return Err(Error::Folder { path: self.name.clone() });
        }
        File::open(&self.path).map_err(|source| self.unreadable(source))
    }

    pub(crate) fn unreadable(&self, source: io::Error) -> Error {
        Error::Read { path: self.name.clone(), source }
    }

    pub(crate) fn corrupt(&self, format: Format, reason: impl ToString) -> Error {
        Error::Corrupt { path: self.name.clone(), format, reason: reason.to_string() }
    }

    pub(crate) fn truncated(&self, format: Format, detail: impl ToString) -> Error {
        Error::Truncated { path: self.name.clone(), format, detail: detail.to_string() }
    }

    pub(crate) fn changed(&self) -> Error {
        Error::Changed { path: self.name.clone() }
    }

    /// Runs a decoder of another crate on bytes that may be damaged, and makes an error of its panic.
    pub(crate) fn guard<T>(
        &self,
        format: Format,
        decode: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        guarded(decode)
            .unwrap_or_else(|said| Err(self.corrupt(format, format!("its decoder stopped with `{said}`"))))
    }
}
