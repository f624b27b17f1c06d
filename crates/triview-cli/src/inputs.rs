//! What `estimate` is given: tables or moments, never both.

use crate::args::{By, InputArgs, MethodArgs, TableArgs};
use crate::output::files;
use crate::progress::Progress;
use anyhow::{Context, Result, bail};
use indicatif::HumanCount;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use triview::Moments;
use triview::data::{Sample, Schema, Source};
use triview::estimator::{Estimate, Estimator};
use triview::loss::Whole;
use triview_report::text::{WIDTH, names};
use triview_table::{ClassPattern, Error, Origin, ReadOptions, Table, moments};

/// The name of standard input.
const STDIN: &str = "-";

/// Either kind of input, opened.
pub(crate) enum Inputs {
    /// Score tables that make one data set.
    Tables(Table),
    /// Moments, merged.
    Moments(Box<Moments>),
}

impl Inputs {
    /// Opens what the paths name.
    ///
    /// # Errors
    /// For tables among moments, options that moments have settled already, and whatever cannot be read.
    pub(crate) fn open(
        args: &InputArgs,
        by: Option<By<'_>>,
        prediction: Option<&ClassPattern>,
    ) -> Result<Self> {
        let InputArgs { inputs: origins, table, method } = args;
        let (summed, tables): (Vec<&Origin>, Vec<&Origin>) =
            origins.iter().partition(|origin| holds_moments(origin));
        match (summed.first(), tables.first()) {
            (Some(summed), Some(table)) => bail!(
                "`{summed}` holds moments and `{table}` does not: estimate from tables or from moments, or turn the tables \
                 into moments with `moments --like {summed}`"
            ),
            (Some(_), None) => {
                refuse_options(table, method, by)?;
                Ok(Self::Moments(Box::new(merge(&files(summed))?)))
            }
            _ => {
                let options = ReadOptions { prediction: prediction.cloned(), ..table.read_options(by) };
                Ok(Self::Tables(Table::of(origins, &options)?))
            }
        }
    }

    /// The risk of all rows; of a table with many classes from the rows themselves.
    pub(crate) fn estimate(self, estimator: &Estimator, progress: &Progress) -> Result<Estimate> {
        match self {
            Inputs::Moments(moments) => {
                progress.spin("fitting");
                Ok(estimator.answer(&moments, None)?)
            }
            Inputs::Tables(table) => {
                let estimate = in_file(&table, estimator.estimate(&progress.watch(&table, table.rows())))?;
                note_changes(&table, progress);
                Ok(estimate)
            }
        }
    }

    /// The moments of all rows and, of tables, a sample of the rows.
    pub(crate) fn moments(
        self,
        estimator: &Estimator,
        progress: &Progress,
    ) -> Result<(Moments, Option<Sample>)> {
        match self {
            Inputs::Moments(moments) => Ok((*moments, None)),
            Inputs::Tables(table) => {
                let source = progress.watch(&table, table.rows());
                let sample = Sample::of(&source)?;
                let plan = in_file(&table, estimator.plan(&sample))?;
                let moments = in_file(&table, estimator.moments(&source, &plan))?;
                note_changes(&table, progress);
                Ok((moments, Some(sample)))
            }
        }
    }
}

/// Refuses moments where rows are needed.
pub(crate) fn refuse_moments(origins: &[Origin], what: &str) -> Result<()> {
    match origins.iter().find(|origin| holds_moments(origin)) {
        Some(origin) => {
            bail!("`{origin}` holds moments, which have no rows, and {what} needs them: give the tables")
        }
        None => Ok(()),
    }
}

/// Whether it is a file of moments.
fn holds_moments(origin: &Origin) -> bool {
    origin.path().is_some_and(|path| path != Path::new(STDIN) && moments::is_moments(path))
}

/// Opens tables; `-` is standard input. With the schema of a plan, its views and classes are looked for, whatever
/// the order of the columns.
pub(crate) fn open_tables(
    origins: &[Origin],
    table: &TableArgs,
    like: Option<&Schema>,
    by: Option<By<'_>>,
) -> Result<Table> {
    let mut options = table.read_options(by);
    if let Some(schema) = like {
        read_like(&mut options, schema);
    }
    Ok(Table::of(origins, &options)?)
}

/// The views, classes, features and witnesses of a schema, where others are not asked for.
pub(crate) fn read_like(options: &mut ReadOptions, schema: &Schema) {
    options.views.get_or_insert_with(|| schema.scored().to_vec());
    options.classes.get_or_insert_with(|| schema.classes().to_vec());
    if options.features.is_empty() {
        options.features = schema.all_covariates();
    }
    if options.witnesses.is_empty() {
        options.witnesses = schema.witnesses().iter().map(|witness| witness.name().to_owned()).collect();
    }
    options.witnessed = schema.witnesses().to_vec();
}

/// What was made of a table's rows: where one is at fault, with its file and its row there instead of its row among all.
pub(crate) fn in_file<T, E: Into<Error>>(table: &Table, made: Result<T, E>) -> Result<T, Error> {
    made.map_err(|error| table.in_file(error.into()))
}

/// Says what of a table that has been read was left out or changed.
pub(crate) fn note_changes(table: &Table, progress: &Progress) {
    let ignored = table.ignored_columns();
    if !ignored.is_empty() {
        progress.note(&format!("columns not used: {}", names(ignored, WIDTH - 24)));
    }
    for witness in table.schema().witnesses() {
        let (name, values) = (witness.name(), witness.values().len());
        if witness.pooled() > 0 {
            let rare = HumanCount(witness.pooled());
            progress.note(&format!(
                "witness `{name}`: {rare} rare values are taken as one; {values} are told apart"
            ));
        }
        if witness.is_binned() {
            progress.note(&format!("witness `{name}`: its numbers are cut into {values} bins"));
        }
    }
    for path in table.unended() {
        progress.note(&format!(
            "`{}` is an Arrow stream without an end marker: its writer may have been stopped, and rows be missing",
            path.display()
        ));
    }
    if table.clipped() > 0 {
        progress
            .note(&format!("probabilities below 1e-15, taken to be 1e-15: {}", HumanCount(table.clipped())));
    }
}

/// The moments of many files, in the order given.
fn merge(paths: &[&Path]) -> Result<Moments> {
    let mut merged: Option<Moments> = None;
    let mut known: HashMap<PathBuf, &Path> = HashMap::new();
    for path in paths {
        let next = moments::read(path)?;
        // Rows that are counted twice make an interval too narrow, and nothing shows it.
        if let Some(same) = known.insert(path.canonicalize().unwrap_or_else(|_| path.to_path_buf()), path) {
            bail!(
                "`{}` and `{}` are the same file: its rows would be counted twice; give each file once",
                same.display(),
                path.display()
            );
        }
        merged = Some(match merged {
            None => next,
            Some(sum) => sum.merge(&next).with_context(|| format!("`{}`", path.display()))?,
        });
    }
    merged.context("no moments are given")
}

/// Refuses what only a table can still be asked.
fn refuse_options(table: &TableArgs, method: &MethodArgs, by: Option<By<'_>>) -> Result<()> {
    if let Some(loss) = method.loss.as_deref().and_then(Whole::named) {
        bail!(
            "--loss {} is of the whole prediction and needs rows, and moments have none: estimate from the tables",
            loss.name()
        );
    }
    let given = [
        ("--columns", table.columns.is_some()),
        ("--views", table.views.is_some()),
        ("--classes", table.classes.is_some()),
        ("--input", table.input.is_some()),
        ("--features", table.features.is_some()),
        ("--witness", table.witness.is_some()),
        ("--cluster", table.cluster.is_some()),
        ("--model", method.model.is_some()),
        ("--group", method.group.is_some()),
        ("--loss", method.loss.is_some()),
        ("--feature-map", method.feature_map.is_some()),
        ("--latent", method.latent.is_some()),
        ("--by", by.is_some()),
    ];
    if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
        let instead = match *option {
            "--by" => "moments do not know their rows apart: make those of each segment",
            _ => "moments have it settled: give it to `moments` instead",
        };
        bail!("{option} is for reading tables; {instead}");
    }
    Ok(())
}
