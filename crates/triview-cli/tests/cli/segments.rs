//! `triview estimate --by`.

use crate::support::{Folder, number, without_numbers};
use serde_json::Value;

/// A folder with a table `scores.csv` that has a column `month`: two large segments, a small one and a missing one.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.answered(&["simulate", "--rows", "6000", "--seed", "3", "-o", "scores.csv"]);
    let mut table = folder.table("scores.csv");
    table[0].push("month".into());
    for (row, cells) in table.iter_mut().enumerate().skip(1) {
        let month = match row % 100 {
            0 => "",
            1 => "march",
            2..50 => "january",
            _ => "february",
        };
        cells.push(month.into());
    }
    folder.write_table("scores.csv", &table);
    folder
}

#[test]
fn text() {
    let run = folder().answered(&["estimate", "scores.csv", "--by", "month"]);
    let table = run.stdout.split("\n\nmonth").nth(1).expect("a table of the segments");
    insta::assert_snapshot!(without_numbers(table));
    assert_eq!(run.stderr, "note: columns not used: label\n");
}

#[test]
fn every_segment_has_its_answer() {
    let folder = folder();
    let object = folder.json(&["estimate", "scores.csv", "--by", "month", "--json"]);
    let plain = folder.json(&["estimate", "scores.csv", "--json"]);
    assert_eq!(object["risk"], plain["risk"]);
    assert_eq!(object["intervals"], plain["intervals"]);
    assert_eq!(object["by"]["column"], "month");
    let segments = object["by"]["segments"].as_array().expect("an array");
    let names: Vec<&str> = segments.iter().filter_map(|segment| segment["segment"].as_str()).collect();
    assert_eq!(names, ["march", "january", "february", "(missing)"]);
    let rows: f64 = segments.iter().map(|segment| number(segment, "rows")).sum();
    assert_eq!(rows, 6000.0);
    for segment in segments {
        match segment["segment"].as_str() {
            Some("january" | "february") => {
                let low = segment["interval"]["low"].as_f64().expect("a number");
                assert!(low < number(segment, "risk"));
                assert!(segment["diagnostics"]["independence"]["p_value"].is_number());
                assert!((0.0..0.5).contains(&number(segment, "error_rate")));
                assert_ne!(segment["error_rate"], plain["error_rate"]);
            }
            _ => {
                assert!(segment["error"].as_str().is_some_and(|error| error.contains("200")), "{segment}");
                assert_eq!(segment["trusted"], Value::Bool(false));
                assert!(segment.get("risk").is_none());
            }
        }
    }
}

#[test]
fn a_misspelt_column_and_moments_are_refused() {
    let folder = folder();
    let message = folder.refused(&["estimate", "scores.csv", "--by", "mnoth"]);
    assert!(message.contains("mnoth") && message.contains("month"), "{message}");
    folder.answered(&["moments", "scores.csv", "-o", "scores.state"]);
    let message = folder.refused(&["estimate", "scores.state", "--by", "month"]);
    assert!(message.contains("--by") && message.contains("moments"), "{message}");
    let message = folder.refused(&["estimate", "scores.csv", "--by", "a:0"]);
    assert!(message.contains("a:0"), "{message}");
}

#[test]
fn a_segment_of_too_few_sampled_rows_has_no_error_rate_and_says_why() {
    let folder = Folder::new();
    folder.answered(&["simulate", "--rows", "70000", "--seed", "3", "-o", "scores.csv"]);
    let mut table = folder.table("scores.csv");
    table[0].push("month".into());
    // Of more than 32,768 rows a part is sampled, and of 300 in this segment fewer than 200 are.
    for (row, cells) in table.iter_mut().enumerate().skip(1) {
        cells.push(if row <= 300 { "march" } else { "january" }.into());
    }
    folder.write_table("scores.csv", &table);
    let run = folder.run(&["estimate", "scores.csv", "--by", "month", "--json"]);
    let object: Value = serde_json::from_str(&run.stdout).expect("one JSON object");
    let [march, january] = [0, 1].map(|at| &object["by"]["segments"][at]);
    assert!((0.0..0.5).contains(&number(january, "error_rate")));
    assert!(march.get("error_rate").is_none() && number(march, "risk").is_finite(), "{march}");
    let why = march["error_rate_absent"].as_str().expect("a reason");
    assert!(why.starts_with("it takes 200 rows, and ") && why.contains("the sample of all rows"), "{why}");

    let run = folder.run(&["estimate", "scores.csv", "--by", "month", "--loss", "error", "--json"]);
    let object: Value = serde_json::from_str(&run.stdout).expect("one JSON object");
    let march = &object["by"]["segments"][0];
    assert_eq!(march["error"], format!("the mean of the error loss is not known: {why}"));
}

#[test]
fn too_many_segments_are_refused_at_the_first_look() {
    let folder = Folder::new();
    folder.answered(&["simulate", "--rows", "6000", "--seed", "3", "-o", "scores.csv"]);
    let mut table = folder.table("scores.csv");
    for (row, cells) in table.iter_mut().enumerate() {
        cells.push(if row == 0 { "row".into() } else { row.to_string() });
    }
    folder.write_table("scores.csv", &table);
    let run = folder.run(&["estimate", "scores.csv", "--by", "row"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("more than 5000 segments"), "{}", run.stderr);
}
