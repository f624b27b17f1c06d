//! `triview man`: the manual pages.

use crate::answer::Answer;
use crate::args::{Cli, Global, ManArgs};
use crate::progress::Progress;
use anyhow::{Context, Result};
use clap::CommandFactory;

/// Writes `triview.1` and a page for each command.
pub(crate) fn run(args: &ManArgs, global: &Global) -> Result<Answer> {
    let folder = &args.output;
    let failed = || format!("cannot write the manual pages to `{}`", folder.display());
    std::fs::create_dir_all(folder).with_context(failed)?;
    clap_mangen::generate_to(Cli::command(), folder).with_context(failed)?;
    Progress::new(global).note(&format!("manual pages in `{}`", folder.display()));
    Ok(Answer::new(String::new()))
}
