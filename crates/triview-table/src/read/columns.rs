//! Which columns of a file hold the scores.

use crate::error::{Error, nearest};
use crate::read::pattern::{Grid, Pattern, Split};
use crate::read::period::Period;
use crate::read::prediction::Predicted;
use crate::read::table::{Keep, ReadOptions};
use crate::read::votes::is_of_votes;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use triview::data::{Schema, VIEWS};

/// The columns of a table of sequences.
pub(crate) const SEQUENCE: &str = "sequence";
pub(crate) const POSITION: &str = "position";
pub(crate) const EMISSION: &str = "emission";

/// A column as its file declares it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Whether it is declared to hold whole numbers of at most 64 bits with a sign.
    pub(crate) whole: bool,
}

impl Column {
    /// Refuses it where it holds something else than a number a row.
    pub(crate) fn expect_numbers(&self, path: &Path) -> Result<(), Error> {
        let found = match &self.kind {
            Kind::Number => return Ok(()),
            Kind::List(_) => "lists".into(),
            Kind::Other(found) => found.clone(),
        };
        Err(Error::ColumnType { path: path.into(), column: self.name.clone(), found })
    }
}

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// A number a row (in a CSV file: text that may be one).
    Number,
    /// A list of numbers a row, of this length if the file promises it.
    List(Option<usize>),
    /// Something else.
    Other(String),
}

/// Where the scores of one view are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Place {
    /// One column a class, in the order of the schema.
    Columns(Vec<usize>),
    /// One column, of the second of two classes.
    Second(usize),
    /// One list column. `order[class]` is the class's position in the list.
    List { column: usize, order: Vec<usize> },
}

impl Place {
    /// How many cells a row has.
    pub(crate) fn width(&self) -> usize {
        match self {
            Place::Columns(columns) => columns.len(),
            Place::Second(_) => 1,
            Place::List { order, .. } => order.len(),
        }
    }

    /// The classes that have a column of their own, and these.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (usize, usize)> {
        let (first, columns) = match self {
            Place::Columns(columns) => (0, columns.as_slice()),
            Place::Second(column) => (1, std::slice::from_ref(column)),
            Place::List { .. } => (0, &[][..]),
        };
        columns.iter().enumerate().map(move |(at, &column)| (first + at, column))
    }
}

/// What a column's equal values say of their rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// That they depend on each other.
    Cluster,
    /// That they are answered together, and apart from the others.
    Segment,
    /// The class of the row, where it has one.
    Label,
    /// With what chance it was to have one.
    LabelChance,
    /// That class shares may differ between them: a view without scores, in this place among those.
    Witness(usize),
    /// Nothing: they go with their rows, in this place among the columns that do.
    Kept(usize),
}

impl Purpose {
    /// What is done by the column, in a message.
    fn verb(self) -> &'static str {
        match self {
            Purpose::Cluster => "cluster",
            Purpose::Segment => "segment",
            Purpose::Label => "label",
            Purpose::LabelChance => "weigh labels",
            Purpose::Witness(_) => "identify classes",
            Purpose::Kept(_) => "identify",
        }
    }
}

/// A column that is read for its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KeyColumn {
    pub(crate) purpose: Purpose,
    pub(crate) at: usize,
    pub(crate) name: String,
    pub(crate) whole: bool,
    /// The periods of time that its values are in, where these are what is wanted.
    pub(crate) period: Option<Period>,
}

/// The columns of one file that are read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Selection {
    pub(crate) views: Vec<String>,
    /// Empty while it is not known how long the lists are.
    pub(crate) classes: Vec<String>,
    /// In a feature table the names of each view's features; in a score table there are classes instead.
    pub(crate) cells: Vec<Vec<String>>,
    pub(crate) places: Vec<Place>,
    /// For each view its further features and their columns.
    pub(crate) features: Vec<Vec<(String, usize)>>,
    /// The columns of another model's output.
    pub(crate) prediction: Option<Predicted>,
    /// The columns to cluster and to segment by, which may be one.
    pub(crate) keys: Vec<KeyColumn>,
    /// The names of all columns of the file.
    pub(crate) header: Vec<String>,
    pub(crate) ignored: Vec<String>,
}

/// The classes of a view, each with its column.
pub(crate) type View<'a> = (&'a str, Vec<(&'a str, usize)>);

/// The view and the class in each column's name, before and after the first colon.
pub(crate) fn by_colon(columns: &[Column]) -> Vec<Split<'_>> {
    let split = |column: &'_ Column| -> Option<(usize, usize)> {
        let at = column.name.find(':')?;
        (at > 0 && at + 1 < column.name.len()).then_some((at, at + 1))
    };
    columns
        .iter()
        .map(|column| split(column).map(|(end, from)| (&column.name[..end], &column.name[from..])))
        .collect()
}

/// The view and the class in each column's name.
fn split_names<'a>(columns: &'a [Column], pattern: Option<&Pattern>) -> Vec<Split<'a>> {
    match pattern {
        None => by_colon(columns),
        Some(pattern) => {
            pattern.split(&columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>())
        }
    }
}

/// Finds the views, the classes and the other columns that are wanted.
pub(crate) fn select(path: &Path, columns: &[Column], options: &ReadOptions) -> Result<Selection, Error> {
    let prediction = options.prediction.as_ref();
    let prediction = prediction.map(|pattern| Predicted::find(path, columns, pattern)).transpose()?;
    let mut split = split_names(columns, options.columns.as_ref());
    // Its columns are never those of a view.
    let whole = split.clone();
    let predicted: Vec<usize> = prediction.iter().flat_map(Predicted::columns).collect();
    predicted.iter().for_each(|at| split[*at] = None);
    let features = named_views(path, columns, &split, |view, name| is_feature(view, name, options))?;
    let mut named = named_views(path, columns, &split, |view, name| !is_feature(view, name, options))?;
    let of_kind = |of: fn(&Kind) -> bool| {
        let found =
            columns.iter().enumerate().filter(|(at, column)| of(&column.kind) && !predicted.contains(at));
        found.map(|(at, column)| (column.name.as_str(), vec![("", at)])).collect::<Vec<View<'_>>>()
    };
    let lists = of_kind(|kind| matches!(kind, Kind::List(_)));
    let has = |views: &[View<'_>]| {
        let asked = |view: &String| views.iter().any(|(name, _)| name == view);
        options.views.as_ref().is_some_and(|wanted| wanted.iter().any(asked))
    };
    let by_list = match &options.views {
        Some(_) => !has(&named) && (has(&lists) || named.is_empty()),
        None => named.is_empty(),
    };
    let numbers = of_kind(|kind| matches!(kind, Kind::Number));
    if options.columns.is_none() && by_list && !has(&lists) && has(&numbers) {
        named = numbers;
    }
    let by_list = by_list && named.is_empty();
    let found = if by_list { lists } else { named };
    if found.is_empty() {
        return Err(no_scores(path, columns, options));
    }
    let views = match (wanted_views(path, columns, &found, options), &prediction) {
        (Err(error), Some(prediction)) => {
            let all = named_views(path, columns, &whole, |_, _| true)?;
            return Err(prediction.blame(path, error, &all));
        }
        (views, _) => views?,
    };
    // A class that is left out would be missed by nobody.
    for Column { name, .. } in columns.iter().filter(|_| options.columns.is_none()) {
        let unnamed = name.split_once(':').filter(|(_, class)| class.trim().is_empty());
        if let Some((view, _)) = unnamed.filter(|(view, _)| views.iter().any(|(known, _)| known == view)) {
            let (path, column, view) = (path.to_owned(), name.clone(), view.to_owned());
            return Err(Error::UnnamedColumn { path, column, view });
        }
    }
    let mut selection = Selection {
        views: views.iter().map(|(view, _)| view.to_string()).collect(),
        classes: Vec::new(),
        cells: Vec::new(),
        places: Vec::new(),
        features: wanted_features(path, columns, &features, &views, options)?,
        prediction,
        keys: Vec::new(),
        header: Vec::new(),
        ignored: Vec::new(),
    };
    if by_list {
        let list = |(_, place): &View<'_>| Place::List { column: place[0].1, order: Vec::new() };
        selection.places = views.iter().map(list).collect();
        let length = views.iter().find_map(|(_, place)| match columns[place[0].1].kind {
            Kind::List(length) => length,
            _ => None,
        });
        if let Some(k) = length.or(options.classes.as_ref().map(Vec::len)) {
            selection.name_lists(path, k, options)?;
        }
    } else if let Some(second) = one_class(&views, options) {
        numbers_only(path, columns, &views)?;
        selection.classes = two_classes(path, &views, second, options)?;
        selection.places = views.iter().map(|(_, place)| Place::Second(place[0].1)).collect();
    } else {
        let (classes, places) = match_classes(path, columns, &views, options)?;
        selection.classes = classes;
        selection.places = places.into_iter().map(Place::Columns).collect();
    }
    selection.keys = key_columns(path, columns, &selection.used(), options)?;
    Ok(selection.ignoring_the_rest(columns))
}

/// Why no column holds scores: another way of naming them, or another kind of table.
fn no_scores(path: &Path, columns: &[Column], options: &ReadOptions) -> Error {
    let path = path.to_owned();
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    if let Some(pattern) = &options.columns {
        return Error::PatternFitsNothing { path, pattern: pattern.to_string(), columns: names };
    }
    if is_of_votes(columns) {
        return Error::TableOfVotes { path, columns: names };
    }
    match Pattern::fitting(&names.iter().map(String::as_str).collect::<Vec<_>>()) {
        Some(Grid { pattern, views, classes }) => {
            Error::OtherNames { path, pattern: pattern.to_string(), views, classes }
        }
        None => Error::NoScoreColumns { path, columns: names },
    }
}

/// The class that is the only one of every view, of which the others are then the rest: its name, empty where it has none.
fn one_class<'a>(views: &[View<'a>], options: &ReadOptions) -> Option<&'a str> {
    let (_, first) = views.first()?;
    let [(only, _)] = first.as_slice() else { return None };
    let alike = views.iter().all(|(_, place)| matches!(place.as_slice(), [(class, _)] if class == only));
    let second = options
        .classes
        .as_ref()
        .is_none_or(|classes| only.is_empty() || matches!(classes.as_slice(), [_, second] if second == only));
    (alike && second).then_some(*only)
}

/// The two classes of views that have one column each.
fn two_classes(
    path: &Path,
    views: &[View<'_>],
    second: &str,
    options: &ReadOptions,
) -> Result<Vec<String>, Error> {
    match &options.classes {
        Some(classes) if classes.len() == 2 => Ok(classes.clone()),
        Some(classes) => {
            let (path, column) = (path.to_owned(), views[0].0.to_owned());
            Err(Error::NotTwoClasses { path, column, given: classes.len() })
        }
        None if second.is_empty() => Ok(["0", "1"].map(str::to_owned).to_vec()),
        None => Ok(vec![format!("not {second}"), second.to_owned()]),
    }
}

/// Finds the columns of a table of sequences: `sequence`, `position` and one `emission:<state>` a state, in this order of the
/// states where it is given; and that of the true states, where it is asked for.
pub(crate) fn select_sequences(
    path: &Path,
    columns: &[Column],
    states: Option<&[String]>,
    label: Option<&str>,
) -> Result<Selection, Error> {
    let lacking = |column| {
        let found = columns.iter().map(|column| column.name.clone()).collect();
        Error::NoSequenceColumn { path: path.into(), column, found }
    };
    let place = |name: &'static str| {
        columns.iter().position(|column| column.name == name).ok_or_else(|| lacking(name))
    };
    let (sequence, position) = (place(SEQUENCE)?, place(POSITION)?);
    let views = named_views(path, columns, &by_colon(columns), |_, _| true)?;
    let emission =
        views.iter().find(|(view, _)| *view == EMISSION).ok_or_else(|| lacking("emission:<state>"))?;
    let options = ReadOptions { classes: states.map(<[String]>::to_vec), ..ReadOptions::default() };
    let (classes, places) = match_classes(path, columns, std::slice::from_ref(emission), &options)?;
    if let Kind::Other(found) = &columns[position].kind {
        let (column, found) = (POSITION.to_owned(), found.clone());
        return Err(Error::ColumnType { path: path.into(), column, found });
    }
    let mut selection = Selection {
        views: [EMISSION, POSITION].map(str::to_owned).to_vec(),
        classes,
        cells: Vec::new(),
        features: vec![Vec::new(); 2],
        prediction: None,
        places: places.into_iter().chain([vec![position]]).map(Place::Columns).collect(),
        keys: vec![KeyColumn {
            purpose: Purpose::Segment,
            at: sequence,
            name: SEQUENCE.to_owned(),
            whole: false,
            period: None,
        }],
        header: Vec::new(),
        ignored: Vec::new(),
    };
    let options = ReadOptions { label: label.map(str::to_owned), ..ReadOptions::default() };
    selection.keys.extend(key_columns(path, columns, &selection.used(), &options)?);
    Ok(selection.ignoring_the_rest(columns))
}

impl Selection {
    /// Of a file whose columns are read as text, all but these.
    pub(crate) fn of_text(ignored: Vec<String>) -> Self {
        Self {
            views: Vec::new(),
            classes: Vec::new(),
            cells: Vec::new(),
            places: Vec::new(),
            features: Vec::new(),
            prediction: None,
            keys: Vec::new(),
            header: Vec::new(),
            ignored,
        }
    }

    /// The same, which knows the columns that are not read.
    pub(crate) fn ignoring_the_rest(mut self, columns: &[Column]) -> Self {
        let used = self.used();
        self.header = columns.iter().map(|column| column.name.clone()).collect();
        let other = |at: &usize| used.binary_search(at).is_err();
        self.ignored = (0..columns.len()).filter(other).map(|at| columns[at].name.clone()).collect();
        self
    }

    /// The columns that go with their rows.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &KeyColumn> {
        self.keys.iter().filter(|key| matches!(key.purpose, Purpose::Kept(_)))
    }

    /// Lets only these columns go with their rows, in this order.
    pub(crate) fn keep(&mut self, names: &[String]) {
        let places = first_places(names.iter().map(String::as_str));
        self.keys.retain_mut(|key| match &mut key.purpose {
            Purpose::Kept(place) => match places.get(key.name.as_str()) {
                Some(at) => {
                    *place = *at;
                    true
                }
                None => false,
            },
            _ => true,
        });
    }

    /// The same without the columns that go with their rows.
    pub(crate) fn bare(&self) -> Self {
        let mut bare = self.clone();
        bare.keep(&[]);
        bare
    }

    /// All columns that are read, in the order of the file.
    pub(crate) fn used(&self) -> Vec<usize> {
        let mut used: Vec<usize> = self.keys.iter().map(|column| column.at).collect();
        used.extend(self.features.iter().flatten().map(|(_, at)| at));
        used.extend(self.prediction.iter().flat_map(Predicted::columns));
        for place in &self.places {
            match place {
                Place::Columns(columns) => used.extend(columns),
                Place::Second(column) => used.push(*column),
                Place::List { column, .. } => used.push(*column),
            }
        }
        used.sort_unstable();
        used.dedup();
        used
    }

    /// The list column of the first view, when the length of its lists is still to be found out.
    pub(crate) fn unmeasured(&self) -> Option<usize> {
        match &self.places[0] {
            Place::List { column, order } if order.is_empty() => Some(*column),
            _ => None,
        }
    }

    /// Names the classes of lists of length `k`.
    pub(crate) fn name_lists(&mut self, path: &Path, k: usize, options: &ReadOptions) -> Result<(), Error> {
        // A damaged file can claim lists of any length; nobody has this many classes.
        const MOST: usize = 100_000;
        if k > MOST {
            return Err(triview::Error::TooManyClasses { k, most: MOST }.into());
        }
        self.classes = match &options.classes {
            Some(classes) if classes.len() != k => {
                let column = self.views[0].clone();
                return Err(Error::ClassNames { path: path.into(), column, given: classes.len(), found: k });
            }
            Some(classes) => classes.clone(),
            None => (0..k).map(|class| class.to_string()).collect(),
        };
        if k < 2 {
            return Err(Error::ClassCount { path: path.into(), classes: self.classes.clone() });
        }
        for place in &mut self.places {
            if let Place::List { order, .. } = place {
                *order = (0..k).collect();
            }
        }
        Ok(())
    }

    /// Puts views and classes into the order of `schema`, which is that of the file `first`. A prediction has its place after those of the views.
    pub(crate) fn align(&mut self, path: &Path, first: &Path, schema: &Schema) -> Result<(), Error> {
        let differ = |what, found: &[String], expected: &[String]| Error::FilesDiffer {
            path: path.into(),
            first: first.into(),
            what,
            found: found.into(),
            expected: expected.into(),
            nearest: {
                let known: HashSet<&String> = expected.iter().collect();
                let unknown = found.iter().find(|name| !known.contains(name));
                unknown.and_then(|name| nearest(name, expected.iter().map(String::as_str)))
            },
        };
        let order = |what, found: &[String], expected: &[String]| {
            let at: HashMap<&String, usize> = found.iter().zip(0..).collect();
            let places: Option<Vec<usize>> = expected.iter().map(|name| at.get(name).copied()).collect();
            places.filter(|_| found.len() == expected.len()).ok_or_else(|| differ(what, found, expected))
        };
        let views = order("views", &self.views, schema.scored())?;
        let classes = order("classes", &self.classes, schema.classes())?;
        // One column cannot be that of the first class.
        if self.places.iter().any(|place| matches!(place, Place::Second(_))) && classes != [0, 1] {
            return Err(differ("classes", &self.classes, schema.classes()));
        }
        let place = |view: &usize| match &self.places[*view] {
            Place::Columns(columns) => Place::Columns(classes.iter().map(|&class| columns[class]).collect()),
            Place::Second(column) => Place::Second(*column),
            Place::List { column, order } => {
                Place::List { column: *column, order: classes.iter().map(|&class| order[class]).collect() }
            }
        };
        self.places = views.iter().map(place).collect();
        if let Some(prediction) = &self.prediction {
            self.places.push(prediction.place(path, schema)?);
        }
        let mut features = Vec::with_capacity(views.len());
        for (&view, expected) in views.iter().zip(0..) {
            let found: Vec<String> = self.features[view].iter().map(|(name, _)| name.clone()).collect();
            let order = order("features of a view", &found, schema.covariates(expected))?;
            features.push(order.into_iter().map(|at| self.features[view][at].clone()).collect());
        }
        self.features = features;
        self.views = schema.scored().to_vec();
        self.classes = schema.classes().to_vec();
        Ok(())
    }

    /// What messages call a feature: its column.
    pub(crate) fn feature_label(&self, view: usize, feature: usize) -> String {
        let (_, at) = self.features[view][feature];
        self.header.get(at).unwrap_or(&self.views[view]).clone()
    }

    /// The widths of the views.
    pub(crate) fn widths(&self) -> Vec<usize> {
        self.places.iter().map(Place::width).collect()
    }

    /// What messages call a cell: its column, or its place in a list.
    pub(crate) fn label(&self, view: usize, class: usize) -> String {
        let column =
            |at: usize| self.header.get(at).or_else(|| self.views.get(view)).cloned().unwrap_or_default();
        match &self.places[view] {
            Place::Columns(columns) => column(columns[class.min(columns.len() - 1)]),
            Place::Second(at) => column(*at),
            Place::List { order, .. } => format!("{}[{}]", self.views[view], order[class]),
        }
    }
}

/// Whether a column `view:name` is asked for as a feature: by its name, that of its view before it or not, or by how the name
/// begins, with a star after it.
fn is_feature(view: &str, name: &str, options: &ReadOptions) -> bool {
    options.features.iter().any(|pattern| matches_feature(pattern, view, name))
}

fn matches_feature(pattern: &str, view: &str, name: &str) -> bool {
    let wanted = match pattern.split_once(':') {
        Some((of, wanted)) if of == view => wanted,
        Some(_) => return false,
        None => pattern,
    };
    match wanted.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == wanted,
    }
}

/// The features of each of some views, in the order of the file.
fn wanted_features(
    path: &Path,
    columns: &[Column],
    found: &[View<'_>],
    views: &[View<'_>],
    options: &ReadOptions,
) -> Result<Vec<Vec<(String, usize)>>, Error> {
    let of_view = |view: &str| found.iter().find(|(name, _)| *name == view).map_or(&[][..], |(_, all)| all);
    let features: Vec<Vec<(String, usize)>> = views
        .iter()
        .map(|(view, _)| of_view(view).iter().map(|(name, at)| (name.to_string(), *at)).collect())
        .collect();
    let taken = |pattern: &String| {
        let all = views.iter().zip(&features);
        all.into_iter().any(|((view, _), features)| {
            features.iter().any(|(name, _)| matches_feature(pattern, view, name))
        })
    };
    if let Some(pattern) = options.features.iter().find(|pattern| !taken(pattern)) {
        let split = split_names(columns, options.columns.as_ref());
        let of_views =
            |at: &usize| split[*at].is_some_and(|(of, _)| views.iter().any(|(view, _)| *view == of));
        let offered: Vec<String> =
            (0..columns.len()).filter(of_views).map(|at| columns[at].name.clone()).collect();
        let nearest = nearest(pattern, offered.iter().map(String::as_str));
        let views = views.iter().map(|(view, _)| view.to_string()).collect();
        return Err(Error::NoFeature { path: path.into(), feature: pattern.clone(), views, nearest });
    }
    features.iter().flatten().try_for_each(|(_, at)| columns[*at].expect_numbers(path))?;
    Ok(features)
}

/// The views of columns that are named by view and class, of those that are wanted, in the order of their first columns.
pub(crate) fn named_views<'a>(
    path: &Path,
    columns: &'a [Column],
    split: &[Split<'a>],
    wanted: impl Fn(&str, &str) -> bool,
) -> Result<Vec<View<'a>>, Error> {
    let mut views: Vec<View<'a>> = Vec::new();
    let mut place = HashMap::new();
    let mut seen = HashMap::new();
    for (at, column) in columns.iter().enumerate() {
        let Some((view, class)) = split[at].filter(|(view, class)| wanted(view, class)) else { continue };
        if seen.insert(column.name.as_str(), at).is_some() {
            return Err(Error::DuplicateColumn { path: path.into(), column: column.name.clone() });
        }
        let v = *place.entry(view).or_insert(views.len());
        if v == views.len() {
            views.push((view, Vec::new()));
        }
        views[v].1.push((class, at));
    }
    Ok(views)
}

/// The views that are asked for, or all.
pub(crate) fn wanted_views<'a>(
    path: &Path,
    columns: &[Column],
    found: &[View<'a>],
    options: &ReadOptions,
) -> Result<Vec<View<'a>>, Error> {
    let views: Vec<View<'a>> = match &options.views {
        None => found.to_vec(),
        Some(wanted) => wanted
            .iter()
            .map(|view| {
                found.iter().find(|(name, _)| name == view).cloned().ok_or_else(|| Error::NoSuchView {
                    path: path.into(),
                    view: view.clone(),
                    found: found.iter().map(|(name, _)| name.to_string()).collect(),
                    nearest: nearest(view, found.iter().map(|(name, _)| *name)),
                })
            })
            .collect::<Result<_, _>>()?,
    };
    let needed = VIEWS.saturating_sub(options.witnesses.len()).max(1);
    if views.len() < needed {
        let classes = |place: &[(&str, usize)]| match columns[place[0].1].kind {
            Kind::List(length) => length,
            _ => Some(place.len()),
        };
        let path = path.into();
        return Err(match &options.views {
            Some(asked) if found.len() >= needed => {
                let found = found.iter().map(|(view, _)| view.to_string()).collect();
                Error::FewViewsAsked { path, asked: asked.clone(), found, needed }
            }
            _ => {
                let views = views.iter().map(|(view, place)| (view.to_string(), classes(place))).collect();
                Error::ViewCount { path, views, witnesses: options.witnesses.clone() }
            }
        });
    }
    Ok(views)
}

/// Refuses views of which a column holds something else than numbers.
fn numbers_only(path: &Path, columns: &[Column], views: &[View<'_>]) -> Result<(), Error> {
    views.iter().flat_map(|(_, place)| place).try_for_each(|(_, at)| columns[*at].expect_numbers(path))
}

/// The classes in their order, and each view's column for each of them.
fn match_classes(
    path: &Path,
    columns: &[Column],
    views: &[View<'_>],
    options: &ReadOptions,
) -> Result<(Vec<String>, Vec<Vec<usize>>), Error> {
    numbers_only(path, columns, views)?;
    let first = &views[0];
    let (classes, source): (Vec<String>, String) = match &options.classes {
        Some(classes) => (classes.clone(), "`--classes` names it".into()),
        None => {
            let classes = first.1.iter().map(|(class, _)| class.to_string()).collect();
            (classes, format!("view `{}` has that class", first.0))
        }
    };
    let known: HashSet<&str> = classes.iter().map(String::as_str).collect();
    let mut places = vec![Vec::new(); views.len()];
    for (v, (view, place)) in views.iter().enumerate() {
        let at: HashMap<&str, usize> = place.iter().copied().collect();
        let spare = || place.iter().filter(|(class, _)| !known.contains(class));
        for class in &classes {
            let Some(&column) = at.get(class.as_str()) else {
                return Err(Error::MissingClass {
                    path: path.into(),
                    view: view.to_string(),
                    class: class.clone(),
                    because: source.into(),
                    nearest: nearest(class, spare().map(|(class, _)| *class))
                        .map(|class| format!("{view}:{class}")),
                });
            };
            places[v].push(column);
        }
        if let Some((class, _)) = spare().next() {
            let nearest = nearest(class, classes.iter().map(String::as_str));
            return Err(if options.classes.is_some() {
                let (view, class) = (view.to_string(), class.to_string());
                Error::UnnamedClass { path: path.into(), view, class, nearest }
            } else {
                Error::MissingClass {
                    path: path.into(),
                    view: first.0.to_string(),
                    class: class.to_string(),
                    because: format!("view `{view}` has that class").into(),
                    nearest: nearest.map(|class| format!("{}:{class}", first.0)),
                }
            });
        }
    }
    if classes.len() < 2 {
        return Err(Error::ClassCount { path: path.into(), classes });
    }
    Ok((classes, places))
}

/// Where each name is first.
fn first_places<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, usize> {
    let mut places = HashMap::new();
    for (at, name) in names.enumerate() {
        places.entry(name).or_insert(at);
    }
    places
}

/// The columns to cluster and to segment by, of labels, and those that go with their rows. Those of the scores, and lists of
/// whatever use, are not offered: the views of an array are lists too, and have no text.
pub(crate) fn key_columns(
    path: &Path,
    columns: &[Column],
    scores: &[usize],
    options: &ReadOptions,
) -> Result<Vec<KeyColumn>, Error> {
    let offered =
        |at: usize| !matches!(columns[at].kind, Kind::List(_)) && scores.binary_search(&at).is_err();
    let names = || (0..columns.len()).filter(|at| offered(*at)).map(|at| columns[at].name.as_str());
    let places = first_places(columns.iter().map(|column| column.name.as_str()));
    let mut keys = Vec::new();
    let kept: Vec<String> = match &options.keep {
        Keep::Nothing => Vec::new(),
        Keep::All => names().map(str::to_owned).collect(),
        Keep::Named(named) => named.clone(),
    };
    if let Some(column) = options.witnesses.iter().find(|name| options.label.as_ref() == Some(name)) {
        return Err(Error::WitnessIsLabel { path: path.into(), column: column.clone() });
    }
    let single = [
        (Purpose::Cluster, &options.cluster),
        (Purpose::Segment, &options.segment),
        (Purpose::Label, &options.label),
        (Purpose::LabelChance, &options.label_chance),
    ];
    let wanted = single.into_iter().filter_map(|(purpose, name)| Some((purpose, name.as_ref()?)));
    let witnesses = options.witnesses.iter().enumerate().map(|(place, name)| (Purpose::Witness(place), name));
    let wanted = wanted.chain(witnesses);
    let wanted = wanted.chain(kept.iter().enumerate().map(|(place, name)| (Purpose::Kept(place), name)));
    for (purpose, name) in wanted {
        let name = name.clone();
        let path = path.into();
        match places.get(name.as_str()).copied() {
            None => {
                let (found, nearest) = (names().map(str::to_owned).collect(), nearest(&name, names()));
                return Err(Error::NoKeyColumn {
                    path,
                    column: name,
                    purpose: purpose.verb(),
                    found,
                    nearest,
                });
            }
            Some(at) if !offered(at) => {
                let found = names().map(str::to_owned).collect();
                return Err(Error::ScoresAsKeys { path, column: name, purpose: purpose.verb(), found });
            }
            Some(at) => {
                let period = options.period.filter(|_| purpose == Purpose::Segment);
                keys.push(KeyColumn { purpose, at, name, whole: columns[at].whole, period });
            }
        }
    }
    Ok(keys)
}
