//! `triview completions`: what a shell needs to complete commands and options.

use crate::answer::Answer;
use crate::args::{Cli, CompletionsArgs};
use anyhow::Result;
use clap::CommandFactory;

/// Prints the script for a shell.
pub(crate) fn run(args: &CompletionsArgs) -> Result<Answer> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "triview", &mut script);
    Ok(Answer::new(String::from_utf8(script)?))
}
