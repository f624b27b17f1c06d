//! Moment states and headers on disk.
//!
//! A state is a safetensors file: each part of the layout is one tensor, stacked over the blocks, in `f64`; what
//! the sums are sums of stands as JSON in the metadata under `triview`. A header alone, which is how a fitted
//! feature map travels (`--save-posterior`), is a JSON file.

use crate::error::Error;
use crate::format::looks_like_safetensors;
use crate::location::Location;
use crate::replace::replace;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::Path;
use triview::data::VIEWS;
use triview::features::Bins;
use triview::moments::{Header, Moments};

/// The version of both kinds of file. A program reads its own version only.
const VERSION: u64 = 5;
/// The metadata key, and in a header file the key that says what it is.
pub(crate) const KEY: &str = "triview";
const STATE: &str = "moment state";
const HEADER: &str = "saved posterior";

/// What a file says about its content: `{"triview": kind, "version": 5, "header": {...}}`.
#[derive(Serialize)]
pub(crate) struct Envelope<'a, H> {
    pub(crate) triview: &'static str,
    pub(crate) version: u64,
    pub(crate) header: &'a H,
}

/// Whether a file is meant as a state, by its first bytes or by its ending (`.state`, `.safetensors`).
pub fn is_state(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    if ending.is_some_and(|ending| ["state", "safetensors"].contains(&ending.to_ascii_lowercase().as_str())) {
        return true;
    }
    let location = Location::of(path);
    if location.is_pipe() {
        return false;
    }
    let mut head = Vec::new();
    let read = location.open().map(|file| file.take(9).read_to_end(&mut head));
    matches!(read, Ok(Ok(_))) && looks_like_safetensors(&head)
}

/// Reads a state.
///
/// # Errors
/// [`Error::Missing`] and its like, [`Error::Foreign`], [`Error::Version`] or [`Error::Damaged`].
pub fn read(path: &Path) -> Result<Moments, Error> {
    let file = File { path, what: STATE, version: VERSION };
    let bytes = file.read(looks_like_safetensors, "it is not in the safetensors format")?;
    let damaged = |reason: &dyn std::fmt::Display| file.damaged(reason);
    let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(|error| damaged(&error))?;
    let text = metadata.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
    let text = text.ok_or_else(|| file.foreign("its tensors were made by another program"))?;
    let header: Header = file.open_envelope(text.as_bytes())?;

    // Before anything of the size that the header implies is laid out: the file must be large enough for it.
    let k = header.schema.k();
    let size = |q: [usize; VIEWS]| q.iter().try_fold(8_usize, |size, q| size.checked_mul(*q));
    let groups_fit = header.grouping.groups.iter().flatten().all(|view| *view < header.schema.views().len());
    if !groups_fit {
        return Err(damaged(&"its groups are not of its views"));
    }
    let families = [header.dimensions(), header.bins.each_ref().map(Bins::dimension)];
    let fits = |q: [usize; VIEWS]| size(q).is_some_and(|size| size <= bytes.len());
    if !families.into_iter().all(fits) || k > bytes.len() {
        return Err(damaged(&"it is smaller than its header implies"));
    }
    let layout = header.layout().map_err(|error| damaged(&error))?;
    let parts = layout.parts();
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| damaged(&error))?;
    if tensors.len() != parts.len() {
        return Err(damaged(&format!("it has {} tensors where {} are needed", tensors.len(), parts.len())));
    }
    let mut blocks = None;
    let mut stacks = Vec::with_capacity(parts.len());
    for part in &parts {
        let tensor = tensors.tensor(&part.name).map_err(|error| damaged(&error))?;
        let [count, shape @ ..] = tensor.shape() else {
            return Err(damaged(&format!("tensor `{}` has no axes", part.name)));
        };
        let fits =
            tensor.dtype() == Dtype::F64 && shape == part.shape && *blocks.get_or_insert(*count) == *count;
        if !fits {
            let (dtype, shape) = (tensor.dtype(), tensor.shape());
            return Err(damaged(&format!("tensor `{}` is {dtype:?} of shape {shape:?}", part.name)));
        }
        stacks.push(tensor.data());
    }
    let mut blocks = vec![vec![0.0; layout.len]; blocks.unwrap_or(0)];
    for (part, stack) in parts.iter().zip(stacks) {
        let (cells, _) = stack.as_chunks::<8>();
        for (block, cells) in blocks.iter_mut().zip(cells.chunks_exact(part.len().max(1))) {
            for (sum, cell) in part.of_mut(block).iter_mut().zip(cells) {
                *sum = f64::from_le_bytes(*cell);
            }
        }
    }
    Moments::new(header, blocks).map_err(|error| damaged(&error))
}

/// Writes a state, whole or not at all.
///
/// # Errors
/// [`Error::Write`].
pub fn write(path: &Path, moments: &Moments) -> Result<(), Error> {
    let refuse = |source| Error::Write { path: path.into(), source };
    let envelope = Envelope { triview: STATE, version: VERSION, header: moments.header() };
    let text = serde_json::to_string(&envelope).map_err(|error| refuse(error.into()))?;
    let blocks = moments.blocks();
    let stacks: Vec<(&str, Vec<usize>, Vec<u8>)> = moments
        .layout()
        .parts()
        .into_iter()
        .map(|part| {
            let cells =
                blocks.iter().flat_map(|block| part.of(block)).flat_map(|sum| sum.to_le_bytes()).collect();
            let shape = [&[blocks.len()], part.shape.as_slice()].concat();
            (part.name.as_str(), shape, cells)
        })
        .collect();
    let other = |error: safetensors::SafeTensorError| refuse(std::io::Error::other(error));
    let mut tensors = Vec::with_capacity(stacks.len());
    for (name, shape, cells) in &stacks {
        tensors.push((*name, TensorView::new(Dtype::F64, shape.clone(), cells).map_err(other)?));
    }
    let metadata = HashMap::from([(KEY.to_owned(), text)]);
    let bytes = safetensors::serialize(tensors, Some(metadata)).map_err(other)?;
    replace(path, |output| output.write_all(&bytes).map_err(refuse))
}

/// Reads a header that [`write_header`] wrote.
///
/// # Errors
/// [`Error::Missing`] and its like, [`Error::Foreign`], [`Error::Version`] or [`Error::Damaged`].
pub fn read_header(path: &Path) -> Result<Header, Error> {
    let file = File { path, what: HEADER, version: VERSION };
    let begins_like_json = |head: &[u8]| head.trim_ascii_start().first() == Some(&b'{');
    let text = file.read(begins_like_json, "it is not JSON")?;
    file.open_envelope(&text)
}

/// Writes a header alone, whole or not at all.
///
/// # Errors
/// [`Error::Write`].
pub fn write_header(path: &Path, header: &Header) -> Result<(), Error> {
    let envelope = Envelope { triview: HEADER, version: VERSION, header };
    replace(path, |output| {
        serde_json::to_writer_pretty(&mut *output, &envelope)
            .map_err(std::io::Error::from)
            .and_then(|()| output.write_all(b"\n"))
            .map_err(|source| Error::Write { path: path.into(), source })
    })
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
        let mut file = location.open()?;
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
        read(u64::MAX, &mut bytes)?;
        Ok(bytes)
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
