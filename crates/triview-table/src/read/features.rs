//! Feature tables: what models make their scores from.
//!
//! A feature table has, for each view, columns `view:feature` or one list column. It is read as score tables are, by the
//! same readers; only views may have different numbers of features, all of which must be there.

use crate::error::{Error, nearest};
use crate::memory::Memory;
use crate::read::columns::{
    Column, Kind, Place, Purpose, Selection, View, by_colon, key_columns, named_views, wanted_views,
};
use crate::read::hash::key;
use crate::read::origin::Origin;
use crate::read::pipeline::{FeaturePipeline, Pipeline, ReadFeatures};
use crate::read::prefetch::Ahead;
use crate::read::table::{DataSet, Keep, Member, ReadOptions, keep_what_all_have, locate};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use triview::data::{Batches, Schema, Source};
use triview::learning::{FeatureBatch, FeatureSchema};

/// Batches that may be ready before they are asked for.
const DEPTH: usize = 2;

/// What to read of a feature table.
#[derive(Debug, Clone, Default)]
pub struct FeatureOptions {
    /// The views, three or more, in this order; otherwise those of the file.
    pub views: Option<Vec<String>>,
    /// The column with the class of each row that is known.
    pub label: Option<String>,
    /// Views and features that must be the table's, in this order, and who has them: a model, in words.
    pub like: Option<(FeatureSchema, String)>,
    /// Names of the classes; labels that are none of them are refused. Otherwise labels are told apart only once
    /// [`FeatureTable::find_classes`] has read them.
    pub classes: Option<Vec<String>>,
    /// The columns whose texts [`FeatureTable::keeping`] gives with the rows; of all columns those that no score table would take for
    /// scores, whose names have a colon.
    pub keep: Keep,
    /// The most memory that decoding may take.
    pub memory: Memory,
}

/// One data set of features in one or more files, possibly of different formats.
#[derive(Debug)]
pub struct FeatureTable {
    schema: FeatureSchema,
    ignored: Vec<String>,
    classes: Option<Vec<String>>,
    set: Arc<DataSet>,
}

impl FeatureTable {
    /// Opens files that together are one data set: the same views and features, in whatever order. `-` is standard input.
    ///
    /// # Errors
    /// Whatever is wrong with a file that its header shows; see [`Error`].
    pub fn open(paths: &[PathBuf], options: &FeatureOptions) -> Result<Self, Error> {
        Self::of(&Origin::files(paths), options)
    }

    /// The same of files and of what is in memory.
    ///
    /// # Errors
    /// As [`FeatureTable::open`]'s.
    pub fn of(origins: &[Origin], options: &FeatureOptions) -> Result<Self, Error> {
        let FeatureOptions { views, label, like, classes, keep, memory } = options;
        let views = views.clone().or_else(|| like.as_ref().map(|(schema, _)| schema.views().to_vec()));
        let read =
            ReadOptions { views, segment: label.clone(), keep: keep.clone(), ..ReadOptions::default() };
        let (locations, spooled) = locate(origins, *memory)?;
        let mut members = Vec::new();
        for location in locations {
            let mut member = Member::inspect(location, |path, columns| select(path, columns, &read))?;
            name_lists(&mut member)?;
            members.push(member);
        }
        let first = members.first().ok_or(Error::NoFiles)?;
        let path = first.location.name.clone();
        if members.iter().all(|member| member.empty) {
            return Err(Error::NoRows { path });
        }
        let (schema, like) = match like {
            Some((schema, like)) => (schema.clone(), like.clone()),
            None => {
                let named = |member: &&Member| member.selection.widths().iter().all(|width| *width > 0);
                let named = members.iter().find(named).unwrap_or(first);
                let Selection { views, cells, .. } = &named.selection;
                let views = views.iter().cloned().zip(cells.iter().cloned()).collect();
                (FeatureSchema::new(views)?, format!("`{}`", named.location.name.display()))
            }
        };
        for Member { location, selection, .. } in &mut members {
            align(selection, &location.name, &schema, &like)?;
        }
        keep_what_all_have(&mut members);
        let set = DataSet::new(members, read, (schema.widths(), vec![0; schema.views().len()]), spooled);
        Ok(Self { schema, ignored: set.ignored(), classes: classes.clone(), set })
    }

    /// Columns that are neither features nor the label.
    pub fn ignored_columns(&self) -> &[String] {
        &self.ignored
    }

    /// The number of rows, where the files say it without being read (all but CSV).
    pub fn rows(&self) -> Option<u64> {
        self.set.rows()
    }

    /// Reads all rows for their labels, and takes the different ones for the classes: numbers by their size, then other
    /// names by their letters.
    ///
    /// # Errors
    /// Whatever keeps the rows from being read.
    pub fn find_classes(&mut self) -> Result<&[String], Error> {
        for batch in self.pipeline(false) {
            batch?;
        }
        let missing = self.set.name(key(b""));
        let mut classes = self.set.all_names();
        classes.retain(|class| Some(class) != missing.as_ref());
        classes.sort_by(|a, b| match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => a.total_cmp(&b),
            (Ok(_), Err(_)) => std::cmp::Ordering::Less,
            (Err(_), Ok(_)) => std::cmp::Ordering::Greater,
            _ => a.cmp(b),
        });
        Ok(self.classes.insert(classes))
    }

    /// What a model's scores of these rows came to: where one is no number, with the file and the row in it instead of the row among those
    /// that `before` rows precede. `model` is the file of the model, and `named` has its views and classes.
    pub fn in_file(&self, before: u64, (model, named): (&Path, &Schema), error: triview::Error) -> Error {
        let triview::Error::NotFinite { row, view, class, value } = error else { return error.into() };
        let (member, row) = self.set.file_of(before + row as u64);
        Error::ScoreNotFinite {
            path: member.location.name.clone(),
            row: row + 1,
            model: model.into(),
            view: named.views()[view].clone(),
            class: named.classes()[class].clone(),
            value,
        }
    }

    /// The columns that go with their rows, and whether every file declares them to hold whole numbers.
    pub fn kept_columns(&self) -> Vec<(String, bool)> {
        self.set.kept_columns()
    }

    /// Reads all rows from the first on, each batch with the texts of [`FeatureTable::kept_columns`], column by column; nothing where a
    /// cell is empty.
    ///
    /// # Errors
    /// Whatever keeps the files from being opened again.
    #[expect(clippy::type_complexity, reason = "rows, and columns of texts beside them")]
    pub fn keeping(
        &self,
    ) -> Result<impl Iterator<Item = Result<(FeatureBatch, Vec<Vec<Option<String>>>), Error>>, Error> {
        self.read(true)
    }

    fn read(&self, keeping: bool) -> Result<Ahead<Result<ReadFeatures, Error>>, Error> {
        let ahead = Ahead::new(self.pipeline(keeping), DEPTH);
        ahead.map_err(|source| self.set.members[0].location.unreadable(source))
    }

    fn pipeline(&self, keeping: bool) -> FeaturePipeline {
        let keys = self.classes.as_ref().map(|names| names.iter().map(|name| key(name.as_bytes())).collect());
        FeaturePipeline { pipeline: Pipeline::new(self.set.clone(), keeping), classes: keys }
    }
}

impl Source for FeatureTable {
    type Schema = FeatureSchema;
    type Batch = FeatureBatch;
    type Error = Error;

    fn schema(&self) -> &FeatureSchema {
        &self.schema
    }

    fn batches(&self) -> Result<Batches<'_, FeatureBatch, Error>, Error> {
        Ok(Box::new(self.read(false)?.map(|read| Ok(Arc::new(read?.0)))))
    }
}

/// Finds the views, their features and the label column.
fn select(path: &Path, columns: &[Column], options: &ReadOptions) -> Result<Selection, Error> {
    let named = named_views(path, columns, &by_colon(columns), |_, _| true)?;
    let label = options.segment.as_deref();
    let lists: Vec<View<'_>> = columns
        .iter()
        .enumerate()
        .filter(|(_, column)| matches!(column.kind, Kind::List(_)) && label != Some(column.name.as_str()))
        .map(|(at, column)| (column.name.as_str(), vec![("", at)]))
        .collect();
    let by_list = named.is_empty();
    let found = if by_list { lists } else { named };
    if found.is_empty() {
        let columns = columns.iter().map(|column| column.name.clone()).collect();
        return Err(Error::NoFeatureColumns { path: path.into(), columns });
    }
    let views = wanted_views(path, columns, &found, options)?;
    let mut places = Vec::new();
    for (_, cells) in &views {
        places.push(match by_list {
            true => Place::List { column: cells[0].1, order: Vec::new() },
            false => Place::Columns(cells.iter().map(|(_, at)| *at).collect()),
        });
        if !by_list {
            cells.iter().try_for_each(|(_, at)| columns[*at].expect_numbers(path))?;
        }
    }
    let names = |cells: &[(&str, usize)]| cells.iter().map(|(name, _)| name.to_string()).collect();
    let mut selection = Selection {
        views: views.iter().map(|(view, _)| view.to_string()).collect(),
        classes: Vec::new(),
        features: vec![Vec::new(); views.len()],
        cells: views.iter().map(|(_, cells)| if by_list { Vec::new() } else { names(cells) }).collect(),
        places,
        prediction: None,
        keys: Vec::new(),
        header: Vec::new(),
        ignored: Vec::new(),
    };
    if by_list {
        for (view, (_, cells)) in views.iter().enumerate() {
            if let Kind::List(Some(length)) = columns[cells[0].1].kind {
                name_list(&mut selection, view, length)?;
            }
        }
    }
    selection.keys = key_columns(path, columns, &selection.used(), options)?;
    if options.keep == Keep::All {
        selection.keys.retain(|key| !(matches!(key.purpose, Purpose::Kept(_)) && key.name.contains(':')));
    }
    Ok(selection.ignoring_the_rest(columns))
}

/// Names the features of lists whose length the file does not promise, by the first list.
fn name_lists(member: &mut Member) -> Result<(), Error> {
    for view in 0..member.selection.places.len() {
        let Place::List { column, ref order } = member.selection.places[view] else { continue };
        if order.is_empty()
            && let Some(length) = member.list_length(column)?
        {
            name_list(&mut member.selection, view, length)?;
        }
    }
    Ok(())
}

/// Names the features of a view's lists by their places.
fn name_list(selection: &mut Selection, view: usize, length: usize) -> Result<(), Error> {
    // A damaged file can claim lists of any length.
    const MOST: usize = 1_000_000;
    if length > MOST {
        return Err(triview::Error::TooManyClasses { k: length, most: MOST }.into());
    }
    selection.cells[view] = (0..length).map(|at| at.to_string()).collect();
    if let Place::List { order, .. } = &mut selection.places[view] {
        *order = (0..length).collect();
    }
    Ok(())
}

/// Puts views and features into the order of a schema; names one that differs.
fn align(selection: &mut Selection, path: &Path, schema: &FeatureSchema, like: &str) -> Result<(), Error> {
    let mut places = Vec::new();
    for (v, view) in schema.views().iter().enumerate() {
        let at = selection.views.iter().position(|name| name == view).ok_or_else(|| Error::NoSuchView {
            path: path.into(),
            view: view.clone(),
            found: selection.views.clone(),
            nearest: nearest(view, selection.views.iter().map(String::as_str)),
        })?;
        let wanted = schema.features(v);
        // A file without rows has lists of no length.
        if selection.cells[at].is_empty() {
            let Place::List { column, .. } = selection.places[at] else { continue };
            places.push(Place::List { column, order: (0..wanted.len()).collect() });
            continue;
        }
        let found: HashMap<&String, usize> = selection.cells[at].iter().zip(0..).collect();
        let mut order = Vec::with_capacity(wanted.len());
        for feature in wanted {
            order.push(*found.get(feature).ok_or_else(|| Error::MissingFeature {
                path: path.into(),
                view: view.clone(),
                feature: feature.clone(),
                like: like.into(),
                nearest: {
                    let known: HashSet<&String> = wanted.iter().collect();
                    let spare = selection.cells[at].iter().filter(|name| !known.contains(name));
                    nearest(feature, spare.map(String::as_str))
                },
            })?);
        }
        if found.len() > wanted.len() {
            let known: HashSet<&String> = wanted.iter().collect();
            let spare = selection.cells[at].iter().find(|name| !known.contains(name)).cloned();
            return Err(Error::SpareFeature {
                path: path.into(),
                view: view.clone(),
                feature: spare.unwrap_or_default(),
                like: like.into(),
            });
        }
        places.push(match &selection.places[at] {
            Place::Columns(columns) => Place::Columns(order.iter().map(|&at| columns[at]).collect()),
            Place::List { column, .. } => Place::List { column: *column, order },
            Place::Second(column) => Place::Second(*column),
        });
    }
    selection.places = places;
    selection.views = schema.views().to_vec();
    selection.cells = (0..schema.views().len()).map(|view| schema.features(view).to_vec()).collect();
    Ok(())
}
