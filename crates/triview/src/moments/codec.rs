//! Moments, and plans of them, as bytes.
//!
//! Moments are a safetensors file: each part of the layout is one tensor, stacked over the blocks that have rows, in `f64`, and
//! there is one more with a checksum of all the others and of the metadata; what the sums are sums of stands as JSON in the metadata under
//! `triview`. A plan alone, which is how a fitted feature map travels, is JSON.

use super::moments::Moments;
use super::plan::Plan;
use crate::data::{BlockSums, VIEWS};
use crate::error::{Error, Result};
use crate::features::Bins;
use crate::loss;
use crate::numeric::checksum;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;

/// The version of both kinds of bytes. A program reads its own version only.
pub const FORMAT_VERSION: u64 = 6;
/// The metadata key, and in a plan the key that says what it is.
const KEY: &str = "triview";
const MOMENTS: &str = "moments";
const PLAN: &str = "plan";
/// What earlier versions called them.
const FORMER: [&str; 2] = ["moment state", "saved posterior"];
/// The tensor that is of no part.
const CHECKSUM: &str = "checksum";
/// No layout has as many blocks.
const MOST_BLOCKS: usize = 4096;

/// What bytes say about themselves.
#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    triview: String,
    version: u64,
    #[serde(flatten)]
    content: T,
}

#[derive(Serialize, Deserialize)]
struct Blocks<P> {
    blocks: usize,
    /// Places of the blocks that have rows.
    filled: Vec<usize>,
    plan: P,
}

/// A plan as JSON, whose checksum is that of its text without spaces.
#[derive(Serialize, Deserialize)]
struct Checked {
    checksum: String,
    plan: Value,
}

impl Moments {
    /// The bytes of a file of moments: the same for the same moments.
    ///
    /// # Errors
    /// [`Error::UnsavableLoss`] for a loss of one's own, which could not be read back.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.plan().expect_savable()?;
        let filled: Vec<(usize, &[f64])> = self.sums().filled().collect();
        let content = Blocks {
            blocks: self.sums().count(),
            filled: filled.iter().map(|(at, _)| *at).collect(),
            plan: self.plan(),
        };
        let text = serde_json::to_string(&envelope(MOMENTS, content)).map_err(unwritable)?;
        let stacks: Vec<(&str, Vec<usize>, Vec<u8>)> = self
            .layout()
            .parts()
            .into_iter()
            .map(|part| {
                let sums = filled.iter().flat_map(|(_, block)| part.of(block));
                let shape = [&[filled.len()], part.shape.as_slice()].concat();
                (part.name.as_str(), shape, sums.flat_map(|sum| sum.to_le_bytes()).collect())
            })
            .collect();
        let cells = stacks.iter().map(|(_, _, cells)| cells.as_slice());
        let sum = checksum([text.as_bytes()].into_iter().chain(cells)).to_le_bytes();
        let mut tensors = Vec::with_capacity(stacks.len() + 1);
        for (name, shape, cells) in &stacks {
            tensors.push((*name, TensorView::new(Dtype::F64, shape.clone(), cells).map_err(unwritable)?));
        }
        tensors.push((CHECKSUM, TensorView::new(Dtype::U64, vec![1], &sum).map_err(unwritable)?));
        safetensors::serialize(tensors, Some(HashMap::from([(KEY.to_owned(), text)]))).map_err(unwritable)
    }

    /// Moments from the bytes of their file.
    ///
    /// # Errors
    /// [`Error::NotMoments`], [`Error::OtherVersion`] or [`Error::InvalidMoments`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        if !begins_like_safetensors(bytes) {
            return Err(Error::NotMoments { found: "it is not in the safetensors format" });
        }
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let text = metadata.metadata().as_ref().and_then(|metadata| metadata.get(KEY));
        let text = text.ok_or(Error::NotMoments { found: "its tensors were made by another program" })?;
        let Blocks { blocks, filled, plan } = open::<Blocks<Plan>>(MOMENTS, text.as_bytes())?;

        // Before anything of the size that the plan implies is laid out: there must be bytes enough for it.
        let size = |q: [usize; VIEWS]| q.iter().try_fold(8_usize, |size, q| size.checked_mul(*q));
        if !plan.partition.fits(plan.schema.views().len()) {
            return Err(damaged("its groups are not of its views"));
        }
        let families = [plan.dimensions(), plan.bins.each_ref().map(Bins::dimension)];
        let fits = |q: [usize; VIEWS]| size(q).is_some_and(|size| size <= bytes.len());
        if (!filled.is_empty() && !families.into_iter().all(fits)) || plan.schema.k() > bytes.len() {
            return Err(damaged("it is smaller than its plan implies"));
        }
        let in_order = filled.iter().zip(filled.iter().skip(1)).all(|(a, b)| a < b);
        if blocks > MOST_BLOCKS || !in_order || filled.last().is_some_and(|last| *last >= blocks) {
            return Err(damaged("its blocks are not in order"));
        }
        let layout = plan.layout()?;
        let parts = layout.parts();
        let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
        if tensors.len() != parts.len() + 1 {
            return Err(damaged(format!(
                "it has {} tensors where {} are needed",
                tensors.len(),
                parts.len() + 1
            )));
        }
        let mut stacks = Vec::with_capacity(parts.len());
        for part in &parts {
            let tensor = tensors.tensor(&part.name).map_err(damaged)?;
            let shape = [&[filled.len()], part.shape.as_slice()].concat();
            if tensor.dtype() != Dtype::F64 || tensor.shape() != shape {
                let (dtype, shape) = (tensor.dtype(), tensor.shape());
                return Err(damaged(format!("tensor `{}` is {dtype:?} of shape {shape:?}", part.name)));
            }
            stacks.push(tensor.data());
        }
        let sum = checksum([text.as_bytes()].into_iter().chain(stacks.iter().copied()));
        if tensors.tensor(CHECKSUM).map_err(damaged)?.data() != sum.to_le_bytes() {
            return Err(damaged("its checksum is not that of its content"));
        }
        let mut sums = BlockSums::new(blocks, layout.len);
        for (at, &place) in filled.iter().enumerate() {
            let block = &mut sums.blocks_mut()[place];
            BlockSums::fill(block, layout.len);
            for (part, stack) in parts.iter().zip(&stacks) {
                let (cells, _) = stack.as_chunks::<8>();
                let own = &cells[at * part.len()..(at + 1) * part.len()];
                part.of_mut(block)
                    .iter_mut()
                    .zip(own)
                    .for_each(|(sum, cell)| *sum = f64::from_le_bytes(*cell));
            }
        }
        Moments::new(plan, layout, sums)
    }
}

impl Plan {
    /// The bytes of a file of the plan, which is JSON.
    ///
    /// # Errors
    /// [`Error::UnsavableLoss`] for a loss of one's own, which could not be read back.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.expect_savable()?;
        let plan = serde_json::to_value(self).map_err(unwritable)?;
        let content = Checked { checksum: checksum_of(&plan)?, plan };
        let mut bytes = serde_json::to_vec_pretty(&envelope(PLAN, content)).map_err(unwritable)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// A plan from the bytes of its file.
    ///
    /// # Errors
    /// [`Error::NotMoments`], [`Error::OtherVersion`] or [`Error::InvalidMoments`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(Error::NotMoments { found: "it is not JSON" });
        }
        let Checked { checksum, plan } = open::<Checked>(PLAN, bytes)?;
        if checksum_of(&plan)? != checksum {
            return Err(damaged("its checksum is not that of its content"));
        }
        let plan: Plan = serde_json::from_value(plan).map_err(damaged)?;
        plan.layout()?;
        Ok(plan)
    }

    /// Refuses a loss that is known by its name alone.
    fn expect_savable(&self) -> Result<()> {
        match loss::by_name(self.loss.name()) {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::UnsavableLoss { name: self.loss.name().into() }),
        }
    }
}

/// Whether bytes may be those of moments: the length of a header, and its beginning.
pub fn begins_like_safetensors(bytes: &[u8]) -> bool {
    bytes.get(8) == Some(&b'{') && bytes[..8].iter().skip(4).all(|byte| *byte == 0)
}

fn envelope<T>(what: &str, content: T) -> Envelope<T> {
    Envelope { triview: what.into(), version: FORMAT_VERSION, content }
}

/// What an envelope of the right kind and version holds.
fn open<T: serde::de::DeserializeOwned>(what: &'static str, text: &[u8]) -> Result<T> {
    let mut content: Value = serde_json::from_slice(text).map_err(damaged)?;
    let kind = content.get(KEY).and_then(Value::as_str).unwrap_or_default();
    if kind != what && !FORMER.contains(&kind) {
        return Err(Error::NotMoments { found: "it is something else" });
    }
    match content.get("version").and_then(Value::as_u64) {
        Some(FORMAT_VERSION) if kind == what => {}
        Some(found) => return Err(Error::OtherVersion { found, known: FORMAT_VERSION }),
        None => return Err(damaged("it has no version")),
    }
    if let Some(content) = content.as_object_mut() {
        content.retain(|key, _| key != KEY && key != "version");
    }
    serde_json::from_value(content).map_err(|error| damaged(format!("its plan is not valid: {error}")))
}

fn checksum_of(plan: &Value) -> Result<String> {
    let text = serde_json::to_vec(plan).map_err(unwritable)?;
    Ok(format!("{:016x}", checksum([text.as_slice()])))
}

fn damaged(reason: impl ToString) -> Error {
    Error::InvalidMoments { reason: reason.to_string() }
}

fn unwritable(_: impl ToString) -> Error {
    Error::Internal("moments cannot be written as bytes")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;
    use crate::data::Batch;
    use crate::moments::tests::plan;

    /// The moments of three blocks of rows.
    fn moments() -> Moments {
        let scores: Vec<f64> = (0..24 * 6).map(|at| f64::from(at).sin()).collect();
        let mut sums = plan().accumulator().unwrap();
        sums.update(&Batch::from_rows(&scores, 3, 2).unwrap()).unwrap();
        sums.finish().unwrap()
    }

    /// Some bytes with one of them changed, for each of them in turn.
    fn with_a_byte_changed(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
        (0..bytes.len()).map(|at| {
            let mut changed = bytes.to_vec();
            changed[at] ^= [0x01, 0x80, 0xff][at % 3];
            changed
        })
    }

    #[test]
    fn no_changed_byte_is_read_as_something_else() {
        let moments = moments();
        let bytes = moments.to_bytes().unwrap();
        assert_eq!(Moments::from_bytes(&bytes).unwrap(), moments);
        for changed in with_a_byte_changed(&bytes) {
            assert!(Moments::from_bytes(&changed).map_or(true, |read| read == moments));
        }
        let bytes = plan().to_bytes().unwrap();
        assert_eq!(Plan::from_bytes(&bytes).unwrap(), plan());
        for changed in with_a_byte_changed(&bytes) {
            assert!(Plan::from_bytes(&changed).map_or(true, |read| read == plan()));
        }
    }

    /// Bytes of moments of [`plan`] with one tensor changed, under the checksum of what they then hold.
    fn resealed(bytes: &[u8], name: &str, change: impl Fn(&mut [u8])) -> Vec<u8> {
        let layout = plan().layout().unwrap();
        let (_, metadata) = SafeTensors::read_metadata(bytes).unwrap();
        let metadata = metadata.metadata().clone().unwrap();
        let tensors = SafeTensors::deserialize(bytes).unwrap();
        let mut stacks: Vec<Vec<u8>> =
            layout.parts().iter().map(|part| tensors.tensor(&part.name).unwrap().data().to_vec()).collect();
        change(&mut stacks[layout.parts().iter().position(|part| part.name == name).unwrap()]);
        let cells = stacks.iter().map(Vec::as_slice);
        let sum = checksum([metadata[KEY].as_bytes()].into_iter().chain(cells)).to_le_bytes();
        let mut views = vec![(CHECKSUM, TensorView::new(Dtype::U64, vec![1], &sum).unwrap())];
        for (part, cells) in layout.parts().iter().zip(&stacks) {
            let shape = tensors.tensor(&part.name).unwrap().shape().to_vec();
            views.push((part.name.as_str(), TensorView::new(Dtype::F64, shape, cells).unwrap()));
        }
        safetensors::serialize(views, Some(metadata)).unwrap()
    }

    #[test]
    fn a_sum_that_is_not_finite_is_named() {
        let bytes = moments().to_bytes().unwrap();
        assert_eq!(Moments::from_bytes(&resealed(&bytes, "rows", |_| ())).unwrap(), moments());
        let infinite = |cells: &mut [u8]| {
            cells.last_chunk_mut::<8>().unwrap().copy_from_slice(&f64::INFINITY.to_le_bytes())
        };
        let refused = Moments::from_bytes(&resealed(&bytes, "rows", infinite));
        let reason = format!("block 2 has inf at place {}", moments().layout().rows.offset);
        assert_eq!(refused, Err(Error::InvalidMoments { reason }));
    }

    #[test]
    fn no_plan_under_its_own_checksum_makes_a_reader_panic() {
        let text = serde_json::to_vec(&plan()).unwrap();
        for changed in with_a_byte_changed(&text) {
            let Ok(plan) = serde_json::from_slice::<Value>(&changed) else { continue };
            let content = Checked { checksum: checksum_of(&plan).unwrap(), plan };
            let bytes = serde_json::to_vec(&envelope(PLAN, content)).unwrap();
            if let Ok(read) = Plan::from_bytes(&bytes) {
                assert!(read.accumulator().is_ok());
            }
        }
    }

    #[test]
    fn more_sums_than_can_be_counted_are_refused() {
        let edges = vec![vec![0.0; 3_000_000], Vec::new()];
        let bins: Bins =
            serde_json::from_value(serde_json::json!({ "edges": edges, "missing": false })).unwrap();
        let plan = Plan { bins: std::array::from_fn(|_| bins.clone()), ..plan() };
        assert!(matches!(plan.layout(), Err(Error::InvalidMoments { .. })));
    }
}
