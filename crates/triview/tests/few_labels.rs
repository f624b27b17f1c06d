//! A few labels make intervals that hold whatever the views do.

use rand::seq::index;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use triview::Result;
use triview::data::{Batch, InMemory, Sample, Schema};
use triview::diagnostics::Alarm;
use triview::estimator::few_labels::{Labelled, Naming, Origin};
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
        let within = |interval: triview::answer::Interval, truth: f64| {
            usize::from((interval.low..=interval.high).contains(&truth))
        };
        held[0] += within(labelled.risk.estimate.interval, truth[0]);
        held[1] += within(labelled.error_rate.estimate.interval, truth[1]);
        without += within(estimate.interval, truth[0]);
        contradicted += usize::from(!estimate.trusted());
        for (sum, measured) in widths.iter_mut().zip([&labelled.risk.estimate, &labelled.risk.alone]) {
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
    let (mut held, mut off, mut alone) = (0, 0.0, 0.0);
    for draw in 0..DRAWS {
        let (schema, rows, classes) = correlated(2_000, 0.53, &mut Pcg64::seed_from_u64(500 + draw));
        let (_, labelled) = labelled(&estimator, &schema, rows, &classes, 20, draw)?;
        let by = labelled.recalibrated.expect("rows are in no clusters");
        assert_eq!(by.origin, Origin::Scores);
        held += usize::from((by.error_rate.interval.low..=by.error_rate.interval.high).contains(&truth));
        off += (by.error_rate.value - truth).abs() / DRAWS as f64;
        alone += (labelled.error_rate.alone.value - truth).abs() / DRAWS as f64;
    }
    // Fewer than 23 of 30 at a coverage of 0.9 come once in 40 times.
    assert!(held >= 23, "{held} of {DRAWS}");
    assert!(off < 0.8 * alone, "{off} {alone}");
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
