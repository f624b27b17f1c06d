//! A small state that adds up: the sums of every moment, in blocks of rows.

mod accumulate;
mod codec;
mod first_look;
mod layout;
#[allow(clippy::module_inception, reason = "the moments themselves")]
mod moments;
mod plan;
mod rows;
mod segments;

pub use accumulate::Accumulator;
pub use codec::{FORMAT_VERSION, begins_like_safetensors};
pub(crate) use first_look::Settled;
pub use first_look::{Chosen, FirstLook, Grouping, OtherPartition};
pub(crate) use layout::{Family, Layout, Part};
pub use moments::Moments;
pub(crate) use plan::Holder;
pub use plan::Plan;
pub(crate) use rows::{Chunk, FeatureRows};
pub use segments::{MOST_SEGMENTS, SegmentedAccumulator, Segments};

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;
    use crate::data::{Partition, Schema};
    use crate::features::{Bins, FeatureMap};
    use crate::loss::{LogLoss, SharedLoss};

    /// A plan for three views and two classes that needs no rows.
    pub(super) fn plan() -> Plan {
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        Plan {
            schema: Schema::new(names(&["a", "b", "c"]), names(&["x", "y"])).unwrap(),
            partition: Partition::single(),
            loss: SharedLoss::new(LogLoss),
            ceilings: None,
            features: FeatureMap::Scores,
            absent: [0, 1, 2].map(|_| vec![0.0; 2]),
            bins: std::array::from_fn(|_| Bins::none(2)),
            latent: None,
            look: FirstLook::of(Grouping::chosen(Chosen::Automatic)),
        }
    }
}
