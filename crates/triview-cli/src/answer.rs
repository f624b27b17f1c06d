//! How a command ends: what it prints, and what its exit status says.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use triview_report::json::Made;
use triview_report::words::Front;

/// Whose words answers are in.
pub(crate) const FRONT: Front = Front::CommandLine;

/// How an answer was made, from these files.
pub(crate) fn made(seed: u64, inputs: &[PathBuf]) -> Made {
    let inputs = inputs.iter().map(|path| path.display().to_string()).collect();
    Made { version: env!("CARGO_PKG_VERSION"), seed, inputs }
}

/// Exit status of an answer that is not to be trusted.
const NOT_TRUSTED: u8 = 1;
/// Exit status when there is no answer.
pub(crate) const CANNOT_ANSWER: u8 = 2;

/// What a command has to say. Nothing is printed before it is complete.
#[derive(Debug)]
pub(crate) struct Answer {
    text: String,
    trusted: bool,
}

impl Answer {
    /// An answer for standard output.
    pub(crate) fn new(text: String) -> Self {
        Self { text, trusted: true }
    }

    /// The same answer, to be trusted only if `trusted`.
    pub(crate) fn trusted(self, trusted: bool) -> Self {
        Self { trusted, ..self }
    }

    /// Prints it. Whoever stops reading early (`triview ... | head -1`) has what they wanted.
    pub(crate) fn print(&self) -> anyhow::Result<ExitCode> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(self.text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(anyhow::Error::new(error).context("cannot write to standard output"))
            }
            _ => Ok(if self.trusted { ExitCode::SUCCESS } else { NOT_TRUSTED.into() }),
        }
    }
}

/// An error and its causes in one line, and what could be typed instead. Causes that the error has already told are left out.
pub(crate) fn in_words(error: &anyhow::Error) -> String {
    let mut words = format!("error: {error}");
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !words.contains(&cause) {
            words = format!("{words}: {cause}");
        }
    }
    match error.chain().find_map(of_core).and_then(|error| FRONT.hint(error)) {
        Some(hint) => format!("{words}\nhint: {hint}"),
        None => words,
    }
}

/// What the core refused, if it was the core.
fn of_core<'a>(cause: &'a (dyn std::error::Error + 'static)) -> Option<&'a triview::Error> {
    match cause.downcast_ref::<triview_table::Error>() {
        Some(triview_table::Error::Core(error)) => Some(error),
        _ => cause.downcast_ref::<triview::Error>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_once() {
        let error = anyhow::anyhow!("no room").context("cannot write `a`: no room").context("saving failed");
        assert_eq!(in_words(&error), "error: saving failed: cannot write `a`: no room");
    }

    #[test]
    fn what_could_be_typed_instead_is_told() {
        let refused = || triview::Error::NeverPresent { view: "a".into() };
        for error in [refused().into(), anyhow::Error::new(triview_table::Error::from(refused()))] {
            let words = in_words(&error);
            assert!(
                words.contains("view `a` is missing in every row") && words.contains("\nhint: "),
                "{words}"
            );
            assert!(words.ends_with("`--views`"), "{words}");
        }
    }
}
