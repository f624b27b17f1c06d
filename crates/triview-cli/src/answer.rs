//! How a command ends: what it prints, and what its exit status says.

use crate::args::Global;
use crate::output;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use triview_report::html::Page;
use triview_report::json::Made;
use triview_report::words::Front;
use triview_table::Origin;

/// How an answer was made, from these tables.
pub(crate) fn made(seed: u64, inputs: &[Origin]) -> Made {
    let inputs = inputs.iter().map(Origin::to_string).collect();
    Made { version: env!("CARGO_PKG_VERSION"), seed, inputs }
}

/// Exit status of an answer that may be trusted.
pub(crate) const ANSWERED: u8 = 0;
/// Exit status of an answer that is not to be trusted.
const NOT_TRUSTED: u8 = 1;
/// Exit status when there is no answer.
pub(crate) const CANNOT_ANSWER: u8 = 2;

/// What a command has to say. Nothing is printed before it is complete.
#[derive(Debug, Default)]
pub struct Answer {
    /// For a person.
    pub text: String,
    /// For a program: one object, where the command has one.
    pub json: Option<String>,
    /// To look at: a page, and what of it fits in a notebook, where the command has one.
    pub page: Option<Shown>,
    /// Whether no diagnostic speaks against it.
    pub trusted: bool,
    /// What of it is printed.
    printed: Printed,
}

/// An answer as it is looked at.
#[derive(Debug)]
pub struct Shown {
    /// One HTML file.
    pub html: String,
    /// A part of another page.
    pub card: String,
}

/// What of an answer goes to standard output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Printed {
    /// Nothing: all that was asked for is in a file.
    #[default]
    Nothing,
    Text,
    Json,
}

impl Answer {
    /// An answer for a person.
    pub(crate) fn new(text: String) -> Self {
        Self { text, trusted: true, printed: Printed::Text, ..Self::default() }
    }

    /// The same answer, for a program too, and whether that is what is asked for.
    pub(crate) fn with_json(self, json: String, asked_for: bool) -> Self {
        let printed = if asked_for { Printed::Json } else { self.printed };
        Self { json: Some(json), printed, ..self }
    }

    /// The same answer, to look at too; it is written where that is asked for.
    pub(crate) fn with_page(
        self,
        page: &Page,
        made: &Made,
        global: &Global,
        report: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let html = page.html(made, &global.command);
        if let Some(path) = report {
            output::write_text(path, &html)?;
        }
        Ok(Self { page: Some(Shown { html, card: page.card() }), ..self })
    }

    /// The same answer, of which nothing is printed: what was asked for is in a file.
    pub(crate) fn unprinted(self) -> Self {
        Self { printed: Printed::Nothing, ..self }
    }

    /// The same answer, to be trusted only if `trusted`.
    pub(crate) fn trusted(self, trusted: bool) -> Self {
        Self { trusted, ..self }
    }

    /// Prints it. Whoever stops reading early (`triview ... | head -1`) has what they wanted.
    pub(crate) fn print(&self) -> anyhow::Result<u8> {
        let shown = match self.printed {
            Printed::Nothing => "",
            Printed::Text => &self.text,
            Printed::Json => self.json.as_deref().unwrap_or_default(),
        };
        let mut stdout = io::stdout().lock();
        match stdout.write_all(shown.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(anyhow::Error::new(error).context("cannot write to standard output"))
            }
            _ => Ok(if self.trusted { ANSWERED } else { NOT_TRUSTED }),
        }
    }
}

/// Arguments as they can be typed in a shell again.
pub(crate) fn typed(arguments: &[OsString]) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=+,./:@%".contains(c);
    let quoted = |argument: &OsString| {
        let text = argument.to_string_lossy();
        match !text.is_empty() && text.chars().all(plain) {
            true => text.into_owned(),
            false => format!("'{}'", text.replace('\'', r"'\''")),
        }
    };
    let rest = arguments.iter().skip(1).map(quoted);
    ["triview".to_owned()].into_iter().chain(rest).collect::<Vec<_>>().join(" ")
}

/// An error and its causes in one line, and what could be typed instead. Causes that the error has already told are left out.
pub(crate) fn in_words(error: &anyhow::Error, front: Front) -> String {
    let mut words = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !words.contains(&cause) {
            words = format!("{words}: {cause}");
        }
    }
    let words = match error.chain().find_map(of_core).and_then(|error| front.hint(error)) {
        Some(hint) => format!("{words}\nhint: {hint}"),
        None => words,
    };
    front.say(&words)
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
    fn a_command_can_be_typed_again() {
        let given =
            ["/usr/bin/triview", "estimate", "it's.csv", "--columns", "{view}_{class}", "--by=day", ""];
        let said = typed(&given.map(OsString::from));
        assert_eq!(said, r"triview estimate 'it'\''s.csv' --columns '{view}_{class}' --by=day ''");
    }

    #[test]
    fn causes_are_told_once() {
        let error = anyhow::anyhow!("no room").context("cannot write `a`: no room").context("saving failed");
        assert_eq!(in_words(&error, Front::CommandLine), "saving failed: cannot write `a`: no room");
    }

    #[test]
    fn what_could_be_typed_instead_is_told() {
        let refused = || triview::Error::NeverPresent { view: "a".into() };
        for error in [refused().into(), anyhow::Error::new(triview_table::Error::from(refused()))] {
            let words = in_words(&error, Front::CommandLine);
            assert!(
                words.contains("view `a` is missing in every row") && words.contains("\nhint: "),
                "{words}"
            );
            assert!(words.ends_with("`--views`"), "{words}");
        }
    }
}
