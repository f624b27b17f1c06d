//! The command line `triview`: how wrong is a model on data without labels?
//!
//! [`main`] is the program. [`call`](mod@call) asks the same questions from another program, about tables in memory too.

mod answer;
mod args;
pub mod call;
mod commands;
mod digits;
mod inputs;
mod label_args;
mod learning_args;
mod mnist;
mod monitor_args;
mod output;
mod picture_args;
mod progress;
mod truth;

use answer::Answer;
use args::{Cli, Command, Global};
use clap::Parser;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};
use std::sync::Once;
use triview_table::{set_default_memory, silence_caught_panics};

/// Answers the arguments of a command line, the program's name first, and says with which status to exit.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    tell_of_bugs();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // What panics has said so already.
    catch_unwind(AssertUnwindSafe(|| answered(&arguments))).unwrap_or(answer::CANNOT_ANSWER)
}

fn answered(arguments: &[OsString]) -> u8 {
    let mut cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(usage) => {
            // Help is printed to standard output and ends well; everything else is a question not understood.
            let _ = usage.print();
            return if usage.use_stderr() { answer::CANNOT_ANSWER } else { answer::ANSWERED };
        }
    };
    cli.global.command = answer::typed(arguments);
    if let Some(memory) = cli.global.memory {
        set_default_memory(memory);
    }
    let answered = use_threads(&cli.global).and_then(|()| run(&cli)).and_then(|answer| answer.print());
    match answered {
        Ok(status) => status,
        Err(error) => {
            progress::say(&format!("error: {}", answer::in_words(&error, cli.global.front)));
            answer::CANNOT_ANSWER
        }
    }
}

fn run(cli: &Cli) -> anyhow::Result<Answer> {
    match &cli.command {
        Command::Estimate(args) => commands::estimate::run(args, &cli.global),
        Command::Diagnose(args) => commands::diagnose::run(args, &cli.global),
        Command::Compare(args) => commands::compare::run(args, &cli.global),
        Command::Label(args) => commands::label::run(args, &cli.global),
        Command::Moments(args) => commands::moments::run(args, &cli.global),
        Command::Inspect(args) => commands::inspect::run(args),
        Command::Train(args) => commands::train::run(args, &cli.global),
        Command::Score(args) => commands::score::run(args, &cli.global),
        Command::Adapt(args) => commands::adapt::run(args, &cli.global),
        Command::Monitor(args) => commands::monitor::run(args, &cli.global),
        Command::Hmm(args) => commands::hmm::run(args, &cli.global),
        Command::Simulate(args) => commands::simulate::run(args, &cli.global),
        Command::Demo(args) => commands::demo::run(args, &cli.global),
        Command::Reproduce(args) => commands::reproduce::run(args, &cli.global),
        Command::Completions(args) => commands::completions::run(args),
        Command::Man(args) => commands::man::run(args, &cli.global),
    }
}

/// Says of a panic what it is, and nothing of those that become an error.
fn tell_of_bugs() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
            let said = panic.payload_as_str().unwrap_or("no reason given");
            let place = panic.location().map(|place| format!(" ({}, line {})", place.file(), place.line()));
            let place = place.unwrap_or_default();
            progress::say(&format!(
                "error: triview has a bug: {said}{place}; please report it, with the command and if you can with the file"
            ));
        }));
        silence_caught_panics();
    });
}

/// Sets the number of threads of everything that works in parallel.
fn use_threads(global: &Global) -> anyhow::Result<()> {
    if let Some(threads) = global.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    Ok(())
}
