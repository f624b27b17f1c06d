//! The command line `triview`: how wrong is a model on data without labels?

mod answer;
mod args;
mod commands;
mod digits;
mod inputs;
mod label_args;
mod learning_args;
mod mnist;
mod output;
mod progress;
mod truth;

use answer::Answer;
use args::{Cli, Command, Global};
use clap::Parser;
use std::process::ExitCode;

/// The system's gives memory back and asks for it again all along: a sixth of the time of an estimate from few rows.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => {
            // Help is printed to standard output and ends well; everything else is a question not understood.
            let _ = usage.print();
            return if usage.use_stderr() { answer::CANNOT_ANSWER.into() } else { ExitCode::SUCCESS };
        }
    };
    match run(&cli).and_then(|answer| answer.print()) {
        Ok(code) => code,
        Err(error) => {
            progress::say(&answer::in_words(&error));
            answer::CANNOT_ANSWER.into()
        }
    }
}

fn run(cli: &Cli) -> anyhow::Result<Answer> {
    use_threads(&cli.global)?;
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
        Command::Hmm(args) => commands::hmm::run(args, &cli.global),
        Command::Simulate(args) => commands::simulate::run(args, &cli.global),
        Command::Demo(args) => commands::demo::run(args, &cli.global),
        Command::Reproduce(args) => commands::reproduce::run(args, &cli.global),
    }
}

/// Sets the number of threads of everything that works in parallel.
fn use_threads(global: &Global) -> anyhow::Result<()> {
    if let Some(threads) = global.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    Ok(())
}
