//! Moments, and plans of them, on disk: what [`Moments::to_bytes`] and [`Plan::to_bytes`] make.

use crate::envelope::File;
use crate::error::Error;
use crate::read::location::Location;
use crate::write::replace;
use std::io::{Read, Write};
use std::path::Path;
use triview::moments::{FORMAT_VERSION, begins_like_safetensors};
use triview::{Moments, Plan};

const MOMENTS: &str = "file of moments";
const PLAN: &str = "saved posterior";

/// Whether a file is meant to hold moments, by its first bytes or by its ending (`.moments`, `.state`, `.safetensors`).
pub fn is_moments(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    if ending.is_some_and(|ending| ["moments", "state", "safetensors"].contains(&ending.as_str())) {
        return true;
    }
    let location = Location::of(path);
    if location.is_pipe() {
        return false;
    }
    let mut head = Vec::new();
    let read = location.open().map(|file| file.take(9).read_to_end(&mut head));
    matches!(read, Ok(Ok(_))) && begins_like_safetensors(&head)
}

/// Reads moments.
///
/// # Errors
/// [`Error::Missing`] and its like, [`Error::Foreign`], [`Error::Version`] or [`Error::Damaged`].
pub fn read(path: &Path) -> Result<Moments, Error> {
    let file = File { path, what: MOMENTS, version: FORMAT_VERSION };
    let bytes = file.read(begins_like_safetensors, "it is not in the safetensors format")?;
    Moments::from_bytes(&bytes).map_err(|error| named(&file, error))
}

/// Writes moments, whole or not at all.
///
/// # Errors
/// [`Error::Write`], and [`triview::Error::UnsavableLoss`].
pub fn write(path: &Path, moments: &Moments) -> Result<(), Error> {
    write_bytes(path, &moments.to_bytes()?)
}

/// Reads a plan that [`write_plan`] wrote.
///
/// # Errors
/// [`Error::Missing`] and its like, [`Error::Foreign`], [`Error::Version`] or [`Error::Damaged`].
pub fn read_plan(path: &Path) -> Result<Plan, Error> {
    let file = File { path, what: PLAN, version: FORMAT_VERSION };
    let begins_like_json = |head: &[u8]| head.trim_ascii_start().first() == Some(&b'{');
    let text = file.read(begins_like_json, "it is not JSON")?;
    Plan::from_bytes(&text).map_err(|error| named(&file, error))
}

/// Writes a plan alone, which is how a fitted feature map travels, whole or not at all.
///
/// # Errors
/// [`Error::Write`], and [`triview::Error::UnsavableLoss`].
pub fn write_plan(path: &Path, plan: &Plan) -> Result<(), Error> {
    write_bytes(path, &plan.to_bytes()?)
}

fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    replace(path, |output| {
        output.write_all(bytes).map_err(|source| Error::Write { path: path.into(), source })
    })
}

/// What is wrong with the bytes of a file, with its name.
fn named(file: &File<'_>, error: triview::Error) -> Error {
    match error {
        triview::Error::NotMoments { found } => file.foreign(found),
        triview::Error::OtherVersion { found, known } => {
            Error::Version { path: file.path.into(), found, known }
        }
        triview::Error::InvalidMoments { reason } => file.damaged(&reason),
        other => file.damaged(&other),
    }
}
