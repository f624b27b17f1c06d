//! Labels that views give each other.

use crate::support::Folder;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_ipc::reader::FileReader;
use std::fs::{self, File};

/// A folder with `scores.csv`, three classes, and a column `id` before the scores.
fn folder() -> Folder {
    let folder = Folder::with_scores();
    let mut table = folder.table("scores.csv");
    for (row, cells) in table.iter_mut().enumerate() {
        cells.insert(0, if row == 0 { "id".into() } else { format!("r{row}") });
    }
    folder.write_table("scores.csv", &table);
    folder
}

/// The place of a column.
fn at(table: &[Vec<String>], name: &str) -> usize {
    table[0].iter().position(|column| column == name).unwrap_or_else(|| panic!("no column {name}"))
}

/// The numbers of a column.
fn column(table: &[Vec<String>], name: &str) -> Vec<f64> {
    let at = at(table, name);
    table[1..].iter().map(|row| row[at].parse().expect("a number")).collect()
}

fn arrow(folder: &Folder, name: &str) -> RecordBatch {
    let mut reader =
        FileReader::try_new(File::open(folder.path(name)).expect("a file"), None).expect("Arrow");
    let batch = reader.next().expect("a batch").expect("readable");
    assert!(reader.next().is_none());
    batch
}

#[test]
fn surrogates_and_posteriors_in_the_rows_order() {
    let folder = folder();
    let run = folder.answered(&["label", "scores.csv", "-o", "labels.csv"]);
    assert_eq!(run.stdout, "");
    let (scores, labels) = (folder.table("scores.csv"), folder.table("labels.csv"));
    assert_eq!(labels[0][..3], ["id", "label", "surrogate.a:0"]);
    assert_eq!((labels[0].len(), labels[0][13].as_str()), (2 + 3 * 3 + 3, "posterior:2"));
    assert_eq!(labels.len(), scores.len());
    let label = at(&scores, "label");
    for (before, after) in scores.iter().zip(&labels) {
        assert_eq!([&before[0], &before[label]], [&after[0], &after[1]]);
    }
    let classes: Vec<usize> = labels[1..].iter().map(|row| row[1].parse().expect("a class")).collect();
    for name in ["surrogate.a", "surrogate.b", "surrogate.c", "posterior"] {
        let columns = ["0", "1", "2"].map(|class| column(&labels, &format!("{name}:{class}")));
        for row in 0..classes.len() {
            let sum: f64 = columns.iter().map(|column| column[row]).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{name}: {sum}");
        }
        for (i, j) in (0..9).map(|cell| (cell / 3, cell % 3)) {
            let own: Vec<f64> =
                (0..classes.len()).filter(|&row| classes[row] == j).map(|row| columns[i][row]).collect();
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            // The fit to 4,000 rows is known to some three standard errors of a class's 1,300 labels, each about 0.02.
            let one_hot = f64::from(u8::from(i == j));
            assert!(
                (mean - one_hot).abs() < if name == "posterior" { 0.35 } else { 0.12 },
                "{name}: {i} {j} {mean}"
            );
        }
    }
}

#[test]
fn every_format_has_the_same_labels() {
    let folder = folder();
    folder.answered(&["label", "scores.csv", "-o", "labels.csv"]);
    folder.answered(&["label", "scores.csv", "--keep", "label", "-o", "labels.arrow"]);
    folder.answered(&["label", "scores.csv", "-o", "labels.npy"]);
    let table = folder.table("labels.csv");
    let made = &table[0][2..];
    let batch = arrow(&folder, "labels.arrow");
    assert_eq!(batch.schema().field(0).name(), "label");
    assert_eq!(batch.num_columns(), made.len() + 1);
    let array = fs::read(folder.path("labels.npy")).expect("an array");
    assert!(String::from_utf8_lossy(&array[..128]).contains("'shape': (4000, 4, 3)"));
    let numbers: Vec<f64> =
        array[128..].as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    for (place, name) in made.iter().enumerate() {
        let expected = column(&table, name);
        let found = batch.column_by_name(name).expect("a column").as_primitive::<Float64Type>();
        for row in 0..expected.len() {
            assert_eq!(found.value(row).to_bits(), expected[row].to_bits());
            assert_eq!(numbers[row * made.len() + place].to_bits(), expected[row].to_bits());
        }
    }
}

#[test]
fn several_files_are_one_table() {
    let folder = folder();
    let mut second = folder.table("scores.csv");
    let label = at(&second, "label");
    // What only one of them has does not go along.
    second[0][0] = "key".into();
    second[7][label].clear();
    folder.write_table("second.csv", &second);
    // Rows that come twice are no independent rows, which the test of independence may mind.
    assert!(folder.run(&["label", "scores.csv", "second.csv", "-o", "both.csv"]).code < 2);
    let both = folder.table("both.csv");
    assert_eq!((both.len(), both[0][0].as_str()), (8001, "label"));
    assert_eq!((both[4007][0].as_str(), both[4008][0].as_str()), ("", second[8][label].as_str()));
}

#[test]
fn labels_that_cannot_be_written() {
    let folder = folder();
    let label = |args: &[&str]| folder.refused(&[["label", "scores.csv"].as_slice(), args].concat());
    assert!(label(&["-o", "scores.csv"]).contains("would be overwritten"));
    assert!(label(&["-o", "labels.txt"]).contains("labels.txt"));
    assert!(label(&["-o", "labels.npy", "--keep", "id"]).contains("an array has none"));
    let unknown = label(&["-o", "labels.csv", "--keep", "idd"]);
    assert!(unknown.contains("no column `idd` to identify by; did you mean `id`?"), "{unknown}");
    assert!(label(&["-o", "labels.csv", "--keep", "a:0"]).contains("cannot be identified by it"));
    folder.answered(&["moments", "scores.csv", "-o", "scores.state"]);
    let state = folder.refused(&["label", "scores.state", "-o", "labels.csv"]);
    assert!(state.contains("`scores.state` is a state, which has no rows"), "{state}");
}
