//! What must not matter does not: the order of views, classes and rows, the number of threads, and whether the
//! sums were made in parts.
#![allow(clippy::unwrap_used, reason = "a failure is what a test is for")]

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use triview::Moments;
use triview::data::{Batch, InMemory, Sample, Schema};
use triview::estimator::{Estimate, Params};
use triview::features::FeatureChoice;
use triview::lab::{Population, Preset};

/// The same rows with views, classes and rows in another order.
fn reorder(schema: &Schema, batch: &Batch, views: &[usize], classes: &[usize], rows: &[usize]) -> InMemory {
    let names = |names: &[String], order: &[usize]| order.iter().map(|&i| names[i].clone()).collect();
    let reordered = Schema::new(names(schema.views(), views), names(schema.classes(), classes)).unwrap();
    let scores = [0, 1, 2].map(|v: usize| {
        let column = |class: usize| rows.iter().map(move |&row| batch.column(views[v], class)[row]);
        classes.iter().flat_map(|&class| column(class)).collect()
    });
    InMemory::new(reordered, [Batch::new(rows.len(), scores).unwrap()])
}

fn estimate(source: &InMemory) -> Estimate {
    Params::new().check().unwrap().estimate(source).unwrap()
}

fn example(preset: Preset, rows: usize, seed: u64) -> (Schema, Batch) {
    let population = Population::draw(&preset.setting(), 100 + seed).unwrap();
    let (batch, _) = population.rows(rows, &mut Pcg64::seed_from_u64(seed));
    (population.schema().clone(), batch)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 6,
        rng_seed: RngSeed::Fixed(20_161),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn order_does_not_matter(
        seed in 0u64..20,
        views in Just(vec![0usize, 1, 2]).prop_shuffle(),
        classes in Just((0usize..6).collect::<Vec<_>>()).prop_shuffle(),
        rows in Just((0usize..8_000).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let (schema, batch) = example(Preset::Six, 8_000, seed);
        let all: Vec<usize> = (0..8_000).collect();
        let plain = estimate(&reorder(&schema, &batch, &[0, 1, 2], &[0, 1, 2, 3, 4, 5], &all));
        let renamed = estimate(&reorder(&schema, &batch, &views, &classes, &all));
        let moved = (renamed.risk - plain.risk).abs() / plain.standard_error;
        prop_assert!(moved < 0.01, "views {views:?}, classes {classes:?}: {moved} standard errors");
        for (place, &class) in classes.iter().enumerate() {
            prop_assert!((renamed.class_prior[place] - plain.class_prior[class]).abs() < 1e-3);
        }
        let shuffled = estimate(&reorder(&schema, &batch, &[0, 1, 2], &[0, 1, 2, 3, 4, 5], &rows));
        let moved = (shuffled.risk - plain.risk).abs() / plain.standard_error;
        prop_assert!(moved < 0.5, "rows: {moved} standard errors");
    }
}

#[test]
fn threads_do_not_matter() {
    let (schema, batch) = example(Preset::Three, 5_000, 3);
    let source = InMemory::new(schema, [batch]);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| estimate(&source))
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn parts_give_the_answer_of_the_whole() {
    for features in [FeatureChoice::Scores, FeatureChoice::Posterior] {
        let (schema, batch) = example(Preset::Three, 9_000, 4);
        let estimator = Params::new().features(features).check().unwrap();
        let source = InMemory::new(schema.clone(), [batch.clone()]);
        let plan = estimator.plan(&Sample::of(&source).unwrap()).unwrap();
        let whole = estimator.moments(&source, &plan).unwrap();
        // Dealt to blocks from the same rows on, the parts are the whole to the last sum.
        let part = |from: usize, to: usize| -> Moments {
            let scores = [0, 1, 2]
                .map(|v| (0..3).flat_map(|class| batch.column(v, class)[from..to].to_vec()).collect());
            let mut sums = plan.accumulator().unwrap();
            sums.update(&Batch::new(to - from, scores).unwrap()).unwrap();
            sums.finish().unwrap()
        };
        let [a, b, c] = [part(0, 2_000), part(2_000, 5_120), part(5_120, 9_000)];
        let solve = |moments: &Moments| estimator.answer(moments, None).unwrap();
        let answer = solve(&whole);
        let merged = solve(&a.clone().merge(&b).unwrap().merge(&c).unwrap());
        let backwards = solve(&c.merge(&b).unwrap().merge(&a).unwrap());
        assert!((merged.risk - answer.risk).abs() < 1e-9, "{} {}", merged.risk, answer.risk);
        assert!((backwards.risk - answer.risk).abs() < 1e-9, "{} {}", backwards.risk, answer.risk);
        assert_eq!(merged.rows, 9_000);
    }
}

#[test]
fn segments_together_give_the_answer_of_the_whole() {
    let (schema, batch) = example(Preset::Three, 9_000, 4);
    let keys: Vec<u64> = (0..9_000).map(|row| [30, 10, 20, 10][row / 7 % 4]).collect();
    let source = InMemory::new(schema, [batch.with_segments(keys).unwrap()]);
    // The plan of this map says how the ways of solving count, so that blocks settle the error alone.
    let estimator = Params::new().features(FeatureChoice::Posterior).check().unwrap();
    let plan = estimator.plan(&Sample::of(&source).unwrap()).unwrap();
    let moments = estimator.moments(&source, &plan).unwrap();
    let segmented = estimator.moments_by(&source, &plan).unwrap();
    assert!(segmented.whole == moments, "segments change nothing for all rows");
    let whole = estimator.answer(&moments, None).unwrap();
    let segments = segmented.segments;
    let rows: Vec<(u64, u64)> = segments.iter().map(|(key, moments)| (*key, moments.rows())).collect();
    assert_eq!(rows, [(30, 2_254), (10, 4_499), (20, 2_247)]);
    let merged = segments.into_iter().map(|(_, moments)| moments);
    let merged = merged.reduce(|sum, next| sum.merge(&next).unwrap()).unwrap();
    let merged = estimator.answer(&merged, None).unwrap();
    assert_eq!(merged.rows, whole.rows);
    assert!((merged.risk - whole.risk).abs() < 1e-9, "{} {}", merged.risk, whole.risk);
    // Other blocks of as many rows: the error is known to about one part in the root of twice their number.
    assert!((merged.standard_error / whole.standard_error).ln().abs() < 0.4);
}

#[test]
fn the_second_pass_from_moments_answers() {
    let (schema, batch) = example(Preset::Six, 20_000, 5);
    let source = InMemory::new(schema, [batch]);
    for features in [FeatureChoice::Scores, FeatureChoice::Softmax] {
        let estimator = Params::new().features(features).check().unwrap();
        let plan = estimator.plan(&Sample::of(&source).unwrap()).unwrap();
        let first = estimator.moments(&source, &plan).unwrap();
        let second = estimator.moments(&source, &estimator.second_plan(&first).unwrap()).unwrap();
        let [first, second] = [first, second].map(|moments| estimator.answer(&moments, None).unwrap());
        assert_eq!(second.fit.features, "discriminant");
        // Both estimate the same risk; the bound is four of the larger standard error.
        assert!((first.risk - second.risk).abs() < 4.0 * first.standard_error.max(second.standard_error));
    }
}
