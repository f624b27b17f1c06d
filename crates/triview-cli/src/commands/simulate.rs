//! `triview simulate`: scores whose true risk is known.

use crate::answer::Answer;
use crate::args::{Global, SimulateArgs};
use crate::output;
use crate::progress::Progress;
use crate::truth::Truth;
use anyhow::Result;
use indicatif::HumanCount;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use serde::Serialize;
use std::path::{Path, PathBuf};
use triview::data::Batch;
use triview::lab::{Population, Preset, Setting};
use triview::loss::{self, LogLoss, SharedLoss, Whole};
use triview_report::json::{self, ByName};
use triview_report::text::with_error;
use triview_table::write_scores;

/// How many scores are drawn at a time.
const CELLS: usize = 3 << 18;
/// What is drawn from when nothing is said.
const DEFAULT: Preset = Preset::Three;

/// Draws rows and writes them batch by batch, and after them what their labels say.
pub(crate) fn run(args: &SimulateArgs, global: &Global) -> Result<Answer> {
    if args.crowd {
        return super::simulate_crowd::run(args, global);
    }
    if args.hmm {
        return super::simulate_chains::run(args, global);
    }
    let preset = args.preset.unwrap_or(DEFAULT);
    let mut setting = preset.setting();
    setting.classes = args.classes.map_or(setting.classes, usize::from);
    setting.views = args.views.map_or(setting.views, usize::from);
    setting.shared = args.shared;
    setting.hard = args.hard;
    setting.missing = args.missing;
    setting.subclasses = args.subclasses.map_or(setting.subclasses, usize::from);
    let truth_path = args.truth.clone().unwrap_or_else(|| beside(&args.output));
    output::check(&args.output, [])?;
    output::check(&truth_path, [args.output.as_path()])?;

    let population = Population::draw(&setting, global.seed)?;
    let progress = Progress::new(global);
    progress.count("drawing", Some(args.rows));
    let whole = args.loss.as_deref().and_then(Whole::named);
    let loss = match &args.loss {
        Some(name) if whole.is_none() => loss::by_name(name)?,
        _ => SharedLoss::new(LogLoss),
    };
    let mut truth = Truth::new(setting.views, setting.classes);
    let batches = draw(&population, args.rows, global.seed).inspect(|(batch, labels)| {
        truth.update(&*loss, whole, batch, labels);
        progress.advance(batch.rows());
    });
    let known = |(batch, labels): (Batch, Vec<usize>)| Ok((batch, labels.into_iter().map(Some).collect()));
    write_scores(&args.output, population.schema(), batches.map(known))?;

    let name = whole.map_or(loss.name(), Whole::name);
    output::write_text(&truth_path, &truth_text(&truth, name, &population, preset, &setting, global.seed)?)?;
    progress.note(&format!(
        "{} rows in `{}`; their true risk, {}, is in `{}`",
        HumanCount(args.rows),
        args.output.display(),
        with_error(truth.risk(), truth.standard_error()),
        truth_path.display()
    ));
    Ok(Answer::new(String::new()).unprinted())
}

/// Where the truth of a table stands: `scores.truth.json` beside `scores.csv`, so that every table keeps its own.
pub(crate) fn beside(table: &Path) -> PathBuf {
    table.with_extension("truth.json")
}

/// All rows, some at a time.
fn draw(population: &Population, rows: u64, seed: u64) -> impl Iterator<Item = (Batch, Vec<usize>)> {
    let schema = population.schema();
    let most = (CELLS / (schema.views().len() * schema.k())).clamp(16, 16_384);
    // The population has drawn its means from the seed itself; its rows must not repeat those numbers.
    let mut rng = Pcg64::seed_from_u64(!seed);
    let mut left = rows;
    std::iter::from_fn(move || {
        let next = usize::try_from(left).unwrap_or(usize::MAX).min(most);
        left -= next as u64;
        (next > 0).then(|| population.rows(next, &mut rng))
    })
}

/// What is known of simulated rows. All but the setting is measured on the rows with their labels.
#[derive(Debug, Serialize)]
struct TruthObject<'a> {
    schema: u32,
    risk: f64,
    standard_error: f64,
    loss: &'a str,
    error_rate: f64,
    rows: u64,
    views: &'a [String],
    classes: &'a [String],
    class_prior: &'a [f64],
    conditional_risk: ByName<'a, Vec<Vec<f64>>>,
    setting: SettingObject<'a>,
}

/// What the rows were drawn from.
#[derive(Debug, Serialize)]
struct SettingObject<'a> {
    preset: &'static str,
    classes: usize,
    separation: f64,
    model_noise: f64,
    class_prior: &'a [f64],
    shared: f64,
    hard: f64,
    missing: f64,
    seed: u64,
}

fn truth_text(
    truth: &Truth,
    loss: &str,
    population: &Population,
    preset: Preset,
    setting: &Setting,
    seed: u64,
) -> serde_json::Result<String> {
    let schema = population.schema();
    json::to_text(&TruthObject {
        schema: json::SCHEMA,
        risk: truth.risk(),
        standard_error: truth.standard_error(),
        loss,
        error_rate: truth.error_rate(),
        rows: truth.rows(),
        views: schema.views(),
        classes: schema.classes(),
        class_prior: &truth.class_prior(),
        conditional_risk: ByName { names: schema.views(), values: truth.conditional_risk().into() },
        setting: SettingObject {
            preset: preset.name(),
            classes: setting.classes,
            separation: setting.separation,
            model_noise: setting.model_noise,
            class_prior: population.prior(),
            shared: setting.shared,
            hard: setting.hard,
            missing: setting.missing,
            seed,
        },
    })
}
