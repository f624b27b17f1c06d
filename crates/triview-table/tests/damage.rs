//! No bytes make a reader panic: the findings of the fuzz targets, and small files cut and flipped at every byte.
#![allow(clippy::unwrap_used, reason = "a test that fails by panicking fails")]

mod common;

use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, Int8Array, ListArray, StringArray};
use common::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use triview::data::Source;
use triview_table::{
    FeatureOptions, FeatureTable, ReadOptions, SequenceTable, Table, VoteOptions, VoteTable, model,
    read_transitions, silence_caught_panics,
};

/// Reads bytes as a table, in the ways that take different paths through the readers.
fn read_table(path: &Path) {
    let key = Some("key".to_string());
    let keyed = ReadOptions { cluster: key.clone(), segment: key, ..Default::default() };
    for options in [ReadOptions::default(), keyed] {
        let _ = read_with(&[path], &options);
    }
}

fn read_moments(path: &Path) {
    let _ = triview_table::moments::read(path);
    let _ = triview_table::moments::read_plan(path);
}

fn read_model(path: &Path) {
    let _ = model::read(path);
}

fn read_potentials(path: &Path) {
    let _ = read_transitions(path);
}

fn read_sequences(path: &Path) {
    let states = ["x", "y"].map(String::from);
    if let Ok(table) = SequenceTable::open(&[path.into()], &states) {
        let _ = table.named().take_while(Result::is_ok).count();
    }
}

fn read_votes(path: &Path) {
    let _ = VoteTable::read(&[path.into()], &VoteOptions::default());
}

fn read_features(path: &Path) {
    let options = FeatureOptions { label: Some("label".into()), ..Default::default() };
    if let Ok(mut table) = FeatureTable::open(&[path.into()], &options) {
        let _ = table.find_classes();
        let _ = table.batches().map(|batches| batches.take_while(Result::is_ok).count());
    }
}

/// Where valid files and findings of a kind are, how a file of it ends, and what reads it.
type Reader = (&'static str, &'static str, fn(&Path));

/// Tables and moments, whose files are made here to be damaged.
const MADE: [Reader; 5] = [
    ("csv", "csv", read_table),
    ("parquet", "parquet", read_table),
    ("ipc", "arrow", read_table),
    ("npy", "npy", read_table),
    ("moments", "moments", read_moments),
];
/// Everything else, of which the valid files are damaged.
const KEPT: [Reader; 5] = [
    ("model", "safetensors", read_model),
    ("sequences", "csv", read_sequences),
    ("transitions", "csv", read_potentials),
    ("votes", "csv", read_votes),
    ("features", "csv", read_features),
];

/// The files of a kind: their paths and bytes.
fn corpus(reader: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(reader);
    let paths = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Runs a reader over some bytes and says which made it panic.
fn survives(name: &str, bytes: &[u8], path: &Path, read: fn(&Path)) {
    std::fs::write(path, bytes).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| read(path))).is_ok(), "{name} makes a reader panic");
}

fn cut_and_flip(name: &str, bytes: &[u8], read: fn(&Path)) {
    silence_caught_panics();
    let folder = folder();
    let path = folder.path().join(name);
    for length in 0..bytes.len() {
        survives(&format!("{name} cut to {length}"), &bytes[..length], &path, read);
    }
    let mut bytes = bytes.to_vec();
    for at in 0..bytes.len() {
        let flip = [0x01, 0x80, 0xff][at % 3];
        bytes[at] ^= flip;
        survives(&format!("{name} with byte {at} ^ {flip:#x}"), &bytes, &path, read);
        bytes[at] ^= flip;
    }
}

fn numbers() -> arrow_array::RecordBatch {
    let column = || Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0])) as ArrayRef;
    let byte = || Arc::new(Int8Array::from(vec![Some(1), Some(2), Some(3)])) as ArrayRef;
    record_batch(vec![
        ("a:x", column()),
        ("a:y", column()),
        ("b:x", byte()),
        ("b:y", column()),
        ("c:x", column()),
        ("c:y", column()),
        ("key", Arc::new(StringArray::from(vec!["p", "q", "p"]))),
    ])
}

fn lists() -> arrow_array::RecordBatch {
    let rows = || (0..3).map(|row| Some([Some(f64::from(row)), Some(1.0)]));
    let column = || Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(rows())) as ArrayRef;
    record_batch(vec![("a", column()), ("b", column()), ("c", column())])
}

#[test]
fn damaged_csv() {
    let text =
        "\u{feff}a:x,a:y,b:x,\"b:y\",c:x,c:y,key\r\n1,2,3,4e0,\"5\",6,p\r\n.5,-1,0,1,2,3,\"q\"\"q\"\r\n";
    cut_and_flip("t.csv", text.as_bytes(), read_table);
}

#[test]
fn damaged_parquet() {
    let folder = folder();
    for batch in [numbers(), lists()] {
        let bytes = std::fs::read(put_parquet(&folder, "t.parquet", &[batch], 2)).unwrap();
        cut_and_flip("t.parquet", &bytes, read_table);
    }
}

#[test]
fn damaged_arrow() {
    let folder = folder();
    for batch in [numbers(), lists()] {
        let bytes = std::fs::read(put_arrow(&folder, "t.arrow", std::slice::from_ref(&batch))).unwrap();
        cut_and_flip("t.arrow", &bytes, read_table);
        let bytes = std::fs::read(put_stream(&folder, "t.arrows", &[batch])).unwrap();
        cut_and_flip("t.arrows", &bytes, read_table);
    }
}

#[test]
fn damaged_npy() {
    for (version, fortran) in [(1, false), (2, true)] {
        let bytes = npy(version, "'<f4'", fortran, "(2, 3, 2)", &[1; 48]);
        cut_and_flip("t.npy", &bytes, read_table);
    }
}

#[test]
fn damaged_moments() {
    let folder = folder();
    let plan = plan(&["x", "y"]);
    let path = folder.path().join("part.moments");
    triview_table::moments::write(&path, &moments(&plan, 16)).unwrap();
    cut_and_flip("part.moments", &std::fs::read(&path).unwrap(), read_moments);
    triview_table::moments::write_plan(&path, &plan).unwrap();
    cut_and_flip("plan.json", &std::fs::read(&path).unwrap(), read_moments);
}

#[test]
fn damaged_models_sequences_votes_and_features() {
    for (reader, ending, read) in KEPT {
        let valid = |path: &Path| path.file_name().unwrap().to_str().unwrap().starts_with("valid");
        for (_, bytes) in corpus(reader).into_iter().filter(|(path, _)| valid(path)) {
            cut_and_flip(&format!("t.{ending}"), &bytes, read);
        }
    }
}

#[test]
fn findings_of_the_fuzz_targets() {
    silence_caught_panics();
    let folder = folder();
    for (reader, ending, read) in MADE.into_iter().chain(KEPT) {
        let path = folder.path().join("finding").with_extension(ending);
        for (finding, bytes) in corpus(reader) {
            survives(&finding.display().to_string(), &bytes, &path, read);
        }
    }
}

#[test]
fn nothing_behind_the_end_of_a_stream_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stream.arrow");
    // Three rows, the marker of the end, and two rows more.
    std::fs::write(&path, include_bytes!("corpus/ipc/rows-behind-the-end")).unwrap();
    let table = Table::open(&[path], &ReadOptions::default()).unwrap();
    let rows: usize = table.batches().unwrap().map(|batch| batch.unwrap().rows()).sum();
    assert_eq!((rows, table.rows()), (3, Some(3)));
}
