//! Columns whose text tells rows apart: clusters and segments.

use crate::common::*;
use crate::{columns, doubles};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float32Array, Int8Array, Int32Array, Int64Array,
    LargeStringArray, NullArray, StringArray, StringViewArray, TimestampMicrosecondArray,
    TimestampMillisecondArray,
};
use std::path::Path;
use std::sync::Arc;
use triview_table::{Keep, ReadOptions, Table};

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
fn labels_and_kept_columns_are_the_same_in_every_format() {
    let folder = folder();
    let options = ReadOptions {
        label: Some("truth".into()),
        keep: Keep::Named(vec!["part".into(), "truth".into()]),
        ..Default::default()
    };
    let text = "a:x,a:y,truth,part,b:x,b:y,c:x,c:y\n1,2,y,7,3,4,5,6\n1,2,,,3,4,5,6\n1,2,x,-1,3,4,5,6\n";
    let mut columns = columns(3, doubles);
    columns.push(("truth", Arc::new(StringArray::from(vec![Some("y"), None, Some("x")]))));
    columns.push(("part", Arc::new(Int64Array::from(vec![Some(7), None, Some(-1)]))));
    let batch = [record_batch(columns)];
    let paths = [
        put(&folder, "t.csv", text),
        put_parquet(&folder, "t.parquet", &batch, 2),
        put_arrow(&folder, "t.arrow", &batch),
        put_stream(&folder, "t.arrows", &batch),
    ];
    for path in paths {
        let table = Table::open(std::slice::from_ref(&path), &options).unwrap();
        let whole = path.extension().unwrap() != "csv";
        assert_eq!(table.kept_columns(), [("part".to_owned(), whole), ("truth".to_owned(), false)]);
        let (batch, kept) = table.keeping().unwrap().next().unwrap().unwrap();
        assert_eq!([0, 1, 2].map(|row| batch.label(row)), [Some(1), None, Some(0)], "{}", path.display());
        let texts = |texts: [Option<&str>; 3]| texts.map(|text| text.map(str::to_owned)).to_vec();
        assert_eq!(kept, [texts([Some("7"), None, Some("-1")]), texts([Some("y"), None, Some("x")])]);
    }
}
