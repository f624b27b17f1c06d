//! `triview score`: what a model says of the rows of a feature table.

use crate::answer::Answer;
use crate::args::Global;
use crate::commands::label::{keep, kept_values};
use crate::learning_args::ScoreArgs;
use crate::output;
use crate::progress::Progress;
use anyhow::Result;
use indicatif::HumanCount;
use std::path::Path;
use triview_table::model::{self, Model};
use triview_table::{
    Error, FeatureOptions, FeatureTable, Format, Keep, Memory, Origin, Values, write_columns, write_scores,
};

/// The name of the column of labels.
const LABEL: &str = "label";

/// Reads the rows once and writes their scores batch by batch, other columns beside them.
pub(crate) fn run(args: &ScoreArgs, global: &Global) -> Result<Answer> {
    output::check(&args.output, output::files(&args.inputs).into_iter().chain([args.model.as_path()]))?;
    let Some(format) = Format::of_ending(&args.output) else {
        return Err(Error::OutputFormat { path: args.output.clone() }.into());
    };
    let keep = keep(args.keep.as_deref(), format)?;
    let model = model::read(&args.model)?;
    let table = open(&args.inputs, &args.model, &model, args.label.as_deref(), keep)?;
    let progress = Progress::new(global);
    progress.count("scoring", table.rows());
    let (schema, labelled) = (&model.schema, args.label.is_some());
    let mut before = 0;
    let scored = table.keeping()?.map(|read| {
        let (batch, kept) = read?;
        progress.advance(batch.rows());
        let labels: Vec<Option<usize>> = (0..batch.rows()).map(|row| batch.label(row)).collect();
        let of_model = (args.model.as_path(), schema);
        let scores = model.model.scores(&batch).map_err(|error| table.in_file(before, of_model, error))?;
        before += batch.rows() as u64;
        Ok((scores, labels, kept))
    });
    let rows = match format {
        Format::Npy => write_scores(
            &args.output,
            schema,
            scored.map(|read| read.map(|(batch, labels, _)| (batch, labels))),
        )?,
        _ => {
            // With --label its column is the one of that name.
            let kept: Vec<(usize, (String, bool))> = table
                .kept_columns()
                .into_iter()
                .enumerate()
                .filter(|(_, (name, _))| !(labelled && name == LABEL))
                .collect();
            let scores = schema
                .views()
                .iter()
                .flat_map(|view| schema.classes().iter().map(move |class| format!("{view}:{class}")));
            let names = kept.iter().map(|(_, (name, _))| name.clone()).chain(scores);
            let names: Vec<String> = names.chain(labelled.then(|| LABEL.to_owned())).collect();
            let parts = scored.map(|read| {
                read.map(|(batch, labels, mut texts)| {
                    let kept = kept
                        .iter()
                        .map(|(at, (_, whole))| kept_values(std::mem::take(&mut texts[*at]), *whole));
                    let mut values: Vec<Values> = kept.collect();
                    let cells =
                        (0..batch.views()).flat_map(|view| (0..batch.k()).map(move |class| (view, class)));
                    values.extend(
                        cells.map(|(view, class)| Values::Number(batch.column(view, class).to_vec())),
                    );
                    let named = labels.iter().map(|label| label.map(|class| schema.classes()[class].clone()));
                    values.extend(labelled.then(|| Values::SomeText(named.collect())));
                    values
                })
            });
            write_columns::<Error>(&args.output, &names, parts)?
        }
    };
    progress.note(&format!("{} rows in `{}`", HumanCount(rows), args.output.display()));
    Ok(Answer::new(String::new()).unprinted())
}

/// Opens feature tables with the views, features and classes of a model.
pub(crate) fn open(
    inputs: &[Origin],
    path: &Path,
    model: &Model,
    label: Option<&str>,
    keep: Keep,
) -> Result<FeatureTable, Error> {
    let options = FeatureOptions {
        views: None,
        label: label.map(str::to_owned),
        like: Some((model.features.clone(), format!("model `{}`", path.display()))),
        classes: Some(model.schema.classes().to_vec()),
        keep,
        memory: Memory::default(),
    };
    FeatureTable::of(inputs, &options)
}
