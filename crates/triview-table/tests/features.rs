//! Feature tables and models: the same rows in every format, and what is refused.
#![allow(clippy::unwrap_used, reason = "a failure is what a test is for")]

mod common;

use arrow_array::builder::{Float32Builder, ListBuilder};
use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use common::{folder, npy, put, put_arrow, put_parquet, record_batch};
use std::path::PathBuf;
use std::sync::Arc;
use triview::data::{Schema, Source};
use triview::learning::{FeatureBatch, FeatureSchema, LogisticModel};
use triview_table::model::{self, Model};
use triview_table::{Error, FeatureOptions, FeatureTable};

/// Views of one, two and two features in eight rows.
fn value(view: usize, feature: usize, row: usize) -> f32 {
    (view * 10 + feature) as f32 + 0.25 * row as f32
}

const WIDTHS: [usize; 3] = [1, 2, 2];
const ROWS: usize = 8;

fn options(label: Option<&str>) -> FeatureOptions {
    FeatureOptions { label: label.map(str::to_owned), ..FeatureOptions::default() }
}

fn read(paths: &[PathBuf], options: &FeatureOptions) -> Result<(FeatureTable, FeatureBatch), Error> {
    let mut table = FeatureTable::open(paths, options)?;
    if options.label.is_some() {
        table.find_classes()?;
    }
    let batches = table.batches()?.collect::<Result<Vec<_>, Error>>()?;
    let rows = FeatureBatch::concatenate(&batches)?;
    Ok((table, rows))
}

fn check(rows: &FeatureBatch) {
    assert_eq!((rows.rows(), rows.widths()), (ROWS, WIDTHS.as_slice()));
    for (view, width) in WIDTHS.into_iter().enumerate() {
        for row in 0..ROWS {
            let expected: Vec<f32> = (0..width).map(|feature| value(view, feature, row)).collect();
            assert_eq!(rows.features(view, row), expected);
        }
    }
}

/// Columns `view:feature` in a mixed order, with a label.
fn wide() -> Vec<(&'static str, ArrayRef)> {
    let column = |view, feature| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values((0..ROWS).map(|row| f64::from(value(view, feature, row)))))
    };
    let labels: ArrayRef =
        Arc::new(Int64Array::from_iter((0..ROWS).map(|row| (row != 3).then_some(row as i64 % 2 * 9))));
    vec![
        ("a:x", column(0, 0)),
        ("b:x", column(1, 0)),
        ("c:x", column(2, 0)),
        ("y", labels),
        ("b:y", column(1, 1)),
        ("c:y", column(2, 1)),
    ]
}

fn lists() -> Vec<(&'static str, ArrayRef)> {
    let column = |view: usize| -> ArrayRef {
        let mut lists = ListBuilder::new(Float32Builder::new());
        for row in 0..ROWS {
            (0..WIDTHS[view]).for_each(|feature| lists.values().append_value(value(view, feature, row)));
            lists.append(true);
        }
        Arc::new(lists.finish())
    };
    vec![("a", column(0)), ("b", column(1)), ("c", column(2))]
}

#[test]
fn every_format_holds_the_same_rows() {
    let folder = folder();
    let batch = record_batch(wide());
    let mut csv = String::from("a:x,b:x,c:x,y,b:y,c:y\n");
    for row in 0..ROWS {
        let label = if row == 3 { String::new() } else { (row % 2 * 9).to_string() };
        let v = |view, feature| value(view, feature, row);
        csv += &format!("{},{},{},{label},{},{}\n", v(0, 0), v(1, 0), v(2, 0), v(1, 1), v(2, 1));
    }
    let paths = [
        put(&folder, "t.csv", csv),
        put_parquet(&folder, "t.parquet", std::slice::from_ref(&batch), 3),
        put_arrow(&folder, "t.arrow", &[batch]),
    ];
    for path in paths {
        let (table, rows) = read(std::slice::from_ref(&path), &options(Some("y"))).unwrap();
        check(&rows);
        assert_eq!(table.schema().features(1), ["x", "y"]);
        let labels: Vec<Option<usize>> = (0..ROWS).map(|row| rows.label(row)).collect();
        assert_eq!(labels, [0, 1, 0, 9, 0, 1, 0, 1].map(|label| (label < 9).then_some(label)), "{path:?}");
        let (table, _) = read(&[path], &options(None)).unwrap();
        assert_eq!(table.ignored_columns(), ["y"]);
    }
    let batch = record_batch(lists());
    for path in [
        put_parquet(&folder, "l.parquet", std::slice::from_ref(&batch), 3),
        put_arrow(&folder, "l.arrow", &[batch]),
    ] {
        let (table, rows) = read(&[path], &options(None)).unwrap();
        check(&rows);
        assert_eq!(table.schema().features(2), ["0", "1"]);
    }
    let cells: Vec<u8> = (0..12).flat_map(|cell| f64::from(cell).to_le_bytes()).collect();
    let path = put(&folder, "t.npy", npy(1, "'<f8'", false, "(2, 3, 2)", &cells));
    let (table, rows) = read(&[path], &options(None)).unwrap();
    assert_eq!((rows.rows(), &*rows.features(1, 1)), (2, [8.0, 9.0].as_slice()));
    assert_eq!(table.rows(), Some(2));
}

#[test]
fn files_are_put_in_one_order() {
    let folder = folder();
    let first = put(&folder, "1.csv", "a:x,b:x,b:y,c:x\n1,2,3,4\n");
    let second = put(&folder, "2.csv", "c:x,b:y,a:x,b:x\n40,30,10,20\n");
    let (_, rows) = read(&[first.clone(), second], &options(None)).unwrap();
    assert_eq!((&*rows.view(0), &*rows.view(1)), ([1.0, 10.0].as_slice(), [2.0, 3.0, 20.0, 30.0].as_slice()));
    let third = put(&folder, "3.csv", "a:x,b:x,b:z,c:x\n1,2,3,4\n");
    let error = read(&[first, third], &options(None)).unwrap_err();
    assert!(matches!(&error, Error::MissingFeature { feature, .. } if feature == "y"), "{error}");
}

#[test]
fn tables_without_features() {
    let folder = folder();
    let refused = |text: &str| read(&[put(&folder, "t.csv", text)], &options(None)).map(|_| ()).unwrap_err();
    assert!(matches!(refused("x,y\n1,2\n"), Error::NoFeatureColumns { .. }));
    assert!(matches!(refused("a:x,b:x\n1,2\n"), Error::ViewCount { .. }));
    assert!(matches!(refused("a:x,b:x,c:x\n"), Error::NoRows { .. }));
    assert!(matches!(refused("a:x,b:x,c:x\n1,two,3\n"), Error::NotANumber { .. }));
    assert!(matches!(refused("a:x,b:x,c:x\n1,NaN,3\n"), Error::FeatureNotFinite { row: 1, .. }));
    assert!(matches!(refused("a:x,b:x,a:x,c:x\n1,2,3,4\n"), Error::DuplicateColumn { .. }));
    let words: ArrayRef = Arc::new(StringArray::from(vec!["one"; ROWS]));
    let mut columns = wide();
    columns[1].1 = words;
    let path = put_arrow(&folder, "t.arrow", &[record_batch(columns)]);
    assert!(matches!(read(&[path], &options(None)), Err(Error::ColumnType { .. })));
}

fn some_model() -> Model {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
    let features = FeatureSchema::new(vec![
        ("a".into(), names(&["x"])),
        ("b".into(), names(&["x", "y"])),
        ("c".into(), names(&["x", "y"])),
    ]);
    let weights = vec![vec![1.0, 2.0], vec![3.0, 4.0, 5.0, 6.0], vec![7.0, 8.0, 9.0, 10.0]];
    let bias = vec![vec![0.5, -0.5], vec![0.25, 1e-300], vec![0.0, 3.0]];
    let schema = Schema::new(names(&["a", "b", "c"]), names(&["no", "yes"]));
    Model {
        features: features.unwrap(),
        schema: schema.unwrap(),
        model: LogisticModel::new(weights, bias).unwrap(),
    }
}

#[test]
fn models_come_back_as_they_were() {
    let folder = folder();
    let path = folder.path().join("m.safetensors");
    let written = some_model();
    model::write(&path, &written).unwrap();
    assert_eq!(model::read(&path).unwrap(), written);
    // As another program reads it: classes x features, row by row.
    let bytes = std::fs::read(&path).unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let weight = tensors.tensor("weight.b").unwrap();
    assert_eq!(weight.shape(), [2, 2]);
    let numbers: Vec<f64> =
        weight.data().chunks_exact(8).map(|cell| f64::from_le_bytes(cell.try_into().unwrap())).collect();
    assert_eq!(numbers, [3.0, 5.0, 4.0, 6.0]);
}

#[test]
fn damaged_models_are_refused_wherever_they_are_cut() {
    let folder = folder();
    let path = folder.path().join("m.safetensors");
    model::write(&path, &some_model()).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    for keep in 0..bytes.len() {
        std::fs::write(&path, &bytes[..keep]).unwrap();
        let error = model::read(&path).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. } | Error::Foreign { .. }), "{keep}: {error}");
    }
}
