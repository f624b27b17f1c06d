//! Metrics of the whole prediction against what labels say.
#![allow(clippy::unwrap_used, reason = "a failure is what a test is for")]

use rand::SeedableRng;
use rand_pcg::Pcg64;
use triview::Error;
use triview::data::{Batch, InMemory, Sample, Schema};
use triview::error::Unmeasured;
use triview::estimator::Params;
use triview::lab::{Population, Preset};
use triview::learning::{error_rate, log_loss};
use triview::loss::Whole;
use triview::metrics::labelled;

fn draw(preset: Preset, rows: usize, seed: u64) -> (Schema, Batch, Vec<usize>) {
    let population = Population::draw(&preset.setting(), 100 + seed).unwrap();
    let (batch, labels) = population.rows(rows, &mut Pcg64::seed_from_u64(seed));
    (population.schema().clone(), batch, labels)
}

#[test]
fn every_metric_is_within_its_standard_error_and_the_models_belief_is_not() {
    // Three draws of six metrics: the largest of 18 normals is beyond 4.2 once in two thousand times.
    let mut belief = 0.0f64;
    for seed in 0..3 {
        let (schema, batch, labels) = draw(Preset::Six, 10_000, seed);
        let (truth, wrong) = (labelled(&batch, &labels), error_rate(&batch, &labels));
        assert!((truth[0] - wrong.value).abs() < 1e-12);
        let views: Vec<f64> = (0..3)
            .map(|v| {
                let zero = vec![0.0; batch.view(v).len()];
                let alone = Batch::new(10_000, [batch.view(v).to_vec(), zero.clone(), zero]).unwrap();
                error_rate(&alone, &labels).value
            })
            .collect();
        let source = InMemory::new(schema, [batch]);
        let estimate = Params::new().check().unwrap().estimate(&source).unwrap();
        let metrics = estimate.metrics.unwrap();
        for (metric, truth) in metrics.all().into_iter().zip(truth) {
            let z = (metric.estimate.value - truth) / metric.triples.standard_error;
            assert!(z.abs() < 4.2, "{}: {z} standard errors off", metric.name);
        }
        for (measured, truth) in metrics.view_error.iter().zip(views) {
            let z = (measured.value - truth) / measured.standard_error.max(0.003);
            assert!(z.abs() < 4.2, "a view's error: {z} standard errors off");
        }
        // An estimate that knows nothing would pass as well: this one is to be sharp.
        assert!(metrics.error_rate.triples.standard_error < 12.0 * wrong.standard_error);
        let z = (metrics.error_rate.belief - truth[0]) / wrong.standard_error;
        belief = belief.max(z.abs());
    }
    assert!(belief > 4.2, "the model's belief is as good: {belief}");
}

#[test]
fn calibration_is_that_of_the_labels_bin_by_bin() {
    let (schema, batch, labels) = draw(Preset::Six, 10_000, 1);
    // What the labels say, in the same fifteen bins of the same width.
    let mut bins = [[0.0f64; 3]; 15];
    for (row, label) in labels.iter().enumerate() {
        let score = |class: usize| (0..3).map(|v| batch.column(v, class)[row]).sum::<f64>();
        let scores: Vec<f64> = (0..6).map(score).collect();
        let largest = (0..6).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap();
        let confidence = 1.0 / scores.iter().map(|score| (score - scores[largest]).exp()).sum::<f64>();
        let bin = &mut bins[((15.0 * confidence) as usize).min(14)];
        bin[0] += confidence;
        bin[1] += f64::from(largest == *label);
        bin[2] += 1.0;
    }
    let truth: Vec<[f64; 3]> = bins.into_iter().filter(|bin| bin[2] >= 20.0).collect();
    let metrics =
        Params::new().check().unwrap().estimate(&InMemory::new(schema, [batch])).unwrap().metrics.unwrap();
    assert_eq!(metrics.calibration.len(), truth.len());
    for (bin, [confidence, correct, rows]) in metrics.calibration.iter().zip(truth) {
        assert!(
            (bin.share - rows / 10_000.0).abs() < 1e-9 && (bin.confidence - confidence / rows).abs() < 1e-9
        );
        let share = correct / rows;
        let noise = (share * (1.0 - share) / rows).sqrt().max(0.01);
        // The largest of some ten normals is beyond 4.2 once in four thousand times.
        let z = (bin.correct.value - share) / bin.correct.standard_error.hypot(noise);
        assert!(z.abs() < 4.2, "{z} standard errors off at {}: {bin:?} and {share}", bin.confidence);
    }
}

#[test]
fn any_loss_is_the_mean_over_rows_and_classes() {
    let (schema, batch, labels) = draw(Preset::Three, 10_000, 1);
    let truth = log_loss(&batch, &labels);
    let source = InMemory::new(schema, [batch]);
    let estimator = Params::new().check().unwrap();
    let sample = Sample::of(&source).unwrap();
    let moments = estimator.moments(&source, &estimator.plan(&sample).unwrap()).unwrap();

    let solved = estimator.solve(&moments).unwrap();
    // What is the same for every row and class is known without error.
    let constant = solved.mean_of(&sample, |_, _| 0.25).unwrap();
    for measured in [constant.estimate, constant.triples, constant.posterior] {
        assert!((measured.value - 0.25).abs() < 1e-9, "{measured:?}");
    }
    // The log loss has an estimate of its own to compare with.
    let log = |views: &[&[f64]], class: usize| {
        let total = |i: usize| views.iter().map(|view| view[i]).sum::<f64>();
        (0..3).map(|i| total(i).exp()).sum::<f64>().ln() - total(class)
    };
    let log = solved.mean_of(&sample, log).unwrap();
    let z = (log.triples.value - truth.value) / log.triples.standard_error.hypot(truth.standard_error);
    assert!(z.abs() < 3.3, "{z}");

    // Rows of other classes are not those that were summed.
    let (schema, batch, _) = draw(Preset::Six, 1_000, 1);
    let other = Sample::of(&InMemory::new(schema, [batch])).unwrap();
    let refused = solved.mean_of(&other, |_, _| 0.25).unwrap_err();
    assert!(matches!(refused, Error::Shape { .. }), "{refused}");
    assert_eq!(solved.metrics(&other).unwrap_err(), Unmeasured::OtherRows);
}

#[test]
fn a_loss_of_the_whole_prediction_is_the_risk() {
    let (schema, batch, labels) = draw(Preset::Six, 10_000, 4);
    let truth = labelled(&batch, &labels);
    let source = InMemory::new(schema, [batch]);
    let plain = Params::new().check().unwrap().estimate(&source).unwrap();
    for (loss, truth) in Whole::ALL.into_iter().zip(truth) {
        let estimator = Params::new().loss(loss.name()).check().unwrap();
        let estimate = estimator.estimate(&source).unwrap();
        assert_eq!(estimate.loss, loss.name());
        let z = (estimate.risk - truth) / estimate.standard_error;
        assert!(z.abs() < 3.3, "{}: {z} standard errors off", loss.name());
        assert!(estimate.interval.low < estimate.risk && estimate.risk < estimate.interval.high);
        // What it rests on, and what speaks for it, is the log loss's.
        assert_eq!(estimate.metrics, plain.metrics);
        assert_eq!(estimate.metrics.unwrap().of(loss).estimate.value, estimate.risk);
        assert_eq!((estimate.fit, estimate.independence), (plain.fit.clone(), plain.independence.clone()));
        assert_eq!(estimate.conditional_risk, plain.conditional_risk);
        assert_eq!(estimate.alarms, plain.alarms);

        let sample = Sample::of(&source).unwrap();
        let moments = estimator.moments(&source, &estimator.plan(&sample).unwrap()).unwrap();
        let reason = Unmeasured::NoRows;
        let refused = estimator.answer(&moments, None).unwrap_err();
        assert_eq!(refused, Error::NoMean { loss: loss.name(), reason });
        let reason = Unmeasured::FewRows { rows: 0, needed: 200 };
        let refused = estimator.answer(&moments, Some(&sample.of_segment(1, 0))).unwrap_err();
        assert_eq!(refused, Error::NoMean { loss: loss.name(), reason });
        let amplified = estimator.amplify(&moments, 4).unwrap_err();
        assert!(matches!(amplified, Error::InvalidParameter { name: "loss", .. }), "{amplified}");
    }
    let refused = Params::new().loss("accuracy").check().unwrap_err().to_string();
    assert!(refused.contains("known: log, hinge, zero-one, exponential, error, brier"), "{refused}");
}
