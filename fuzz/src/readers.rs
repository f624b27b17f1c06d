//! Bytes go to a file, and a reader reads it.

use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use triview::Plan;
use triview::data::Source;
use triview_table::{
    FeatureOptions, FeatureTable, Input, Keep, Origin, ReadOptions, SequenceTable, Table, VoteOptions,
    VoteTable, model, moments, silence_caught_panics, write_transitions,
};

/// A file of this process's own with these bytes, in memory where the system has such a folder.
pub(crate) fn put(bytes: &[u8], ending: &str) -> PathBuf {
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

/// Reads bytes as moments and as a plan of them; what is read must be what is written again.
pub fn read_moments(bytes: &[u8]) {
    let path = put(bytes, "moments");
    if let Ok(read) = moments::read(&path) {
        moments::write(&path, &read).expect("moments that were read can be written");
        assert_eq!(moments::read(&path).expect("and read again"), read);
    } else if let Ok(plan) = moments::read_plan(&path) {
        moments::write_plan(&path, &plan).expect("a plan that was read can be written");
        assert_eq!(moments::read_plan(&path).expect("and read again"), plan);
    }
    // Few changed bytes have the right checksum: a plan is read without it as well.
    let content = serde_json::from_slice::<Value>(bytes).unwrap_or_default();
    if let Ok(plan) = serde_json::from_value::<Plan>(content["plan"].clone()) {
        let _ = plan.accumulator();
    }
}

/// Reads bytes as a model; what is read must be what is written again.
pub fn read_model(bytes: &[u8]) {
    let path = put(bytes, "safetensors");
    if let Ok(read) = model::read(&path) {
        model::write(&path, &read).expect("a model that was read can be written");
        assert_eq!(model::read(&path).expect("and read again"), read);
    }
}

/// Reads bytes as transition potentials; what is read must be what is written again.
pub fn read_transitions(bytes: &[u8]) {
    let path = put(bytes, "csv");
    if let Ok(chain) = triview_table::read_transitions(&path) {
        write_transitions(&path, &chain).expect("potentials that were read can be written");
        assert_eq!(triview_table::read_transitions(&path).expect("and read again"), chain);
    }
}

/// Reads bytes as a CSV table of sequences with two states.
pub fn read_sequences(bytes: &[u8]) {
    let path = put(bytes, "csv");
    let states = ["x", "y"].map(String::from);
    let Ok(table) = SequenceTable::open(&[path], &states) else { return };
    for named in table.named() {
        let Ok(named) = named else { return };
        assert_eq!(named.names.len(), named.sequences.len(), "every sequence has a name");
    }
}

/// Reads bytes as a CSV table of votes: with classes as they come and given, with gold in a column, and with numbers cut into classes.
pub fn read_votes(bytes: &[u8]) {
    let path = put(bytes, "csv");
    let given = VoteOptions { classes: Some(["x", "y"].map(String::from).to_vec()), ..Default::default() };
    let labelled = VoteOptions { label: Some("gold".into()), keep: Keep::All, ..Default::default() };
    let cut = VoteOptions { cuts: Some(vec![0.5, 2.0]), ..Default::default() };
    for options in [VoteOptions::default(), given, labelled, cut] {
        if let Ok(table) = VoteTable::read(std::slice::from_ref(&path), &options) {
            assert_eq!(table.votes.k(), table.classes.len(), "every class has a name");
        }
    }
}

/// Reads bytes as a table of gold beside votes that are always the same.
pub fn read_gold(bytes: &[u8]) {
    let votes = put(b"item,p,q,r\n1,x,y,x\n2,y,y,x\ni,x,x,y\n", "votes.csv");
    let gold = Some(Origin::File(put(bytes, "csv")));
    let named = VoteOptions { label: Some("label".into()), gold: gold.clone(), ..Default::default() };
    for options in [VoteOptions { gold, ..Default::default() }, named] {
        if let Ok(table) = VoteTable::read(std::slice::from_ref(&votes), &options) {
            assert_eq!(table.items.len(), 3, "gold adds no item");
        }
    }
}

/// Reads bytes as a CSV table of features, with labels and without.
pub fn read_features(bytes: &[u8]) {
    let path = put(bytes, "csv");
    let labelled = FeatureOptions { label: Some("label".into()), ..Default::default() };
    for options in [FeatureOptions::default(), labelled] {
        let Ok(mut table) = FeatureTable::open(std::slice::from_ref(&path), &options) else { continue };
        if options.label.is_some() && table.find_classes().is_err() {
            continue;
        }
        let Ok(mut batches) = table.batches() else { continue };
        while let Some(Ok(_)) = batches.next() {}
    }
}
