//! `triview diagnose`: whether the views are independent given the class, and how hard the problem is.

use crate::answer::{Answer, made};
use crate::args::{DiagnoseArgs, Global};
use crate::inputs::Inputs;
use crate::output;
use crate::progress::Progress;
use anyhow::Result;
use triview_report::html;
use triview_report::json::{self, Diagnosis};
use triview_report::text;

/// Tests tables or moments; draws which views depend on each other where that is asked.
pub(crate) fn run(args: &DiagnoseArgs, global: &Global) -> Result<Answer> {
    let estimator = args.input.method.estimator(global)?;
    args.pictures.check(output::files(&args.input.inputs))?;
    let inputs = Inputs::open(&args.input, None)?;
    let progress = Progress::new(global);
    let estimate = inputs.estimate(&estimator, &progress)?;
    let page = html::diagnosis(&estimate, global.front);
    args.pictures.draw(&page, &progress)?;
    drop(progress);
    let made = made(global.seed, &args.input.inputs);
    let object = json::to_text(&Diagnosis::new(&estimate, global.front, &made))?;
    let shown = text::diagnosis(&estimate, global.front);
    let answer = Answer::new(shown).with_json(object, args.json).trusted(estimate.trusted());
    answer.with_page(&page, &made, global, args.pictures.report.as_deref())
}
