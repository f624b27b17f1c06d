//! Every format, width and layout gives the same scores.
#![allow(clippy::unwrap_used, reason = "a test that fails by panicking fails")]

mod common;

use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, LargeListBuilder};
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float16Array, Float32Array, Float64Array,
    Int8Array, Int16Array, Int32Array, Int64Array, LargeStringArray, ListArray, NullArray, StringArray,
    StringViewArray, StructArray, TimestampMicrosecondArray, TimestampMillisecondArray, UInt8Array,
    UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field};
use common::*;
use std::path::Path;
use std::sync::Arc;
use triview::views::{Batch, Schema, Source};
use triview_table::{Input, ReadOptions, Table, write_scores};

/// Scores that every type down to 8-bit integers holds.
fn value(row: usize, view: usize, class: usize) -> f64 {
    ((row * 7 + view * 3 + class) % 11) as f64
}

/// The scores of `n` rows with two classes.
fn expected(n: usize) -> Vec<Vec<Vec<f64>>> {
    let view = |row, view| (0..2).map(|class| value(row, view, class)).collect();
    (0..n).map(|row| (0..3).map(|v| view(row, v)).collect()).collect()
}

/// Columns `view:class` of `n` rows, each made by `array`.
fn columns(n: usize, array: impl Fn(Vec<f64>) -> ArrayRef) -> Vec<(&'static str, ArrayRef)> {
    let names = [["a:x", "a:y"], ["b:x", "b:y"], ["c:x", "c:y"]];
    let mut columns = Vec::new();
    for (view, names) in names.iter().enumerate() {
        for (class, name) in names.iter().enumerate() {
            columns.push((*name, array((0..n).map(|row| value(row, view, class)).collect())));
        }
    }
    columns
}

fn doubles(values: Vec<f64>) -> ArrayRef {
    Arc::new(Float64Array::from(values))
}

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

/// A list column of one view.
type MakeList = fn(usize, usize) -> ArrayRef;

/// The three kinds of list columns of `n` rows.
const LISTS: [(&str, MakeList); 3] = [
    ("list", |n, view| {
        let rows = (0..n).map(|row| Some([value(row, view, 0), value(row, view, 1)].map(Some)));
        Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(rows))
    }),
    ("large", |n, view| {
        let mut builder = LargeListBuilder::new(Float32Builder::new());
        for row in 0..n {
            builder.append_value([0, 1].map(|class| Some(value(row, view, class) as f32)));
        }
        Arc::new(builder.finish())
    }),
    ("fixed", |n, view| {
        let mut builder = FixedSizeListBuilder::new(Float32Builder::new(), 2);
        for row in 0..n {
            builder.values().append_slice(&[0, 1].map(|class| value(row, view, class) as f32));
            builder.append(true);
        }
        Arc::new(builder.finish())
    }),
];

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
fn every_kind_of_array() {
    let folder = folder();
    let n = 30;
    let c_order: Vec<f64> = expected(n).concat().concat();
    let fortran: Vec<f64> =
        (0..2).flat_map(|c| (0..3).flat_map(move |v| (0..n).map(move |row| value(row, v, c)))).collect();
    macro_rules! bytes {
        ($values:expr, $type:ty, $to:ident) => {
            $values.iter().flat_map(|value| (*value as $type).$to()).collect::<Vec<u8>>()
        };
    }
    for (values, order) in [(&c_order, false), (&fortran, true)] {
        let halves: Vec<u8> = values.iter().flat_map(|v| half::f16::from_f64(*v).to_le_bytes()).collect();
        let cases = [
            ("'<f8'", bytes!(values, f64, to_le_bytes)),
            ("'>f8'", bytes!(values, f64, to_be_bytes)),
            ("'<f4'", bytes!(values, f32, to_le_bytes)),
            ("'>f4'", bytes!(values, f32, to_be_bytes)),
            ("'<f2'", halves),
            ("'|i1'", bytes!(values, i8, to_le_bytes)),
            ("'>i2'", bytes!(values, i16, to_be_bytes)),
            ("'<i4'", bytes!(values, i32, to_le_bytes)),
            ("'<i8'", bytes!(values, i64, to_le_bytes)),
            ("'|u1'", bytes!(values, u8, to_le_bytes)),
            ("'<u2'", bytes!(values, u16, to_le_bytes)),
            ("'>u4'", bytes!(values, u32, to_be_bytes)),
            ("'<u8'", bytes!(values, u64, to_le_bytes)),
        ];
        for (version, (descr, data)) in (1..=3).cycle().zip(cases) {
            let path = put(&folder, "t.npy", npy(version, descr, order, "(30, 3, 2)", &data));
            assert_eq!(rows(&read(&path).unwrap().1), expected(n), "{descr}, fortran {order}");
        }
    }
}

#[test]
fn views_of_an_array_can_be_chosen() {
    let folder = folder();
    let data: Vec<u8> = (0..4 * 5 * 2).collect();
    let path = put(&folder, "t.npy", npy(1, "'|u1'", false, "(4, 5, 2)", &data));
    let options =
        ReadOptions { views: Some(["5", "1", "2"].map(str::to_owned).to_vec()), ..Default::default() };
    let (table, batches) = read_with(&[&path], &options).unwrap();
    assert_eq!(rows(&batches)[1], [[18.0, 19.0], [10.0, 11.0], [12.0, 13.0]]);
    assert_eq!(table.schema().views(), ["5", "1", "2"]);
    assert_eq!(table.ignored_columns(), ["3", "4"]);
}

#[test]
fn csv_as_it_is_found_in_the_wild() {
    let folder = folder();
    let text = "\u{feff}\"a:cat\",a:dog,b:cat,note, b:dog,c:cat,c:dog\r\n\
                1,2.5, 3 ,\"text, with\r\n\"\"quotes\"\"\",-4e0,\"5\",+6\r\n\
                .5,1.,1E-3,,0,-0.0,7\r\n\r\n";
    let (table, batches) = read(&put(&folder, "t.csv", text)).unwrap();
    let expected = [[[1.0, 2.5], [3.0, -4.0], [5.0, 6.0]], [[0.5, 1.0], [0.001, 0.0], [-0.0, 7.0]]]
        .map(|row| row.map(Vec::from));
    assert_eq!(rows(&batches), expected.map(Vec::from));
    assert_eq!(table.ignored_columns(), ["note"]);
}

#[test]
fn columns_may_stand_in_any_order() {
    let folder = folder();
    let text = "c:dog,a:dog,id,b:cat,a:cat,c:cat,b:dog\n6,2,0,3,1,5,4\n";
    let path = put(&folder, "t.csv", text);
    let (table, batches) = read(&path).unwrap();
    assert_eq!(table.schema().views(), ["c", "a", "b"]);
    assert_eq!(table.schema().classes(), ["dog", "cat"]);
    assert_eq!(rows(&batches), [[[6.0, 5.0], [2.0, 1.0], [4.0, 3.0]].map(Vec::from)]);

    let options = ReadOptions {
        views: Some(["a", "b", "c"].map(str::to_owned).to_vec()),
        classes: Some(["cat", "dog"].map(str::to_owned).to_vec()),
        ..Default::default()
    };
    let (_, batches) = read_with(&[&path], &options).unwrap();
    assert_eq!(rows(&batches), [[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]].map(Vec::from)]);
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
        let again: Vec<Batch> = table.batches().unwrap().map(Result::unwrap).collect();
        assert_eq!(once, again);
        let options = ReadOptions { prefetch: true, ..Default::default() };
        assert_eq!(read_with(&[&path], &options).unwrap().1, once);
        assert_eq!(rows(&once), expected(n));
        // A reading that is given up ends its threads.
        let table = Table::open(&[path], &options).unwrap();
        assert_eq!(table.batches().unwrap().next().unwrap().unwrap(), once[0]);
    }
}

#[test]
fn many_classes_make_shorter_batches() {
    let folder = folder();
    let (n, k) = (300, 5000);
    let path = put(&folder, "t.npy", npy(1, "'|u1'", false, "(300, 3, 5000)", &vec![1; n * 3 * k]));
    let (_, batches) = read(&path).unwrap();
    assert_eq!(batches.iter().map(Batch::rows).collect::<Vec<_>>(), [209, 91]);
    assert!(batches.iter().all(|batch| (0..3).all(|v| batch.view(v).iter().all(|score| *score == 1.0))));
}

#[test]
fn probabilities_become_logs_and_zeros_are_counted() {
    let folder = folder();
    let path = put(&folder, "t.csv", csv(&["0.5,0.5,1,0,0.25,0.75", "0,1,1,0,0.5,0.5"]));
    let options = ReadOptions { input: Input::Probability, ..Default::default() };
    let (table, batches) = read_with(&[&path], &options).unwrap();
    let rows = rows(&batches);
    assert_eq!(rows[0][0], [0.5_f64.ln(), 0.5_f64.ln()]);
    assert_eq!(rows[1][1], [0.0, 1e-15_f64.ln()]);
    assert_eq!(table.clipped(), 3);
    assert_eq!(table.batches().unwrap().count(), 1);
    assert_eq!(table.clipped(), 3, "a second reading does not count twice");
}

#[test]
fn clusters_have_the_same_keys_in_every_format() {
    let folder = folder();
    let options = ReadOptions { cluster: Some("day".into()), ..Default::default() };
    let keys = |path: &Path| {
        let (table, batches) = read_with(&[path], &options).unwrap();
        assert!(table.ignored_columns().is_empty());
        batches[0].clusters().unwrap().to_vec()
    };
    let days = ["mon", "tue", "mon"];
    let text = "day,a:x,a:y,b:x,b:y,c:x,c:y\nmon,1,2,3,4,5,6\ntue,1,2,3,4,5,6\nmon,1,2,3,4,5,6\n";
    let csv = keys(&put(&folder, "t.csv", text));
    assert_eq!(csv[0], csv[2]);
    assert_ne!(csv[0], csv[1]);
    let strings: ArrayRef = Arc::new(StringArray::from(days.to_vec()));
    let dictionary: ArrayRef = Arc::new(days.into_iter().collect::<DictionaryArray<Int32Type>>());
    for column in [strings, dictionary] {
        let mut columns = columns(3, doubles);
        columns.push(("day", column));
        let batch = [record_batch(columns)];
        assert_eq!(keys(&put_parquet(&folder, "t.parquet", &batch, 2)), csv);
        assert_eq!(keys(&put_arrow(&folder, "t.arrow", &batch)), csv);
    }
    let numbers = keys(&put(&folder, "n.csv", text.replace("mon", "1").replace("tue", "-20")));
    let mut columns = columns(3, doubles);
    columns.push(("day", Arc::new(Int32Array::from(vec![1, -20, 1]))));
    assert_eq!(keys(&put_parquet(&folder, "n.parquet", &[record_batch(columns)], 2)), numbers);
}

/// Reads a file by its column `part`: the key of each row, and what it stands for.
fn segments(path: &Path) -> Vec<(u64, String)> {
    let options = ReadOptions { segment: Some("part".into()), ..Default::default() };
    let (table, batches) = read_with(&[path], &options).unwrap();
    assert!(table.ignored_columns().is_empty());
    assert!(batches.iter().all(|batch| batch.clusters().is_none()));
    let keys = batches.iter().flat_map(|batch| batch.segments().unwrap());
    keys.map(|key| (*key, table.segment_name(*key).unwrap())).collect()
}

/// Scores with the column `part`, as Parquet, as an Arrow file and as an Arrow stream.
fn put_parts(folder: &tempfile::TempDir, part: ArrayRef) -> [std::path::PathBuf; 3] {
    let mut columns = columns(part.len(), doubles);
    columns.insert(3, ("part", part));
    let batch = [record_batch(columns)];
    [
        put_parquet(folder, "t.parquet", &batch, 2),
        put_arrow(folder, "t.arrow", &batch),
        put_stream(folder, "t.arrows", &batch),
    ]
}

/// The same as CSV, of these fields.
fn put_fields(folder: &tempfile::TempDir, fields: &[&str]) -> std::path::PathBuf {
    let rows = fields.iter().map(|field| format!("1,2,{field},3,4,5,6\n"));
    put(folder, "t.csv", format!("a:x,a:y,part,b:x,b:y,c:x,c:y\n{}", rows.collect::<String>()))
}

#[test]
fn segments_have_the_same_keys_and_names_in_every_format() {
    let folder = folder();
    let words = || [Some("north"), None, Some("south"), Some("north")];
    let noon = [Some(1_709_209_800_000), None, Some(-1), Some(1_709_209_800_000)];
    let micros = noon.map(|noon| noon.map(|noon: i64| noon * 1000));
    let zone = |zone: &str| -> ArrayRef {
        Arc::new(TimestampMicrosecondArray::from(micros.to_vec()).with_timezone(zone))
    };
    let cases: [([&str; 2], Vec<ArrayRef>); 7] = [
        (
            ["north", "south"],
            vec![
                Arc::new(StringArray::from_iter(words())),
                Arc::new(LargeStringArray::from_iter(words())),
                Arc::new(StringViewArray::from_iter(words())),
                Arc::new(words().into_iter().collect::<DictionaryArray<Int32Type>>()),
                Arc::new(words().into_iter().collect::<DictionaryArray<arrow_array::types::UInt8Type>>()),
            ],
        ),
        (
            ["7", "-1"],
            vec![
                Arc::new(Int8Array::from(vec![Some(7), None, Some(-1), Some(7)])),
                Arc::new(Int64Array::from(vec![Some(7), None, Some(-1), Some(7)])),
            ],
        ),
        (
            ["true", "false"],
            vec![Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)]))],
        ),
        (["0.5", "-2.0"], vec![Arc::new(Float32Array::from(vec![Some(0.5), None, Some(-2.0), Some(0.5)]))]),
        (
            ["2024-02-29", "1969-12-31"],
            vec![Arc::new(Date32Array::from(vec![Some(19_782), None, Some(-1), Some(19_782)]))],
        ),
        (
            ["2024-02-29T12:30:00", "1969-12-31T23:59:59.999"],
            vec![
                Arc::new(TimestampMillisecondArray::from(noon.to_vec())),
                Arc::new(TimestampMicrosecondArray::from(micros.to_vec())),
            ],
        ),
        // Times of any zone are those of Greenwich, because that is what Parquet keeps of them.
        (
            ["2024-02-29T12:30:00Z", "1969-12-31T23:59:59.999Z"],
            ["UTC", "Europe/Berlin", "+05:30"].map(zone).to_vec(),
        ),
    ];
    for ([first, second], arrays) in cases {
        let csv = segments(&put_fields(&folder, &[first, "", second, first]));
        let names: Vec<&str> = csv.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, [first, "(missing)", second, first]);
        assert_eq!(csv[0], csv[3]);
        assert_eq!(csv.iter().map(|(key, _)| key).collect::<std::collections::BTreeSet<_>>().len(), 3);
        for array in arrays {
            for path in put_parts(&folder, array.clone()) {
                assert_eq!(segments(&path), csv, "{} in {}", array.data_type(), path.display());
            }
        }
    }
}

#[test]
fn rows_without_a_value_are_one_segment() {
    let folder = folder();
    let csv = segments(&put_fields(&folder, &["", " ", "\"\"", "(missing)"]));
    assert!(csv[..3].iter().all(|segment| *segment == csv[0]));
    // That somebody calls a value so does not make it missing.
    assert_eq!(csv[3].1, csv[0].1);
    assert_ne!(csv[3].0, csv[0].0);
    let text: ArrayRef = Arc::new(StringArray::from(vec![None, Some(""), Some(" "), Some("(missing)")]));
    let values: ArrayRef = Arc::new(StringArray::from(vec![Some("(missing)"), None, Some("")]));
    let keys = Int32Array::from(vec![None, Some(1), Some(2), Some(0)]);
    let dictionary: ArrayRef = Arc::new(DictionaryArray::new(keys, values));
    for array in [text, dictionary] {
        for path in put_parts(&folder, array.clone()) {
            assert_eq!(segments(&path), csv, "{} in {}", array.data_type(), path.display());
        }
    }
    for path in put_parts(&folder, Arc::new(NullArray::new(2))) {
        assert_eq!(segments(&path), csv[..2], "{}", path.display());
    }
}

#[test]
fn segments_and_clusters_may_be_of_one_column_or_of_two() {
    let folder = folder();
    let text = "site,a:x,a:y,b:x,b:y,c:x,c:y,day\n\
                s,1,2,3,4,5,6,mon\ns,1,2,3,4,5,6,tue\nmon,1,2,3,4,5,6,mon\n";
    let path = put(&folder, "t.csv", text);
    let options = |cluster: &str, segment: &str| ReadOptions {
        cluster: Some(cluster.into()),
        segment: Some(segment.into()),
        ..Default::default()
    };
    let (table, batches) = read_with(&[&path], &options("day", "day")).unwrap();
    assert_eq!(table.ignored_columns(), ["site"]);
    assert_eq!(batches[0].clusters(), batches[0].segments());
    let (table, batches) = read_with(&[&path], &options("day", "site")).unwrap();
    assert!(table.ignored_columns().is_empty());
    let (days, sites) = (batches[0].clusters().unwrap(), batches[0].segments().unwrap());
    assert_eq!((days[0], days[0]), (days[2], sites[2]));
    assert_eq!(table.segment_name(sites[0]).as_deref(), Some("s"));
    assert_eq!(table.segment_name(days[1]), None, "only segments are named");
}

#[test]
fn segments_of_many_batches_and_files() {
    let folder = folder();
    let n = 40_000;
    let names: Vec<Option<String>> =
        (0..n).map(|row| (row % 7 > 0).then(|| format!("part {}", row * row % 50))).collect();
    let words = || names.iter().map(Option::as_deref);
    let arrays: [ArrayRef; 4] = [
        Arc::new(StringArray::from_iter(words())),
        Arc::new(StringArray::from_iter(words().map(|word| Some(word.unwrap_or_default())))),
        Arc::new(StringViewArray::from_iter(words())),
        Arc::new(words().collect::<DictionaryArray<Int32Type>>()),
    ];
    let expected: Vec<&str> = words().map(|word| word.unwrap_or("(missing)")).collect();
    let options = ReadOptions { segment: Some("part".into()), ..Default::default() };
    for array in arrays {
        let mut columns = columns(n, doubles);
        columns.insert(2, ("part", array.clone()));
        let batch = [record_batch(columns)];
        let paths =
            [put_parquet(&folder, "t.parquet", &batch, 15_000), put_arrow(&folder, "t.arrow", &batch)];
        for prefetch in [false, true] {
            let options = ReadOptions { prefetch, ..options.clone() };
            let (table, batches) = read_with(&[&paths[0], &paths[1]], &options).unwrap();
            let keys = batches.iter().flat_map(|batch| batch.segments().unwrap());
            let found: Vec<String> = keys.map(|key| table.segment_name(*key).unwrap()).collect();
            assert!(found.iter().eq(expected.iter().chain(&expected)), "{}", array.data_type());
        }
    }
}

#[test]
fn names_of_segments_do_not_fill_the_memory() {
    let folder = folder();
    let fields: Vec<String> = (0..120_000).map(|row| row.to_string()).collect();
    let path = put_fields(&folder, &fields.iter().map(String::as_str).collect::<Vec<_>>());
    let options = ReadOptions { segment: Some("part".into()), ..Default::default() };
    let (table, batches) = read_with(&[&path], &options).unwrap();
    let keys: Vec<u64> = batches.iter().flat_map(|batch| batch.segments().unwrap().to_vec()).collect();
    assert_eq!(keys.iter().filter(|key| table.segment_name(**key).is_some()).count(), 100_000);
    assert_eq!(table.segment_name(keys[0]).as_deref(), Some("0"));
    let long = segments(&put_fields(&folder, &[&"é".repeat(1000), &"é".repeat(200)]));
    assert_eq!(long[0].1, "é".repeat(200) + "…");
    assert_eq!(long[1].1, "é".repeat(200));
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

#[cfg(target_os = "linux")]
#[test]
fn pipes_are_read_twice_as_well() {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(csv(&["1,2,3,4,5,6"]).as_bytes()).unwrap();
    drop(writer);
    let path = std::path::PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
    assert!(!triview_table::state::is_state(&path));
    let (table, once) = read(&path).unwrap();
    assert_eq!(rows(&once), [[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]].map(Vec::from)]);
    assert_eq!(table.batches().unwrap().map(Result::unwrap).collect::<Vec<_>>(), once);
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
    assert_eq!(read_files, 21);
    for name in ["valid.state", "valid.json"] {
        let path = corpus.join("state").join(name);
        assert_eq!(triview_table::state::is_state(&path), name == "valid.state");
    }
    triview_table::state::read(&corpus.join("state/valid.state")).unwrap();
    triview_table::state::read_header(&corpus.join("state/valid.json")).unwrap();
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
    let batch = Batch::new(n, (0..3).map(scores).collect::<Vec<Vec<f64>>>()).unwrap().with_missing(masks(n));
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

#[test]
fn a_missing_view_has_no_probabilities() {
    let folder = folder();
    let path = put(&folder, "t.csv", csv(&["0.5,0.5,,,0.25,0.75", "0,1,1,0,,"]));
    let options = ReadOptions { input: Input::Probability, ..Default::default() };
    let (table, batches) = read_with(&[&path], &options).unwrap();
    assert_eq!(batches[0].missing(), Some([0b010, 0b100].as_slice()));
    assert_eq!(batches[0].column(1, 0)[0], 0.0);
    assert_eq!(batches[0].column(2, 1)[0], 0.75_f64.ln());
    assert_eq!(table.clipped(), 2);
}
