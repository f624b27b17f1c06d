//! What the fuzz targets share: bytes go to a file, and a reader reads it.

use std::fs;
use std::path::PathBuf;
use triview::views::Source;
use triview_table::{Input, ReadOptions, Table, silence_caught_panics, state};

/// A file of this process's own with these bytes, in memory where the system has such a folder.
fn put(bytes: &[u8], ending: &str) -> PathBuf {
    // libFuzzer's hook ends the process at any panic, those that are caught included.
    silence_caught_panics();
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let path = folder.join(format!("triview-fuzz-{}.{ending}", std::process::id()));
    fs::write(&path, bytes).expect("the fuzz target can write its input");
    path
}

/// Reads bytes as a table of the format of this ending, in the ways that take different paths.
pub fn read_table(bytes: &[u8], ending: &str) {
    let path = put(bytes, ending);
    let key = Some("key".to_string());
    let keyed =
        ReadOptions { cluster: key.clone(), segment: key, input: Input::Probability, ..Default::default() };
    for options in [ReadOptions::default(), keyed] {
        let Ok(table) = Table::open(std::slice::from_ref(&path), &options) else { continue };
        let Ok(batches) = table.batches() else { continue };
        let rows: Option<u64> = batches.map(|batch| Some(batch.ok()?.rows() as u64)).sum();
        if let (Some(read), Some(promised), "npy" | "arrow") = (rows, table.rows(), ending) {
            assert_eq!(read, promised, "a complete reading has the rows that were promised");
        }
    }
}

/// Reads bytes as a state and as a header; what is read must be what is written again.
pub fn read_state(bytes: &[u8]) {
    let path = put(bytes, "state");
    if let Ok(moments) = state::read(&path) {
        state::write(&path, &moments).expect("a state that was read can be written");
        assert_eq!(state::read(&path).expect("and read again"), moments);
    }
    let _ = state::read_header(&path);
}
