//! The finished sums and what they are sums of.

use super::layout::Layout;
use crate::error::{Error, Result};
use crate::features::FeatureMap;
use crate::views::Schema;
use serde::{Deserialize, Serialize};

/// What a state's sums are sums of. Only states with equal headers add up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Views and classes.
    pub schema: Schema,
    /// Name of the loss.
    pub loss: String,
    /// The feature map, with everything it was fitted to.
    pub features: FeatureMap,
}

/// Moments of a data set in blocks of rows: all that is needed to estimate, merge, and resample.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    header: Header,
    layout: Layout,
    blocks: Vec<Vec<f64>>,
}

impl Moments {
    /// A state from its header and its blocks, each of [`Layout::len`] sums.
    ///
    /// # Errors
    /// [`Error::InvalidState`] when the blocks do not fit the header or hold something other than finite
    /// numbers.
    pub fn new(header: Header, blocks: Vec<Vec<f64>>) -> Result<Self> {
        let k = header.schema.k();
        let layout = Layout::new(k, header.features.dimensions(k));
        if blocks.is_empty() {
            return Err(Error::InvalidState { reason: "it has no blocks".into() });
        }
        for (b, block) in blocks.iter().enumerate() {
            if block.len() != layout.len {
                let reason = format!("block {b} has {} sums where {} are needed", block.len(), layout.len);
                return Err(Error::InvalidState { reason });
            }
            if let Some(at) = block.iter().position(|sum| !sum.is_finite()) {
                let reason = format!("block {b} has {} at place {at}", block[at]);
                return Err(Error::InvalidState { reason });
            }
        }
        Ok(Self { header, layout, blocks })
    }

    /// What the sums are sums of.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Where each sum lies in a block.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The sums of each block of rows.
    pub fn blocks(&self) -> &[Vec<f64>] {
        &self.blocks
    }
}
