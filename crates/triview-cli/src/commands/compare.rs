//! `triview compare`: the estimate beside what others say without labels.

use crate::answer::{Answer, made};
use crate::args::Global;
use crate::inputs::{in_file, note_changes, read_like, refuse_moments};
use crate::label_args::CompareArgs;
use crate::output;
use crate::progress::Progress;
use anyhow::{Context, Result, bail};
use triview::baselines::{self, Old};
use triview::data::{Sample, Source};
use triview::estimator::Estimate;
use triview::loss::Loss;
use triview_report::comparison::{Comparison, Line, Truth};
use triview_report::html;
use triview_report::json;
use triview_table::Table;

/// Estimates, asks the baselines on a sample of the same rows, and sets all beside the truth where labels tell it.
pub(crate) fn run(args: &CompareArgs, global: &Global) -> Result<Answer> {
    let estimator = args.method.estimator(global)?;
    if let Some(whole) = estimator.whole() {
        bail!(
            "--loss {} is always shown: give compare a loss that is made of terms of the views",
            whole.name()
        );
    }
    let inputs: Vec<_> = args.inputs.iter().chain(&args.source).cloned().collect();
    refuse_moments(&inputs, "compare")?;
    args.pictures.check(output::files(&inputs))?;
    let mut options = args.table.read_options(None);
    options.label.clone_from(&args.label);
    let table = Table::of(&args.inputs, &options)?;
    let loss = estimator.loss_of(table.schema())?;
    let progress = Progress::new(global);
    let old = old(args, &table)?;
    let source = progress.watch(&table, table.rows());
    let estimate = in_file(&table, estimator.estimate(&source))?;
    let sample = Sample::of(&source)?;
    let truth = match &args.label {
        Some(column) => Some(truth(&table, &*loss, column)?),
        None => None,
    };
    note_changes(&table, &progress);
    progress.spin("asking the baselines");
    let baselines = baselines::all(sample.rows(), old.as_ref(), &*loss);
    let lines = [own(&estimate)].into_iter().chain(baselines.into_iter().map(Line::of)).collect();
    let comparison = Comparison { estimate: &estimate, truth, lines, sampled: sample.rows().rows() };
    let page = html::comparison(&comparison, global.front);
    args.pictures.draw(&page, &progress)?;
    drop(progress);
    let made = made(global.seed, &inputs);
    let object = json::to_text(&comparison.object(&made))?;
    let answer = Answer::new(comparison.text()).with_json(object, args.json).trusted(estimate.trusted());
    answer.with_page(&page, &made, global, args.pictures.report.as_deref())
}

/// The labelled rows of the old domain, a sample of them where they are many.
fn old(args: &CompareArgs, table: &Table) -> Result<Option<Old>> {
    let Some(origin) = &args.source else { return Ok(None) };
    let label =
        args.source_label.clone().or_else(|| args.label.clone()).unwrap_or_else(|| "label".to_owned());
    let mut options = args.table.read_options(None);
    let schema = table.schema();
    read_like(&mut options, schema);
    options.cluster = None;
    options.label = Some(label.clone());
    let source = Table::of(std::slice::from_ref(origin), &options)?;
    let old = Old::new(Sample::of(&source)?.rows());
    old.map(Some).with_context(|| {
        format!("column `{label}` of `{origin}` has no label: the old domain's rows need their classes")
    })
}

/// What the labels of all rows say.
fn truth(table: &Table, loss: &dyn Loss, column: &str) -> Result<Truth> {
    let mut truth = Truth::new(table.schema().scored().len());
    for batch in table.batches()? {
        if let Some(labelled) = Old::new(&*batch?) {
            truth.add(&labelled, loss);
        }
    }
    if truth.rows() == 0 {
        bail!("column `{column}` has no label, so the truth is not known: leave --label out");
    }
    Ok(truth)
}

/// The line of the estimate.
fn own(estimate: &Estimate) -> Line {
    let interval = |interval: triview::answer::Interval| Some([interval.low, interval.high]);
    let metrics = estimate.metrics.as_ref().ok();
    Line {
        name: "triview",
        reference: "Steinhardt and Liang 2016",
        absent: None,
        risk: Some((estimate.risk, interval(estimate.interval))),
        error_rate: metrics.map(|metrics| {
            let error = &metrics.error_rate.estimate;
            (error.value, interval(error.interval))
        }),
        view_error: metrics.map(|metrics| metrics.view_error.iter().map(|error| error.value).collect()),
    }
}
