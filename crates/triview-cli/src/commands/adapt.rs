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
use triview::answer::Interval;
use triview::learning::{AdaptParams, Adaptation, FeatureBatch, FeatureSource, Judgement, Verdict};
use triview::metrics::Measured;
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
            adapter.adapt_with(&watched, &FeatureBatch::concatenate(&batches), &seed.model, &seed.schema)?
        }
        None => adapter.adapt(&watched, &seed.model, &seed.schema)?,
    };
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
    let Adaptation { radius, gap, seed, judgement, loss, share, .. } = adaptation;
    let shown = |measured: &Measured| {
        let error = with_error(measured.value, measured.standard_error);
        format!("{error}   {}", range(measured.interval))
    };
    let mut lines = Vec::new();
    if let Some(Judgement { adapted, seed, difference, adapted_error, seed_error, .. }) = judgement {
        lines.push(("risk, adapted", shown(adapted)));
        lines.push(("risk, seed", shown(seed)));
        lines.push(("difference", shown(difference)));
        lines.push(("error rate, adapted", shown(adapted_error)));
        lines.push(("error rate, seed", shown(seed_error)));
    }
    lines.push(("loss", (*loss).to_owned()));
    lines.push(("rows", HumanCount(seed.rows).to_string()));
    let reached = gap.map(|gap| format!(", minimised to a gap of {}", plain(gap))).unwrap_or_default();
    lines.push(("radius", plain(*radius) + &reached));
    if let Some(share) = share {
        lines.push(("weight of the source", share.to_string()));
    }
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
    seed: Option<RiskObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<RiskObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<MetricsObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    level: f64,
    loss: &'a str,
    rows: u64,
    radius: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_weight: Option<f64>,
    passes: usize,
    class_prior: &'a [f64],
    matching_gap: f64,
    matching_gap_interval: Interval,
    alarms: Vec<&'a str>,
    trusted: bool,
}

/// Error rates with their errors.
#[derive(Debug, Serialize)]
struct MetricsObject {
    error_rate: json::MeasuredObject,
    seed_error_rate: json::MeasuredObject,
}

/// A risk with its error.
#[derive(Debug, Serialize)]
struct RiskObject {
    risk: f64,
    standard_error: f64,
    interval: Interval,
}

impl RiskObject {
    fn new(measured: &Measured) -> Self {
        let Measured { value, standard_error, interval } = *measured;
        Self { risk: value, standard_error, interval }
    }
}

impl<'a> AdaptObject<'a> {
    fn new(adaptation: &'a Adaptation, level: f64) -> Self {
        let Adaptation { radius, gap, passes, seed, judgement, loss, share, .. } = adaptation;
        let judged = judgement.as_ref();
        Self {
            schema: json::SCHEMA,
            risk: judged.map(|it| it.adapted.value),
            standard_error: judged.map(|it| it.adapted.standard_error),
            interval: judged.map(|it| it.adapted.interval),
            seed: judged.map(|it| RiskObject::new(&it.seed)),
            difference: judged.map(|it| RiskObject::new(&it.difference)),
            error_rate: judged.map(|it| it.adapted_error.value),
            metrics: judged.map(|it| MetricsObject {
                error_rate: json::MeasuredObject::new(&it.adapted_error),
                seed_error_rate: json::MeasuredObject::new(&it.seed_error),
            }),
            verdict: judged.map(|it| match it.verdict {
                Verdict::Improved => "improved",
                Verdict::Failed => "failed",
            }),
            level,
            loss,
            rows: seed.rows,
            radius: *radius,
            gap: *gap,
            source_weight: *share,
            passes: *passes,
            class_prior: &seed.class_prior,
            matching_gap: seed.matching_gap,
            matching_gap_interval: seed.matching_gap_interval,
            alarms: seed.alarms.iter().map(|alarm| alarm.message.as_str()).collect(),
            trusted: seed.trusted(),
        }
    }
}
