//! Tables as they come: other separators, compressed, one JSON object a line.

use crate::common::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use triview_table::ReadOptions;

/// The table that all of these are.
fn plain() -> String {
    csv(&["1,2,3,4,5,6", "-1,0.5,2e3,4,5,6"])
}

fn expected() -> Vec<Vec<Vec<f64>>> {
    let folder = folder();
    rows(&read(&put(&folder, "t.csv", plain())).unwrap().1)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn semicolons_and_tabs_are_recognised() {
    let folder = folder();
    for (separator, name) in [(";", "t.csv"), ("\t", "t.tsv"), ("\t", "t.csv"), (";", "t.txt")] {
        let path = put(&folder, name, plain().replace(',', separator));
        assert_eq!(rows(&read(&path).unwrap().1), expected(), "{separator:?} in {name}");
    }
}

#[test]
fn compressed_files_are_unpacked_whatever_they_are_called() {
    let folder = folder();
    let text = plain();
    let two_members = [gzip(&text.as_bytes()[..40]), gzip(&text.as_bytes()[40..])].concat();
    let packed = [
        ("t.csv.gz", gzip(text.as_bytes())),
        ("parts.csv.gz", two_members),
        ("t.csv.zst", zstd::encode_all(text.as_bytes(), 0).unwrap()),
        ("misnamed.csv", gzip(text.replace(',', ";").as_bytes())),
    ];
    for (name, bytes) in packed {
        let (table, once) = read(&put(&folder, name, bytes)).unwrap();
        assert_eq!(rows(&once), expected(), "{name}");
        assert_eq!(batches(&table).unwrap(), once, "{name} is read twice");
    }
}

#[test]
fn a_columnar_file_may_be_compressed_as_a_whole() {
    let folder = folder();
    let path = put_parquet(&folder, "t.parquet", &[record_batch(crate::columns(7, crate::doubles))], 100);
    let packed = put(&folder, "t.parquet.gz", gzip(&std::fs::read(path).unwrap()));
    assert_eq!(rows(&read(&packed).unwrap().1), crate::expected(7));
}

#[test]
fn json_lines_are_recognised_by_their_content() {
    let folder = folder();
    let object = |row: &[f64]| {
        let names = ["a:cat", "a:dog", "b:cat", "b:dog", "c:cat", "c:dog"];
        let cells = names.iter().zip(row).map(|(name, cell)| format!("{name:?}: {cell}"));
        format!("{{\"note\": \"x; y, z\", {}}}\n", cells.collect::<Vec<_>>().join(", "))
    };
    let text = object(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) + &object(&[-1.0, 0.5, 2e3, 4.0, 5.0, 6.0]);
    for (name, bytes) in [("t.jsonl", text.clone().into_bytes()), ("t.csv.gz", gzip(text.as_bytes()))] {
        assert_eq!(rows(&read(&put(&folder, name, bytes)).unwrap().1), expected(), "{name}");
    }
}

#[test]
fn times_are_cut_into_periods() {
    let folder = folder();
    let header = "a:cat,a:dog,b:cat,b:dog,c:cat,c:dog,time\n";
    let rows = ["2026-01-30", "2026-01-31T12:00:00Z", "2026-02-01 00:00:00", ""];
    let rows: Vec<String> = rows.iter().map(|time| format!("1,2,3,4,5,6,{time}\n")).collect();
    let path = put(&folder, "t.csv", header.to_owned() + &rows.concat());
    let names = |period: &str| {
        let (segment, period) = (Some("time".to_owned()), Some(period.parse().unwrap()));
        let (table, batches) =
            read_with(&[&path], &ReadOptions { segment, period, ..Default::default() }).unwrap();
        let keys = batches[0].segments().unwrap().to_vec();
        keys.into_iter().map(|key| table.segment_name(key).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(names("month"), ["2026-01", "2026-01", "2026-02", "(missing)"]);
    assert_eq!(names("week"), ["2026-W05", "2026-W05", "2026-W05", "(missing)"]);
    assert_eq!(names("day"), ["2026-01-30", "2026-01-31", "2026-02-01", "(missing)"]);
}
