//! Parquet and Arrow: every width of number, every kind of list.

use crate::common::*;
use crate::{LISTS, columns, doubles, expected};
use arrow_array::{
    ArrayRef, BooleanArray, Float16Array, Float32Array, Int8Array, Int16Array, Int32Array, Int64Array,
    StringArray, StructArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field};
use std::sync::Arc;
use triview::data::{Batch, Source};
use triview_table::ReadOptions;

/// A column of these values.
type MakeColumn = fn(Vec<f64>) -> ArrayRef;

#[test]
fn every_width_of_number() {
    let folder = folder();
    let makers: [(&str, MakeColumn); 11] = [
        ("f16", |values| {
            Arc::new(Float16Array::from_iter_values(values.into_iter().map(half::f16::from_f64)))
        }),
        ("f32", |values| Arc::new(Float32Array::from_iter_values(values.into_iter().map(|v| v as f32)))),
        ("f64", doubles),
        ("i8", |values| Arc::new(Int8Array::from_iter_values(values.into_iter().map(|v| v as i8)))),
        ("i16", |values| Arc::new(Int16Array::from_iter_values(values.into_iter().map(|v| v as i16)))),
        ("i32", |values| Arc::new(Int32Array::from_iter_values(values.into_iter().map(|v| v as i32)))),
        ("i64", |values| Arc::new(Int64Array::from_iter_values(values.into_iter().map(|v| v as i64)))),
        ("u8", |values| Arc::new(UInt8Array::from_iter_values(values.into_iter().map(|v| v as u8)))),
        ("u16", |values| Arc::new(UInt16Array::from_iter_values(values.into_iter().map(|v| v as u16)))),
        ("u32", |values| Arc::new(UInt32Array::from_iter_values(values.into_iter().map(|v| v as u32)))),
        ("u64", |values| Arc::new(UInt64Array::from_iter_values(values.into_iter().map(|v| v as u64)))),
    ];
    for (name, array) in makers {
        let batch = [record_batch(columns(50, array))];
        for path in [
            put_parquet(&folder, "t.parquet", &batch, 13),
            put_arrow(&folder, "t.arrow", &batch),
            put_stream(&folder, "t.arrows", &batch),
        ] {
            assert_eq!(rows(&read(&path).unwrap().1), expected(50), "{name} in {}", path.display());
        }
    }
}

#[test]
fn every_kind_of_list() {
    let folder = folder();
    let n = 40;
    for (name, list) in LISTS {
        let list = |view| list(n, view);
        let text: ArrayRef = Arc::new(StringArray::from(vec!["t"; n]));
        let whole = record_batch(vec![("a", list(0)), ("label", text), ("b", list(1)), ("c", list(2))]);
        // Slices do not begin at the first item.
        let parts = [whole.slice(0, 11), whole.slice(11, 0), whole.slice(11, n - 11)];
        for path in [
            put_parquet(&folder, "t.parquet", &parts, 7),
            put_arrow(&folder, "t.arrow", &parts),
            put_stream(&folder, "t.arrows", &parts),
        ] {
            let (table, batches) = read(&path).unwrap();
            assert_eq!(rows(&batches), expected(n), "{name} in {}", path.display());
            assert_eq!(table.schema().classes(), ["0", "1"]);
            assert_eq!(table.ignored_columns(), ["label"]);
            let names = ReadOptions { classes: Some(vec!["no".into(), "yes".into()]), ..Default::default() };
            let (table, batches) = read_with(&[&path], &names).unwrap();
            assert_eq!(table.schema().classes(), ["no", "yes"]);
            assert_eq!(rows(&batches), expected(n));
        }
    }
}

#[test]
fn compressed_arrow_files() {
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
    let folder = folder();
    for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let batch = record_batch(columns(5000, doubles));
        let path = folder.path().join("t.feather");
        let options = IpcWriteOptions::default().try_with_compression(Some(compression)).unwrap();
        let file = std::fs::File::create(&path).unwrap();
        let mut writer = FileWriter::try_new_with_options(file, &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        assert_eq!(rows(&read(&path).unwrap().1), expected(5000));
    }
}

#[test]
fn large_record_batches_are_read_in_parts() {
    let folder = folder();
    let n = 50_000;
    let days: Vec<String> = (0..n).map(|row| format!("day {}", row / 3)).collect();
    let text: ArrayRef = Arc::new(StringArray::from_iter_values(&days));
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true; n]));
    let inner: ArrayRef = Arc::new(StringArray::from(vec!["inner"; n]));
    let field = Arc::new(Field::new("inner", DataType::Utf8, false));
    let nested: ArrayRef = Arc::new(StructArray::from(vec![(field, inner)]));
    let options = ReadOptions { cluster: Some("day".into()), ..Default::default() };
    let clusters = |batches: &[Batch]| -> Vec<u64> {
        batches.iter().flat_map(|batch| batch.clusters().unwrap().to_vec()).collect()
    };
    let mut keys: Option<Vec<u64>> = None;
    for (name, list) in LISTS {
        let batch = record_batch(vec![
            ("flag", flags.clone()),
            ("a", list(n, 0)),
            ("nested", nested.clone()),
            ("b", list(n, 1)),
            ("day", text.clone()),
            ("c", list(n, 2)),
        ]);
        // The batch of 50,000 rows is followed by small ones.
        let parts = [batch.clone(), batch.slice(10, 5), batch.slice(20, 30_000)];
        let all = expected(n);
        let all = [all.clone(), all[10..15].to_vec(), all[20..30_020].to_vec()].concat();
        for path in [put_arrow(&folder, "t.arrow", &parts), put_stream(&folder, "t.arrows", &parts)] {
            let (table, batches) = read_with(&[&path], &options).unwrap();
            assert_eq!(table.rows(), Some(80_005));
            assert!(rows(&batches) == all, "{name}");
            let found = clusters(&batches);
            assert_eq!(*keys.get_or_insert(found.clone()), found, "{name}");
        }
        let path = put_parquet(&folder, "t.parquet", &parts, 1000);
        assert_eq!(Some(clusters(&read_with(&[&path], &options).unwrap().1)), keys, "{name} as Parquet");
    }
}
