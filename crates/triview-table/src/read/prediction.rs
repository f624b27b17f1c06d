//! The columns of another model's output, one a class.

use crate::error::{Error, nearest};
use crate::read::columns::{Column, Place, View};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use triview::data::Schema;

/// How the columns of a prediction are named: `p:*`, where the star stands for the name of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassPattern {
    before: String,
    after: String,
}

impl FromStr for ClassPattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text.split_once('*') {
            Some((before, after)) if !after.contains('*') && text.len() > 1 => {
                Ok(Self { before: before.to_owned(), after: after.to_owned() })
            }
            _ => Err(Error::ClassPattern { pattern: text.to_owned() }),
        }
    }
}

impl fmt::Display for ClassPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.column("*").fmt(f)
    }
}

impl ClassPattern {
    /// The column of a class.
    fn column(&self, class: &str) -> String {
        format!("{}{class}{}", self.before, self.after)
    }

    /// The class of a column, if it is one of these.
    fn class<'a>(&self, column: &'a str) -> Option<&'a str> {
        let class = column.strip_prefix(self.before.as_str())?.strip_suffix(self.after.as_str())?;
        (!class.is_empty()).then_some(class)
    }
}

/// The columns of a prediction in a file, each with its class.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Predicted {
    pattern: ClassPattern,
    classes: Vec<(String, usize)>,
}

impl Predicted {
    /// The columns that are named so.
    pub(crate) fn find(path: &Path, columns: &[Column], pattern: &ClassPattern) -> Result<Self, Error> {
        let mut classes: Vec<(String, usize)> = Vec::new();
        for (at, column) in columns.iter().enumerate() {
            let Some(class) = pattern.class(&column.name) else { continue };
            if classes.iter().any(|(known, _)| known == class) {
                return Err(Error::DuplicateColumn { path: path.into(), column: column.name.clone() });
            }
            column.expect_numbers(path)?;
            classes.push((class.to_owned(), at));
        }
        if classes.is_empty() {
            let columns = columns.iter().map(|column| column.name.clone()).collect();
            return Err(Error::NoPrediction { path: path.into(), pattern: pattern.to_string(), columns });
        }
        Ok(Self { pattern: pattern.clone(), classes })
    }

    /// The places of the columns in the file.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> {
        self.classes.iter().map(|(_, at)| *at)
    }

    /// Where the classes of a schema are, in its order.
    pub(crate) fn place(&self, path: &Path, schema: &Schema) -> Result<Place, Error> {
        let refuse = |class: &str, other: Option<String>, spare: bool| Error::PredictionClass {
            path: path.into(),
            column: self.pattern.column(class),
            spare,
            classes: schema.classes().to_vec(),
            nearest: other,
        };
        let at: HashMap<&str, usize> = self.classes.iter().map(|(class, at)| (class.as_str(), *at)).collect();
        let spare = || {
            let all = self.classes.iter().map(|(class, _)| class.as_str());
            all.filter(|class| !schema.classes().iter().any(|known| known == class))
        };
        let of_class = |class: &String| {
            let similar = || nearest(class, spare()).map(|class| self.pattern.column(&class));
            at.get(class.as_str()).copied().ok_or_else(|| refuse(class, similar(), false))
        };
        let places = schema.classes().iter().map(of_class).collect::<Result<_, _>>()?;
        match spare().next() {
            Some(class) => Err(refuse(class, None, true)),
            None => Ok(Place::Columns(places)),
        }
    }

    /// The same error, or that the prediction takes the columns of a view that is needed.
    pub(crate) fn blame(&self, path: &Path, error: Error, views: &[View<'_>]) -> Error {
        let needed = |view: &str| match &error {
            Error::NoSuchView { view: asked, .. } => asked == view,
            Error::ViewCount { .. } => true,
            _ => false,
        };
        let taken =
            |(_, place): &View<'_>| place.iter().any(|(_, at)| self.columns().any(|column| column == *at));
        match views.iter().find(|view| taken(view) && needed(view.0)) {
            Some((view, _)) => Error::PredictionIsView {
                path: path.into(),
                pattern: self.pattern.to_string(),
                view: view.to_string(),
            },
            None => error,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_written_as_they_are_read() {
        for text in ["p:*", "*_prob", "p(*)"] {
            assert_eq!(text.parse::<ClassPattern>().unwrap().to_string(), text);
        }
        for text in ["", "*", "p", "p:*:*"] {
            let error = text.parse::<ClassPattern>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")) && error.contains("p:*"), "{error}");
        }
        let pattern: ClassPattern = "p(*)".parse().unwrap();
        assert_eq!(pattern.class("p(cat)"), Some("cat"));
        assert_eq!([pattern.class("p()"), pattern.class("cat")], [None, None]);
    }
}
