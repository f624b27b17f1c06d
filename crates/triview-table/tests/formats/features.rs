//! Columns of a view that are no scores.

use crate::common::*;
use crate::{LISTS, columns, doubles, expected};
use arrow_array::{ArrayRef, Float64Array, StringArray};
use std::path::Path;
use std::sync::Arc;
use triview::data::{Batch, Source};
use triview_table::{Error, ReadOptions};

/// Rows of every table here.
const ROWS: usize = 12;

fn features(patterns: &[&str]) -> ReadOptions {
    ReadOptions { features: patterns.iter().map(|name| name.to_string()).collect(), ..Default::default() }
}

/// The feature `f` of a view in a row.
fn feature(row: usize, view: usize, f: usize) -> f64 {
    (100 * view + 10 * f + row) as f64 / 4.0
}

fn column(view: usize, f: usize) -> ArrayRef {
    doubles((0..ROWS).map(|row| feature(row, view, f)).collect())
}

/// Checks the features `u` and `v` of the first view and `v` of the third.
fn check(path: &Path, options: &ReadOptions) {
    let (table, batches) = read_with(&[path], options).unwrap();
    assert_eq!(rows(&batches), expected(ROWS), "{}", path.display());
    assert_eq!(table.schema().all_covariates(), ["a:u", "a:v", "c:v"]);
    let all = |view: usize, f: usize| (0..ROWS).map(move |row| feature(row, view, f));
    let batch: &Batch = &batches[0];
    assert_eq!(batch.covariates(0), all(0, 0).chain(all(0, 1)).collect::<Vec<_>>());
    assert!(batch.covariates(1).is_empty());
    assert_eq!(batch.covariates(2), all(2, 1).collect::<Vec<_>>());
    assert!(table.ignored_columns().is_empty());
}

#[test]
fn features_are_the_same_in_every_format() {
    let folder = folder();
    let beside = [("a:u", column(0, 0)), ("a:v", column(0, 1)), ("c:v", column(2, 1))];
    let mut named = columns(ROWS, doubles);
    named.splice(3..3, beside.clone());
    let text = {
        let mut text = named.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(",") + "\n";
        for row in 0..ROWS {
            let cell = |array: &ArrayRef| array.as_any().downcast_ref::<Float64Array>().unwrap().value(row);
            text += &(named.iter().map(|(_, array)| cell(array).to_string()).collect::<Vec<_>>().join(",")
                + "\n");
        }
        put(&folder, "t.csv", text)
    };
    let mut tables = vec![text];
    for (name, list) in LISTS {
        let views = ["a", "b", "c"].iter().enumerate().map(|(view, name)| (*name, list(ROWS, view)));
        let batch = [record_batch(views.chain(beside.clone()).collect())];
        tables.push(put_parquet(&folder, &format!("{name}.parquet"), &batch, 5));
        tables.push(put_stream(&folder, &format!("{name}.arrows"), &batch));
    }
    let batch = [record_batch(named)];
    tables.extend([put_parquet(&folder, "t.parquet", &batch, 5), put_arrow(&folder, "t.arrow", &batch)]);
    for path in tables {
        for patterns in [&["u", "v"][..], &["a:u", "a:v", "c:v"], &["u*", "v*"]] {
            check(&path, &features(patterns));
        }
    }
}

#[test]
fn a_view_that_is_missing_needs_no_features() {
    let folder = folder();
    let text = "a:x,a:y,a:u,b:x,b:y,c:x,c:y\n1,2,0.5,3,4,5,6\n,,,3,4,5,6\n,,7,3,4,5,6\n";
    let (_, batches) = read_with(&[&put(&folder, "t.csv", text)], &features(&["u"])).unwrap();
    assert_eq!(
        (batches[0].covariates(0), batches[0].missing()),
        (&[0.5, 0.0, 0.0][..], Some(&[0, 1, 1][..]))
    );
    let text = "a:x,a:y,a:u,b:x,b:y,c:x,c:y\n1,2,0.5,3,4,5,6\n1,2,,3,4,5,6\n";
    let refused = read_with(&[&put(&folder, "t.csv", text)], &features(&["u"])).unwrap_err();
    assert!(matches!(&refused, Error::Null { row: 2, column, .. } if column == "a:u"), "{refused}");

    // The same as arrays: null where the view is, and elsewhere.
    for (absent, fails) in [(3, false), (4, true)] {
        let mut columns = columns(ROWS, doubles);
        for (_, array) in &mut columns[..2] {
            let values = array.as_any().downcast_ref::<Float64Array>().unwrap().clone();
            *array =
                Arc::new(Float64Array::from_iter((0..ROWS).map(|row| (row != 3).then(|| values.value(row)))));
        }
        let u = (0..ROWS).map(|row| (row != absent).then(|| feature(row, 0, 0)));
        columns.push(("a:u", Arc::new(Float64Array::from_iter(u))));
        let path = put_parquet(&folder, "t.parquet", &[record_batch(columns)], 5);
        match read_with(&[&path], &features(&["u"])) {
            Ok((_, batches)) => assert!(!fails && batches[0].covariates(0)[3] == 0.0),
            Err(Error::Null { row: 5, column, .. }) => assert!(fails && column == "a:u"),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn what_is_no_feature_is_named() {
    let folder = folder();
    let refused = |beside: Vec<(&'static str, ArrayRef)>, patterns: &[&str]| {
        let columns = columns(ROWS, doubles).into_iter().chain(beside).collect();
        let path = put_arrow(&folder, "t.arrow", &[record_batch(columns)]);
        read_with(&[&path], &features(patterns)).unwrap_err()
    };
    let words: ArrayRef = Arc::new(StringArray::from(vec!["high"; ROWS]));
    let found = refused(vec![("a:word", words)], &["word"]);
    assert!(matches!(&found, Error::ColumnType { column, .. } if column == "a:word"), "{found}");
    let found = refused(vec![("b:list", LISTS[0].1(ROWS, 0))], &["list"]);
    assert!(matches!(&found, Error::ColumnType { column, .. } if column == "b:list"), "{found}");
    let found = refused(vec![("c:u", column(2, 0)), ("c:u", column(2, 0))], &["u"]);
    assert!(matches!(&found, Error::DuplicateColumn { column, .. } if column == "c:u"), "{found}");
    let broken = || doubles((0..ROWS).map(|row| if row == 6 { f64::NAN } else { 0.0 }).collect());
    let found = refused(vec![("c:broken", broken())], &["broken"]).to_string();
    assert!(
        found.contains("row 7, column `c:broken`: the feature is NaN; features must be finite"),
        "{found}"
    );
    let found = refused(vec![("c:broken", broken())], &["broken", "d:broken"]).to_string();
    assert!(found.contains("has no column that is the feature `d:broken` of one of its views"), "{found}");
}
