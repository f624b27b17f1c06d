//! `triview estimate --votes` and `triview simulate --crowd`.

use crate::support::{Folder, number, without_inputs, without_numbers};
use serde_json::Value;
use std::collections::BTreeMap;

/// A folder with the votes of a crowd in `votes.csv`, what is true of it beside it.
fn with_votes(more: &[&str]) -> Folder {
    let folder = Folder::new();
    let simulate =
        ["simulate", "--crowd", "--classes", "3", "--annotators", "20", "--rows", "3000", "--seed", "2"];
    folder.answered(&[&simulate, more].concat());
    folder
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn the_answer_is_near_the_truth_and_has_all_its_keys() {
    let folder = with_votes(&["-o", "votes.csv"]);
    let truth = parsed(&folder.read("truth.json"));
    let run = folder.answered(&["estimate", "--votes", "votes.csv", "--json"]);
    assert!(run.stderr.contains("columns not used: truth"), "{}", run.stderr);
    let answer = parsed(&run.stdout);
    assert_eq!(answer["rows"], 3000);
    assert_eq!(answer["votes"], 15_000);
    assert_eq!(answer["loss"], "error");
    assert_eq!(answer["classes"], serde_json::json!(["0", "1", "2"]));
    assert_eq!(answer["risk"], answer["error_rate"]);
    assert_eq!(answer["trusted"], true, "{answer}");
    assert_eq!(answer["diagnostics"]["independence"]["verdict"], "pass");
    // Of twenty intervals at 95%, 15 or fewer hold the truth once in a thousand times.
    let views = answer["views"].as_array().expect("names").clone();
    assert_eq!(views.len(), 20);
    let held = views.iter().filter(|view| {
        let view = view.as_str().expect("a name");
        let (interval, true_error) =
            (&answer["intervals"]["view_error"][view], number(&truth["view_error"], view));
        number(interval, "low") <= true_error && true_error <= number(interval, "high")
    });
    assert!(held.count() >= 15);
    for (key, length) in
        [("conditional_risk", 20), ("view_error", 20), ("view_votes", 20), ("class_prior", 3)]
    {
        let found =
            answer[key].as_object().map(serde_json::Map::len).or(answer[key].as_array().map(Vec::len));
        assert_eq!(found, Some(length), "{key}");
    }
    assert!(number(&answer["fit"], "objective") >= number(&answer["fit"], "majority_objective"));
}

#[test]
fn text() {
    let folder = with_votes(&["-o", "votes.csv"]);
    let run = folder.answered(&["estimate", "--votes", "votes.csv"]);
    // Both starts end at the same crowd, and which one counts as better, or a last per cent, is a matter of rounding.
    let shown = without_numbers(&run.stdout);
    let lines = shown.lines().filter(|line| !line.starts_with("start "));
    let lines: Vec<&str> = lines.map(|line| line.split(" (").next().unwrap_or(line)).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn wide_and_long_and_every_format_are_the_same_votes() {
    let folder = with_votes(&["-o", "votes.csv"]);
    let long = folder.answered(&["estimate", "--votes", "votes.csv", "--json"]).stdout;
    for name in ["votes.parquet", "votes.arrow"] {
        let other = with_votes(&["-o", name]);
        let answer = other.answered(&["estimate", "--votes", name, "--json"]).stdout;
        assert_eq!(without_inputs(&answer), without_inputs(&long), "{name}");
    }
    let annotators: Vec<String> = parsed(&long)["views"]
        .as_array()
        .expect("names")
        .iter()
        .map(|name| name.as_str().expect("a name").to_owned())
        .collect();
    let mut rows: BTreeMap<usize, BTreeMap<String, String>> = BTreeMap::new();
    for row in &folder.table("votes.csv")[1..] {
        let item = row[0].parse().expect("a number");
        // What pandas makes of a column of whole numbers with gaps.
        rows.entry(item).or_default().insert(row[1].clone(), format!("{}.0", row[2]));
    }
    let mut wide = vec![
        ["item".to_owned(), "truth".to_owned()].into_iter().chain(annotators.clone()).collect::<Vec<_>>(),
    ];
    for (item, votes) in &rows {
        let cells = annotators.iter().map(|name| votes.get(name).cloned().unwrap_or_default());
        wide.push([item.to_string(), "?".to_owned()].into_iter().chain(cells).collect());
    }
    wide.push(vec![String::new(); annotators.len() + 2]);
    folder.write_table("wide.csv", &wide);
    let run = folder.answered(&["estimate", "--votes", "wide.csv", "--json"]);
    assert_eq!(without_inputs(&run.stdout), without_inputs(&long));
    assert!(run.stderr.contains("rows without a vote, left out: 1"), "{}", run.stderr);
    // A few of the annotators, of either layout.
    let some = annotators[..6].join(",");
    let of_wide = folder.run(&["estimate", "--votes", "wide.csv", "--json", "--views", &some]).stdout;
    let of_long = folder.run(&["estimate", "--votes", "votes.csv", "--json", "--views", &some]).stdout;
    assert_eq!(without_inputs(&of_long), without_inputs(&of_wide));
    assert_eq!(parsed(&of_wide)["views"].as_array().map(Vec::len), Some(6));
}

#[test]
fn annotators_who_copy_are_named() {
    let folder = with_votes(&["--copiers", "2", "-o", "votes.csv"]);
    let run = folder.run(&["estimate", "--votes", "votes.csv"]);
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(run.stdout.starts_with("NOT TO BE TRUSTED"), "{}", run.stdout);
    assert!(run.stdout.contains("depend on each other"), "{}", run.stdout);
    let answer = parsed(&folder.run(&["estimate", "--votes", "votes.csv", "--json"]).stdout);
    assert_eq!(answer["diagnostics"]["independence"]["verdict"], "fail");
    let first = &answer["diagnostics"]["independence"]["dependences"][0];
    assert!(number(first, "agreement") > number(first, "expected"), "{first}");
}

#[test]
fn bad_votes_are_refused_with_what_is_wrong() {
    let folder = Folder::new();
    let long = "item,annotator,vote\n1,a,x\n1,b,x\n1,c,y\n2,a,y\n2,b,y\n2,c,x\n";
    folder.write("few.csv", long);
    let few = folder.run(&["estimate", "--votes", "few.csv"]);
    assert_eq!(few.code, 1, "{}", few.stderr);
    assert!(few.stdout.contains("only 2 items have three votes or more"), "{}", few.stdout);
    let cases = [
        ("item,annotator,vote\n1,a,x\n1,b,x\n1,a,y\n", "annotator `a` votes twice on item `1`", vec![]),
        ("item,annotator,vote\n1,a,x\n1,b,x\n1,c,x\n", "all votes are for class `x`", vec![]),
        ("item,annotator,vote\n1,a,\n1,b,\n", "all votes are for nothing", vec![]),
        ("item,annotator,vote\n1,a,x\n1,b,y\n2,a,x\n", "2 annotator(s) voted", vec![]),
        ("item,annotator,vote\n1,a,x\n1,b,y\n2,c,x\n", "none of 2 item(s) has votes of three", vec![]),
        ("item,annotator,vote\n1,a,x\n,b,y\n", "row 2, column `item`", vec![]),
        ("item,annotator,vote\n1,a,x\n1,,y\n", "row 2, column `annotator`", vec![]),
        (
            "item,annotator,vote\n1,a,x\n1,b,yy\n",
            "row 2, column `vote`: the vote `yy` is not one",
            vec!["--classes", "x,y"],
        ),
        (long, "nobody votes for class `z`", vec!["--classes", "x,y,z"]),
        ("item,a,b\n1,x,y\n", "columns that may be votes: `a`, `b`", vec![]),
        ("a,b,c\nx,y,x\n", "has no column `d`", vec!["--views", "a,b,d"]),
        ("a,b,c\nx,q,x\n", "row 1, column `b`: the vote `q`", vec!["--classes", "x,y"]),
        ("a,b,c\n", "no rows", vec![]),
    ];
    for (table, expected, more) in cases {
        folder.write("bad.csv", table);
        let run = folder.run(&[&["estimate", "--votes", "bad.csv"], more.as_slice()].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{table}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{table}: {}", run.stderr);
    }
    let numbers: String = (0..1001).map(|row| format!("{row}.5,{row}.25,x\n")).collect();
    folder.write("scores.csv", format!("a,b,c\n{numbers}"));
    let run = folder.run(&["estimate", "--votes", "scores.csv"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("more than 1000 different votes"), "{}", run.stderr);
    folder.answered(&["simulate", "--rows", "50", "-o", "scores.npy"]);
    assert!(folder.run(&["estimate", "--votes", "scores.npy"]).stderr.contains("`scores.npy` has no votes"));
    for option in ["--loss=log", "--label=truth", "--label-budget=0.1"] {
        assert_eq!(folder.run(&["estimate", "--votes", "few.csv", option]).code, 2, "{option}");
    }
    // Names of the items under another heading than `item`: nobody else votes for them.
    let rows: String = (0..30).map(|row| format!("r{row},x,y,{}\n", ["x", "y"][row % 2])).collect();
    folder.write("named.csv", format!("id,a,b,c\n{rows}"));
    let run = folder.run(&["estimate", "--votes", "named.csv"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("column `id` has another value in each of 30 rows"), "{}", run.stderr);
    assert_ne!(folder.run(&["estimate", "--votes", "named.csv", "--views", "a,b,c"]).code, 2);
    assert_eq!(folder.run(&["estimate", "few.csv", "--smoothing", "1"]).code, 2);
    assert_eq!(folder.run(&["simulate", "--crowd", "--votes", "60", "-o", "x.csv"]).code, 2);
}
