//! Tables of votes: one row a vote, or one row an item with a column for each annotator.

mod gold;
mod layout;

use crate::error::{Error, shortened};
use crate::memory::Memory;
use crate::read::columns::Selection;
use crate::read::hash::Fnv;
use crate::read::origin::Origin;
use crate::read::table::{Keep, Member, locate};
use gold::Given;
pub(crate) use layout::is_of_votes;
use layout::{Layout, Role, Rows, lay_out};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use triview::votes::{Vote, Votes};

/// So many votes that nobody else gives, each of them once, are names of items.
const FEWEST_NAMES: usize = 20;
/// Votes that differ more than this are not classes, unless they are named.
const MOST_CLASSES: usize = 200;

/// What to read of a table of votes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VoteOptions {
    /// The annotators: of a table with one row an item the columns to read. Otherwise all.
    pub annotators: Option<Vec<String>>,
    /// The classes, in this order; otherwise what is voted for, numbers in their order, then text in its.
    pub classes: Option<Vec<String>>,
    /// The column of items; otherwise by its name.
    pub item: Option<String>,
    /// The column of annotators of a table with one row a vote; otherwise by its name.
    pub annotator: Option<String>,
    /// The column of votes of a table with one row a vote; otherwise by its name.
    pub vote: Option<String>,
    /// The column with the class of the items for which it is known, in the table or in that of `gold`.
    pub label: Option<String>,
    /// A table of items and their classes, where these are known.
    pub gold: Option<Origin>,
    /// Votes are numbers, and classes what lies between these.
    pub cuts: Option<Vec<f64>>,
    /// Columns that go with their items: of a table with one row a vote those that are the same in all rows of an item.
    pub keep: Keep,
    /// The most memory that decoding may take; the votes themselves are kept beside it.
    pub memory: Memory,
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
    /// Votes that were given twice, by the same annotator on the same item for the same class, and counted once.
    pub repeated: u64,
    /// The names of the columns that go with the items, and of each the text that an item has.
    pub kept: Vec<(String, Vec<Option<String>>)>,
    /// Columns that differ within an item, and so cannot go with it.
    pub varying: Vec<String>,
}

impl VoteTable {
    /// Reads files that together are one data set; `-` is standard input. Votes and names are compared as text, blanks
    /// around it taken away; whole numbers that a program wrote as `3.0` are `3`.
    ///
    /// # Errors
    /// Whatever is wrong with a file or its votes; see [`Error`].
    pub fn read(paths: &[PathBuf], options: &VoteOptions) -> Result<Self, Error> {
        Self::of(&Origin::files(paths), options)
    }

    /// The same of files and of what is in memory.
    ///
    /// # Errors
    /// As [`VoteTable::read`]'s.
    pub fn of(origins: &[Origin], options: &VoteOptions) -> Result<Self, Error> {
        let (locations, _spooled) = locate(origins, options.memory)?;
        let first = locations.first().ok_or(Error::NoFiles)?.name.clone();
        let mut reading = Reading::new(options);
        let (mut ignored, mut empty) = (Vec::new(), true);
        for location in locations {
            let mut layout = None;
            let member = Member::inspect(location, |path, columns| {
                let found = lay_out(path, columns, options)?;
                let ignored = found.ignored.clone();
                layout = Some(found);
                Ok(Selection::of_text(ignored))
            })?;
            for name in &member.selection.ignored {
                if !ignored.contains(name) {
                    ignored.push(name.clone());
                }
            }
            empty &= member.empty;
            let Some(layout) = layout else { continue };
            match &layout.rows {
                Rows::OfVotes(columns) => reading.long(&member, *columns, &layout)?,
                Rows::OfItems(item, annotators) => reading.wide(&member, *item, annotators, &layout)?,
            }
        }
        if empty {
            return Err(Error::NoRows { path: first });
        }
        reading.finish(first, ignored, options)
    }
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
    gold: Vec<Option<Given>>,
    kept: Vec<Kept>,
    /// Where numbers are cut into classes.
    cuts: Option<Vec<f64>>,
}

/// A column that goes with the items.
struct Kept {
    name: String,
    values: Vec<Option<String>>,
    /// Whether it differs within an item.
    varies: bool,
}

/// What else is read of a row: places in its texts.
struct Beside {
    gold: Option<usize>,
    /// Of each column that goes with the items, its place and its number among them.
    kept: Vec<(usize, usize)>,
}

impl Reading {
    fn new(options: &VoteOptions) -> Self {
        let cut: Option<Vec<String>> =
            options.cuts.as_ref().map(|cuts| (0..=cuts.len()).map(|at| between(cuts, at)).collect());
        let classes = options.classes.clone().or(cut);
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
            classes: names(&classes),
            named: classes.is_some(),
            chosen: options.annotators.is_some(),
            rows: 0,
            unvoted: 0,
            gold: Vec::new(),
            kept: Vec::new(),
            cuts: options.cuts.clone(),
        }
    }

    /// The columns of a file that are read, ascending, those of votes given; and where the others are among them.
    fn columns(&mut self, votes: impl Iterator<Item = usize>, layout: &Layout) -> (Vec<usize>, Beside) {
        let mut sorted: Vec<usize> =
            votes.chain(layout.gold).chain(layout.kept.iter().map(|(at, _)| *at)).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let kept = layout.kept.iter().map(|(at, name)| {
            let known = self.kept.iter().position(|kept| kept.name == *name);
            let number = known.unwrap_or_else(|| {
                self.kept.push(Kept { name: name.clone(), values: Vec::new(), varies: false });
                self.kept.len() - 1
            });
            (place(&sorted, *at), number)
        });
        let kept = kept.collect();
        let gold = layout.gold.map(|at| place(&sorted, at));
        (sorted, Beside { gold, kept })
    }

    /// Keeps what a row has beside its votes.
    fn beside(
        &mut self,
        path: &Path,
        row: u64,
        item: u32,
        beside: &Beside,
        texts: &[&[u8]],
    ) -> Result<(), Error> {
        let at = item as usize;
        if let Some(place) = beside.gold {
            self.gold.resize(self.items.all.len().max(at + 1), None);
            let class = known_class(self.cuts.as_deref(), texts[place]);
            if !class.is_empty() {
                let name = self.items.all.get(at).cloned().unwrap_or_default();
                Given { class, path: path.to_owned(), row }.put(&mut self.gold[at], &name)?;
            }
        }
        for &(place, number) in &beside.kept {
            let kept = &mut self.kept[number];
            let text = match texts[place] {
                [] => None,
                text => Some(String::from_utf8_lossy(text).into_owned()),
            };
            if at < kept.values.len() {
                kept.varies |= kept.values[at] != text;
            } else {
                kept.values.resize(at, None);
                kept.values.push(text);
            }
        }
        Ok(())
    }

    /// A vote as the name of its class: a number as what it lies between, where there are cuts.
    fn cut<'a>(&self, path: &Path, row: u64, column: &str, vote: &'a [u8]) -> Result<Cow<'a, [u8]>, Error> {
        let Some(cuts) = &self.cuts else { return Ok(Cow::Borrowed(vote)) };
        let class = cut(cuts, vote).ok_or_else(|| Error::NoNumber {
            path: path.to_owned(),
            row,
            column: column.to_owned(),
            vote: shortened(&String::from_utf8_lossy(vote), 40),
        })?;
        Ok(Cow::Owned(class.into_bytes()))
    }

    /// The number of a vote's class.
    fn class(&mut self, path: &Path, row: u64, column: &str, vote: &[u8]) -> Result<u32, Error> {
        let vote = &*self.cut(path, row, column, whole(vote))?;
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
    fn long(&mut self, member: &Member, columns: [usize; 3], layout: &Layout) -> Result<(), Error> {
        let path = member.location.name.clone();
        let (sorted, beside) = self.columns(columns.into_iter(), layout);
        let places = columns.map(|column| place(&sorted, column));
        member.texts(&sorted, &mut |row, texts| {
            let [item, annotator, vote] = places.map(|at| texts[at]);
            let null = |role: Role| Error::Null { path: path.clone(), row, column: role.name().to_owned() };
            if item.is_empty() {
                return Err(null(Role::Item));
            }
            if annotator.is_empty() {
                return Err(null(Role::Annotator));
            }
            if vote.is_empty() || (self.chosen && self.annotators.find(annotator).is_none()) {
                return Ok(());
            }
            let class = self.class(&path, row, Role::Vote.name(), vote)?;
            let item = self.items.number(item);
            self.votes.push(Vote { item, annotator: self.annotators.number(annotator), class });
            self.beside(&path, row, item, &beside, texts)
        })
    }

    /// Reads a file with one row an item.
    fn wide(
        &mut self,
        member: &Member,
        item: Option<usize>,
        annotators: &[(usize, String)],
        layout: &Layout,
    ) -> Result<(), Error> {
        let path = member.location.name.clone();
        let (sorted, beside) = self.columns(annotators.iter().map(|(at, _)| *at).chain(item), layout);
        let named = item.map(|at| place(&sorted, at));
        let columns: Vec<(usize, u32)> = annotators
            .iter()
            .map(|(column, name)| (place(&sorted, *column), self.annotators.number(name.as_bytes())))
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
            if name.as_ref().is_some_and(String::is_empty) {
                return Err(Error::Null { path: path.clone(), row, column: Role::Item.name().to_owned() });
            }
            self.items.all.push(name.unwrap_or_else(|| self.rows.to_string()));
            self.beside(&path, row, number, &beside, texts)
        })
    }

    /// A column of a table with one row an item that shares no vote with any other, and how many different ones it has.
    fn alone(&self) -> Option<(usize, usize)> {
        const NOBODY: u32 = u32::MAX;
        let mut only = vec![NOBODY; self.classes.all.len()];
        let mut shares = vec![false; self.annotators.all.len()];
        for vote in &self.votes {
            let giver = &mut only[vote.class as usize];
            if *giver == NOBODY {
                *giver = vote.annotator;
            } else if *giver != vote.annotator {
                shares[*giver as usize] = true;
                shares[vote.annotator as usize] = true;
            }
        }
        let mut given = vec![0; self.annotators.all.len()];
        only.iter().filter(|giver| **giver != NOBODY).for_each(|giver| given[*giver as usize] += 1);
        (0..given.len())
            .find(|&a| self.rows > 0 && !self.chosen && !shares[a] && given[a] > 1)
            .map(|a| (a, given[a]))
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
        if let Some((annotator, votes)) = self.alone() {
            let column = self.annotators.all[annotator].clone();
            return Err(Error::LoneVoter { path, column, votes });
        }
        let mut order: Vec<usize> = (0..k).collect();
        if !self.named {
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
        if let Some(origin) = &options.gold {
            gold::read(origin, &self.items.all, options, &mut self.gold)?;
        }
        self.gold.resize(self.items.all.len(), None);
        let mut names = Names::default();
        classes.iter().for_each(|class| {
            names.number(class.as_bytes());
        });
        let gold = gold::numbered(&self.gold, &names)?;
        let (annotators, items) = (self.annotators.all, self.items.all);
        let mut made = Votes::new(k, annotators.len(), items.len(), &self.votes);
        let mut repeated = 0;
        if matches!(made, Err(triview::Error::DuplicateVote { .. })) {
            repeated = once_each(&mut self.votes);
            made = Votes::new(k, annotators.len(), items.len(), &self.votes);
        }
        let votes = made.and_then(|votes| votes.with_gold(&gold)).map_err(|error| match error {
            triview::Error::DuplicateVote { item, annotator } => {
                let of_both = self.votes.iter().filter(|vote| vote.item as usize == item);
                let of_both = of_both.filter(|vote| vote.annotator as usize == annotator);
                Error::TwoVotes {
                    path,
                    annotator: annotators[annotator].clone(),
                    item: items[item].clone(),
                    votes: of_both.map(|vote| classes[vote.class as usize].clone()).collect(),
                }
            }
            other => other.into(),
        })?;
        for kept in &mut self.kept {
            kept.values.resize(items.len(), None);
        }
        let (varying, kept): (Vec<Kept>, Vec<Kept>) = self.kept.into_iter().partition(|kept| kept.varies);
        Ok(VoteTable {
            votes,
            items,
            annotators,
            classes,
            ignored,
            unvoted: self.unvoted,
            repeated,
            kept: kept.into_iter().map(|kept| (kept.name, kept.values)).collect(),
            varying: varying.into_iter().map(|kept| kept.name).collect(),
        })
    }
}

/// Where a column is among those that are read, which are ascending.
fn place(sorted: &[usize], column: usize) -> usize {
    sorted.binary_search(&column).unwrap_or(0)
}

/// The class of a number between cuts.
fn cut(cuts: &[f64], vote: &[u8]) -> Option<String> {
    let number: f64 = std::str::from_utf8(vote).ok()?.trim().parse().ok()?;
    (!number.is_nan()).then(|| between(cuts, cuts.iter().filter(|cut| number >= **cut).count()))
}

/// A class that is known, by its name or, where there are cuts, as a number.
fn known_class(cuts: Option<&[f64]>, class: &[u8]) -> String {
    let named = || String::from_utf8_lossy(whole(class)).into_owned();
    cuts.and_then(|cuts| cut(cuts, class)).unwrap_or_else(named)
}

/// The class of numbers between cuts, counted from that of the smallest.
fn between(cuts: &[f64], at: usize) -> String {
    match (at.checked_sub(1).map(|low| cuts[low]), cuts.get(at)) {
        (None, Some(high)) => format!("below {high}"),
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("{low} and above"),
        (None, None) => "all".to_owned(),
    }
}

/// Leaves out votes that are given again, and says how many.
fn once_each(votes: &mut Vec<Vote>) -> u64 {
    let before = votes.len();
    votes.sort_unstable_by_key(|vote| (vote.item, vote.annotator, vote.class));
    votes.dedup();
    (before - votes.len()) as u64
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
