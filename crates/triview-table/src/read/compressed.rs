//! Files that are compressed with gzip or Zstandard: unpacked once into a temporary file, as every table is read twice.

use crate::error::Error;
use crate::read::location::Location;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Read};
use tempfile::NamedTempFile;

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

    fn unpack(self, packed: File, into: &mut impl io::Write) -> io::Result<u64> {
        match self {
            Packing::Gzip => io::copy(&mut MultiGzDecoder::new(packed), into),
            Packing::Zstd => io::copy(&mut zstd::Decoder::new(packed)?, into),
        }
    }
}

/// Where a file is read from: itself, or what was unpacked of it where it is compressed.
pub(crate) fn unpacked(location: Location, spooled: &mut Vec<NamedTempFile>) -> Result<Location, Error> {
    let Ok(mut file) = location.open() else { return Ok(location) };
    let mut head = Vec::with_capacity(4);
    // What cannot be read is said where it is read in earnest.
    if file.by_ref().take(4).read_to_end(&mut head).is_err() {
        return Ok(location);
    }
    let Some(packing) = Packing::of(&head) else { return Ok(location) };
    let damaged = |source| Error::Unpack { path: location.name.clone(), packing: packing.name(), source };
    let mut whole = NamedTempFile::new().map_err(damaged)?;
    packing.unpack(location.open()?, &mut whole).map_err(damaged)?;
    let path = whole.path().to_owned();
    spooled.push(whole);
    Ok(Location { name: location.name, ..Location::of(&path) })
}
