//! A few labels beside many rows without: whether intervals hold, and how wide they are beside those of the labels alone.

use crate::trust::{binary_schema, correlated, model};
use crate::{Mnist, SEED};
use anyhow::Result;
use rand::SeedableRng;
use rand::seq::index;
use rand_pcg::Pcg64;
use rayon::prelude::*;
use std::io::Write;
use triview::answer::Interval;
use triview::data::{Batch, InMemory, Sample, Schema};
use triview::estimator::few_labels::{ByLabels, Labelled, Powered};
use triview::estimator::{Estimate, Params};
use triview::lab::{self, Composites, Population, Preset, Recipe};
use triview::learning::{error_rate, log_loss};

const DRAWS: u64 = 200;
const LABELS: usize = 100;

/// Where rows come from: so many with their classes, drawn with a seed.
type Draw<'a> = Box<dyn Fn(usize, u64) -> Result<(Batch, Vec<usize>)> + Sync + 'a>;

/// What is drawn, and its names.
struct Setting<'a> {
    name: String,
    schema: Schema,
    rows: usize,
    draw: Draw<'a>,
}

/// Simulated views, dependent and not.
pub(crate) fn few_labels(out: &mut impl Write) -> Result<()> {
    let mut settings = Vec::new();
    for common in [0.53, 0.0] {
        let name = format!("three binary classifiers, common share of the noise {common}");
        let draw: Draw<'_> =
            Box::new(move |rows, seed| Ok(correlated(rows, common, &mut Pcg64::seed_from_u64(seed))));
        settings.push(Setting { name, schema: binary_schema()?, rows: 5_000, draw });
    }
    // Views that know the class well, and a model that does not: what a shift leaves behind.
    let shifted = lab::Setting { separation: 3.0, model_noise: 1.0, ..Preset::Three.setting() };
    let simulated = [
        ("three classes well apart, the model far off", shifted),
        ("preset three", Preset::Three.setting()),
        ("preset six", Preset::Six.setting()),
    ];
    for (name, setting) in simulated {
        let population = Population::draw(&setting, 71_000)?;
        let (name, schema) = (format!("simulated, {name}"), population.schema().clone());
        let draw: Draw<'_> =
            Box::new(move |rows, seed| Ok(population.rows(rows, &mut Pcg64::seed_from_u64(seed))));
        settings.push(Setting { name, schema, rows: 5_000, draw });
    }
    table(out, &settings)
}

/// Composite MNIST, the first two views from one image in all rows, and in none.
pub(crate) fn few_labels_mnist(out: &mut impl Write) -> Result<()> {
    let mnist = Mnist::read()?;
    let model = model(&mnist)?;
    let mut settings = Vec::new();
    for (a, shared) in [(5.0, 1.0), (5.0, 0.0), (10.0, 0.0)] {
        let (model, test) = (&model, &mnist.test);
        let draw: Draw<'_> = Box::new(move |rows, seed| {
            let recipe = Recipe::new(rows).distortion(a).shared(shared);
            let composites = Composites::draw(test, &recipe, seed)?;
            let labels = composites.labels().iter().map(|label| usize::from(*label)).collect();
            Ok((model.scores(composites.batch())?, labels))
        });
        let name = format!("composite MNIST, a = {a}, two views of one image in {shared} of the rows");
        settings.push(Setting { name, schema: mnist.schema.clone(), rows: 3_000, draw });
    }
    table(out, &settings)
}

fn table(out: &mut impl Write, settings: &[Setting<'_>]) -> Result<()> {
    writeln!(
        out,
        "\n### A few labels: {DRAWS} draws with {LABELS} labels, 95% intervals; widths are means over that of the labels alone\n"
    )?;
    writeln!(
        out,
        "| setting | rows | true risk | covered | labels alone | without labels | width | \
         true error rate | covered | labels alone | width |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|---|")?;
    for setting in settings {
        writeln!(out, "{}", line(setting)?)?;
        out.flush()?;
    }
    Ok(())
}

/// The line of a setting.
fn line(setting: &Setting<'_>) -> Result<String> {
    let truth = truth(setting)?;
    let answers: Vec<(Estimate, Labelled)> =
        (0..DRAWS).into_par_iter().map(|draw| answer(setting, draw)).collect::<Result<_>>()?;
    let share = |of: &dyn Fn(&(Estimate, Labelled)) -> bool| {
        format!("{:.1}%", 100.0 * answers.iter().filter(|answer| of(answer)).count() as f64 / DRAWS as f64)
    };
    let within = |interval: Interval, truth: f64| (interval.low..=interval.high).contains(&truth);
    let width = |of: &dyn Fn(&Labelled) -> Interval| {
        answers.iter().map(|(_, labelled)| of(labelled).high - of(labelled).low).sum::<f64>()
    };
    let columns = |of: &dyn Fn(&Labelled) -> Powered, truth: f64| {
        [
            share(&|(_, labelled)| within(of(labelled).estimate.interval, truth)),
            share(&|(_, labelled)| within(of(labelled).alone.interval, truth)),
            format!(
                "{:.2}",
                width(&|labelled| of(labelled).estimate.interval)
                    / width(&|labelled| of(labelled).alone.interval)
            ),
        ]
    };
    let [covered, alone, ratio] = columns(&|labelled| valid(&labelled.risk), truth[0]);
    let without = share(&|(estimate, _)| within(estimate.interval, truth[0]));
    let [error_covered, error_alone, error_ratio] =
        columns(&|labelled| valid(&labelled.error_rate), truth[1]);
    Ok(format!(
        "| {} | {} | {:.3} | {covered} | {alone} | {without} | {ratio} | {:.3} | {error_covered} | {error_alone} | {error_ratio} |",
        setting.name, setting.rows, truth[0], truth[1]
    ))
}

/// What holds whatever the views do: there are labels enough for it.
fn valid(of: &ByLabels) -> Powered {
    of.valid.clone().expect("a hundred labels")
}

/// Risk and error rate of the population, from 200,000 rows.
fn truth(setting: &Setting<'_>) -> Result<[f64; 2]> {
    const PARTS: u64 = 10;
    let mut sums = [0.0; 2];
    for part in 0..PARTS {
        let (rows, labels) = (setting.draw)(20_000, 72_000 + part)?;
        sums[0] += log_loss(&rows, &labels).value / PARTS as f64;
        sums[1] += error_rate(&rows, &labels).value / PARTS as f64;
    }
    Ok(sums)
}

/// One draw of rows, with labels of a hundred that are drawn at random.
fn answer(setting: &Setting<'_>, draw: u64) -> Result<(Estimate, Labelled)> {
    let (rows, classes) = (setting.draw)(setting.rows, 73_000 + draw)?;
    let chosen = index::sample(&mut Pcg64::seed_from_u64(74_000 + draw), rows.rows(), LABELS);
    let mut labels = vec![None; rows.rows()];
    chosen.into_iter().for_each(|row| labels[row] = Some(classes[row]));
    let source = InMemory::new(setting.schema.clone(), [rows.with_labels(labels)?]);
    let estimator = Params::new().seed(SEED).check()?;
    let sample = Sample::of(&source)?;
    let moments = estimator.moments(&source, &estimator.plan(&sample)?)?;
    Ok(estimator.solve_labelled(&source, &moments, &sample)?)
}
