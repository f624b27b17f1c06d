//! Tables that Python holds: anything with `__arrow_c_stream__`, and NumPy's arrays, none of them copied.

use crate::work::TriviewError;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_cast::cast;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use numpy::PyArray1;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList, PyTuple};
use pyo3_arrow::PyTable;
use std::fs::File;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::Arc;
use triview_table::Origin;

/// Rows in memory, as Arrow's record batches.
#[pyclass(frozen, module = "triview._core")]
pub(crate) struct Records {
    name: String,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Records {
    /// The same for the readers.
    pub(crate) fn origin(&self) -> Origin {
        Origin::Records(triview_table::Records::new(&self.name, self.batches.clone()))
    }

    /// Columns of numbers.
    pub(crate) fn of_numbers(name: &str, columns: Vec<(String, Vec<f64>)>) -> PyResult<Self> {
        let named = columns.into_iter().map(|(name, numbers)| {
            (name, Arc::new(PrimitiveArray::<Float64Type>::from(numbers)) as ArrayRef)
        });
        let batch = RecordBatch::try_from_iter(named).map_err(refused)?;
        Ok(Self::of(name.into(), vec![batch.clone()], batch.schema()))
    }

    fn of(name: String, batches: Vec<RecordBatch>, schema: SchemaRef) -> Self {
        Self { name, schema, batches }
    }
}

#[pymethods]
impl Records {
    /// The rows of anything that has `__arrow_c_stream__`.
    #[staticmethod]
    fn of_stream(name: String, stream: PyTable) -> Self {
        let (batches, schema) = stream.into_inner();
        Self::of(name, batches, schema)
    }

    /// Columns, each an array of numbers in C order with one, two or three axes, or a list of texts and Nones. Where the last of
    /// a column's three is true, what is not a number is missing.
    #[staticmethod]
    fn of_columns(name: String, columns: Vec<(String, Bound<'_, PyAny>, bool)>) -> PyResult<Self> {
        let mut fields = Vec::new();
        let mut arrays: Vec<ArrayRef> = Vec::new();
        for (name, values, nullable) in columns {
            let array = column(&values, nullable)?;
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(refused)?;
        Ok(Self::of(name, vec![batch], schema))
    }

    /// The same rows with one more column.
    fn with_column(&self, name: &str, values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let array = column(values, false)?;
        let rows = self.__len__();
        if array.len() != rows {
            let said = format!("`{name}` has {} values for the {rows} rows of {}", array.len(), self.name);
            return Err(TriviewError::new_err(said));
        }
        let mut fields = self.schema.fields().to_vec();
        fields.push(Arc::new(Field::new(name, array.data_type().clone(), true)));
        let schema = Arc::new(Schema::new(fields));
        let mut from = 0;
        let mut batches = Vec::new();
        for batch in &self.batches {
            let mut columns = batch.columns().to_vec();
            columns.push(array.slice(from, batch.num_rows()));
            from += batch.num_rows();
            batches.push(RecordBatch::try_new(schema.clone(), columns).map_err(refused)?);
        }
        Ok(Self::of(self.name.clone(), batches, schema))
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The values of each column: an array of numbers, or a list of texts and Nones.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (at, field) in self.schema.fields().iter().enumerate() {
            columns.set_item(field.name(), self.values(py, at, field.data_type())?)?;
        }
        Ok(columns)
    }

    /// The rows as bytes of Arrow's stream format, which pickle carries.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut writer = StreamWriter::try_new(Vec::new(), &self.schema).map_err(refused)?;
        self.batches.iter().try_for_each(|batch| writer.write(batch)).map_err(refused)?;
        Ok(PyBytes::new(py, &writer.into_inner().map_err(refused)?))
    }

    /// What `to_bytes` made.
    #[staticmethod]
    fn from_bytes(name: String, bytes: &[u8]) -> PyResult<Self> {
        let reader = StreamReader::try_new(bytes, None).map_err(refused)?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<Vec<_>, _>>().map_err(refused)?;
        Ok(Self::of(name, batches, schema))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let table = PyTable::try_new(self.batches.clone(), self.schema.clone())?;
        let table = Py::new(py, table)?.into_bound(py).into_any();
        let arguments = PyTuple::new(py, [requested_schema])?;
        Ok(table.call_method1("__arrow_c_stream__", arguments)?.cast_into::<PyCapsule>()?)
    }
}

impl Records {
    fn values<'py>(&self, py: Python<'py>, at: usize, kind: &DataType) -> PyResult<Bound<'py, PyAny>> {
        let arrays = || self.batches.iter().map(|batch| batch.column(at));
        let whole = arrays().all(|array| array.null_count() == 0);
        Ok(match kind {
            DataType::Float64 => {
                let number = |array: &ArrayRef| {
                    array
                        .as_primitive::<Float64Type>()
                        .iter()
                        .map(|number| number.unwrap_or(f64::NAN))
                        .collect::<Vec<_>>()
                };
                PyArray1::from_iter(py, arrays().flat_map(number)).into_any()
            }
            DataType::Int64 if whole => {
                let numbers = arrays().flat_map(|array| array.as_primitive::<Int64Type>().values().to_vec());
                PyArray1::from_iter(py, numbers).into_any()
            }
            DataType::Int64 => {
                let numbers =
                    arrays().flat_map(|array| array.as_primitive::<Int64Type>().iter().collect::<Vec<_>>());
                PyList::new(py, numbers.collect::<Vec<_>>())?.into_any()
            }
            _ => {
                let mut all: Vec<Option<String>> = Vec::new();
                for array in arrays() {
                    let texts = cast(array, &DataType::Utf8).map_err(refused)?;
                    all.extend(texts.as_string::<i32>().iter().map(|text| text.map(str::to_owned)));
                }
                PyList::new(py, all)?.into_any()
            }
        })
    }
}

/// Reads an Arrow file that a command wrote.
#[pyfunction]
pub(crate) fn read_arrow(py: Python<'_>, path: PathBuf) -> PyResult<Records> {
    py.detach(|| {
        let file = File::open(&path)?;
        let reader = FileReader::try_new(file, None).map_err(refused)?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<Vec<_>, _>>().map_err(refused)?;
        Ok(Records::of("the table".into(), batches, schema))
    })
}

fn refused(error: arrow_schema::ArrowError) -> PyErr {
    TriviewError::new_err(error.to_string())
}

/// A column of an array, or of a list of texts.
fn column(values: &Bound<'_, PyAny>, nullable: bool) -> PyResult<ArrayRef> {
    if let Ok(texts) = values.extract::<Vec<Option<String>>>() {
        return Ok(Arc::new(StringArray::from(texts)));
    }
    if let Ok(buffer) = PyBuffer::<f64>::get(values) {
        let array = of_buffer::<Float64Type, f64>(buffer)?;
        return Ok(if nullable && array.data_type().is_numeric() {
            with_nulls::<Float64Type>(&array, f64::is_nan)
        } else {
            array
        });
    }
    if let Ok(buffer) = PyBuffer::<f32>::get(values) {
        let array = of_buffer::<Float32Type, f32>(buffer)?;
        return Ok(if nullable && array.data_type().is_numeric() {
            with_nulls::<Float32Type>(&array, f32::is_nan)
        } else {
            array
        });
    }
    if let Ok(buffer) = PyBuffer::<i64>::get(values) {
        return of_buffer::<Int64Type, i64>(buffer);
    }
    let kind = values.get_type();
    Err(TriviewError::new_err(format!(
        "a column is a {kind}: an array of numbers or a list of texts is needed"
    )))
}

/// The same numbers, of which those that are not a number are missing.
fn with_nulls<T: ArrowPrimitiveType>(array: &ArrayRef, missing: fn(T::Native) -> bool) -> ArrayRef {
    let numbers = array.as_primitive::<T>();
    let there: BooleanBuffer = numbers.values().iter().map(|number| !missing(*number)).collect();
    let nulls = Some(NullBuffer::new(there)).filter(|nulls| nulls.null_count() > 0);
    Arc::new(PrimitiveArray::<T>::new(numbers.values().clone(), nulls))
}

/// The numbers of a buffer that Python holds, as Arrow's array: lists, and lists of lists, where it has more than one axis.
fn of_buffer<A, T>(buffer: PyBuffer<T>) -> PyResult<ArrayRef>
where
    A: ArrowPrimitiveType<Native = T>,
    T: Element + ArrowNativeType,
{
    if !buffer.is_c_contiguous() {
        return Err(TriviewError::new_err(
            "an array does not lie in C order: give numpy.ascontiguousarray of it",
        ));
    }
    let (shape, items) = (buffer.shape().to_vec(), buffer.item_count());
    if let Some(axis) = (1..shape.len()).find(|&axis| shape[axis] == 0) {
        return Err(TriviewError::new_err(format!("axis {axis} of an array, counted from 0, is empty")));
    }
    let bytes = match NonNull::new(buffer.buf_ptr().cast::<u8>()) {
        Some(start) if items > 0 => {
            let length = buffer.len_bytes();
            // SAFETY: the buffer is C-contiguous, so that its `len_bytes` bytes lie behind its pointer; they stay there, and are
            // not freed, as long as the export is held, which the allocation's owner does.
            unsafe { Buffer::from_custom_allocation(start, length, Arc::new(AssertUnwindSafe(buffer))) }
        }
        _ => Buffer::from_vec(Vec::<T>::new()),
    };
    let mut array: ArrayRef = Arc::new(PrimitiveArray::<A>::new(ScalarBuffer::new(bytes, 0, items), None));
    for length in shape.iter().skip(1).rev() {
        let field = Arc::new(Field::new_list_field(array.data_type().clone(), false));
        let length = i32::try_from(*length).map_err(|_| TriviewError::new_err("an axis is too long"))?;
        array = Arc::new(FixedSizeListArray::try_new(field, length, array, None).map_err(refused)?);
    }
    Ok(array)
}
