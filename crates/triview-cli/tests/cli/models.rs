//! Whose risk: one model and its witnesses, and every view as a model of its own.

use crate::support::{Folder, number};

/// A folder with 6,000 rows of three classes and their labels.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.answered(&["simulate", "--preset", "three", "--rows", "6000", "--seed", "4", "-o", "scores.csv"]);
    folder
}

/// How often the class with the largest score of a view is another than the label.
fn error_of(folder: &Folder, view: &str) -> f64 {
    let table = folder.table("scores.csv");
    let (header, rows) = (&table[0], &table[1..]);
    let label = header.iter().position(|name| name == "label").expect("labels");
    let columns: Vec<usize> =
        (0..header.len()).filter(|&at| header[at].starts_with(&format!("{view}:"))).collect();
    let wrong = rows.iter().filter(|row| {
        let score = |at: &usize| row[columns[*at]].parse::<f64>().expect("a number");
        let said = (0..columns.len()).max_by(|a, b| score(a).total_cmp(&score(b))).expect("classes");
        header[columns[said]] != format!("{view}:{}", row[label])
    });
    wrong.count() as f64 / rows.len() as f64
}

#[test]
fn one_view_is_judged_and_the_others_are_its_witnesses() {
    let folder = folder();
    let object = folder.json(&["estimate", "scores.csv", "--model", "b", "--json", "--quiet"]);
    assert_eq!(object["model"], serde_json::json!(["b"]));
    let truth = error_of(&folder, "b");
    let ends = &object["error_rate_interval"];
    let error = (number(ends, "high") - number(ends, "low")) / 4.0;
    // Four of its own standard errors, once in many thousand times.
    assert!((number(&object, "error_rate") - truth).abs() < 4.0 * error, "{truth} {object}");
    let all = folder.json(&["estimate", "scores.csv", "--json", "--quiet"]);
    assert!(number(&object, "error_rate") > number(&all, "error_rate"));
    let text = folder.run(&["estimate", "scores.csv", "--model", "b", "--quiet"]).stdout;
    assert!(
        text.contains("of b, which itself says") && text.contains("b is judged; witnesses are a, c"),
        "{text}"
    );
    // All of them together are what is judged without it.
    let every = folder.json(&["estimate", "scores.csv", "--model", "a,b,c", "--json", "--quiet"]);
    assert_eq!((&every["risk"], every.get("model")), (&all["risk"], None));
    let compared =
        folder.json(&["compare", "scores.csv", "--model", "b", "--label", "label", "--json", "--quiet"]);
    assert!((number(&compared["truth"], "error_rate") - truth).abs() < 1e-9, "{compared}");
    let refused = folder.refused(&["estimate", "scores.csv", "--model", "zog"]);
    assert!(refused.contains("no view `zog`") && refused.contains("a, b, c"), "{refused}");
}

#[test]
fn each_view_has_the_risk_that_is_asked_for() {
    let folder = folder();
    for (loss, key) in [("brier", "brier"), ("error", "error_rate")] {
        let asked = ["estimate", "scores.csv", "--each", "--loss", loss, "--quiet"];
        let object = folder.json(&[&asked[..], &["--json"]].concat());
        let alone =
            folder.json(&["estimate", "scores.csv", "--model", "a", "--loss", loss, "--json", "--quiet"]);
        let first = &object["each"][0];
        assert_eq!(first["risk"], first[key], "{first}");
        let off = number(&first["risk"], "value") - number(&alone, "risk");
        assert!(off.abs() < 1.5 * number(&alone, "standard_error"), "{off}: {first}");
        assert_eq!(object["differences"][0]["risk"], object["differences"][0][key]);
        let text = folder.answered(&asked).stdout;
        assert!(!text.contains(&format!("{loss} loss ")) && text.contains("Brier score"), "{text}");
    }
}

#[test]
fn nothing_says_which_view_is_better_where_the_answer_is_not_to_be_trusted() {
    let folder = Folder::new();
    let simulate = ["simulate", "--preset", "three", "--rows", "6000", "--shared", "0.9", "-o", "scores.csv"];
    folder.answered(&simulate);
    let run = folder.run(&["estimate", "scores.csv", "--each", "--json", "--quiet"]);
    assert_eq!(run.code, 1, "{run:?}");
    let object: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    for pair in object["differences"].as_array().expect("pairs") {
        assert!(pair["better"].is_null() && pair["confidence"].is_null(), "{pair}");
    }
    // What is impossible has no interval of no width.
    let intervals = object["each"].as_array().expect("views").iter().map(|one| &one["risk"]["interval"]);
    for interval in intervals.chain([&object["interval"], &object["error_rate_interval"]]) {
        assert!(interval["high"].is_null() || number(interval, "high") > number(interval, "low"), "{object}");
    }
    let text = folder.run(&["estimate", "scores.csv", "--each", "--quiet"]).stdout;
    assert!(text.contains("is not said") && !text.contains("is better than"), "{text}");
}

#[test]
fn every_view_is_judged_by_itself() {
    let folder = folder();
    let object = folder.json(&["estimate", "scores.csv", "--each", "--json", "--quiet", "--svg", "each.svg"]);
    let each = object["each"].as_array().expect("views");
    assert_eq!(each.iter().map(|one| &one["view"]).collect::<Vec<_>>(), ["a", "b", "c"]);
    for (one, view) in each.iter().zip(["a", "b", "c"]) {
        let (rate, error) =
            (number(&one["error_rate"], "value"), number(&one["error_rate"], "standard_error"));
        assert!((rate - error_of(&folder, view)).abs() < 4.0 * error, "{one}");
        for key in ["risk", "brier", "calibration_error", "auc"] {
            assert!(one[key]["value"].is_number(), "{key}: {one}");
        }
        // The risk of the view alone is that of --model, but for how variants of the answer are averaged.
        let alone = folder.json(&["estimate", "scores.csv", "--model", view, "--json", "--quiet"]);
        let off = number(&one["risk"], "value") - number(&alone, "risk");
        assert!(off.abs() < 1.5 * number(&alone, "standard_error"), "{off}: {one}");
    }
    let differences = object["differences"].as_array().expect("pairs");
    assert_eq!(differences.len(), 3);
    for pair in differences {
        let difference = number(&pair["error_rate"], "value");
        let better = if difference <= 0.0 { &pair["views"][0] } else { &pair["views"][1] };
        assert_eq!(pair["better"], *better, "{pair}");
        assert!((0.5..=1.0).contains(&number(pair, "confidence")));
    }
    assert!(folder.read("each.svg").contains("Each view as a model of its own"));
    let text = folder.run(&["estimate", "scores.csv", "--each", "--quiet"]).stdout;
    assert!(text.contains("view alone") && text.contains("confidence: of "), "{text}");
}

#[test]
fn moments_have_it_where_it_was_summed() {
    let folder = folder();
    folder.answered(&["moments", "scores.csv", "--each", "--model", "a", "-o", "each.moments", "--quiet"]);
    let object = folder.json(&["estimate", "each.moments", "--json", "--quiet"]);
    assert_eq!(object["model"], serde_json::json!(["a"]));
    assert!(object["each"][1]["risk"]["value"].is_number() && object["each"][1].get("error_rate").is_none());
    let rows = folder.json(&["estimate", "scores.csv", "--each", "--model", "a", "--json", "--quiet"]);
    let [of_moments, of_rows] = [&object, &rows].map(|object| number(object, "risk"));
    assert!((of_moments - of_rows).abs() < 1e-9, "{of_moments} {of_rows}");
    folder.answered(&["moments", "scores.csv", "-o", "plain.moments", "--quiet"]);
    let refused = folder.refused(&["estimate", "plain.moments", "--each"]);
    assert!(refused.contains("`moments --each`"), "{refused}");
    let refused = folder.refused(&["estimate", "plain.moments", "each.moments"]);
    assert!(refused.contains("the loss") && refused.contains("log of a"), "{refused}");
    let refused = folder.refused(&["estimate", "plain.moments", "--model", "a"]);
    assert!(refused.contains("--model"), "{refused}");
}
