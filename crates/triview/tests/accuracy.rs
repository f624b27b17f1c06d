//! Reduced versions of the tables in `docs/accuracy.md`, with bounds that follow from standard errors.
#![allow(clippy::unwrap_used, reason = "a failure is what a test is for")]

use rand::SeedableRng;
use rand_pcg::Pcg64;
use triview::Error;
use triview::data::{Batch, InMemory, Sample, Schema, Source};
use triview::diagnostics::{Alarm, Verdict};
use triview::estimator::{Estimate, Params, Status};
use triview::features::FeatureChoice;
use triview::lab::{Population, Preset, Setting};
use triview::learning::{Mean, log_loss, predictive_entropy};

fn draw(preset: Preset, rows: usize, seed: u64) -> (InMemory, Mean, Mean) {
    let population = Population::draw(&preset.setting(), 100 + seed).unwrap();
    let (batch, labels) = population.rows(rows, &mut Pcg64::seed_from_u64(seed));
    let (truth, entropy) = (log_loss(&batch, &labels), predictive_entropy(&batch));
    (InMemory::new(population.schema().clone(), [batch]), truth, entropy)
}

fn estimate(source: &InMemory, features: FeatureChoice) -> Estimate {
    Params::new().features(features).check().unwrap().estimate(source).unwrap()
}

#[test]
fn the_default_is_within_its_own_standard_error_and_the_models_belief_is_not() {
    // Six draws: the sum of squares of six standard normals exceeds 22.5 once in a thousand times. The error
    // against the labelled risk of the same rows is at most the own and the labelled error in quadrature.
    let (mut own, mut belief) = (0.0, 0.0);
    for seed in 0..6 {
        let (source, truth, entropy) = draw(Preset::Six, 10_000, seed);
        let estimate = estimate(&source, FeatureChoice::Auto);
        assert_eq!(estimate.fit.status, Status::Converged);
        let error = estimate.standard_error.hypot(truth.standard_error);
        own += ((estimate.risk - truth.value) / error).powi(2);
        belief += ((entropy.value - truth.value) / error).powi(2);
        // An estimate that says "I know nothing" would pass too: it must also be sharp.
        assert!(estimate.standard_error < 6.0 * truth.standard_error, "{}", estimate.standard_error);
    }
    assert!(own < 22.5, "sum of squared errors {own}");
    assert!(belief > 22.5, "the predictive entropy is as good: {belief}");
}

#[test]
fn every_feature_map_estimates_the_same_risk() {
    let (source, truth, _) = draw(Preset::Ten, 20_000, 1);
    for features in FeatureChoice::ALL {
        let estimate = estimate(&source, features);
        let error = estimate.standard_error.hypot(truth.standard_error);
        // Two-sided, once in a thousand times beyond 3.3.
        let z = (estimate.risk - truth.value) / error;
        assert!(z.abs() < 3.3, "{features}: {z} standard errors off");
    }
}

#[test]
fn what_cannot_be_answered_is_refused_by_name() {
    let population = Population::draw(&Preset::Three.setting(), 1).unwrap();
    let (batch, _) = population.rows(2_000, &mut Pcg64::seed_from_u64(1));
    let schema = population.schema();
    let answer = |scores: [Vec<f64>; 3], rows: usize| {
        let batch = Batch::new(rows, scores).unwrap();
        let source = InMemory::new(schema.clone(), [batch]);
        Params::new().check().unwrap().estimate(&source)
    };
    let view = |v: usize| batch.view(v).to_vec();

    let constant = answer([view(0), vec![1.5; 6_000], view(2)], 2_000);
    assert_eq!(constant, Err(Error::ConstantView { view: "b".into() }));

    let copies = answer([view(0), view(1), view(0)], 2_000);
    assert_eq!(copies, Err(Error::IdenticalViews { first: "a".into(), second: "c".into() }));

    let few = answer([0, 1, 2].map(|_| vec![0.5; 60]), 20);
    assert_eq!(few, Err(Error::TooFewRows { rows: 20, needed: 200, k: 3 }));

    let two = Schema::new(vec!["a".into(), "b".into()], vec!["x".into(), "y".into()]);
    assert_eq!(two, Err(Error::ViewCount { views: vec!["a".into(), "b".into()] }));
    let one = Schema::new(["a", "b", "c"].map(String::from).to_vec(), vec!["x".into()]);
    assert_eq!(one, Err(Error::ClassCount { classes: vec!["x".into()] }));
    let twice = Schema::new(["a", "b", "a"].map(String::from).to_vec(), vec!["x".into(), "y".into()]);
    assert_eq!(twice, Err(Error::DuplicateName { kind: "view", name: "a".into() }));
    let not_finite = Batch::new(1, [vec![0.0, 1.0], vec![f64::NAN, 0.0], vec![0.0, 0.0]]);
    assert!(matches!(not_finite, Err(Error::NotFinite { row: 0, view: 1, class: 0, .. })));
    let loss = Params::new().loss("squared").check();
    assert!(matches!(loss, Err(Error::UnknownLoss { .. })));
    let of_classes = |k: usize| {
        let names = (0..k).map(|class| class.to_string()).collect();
        let schema = Schema::new(["a", "b", "c"].map(String::from).to_vec(), names).unwrap();
        InMemory::new(schema, Vec::new())
    };
    let estimator = Params::new().check().unwrap();
    assert_eq!(estimator.estimate(&of_classes(513)), Err(Error::TooManyClasses { k: 513, most: 512 }));
    let three = Schema::numbered(3, 3).unwrap();
    for (views, classes, what, given) in [(3, 2, "classes", 2), (3, 4, "classes", 4), (4, 3, "views", 4)] {
        let other = Batch::from_rows(&vec![0.5; 300 * views * classes], views, classes).unwrap();
        let refused = Error::Shape { what, given, needed: 3 };
        let source = InMemory::new(three.clone(), [other.clone()]);
        assert_eq!(estimator.estimate(&source), Err(refused.clone()));
        assert_eq!(estimator.plan(&Sample::new(three.clone(), other)), Err(refused));
    }
    let sample = Sample::of(&of_classes(65)).unwrap();
    assert_eq!(estimator.plan(&sample), Err(Error::NoMoments { k: 65, most: 64 }));
}

/// Rows of many classes, as many as can be told apart by sums of three views, and the truth about them.
fn many(classes: usize, prior: Option<Vec<f64>>, shared: f64, rows: usize) -> (InMemory, Mean) {
    let separation = 3.35 / (classes as f64).sqrt();
    let setting = Setting { classes, separation, prior, shared, ..Preset::TwoHundred.setting() };
    let population = Population::draw(&setting, 21).unwrap();
    let (batch, labels) = population.rows(rows, &mut Pcg64::seed_from_u64(22));
    let truth = log_loss(&batch, &labels);
    (InMemory::new(population.schema().clone(), [batch]), truth)
}

#[test]
fn many_classes_are_estimated_from_rows() {
    let (source, truth) = many(70, None, 0.0, 14_000);
    let estimate = estimate(&source, FeatureChoice::Auto);
    let z = (estimate.risk - truth.value) / estimate.standard_error.hypot(truth.standard_error);
    // Two-sided, once in a thousand times beyond 3.3.
    assert!(z.abs() < 3.3, "{z} standard errors off");
    assert!(estimate.standard_error < 9.0 * truth.standard_error, "{}", estimate.standard_error);
    assert_eq!(estimate.independence.verdict, Verdict::Pass, "{:?}", estimate.independence);
    assert_eq!(estimate.fit.status, Status::Converged);
    assert!(estimate.trusted(), "{:?}", estimate.alarms);
}

#[test]
fn two_views_that_share_noise_are_named_among_many_classes() {
    let (source, _) = many(70, None, 0.2, 14_000);
    let estimate = estimate(&source, FeatureChoice::Auto);
    assert_eq!(estimate.independence.verdict, Verdict::Fail, "{:?}", estimate.independence);
    assert!(!estimate.trusted());
    let lines = &estimate.independence.dependences;
    let strongest = lines.iter().max_by(|a, b| a.correlation.total_cmp(&b.correlation)).unwrap();
    assert_eq!((strongest.views, strongest.class), ([0, 1], None));
    assert!(strongest.p_value < 0.01, "{lines:?}");
}

#[test]
fn votes_for_many_classes_leave_nothing_to_test() {
    let (source, _) = many(66, None, 0.0, 6_000);
    let rows = source.batches().unwrap().next().unwrap().unwrap();
    let votes = |view: usize| {
        let scores = rows.view(view);
        let of_row =
            |row: usize| scores[row..].iter().step_by(6_000).copied().fold(f64::NEG_INFINITY, f64::max);
        (0..scores.len())
            .map(|at| f64::from(u8::from(scores[at] == of_row(at % 6_000))))
            .collect::<Vec<f64>>()
    };
    let batch = Batch::new(6_000, [votes(0), votes(1), votes(2)]).unwrap();
    let estimate = estimate(&InMemory::new(source.schema().clone(), [batch]), FeatureChoice::Auto);
    assert_eq!(estimate.independence.verdict, Verdict::Untestable, "{:?}", estimate.independence);
    assert_eq!(estimate.independence.p_value, None);
}

#[test]
fn any_number_of_threads_gives_the_same_bits_for_many_classes() {
    let (source, _) = many(66, None, 0.0, 2_400);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| estimate(&source, FeatureChoice::Softmax))
    };
    let (one, three) = (on(1), on(3));
    assert_eq!(one.risk.to_bits(), three.risk.to_bits(), "{} {}", one.risk, three.risk);
    assert!(one == three, "the estimates differ");
}

#[test]
fn a_class_without_rows_is_seen_among_many() {
    // With rows of all classes there is no alarm, see above.
    let prior = (0..70).map(|class| if class == 7 { 0.0 } else { 1.0 / 69.0 }).collect();
    let (source, _) = many(70, Some(prior), 0.0, 14_000);
    let estimate = estimate(&source, FeatureChoice::Auto);
    assert_eq!(estimate.fit.status, Status::Degenerate, "{:?}", estimate.alarms);
}

#[test]
fn a_view_that_says_nothing_of_the_class_is_named() {
    let population = Population::draw(&Preset::Three.setting(), 1).unwrap();
    let mut rng = Pcg64::seed_from_u64(1);
    let ((batch, _), (other, _)) = (population.rows(20_000, &mut rng), population.rows(20_000, &mut rng));
    // The third view is that of other rows.
    let scores = [batch.view(0).to_vec(), batch.view(1).to_vec(), other.view(2).to_vec()];
    let batch = Batch::new(20_000, scores).unwrap();
    let source = InMemory::new(population.schema().clone(), [batch]);
    for features in [FeatureChoice::Scores, FeatureChoice::Softmax, FeatureChoice::Auto] {
        let estimate = estimate(&source, features);
        assert_eq!(estimate.fit.status, Status::Degenerate, "{features}");
        let named = |alarm: &Alarm| match alarm {
            Alarm::WeakView { view, .. } => view == "c",
            Alarm::WeakPair { views, .. } => views.iter().any(|view| view == "c"),
            _ => false,
        };
        assert!(estimate.alarms.iter().any(named), "{features}: {:?}", estimate.alarms);
    }
}
