//! Whether the inputs have changed, whatever that does to the risk.

use crate::data::VIEWS;
use crate::moments::Moments;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The means of what the views' scores fall into, group by group, and their variances by the blocks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    /// For each group of views the mean of each bin (of each feature where there are no bins), and that mean's variance.
    groups: Vec<Vec<[f64; 2]>>,
    /// How many blocks of rows these rest on.
    blocks: usize,
}

/// What has changed most between two sets of rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct InputChange {
    /// The chance of so large a change of any group if nothing has changed, corrected for their number.
    pub p_value: f64,
    /// The group that has changed most.
    pub group: usize,
}

impl Inputs {
    /// Those of a period's rows.
    pub(crate) fn of(moments: &Moments) -> Self {
        let (layout, filled) = (moments.layout(), moments.filled());
        let rows: f64 = filled.iter().map(|(rows, _)| rows).sum();
        let blocks = filled.len();
        let group = |v: usize| {
            // The first row of u u^T, for the first of u is one.
            let family = if layout.bins.gram[v].shape[0] > 1 { &layout.bins } else { &layout.features };
            let cells = |block: &[f64], at: usize| family.gram[v].of(block)[at];
            let mean_and_variance = |at: usize| {
                let mean = filled.iter().map(|(_, block)| cells(block, at)).sum::<f64>() / rows;
                let squares: f64 =
                    filled.iter().map(|(n, block)| (cells(block, at) - n * mean).powi(2)).sum();
                [mean, squares / (rows * rows) * blocks as f64 / (blocks as f64 - 1.0).max(1.0)]
            };
            (1..family.gram[v].shape[0]).map(mean_and_variance).collect()
        };
        Self { groups: (0..VIEWS).map(group).collect(), blocks }
    }

    /// Those of several periods together, each by its number of rows.
    pub(crate) fn pooled<'a>(parts: impl Iterator<Item = (u64, &'a Inputs)> + Clone) -> Option<Self> {
        let total: u64 = parts.clone().map(|(rows, _)| rows).sum();
        let mut pooled: Option<Self> = None;
        for (rows, inputs) in parts {
            let weight = rows as f64 / total as f64;
            let sum = pooled.get_or_insert_with(|| Self {
                groups: inputs.groups.iter().map(|group| vec![[0.0; 2]; group.len()]).collect(),
                blocks: 0,
            });
            sum.blocks += inputs.blocks;
            for (sum, own) in sum.groups.iter_mut().flatten().zip(inputs.groups.iter().flatten()) {
                sum[0] += weight * own[0];
                sum[1] += weight * weight * own[1];
            }
        }
        pooled
    }

    /// What has changed most since; nothing where the blocks are too few to tell.
    pub(crate) fn change(&self, since: &Inputs) -> Option<InputChange> {
        let freedom = self.blocks.min(since.blocks).checked_sub(1).filter(|freedom| *freedom >= 7)?;
        let law = StudentsT::new(0.0, 1.0, freedom as f64).ok()?;
        let mut largest = (0.0, 0);
        let mut compared = 0;
        for (at, (own, other)) in self.groups.iter().zip(&since.groups).enumerate() {
            for ([mean, variance], [mean_since, variance_since]) in own.iter().zip(other) {
                compared += 1;
                let size = (mean - mean_since).abs() / (variance + variance_since).sqrt();
                if size > largest.0 {
                    largest = (size, at);
                }
            }
        }
        let p_value = (f64::from(compared) * 2.0 * law.sf(largest.0)).min(1.0);
        Some(InputChange { p_value, group: largest.1 })
    }
}
