//! How a command ends: what it prints, and what its exit status says.

use std::io::{self, Write};
use std::process::ExitCode;

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

/// An error and its causes in one line. Causes that the error has already told are left out.
pub(crate) fn in_words(error: &anyhow::Error) -> String {
    let mut words = format!("error: {error}");
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !words.contains(&cause) {
            words = format!("{words}: {cause}");
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_once() {
        let error = anyhow::anyhow!("no room").context("cannot write `a`: no room").context("saving failed");
        assert_eq!(in_words(&error), "error: saving failed: cannot write `a`: no room");
    }
}
