//! `triview diagnose`, and what `estimate` says of its own trustworthiness.

use crate::support::{Folder, without_inputs, without_numbers};
use serde_json::Value;

/// A folder with a table whose first two views depend on each other in a third of the rows.
fn dependent() -> Folder {
    let folder = Folder::new();
    folder.answered(&["simulate", "--rows", "8000", "--shared", "0.35", "--seed", "3", "-o", "scores.csv"]);
    folder
}

#[test]
fn text() {
    let run = Folder::with_scores().answered(&["diagnose", "scores.csv"]);
    insta::assert_snapshot!(without_numbers(&run.stdout));
}

#[test]
fn dependent_views_are_named_and_end_in_one() {
    let folder = dependent();
    let run = folder.run(&["diagnose", "scores.csv", "--json", "--svg", "dependence.svg"]);
    assert_eq!(run.code, 1, "{run:?}");
    let object: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(object["independence"]["verdict"], "fail");
    assert_eq!(object["trusted"], false);
    let first = &object["independence"]["dependences"][0];
    assert_eq!(first["views"], serde_json::json!(["a", "b"]));
    assert!(first.get("class").is_none(), "{first}");
    let svg = folder.read("dependence.svg");
    assert!(svg.starts_with("<svg") && svg.contains("a and b") && svg.contains("square: p"), "{svg}");

    let run = folder.run(&["estimate", "scores.csv"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.starts_with("NOT TO BE TRUSTED, for the "), "{}", run.stdout);
    assert!(run.stdout.contains("\n- the views are not independent"), "{}", run.stdout);
    let run = folder.run(&["estimate", "scores.csv", "--json"]);
    let object: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(object["trusted"], false);
    assert_eq!(object["diagnostics"]["independence"]["verdict"], "fail");
}

#[test]
fn states_are_diagnosed_too() {
    let folder = dependent();
    folder.answered(&["moments", "scores.csv", "-o", "scores.state"]);
    let from_table = folder.run(&["diagnose", "scores.csv", "--json"]);
    let from_state = folder.run(&["diagnose", "scores.state", "--json"]);
    assert_eq!(from_state.code, 1);
    assert_eq!(without_inputs(&from_state.stdout), without_inputs(&from_table.stdout));
}

#[test]
fn what_cannot_be_tested_is_said_first() {
    let folder = Folder::new();
    let mut table = String::from("a:no,a:yes,b:no,b:yes,c:no,c:yes\n");
    // Votes that agree with a hidden class most of the time, each view by a pattern of its own.
    for row in 0..1000_u32 {
        let class = row % 2;
        let vote = |wrong: bool| if wrong { 1 - class } else { class };
        let votes = [vote((row / 2) % 5 == 0), vote((row / 10) % 5 == 0), vote((row / 50) % 4 == 0)];
        let cells: Vec<String> = votes.iter().map(|vote| format!("{},{vote}", 1 - vote)).collect();
        table += &(cells.join(",") + "\n");
    }
    folder.write("votes.csv", table);
    let run = folder.answered(&["estimate", "votes.csv"]);
    assert!(run.stdout.starts_with("UNTESTED"), "{}", run.stdout);
    let run = folder.answered(&["diagnose", "votes.csv", "--svg", "votes.svg"]);
    assert!(run.stderr.contains("nothing to draw"), "{}", run.stderr);
    assert!(!folder.path("votes.svg").exists());
}

#[test]
fn a_level_is_a_probability() {
    let folder = Folder::with_scores();
    for level in ["0", "1", "95", "nan"] {
        let message = folder.refused(&["estimate", "scores.csv", "--level", level]);
        assert!(message.contains("level") && message.contains("0.95"), "{message}");
    }
    let narrow = folder.json(&["estimate", "scores.csv", "--json", "--level", "0.5"]);
    let wide = folder.json(&["estimate", "scores.csv", "--json"]);
    assert_eq!(narrow["interval"]["level"], 0.5);
    assert!(narrow["interval"]["low"].as_f64() > wide["interval"]["low"].as_f64());
}
