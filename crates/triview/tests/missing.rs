//! Views that are missing in some rows: a reduced version of the table in `docs/accuracy.md`, and what else must hold.
#![allow(clippy::unwrap_used, reason = "a failure is what a test is for")]

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use triview::Error;
use triview::data::{Batch, InMemory, Sample, Schema};
use triview::diagnostics::Verdict;
use triview::estimator::{Estimate, Params};
use triview::features::FeatureChoice;
use triview::lab::{Population, Preset, Setting};
use triview::learning::log_loss;

fn population(preset: Preset, missing: f64, seed: u64) -> Population {
    Population::draw(&Setting { missing, ..preset.setting() }, 500 + seed).unwrap()
}

fn estimate(schema: &Schema, batch: &Batch, features: FeatureChoice) -> Estimate {
    let source = InMemory::new(schema.clone(), [batch.clone()]);
    Params::new().features(features).check().unwrap().estimate(&source).unwrap()
}

/// The error of the estimate in its own and the labels' standard errors.
fn z(estimate: &Estimate, batch: &Batch, labels: &[usize]) -> f64 {
    let truth = log_loss(batch, labels);
    (estimate.risk - truth.value) / estimate.standard_error.hypot(truth.standard_error)
}

#[test]
fn views_missing_at_random_cost_little_and_bias_nothing() {
    // The sum of squares of six standard normals exceeds 22.5 once in a thousand times, the size of the sum of six 8.1.
    let (mut squares, mut sum, mut cost) = (0.0, 0.0, 1.0);
    for seed in 0..6 {
        let population = population(Preset::Six, 0.3, seed);
        let (batch, labels) = population.rows(10_000, &mut Pcg64::seed_from_u64(seed));
        let found = estimate(population.schema(), &batch, FeatureChoice::Auto);
        let z = z(&found, &batch, &labels);
        (squares, sum) = (squares + z * z, sum + z);
        let share = |missing: &u64| (*missing as f64 / 10_000.0 - 0.3).abs() < 0.02;
        assert!(found.missing.iter().all(share), "{:?}", found.missing);
        let complete = Population::draw(&Preset::Six.setting(), 500 + seed).unwrap();
        let (batch, _) = complete.rows(10_000, &mut Pcg64::seed_from_u64(seed));
        cost *=
            found.standard_error / estimate(complete.schema(), &batch, FeatureChoice::Auto).standard_error;
    }
    assert!(squares < 22.5, "sum of squared errors {squares}");
    assert!(sum.abs() < 8.1, "sum of errors {sum}");
    let cost: f64 = cost.powf(1.0 / 6.0);
    assert!((1.0..2.0).contains(&cost), "{cost} times the standard error of complete rows");
}

#[test]
fn every_feature_map_takes_missing_views() {
    let population = population(Preset::Ten, 0.2, 1);
    let (batch, labels) = population.rows(20_000, &mut Pcg64::seed_from_u64(1));
    for features in FeatureChoice::ALL {
        let found = estimate(population.schema(), &batch, features);
        // Two-sided, once in a thousand times beyond 3.3.
        let z = z(&found, &batch, &labels);
        assert!(z.abs() < 3.3, "{features}: {z} standard errors off");
    }
}

#[test]
fn a_view_may_be_missing_for_some_classes_more_than_for_others() {
    let population = population(Preset::Three, 0.0, 2);
    let mut rng = Pcg64::seed_from_u64(2);
    let (batch, labels) = population.rows(20_000, &mut rng);
    let missing = |label: &usize| u64::from(rng.random::<f64>() < [0.05, 0.5, 0.2][*label]) << 1;
    let batch = batch.with_missing(labels.iter().map(missing).collect()).unwrap();
    let found = estimate(population.schema(), &batch, FeatureChoice::Auto);
    assert_eq!((found.missing[0], found.missing[2]), (0, 0));
    assert_ne!(found.independence.verdict, Verdict::Fail, "{:?}", found.independence);
    let z = z(&found, &batch, &labels);
    assert!(z.abs() < 3.3, "{z} standard errors off");
}

#[test]
fn views_that_are_missing_together_are_seen() {
    let population = population(Preset::Three, 0.0, 3);
    let mut rng = Pcg64::seed_from_u64(3);
    let (batch, _) = population.rows(20_000, &mut rng);
    let missing = (0..20_000).map(|_| if rng.random::<f64>() < 0.2 { 0b101 } else { 0 }).collect();
    let batch = batch.with_missing(missing).unwrap();
    let found = estimate(population.schema(), &batch, FeatureChoice::Auto);
    assert_eq!(found.independence.verdict, Verdict::Fail);
    let pairs = found.independence.dependences.iter().filter(|line| line.class.is_none());
    let worst = pairs.max_by(|a, b| a.correlation.total_cmp(&b.correlation)).unwrap();
    assert_eq!(worst.views, [0, 2]);
}

#[test]
fn what_is_missing_does_not_matter_and_parts_add_up() {
    let population = population(Preset::Three, 0.0, 4);
    let (batch, _) = population.rows(5_120, &mut Pcg64::seed_from_u64(4));
    let masks: Vec<u64> = (0..5_120u64).map(|row| (row % 7) & (row % 5)).collect();
    let scrambled = |view: usize| -> Vec<f64> {
        let cells = batch.view(view).iter().enumerate();
        cells.map(|(at, s)| if masks[at % 5_120] >> view & 1 == 1 { 1e6 * s } else { *s }).collect()
    };
    let other = Batch::new(5_120, [scrambled(0), scrambled(1), scrambled(2)]).unwrap();
    let batch = batch.with_missing(masks.clone()).unwrap();
    assert_eq!(batch, other.with_missing(masks.clone()).unwrap());
    assert!(batch.is_missing(0, 1) && !batch.is_missing(1, 1) && !batch.is_missing(2, 1));

    let estimator = Params::new().features(FeatureChoice::Posterior).check().unwrap();
    let part = |from: usize, to: usize| {
        let scores = [0, 1, 2].map(|v| {
            (0..3).flat_map(|class| batch.column(v, class)[from..to].to_vec()).collect::<Vec<f64>>()
        });
        let batch = Batch::new(to - from, scores).unwrap().with_missing(masks[from..to].to_vec());
        let batch = batch.unwrap();
        InMemory::new(population.schema().clone(), [batch])
    };
    let plan = estimator.plan(&Sample::of(&part(0, 5_120)).unwrap()).unwrap();
    let moments = |source: &InMemory| estimator.moments(source, &plan).unwrap();
    let whole = moments(&part(0, 5_120));
    let merged = moments(&part(0, 2_560)).merge(&moments(&part(2_560, 5_120))).unwrap();
    let count = |view: u32| masks.iter().filter(|mask| *mask >> view & 1 == 1).count() as u64;
    assert_eq!(merged.missing(), [count(0), count(1), count(2)]);
    let [whole, merged] = [whole, merged].map(|moments| estimator.answer(&moments, None).unwrap());
    assert!((whole.risk - merged.risk).abs() < 1e-9, "{} {}", whole.risk, merged.risk);
}

#[test]
fn groups_say_what_their_views_that_are_there_say() {
    let setting = Setting { views: 5, missing: 0.3, ..Preset::Three.setting() };
    let population = Population::draw(&setting, 5).unwrap();
    let (batch, labels) = population.rows(20_000, &mut Pcg64::seed_from_u64(5));
    let source = InMemory::new(population.schema().clone(), [batch.clone()]);
    for params in [Params::new().group("a+b,c,d+e"), Params::new()] {
        let found = params.check().unwrap().estimate(&source).unwrap();
        let z = z(&found, &batch, &labels);
        assert!(z.abs() < 3.3, "{:?}: {z} standard errors off", found.groups);
        assert!(found.trusted(), "{:?}", found.alarms);
    }
}

#[test]
fn a_view_that_is_never_there_is_refused() {
    let population = population(Preset::Three, 0.0, 6);
    let (batch, _) = population.rows(1_000, &mut Pcg64::seed_from_u64(6));
    let batch = batch.with_missing(vec![0b010; 1_000]).unwrap();
    let source = InMemory::new(population.schema().clone(), [batch]);
    let refused = Params::new().check().unwrap().estimate(&source);
    assert_eq!(refused, Err(Error::NeverPresent { view: "b".into() }));
}
