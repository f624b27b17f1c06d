//! `triview estimate` on tables.

use crate::support::{Folder, Run, number, without_inputs, without_numbers};
use std::process::{Command, Stdio};

#[test]
fn text() {
    let run = Folder::with_scores().answered(&["estimate", "scores.csv"]);
    insta::assert_snapshot!(without_numbers(&run.stdout));
    assert_eq!(run.stderr, "note: columns not used: label\n");
}

#[test]
fn json() {
    let run = Folder::with_scores().answered(&["estimate", "scores.csv", "--json"]);
    insta::assert_snapshot!(without_numbers(&run.stdout));
}

#[test]
fn help() {
    let folder = Folder::new();
    for verb in [
        "estimate",
        "diagnose",
        "compare",
        "label",
        "moments",
        "inspect",
        "train",
        "score",
        "adapt",
        "simulate",
        "demo",
        "reproduce",
    ] {
        let help = folder.answered(&[verb, "--help"]).stdout;
        assert!(help.contains("Example"), "{help}");
        assert!(help.contains(&format!("triview {verb}")), "{help}");
    }
    insta::assert_snapshot!(folder.answered(&["--help"]).stdout);
    insta::assert_snapshot!(folder.answered(&["estimate", "--help"]).stdout);
}

#[test]
fn the_risk_is_near_the_truth() {
    let folder = Folder::with_scores();
    let truth: serde_json::Value = serde_json::from_str(&folder.read("scores.truth.json")).expect("JSON");
    let estimate = folder.json(&["estimate", "scores.csv", "--json"]);
    let off = number(&estimate, "risk") - number(&truth, "risk");
    let error = number(&estimate, "standard_error");
    // Four standard errors: by chance in one of 10,000 seeds, and this one is fixed.
    assert!(off.abs() < 4.0 * error, "off by {off}, standard error {error}");
}

#[test]
fn every_loss_is_near_its_truth() {
    for loss in ["hinge", "zero-one"] {
        let folder = Folder::new();
        folder.answered(&["simulate", "--rows", "4000", "--seed", "3", "--loss", loss, "-o", "scores.csv"]);
        let truth: serde_json::Value = serde_json::from_str(&folder.read("scores.truth.json")).expect("JSON");
        let estimate = folder.json(&["estimate", "scores.csv", "--loss", loss, "--json"]);
        assert_eq!((&estimate["loss"], &truth["loss"]), (&loss.into(), &loss.into()));
        let off = number(&estimate, "risk") - number(&truth, "risk");
        let error = number(&estimate, "standard_error").hypot(number(&truth, "standard_error"));
        assert!(off.abs() < 4.0 * error, "{loss}: off by {off}, standard error {error}");
    }
}

#[test]
fn metrics_are_near_the_truth() {
    let folder = Folder::with_scores();
    let truth: serde_json::Value = serde_json::from_str(&folder.read("scores.truth.json")).expect("JSON");
    let estimate = folder.json(&["estimate", "scores.csv", "--metrics", "--json"]);
    let error = &estimate["metrics"]["error_rate"];
    assert_eq!(estimate["error_rate"], error["value"]);
    let off = number(&estimate, "error_rate") - number(&truth, "error_rate");
    let reach = 4.0 * number(error, "standard_error");
    assert!(off.abs() < reach, "off by {off}, four standard errors are {reach}");
    assert_eq!(estimate["metrics"]["confusion"].as_array().map(Vec::len), Some(3));
    assert_eq!(estimate["view_error"].as_object().map(serde_json::Map::len), Some(3));
    insta::assert_snapshot!(without_numbers(
        &folder.answered(&["estimate", "scores.csv", "--metrics"]).stdout
    ));
}

#[test]
fn quiet_says_nothing() {
    assert_eq!(Folder::with_scores().answered(&["estimate", "scores.csv", "--quiet"]).stderr, "");
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let folder = Folder::with_scores();
    let one = folder.answered(&["estimate", "scores.csv", "--json", "--threads", "1"]);
    let two = folder.answered(&["estimate", "scores.csv", "--json", "--threads", "2"]);
    assert_eq!(one.stdout, two.stdout);
}

#[test]
fn standard_input_is_a_table() {
    let folder = Folder::with_scores();
    let mut command = folder.command(&["estimate", "-", "--json"]);
    command.write_stdin(folder.read("scores.csv"));
    let piped = Run::of(command);
    assert_eq!(piped.code, 0, "{piped:?}");
    let named = folder.answered(&["estimate", "scores.csv", "--json"]).stdout;
    assert_eq!(without_inputs(&piped.stdout), without_inputs(&named));
}

#[test]
fn several_files_are_one_data_set() {
    let folder = Folder::with_scores();
    let table = folder.table("scores.csv");
    folder.write_table("first.csv", &table[..1500]);
    folder.write_table("second.csv", &[&table[..1], &table[1500..]].concat());
    let whole = folder.answered(&["estimate", "scores.csv", "--json"]).stdout;
    let parts = folder.answered(&["estimate", "first.csv", "second.csv", "--json"]).stdout;
    assert_eq!(without_inputs(&parts), without_inputs(&whole));
    let parts: serde_json::Value = serde_json::from_str(&parts).expect("JSON");
    assert_eq!(parts["inputs"], serde_json::json!(["first.csv", "second.csv"]));
}

#[test]
fn every_format_has_the_same_answer() {
    let folder = Folder::new();
    let answer = |name: &str, more: &[&str]| {
        folder.answered(&["simulate", "--rows", "3000", "--seed", "3", "-o", name]);
        folder.answered(&[&["estimate", name, "--json"], more].concat()).stdout
    };
    let csv = answer("scores.csv", &[]);
    assert_eq!(without_inputs(&answer("scores.parquet", &[])), without_inputs(&csv));
    assert_eq!(without_inputs(&answer("scores.arrow", &[])), without_inputs(&csv));
    let mut npy: serde_json::Value = serde_json::from_str(&answer("scores.npy", &[])).expect("JSON");
    let csv: serde_json::Value = serde_json::from_str(&csv).expect("JSON");
    npy["risk"].take();
    assert_eq!(number(&csv, "rows"), number(&npy, "rows"));
}

#[test]
fn views_can_be_chosen() {
    let folder = Folder::with_scores();
    let mut table = folder.table("scores.csv");
    // A fourth view, which is a copy of the first.
    for (index, row) in table.iter_mut().enumerate() {
        let copies: Vec<String> = row[..3].iter().map(|cell| cell.replace("a:", "d:")).collect();
        assert!(index > 0 || copies[0] == "d:0");
        row.extend(copies);
    }
    folder.write_table("four.csv", &table);
    let chosen = folder.json(&["estimate", "four.csv", "--views", "d,b,c", "--json", "--quiet"]);
    assert_eq!(chosen["views"], serde_json::json!(["d", "b", "c"]));
    let together = folder.json(&["estimate", "four.csv", "--group", "a+d,b,c", "--json", "--quiet"]);
    assert_eq!(together["groups"], serde_json::json!([["a", "d"], ["b"], ["c"]]));
    assert_eq!(together["grouping"]["chosen"], "by hand");
    let found = folder.json(&["estimate", "four.csv", "--json", "--quiet"]);
    assert_eq!(found["groups"], together["groups"]);
    let expected = serde_json::json!({"chosen": "automatic", "together": [["a", "d"]], "others": []});
    assert_eq!(found["grouping"], expected);
    let text = folder.answered(&["estimate", "four.csv", "--quiet"]).stdout;
    assert!(text.contains("a+d  (they depend on each other given the class)"), "{text}");
}

#[test]
fn probabilities_are_taken_the_logarithm_of() {
    let folder = Folder::with_scores();
    let mut table = folder.table("scores.csv");
    for row in &mut table[1..] {
        for view in row[..9].chunks_exact_mut(3) {
            let odds: Vec<f64> =
                view.iter().map(|score| score.parse::<f64>().expect("a number").exp()).collect();
            for (cell, odd) in view.iter_mut().zip(&odds) {
                *cell = (odd / odds.iter().sum::<f64>()).to_string();
            }
        }
    }
    table[1][0] = "0".to_owned();
    folder.write_table("probabilities.csv", &table);
    let run = folder.answered(&["estimate", "probabilities.csv", "--input", "probability", "--json"]);
    assert!(run.stderr.contains("note: probabilities below 1e-15, taken to be 1e-15: "), "{}", run.stderr);
    // What a softmax takes off a view's scores, the log loss gives back: the risk is the same, not the features.
    let probabilities: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let scores = folder.json(&["estimate", "scores.csv", "--json"]);
    let off = number(&probabilities, "risk") - number(&scores, "risk");
    assert!(off.abs() < 4.0 * number(&scores, "standard_error"), "off by {off}");
}

#[test]
fn clusters_change_the_error_and_not_the_risk() {
    let folder = Folder::with_scores();
    let mut table = folder.table("scores.csv");
    for (index, row) in table.iter_mut().enumerate() {
        row.push(if index == 0 { "day".to_owned() } else { format!("day {}", index / 20) });
    }
    folder.write_table("days.csv", &table);
    let options = ["estimate", "days.csv", "--feature-map", "scores", "--json"];
    let alone = folder.json(&options);
    let run = folder.answered(&[&options[..], &["--cluster", "day"]].concat());
    assert_eq!(run.stderr, "note: columns not used: label\n");
    let clustered: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert!((number(&clustered, "risk") - number(&alone, "risk")).abs() < 1e-9);
    assert_ne!(clustered["standard_error"], alone["standard_error"]);
    let message = folder.refused(&["estimate", "days.csv", "--cluster", "dya"]);
    assert!(message.contains("did you mean `day`?"), "{message}");
}

#[test]
fn a_degenerate_fit_is_answered_with_status_1() {
    let folder = Folder::with_scores();
    let mut table = folder.table("scores.csv");
    // A class that does not occur: nothing says where its scores would lie.
    table.retain(|row| row[9] != "2");
    folder.write_table("two.csv", &table);
    let run = folder.run(&["estimate", "two.csv"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.starts_with("NOT TO BE TRUSTED, for the "), "{}", run.stdout);
    assert!(run.stdout.contains("\n- class `2` has a prior of"), "{}", run.stdout);
    assert!(run.stdout.contains("(standard error unknown)"), "{}", run.stdout);
    let run = folder.run(&["estimate", "two.csv", "--json"]);
    assert_eq!(run.code, 1);
    let object: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(object["fit"]["status"], "degenerate");
}

#[test]
fn an_interval_of_no_use_is_not_trusted() {
    let folder = Folder::new();
    let args = ["simulate", "--preset", "three-harder", "--rows", "1200", "-o", "few.csv"];
    folder.answered(&args);
    let run = folder.run(&["estimate", "few.csv", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let alarms = object["diagnostics"]["alarm_details"].as_array().expect("a list");
    let wide = alarms.iter().find(|alarm| alarm["code"] == "too-wide").expect("the alarm");
    assert_eq!((run.code, object["trusted"].as_bool()), (1, Some(false)));
    // Twice what scores that say nothing cost, ln 3.
    assert!((number(wide, "guessing") - 3f64.ln()).abs() < 1e-9 && number(wide, "width") > 2.0 * 3f64.ln());
    assert!(wide["remedy"].as_str().is_some_and(|remedy| remedy.contains("rows")), "{wide}");
    assert!(number(&object["interval"], "low") >= 0.0);
}

#[test]
fn whoever_stops_reading_is_no_error() {
    let folder = Folder::with_scores();
    let mut child = Command::new(env!("CARGO_BIN_EXE_triview"))
        .current_dir(folder.path(""))
        .args(["estimate", "scores.csv", "--quiet"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn enormous_scores_do_not_move_what_most_groups_agree_on() {
    let folder = Folder::new();
    folder.answered(&["simulate", "--rows", "12000", "--seed", "3", "-o", "scores.csv"]);
    let truth: serde_json::Value = serde_json::from_str(&folder.read("scores.truth.json")).expect("JSON");
    folder.answered(&["moments", "scores.csv", "-o", "healthy.state"]);
    let mut table = folder.table("scores.csv");
    // The sensor of one view fails in one row.
    table[5000][3] = "400000".into();
    folder.write_table("glitch.csv", &table);
    folder.answered(&["moments", "glitch.csv", "--like", "healthy.state", "-o", "glitch.state"]);
    let run = folder.run(&["estimate", "glitch.state", "--json", "--amplify", "8"]);
    let estimate: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let off = |object: &serde_json::Value| (number(object, "risk") - number(&truth, "risk")).abs();
    let amplified = &estimate["amplified"];
    // One row moves a mean score by 400,000 / 12,000, and the plain answer as far as a risk can be; the group it is in is left out.
    assert!(off(&estimate) > 0.1, "{}", off(&estimate));
    assert!(off(amplified) < 4.0 * number(amplified, "standard_error"), "{amplified}");
    assert!(number(amplified, "standard_error") < 0.1, "{amplified}");
    let message = folder.refused(&["estimate", "glitch.state", "--amplify", "2"]);
    assert!(message.contains("groups"), "{message}");
}

#[test]
fn many_classes_are_answered_from_rows_and_have_no_state() {
    let folder = Folder::new();
    folder.answered(&["simulate", "--classes", "66", "--rows", "4000", "-o", "many.parquet"]);
    let run = folder.run(&["estimate", "many.parquet", "--json"]);
    assert!([0, 1].contains(&run.code), "{}", run.stderr);
    let estimate: serde_json::Value = serde_json::from_str(&run.stdout).expect("an object");
    assert!(number(&estimate, "risk").is_finite());
    assert_eq!(estimate["fit"]["features"], "calibrated");
    assert_eq!(estimate["diagnostics"]["independence"]["verdict"], "pass");
    assert!((0.0..=1.0).contains(&number(&estimate, "error_rate")));

    let no_state = "error: 66 classes: third moments of more than 64 are not formed, so that nothing can be saved, merged, split or label \
         rows; a plain estimate answers from the rows themselves\n\
         hint: `triview estimate TABLE` without --by, --amplify, --label and --save-posterior answers from the rows";
    assert_eq!(folder.refused(&["moments", "many.parquet", "-o", "many.state"]), no_state);
    assert_eq!(folder.refused(&["estimate", "many.parquet", "--label", "label"]), no_state);
    assert_eq!(folder.refused(&["estimate", "many.parquet", "--amplify", "3"]), no_state);
}

#[test]
fn a_loss_of_the_whole_prediction_takes_rows() {
    let folder = Folder::with_scores();
    let plain = folder.json(&["estimate", "scores.csv", "--metrics", "--json"]);
    for (loss, metric) in [("error", "error_rate"), ("brier", "brier")] {
        let estimate = folder.json(&["estimate", "scores.csv", "--loss", loss, "--json"]);
        assert_eq!(estimate["loss"], loss);
        let of_metric = &plain["metrics"][metric];
        assert_eq!(
            [&estimate["risk"], &estimate["standard_error"]],
            ["value", "standard_error"].map(|key| &of_metric[key])
        );
        assert_eq!(estimate["interval"]["low"], of_metric["interval"]["low"]);
        assert_eq!(estimate["trusted"], plain["trusted"]);
        let text = folder.answered(&["estimate", "scores.csv", "--loss", loss]).stdout;
        assert!(text.contains(&format!("({loss} loss, ± one standard error from 16 blocks)")), "{text}");
        assert!(text.contains("the mean score E[f(x, j) | y = j]"), "{text}");

        let message = folder.refused(&["moments", "scores.csv", "--loss", loss, "-o", "scores.state"]);
        assert!(
            message.contains(&format!("--loss {loss} is of the whole prediction and needs rows")),
            "{message}"
        );
        let message = folder.refused(&["estimate", "scores.csv", "--loss", loss, "--amplify", "5"]);
        assert!(message.contains("--amplify is for losses"), "{message}");
    }
    folder.answered(&["moments", "scores.csv", "-o", "scores.state"]);
    let message = folder.refused(&["estimate", "scores.state", "--loss", "brier"]);
    assert!(message.contains("moments have none: estimate from the tables"), "{message}");
    let estimate = folder.json(&["estimate", "scores.state", "--json"]);
    assert!(estimate.get("error_rate").is_none());
    assert_eq!(
        estimate["error_rate_absent"],
        "it takes rows, and moments have none: estimate from the tables"
    );
    assert!(plain.get("error_rate_absent").is_none());
    let text = folder.answered(&["estimate", "scores.state"]).stdout;
    assert!(text.contains("error rate  not known: it takes rows"), "{text}");
}
