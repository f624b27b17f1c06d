//! `triview adapt`: a better model for rows without labels.

use crate::answer::{Answer, FRONT, made};
use crate::args::Global;
use crate::commands::score::open;
use crate::learning_args::AdaptArgs;
use crate::output;
use crate::progress::Progress;
use anyhow::Result;
use std::path::PathBuf;
use triview::data::Source;
use triview::learning::{AdaptParams, FeatureBatch, Verdict};
use triview_report::json::{self, AdaptObject};
use triview_report::text;
use triview_table::model::{self, Model};

/// Adapts, judges and writes the model.
pub(crate) fn run(args: &AdaptArgs, global: &Global) -> Result<Answer> {
    let mut params =
        AdaptParams::default().loss(&args.loss).gap(args.gap).level(args.level).seed(global.seed);
    if let Some(radius) = args.radius {
        params = params.radius(radius);
    }
    if let Some(share) = args.source_weight {
        params = params.share(share);
    }
    let adapter = params.judged(!args.no_judgement).check()?;
    let others: Vec<PathBuf> = args.inputs.iter().chain([&args.model]).chain(&args.source).cloned().collect();
    output::check(&args.output, &others)?;
    let seed = model::read(&args.model)?;
    let table = open(&args.inputs, &args.model, &seed, args.label.as_deref())?;
    let progress = Progress::new(global.quiet);
    let watched = progress.watch(&table, table.rows());
    let adaptation = match &args.source_label {
        Some(label) => {
            let source = open(&args.source, &args.model, &seed, Some(label))?;
            let batches = progress.watch(&source, source.rows()).batches()?.collect::<Result<Vec<_>, _>>()?;
            adapter.adapt_with(&watched, &FeatureBatch::concatenate(&batches)?, &seed.model, &seed.schema)?
        }
        None => adapter.adapt(&watched, &seed.model, &seed.schema)?,
    };
    model::write(&args.output, &Model { model: adaptation.model.clone(), ..seed })?;
    progress.note(&format!("the adapted model is in `{}`", args.output.display()));
    drop(progress);
    let made = made(global.seed, &args.inputs);
    let answer = match args.json {
        true => json::to_text(&AdaptObject::new(&adaptation, args.level, FRONT, &made))?,
        false => text::adaptation(&adaptation, FRONT),
    };
    let improved = adaptation.judgement.as_ref().is_none_or(|it| it.verdict == Verdict::Improved);
    Ok(Answer::new(answer).trusted(improved && adaptation.seed.trusted()))
}
