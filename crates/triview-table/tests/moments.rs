//! Moments and plans on disk.
#![allow(clippy::unwrap_used, reason = "a test that fails by panicking fails")]

mod common;

use common::*;
use std::io::Write;
use std::path::Path;
use triview::{Moments, Plan};
use triview_table::moments::{is_moments, read, read_plan, write, write_plan};
use triview_table::{Error, replace};

fn plan() -> Plan {
    common::plan(&["x", "y", "z"])
}

/// Of five blocks that have rows.
fn moments() -> Moments {
    let moments = common::moments(&plan(), 40);
    assert_eq!(moments.blocks(), [64, 5]);
    moments
}

#[test]
fn moments_are_read_back_to_the_last_bit() {
    let folder = folder();
    let path = folder.path().join("part.moments");
    write(&path, &moments()).unwrap();
    assert_eq!(read(&path).unwrap(), moments());
    assert!(is_moments(&path));
    let bytes = std::fs::read(&path).unwrap();
    write(&path, &moments()).unwrap();
    assert_eq!(bytes, std::fs::read(&path).unwrap(), "the same moments are the same file");
}

#[test]
fn a_plan_is_read_back() {
    let folder = folder();
    let path = folder.path().join("plan.json");
    write_plan(&path, &plan()).unwrap();
    assert_eq!(read_plan(&path).unwrap(), plan());
    assert!(!is_moments(&path));
}

#[test]
fn moments_are_told_from_tables() {
    let folder = folder();
    let path = folder.path().join("anything");
    write(&path, &moments()).unwrap();
    assert!(is_moments(&path));
    assert!(!is_moments(&put(&folder, "t.csv", csv(&["1,2,3,4,5,6"]))));
    assert!(!is_moments(&folder.path().join("missing")));
    assert!(!is_moments(folder.path()));
    for ending in ["moments", "state", "safetensors"] {
        assert!(is_moments(&folder.path().join("missing").with_extension(ending)), "{ending}");
    }
}

#[test]
fn foreign_files() {
    let folder = folder();
    let table = put(&folder, "t.csv", csv(&["1,2,3,4,5,6"]));
    let empty = put(&folder, "empty", "");
    let data = [0_u8; 8];
    let tensor = safetensors::tensor::TensorView::new(safetensors::Dtype::F64, vec![1], &data).unwrap();
    let other = put(&folder, "model.safetensors", safetensors::serialize([("w", tensor)], None).unwrap());
    let saved = folder.path().join("plan.json");
    write_plan(&saved, &plan()).unwrap();
    for (path, found) in [
        (&table, "not in the safetensors format"),
        (&empty, "it is empty"),
        (&other, "made by another program"),
        (&saved, "not in the safetensors format"),
    ] {
        let error = read(path).unwrap_err();
        assert!(matches!(error, Error::Foreign { .. }), "{error:?}");
        assert!(error.to_string().contains(found), "{error}");
    }
    for (path, found) in [(&table, "not JSON"), (&put(&folder, "j.json", "{\"a\": 1}"), "something else")] {
        let error = read_plan(path).unwrap_err();
        assert!(matches!(error, Error::Foreign { .. }), "{error:?}");
        assert!(error.to_string().contains(found), "{error}");
    }
    assert!(matches!(read(&folder.path().join("no")), Err(Error::Missing { .. })));
    assert!(matches!(read(folder.path()), Err(Error::Folder { .. })));
}

#[test]
fn other_versions() {
    let folder = folder();
    let path = folder.path().join("part.moments");
    write(&path, &moments()).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let from = br#"version\":6"#;
    let at = bytes.windows(from.len()).position(|window| window == from).unwrap();
    bytes[at + from.len() - 1] = b'7';
    std::fs::write(&path, bytes).unwrap();
    let error = read(&path).unwrap_err();
    assert!(matches!(error, Error::Version { found: 7, known: 6, .. }), "{error:?}");
    assert!(error.to_string().contains("format version 7"), "{error}");

    let path = folder.path().join("plan.json");
    write_plan(&path, &plan()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap().replace("\"version\": 6", "\"version\": 9");
    std::fs::write(&path, text).unwrap();
    assert!(matches!(read_plan(&path), Err(Error::Version { found: 9, .. })));

    // What earlier versions wrote, under names of their own, is known for what it is.
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/moments");
    for error in [
        read(&corpus.join("version-5.state")).unwrap_err(),
        read_plan(&corpus.join("version-5.json")).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Version { found: 5, known: 6, .. }), "{error:?}");
        assert!(error.to_string().contains("format version 5"), "{error}");
    }
}

#[test]
fn damaged_moments() {
    let folder = folder();
    let path = folder.path().join("part.moments");
    write(&path, &moments()).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let damaged = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let error = read(&path).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
        error.to_string()
    };
    assert!(damaged(&bytes[..bytes.len() - 1]).contains("part.moments"));
    assert!(damaged(&bytes[..bytes.len() / 2]).contains("make it again"));
    let mut infinite = bytes.clone();
    let end = infinite.len();
    infinite[end - 8..].copy_from_slice(&f64::INFINITY.to_le_bytes());
    assert!(damaged(&infinite).contains("checksum is not that of its content"));
    let edit = |from: &str, to: &str| {
        let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        let mut bytes = bytes.clone();
        bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
        bytes
    };
    assert!(damaged(&edit("gram.0", "gram.9")).contains("gram.0"));
    assert!(damaged(&edit("\"F64\"", "\"I64\"")).contains("I64"));
    assert!(damaged(&edit("\\\"x\\\"", "\\\"y\\\"")).contains("plan is not valid"));
}

#[test]
fn a_plan_that_implies_more_than_the_file_holds() {
    let folder = folder();
    let path = folder.path().join("part.moments");
    let names: Vec<String> = (0..3000).map(|name| name.to_string()).collect();
    let mut plan = serde_json::to_value(plan()).unwrap();
    plan["schema"]["classes"] = names.into();
    let content =
        serde_json::json!({ "triview": "moments", "version": 6, "blocks": 1, "filled": [0], "plan": plan });
    let data = [0_u8; 8];
    let tensor = safetensors::tensor::TensorView::new(safetensors::Dtype::F64, vec![1], &data).unwrap();
    let metadata = std::collections::HashMap::from([("triview".to_owned(), content.to_string())]);
    std::fs::write(&path, safetensors::serialize([("w", tensor)], Some(metadata)).unwrap()).unwrap();
    let error = read(&path).unwrap_err();
    assert!(error.to_string().contains("smaller than its plan implies"), "{error}");
}

#[test]
fn a_failed_write_leaves_what_was_there() {
    let folder = folder();
    let path = put(&folder, "report.json", "old");
    let result: Result<(), Error> = replace(&path, |output| {
        output.write_all(b"half").unwrap();
        Err(Error::NoFiles)
    });
    assert!(result.is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    replace(&path, |output| output.write_all(b"new").map_err(|_| Error::NoFiles)).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    assert!(write(&folder.path().join("no/such/part.moments"), &moments()).is_err());
    assert!(write_plan(&folder.path().join("no/such/p.json"), &plan()).is_err());
}

#[cfg(unix)]
#[test]
fn links_and_devices_are_not_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let target = put(&folder, "target.json", "old");
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.path().join("link.json");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let write = |path| replace(path, |output| output.write_all(b"new").map_err(|_| Error::NoFiles));
    write(&link).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "new");
    assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    write(Path::new("/dev/null")).unwrap();
}
