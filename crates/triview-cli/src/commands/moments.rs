//! `triview moments`: a table as its moments, which add up.

use crate::answer::Answer;
use crate::args::{Global, MomentsArgs};
use crate::inputs::{in_file, note_changes, open_tables};
use crate::output;
use crate::progress::Progress;
use anyhow::{Context, Result, bail};
use indicatif::HumanCount;
use std::path::PathBuf;
use triview::data::Sample;
use triview_table::moments;

/// Reads all rows once (twice where the feature map has to be fitted first) and writes the moments.
pub(crate) fn run(args: &MomentsArgs, global: &Global) -> Result<Answer> {
    let estimator = args.method.estimator_of(global, args.each)?;
    if let Some(loss) = estimator.whole() {
        bail!(
            "--loss {} is of the whole prediction and needs rows, and moments have none: leave it out, and give it to \
             `estimate` with the tables",
            loss.name()
        );
    }
    let plans = args.like.iter().chain(&args.posterior).map(PathBuf::as_path);
    output::check(&args.output, output::files(&args.inputs).into_iter().chain(plans))?;
    let given = match (&args.like, &args.posterior) {
        (Some(like), _) => Some((like, moments::read(like)?.plan().clone())),
        (None, Some(posterior)) => Some((posterior, moments::read_plan(posterior)?)),
        (None, None) => None,
    };
    let table = match &given {
        Some((path, plan)) => open_tables(&args.inputs, &args.table, Some(plan.schema()), None)
            .with_context(|| format!("with the views and classes of `{}`", path.display()))?,
        None => open_tables(&args.inputs, &args.table, None, None)?,
    };
    let progress = Progress::new(global);
    let source = progress.watch(&table, table.rows());
    let plan = match given {
        Some((_, plan)) => plan,
        None => in_file(&table, estimator.plan(&Sample::of(&source)?))?,
    };
    let summed = in_file(&table, estimator.moments(&source, &plan))?;
    moments::write(&args.output, &summed)?;
    note_changes(&table, &progress);
    progress.note(&format!("{} rows in `{}`", HumanCount(summed.rows()), args.output.display()));
    Ok(Answer::new(String::new()).unprinted())
}
