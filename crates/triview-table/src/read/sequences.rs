//! Tables of sequences: one row a token, with the columns `sequence`, `position` and `emission:<state>`.

use crate::error::Error;
use crate::memory::Memory;
use crate::read::columns::{POSITION, Purpose, SEQUENCE, select_sequences};
use crate::read::origin::Origin;
use crate::read::pipeline::{Filled, Pipeline, known_labels, meant};
use crate::read::table::{DataSet, Member, ReadOptions, locate};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use triview::data::{Batches, Source};
use triview::sequences::Sequences;

/// The view of the emission scores and that of the position, as columns are selected.
const EMISSIONS: usize = 0;
const POSITIONS: usize = 1;

/// One data set of sequences in one or more files.
///
/// The rows of a sequence lie together, in the order of their positions, which count on from the same number in every
/// sequence. Two sequences that follow each other have different names. Opening reads only headers and footers.
#[derive(Debug)]
pub struct SequenceTable {
    states: Vec<String>,
    ignored: Vec<String>,
    set: Arc<DataSet>,
}

/// Some sequences, with their names and the position that each begins at.
#[derive(Debug)]
pub struct Named {
    /// The emission scores.
    pub sequences: Sequences,
    /// What the column `sequence` calls each.
    pub names: Vec<String>,
    /// The position of the first token of each.
    pub first: i64,
}

impl SequenceTable {
    /// Opens files that together are one data set; `-` is standard input. The states are put into the order given, which
    /// must name all of them.
    ///
    /// # Errors
    /// Whatever is wrong with a file that its header shows; see [`Error`].
    pub fn open(paths: &[PathBuf], states: &[String]) -> Result<Self, Error> {
        Self::of(&Origin::files(paths), states)
    }

    /// The same of files and of what is in memory.
    ///
    /// # Errors
    /// As [`SequenceTable::open`]'s.
    pub fn of(origins: &[Origin], states: &[String]) -> Result<Self, Error> {
        Self::labelled(origins, states, None)
    }

    /// The same with the true states of some whole sequences, from this column, empty elsewhere.
    ///
    /// # Errors
    /// As [`SequenceTable::open`]'s.
    pub fn labelled(origins: &[Origin], states: &[String], label: Option<&str>) -> Result<Self, Error> {
        let (locations, spooled) = locate(origins, Memory::default())?;
        let open = |location| {
            Member::inspect(location, |path, columns| select_sequences(path, columns, Some(states), label))
        };
        let members = locations.into_iter().map(open).collect::<Result<Vec<Member>, Error>>()?;
        let first = members.first().ok_or(Error::NoFiles)?;
        if members.iter().all(|member| member.empty) {
            return Err(Error::NoRows { path: first.location.name.clone() });
        }
        let set = DataSet::new(members, ReadOptions::default(), (vec![states.len(), 1], vec![0; 2]), spooled);
        Ok(Self { states: states.to_vec(), ignored: set.ignored(), set })
    }

    /// Columns that are neither scores nor names nor positions, such as `label`.
    pub fn ignored_columns(&self) -> &[String] {
        &self.ignored
    }

    /// The number of rows, where the files say it without being read (all but CSV).
    pub fn rows(&self) -> Option<u64> {
        self.set.rows()
    }

    /// Reads all sequences from the first on, with their names.
    pub fn named(&self) -> impl Iterator<Item = Result<Named, Error>> {
        Assembly {
            pipeline: Pipeline::new(self.set.clone(), false),
            k: self.states.len(),
            known: known_labels(&self.states),
            open: None,
            first: None,
            ended: false,
        }
    }
}

impl Source for SequenceTable {
    type Schema = Vec<String>;
    type Batch = Sequences;
    type Error = Error;

    fn schema(&self) -> &Vec<String> {
        &self.states
    }

    fn batches(&self) -> Result<Batches<'_, Sequences, Error>, Error> {
        Ok(Box::new(self.named().map(|named| Ok(Arc::new(named?.sequences)))))
    }
}

/// A sequence whose end has not been read yet.
struct Open {
    key: u64,
    name: String,
    next: i64,
    emission: Vec<f64>,
    /// The true states, where it has labels.
    states: Option<Vec<usize>>,
}

/// Puts rows together to sequences.
struct Assembly {
    pipeline: Pipeline,
    k: usize,
    /// What labels mean, by their keys.
    known: BTreeMap<u64, Option<usize>>,
    open: Option<Open>,
    /// The position that sequences begin at.
    first: Option<i64>,
    ended: bool,
}

impl Assembly {
    /// The sequences that end in the next rows; nothing after the last.
    fn fill(&mut self) -> Result<Option<Named>, Error> {
        let mut named = Named { sequences: Sequences::new(self.k), names: Vec::new(), first: 0 };
        while named.names.is_empty() {
            let Some(rows) = self.pipeline.rows()? else {
                self.ended = true;
                self.close(&mut named)?;
                break;
            };
            for row in 0..rows.pending.rows() {
                self.add(&rows, row, &mut named)?;
            }
        }
        named.first = self.first.unwrap_or(0);
        Ok((!named.names.is_empty()).then_some(named))
    }

    /// Adds a row to its sequence.
    fn add(&mut self, rows: &Filled, row: usize, named: &mut Named) -> Result<(), Error> {
        let (member, place) = rows.origin(row);
        let path = || member.location.name.clone();
        let null = |column: &str| Error::Null { path: path(), row: place, column: column.to_owned() };
        let Some((key, name)) = rows.pending.segment(row) else { return Err(null(SEQUENCE)) };
        if rows.pending.is_missing(POSITIONS, row) {
            return Err(null(POSITION));
        }
        if rows.pending.is_missing(EMISSIONS, row) {
            return Err(null(&member.selection.label(EMISSIONS, 0)));
        }
        let value = rows.pending.at(POSITIONS, 0, row);
        // Whole numbers beyond this are not all told apart by floating-point numbers.
        if value.fract() != 0.0 || value.abs() > 1e15 {
            return Err(Error::NotAPosition { path: path(), row: place, value });
        }
        let found = value as i64;
        if self.open.as_ref().is_none_or(|open| open.key != key) {
            self.close(named)?;
            let expected = *self.first.get_or_insert(found);
            if found != expected {
                let sequence = name.to_owned();
                return Err(Error::FirstPosition { path: path(), row: place, sequence, found, expected });
            }
            let states = self.label(rows, row, name)?.map(|_| Vec::new());
            self.open = Some(Open { key, name: name.to_owned(), next: found, emission: Vec::new(), states });
        }
        let label = self.label(rows, row, name)?;
        let Some(open) = &mut self.open else { return Ok(()) };
        if found != open.next {
            let (sequence, expected) = (open.name.clone(), open.next);
            return Err(Error::PositionOrder { path: path(), row: place, sequence, found, expected });
        }
        match (&mut open.states, label) {
            (None, None) => {}
            (Some(states), Some(label)) => states.push(label),
            (_, label) => {
                let (column, sequence) = (label_column(member), open.name.clone());
                let labelled = label.is_some();
                return Err(Error::PartlyLabelled { path: path(), row: place, column, sequence, labelled });
            }
        }
        open.next += 1;
        for state in 0..self.k {
            let value = rows.pending.at(EMISSIONS, state, row);
            if !value.is_finite() {
                let column = member.selection.label(EMISSIONS, state);
                return Err(Error::NotFinite { path: path(), row: place, column, value });
            }
            open.emission.push(value);
        }
        Ok(())
    }

    /// The true state of a row, where it has a label.
    fn label(&mut self, rows: &Filled, row: usize, sequence: &str) -> Result<Option<usize>, Error> {
        let Some((key, text)) = rows.pending.label(row) else { return Ok(None) };
        if let Some(state) = self.known.get(&key) {
            return Ok(*state);
        }
        let (member, place) = rows.origin(row);
        let states = &member.selection.classes;
        let Some(state) = meant(text.trim(), states) else {
            return Err(Error::NoSuchState {
                path: member.location.name.clone(),
                row: place,
                column: label_column(member),
                sequence: sequence.into(),
                label: text.into(),
                states: states.clone(),
            });
        };
        self.known.insert(key, state);
        Ok(state)
    }

    /// Ends the sequence that is open.
    fn close(&mut self, named: &mut Named) -> Result<(), Error> {
        if let Some(open) = self.open.take() {
            named.sequences.push_labelled(&open.emission, open.states)?;
            named.names.push(open.name);
        }
        Ok(())
    }
}

/// The column of labels of a file.
fn label_column(member: &Member) -> String {
    let label = member.selection.keys.iter().find(|key| key.purpose == Purpose::Label);
    label.map(|key| key.name.clone()).unwrap_or_default()
}

impl Iterator for Assembly {
    type Item = Result<Named, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let named = self.fill().transpose();
        self.ended |= !matches!(named, Some(Ok(_)));
        named
    }
}
