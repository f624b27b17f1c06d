//! Stores of older versions are brought up to date when they are opened.
//!
//! `data/version-1.store` is a store of 240 rows of the preset `two` in two days, as version 1 had them: without a place for labels.

use std::fs;
use std::path::Path;
use triview_store::{Place, Store};

#[test]
fn a_store_of_version_one_is_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("old.store");
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/version-1.store");
    fs::copy(old, &path).expect("a copy");
    // Opened twice: it is brought up to date once.
    for _ in 0..2 {
        let store = Store::open(&path).expect("an older store");
        let places = store.places().expect("places");
        assert_eq!(places, [(Place::whole("2026-01-01"), 220), (Place::whole("2026-01-02"), 20)]);
        assert_eq!(store.files().expect("files")[0].name, "first.csv");
        let plan = store.plan().expect("a plan").expect("one");
        for (place, rows) in places {
            let part = store.part(&place).expect("a part").expect("one");
            assert_eq!((part.moments.rows(), part.kept.len() as u64, part.labelled.len()), (rows, rows, 0));
            assert_eq!(*part.moments.plan(), plan);
        }
    }
    let version = fs::read(&path).expect("a file")[60..64].to_vec();
    assert_eq!(version, 2_u32.to_be_bytes());
}
