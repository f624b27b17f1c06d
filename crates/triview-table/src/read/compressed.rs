//! Files that are compressed with gzip or Zstandard: unpacked once into a temporary file, as every table is read twice.

use crate::error::Error;
use crate::memory::Memory;
use crate::read::location::Location;
use crate::read::spool::Spool;
use flate2::read::MultiGzDecoder;
use std::io::{self, Read};

/// How many times its size a table may unpack to, where that is more than the memory that may be taken: rows of numbers come to ten or
/// so, and what fills a disk to a thousand and more.
const MOST: u64 = 200;

/// An output that takes only so many bytes.
struct Limited<'a> {
    output: &'a mut Spool,
    left: u64,
}

impl io::Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        self.output.write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// What a file is compressed with, told by its first bytes.
#[derive(Debug, Clone, Copy)]
enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd] => Some(Packing::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "Zstandard",
        }
    }

    fn unpack(self, packed: impl Read, into: &mut impl io::Write) -> io::Result<u64> {
        match self {
            Packing::Gzip => io::copy(&mut MultiGzDecoder::new(packed), into),
            Packing::Zstd => io::copy(&mut zstd::Decoder::new(packed)?, into),
        }
    }
}

/// Where a file is read from: itself, or what was unpacked of it where it is compressed.
pub(crate) fn unpacked(location: Location, spooled: &mut Vec<Spool>) -> Result<Location, Error> {
    let Ok(mut file) = location.open() else { return Ok(location) };
    let mut head = Vec::with_capacity(4);
    // What cannot be read is said where it is read in earnest.
    if file.by_ref().take(4).read_to_end(&mut head).is_err() {
        return Ok(location);
    }
    let Some(packing) = Packing::of(&head) else { return Ok(location) };
    let damaged = |source| Error::Unpack { path: location.name.clone(), packing: packing.name(), source };
    let mut whole = Spool::new().map_err(damaged)?;
    let most = location.memory.bytes().max(location.length().saturating_mul(MOST));
    let mut limited = Limited { output: &mut whole, left: most };
    let unpacked = packing.unpack(location.open_whole()?, &mut limited);
    let unpacked = unpacked.map_err(|source| match source.kind() {
        io::ErrorKind::FileTooLarge => {
            Error::Bomb { path: location.name.clone(), packing: packing.name(), most: Memory::of_bytes(most) }
        }
        _ => damaged(source),
    });
    location.unless_changed(unpacked)?;
    let path = whole.path().to_owned();
    spooled.push(whole);
    Ok(location.copied_to(&path))
}
