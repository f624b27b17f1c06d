//! `triview estimate --label` and `--label-budget`: a few labels beside many rows without.

use super::label::kept_values;
use crate::answer::{Answer, made};
use crate::args::{EstimateArgs, Global};
use crate::inputs::{note_changes, refuse_moments};
use crate::output;
use crate::progress::Progress;
use anyhow::Result;
use indicatif::HumanCount;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::path::Path;
use triview::data::Sample;
use triview::estimator::few_labels::{Labelled, Worth};
use triview::estimator::{Estimate, Estimator};
use triview_report::html::{self, Beside, Page};
use triview_report::json::{self, EstimateObject};
use triview_report::text::{self, Budget};
use triview_table::{Error, Keep, Table, Values, write_columns};

/// Estimates from tables with and without the labels, and says how many more would do.
pub(crate) fn run(args: &EstimateArgs, estimator: &Estimator, global: &Global) -> Result<Answer> {
    let asked = &args.labels;
    refuse_moments(&args.input.inputs, if asked.label.is_some() { "--label" } else { "--label-budget" })?;
    asked.check()?;
    let mut options = args.input.table.read_options(None);
    options.label.clone_from(&asked.label);
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
    let sample = Sample::of(&source)?;
    let moments = estimator.moments(&source, &estimator.plan(&sample)?)?;
    let (estimate, labelled) = match asked.label {
        Some(_) => {
            let (estimate, labelled) = estimator.solve_labelled(&source, &moments, &sample)?;
            (estimate, Some(labelled))
        }
        None => (estimator.answer(&moments, Some(&sample))?, None),
    };
    note_changes(&table, &progress);
    let budget = match (asked.label_budget, &labelled) {
        (None, _) => None,
        (Some(width), Some(labelled)) => {
            Some(count(width, labelled.labels as u64, &labelled.risk.worth, &estimate))
        }
        (Some(width), None) => {
            Some(count(width, 0, &estimator.worth_of_labels(&source, &moments)?, &estimate))
        }
    };
    match (&asked.label_rows, budget.as_ref().and_then(Budget::more)) {
        (Some(path), Some(more)) => {
            write(path, &table, choose(&table, more, global.seed)?)?;
            progress.note(&format!("{} rows to label in `{}`", HumanCount(more), path.display()));
        }
        (Some(path), None) => progress.note(&format!("no rows to label, so no `{}`", path.display())),
        (None, _) => {}
    }
    let beside = Beside { labelled: labelled.as_ref(), budget: budget.as_ref(), ..Beside::default() };
    let page = html::estimate(&estimate, beside, global.front);
    args.pictures.draw(&page, &progress)?;
    drop(progress);
    answer(args, global, &estimate, beside, &page)
}

fn answer(
    args: &EstimateArgs,
    global: &Global,
    estimate: &Estimate,
    beside: Beside<'_>,
    page: &Page,
) -> Result<Answer> {
    let Beside { labelled, budget, .. } = beside;
    let trusted = labelled.map_or(estimate.trusted(), Labelled::trusted);
    let made = made(global.seed, &args.input.inputs);
    let object = EstimateObject::new(estimate, global.front, Some(&made)).metrics(args.metrics);
    let object = json::to_text(&object.labelled(labelled, &estimate.classes, global.front).budget(budget))?;
    let labels = labelled.map(|labelled| text::labelled(estimate, labelled, global.front));
    let mut shown = labels.unwrap_or_default() + &text::estimate(estimate, None, global.front, args.verbose);
    if let (true, Ok(metrics)) = (args.metrics, &estimate.metrics) {
        shown += &format!("\n{}", text::metrics(estimate, metrics));
    }
    if let Some(budget) = budget {
        shown += &format!("\n{}", text::budget(budget, estimate.trusted()));
    }
    let answer = Answer::new(shown).with_json(object, args.json).trusted(trusted);
    answer.with_page(page, &made, global, args.pictures.report.as_deref())
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

/// A row of the table, counted from one, and what goes with it.
type Chosen = BTreeMap<u64, (u64, Vec<Option<String>>)>;

/// So many rows without a label, each with the same chance.
fn choose(table: &Table, count: u64, seed: u64) -> Result<Chosen, Error> {
    // Every row without a label draws a number, and the smallest are taken.
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut chosen = Chosen::new();
    let mut row = 0;
    for read in table.keeping()? {
        let (batch, kept) = read?;
        for at in 0..batch.rows() {
            row += 1;
            if batch.label(at).is_some() {
                continue;
            }
            let lot = rng.next_u64();
            let full = chosen.len() as u64 >= count;
            if full && chosen.last_key_value().is_none_or(|(largest, _)| *largest <= lot) {
                continue;
            }
            if full {
                chosen.pop_last();
            }
            chosen.insert(lot, (row, kept.iter().map(|column| column[at].clone()).collect()));
        }
    }
    Ok(chosen)
}

/// Writes the rows that were chosen, in their order.
fn write(path: &Path, table: &Table, chosen: Chosen) -> Result<(), Error> {
    let mut rows: Vec<(u64, Vec<Option<String>>)> = chosen.into_values().collect();
    rows.sort_by_key(|(row, _)| *row);
    let kept = table.kept_columns();
    // Rows are counted within their file, which is named where there are several.
    let places: Vec<(String, i64)> = rows
        .iter()
        .map(|(row, _)| table.file_of(row - 1))
        .map(|(file, row)| (file.display().to_string(), row as i64 + 1))
        .collect();
    let mut names = vec!["row".to_owned()];
    let mut values = vec![Values::Whole(places.iter().map(|(_, row)| *row).collect())];
    if table.files() > 1 {
        names.insert(0, "file".to_owned());
        values.insert(0, Values::Text(places.into_iter().map(|(file, _)| file).collect()));
    }
    names.extend(kept.iter().map(|(name, _)| name.clone()));
    values.extend(kept.iter().enumerate().map(|(at, (_, whole))| {
        kept_values(rows.iter().map(|(_, texts)| texts[at].clone()).collect(), *whole)
    }));
    write_columns::<Error>(path, &names, std::iter::once(Ok(values)))?;
    Ok(())
}
