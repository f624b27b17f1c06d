//! `triview score`: what a model says of the rows of a feature table.

use crate::answer::Answer;
use crate::args::Global;
use crate::learning_args::ScoreArgs;
use crate::output;
use crate::progress::Progress;
use anyhow::Result;
use indicatif::HumanCount;
use std::path::Path;
use triview::data::Source;
use triview_table::model::{self, Model};
use triview_table::{Error, FeatureOptions, FeatureTable, Origin, write_scores};

/// Reads the rows once and writes their scores batch by batch.
pub(crate) fn run(args: &ScoreArgs, global: &Global) -> Result<Answer> {
    output::check(&args.output, output::files(&args.inputs).into_iter().chain([args.model.as_path()]))?;
    let model = model::read(&args.model)?;
    let table = open(&args.inputs, &args.model, &model, args.label.as_deref())?;
    let progress = Progress::new(global);
    let watched = progress.watch(&table, table.rows());
    let scored = watched.batches()?.map(|batch| {
        let batch = batch?;
        let labels = (0..batch.rows()).map(|row| batch.label(row)).collect();
        Ok((model.model.scores(&batch)?, labels))
    });
    let rows = write_scores(&args.output, &model.schema, scored)?;
    progress.note(&format!("{} rows in `{}`", HumanCount(rows), args.output.display()));
    Ok(Answer::new(String::new()).unprinted())
}

/// Opens feature tables with the views, features and classes of a model.
pub(crate) fn open(
    inputs: &[Origin],
    path: &Path,
    model: &Model,
    label: Option<&str>,
) -> Result<FeatureTable, Error> {
    let options = FeatureOptions {
        views: None,
        label: label.map(str::to_owned),
        like: Some((model.features.clone(), format!("model `{}`", path.display()))),
        classes: Some(model.schema.classes().to_vec()),
    };
    FeatureTable::of(inputs, &options)
}
