//! What a few enormous scores do to a plain estimate and not to an amplified one, and what that costs without them.
#![allow(clippy::unwrap_used, reason = "a failure is what a test is for")]

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use rayon::ThreadPoolBuilder;
use std::f64::consts::FRAC_PI_2;
use triview::data::{Batch, InMemory, Sample, VIEWS};
use triview::estimator::{Estimator, Params};
use triview::features::FeatureChoice;
use triview::lab::{Population, Preset};
use triview::learning::log_loss;
use triview::{Error, Moments, Plan};

const ROWS: usize = 40_000;

fn estimator() -> Estimator {
    Params::new().check().unwrap()
}

fn source(population: &Population, batch: Batch) -> InMemory {
    InMemory::new(population.schema().clone(), [batch])
}

/// The feature map that was fitted when all was well, as a monitor has it.
fn plan(population: &Population, seed: u64) -> Plan {
    let (batch, _) = population.rows(ROWS, &mut Pcg64::seed_from_u64(1_000 + seed));
    estimator().plan(&Sample::of(&source(population, batch)).unwrap()).unwrap()
}

/// A sensor that once in 20,000 rows emits scores some ten thousand times too large.
fn glitches(batch: &Batch, rng: &mut Pcg64) -> Batch {
    let (rows, k) = (batch.rows(), batch.k());
    let mut scores: [Vec<f64>; VIEWS] = std::array::from_fn(|v| batch.view(v).to_vec());
    for row in 0..rows {
        if rng.random_bool(1.0 / 20_000.0) {
            let view = rng.random_range(0..VIEWS);
            for class in 0..k {
                let size: f64 = StandardNormal.sample(rng);
                scores[view][class * rows + row] = 1e4 * size;
            }
        }
    }
    Batch::new(rows, scores).unwrap()
}

/// Moments of healthy rows and of the same rows with glitches, and the risk of healthy rows.
fn draw(seed: u64) -> (Moments, Moments, f64) {
    let population = Population::draw(&Preset::Six.setting(), 100 + seed).unwrap();
    let mut rng = Pcg64::seed_from_u64(seed);
    let (many, labels) = population.rows(1_000_000, &mut rng);
    let truth = log_loss(&many, &labels).value;
    let (healthy, _) = population.rows(ROWS, &mut rng);
    let glitching = glitches(&healthy, &mut rng);
    let plan = plan(&population, seed);
    let moments = |batch| estimator().moments(&source(&population, batch), &plan).unwrap();
    (moments(healthy), moments(glitching), truth)
}

fn root_mean_square(errors: &[f64]) -> f64 {
    (errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64).sqrt()
}

/// The sum of squares of six standard normals exceeds this once in a thousand times.
const MOST_SQUARES: f64 = 22.5;

#[test]
fn enormous_scores_ruin_the_plain_estimate_alone() {
    // Two such rows are expected a draw, and each adds some 1e4 / 40,000 to a mean score. In at most one draw of
    // a thousand they reach eight groups of the sixteen.
    let (mut plain, mut amplified, mut unharmed) = (Vec::new(), Vec::new(), Vec::new());
    let mut squares = 0.0;
    for seed in 0..6 {
        let (healthy, glitching, truth) = draw(seed);
        unharmed.push(estimator().answer(&healthy, None).unwrap().risk - truth);
        plain.push(estimator().answer(&glitching, None).unwrap().risk - truth);
        let robust = estimator().amplify(&glitching, 16).unwrap();
        amplified.push(robust.risk - truth);
        squares += ((robust.risk - truth) / robust.standard_error).powi(2);
    }
    let [plain, amplified, unharmed] = [plain, amplified, unharmed].map(|errors| root_mean_square(&errors));
    assert!(plain > 10.0 * amplified, "plain {plain}, amplified {amplified}");
    assert!(amplified < 3.0 * unharmed, "amplified {amplified}, plain without glitches {unharmed}");
    assert!(squares < MOST_SQUARES, "{squares}");
}

#[test]
fn healthy_scores_are_estimated_about_as_well_as_plainly() {
    let (mut apart, mut squares) = (0.0, 0.0);
    let (mut plain_errors, mut errors) = (0.0, 0.0);
    for seed in 6..12 {
        let (healthy, _, truth) = draw(seed);
        let plain = estimator().answer(&healthy, None).unwrap();
        let robust = estimator().amplify(&healthy, 16).unwrap();
        // The median of normal numbers has pi / 2 times the variance of their mean, and that mean lies between.
        apart += ((robust.risk - plain.risk) / plain.standard_error).powi(2) / (FRAC_PI_2 - 1.0);
        squares += ((robust.risk - truth) / robust.standard_error).powi(2);
        plain_errors += plain.standard_error;
        errors += robust.standard_error;
    }
    assert!(apart < MOST_SQUARES, "{apart}");
    assert!(squares < MOST_SQUARES, "{squares}");
    assert!(errors < 1.6 * plain_errors, "standard errors {errors}, plain {plain_errors}");
}

/// Rows of a small problem, under the scores themselves. Of every eight blocks, so many have the rows of a sensor that is silent: it
/// scores every row of its view alike.
fn few(rows: usize, silent: usize) -> Moments {
    let population = Population::draw(&Preset::Two.setting(), 1).unwrap();
    let (batch, _) = population.rows(rows, &mut Pcg64::seed_from_u64(1));
    let looking = Params::new().features(FeatureChoice::Scores).check().unwrap();
    let plan = looking.plan(&Sample::of(&source(&population, batch.clone())).unwrap()).unwrap();
    let mut scores: [Vec<f64>; VIEWS] = std::array::from_fn(|v| batch.view(v).to_vec());
    // Rows are dealt to the blocks in runs of eight.
    let is_silent = |at: &usize| at % rows / 8 % 8 < silent;
    (0..scores[0].len()).filter(is_silent).for_each(|at| scores[0][at] = 0.0);
    estimator().moments(&source(&population, Batch::new(rows, scores).unwrap()), &plan).unwrap()
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let moments = few(10_000, 0);
    let with = |threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| estimator().amplify(&moments, 7).unwrap())
    };
    let one = with(1);
    assert_eq!((one.estimates.len(), one.kept.len()), (7, 7));
    assert_eq!(one, with(4));
}

#[test]
fn numbers_of_groups_that_cannot_be_are_refused() {
    let moments = few(1_500, 0);
    // Sixty-four blocks make 32 pairs; 200 rows are the fewest of an estimate.
    for (groups, expected) in [(0, "at least three"), (2, "at least three"), (33, "two"), (8, "too few rows")]
    {
        let error = estimator().amplify(&moments, groups).unwrap_err();
        let Error::InvalidParameter { name: "groups", .. } = error else { panic!("{groups}: {error}") };
        assert!(error.to_string().contains(expected), "{groups}: {error}");
    }
    assert!(estimator().amplify(&moments, 3).is_ok());
}

#[test]
fn groups_that_cannot_be_solved_are_discarded_while_they_are_the_fewer() {
    let answer = estimator().amplify(&few(10_000, 3), 8).unwrap();
    assert_eq!(answer.estimates[..3], [None; 3]);
    assert_eq!(answer.kept[..3], [false; 3]);
    assert!(answer.estimates[3..].iter().all(Option::is_some));
    let error = estimator().amplify(&few(10_000, 4), 8).unwrap_err();
    let Error::NoMajority { solved: 4, groups: 8, reason } = error else { panic!("{error}") };
    assert!(reason.contains("constant"), "{reason}");
}
