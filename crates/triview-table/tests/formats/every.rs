//! What is the same in every format.

use crate::common::*;
use crate::{columns, doubles, expected, value};
use arrow_array::builder::{FixedSizeListBuilder, Float32Builder};
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, ListArray};
use std::path::Path;
use std::sync::Arc;
use triview::data::{Batch, Schema, Source};
use triview_table::moments::is_moments;
use triview_table::{ReadOptions, Table, write_scores};

#[test]
fn written_tables_are_read_back_to_the_last_bit() {
    read_back(&["first", "with, comma", "third"]);
    read_back(&["first", "with, comma", "third", "with+plus", "fifth"]);
}

/// Writes and reads a table of these views in every format.
fn read_back(views: &[&str]) {
    let folder = folder();
    let schema = Schema::new(
        views.iter().map(|view| view.to_string()).collect(),
        ["0", "a:b", "\"quoted\""].map(str::to_owned).to_vec(),
    )
    .unwrap();
    let scores = |view: usize| {
        (0..60_usize).map(|i| ((i * 37 + view) as f64).sin() * 10_f64.powi(i as i32 % 40 - 20)).collect()
    };
    let batch = Batch::new(20, (0..views.len()).map(scores).collect::<Vec<_>>()).unwrap();
    for name in ["t.csv", "t.parquet", "t.arrow", "t.npy"] {
        let path = folder.path().join(name);
        let batches = [(batch.clone(), vec![Some(1); 20]), (batch.clone(), vec![None; 20])];
        assert_eq!(write_scores(&path, &schema, batches.into_iter().map(Ok)).unwrap(), 40, "{name}");
        let (table, batches) = read(&path).unwrap();
        let both = [rows(std::slice::from_ref(&batch)), rows(std::slice::from_ref(&batch))].concat();
        assert_eq!(rows(&batches), both, "{name}");
        if name == "t.npy" {
            let numbered: Vec<String> = (1..=views.len()).map(|view| view.to_string()).collect();
            assert_eq!(table.schema().views(), numbered);
            assert_eq!(table.schema().classes(), ["0", "1", "2"]);
        } else {
            assert_eq!(table.schema(), &schema, "{name}");
            assert_eq!(table.ignored_columns(), ["label"], "{name}");
        }
        assert_eq!(table.rows(), if name == "t.csv" { None } else { Some(40) }, "{name}");
    }
}

#[test]
fn files_of_all_formats_make_one_data_set() {
    let folder = folder();
    let shuffled = {
        let mut columns = columns(9, doubles);
        columns.reverse();
        put_parquet(&folder, "b.parquet", &[record_batch(columns)], 4)
    };
    let csv = {
        let mut text = String::from("a:x,a:y,b:x,b:y,c:x,c:y\n");
        for row in expected(5) {
            let fields: Vec<String> = row.concat().iter().map(f64::to_string).collect();
            text.push_str(&(fields.join(",") + "\n"));
        }
        put(&folder, "a.csv", text)
    };
    let header_only = put(&folder, "none.csv", "a:x,a:y,b:x,b:y,c:x,c:y\n");
    let arrow = put_arrow(&folder, "c.arrow", &[record_batch(columns(3, doubles))]);
    let paths: [&Path; 4] = [&csv, &header_only, &shuffled, &arrow];
    let (table, batches) = read_with(&paths, &ReadOptions::default()).unwrap();
    assert_eq!(batches.len(), 1, "small files share a batch");
    assert_eq!(rows(&batches), [expected(5), expected(9), expected(3)].concat());
    assert_eq!(table.rows(), None);
    let (table, _) = read_with(&paths[2..], &ReadOptions::default()).unwrap();
    assert_eq!(table.rows(), Some(12));
}

#[test]
fn batches_are_alike_in_every_reading_and_with_prefetch() {
    let folder = folder();
    let n = 40_000;
    let batch = record_batch(columns(n, doubles));
    let small: Vec<_> = (0..n).step_by(999).map(|at| batch.slice(at, 999.min(n - at))).collect();
    for path in [
        put_parquet(&folder, "t.parquet", std::slice::from_ref(&batch), 15_000),
        put_arrow(&folder, "t.arrow", std::slice::from_ref(&batch)),
        put_stream(&folder, "t.arrows", &small),
    ] {
        let (table, once) = read(&path).unwrap();
        assert_eq!(once.iter().map(Batch::rows).collect::<Vec<_>>(), [16_384, 16_384, 7_232]);
        assert_eq!(once, batches(&table).unwrap());
        let options = ReadOptions { prefetch: true, ..Default::default() };
        assert_eq!(read_with(&[&path], &options).unwrap().1, once);
        assert_eq!(rows(&once), expected(n));
        // A reading that is given up ends its threads.
        let table = Table::open(&[path], &options).unwrap();
        assert_eq!(*table.batches().unwrap().next().unwrap().unwrap(), once[0]);
    }
}

#[test]
fn tables_that_other_programs_wrote() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut read_files = 0;
    for reader in ["csv", "parquet", "ipc", "npy"] {
        for file in std::fs::read_dir(corpus.join(reader)).unwrap() {
            let path = file.unwrap().path();
            if !path.file_name().unwrap().to_str().unwrap().starts_with("valid-") {
                continue;
            }
            let (table, batches) = read(&path).unwrap();
            assert_eq!(rows(&batches), expected(5), "{}", path.display());
            assert_eq!(table.schema().classes(), ["0", "1"]);
            read_files += 1;
        }
    }
    assert_eq!(read_files, 22);
    for name in ["valid.moments", "valid.json"] {
        let path = corpus.join("moments").join(name);
        assert_eq!(is_moments(&path), name == "valid.moments");
    }
    triview_table::moments::read(&corpus.join("moments/valid.moments")).unwrap();
    triview_table::moments::read_plan(&corpus.join("moments/valid.json")).unwrap();
    assert_eq!(triview_table::model::read(&corpus.join("model/valid.safetensors")).unwrap().schema.k(), 2);
}

/// Missing views of `n` rows: each of the three alone, two, and all of them.
fn masks(n: usize) -> Vec<u64> {
    (0..n as u64).map(|row| (row % 9) & 0b111).collect()
}

#[test]
fn views_may_be_missing_in_every_format() {
    let folder = folder();
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let schema = Schema::new(names(&["a", "b", "c"]), names(&["x", "y"])).unwrap();
    let n = 40;
    let scores = |view| (0..2).flat_map(|class| (0..n).map(move |row| value(row, view, class))).collect();
    let batch = Batch::new(n, (0..3).map(scores).collect::<Vec<Vec<f64>>>()).unwrap();
    let batch = batch.with_missing(masks(n)).unwrap();
    for name in ["t.csv", "t.parquet", "t.arrow"] {
        let path = folder.path().join(name);
        write_scores(&path, &schema, [(batch.clone(), vec![Some(0); n])].into_iter().map(Ok)).unwrap();
        assert_eq!(read(&path).unwrap().1, std::slice::from_ref(&batch), "{name}");
    }
    let refused = write_scores(
        &folder.path().join("t.npy"),
        &schema,
        [(batch.clone(), vec![Some(0); n])].into_iter().map(Ok),
    );
    assert!(refused.unwrap_err().to_string().contains("an array cannot say that a view is missing"));

    // Lists: null themselves, or of nulls.
    let list = |view: usize, of_nulls: bool| -> ArrayRef {
        let lists = (0..n).map(|row| match (batch.is_missing(view, row), of_nulls) {
            (false, _) => Some(vec![Some(value(row, view, 0)), Some(value(row, view, 1))]),
            (true, true) => Some(vec![None, None]),
            (true, false) => None,
        });
        Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(lists))
    };
    let fixed = |view: usize| -> ArrayRef {
        let mut builder = FixedSizeListBuilder::new(Float32Builder::new(), 2);
        for row in 0..n {
            (0..2).for_each(|class| builder.values().append_value(value(row, view, class) as f32));
            builder.append(!batch.is_missing(view, row));
        }
        Arc::new(builder.finish())
    };
    let columns = [
        ["a", "b", "c"].iter().enumerate().map(|(view, name)| (*name, list(view, view == 1))).collect(),
        ["a", "b", "c"].iter().enumerate().map(|(view, name)| (*name, fixed(view))).collect::<Vec<_>>(),
    ];
    for columns in columns {
        let record = [record_batch(columns)];
        for path in [
            put_parquet(&folder, "l.parquet", &record, 13),
            put_arrow(&folder, "l.arrow", &record),
            put_stream(&folder, "l.arrows", &record),
        ] {
            assert_eq!(read(&path).unwrap().1, std::slice::from_ref(&batch), "{}", path.display());
        }
    }
}
