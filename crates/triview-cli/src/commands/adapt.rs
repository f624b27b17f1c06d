//! `triview adapt`: a better model for rows without labels.

use crate::answer::Answer;
use crate::args::Global;
use crate::commands::score::open;
use crate::json;
use crate::learning_args::AdaptArgs;
use crate::output;
use crate::printer::{WIDTH, facts, plain, range, with_error, wrapped};
use crate::progress::Progress;
use anyhow::Result;
use indicatif::HumanCount;
use serde::Serialize;
use std::path::PathBuf;
use triview::interval::Interval;
use triview::learning::{AdaptParams, Adaptation, Judgement, Verdict};
use triview::metrics::Measured;
use triview_table::model::{self, Model};

/// Adapts, judges and writes the model.
pub(crate) fn run(args: &AdaptArgs, global: &Global) -> Result<Answer> {
    let mut params = AdaptParams::default().gap(args.gap).level(args.level).seed(global.seed);
    if let Some(radius) = args.radius {
        params = params.radius(radius);
    }
    let adapter = params.judged(!args.no_judgement).check()?;
    let others: Vec<PathBuf> = args.inputs.iter().chain([&args.model]).cloned().collect();
    output::check(&args.output, &others)?;
    let seed = model::read(&args.model)?;
    let table = open(&args.inputs, &args.model, &seed, args.label.as_deref())?;
    let progress = Progress::new(global.quiet);
    let watched = progress.watch(&table, table.rows());
    let adaptation = adapter.adapt(&watched, &seed.model, &seed.schema)?;
    model::write(&args.output, &Model { model: adaptation.model.clone(), ..seed })?;
    progress.note(&format!("the adapted model is in `{}`", args.output.display()));
    drop(progress);
    let text = match args.json {
        true => json::to_text(&AdaptObject::new(&adaptation, args.level))?,
        false => text(&adaptation),
    };
    let improved = adaptation.judgement.as_ref().is_none_or(|it| it.verdict == Verdict::Improved);
    Ok(Answer::new(text).trusted(improved && adaptation.seed.trusted()))
}

/// The answer for a person.
fn text(adaptation: &Adaptation) -> String {
    let Adaptation { radius, gap, seed, judgement, .. } = adaptation;
    let risk = |measured: &Measured| {
        let error = with_error(measured.value, measured.standard_error);
        format!("{error}   {}", range(measured.interval))
    };
    let mut lines = Vec::new();
    if let Some(Judgement { adapted, seed, difference, .. }) = judgement {
        lines.push(("risk, adapted", risk(adapted)));
        lines.push(("risk, seed", risk(seed)));
        lines.push(("difference", risk(difference)));
    }
    lines.push(("rows", HumanCount(seed.rows).to_string()));
    lines.push(("radius", format!("{}, minimised to a gap of {}", plain(*radius), plain(*gap))));
    let lead = format!("{}   {}", plain(seed.matching_gap), range(seed.matching_gap_interval));
    lines.push(("naming leads by", lead));
    let mut text = facts(&lines) + "\n";
    if let Some(Judgement { verdict, .. }) = judgement {
        let words = match verdict {
            Verdict::Improved => "The adapted model is better than the seed model on these rows.",
            Verdict::Failed => {
                "The adaptation failed: the adapted model cannot be told to be better than the seed model on these \
                 rows. Keep the seed model, or adapt to more rows."
            }
        };
        text += &format!("\n{}\n", wrapped(words, WIDTH, 0));
    }
    for alarm in &seed.alarms {
        text += &format!("\n{}\n", wrapped(&format!("- {alarm}"), WIDTH, 2));
        text += &format!("{}\n", wrapped(&format!("> {}", alarm.remedy), WIDTH, 2));
    }
    text
}

/// The answer for a program.
#[derive(Debug, Serialize)]
struct AdaptObject<'a> {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    risk: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standard_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<MeasuredObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<MeasuredObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    level: f64,
    loss: &'a str,
    rows: u64,
    radius: f64,
    gap: f64,
    passes: usize,
    class_prior: &'a [f64],
    matching_gap: f64,
    matching_gap_interval: Interval,
    alarms: Vec<&'a str>,
    trusted: bool,
}

/// A number with its error.
#[derive(Debug, Serialize)]
struct MeasuredObject {
    risk: f64,
    standard_error: f64,
    interval: Interval,
}

impl MeasuredObject {
    fn new(measured: &Measured) -> Self {
        let Measured { value, standard_error, interval } = *measured;
        Self { risk: value, standard_error, interval }
    }
}

impl<'a> AdaptObject<'a> {
    fn new(adaptation: &'a Adaptation, level: f64) -> Self {
        let Adaptation { radius, gap, passes, seed, judgement, .. } = adaptation;
        let judged = judgement.as_ref();
        Self {
            schema: json::SCHEMA,
            risk: judged.map(|it| it.adapted.value),
            standard_error: judged.map(|it| it.adapted.standard_error),
            interval: judged.map(|it| it.adapted.interval),
            seed: judged.map(|it| MeasuredObject::new(&it.seed)),
            difference: judged.map(|it| MeasuredObject::new(&it.difference)),
            verdict: judged.map(|it| match it.verdict {
                Verdict::Improved => "improved",
                Verdict::Failed => "failed",
            }),
            level,
            loss: &seed.loss,
            rows: seed.rows,
            radius: *radius,
            gap: *gap,
            passes: *passes,
            class_prior: &seed.class_prior,
            matching_gap: seed.matching_gap,
            matching_gap_interval: seed.matching_gap_interval,
            alarms: seed.alarms.iter().map(|alarm| alarm.message.as_str()).collect(),
            trusted: seed.trusted(),
        }
    }
}
