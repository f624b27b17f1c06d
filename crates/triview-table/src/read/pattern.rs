//! Names of columns that are made of the names of a view and of a class in another way than `view:class`.

use crate::error::Error;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use triview::data::VIEWS;

const VIEW: &str = "{view}";
const CLASS: &str = "{class}";

/// How columns are named: `{view}_{class}`, `p({class}|{view})`, or, for one column a view, `score_{view}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    before: String,
    /// What stands between the two; nothing where there is one column a view.
    between: Option<String>,
    after: String,
    view_first: bool,
}

/// A column's view and its class (empty where the pattern has none), where it has any.
pub(crate) type Split<'a> = Option<(&'a str, &'a str)>;

impl FromStr for Pattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = |reason| Error::Pattern { pattern: text.to_owned(), reason };
        let (before, after) = text.split_once(VIEW).ok_or_else(|| refuse("it has no `{view}`"))?;
        if after.contains(VIEW) || text.matches(CLASS).count() > 1 {
            return Err(refuse("it names the view or the class twice"));
        }
        let pattern = match (before.split_once(CLASS), after.split_once(CLASS)) {
            (Some((start, between)), _) => (start, Some(between), after, false),
            (None, Some((between, end))) => (before, Some(between), end, true),
            (None, None) => (before, None, after, true),
        };
        let (before, between, after, view_first) = pattern;
        if between == Some("") {
            return Err(refuse("nothing stands between the view and the class"));
        }
        let between = between.map(str::to_owned);
        Ok(Self { before: before.to_owned(), between, after: after.to_owned(), view_first })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { before, between, after, view_first } = self;
        match (between, view_first) {
            (None, _) => write!(f, "{before}{VIEW}{after}"),
            (Some(between), true) => write!(f, "{before}{VIEW}{between}{CLASS}{after}"),
            (Some(between), false) => write!(f, "{before}{CLASS}{between}{VIEW}{after}"),
        }
    }
}

/// Names that form a grid of views and classes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) pattern: Pattern,
    pub(crate) views: Vec<String>,
    pub(crate) classes: Vec<String>,
}

impl Pattern {
    /// View and class of each name. What stands between them may be part of a name too (`my_view_cat`): it is cut where it
    /// first stands, or where it last does if only that gives every view the same classes. Names whose view shares no class with
    /// the others (`user_id` among `text_cat` and `text_dog`) are no scores.
    pub(crate) fn split<'a>(&self, names: &[&'a str]) -> Vec<Split<'a>> {
        let [first, last] = [false, true].map(|last| {
            let cut: Vec<Split<'a>> = names.iter().map(|name| self.cut(name, last)).collect();
            without_outsiders(cut)
        });
        if grid(&first).is_none() && grid(&last).is_some() { last } else { first }
    }

    fn cut<'a>(&self, name: &'a str, last: bool) -> Split<'a> {
        let inner = name.strip_prefix(self.before.as_str())?.strip_suffix(self.after.as_str())?;
        let Some(between) = self.between.as_deref() else {
            return (!inner.is_empty()).then_some((inner, ""));
        };
        let (a, b) = if last { inner.rsplit_once(between) } else { inner.split_once(between) }?;
        let named = !a.is_empty() && !b.is_empty();
        named.then_some(if self.view_first { (a, b) } else { (b, a) })
    }

    /// The pattern that makes a grid of three views or more and two classes or more of these names, where one does.
    pub(crate) fn fitting(names: &[&str]) -> Option<Grid> {
        const BETWEEN: [&str; 9] = ["_", ".", "-", "/", "|", ";", "__", "::", " "];
        let patterns = [true, false].into_iter().flat_map(|view_first| {
            BETWEEN.map(|between| Pattern {
                before: String::new(),
                between: Some(between.to_owned()),
                after: String::new(),
                view_first,
            })
        });
        patterns.into_iter().find_map(|pattern| {
            let (views, classes) = grid(&pattern.split(names))?;
            Some(Grid { pattern, views, classes })
        })
    }
}

/// The classes of each view.
fn classes_of<'a>(split: &[Split<'a>]) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let mut classes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (view, class) in split.iter().flatten() {
        classes.entry(view).or_default().insert(class);
    }
    classes
}

/// Leaves out views that share no class with those that most views have.
fn without_outsiders(split: Vec<Split<'_>>) -> Vec<Split<'_>> {
    let classes = classes_of(&split);
    let mut votes: BTreeMap<&BTreeSet<&str>, usize> = BTreeMap::new();
    classes.values().for_each(|of_view| *votes.entry(of_view).or_default() += 1);
    let Some((usual, _)) = votes.iter().max_by_key(|(of_view, count)| (**count, of_view.len())) else {
        return split;
    };
    let usual = (*usual).clone();
    let belongs = |(_, class): &(&str, &str), of_view: &BTreeSet<&str>| {
        usual.contains(class) || !usual.is_disjoint(of_view)
    };
    split.iter().map(|cell| cell.filter(|cell| belongs(cell, &classes[cell.0]))).collect()
}

/// The views and classes of names that have every class for every view, each in the order of its first name.
fn grid(split: &[Split<'_>]) -> Option<(Vec<String>, Vec<String>)> {
    let by_view = classes_of(split);
    let same = by_view.values().all(|classes| Some(classes) == by_view.values().next());
    let in_order = |pick: &dyn Fn(&(&str, &str)) -> String| {
        let mut names: Vec<String> = Vec::new();
        for name in split.iter().flatten().map(pick) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    };
    let classes = in_order(&|(_, class)| (*class).to_owned());
    (same && by_view.len() >= VIEWS && classes.len() >= 2)
        .then(|| (in_order(&|(view, _)| (*view).to_owned()), classes))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails by panicking fails")]
mod tests {
    use super::*;

    fn split<'a>(pattern: &str, names: &[&'a str]) -> Vec<Split<'a>> {
        pattern.parse::<Pattern>().unwrap().split(names)
    }

    #[test]
    fn patterns_are_written_as_they_are_read() {
        for text in ["{view}_{class}", "p({class}|{view})", "score_{view}", "{view}"] {
            assert_eq!(text.parse::<Pattern>().unwrap().to_string(), text);
        }
        for text in ["{class}", "", "{view}{class}", "{view}_{view}", "{view}_{class}_{class}"] {
            assert!(text.parse::<Pattern>().unwrap_err().to_string().contains(text), "{text}");
        }
    }

    #[test]
    fn columns_beside_the_scores_are_none_of_them() {
        let names = ["id", "user_id", "text_cat", "text_dog", "image_cat", "image_dog", "sound_dog"];
        let found = split("{view}_{class}", &names);
        assert_eq!(found[..2], [None, None]);
        assert_eq!(found[2], Some(("text", "cat")));
        // A view that lacks a class stays, to be refused by name.
        assert_eq!(found[6], Some(("sound", "dog")));
    }

    #[test]
    fn the_last_cut_is_taken_where_only_it_makes_a_grid() {
        let names = ["my_a_0", "my_a_1", "my_b_0", "my_b_1", "c_0", "c_1"];
        assert_eq!(split("{view}_{class}", &names)[0], Some(("my_a", "0")));
        let names = ["a_hot_dog", "a_cat", "b_hot_dog", "b_cat", "c_hot_dog", "c_cat"];
        assert_eq!(split("{view}_{class}", &names)[0], Some(("a", "hot_dog")));
    }

    #[test]
    fn a_pattern_that_fits_is_found() {
        let found = |names: &[&str]| Pattern::fitting(names).map(|grid| grid.pattern.to_string());
        let by_view = ["week", "a_0", "a_1", "b_0", "b_1", "c_0", "c_1"];
        assert_eq!(found(&by_view).as_deref(), Some("{view}_{class}"));
        let by_class = ["0.a", "1.a", "0.b", "1.b", "0.c", "1.c"];
        assert_eq!(found(&by_class).as_deref(), Some("{class}.{view}"));
        assert_eq!(found(&["a;0", "a;1", "b;0", "b;1", "c;0", "c;1"]).as_deref(), Some("{view};{class}"));
        assert_eq!(found(&["id", "a_0", "a_1", "b_0", "b_1", "c_0"]), None);
        assert_eq!(found(&["x", "y", "z"]), None);
    }
}
