//! `triview estimate`: the risk from unlabelled scores.

use crate::answer::{Answer, made};
use crate::args::{By, EstimateArgs, Global};
use crate::commands::few_labels;
use crate::inputs::{Inputs, in_file, note_changes};
use crate::output;
use crate::progress::Progress;
use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use triview::Error;
use triview::Moments;
use triview::data::Sample;
use triview::diagnostics::Alarm;
use triview::estimator::{Amplified, Estimate, Estimator};
use triview::moments::CountedSegments;
use triview_report::html::{self, Beside};
use triview_report::json::{self, EstimateObject};
use triview_report::segments::{Segment, Segmented};
use triview_report::text;
use triview_table::{Table, in_time, moments};

/// Estimates from tables or moments, by segment where asked; saves the second pass's feature map where asked.
pub(crate) fn run(args: &EstimateArgs, global: &Global) -> Result<Answer> {
    if args.votes {
        return super::votes::run(args, global);
    }
    let estimator = args.input.method.estimator_of(global, args.each)?;
    if args.labels.any() {
        return few_labels::run(args, &estimator, global);
    }
    let mut taken = output::files(&args.input.inputs);
    if let Some(path) = &args.save_posterior {
        output::check(path, taken.iter().copied())?;
        taken.push(path);
    }
    args.pictures.check(taken)?;
    let by = args.by.as_deref().map(|column| By { column, period: args.period });
    let inputs = Inputs::open(&args.input, by, args.prediction.as_ref())?;
    let progress = Progress::new(global);
    if args.metrics && matches!(inputs, Inputs::Moments(_)) {
        bail!("--metrics needs rows, and moments have none: estimate from the tables");
    }
    if args.prediction.is_some() && matches!(inputs, Inputs::Moments(_)) {
        bail!("--prediction needs rows, and moments have none: estimate from the tables");
    }
    if let (true, Inputs::Moments(moments)) = (args.each, &inputs)
        && !moments.plan().judges_each()
    {
        bail!("--each is not in these moments: make them with `moments --each`");
    }
    if let (Some(_), Some(loss)) = (args.amplify, estimator.whole()) {
        bail!(
            "--amplify is for losses that are made of terms of one view each, and --loss {} is not",
            loss.name()
        );
    }
    // What else is asked needs moments, which a table of many classes has none of.
    let plain = args.by.is_none() && args.amplify.is_none() && args.save_posterior.is_none();
    let Solved { estimate, amplified, segments } = match plain {
        true => Solved { estimate: inputs.estimate(&estimator, &progress)?, amplified: None, segments: None },
        false => from_moments(args, &estimator, inputs, &progress)?,
    };
    let beside = Beside { amplified: amplified.as_ref(), segments: segments.as_ref(), ..Beside::default() };
    let page = html::estimate(&estimate, beside, global.front);
    args.pictures.draw(&page, &progress)?;
    drop(progress);
    let made = made(global.seed, &args.input.inputs);
    let object = EstimateObject::new(&estimate, global.front, Some(&made));
    let object = object.amplified(amplified.as_ref()).metrics(args.metrics);
    let mut shown = text::estimate(&estimate, amplified.as_ref(), global.front, args.verbose);
    if let (true, Ok(metrics)) = (args.metrics, &estimate.metrics) {
        shown = format!("{shown}\n{}", text::metrics(&estimate, metrics));
    }
    if let Some(each) = &estimate.each {
        shown = format!("{shown}\n{}", text::each(&estimate, each));
    }
    if let Some(prediction) = &estimate.prediction {
        shown = format!("{shown}\n{}", text::prediction(prediction));
    }
    let object = match &segments {
        None => json::to_text(&object)?,
        Some(segments) => {
            shown = format!("{shown}\n{}", segments.text());
            json::to_text(&segments.object(object, (global.front, Some(&made), args.metrics)))?
        }
    };
    let some_segment = segments.as_ref().is_none_or(Segmented::any_trusted);
    let answer = Answer::new(shown).with_json(object, args.json).trusted(estimate.trusted() && some_segment);
    answer.with_page(&page, &made, global, args.pictures.report.as_deref())
}

/// The estimate, and what else was asked for.
struct Solved {
    estimate: Estimate,
    amplified: Option<Amplified>,
    segments: Option<Segmented>,
}

/// Sums the moments and answers from them.
fn from_moments(
    args: &EstimateArgs,
    estimator: &Estimator,
    inputs: Inputs,
    progress: &Progress,
) -> Result<Solved> {
    let (moments, sample, mut segments) = match (&args.by, inputs) {
        (Some(column), Inputs::Tables(table)) => {
            let (whole, sample, mut segments) = by_segment(estimator, &table, progress)?;
            if args.period.is_some() {
                segments.sort_by(|a, b| in_time(&a.name, &b.name));
            }
            (
                whole,
                Some(sample),
                Some(Segmented {
                    column: column.clone(),
                    segments,
                    in_time: args.period.is_some(),
                    drift: None,
                }),
            )
        }
        (_, inputs) => {
            let (moments, sample) = inputs.moments(estimator, progress)?;
            (moments, sample, None)
        }
    };
    progress.spin("fitting");
    let mut estimate = estimator.answer(&moments, sample.as_ref())?;
    if let Some(segments) = &mut segments {
        estimate = segments.judge(estimate);
    }
    let amplified = match args.amplify.map(|groups| estimator.amplify(&moments, groups)) {
        // The plain answer stands, and is not to be trusted.
        Some(Err(Error::NoMajority { solved, groups, reason })) => {
            estimate.alarms.push(Alarm::NoMajority { solved, groups, reason });
            None
        }
        other => other.transpose()?,
    };
    if let Some(path) = &args.save_posterior {
        moments::write_plan(path, &estimator.second_plan(&moments)?)?;
    }
    Ok(Solved { estimate, amplified, segments })
}

/// The moments of all rows, a sample of them, and what each segment's rows say.
pub(super) fn by_segment(
    estimator: &Estimator,
    table: &Table,
    progress: &Progress,
) -> Result<(Moments, Sample, Vec<Segment>)> {
    let source = progress.watch(table, table.rows());
    let counted = CountedSegments::of(&source);
    let sample = Sample::of(&counted)?;
    let plan = in_file(table, estimator.plan(&sample))?;
    let parts = counted.parts(&plan)?;
    let (mut whole, mut segments) = (None, Vec::new());
    for keys in &parts {
        let summed = estimator.moments_of_part(&source, &plan, keys, whole.is_none());
        let (of_all, of_part) = in_file(table, summed)?;
        if of_all.is_some() {
            whole = of_all;
            note_changes(table, progress);
        }
        progress.steps("fitting segments", "segments", of_part.len());
        segments.par_extend(of_part.into_par_iter().map(|(key, moments)| {
            let rows = moments.rows();
            let outcome = estimator.answer(&moments, Some(&sample.of_segment(key, rows)));
            progress.advance(1);
            Segment {
                name: table.segment_name(key).unwrap_or_else(|| format!("{key:016x}")),
                rows,
                outcome: outcome.map_err(|error| error.to_string()),
                by_labels: None,
            }
        }));
    }
    let whole = whole.context("a table with rows has segments")?;
    Ok((whole, sample, segments))
}
