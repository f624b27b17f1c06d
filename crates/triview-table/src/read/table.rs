//! A data set of one or more files, read batch by batch.

use super::{csv, ipc, npy, parquet};
use crate::arrow;
use crate::error::Error;
use crate::memory::Memory;
use crate::read::carried::Carried;
use crate::read::columns::{Column, Purpose, Selection, select};
use crate::read::compressed::unpacked;
use crate::read::format::Format;
use crate::read::json_lines::unrolled;
use crate::read::location::Location;
use crate::read::origin::{Origin, Records};
use crate::read::pattern::Pattern;
use crate::read::pending::Pending;
use crate::read::period::Period;
use crate::read::pipeline::{Batches, Pipeline};
use crate::read::prediction::ClassPattern;
use crate::read::spool::Spool;
use ::parquet::arrow::arrow_reader::ArrowReaderMetadata;
use arrow_array::RecordBatch;
use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use triview::data::{Batch, Counted, MOST_VIEWS, Schema, Source, Witness};

/// What the numbers of a table are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Input {
    /// Additive log potentials, used as they are; refused where they look like probabilities ([`Error::Probabilities`]).
    #[default]
    Unsaid,
    /// Additive log potentials, used as they are whatever they look like.
    Score,
    /// Probabilities, of which the natural logarithm is taken.
    Probability,
}

/// Which columns beside the scores go with their rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Keep {
    /// None.
    #[default]
    Nothing,
    /// All that hold neither scores, features nor lists, as far as every file has them.
    All,
    /// Those of these names, which every file must have.
    Named(Vec<String>),
}

/// What to read of a table, and how.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadOptions {
    /// How the columns of scores are named; otherwise `view:class`.
    pub columns: Option<Pattern>,
    /// The views, three or more, in this order; otherwise those of the file. With two classes a view may be one column of this
    /// name: the probability, or the log-odds, of the second.
    pub views: Option<Vec<String>>,
    /// Names of the classes, in the order of the lists; for columns `view:class` their order in the result.
    pub classes: Option<Vec<String>>,
    /// What the numbers are.
    pub input: Input,
    /// Columns `view:feature` that are further features of views and no scores: `feature`, `view:feature`, or how either
    /// begins, with a star after it.
    pub features: Vec<String>,
    /// A column whose equal values mark rows that depend on each other.
    pub cluster: Option<String>,
    /// A column whose values are the segments that rows are answered by. It may be the one to cluster by.
    pub segment: Option<String>,
    /// The periods of time that the segments' column is cut into; otherwise each of its values is one.
    pub period: Option<Period>,
    /// A column with the class of each row that is known, empty elsewhere.
    pub label: Option<String>,
    /// A column with the chance that a row had to be labelled, where these were not all alike; it matters where there is a label.
    pub label_chance: Option<String>,
    /// Columns without scores that tell classes apart by how their values are distributed: each is a view that identifies and is not
    /// judged. Two views and one of them are enough.
    pub witnesses: Vec<String>,
    /// The same with the values that are told apart, where these are known; otherwise opening a table reads it once to count them.
    pub witnessed: Vec<Witness>,
    /// The columns of another model's output, probabilities of the classes, which go with their rows and are no view's.
    pub prediction: Option<ClassPattern>,
    /// The columns whose texts [`Table::keeping`] gives with the rows.
    pub keep: Keep,
    /// Whether to decode ahead on other threads.
    pub prefetch: bool,
    /// The most memory that decoding may take.
    pub memory: Memory,
}

/// One data set of one or more files, possibly of different formats.
///
/// Opening reads only headers and footers, and the columns of witnesses; every reading after it opens the files again.
#[derive(Debug)]
pub struct Table {
    schema: Schema,
    ignored: Vec<String>,
    set: Arc<DataSet>,
}

/// What a reading needs to know; shared with the threads that read.
#[derive(Debug)]
pub(crate) struct DataSet {
    pub(crate) members: Vec<Member>,
    pub(crate) options: ReadOptions,
    /// The cells of each view: one a class, or one a feature. A prediction is beside the views, as the last.
    pub(crate) widths: Vec<usize>,
    /// The number of further features of each view.
    pub(crate) features: Vec<usize>,
    pub(crate) clipped: AtomicU64,
    /// What the keys of segments stand for.
    names: Mutex<BTreeMap<u64, String>>,
    /// The rows of the files that have been read to their ends.
    lengths: Mutex<BTreeMap<usize, u64>>,
    /// The copies of pipes, which vanish with the table.
    _spooled: Vec<Spool>,
}

impl DataSet {
    /// Files whose views have these widths, and so many further features.
    pub(crate) fn new(
        members: Vec<Member>,
        options: ReadOptions,
        (widths, features): (Vec<usize>, Vec<usize>),
        spooled: Vec<Spool>,
    ) -> Arc<Self> {
        let (clipped, names, lengths) = (AtomicU64::new(0), Mutex::default(), Mutex::default());
        Arc::new(Self { members, options, widths, features, clipped, names, lengths, _spooled: spooled })
    }

    /// The number of rows, where the files say it without being read.
    pub(crate) fn rows(&self) -> Option<u64> {
        self.members.iter().try_fold(0_u64, |sum, member| sum.checked_add(member.rows?))
    }

    /// The columns that are not read, each once.
    pub(crate) fn ignored(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        let ignored = self.members.iter().flat_map(|member| &member.selection.ignored);
        ignored.filter(|column| seen.insert(*column)).cloned().collect()
    }

    /// The columns that go with their rows, and whether every file declares them to hold whole numbers.
    pub(crate) fn kept_columns(&self) -> Vec<(String, bool)> {
        let whole = |member: &'_ Member| -> HashSet<String> {
            let whole = member.selection.kept().filter(|column| column.whole);
            whole.map(|column| column.name.clone()).collect()
        };
        let whole: Vec<HashSet<String>> = self.members.iter().map(whole).collect();
        let is_whole = |name: &str| whole.iter().all(|of_file| of_file.contains(name));
        let first = self.members[0].selection.kept();
        first.map(|column| (column.name.clone(), is_whole(&column.name))).collect()
    }

    /// What the key of a segment stands for.
    pub(crate) fn name(&self, key: u64) -> Option<String> {
        self.names().get(&key).cloned()
    }

    /// What all keys of segments that were read stand for.
    pub(crate) fn all_names(&self) -> Vec<String> {
        self.names().values().cloned().collect()
    }
}

impl Table {
    /// Opens files that together are one data set: the same views and classes, in whatever order. `-` is standard
    /// input; it and other pipes are copied to a temporary file, so that they can be read twice.
    ///
    /// # Errors
    /// Whatever is wrong with a file that its header shows; see [`Error`].
    pub fn open(paths: &[PathBuf], options: &ReadOptions) -> Result<Table, Error> {
        Self::of(&Origin::files(paths), options)
    }

    /// The same of files and of what is in memory.
    ///
    /// # Errors
    /// As [`Table::open`]'s; [`Error::RecordsDiffer`] for record batches whose columns are not those of the first.
    pub fn of(origins: &[Origin], options: &ReadOptions) -> Result<Table, Error> {
        let (locations, spooled) = locate(origins, options.memory)?;
        let members = locations
            .into_iter()
            .map(|location| Member::open(location, options))
            .collect::<Result<Vec<Member>, Error>>()?;
        Self::of_members(members, options, spooled)
    }

    /// Arrow's record batches, whose columns are those of the first, as one data set. The arrays are shared, not copied.
    ///
    /// # Errors
    /// [`Error::RecordsDiffer`], and whatever is wrong with the columns; see [`Error`].
    pub fn of_records(records: Vec<RecordBatch>, options: &ReadOptions) -> Result<Table, Error> {
        Self::of(&[records.into()], options)
    }

    fn of_members(
        mut members: Vec<Member>,
        options: &ReadOptions,
        spooled: Vec<Spool>,
    ) -> Result<Table, Error> {
        let first = members.first().ok_or(Error::NoFiles)?.location.name.clone();
        // Lists in a file without rows have no length yet: then any file with rows says it.
        let named = members.iter().find(|member| !member.selection.classes.is_empty());
        let unnamed = || match members.iter().find(|member| !member.empty) {
            Some(Member { location, selection, .. }) => {
                Error::NoLists { path: location.name.clone(), column: selection.views[0].clone() }
            }
            None => Error::NoRows { path: first.clone() },
        };
        let named = named.ok_or_else(unnamed)?;
        if members.iter().all(|member| member.empty) {
            return Err(Error::NoRows { path: first });
        }
        let names = |features: &Vec<(String, usize)>| features.iter().map(|(name, _)| name.clone()).collect();
        let features = named.selection.features.iter().map(names).collect();
        let witnessed = witnesses(&members, options)?;
        let (views, classes) = (named.selection.views.clone(), named.selection.classes.clone());
        let schema = Schema::with_witnesses(views, classes, features, witnessed.clone())?;
        let like = named.location.name.clone();
        for Member { location, selection, .. } in &mut members {
            if selection.unmeasured().is_some() {
                selection.name_lists(&location.name, schema.k(), options)?;
            }
            selection.align(&location.name, &like, &schema)?;
        }
        keep_what_all_have(&mut members);
        let views = schema.scored().len();
        if options.prediction.is_some() && schema.views().len() == MOST_VIEWS {
            return Err(triview::Error::TooManyViews { views: MOST_VIEWS + 1, most: MOST_VIEWS }.into());
        }
        let places = views + usize::from(options.prediction.is_some());
        let features = (0..views).map(|view| schema.covariates(view).len()).collect();
        let options = ReadOptions { witnessed, ..options.clone() };
        let set = DataSet::new(members, options, (vec![schema.k(); places], features), spooled);
        Ok(Table { schema, ignored: set.ignored(), set })
    }

    /// Columns that are no scores, such as `label`.
    pub fn ignored_columns(&self) -> &[String] {
        &self.ignored
    }

    /// The number of rows, where the files say it without being read (all but CSV).
    pub fn rows(&self) -> Option<u64> {
        self.set.rows()
    }

    /// The columns that go with their rows, and whether every file declares them to hold whole numbers.
    pub fn kept_columns(&self) -> Vec<(String, bool)> {
        self.set.kept_columns()
    }

    /// Reads all rows from the first on, each batch with the texts of [`Table::kept_columns`], column by column; nothing where
    /// a cell is empty.
    ///
    /// # Errors
    /// Whatever keeps the files from being opened again.
    #[expect(clippy::type_complexity, reason = "rows, and columns of texts beside them")]
    pub fn keeping(
        &self,
    ) -> Result<impl Iterator<Item = Result<(Batch, Vec<Vec<Option<String>>>), Error>>, Error> {
        self.read(true)
    }

    fn read(&self, keeping: bool) -> Result<Batches, Error> {
        self.set.clipped.store(0, Ordering::Relaxed);
        Batches::new(Pipeline::new(self.set.clone(), keeping), self.set.options.prefetch)
            .map_err(|source| self.set.members[0].location.unreadable(source))
    }

    /// The columns that go with their rows, to be copied as they are: where all files are Parquet files with such columns of
    /// the same types, one value a row each.
    pub fn carried(&self) -> Option<Carried> {
        let files: Option<Vec<_>> = self.set.members.iter().map(Member::carried).collect();
        Carried::of(files?.into_iter())
    }

    /// How many probabilities the latest reading raised to 1e-15 because they were below it, most often zero.
    pub fn clipped(&self) -> u64 {
        self.set.clipped.load(Ordering::Relaxed)
    }

    /// The value of [`ReadOptions::segment`]'s column that a segment's key stands for, shortened if it is very long;
    /// `(missing)` for rows without one. Known once a batch with the segment has been read, and of the first
    /// hundred thousand segments only: no more than five thousand are ever answered.
    pub fn segment_name(&self, key: u64) -> Option<String> {
        self.set.name(key)
    }

    /// The same error, with the file and the row in it where the core named a row of the whole data set.
    pub fn in_file(&self, error: Error) -> Error {
        let Error::Core(triview::Error::LossNotFinite { loss, row, view, class, value }) = error else {
            return error;
        };
        let (path, row) = self.file_of(row);
        let source = triview::Error::LossNotFinite { loss, row, view, class, value };
        Error::InFile { path: path.into(), source }
    }

    /// The Arrow streams that end without saying so: whoever wrote one may have been stopped, and rows be missing.
    pub fn unended(&self) -> Vec<&Path> {
        let unended = |member: &&Member| matches!(&member.head, Head::Arrow(head) if !head.ended);
        self.set.members.iter().filter(unended).map(|member| member.location.name.as_path()).collect()
    }

    /// How many files, or tables in memory, make it up.
    pub fn files(&self) -> usize {
        self.set.members.len()
    }

    /// The file of a row of the data set that has been read, and its row there, both counted from zero.
    pub fn file_of(&self, row: u64) -> (&Path, u64) {
        let (member, row) = self.set.file_of(row);
        (&member.location.name, row)
    }
}

impl DataSet {
    fn names(&self) -> MutexGuard<'_, BTreeMap<u64, String>> {
        // Names are only ever added, each whole: a thread that panicked left none half-written.
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lengths(&self) -> MutexGuard<'_, BTreeMap<usize, u64>> {
        self.lengths.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps how many rows a file has, once it has been read to its end.
    pub(crate) fn keep_length(&self, member: usize, rows: u64) {
        self.lengths().insert(member, rows);
    }

    /// The file of a row of the data set that has been read, and its row there, both counted from zero.
    pub(crate) fn file_of(&self, mut row: u64) -> (&Member, u64) {
        let lengths = self.lengths();
        let last = self.members.len() - 1;
        for (at, member) in self.members.iter().enumerate() {
            match lengths.get(&at) {
                Some(rows) if *rows <= row && at < last => row -= rows,
                _ => return (member, row),
            }
        }
        (&self.members[last], row)
    }

    /// Keeps the names of segments, until there are more than anybody asks for.
    pub(crate) fn keep_names(&self, found: BTreeMap<u64, String>) {
        const MOST: usize = 100_000;
        if found.is_empty() {
            return;
        }
        let mut names = self.names();
        for (key, name) in found {
            if names.len() == MOST {
                break;
            }
            names.entry(key).or_insert(name);
        }
    }
}

impl Source for Table {
    type Schema = Schema;
    type Batch = Batch;
    type Error = Error;

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn batches(&self) -> Result<triview::data::Batches<'_, Batch, Error>, Error> {
        Ok(Box::new(self.read(false)?.map(|read| Ok(Arc::new(read?.0)))))
    }
}

/// What the witnesses' values are: as they are known, or counted over all rows.
fn witnesses(members: &[Member], options: &ReadOptions) -> Result<Vec<Witness>, Error> {
    let known = |name: &String| options.witnessed.iter().find(|witness| witness.name() == name).cloned();
    let known: Vec<Option<Witness>> = options.witnesses.iter().map(known).collect();
    let mut counted = vec![Counted::default(); known.len()];
    for member in members {
        let of_place = |place: usize| {
            let column = member.selection.keys.iter().find(|key| key.purpose == Purpose::Witness(place));
            Some((column?.at, place)).filter(|_| known[place].is_none())
        };
        let mut wanted: Vec<(usize, usize)> = (0..known.len()).filter_map(of_place).collect();
        wanted.sort_unstable();
        let columns: Vec<usize> = wanted.iter().map(|(at, _)| *at).collect();
        if columns.is_empty() {
            continue;
        }
        member.texts(&columns, &mut |_, texts| {
            for ((_, place), text) in wanted.iter().zip(texts) {
                counted[*place].add(&String::from_utf8_lossy(text));
            }
            Ok(())
        })?;
    }
    let all = options.witnesses.iter().zip(known).zip(counted);
    all.map(|((name, known), counted)| Ok(known.map_or_else(|| counted.witness(name), Ok)?)).collect()
}

/// Lets only those columns go with their rows that every file has.
pub(crate) fn keep_what_all_have(members: &mut [Member]) {
    let Some((first, others)) = members.split_first() else { return };
    let names = |member: &'_ Member| -> HashSet<String> {
        member.selection.kept().map(|column| column.name.clone()).collect()
    };
    let others: Vec<HashSet<String>> = others.iter().map(names).collect();
    let kept = first.selection.kept().map(|column| column.name.clone());
    let kept: Vec<String> = kept.filter(|name| others.iter().all(|other| other.contains(name))).collect();
    members.iter_mut().for_each(|member| member.selection.keep(&kept));
}

/// The most files that stay open as long as they may be read again: systems grant a process some hundreds.
const MOST_HELD: usize = 100;

/// Where the files are; `-` is standard input, and it and other pipes are copied to temporary files.
pub(crate) fn locate(origins: &[Origin], memory: Memory) -> Result<(Vec<Location>, Vec<Spool>), Error> {
    let mut spooled = Vec::new();
    let mut locations: Vec<Location> = Vec::new();
    for origin in origins {
        let path = match origin {
            Origin::File(path) => path,
            Origin::Records(records) => {
                locations.push(Location::of_records(records));
                continue;
            }
        };
        let location = Location::of(path).within(memory).held(locations.len() < MOST_HELD);
        let location = if path == Path::new("-") {
            let location = Location::of(Path::new("standard input")).within(memory);
            spool(&location, io::stdin().lock(), &mut spooled)?
        } else if location.is_pipe() {
            spool(&location, location.open()?, &mut spooled)?
        } else {
            location
        };
        locations.push(unrolled(unpacked(location, &mut spooled)?, &mut spooled)?);
    }
    Ok((locations, spooled))
}

/// Copies a pipe to a temporary file.
fn spool(location: &Location, mut pipe: impl Read, spooled: &mut Vec<Spool>) -> Result<Location, Error> {
    let copy = Spool::new().and_then(|mut file| io::copy(&mut pipe, &mut file).map(|_| file));
    let file = copy.map_err(|source| location.unreadable(source))?;
    let path = file.path().to_owned();
    spooled.push(file);
    Ok(location.copied_to(&path))
}

/// Something that appends a file's rows to batches.
pub(crate) trait Reader: Send {
    /// Appends rows until the batch is full or the file ends. Says how many; none only at the end.
    fn fill(&mut self, pending: &mut Pending) -> Result<usize, Error>;
}

/// What is done with a row: its number in the file, and the text of the columns that were asked for.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(u64, &[&[u8]]) -> Result<(), Error>;

/// What the beginning or end of a file tells.
#[derive(Debug)]
pub(crate) struct Inspection<H> {
    pub(crate) head: H,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Option<u64>,
    pub(crate) empty: bool,
}

/// One file of a data set.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) location: Location,
    pub(crate) selection: Selection,
    head: Head,
    pub(crate) rows: Option<u64>,
    pub(crate) empty: bool,
}

/// What each format needs to read its rows.
#[derive(Debug)]
enum Head {
    Csv(csv::Header),
    Parquet(ArrowReaderMetadata),
    Arrow(ipc::Head),
    Npy(npy::Header),
    Records(Records),
}

impl Member {
    fn open(location: Location, options: &ReadOptions) -> Result<Self, Error> {
        Self::inspect(location, |path, columns| select(path, columns, options))?.measured(options)
    }

    /// The same with the classes of lists named, where their length is known.
    fn measured(self, options: &ReadOptions) -> Result<Self, Error> {
        let mut member = self;
        if let Some(column) = member.selection.unmeasured()
            && let Some(k) = member.list_length(column)?
        {
            member.selection.name_lists(&member.location.name, k, options)?;
        }
        Ok(member)
    }

    /// Opens a file, or what is in memory in its place, whose columns `select` chooses from.
    pub(crate) fn inspect(
        location: Location,
        select: impl FnOnce(&Path, &[Column]) -> Result<Selection, Error>,
    ) -> Result<Self, Error> {
        let inspection = match &location.records {
            Some(records) => arrow::inspect(records).map(|found| found.map(Head::Records)),
            None => location.unless_changed(inspect(&location)),
        };
        let Inspection { head, columns, rows, empty } = inspection?;
        let selection = select(&location.name, &columns)?;
        Ok(Self { location, selection, head, rows, empty })
    }

    /// Where the columns that go with their rows are, in their order, if it is a Parquet file.
    fn carried(&self) -> Option<(&Location, &ArrowReaderMetadata, Vec<usize>)> {
        let Head::Parquet(head) = &self.head else { return None };
        let mut places = vec![None; self.selection.kept().count()];
        for column in self.selection.kept() {
            if let Purpose::Kept(place) = column.purpose {
                places[place] = Some(column.at);
            }
        }
        // Columns of one name would have one place.
        let places: Option<Vec<usize>> = places.into_iter().collect();
        Some((&self.location, head, places.filter(|places| !places.is_empty())?))
    }

    /// The length of the first list of a column, where the file has such a list.
    pub(crate) fn list_length(&self, column: usize) -> Result<Option<usize>, Error> {
        self.location.unless_changed(match &self.head {
            Head::Parquet(head) => parquet::list_length(&self.location, head, column),
            Head::Arrow(head) => ipc::list_length(&self.location, &head.schema, column),
            Head::Records(records) => arrow::list_length(records, column),
            Head::Csv(_) | Head::Npy(_) => Ok(None),
        })
    }

    /// Reads the rows from the first on, in chunks that suit batches of `chunk` rows; with the columns that go with them, or without.
    pub(crate) fn read(&self, chunk: usize, prefetch: bool, keeping: bool) -> Result<Box<dyn Reader>, Error> {
        let location = &self.location;
        let bare;
        let selection = match keeping || self.selection.kept().next().is_none() {
            true => &self.selection,
            false => {
                bare = self.selection.bare();
                &bare
            }
        };
        Ok(match &self.head {
            Head::Csv(header) => Box::new(csv::read(location, header, selection)?),
            Head::Parquet(head) => parquet::read(location, head, selection, chunk, prefetch)?,
            Head::Arrow(head) => Box::new(ipc::read(location, &head.schema, selection, chunk)?),
            Head::Npy(header) => Box::new(npy::read(location, header, selection)?),
            Head::Records(records) => arrow::read(location, records, selection),
        })
    }
}

impl Member {
    /// Gives the text of some columns, ascending, to `visit` row by row; what is missing has none.
    pub(crate) fn texts(&self, columns: &[usize], visit: Visit<'_>) -> Result<(), Error> {
        self.location.unless_changed(match &self.head {
            Head::Csv(header) => csv::texts(&self.location, header, columns, visit),
            Head::Parquet(head) => parquet::texts(&self.location, head, columns, visit),
            Head::Arrow(head) => ipc::texts(&self.location, &head.schema, columns, visit),
            Head::Records(records) => arrow::texts(&self.location, records, columns, visit),
            // An array has numbers only.
            Head::Npy(_) => Err(Error::NoVotes { path: self.location.name.clone(), found: Vec::new() }),
        })
    }
}

/// Looks at the beginning and the end of a file.
fn inspect(location: &Location) -> Result<Inspection<Head>, Error> {
    Ok(match Format::detect(&mut location.open()?, &location.name)? {
        Format::Csv => csv::inspect(location)?.map(Head::Csv),
        Format::Parquet => parquet::inspect(location)?.map(Head::Parquet),
        Format::Arrow => ipc::inspect(location)?.map(Head::Arrow),
        Format::Npy => npy::inspect(location)?.map(Head::Npy),
    })
}

impl<H> Inspection<H> {
    fn map<T>(self, make: impl FnOnce(H) -> T) -> Inspection<T> {
        let Inspection { head, columns, rows, empty } = self;
        Inspection { head: make(head), columns, rows, empty }
    }
}
