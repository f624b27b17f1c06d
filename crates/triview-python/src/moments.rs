//! Moments that add up: plans, accumulators, and the moments themselves.

use crate::call::{Given, Outcome, Table, asked};
use crate::records::Records;
use crate::work::{TriviewError, wait};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use triview::moments as core;
use triview_cli::call::{Asked, SummedBy};

/// Plans what is summed, from a sample of the rows.
#[pyfunction]
#[pyo3(signature = (tables, options, *, threads=None, progress=None))]
pub(crate) fn plan(
    py: Python<'_>,
    tables: Vec<Table>,
    options: Vec<(String, Given)>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Plan> {
    let (tables, options) = asked(&tables, options);
    let (plan, _) =
        wait(py, threads, progress.as_ref(), move |told| Asked::new(tables, options, told)?.plan())?;
    Ok(Plan { plan: Arc::new(plan) })
}

/// The names of the views and of the classes of some rows, and of the columns that are not read.
#[pyfunction]
pub(crate) fn schema(
    py: Python<'_>,
    tables: Vec<Table>,
    options: Vec<(String, Given)>,
) -> PyResult<[Vec<String>; 3]> {
    let (tables, options) = asked(&tables, options);
    let ((schema, unread), _) =
        wait(py, None, None, move |told| Asked::new(tables, options, told)?.schema())?;
    Ok([schema.views().to_vec(), schema.classes().to_vec(), unread])
}

/// What is summed over rows.
#[pyclass(frozen, module = "triview._core")]
pub(crate) struct Plan {
    plan: Arc<core::Plan>,
}

#[pymethods]
impl Plan {
    /// Sums nothing yet.
    #[pyo3(signature = (*, starting_at=0))]
    fn accumulator(&self, starting_at: u64) -> PyResult<Accumulator> {
        let sums = self.plan.accumulator().map_err(said)?.starting_at(starting_at);
        Ok(Accumulator { plan: self.plan.clone(), sums: Arc::new(Mutex::new(Some(sums))) })
    }

    /// The names of the views.
    #[getter]
    fn views(&self) -> Vec<String> {
        self.plan.schema().views().to_vec()
    }

    /// The names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.plan.schema().classes().to_vec()
    }

    /// The same as bytes, which travel.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.plan.to_bytes().map_err(said)?))
    }

    /// What `to_bytes` made.
    #[classmethod]
    fn from_bytes(_: &Bound<'_, PyType>, bytes: &[u8]) -> PyResult<Self> {
        Ok(Self { plan: Arc::new(core::Plan::from_bytes(bytes).map_err(said)?) })
    }
}

/// Sums over the rows that it is given.
#[pyclass(frozen, module = "triview._core")]
pub(crate) struct Accumulator {
    plan: Arc<core::Plan>,
    /// Taken while rows are added, and for good once finished.
    sums: Arc<Mutex<Option<core::Accumulator>>>,
}

impl Accumulator {
    fn take(&self) -> PyResult<core::Accumulator> {
        let sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner).take();
        sums.ok_or_else(|| {
            TriviewError::new_err(
                "the accumulator is finished, failed, or in use elsewhere: make another by its plan",
            )
        })
    }
}

#[pymethods]
impl Accumulator {
    /// Adds rows. Where that fails, or is interrupted, the sums are lost.
    #[pyo3(signature = (tables, options, *, threads=None))]
    fn update(
        &self,
        py: Python<'_>,
        tables: Vec<Table>,
        options: Vec<(String, Given)>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let (mut sums, plan) = (self.take()?, self.plan.clone());
        let (tables, options) = asked(&tables, options);
        let (sums, _) = wait(py, threads, None, move |told| {
            Asked::new(tables, options, told)?.add(&plan, &mut sums)?;
            Ok(sums)
        })?;
        *self.sums.lock().unwrap_or_else(PoisonError::into_inner) = Some(sums);
        Ok(())
    }

    /// The moments of all rows that were added.
    fn finish(&self) -> PyResult<Moments> {
        Ok(Moments { moments: Arc::new(self.take()?.finish().map_err(said)?) })
    }
}

/// The name of a segment and the moments of its rows.
type Segment = (String, Py<Moments>);

/// Sums of moments, in blocks of rows.
#[pyclass(frozen, module = "triview._core")]
pub(crate) struct Moments {
    moments: Arc<core::Moments>,
}

#[pymethods]
impl Moments {
    /// The number of rows.
    #[getter]
    fn rows(&self) -> u64 {
        self.moments.rows()
    }

    /// What was summed.
    #[getter]
    fn plan(&self) -> Plan {
        Plan { plan: Arc::new(self.moments.plan().clone()) }
    }

    /// Those of both parts.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let (ours, theirs) = (self.moments.clone(), other.moments.clone());
        let merged = py.detach(|| core::Moments::clone(&ours).merge(&theirs)).map_err(said)?;
        Ok(Self { moments: Arc::new(merged) })
    }

    /// Solves them.
    #[pyo3(signature = (*, level=0.95, seed=0, threads=None, progress=None))]
    fn solve(
        &self,
        py: Python<'_>,
        level: f64,
        seed: u64,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Outcome> {
        let moments = self.moments.clone();
        let (answer, told) =
            wait(py, threads, progress.as_ref(), move |_| triview_cli::call::solve(&moments, level, seed))?;
        Ok(Outcome::new(answer, told.notes()))
    }

    /// Solves them and those of each segment, a column's name and its values, of whose rows the tables are an even sample.
    #[pyo3(signature = (tables, options, *, by=None, metrics=false, threads=None, progress=None))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn solve_with(
        &self,
        py: Python<'_>,
        tables: Vec<Table>,
        options: Vec<(String, Given)>,
        by: Option<(String, Vec<Segment>)>,
        metrics: bool,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Outcome> {
        let moments = self.moments.clone();
        let by = by.map(|(column, segments)| {
            let segments = segments.into_iter().map(|(name, part)| (name, part.get().moments.clone()));
            SummedBy { column, segments: segments.collect() }
        });
        let (tables, options) = asked(&tables, options);
        let (answer, told) = wait(py, threads, progress.as_ref(), move |told| {
            Asked::new(tables, options, told)?.solve(&moments, by.as_ref(), metrics)
        })?;
        Ok(Outcome::new(answer, told.notes()))
    }

    /// Tests whether the views are independent given the class.
    #[pyo3(signature = (*, level=0.95, seed=0, threads=None))]
    fn diagnose(&self, py: Python<'_>, level: f64, seed: u64, threads: Option<usize>) -> PyResult<Outcome> {
        let moments = self.moments.clone();
        let (answer, told) =
            wait(py, threads, None, move |_| triview_cli::call::diagnose(&moments, level, seed))?;
        Ok(Outcome::new(answer, told.notes()))
    }

    /// What labels rows of theirs.
    #[pyo3(signature = (*, seed=0, threads=None))]
    fn labeller(&self, py: Python<'_>, seed: u64, threads: Option<usize>) -> PyResult<Labeller> {
        let moments = self.moments.clone();
        let (labeller, _) = wait(py, threads, None, move |_| triview_cli::call::labeller(&moments, seed))?;
        Ok(Labeller { plan: Arc::new(self.moments.plan().clone()), labeller: Arc::new(labeller) })
    }

    /// The same as bytes: those of a file that the command line writes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let moments = self.moments.clone();
        Ok(PyBytes::new(py, &py.detach(|| moments.to_bytes()).map_err(said)?))
    }

    /// What `to_bytes` made.
    #[classmethod]
    fn from_bytes(_: &Bound<'_, PyType>, py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let moments = py.detach(|| core::Moments::from_bytes(bytes)).map_err(said)?;
        Ok(Self { moments: Arc::new(moments) })
    }

    /// Writes them to a file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let moments = self.moments.clone();
        py.detach(|| triview_table::moments::write(&path, &moments)).map_err(said)
    }

    /// Reads a file of moments.
    #[classmethod]
    fn load(_: &Bound<'_, PyType>, py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let moments = py.detach(|| triview_table::moments::read(&path)).map_err(said)?;
        Ok(Self { moments: Arc::new(moments) })
    }
}

/// Labels rows by moments that are solved.
#[pyclass(frozen, module = "triview._core")]
pub(crate) struct Labeller {
    plan: Arc<core::Plan>,
    labeller: Arc<triview::estimator::Labeller>,
}

#[pymethods]
impl Labeller {
    /// The surrogate labels and the posteriors of rows, in their order.
    #[pyo3(signature = (tables, options, *, threads=None))]
    fn label(
        &self,
        py: Python<'_>,
        tables: Vec<Table>,
        options: Vec<(String, Given)>,
        threads: Option<usize>,
    ) -> PyResult<Records> {
        let (plan, labeller) = (self.plan.clone(), self.labeller.clone());
        let (tables, options) = asked(&tables, options);
        let (columns, _) =
            wait(py, threads, None, move |told| Asked::new(tables, options, told)?.label(&plan, &labeller))?;
        Records::of_numbers("the labels", columns)
    }
}

fn said(error: impl std::fmt::Display) -> PyErr {
    TriviewError::new_err(error.to_string())
}
