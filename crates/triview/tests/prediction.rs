//! Another model's output that rides along with the rows, against what labels say of it.
#![allow(clippy::unwrap_used, reason = "a failure is what a test is for")]

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use triview::data::{Batch, InMemory, Sample, Schema, Source};
use triview::lab::{Population, Preset};
use triview::latent::Latent;
use triview::metrics::{PredictionMetrics, labelled};
use triview::{Error, Estimate, Params};

fn draw(preset: Preset, seed: u64) -> (Schema, Batch, Vec<usize>) {
    let population = Population::draw(&preset.setting(), 200 + seed).unwrap();
    let (batch, labels) = population.rows(12_000, &mut Pcg64::seed_from_u64(seed));
    (population.schema().clone(), batch, labels)
}

/// The average of the views' probabilities, sharpened by so much, class by class.
fn average(rows: &Batch, sharper: f64) -> Vec<f64> {
    let (n, k) = (rows.rows(), rows.k());
    let mut out = vec![0.0; n * k];
    for row in 0..n {
        let mut of_row = vec![0.0; k];
        for view in 0..rows.views() {
            let scores: Vec<f64> = (0..k).map(|class| rows.column(view, class)[row].exp()).collect();
            let sum: f64 = scores.iter().sum();
            of_row.iter_mut().zip(scores).for_each(|(average, p)| *average += p / sum);
        }
        let sum: f64 = of_row.iter().map(|p| p.powf(sharper)).sum();
        (0..k).for_each(|class| out[class * n + row] = of_row[class].powf(sharper) / sum);
    }
    out
}

/// The error rate, log loss, Brier score, calibration error and AUC that labels give.
fn by_labels(n: usize, probabilities: &[f64], labels: &[usize]) -> [f64; 5] {
    let scores: Vec<f64> = probabilities.iter().map(|p| p.max(1e-15).ln()).collect();
    let loss = -labels.iter().enumerate().map(|(row, label)| scores[label * n + row]).sum::<f64>();
    let silent = vec![0.0; scores.len()];
    let batch = Batch::new(n, [scores, silent.clone(), silent]).unwrap();
    let [error_rate, brier, _, calibration, _, auc] = labelled(&batch, labels);
    [error_rate, loss / n as f64, brier, calibration, auc]
}

fn judged(schema: &Schema, rows: Batch, said: Vec<f64>, params: Params) -> Estimate {
    let source = InMemory::new(schema.clone(), [rows.with_prediction(said).unwrap()]);
    params.check().unwrap().estimate(&source).unwrap()
}

fn largest_z(own: &PredictionMetrics, truth: [f64; 5]) -> f64 {
    let z = |(metric, truth): (&triview::metrics::Metric, f64)| {
        ((metric.estimate.value - truth) / metric.estimate.standard_error).abs()
    };
    own.all().into_iter().zip(truth).map(z).fold(0.0, f64::max)
}

#[test]
fn an_average_of_probabilities_is_judged_as_labels_would() {
    // Nine draws of five metrics: the largest of 45 normals is beyond 4.2 once in a thousand times.
    for (preset, seed) in
        [Preset::Two, Preset::Three, Preset::Six].into_iter().flat_map(|p| [(p, 0), (p, 1), (p, 2)])
    {
        let (schema, rows, labels) = draw(preset, seed);
        let said = average(&rows, 4.0);
        let truth = by_labels(rows.rows(), &said, &labels);
        let estimate = judged(&schema, rows, said, Params::new());
        let own = estimate.prediction.as_ref().unwrap();
        let z = largest_z(own, truth);
        assert!(z < 4.2, "{preset} {seed}: {z} standard errors off: {truth:?} {own:?}");
        // An estimate that knows nothing would pass as well.
        let error = (truth[0] * (1.0 - truth[0]) / 12_000.0).sqrt();
        assert!(own.error_rate.estimate.standard_error < 6.0 * error);
    }
}

#[test]
fn what_a_prediction_may_know_beyond_the_views_is_within_what_is_possible() {
    // From one that is always right to one that never is, in a share of the rows; elsewhere the average of the views' probabilities.
    for (seed, right, share) in
        [(0, true, 1.0), (1, true, 0.5), (2, true, 0.1), (3, false, 0.2), (4, false, 1.0)]
    {
        let (schema, rows, labels) = draw(Preset::Six, seed);
        let (n, k) = (rows.rows(), rows.k());
        let mut said = average(&rows, 1.0);
        let mut rng = Pcg64::seed_from_u64(seed);
        for row in (0..n).filter(|_| rng.random::<f64>() < share) {
            let class = if right { labels[row] } else { (labels[row] + 1) % k };
            (0..k).for_each(|other| said[other * n + row] = f64::from(u8::from(other == class)));
        }
        let truth = by_labels(n, &said, &labels)[0];
        let own = judged(&schema, rows, said, Params::new()).prediction.unwrap();
        let possible = own.error_rate_whatever_known;
        assert!(possible.low <= truth && truth <= possible.high, "{seed}: {truth} {possible:?}");
        assert!(possible.high - possible.low < 0.4, "{seed}: {possible:?}");
        // The estimate itself takes it to know no more.
        let interval = own.error_rate.estimate.interval;
        assert!(!(right && share > 0.4 && truth > interval.low), "{seed}: {truth} {interval:?}");
    }
}

#[test]
fn a_prediction_that_has_nothing_to_do_with_the_rows_is_as_wrong_as_it_is() {
    let (schema, rows, labels) = draw(Preset::Three, 5);
    let (n, k) = (rows.rows(), rows.k());
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut Pcg64::seed_from_u64(1));
    let said = average(&rows, 1.0);
    let shuffled: Vec<f64> = (0..n * k).map(|at| said[at / n * n + order[at % n]]).collect();
    let truth = by_labels(n, &shuffled, &labels);
    let estimate = judged(&schema, rows, shuffled, Params::new());
    let own = estimate.prediction.unwrap();
    assert!((own.error_rate.estimate.value - truth[0]).abs() < 0.02, "{truth:?} {own:?}");
    assert!((own.auc.estimate.value - 0.5).abs() < 0.02, "{own:?}");
    // It believes of itself what it did of the rows that it was made for.
    assert!((own.error_rate.belief - truth[0]).abs() > 0.1, "{own:?}");
}

#[test]
fn states_beyond_the_classes_do_not_matter_to_it() {
    let (schema, rows, labels) = draw(Preset::Subclasses, 3);
    let said = average(&rows, 1.0);
    let truth = by_labels(rows.rows(), &said, &labels);
    let estimate = judged(&schema, rows, said, Params::new().latent(Latent::States(6)));
    let own = estimate.prediction.unwrap();
    let z = largest_z(&own, truth);
    assert!(z < 4.2, "{z} standard errors off: {truth:?} {own:?}");
}

#[test]
fn a_prediction_rides_along_with_its_rows() {
    let (schema, rows, _) = draw(Preset::Three, 6);
    let said = average(&rows, 1.0);
    let with = rows.clone().with_prediction(said.clone()).unwrap();
    let source = InMemory::new(schema.clone(), [with]);
    let sample = Sample::of(&source).unwrap();
    assert_eq!(sample.rows().prediction().map(<[f64]>::len), Some(3 * sample.rows().rows()));
    let params = Params::new().check().unwrap();
    let moments = params.moments(&source, &params.plan(&sample).unwrap()).unwrap();
    let solved = params.solve(&moments).unwrap();
    assert!(solved.prediction(&sample).unwrap().is_some());
    let plain = Sample::of(&InMemory::new(schema, [rows.clone()])).unwrap();
    assert_eq!(solved.prediction(&plain), Ok(None));
    // Rows as they come, of another number, and of other numbers.
    assert_eq!(source.batches().unwrap().count(), 1);
    let refused = rows.clone().with_prediction(said[1..].to_vec());
    assert!(matches!(refused, Err(Error::Shape { .. })));
    for value in [-0.1, 1.1, f64::NAN] {
        let mut wrong = said.clone();
        wrong[7] = value;
        let refused = rows.clone().with_prediction(wrong);
        assert!(
            matches!(&refused, Err(Error::NotProbabilities { row: 7, values }) if values.len() == 3),
            "{refused:?}"
        );
    }
}

/// Three calibrated classifiers of two classes, of which the second is a tenth: the prior counts in each of them, or in all together.
fn classifiers(each: bool, seed: u64) -> (Batch, Vec<usize>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let n = 20_000;
    let labels: Vec<usize> = (0..n).map(|_| usize::from(rng.random::<f64>() < 0.1)).collect();
    let share = if each { 1.0 } else { 1.0 / 3.0 };
    let mut view = || {
        let mut scores = vec![0.0; 2 * n];
        for (row, label) in labels.iter().enumerate() {
            let noise: f64 = StandardNormal.sample(&mut rng);
            scores[n + row] = 2.0 * (noise + *label as f64 * 2.0 - 1.0) - share * 9.0_f64.ln();
        }
        scores
    };
    (Batch::new(n, [view(), view(), view()]).unwrap(), labels)
}

#[test]
fn a_better_prediction_is_named_where_the_prior_counts_three_times() {
    let mut trusted = 0;
    for seed in 0..4 {
        for each in [false, true] {
            let (rows, labels) = classifiers(each, seed);
            let truth = labelled(&rows, &labels)[0];
            let source = InMemory::new(Schema::numbered(3, 2).unwrap(), [rows]);
            let estimate = Params::new().check().unwrap().estimate(&source).unwrap();
            let own = estimate.metrics.as_ref().unwrap().error_rate.estimate;
            // Of three models that are right in themselves the product is far from what the views say.
            assert!((own.value - truth).abs() < 4.2 * own.standard_error, "{truth} {own:?}");
            let (best, of_best) = classifiers(false, seed);
            let better = estimate.better_prediction().map(|better| better.error_rate.estimate);
            // Nothing is said where an answer is not to be trusted, as one in twenty is not by chance.
            trusted += usize::from(estimate.trusted());
            assert_eq!(better.is_some(), each && estimate.trusted(), "{seed} {:?}", estimate.metrics);
            if let Some(better) = better {
                let least = labelled(&best, &of_best)[0];
                assert!((better.value - least).abs() < 4.2 * better.standard_error, "{least} {better:?}");
            }
        }
    }
    assert!(trusted >= 6, "{trusted}");
}
