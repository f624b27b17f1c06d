//! Each thing that can be wrong with a file gets its own error, which says where it is and what to do.
#![allow(clippy::unwrap_used, reason = "a test that fails by panicking fails")]

mod common;

use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, LargeListArray, ListArray, StringArray};
use common::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use triview::data::{Batch, Schema};
use triview_table::{Error, Input, ReadOptions, Table, write_scores};

/// Asserts the variant of an error and pieces of its message.
macro_rules! assert_refused {
    ($result:expr, $variant:pat, $($piece:expr),+) => {{
        let error = $result.map(|_| ()).unwrap_err();
        assert!(matches!(error, $variant), "{error:?}");
        let text = error.to_string();
        $(assert!(text.contains($piece), "no {:?} in: {text}", $piece);)+
    }};
}

fn views(names: &str) -> ReadOptions {
    ReadOptions { views: Some(names.split(',').map(str::to_owned).collect()), ..Default::default() }
}

fn classes(names: &str) -> ReadOptions {
    ReadOptions { classes: Some(names.split(',').map(str::to_owned).collect()), ..Default::default() }
}

fn doubles(values: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

/// Three rows of three views and two classes, with some columns replaced.
fn columns(replaced: Vec<(&'static str, ArrayRef)>) -> Vec<(&'static str, ArrayRef)> {
    let names = ["a:cat", "a:dog", "b:cat", "b:dog", "c:cat", "c:dog"];
    let mut columns: Vec<_> = names.map(|name| (name, doubles(&[1.0, 2.0, 3.0]))).into();
    for (name, array) in replaced {
        match columns.iter_mut().find(|(other, _)| *other == name) {
            Some(column) => column.1 = array,
            None => columns.push((name, array)),
        }
    }
    columns
}

/// A list column of these rows.
fn lists(rows: &[Option<Vec<Option<f64>>>]) -> ArrayRef {
    Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(rows.to_vec()))
}

fn pair() -> Option<Vec<Option<f64>>> {
    Some(vec![Some(1.0), Some(2.0)])
}

#[test]
fn no_files() {
    assert_refused!(Table::open(&[], &ReadOptions::default()), Error::NoFiles, "name at least one");
}

#[test]
fn missing() {
    let path = folder().path().join("nowhere.csv");
    assert_refused!(read(&path), Error::Missing { .. }, "nowhere.csv", "check the path");
}

#[test]
fn folder_for_a_file() {
    let folder = folder();
    assert_refused!(read(folder.path()), Error::Folder { .. }, "is a folder", "/*.parquet");
}

#[cfg(unix)]
#[test]
fn unreadable() {
    // A link to itself cannot be opened by anybody, not even by root.
    let folder = folder();
    let path = folder.path().join("loop.csv");
    std::os::unix::fs::symlink(&path, &path).unwrap();
    assert_refused!(read(&path), Error::Read { .. }, "cannot read", "loop.csv");
}

#[test]
fn empty_file() {
    let folder = folder();
    for name in ["t.csv", "t.parquet", "t.arrow", "t.npy"] {
        assert_refused!(read(&put(&folder, name, "")), Error::EmptyFile { .. }, name, "is empty");
    }
}

#[test]
fn header_only() {
    let folder = folder();
    let none = record_batch(columns(vec![])).slice(0, 0);
    for path in [
        put(&folder, "t.csv", csv(&[])),
        put_parquet(&folder, "t.parquet", std::slice::from_ref(&none), 10),
        put_arrow(&folder, "t.arrow", std::slice::from_ref(&none)),
        put(&folder, "t.npy", npy(1, "'<f4'", false, "(0, 3, 2)", &[])),
    ] {
        assert_refused!(read(&path), Error::NoRows { .. }, "no rows");
    }
    let lists = [("a", lists(&[pair()])), ("b", lists(&[pair()])), ("c", lists(&[pair()]))];
    let none = [record_batch(lists.to_vec()).slice(0, 0)];
    for path in [put_parquet(&folder, "l.parquet", &none, 10), put_arrow(&folder, "l.arrow", &none)] {
        assert_refused!(read(&path), Error::NoRows { .. }, "no rows");
    }
}

#[test]
fn unknown_format() {
    let folder = folder();
    let cases: [(&[u8], &str); 7] = [
        (b"PK\x03\x04....", "zip archive"),
        (b"PARE....", "encrypted"),
        (b"\xff\xfea\x00:\x00", "UTF-16"),
        (b"\xff\xfe\x00\x00a\x00\x00\x00", "UTF-32"),
        (b"\x00\x00\xfe\xff\x00\x00\x00a", "UTF-32"),
        (b"ab\x00cd", "binary data"),
        (b"\x40\x00\x00\x00\x00\x00\x00\x00{\"__metadata__\"", "safetensors"),
    ];
    for (bytes, looks) in cases {
        let path = put(&folder, "t.csv", bytes);
        assert_refused!(read(&path), Error::UnknownFormat { .. }, "t.csv", looks, "Parquet");
    }
}

#[test]
fn a_class_without_a_name() {
    let folder = folder();
    let path = put(&folder, "t.csv", "a:,a:y,b:,b:y,c:,c:y\n1,2,3,4,5,6\n");
    assert_refused!(read(&path), Error::UnnamedColumn { .. }, "t.csv", "`a:`", "names no class");
}

#[test]
fn lists_that_are_all_missing() {
    let folder = folder();
    let missing = vec![None::<Vec<Option<f64>>>; 3];
    let null = || Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(missing.clone())) as ArrayRef;
    let batch = record_batch(vec![("a", null()), ("b", null()), ("c", null())]);
    for path in [
        put_parquet(&folder, "t.parquet", std::slice::from_ref(&batch), 10),
        put_arrow(&folder, "t.arrow", std::slice::from_ref(&batch)),
    ] {
        assert_refused!(read(&path), Error::NoLists { .. }, "every list", "`a`", "--classes");
    }
}

#[test]
fn wrong_content() {
    let folder = folder();
    for (name, format) in [("t.parquet", "Parquet"), ("t.arrow", "Arrow IPC"), ("t.npy", "NPY")] {
        let path = put(&folder, name, csv(&["1,2,3,4,5,6"]));
        assert_refused!(read(&path), Error::WrongContent { .. }, name, format, "misnamed");
    }
}

#[test]
fn truncated() {
    let folder = folder();
    let batch = [record_batch(columns(vec![]))];
    let data = vec![0; 2 * 3 * 2 * 4];
    for path in [
        put_parquet(&folder, "t.parquet", &batch, 10),
        put_arrow(&folder, "t.arrow", &batch),
        put_stream(&folder, "t.arrows", &batch),
        put(&folder, "t.npy", npy(1, "'<f4'", false, "(2, 3, 2)", &data)),
    ] {
        let bytes = std::fs::read(&path).unwrap();
        // A stream may end without its last eight bytes, which only say that it ends.
        std::fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
        assert_refused!(read(&path), Error::Truncated { .. }, "truncated", "again");
    }
    let path = put(&folder, "t.npy", &npy(1, "'<f4'", false, "(2, 3, 2)", &data)[..20]);
    assert_refused!(read(&path), Error::Truncated { .. }, "within its header");
}

#[test]
fn corrupt() {
    let folder = folder();
    let batch = [record_batch(columns(vec![]))];
    let path = put_parquet(&folder, "t.parquet", &batch, 10);
    let mut bytes = std::fs::read(&path).unwrap();
    let footer = bytes.len() - 20;
    bytes[footer - 100..footer].fill(0xee);
    std::fs::write(&path, &bytes).unwrap();
    assert_refused!(read(&path), Error::Corrupt { .. }, "not a readable Parquet file");

    let path = put_arrow(&folder, "t.arrow", &batch);
    let mut bytes = std::fs::read(&path).unwrap();
    // Within the first message, behind its length.
    bytes[80..144].fill(0xee);
    std::fs::write(&path, &bytes).unwrap();
    assert_refused!(read(&path), Error::Corrupt { .. }, "not a readable Arrow IPC file");

    for (shape, reason) in
        [("(2, 3, x)", "not what NumPy writes"), ("(9223372036854775807, 3, 2)", "shape is out of range")]
    {
        let path = put(&folder, "t.npy", npy(1, "'<f4'", false, shape, &[]));
        assert_refused!(read(&path), Error::Corrupt { .. }, reason);
    }
    let path = put(&folder, "t.npy", npy(9, "'<f4'", false, "(2, 3, 2)", &[]));
    assert_refused!(read(&path), Error::Corrupt { .. }, "format version is 9");
    let path = put(&folder, "t.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff");
    assert_refused!(read(&path), Error::Corrupt { .. }, "impossible length");
    let path = put(&folder, "t.csv", b"a:x,\xe9\n1,2\n");
    assert_refused!(read(&path), Error::Corrupt { .. }, "not UTF-8");
}

#[test]
fn changed() {
    let folder = folder();
    let path = put(&folder, "t.csv", csv(&["1,2,3,4,5,6"]));
    let table = Table::open(std::slice::from_ref(&path), &ReadOptions::default()).unwrap();
    std::fs::write(&path, "a:cat,a:dog\n1,2\n").unwrap();
    assert_refused!(batches(&table), Error::Changed { .. }, "changed while it was being read");
}

#[test]
fn no_score_columns() {
    let folder = folder();
    let path = put(&folder, "t.csv", "x,y,label\n1,2,3\n");
    assert_refused!(read(&path), Error::NoScoreColumns { .. }, "`x`, `y`, `label`", "view:class");
}

#[test]
fn no_such_view() {
    let folder = folder();
    let text = csv(&["1,2,3,4,5,6"]).replace("a:", "image:");
    let path = put(&folder, "t.csv", text);
    let result = read_with(&[&path], &views("imge,b,c"));
    assert_refused!(result, Error::NoSuchView { .. }, "no view `imge`", "did you mean `image`?", "`b`, `c`");
    let lists = ["image", "b", "c"].map(|name| (name, lists(&[pair()])));
    let path = put_parquet(&folder, "t.parquet", &[record_batch(lists.to_vec())], 10);
    let result = read_with(&[&path], &views("imge,b,c"));
    assert_refused!(result, Error::NoSuchView { .. }, "did you mean `image`?");
}

#[test]
fn view_count() {
    let folder = folder();
    let two = put(&folder, "t.csv", "a:cat,a:dog,b:cat,b:dog\n1,2,3,4\n");
    assert_refused!(
        read(&two),
        Error::ViewCount { .. },
        "2 view(s)",
        "a (2 classes), b (2 classes)",
        "--views"
    );
    let misspelt = put(&folder, "t.csv", csv(&["1,2,3,4,5,6"]).replace("b:dog", "bb:dog"));
    assert_refused!(
        read(&misspelt),
        Error::MissingClass { .. },
        "no column `b:dog`",
        "view `a` has that class"
    );
    let array = put(&folder, "t.npy", npy(1, "'|u1'", false, "(1, 2, 2)", &[0; 4]));
    assert_refused!(read(&array), Error::ViewCount { .. }, "2 view(s)", "1 (2 classes)");
    let path = put(&folder, "t.csv", csv(&["1,2,3,4,5,6"]));
    assert_refused!(
        read_with(&[&path], &views("a,b")),
        Error::FewViewsAsked { .. },
        "2 of the 3 views",
        "`c`"
    );
    let array = put(&folder, "t.npy", npy(1, "'|u1'", false, "(1, 65, 2)", &[0; 130]));
    assert_refused!(
        read(&array),
        Error::Core(triview::Error::TooManyViews { .. }),
        "65 views",
        "choose some of them"
    );
}

#[test]
fn class_count() {
    let folder = folder();
    let path = put(&folder, "t.csv", "a:cat,b:cat,c:cat\n1,2,3\n");
    assert_refused!(
        read_with(&[&path], &classes("cat")),
        Error::ClassCount { .. },
        "1 class(es) (cat)",
        "at least two"
    );
    let path = put(&folder, "t.npy", npy(1, "'|u1'", false, "(1, 3, 1)", &[0; 3]));
    assert_refused!(read(&path), Error::ClassCount { .. }, "1 class(es) (0)");
}

#[test]
fn missing_class() {
    let folder = folder();
    let text = csv(&["1,2,3,4,5,6"]);
    let path = put(&folder, "t.csv", text.replace("b:dog", "b:dgo"));
    assert_refused!(
        read(&path),
        Error::MissingClass { .. },
        "no column `b:dog`",
        "view `a` has that class",
        "did you mean `b:dgo`?"
    );
    // A class that only a later view has.
    let path = put(&folder, "t.csv", "a:x,a:y,b:x,b:y,c:x,c:y,c:z\n1,2,3,4,5,6,7\n");
    assert_refused!(read(&path), Error::MissingClass { .. }, "no column `a:z`", "view `c` has that class");
    let path = put(&folder, "t.csv", text);
    let result = read_with(&[&path], &classes("cat,dgo"));
    assert_refused!(
        result,
        Error::MissingClass { .. },
        "no column `a:dgo`",
        "--classes",
        "did you mean `a:dog`?"
    );
}

#[test]
fn unnamed_class() {
    let folder = folder();
    let path = put(&folder, "t.csv", "a:x,a:y,a:z,b:x,b:y,b:z,c:x,c:y,c:z\n1,2,3,4,5,6,7,8,9\n");
    assert_refused!(read_with(&[&path], &classes("x,y")), Error::UnnamedClass { .. }, "`a:z`", "--classes");
}

#[test]
fn class_names() {
    let folder = folder();
    let path = put(&folder, "t.npy", npy(1, "'|u1'", false, "(1, 3, 2)", &[0; 6]));
    let result = read_with(&[&path], &classes("x,y,z"));
    assert_refused!(result, Error::ClassNames { .. }, "3 class name(s)", "`1` has 2 scores");
}

#[test]
fn duplicate_column() {
    let folder = folder();
    let path = put(&folder, "t.csv", csv(&["1,2,3,4,5,6"]).replace("a:dog", "a:cat"));
    assert_refused!(read(&path), Error::DuplicateColumn { .. }, "two columns named `a:cat`");
}

#[test]
fn column_type() {
    let folder = folder();
    let text: ArrayRef = Arc::new(StringArray::from(vec!["1", "2", "3"]));
    let batch = [record_batch(columns(vec![("b:dog", text)]))];
    for path in [put_parquet(&folder, "t.parquet", &batch, 10), put_arrow(&folder, "t.arrow", &batch)] {
        assert_refused!(read(&path), Error::ColumnType { .. }, "`b:dog` holds Utf8, not numbers", "--views");
    }
}

#[test]
fn files_differ() {
    let folder = folder();
    let text = csv(&["1,2,3,4,5,6"]);
    let first = put(&folder, "first.csv", &text);
    let other = put(&folder, "other.csv", text.replace("c:", "d:"));
    let result = read_with(&[&first, &other], &ReadOptions::default());
    let pieces = ("other.csv", "first.csv", "`a`, `b`, `d`, not `a`, `b`, `c`");
    assert_refused!(result, Error::FilesDiffer { .. }, pieces.0, pieces.1, pieces.2);
    let other = put(&folder, "other.csv", text.replace("dog", "dgo"));
    let result = read_with(&[&first, &other], &ReadOptions::default());
    assert_refused!(result, Error::FilesDiffer { .. }, "classes are `cat`, `dgo`", "did you mean `dog`?");
}

/// Options to cluster by a column, and to segment by it, with the verb of the message.
fn by(column: &str) -> [(ReadOptions, &'static str); 2] {
    let column = Some(column.to_owned());
    [
        (ReadOptions { cluster: column.clone(), ..Default::default() }, "cluster"),
        (ReadOptions { segment: column, ..Default::default() }, "segment"),
    ]
}

#[test]
fn no_key_column() {
    let folder = folder();
    let text: ArrayRef = Arc::new(StringArray::from(vec!["1", "2", "3"]));
    let batch = [record_batch(columns(vec![("patient", text)]))];
    for path in [
        put(&folder, "t.csv", "a:x,a:y,b:x,b:y,c:x,c:y,patient\n1,2,3,4,5,6,7\n"),
        put_parquet(&folder, "t.parquet", &batch, 10),
        put_arrow(&folder, "t.arrow", &batch),
    ] {
        for (options, verb) in by("patinet") {
            let result = read_with(&[&path], &options);
            let place = format!("no column `patinet` to {verb} by");
            assert_refused!(result, Error::NoKeyColumn { .. }, place.as_str(), "did you mean `patient`?");
        }
    }
    let array = put(&folder, "t.npy", npy(1, "'|u1'", false, "(1, 3, 2)", &[0; 6]));
    for (options, _) in by("patient") {
        let result = read_with(&[&array], &options);
        assert_refused!(result, Error::NoKeyColumn { .. }, "`patient`", "besides the scores it has none");
    }
    // The other files of a data set need the column as well.
    let with = put(&folder, "with.csv", csv(&["1,2,3,4,5,6"]).replace("\n", ",day\n"));
    let without = put(&folder, "without.csv", csv(&["1,2,3,4,5,6"]));
    for (options, _) in by("day") {
        assert_refused!(read_with(&[&with, &without], &options), Error::NoKeyColumn { .. }, "without.csv");
    }
}

#[test]
fn scores_as_keys() {
    let folder = folder();
    let four = "d:cat,a:cat,a:dog,b:cat,b:dog,c:cat,c:dog\n7,1,2,3,4,5,6\n";
    let four = put(&folder, "t.csv", four);
    for (options, verb) in by("b:dog") {
        let options = ReadOptions { views: views("a,b,c").views, ..options };
        let said = format!("rows cannot be {verb}ed by it; choose another, there are `d:cat`");
        let result = read_with(&[&four], &options);
        assert_refused!(result, Error::ScoresAsKeys { .. }, "`b:dog` holds scores", said.as_str());
    }
    // A column of a view that is not used is a column like any other.
    for (options, _) in by("d:cat") {
        assert!(read_with(&[&four], &ReadOptions { views: views("a,b,c").views, ..options }).is_ok());
    }
    let column = || lists(&[pair(), pair()]);
    let batch = record_batch(vec![("a", column()), ("b", column()), ("c", column()), ("d", column())]);
    let array = npy(1, "'|u1'", false, "(1, 4, 2)", &[0; 8]);
    for (path, views, columns) in [
        (put_parquet(&folder, "t.parquet", std::slice::from_ref(&batch), 10), views("a,b,c"), ["b", "d"]),
        (put_arrow(&folder, "t.arrow", &[batch]), views("a,b,c"), ["b", "d"]),
        (put(&folder, "t.npy", array), views("1,2,3"), ["2", "4"]),
    ] {
        for (options, _) in columns.into_iter().flat_map(by) {
            let result = read_with(&[&path], &ReadOptions { views: views.views.clone(), ..options });
            assert_refused!(result, Error::ScoresAsKeys { .. }, "holds scores or lists", "there are none");
        }
    }
}

#[test]
fn not_a_number() {
    let folder = folder();
    let path = put(&folder, "t.csv", csv(&["1,2,3,4,5,6", "1,2,3,high,5,6"]));
    assert_refused!(
        read(&path),
        Error::NotANumber { row: 2, .. },
        "row 2, column `b:dog`: `high` is not a number"
    );
    let path = put(&folder, "t.csv", csv(&[&format!("{},2,3,4,5,6", "é".repeat(1000))]));
    assert!(read(&path).unwrap_err().to_string().len() < 300, "long text is cut");
}

#[test]
fn not_finite() {
    let folder = folder();
    let bad = [("c:cat", doubles(&[1.0, f64::NEG_INFINITY, f64::NAN]))];
    let batch = [record_batch(columns(bad.to_vec()))];
    let mut numbers = [0.0_f32; 3 * 6];
    numbers[6 + 4] = f32::NEG_INFINITY;
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    for (path, column) in [
        (put(&folder, "t.csv", csv(&["1,2,3,4,5,6", "1,2,3,4,-inf,6", "1,2,3,4,nan,6"])), "c:cat"),
        (put_parquet(&folder, "t.parquet", &batch, 1), "c:cat"),
        (put_arrow(&folder, "t.arrow", &batch), "c:cat"),
        (put(&folder, "t.npy", npy(1, "'<f4'", false, "(3, 3, 2)", &bytes)), "3[0]"),
    ] {
        let place = format!("row 2, column `{column}`: the score is -inf");
        assert_refused!(read(&path), Error::NotFinite { .. }, place.as_str(), "clip");
    }
    // The row is that of the file, not of the batch or of the data set.
    let good = put(&folder, "good.csv", csv(&["1,2,3,4,5,6"; 7]));
    let path = put(&folder, "t.csv", csv(&["1,2,3,4,5,6", "1,2,NaN,4,5,6"]));
    let result = read_with(&[&good, &path, &good], &ReadOptions::default());
    assert_refused!(result, Error::NotFinite { row: 2, .. }, "t.csv", "`b:cat`: the score is NaN");
    let mut lines = vec!["1,2,3,4,5,6"; 40_000];
    lines[39_998] = "1,2,3,4,5,1e999";
    let path = put(&folder, "t.csv", csv(&lines));
    assert_refused!(read(&path), Error::NotFinite { row: 39_999, .. }, "`c:dog`: the score is inf");
}

#[test]
fn not_a_probability() {
    let folder = folder();
    let options = ReadOptions { input: Input::Probability, ..Default::default() };
    let path = put(&folder, "t.csv", csv(&["0,1,0,1,0,1", "0,1,0,1.5,0,1"]));
    let result = read_with(&[&path], &options);
    assert_refused!(
        result,
        Error::NotAProbability { row: 2, .. },
        "column `b:dog`: 1.5 is not a probability"
    );
    let path = put(&folder, "t.csv", csv(&["0,1,0,1,0,nan"]));
    assert_refused!(read_with(&[&path], &options), Error::NotFinite { row: 1, .. }, "the score is NaN");
}

#[test]
fn null() {
    let folder = folder();
    let path = put(&folder, "t.csv", csv(&["1,2,3,4,5,6", "1,2,3, ,5,6"]));
    assert_refused!(read(&path), Error::Null { row: 2, .. }, "row 2, column `b:dog`: the value is missing");
    let holes: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), None, Some(2.0)]));
    let batch = [record_batch(columns(vec![("b:dog", holes)]))];
    for path in [put_parquet(&folder, "t.parquet", &batch, 2), put_arrow(&folder, "t.arrow", &batch)] {
        assert_refused!(read(&path), Error::Null { row: 2, .. }, "column `b:dog`");
    }
    let whole = lists(&[pair(), pair()]);
    for (holes, row, column) in [
        (lists(&[None, Some(vec![None, Some(1.0)])]), 2, "`b[0]`"),
        (lists(&[pair(), Some(vec![Some(1.0), None])]), 2, "`b[1]`"),
    ] {
        let batch = [record_batch(vec![("a", whole.clone()), ("b", holes.clone()), ("c", whole.clone())])];
        for path in [put_parquet(&folder, "t.parquet", &batch, 10), put_arrow(&folder, "t.arrow", &batch)] {
            let result = read(&path);
            assert!(matches!(result, Err(Error::Null { row: r, .. }) if r == row), "{result:?}");
            assert_refused!(result, Error::Null { .. }, column);
        }
        let batch = [record_batch(vec![("b", holes), ("a", whole.clone()), ("c", whole.clone())])];
        let path = put_arrow(&folder, "t.arrow", &batch);
        assert_refused!(read(&path), Error::Null { .. }, column);
    }
    let keys: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), Some("y"), None]));
    let path = put_parquet(&folder, "t.parquet", &[record_batch(columns(vec![("day", keys)]))], 10);
    let options = ReadOptions { cluster: Some("day".into()), ..Default::default() };
    assert_refused!(read_with(&[&path], &options), Error::Null { row: 3, .. }, "column `day`");
    let empty: ArrayRef = Arc::new(StringArray::from(vec!["x", "", "y"]));
    let path = put_arrow(&folder, "t.arrow", &[record_batch(columns(vec![("day", empty)]))]);
    assert_refused!(read_with(&[&path], &options), Error::Null { row: 2, .. }, "column `day`");
    for blank in ["", " "] {
        let text = format!("a:x,a:y,b:x,b:y,c:x,c:y,day\n1,2,3,4,5,6,{blank}\n");
        let path = put(&folder, "t.csv", text);
        assert_refused!(read_with(&[&path], &options), Error::Null { row: 1, .. }, "column `day`");
    }
}

#[test]
fn label_of_no_class() {
    let folder = folder();
    let options = ReadOptions { label: Some("truth".into()), ..Default::default() };
    let path = put(&folder, "t.csv", "a:x,a:y,b:x,b:y,c:x,c:y,truth\n1,2,3,4,5,6,x\n1,2,3,4,5,6,z\n");
    let result = read_with(&[&path], &options);
    assert_refused!(
        result,
        Error::NoSuchClass { row: 2, .. },
        "t.csv",
        "row 2",
        "column `truth`",
        "`z`",
        "`x`, `y`"
    );
    // A number that means no class, where classes are numbers.
    let path = put(&folder, "n.csv", "a:0,a:1,b:0,b:1,c:0,c:1,truth\n1,2,3,4,5,6,1.0\n1,2,3,4,5,6,0.5\n");
    assert_refused!(read_with(&[&path], &options), Error::NoSuchClass { row: 2, .. }, "`0.5`");
}

#[test]
fn row_length() {
    let folder = folder();
    for (row, found) in [("1,2,3,4,5", "5 field(s)"), ("1,2,3,4,5,6,7", "7 field(s)")] {
        let path = put(&folder, "t.csv", csv(&["1,2,3,4,5,6", "1,2,3,4,5,6", row]));
        assert_refused!(read(&path), Error::RowLength { row: 3, .. }, "row 3", found, "header has 6");
    }
}

#[test]
fn quotes_that_are_not_closed() {
    let folder = folder();
    let header = "a:cat,a:dog,b:cat,b:dog,c:cat,c:dog,note\n";
    let row = |note: &str| format!("1,2,3,4,5,6,{note}\n");
    let many = |count: usize| row("fine").repeat(count);
    // The last field: all that follows is one text, and the row has as many fields as it should.
    let text = header.to_owned() + &many(999) + &row("\"never closed") + &many(2000);
    assert_refused!(
        read(&put(&folder, "t.csv", text)),
        Error::UnclosedQuote { row: 1000, .. },
        "row 1000",
        "quote"
    );
    // Closed by the next text that has quotes.
    let text = header.to_owned() + &many(9) + &row("\"oh") + &many(90) + &row("\"said, so\"") + &many(9);
    assert_refused!(read(&put(&folder, "t.csv", text)), Error::UnclosedQuote { row: 10, .. }, "row 10");
    let text = header.replace("note", "\"note") + &many(3);
    assert_refused!(read(&put(&folder, "t.csv", text)), Error::UnclosedQuote { row: 0, .. }, "row 0");
}

#[test]
fn decimal_commas() {
    let folder = folder();
    let semicolons = csv(&["1,2,3,4,5,6"]).replace(',', ";") + "1,5;2,5;3;4;5;6\n";
    let path = put(&folder, "t.csv", semicolons);
    assert_refused!(
        read(&path),
        Error::DecimalComma { row: 2, .. },
        "row 2",
        "`a:cat`",
        "`1,5`",
        "decimal comma"
    );
    let path = put(&folder, "t.csv", csv(&["\"0,5\",2,3,4,5,6"]));
    assert_refused!(read(&path), Error::DecimalComma { row: 1, .. }, "`0,5`");
    let path = put(&folder, "t.csv", csv(&["0,5,2,3,4,5,6,1,2,3,4,5"]));
    assert_refused!(read(&path), Error::RowLength { .. }, "decimal commas");
}

#[test]
fn probabilities_that_nobody_said_are_such() {
    let folder = folder();
    let path = put(&folder, "t.csv", csv(&["0.5,0.5,1,0,0.253,0.75", "0,1,,,0.5,0.5"]));
    assert_refused!(
        read(&path),
        Error::Probabilities { rows: 2, .. },
        "--input probability",
        "--input score"
    );
    let insists = ReadOptions { input: Input::Score, ..Default::default() };
    assert_eq!(rows(&read_with(&[&path], &insists).unwrap().1)[0][1], [1.0, 0.0]);
    // One row that is none is enough; a view whose rows all are is no view of the same kind.
    read(&put(&folder, "t.csv", csv(&["0.5,0.5,1,0,0.25,0.75", "0,1.1,1,0.1,0.5,0.9"]))).unwrap();
    let path = put(&folder, "t.csv", csv(&["-0.5,0.5,1,2,0.25,0.75", "0,1,1,0,0.5,0.5"]));
    assert_refused!(
        read(&path),
        Error::SomeProbabilities { rows: 2, .. },
        "view `c`",
        "`a`, `b` do not",
        "--views a,b",
        "--prediction 'c:*'"
    );
    read_with(&[&path], &insists).unwrap();
    let one_column = put(&folder, "t.csv", "a,b,c\n0.5,0.25,1\n0.1,0.125,0.75\n");
    assert_refused!(
        read_with(&[&one_column], &views("a,b,c")),
        Error::Probabilities { .. },
        "--input probability"
    );
}

#[test]
fn names_of_another_pattern() {
    let folder = folder();
    let text = "week,text_cat,text_dog,image_cat,image_dog,sound_cat,sound_dog\n1,1,2,3,4,5,6\n";
    let path = put(&folder, "t.csv", text);
    assert_refused!(read(&path), Error::OtherNames { .. }, "--columns '{view}_{class}'", "`sound`", "`dog`");
    // A semicolon for the colon, between commas.
    let path = put(&folder, "t.csv", csv(&["1,2,3,4,5,6"]).replace(':', ";"));
    assert_refused!(read(&path), Error::OtherNames { .. }, "--columns '{view};{class}'", "`a`", "`cat`");
    let columns = Some("{view}.{class}".parse().unwrap());
    let options = ReadOptions { columns, ..Default::default() };
    assert_refused!(
        read_with(&[&path], &options),
        Error::PatternFitsNothing { .. },
        "`{view}.{class}`",
        "`a;cat`"
    );
    let refused = "{class}".parse::<triview_table::Pattern>();
    assert_refused!(refused, Error::Pattern { .. }, "`{class}`", "no `{view}`", "{view}_{class}");
}

#[test]
fn votes_for_scores() {
    let folder = folder();
    let path = put(&folder, "t.csv", "task,worker,label\n1,ann,cat\n1,bob,dog\n");
    assert_refused!(read(&path), Error::TableOfVotes { .. }, "--votes", "`worker`");
}

#[test]
fn one_column_and_three_classes() {
    let folder = folder();
    let path = put(&folder, "t.csv", "a,b,c\n1,2,3\n");
    let options = ReadOptions { classes: classes("x,y,z").classes, ..views("a,b,c") };
    assert_refused!(
        read_with(&[&path], &options),
        Error::NotTwoClasses { given: 3, .. },
        "names 3",
        "two classes"
    );
}

#[test]
fn packed_files_that_are_damaged() {
    let folder = folder();
    let gzip = put(&folder, "t.csv.gz", b"\x1f\x8b\x08\x00 cut off");
    assert_refused!(read(&gzip), Error::Unpack { .. }, "t.csv.gz", "gzip", "again");
    let whole = zstd::encode_all(csv(&["1,2,3,4,5,6"]).as_bytes(), 0).unwrap();
    let zst = put(&folder, "t.csv.zst", &whole[..whole.len() - 9]);
    assert_refused!(read(&zst), Error::Unpack { .. }, "t.csv.zst", "Zstandard");
}

#[test]
fn texts_that_are_no_times() {
    let folder = folder();
    let path = put(
        &folder,
        "t.csv",
        csv(&["1,2,3,4,5,6,2026-01-31", "1,2,3,4,5,6,later"]).replace("c:dog\n", "c:dog,at\n"),
    );
    let (segment, period) = (Some("at".to_owned()), Some("day".parse().unwrap()));
    let options = ReadOptions { segment, period, ..Default::default() };
    assert_refused!(
        read_with(&[&path], &options),
        Error::NotATime { row: 2, .. },
        "row 2",
        "`at`",
        "`later`",
        "2026-01-31"
    );
}

#[test]
fn a_loss_that_is_not_finite_is_of_a_row_of_its_file() {
    let folder = folder();
    let first = put(&folder, "first.csv", csv(&["1,2,3,4,5,6"; 5]));
    let second = put(&folder, "second.csv", csv(&["1,2,3,4,5,6"; 5]));
    let (table, _) = read_with(&[&first, &second], &ReadOptions::default()).unwrap();
    let (loss, view, class) = ("log".to_owned(), "a".to_owned(), "cat".to_owned());
    let core = triview::Error::LossNotFinite { loss, row: 6, view, class, value: f64::INFINITY };
    let refused: Result<(), Error> = Err(table.in_file(core.into()));
    assert_refused!(refused, Error::InFile { .. }, "second.csv`, row 2: the log loss");
}

#[test]
fn row_too_long() {
    let folder = folder();
    let mut lines = vec!["1,2,3,4,5,6"; 100];
    lines.push("\"1,2,3,4,5,6");
    let path = put(&folder, "t.csv", csv(&lines));
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(200 << 20).unwrap();
    assert_refused!(read(&path), Error::RowTooLong { row: 101, .. }, "row 101", "never closed");
}

#[test]
fn list_length() {
    let folder = folder();
    let whole = lists(&[pair(), pair(), pair()]);
    let short = lists(&[pair(), pair(), Some(vec![Some(1.0)])]);
    let large = LargeListArray::from_iter_primitive::<Float64Type, _, _>([
        pair(),
        pair(),
        Some(vec![Some(1.0), None, None]),
    ]);
    for (ragged, found) in [(short, "1 score(s)"), (Arc::new(large) as ArrayRef, "3 score(s)")] {
        let batch = [record_batch(vec![("a", whole.clone()), ("b", ragged), ("c", whole.clone())])];
        for path in [put_parquet(&folder, "t.parquet", &batch, 10), put_arrow(&folder, "t.arrow", &batch)] {
            assert_refused!(read(&path), Error::ListLength { row: 3, .. }, "column `b`", found, "2 classes");
        }
    }
}

#[test]
fn array_shape() {
    let folder = folder();
    let path = put(&folder, "t.npy", npy(1, "'|u1'", false, "(4, 6)", &[0; 24]));
    assert_refused!(read(&path), Error::ArrayShape { .. }, "[4, 6]", "(rows, views, classes)");
}

#[test]
fn array_type() {
    let folder = folder();
    for descr in ["'|b1'", "'<c8'", "'<U3'", "'|O'", "''", "[('x', '<f4'), ('y', '<f4')]"] {
        let path = put(&folder, "t.npy", npy(1, descr, false, "(1, 3, 2)", &[0; 99]));
        assert_refused!(read(&path), Error::ArrayType { .. }, descr.trim_matches('\''), "float32");
    }
}

#[test]
fn too_many_classes() {
    let folder = folder();
    let path = put(&folder, "t.npy", npy(1, "'|u1'", false, "(0, 3, 4000000000)", &[]));
    assert_refused!(read(&path), Error::Core(triview::Error::TooManyClasses { .. }), "4000000000 classes");
}

#[test]
fn a_view_given_twice() {
    let folder = folder();
    let path = put(&folder, "t.csv", csv(&["1,2,3,4,5,6"]));
    let result = read_with(&[&path], &views("a,b,a"));
    assert_refused!(result, Error::Core(triview::Error::DuplicateName { .. }), "`a` is given twice");
}

/// A batch with its labels.
type Labelled = (Batch, Vec<Option<usize>>);

fn some_scores(view: &str) -> (Schema, [Labelled; 1]) {
    let schema =
        Schema::new(vec![view.into(), "b".into(), "c".into()], vec!["x".into(), "y".into()]).unwrap();
    (schema, [(Batch::new(1, vec![vec![1.0, 2.0]; 3]).unwrap(), vec![Some(0)])])
}

#[test]
fn output_format() {
    let (schema, batches) = some_scores("a");
    let result = write_scores(Path::new("scores.txt"), &schema, batches.into_iter().map(Ok));
    assert_refused!(result, Error::OutputFormat { .. }, "scores.txt", ".parquet");
}

#[test]
fn view_name() {
    let folder = folder();
    for view in ["a:b", ""] {
        let (schema, batches) = some_scores(view);
        let result = write_scores(&folder.path().join("t.csv"), &schema, batches.into_iter().map(Ok));
        assert_refused!(result, Error::ViewName { .. }, format!("`{view}`").as_str(), "colon");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn unwritable() {
    let folder = folder();
    let (schema, batches) = some_scores("a");
    let nowhere: PathBuf = folder.path().join("no/such/folder/t.csv");
    let result = write_scores(&nowhere, &schema, batches.clone().into_iter().map(Ok));
    assert_refused!(result, Error::Write { .. }, "cannot write", "no/such/folder", "still there");
    let taken = folder.path().join("t.csv");
    std::fs::create_dir(&taken).unwrap();
    let result = write_scores(&taken, &schema, batches.into_iter().map(Ok));
    assert_refused!(result, Error::Write { .. }, "cannot write", "t.csv", "directory");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing half-written");
}

#[test]
fn a_page_of_parquet_that_is_not_of_its_checksum() {
    let folder = folder();
    let bytes = include_bytes!("corpus/parquet/valid-checksum.parquet");
    assert!(read(&put(&folder, "t.parquet", bytes)).is_ok());
    // The scores of the first column stand as they are; a flipped bit of one makes it another number.
    let column = [0.0, 7.0, 3.0, 10.0, 6.0].map(f64::to_le_bytes).concat();
    let at = bytes.windows(column.len()).position(|window| window == column).unwrap();
    for flipped in at..at + column.len() {
        let mut bytes = bytes.to_vec();
        bytes[flipped] ^= 0x10;
        let path = put(&folder, "t.parquet", bytes);
        assert_refused!(read(&path), Error::Corrupt { .. }, path.to_str().unwrap(), "CRC checksum mismatch");
    }
}

#[test]
fn a_row_group_of_parquet_with_other_columns_than_the_schema() {
    let folder = folder();
    let bytes = include_bytes!("corpus/parquet/panic-more-columns-than-the-schema");
    let path = put(&folder, "t.parquet", bytes);
    assert_refused!(read(&path), Error::Corrupt { .. }, "t.parquet", "where the schema has");
}
