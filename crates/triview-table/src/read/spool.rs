//! Temporary copies of what can be read only once.

use crate::temporary::Named;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A temporary file that can be opened again and again, and vanishes when this is dropped.
///
/// It has no name where the system opens a file by its descriptor: then nothing is left of it, however the program ends.
#[derive(Debug)]
pub(crate) struct Spool {
    path: PathBuf,
    file: Kept,
}

#[derive(Debug)]
enum Kept {
    Unnamed(File),
    Named { file: NamedTempFile, _named: Named },
}

impl Spool {
    /// An empty one.
    pub(crate) fn new() -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            let file = tempfile::tempfile()?;
            let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
            // There may be no such folder in a container or a jail.
            if path.exists() {
                return Ok(Self { path, file: Kept::Unnamed(file) });
            }
        }
        let file = NamedTempFile::new()?;
        let named = Named::new(file.path());
        Ok(Self { path: file.path().to_owned(), file: Kept::Named { file, _named: named } })
    }

    /// What it is opened by, as long as this process runs.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Goes on at the beginning, over what is there.
    pub(crate) fn rewind(&mut self) -> io::Result<()> {
        self.file().rewind()
    }

    fn file(&mut self) -> &mut File {
        match &mut self.file {
            Kept::Unnamed(file) => file,
            Kept::Named { file, .. } => file.as_file_mut(),
        }
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn it_is_opened_again_by_its_path() {
        let mut spool = Spool::new().expect("a temporary folder");
        spool.write_all(b"once").expect("room");
        for _ in 0..2 {
            assert_eq!(fs::read(spool.path()).expect("it is there"), b"once");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn it_has_no_name() {
        let spool = Spool::new().expect("a temporary folder");
        let link = fs::read_link(spool.path()).expect("a link to what is open");
        assert!(!link.exists(), "{} is in a folder", link.display());
    }
}
