//! The classes of items that are known: a column of the votes' table, or a table of its own.

use super::layout::{Role, named, plain, recognise};
use super::{Names, VoteOptions};
use crate::error::{Error, nearest, shortened};
use crate::read::columns::Selection;
use crate::read::origin::Origin;
use crate::read::table::{Member, locate};
use std::collections::HashMap;
use std::path::PathBuf;

/// The names of the column of classes in a table of its own, small letters and digits alone.
const CLASSES: [&str; 8] = ["label", "gold", "truth", "class", "groundtruth", "gt", "vote", "answer"];

/// The class of an item as it was given, and where.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) class: String,
    pub(super) path: PathBuf,
    pub(super) row: u64,
}

impl Given {
    /// Puts it where another may already be.
    pub(super) fn put(self, place: &mut Option<Given>, item: &str) -> Result<(), Error> {
        match place {
            Some(before) if before.class != self.class => Err(Error::TwoGolds {
                path: self.path,
                row: self.row,
                item: shortened(item, 40),
                classes: [before.class.clone(), self.class],
            }),
            _ => {
                *place = Some(self);
                Ok(())
            }
        }
    }
}

/// Reads a table of items and their classes into the places of the items.
pub(super) fn read(
    origin: &Origin,
    items: &[String],
    options: &VoteOptions,
    gold: &mut Vec<Option<Given>>,
) -> Result<(), Error> {
    let mut places: HashMap<&str, Option<usize>> = HashMap::with_capacity(items.len());
    for (place, item) in items.iter().enumerate() {
        places.entry(item).and_modify(|known| *known = None).or_insert(Some(place));
    }
    gold.resize(items.len(), None);
    let (locations, _spooled) = locate(std::slice::from_ref(origin), options.memory)?;
    for location in locations {
        let mut columns = [0; 2];
        let member = Member::inspect(location, |path, found| {
            let lacking = |role| Error::NoColumnOfVotes {
                path: path.into(),
                role,
                found: found.iter().map(|column| column.name.clone()).collect(),
            };
            let item =
                match options.item.as_ref().filter(|name| found.iter().any(|column| column.name == **name)) {
                    Some(name) => named(path, found, name)?,
                    None => {
                        recognise(path, found, Role::Item, None)?.ok_or_else(|| lacking(Role::Item.name()))?
                    }
                };
            let known = |name: &&str| found.iter().position(|column| plain(&column.name) == **name);
            let class = match &options.label {
                Some(name) => named(path, found, name)?,
                None => CLASSES.iter().find_map(known).ok_or_else(|| lacking("label"))?,
            };
            columns = [item, class];
            Ok(Selection::of_text(Vec::new()))
        })?;
        if member.empty {
            return Err(Error::NoRows { path: member.location.name.clone() });
        }
        let mut sorted = columns;
        sorted.sort_unstable();
        let [item_at, class_at] =
            columns.map(|column| sorted.iter().position(|at| *at == column).unwrap_or(0));
        let path = member.location.name.clone();
        member.texts(&sorted, &mut |row, texts| {
            let [item, class] = [item_at, class_at].map(|at| String::from_utf8_lossy(texts[at]));
            if class.is_empty() {
                return Ok(());
            }
            let place = match places.get(item.as_ref()) {
                Some(Some(place)) => *place,
                known => {
                    return Err(Error::UnknownItem {
                        path: path.clone(),
                        row,
                        item: shortened(&item, 40),
                        several: known.is_some(),
                        nearest: nearest(&item, places.keys().copied()),
                    });
                }
            };
            let class = super::known_class(options.cuts.as_deref(), texts[class_at]);
            Given { class, path: path.clone(), row }.put(&mut gold[place], &item)
        })?;
    }
    Ok(())
}

/// The numbers of the items that have gold and of their classes.
pub(super) fn numbered(gold: &[Option<Given>], classes: &Names) -> Result<Vec<[usize; 2]>, Error> {
    let known = gold.iter().enumerate().filter_map(|(item, given)| Some((item, given.as_ref()?)));
    known
        .map(|(item, given)| match classes.find(given.class.as_bytes()) {
            Some(class) => Ok([item, class as usize]),
            None => Err(Error::UnknownGold {
                path: given.path.clone(),
                row: given.row,
                class: shortened(&given.class, 40),
                classes: classes.all.clone(),
            }),
        })
        .collect()
}
