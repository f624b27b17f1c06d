//! A store from a stranger, or from a disk that lost some of it: what is read of it is what was written or an error, and never a panic.
//!
//! The store that is damaged is `data/version-1.store`.
#![allow(clippy::unwrap_used, reason = "a test that fails by panicking fails")]

use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use triview::monitoring::KeptRows;
use triview_store::{Error, Part, Store};

/// A copy of the store, brought up to date, in a folder of its own.
fn copy() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.store");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/version-1.store"), &path).unwrap();
    Store::open(&path).unwrap();
    (folder, path)
}

/// Everything that is read of a store, and then something written to it; the number of parts that were read.
fn read_and_write(path: &Path) -> Result<usize, Error> {
    let mut store = Store::open(path)?;
    let plan = store.plan()?;
    store.files()?;
    store.answers()?;
    let mut parts = 0;
    for (place, _) in store.places()? {
        if let Some(part) = store.part(&place)? {
            // What passes its checksum is what was written.
            assert_eq!(Some(part.moments.plan()), plan.as_ref());
            assert!(part.moments.rows() <= 240);
            parts += 1;
        }
    }
    let mut adding = store.begin()?;
    let places = adding.store().places()?;
    if let Some((place, _)) = places.first()
        && let Some(Part { moments, .. }) = adding.store().part(place)?
    {
        let (kept, labelled) = (KeptRows::default(), KeptRows::default());
        adding.add(place, Part { moments, kept, labelled })?;
    }
    adding.commit()?;
    Ok(parts)
}

/// Damages a copy of the store and reads it; what is said of it names it.
fn survives(bytes: &[u8], folder: &Path) -> bool {
    let path = folder.join("damaged.store");
    for beside in ["damaged.store-journal", "damaged.store-wal", "damaged.store-shm"] {
        let _ = fs::remove_file(folder.join(beside));
    }
    fs::write(&path, bytes).unwrap();
    match read_and_write(&path) {
        Ok(_) => true,
        // What the core refuses is said of the place that was added.
        Err(Error::Core(_) | Error::LetGo { .. } | Error::Twice { .. }) => false,
        Err(error) => {
            assert!(error.to_string().contains("damaged.store"), "{error}");
            false
        }
    }
}

/// Numbers that are as good as random.
fn mixed(at: u64) -> u64 {
    let mixed = (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 8
}

#[test]
fn a_store_that_is_cut_off() {
    let (folder, path) = copy();
    let bytes = fs::read(&path).unwrap();
    let mut lengths: Vec<usize> = (0..bytes.len()).step_by(4096).collect();
    lengths.extend([1, 15, 16, 17, 99, 100, 101, 1000, bytes.len() - 1]);
    for length in lengths {
        survives(&bytes[..length], folder.path());
    }
    assert!(survives(&bytes, folder.path()), "what is not damaged is answered");
}

#[test]
fn a_store_with_flipped_bytes() {
    let (folder, path) = copy();
    let bytes = fs::read(&path).unwrap();
    let mut refused = 0;
    for at in 0..400_u64 {
        let mut bytes = bytes.clone();
        // Half of them where pages say what they hold, the others anywhere.
        let most = if at % 2 == 0 { 64 } else { 4096 };
        for turn in 0..1 + at % 5 {
            let page = mixed(7 * at + turn) as usize % (bytes.len() / 4096);
            let place = page * 4096 + mixed(13 * at + turn) as usize % most;
            bytes[place] ^= 1 << (mixed(at + turn) % 8);
        }
        refused += usize::from(!survives(&bytes, folder.path()));
    }
    assert!(refused > 100, "{refused} of 400");
}

#[test]
fn a_store_with_pages_of_anything() {
    let (folder, path) = copy();
    let whole = fs::read(&path).unwrap();
    for at in 0..100_u64 {
        let mut bytes = whole.clone();
        let page = |number: u64| (mixed(number) as usize % (whole.len() / 4096)) * 4096;
        let (to, from) = (page(3 * at), page(3 * at + 1));
        if at % 2 == 0 {
            bytes[to..to + 4096].copy_from_slice(&whole[from..from + 4096]);
        } else {
            bytes[to..to + 4096].iter_mut().zip(0..).for_each(|(byte, i)| *byte = mixed(at * 5000 + i) as u8);
        }
        survives(&bytes, folder.path());
    }
}

/// Changes a store by what a stranger could run on it.
fn changed(path: &Path, statements: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(statements).unwrap();
}

#[test]
fn nothing_in_a_store_is_run() {
    for statements in [
        "ALTER TABLE file RENAME TO real; CREATE VIEW file AS
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT x'00', i, i, i FROM n",
        "CREATE TRIGGER t AFTER INSERT ON file BEGIN DELETE FROM part; END",
        "ALTER TABLE file ADD COLUMN more BLOB AS (zeroblob(1000000000)) VIRTUAL",
        "CREATE VIRTUAL TABLE words USING fts5(word)",
    ] {
        let (_folder, path) = copy();
        changed(&path, statements);
        let error = read_and_write(&path).unwrap_err();
        assert!(matches!(error, Error::Foreign { .. }), "{error}");
        assert!(error.to_string().contains("which no store has"), "{error}");
    }
}

#[test]
fn numbers_of_rows_that_cannot_be() {
    for rows in ["-1", "9223372036854775807", "1e300", "'many'"] {
        let (_folder, path) = copy();
        changed(&path, &format!("UPDATE part SET rows = {rows}"));
        let error = Store::open(&path).unwrap().places().unwrap_err();
        assert!(error.to_string().contains("some.store"), "{error}");
    }
}
