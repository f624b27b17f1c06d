//! A file that changes while it is read: two readings that differ would make one answer of two mixtures.
#![allow(clippy::unwrap_used, reason = "a test that fails by panicking fails")]

mod common;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use common::*;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{TryRecvError, channel};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use triview::data::Source;
use triview_table::{Error, Origin, ReadOptions, Table, VoteOptions, VoteTable};

/// A table of some rows, of which one number is `number`; all such tables have the same length in every format.
fn records(number: f64) -> RecordBatch {
    let column = || Arc::new(Float64Array::from(vec![number, 2.5, 3.5])) as ArrayRef;
    let names = ["a:x", "a:y", "b:x", "b:y", "c:x", "c:y"];
    record_batch(names.into_iter().map(|name| (name, column())).collect())
}

/// The same table in each format.
fn write_each(folder: &TempDir, number: f64) -> Vec<PathBuf> {
    let text = csv(&[&[format!("{number:?}").as_str(); 6].join(","), "1,2,3,4,5,6"]);
    let cells = [number; 12].map(f64::to_le_bytes).concat();
    let line = format!(r#"{{"a:x":{number:?},"a:y":1,"b:x":2,"b:y":1,"c:x":2,"c:y":1}}"#);
    vec![
        put(folder, "t.csv", text),
        put(folder, "t.npy", npy(1, "'<f8'", false, "(2, 3, 2)", &cells)),
        put_parquet(folder, "t.parquet", &[records(number)], 2),
        put_arrow(folder, "t.arrow", &[records(number)]),
        put_stream(folder, "t.arrows", &[records(number)]),
        put(folder, "t.jsonl", format!("{line}\n{line}\n")),
    ]
}

/// Sets when a file was last written, so that the test does not depend on how fine the file system's clock is.
fn set_modified(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    OpenOptions::new().write(true).open(path).unwrap().set_modified(time).unwrap();
}

fn is_changed<T>(read: Result<T, Error>, name: &Path) -> bool {
    matches!(read, Err(Error::Changed { path }) if path == name)
}

#[test]
fn a_second_reading_of_other_bytes_is_refused() {
    let folder = folder();
    for prefetch in [false, true] {
        let options = ReadOptions { prefetch, ..ReadOptions::default() };
        let paths = write_each(&folder, 1.5);
        paths.iter().for_each(|path| set_modified(path, 1_000));
        let tables: Vec<Table> =
            paths.iter().map(|path| Table::open(std::slice::from_ref(path), &options).unwrap()).collect();
        tables.iter().for_each(|table| assert!(batches(table).is_ok()));
        let lengths: Vec<u64> = paths.iter().map(|path| fs::metadata(path).unwrap().len()).collect();
        write_each(&folder, 7.5);
        for (path, (table, length)) in paths.iter().zip(tables.iter().zip(lengths)) {
            assert_eq!(fs::metadata(path).unwrap().len(), length, "{} has another length", path.display());
            // JSON Lines is read into a table of its own, once: a later change is not seen, and does no harm.
            let copied = path.extension().unwrap() == "jsonl";
            assert_eq!(is_changed(batches(table), path), !copied, "{}", path.display());
        }
    }
}

#[test]
fn a_file_in_the_place_of_another_is_refused_though_it_looks_alike() {
    let folder = folder();
    let paths = write_each(&folder, 1.5);
    paths.iter().for_each(|path| set_modified(path, 1_000));
    for path in &paths[..5] {
        let table = Table::open(std::slice::from_ref(path), &ReadOptions::default()).unwrap();
        // Without the name the number of the file would be free, and is the next to be given.
        let bytes = fs::read(path).unwrap();
        fs::remove_file(path).unwrap();
        fs::write(path, bytes).unwrap();
        set_modified(path, 1_000);
        assert!(is_changed(batches(&table), path), "{}", path.display());
        fs::remove_file(path).unwrap();
        assert!(is_changed(batches(&table), path), "{} is gone", path.display());
    }
}

#[test]
fn a_change_in_the_middle_of_a_reading_is_seen_at_its_end() {
    let folder = folder();
    let row = "1,2,3,4,5,6\n".repeat(300_000);
    let path = put(&folder, "t.csv", csv(&[]) + &row);
    set_modified(&path, 1_000);
    let table = Table::open(std::slice::from_ref(&path), &ReadOptions::default()).unwrap();
    let mut batches = table.batches().unwrap();
    assert!(batches.next().unwrap().is_ok());
    OpenOptions::new().append(true).open(&path).unwrap().write_all(row.as_bytes()).unwrap();
    let rest: Vec<_> = batches.collect();
    assert!(is_changed(rest.into_iter().last().unwrap(), &path));
}

#[test]
fn a_change_is_said_rather_than_what_it_broke() {
    let folder = folder();
    let path = put(&folder, "t.csv", csv(&["1,2,3,4,5,6"; 20]));
    set_modified(&path, 1_000);
    let table = Table::open(std::slice::from_ref(&path), &ReadOptions::default()).unwrap();
    let mut batches = table.batches().unwrap();
    put(&folder, "t.csv", csv(&["1,2,oops,4,5,6"; 20]));
    assert!(is_changed(batches.next().unwrap(), &path));
}

/// A file that is written to as long as it is read.
struct Growing {
    file: File,
    rows: usize,
}

impl Growing {
    fn grow(&mut self) {
        self.rows += 1;
        writeln!(self.file, "i{},p,x", self.rows).unwrap();
    }
}

#[test]
fn a_file_that_grows_is_not_chased() {
    let folder = folder();
    let path = put(&folder, "votes.csv", "item,annotator,vote\n".to_owned() + &"i,p,x\n".repeat(1_000_000));
    set_modified(&path, 1_000);
    let mut growing = Growing { file: OpenOptions::new().append(true).open(&path).unwrap(), rows: 0 };
    let (stop, stopped) = channel::<()>();
    let writer = std::thread::spawn(move || {
        while stopped.try_recv() != Err(TryRecvError::Disconnected) {
            growing.grow();
        }
    });
    let read = VoteTable::read(std::slice::from_ref(&path), &VoteOptions::default());
    drop(stop);
    let _ = writer.join();
    assert!(is_changed(read, &path));
}

#[test]
fn what_is_known_of_a_file_is_not_true_of_another_in_its_place() {
    let folder = folder();
    let path = put(&folder, "t.csv", csv(&["1,2,3,4,5,6"]));
    set_modified(&path, 1_000);
    let origin = Origin::File(path.clone());
    let (digest, stamp) = origin.digest().unwrap();
    assert!(origin.expect_unchanged(&stamp).is_ok());
    // The same length and time, another file: only its number on the device tells. The old one keeps its number.
    let held = File::open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    put(&folder, "t.csv", csv(&["1,2,3,4,5,7"]));
    set_modified(&path, 1_000);
    assert!(is_changed(origin.expect_unchanged(&stamp), &path));
    assert_ne!(origin.digest().unwrap().0, digest);
    drop(held);
}

#[test]
fn a_file_that_grows_while_its_digest_is_made_is_not_chased() {
    let folder = folder();
    let path = put(&folder, "t.csv", csv(&[]) + &"1,2,3,4,5,6\n".repeat(400_000));
    set_modified(&path, 1_000);
    let length = fs::metadata(&path).unwrap().len();
    let mut growing = OpenOptions::new().append(true).open(&path).unwrap();
    let (stop, stopped) = channel::<()>();
    let writer = std::thread::spawn(move || {
        // Faster than it is read: reading to the end of the file would not end.
        let block = vec![b'1'; 1 << 20];
        while stopped.try_recv() != Err(TryRecvError::Disconnected)
            && growing.metadata().unwrap().len() < 200 * length
        {
            growing.write_all(&block).unwrap();
        }
    });
    // Each ends, and of a few one at least has seen the writer at work.
    let seen = (0..100).any(|_| is_changed(Origin::File(path.clone()).digest(), &path));
    drop(stop);
    writer.join().unwrap();
    assert!(seen);
}
