//! Adaptation as a user of the library meets it, on composites of the embedded digits.
#![allow(clippy::unwrap_used, reason = "a failure is what a test is for")]

use triview::Error;
use triview::data::{InMemory, Schema};
use triview::estimator::Params;
use triview::lab::{Composites, Images, Recipe};
use triview::learning::{
    AdaptParams, DualAveraging, FeatureBatch, FeatureSchema, LinearScores, LogisticModel, LogisticParams,
    Verdict, error_rate, log_loss, mean_loss, train_by_lbfgs,
};
use triview::loss::{HingeLoss, by_name};

/// The 8 x 8 digits: for each 64 pixels from 0 to 16, then the digit.
fn digits() -> (Images, Images) {
    let records = include_bytes!("../../../data/digits/digits.bin").chunks_exact(65);
    let pixels = records.clone().flat_map(|record| &record[..64]).map(|&p| f32::from(p) / 16.0).collect();
    let labels = records.map(|record| record[64]).collect();
    Images::new(8, pixels, labels, 10).unwrap().split(1_000).unwrap()
}

fn schema() -> Schema {
    let views = ["a", "b", "c"].map(str::to_owned).to_vec();
    Schema::new(views, (0..10).map(|class| class.to_string()).collect()).unwrap()
}

/// The rows without their labels.
fn unlabelled(rows: &Composites) -> InMemory<FeatureSchema, FeatureBatch> {
    let batch = rows.batch();
    let views = (0..3).map(|view| batch.view(view).to_vec()).collect();
    let batch = FeatureBatch::new(batch.rows(), batch.widths().to_vec(), views).unwrap();
    InMemory::new(rows.schema(), [batch])
}

fn draw(images: &Images, rows: usize, a: f64, seed: u64) -> Composites {
    Composites::draw(images, &Recipe::new(rows).distortion(a), seed).unwrap()
}

fn error(model: &LogisticModel, rows: &Composites) -> f64 {
    error_rate(&model.scores(rows.batch()).unwrap(), rows.labels()).value
}

#[test]
fn an_adapted_model_comes_near_to_one_trained_with_labels() {
    let (seen, unseen) = digits();
    let seed = LogisticParams::default().check().unwrap().train(draw(&seen, 2_000, 0.0, 1).batch(), 10);
    let (rows, fresh) = (draw(&unseen, 6_000, 4.0, 2), draw(&unseen, 6_000, 4.0, 3));
    let adaptation =
        AdaptParams::default().check().unwrap().adapt(&unlabelled(&rows), &seed, &schema()).unwrap();
    let oracle = train_by_lbfgs(rows.batch(), 10, 0.03).unwrap();
    let [before, after, best] = [&seed, &adaptation.model, &oracle].map(|model| error(model, &fresh));
    // Differences of error rates over 6,000 rows have standard errors of at most half a point.
    assert!(after < 0.5 * before && after < best + 0.03, "{before} {after} {best}");
    assert!(adaptation.gap.unwrap() <= 1e-3 && adaptation.radius > 0.0);

    // The judgement is of models that half of the rows made: no better than the whole's, and its interval knows it.
    let judgement = adaptation.judgement.unwrap();
    assert_eq!(judgement.verdict, Verdict::Improved);
    let truth = log_loss(&seed.scores(rows.batch()).unwrap(), rows.labels());
    let z = (judgement.seed.value - truth.value) / judgement.seed.standard_error.hypot(truth.standard_error);
    assert!(z.abs() < 3.3, "the seed's risk is {z} standard errors off");
    let truth = error_rate(&seed.scores(rows.batch()).unwrap(), rows.labels());
    let z = (judgement.seed_error.value - truth.value)
        / judgement.seed_error.standard_error.hypot(truth.standard_error);
    assert!(z.abs() < 3.3, "the seed's error rate is {z} standard errors off");
    let error = judgement.adapted_error;
    assert!((error.value - after).abs() < 0.02 + 3.3 * error.standard_error, "{error:?} {after}");
    let truth = log_loss(&adaptation.model.scores(fresh.batch()).unwrap(), fresh.labels()).value;
    let adapted = judgement.adapted;
    assert!(adapted.value > truth - 3.3 * adapted.standard_error, "{adapted:?} {truth}");
}

#[test]
fn labels_of_an_old_domain_count_as_far_as_they_help() {
    let (seen, unseen) = digits();
    let old = draw(&seen, 2_000, 0.0, 11);
    let seed = LogisticParams::default().check().unwrap().train(draw(&seen, 200, 0.0, 12).batch(), 10);
    let (rows, fresh) = (draw(&unseen, 1_500, 0.5, 13), draw(&unseen, 4_000, 0.5, 14));
    let adapter = AdaptParams::default().check().unwrap();
    let source = unlabelled(&rows);
    let alone = adapter.adapt(&source, &seed, &schema()).unwrap();
    assert_eq!(alone.share, None);
    let with = adapter.adapt_with(&source, old.batch(), &seed, &schema()).unwrap();
    assert!(with.share.unwrap() > 0.0);
    let [alone, with] = [&alone, &with].map(|it| error(&it.model, &fresh));
    // Over 4,000 rows the difference of two error rates of a few points has a standard error of half a point at most.
    assert!(with < alone, "{alone} {with}");
    // Labels that are all wrong are given no weight.
    let wrong = old.labels().iter().map(|&label| Some((usize::from(label) + 1) % 10)).collect();
    let wrong = old.batch().clone().with_labels(wrong).unwrap();
    let misled = adapter.adapt_with(&source, &wrong, &seed, &schema()).unwrap();
    assert_eq!(misled.share, Some(0.0));
    assert!(error(&misled.model, &fresh) < alone + 0.005);
    // Unless the weight is given.
    let given = AdaptParams::default().radius(2.0).judged(false).share(0.5).check().unwrap();
    assert_eq!(given.adapt_with(&source, old.batch(), &seed, &schema()).unwrap().share, Some(0.5));
}

#[test]
fn old_rows_that_cannot_be_used_are_refused() {
    let (seen, unseen) = digits();
    let (old, rows) = (draw(&seen, 300, 0.0, 11), draw(&unseen, 700, 0.0, 13));
    let seed = LogisticParams::default().check().unwrap().train(old.batch(), 10);
    let refused = |params: AdaptParams, old: &FeatureBatch, parameter: &str| {
        let adapted = params.check().unwrap().adapt_with(&unlabelled(&rows), old, &seed, &schema());
        match adapted.map(|it| it.share) {
            Err(Error::InvalidParameter { name, .. }) => assert_eq!(name, parameter),
            other => panic!("{other:?}"),
        }
    };
    let none = old.batch().clone().with_labels(vec![None; 300]).unwrap();
    refused(AdaptParams::default(), &none, "labelled rows of the source");
    refused(AdaptParams::default().loss("hinge"), old.batch(), "loss");
    refused(AdaptParams::default().radius(2.0).judged(false), old.batch(), "weight of the source");
    // 700 rows of ten classes are too few for halves that judge each other.
    refused(AdaptParams::default(), old.batch(), "number of rows");
}

#[test]
fn every_loss_is_adapted_to_and_judged() {
    let (seen, unseen) = digits();
    let seed = LogisticParams::default().check().unwrap().train(draw(&seen, 2_000, 0.0, 1).batch(), 10);
    let (rows, fresh) = (draw(&unseen, 3_000, 4.0, 7), draw(&unseen, 3_000, 4.0, 8));
    for name in ["hinge", "exponential"] {
        let adapter = AdaptParams::default().loss(name).check().unwrap();
        let adaptation = adapter.adapt(&unlabelled(&rows), &seed, &schema()).unwrap();
        let (before, after) = (error(&seed, &fresh), error(&adaptation.model, &fresh));
        assert!(after < before, "{name}: {before} {after}");
        assert_eq!((adaptation.loss, adaptation.gap), (name, None));
        let judgement = adaptation.judgement.unwrap();
        assert!(judgement.difference.value < 0.0, "{name}: {judgement:?}");
        if name == "hinge" {
            assert_eq!(judgement.verdict, Verdict::Improved, "{judgement:?}");
            let truth = mean_loss(&HingeLoss, &seed.scores(rows.batch()).unwrap(), rows.labels());
            let error = judgement.seed.standard_error.hypot(truth.standard_error);
            let z = (judgement.seed.value - truth.value) / error;
            assert!(z.abs() < 4.0, "the seed's risk is {z} standard errors off");
        }
    }
}

#[test]
fn what_cannot_be_bettered_is_said_to_have_failed() {
    let (_, unseen) = digits();
    let both = draw(&unseen, 8_000, 0.0, 4);
    let seed = train_by_lbfgs(both.batch(), 10, 1e-3).unwrap();
    let rows = draw(&unseen, 4_000, 0.0, 5);
    let adapter = AdaptParams::default().radius(2.0).check().unwrap();
    let adaptation = adapter.adapt(&unlabelled(&rows), &seed, &schema()).unwrap();
    assert_eq!(adaptation.judgement.unwrap().verdict, Verdict::Failed);
}

#[test]
fn views_that_depend_on_each_other_do_not_make_a_better_model() {
    let (seen, unseen) = digits();
    let seed = LogisticParams::default().check().unwrap().train(draw(&seen, 2_000, 0.0, 1).batch(), 10);
    // In three fifths of the rows the first two views are of one image.
    let recipe = Recipe::new(6_000).distortion(4.0).shared(0.6);
    let rows = Composites::draw(&unseen, &recipe, 2).unwrap();
    let adapter = AdaptParams::default().check().unwrap();
    let adaptation = adapter.adapt(&unlabelled(&rows), &seed, &schema()).unwrap();
    assert!(!adaptation.seed.trusted() && !adaptation.supported());
    let judgement = adaptation.judgement.unwrap();
    assert_eq!((judgement.verdict, judgement.by_labels), (Verdict::Doubtful, None));

    // The labels of one row in ten decide, and say the truth: this model is better.
    let known = |row: usize| row.is_multiple_of(10).then(|| usize::from(rows.labels()[row]));
    let labelled = rows.batch().clone().with_labels((0..rows.rows()).map(known).collect()).unwrap();
    let source = InMemory::new(rows.schema(), [labelled]);
    let adaptation = adapter.adapt(&source, &seed, &schema()).unwrap();
    let judgement = adaptation.judgement.as_ref().unwrap();
    let by_labels = judgement.by_labels.unwrap();
    assert!(judgement.of_labels && judgement.difference == by_labels);
    // What is printed is of the labelled rows, and in keeping with the truth on others.
    let of_seed = log_loss(&seed.scores(rows.batch()).unwrap(), rows.labels());
    assert!((judgement.seed.value - of_seed.value).abs() < 4.0 * judgement.seed.standard_error);
    assert!(by_labels.interval.high < 0.0 && adaptation.supported(), "{by_labels:?}");
    let fresh = Composites::draw(&unseen, &recipe, 3).unwrap();
    assert!(error(&adaptation.model, &fresh) < error(&seed, &fresh));
}

#[test]
fn a_seed_that_knows_no_names_is_refused() {
    let (_, unseen) = digits();
    let rows = draw(&unseen, 400, 0.0, 6);
    // Trained on labels that say nothing: which naming is best is a matter of chance.
    let labels = (0..rows.rows()).map(|row| Some(row * 7 % 10)).collect();
    let rows = rows.batch().clone().with_labels(labels).unwrap();
    let seed = LogisticParams::default().check().unwrap().train(&rows, 10);
    let adapter = AdaptParams::default().radius(2.0).judged(false).check().unwrap();
    let rows = draw(&unseen, 400, 0.0, 7);
    let error = adapter.adapt(&unlabelled(&rows), &seed, &schema()).map(|it| it.seed.matching_gap_interval);
    assert!(matches!(error, Err(Error::WeakSeed { .. })), "{error:?}");
}

#[test]
fn impossible_parameters_are_refused() {
    let refused = |params: AdaptParams, parameter: &str| match params.check() {
        Err(Error::InvalidParameter { name, .. }) => assert_eq!(name, parameter),
        other => panic!("{other:?}"),
    };
    refused(AdaptParams::default().radius(0.0), "radius");
    refused(AdaptParams::default().radius(f64::NAN), "radius");
    refused(AdaptParams::default().judged(false), "radius");
    refused(AdaptParams::default().gap(0.0), "gap");
    refused(AdaptParams::default().level(1.0), "level");
    refused(AdaptParams::default().share(1.0), "weight of the source");
    refused(AdaptParams::default().share(f64::NAN), "weight of the source");
    refused(AdaptParams::default().loss("zero-one"), "loss");
    refused(AdaptParams::default().loss("hinge").radius(2.0), "loss");
    refused(AdaptParams::default().loss("hinge").judged(false), "loss");
    assert!(matches!(AdaptParams::default().loss("brier").check(), Err(Error::UnknownLoss { .. })));
}

#[test]
fn dual_averaging_lowers_every_loss() {
    let (seen, unseen) = digits();
    let seed = LogisticParams::default().check().unwrap().train(draw(&seen, 2_000, 0.0, 1).batch(), 10);
    let (rows, fresh) = (draw(&unseen, 3_000, 4.0, 7), draw(&unseen, 3_000, 4.0, 8));
    let source = unlabelled(&rows);
    let linear = LinearScores::of(&source, 10).unwrap();
    let before = error(&seed, &fresh);
    for (name, step) in [("log", 0.3), ("hinge", 0.02), ("exponential", 0.02)] {
        let averaging = DualAveraging {
            loss: by_name(name).unwrap(),
            step,
            steps: 40,
            estimator: Params::new().check().unwrap(),
        };
        let result = averaging.run(&source, &linear, &linear.parameters_of(&seed), &schema()).unwrap();
        let after = error(&linear.model(&result.theta), &fresh);
        assert!(result.risks[39] < result.risks[0], "{name}: {:?}", result.risks);
        assert!(after < before, "{name}: {before} {after}");
        assert!(result.supported(), "{name}: {:?}", result.seed.alarms);
    }
}

#[test]
fn what_dual_averaging_gains_by_dependent_views_is_not_supported() {
    let (seen, unseen) = digits();
    let seed = LogisticParams::default().check().unwrap().train(draw(&seen, 2_000, 0.0, 1).batch(), 10);
    let rows = Composites::draw(&unseen, &Recipe::new(3_000).distortion(4.0).shared(0.5), 7).unwrap();
    let source = unlabelled(&rows);
    let linear = LinearScores::of(&source, 10).unwrap();
    let averaging = DualAveraging {
        loss: by_name("log").unwrap(),
        step: 0.3,
        steps: 40,
        estimator: Params::new().check().unwrap(),
    };
    let result = averaging.run(&source, &linear, &linear.parameters_of(&seed), &schema()).unwrap();
    assert!(result.risks[39] < result.risks[0] && !result.supported(), "{:?}", result.risks);
}
