//! A few labels make intervals that hold whatever the views do.

use rand::seq::index;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use triview::Result;
use triview::data::{Batch, InMemory, Sample, Schema};
use triview::diagnostics::Alarm;
use triview::estimator::few_labels::{ByLabels, Labelled, Lead, Naming, Origin, Powered};
use triview::estimator::{Estimate, Estimator, Params};
use triview::lab::{Population, Preset};
use triview::learning::{error_rate, log_loss};

/// Scores `-z, z` with `z = +-1 + noise`, a share of whose variance is common to the three views.
fn correlated(rows: usize, common: f64, rng: &mut Pcg64) -> (Schema, Batch, Vec<usize>) {
    let mut scores = [(); 3].map(|()| vec![0.0; 2 * rows]);
    let mut labels = Vec::with_capacity(rows);
    for row in 0..rows {
        let label = usize::from(rng.random::<bool>());
        labels.push(label);
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        let shared = normal();
        for view in &mut scores {
            let z = 2.0 * label as f64 - 1.0 + common.sqrt() * shared + (1.0 - common).sqrt() * normal();
            (view[row], view[rows + row]) = (-z, z);
        }
    }
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let schema = Schema::new(names(&["a", "b", "c"]), names(&["no", "yes"])).expect("good names");
    (schema, Batch::new(rows, scores).expect("finite"), labels)
}

/// What so many labels say, of rows drawn at random.
fn labelled(
    estimator: &Estimator,
    schema: &Schema,
    rows: Batch,
    classes: &[usize],
    labels: usize,
    seed: u64,
) -> Result<(Estimate, Labelled)> {
    let chosen = index::sample(&mut Pcg64::seed_from_u64(seed), rows.rows(), labels);
    let mut some = vec![None; rows.rows()];
    chosen.into_iter().for_each(|row| some[row] = Some(classes[row]));
    let source = InMemory::new(schema.clone(), [rows.with_labels(some)?]);
    let sample = Sample::of(&source)?;
    let moments = estimator.moments(&source, &estimator.plan(&sample)?)?;
    estimator.solve_labelled(&source, &moments, &sample)
}

/// What holds whatever the views do.
fn valid(of: &ByLabels) -> &Powered {
    of.valid.as_ref().expect("enough labels")
}

fn holds(interval: triview::answer::Interval, truth: f64) -> bool {
    (interval.low..=interval.high).contains(&truth)
}

#[test]
fn intervals_hold_where_the_views_depend_on_each_other() -> Result<()> {
    const DRAWS: u64 = 40;
    let estimator = Params::new().check()?;
    let (_, rows, classes) = correlated(400_000, 0.53, &mut Pcg64::seed_from_u64(1));
    let truth = [log_loss(&rows, &classes).value, error_rate(&rows, &classes).value];
    let (mut held, mut without, mut contradicted, mut widths) = ([0; 2], 0, 0, [0.0; 2]);
    for draw in 0..DRAWS {
        let (schema, rows, classes) = correlated(4_000, 0.53, &mut Pcg64::seed_from_u64(100 + draw));
        let (estimate, labelled) = labelled(&estimator, &schema, rows, &classes, 100, draw)?;
        let (risk, error) = (valid(&labelled.risk), valid(&labelled.error_rate));
        held[0] += usize::from(holds(risk.estimate.interval, truth[0]));
        held[1] += usize::from(holds(error.estimate.interval, truth[1]));
        // Of a risk that is impossible only the range is left.
        without += usize::from(estimate.interval.high.is_finite() && holds(estimate.interval, truth[0]));
        contradicted += usize::from(!estimate.trusted());
        for (sum, measured) in widths.iter_mut().zip([&risk.estimate, &risk.alone]) {
            *sum += (measured.interval.high - measured.interval.low) / DRAWS as f64;
        }
        assert_eq!(labelled.agreement.naming, Naming::Confirmed);
        assert!(labelled.trusted(), "{:?}", labelled.alarms);
    }
    // Fewer than 33 of 40 at a coverage of 0.92 come once in 60 times.
    assert!(held.iter().all(|held| *held >= 33), "{held:?} of {DRAWS}");
    assert!(without <= 4, "{without} intervals without labels hold");
    assert!(contradicted >= 36, "{contradicted} are known not to");
    assert!(widths[0] < 1.05 * widths[1], "{widths:?}");
    Ok(())
}

#[test]
fn few_labels_recalibrate_what_dependent_views_are_too_sure_of() -> Result<()> {
    const DRAWS: u64 = 30;
    let estimator = Params::new().check()?;
    let (_, rows, classes) = correlated(400_000, 0.53, &mut Pcg64::seed_from_u64(1));
    let truth = error_rate(&rows, &classes).value;
    let (mut held, mut held_first, mut led, mut off, mut alone) = (0, 0, 0, 0.0, 0.0);
    for draw in 0..DRAWS {
        let (schema, rows, classes) = correlated(2_000, 0.53, &mut Pcg64::seed_from_u64(500 + draw));
        let (_, labelled) = labelled(&estimator, &schema, rows, &classes, 20, draw)?;
        assert_eq!(labelled.recalibration.expect("rows are in no clusters").origin, Origin::Scores);
        let by = labelled.error_rate.recalibrated.expect("rows are in no clusters");
        held += usize::from(holds(by.interval, truth));
        off += (by.value - truth).abs() / DRAWS as f64;
        alone += (valid(&labelled.error_rate).alone.value - truth).abs() / DRAWS as f64;
        // The narrower one comes first, unless the labels speak against it.
        let leading = labelled.error_rate.leading;
        led += usize::from(labelled.error_rate.leads == Lead::Recalibrated);
        held_first += usize::from(holds(leading.interval, truth));
        assert!(leading == by || leading == valid(&labelled.error_rate).estimate);
    }
    // Fewer than 23 of 30 at a coverage of 0.9 come once in 40 times.
    assert!(held >= 23 && held_first >= 23, "{held} and {held_first} of {DRAWS}");
    assert!(led >= 20, "{led} of {DRAWS}");
    assert!(off < 0.8 * alone, "{off} {alone}");
    Ok(())
}

#[test]
fn labels_judge_every_view_another_model_and_every_segment() -> Result<()> {
    let estimator = Params::new().each(true).check()?;
    let (schema, rows, classes) = correlated(6_000, 0.53, &mut Pcg64::seed_from_u64(9));
    let n = rows.rows();
    // A model that takes the first view at its word, less sharply; of the last thousand rows hardly any has a label.
    let first = rows.view(0);
    let said = |row: usize| 1.0 / (1.0 + (first[row] - first[n + row]).exp());
    let yes: Vec<f64> = (0..n).map(said).collect();
    let probabilities = yes.iter().map(|p| 1.0 - p).chain(yes.iter().copied()).collect();
    let mut some = vec![None; n];
    for row in index::sample(&mut Pcg64::seed_from_u64(3), n, 120) {
        some[row] = Some(classes[row]).filter(|_| row < 5_000);
    }
    let segment = |row: usize| u64::from(row >= 5_000);
    let rows = rows.with_prediction(probabilities)?.with_labels(some)?;
    let rows = rows.with_segments((0..n).map(segment).collect())?;
    let wrong = |view: usize| {
        let scores = rows.view(view);
        let wrong = |row: &usize| usize::from(scores[n + row] > scores[*row]) != classes[*row];
        (0..n).filter(wrong).count() as f64 / n as f64
    };
    let truth = [wrong(0), wrong(1), wrong(2)];
    let source = InMemory::new(schema, [rows]);
    let sample = Sample::of(&source)?;
    let moments = estimator.moments(&source, &estimator.plan(&sample)?)?;
    let (_, labelled) = estimator.solve_labelled(&source, &moments, &sample)?;
    assert_eq!((labelled.each.len(), labelled.differences.len()), (3, 3));
    for (view, truth) in labelled.each.iter().zip(truth) {
        let error = view.error_rate.as_ref().expect("labels");
        for measured in [valid(error).estimate, error.recalibrated.expect("no clusters")] {
            let z = (measured.value - truth) / measured.standard_error;
            assert!(z.abs() < 4.0, "{z}: {measured:?} {truth}");
        }
        assert!(view.risk.is_some() && view.brier.is_some());
    }
    for (pair, difference) in &labelled.differences {
        let difference = valid(difference.as_ref().expect("labels"));
        let truth = truth[pair[0]] - truth[pair[1]];
        assert!(holds(difference.estimate.interval, truth), "{difference:?} {truth}");
    }
    // Its output is wrong where the first view is.
    let prediction = labelled.prediction.expect("one rides along");
    assert_eq!(valid(prediction.error_rate.as_ref().expect("labels")).alone.value, {
        valid(labelled.each[0].error_rate.as_ref().expect("labels")).alone.value
    });
    assert!(prediction.risk.is_some_and(|risk| risk.leading.value > 0.0));

    let [many, none] = &labelled.segments[..] else { panic!("{:?}", labelled.segments) };
    assert_eq!((many.key, none.key, none.labels), (0, 1, 0));
    let of_many = many.error_rate.as_ref().expect("labels");
    assert!(of_many.valid.is_some() && of_many.recalibrated.is_some());
    // Where a segment has no label its rows are judged by a posterior that those of others recalibrated.
    let of_none = none.error_rate.as_ref().expect("a posterior");
    assert!(of_none.valid.is_none() && of_none.leads == Lead::Recalibrated);
    let interval = of_none.leading.interval;
    assert!(holds(interval, 0.114) && interval.high - interval.low < 0.2, "{of_none:?}");
    Ok(())
}

#[test]
fn labels_of_rows_with_other_chances_count_for_what_they_stand_for() -> Result<()> {
    const DRAWS: u64 = 40;
    let estimator = Params::new().check()?;
    let (_, rows, classes) = correlated(400_000, 0.3, &mut Pcg64::seed_from_u64(1));
    let truth = error_rate(&rows, &classes).value;
    let (mut held, mut off, mut as_they_are) = (0, 0.0, 0.0);
    for draw in 0..DRAWS {
        let mut rng = Pcg64::seed_from_u64(900 + draw);
        let (schema, rows, classes) = correlated(4_000, 0.3, &mut rng);
        let n = rows.rows();
        // Rows on which the views disagree are labelled eight times as often.
        let chance = |row: usize| {
            let says = |view: usize| rows.view(view)[n + row] > 0.0;
            if says(0) == says(1) && says(1) == says(2) { 0.02 } else { 0.16 }
        };
        let chances: Vec<f64> = (0..n).map(chance).collect();
        let some = (0..n).map(|row| (rng.random::<f64>() < chances[row]).then_some(classes[row])).collect();
        let mut means = [0.0; 2];
        for (mean, known) in means.iter_mut().zip([true, false]) {
            let rows = rows.clone().with_labels(Clone::clone(&some))?;
            let rows = if known { rows.with_label_chances(chances.clone())? } else { rows };
            let source = InMemory::new(schema.clone(), [rows]);
            let sample = Sample::of(&source)?;
            let moments = estimator.moments(&source, &estimator.plan(&sample)?)?;
            let (_, labelled) = estimator.solve_labelled(&source, &moments, &sample)?;
            let error = valid(&labelled.error_rate);
            *mean = error.alone.value;
            if known {
                assert!(labelled.trusted(), "{:?}", labelled.alarms);
                held += usize::from(holds(error.estimate.interval, truth));
            }
        }
        off += (means[0] - truth) / DRAWS as f64;
        as_they_are += (means[1] - truth) / DRAWS as f64;
    }
    // Fewer than 33 of 40 at a coverage of 0.92 come once in 60 times.
    assert!(held >= 33, "{held} of {DRAWS}");
    assert!(off.abs() < 0.02 && as_they_are > 0.05, "{off} {as_they_are}");
    Ok(())
}

#[test]
fn labels_that_are_not_drawn_at_random_or_of_other_names_are_seen() -> Result<()> {
    let estimator = Params::new().check()?;
    let population = Population::draw(&Preset::Three.setting(), 5)?;
    let (rows, classes) = population.rows(8_000, &mut Pcg64::seed_from_u64(6));
    let schema = population.schema();
    // Only rows of the first class.
    let mut some = vec![None; rows.rows()];
    (0..rows.rows()).filter(|&row| classes[row] == 0).take(100).for_each(|row| some[row] = Some(0));
    let source = InMemory::new(schema.clone(), [rows.clone().with_labels(some)?]);
    let sample = Sample::of(&source)?;
    let moments = estimator.moments(&source, &estimator.plan(&sample)?)?;
    let (_, answer) = estimator.solve_labelled(&source, &moments, &sample)?;
    assert!(matches!(answer.alarms[0], Alarm::LabelsUnlikeOthers { .. }), "{answer:?}");
    assert!(!answer.trusted());
    assert_eq!(answer.agreement.naming, Naming::Undecided);
    // Labels whose names go round.
    let other: Vec<usize> = classes.iter().map(|class| (class + 1) % 3).collect();
    let (estimate, answer) = labelled(&estimator, schema, rows.clone(), &other, 100, 7)?;
    assert_eq!(answer.agreement.naming, Naming::Contradicted);
    assert_eq!(answer.agreement.names, [1, 2, 0]);
    assert!(estimate.alarms.contains(&Alarm::NamesContradicted), "{:?}", estimate.alarms);
    // Too few of them.
    let refused = labelled(&estimator, schema, rows, &classes, 9, 8).expect_err("too few");
    assert!(refused.to_string().contains("9 of the rows have a label"), "{refused}");
    Ok(())
}
