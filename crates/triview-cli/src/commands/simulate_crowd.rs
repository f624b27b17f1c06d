//! `triview simulate --crowd`: votes of annotators who are known.

use crate::answer::Answer;
use crate::args::{Global, SimulateArgs};
use crate::commands::simulate::beside;
use crate::output;
use crate::progress::Progress;
use anyhow::{Result, bail};
use indicatif::HumanCount;
use serde::Serialize;
use triview::lab::{CrowdSetting, SimulatedCrowd};
use triview_report::json::{self, ByName};
use triview_table::{Error, Values, write_columns};

/// Rows that are written at a time.
const CHUNK: usize = 16_384;

/// Draws a crowd and writes its votes, and after them what is true of it.
pub(crate) fn run(args: &SimulateArgs, global: &Global) -> Result<Answer> {
    let truth_path = args.truth.clone().unwrap_or_else(|| beside(&args.output));
    output::check(&args.output, [])?;
    output::check(&truth_path, [args.output.as_path()])?;
    if args.rows > u64::from(u32::MAX) {
        bail!("--rows is {}: a crowd votes on {} items at most", args.rows, u32::MAX);
    }
    let default = CrowdSetting::default();
    let setting = CrowdSetting {
        classes: args.classes.map_or(default.classes, usize::from),
        annotators: args.annotators as usize,
        items: usize::try_from(args.rows)?,
        votes: args.votes as usize,
        spammers: args.spammers,
        adversaries: args.adversaries,
        copiers: args.copiers as usize,
        hard: args.hard,
        ..default
    };
    let crowd = SimulatedCrowd::draw(&setting, global.seed)?;
    let progress = Progress::new(global);
    let votes: Vec<[usize; 3]> = crowd.votes.iter().collect();
    let parts = votes.chunks(CHUNK).map(|some| {
        let text = |of: &dyn Fn(&[usize; 3]) -> String| Values::Text(some.iter().map(of).collect());
        Ok(vec![
            text(&|vote| vote[0].to_string()),
            text(&|vote| annotator(vote[1])),
            text(&|vote| vote[2].to_string()),
            text(&|vote| crowd.classes[vote[0]].to_string()),
        ])
    });
    let columns = ["item", "annotator", "vote", "truth"].map(str::to_owned);
    write_columns::<Error>(&args.output, &columns, parts)?;
    output::write_text(&truth_path, &truth_text(&crowd, &setting, global.seed)?)?;
    progress.note(&format!(
        "{} votes in `{}`; the annotators' true errors are in `{}`",
        HumanCount(votes.len() as u64),
        args.output.display(),
        truth_path.display()
    ));
    Ok(Answer::new(String::new()).unprinted())
}

/// What an annotator is called.
fn annotator(number: usize) -> String {
    format!("a{number}")
}

/// What votes were drawn from.
#[derive(Debug, Serialize)]
struct TruthObject<'a> {
    schema: u32,
    rows: usize,
    views: &'a [String],
    classes: Vec<String>,
    class_prior: &'a [f64],
    conditional_risk: ByName<'a, Vec<Vec<f64>>>,
    view_error: ByName<'a, f64>,
    labels: &'a [usize],
    setting: SettingObject,
}

#[derive(Debug, Serialize)]
struct SettingObject {
    votes: usize,
    spammers: f64,
    adversaries: f64,
    copiers: usize,
    hard: f64,
    seed: u64,
}

fn truth_text(crowd: &SimulatedCrowd, setting: &CrowdSetting, seed: u64) -> serde_json::Result<String> {
    let k = setting.classes;
    let views: Vec<String> = (0..setting.annotators).map(annotator).collect();
    let matrix = |cells: &Vec<f64>| cells.chunks_exact(k).map(<[f64]>::to_vec).collect::<Vec<_>>();
    json::to_text(&TruthObject {
        schema: json::SCHEMA,
        rows: setting.items,
        classes: (0..k).map(|class| class.to_string()).collect(),
        class_prior: &crowd.prior,
        conditional_risk: ByName {
            names: &views,
            values: crowd.confusion.iter().map(matrix).collect::<Vec<_>>().into(),
        },
        view_error: ByName { names: &views, values: crowd.errors().into() },
        labels: &crowd.classes,
        setting: SettingObject {
            votes: setting.votes,
            spammers: setting.spammers,
            adversaries: setting.adversaries,
            copiers: setting.copiers,
            hard: setting.hard,
            seed,
        },
        views: &views,
    })
}
