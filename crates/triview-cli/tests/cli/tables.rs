//! Tables as they come, asked about on the command line.

use crate::support::{Folder, number};
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
    // More rows than a first look takes in, so that its rows have other numbers than the table's; some of these are among them.
    let rows = table.split_off(1);
    table.extend((0..20).flat_map(|_| rows.iter().cloned()));
    table[70_001..=70_040].iter_mut().for_each(|row| row[1] = "-2000".into());
    folder.write_table("second.csv", &table);
    table.iter_mut().skip(1).for_each(|row| row[1] = "0.5".into());
    folder.write_table("third.csv", &table);
    let files = ["first.csv", "second.csv", "third.csv", "--loss", "exponential"];
    for command in [
        &["estimate"][..],
        &["estimate", "--by", "label"],
        &["estimate", "--amplify", "8"],
        &["estimate", "--label", "label"],
        &["diagnose"],
        &["compare"],
        &["moments", "-o", "out.moments"],
        &["label", "-o", "out.csv"],
    ] {
        let said = folder.refused(&[&command[..1], &files, &command[1..]].concat());
        let row =
            said.split("`second.csv`, row ").nth(1).and_then(|said| said.split(':').next()?.parse().ok());
        assert!(row.is_some_and(|row: usize| (70_001..=70_040).contains(&row)), "{command:?}: {said}");
        assert!(said.contains("the exponential loss of view `a`"), "{command:?}: {said}");
    }
}

#[test]
fn scores_too_large_to_be_added_are_called_that() {
    let folder = Folder::with_scores();
    let mut table = folder.table("scores.csv");
    table[7][0] = "1e308".into();
    table[9][0] = "1.7e308".into();
    folder.write_table("scores.csv", &table);
    for command in ["estimate", "diagnose", "compare"] {
        let said = folder.refused(&[command, "scores.csv"]);
        assert!(said.contains("too large") && !said.contains("moments"), "{command}: {said}");
    }
}

#[test]
fn names_that_would_drive_a_terminal_are_shown() {
    let folder = Folder::new();
    // A class that clears the screen, a view that rings, a column that sets the title.
    let classes = ["x\u{1b}[2J", "y"];
    let cell = |view: &str, class: &str| format!("{view}:{class}");
    let names: Vec<String> = ["a\u{7}", "b", "c"]
        .iter()
        .flat_map(|view| classes.map(|class| cell(view, class)))
        .chain(["\u{1b}]0;mine\u{7}".to_owned()])
        .collect();
    let rows: Vec<String> = (0..50).map(|row| format!("{},1,0,2,{},1,k", row % 3, row % 2)).collect();
    folder.write("scores.csv", format!("{}\n{}\n", names.join(","), rows.join("\n")));
    folder.write("bad.csv", format!("{}\n1,2,oops,4,5,6,k\n", names.join(",")));
    folder.write("few.csv", format!("{}\n1,2\n", names[..2].join(",")));
    for arguments in [
        &["estimate", "scores.csv"][..],
        &["estimate", "scores.csv", "--classes", "x,y"],
        &["estimate", "scores.csv", "--loss", "exponential"],
        &["estimate", "bad.csv"],
        &["estimate", "few.csv"],
        &["compare", "scores.csv", "--label", "nothing"],
        &["moments", "scores.csv", "-o", "out.moments"],
    ] {
        let run = folder.run(arguments);
        let acts = |symbol: char| symbol.is_control() && symbol != '\n';
        assert!(!run.stderr.contains(acts), "{arguments:?}: {run:?}");
    }
    for (arguments, named) in [
        (&["compare", "scores.csv", "--label", "nothing"][..], "\\u{1b}]0;mine\\u{7}"),
        (&["estimate", "bad.csv"], "b:x\\u{1b}[2J"),
        (&["estimate", "few.csv"], "a\\u{7}"),
    ] {
        let said = folder.refused(arguments);
        assert!(said.contains(named), "the names are there, written out: {said}");
    }
    folder.write("scores\u{1b}[31m.csv", "");
    let said = folder.refused(&["estimate", "scores\u{1b}[31m.csv"]);
    assert!(said.contains("scores\\u{1b}[31m.csv"), "{said}");
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
