//! Where a file is, what messages call it, and the errors that name it.

use crate::error::Error;
use crate::memory::{Memory, trying};
use crate::read::format::Format;
use crate::read::guard::guarded;
use crate::read::origin::Records;
use std::fs::{File, Metadata};
use std::io::{self, Read, Take};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

/// A file to read, or what is in memory in its place. Standard input has a name that differs from the path of its copy.
#[derive(Debug, Clone)]
pub(crate) struct Location {
    pub(crate) name: PathBuf,
    pub(crate) path: PathBuf,
    pub(crate) records: Option<Records>,
    /// Whether the file stays open as long as it may be read again, so that no other can have its number.
    held: bool,
    /// How much memory decoding it may take.
    pub(crate) memory: Memory,
    /// What was found at the first opening; shared by all copies.
    seen: Arc<OnceLock<Seen>>,
}

/// A file as it was first opened.
#[derive(Debug)]
struct Seen {
    identity: Identity,
    _held: Option<File>,
}

/// What tells a file from another, and from itself after a change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    length: u64,
    modified: Option<SystemTime>,
    /// The device and the number of the file on it.
    #[cfg(unix)]
    place: (u64, u64),
}

impl Identity {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            place: (metadata.dev(), metadata.ino()),
        }
    }
}

impl Location {
    /// A file that is called by its path.
    pub(crate) fn of(path: &Path) -> Self {
        let (memory, seen) = (Memory::default(), Arc::default());
        Self { name: path.into(), path: path.into(), records: None, held: false, memory, seen }
    }

    /// What is in memory.
    pub(crate) fn of_records(records: &Records) -> Self {
        Self { records: Some(records.clone()), ..Self::of(Path::new(records.name())) }
    }

    /// A copy of the file, called by the same name.
    pub(crate) fn copied_to(&self, path: &Path) -> Self {
        Self { path: path.into(), held: false, seen: Arc::default(), ..self.clone() }
    }

    /// The same file, which may take so much memory.
    pub(crate) fn within(self, memory: Memory) -> Self {
        Self { memory, ..self }
    }

    /// Refuses what takes more memory than may be taken.
    pub(crate) fn allow(&self, bytes: u64, what: &'static str) -> Result<(), Error> {
        if bytes <= self.memory.bytes() {
            return Ok(());
        }
        let needed = Memory::of_bytes(bytes);
        Err(Error::TooLarge { path: self.name.clone(), what, needed, allowed: self.memory })
    }

    /// Reads so many bytes, or as many as there are.
    pub(crate) fn bytes(&self, input: &mut impl Read, length: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.reserve(&mut bytes, length)?;
        input.take(length).read_to_end(&mut bytes).map_err(|source| self.unreadable(source))?;
        Ok(bytes)
    }

    /// Makes room, which the system may refuse.
    pub(crate) fn reserve<T>(&self, room: &mut Vec<T>, length: u64) -> Result<(), Error> {
        let needed = length.saturating_mul(size_of::<T>() as u64);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let refuse = |_| Error::NoRoom { path: self.name.clone(), needed: Memory::of_bytes(needed) };
        trying(|| room.try_reserve_exact(length)).map_err(refuse)
    }

    /// The same file, which stays open as long as it may be read again, or does not.
    pub(crate) fn held(self, held: bool) -> Self {
        Self { held, ..self }
    }

    /// Whether it is something that can be read only once, such as a named pipe or a shell's `<(command)`.
    pub(crate) fn is_pipe(&self) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
    }

    /// Opens the file at its beginning. It must be the one that was opened first, and as it was then: a table is read twice, and
    /// two mixtures would make one answer.
    pub(crate) fn open(&self) -> Result<File, Error> {
        let metadata = std::fs::metadata(&self.path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound if self.seen.get().is_some() => self.changed(),
            io::ErrorKind::NotFound => Error::Missing { path: self.name.clone() },
            _ => self.unreadable(source),
        })?;
        if metadata.is_dir() {
            return Err(Error::Folder { path: self.name.clone() });
        }
        let unreadable = |source| self.unreadable(source);
        let file = File::open(&self.path).map_err(unreadable)?;
        let identity = Identity::of(&file.metadata().map_err(unreadable)?);
        match self.seen.get() {
            Some(seen) if seen.identity != identity => return Err(self.changed()),
            Some(_) => {}
            None => {
                let held = if self.held { file.try_clone().ok() } else { None };
                self.seen.get_or_init(|| Seen { identity, _held: held });
            }
        }
        Ok(file)
    }

    /// Opens the file to be read through, but for what was added since it was first opened: a log that grows has an end.
    pub(crate) fn open_whole(&self) -> Result<Take<File>, Error> {
        let file = self.open()?;
        Ok(file.take(self.length()))
    }

    /// The length of the file when it was first opened.
    pub(crate) fn length(&self) -> u64 {
        self.seen.get().map_or(0, |seen| seen.identity.length)
    }

    /// What a reading came to, unless the file is no longer what it was when it was first opened: then neither what was read nor
    /// what was wrong with it says anything.
    pub(crate) fn unless_changed<T>(&self, read: Result<T, Error>) -> Result<T, Error> {
        let same = self.seen.get().is_none_or(|seen| {
            std::fs::metadata(&self.path).is_ok_and(|metadata| Identity::of(&metadata) == seen.identity)
        });
        if same { read } else { Err(self.changed()) }
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
