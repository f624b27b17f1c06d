//! Tables as they come, asked about on the command line.

use crate::support::{Folder, Run, number};
use serde_json::Value;

#[test]
fn probabilities_are_refused_until_it_is_said_what_they_are() {
    let folder = Folder::with_scores();
    let mut table = folder.table("scores.csv");
    let views: Vec<Vec<usize>> = (0..3).map(|view| (3 * view..3 * view + 3).collect()).collect();
    for row in &mut table[1..] {
        for view in &views {
            let scores: Vec<f64> =
                view.iter().map(|&at| row[at].parse::<f64>().expect("a score").exp()).collect();
            let sum: f64 = scores.iter().sum();
            view.iter().zip(scores).for_each(|(&at, score)| row[at] = format!("{:.12}", score / sum));
        }
    }
    folder.write_table("p.csv", &table);
    let message = folder.refused(&["estimate", "p.csv"]);
    assert!(message.contains("--input probability") && message.contains("--input score"), "{message}");
    let said = folder.json(&["estimate", "p.csv", "--input", "probability", "--json"]);
    let scores = folder.json(&["estimate", "scores.csv", "--json"]);
    assert!((number(&said, "risk") - number(&scores, "risk")).abs() < 0.02);
    let insists = folder.run(&["estimate", "p.csv", "--input", "score", "--json"]);
    assert!(insists.code < 2, "{insists:?}");
}

#[test]
fn lists_may_have_blanks_and_too_few_views_are_counted() {
    let folder = Folder::new();
    folder.answered(&["simulate", "--views", "5", "--rows", "4000", "--seed", "3", "-o", "scores.csv"]);
    let plain = folder.run(&["estimate", "scores.csv", "--views", "a,b,c", "--json"]);
    let blanks = folder.run(&["estimate", "scores.csv", "--views", "a, b , c", "--json"]);
    assert_eq!(blanks.stdout, plain.stdout);
    let message = folder.refused(&["estimate", "scores.csv", "--views", "a,b"]);
    assert!(message.contains("2 of the 5 views") && message.contains("`e`"), "{message}");
    folder.run(&["estimate", "scores.csv", "--group", "a + b, c, d + e", "--json"]);
}

#[test]
fn enormous_scores_do_not_fill_the_screen() {
    let folder = Folder::with_scores();
    let mut table = folder.table("scores.csv");
    table[7][0] = "1e300".into();
    folder.write_table("scores.csv", &table);
    let run = folder.run(&["estimate", "scores.csv"]);
    let longest = |text: &str| text.split_whitespace().map(str::len).max().unwrap_or(0);
    assert!(run.code > 0 && longest(&run.stdout) < 60 && longest(&run.stderr) < 100, "{run:?}");
}

#[test]
fn rows_are_counted_within_their_file() {
    let folder = Folder::with_scores();
    let mut table = folder.table("scores.csv");
    folder.write_table("first.csv", &table);
    table[12][1] = "1e308".into();
    table[12][4] = "1e308".into();
    folder.write_table("second.csv", &table);
    let Run { stderr, .. } = folder.run(&["estimate", "first.csv", "second.csv", "--loss", "exponential"]);
    assert!(!stderr.contains("row 4012"), "{stderr}");
}

/// Three models that change from week to week, each week's views independent given the class.
#[test]
fn a_drift_is_judged_by_its_segments() {
    let folder = Folder::new();
    let mut all: Vec<Vec<String>> = Vec::new();
    for (week, preset) in ["three", "three-harder", "three"].iter().enumerate() {
        let seed = (week + 11).to_string();
        folder
            .answered(&["simulate", "--preset", preset, "--rows", "6000", "--seed", &seed, "-o", "week.csv"]);
        let mut table = folder.table("week.csv");
        table[0].push("week".into());
        table[1..].iter_mut().for_each(|row| row.push(format!("2026-W0{}", week + 1)));
        all.extend(table.into_iter().skip(usize::from(week > 0)));
    }
    folder.write_table("scores.csv", &all);
    let pooled = folder.run(&["estimate", "scores.csv", "--json"]);
    let by_week = folder.run(&["estimate", "scores.csv", "--by", "week", "--json"]);
    let [pooled, by_week]: [Value; 2] =
        [pooled, by_week].map(|run| serde_json::from_str(&run.stdout).expect("one JSON object"));
    assert_eq!(pooled["trusted"], false);
    let segments = by_week["by"]["segments"].as_array().expect("segments");
    assert!(segments.iter().all(|segment| segment["trusted"] == true), "{by_week}");
    assert_eq!(by_week["trusted"], true);
    let rows: f64 = segments.iter().map(|segment| number(segment, "rows")).sum();
    let mean: f64 =
        segments.iter().map(|segment| number(segment, "rows") / rows * number(segment, "risk")).sum();
    assert!((number(&by_week, "risk") - mean).abs() < 1e-12);
    assert!(number(&by_week["by"]["drift"], "whole_p_value") < 0.01);
    assert!(number(&by_week["by"]["by_chance"], "intervals_missed") > 0.1);
    let text = folder.answered(&["estimate", "scores.csv", "--by", "week"]).stdout;
    assert!(text.contains("mean of these") && text.contains("by chance"), "{text}");
    // A segment has what the whole has.
    let keys = |object: &Value| -> Vec<String> {
        let keys = object.as_object().expect("an object").keys();
        keys.filter(|key| !["by", "segment"].contains(&key.as_str())).cloned().collect()
    };
    assert_eq!(keys(&segments[0]), keys(&by_week));
}

#[test]
fn a_column_of_times_is_cut_into_periods() {
    let folder = Folder::with_scores();
    let mut table = folder.table("scores.csv");
    table[0].push("at".into());
    for (row, cells) in table.iter_mut().enumerate().skip(1) {
        cells.push(format!("2026-0{}-1{}T0{}:00:00Z", 2 - row % 2, row % 10, row % 7));
    }
    folder.write_table("scores.csv", &table);
    let object = folder.run(&["estimate", "scores.csv", "--by", "at", "--period", "month", "--json"]);
    let object: Value = serde_json::from_str(&object.stdout).expect("one JSON object");
    let names = |object: &Value| -> Vec<String> {
        let segments = object["by"]["segments"].as_array().expect("segments");
        segments.iter().map(|segment| segment["segment"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names(&object), ["2026-01", "2026-02"]);
    assert!(folder.refused(&["estimate", "scores.csv", "--period", "week"]).contains("--by"));
    assert!(
        folder
            .refused(&["estimate", "scores.csv", "--by", "at", "--period", "fortnight"])
            .contains("hour, day")
    );
    assert!(folder.refused(&["estimate", "scores.csv", "--by", "at", "--period", "7"]).contains("row 1"));
}

#[test]
fn alarms_carry_a_code_their_numbers_and_a_remedy() {
    let folder = Folder::new();
    folder.answered(&["simulate", "--shared", "0.6", "--rows", "8000", "--seed", "3", "-o", "scores.csv"]);
    let run = folder.run(&["estimate", "scores.csv", "--json"]);
    assert_eq!(run.code, 1);
    let object: Value = serde_json::from_str(&run.stdout).expect("one JSON object");
    let details = object["diagnostics"]["alarm_details"].as_array().expect("alarms");
    let dependent = details.iter().find(|alarm| alarm["code"] == "dependent").expect("dependence");
    assert!(number(dependent, "p_value") < 0.01);
    assert!(dependent["remedy"].as_str().is_some_and(|remedy| remedy.contains("--by")));
    let text = folder.run(&["diagnose", "scores.csv"]).stdout;
    assert!(!text.contains("triview diagnose") && text.contains("below"), "{text}");
    assert_eq!(object["unseen"].as_array().map(Vec::len), Some(2));
}
