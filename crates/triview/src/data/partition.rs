//! Which input views make up each of the three views that the method rests on.
//!
//! The views of a group may depend on each other: all that is needed is that the groups are independent given the
//! class. The score of a group is the sum of its views' scores, as the score of the model is the sum of all.

use super::{Batch, VIEWS, bits};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A partition of the input views into three groups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Partition {
    /// The positions of each group's views.
    members: [Vec<usize>; VIEWS],
}

impl Partition {
    /// Three views, each a group of its own.
    pub fn single() -> Self {
        Self { members: [vec![0], vec![1], vec![2]] }
    }

    /// The partition into these groups; nothing where they are not three, or one is empty.
    pub fn from_groups(groups: Vec<Vec<usize>>) -> Option<Self> {
        let members: [Vec<usize>; VIEWS] = groups.try_into().ok()?;
        members.iter().all(|views| !views.is_empty()).then(|| Self::ordered(members))
    }

    /// Partition from their members; views ascend within a group, and groups by their first view.
    pub(crate) fn ordered(mut members: [Vec<usize>; VIEWS]) -> Self {
        members.iter_mut().for_each(|views| views.sort_unstable());
        members.sort_unstable();
        Self { members }
    }

    /// Reads groups as they are written, `a+b,c,d+e`, with or without blanks between them. Names of views may hold either separator: of the names that a
    /// text can begin with, the longest is meant.
    ///
    /// # Errors
    /// [`Error::EmptyGroup`], [`Error::UnknownView`], [`Error::RepeatedView`], [`Error::UngroupedView`] or
    /// [`Error::GroupCount`].
    pub fn parse(text: &str, views: &[String]) -> Result<Self> {
        let mut groups = vec![Vec::new()];
        let mut rest = text.trim_start();
        loop {
            let name = first_name(rest, views);
            if name.is_empty() {
                return Err(Error::EmptyGroup { place: groups.len(), text: text.into() });
            }
            let Some(view) = views.iter().position(|view| view == name) else {
                return Err(Error::UnknownView { view: name.into(), known: views.to_vec() });
            };
            if groups.iter().flatten().any(|other| *other == view) {
                return Err(Error::RepeatedView { view: name.into() });
            }
            if let Some(group) = groups.last_mut() {
                group.push(view);
            }
            rest = rest[name.len()..].trim_start();
            match rest.chars().next() {
                None => break,
                Some(',') => groups.push(Vec::new()),
                Some(_) => {}
            }
            rest = rest[1..].trim_start();
        }
        if let Some(view) = (0..views.len()).find(|view| !groups.iter().flatten().any(|named| named == view))
        {
            return Err(Error::UngroupedView { view: views[view].clone() });
        }
        let found = groups.len();
        let members =
            groups.try_into().map_err(|_| Error::GroupCount { groups: found, text: text.into() })?;
        Ok(Self { members })
    }

    /// Whether each of so many views is in exactly one group, and no group is empty.
    pub(crate) fn fits(&self, views: usize) -> bool {
        let mut all: Vec<usize> = self.members.iter().flatten().copied().collect();
        all.sort_unstable();
        all.into_iter().eq(0..views) && self.members.iter().all(|views| !views.is_empty())
    }

    /// The positions of each group's views.
    pub fn iter(&self) -> std::slice::Iter<'_, Vec<usize>> {
        self.members.iter()
    }

    /// The group that a view is in.
    ///
    /// # Panics
    /// When there is no such view: a mistake of the caller's.
    pub fn of(&self, view: usize) -> usize {
        self.members.iter().position(|views| views.contains(&view)).expect("every view is in a group")
    }

    /// The same rows with one view a group, whose scores are the sums of those of its views that are there; it is missing where
    /// all of them are.
    pub(crate) fn join(&self, rows: &Batch) -> Batch {
        rows.joined(self.iter(), |views| self.missing(views))
    }

    /// One bit a group that is missing in a row, from one bit a view: a group is missing where all its views are.
    pub(crate) fn missing(&self, views: u64) -> u64 {
        let missing = |members: &Vec<usize>| views & bits(members) == bits(members);
        (0..VIEWS).filter(|&group| missing(&self.members[group])).fold(0, |all, group| all | 1 << group)
    }

    /// Names of the groups: those of their views, joined by `+`.
    pub fn names(&self, views: &[String]) -> [String; VIEWS] {
        self.members
            .each_ref()
            .map(|members| members.iter().map(|&view| views[view].as_str()).collect::<Vec<_>>().join("+"))
    }
}

/// The two of the three groups other than one, in order.
pub fn others(group: usize) -> [usize; 2] {
    match group {
        0 => [1, 2],
        1 => [0, 2],
        _ => [0, 1],
    }
}

/// The longest of the names that a text begins with, up to its end or a separator; what stands before the first
/// separator if there is none.
fn first_name<'a>(text: &'a str, views: &[String]) -> &'a str {
    let ends = |at: usize| {
        let after = text[at..].trim_start();
        after.is_empty() || after.starts_with([',', '+'])
    };
    let known = views.iter().filter(|view| text.starts_with(view.as_str()) && ends(view.len()));
    let length = known.map(String::len).max().or_else(|| text.find([',', '+'])).unwrap_or(text.len());
    text[..length].trim_end()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;

    #[test]
    fn blanks_between_names_are_allowed() {
        let views = views(&["a", "b b", "c", "d"]);
        let plain = Partition::parse("a+b b,c,d", &views).unwrap();
        assert_eq!(Partition::parse(" a + b b , c,  d ", &views).unwrap(), plain);
    }

    fn views(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn groups_are_read_as_they_are_written() {
        let five = views(&["a", "b", "c", "d", "e"]);
        let groups = Partition::parse("d+e,a,c+b", &five).unwrap();
        assert_eq!(groups.iter().cloned().collect::<Vec<_>>(), [vec![3, 4], vec![0], vec![2, 1]]);
        assert_eq!(groups.names(&five), ["d+e", "a", "c+b"]);
        assert_eq!([0, 1, 2, 3, 4].map(|view| groups.of(view)), [1, 2, 2, 0, 0]);
        assert!(groups.fits(5) && !groups.fits(4) && !groups.fits(6));
    }

    #[test]
    fn names_may_hold_the_separators() {
        let odd = views(&["a+b", "a", "b,c", "+", "é"]);
        let groups = Partition::parse("a+b+é,++a,b,c", &odd).unwrap();
        assert_eq!(groups.iter().cloned().collect::<Vec<_>>(), [vec![0, 4], vec![3, 1], vec![2]]);
    }

    #[test]
    fn each_mistake_is_named() {
        let four = views(&["a", "b", "c", "d"]);
        let parse = |text: &str| Partition::parse(text, &four).unwrap_err();
        let text = |text: &str| text.to_owned();
        assert_eq!(parse("a,b,,c+d"), Error::EmptyGroup { place: 3, text: text("a,b,,c+d") });
        assert_eq!(parse("a+,b,c+d"), Error::EmptyGroup { place: 1, text: text("a+,b,c+d") });
        assert_eq!(parse(""), Error::EmptyGroup { place: 1, text: text("") });
        assert_eq!(parse("a+bb,c,d"), Error::UnknownView { view: text("bb"), known: four.clone() });
        assert_eq!(parse("a+b,c,d+a"), Error::RepeatedView { view: text("a") });
        assert_eq!(parse("a,b,d"), Error::UngroupedView { view: text("c") });
        assert_eq!(parse("a+b,c+d"), Error::GroupCount { groups: 2, text: text("a+b,c+d") });
        assert_eq!(parse("a,b,c,d"), Error::GroupCount { groups: 4, text: text("a,b,c,d") });
    }
}
