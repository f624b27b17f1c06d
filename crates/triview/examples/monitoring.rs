//! How often the alarms of monitoring are raised: where nothing changes, where the model becomes worse, and where only the class shares drift.
//!
//! Six classes, periods of 5,000 rows, the first four the baseline, then eight. `cargo run --release --example monitoring -- 200 100` makes the
//! table of `docs/monitoring.md`: so many runs where nothing changes, and so many of each other kind. With a folder after these the rows of the
//! first runs of each kind are written there, for `scripts/monitoring_cbpe.py`.

#![allow(clippy::print_stdout, reason = "it is what an example is for")]

use rand::SeedableRng;
use rand_pcg::Pcg64;
use rayon::prelude::*;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use triview::data::{Batch, Sample};
use triview::lab::{Population, Preset};
use triview::monitoring::{KeptRows, PeriodAnswer, Watch};
use triview::{Estimator, Params, Plan};

const ROWS: usize = 5_000;
const BASELINE: usize = 4;
const PERIODS: usize = 12;
/// The first period of a changed model: the seventh.
const CHANGE: usize = 6;
/// What the class shares drift to.
const DRIFTED: [f64; 6] = [0.4, 0.2, 0.1, 0.1, 0.1, 0.1];
/// Of so many runs of each kind the rows are written.
const WRITTEN: u64 = 30;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Nothing,
    /// The model's means are moved until its error rate is five standard errors of a period's 5,000 labels higher.
    Worse,
    /// The class shares drift linearly from the fifth period on.
    Shares,
}

/// What came of a run.
#[derive(Debug)]
struct Run {
    alarm: Option<usize>,
    inputs: Option<usize>,
    trusted: usize,
    /// By how many standard errors of labels the risk and the error rate rose, by the labels of the last period.
    rise: [f64; 2],
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let counts: Vec<u64> = arguments.iter().take(2).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let [unchanged, changed] = counts.try_into().unwrap_or([20, 10]);
    let folder = arguments.get(2).map(PathBuf::from);
    for (kind, runs, first) in
        [(Kind::Nothing, unchanged, 50_001), (Kind::Worse, changed, 60_001), (Kind::Shares, changed, 70_001)]
    {
        let made: Result<Vec<Run>, String> = (first..first + runs)
            .into_par_iter()
            .map(|seed| {
                let written = folder.as_deref().filter(|_| seed < first + WRITTEN);
                run(kind, seed, written).map_err(|error| error.to_string())
            })
            .collect();
        say(kind, &made?);
    }
    Ok(())
}

fn say(kind: Kind, runs: &[Run]) {
    let count = |is: &dyn Fn(&Run) -> bool| runs.iter().filter(|run| is(run)).count();
    let trusted: usize = runs.iter().map(|run| run.trusted).sum();
    println!("{kind:?}: {} runs, {trusted} of {} periods trusted", runs.len(), runs.len() * PERIODS);
    println!("  alarm of the risk: {}", count(&|run| run.alarm.is_some()));
    println!(
        "  of these within two periods of the change: {}",
        count(&|run| run.alarm.is_some_and(|at| (CHANGE..CHANGE + 2).contains(&at)))
    );
    println!("  before it: {}", count(&|run| run.alarm.is_some_and(|at| at < CHANGE)));
    println!("  change of the inputs: {}", count(&|run| run.inputs.is_some()));
    let rose = |run: &Run| run.rise.iter().any(|rise| *rise > 2.0);
    println!(
        "  risk or error rate higher by labels: {}; alarm there {}, elsewhere {}",
        count(&rose),
        count(&|run| rose(run) && run.alarm.is_some()),
        count(&|run| !rose(run) && run.alarm.is_some())
    );
}

fn run(kind: Kind, seed: u64, folder: Option<&Path>) -> Result<Run, Box<dyn Error>> {
    let setting = Preset::Six.setting();
    let normal = Population::draw(&setting, seed)?;
    let mut rng = Pcg64::seed_from_u64(seed ^ 0x5eed);
    let worse = if kind == Kind::Worse { made_worse(&normal, seed) } else { normal.clone() };
    let estimator = Params::new().check()?;
    let mut plan: Option<Plan> = None;
    let mut answers = Vec::new();
    let mut labelled = Vec::new();
    let mut written = Vec::new();
    for at in 0..PERIODS {
        let population = match kind {
            Kind::Worse if at >= CHANGE => worse.clone(),
            Kind::Shares if at >= BASELINE => {
                let share = (at + 1 - BASELINE) as f64 / (PERIODS - BASELINE) as f64;
                normal.with_prior(DRIFTED.iter().map(|to| (1.0 - share) / 6.0 + share * to).collect())
            }
            _ => normal.clone(),
        };
        let (rows, labels) = population.rows(ROWS, &mut rng);
        labelled.push(by_labels(&rows, &labels));
        if folder.is_some() {
            write(&mut written, at, &rows, &labels);
        }
        let plan = match &plan {
            Some(plan) => plan.clone(),
            None => plan.insert(estimator.plan(&Sample::new(normal.schema().clone(), rows.clone()))?).clone(),
        };
        answers.push(answer(&estimator, &plan, &rows, at as u64)?);
    }
    if let Some(folder) = folder {
        fs::write(folder.join(format!("{kind:?}-{seed}.f32")), written)?;
    }
    let watch = Watch::new(&answers.iter().collect::<Vec<_>>(), |_| 0..BASELINE, PERIODS, 0.95);
    Ok(Run {
        alarm: watch.alarm,
        inputs: watch.inputs_alarm,
        trusted: answers.iter().filter(|answer| answer.trusted()).count(),
        rise: [0, 1].map(|of| rise(&labelled, of)),
    })
}

fn answer(estimator: &Estimator, plan: &Plan, rows: &Batch, file: u64) -> triview::Result<PeriodAnswer> {
    let mut sums = plan.accumulator()?;
    sums.update(rows)?;
    let mut kept = KeptRows::default();
    kept.offer(rows, file, (0..rows.rows()).map(|row| (row, row as u64)));
    Ok(PeriodAnswer::new(estimator, &sums.finish()?, &kept, &KeptRows::default()))
}

/// Appends the period, the label and the model's probabilities of each row, as four bytes each.
fn write(out: &mut Vec<u8>, period: usize, rows: &Batch, labels: &[usize]) {
    for (row, &label) in labels.iter().enumerate() {
        let total = totals(rows, row);
        let largest = total.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = total.iter().map(|t| (t - largest).exp()).sum();
        let probabilities = total.iter().map(|t| (t - largest).exp() / sum);
        for number in [period as f64, label as f64].into_iter().chain(probabilities) {
            out.extend((number as f32).to_le_bytes());
        }
    }
}

/// The summed scores of a row.
fn totals(rows: &Batch, row: usize) -> Vec<f64> {
    (0..rows.k()).map(|class| (0..rows.views()).map(|v| rows.column(v, class)[row]).sum()).collect()
}

/// The mean log loss and the error rate of labelled rows, each with its squared standard error.
fn by_labels(rows: &Batch, labels: &[usize]) -> [[f64; 2]; 2] {
    let n = rows.rows();
    let (mut losses, mut errors) = (Vec::new(), Vec::new());
    for (row, &label) in labels.iter().enumerate() {
        let total = totals(rows, row);
        let largest = total.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        losses.push(largest + total.iter().map(|t| (t - largest).exp()).sum::<f64>().ln() - total[label]);
        errors.push(f64::from(u8::from(total[label] < largest)));
    }
    [losses, errors].map(|values| {
        let mean = values.iter().sum::<f64>() / n as f64;
        [mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n * n) as f64]
    })
}

/// How much higher the last period is than the baseline, in standard errors of labels.
fn rise(labelled: &[[[f64; 2]; 2]], of: usize) -> f64 {
    let mean =
        |at: usize| labelled[..BASELINE].iter().map(|period| period[of][at]).sum::<f64>() / BASELINE as f64;
    let [value, variance] = labelled[PERIODS - 1][of];
    (value - mean(0)) / (variance + mean(1) / BASELINE as f64).sqrt()
}

/// The model moved as far as makes its error rate five standard errors of 5,000 labels higher.
fn made_worse(normal: &Population, seed: u64) -> Population {
    let error = |population: &Population| {
        let (rows, labels) = population.rows(40_000, &mut Pcg64::seed_from_u64(seed));
        by_labels(&rows, &labels)[1][0]
    };
    let before = error(normal);
    let wanted = before + 5.0 * (before * (1.0 - before) / ROWS as f64).sqrt();
    let (mut low, mut high) = (0.0, 2.0);
    for _ in 0..12 {
        let middle = 0.5 * (low + high);
        if error(&normal.moved(middle, seed)) < wanted { low = middle } else { high = middle }
    }
    normal.moved(high, seed)
}
