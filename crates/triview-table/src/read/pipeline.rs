//! From the files of a data set to its batches.

use crate::error::Error;
use crate::read::columns::Place;
use crate::read::hash::key;
use crate::read::pending::Pending;
use crate::read::prefetch::Ahead;
use crate::read::table::{DataSet, Input, Member, Reader};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use triview::data::Batch;
use triview::learning::FeatureBatch;

/// Batches that may be ready before they are asked for.
const DEPTH: usize = 2;

/// Probabilities below this count as this: the logarithm of zero is no score.
const SMALLEST: f64 = 1e-15;

/// Some rows, and for each column that goes with its rows their texts.
pub(crate) type Read = (Batch, Vec<Vec<Option<String>>>);

/// Some rows of features, and for each column that goes with its rows their texts.
pub(crate) type ReadFeatures = (FeatureBatch, Vec<Vec<Option<String>>>);

/// The batches of one reading, here or on another thread.
pub(crate) enum Batches {
    Here(Pipeline),
    Ahead(Ahead<Result<Read, Error>>),
}

impl Batches {
    pub(crate) fn new(pipeline: Pipeline, prefetch: bool) -> io::Result<Self> {
        Ok(if prefetch { Batches::Ahead(Ahead::new(pipeline, DEPTH)?) } else { Batches::Here(pipeline) })
    }
}

impl Iterator for Batches {
    type Item = Result<Read, Error>;

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
    /// Whether the columns that go with their rows are read.
    keeping: bool,
}

/// Rows of one or more files.
pub(crate) struct Filled {
    pub(crate) pending: Pending,
    runs: Vec<Run>,
    set: Arc<DataSet>,
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
    pub(crate) fn new(set: Arc<DataSet>, keeping: bool) -> Self {
        Self { set, at: 0, reader: None, done: 0, ended: false, keeping }
    }

    /// The next rows; none at the end.
    pub(crate) fn rows(&mut self) -> Result<Option<Filled>, Error> {
        let set = self.set.clone();
        let kept = if self.keeping { set.members[0].selection.kept().count() } else { 0 };
        let room = Pending::new(&set.widths, &set.features, &set.options.witnessed, kept);
        let path = &set.members[self.at.min(set.members.len() - 1)].location.name;
        let mut pending = room.map_err(|needed| Error::NoRoom { path: path.clone(), needed })?;
        let mut runs = Vec::new();
        while pending.room() > 0 {
            let Some(member) = set.members.get(self.at) else { break };
            let reader = match &mut self.reader {
                Some(reader) => reader,
                None => {
                    self.reader.insert(member.read(pending.capacity(), set.options.prefetch, self.keeping)?)
                }
            };
            runs.push(Run { member: self.at, before: self.done, start: pending.rows() });
            match reader.fill(&mut pending)? {
                0 => {
                    member.location.unless_changed(Ok(()))?;
                    set.keep_length(self.at, self.done);
                    self.reader = None;
                    self.done = 0;
                    self.at += 1;
                }
                rows => self.done += rows as u64,
            }
        }
        Ok((pending.rows() > 0).then_some(Filled { pending, runs, set }))
    }
}

impl Filled {
    /// The file that a row is from, and its row there.
    pub(crate) fn origin(&self, row: usize) -> (&Member, u64) {
        origin(&self.set, &self.runs, row)
    }

    /// Its scores, with the classes of its rows where a column is read for them, and what goes with the rows.
    fn scores(mut self) -> Result<Read, Error> {
        let (set, runs) = (&self.set, &self.runs);
        set.keep_names(self.pending.take_names());
        let labels = self.pending.take_labels().map(|keys| classes_of(set, runs, &keys)).transpose()?;
        let chances = self.pending.take_label_chances();
        let kept = self.pending.take_kept();
        let place = |row: usize, view: usize, class: usize| {
            let (member, row) = origin(set, runs, row);
            (member.location.name.clone(), row, member.selection.label(view, class))
        };
        let prediction = match set.options.prediction.is_some().then(|| self.pending.take_prediction()) {
            Some(Err(row)) => {
                let (path, row, column) = place(row, set.widths.len() - 1, 0);
                return Err(Error::Null { path, row, column });
            }
            taken => taken.and_then(Result::ok),
        };
        let second: Vec<usize> = (0..set.widths.len())
            .filter(|&view| matches!(set.members[0].selection.places[view], Place::Second(_)))
            .collect();
        if set.options.input == Input::Unsaid && matches!(runs[0], Run { member: 0, before: 0, .. }) {
            refuse_probabilities(set, &self.pending, &second)?;
        }
        if set.options.input == Input::Probability {
            self.pending.fill_in_complements(&second);
            let clipped = take_logs(&mut self.pending, &place)?;
            set.clipped.fetch_add(clipped, Ordering::Relaxed);
        }
        match self.pending.finish() {
            Err(triview::Error::NotFinite { row, view, class, value }) => {
                let (path, row, column) = place(row, view, class);
                Err(Error::NotFinite { path, row, column, value })
            }
            Err(triview::Error::CovariateNotFinite { row, view, covariate: feature, value }) => {
                let (member, row) = origin(set, runs, row);
                let (path, column) =
                    (member.location.name.clone(), member.selection.feature_label(view, feature));
                Err(Error::FeatureNotFinite { path, row, column, value })
            }
            other => {
                let mut batch = other?;
                if let Some(prediction) = prediction {
                    batch = batch.with_prediction(prediction).map_err(|error| match error {
                        triview::Error::NotProbabilities { row, values } => {
                            let (path, row, _) = place(row, 0, 0);
                            Error::NotProbabilities { path, row, values }
                        }
                        other => other.into(),
                    })?;
                }
                if let Some(labels) = labels {
                    batch = batch.with_labels(labels)?;
                }
                if let Some(chances) = chances {
                    batch = batch.with_label_chances(chances).map_err(|error| match error {
                        triview::Error::LabelChance { row, value } => {
                            let (path, row, _) = place(row, 0, 0);
                            Error::LabelChance {
                                path,
                                row,
                                column: set.options.label_chance.clone().unwrap_or_default(),
                                value,
                            }
                        }
                        other => other.into(),
                    })?;
                }
                Ok((batch, kept))
            }
        }
    }

    /// Its features, which must all be there, with the classes of its rows where a column is read for them.
    fn features(self, classes: Option<&[u64]>) -> Result<ReadFeatures, Error> {
        let Filled { mut pending, runs, set } = self;
        set.keep_names(pending.take_names());
        let kept = pending.take_kept();
        let place = |row: usize, view: usize, feature: usize| {
            let (member, row) = origin(&set, &runs, row);
            (member.location.name.clone(), row, member.selection.label(view, feature))
        };
        if let Some((row, view)) = pending.first_missing() {
            let (path, row, column) = place(row, view, 0);
            return Err(Error::Null { path, row, column });
        }
        let (batch, keys) = match pending.finish_features() {
            Err(triview::Error::FeatureNotFinite { row, view, feature, value }) => {
                let (path, row, column) = place(row, view, feature);
                return Err(Error::FeatureNotFinite { path, row, column, value });
            }
            other => other?,
        };
        let (Some(keys), Some(classes)) = (keys, classes) else { return Ok((batch, kept)) };
        let none = key(b"");
        let label = |(row, found): (usize, u64)| match classes.iter().position(|class| *class == found) {
            _ if found == none => Ok(None),
            Some(class) => Ok(Some(class)),
            None => {
                let (member, row) = origin(&set, &runs, row);
                let path = member.location.name.clone();
                Err(Error::UnknownLabel { path, row, label: set.name(found).unwrap_or_default() })
            }
        };
        let labels = keys.into_iter().enumerate().map(label).collect::<Result<_, _>>()?;
        Ok((batch.with_labels(labels)?, kept))
    }
}

/// The class of each row that has a label.
fn classes_of(set: &DataSet, runs: &[Run], keys: &[u64]) -> Result<Vec<Option<usize>>, Error> {
    let classes = &set.members[0].selection.classes;
    let mut known = known_labels(classes);
    let mut labels = Vec::with_capacity(keys.len());
    for (row, found) in keys.iter().enumerate() {
        if let Some(class) = known.get(found) {
            labels.push(*class);
            continue;
        }
        let text = set.name(*found).unwrap_or_default();
        let Some(class) = meant(text.trim(), classes) else {
            let (member, row) = origin(set, runs, row);
            return Err(Error::NoSuchClass {
                path: member.location.name.clone(),
                row,
                column: set.options.label.clone().unwrap_or_default(),
                label: text,
                classes: classes.clone(),
            });
        };
        known.insert(*found, class);
        labels.push(class);
    }
    Ok(labels)
}

/// The classes by the keys of their names, and none by that of a blank.
pub(crate) fn known_labels(classes: &[String]) -> BTreeMap<u64, Option<usize>> {
    let mut known: BTreeMap<u64, Option<usize>> =
        classes.iter().enumerate().map(|(class, name)| (key(name.as_bytes()), Some(class))).collect();
    known.entry(key(b"")).or_insert(None);
    known
}

/// The class that a label which is no class's name may still mean. A column of whole numbers with gaps is often written as one
/// of floating-point numbers, in which a gap is no number and 1 is 1.0.
pub(crate) fn meant(label: &str, classes: &[String]) -> Option<Option<usize>> {
    let by_name = classes.iter().position(|class| class.trim() == label);
    if by_name.is_some() {
        return Some(by_name);
    }
    let number: f64 = label.parse().ok()?;
    if number.is_nan() {
        return Some(None);
    }
    let class = classes.iter().position(|class| class.parse::<f64>().is_ok_and(|class| class == number));
    class.map(Some)
}

/// The batches of features of one reading.
pub(crate) struct FeaturePipeline {
    pub(crate) pipeline: Pipeline,
    /// The keys of the classes' names, in the order of the classes.
    pub(crate) classes: Option<Vec<u64>>,
}

impl Iterator for FeaturePipeline {
    type Item = Result<ReadFeatures, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let classes = self.classes.as_deref();
        self.pipeline.advance(|filled| filled.features(classes))
    }
}

impl Pipeline {
    /// The next batch, which ends the reading when it fails.
    fn advance<T>(&mut self, finish: impl FnOnce(Filled) -> Result<T, Error>) -> Option<Result<T, Error>> {
        if self.ended {
            return None;
        }
        let filled = self.rows().and_then(|filled| filled.map(finish).transpose());
        // What is wrong with a row says nothing where a file that it may be from was changed meanwhile.
        let filled = filled.map_err(|error| {
            let mut begun = self.set.members.iter().take(self.at + 1);
            begun.find_map(|member| member.location.unless_changed(Ok(())).err()).unwrap_or(error)
        });
        let filled = filled.transpose();
        self.ended = !matches!(filled, Some(Ok(_)));
        filled
    }
}

impl Iterator for Pipeline {
    type Item = Result<Read, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance(Filled::scores)
    }
}

/// Refuses what looks like probabilities, of all views or of some: an ensemble's output beside the scores that it was made of is no view of
/// its own, and a column of a view of one can be anything.
fn refuse_probabilities(set: &DataSet, pending: &Pending, second: &[usize]) -> Result<(), Error> {
    let (alike, others) = pending.like_probabilities(second);
    let Member { location, selection, .. } = &set.members[0];
    let (path, rows) = (location.name.clone(), pending.rows());
    let name = |view: &usize| selection.views[*view].clone();
    if !alike.is_empty() && others.is_empty() {
        return Err(Error::Probabilities { path, rows });
    }
    match alike.iter().find(|view| !second.contains(view)) {
        Some(view) => {
            let others = others.iter().map(name).collect();
            Err(Error::SomeProbabilities { path, rows, view: name(view), others })
        }
        None => Ok(()),
    }
}

/// Replaces probabilities by their logarithms, and says how many had to be raised.
fn take_logs(
    pending: &mut Pending,
    place: &impl Fn(usize, usize, usize) -> (PathBuf, u64, String),
) -> Result<u64, Error> {
    let mut clipped = 0;
    let (columns, missing) = pending.columns_mut();
    for (view, class, column) in columns {
        let there = |row: usize| missing.get(row).is_none_or(|missing| missing >> view & 1 == 0);
        for (row, cell) in column.iter_mut().enumerate().filter(|(row, _)| there(*row)) {
            let value = *cell;
            if !(0.0..=1.0).contains(&value) {
                let (path, row, column) = place(row, view, class);
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
