//! Questions about tables, as the command line answers them.

use crate::records::Records;
use crate::work::{TriviewError, wait};
use pyo3::prelude::*;
use triview_cli::call::{Call, Value};
use triview_table::Origin;

/// A table: one that Python holds, or a file's path.
#[derive(FromPyObject)]
pub(crate) enum Table {
    Records(Py<Records>),
    File(std::path::PathBuf),
}

impl Table {
    fn origin(&self) -> Origin {
        match self {
            Table::Records(records) => records.get().origin(),
            Table::File(path) => Origin::File(path.clone()),
        }
    }
}

/// The value of an option.
#[derive(FromPyObject)]
pub(crate) enum Given {
    Flag(bool),
    Text(String),
    Texts(Vec<String>),
    Table(Py<Records>),
}

impl Given {
    fn value(self) -> Value {
        match self {
            Given::Flag(flag) => Value::Flag(flag),
            Given::Text(text) => Value::Texts(vec![text]),
            Given::Texts(texts) => Value::Texts(texts),
            Given::Table(records) => Value::Table(records.get().origin()),
        }
    }
}

/// Tables and options as the core takes them.
pub(crate) fn asked(tables: &[Table], options: Vec<(String, Given)>) -> (Vec<Origin>, Vec<(String, Value)>) {
    let options = options.into_iter().map(|(name, given)| (name, given.value())).collect();
    (tables.iter().map(Table::origin).collect(), options)
}

/// An answer as it leaves the core.
#[pyclass(frozen, get_all, module = "triview._core")]
pub(crate) struct Outcome {
    /// One JSON object, where the question has one for an answer.
    json: Option<String>,
    /// The same for a person.
    text: String,
    /// A page to look at, in one HTML file, where there is one.
    page: Option<String>,
    /// What of it fits in a notebook.
    card: Option<String>,
    /// Whether no diagnostic speaks against it.
    trusted: bool,
    /// What was noted on the way.
    notes: Vec<String>,
}

impl Outcome {
    pub(crate) fn new(answer: triview_cli::call::Answer, notes: Vec<String>) -> Self {
        let (page, card) = answer.page.map(|page| (page.html, page.card)).unzip();
        Self { json: answer.json, text: answer.text, page, card, trusted: answer.trusted, notes }
    }
}

/// Writes a text to a file, whole or not at all.
#[pyfunction]
pub(crate) fn write(py: Python<'_>, path: std::path::PathBuf, text: &str) -> PyResult<()> {
    py.detach(|| triview_cli::call::write(&path, text)).map_err(TriviewError::new_err)
}

/// The names of the options that `verb` has on the command line.
#[pyfunction]
pub(crate) fn options(verb: &str) -> Vec<String> {
    triview_cli::call::options(verb)
}

/// Answers `verb` about some tables. Options have the names of the command line's flags, with underscores.
#[pyfunction]
#[pyo3(signature = (verb, tables, options, *, threads=None, progress=None))]
pub(crate) fn call(
    py: Python<'_>,
    verb: String,
    tables: Vec<Table>,
    options: Vec<(String, Given)>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Outcome> {
    let (tables, options) = asked(&tables, options);
    let (answer, told) = wait(py, threads, progress.as_ref(), move |told| {
        triview_cli::call::call(Call { verb: &verb, tables, options, listener: Some(told) })
    })?;
    Ok(Outcome::new(answer, told.notes()))
}
