//! Columns that go with their rows from Parquet file to Parquet file.
#![allow(clippy::unwrap_used, reason = "a failure is what a test is for")]

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use triview_table::{Error, Keep, ReadOptions, Table, write_beside};

/// Scores and columns of several types, rows `from` to `to`.
fn rows(from: i64, to: i64) -> RecordBatch {
    let all = || from..to;
    let mut columns: Vec<(String, ArrayRef)> = vec![
        ("id".into(), Arc::new(Int64Array::from_iter(all().map(|row| (row % 7 != 0).then_some(row))))),
        (
            "when".into(),
            Arc::new(TimestampMicrosecondArray::from_iter_values(all()).with_timezone("Europe/Rome")),
        ),
        (
            "word".into(),
            Arc::new(StringArray::from_iter(
                all().map(|row| (row % 3 > 0).then(|| format!("w{}", row % 11))),
            )),
        ),
    ];
    for (at, cell) in ["a:x", "a:y", "b:x", "b:y", "c:x", "c:y"].into_iter().enumerate() {
        let score = move |row: i64| ((row * 7 + at as i64 * 3) % 11) as f64 - 5.0;
        columns.push((cell.into(), Arc::new(Float64Array::from_iter_values(all().map(score)))));
    }
    columns
        .push(("weight".into(), Arc::new(Float32Array::from_iter_values(all().map(|row| row as f32 / 3.0)))));
    columns.push(("seen".into(), Arc::new(BooleanArray::from_iter(all().map(|row| Some(row % 2 == 0))))));
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .unwrap()
}

/// A file with row groups of so many rows.
fn write(path: &Path, rows: &RecordBatch, group: usize) {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(group))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), rows.schema(), Some(properties)).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
}

fn read(path: &Path) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let mut batches = reader.with_batch_size(1 << 20).build().unwrap();
    let all = batches.next().unwrap().unwrap();
    assert!(batches.next().is_none());
    all
}

fn open(paths: &[PathBuf]) -> Table {
    Table::open(paths, &ReadOptions { keep: Keep::All, ..ReadOptions::default() }).unwrap()
}

/// Numbers that are told by their row, in parts that no row group ends with.
fn parts(rows: usize) -> impl Iterator<Item = Result<Vec<Vec<f64>>, Error>> {
    let part = move |from: usize| {
        let numbers = || (from..rows.min(from + 130)).map(|row| row as f64);
        Ok(vec![numbers().collect(), numbers().map(|x| -x).collect()])
    };
    (0..rows).step_by(130).map(part)
}

fn names() -> Vec<String> {
    vec!["made:x".into(), "made:y".into()]
}

#[test]
fn columns_are_the_same_beside_what_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second, out] =
        ["first", "second", "out"].map(|name| folder.path().join(format!("{name}.parquet")));
    write(&first, &rows(0, 1000), 300);
    write(&second, &rows(1000, 1400), 1000);
    let table = open(&[first, second]);
    let carried = table.carried().unwrap();
    let written: Result<u64, Error> = write_beside(&out, &carried, &names(), parts(1400));
    assert_eq!(written.unwrap(), 1400);
    let (found, expected) = (read(&out), rows(0, 1400));
    let fields: Vec<String> = found.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(fields, ["id", "when", "word", "weight", "seen", "made:x", "made:y"]);
    for name in &fields[..5] {
        assert_eq!(found.column_by_name(name), expected.column_by_name(name), "{name}");
    }
    for (name, sign) in [("made:x", 1.0), ("made:y", -1.0)] {
        let made = found.column_by_name(name).unwrap().as_primitive::<Float64Type>();
        assert!(
            made.null_count() == 0
                && made.values().iter().zip(0..).all(|(x, row)| *x == sign * f64::from(row))
        );
    }
}

#[test]
fn only_what_goes_as_it_is_is_carried() {
    let folder = tempfile::tempdir().unwrap();
    let [parquet, other, csv] =
        ["rows.parquet", "other.parquet", "rows.csv"].map(|name| folder.path().join(name));
    write(&parquet, &rows(0, 50), 50);
    // Of another type, and of another format.
    let whole = rows(50, 100);
    let schema = whole.schema();
    let columns = schema.fields().iter().zip(whole.columns()).map(|(field, column)| {
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values((50..100).map(|row| row.to_string())));
        (field.name().clone(), if field.name() == "id" { texts } else { column.clone() })
    });
    write(&other, &RecordBatch::try_from_iter(columns.collect::<Vec<_>>()).unwrap(), 50);
    fs::write(&csv, "id,a:x,a:y,b:x,b:y,c:x,c:y\n1,1,2,3,4,5,7\n").unwrap();
    assert!(open(std::slice::from_ref(&parquet)).carried().is_some());
    assert!(open(&[parquet.clone(), other]).carried().is_none());
    assert!(open(&[csv]).carried().is_none());
    let nothing = Table::open(&[parquet], &ReadOptions::default()).unwrap();
    assert!(nothing.carried().is_none());
}

#[test]
fn nothing_is_written_of_other_rows_or_of_a_file_that_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let [path, out] = ["rows.parquet", "out.parquet"].map(|name| folder.path().join(name));
    write(&path, &rows(0, 1000), 300);
    let table = open(std::slice::from_ref(&path));
    let carried = table.carried().unwrap();
    for other in [999, 1001] {
        let refused: Result<u64, Error> = write_beside(&out, &carried, &names(), parts(other));
        assert!(matches!(refused, Err(Error::Corrupt { .. })), "{refused:?}");
    }
    let failed = || std::iter::once(Err(Error::NoFiles));
    assert!(matches!(write_beside(&out, &carried, &names(), failed()), Err(Error::NoFiles)));
    write(&path, &rows(0, 1010), 300);
    let refused: Result<u64, Error> = write_beside(&out, &carried, &names(), parts(1000));
    assert!(matches!(refused, Err(Error::Changed { .. })), "{refused:?}");
    assert!(!out.exists());
}
