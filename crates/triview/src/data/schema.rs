//! What the columns of a score table mean.

use super::{Batch, VIEWS, Witness};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The most input views: one bit each, and every pair of them is looked at when they are grouped.
pub const MOST_VIEWS: usize = 64;

/// Names of views and classes, and of the covariates of each view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Names")]
pub struct Schema {
    views: Vec<String>,
    classes: Vec<String>,
    /// For each view the names of its covariates; empty where no view has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    covariates: Vec<Vec<String>>,
    /// The last of the views, which have no scores.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    witnesses: Vec<Witness>,
}

/// The unchecked form of a [`Schema`], as it is read from a file.
#[derive(Deserialize)]
struct Names {
    views: Vec<String>,
    classes: Vec<String>,
    #[serde(default)]
    covariates: Vec<Vec<String>>,
    #[serde(default)]
    witnesses: Vec<Witness>,
}

impl TryFrom<Names> for Schema {
    type Error = Error;

    fn try_from(names: Names) -> Result<Self> {
        let Names { mut views, classes, mut covariates, witnesses } = names;
        let schema = Schema::new(views.clone(), classes.clone())?.with_covariates(covariates.clone())?;
        if witnesses.is_empty() {
            return Ok(schema);
        }
        witnesses.iter().try_for_each(Witness::check)?;
        let scored = views.len().saturating_sub(witnesses.len());
        views.truncate(scored);
        covariates.truncate(scored);
        let whole = Schema::with_witnesses(views, classes, covariates, witnesses)?;
        let same = (&whole.views, &whole.covariates) == (&schema.views, &schema.covariates);
        let reason = || "its witnesses are not its last views".to_owned();
        if same { Ok(whole) } else { Err(Error::InvalidMoments { reason: reason() }) }
    }
}

impl Schema {
    /// Checks the names: three or more different views, two or more different classes.
    ///
    /// # Errors
    /// [`Error::ViewCount`], [`Error::TooManyViews`], [`Error::ClassCount`] or [`Error::DuplicateName`].
    pub fn new(views: Vec<String>, classes: Vec<String>) -> Result<Self> {
        if views.len() < VIEWS {
            return Err(Error::ViewCount { views });
        }
        if views.len() > MOST_VIEWS {
            return Err(Error::TooManyViews { views: views.len(), most: MOST_VIEWS });
        }
        if classes.len() < 2 {
            return Err(Error::ClassCount { classes });
        }
        for (kind, names) in [("view", &views), ("class", &classes)] {
            refuse_duplicates(kind, names)?;
        }
        Ok(Self { views, classes, covariates: Vec::new(), witnesses: Vec::new() })
    }

    /// Views with scores, and witnesses, which have none: three or more in all. `covariates` has the names of each view's
    /// covariates, or is empty.
    ///
    /// ```
    /// use triview::data::{Schema, Witness};
    ///
    /// let names = |names: [&str; 2]| names.map(String::from).to_vec();
    /// let hospital = Witness::of("hospital", ["north", "south", "east"].repeat(100))?;
    /// let schema = Schema::with_witnesses(names(["model", "nurse"]), names(["ill", "well"]), Vec::new(), vec![hospital])?;
    /// assert_eq!(schema.views(), ["model", "nurse", "hospital"]);
    /// assert_eq!(schema.scored(), ["model", "nurse"]);
    /// # Ok::<(), triview::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoScores`] where there are witnesses alone, and those of [`Schema::new`] and [`Schema::with_covariates`].
    pub fn with_witnesses(
        mut views: Vec<String>,
        classes: Vec<String>,
        mut covariates: Vec<Vec<String>>,
        witnesses: Vec<Witness>,
    ) -> Result<Self> {
        let names = || witnesses.iter().map(|witness| witness.name().to_owned());
        if views.is_empty() {
            return Err(Error::NoScores { witnesses: names().collect() });
        }
        covariates.resize(views.len(), Vec::new());
        covariates.extend(witnesses.iter().map(Witness::values));
        views.extend(names());
        let schema = Self::new(views, classes)?.with_covariates(covariates)?;
        Ok(Self { witnesses, ..schema })
    }

    /// The last of the views, which have no scores.
    pub fn witnesses(&self) -> &[Witness] {
        &self.witnesses
    }

    /// Names of the views that have scores.
    pub fn scored(&self) -> &[String] {
        &self.views[..self.views.len() - self.witnesses.len()]
    }

    /// Views and classes that are called by their numbers, from 0.
    ///
    /// # Errors
    /// Those of [`Schema::new`].
    pub fn numbered(views: usize, classes: usize) -> Result<Self> {
        let numbers = |count: usize| (0..count).map(|number| number.to_string()).collect();
        Self::new(numbers(views), numbers(classes))
    }

    /// The same views with covariates, of which these are the names, view by view: what tells latent states apart that a
    /// view's scores do not.
    ///
    /// # Errors
    /// [`Error::DuplicateName`], and [`Error::Shape`] for names of another number of views.
    pub fn with_covariates(mut self, covariates: Vec<Vec<String>>) -> Result<Self> {
        for names in &covariates {
            refuse_duplicates("covariate", names)?;
        }
        if covariates.iter().any(|names| !names.is_empty()) {
            expect("lists of covariates", covariates.len(), self.views.len())?;
            self.covariates = covariates;
        }
        Ok(self)
    }

    /// The covariates of all views that have scores, `view:covariate`.
    pub fn all_covariates(&self) -> Vec<String> {
        let of_view = |(view, names): (&String, &Vec<String>)| {
            names.iter().map(|name| format!("{view}:{name}")).collect::<Vec<_>>()
        };
        self.scored().iter().zip(&self.covariates).flat_map(of_view).collect()
    }

    /// How many covariates some views have in all.
    pub(crate) fn covariates_of(&self, views: &[usize]) -> usize {
        views.iter().map(|&view| self.covariates(view).len()).sum()
    }

    /// Names of a view's covariates.
    pub fn covariates(&self, view: usize) -> &[String] {
        self.covariates.get(view).map_or(&[], Vec::as_slice)
    }

    /// Names of the input views.
    pub fn views(&self) -> &[String] {
        &self.views
    }

    /// Names of the classes, in the order of every matrix in a result.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Refuses rows of other views, classes or covariates.
    pub(crate) fn expect_rows(&self, batch: &Batch) -> Result<()> {
        expect("views", batch.views(), self.views().len())?;
        if batch.rows() > 0 {
            expect("classes", batch.k(), self.k())?;
            for view in 0..batch.views() {
                let covariates = batch.covariates(view).len() / batch.rows();
                expect("covariates of a view", covariates, self.covariates(view).len())?;
            }
        }
        Ok(())
    }

    /// The number of classes, `k`.
    pub fn k(&self) -> usize {
        self.classes.len()
    }
}

/// Refuses a number of things that is not the one that is needed.
pub(crate) fn expect(what: &'static str, given: usize, needed: usize) -> Result<()> {
    if given == needed { Ok(()) } else { Err(Error::Shape { what, given, needed }) }
}

/// Refuses a name that stands twice.
pub(crate) fn refuse_duplicates(kind: &'static str, names: &[String]) -> Result<()> {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::DuplicateName { kind, name: pair[0].clone() }),
        None => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        assert_eq!(Schema::numbered(3, 2).unwrap().classes(), ["0", "1"]);
        assert!(matches!(Schema::numbered(2, 2), Err(Error::ViewCount { .. })));
        assert!(matches!(Schema::numbered(65, 2), Err(Error::TooManyViews { views: 65, most: 64 })));
        assert!(matches!(Schema::numbered(3, 1), Err(Error::ClassCount { .. })));
        let twice = Schema::new(["a", "b", "a"].map(String::from).to_vec(), vec!["x".into(), "y".into()]);
        assert_eq!(twice, Err(Error::DuplicateName { kind: "view", name: "a".into() }));
        let lists = Schema::numbered(3, 2).unwrap().with_covariates(vec![vec!["x".into()]]);
        assert_eq!(lists, Err(Error::Shape { what: "lists of covariates", given: 1, needed: 3 }));
    }
}
