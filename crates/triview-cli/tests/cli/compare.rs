//! The estimate beside what others say.

use crate::support::{Folder, number};
use serde_json::Value;

/// Two classes: an old domain of 1,500 rows and a new one in which the scores are three times as loud.
fn folder(preset: &str) -> Folder {
    let folder = Folder::new();
    folder.answered(&["simulate", "--preset", preset, "--rows", "1500", "--seed", "4", "-o", "old.csv"]);
    folder.answered(&["simulate", "--preset", preset, "--rows", "5000", "--seed", "4", "-o", "new.csv"]);
    let mut table = folder.table("new.csv");
    for cells in table.iter_mut().skip(1) {
        let scores = cells.len() - 1;
        for cell in &mut cells[..scores] {
            *cell = (3.0 * cell.parse::<f64>().expect("a score")).to_string();
        }
    }
    folder.write_table("new.csv", &table);
    folder
}

const NAMES: [&str; 11] = [
    "triview",
    "entropy",
    "average-confidence",
    "difference-of-confidence",
    "atc",
    "validation",
    "importance-weighted",
    "dawid-skene",
    "gaussian-margin",
    "agreement-rates",
    "spectral",
];

#[test]
fn all_methods_beside_the_truth() {
    let folder = folder("two");
    let args = ["compare", "new.csv", "--source", "old.csv", "--label", "label"];
    let run = folder.run(&[args.as_slice(), &["--json", "--svg", "field.svg"]].concat());
    assert!(run.code < 2, "{run:?}");
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let (truth, estimates) = (&answer["truth"], &answer["estimates"]);
    assert_eq!(number(truth, "rows"), 5000.0);
    let names: Vec<&String> = estimates.as_object().expect("an object").keys().collect();
    assert_eq!(names.len(), NAMES.len());
    for name in NAMES {
        let line = &estimates[name];
        assert!(line["absent"].is_null() && line["reference"].is_string(), "{name}: {line}");
        assert!(
            !(line["risk"].is_null() && line["error_rate"].is_null() && line["view_error"].is_null()),
            "{name}"
        );
    }
    // The model is three times too sure, and does not know it; the old labels do not either.
    let [low, high] =
        [0, 1].map(|end| estimates["triview"]["risk_interval"][end].as_f64().expect("an interval"));
    assert!((low..high).contains(&number(truth, "risk")), "{low} to {high}, {truth}");
    assert!(number(&estimates["entropy"], "risk") < 0.5 * number(truth, "risk"), "{answer}");
    assert!(number(&estimates["average-confidence"], "error_rate") < 0.6 * number(truth, "error_rate"));
    for name in ["dawid-skene", "spectral"] {
        for view in ["a", "b", "c"] {
            let off = number(&estimates[name]["view_error"], view) - number(&truth["view_error"], view);
            assert!(off.abs() < 0.06, "{name}, {view}: {off}");
        }
    }
    assert!(folder.read("field.svg").contains("dawid-skene"));
    let text = folder.run(&args).stdout;
    for name in NAMES {
        assert!(text.contains(name), "{text}");
    }
    assert!(text.contains("truth of 5,000 labels"), "{text}");
}

#[test]
fn what_does_not_apply_says_why() {
    let folder = folder("three");
    let run = folder.run(&["compare", "new.csv", "--json"]);
    assert!(run.code < 2, "{run:?}");
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert!(answer["truth"].is_null());
    for name in ["gaussian-margin", "agreement-rates", "spectral"] {
        assert_eq!(answer["estimates"][name]["absent"], "it is for two classes");
    }
    for name in ["atc", "validation", "importance-weighted", "difference-of-confidence"] {
        assert!(answer["estimates"][name]["absent"].as_str().is_some_and(|why| why.contains("the source")));
    }
    let text = folder.run(&["compare", "new.csv"]).stdout;
    assert!(text.contains("spectral does not apply: it is for two classes"), "{text}");
    let hinge = folder.run(&["compare", "new.csv", "--loss", "hinge"]).stdout;
    assert!(hinge.contains("entropy does not apply: it is for the log loss"), "{hinge}");
}

#[test]
fn comparisons_that_cannot_be_made() {
    let folder = folder("two");
    let refused = |args: &[&str]| folder.refused(&[["compare", "new.csv"].as_slice(), args].concat());
    assert!(refused(&["--loss", "error"]).contains("--loss error is always shown"));
    assert!(refused(&["--source", "older.csv"]).contains("there is no file `older.csv`"));
    assert!(refused(&["--source", "old.csv", "--source-label", "y"]).contains("no column `y` to label by"));
    assert!(refused(&["--label", "truth"]).contains("no column `truth` to label by"));
    assert!(refused(&["--svg", "new.csv"]).contains("would be overwritten"));
    let mut table = folder.table("old.csv");
    let label = table[0].len() - 1;
    table.iter_mut().skip(1).for_each(|row| row[label].clear());
    folder.write_table("empty.csv", &table);
    assert!(refused(&["--source", "empty.csv"]).contains("column `label` of `empty.csv` has no label"));
    assert!(
        folder.refused(&["compare", "empty.csv", "--label", "label"]).contains("has no label, so the truth")
    );
    folder.answered(&["simulate", "--preset", "three", "--rows", "500", "-o", "three.csv"]);
    assert!(refused(&["--source", "three.csv"]).contains("`three.csv`"));
    folder.answered(&["moments", "old.csv", "-o", "old.state"]);
    assert!(folder.refused(&["compare", "old.state"]).contains("holds moments, which have no rows"));
}
