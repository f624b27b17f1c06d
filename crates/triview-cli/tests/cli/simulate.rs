//! `triview simulate`.

use crate::support::{Folder, number, without_numbers};
use serde_json::Value;

#[test]
fn the_truth_beside_the_table() {
    let folder = Folder::new();
    let run = folder.answered(&["simulate", "--preset", "two", "--rows", "2000", "-o", "scores.csv"]);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.starts_with("note: 2,000 rows in `scores.csv`; their true risk, "), "{}", run.stderr);
    insta::assert_snapshot!(without_numbers(&folder.read("scores.truth.json")));
    let truth: Value = serde_json::from_str(&folder.read("scores.truth.json")).expect("JSON");
    // The preset promises an error of some 10%, new means every draw.
    assert!((0.02..0.3).contains(&number(&truth, "error_rate")), "{truth}");
    let table = folder.table("scores.csv");
    assert_eq!(table[0], ["a:0", "a:1", "b:0", "b:1", "c:0", "c:1", "label"]);
    assert_eq!(table.len(), 2001);
    assert!(table[1..].iter().all(|row| row[6] == "0" || row[6] == "1"));
}

#[test]
fn the_truth_is_that_of_the_table() {
    let folder = Folder::with_scores();
    let truth: Value = serde_json::from_str(&folder.read("scores.truth.json")).expect("JSON");
    let table = folder.table("scores.csv");
    let losses: Vec<f64> = table[1..]
        .iter()
        .map(|row| {
            let score = |view: usize, class: usize| row[3 * view + class].parse::<f64>().expect("a number");
            let sums: Vec<f64> = (0..3).map(|class| (0..3).map(|view| score(view, class)).sum()).collect();
            let label: usize = row[9].parse().expect("a class");
            sums.iter().map(|sum| (sum - sums[label]).exp()).sum::<f64>().ln()
        })
        .collect();
    let mean = losses.iter().sum::<f64>() / losses.len() as f64;
    assert!((mean - number(&truth, "risk")).abs() < 1e-10);
}

#[test]
fn the_seed_decides() {
    let folder = Folder::new();
    for (name, seed) in [("1.csv", "1"), ("2.csv", "2"), ("again.csv", "1")] {
        let truth = format!("{name}.json");
        folder.answered(&["simulate", "--rows", "50", "--seed", seed, "-o", name, "--truth", &truth]);
    }
    assert_eq!(folder.read("1.csv"), folder.read("again.csv"));
    assert_eq!(folder.read("1.csv.json"), folder.read("again.csv.json"));
    assert_ne!(folder.read("1.csv"), folder.read("2.csv"));
    assert!(!folder.path("scores.truth.json").exists());
}
