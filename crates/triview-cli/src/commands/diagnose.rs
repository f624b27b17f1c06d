//! `triview diagnose`: whether the views are independent given the class, and how hard the problem is.

use super::remedies;
use crate::answer::{Answer, made};
use crate::args::{DiagnoseArgs, Global};
use crate::inputs::Inputs;
use crate::output;
use crate::progress::Progress;
use anyhow::Result;
use std::time::Instant;
use triview_report::html;
use triview_report::json::{self, Diagnosis};
use triview_report::text;

/// Tests tables or moments; draws which views depend on each other where that is asked.
pub(crate) fn run(args: &DiagnoseArgs, global: &Global) -> Result<Answer> {
    let estimator = args.input.method.estimator(global)?;
    args.pictures.check(output::files(&args.input.inputs))?;
    if args.remedies {
        remedies::check(&args.input)?;
    }
    let inputs = Inputs::open(&args.input, None, None)?;
    let progress = Progress::new(global);
    let began = Instant::now();
    let estimate = inputs.estimate(&estimator, &progress)?;
    let remedies = match args.remedies {
        true => Some(remedies::try_all(&args.input, global, (estimate.clone(), began.elapsed()), &progress)?),
        false => None,
    };
    let page = html::diagnosis(&estimate, remedies.as_ref(), global.front);
    args.pictures.draw(&page, &progress)?;
    drop(progress);
    let made = made(global.seed, &args.input.inputs);
    let object = Diagnosis::new(&estimate, global.front, &made).remedies(remedies.as_ref());
    let object = json::to_text(&object)?;
    let mut shown = text::diagnosis(&estimate, global.front);
    if let Some(remedies) = &remedies {
        shown += &format!("\n{}", remedies.text());
    }
    let answer = Answer::new(shown).with_json(object, args.json).trusted(estimate.trusted());
    answer.with_page(&page, &made, global, args.pictures.report.as_deref())
}
