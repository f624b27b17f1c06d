//! `triview label`: surrogate labels and class posteriors of rows.

use crate::answer::{Answer, made};
use crate::args::Global;
use crate::inputs::{in_file, note_changes, refuse_moments};
use crate::label_args::LabelArgs;
use crate::output;
use crate::progress::Progress;
use anyhow::{Result, bail};
use indicatif::HumanCount;
use triview::data::{Batch, Sample, Schema, Source};
use triview::estimator::Labeller;
use triview_report::html::{self, Beside};
use triview_report::json::{self, EstimateObject};
use triview_report::text;
use triview_table::{Error, Format, Keep, Table, Values, write_array, write_beside, write_columns};

/// Fits to the rows, then reads them once more and writes their labels batch by batch.
pub(crate) fn run(args: &LabelArgs, global: &Global) -> Result<Answer> {
    if args.votes {
        return super::votes::label(args, global);
    }
    let estimator = args.method.estimator(global)?;
    output::check(&args.output, output::files(&args.inputs))?;
    let Some(format) = Format::of_ending(&args.output) else {
        return Err(Error::OutputFormat { path: args.output.clone() }.into());
    };
    refuse_moments(&args.inputs, "label")?;
    let mut options = args.table.read_options(None);
    options.keep = keep(args.keep.as_deref(), format)?;
    let table = Table::of(&args.inputs, &options)?;
    let progress = Progress::new(global);
    let source = progress.watch(&table, table.rows());
    let sample = Sample::of(&source)?;
    let plan = in_file(&table, estimator.plan(&sample))?;
    let moments = in_file(&table, estimator.moments(&source, &plan))?;
    let solved = estimator.solve(&moments)?;
    let (estimate, labeller) = (solved.estimate(), solved.labeller()?);
    note_changes(&table, &progress);
    progress.count("labelling", table.rows());
    let carried = if format == Format::Parquet { table.carried() } else { None };
    let rows = match carried {
        Some(carried) => {
            let names: Vec<String> = columns(labeller.schema()).collect();
            let made = table.batches()?.map(|batch| {
                let batch = batch?;
                progress.advance(batch.rows());
                Ok(labels(&labeller, &batch)?)
            });
            write_beside::<Error>(&args.output, &carried, &names, made)?
        }
        None => write(args, format, &table, &labeller, &progress)?,
    };
    progress.note(&format!("{} rows in `{}`", HumanCount(rows), args.output.display()));
    for alarm in &estimate.alarms {
        progress.note(&format!("not to be trusted: {alarm}; {}", global.front.remedy(alarm)));
    }
    let made = made(global.seed, &args.inputs);
    let object = json::to_text(&EstimateObject::new(&estimate, global.front, Some(&made)))?;
    let shown = text::estimate(&estimate, None, global.front, false);
    let answer = Answer::new(shown).with_json(object, false).unprinted().trusted(estimate.trusted());
    answer.with_page(&html::estimate(&estimate, Beside::default(), global.front), &made, global, None)
}

/// Reads the rows once more with what goes with them, and writes both.
fn write(
    args: &LabelArgs,
    format: Format,
    table: &Table,
    labeller: &Labeller,
    progress: &Progress,
) -> Result<u64> {
    let labelled = table.keeping()?.map(|read| {
        let (batch, kept) = read?;
        progress.advance(batch.rows());
        Ok((labels(labeller, &batch)?, kept, batch.rows()))
    });
    Ok(match format {
        Format::Npy => {
            let shape = [labeller.schema().views().len() + 1, labeller.schema().k()];
            write_array::<Error>(
                &args.output,
                shape,
                labelled.map(|read| read.map(|(all, _, n)| by_row(&all, n))),
            )?
        }
        _ => {
            let kept = table.kept_columns();
            let names = kept.iter().map(|(name, _)| name.clone()).chain(columns(labeller.schema()));
            let parts = labelled.map(|read| {
                read.map(|(all, texts, _)| {
                    let kept = kept.iter().zip(texts).map(|((_, whole), texts)| kept_values(texts, *whole));
                    kept.chain(all.into_iter().map(Values::Number)).collect()
                })
            });
            write_columns::<Error>(&args.output, &names.collect::<Vec<_>>(), parts)?
        }
    })
}

/// The columns that are carried along: those named, or all; an array has none.
pub(crate) fn keep(named: Option<&[String]>, format: Format) -> Result<Keep> {
    Ok(match (named, format) {
        (Some(_), Format::Npy) => {
            bail!("--keep is for columns, and an array has none: write .csv, .parquet or .arrow")
        }
        (None, Format::Npy) => Keep::Nothing,
        (Some(names), _) => Keep::Named(names.to_vec()),
        (None, _) => Keep::All,
    })
}

/// The names of the columns that are made.
pub(crate) fn columns(schema: &Schema) -> impl Iterator<Item = String> {
    let of = |what: String| schema.classes().iter().map(move |class| format!("{what}:{class}"));
    let surrogates = schema.views().iter().map(|view| format!("surrogate.{view}"));
    surrogates.chain(["posterior".to_owned()]).flat_map(of)
}

/// Their values: for each view the surrogate labels that the others give, then the posterior.
pub(crate) fn labels(labeller: &Labeller, batch: &Batch) -> triview::Result<Vec<Vec<f64>>> {
    let surrogates = labeller.label(batch)?;
    let classes = 0..labeller.schema().k();
    let views = 0..labeller.schema().views().len();
    let of_view = |view: usize| {
        let group = labeller.group_of(view);
        classes.clone().map(move |class| (group, class))
    };
    let surrogate = |(group, class)| surrogates.column(group, class).to_vec();
    let posterior = labeller.posterior(batch)?;
    let posterior = posterior.chunks_exact(batch.rows().max(1)).map(<[f64]>::to_vec);
    Ok(views.flat_map(of_view).map(surrogate).chain(posterior).collect())
}

/// Columns of `n` numbers, row by row.
fn by_row(columns: &[Vec<f64>], n: usize) -> Vec<f64> {
    (0..n).flat_map(|row| columns.iter().map(move |column| column[row])).collect()
}

/// A column that goes with its rows. Texts of whole numbers are these again.
pub(crate) fn kept_values(texts: Vec<Option<String>>, whole: bool) -> Values {
    match whole {
        true => Values::SomeWhole(texts.iter().map(|text| text.as_ref()?.parse().ok()).collect()),
        false => Values::SomeText(texts),
    }
}
