//! How feature maps are fitted to rows without labels.

mod calibrated;
mod discriminant;
mod posteriors;
mod present;
mod sieve;
mod states;

pub(crate) use calibrated::calibrated;
pub(crate) use discriminant::{discriminant, discriminant_map};
pub(crate) use posteriors::posteriors;
pub(crate) use present::{Present, class_means, label_products, second_moment};
pub(crate) use states::state_posteriors;

use super::{FeatureMap, Softmax};
use crate::data::Batch;

/// A softmax of each group's standardised scores.
pub(crate) fn softmax(rows: &Batch) -> FeatureMap {
    let of_group = |v| {
        let (present, inputs) = rows.present_inputs(v);
        Softmax::fit((present, rows.k()), &inputs)
    };
    FeatureMap::Softmax { views: std::array::from_fn(of_group) }
}
