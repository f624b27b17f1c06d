//! Files that the tests of this crate read.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot make its file has failed")]

use arrow_array::{ArrayRef, RecordBatch};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use triview::data::{Batch, Source};
use triview::{Moments, Plan};
use triview_table::{Error, ReadOptions, Table};

/// A folder that goes away with the test.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Writes some bytes.
pub(crate) fn put(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// A table of three views and two classes with these rows, each as CSV fields.
pub(crate) fn csv(rows: &[&str]) -> String {
    let mut text = String::from("a:cat,a:dog,b:cat,b:dog,c:cat,c:dog\n");
    for row in rows {
        text.push_str(row);
        text.push('\n');
    }
    text
}

/// Opens files with these options and reads all rows.
pub(crate) fn read_with(paths: &[&Path], options: &ReadOptions) -> Result<(Table, Vec<Batch>), Error> {
    let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
    let table = Table::open(&paths, options)?;
    let batches = batches(&table)?;
    Ok((table, batches))
}

/// All batches of a table.
pub(crate) fn batches(table: &Table) -> Result<Vec<Batch>, Error> {
    table.batches()?.map(|batch| Ok(Arc::unwrap_or_clone(batch?))).collect()
}

/// Opens a file and reads all rows.
pub(crate) fn read(path: &Path) -> Result<(Table, Vec<Batch>), Error> {
    read_with(&[path], &ReadOptions::default())
}

/// All rows of some batches: `rows[row][view][class]`.
pub(crate) fn rows(batches: &[Batch]) -> Vec<Vec<Vec<f64>>> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.rows() {
            let view = |view| (0..batch.k()).map(|class| batch.column(view, class)[row]).collect();
            rows.push((0..batch.views()).map(view).collect());
        }
    }
    rows
}

/// A plan for three views and these classes that needs no rows: plain scores and no bins.
pub(crate) fn plan(classes: &[&str]) -> Plan {
    let k = classes.len();
    let bins = serde_json::json!({ "edges": vec![[0.0; 0]; k], "missing": false });
    let plan = serde_json::json!({
        "schema": { "views": ["a", "b", "c"], "classes": classes },
        "partition": [[0], [1], [2]],
        "loss": "log",
        "features": { "kind": "scores" },
        "absent": [vec![0.0; k], vec![0.0; k], vec![0.0; k]],
        "bins": [bins, bins, bins],
        "look": { "grouping": { "chosen": "automatic", "together": [], "others": [] } },
    });
    serde_json::from_value(plan).unwrap()
}

/// The moments of so many rows by a plan. Eight rows after another are in one block.
pub(crate) fn moments(plan: &Plan, rows: usize) -> Moments {
    let k = plan.schema().k();
    let scores: Vec<f64> = (0..rows * 3 * k).map(|at| (at as f64).sin() * 1e3).collect();
    let mut sums = plan.accumulator().unwrap();
    sums.update(&Batch::from_rows(&scores, 3, k).unwrap()).unwrap();
    sums.finish().unwrap()
}

/// Arrays with their names as a record batch.
pub(crate) fn record_batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Writes record batches as Parquet, in row groups of at most `group` rows.
pub(crate) fn put_parquet(folder: &TempDir, name: &str, batches: &[RecordBatch], group: usize) -> PathBuf {
    use parquet::file::properties::WriterProperties;
    let path = folder.path().join(name);
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
    let file = File::create(&path).unwrap();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(file, batches[0].schema(), Some(properties)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.close().unwrap();
    path
}

/// Writes record batches as an Arrow IPC file.
pub(crate) fn put_arrow(folder: &TempDir, name: &str, batches: &[RecordBatch]) -> PathBuf {
    let path = folder.path().join(name);
    let file = File::create(&path).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    path
}

/// Writes record batches as an Arrow IPC stream.
pub(crate) fn put_stream(folder: &TempDir, name: &str, batches: &[RecordBatch]) -> PathBuf {
    let path = folder.path().join(name);
    let file = File::create(&path).unwrap();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(file, &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    path
}

/// The bytes of an `.npy` file with this header and these numbers.
pub(crate) fn npy(version: u8, descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.bytes());
    bytes.extend(data);
    bytes
}
