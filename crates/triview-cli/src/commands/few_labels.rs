//! `triview estimate --label` and `--label-budget`: a few labels beside many rows without.

use super::estimate::by_segment;
use super::label::kept_values;
use crate::answer::{Answer, made};
use crate::args::{By, EstimateArgs, Global};
use crate::inputs::{in_file, note_changes, refuse_moments};
use crate::output;
use crate::progress::Progress;
use anyhow::{Context, Result, bail};
use indicatif::HumanCount;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::path::Path;
use triview::Moments;
use triview::data::{Batch, Sample, Source};
use triview::estimator::few_labels::{Labelled, Worth};
use triview::estimator::{Estimate, Estimator, Labeller};
use triview_report::html::{self, Beside, Page};
use triview_report::json::{self, EstimateObject};
use triview_report::segments::Segmented;
use triview_report::text::{self, Budget};
use triview_table::{Error, Keep, Table, Values, in_time, write_columns};

/// Where strata end, as shares of the rows by how unsure the posterior is of them.
const STRATA: [f64; 3] = [0.5, 0.8, 0.95];
/// No row is surer than this: the posterior was never checked there.
const LEAST_DOUBT: f64 = 1e-3;

/// Estimates from tables with and without the labels, and says how many more would do.
pub(crate) fn run(args: &EstimateArgs, estimator: &Estimator, global: &Global) -> Result<Answer> {
    let asked = &args.labels;
    refuse_moments(&args.input.inputs, if asked.label.is_some() { "--label" } else { "--label-budget" })?;
    asked.check()?;
    let by = args.by.as_deref().map(|column| By { column, period: args.period });
    let mut options = args.input.table.read_options(by);
    options.label.clone_from(&asked.label);
    options.label_chance.clone_from(&asked.label_weight);
    options.prediction.clone_from(&args.prediction);
    let mut taken = output::files(&args.input.inputs);
    if let Some(path) = &asked.label_rows {
        output::check(path, taken.iter().copied())?;
        taken.push(path);
        options.keep = asked.keep.clone().map_or(Keep::All, Keep::Named);
    }
    args.pictures.check(taken)?;
    let table = Table::of(&args.input.inputs, &options)?;
    let progress = Progress::new(global);
    let source = progress.watch(&table, table.rows());
    let (moments, sample, mut segments) = summed(args, estimator, &table, &progress)?;
    let (mut estimate, labelled) = match asked.label {
        Some(_) => {
            let (estimate, labelled) = estimator.solve_labelled(&source, &moments, &sample)?;
            (estimate, Some(labelled))
        }
        None => (estimator.answer(&moments, Some(&sample))?, None),
    };
    note_changes(&table, &progress);
    if let Some(segments) = &mut segments {
        estimate = segments.judge(estimate);
        for of_segment in labelled.iter().flat_map(|labelled| &labelled.segments) {
            let name = table.segment_name(of_segment.key).unwrap_or_default();
            let segment = segments.segments.iter_mut().find(|segment| segment.name == name);
            segment.into_iter().for_each(|segment| segment.by_labels = Some(of_segment.clone()));
        }
    }
    let budget = match (asked.label_budget, &labelled) {
        (None, _) => None,
        (Some(width), Some(labelled)) => {
            Some(count(width, labelled.labels as u64, worth(labelled)?, &estimate))
        }
        (Some(width), None) => {
            Some(count(width, 0, &estimator.worth_of_labels(&source, &moments)?, &estimate))
        }
    };
    match (&asked.label_rows, budget.as_ref().and_then(Budget::more)) {
        (Some(path), Some(more)) => {
            let chosen = match asked.stratify {
                true => {
                    stratified(&table, more, (&estimator.solve(&moments)?.labeller()?, &sample), global.seed)?
                }
                false => choose(&table, more, global.seed)?,
            };
            write(path, &table, chosen, asked.stratify)?;
            progress.note(&format!("{} rows to label in `{}`", HumanCount(more), path.display()));
        }
        (Some(path), None) => {
            bail!(
                "no number of labels of these rows brings the interval to that width, so there are no rows to write to `{}`: give a larger --label-budget",
                path.display()
            )
        }
        (None, _) => {}
    }
    let beside = Beside {
        labelled: labelled.as_ref(),
        budget: budget.as_ref(),
        segments: segments.as_ref(),
        ..Beside::default()
    };
    let page = html::estimate(&estimate, beside, global.front);
    args.pictures.draw(&page, &progress)?;
    drop(progress);
    answer(args, global, &estimate, beside, &page)
}

/// The moments of all rows, a sample of them, and what each segment's rows say where that is asked.
fn summed(
    args: &EstimateArgs,
    estimator: &Estimator,
    table: &Table,
    progress: &Progress,
) -> Result<(Moments, Sample, Option<Segmented>)> {
    let Some(column) = &args.by else {
        let source = progress.watch(table, table.rows());
        let sample = Sample::of(&source)?;
        let plan = in_file(table, estimator.plan(&sample))?;
        return Ok((in_file(table, estimator.moments(&source, &plan))?, sample, None));
    };
    let (whole, sample, mut segments) = by_segment(estimator, table, progress)?;
    if args.period.is_some() {
        segments.sort_by(|a, b| in_time(&a.name, &b.name));
    }
    let in_time = args.period.is_some();
    Ok((whole, sample, Some(Segmented { column: column.clone(), segments, in_time, drift: None })))
}

fn answer(
    args: &EstimateArgs,
    global: &Global,
    estimate: &Estimate,
    beside: Beside<'_>,
    page: &Page,
) -> Result<Answer> {
    let Beside { labelled, budget, segments, .. } = beside;
    let trusted = labelled.map_or(estimate.trusted(), Labelled::trusted);
    let made = made(global.seed, &args.input.inputs);
    let object = EstimateObject::new(estimate, global.front, Some(&made)).metrics(args.metrics);
    let object = object.labelled(labelled, estimate, global.front).budget(budget);
    let labels = labelled.map(|labelled| text::labelled(estimate, labelled, global.front));
    let mut shown = labels.unwrap_or_default() + &text::estimate(estimate, None, global.front, args.verbose);
    if let (true, Ok(metrics)) = (args.metrics, &estimate.metrics) {
        shown += &format!("\n{}", text::metrics(estimate, metrics));
    }
    if let Some(each) = &estimate.each {
        shown += &format!("\n{}", text::each(estimate, each));
    }
    if let Some(prediction) = &estimate.prediction {
        shown += &format!("\n{}", text::prediction(prediction));
    }
    if let Some(budget) = budget {
        shown += &format!("\n{}", text::budget(budget, estimate.trusted()));
    }
    let object = match segments {
        None => json::to_text(&object)?,
        Some(segments) => {
            shown += &format!("\n{}", segments.text());
            json::to_text(&segments.object(object, (global.front, Some(&made), args.metrics)))?
        }
    };
    let answer = Answer::new(shown).with_json(object, args.json).trusted(trusted);
    answer.with_page(page, &made, global, args.pictures.report.as_deref())
}

/// What one more label is worth, whatever the views do.
fn worth(labelled: &Labelled) -> Result<&Worth> {
    labelled.risk.valid.as_ref().map(|valid| &valid.worth).context("there are labels enough")
}

/// How many labels bring the interval to a width, where there are some already.
fn count(width: f64, present: u64, worth: &Worth, estimate: &Estimate) -> Budget {
    let (level, rows) = (estimate.level, estimate.rows);
    Budget {
        width,
        present,
        labels: worth.labels_for(width, level, rows),
        smallest: worth.width(rows, level),
    }
}

/// A row of the table that was chosen, by the lot that it drew.
struct Chosen {
    /// The row, counted from one.
    row: u64,
    /// The chance that it had.
    chance: f64,
    kept: Vec<Option<String>>,
}

/// The rows with the smallest of all lots.
#[derive(Default)]
struct Lots {
    most: u64,
    chosen: BTreeMap<u64, Chosen>,
}

impl Lots {
    fn of(most: u64) -> Self {
        Self { most, chosen: BTreeMap::new() }
    }

    fn draw(&mut self, lot: u64, row: u64, kept: impl FnOnce() -> Vec<Option<String>>) {
        let full = self.chosen.len() as u64 >= self.most;
        if full && self.chosen.last_key_value().is_none_or(|(largest, _)| *largest <= lot) {
            return;
        }
        if full {
            self.chosen.pop_last();
        }
        self.chosen.insert(lot, Chosen { row, chance: 1.0, kept: kept() });
    }
}

/// So many rows without a label, each with the same chance.
fn choose(table: &Table, count: u64, seed: u64) -> Result<Vec<Chosen>, Error> {
    // Every row without a label draws a number, and the smallest are taken.
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut lots = Lots::of(count);
    let mut row = 0;
    for read in table.keeping()? {
        let (batch, kept) = read?;
        for at in 0..batch.rows() {
            row += 1;
            if batch.label(at).is_none() {
                lots.draw(rng.next_u64(), row, || kept.iter().map(|column| column[at].clone()).collect());
            }
        }
    }
    Ok(lots.chosen.into_values().collect())
}

/// So many rows, more of those that the posterior is unsure of: rows of each stratum have the same chance, which goes with what the error of a
/// mean over them would be if the posterior were right.
fn stratified(
    table: &Table,
    count: u64,
    (labeller, sample): (&Labeller, &Sample),
    seed: u64,
) -> Result<Vec<Chosen>> {
    let mut doubts = doubts(labeller, sample.rows())?;
    doubts.sort_by(f64::total_cmp);
    let edges = STRATA.map(|share| doubts[((share * doubts.len() as f64) as usize).min(doubts.len() - 1)]);
    let stratum = |doubt: f64| edges.iter().filter(|edge| doubt > **edge).count();
    // How many rows each has, and how far these are from sure.
    let mut sizes = [[0.0_f64; 2]; STRATA.len() + 1];
    for batch in table.batches()? {
        for doubt in self::doubts(labeller, &*batch?)? {
            let size = &mut sizes[stratum(doubt)];
            size[0] += 1.0;
            size[1] += (doubt * (1.0 - doubt)).max(LEAST_DOUBT).sqrt();
        }
    }
    let rows: f64 = sizes.iter().map(|[rows, _]| rows).sum();
    let spread: f64 = sizes.iter().map(|[_, spread]| spread).sum();
    // No stratum is left out: what the posterior is sure of may be wrong.
    let share = |[own, apart]: [f64; 2]| 0.5 * own / rows + 0.5 * apart / spread;
    let mut lots = sizes.map(|size| {
        Lots::of(((share(size) * count as f64).round() as u64).clamp(2, size[0].max(2.0) as u64))
    });
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut row = 0;
    for read in table.keeping()? {
        let (batch, kept) = read?;
        for (at, doubt) in self::doubts(labeller, &batch)?.into_iter().enumerate() {
            row += 1;
            let own = || kept.iter().map(|column| column[at].clone()).collect();
            lots[stratum(doubt)].draw(rng.next_u64(), row, own);
        }
    }
    let with_chance = |(lots, [rows, _]): (Lots, [f64; 2])| {
        let chance = lots.chosen.len() as f64 / rows.max(1.0);
        lots.chosen.into_values().map(move |chosen| Chosen { chance, ..chosen })
    };
    Ok(lots.into_iter().zip(sizes).flat_map(with_chance).collect())
}

/// How likely each row's likeliest class is not its own, by the posterior.
fn doubts(labeller: &Labeller, batch: &Batch) -> Result<Vec<f64>> {
    let (rows, posterior) = (batch.rows(), labeller.posterior(batch)?);
    let largest = |row: usize| posterior.iter().skip(row).step_by(rows).copied().fold(0.0, f64::max);
    Ok((0..rows).map(|row| (1.0 - largest(row)).clamp(0.0, 1.0)).collect())
}

/// Writes the rows that were chosen, in their order, with their chances where these differ.
fn write(path: &Path, table: &Table, mut rows: Vec<Chosen>, chances: bool) -> Result<(), Error> {
    rows.sort_by_key(|chosen| chosen.row);
    let kept = table.kept_columns();
    // Rows are counted within their file, which is named where there are several.
    let places: Vec<(String, i64)> = rows
        .iter()
        .map(|chosen| table.file_of(chosen.row - 1))
        .map(|(file, row)| (file.display().to_string(), row as i64 + 1))
        .collect();
    let mut names = vec!["row".to_owned()];
    let mut values = vec![Values::Whole(places.iter().map(|(_, row)| *row).collect())];
    if table.files() > 1 {
        names.insert(0, "file".to_owned());
        values.insert(0, Values::Text(places.into_iter().map(|(file, _)| file).collect()));
    }
    if chances {
        names.push("inclusion".to_owned());
        values.push(Values::Number(rows.iter().map(|chosen| chosen.chance).collect()));
    }
    names.extend(kept.iter().map(|(name, _)| name.clone()));
    values.extend(kept.iter().enumerate().map(|(at, (_, whole))| {
        kept_values(rows.iter().map(|chosen| chosen.kept[at].clone()).collect(), *whole)
    }));
    write_columns::<Error>(path, &names, std::iter::once(Ok(values)))?;
    Ok(())
}
