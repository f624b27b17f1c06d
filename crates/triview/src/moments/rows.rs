//! The features of all rows, for where there are too many classes to form their third moment.

use crate::data::VIEWS;

/// Features of all rows, block by block, in single precision. Rounding is a function of a view alone, so rounded
/// features are as good as any.
#[derive(Debug, Clone)]
pub(crate) struct FeatureRows {
    pub(crate) blocks: Vec<Vec<Chunk>>,
}

/// Features of some rows.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    pub(crate) rows: usize,
    /// For each view one column of `rows` numbers a feature, the leading ones first.
    pub(crate) features: [Vec<f32>; VIEWS],
}

impl Chunk {
    pub(crate) fn new(rows: usize, features: [&[f64]; VIEWS]) -> Self {
        Self { rows, features: features.map(|columns| columns.iter().map(|&u| u as f32).collect()) }
    }
}
