//! Whether estimates know how far they may be off, and whether their assumption holds.

use crate::{Mnist, SEED};
use anyhow::Result;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use rayon::prelude::*;
use std::io::Write;
use triview::data::{Batch, InMemory, Schema};
use triview::diagnostics::{Alarm, LEVEL, Verdict};
use triview::estimator::{Estimate, Estimator, Params};
use triview::lab::{Composites, Population, Preset, Recipe, Setting};
use triview::learning::{LogisticModel, LogisticParams, Mean, error_rate, log_loss};

/// What some estimates of known risks turned out to be.
#[derive(Default)]
struct Tally {
    draws: usize,
    /// Intervals that hold the population's risk; of trusted estimates.
    covered: usize,
    trusted: usize,
    trusted_and_covered: usize,
    /// Tests that reject at [`LEVEL`], and that cannot be made.
    rejected: usize,
    untestable: usize,
    /// Widths of the intervals over that of labels.
    widths: Vec<f64>,
}

impl Tally {
    fn add(&mut self, estimate: &Estimate, population: f64, labelled_error: f64) {
        let covered = (estimate.interval.low..=estimate.interval.high).contains(&population);
        self.draws += 1;
        self.covered += usize::from(covered);
        self.trusted += usize::from(estimate.trusted());
        self.trusted_and_covered += usize::from(covered && estimate.trusted());
        self.rejected += usize::from(estimate.independence.p_value.is_some_and(|p| p < LEVEL));
        self.untestable += usize::from(estimate.independence.verdict == Verdict::Untestable);
        self.widths.push((estimate.interval.high - estimate.interval.low) / (3.92 * labelled_error));
    }

    fn share(count: usize, of: usize) -> String {
        format!("{:.1}%", 100.0 * count as f64 / of.max(1) as f64)
    }

    fn cells(&mut self) -> String {
        self.widths.sort_by(f64::total_cmp);
        format!(
            "{} | {} | {} | {} | {} | {:.2}",
            Self::share(self.covered, self.draws),
            Self::share(self.trusted_and_covered, self.trusted),
            Self::share(self.rejected, self.draws),
            self.untestable,
            Self::share(self.draws - self.trusted, self.draws),
            self.widths[self.draws / 2]
        )
    }
}

const TALLY: &str = "covered | covered, of those trusted | independence rejected | untestable | not trusted | median width over labels'";

fn estimator() -> Result<Estimator> {
    Ok(Params::new().seed(SEED).check()?)
}

fn estimate(schema: &Schema, scores: Batch) -> Result<Estimate> {
    Ok(estimator()?.estimate(&InMemory::new(schema.clone(), [scores]))?)
}

/// Six simulated settings: classes, separation, prior.
fn settings() -> [(&'static str, Setting); 6] {
    let setting =
        |classes, separation, prior| Setting { classes, separation, prior, ..Preset::Three.setting() };
    [
        ("2 classes, prior 9:1", setting(2, 2.2, Some(vec![0.9, 0.1]))),
        ("2 classes", setting(2, 0.78, None)),
        ("3 classes", setting(3, 1.95, None)),
        ("3 classes", setting(3, 0.92, None)),
        ("10 classes", setting(10, 1.14, None)),
        ("10 classes", setting(10, 0.75, None)),
    ]
}

/// Coverage, size of the test and false alarms where the assumption holds: 20 populations a setting, 20 draws each.
pub(crate) fn coverage(out: &mut impl Write) -> Result<()> {
    const POPULATIONS: u64 = 20;
    const DRAWS: u64 = 20;
    const ROWS: usize = 20_000;
    writeln!(
        out,
        "\n### Independent views: {} draws of {ROWS} rows a setting, 95% intervals, tests at {LEVEL}\n",
        POPULATIONS * DRAWS
    )?;
    writeln!(out, "| setting | model error | {TALLY} |\n|---|---|---|---|---|---|---|---|")?;
    for (name, setting) in settings() {
        let (mut tally, mut model_error) = (Tally::default(), 0.0);
        for seed in 0..POPULATIONS {
            let population = Population::draw(&setting, 3_000 + seed)?;
            let (truth, error) = truth(&population, 4_000 + seed);
            model_error += error / POPULATIONS as f64;
            let answers: Vec<(Estimate, Mean)> = (0..DRAWS)
                .into_par_iter()
                .map(|draw| {
                    let mut rng = Pcg64::seed_from_u64(5_000 + seed * DRAWS + draw);
                    let (scores, labels) = population.rows(ROWS, &mut rng);
                    let labelled = log_loss(&scores, &labels);
                    Ok((estimate(population.schema(), scores)?, labelled))
                })
                .collect::<Result<_>>()?;
            answers.iter().for_each(|(answer, labelled)| tally.add(answer, truth, labelled.standard_error));
        }
        writeln!(out, "| {name} | {model_error:.3} | {} |", tally.cells())?;
        out.flush()?;
    }
    Ok(())
}

/// False alarms where all is well: 200 draws a preset, each from a population of its own.
pub(crate) fn healthy(out: &mut impl Write) -> Result<()> {
    const DRAWS: u64 = 200;
    const ROWS: usize = 20_000;
    writeln!(out, "\n### False alarms: {DRAWS} populations a preset, {ROWS} rows each, views independent\n")?;
    writeln!(
        out,
        "| preset | not trusted | independence rejected | classes not told apart | other alarms |"
    )?;
    writeln!(out, "|---|---|---|---|---|")?;
    for preset in [Preset::Two, Preset::Three, Preset::Six, Preset::Ten] {
        let alarms: Vec<[bool; 3]> = (0..DRAWS)
            .into_par_iter()
            .map(|draw| {
                let population = Population::draw(&preset.setting(), 7_000 + draw)?;
                let (scores, _) = population.rows(ROWS, &mut Pcg64::seed_from_u64(8_000 + draw));
                let alarms = estimate(population.schema(), scores)?.alarms;
                let dependent = |alarm: &Alarm| matches!(alarm, Alarm::Dependent { .. });
                let alike = |alarm: &Alarm| {
                    matches!(alarm, Alarm::WeakView { .. } | Alarm::WeakPair { .. } | Alarm::FewRows { .. })
                };
                let known = [alarms.iter().any(dependent), alarms.iter().any(alike)];
                Ok([known[0], known[1], !alarms.is_empty() && !known[0] && !known[1]])
            })
            .collect::<Result<_>>()?;
        let share = |of: &dyn Fn(&[bool; 3]) -> bool| {
            Tally::share(alarms.iter().filter(|alarm| of(alarm)).count(), alarms.len())
        };
        writeln!(
            out,
            "| {preset} | {} | {} | {} | {} |",
            share(&|alarm| alarm.contains(&true)),
            share(&|alarm| alarm[0]),
            share(&|alarm| alarm[1]),
            share(&|alarm| alarm[2])
        )?;
        out.flush()?;
    }
    Ok(())
}

/// The risk and the error rate of a population, from a million rows.
fn truth(population: &Population, seed: u64) -> (f64, f64) {
    const PARTS: u64 = 10;
    let parts: Vec<(f64, f64)> = (0..PARTS)
        .into_par_iter()
        .map(|part| {
            let mut rng = Pcg64::seed_from_u64(seed.wrapping_mul(1_000_003).wrapping_add(part));
            let (scores, labels) = population.rows(100_000, &mut rng);
            (log_loss(&scores, &labels).value, error_rate(&scores, &labels).value)
        })
        .collect();
    let mean = |of: fn(&(f64, f64)) -> f64| parts.iter().map(of).sum::<f64>() / PARTS as f64;
    (mean(|part| part.0), mean(|part| part.1))
}

pub(crate) fn model(mnist: &Mnist) -> Result<LogisticModel> {
    let rows = Composites::draw(&mnist.train, &Recipe::new(10_000), 61_000)?;
    Ok(LogisticParams::default().seed(61).check()?.train(rows.batch(), rows.classes()))
}

/// The same on composite MNIST; the population's risk is that of 200,000 other composites of the same images.
pub(crate) fn coverage_mnist(out: &mut impl Write) -> Result<()> {
    const DRAWS: u64 = 40;
    let mnist = Mnist::read()?;
    let model = model(&mnist)?;
    writeln!(out, "\n### Composite MNIST: {DRAWS} draws of 10000 rows\n")?;
    writeln!(out, "| a | {TALLY} |\n|---|---|---|---|---|---|---|")?;
    for a in [0.0, 2.5, 5.0, 7.5, 10.0] {
        let mut population = 0.0;
        for part in 0..10 {
            let rows = Composites::draw(&mnist.test, &Recipe::new(20_000).distortion(a), 62_000 + part)?;
            population += log_loss(&model.scores(rows.batch())?, rows.labels()).value / 10.0;
        }
        let mut tally = Tally::default();
        for draw in 0..DRAWS {
            let rows = Composites::draw(&mnist.test, &Recipe::new(10_000).distortion(a), 63_000 + draw)?;
            let scores = model.scores(rows.batch())?;
            let labelled = log_loss(&scores, rows.labels());
            tally.add(&estimate(&mnist.schema, scores)?, population, labelled.standard_error);
        }
        writeln!(out, "| {a} | {} |", tally.cells())?;
        out.flush()?;
    }
    Ok(())
}

/// What dependence does, and whether it is seen: a share of the rows has its first two views from the same image.
pub(crate) fn dependence(out: &mut impl Write) -> Result<()> {
    let mnist = Mnist::read()?;
    let model = model(&mnist)?;
    writeln!(
        out,
        "\n### Composite MNIST, a = 2.5, the first two views of a share of the rows from the same image\n"
    )?;
    writeln!(
        out,
        "| rows | share | draws | true risk | mean estimate | rejected | not trusted | the pair at fault named first |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|")?;
    for (rows, draws) in [(10_000, 50), (100_000, 20)] {
        for shared in [0.0, 0.05, 0.1, 0.2, 0.4] {
            let (mut tally, mut truth, mut risk, mut named) = (Tally::default(), 0.0, 0.0, 0);
            for draw in 0..draws {
                let recipe = Recipe::new(rows).distortion(2.5).shared(shared);
                let composites = Composites::draw(&mnist.test, &recipe, 64_000 + draw)?;
                let scores = model.scores(composites.batch())?;
                let labelled = log_loss(&scores, composites.labels());
                let estimate = estimate(&mnist.schema, scores)?;
                truth += labelled.value / draws as f64;
                risk += estimate.risk / draws as f64;
                let pairs = estimate.independence.dependences.iter().filter(|line| line.class.is_none());
                let worst = pairs.max_by(|a, b| a.correlation.total_cmp(&b.correlation));
                named += usize::from(worst.is_some_and(|worst| worst.views == [0, 1]));
                tally.add(&estimate, labelled.value, labelled.standard_error);
            }
            let draws = draws as usize;
            writeln!(
                out,
                "| {rows} | {shared} | {draws} | {truth:.3} | {risk:.3} | {} | {} | {} |",
                Tally::share(tally.rejected, draws),
                Tally::share(draws - tally.trusted, draws),
                Tally::share(named, draws)
            )?;
            out.flush()?;
        }
    }
    Ok(())
}

/// Three binary classifiers whose errors correlate given the class: each sees the class through its own noise and
/// through noise that all have in common.
pub(crate) fn classifiers(out: &mut impl Write) -> Result<()> {
    const ROWS: usize = 50_000;
    const DRAWS: u64 = 50;
    writeln!(out, "\n### Three binary classifiers: {DRAWS} draws of {ROWS} rows\n")?;
    writeln!(
        out,
        "| common share of the noise's variance | correlation of errors | true risk | mean estimate | rejected |"
    )?;
    writeln!(out, "|---|---|---|---|---|")?;
    let schema = binary_schema()?;
    for common in [0.0, 0.1, 0.25, 0.53] {
        let (mut tally, mut truth, mut risk, mut correlation) = (Tally::default(), 0.0, 0.0, 0.0);
        for draw in 0..DRAWS {
            let (scores, labels) = correlated(ROWS, common, &mut Pcg64::seed_from_u64(65_000 + draw));
            correlation += error_correlation(&scores, &labels) / DRAWS as f64;
            let labelled = log_loss(&scores, &labels);
            let estimate = estimate(&schema, scores)?;
            truth += labelled.value / DRAWS as f64;
            risk += estimate.risk / DRAWS as f64;
            tally.add(&estimate, labelled.value, labelled.standard_error);
        }
        writeln!(
            out,
            "| {common} | {correlation:.2} | {truth:.3} | {risk:.3} | {} |",
            Tally::share(tally.rejected, tally.draws)
        )?;
        out.flush()?;
    }
    Ok(())
}

/// The names of three views and two classes.
pub(crate) fn binary_schema() -> Result<Schema> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Ok(Schema::new(names(&["a", "b", "c"]), names(&["no", "yes"]))?)
}

/// Scores `-z, z` with `z = +-1 + noise`, a share of whose variance is common to the three.
pub(crate) fn correlated(rows: usize, common: f64, rng: &mut Pcg64) -> (Batch, Vec<usize>) {
    let mut scores = [(); 3].map(|()| vec![0.0; 2 * rows]);
    let mut labels = Vec::with_capacity(rows);
    for row in 0..rows {
        let label = usize::from(rng.random::<bool>());
        labels.push(label);
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        let shared = normal();
        for view in &mut scores {
            let z = 2.0 * label as f64 - 1.0 + common.sqrt() * shared + (1.0 - common).sqrt() * normal();
            view[row] = -z;
            view[rows + row] = z;
        }
    }
    (Batch::new(rows, scores).unwrap_or_else(|_| unreachable!("normal numbers are finite")), labels)
}

/// The correlation of the first two classifiers' errors given the class, mean over the classes.
fn error_correlation(scores: &Batch, labels: &[usize]) -> f64 {
    let wrong = |view: usize, row: usize| {
        let predicted = usize::from(scores.column(view, 1)[row] > scores.column(view, 0)[row]);
        f64::from(u8::from(predicted != labels[row]))
    };
    let of_class = |class: usize| {
        let rows: Vec<usize> = (0..labels.len()).filter(|&row| labels[row] == class).collect();
        let mean =
            |of: &dyn Fn(usize) -> f64| rows.iter().map(|&row| of(row)).sum::<f64>() / rows.len() as f64;
        let (a, b) = (mean(&|row| wrong(0, row)), mean(&|row| wrong(1, row)));
        let both = mean(&|row| wrong(0, row) * wrong(1, row));
        (both - a * b) / (a * (1.0 - a) * b * (1.0 - b)).sqrt()
    };
    0.5 * (of_class(0) + of_class(1))
}
