//! `triview diagnose`: whether the views are independent given the class, and how hard the problem is.

use crate::answer::{Answer, made};
use crate::args::{DiagnoseArgs, Global};
use crate::inputs::Inputs;
use crate::output;
use crate::progress::Progress;
use anyhow::Result;
use triview_report::json::{self, Diagnosis};
use triview_report::picture;
use triview_report::text;

/// Tests tables or moments; draws which views depend on each other where asked.
pub(crate) fn run(args: &DiagnoseArgs, global: &Global) -> Result<Answer> {
    let estimator = args.input.method.estimator(global)?;
    if let Some(path) = &args.svg {
        output::check(path, output::files(&args.input.inputs))?;
    }
    let inputs = Inputs::open(&args.input, None)?;
    let progress = Progress::new(global);
    let estimate = inputs.estimate(&estimator, &progress)?;
    if let Some(path) = &args.svg {
        match &estimate.independence.reason {
            Some(reason) => {
                progress.note(&format!("there is nothing to draw in `{}`: {reason}", path.display()))
            }
            None => output::write_text(path, &picture::dependence(&estimate).svg()?)?,
        }
    }
    drop(progress);
    let made = made(global.seed, &args.input.inputs);
    let object = json::to_text(&Diagnosis::new(&estimate, global.front, &made))?;
    let shown = text::diagnosis(&estimate, global.front);
    Ok(Answer::new(shown).with_json(object, args.json).trusted(estimate.trusted()))
}
