//! States and headers on disk.
#![allow(clippy::unwrap_used, reason = "a test that fails by panicking fails")]

mod common;

use common::*;
use std::io::Write;
use triview::data::Schema;
use triview::features::{Bins, FeatureMap};
use triview::loss::{LogLoss, SharedLoss};
use triview::moments::{Header, Moments};
use triview::planning::Grouping;
use triview_table::{Error, replace, state};

fn header() -> Header {
    let names = |names: [&str; 3]| names.map(str::to_owned).to_vec();
    let schema = Schema::new(names(["a", "b", "c"]), names(["x", "y", "z"])).unwrap();
    Header {
        grouping: Grouping::single(),
        schema,
        loss: SharedLoss::new(LogLoss),
        ceilings: None,
        features: FeatureMap::Scores,
        absent: [0, 1, 2].map(|_| vec![0.0; 3]),
        bins: std::array::from_fn(|_| Bins::none(3)),
        latent: None,
    }
}

fn moments() -> Moments {
    let layout = header().layout().unwrap();
    let block = |b: usize| (0..layout.len).map(|i| ((b * 1000 + i) as f64).sin() * 1e10).collect();
    Moments::new(header(), (0..5).map(block).collect()).unwrap()
}

#[test]
fn a_state_is_read_back_to_the_last_bit() {
    let folder = folder();
    let path = folder.path().join("part.state");
    state::write(&path, &moments()).unwrap();
    assert_eq!(state::read(&path).unwrap(), moments());
    assert!(state::is_state(&path));
    let bytes = std::fs::read(&path).unwrap();
    state::write(&path, &moments()).unwrap();
    assert_eq!(bytes, std::fs::read(&path).unwrap(), "the same state is the same file");
}

#[test]
fn a_header_is_read_back() {
    let folder = folder();
    let path = folder.path().join("posterior.json");
    state::write_header(&path, &header()).unwrap();
    assert_eq!(state::read_header(&path).unwrap(), header());
    assert!(!state::is_state(&path));
}

#[test]
fn states_are_told_from_tables() {
    let folder = folder();
    let path = folder.path().join("anything");
    state::write(&path, &moments()).unwrap();
    assert!(state::is_state(&path));
    assert!(!state::is_state(&put(&folder, "t.csv", csv(&["1,2,3,4,5,6"]))));
    assert!(!state::is_state(&folder.path().join("missing")));
    assert!(!state::is_state(folder.path()));
    assert!(state::is_state(&folder.path().join("missing.state")));
}

#[test]
fn foreign_files() {
    let folder = folder();
    let table = put(&folder, "t.csv", csv(&["1,2,3,4,5,6"]));
    let empty = put(&folder, "empty", "");
    let data = [0_u8; 8];
    let tensor = safetensors::tensor::TensorView::new(safetensors::Dtype::F64, vec![1], &data).unwrap();
    let other = put(&folder, "model.safetensors", safetensors::serialize([("w", tensor)], None).unwrap());
    let posterior = folder.path().join("posterior.json");
    state::write_header(&posterior, &header()).unwrap();
    for (path, found) in [
        (&table, "not in the safetensors format"),
        (&empty, "it is empty"),
        (&other, "made by another program"),
        (&posterior, "not in the safetensors format"),
    ] {
        let error = state::read(path).unwrap_err();
        assert!(matches!(error, Error::Foreign { .. }), "{error:?}");
        assert!(error.to_string().contains(found), "{error}");
    }
    for (path, found) in [(&table, "not JSON"), (&put(&folder, "j.json", "{\"a\": 1}"), "something else")] {
        let error = state::read_header(path).unwrap_err();
        assert!(matches!(error, Error::Foreign { .. }), "{error:?}");
        assert!(error.to_string().contains(found), "{error}");
    }
    assert!(matches!(state::read(&folder.path().join("no")), Err(Error::Missing { .. })));
    assert!(matches!(state::read(folder.path()), Err(Error::Folder { .. })));
}

#[test]
fn other_versions() {
    let folder = folder();
    let path = folder.path().join("part.state");
    state::write(&path, &moments()).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let from = br#"version\":5"#;
    let at = bytes.windows(from.len()).position(|window| window == from).unwrap();
    bytes[at + from.len() - 1] = b'7';
    std::fs::write(&path, bytes).unwrap();
    let error = state::read(&path).unwrap_err();
    assert!(matches!(error, Error::Version { found: 7, known: 5, .. }), "{error:?}");
    assert!(error.to_string().contains("format version 7"), "{error}");

    let path = folder.path().join("posterior.json");
    state::write_header(&path, &header()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap().replace("\"version\": 5", "\"version\": 9");
    std::fs::write(&path, text).unwrap();
    assert!(matches!(state::read_header(&path), Err(Error::Version { found: 9, .. })));
}

#[test]
fn damaged_states() {
    let folder = folder();
    let path = folder.path().join("part.state");
    state::write(&path, &moments()).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let damaged = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let error = state::read(&path).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
        error.to_string()
    };
    assert!(damaged(&bytes[..bytes.len() - 1]).contains("part.state"));
    assert!(damaged(&bytes[..bytes.len() / 2]).contains("make it again"));
    let mut infinite = bytes.clone();
    let end = infinite.len();
    infinite[end - 8..].copy_from_slice(&f64::INFINITY.to_le_bytes());
    assert!(damaged(&infinite).contains("has inf at place"));
    let edit = |from: &str, to: &str| {
        let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        let mut bytes = bytes.clone();
        bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
        bytes
    };
    assert!(damaged(&edit("gram.0", "gram.9")).contains("gram.0"));
    assert!(damaged(&edit("\"F64\"", "\"I64\"")).contains("I64"));
    assert!(damaged(&edit("\\\"x\\\"", "\\\"y\\\"")).contains("header is not valid"));
}

#[test]
fn a_header_that_implies_more_than_the_file_holds() {
    let folder = folder();
    let path = folder.path().join("part.state");
    let names: Vec<String> = (0..3000).map(|name| format!("\"{name}\"")).collect();
    let text = format!(
        "{{\"triview\": \"moment state\", \"version\": 5, \"header\": {{\"schema\": {{\"views\": \
         [\"a\", \"b\", \"c\"], \"classes\": [{}]}}, \"grouping\": {{\"groups\": [[0], [1], [2]], \"chosen\": \"automatic\", \"together\": [], \"others\": []}}, \"loss\": \"log\", \"features\": {{\"kind\": \"scores\"}}, \
         \"absent\": [[], [], []], \"bins\": [{{\"edges\": [], \"missing\": false}}, {{\"edges\": [], \"missing\": false}}, {{\"edges\": [], \"missing\": false}}]}}}}",
        names.join(",")
    );
    let data = [0_u8; 8];
    let tensor = safetensors::tensor::TensorView::new(safetensors::Dtype::F64, vec![1], &data).unwrap();
    let metadata = std::collections::HashMap::from([("triview".to_owned(), text)]);
    std::fs::write(&path, safetensors::serialize([("w", tensor)], Some(metadata)).unwrap()).unwrap();
    let error = state::read(&path).unwrap_err();
    assert!(error.to_string().contains("smaller than its header implies"), "{error}");
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
    assert!(state::write(&folder.path().join("no/such/part.state"), &moments()).is_err());
    assert!(state::write_header(&folder.path().join("no/such/p.json"), &header()).is_err());
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
    write(std::path::Path::new("/dev/null")).unwrap();
}
