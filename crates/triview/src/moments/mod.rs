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
pub use segments::{CountedSegments, MOST_SEGMENTS, SegmentedAccumulator, Segments};

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;
    use crate::data::{Batch, Partition, Sample, Schema};
    use crate::error::Error;
    use crate::estimator::Params;
    use crate::features::{Bins, FeatureMap};
    use crate::lab::{Population, Preset, Setting};
    use crate::loss::{LogLoss, Loss, SharedLoss};
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand::seq::SliceRandom;
    use rand_pcg::Pcg64;

    /// A plan for three views and two classes that needs no rows.
    pub(super) fn plan() -> Plan {
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        Plan {
            schema: Schema::new(names(&["a", "b", "c"]), names(&["x", "y"])).unwrap(),
            partition: Partition::single(),
            loss: SharedLoss::new(LogLoss),
            each: false,
            ceilings: None,
            features: FeatureMap::Scores,
            absent: [0, 1, 2].map(|_| vec![0.0; 2]),
            bins: std::array::from_fn(|_| Bins::none(2)),
            latent: None,
            look: FirstLook::of(Grouping::chosen(Chosen::Automatic)),
        }
    }

    /// Rows of a population with missing views, and a plan with every kind of sum.
    fn planned() -> (Batch, Plan) {
        let setting = Setting { missing: 0.1, ..Preset::Three.setting() };
        let population = Population::draw(&setting, 3).unwrap();
        let (rows, _) = population.rows(1_500, &mut Pcg64::seed_from_u64(4));
        let sample = Sample::new(population.schema().clone(), rows.clone());
        let plan = Params::new().loss("exponential").check().unwrap().plan(&sample).unwrap();
        (rows, plan)
    }

    fn summed(plan: &Plan, rows: &Batch, from: usize, to: usize) -> Moments {
        let mut sums = plan.accumulator().unwrap().starting_at(from as u64);
        sums.update(&rows.select(&(from..to).collect::<Vec<_>>())).unwrap();
        sums.finish().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]

        #[test]
        fn parts_in_any_order_are_the_whole_on_every_field(
            cuts in prop::collection::btree_set(1_usize..1_500, 0..40), order in any::<u64>(),
        ) {
            let (rows, plan) = planned();
            let whole = summed(&plan, &rows, 0, 1_500);
            let ends: Vec<usize> = [0].into_iter().chain(cuts).chain([1_500]).collect();
            let mut parts: Vec<Moments> =
                ends.windows(2).map(|pair| summed(&plan, &rows, pair[0], pair[1])).collect();
            parts.shuffle(&mut Pcg64::seed_from_u64(order));
            // Bytes on the way change nothing.
            let parts = parts.iter().map(|part| Moments::from_bytes(&part.to_bytes().unwrap()).unwrap());
            let merged = parts.reduce(|sum, part| sum.merge(&part).unwrap()).unwrap();
            prop_assert_eq!(merged.plan(), whole.plan());
            prop_assert_eq!(merged.blocks(), whole.blocks());
            let layout = whole.layout();
            for ((_, ours), (_, theirs)) in merged.sums().filled().zip(whole.sums().filled()) {
                for part in layout.parts() {
                    let (ours, theirs) = (part.of(ours), part.of(theirs));
                    let size = theirs.iter().map(|cell| cell.abs()).fold(0.0, f64::max);
                    for (a, b) in ours.iter().zip(theirs) {
                        let counts = ["rows", "missing"].contains(&part.name.as_str());
                        let allowed = if counts { 0.0 } else { 1e-12 * size };
                        prop_assert!((a - b).abs() <= allowed, "{}: {} {}", part.name, a, b);
                    }
                }
            }
        }
    }

    #[test]
    fn bytes_are_the_same_for_the_same_moments_and_empty_blocks_take_none() {
        let (rows, plan) = planned();
        let (whole, few) = (summed(&plan, &rows, 0, 1_500), summed(&plan, &rows, 0, 16));
        assert_eq!(few.blocks(), [64, 2]);
        let [all, some] = [&whole, &few].map(|moments| moments.to_bytes().unwrap());
        assert_eq!(all, whole.to_bytes().unwrap());
        assert!(some.len() < all.len() / 8, "{} of {} bytes", some.len(), all.len());
        assert_eq!(Moments::from_bytes(&all).unwrap(), whole);
        assert_eq!(Plan::from_bytes(&plan.to_bytes().unwrap()).unwrap(), plan);
    }

    #[test]
    fn every_bit_counts() {
        let (rows, plan) = planned();
        let bytes = summed(&plan, &rows, 0, 200).to_bytes().unwrap();
        for at in (0..bytes.len()).step_by(bytes.len() / 300) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            assert!(Moments::from_bytes(&flipped).is_err(), "byte {at}");
        }
        let text = plan.to_bytes().unwrap();
        let digit = text.iter().rposition(u8::is_ascii_digit).unwrap();
        let mut changed = text;
        changed[digit] = if changed[digit] == b'1' { b'2' } else { b'1' };
        assert!(matches!(Plan::from_bytes(&changed), Err(Error::InvalidMoments { .. })));
    }

    #[test]
    fn a_loss_of_ones_own_is_not_saved() {
        struct Own;
        impl Loss for Own {
            fn name(&self) -> &'static str {
                "own"
            }
            fn terms(&self, view: usize, rows: usize, scores: &[f64], terms: &mut [f64]) {
                LogLoss.terms(view, rows, scores, terms);
            }
            fn offset(&self, rows: usize, scores: &[&[f64]], offset: &mut [f64]) {
                LogLoss.offset(rows, scores, offset);
            }
            fn term_gradient(&self, view: usize, scores: &[f64], term: usize, gradient: &mut [f64]) {
                LogLoss.term_gradient(view, scores, term, gradient);
            }
            fn offset_gradient(&self, scores: &[&[f64]], gradient: &mut [Vec<f64>]) {
                LogLoss.offset_gradient(scores, gradient);
            }
        }
        let own = Plan { loss: SharedLoss::new(Own), ..plan() };
        assert_eq!(own.to_bytes(), Err(Error::UnsavableLoss { name: "own".into() }));
    }

    #[test]
    fn what_is_not_moments_is_told_apart() {
        assert!(matches!(Moments::from_bytes(b"item,annotator"), Err(Error::NotMoments { .. })));
        assert!(matches!(Plan::from_bytes(b"PAR1"), Err(Error::NotMoments { .. })));
        let former = br#"{"triview": "saved posterior", "version": 5, "header": {}}"#;
        assert_eq!(Plan::from_bytes(former), Err(Error::OtherVersion { found: 5, known: FORMAT_VERSION }));
    }
}
