//! How far a long reading is: on standard error, on a terminal only, and only once it is long.

use crate::args::Global;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use triview::data::{Batch, Batches, Source};
use triview::learning::FeatureBatch;
use triview::sequences::Sequences;

/// What is done sooner shows nothing.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often the display changes.
const TICK: Duration = Duration::from_millis(100);

/// Who is told how far the work is, where there is no terminal to show it on.
pub trait Listener: fmt::Debug + Send + Sync {
    /// Something begins: rows are counted from zero on, towards a total where one is known.
    fn begin(&self, doing: &'static str, rows: Option<u64>);
    /// More rows are done.
    fn advance(&self, rows: u64);
    /// Something that a person should know.
    fn note(&self, text: &str);
}

/// A line of progress, cleared when it is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    quiet: bool,
    listener: Option<Arc<dyn Listener>>,
    /// Hanging up tells the thread that waits to show the line that it need not.
    _waiting: Option<Sender<()>>,
}

impl Progress {
    /// Begins to wait; nothing is shown in the first two seconds, nor when quiet, nor off a terminal, nor where somebody listens.
    pub(crate) fn new(global: &Global) -> Self {
        let Global { quiet, listener, .. } = global;
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let shown = !quiet && listener.is_none() && std::io::stderr().is_terminal();
        let waiting = shown.then(|| {
            let (sender, receiver) = channel();
            let bar = bar.clone();
            std::thread::spawn(move || show_later(&bar, &receiver));
            sender
        });
        Self { bar, quiet: *quiet, listener: listener.clone(), _waiting: waiting }
    }

    /// The same source of scores, features or sequences, whose rows are counted as they are read.
    pub(crate) fn watch<'a, S>(&'a self, source: &'a S, rows: Option<u64>) -> Watched<'a, S> {
        Watched { source, rows, progress: self }
    }

    /// Counts rows from zero on, towards a total where one is known.
    pub(crate) fn count(&self, doing: &'static str, rows: Option<u64>) {
        self.bar.reset();
        self.bar.set_message(doing);
        let template = match rows {
            Some(rows) => {
                self.bar.set_length(rows);
                "{msg} {wide_bar} {human_pos} of {human_len} rows, {eta} left"
            }
            None => {
                self.bar.unset_length();
                "{spinner} {msg} {human_pos} rows, {elapsed}"
            }
        };
        self.bar.set_style(style(template));
        if let Some(listener) = &self.listener {
            listener.begin(doing, rows);
        }
    }

    /// More rows are done.
    pub(crate) fn advance(&self, rows: usize) {
        self.bar.inc(rows as u64);
        if let Some(listener) = &self.listener {
            listener.advance(rows as u64);
        }
    }

    /// Counts steps from zero on.
    pub(crate) fn steps(&self, doing: &'static str, what: &str, steps: usize) {
        self.bar.reset();
        self.bar.set_message(doing);
        self.bar.set_length(steps as u64);
        self.bar.set_style(style(&format!(
            "{{msg}} {{wide_bar}} {{human_pos}} of {{human_len}} {what}, {{eta}} left"
        )));
        if let Some(listener) = &self.listener {
            listener.begin(doing, Some(steps as u64));
        }
    }

    /// So many of some steps are done, whatever was counted in between.
    pub(crate) fn step(&self, doing: &'static str, what: &str, done: usize, steps: usize) {
        // Beginning anew forgets how long the steps before took.
        let before = match self.bar.message() == doing && self.bar.length() == Some(steps as u64) {
            true => self.bar.position(),
            false => {
                self.steps(doing, what, steps);
                0
            }
        };
        self.advance((done as u64).saturating_sub(before) as usize);
    }

    /// Something that cannot be counted.
    pub(crate) fn spin(&self, doing: &'static str) {
        self.bar.reset();
        self.bar.set_message(doing);
        self.bar.set_style(style("{spinner} {msg} {elapsed}"));
        if let Some(listener) = &self.listener {
            listener.begin(doing, None);
        }
    }

    /// A line for the person at the terminal, above the progress; nothing when quiet.
    pub(crate) fn note(&self, text: &str) {
        if let Some(listener) = &self.listener {
            listener.note(text);
        } else if !self.quiet {
            self.bar.suspend(|| say(&format!("note: {text}")));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A line on standard error; when nobody listens there, that is no error. Names of files, columns and classes may hold anything: what
/// would move the cursor or change colours is shown, not done.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", shown(text));
}

/// A text with its control characters, but for the ends of lines, written out.
fn shown(text: &str) -> String {
    // Some characters are not of the terminal's control, and still turn round what follows.
    let acts = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match acts(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown
}

/// Shows the line once it has been long enough, unless it is over by then.
fn show_later(bar: &ProgressBar, over: &Receiver<()>) {
    if over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
        bar.set_draw_target(ProgressDrawTarget::stderr());
        bar.enable_steady_tick(TICK);
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A source whose readings are counted. Between readings, whoever reads is taken to be fitting.
pub(crate) struct Watched<'a, S> {
    source: &'a S,
    rows: Option<u64>,
    progress: &'a Progress,
}

impl<S: Source<Batch: HasRows>> Source for Watched<'_, S> {
    type Schema = S::Schema;
    type Batch = S::Batch;
    type Error = S::Error;

    fn schema(&self) -> &S::Schema {
        self.source.schema()
    }

    fn batches(&self) -> Result<Batches<'_, S::Batch, S::Error>, S::Error> {
        let batches = self.source.batches()?;
        self.progress.count("reading", self.rows);
        Ok(Box::new(Counted { batches, progress: self.progress }))
    }
}

/// Something that has rows.
pub(crate) trait HasRows {
    fn count_rows(&self) -> usize;
}

impl HasRows for Batch {
    fn count_rows(&self) -> usize {
        self.rows()
    }
}

impl HasRows for FeatureBatch {
    fn count_rows(&self) -> usize {
        self.rows()
    }
}

impl HasRows for Sequences {
    fn count_rows(&self) -> usize {
        self.tokens()
    }
}

/// Counts the rows of batches that go by.
struct Counted<'a, I> {
    batches: I,
    progress: &'a Progress,
}

impl<I: Iterator<Item = Result<Arc<B>, E>>, B: HasRows, E> Iterator for Counted<'_, I> {
    type Item = Result<Arc<B>, E>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.next();
        if let Some(Ok(batch)) = &batch {
            self.progress.advance(batch.count_rows());
        }
        batch
    }
}

impl<I> Drop for Counted<'_, I> {
    fn drop(&mut self) {
        self.progress.spin("fitting");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triview::data::{InMemory, Schema};

    #[test]
    fn what_would_act_on_the_terminal_is_shown() {
        let name = "a\u{1b}[31m\u{7}\r\u{9b}2J\u{202e}b\n\u{e4}";
        assert_eq!(shown(name), "a\\u{1b}[31m\\u{7}\\r\\u{9b}2J\\u{202e}b\n\u{e4}");
    }

    #[test]
    fn steps_go_on_after_a_reading_in_between() {
        let quiet = Global { quiet: true, ..Global::default() };
        let progress = Progress::new(&quiet);
        progress.step("fitting models", "fits", 0, 13);
        progress.step("fitting models", "fits", 2, 13);
        assert_eq!((progress.bar.position(), progress.bar.length()), (2, Some(13)));
        progress.count("reading", Some(500));
        progress.advance(100);
        progress.step("fitting models", "fits", 3, 13);
        assert_eq!((progress.bar.position(), progress.bar.length()), (3, Some(13)));
        assert_eq!(progress.bar.message(), "fitting models");
    }

    #[test]
    fn every_reading_is_counted_from_zero() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let schema = Schema::new(names(&["a", "b", "c"]), names(&["0", "1"])).expect("valid names");
        let batch = Batch::new(5, [vec![0.0; 10], vec![1.0; 10], vec![2.0; 10]]).expect("finite");
        let source = InMemory::new(schema, vec![batch.clone(), batch]);
        let quiet = Global { quiet: true, ..Global::default() };
        let progress = Progress::new(&quiet);
        let watched = progress.watch(&source, Some(10));
        for _ in 0..2 {
            let mut batches = watched.batches().expect("in memory");
            assert!(batches.next().is_some());
            assert_eq!(progress.bar.position(), 5);
            assert_eq!(batches.count(), 1);
        }
        assert_eq!(progress.bar.message(), "fitting");
    }
}
