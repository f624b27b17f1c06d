//! `--features`: columns of a view that are no scores.

use crate::support::{Folder, number, uniform};
use serde_json::{Value, json};

/// A folder with a table of votes of two classes, of two kinds each, that the features `u1` and `u2` of each view show.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut lines = vec!["a:x,a:y,a:u1,a:u2,b:x,b:y,b:u1,b:u2,c:x,c:y,c:u1,c:u2,day".to_owned()];
    let mut uniform = uniform();
    for row in 0..6_000 {
        let kind = (uniform() * 4.0) as usize;
        let (class, hard) = (kind / 2, kind % 2);
        let mut cells = Vec::new();
        for _ in 0..3 {
            let right = uniform() < [0.95, 0.65][hard];
            let voted = if right { class } else { 1 - class };
            cells.push([1 - voted, voted].map(|vote| vote.to_string()).join(","));
            for side in [class, hard] {
                // The sum of three uniform numbers is nearly normal.
                let noise = (0..3).map(|_| uniform() - 0.5).sum::<f64>() * 2.0;
                cells.push(format!("{:.4}", 3.0 * side as f64 - 1.5 + noise));
            }
        }
        lines.push(format!("{},{}", cells.join(","), row % 5));
    }
    folder.write("votes.csv", lines.join("\n") + "\n");
    folder
}

#[test]
fn states_that_scores_hide_are_told_apart() {
    let folder = folder();
    let four = ["estimate", "votes.csv", "--latent", "x=2,y=2", "--json"];
    let refused = folder.refused(&[&four[..], &["--classes", "x,y"]].concat());
    assert!(refused.contains("u1"), "{refused}");
    let with = |features: &str| folder.json(&[&four[..], &["--features", features]].concat());
    let estimate = with("u*");
    assert_eq!(estimate["extra_features"], json!(["a:u1", "a:u2", "b:u1", "b:u2", "c:u1", "c:u2"]));
    assert_eq!(estimate["latent"]["map"], json!(["x", "x", "y", "y"]));
    assert_eq!(estimate["latent"]["rank"], json!({"a": 4, "b": 4, "c": 4}));
    assert_eq!(estimate["classes"], json!(["x", "y"]));
    assert_eq!(with("u1,u2"), estimate);
    assert_eq!(with("a:u*,b:u1,b:u2,c:u*"), estimate);
    let text = folder.answered(&["estimate", "votes.csv", "--latent", "4", "--features", "u*"]).stdout;
    assert!(text.lines().any(|line| line.starts_with("beside") && line.contains("features a:u1")), "{text}");

    folder.answered(&["moments", "votes.csv", "--latent", "x=2,y=2", "--features", "u*", "-o", "one.state"]);
    folder.answered(&["moments", "votes.csv", "--like", "one.state", "-o", "two.state"]);
    let inspected = folder.json(&["inspect", "one.state", "--json"]);
    assert_eq!(inspected["extra_features"], estimate["extra_features"]);
    let apart = |states: &[&str]| {
        let state: Value = folder.json(&[&["estimate"], states, &["--json"]].concat());
        (number(&state, "risk") - number(&estimate, "risk")).abs()
    };
    assert!(apart(&["one.state"]) < 1e-9);
    // Twice the rows say the same, and are believed more.
    assert!(apart(&["one.state", "two.state"]) < number(&estimate, "standard_error"));
    let refused = folder.refused(&["estimate", "one.state", "--features", "u*"]);
    assert!(refused.contains("--features is for reading tables"), "{refused}");
}

#[test]
fn what_is_no_feature_is_refused() {
    let folder = folder();
    let refused = |table: &str, features: &str| {
        folder.refused(&["estimate", table, "--latent", "4", "--features", features])
    };
    for name in ["w", "d:u1", "day", "a:u3", "w*"] {
        let message = refused("votes.csv", name);
        assert!(
            message.contains(&format!("`votes.csv` has no column that is the feature `{name}`")),
            "{message}"
        );
        assert!(message.contains("`a`, `b`, `c`"), "{message}");
    }
    assert!(refused("votes.csv", "a:u3").contains("did you mean `a:u1`?"));
    let with_cell = |name: &str, row: usize, text: &str| {
        let mut table = folder.table("votes.csv");
        table[row][2] = text.into();
        folder.write_table(name, &table);
    };
    for (text, message) in [
        ("", "`bad.csv`, row 7, column `a:u1`: the value is missing"),
        ("NaN", "`bad.csv`, row 7, column `a:u1`: the feature is NaN"),
        ("inf", "`bad.csv`, row 7, column `a:u1`: the feature is inf"),
        ("high", "`bad.csv`, row 7, column `a:u1`: `high` is not a number"),
    ] {
        with_cell("bad.csv", 7, text);
        let found = refused("bad.csv", "u*");
        assert!(found.contains(message), "{found}");
    }
    // Another file of the data set that lacks one.
    let mut table = folder.table("votes.csv");
    table[0][2] = "a:u3".into();
    folder.write_table("other.csv", &table);
    let message = folder.refused(&["estimate", "votes.csv", "other.csv", "--features", "u*"]);
    assert!(message.contains("its features of a view are `u3`, `u2`, not `u1`, `u2`"), "{message}");
}
