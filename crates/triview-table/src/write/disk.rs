//! What a file goes through on its way to the disk, each step of which can fail.
//!
//! Tests fail them on purpose, one after the other.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// A step on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Make,
    Write,
    Sync,
    Name,
    Rename,
    SyncFolder,
}

/// A file that is written.
#[derive(Debug)]
pub struct Sink(File);

impl Sink {
    pub(super) fn new(file: File) -> Self {
        Self(file)
    }

    /// Waits until the bytes are on the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        faults::before(Step::Sync)?;
        self.0.sync_all()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A disk that is full takes the first half.
        if let Err(error) = faults::before(Step::Write) {
            self.0.write_all(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Seek for Sink {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// Makes a file by a function.
pub(super) fn make<T>(make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    faults::before(Step::Make)?;
    make()
}

/// Gives a file that has no name one.
#[cfg(target_os = "linux")]
pub(super) fn name(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    faults::before(Step::Name)?;
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, open.as_str(), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// Puts a file into the place of another.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    faults::before(Step::Rename)?;
    fs::rename(from, to)
}

/// Waits until a folder's names are on the disk, where folders can be waited for.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    faults::before(Step::SyncFolder)?;
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if error.raw_os_error() == Some(5) => Err(error),
        // Some systems have no such thing, and some folders may be written to but not read.
        _ => Ok(()),
    }
}

#[cfg(not(test))]
mod faults {
    use super::Step;
    use std::io;

    #[inline(always)]
    pub(super) fn before(_step: Step) -> io::Result<()> {
        Ok(())
    }
}

/// Which step of this thread fails, counted from zero, and which were taken.
#[cfg(test)]
pub(super) mod faults {
    use super::Step;
    use std::cell::{Cell, RefCell};
    use std::io;

    thread_local! {
        static FAILS: Cell<Option<usize>> = const { Cell::new(None) };
        static FOR_GOOD: Cell<bool> = const { Cell::new(false) };
        static TAKEN: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
    }

    /// Lets a step fail, and all after it where the program is as good as dead from there on.
    pub(in crate::write) fn plan(fails: Option<usize>, for_good: bool) {
        FAILS.set(fails);
        FOR_GOOD.set(for_good);
        TAKEN.take();
    }

    /// The steps that were begun.
    pub(in crate::write) fn taken() -> Vec<Step> {
        TAKEN.with_borrow(Clone::clone)
    }

    pub(super) fn before(step: Step) -> io::Result<()> {
        let at = TAKEN.with_borrow_mut(|taken| {
            taken.push(step);
            taken.len() - 1
        });
        match FAILS.get() {
            Some(fails) if at == fails || (FOR_GOOD.get() && at > fails) => {
                Err(io::ErrorKind::StorageFull.into())
            }
            _ => Ok(()),
        }
    }
}
