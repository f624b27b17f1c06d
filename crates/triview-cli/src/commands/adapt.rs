//! `triview adapt`: a better model for rows without labels, or none.

use crate::answer::{Answer, made};
use crate::args::Global;
use crate::commands::score::open;
use crate::learning_args::AdaptArgs;
use crate::output;
use crate::progress::Progress;
use anyhow::Result;
use indicatif::HumanCount;
use std::sync::atomic::{AtomicBool, Ordering};
use triview::data::Source;
use triview::learning::{AdaptParams, FeatureBatch, Progress as Told};
use triview_report::html;
use triview_report::json::{self, AdaptObject};
use triview_report::text;
use triview_table::model::{self, Model};
use triview_table::{Error, Keep};

/// Numbers times classes times fits from which on it may take minutes.
const MINUTES: u64 = 5_000_000_000;

/// Adapts and judges; writes the model if it was found to be better.
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
    let tables = output::files(args.inputs.iter().chain(&args.source));
    let taken: Vec<_> = tables.into_iter().chain([args.model.as_path()]).collect();
    output::check(&args.output, taken.iter().copied())?;
    args.pictures.check(taken.into_iter().chain([args.output.as_path()]))?;
    let seed = model::read(&args.model)?;
    let table = open(&args.inputs, &args.model, &seed, args.label.as_deref(), Keep::Nothing)?;
    let progress = Progress::new(global);
    let watched = progress.watch(&table, table.rows());
    let (classes, fits) = (seed.schema.k() as u64, AtomicBool::new(false));
    let report = |told: Told| {
        if !fits.swap(true, Ordering::Relaxed) {
            let steps = told.numbers.saturating_mul(classes).saturating_mul(told.most as u64);
            if steps > MINUTES {
                progress.note(&format!(
                    "{} fits to {} numbers: this may take minutes",
                    told.most,
                    HumanCount(told.numbers)
                ));
            }
        }
        progress.step("fitting models", "fits", told.done, told.most);
    };
    let adaptation = match &args.source_label {
        Some(label) => {
            let source = open(&args.source, &args.model, &seed, Some(label), Keep::Nothing)?;
            let batches = progress.watch(&source, source.rows()).batches()?.collect::<Result<Vec<_>, _>>()?;
            let old = FeatureBatch::concatenate(&batches)?;
            adapter.adapt_telling(&watched, Some(&old), &seed.model, &seed.schema, &report)
        }
        None => adapter.adapt_telling(&watched, None, &seed.model, &seed.schema, &report),
    };
    let adaptation = adaptation.map_err(|error| match error {
        Error::Core(error) => table.in_file(0, (&args.model, &seed.schema), error),
        other => other,
    })?;
    if adaptation.supported() || args.force {
        model::write(&args.output, &Model { model: adaptation.model.clone(), ..seed })?;
        progress.note(&format!("the adapted model is in `{}`", args.output.display()));
    } else {
        progress.note(&format!(
            "`{}` is not written: nothing says that the adapted model is better; --force writes it all the same",
            args.output.display()
        ));
    }
    let page = html::adaptation(&adaptation, args.level, global.front);
    args.pictures.draw(&page, &progress)?;
    drop(progress);
    let made = made(global.seed, &args.inputs);
    let object = json::to_text(&AdaptObject::new(&adaptation, args.level, global.front, &made))?;
    let shown = text::adaptation(&adaptation, global.front);
    let answer = Answer::new(shown).with_json(object, args.json).trusted(adaptation.supported());
    answer.with_page(&page, &made, global, args.pictures.report.as_deref())
}
