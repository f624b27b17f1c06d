//! How good the answers are that are not of all views together: one view as a model, two views compared, and the error rate, Brier score,
//! calibration error and AUC of the whole prediction.
//!
//! `cargo run --release --example models -- one 100` makes a table of `docs/models.md` of so many draws of 20,000 rows: `one` view as the model, the
//! `whole` prediction's intervals, a `witness`, two views `compared`, the average of the views' probabilities as a `prediction`, or how often the
//! posterior is said to be `better`. A preset after the number makes the row of that preset alone.

#![allow(clippy::print_stdout, reason = "it is what an example is for")]

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use rayon::prelude::*;
use std::error::Error;
use triview::answer::Interval;
use triview::data::{Batch, InMemory, Schema, Witness};
use triview::diagnostics::Verdict;
use triview::lab::{Population, Preset};
use triview::metrics::labelled;
use triview::{Estimate, Params};

const ROWS: usize = 20_000;
/// Rows that stand for the population.
const MANY: usize = 300_000;

fn main() -> Result<(), Box<dyn Error>> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let what = asked.first().map_or("", String::as_str);
    let draws = asked.get(1).map_or(Ok(8), |text| text.parse::<u64>())?;
    let presets = || PRESETS.into_iter().filter(|(name, _)| asked.get(2).is_none_or(|only| only == name));
    match what {
        "one" => {
            println!("{ONE_MODEL}\n|---|---|---|---|---|");
            presets().try_for_each(|(name, preset)| one_model(name, preset, draws))?;
        }
        "whole" => {
            println!("{WHOLE}\n|---|---|---|---|---|---|");
            presets().try_for_each(|(name, preset)| whole(name, preset, draws))?;
        }
        "prediction" => {
            println!("{PREDICTION}\n|---|---|---|---|---|---|---|---|");
            presets().try_for_each(|(name, preset)| predicted(name, preset, draws))?;
        }
        "better" => {
            println!("{BETTER}\n|---|---|---|---|---|---|");
            better(draws)?;
        }
        "witness" => witnessed(draws)?,
        "compared" => compared(draws)?,
        _ => return Err("one, whole, witness, compared, prediction or better, and how many draws".into()),
    }
    Ok(())
}

const ONE_MODEL: &str = "| preset | risk of one view: error in labelled standard errors | its error rate | intervals of the risk that hold | of the error rate |";
const WHOLE: &str = "| preset | error rate | Brier score | calibration error | AUC | width of the error rate's, in labelled standard errors |";
const PREDICTION: &str = "| preset | error rate: error in labelled standard errors | log loss | intervals of the error rate that hold | log loss | Brier score | calibration error | AUC |";
const BETTER: &str = "| prior | counted | said to be better | error rate of the summed scores | of the best prediction | of the posterior, as estimated |";

const PRESETS: [(&str, Preset); 4] =
    [("two", Preset::Two), ("three", Preset::Three), ("six", Preset::Six), ("ten", Preset::Ten)];

/// Draws of a population, in parallel.
fn draws<T: Send>(
    preset: Preset,
    first: u64,
    count: u64,
    of: impl Fn(&Population, u64) -> triview::Result<T> + Sync,
) -> triview::Result<Vec<T>> {
    let draw = |seed: u64| of(&Population::draw(&preset.setting(), seed)?, seed);
    (first..first + count).into_par_iter().map(draw).collect()
}

fn answered(population: &Population, rows: &Batch, params: Params) -> triview::Result<Estimate> {
    params.check()?.estimate(&InMemory::new(population.schema().clone(), [rows.clone()]))
}

/// The mean log loss and the error rate of one view's rows, each with its standard error.
fn by_labels(rows: &Batch, view: usize, labels: &[usize]) -> [[f64; 2]; 2] {
    let (n, k) = (rows.rows() as f64, rows.k());
    let of_row = |(row, &label): (usize, &usize)| {
        let scores: Vec<f64> = (0..k).map(|class| rows.column(view, class)[row]).collect();
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = scores.iter().map(|score| (score - largest).exp()).sum();
        [largest + sum.ln() - scores[label], f64::from(u8::from(scores[label] < largest))]
    };
    let all: Vec<[f64; 2]> = labels.iter().enumerate().map(of_row).collect();
    [0, 1].map(|at| {
        let mean = all.iter().map(|row| row[at]).sum::<f64>() / n;
        let squares: f64 = all.iter().map(|row| (row[at] - mean).powi(2)).sum();
        [mean, squares.sqrt() / n]
    })
}

fn holds(interval: Interval, value: f64) -> bool {
    interval.low <= value && value <= interval.high
}

fn share(count: usize, of: usize) -> String {
    format!("{count} of {of}")
}

/// The first view as the model, the others as its witnesses.
fn one_model(name: &str, preset: Preset, count: u64) -> triview::Result<()> {
    let all = draws(preset, 30_001, count, |population, seed| {
        let (rows, labels) = population.rows(ROWS, &mut Pcg64::seed_from_u64(seed));
        let (many, of_many) = population.rows(MANY, &mut Pcg64::seed_from_u64(!seed));
        let estimate =
            answered(population, &rows, Params::new().model([population.schema().views()[0].clone()]))?;
        let ([risk, rate], [true_risk, true_rate]) =
            (by_labels(&rows, 0, &labels), by_labels(&many, 0, &of_many));
        let own = estimate.metrics.as_ref().ok().map(|metrics| metrics.error_rate.estimate);
        let off = |value: f64, [truth, error]: [f64; 2]| ((value - truth) / error).powi(2);
        Ok(One {
            squares: [off(estimate.risk, risk), own.map_or(f64::NAN, |own| off(own.value, rate))],
            held: [
                holds(estimate.interval, true_risk[0]),
                own.is_some_and(|own| holds(own.interval, true_rate[0])),
            ],
            aligned: population.misnamed() == 0,
        })
    })?;
    let (aligned, crossed): (Vec<One>, Vec<One>) = all.into_iter().partition(|draw| draw.aligned);
    One::print(&format!("`{name}`"), &aligned);
    One::print(&format!("`{name}`, classes crossed"), &crossed);
    Ok(())
}

/// A draw of which one view is judged.
struct One {
    /// Squared errors of the risk and the error rate, in labelled standard errors.
    squares: [f64; 2],
    held: [bool; 2],
    /// Whether all views together score each class's own rows highest on average: otherwise names are crossed, which only labels show.
    aligned: bool,
}

impl One {
    fn print(name: &str, all: &[Self]) {
        if all.is_empty() {
            return;
        }
        let root =
            |at: usize| (all.iter().map(|draw| draw.squares[at]).sum::<f64>() / all.len() as f64).sqrt();
        let held = |at: usize| share(all.iter().filter(|draw| draw.held[at]).count(), all.len());
        println!("| {name} | {:.2} | {:.2} | {} | {} |", root(0), root(1), held(0), held(1));
    }
}

/// One model, one other score, and populations of which the class shares are not known.
struct Hospitals {
    k: usize,
    /// The share of each class in each population.
    shares: Vec<Vec<f64>>,
    /// By how much less one score tells classes apart in the first two populations.
    worse: f64,
}

impl Hospitals {
    fn two(worse: f64) -> Self {
        let shares = [0.1, 0.3, 0.5, 0.7, 0.9].map(|ill| vec![1.0 - ill, ill]);
        Self { k: 2, shares: shares.to_vec(), worse }
    }

    fn three() -> Self {
        let most = |class: usize| (0..3).map(|at| if at == class { 0.6 } else { 0.2 }).collect::<Vec<f64>>();
        Self { k: 3, shares: vec![most(0), most(1), most(2), vec![1.0 / 3.0; 3]], worse: 0.0 }
    }

    /// Rows with their labels: unit normal noise about class means that lie 2.4 and 1.9 apart, each two of them. The model's log-odds are three
    /// times too large and shifted by -0.5, the other's are right.
    fn rows(&self, n: usize, seed: u64) -> triview::Result<(Schema, Batch, Vec<usize>)> {
        let mut rng = Pcg64::seed_from_u64(seed);
        let k = self.k;
        let mut scores = vec![vec![0.0; n * k]; 2];
        let (mut places, mut labels) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for row in 0..n {
            let place = rng.random_range(0..self.shares.len());
            let mut left: f64 = rng.random();
            let beyond = |share: &f64| {
                left -= share;
                left < 0.0
            };
            let label = self.shares[place].iter().position(beyond).unwrap_or(k - 1);
            for (view, separation) in [2.4, 1.9].into_iter().enumerate() {
                // Corners of a simplex whose sides have this length.
                let corner = separation / 2_f64.sqrt();
                let truly = if view == 1 && place < 2 { corner - self.worse / 2_f64.sqrt() } else { corner };
                for class in 0..k {
                    let noise: f64 = StandardNormal.sample(&mut rng);
                    let x = noise + if class == label { truly } else { 0.0 };
                    let log_density = corner * x;
                    let shift = if class + 1 == k { -0.5 } else { 0.0 };
                    scores[view][class * n + row] =
                        if view == 0 { 3.0 * log_density + shift } else { log_density };
                }
            }
            places.push(place);
            labels.push(label);
        }
        let names = |of: &str, count: usize| (0..count).map(|at| format!("{of} {at}")).collect::<Vec<_>>();
        let hospitals = names("hospital", self.shares.len());
        let witness = Witness::of("hospital", places.iter().map(|&place| hospitals[place].as_str()))?;
        let known = places.iter().map(|&place| witness.place(&hospitals[place])).collect();
        let batch = Batch::with_witnesses(n, scores, &[(&witness, known)])?;
        let schema = Schema::with_witnesses(names("score", 2), names("class", k), Vec::new(), vec![witness])?;
        Ok((schema, batch, labels))
    }

    fn answer(&self, seed: u64) -> triview::Result<(Estimate, Batch, Vec<usize>)> {
        let (schema, rows, labels) = self.rows(ROWS, seed)?;
        let params = Params::new().model(["score 0"]);
        let estimate = params.check()?.estimate(&InMemory::new(schema, [rows.clone()]))?;
        Ok((estimate, rows, labels))
    }
}

/// Two views and a witness: errors of the first view's risk and error rate in labelled standard errors, intervals that hold, and how often the
/// test of independence rejects.
fn witnessed(count: u64) -> triview::Result<()> {
    println!(
        "| classes | risk of the model: error in labelled standard errors | its error rate | intervals of the risk that hold | of the error rate | rejected | not trusted |"
    );
    println!("|---|---|---|---|---|---|---|");
    for hospitals in [Hospitals::two(0.0), Hospitals::three(), Hospitals::two(0.5)] {
        let (_, many, of_many) = hospitals.rows(MANY, 7)?;
        let [true_risk, true_rate] = by_labels(&many, 0, &of_many);
        let all: Vec<_> = (60_001..60_001 + count)
            .into_par_iter()
            .map(|seed| {
                let (estimate, rows, labels) = hospitals.answer(seed)?;
                let [risk, rate] = by_labels(&rows, 0, &labels);
                let own = estimate.metrics.as_ref().ok().map(|metrics| metrics.error_rate.estimate);
                let off = |value: f64, [truth, error]: [f64; 2]| ((value - truth) / error).powi(2);
                let rejected = estimate.independence.verdict == Verdict::Fail;
                Ok((
                    [off(estimate.risk, risk), own.map_or(f64::NAN, |own| off(own.value, rate))],
                    [
                        holds(estimate.interval, true_risk[0]),
                        own.is_some_and(|own| holds(own.interval, true_rate[0])),
                        rejected,
                        !estimate.trusted(),
                    ],
                ))
            })
            .collect::<triview::Result<_>>()?;
        let root = |at: usize| (all.iter().map(|(off, _)| off[at]).sum::<f64>() / all.len() as f64).sqrt();
        let times = |at: usize| share(all.iter().filter(|(_, is)| is[at]).count(), all.len());
        let what = if hospitals.worse > 0.0 { ", one score worse in two populations" } else { "" };
        let [held, rate_held, rejected, untrusted] = [0, 1, 2, 3].map(times);
        println!(
            "| {}{what} | {:.2} | {:.2} | {held} | {rate_held} | {rejected} | {untrusted} |",
            hospitals.k,
            root(0),
            root(1)
        );
    }
    Ok(())
}

/// What is asked of the whole prediction: intervals that hold.
fn whole(name: &str, preset: Preset, count: u64) -> triview::Result<()> {
    let all = draws(preset, 40_001, count, |population, seed| {
        let (rows, _) = population.rows(ROWS, &mut Pcg64::seed_from_u64(seed));
        let (many, of_many) = population.rows(MANY, &mut Pcg64::seed_from_u64(!seed));
        let [error_rate, brier, _, calibration, _, auc] = labelled(&many, &of_many);
        let estimate = answered(population, &rows, Params::new())?;
        let Ok(metrics) = estimate.metrics else { return Ok(([false; 4], f64::NAN)) };
        let measured = [&metrics.error_rate, &metrics.brier, &metrics.calibration_error, &metrics.auc];
        let truths = [error_rate, brier, calibration, auc];
        let held = std::array::from_fn(|at| holds(measured[at].estimate.interval, truths[at]));
        let Interval { low, high } = metrics.error_rate.estimate.interval;
        Ok((held, (high - low) / (error_rate * (1.0 - error_rate) / ROWS as f64).sqrt()))
    })?;
    let held = |at: usize| share(all.iter().filter(|(held, _)| held[at]).count(), all.len());
    let width = all.iter().map(|(_, width)| width).sum::<f64>() / all.len() as f64;
    println!("| `{name}` | {} | {} | {} | {} | {width:.1} |", held(0), held(1), held(2), held(3));
    Ok(())
}

/// The average of the views' probabilities, class by class, and its logarithms as the scores of one view.
fn average(rows: &Batch) -> triview::Result<(Vec<f64>, Batch)> {
    let (n, k) = (rows.rows(), rows.k());
    let mut average = vec![0.0; n * k];
    for view in 0..rows.views() {
        for row in 0..n {
            let score = |class: usize| rows.column(view, class)[row];
            let largest = (0..k).map(score).fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = (0..k).map(|class| (score(class) - largest).exp()).sum();
            for class in 0..k {
                average[class * n + row] += (score(class) - largest).exp() / sum / rows.views() as f64;
            }
        }
    }
    let scores: Vec<f64> = average.iter().map(|p| p.max(1e-15).ln()).collect();
    let silent = vec![0.0; n * k];
    Ok((average, Batch::new(n, [scores, silent.clone(), silent])?))
}

/// The average of the views' probabilities, judged as another model.
fn predicted(name: &str, preset: Preset, count: u64) -> triview::Result<()> {
    let all = draws(preset, 70_001, count, |population, seed| {
        let (rows, labels) = population.rows(ROWS, &mut Pcg64::seed_from_u64(seed));
        let (many, of_many) = population.rows(MANY, &mut Pcg64::seed_from_u64(!seed));
        let (said, alone) = average(&rows)?;
        let [loss, rate] = by_labels(&alone, 0, &labels);
        let (_, many) = average(&many)?;
        let [true_loss, _] = by_labels(&many, 0, &of_many);
        let [error_rate, brier, _, calibration, _, auc] = labelled(&many, &of_many);
        let estimate = answered(population, &rows.with_prediction(said)?, Params::new())?;
        let Some(own) = estimate.prediction else { return Ok(([f64::NAN; 2], [false; 5])) };
        let off = |value: f64, [truth, error]: [f64; 2]| ((value - truth) / error).powi(2);
        let truths = [error_rate, true_loss[0], brier, calibration, auc];
        let held = own.all().map(|metric| metric.estimate.interval);
        Ok((
            [off(own.error_rate.estimate.value, rate), off(own.log_loss.estimate.value, loss)],
            std::array::from_fn(|at| holds(held[at], truths[at])),
        ))
    })?;
    let root = |at: usize| (all.iter().map(|(off, _)| off[at]).sum::<f64>() / all.len() as f64).sqrt();
    let held = |at: usize| share(all.iter().filter(|(_, held)| held[at]).count(), all.len());
    let [error_rate, loss, brier, calibration, auc] = [0, 1, 2, 3, 4].map(held);
    println!(
        "| `{name}` | {:.2} | {:.2} | {error_rate} | {loss} | {brier} | {calibration} | {auc} |",
        root(0),
        root(1)
    );
    Ok(())
}

/// Three classifiers' probabilities, as logarithms: unit normal noise about class means that lie so far apart, each two of them, of classes with
/// this prior. The prior counts once in each of them or, where that is not so, once in all of them together.
fn classifiers(prior: &[f64], apart: f64, each: bool, seed: u64) -> triview::Result<(Batch, Vec<usize>)> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let (k, corner) = (prior.len(), apart / 2_f64.sqrt());
    let share = if each { 1.0 } else { 1.0 / 3.0 };
    let mut scores = vec![vec![0.0; ROWS * k]; 3];
    let mut labels = Vec::with_capacity(ROWS);
    for row in 0..ROWS {
        let mut left: f64 = rng.random();
        let beyond = |p: &f64| {
            left -= p;
            left < 0.0
        };
        let label = prior.iter().position(beyond).unwrap_or(k - 1);
        for scores in &mut scores {
            for class in 0..k {
                let noise: f64 = StandardNormal.sample(&mut rng);
                let x = noise + if class == label { corner } else { 0.0 };
                scores[class * ROWS + row] = corner * x + share * prior[class].ln();
            }
        }
        labels.push(label);
    }
    Ok((Batch::new(ROWS, scores)?, labels))
}

/// How often the posterior is said to predict better than the summed scores, where these are right and where they count the prior three times.
fn better(count: u64) -> triview::Result<()> {
    for (prior, apart) in [
        (&[0.5, 0.5][..], 2.0),
        (&[0.9, 0.1], 2.0),
        (&[0.9, 0.07, 0.03], 2.5),
        (&[0.2, 0.2, 0.15, 0.15, 0.15, 0.15], 2.5),
    ] {
        for each in [false, true] {
            let all: Vec<[f64; 4]> = (80_001..80_001 + count)
                .into_par_iter()
                .map(|seed| {
                    let (rows, labels) = classifiers(prior, apart, each, seed)?;
                    let truth = labelled(&rows, &labels)[0];
                    let schema = Schema::numbered(3, prior.len())?;
                    let estimate = Params::new().check()?.estimate(&InMemory::new(schema, [rows]))?;
                    let said = f64::from(u8::from(estimate.better_prediction().is_some()));
                    let by_posterior = estimate.metrics.ok().and_then(|metrics| metrics.by_posterior);
                    let rate = by_posterior.map_or(f64::NAN, |own| own.error_rate.estimate.value);
                    let (once, of_once) = classifiers(prior, apart, false, seed)?;
                    Ok([said, truth, labelled(&once, &of_once)[0], rate])
                })
                .collect::<triview::Result<_>>()?;
            let mean = |at: usize| all.iter().map(|run| run[at]).sum::<f64>() / all.len() as f64;
            let said = all.iter().filter(|run| run[0] > 0.0).count();
            let times = if each { "three times" } else { "once" };
            println!(
                "| {prior:?} | {times} | {} | {:.4} | {:.4} | {:.4} |",
                share(said, all.len()),
                mean(1),
                mean(2),
                mean(3)
            );
        }
    }
    Ok(())
}

/// Whether the interval holds, how wide it is, and whether the better, or the worse, is named.
type Compared = (bool, f64, [bool; 2]);

/// The first two views of `six`, as they are, and with noise in the first until it errs four points more often than the second.
fn compared(count: u64) -> Result<(), Box<dyn Error>> {
    let all = draws(Preset::Six, 50_001, count, |population, seed| {
        let (rows, labels) = population.rows(ROWS, &mut Pcg64::seed_from_u64(seed));
        let (many, of_many) = population.rows(MANY, &mut Pcg64::seed_from_u64(!seed));
        let truth = by_labels(&many, 0, &of_many)[1][0] - by_labels(&many, 1, &of_many)[1][0];
        let estimate = answered(population, &rows, Params::new().each(true))?;
        let Some(each) = estimate.each else { return Ok((false, f64::NAN, [false; 2])) };
        let width = |interval: Interval| interval.high - interval.low;
        let difference = each.differences[0].error_rate.map(|rate| rate.interval);
        let apart = |view: usize| {
            each.views[view].metrics.as_ref().map_or(f64::NAN, |of| width(of.error_rate.estimate.interval))
        };
        let ratio = difference.map_or(f64::NAN, |own| width(own) / apart(0).hypot(apart(1)));
        let worse = blurred(&rows, 0, blur(&rows, &labels, seed), seed);
        let estimate = answered(population, &worse, Params::new().each(true))?;
        let named = estimate.each.map(|each| each.differences[0].clone());
        let sure = |view: usize| {
            named.as_ref().is_some_and(|it| it.better == Some(view) && it.confidence > Some(0.95))
        };
        Ok((difference.is_some_and(|it| holds(it, truth)), ratio, [sure(1), sure(0)]))
    })?;
    let count = |is: &dyn Fn(&Compared) -> bool| share(all.iter().filter(|run| is(run)).count(), all.len());
    println!("\nTwo views of `six`: the interval of their difference holds in {}", count(&|run| run.0));
    let ratio = all.iter().map(|run| run.1).sum::<f64>() / all.len() as f64;
    println!("its width is {ratio:.2} of what the two intervals give as if unrelated");
    println!("with noise in one, the better is named with 95% confidence in {}", count(&|run| run.2[0]));
    println!("and the worse in {}", count(&|run| run.2[1]));
    Ok(())
}

/// The same rows with normal noise in one view's scores.
fn blurred(rows: &Batch, view: usize, size: f64, seed: u64) -> Batch {
    let mut rng = Pcg64::seed_from_u64(seed ^ 0xb1);
    let scores: Vec<Vec<f64>> = (0..rows.views())
        .map(|of| {
            let columns = (0..rows.k()).flat_map(|class| rows.column(of, class).iter().copied());
            let noise = |score: f64, rng: &mut Pcg64| -> f64 {
                let drawn: f64 = StandardNormal.sample(rng);
                score + size * drawn
            };
            if of == view { columns.map(|score| noise(score, &mut rng)).collect() } else { columns.collect() }
        })
        .collect();
    Batch::new(rows.rows(), scores).unwrap_or_else(|_| rows.clone())
}

/// The noise that makes the first view err four points more often than the second.
fn blur(rows: &Batch, labels: &[usize], seed: u64) -> f64 {
    let error = |size: f64| by_labels(&blurred(rows, 0, size, seed), 0, labels)[1][0];
    let wanted = by_labels(rows, 1, labels)[1][0] + 0.04;
    let (mut low, mut high) = (0.0, 4.0);
    if error(0.0) >= wanted {
        return 0.0;
    }
    for _ in 0..8 {
        let middle = 0.5 * (low + high);
        if error(middle) < wanted { low = middle } else { high = middle }
    }
    high
}
