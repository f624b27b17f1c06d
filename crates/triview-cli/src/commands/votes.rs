//! `triview estimate --votes`: a crowd's annotators, and the error rate of the labels that they give together.

use crate::answer::{Answer, FRONT, made};
use crate::args::{EstimateArgs, Global};
use crate::progress::Progress;
use anyhow::Result;
use indicatif::HumanCount;
use triview::votes::VoteParams;
use triview_report::json;
use triview_report::json::VotesObject;
use triview_report::text::{self, WIDTH, names};
use triview_table::{VoteOptions, VoteTable};

/// Reads the votes and estimates the crowd behind them.
pub(crate) fn run(args: &EstimateArgs, global: &Global) -> Result<Answer> {
    let level = args.input.method.level;
    let estimator = VoteParams::new().level(level).smoothing(args.smoothing).seed(global.seed).check()?;
    let table = &args.input.table;
    let options = VoteOptions { annotators: table.views.clone(), classes: table.classes.clone() };
    let progress = Progress::new(global.quiet);
    progress.spin("reading");
    let table = VoteTable::read(&args.input.inputs, &options)?;
    if !table.ignored.is_empty() {
        progress.note(&format!("columns not used: {}", names(&table.ignored, WIDTH - 24)));
    }
    if table.unvoted > 0 {
        progress.note(&format!("rows without a vote, left out: {}", HumanCount(table.unvoted)));
    }
    progress.spin("fitting");
    let estimate = estimator.estimate(&table.votes, &table.classes)?;
    drop(progress);
    let made = made(global.seed, &args.input.inputs);
    let answer = match args.json {
        true => json::to_text(&VotesObject::new(&estimate, &table.annotators, FRONT, &made))?,
        false => text::votes(&estimate, &table.annotators, FRONT),
    };
    Ok(Answer::new(answer).trusted(estimate.trusted()))
}
