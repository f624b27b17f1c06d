//! Views that are missing in some rows.

use crate::support::{Folder, number};

#[test]
fn missing_views_are_counted() {
    let folder = Folder::new();
    let simulate = ["simulate", "--missing", "0.2", "--rows", "4000", "--seed", "3", "-o"];
    folder.answered(&[&simulate[..], &["scores.csv"]].concat());
    let estimate = folder.json(&["estimate", "scores.csv", "--json"]);
    let truth: serde_json::Value = serde_json::from_str(&folder.read("scores.truth.json")).expect("JSON");
    let off = number(&estimate, "risk") - number(&truth, "risk");
    assert!(off.abs() < 4.0 * number(&estimate, "standard_error"), "{off}");

    let table = folder.table("scores.csv");
    let counts: Vec<usize> =
        [0, 3, 6].iter().map(|&at| table.iter().filter(|row| row[at].is_empty()).count()).collect();
    assert!(counts.iter().all(|count| (700..900).contains(count)), "{counts:?}");
    let expected = serde_json::json!({"a": counts[0], "b": counts[1], "c": counts[2]});
    assert_eq!(estimate["missing"], expected);
    let said =
        format!("missing  a in {} rows, b in {} rows, c in {} rows\n", counts[0], counts[1], counts[2]);
    let text = folder.answered(&["estimate", "scores.csv"]).stdout;
    assert!(text.contains(&said), "{text}");

    folder.answered(&["moments", "scores.csv", "-o", "scores.state"]);
    assert_eq!(folder.json(&["inspect", "scores.state", "--json"])["missing"], expected);
    let text = folder.answered(&["inspect", "scores.state"]).stdout;
    assert!(text.contains(&said.replace("missing ", "missing  ")), "{text}");

    let refused = folder.refused(&[&simulate[..], &["scores.npy"]].concat());
    assert!(refused.contains("an array cannot say that a view is missing"), "{refused}");
    let complete = Folder::with_scores().json(&["estimate", "scores.csv", "--json"]);
    assert!(complete.get("missing").is_none());
}

#[test]
fn a_view_that_is_never_there() {
    let folder = Folder::with_scores();
    let mut table = folder.table("scores.csv");
    table[1..].iter_mut().for_each(|row| row[3..6].iter_mut().for_each(String::clear));
    folder.write_table("scores.csv", &table);
    assert_eq!(
        folder.refused(&["estimate", "scores.csv"]),
        "error: view `b` is missing in every row that was looked at; leave the view out\n\
         hint: leave it out by naming the others in `--views`"
    );
}
