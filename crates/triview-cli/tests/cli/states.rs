//! `triview moments` and `triview inspect`, and estimating from states.

use crate::support::{Folder, number};
use serde_json::{Value, json};

/// `scores.csv` and the same rows in three parts of unequal length.
fn parts() -> Folder {
    let folder = Folder::with_scores();
    let table = folder.table("scores.csv");
    for (name, rows) in [("1.csv", 1..900), ("2.csv", 900..2713), ("3.csv", 2713..4001)] {
        folder.write_table(name, &[&table[..1], &table[rows]].concat());
    }
    folder
}

fn assert_same_risk(one: &Value, other: &Value) {
    let (risk, other_risk) = (number(one, "risk"), number(other, "risk"));
    assert!((risk - other_risk).abs() < 1e-9, "{risk} and {other_risk}");
    let prior = |object: &Value| object["class_prior"].as_array().expect("an array").clone();
    for (p, other) in prior(one).iter().zip(prior(other)) {
        assert!((p.as_f64().expect("a number") - other.as_f64().expect("a number")).abs() < 1e-8);
    }
    assert_eq!(one["rows"], other["rows"]);
}

#[test]
fn parts_made_alike_give_the_answer_of_the_whole() {
    let folder = parts();
    for features in ["scores", "auto"] {
        folder.answered(&["moments", "1.csv", "--feature-map", features, "-o", "1.state"]);
        for part in ["2", "3", "scores"] {
            let (table, state) = (format!("{part}.csv"), format!("{part}.state"));
            folder.answered(&["moments", &table, "--like", "1.state", "-o", &state]);
        }
        let whole = folder.json(&["estimate", "scores.state", "--json"]);
        let merged = folder.json(&["estimate", "1.state", "2.state", "3.state", "--json"]);
        assert_same_risk(&merged, &whole);
        assert_same_risk(&folder.json(&["estimate", "3.state", "1.state", "2.state", "--json"]), &whole);
        if features == "scores" {
            let mut direct = folder.json(&["estimate", "scores.csv", "--feature-map", "scores", "--json"]);
            folder.answered(&["moments", "scores.csv", "--feature-map", "scores", "-o", "direct.state"]);
            let state = folder.json(&["estimate", "direct.state", "--json"]);
            // Of the whole prediction only rows can tell.
            let keys = direct.as_object_mut().expect("an object");
            for key in
                ["error_rate", "error_rate_interval", "error_rate_wider_interval", "floor", "view_error"]
            {
                assert!(keys.remove(key).is_some(), "{key}");
            }
            keys.remove("better_prediction");
            keys.insert(
                "error_rate_absent".into(),
                "it takes rows, and moments have none: estimate from the tables".into(),
            );
            assert_eq!(keys.insert("inputs".into(), json!(["direct.state"])), Some(json!(["scores.csv"])));
            assert_eq!(direct, state);
        }
    }
}

#[test]
fn columns_of_a_part_may_be_in_any_order() {
    let folder = parts();
    folder.answered(&["moments", "1.csv", "--feature-map", "scores", "-o", "1.state"]);
    let reversed: Vec<Vec<String>> =
        folder.table("2.csv").into_iter().map(|row| row.into_iter().rev().collect()).collect();
    folder.write_table("reversed.csv", &reversed);
    let estimate = |table: &str| {
        folder.answered(&["moments", table, "--like", "1.state", "-o", "2.state"]);
        folder.answered(&["estimate", "1.state", "2.state", "--json"]).stdout
    };
    assert_eq!(estimate("reversed.csv"), estimate("2.csv"));
}

#[test]
fn a_second_pass_uses_the_posterior_of_the_first() {
    let folder = parts();
    folder.answered(&["moments", "1.csv", "--feature-map", "softmax", "-o", "1.state"]);
    folder.answered(&["moments", "2.csv", "--like", "1.state", "-o", "2.state"]);
    let first =
        folder.json(&["estimate", "1.state", "2.state", "--json", "--save-posterior", "posterior.json"]);
    assert_eq!(first["fit"]["features"], "softmax");
    for (table, state) in [("1.csv", "1b.state"), ("2.csv", "2b.state")] {
        folder.answered(&["moments", table, "--posterior", "posterior.json", "-o", state]);
    }
    let second = folder.json(&["estimate", "1b.state", "2b.state", "--json"]);
    assert_ne!(second["fit"]["features"], "softmax");
    assert_eq!(second["rows"], first["rows"]);
    let off = number(&second, "risk") - number(&first, "risk");
    assert!(off.abs() < 4.0 * number(&first, "standard_error"), "{off}");
}

#[test]
fn inspecting() {
    let folder = Folder::with_scores();
    let made = folder.answered(&["moments", "scores.csv", "--feature-map", "softmax", "-o", "scores.state"]);
    assert_eq!(made.stdout, "");
    assert_eq!(made.stderr, "note: columns not used: label\nnote: 4,000 rows in `scores.state`\n");
    insta::assert_snapshot!("inspect_text", folder.answered(&["inspect", "scores.state"]).stdout);
    insta::assert_snapshot!("inspect_json", folder.answered(&["inspect", "scores.state", "--json"]).stdout);
    folder.answered(&["estimate", "scores.state", "--save-posterior", "posterior.json"]);
    let mut posterior = folder.json(&["inspect", "posterior.json", "--json"]);
    posterior["bytes"] = "whole number".into();
    insta::assert_snapshot!("inspect_posterior", serde_json::to_string_pretty(&posterior).expect("JSON"));
}

#[test]
fn metrics_need_rows() {
    let folder = parts();
    folder.answered(&["moments", "1.csv", "-o", "1.state"]);
    assert_eq!(
        folder.refused(&["estimate", "1.state", "--metrics"]),
        "error: --metrics needs rows, and moments have none: estimate from the tables"
    );
}

#[test]
fn a_state_is_not_written_over_what_it_is_made_like() {
    let folder = Folder::with_scores();
    folder.answered(&["moments", "scores.csv", "-o", "1.state"]);
    let before = std::fs::read(folder.path("1.state")).expect("a state");
    let refused = folder.refused(&["moments", "scores.csv", "--like", "1.state", "-o", "1.state"]);
    assert!(refused.contains("`1.state` is needed for something else and would be overwritten"), "{refused}");
    assert_eq!(std::fs::read(folder.path("1.state")).expect("a state"), before);
}
