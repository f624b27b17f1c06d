//! Files that say what they are.

use crate::error::Error;
use crate::read::location::Location;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// The metadata key that says what a file is.
pub(crate) const KEY: &str = "triview";

/// What a file says about its content: `{"triview": kind, "version": 1, "header": {...}}`.
#[derive(Serialize)]
pub(crate) struct Envelope<'a, H> {
    pub(crate) triview: &'static str,
    pub(crate) version: u64,
    pub(crate) header: &'a H,
}

/// A file that should be of a certain kind.
pub(crate) struct File<'a> {
    pub(crate) path: &'a Path,
    pub(crate) what: &'static str,
    /// The version of its kind that this program reads.
    pub(crate) version: u64,
}

impl File<'_> {
    /// Reads the file if its first bytes look right: a table of many gigabytes is not read to be refused.
    pub(crate) fn read(
        &self,
        looks_right: impl Fn(&[u8]) -> bool,
        otherwise: &'static str,
    ) -> Result<Vec<u8>, Error> {
        let location = Location::of(self.path);
        let mut file = location.open_whole()?;
        let mut bytes = Vec::new();
        let mut read = |most: u64, bytes: &mut Vec<u8>| {
            Read::by_ref(&mut file)
                .take(most)
                .read_to_end(bytes)
                .map_err(|source| location.unreadable(source))
        };
        read(64, &mut bytes)?;
        if bytes.is_empty() {
            return Err(self.foreign("it is empty"));
        }
        if !looks_right(&bytes) {
            return Err(self.foreign(otherwise));
        }
        // A file with holes has any length, and takes no room on the disk.
        location.allow(location.length(), "what it holds")?;
        location.reserve(&mut bytes, location.length())?;
        read(u64::MAX, &mut bytes)?;
        location.unless_changed(Ok(bytes))
    }

    /// The header in an envelope of the right kind and version.
    pub(crate) fn open_envelope<H: DeserializeOwned>(&self, text: &[u8]) -> Result<H, Error> {
        let mut envelope: Value = serde_json::from_slice(text).map_err(|error| self.damaged(&error))?;
        if envelope.get(KEY).and_then(Value::as_str) != Some(self.what) {
            return Err(self.foreign("it is something else"));
        }
        let version = envelope.get("version").and_then(Value::as_u64);
        match version.ok_or_else(|| self.damaged(&"it has no version"))? {
            found if found == self.version => {}
            found => return Err(Error::Version { path: self.path.into(), found, known: self.version }),
        }
        let header = envelope.get_mut("header").map(Value::take).unwrap_or_default();
        serde_json::from_value(header)
            .map_err(|error| self.damaged(&format!("its header is not valid: {error}")))
    }

    pub(crate) fn foreign(&self, found: &'static str) -> Error {
        Error::Foreign { path: self.path.into(), what: self.what, found }
    }

    pub(crate) fn damaged(&self, reason: &dyn std::fmt::Display) -> Error {
        Error::Damaged { path: self.path.into(), what: self.what, reason: reason.to_string() }
    }
}
