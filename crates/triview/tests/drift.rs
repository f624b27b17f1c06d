//! Rows that change from segment to segment, and views that depend on each other: both make the test of all rows reject, and only the first
//! is no reason to mistrust the segments.
#![allow(clippy::unwrap_used, reason = "a failure is what a test is for")]

use rand::SeedableRng;
use rand_pcg::Pcg64;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use triview::Estimate;
use triview::data::{Batch, InMemory, Sample};
use triview::diagnostics::Verdict;
use triview::estimator::Params;
use triview::lab::{Population, Preset, Setting};

/// The estimate of all rows and those of each segment, by one plan.
fn by_segment(population: &Population, batches: Vec<Batch>) -> (Estimate, Vec<Estimate>) {
    let estimator = Params::new().check().unwrap();
    let batches = batches.into_iter().enumerate().map(|(key, batch)| {
        let rows = batch.rows();
        batch.with_segments(vec![key as u64; rows]).unwrap()
    });
    let source = InMemory::new(population.schema().clone(), batches.collect::<Vec<_>>());
    let sample = Sample::of(&source).unwrap();
    let summed = estimator.moments_by(&source, &estimator.plan(&sample).unwrap()).unwrap();
    let answer = |moments| estimator.answer(moments, None).unwrap();
    (answer(&summed.whole), summed.segments.iter().map(|(_, moments)| answer(moments)).collect())
}

/// Whether the segments show nothing, one by one and together (Fisher), whatever they could have shown.
fn show_nothing(parts: &[Estimate]) -> bool {
    let chances = parts.iter().filter_map(|part| part.independence.p_value.filter(|_| part.trusted()));
    let statistic: f64 = chances.clone().map(|p| -2.0 * p.ln()).sum();
    let count = chances.count();
    count == parts.len() && ChiSquared::new(2.0 * count as f64).unwrap().sf(statistic) >= 0.05
}

/// Of some draws, how often the test of all rows rejects, how often the segments then show nothing, and how often they are taken in its place.
fn counts(draws: u64, draw: impl Fn(u64) -> (Population, Vec<Batch>)) -> [usize; 3] {
    let mut counts = [0; 3];
    for seed in 0..draws {
        let (population, batches) = draw(seed);
        let (whole, parts) = by_segment(&population, batches);
        let rejected = whole.independence.verdict == Verdict::Fail;
        counts[0] += usize::from(rejected);
        counts[1] += usize::from(rejected && show_nothing(&parts));
        counts[2] += usize::from(whole.of_segments(&parts.iter().collect::<Vec<_>>()).is_some());
    }
    counts
}

#[test]
fn segments_too_small_to_show_a_dependence_do_not_excuse_it() {
    // Two views share noise in a twelfth of all rows, which are then dealt to four segments at random.
    let [rejected, silent, excused] = counts(40, |seed| {
        let setting = Setting { shared: 0.08, ..Preset::Three.setting() };
        let population = Population::draw(&setting, seed).unwrap();
        let mut rng = Pcg64::seed_from_u64(seed + 100);
        let batches = (0..4).map(|_| population.rows(5_000, &mut rng).0).collect();
        (population, batches)
    });
    // Nearly half of the segments show nothing. Of those that are rejected one in twenty is excused by chance: five of 40 or more are one
    // chance in twenty, and none is expected beyond.
    assert!(rejected >= 20 && silent >= 5 && excused <= 4, "{rejected} {silent} {excused}");
}

#[test]
fn segments_that_differ_are_answered_by_themselves() {
    // Each segment has means of its own; within one the views are independent.
    let [rejected, silent, excused] = counts(8, |seed| {
        let populations: Vec<Population> = (0..3)
            .map(|week| Population::draw(&Preset::Three.setting(), 10 * seed + week).unwrap())
            .collect();
        let mut rng = Pcg64::seed_from_u64(seed + 200);
        let batches = populations.iter().map(|week| week.rows(8_000, &mut rng).0).collect();
        (populations.into_iter().next().unwrap(), batches)
    });
    // Each of three segments is trusted in nine cases of ten or so; then they are taken.
    assert!(rejected >= 7 && excused >= 3 && excused == silent, "{rejected} {silent} {excused}");
}
