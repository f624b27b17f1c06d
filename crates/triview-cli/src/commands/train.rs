//! `triview train`: a model from labelled features.

use crate::answer::Answer;
use crate::args::Global;
use crate::learning_args::{TrainArgs, TrainMethod};
use crate::output;
use crate::progress::Progress;
use anyhow::{Result, bail};
use indicatif::HumanCount;
use triview::data::Schema;
use triview::data::Source;
use triview::learning::{FeatureBatch, LogisticParams, train_by_lbfgs};
use triview_report::text::{WIDTH, names};
use triview_table::model::{self, Model};
use triview_table::{FeatureOptions, FeatureTable};

/// Reads the rows twice, for the classes and for the features, trains and writes the model.
pub(crate) fn run(args: &TrainArgs, global: &Global) -> Result<Answer> {
    let params = LogisticParams::default().step(args.step).epochs(args.epochs).minibatch(args.minibatch);
    let trainer = params.seed(global.seed).check()?;
    output::check(&args.output, output::files(&args.inputs))?;
    let options = FeatureOptions {
        views: args.views.clone(),
        label: Some(args.label.clone()),
        ..FeatureOptions::default()
    };
    let mut table = FeatureTable::of(&args.inputs, &options)?;
    let progress = Progress::new(global);
    progress.spin("reading the labels");
    let classes = table.find_classes()?.to_vec();
    if classes.len() < 2 {
        bail!(
            "column `{}` holds {} different label(s); at least two classes are needed",
            args.label,
            classes.len()
        );
    }
    let schema = Schema::new(table.schema().views().to_vec(), classes)?;
    let watched = progress.watch(&table, table.rows());
    let batches = watched.batches()?.collect::<Result<Vec<_>, _>>()?;
    let rows = FeatureBatch::concatenate(&batches)?;
    drop(batches);
    progress.spin("training");
    let labelled = (0..rows.rows()).filter(|&row| rows.label(row).is_some()).count();
    let model = match args.method {
        TrainMethod::Adagrad => trainer.train(&rows, schema.k()),
        TrainMethod::Lbfgs => train_by_lbfgs(&rows, schema.k(), args.penalty)?,
    };
    let features = table.schema().clone();
    model::write(&args.output, &Model { features, schema, model })?;
    if !table.ignored_columns().is_empty() {
        progress.note(&format!("columns not used: {}", names(table.ignored_columns(), WIDTH - 24)));
    }
    let (labelled, without) = (HumanCount(labelled as u64), rows.rows() - labelled);
    let left_out = if without > 0 {
        format!(", {} without a label left out", HumanCount(without as u64))
    } else {
        String::new()
    };
    progress.note(&format!("{labelled} rows{left_out}; the model is in `{}`", args.output.display()));
    Ok(Answer::new(String::new()).unprinted())
}
