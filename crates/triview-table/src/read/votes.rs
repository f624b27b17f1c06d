//! Tables of votes: one row a vote, or one row an item with a column for each annotator.

use crate::error::{Error, nearest, shortened};
use crate::read::columns::{Column, Kind, Selection};
use crate::read::hash::Fnv;
use crate::read::table::{Member, locate};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use triview::votes::{Vote, Votes};

/// The columns of a table with one row a vote, under the names that crowds' tables have.
const LONG: [[&str; 2]; 3] = [["item", "task"], ["annotator", "worker"], ["vote", "label"]];
/// Columns of a table with one row an item that are never annotators.
const NO_ANNOTATORS: [&str; 4] = ["item", "task", "label", "truth"];
/// So many votes that nobody else gives, each of them once, are names of items.
const FEWEST_NAMES: usize = 20;
/// Votes that differ more than this are not classes.
const MOST_CLASSES: usize = 1000;

/// What to read of a table of votes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VoteOptions {
    /// The annotators: of a table with one row an item the columns to read. Otherwise all.
    pub annotators: Option<Vec<String>>,
    /// The classes, in this order; otherwise what is voted for, numbers in their order, then text in its.
    pub classes: Option<Vec<String>>,
}

/// Votes that were read, and the names of what their numbers stand for.
///
/// Memory grows with the number of votes: some eight bytes each, and the names of the items.
#[derive(Debug)]
pub struct VoteTable {
    /// The votes.
    pub votes: Votes,
    /// Names of the items that have a vote: the column `item`, or the numbers of the rows.
    pub items: Vec<String>,
    /// Names of the annotators.
    pub annotators: Vec<String>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Columns that were not read.
    pub ignored: Vec<String>,
    /// Rows of items without a vote, which were left out.
    pub unvoted: u64,
}

/// Where the votes of a file are.
enum Layout {
    /// The columns of item, annotator and vote.
    Long([usize; 3]),
    /// The column that names the item, if any, and those of annotators, with their names.
    Wide(Option<usize>, Vec<(usize, String)>),
}

impl VoteTable {
    /// Reads files that together are one data set; `-` is standard input. Votes and names are compared as text, blanks
    /// around it taken away; whole numbers that a program wrote as `3.0` are `3`.
    ///
    /// # Errors
    /// Whatever is wrong with a file or its votes; see [`Error`].
    pub fn read(paths: &[PathBuf], options: &VoteOptions) -> Result<Self, Error> {
        let (locations, _spooled) = locate(paths)?;
        let first = locations.first().ok_or(Error::NoFiles)?.name.clone();
        let mut reading = Reading::new(options);
        let (mut ignored, mut empty) = (Vec::new(), true);
        for location in locations {
            let mut layout = None;
            let member = Member::inspect(location, |path, columns| {
                let (found, rest) = lay_out(path, columns, options)?;
                layout = Some(found);
                Ok(Selection::of_text(rest))
            })?;
            for name in &member.selection.ignored {
                if !ignored.contains(name) {
                    ignored.push(name.clone());
                }
            }
            empty &= member.empty;
            match layout {
                Some(Layout::Long(columns)) => reading.long(&member, columns)?,
                Some(Layout::Wide(item, annotators)) => reading.wide(&member, item, &annotators)?,
                None => {}
            }
        }
        if empty {
            return Err(Error::NoRows { path: first });
        }
        reading.finish(first, ignored, options)
    }
}

/// Finds the columns of votes, and the names of the others.
fn lay_out(path: &Path, columns: &[Column], options: &VoteOptions) -> Result<(Layout, Vec<String>), Error> {
    let at = |name: &str| columns.iter().position(|column| column.name == name);
    let [item, annotator, vote] = LONG.map(|names| names.iter().find_map(|name| at(name)));
    let rest = |used: &[usize]| {
        let others = columns.iter().enumerate().filter(|(at, _)| !used.contains(at));
        others.map(|(_, column)| column.name.clone()).collect()
    };
    if let (Some(item), Some(annotator), Some(vote)) = (item, annotator, vote) {
        let used = [item, annotator, vote];
        return Ok((Layout::Long(used), rest(&used)));
    }
    let offered = |column: &Column| {
        !matches!(column.kind, Kind::List(_)) && !NO_ANNOTATORS.contains(&column.name.as_str())
    };
    let found: Vec<String> = columns.iter().filter(|c| offered(c)).map(|c| c.name.clone()).collect();
    let annotators: Vec<usize> = match &options.annotators {
        None => (0..columns.len()).filter(|at| offered(&columns[*at])).collect(),
        Some(wanted) => {
            let find = |view: &String| {
                at(view).ok_or_else(|| Error::NoSuchAnnotator {
                    path: path.into(),
                    view: view.clone(),
                    found: found.clone(),
                    nearest: nearest(view, found.iter().map(String::as_str)),
                })
            };
            wanted.iter().map(find).collect::<Result<_, _>>()?
        }
    };
    if annotators.len() < 3 {
        return Err(Error::NoVotes { path: path.into(), found });
    }
    let used: Vec<usize> = annotators.iter().copied().chain(item).collect();
    let annotators = annotators.into_iter().map(|at| (at, columns[at].name.clone())).collect();
    Ok((Layout::Wide(item, annotators), rest(&used)))
}

/// Names, each with the number that it was first met as.
#[derive(Default)]
struct Names {
    all: Vec<String>,
    numbers: HashMap<Vec<u8>, u32, Fnv>,
}

impl Names {
    fn find(&self, name: &[u8]) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    fn number(&mut self, name: &[u8]) -> u32 {
        if let Some(known) = self.find(name) {
            return known;
        }
        let number = self.all.len() as u32;
        self.all.push(String::from_utf8_lossy(name).into_owned());
        self.numbers.insert(name.to_vec(), number);
        number
    }
}

/// What was read so far.
struct Reading {
    votes: Vec<Vote>,
    items: Names,
    annotators: Names,
    classes: Names,
    /// Whether classes were named beforehand.
    named: bool,
    /// Whether annotators were, of whom alone votes are wanted.
    chosen: bool,
    /// Rows of tables with one an item, read so far.
    rows: u64,
    unvoted: u64,
}

impl Reading {
    fn new(options: &VoteOptions) -> Self {
        let names = |given: &Option<Vec<String>>| {
            let mut names = Names::default();
            given.iter().flatten().for_each(|name| {
                names.number(name.as_bytes());
            });
            names
        };
        Self {
            votes: Vec::new(),
            items: Names::default(),
            annotators: names(&options.annotators),
            classes: names(&options.classes),
            named: options.classes.is_some(),
            chosen: options.annotators.is_some(),
            rows: 0,
            unvoted: 0,
        }
    }

    /// The number of a vote's class.
    fn class(&mut self, path: &Path, row: u64, column: &str, vote: &[u8]) -> Result<u32, Error> {
        let vote = whole(vote);
        if let Some(known) = self.classes.find(vote) {
            return Ok(known);
        }
        let text = || shortened(&String::from_utf8_lossy(vote), 40);
        let (path, column) = (path.to_owned(), column.to_owned());
        if self.named {
            let classes = self.classes.all.clone();
            return Err(Error::UnknownVote { path, row, column, vote: text(), classes });
        }
        if self.classes.all.len() == MOST_CLASSES {
            return Err(Error::TooManyVotes { path, row, column, vote: text(), most: MOST_CLASSES });
        }
        Ok(self.classes.number(vote))
    }

    /// Reads a file with one row a vote.
    fn long(&mut self, member: &Member, columns: [usize; 3]) -> Result<(), Error> {
        let path = member.location.name.clone();
        let mut sorted = columns;
        sorted.sort_unstable();
        let place = columns.map(|column| sorted.iter().position(|at| *at == column).unwrap_or(0));
        member.texts(&sorted, &mut |row, texts| {
            let [item, annotator, vote] = place.map(|at| texts[at]);
            let null = |column: &str| Error::Null { path: path.clone(), row, column: column.to_owned() };
            if item.is_empty() {
                return Err(null(LONG[0][0]));
            }
            if annotator.is_empty() {
                return Err(null(LONG[1][0]));
            }
            if vote.is_empty() || (self.chosen && self.annotators.find(annotator).is_none()) {
                return Ok(());
            }
            let class = self.class(&path, row, LONG[2][0], vote)?;
            let vote =
                Vote { item: self.items.number(item), annotator: self.annotators.number(annotator), class };
            self.votes.push(vote);
            Ok(())
        })
    }

    /// Reads a file with one row an item.
    fn wide(
        &mut self,
        member: &Member,
        item: Option<usize>,
        annotators: &[(usize, String)],
    ) -> Result<(), Error> {
        let path = member.location.name.clone();
        let mut sorted: Vec<usize> = annotators.iter().map(|(at, _)| *at).chain(item).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let place = |column: usize| sorted.iter().position(|at| *at == column).unwrap_or(0);
        let named = item.map(place);
        let columns: Vec<(usize, u32)> = annotators
            .iter()
            .map(|(column, name)| (place(*column), self.annotators.number(name.as_bytes())))
            .collect();
        member.texts(&sorted, &mut |row, texts| {
            self.rows += 1;
            let number = self.items.all.len() as u32;
            let before = self.votes.len();
            for ((at, annotator), (_, column)) in columns.iter().zip(annotators) {
                if !texts[*at].is_empty() {
                    let class = self.class(&path, row, column, texts[*at])?;
                    self.votes.push(Vote { item: number, annotator: *annotator, class });
                }
            }
            if self.votes.len() == before {
                self.unvoted += 1;
                return Ok(());
            }
            // Each row is an item of its own, whatever it is called.
            let name = named.map(|at| String::from_utf8_lossy(texts[at]).into_owned());
            self.items.all.push(name.unwrap_or_else(|| self.rows.to_string()));
            Ok(())
        })
    }

    /// A column of a table with one row an item whose every vote is given once, by nobody else; and how many it has.
    fn names_of_rows(&self) -> Option<(usize, usize)> {
        let mut given = vec![0_u32; self.classes.all.len()];
        self.votes.iter().for_each(|vote| given[vote.class as usize] += 1);
        let mut of_annotator = vec![[0_usize; 2]; self.annotators.all.len()];
        for vote in &self.votes {
            let [all, alone] = &mut of_annotator[vote.annotator as usize];
            *all += 1;
            *alone += usize::from(given[vote.class as usize] == 1);
        }
        let names = |[all, alone]: &[usize; 2]| self.rows > 0 && *all >= FEWEST_NAMES && all == alone;
        of_annotator.iter().position(names).map(|annotator| (annotator, of_annotator[annotator][0]))
    }

    /// Puts classes in order, and checks what only all votes together show.
    fn finish(
        mut self,
        path: PathBuf,
        ignored: Vec<String>,
        options: &VoteOptions,
    ) -> Result<VoteTable, Error> {
        let k = self.classes.all.len();
        if let Some((annotator, rows)) = self.names_of_rows() {
            let column = self.annotators.all[annotator].clone();
            return Err(Error::NoVoter { path, column, rows });
        }
        let mut order: Vec<usize> = (0..k).collect();
        if options.classes.is_none() {
            order.sort_by(|&a, &b| in_order(&self.classes.all[a], &self.classes.all[b]));
        }
        let mut place = vec![0; k];
        order.iter().enumerate().for_each(|(to, &from)| place[from] = to as u32);
        self.votes.iter_mut().for_each(|vote| vote.class = place[vote.class as usize]);
        let classes: Vec<String> = order.iter().map(|&from| self.classes.all[from].clone()).collect();
        let mut voted = vec![false; k];
        self.votes.iter().for_each(|vote| voted[vote.class as usize] = true);
        if voted.iter().filter(|voted| **voted).count() < 2 {
            let classes = classes.into_iter().zip(voted).filter(|(_, voted)| *voted).map(|(class, _)| class);
            return Err(Error::OneClass { path, classes: classes.collect() });
        }
        if let Some(class) = voted.iter().position(|voted| !voted) {
            return Err(Error::NobodysClass { path, class: classes[class].clone() });
        }
        let (annotators, items) = (self.annotators.all, self.items.all);
        let votes =
            Votes::new(k, annotators.len(), items.len(), &self.votes).map_err(|error| match error {
                triview::Error::DuplicateVote { item, annotator } => Error::TwoVotes {
                    path,
                    annotator: annotators[annotator].clone(),
                    item: items[item].clone(),
                },
                other => other.into(),
            })?;
        Ok(VoteTable { votes, items, annotators, classes, ignored, unvoted: self.unvoted })
    }
}

/// A whole number without the decimals that programs give to columns with gaps.
fn whole(vote: &[u8]) -> &[u8] {
    match vote.strip_suffix(b".0") {
        Some(digits)
            if !digits.is_empty() && digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-') =>
        {
            digits
        }
        _ => vote,
    }
}

/// Numbers by their size, then text by its letters.
fn in_order(a: &str, b: &str) -> std::cmp::Ordering {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| !number.is_nan());
    match (number(a), number(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y).then_with(|| a.cmp(b)),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}
