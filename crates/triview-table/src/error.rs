//! What can keep a table or moments from being read or written.

use crate::memory::Memory;
use crate::read::format::Format;
use std::io;
use std::path::{Path, PathBuf};

/// Why a file cannot be used. Rows are counted from 1, without the header.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No files at all.
    #[error("no file is given; name at least one score table")]
    NoFiles,
    /// A path that does not exist.
    #[error("there is no file `{}`; check the path", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// A folder where a file is needed.
    #[error("`{0}` is a folder; name the files in it, such as `{0}/*.parquet`", path.display())]
    Folder {
        /// The path.
        path: PathBuf,
    },
    /// The system refused to read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused to write.
    #[error("cannot write `{}`: {source}; what was there before, if anything, is still there", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused to keep what is written already.
    #[error(
        "`{}` is written and in its place, but the system could not put its name on the disk: {source}; where the power fails now, what \
         was there before may come back: write it again",
        path.display()
    )]
    NotKept {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of no bytes.
    #[error("`{}` is empty; a score table has a header and rows", path.display())]
    EmptyFile {
        /// The file.
        path: PathBuf,
    },
    /// Columns, but no rows in any of the files.
    #[error("`{}` has columns but no rows; there is nothing to estimate from", path.display())]
    NoRows {
        /// The first file.
        path: PathBuf,
    },
    /// Rows, but no list in any of them.
    #[error(
        "`{}`: every list of column `{column}` is missing, so that nobody knows how many classes there are; name them with `--classes`, or \
         leave the file out",
        path.display()
    )]
    NoLists {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// Bytes that are in none of the formats.
    #[error(
        "`{}` is {looks}; score tables are CSV, JSON Lines, Parquet, Arrow IPC (file or stream) or NPY",
        path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// What it looks like.
        looks: &'static str,
    },
    /// A file whose ending promises what its first bytes do not keep.
    #[error(
        "`{}` is named like a {format} file but does not begin like one; it may be damaged or misnamed",
        path.display()
    )]
    WrongContent {
        /// The file.
        path: PathBuf,
        /// The format of its ending.
        format: Format,
    },
    /// A file that stops too early.
    #[error("`{}` is a truncated {format} file: {detail}; copy or write it again", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// What is missing.
        detail: String,
    },
    /// A compressed file that cannot be unpacked.
    #[error("`{}` is compressed with {packing} and cannot be unpacked: {source}; copy or compress it again", path.display())]
    Unpack {
        /// The file.
        path: PathBuf,
        /// What it is compressed with.
        packing: &'static str,
        /// What the decoder said.
        source: io::Error,
    },
    /// A compressed file that unpacks to more than any table does.
    #[error(
        "`{}` is compressed with {packing} and unpacks to more than {most}, which few tables do; allow more with `--memory` if the file can be \
         trusted, or unpack it first",
        path.display()
    )]
    Bomb {
        /// The file.
        path: PathBuf,
        /// What it is compressed with.
        packing: &'static str,
        /// What it may unpack to.
        most: Memory,
    },
    /// A file that breaks the rules of its format.
    #[error("`{}` is not a readable {format} file: {reason}; write it again", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// What the decoder said.
        reason: String,
    },
    /// Something that takes more memory to decode than may be taken.
    #[error(
        "`{}`: {what} takes {needed} of memory to decode, and {allowed} are allowed; allow more with `--memory` if the file can be trusted, or \
         write it in smaller parts",
        path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// What of it.
        what: &'static str,
        /// What it takes.
        needed: Memory,
        /// What may be taken.
        allowed: Memory,
    },
    /// Memory that may be taken and is not there.
    #[error(
        "`{}`: the system has no {needed} of memory left to decode it; end other programs, or write it in smaller parts",
        path.display()
    )]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// What it takes.
        needed: Memory,
    },
    /// A file that is not as it was when it was opened.
    #[error("`{}` changed while it was being read; run again when it is complete", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// No column looks like scores.
    #[error(
        "`{}` has no score columns; they are named `view:class` (such as `image:cat`; `--columns` takes other patterns) or are one list a \
         view, or, of two classes, one column a view that `--views` names; hard predictions take `--votes`; found {}",
        path.display(), quoted(columns)
    )]
    NoScoreColumns {
        /// The file.
        path: PathBuf,
        /// The columns there are.
        columns: Vec<String>,
    },
    /// Columns that are named by view and class, but in another way.
    #[error(
        "`{}` has no columns `view:class`, but they look like `{pattern}` with the views {} and the classes {}: say so with \
         `--columns '{pattern}'`",
        path.display(), quoted(views), quoted(classes)
    )]
    OtherNames {
        /// The file.
        path: PathBuf,
        /// The pattern that fits.
        pattern: String,
        /// The views by it.
        views: Vec<String>,
        /// The classes by it.
        classes: Vec<String>,
    },
    /// A table with one row a vote where scores are needed.
    #[error(
        "`{}` has no score columns; its columns {} look like one row a vote: say so with `--votes`",
        path.display(), quoted(columns)
    )]
    TableOfVotes {
        /// The file.
        path: PathBuf,
        /// The columns there are.
        columns: Vec<String>,
    },
    /// A pattern that is none.
    #[error(
        "`{pattern}` is no pattern of column names: {reason}; write where the two stand, such as `{{view}}_{{class}}`, or \
         `{{view}}` alone for one column a view"
    )]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A pattern of a prediction's columns that is none.
    #[error(
        "`{pattern}` does not name the columns of a prediction: write them with one `*` for the name of the class, such as `p:*`"
    )]
    ClassPattern {
        /// The pattern.
        pattern: String,
    },
    /// A prediction that no column is named by.
    #[error(
        "`{}` has no column that is named like the prediction, `{pattern}`; there are {}",
        path.display(), quoted(columns)
    )]
    NoPrediction {
        /// The file.
        path: PathBuf,
        /// The pattern.
        pattern: String,
        /// The columns there are.
        columns: Vec<String>,
    },
    /// A prediction that has other classes than the views.
    #[error(
        "`{}` {} column `{column}`: {}the prediction has one column for each class of the views, {}",
        path.display(), if *spare { "has a" } else { "has no" }, did_you_mean(nearest), quoted(classes)
    )]
    PredictionClass {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// Whether it is there, and its class is none of the views'.
        spare: bool,
        /// The classes of the views.
        classes: Vec<String>,
        /// A column that is there and may be meant.
        nearest: Option<String>,
    },
    /// A prediction that takes the columns of a view.
    #[error(
        "`{}`: the columns `{pattern}` are the prediction, which is never a view, and view `{view}` is asked for, or fewer than three are left \
         without it; give the prediction columns of its own",
        path.display()
    )]
    PredictionIsView {
        /// The file.
        path: PathBuf,
        /// How the columns are named.
        pattern: String,
        /// The view.
        view: String,
    },
    /// A prediction that is no probabilities.
    #[error(
        "`{}`, row {row}: the prediction {} is no probabilities, each from 0 to 1 and together 1; give those of the model",
        path.display(), said(values)
    )]
    NotProbabilities {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// What is said of each class.
        values: Vec<f64>,
    },
    /// A pattern that no column is named by.
    #[error(
        "`{}` has no column that is named like `{pattern}`; there are {}",
        path.display(), quoted(columns)
    )]
    PatternFitsNothing {
        /// The file.
        path: PathBuf,
        /// The pattern.
        pattern: String,
        /// The columns there are.
        columns: Vec<String>,
    },
    /// Views of one column each, and another number of classes than two.
    #[error(
        "`{}`: view `{column}` is one column, which is the probability or log-odds of the second of two classes, and `--classes` \
         names {given}; name two, or give one column for each class",
        path.display()
    )]
    NotTwoClasses {
        /// The file.
        path: PathBuf,
        /// The view.
        column: String,
        /// Classes named.
        given: usize,
    },
    /// A chance of a label that is none.
    #[error(
        "`{}`, row {row}, column `{column}`: the row has a label and {} for its chance of one; the chance that each labelled row had to be drawn is \
         needed, a number above 0 and at most 1",
        path.display(), if value.is_nan() { "nothing".to_owned() } else { value.to_string() }
    )]
    LabelChance {
        /// The file.
        path: PathBuf,
        /// The row, counted from one.
        row: u64,
        /// The column.
        column: String,
        /// What is said.
        value: f64,
    },
    /// Rows that look like probabilities where nothing was said of them.
    #[error(
        "`{}`: in all of the first {rows} rows the numbers of every view lie between 0 and 1 and add up to one, as probabilities do: say \
         `--input probability` to take their logarithms, or `--input score` if they are scores all the same",
        path.display()
    )]
    Probabilities {
        /// The first file.
        path: PathBuf,
        /// Rows that were looked at.
        rows: usize,
    },
    /// The same of one view beside others.
    #[error(
        "`{}`: in all of the first {rows} rows the numbers of view `{view}` lie between 0 and 1 and add up to one, as probabilities do, and those of \
         {} do not. What was made of the other views is no view of its own: leave it out (`--views {}`), or have it judged \
         (`--prediction '{view}:*'`). If it is a model by itself, give the logarithms of its probabilities; `--input score` takes all numbers as they are",
        path.display(), quoted(others), others.join(",")
    )]
    SomeProbabilities {
        /// The first file.
        path: PathBuf,
        /// Rows that were looked at.
        rows: usize,
        /// The view.
        view: String,
        /// The views that are none.
        others: Vec<String>,
    },
    /// No column looks like features.
    #[error(
        "`{}` has no feature columns; they are named `view:feature` (such as `image:12`) or are one list a view; found {}",
        path.display(), quoted(columns)
    )]
    NoFeatureColumns {
        /// The file.
        path: PathBuf,
        /// The columns there are.
        columns: Vec<String>,
    },
    /// A feature that a model, or the first file, has and a file lacks.
    #[error(
        "`{}` lacks feature `{feature}` of view `{view}`, which {like} has; {}give the features that it was made with",
        path.display(), did_you_mean(nearest)
    )]
    MissingFeature {
        /// The file.
        path: PathBuf,
        /// The view.
        view: String,
        /// The feature.
        feature: String,
        /// Who has it.
        like: String,
        /// The likeliest of those that the file has.
        nearest: Option<String>,
    },
    /// A feature that a model, or the first file, does not know.
    #[error(
        "`{}` has feature `{feature}` of view `{view}`, which {like} does not know; leave the column out",
        path.display()
    )]
    SpareFeature {
        /// The file.
        path: PathBuf,
        /// The view.
        view: String,
        /// The feature.
        feature: String,
        /// Who does not know it.
        like: String,
    },
    /// A label that is none of the classes.
    #[error(
        "`{}`, row {row}: the label is `{label}`, which is no class of the model; mend the label, or take a model that was \
         trained for it",
        path.display()
    )]
    UnknownLabel {
        /// The file.
        path: PathBuf,
        /// The row, from 1.
        row: u64,
        /// The label.
        label: String,
    },
    /// A label that is none of the classes that the scores are of.
    #[error(
        "`{}`, row {row}, column `{column}`: the label is `{label}`, which is no class of the scores; these are of {}; mend the \
         label, or leave it empty where the class is not known",
        path.display(), quoted(classes)
    )]
    NoSuchClass {
        /// The file.
        path: PathBuf,
        /// The row, from 1.
        row: u64,
        /// The column of labels.
        column: String,
        /// The label.
        label: String,
        /// The classes there are.
        classes: Vec<String>,
    },
    /// A label that is none of the states.
    #[error(
        "`{}`, row {row}, column `{column}`: sequence `{sequence}` has the label `{label}`, which is no state of the model; these are {}; mend \
         the label, or leave the whole sequence without labels",
        path.display(), quoted(states)
    )]
    NoSuchState {
        /// The file.
        path: PathBuf,
        /// The row, from 1.
        row: u64,
        /// The column of labels.
        column: String,
        /// The sequence.
        sequence: Box<str>,
        /// The label.
        label: Box<str>,
        /// The states there are.
        states: Vec<String>,
    },
    /// A sequence some of whose tokens have labels.
    #[error(
        "`{}`, row {row}, column `{column}`: sequence `{sequence}` is labelled only in part: this token has {} label, those before it have {}; \
         label whole sequences, and leave the others empty throughout",
        path.display(), if *labelled { "a" } else { "no" }, if *labelled { "none" } else { "one" }
    )]
    PartlyLabelled {
        /// The file.
        path: PathBuf,
        /// The row, from 1.
        row: u64,
        /// The column of labels.
        column: String,
        /// The sequence.
        sequence: String,
        /// Whether this token has a label.
        labelled: bool,
    },
    /// A view that was asked for and is not there.
    #[error("`{}` has no view `{view}`; {}its views are {}", path.display(), did_you_mean(nearest), quoted(found))]
    NoSuchView {
        /// The file.
        path: PathBuf,
        /// The name asked for.
        view: String,
        /// The views there are.
        found: Vec<String>,
        /// The likeliest of them.
        nearest: Option<String>,
    },
    /// Fewer than three views.
    #[error(
        "`{}` has {} view(s): {}; three or more are needed{}: name them in `--views a,b,c` or mend the column names",
        path.display(), views.len(), counted(views), beside(witnesses)
    )]
    ViewCount {
        /// The file.
        path: PathBuf,
        /// The views there are, each with its number of classes where it is known.
        views: Vec<(String, Option<usize>)>,
        /// Columns that are views without scores.
        witnesses: Vec<String>,
    },
    /// A witness that is the label.
    #[error(
        "`{}`: column `{column}` is given as the label and as a witness: a witness says nothing of the labels; leave one of the two out",
        path.display()
    )]
    WitnessIsLabel {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// Fewer than three views were asked for, of a file that has as many.
    #[error(
        "`--views` names {} of the {} views that `{}` has, {}; {} or more are needed",
        asked.len(), found.len(), path.display(), quoted(found), ["one", "two", "three"][needed.saturating_sub(1).min(2)]
    )]
    FewViewsAsked {
        /// The file.
        path: PathBuf,
        /// The views asked for.
        asked: Vec<String>,
        /// The views there are.
        found: Vec<String>,
        /// How many are needed.
        needed: usize,
    },
    /// Fewer than two classes.
    #[error(
        "`{}` has {} class(es) ({}); at least two are needed, one column `view:class` for each",
        path.display(), classes.len(), classes.join(", ")
    )]
    ClassCount {
        /// The file.
        path: PathBuf,
        /// The classes there are.
        classes: Vec<String>,
    },
    /// A column whose class has no name.
    #[error(
        "`{}`: column `{column}` is of view `{view}` and names no class; write it after the colon, or leave the column out",
        path.display()
    )]
    UnnamedColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// Its view.
        view: String,
    },
    /// A class that one view has and another has not.
    #[error(
        "`{}`: there is no column `{view}:{class}`, though {because}; {}every view needs the same classes",
        path.display(), did_you_mean(nearest)
    )]
    MissingClass {
        /// The file.
        path: PathBuf,
        /// The view that lacks it.
        view: String,
        /// The class.
        class: String,
        /// What makes the class expected.
        because: Box<str>,
        /// The likeliest column.
        nearest: Option<String>,
    },
    /// A column that `--classes` does not name.
    #[error(
        "`{}`: column `{view}:{class}` is of a class that `--classes` does not name; {}name all classes or none",
        path.display(), did_you_mean(nearest)
    )]
    UnnamedClass {
        /// The file.
        path: PathBuf,
        /// Its view.
        view: String,
        /// The class.
        class: String,
        /// The likeliest name given.
        nearest: Option<String>,
    },
    /// `--classes` and the lists disagree on how many classes there are.
    #[error(
        "`{}`: {given} class name(s) are given, but `{column}` has {found} scores a row; name each class once",
        path.display()
    )]
    ClassNames {
        /// The file.
        path: PathBuf,
        /// The list column, or the view of an array.
        column: String,
        /// Names given.
        given: usize,
        /// Scores in a row.
        found: usize,
    },
    /// Two columns of one name.
    #[error("`{}` has two columns named `{column}`; rename or remove one", path.display())]
    DuplicateColumn {
        /// The file.
        path: PathBuf,
        /// The name.
        column: String,
    },
    /// A score column of some other type.
    #[error(
        "`{}`: column `{column}` holds {found}, not numbers; convert it, or choose other views with `--views`",
        path.display()
    )]
    ColumnType {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// Its type.
        found: String,
    },
    /// Files of one data set that do not fit together.
    #[error(
        "`{}` does not fit `{}`: its {what} are {}, not {}; {}files of one data set need the same {what}",
        path.display(), first.display(), quoted(found), quoted(expected), did_you_mean(nearest)
    )]
    FilesDiffer {
        /// The file.
        path: PathBuf,
        /// The file it should be like.
        first: Box<Path>,
        /// `views` or `classes`.
        what: &'static str,
        /// Its names.
        found: Box<[String]>,
        /// The first file's names.
        expected: Box<[String]>,
        /// The likeliest of the first file's names for one of this file's.
        nearest: Option<String>,
    },
    /// The column to cluster or to segment by is not there.
    #[error(
        "`{}` has no column `{column}` to {purpose} by; {}besides the scores it has {}",
        path.display(), did_you_mean(nearest), quoted(found)
    )]
    NoKeyColumn {
        /// The file.
        path: PathBuf,
        /// The name asked for.
        column: String,
        /// `cluster` or `segment`.
        purpose: &'static str,
        /// The columns there are.
        found: Vec<String>,
        /// The likeliest of them.
        nearest: Option<String>,
    },
    /// A feature that no view has.
    #[error(
        "`{}` has no column that is the feature `{feature}` of one of its views {}; {}features are columns `view:feature`, \
         named with or without their view, or by how they begin, such as `x*`",
        path.display(), quoted(views), did_you_mean(nearest)
    )]
    NoFeature {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        feature: String,
        /// The views.
        views: Vec<String>,
        /// The likeliest column.
        nearest: Option<String>,
    },
    /// The column to cluster or to segment by holds scores, or lists.
    #[error(
        "`{}`: column `{column}` holds scores or lists, rows cannot be {} by it; choose another, there are {}",
        path.display(), past(purpose), quoted(found)
    )]
    ScoresAsKeys {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// `cluster` or `segment`.
        purpose: &'static str,
        /// The columns that can be asked for.
        found: Vec<String>,
    },
    /// Text in a score column.
    #[error(
        "`{}`, row {row}, column `{column}`: `{text}` is not a number; mend the value or remove the row",
        path.display()
    )]
    NotANumber {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// What stands there (its beginning, if it is long).
        text: String,
    },
    /// A number with a decimal comma.
    #[error(
        "`{}`, row {row}, column `{column}`: `{text}` is written with a decimal comma; write numbers with a point (in pandas \
         `read_csv(..., decimal=',')` and `to_csv` again)",
        path.display()
    )]
    DecimalComma {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// What stands there.
        text: String,
    },
    /// What can be read only once where it has to be known by its content first.
    #[error("`{}` can be read only once, and what is added to a store is first known by its content: give a file", path.display())]
    ReadOnce {
        /// What was given.
        path: PathBuf,
    },

    /// A text that is no time where rows are answered by periods of time.
    #[error("`{}`, row {row}, column `{column}`: `{text}` is not {expected}; mend the value or remove the row", path.display())]
    NotATime {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// What stands there (its beginning, if it is long).
        text: String,
        /// What should.
        expected: &'static str,
    },
    /// A further feature of a view that is NaN or infinite.
    #[error(
        "`{}`, row {row}, column `{column}`: the feature is {value}; features must be finite, and those of models below 3.4e38: mend the value or remove the row",
        path.display()
    )]
    FeatureNotFinite {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// The feature.
        value: f64,
    },
    /// A score that is NaN or infinite.
    #[error(
        "`{}`, row {row}, column `{column}`: the score is {value}; scores must be finite: remove the row, or clip \
         probabilities before taking logs",
        path.display()
    )]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// The score.
        value: f64,
    },
    /// A model and features that are too large for a score to be a number.
    #[error(
        "`{}`, row {row}: model `{}` gives view `{view}` the score {value} for class `{class}`: its weights or the features are too large; \
         mend the row, or train the model again with features of smaller scale",
        path.display(), model.display()
    )]
    ScoreNotFinite {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The model.
        model: PathBuf,
        /// The view.
        view: String,
        /// The class.
        class: String,
        /// The score.
        value: f64,
    },
    /// A number that is no probability.
    #[error(
        "`{}`, row {row}, column `{column}`: {value} is not a probability; leave out `--input probability` if these \
         are log scores",
        path.display()
    )]
    NotAProbability {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// The number.
        value: f64,
    },
    /// A table of sequences without a column that it needs.
    #[error(
        "`{}` has no column `{column}`; a table of sequences has the columns `sequence`, `position` and one `emission:<state>` \
         for each state, this one has {}",
        path.display(), found.join(", ")
    )]
    NoSequenceColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
        /// The columns it has.
        found: Vec<String>,
    },
    /// A position that is no whole number.
    #[error("`{}`, row {row}, column `position`: {value} is no whole number; count 0, 1, 2, ...", path.display())]
    NotAPosition {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The number.
        value: f64,
    },
    /// A position that does not follow the one before it.
    #[error(
        "`{}`, row {row}: sequence `{sequence}` has position {found} where {expected} should follow: {}; a sequence's rows must lie \
         together, one for each position",
        path.display(), if found < expected { "a duplicate, or out of order" } else { "a gap" }
    )]
    PositionOrder {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The sequence.
        sequence: String,
        /// The position.
        found: i64,
        /// The one that should be there.
        expected: i64,
    },
    /// A sequence that begins elsewhere than the first one.
    #[error(
        "`{}`, row {row}: sequence `{sequence}` begins at position {found}, the first sequence of the table at {expected}: its first \
         rows are missing, or lie elsewhere between those of other sequences; sort by sequence and position",
        path.display()
    )]
    FirstPosition {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The sequence.
        sequence: String,
        /// The position.
        found: i64,
        /// The one that should be there.
        expected: i64,
    },
    /// A file of potentials that is not a square with names.
    #[error("`{}`: {reason}; a transition file is CSV with the states' names in its header and first column", path.display())]
    Transitions {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A cell without a value, in a row that has others of the same view.
    #[error(
        "`{}`, row {row}, column `{column}`: the value is missing; fill it in or remove the row",
        path.display()
    )]
    Null {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The column.
        column: String,
    },
    /// Neither `item`, `annotator`, `vote` nor three columns of votes.
    #[error(
        "`{}` has no votes: give the columns `item`, `annotator` and `vote`, one row a vote, or one column for each of three \
         annotators or more, one row an item; columns that may be votes: {}",
        path.display(), quoted(found)
    )]
    NoVotes {
        /// The file.
        path: PathBuf,
        /// Columns that could be annotators.
        found: Vec<String>,
    },
    /// A column of votes that does not exist.
    #[error("`{}` has no column `{view}`; {}columns that may be votes: {}", path.display(), did_you_mean(nearest), quoted(found))]
    NoSuchAnnotator {
        /// The file.
        path: PathBuf,
        /// The column asked for.
        view: String,
        /// Columns that could be annotators.
        found: Vec<String>,
        /// The most similar of them.
        nearest: Option<String>,
    },
    /// A vote for a class that was not named.
    #[error(
        "`{}`, row {row}, column `{column}`: the vote `{vote}` is not one of the classes {}; name it in --classes, or mend the vote",
        path.display(), quoted(classes)
    )]
    UnknownVote {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// The vote.
        vote: String,
        /// The classes.
        classes: Vec<String>,
    },
    /// Votes that differ too much to be classes.
    #[error(
        "`{}`, row {row}, column `{column}`: with `{vote}` there are more than {most} different votes; votes are names of classes, so \
         choose the columns of votes with --views, or name the classes with --classes",
        path.display()
    )]
    TooManyVotes {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// The vote.
        vote: String,
        /// How many different ones there may be.
        most: usize,
    },
    /// An annotator who votes twice on an item.
    #[error(
        "`{}`: annotator `{annotator}` votes twice on item `{item}`, for {}; keep one of the two votes (the same vote twice would be \
         counted once)",
        path.display(), quoted(votes)
    )]
    TwoVotes {
        /// The first file.
        path: PathBuf,
        /// The annotator.
        annotator: String,
        /// The item.
        item: String,
        /// What it votes for.
        votes: Vec<String>,
    },
    /// A column of a table with one row an item that names rows rather than classes.
    #[error(
        "`{}`: column `{column}` has another value in each of {rows} rows, which no annotator's votes are; call it `item` if it names the \
         items, or choose the columns of votes with --views",
        path.display()
    )]
    NoVoter {
        /// The first file.
        path: PathBuf,
        /// The column.
        column: String,
        /// Its rows.
        rows: usize,
    },
    /// A column of a table with one row an item that votes for what nobody else votes for.
    #[error(
        "`{}`: column `{column}` has {votes} different values, and no other column has any of them: it is no annotator, or there is one \
         row a vote; choose the columns of votes with --views, or name those of a table with one row a vote by --item, --annotator and \
         --vote",
        path.display()
    )]
    LoneVoter {
        /// The first file.
        path: PathBuf,
        /// The column.
        column: String,
        /// Its different values.
        votes: usize,
    },
    /// A table with one row a vote of which one column was not recognised.
    #[error(
        "`{}` has one row a vote, and no column whose name tells that it is the {role}; name it by --{role}: there are {}",
        path.display(), quoted(found)
    )]
    NoColumnOfVotes {
        /// The file.
        path: PathBuf,
        /// What the column is.
        role: &'static str,
        /// The columns there are.
        found: Vec<String>,
    },
    /// Several columns that may be the same.
    #[error("`{}`: {} may each be the {role}; say which by --{role}", path.display(), quoted(found))]
    WhichColumn {
        /// The file.
        path: PathBuf,
        /// What the column is.
        role: &'static str,
        /// The columns.
        found: Vec<String>,
    },
    /// One column that is named as two things.
    #[error("`{}`: column `{column}` is named twice; item, annotator and vote are three columns", path.display())]
    OneColumnTwice {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// A column that was named and is not there.
    #[error("`{}` has no column `{column}`; {}there are {}", path.display(), did_you_mean(nearest), quoted(found))]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// The columns there are.
        found: Vec<String>,
        /// The most similar of them.
        nearest: Option<String>,
    },
    /// An item with two classes.
    #[error(
        "`{}`, row {row}: item `{item}` is of class `{}` and was of class `{}` before; gold is one class an item: keep the right one",
        path.display(), classes[1], classes[0]
    )]
    TwoGolds {
        /// The file of the second.
        path: PathBuf,
        /// Its row.
        row: u64,
        /// The item.
        item: String,
        /// Both classes.
        classes: [String; 2],
    },
    /// Gold of an item without votes, or of a name that several items have.
    #[error(
        "`{}`, row {row}: {}; {}leave it out, or mend its name",
        path.display(),
        if *several { format!("several items are called `{item}`") } else { format!("nobody votes on item `{item}`") },
        did_you_mean(nearest)
    )]
    UnknownItem {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The item.
        item: String,
        /// Whether several have its name.
        several: bool,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// Gold of a class that nobody votes for.
    #[error(
        "`{}`, row {row}: the class `{class}` is not one of those that are voted for, {}; mend it, or leave the item without a class",
        path.display(), quoted(classes)
    )]
    UnknownGold {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The class.
        class: String,
        /// The classes.
        classes: Vec<String>,
    },
    /// A vote that is no number where numbers are cut into classes.
    #[error(
        "`{}`, row {row}, column `{column}`: `{vote}` is no number, and only numbers can be cut into classes; mend it, or leave out --cuts",
        path.display()
    )]
    NoNumber {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// The vote.
        vote: String,
    },
    /// A line of JSON Lines that is none.
    #[error("`{}`, line {line}: {reason}; JSON Lines has one object a line, of texts, numbers, true, false and null", path.display())]
    JsonLine {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// Fewer than two classes among the votes.
    #[error(
        "`{}`: all votes are for {}: with one class there is nothing to be wrong about; give votes for two classes or more",
        path.display(), if classes.is_empty() { "nothing".to_owned() } else { format!("class `{}`", classes[0]) }
    )]
    OneClass {
        /// The first file.
        path: PathBuf,
        /// The class, if there is a vote at all.
        classes: Vec<String>,
    },
    /// A class that was named and that nobody votes for.
    #[error(
        "`{}`: nobody votes for class `{class}`: votes cannot tell how often it occurs; leave it out of --classes",
        path.display()
    )]
    NobodysClass {
        /// The first file.
        path: PathBuf,
        /// The class.
        class: String,
    },
    /// A row with too few or too many fields.
    #[error(
        "`{}`, row {row} has {found} field(s) where the header has {expected}; look for a missing separator, an \
         unquoted one, or decimal commas",
        path.display()
    )]
    RowLength {
        /// The file.
        path: PathBuf,
        /// The row (0 is the header).
        row: u64,
        /// Fields in the header.
        expected: u64,
        /// Fields in the row.
        found: u64,
    },
    /// A quote that is opened and not closed where its text ends.
    #[error(
        "`{}`, row {row}: a quote is opened in this row and not closed where the text ends: all that follows would be taken for \
         one text; close it, or write a quote within a text twice",
        path.display()
    )]
    UnclosedQuote {
        /// The file.
        path: PathBuf,
        /// The row (0 is the header).
        row: u64,
    },
    /// A row so long that it cannot be meant.
    #[error(
        "`{}`, row {row} is longer than {most} bytes; look for a quote that is never closed",
        path.display()
    )]
    RowTooLong {
        /// The file.
        path: PathBuf,
        /// The row (0 is the header).
        row: u64,
        /// The most that is read.
        most: u64,
    },
    /// A list that is not as long as there are classes.
    #[error(
        "`{}`, row {row}, column `{column}`: the list has {found} score(s) where there are {expected} classes",
        path.display()
    )]
    ListLength {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The column.
        column: String,
        /// The number of classes.
        expected: usize,
        /// The length of the list.
        found: usize,
    },
    /// An array that is not rows by views by classes.
    #[error(
        "`{}` is an array of shape {shape:?}; a score array has three axes: (rows, views, classes)",
        path.display()
    )]
    ArrayShape {
        /// The file.
        path: PathBuf,
        /// Its shape.
        shape: Vec<u64>,
    },
    /// An array of something other than numbers.
    #[error(
        "`{}` is an array of type `{found}`; use floats or integers, such as `array.astype('float32')`",
        path.display()
    )]
    ArrayType {
        /// The file.
        path: PathBuf,
        /// Its type, as NumPy writes it.
        found: String,
    },
    /// An output file with an ending that says no format.
    #[error("`{}`: cannot tell the format; end the name in .csv, .parquet, .arrow or .npy", path.display())]
    OutputFormat {
        /// The file.
        path: PathBuf,
    },
    /// A view's name that could not be read back.
    #[error(
        "the view name `{view}` has a colon or is empty; in a column `view:class` it could not be told apart"
    )]
    ViewName {
        /// The view.
        view: String,
    },
    /// A file that is neither moments nor a model at all.
    #[error("`{}` is not a triview file of the kind asked for ({what}): {found}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        what: &'static str,
        /// What it is instead.
        found: &'static str,
    },
    /// Moments, or a model, of a version this program does not know.
    #[error("`{}` is of format version {found}; this program reads version {known}: make it again", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The version that is read.
        known: u64,
    },
    /// Moments, or a model, that are damaged.
    #[error("`{}` is a damaged {what}: {reason}; make it again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// Record batches of which one has other columns than the first.
    #[error(
        "record batch {batch}, counted from 0, has other columns than the first; give batches of one schema"
    )]
    RecordsDiffer {
        /// The batch.
        batch: usize,
    },
    /// What the core refuses of a row of a file.
    #[error("`{}`, {source}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What it refuses, with the row within the file.
        source: triview::Error,
    },
    /// What the core refuses.
    #[error(transparent)]
    Core(#[from] triview::Error),
}

/// Names for a message; the first of them if there are many.
fn quoted(names: &[String]) -> String {
    const MOST: usize = 20;
    let mut shown: Vec<String> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    if names.len() > MOST {
        shown.push(format!("and {} more", names.len() - MOST));
    }
    if shown.is_empty() { "none".into() } else { shown.join(", ") }
}

/// Views with their number of classes: a misspelt one stands out by it.
fn counted(views: &[(String, Option<usize>)]) -> String {
    let views: Vec<String> = views
        .iter()
        .map(|(view, classes)| match classes {
            Some(classes) => format!("{view} ({classes} classes)"),
            None => view.clone(),
        })
        .collect();
    if views.is_empty() { "none".into() } else { views.join(", ") }
}

/// A text as it is shown: the beginning of it, if it is long.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What has been done by a column.
fn past(verb: &str) -> &'static str {
    match verb {
        "cluster" => "clustered",
        "segment" => "segmented",
        "label" => "labelled",
        _ => "identified",
    }
}

/// What views come on top of, where there are witnesses.
fn beside(witnesses: &[String]) -> String {
    match witnesses.len() {
        0 => String::new(),
        count => format!(", {count} witness(es) included: {}", witnesses.join(", ")),
    }
}

/// Some numbers, not all of many.
fn said(values: &[f64]) -> String {
    const MOST: usize = 10;
    let mut shown: Vec<String> = values.iter().take(MOST).map(f64::to_string).collect();
    if values.len() > MOST {
        shown.push("...".to_owned());
    }
    shown.join(", ")
}

/// The start of a sentence that proposes a name, if there is one.
fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("did you mean `{name}`? ")).unwrap_or_default()
}

/// The name most like `name`, if any is like it: at most a third of its letters differ.
pub(crate) fn nearest<'a>(name: &str, among: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // Enough for any table that a person looks at; a damaged one may have columns without end.
    const LOOKED_AT: usize = 1000;
    let most = (name.chars().count() / 3).max(1);
    among
        .into_iter()
        .take(LOOKED_AT)
        .map(|other| (strsim::damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase()), other))
        .filter(|(distance, other)| *distance <= most && *other != name)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, other)| other.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_like_the_one_given() {
        assert_eq!(nearest("imge", ["sound", "image", "text"]), Some("image".into()));
        assert_eq!(nearest("Image", ["sound", "image"]), Some("image".into()));
        assert_eq!(nearest("dgo", ["cat", "dog"]), Some("dog".into()));
        assert_eq!(nearest("smell", ["sound", "image"]), None);
    }

    #[test]
    fn long_lists_of_names_are_cut() {
        let names: Vec<String> = (0..30).map(|i| i.to_string()).collect();
        assert!(quoted(&names).ends_with("and 10 more"));
        assert_eq!(quoted(&[]), "none");
    }
}
