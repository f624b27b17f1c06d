//! Which column of a table of votes is what.

use super::VoteOptions;
use crate::error::{Error, nearest};
use crate::read::columns::{Column, Kind};
use crate::read::table::Keep;
use std::path::Path;

/// What a column of a table with one row a vote may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Item,
    Annotator,
    Vote,
}

impl Role {
    /// In words, and as what is named to say which column it is.
    pub(super) fn name(self) -> &'static str {
        match self {
            Role::Item => "item",
            Role::Annotator => "annotator",
            Role::Vote => "vote",
        }
    }

    /// The names that it is known by, small letters and digits alone: the first of those that lead are taken whatever else is there.
    fn known(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Role::Item => (
                &["item", "task"],
                &["itemid", "taskid", "question", "questionid", "unitid", "hitid", "exampleid", "documentid"],
            ),
            Role::Annotator => (
                &["annotator", "worker"],
                &["annotatorid", "workerid", "judge", "judgeid", "rater", "raterid", "labeler", "labeller"],
            ),
            Role::Vote => (
                &["vote", "label"],
                &["response", "answer", "annotation", "rating", "judgement", "judgment", "choice", "verdict"],
            ),
        }
    }

    fn asked(self, options: &VoteOptions) -> Option<&String> {
        match self {
            Role::Item => options.item.as_ref(),
            Role::Annotator => options.annotator.as_ref(),
            Role::Vote => options.vote.as_ref(),
        }
    }
}

/// Columns of a table with one row an item that are never annotators, beside those of items.
const NO_ANNOTATORS: [&str; 5] = ["label", "truth", "gold", "groundtruth", "gt"];
/// What columns of annotators may begin with; where three do, the others are none.
const PREFIXES: [&str; 2] = ["vote.", "vote:"];

/// Where the votes of a file are.
pub(super) enum Rows {
    /// One row a vote: the columns of item, annotator and vote.
    OfVotes([usize; 3]),
    /// One row an item: the column that names it, if any, and those of annotators, with their names.
    OfItems(Option<usize>, Vec<(usize, String)>),
}

/// Where all that is read of a file is.
pub(super) struct Layout {
    pub(super) rows: Rows,
    /// The column of gold.
    pub(super) gold: Option<usize>,
    /// Columns that go with their items, with their names.
    pub(super) kept: Vec<(usize, String)>,
    /// The names of the other columns.
    pub(super) ignored: Vec<String>,
}

/// Finds the columns of votes.
pub(super) fn lay_out(path: &Path, columns: &[Column], options: &VoteOptions) -> Result<Layout, Error> {
    let gold = options.label.as_ref().map(|name| named(path, columns, name)).transpose()?;
    let rows = rows(path, columns, options, gold)?;
    let mut used: Vec<usize> = match &rows {
        Rows::OfVotes(columns) => columns.to_vec(),
        Rows::OfItems(item, annotators) => annotators.iter().map(|(at, _)| *at).chain(*item).collect(),
    };
    used.extend(gold);
    let others = |at: &usize| !used.contains(at) && !matches!(columns[*at].kind, Kind::List(_));
    let with_name = |at: usize| (at, columns[at].name.clone());
    let kept: Vec<(usize, String)> = match &options.keep {
        Keep::Nothing => Vec::new(),
        Keep::All => (0..columns.len()).filter(others).map(with_name).collect(),
        Keep::Named(names) => {
            let find = |name: &String| named(path, columns, name).map(with_name);
            names.iter().map(find).collect::<Result<_, _>>()?
        }
    };
    let read = |at: &usize| used.contains(at) || kept.iter().any(|(kept, _)| kept == at);
    let ignored = (0..columns.len()).filter(|at| !read(at)).map(|at| columns[at].name.clone()).collect();
    Ok(Layout { rows, gold, kept, ignored })
}

/// Whether the names of the columns tell that there is one row a vote.
pub(crate) fn is_of_votes(columns: &[Column]) -> bool {
    let named = |role: Role| {
        let (leading, others) = role.known();
        let known = |name: &str| leading.contains(&name) || others.contains(&name);
        columns.iter().any(|column| known(&plain(&column.name)))
    };
    [Role::Item, Role::Annotator, Role::Vote].into_iter().all(named)
}

fn rows(path: &Path, columns: &[Column], options: &VoteOptions, gold: Option<usize>) -> Result<Rows, Error> {
    let [item, annotator, vote] = {
        let mut found = [None; 3];
        for (found, role) in found.iter_mut().zip([Role::Item, Role::Annotator, Role::Vote]) {
            *found = match role.asked(options) {
                Some(name) => Some(named(path, columns, name)?),
                None => recognise(path, columns, role, gold)?,
            };
        }
        found
    };
    let asked = options.annotator.is_some() || options.vote.is_some();
    let lacking = |role: Role| Error::NoColumnOfVotes {
        path: path.into(),
        role: role.name(),
        found: columns.iter().map(|column| column.name.clone()).collect(),
    };
    match (item, annotator, vote) {
        (Some(item), Some(annotator), Some(vote)) => {
            let mut all = [item, annotator, vote];
            all.sort_unstable();
            match all.windows(2).find(|pair| pair[0] == pair[1]) {
                Some(twice) => {
                    let column = columns[twice[0]].name.clone();
                    Err(Error::OneColumnTwice { path: path.into(), column })
                }
                None => Ok(Rows::OfVotes([item, annotator, vote])),
            }
        }
        (Some(_), Some(_), None) => Err(lacking(Role::Vote)),
        (None, Some(_), Some(_)) => Err(lacking(Role::Item)),
        (_, None, _) if asked => Err(lacking(Role::Annotator)),
        (None, ..) if asked => Err(lacking(Role::Item)),
        _ => by_item(path, columns, options, item, gold),
    }
}

/// The columns of annotators of a table with one row an item.
fn by_item(
    path: &Path,
    columns: &[Column],
    options: &VoteOptions,
    item: Option<usize>,
    gold: Option<usize>,
) -> Result<Rows, Error> {
    let no_annotator = |at: usize| {
        Some(at) == item || Some(at) == gold || NO_ANNOTATORS.contains(&plain(&columns[at].name).as_str())
    };
    let offered: Vec<usize> = (0..columns.len())
        .filter(|at| !matches!(columns[*at].kind, Kind::List(_)) && !no_annotator(*at))
        .collect();
    let prefixed = |at: &usize| {
        let name = columns[*at].name.to_ascii_lowercase();
        PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    let voting: Vec<usize> = offered.iter().copied().filter(prefixed).collect();
    let offered = if voting.len() >= 3 { voting } else { offered };
    let found: Vec<String> = offered.iter().map(|at| columns[*at].name.clone()).collect();
    let annotators: Vec<usize> = match &options.annotators {
        None => offered,
        Some(wanted) => {
            let find = |view: &String| {
                columns.iter().position(|column| column.name == *view).ok_or_else(|| Error::NoSuchAnnotator {
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
    let annotators = annotators.into_iter().map(|at| (at, columns[at].name.clone())).collect();
    Ok(Rows::OfItems(item, annotators))
}

/// The column of a role by its usual names.
pub(super) fn recognise(
    path: &Path,
    columns: &[Column],
    role: Role,
    gold: Option<usize>,
) -> Result<Option<usize>, Error> {
    let (leading, others) = role.known();
    let at =
        |name: &&str| (0..columns.len()).find(|at| plain(&columns[*at].name) == **name && Some(*at) != gold);
    if let Some(found) = leading.iter().find_map(&at) {
        return Ok(Some(found));
    }
    let found: Vec<usize> = others.iter().filter_map(at).collect();
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        several => Err(Error::WhichColumn {
            path: path.into(),
            role: role.name(),
            found: several.iter().map(|at| columns[*at].name.clone()).collect(),
        }),
    }
}

/// A name without what writes it in other ways: `Task ID`, `task_id` and `taskId` are one.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The column of a name.
pub(super) fn named(path: &Path, columns: &[Column], name: &str) -> Result<usize, Error> {
    columns.iter().position(|column| column.name == *name).ok_or_else(|| Error::NoColumn {
        path: path.into(),
        column: name.to_owned(),
        found: columns.iter().map(|column| column.name.clone()).collect(),
        nearest: nearest(name, columns.iter().map(|column| column.name.as_str())),
    })
}
