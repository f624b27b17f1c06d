//! From the files of a data set to its batches.

use crate::error::Error;
use crate::pending::Pending;
use crate::prefetch::Ahead;
use crate::table::{DataSet, Input, Member, Reader};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use triview::views::Batch;

/// Batches that may be ready before they are asked for.
const DEPTH: usize = 2;

/// Probabilities below this count as this: the logarithm of zero is no score.
const SMALLEST: f64 = 1e-15;

/// The batches of one reading, here or on another thread.
pub(crate) enum Batches {
    Here(Pipeline),
    Ahead(Ahead<Result<Batch, Error>>),
}

impl Batches {
    pub(crate) fn new(pipeline: Pipeline, prefetch: bool) -> io::Result<Self> {
        Ok(if prefetch { Batches::Ahead(Ahead::new(pipeline, DEPTH)?) } else { Batches::Here(pipeline) })
    }
}

impl Iterator for Batches {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Batches::Here(pipeline) => pipeline.next(),
            Batches::Ahead(ahead) => ahead.next(),
        }
    }
}

/// Fills batches from one file after the other. A batch may span files, so that many small files make
/// batches as large as one file of the same rows.
pub(crate) struct Pipeline {
    set: Arc<DataSet>,
    /// The file being read, or the next.
    at: usize,
    reader: Option<Box<dyn Reader>>,
    /// Rows of the file that are done.
    done: u64,
    ended: bool,
}

/// Rows of one or more files.
pub(crate) struct Filled {
    pub(crate) pending: Pending,
    runs: Vec<Run>,
    set: Arc<DataSet>,
}

impl Filled {
    /// The file that a row is from, and its row there.
    pub(crate) fn origin(&self, row: usize) -> (&Member, u64) {
        origin(&self.set, &self.runs, row)
    }
}

fn origin<'a>(set: &'a DataSet, runs: &[Run], row: usize) -> (&'a Member, u64) {
    let run = &runs[runs.partition_point(|run| run.start <= row).saturating_sub(1)];
    (&set.members[run.member], run.before + (row - run.start) as u64 + 1)
}

/// A run of rows in a batch that come from one file.
struct Run {
    member: usize,
    /// Rows of the file before the run.
    before: u64,
    /// Where it begins in the batch.
    start: usize,
}

impl Pipeline {
    pub(crate) fn new(set: Arc<DataSet>) -> Self {
        Self { set, at: 0, reader: None, done: 0, ended: false }
    }

    /// The next rows; none at the end.
    pub(crate) fn rows(&mut self) -> Result<Option<Filled>, Error> {
        let set = self.set.clone();
        let mut pending = Pending::new(set.views, set.k);
        let mut runs = Vec::new();
        while pending.room() > 0 {
            let Some(member) = set.members.get(self.at) else { break };
            let reader = match &mut self.reader {
                Some(reader) => reader,
                None => self.reader.insert(member.read(pending.capacity(), set.options.prefetch)?),
            };
            runs.push(Run { member: self.at, before: self.done, start: pending.rows() });
            match reader.fill(&mut pending)? {
                0 => {
                    self.reader = None;
                    self.done = 0;
                    self.at += 1;
                }
                rows => self.done += rows as u64,
            }
        }
        Ok((pending.rows() > 0).then_some(Filled { pending, runs, set }))
    }

    fn fill(&mut self) -> Result<Option<Batch>, Error> {
        let Some(Filled { mut pending, runs, set }) = self.rows()? else { return Ok(None) };
        let origin = |row: usize| origin(&set, &runs, row);
        if set.options.input == Input::Probability {
            let clipped = take_logs(&mut pending, &origin)?;
            set.clipped.fetch_add(clipped, Ordering::Relaxed);
        }
        set.keep_names(pending.take_names());
        match pending.finish() {
            Err(triview::Error::NotFinite { row, view, class, value }) => {
                let (member, row) = origin(row);
                let (path, column) = (member.location.name.clone(), member.selection.label(view, class));
                Err(Error::NotFinite { path, row, column, value })
            }
            other => Ok(Some(other?)),
        }
    }
}

impl Iterator for Pipeline {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let batch = self.fill().transpose();
        self.ended = !matches!(batch, Some(Ok(_)));
        batch
    }
}

/// Replaces probabilities by their logarithms, and says how many had to be raised.
fn take_logs<'a>(pending: &mut Pending, origin: &impl Fn(usize) -> (&'a Member, u64)) -> Result<u64, Error> {
    let mut clipped = 0;
    let (columns, missing) = pending.columns_mut();
    for (view, class, column) in columns {
        let there = |row: usize| missing.get(row).is_none_or(|missing| missing >> view & 1 == 0);
        for (row, cell) in column.iter_mut().enumerate().filter(|(row, _)| there(*row)) {
            let value = *cell;
            if !(0.0..=1.0).contains(&value) {
                let (member, row) = origin(row);
                let (path, column) = (member.location.name.clone(), member.selection.label(view, class));
                return Err(if value.is_finite() {
                    Error::NotAProbability { path, row, column, value }
                } else {
                    Error::NotFinite { path, row, column, value }
                });
            }
            clipped += u64::from(value < SMALLEST);
            *cell = value.max(SMALLEST).ln();
        }
    }
    Ok(clipped)
}
