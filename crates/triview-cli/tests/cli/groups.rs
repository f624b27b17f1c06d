//! More than three views: `--group`, and what is done without it.

use crate::support::{Folder, number, without_numbers};
use serde_json::json;

/// A folder with a simulated table of five views.
fn five_views() -> Folder {
    let folder = Folder::new();
    folder.answered(&["simulate", "--views", "5", "--rows", "4000", "--seed", "4", "-o", "scores.csv"]);
    folder
}

#[test]
fn groups_as_asked() {
    let folder = five_views();
    let text = folder.answered(&["estimate", "scores.csv", "--group", "a+b,c,d+e"]).stdout;
    insta::assert_snapshot!("text", without_numbers(&text));
    let estimate = folder.json(&["estimate", "scores.csv", "--group", "a+b,c,d+e", "--json"]);
    assert_eq!(estimate["views"], json!(["a", "b", "c", "d", "e"]));
    assert_eq!(estimate["groups"], json!([["a", "b"], ["c"], ["d", "e"]]));
    let keys = |value: &serde_json::Value| {
        value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(keys(&estimate["conditional_risk"]), "a b c d e");
    assert_eq!(keys(&estimate["intervals"]["conditional_risk"]), "a b c d e");
    let conditioning = &estimate["diagnostics"]["conditioning"];
    assert_eq!(keys(&conditioning["smallest_singular_value"]), "a+b c d+e");
    let truth: serde_json::Value = serde_json::from_str(&folder.read("scores.truth.json")).expect("JSON");
    let off = number(&estimate, "risk") - number(&truth, "risk");
    assert!(off.abs() < 4.0 * number(&estimate, "standard_error"), "{off}");

    let diagnosis = folder.answered(&["diagnose", "scores.csv", "--group", "a+b,c,d+e"]).stdout;
    assert!(diagnosis.starts_with("groups  a+b, c, d+e  (as asked)\n"), "{diagnosis}");
    assert!(without_numbers(&diagnosis).contains("\na+b c all #"), "{diagnosis}");
}

#[test]
fn groups_are_chosen_where_nobody_asks() {
    let folder = five_views();
    let estimate = folder.json(&["estimate", "scores.csv", "--json"]);
    assert_eq!(estimate["groups"].as_array().map(Vec::len), Some(3));
    let text = folder.answered(&["estimate", "scores.csv"]).stdout;
    assert!(text.contains("(chosen by what the rows say)"), "{text}");
    assert!(text.contains("other groupings, on a first look)"), "{text}");
    assert_eq!(estimate["grouping"]["together"], json!([]));
    for other in estimate["grouping"]["others"].as_array().expect("other groupings") {
        let (off, error) = (number(other, "difference"), number(other, "standard_error"));
        assert!(off.abs() < 4.0 * error, "{other}");
        assert_ne!(other["groups"], estimate["groups"]);
    }
    let three = folder.json(&["estimate", "scores.csv", "--views", "a,c,e", "--json"]);
    assert_eq!(three["groups"], json!([["a"], ["c"], ["e"]]));
}

#[test]
fn states_keep_the_groups() {
    let folder = five_views();
    folder.answered(&["moments", "scores.csv", "--group", "e,a+b+c,d", "-o", "1.state"]);
    let inspected = folder.json(&["inspect", "1.state", "--json"]);
    assert_eq!(inspected["groups"], json!([["e"], ["a", "b", "c"], ["d"]]));
    let text = folder.answered(&["inspect", "1.state"]).stdout;
    assert!(text.contains("groups    e, a+b+c, d\n"), "{text}");
    folder.answered(&["moments", "scores.csv", "--like", "1.state", "-o", "2.state"]);
    let mut direct = folder.json(&["estimate", "scores.csv", "--group", "e,a+b+c,d", "--json"]);
    // Of the whole prediction only rows can tell.
    let keys = direct.as_object_mut().expect("an object");
    for key in ["error_rate", "error_rate_interval", "error_rate_wider_interval", "floor", "view_error"] {
        assert!(keys.remove(key).is_some(), "{key}");
    }
    keys.remove("better_prediction");
    keys.insert(
        "error_rate_absent".into(),
        "it takes rows, and moments have none: estimate from the tables".into(),
    );
    assert_eq!(keys.insert("inputs".into(), json!(["1.state"])), Some(json!(["scores.csv"])));
    assert_eq!(folder.json(&["estimate", "1.state", "--json"]), direct);
    assert_eq!(folder.json(&["estimate", "1.state", "2.state", "--json"])["rows"], 8000);
    folder.answered(&["moments", "scores.csv", "--group", "e+a,b+c,d", "-o", "3.state"]);
    assert_eq!(
        folder.refused(&["estimate", "1.state", "3.state"]),
        "error: `3.state`: the moments do not match: the list of groups is e, a+b+c, d in one and e+a, b+c, d in the \
         other; sum all parts by one plan\nhint: make the parts with `moments --like`"
    );
    assert_eq!(
        folder.refused(&["estimate", "1.state", "--group", "a,b,c+d+e"]),
        "error: --group is for reading tables; moments have it settled: give it to `moments` instead"
    );
}

#[test]
fn groups_that_cannot_be() {
    let folder = five_views();
    for (groups, said) in [
        ("a+b,c,d+f", "there is no view `f` to group; the views are a, b, c, d, e"),
        ("a+b,c,d+e+a", "view `a` is grouped twice; each view belongs to one group"),
        (
            "a+b,c,d",
            "view `e` is in no group; name it in one, or leave the view out\n\
             hint: name it in `--group`, or leave it out by naming the others in `--views`",
        ),
        (
            "a+b,,c+d+e",
            "group 2 of `a+b,,c+d+e` lacks a view; write three groups of views, such as `a+b,c,d+e`",
        ),
        ("a+b,c+d+e", "`a+b,c+d+e` makes 2 group(s) of views, three are needed, such as `a+b,c,d+e`"),
    ] {
        for verb in ["estimate", "diagnose"] {
            let refused = folder.refused(&[verb, "scores.csv", "--group", groups]);
            assert_eq!(refused, format!("error: {said}"));
        }
        let refused = folder.refused(&["moments", "scores.csv", "-o", "x.state", "--group", groups]);
        assert_eq!(refused, format!("error: {said}"));
    }
    let left_out =
        folder.json(&["estimate", "scores.csv", "--views", "d,a,b,c", "--group", "a+b,c,d", "--json"]);
    assert_eq!(left_out["views"], json!(["d", "a", "b", "c"]));
}
