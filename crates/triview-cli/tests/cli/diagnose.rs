//! `triview diagnose`, and what `estimate` says of its own trustworthiness.

use crate::support::{Folder, number, without_inputs, without_numbers};
use serde_json::Value;

/// A folder with a table whose first two views depend on each other in a third of the rows.
fn dependent() -> Folder {
    let folder = Folder::new();
    folder.answered(&["simulate", "--rows", "8000", "--shared", "0.35", "--seed", "3", "-o", "scores.csv"]);
    folder
}

#[test]
fn text() {
    let run = Folder::with_scores().answered(&["diagnose", "scores.csv"]);
    insta::assert_snapshot!(without_numbers(&run.stdout));
}

#[test]
fn dependent_views_are_named_and_end_in_one() {
    let folder = dependent();
    let run = folder.run(&["diagnose", "scores.csv", "--json", "--svg", "dependence.svg"]);
    assert_eq!(run.code, 1, "{run:?}");
    let object: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(object["independence"]["verdict"], "fail");
    assert_eq!(object["trusted"], false);
    let first = &object["independence"]["dependences"][0];
    assert_eq!(first["views"], serde_json::json!(["a", "b"]));
    assert!(first.get("class").is_none(), "{first}");
    let svg = folder.read("dependence.svg");
    assert!(svg.starts_with("<svg") && svg.contains("a and b") && svg.contains("square: p"), "{svg}");

    let run = folder.run(&["estimate", "scores.csv"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.starts_with("NOT TO BE TRUSTED, for the "), "{}", run.stdout);
    assert!(run.stdout.contains("\n- the views are not independent"), "{}", run.stdout);
    let run = folder.run(&["estimate", "scores.csv", "--json"]);
    let object: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(object["trusted"], false);
    assert_eq!(object["diagnostics"]["independence"]["verdict"], "fail");
}

#[test]
fn states_are_diagnosed_too() {
    let folder = dependent();
    folder.answered(&["moments", "scores.csv", "-o", "scores.state"]);
    let from_table = folder.run(&["diagnose", "scores.csv", "--json"]);
    let from_state = folder.run(&["diagnose", "scores.state", "--json"]);
    assert_eq!(from_state.code, 1);
    assert_eq!(without_inputs(&from_state.stdout), without_inputs(&from_table.stdout));
}

#[test]
fn what_cannot_be_tested_is_said_first() {
    let folder = Folder::new();
    let mut table = String::from("a:no,a:yes,b:no,b:yes,c:no,c:yes\n");
    // Votes that agree with a hidden class most of the time, each view by a pattern of its own.
    for row in 0..1000_u32 {
        let class = row % 2;
        let vote = |wrong: bool| if wrong { 1 - class } else { class };
        let votes = [vote((row / 2) % 5 == 0), vote((row / 10) % 5 == 0), vote((row / 50) % 4 == 0)];
        let cells: Vec<String> = votes.iter().map(|vote| format!("{},{vote}", 1 - vote)).collect();
        table += &(cells.join(",") + "\n");
    }
    folder.write("votes.csv", table);
    let run = folder.answered(&["estimate", "votes.csv"]);
    assert!(run.stdout.starts_with("UNTESTED"), "{}", run.stdout);
    let run = folder.answered(&["diagnose", "votes.csv", "--svg", "votes.svg"]);
    assert!(run.stderr.contains("nothing to draw"), "{}", run.stderr);
    assert!(!folder.path("votes.svg").exists());
}

#[test]
fn a_level_is_a_probability() {
    let folder = Folder::with_scores();
    for level in ["0", "1", "95", "nan"] {
        let message = folder.refused(&["estimate", "scores.csv", "--level", level]);
        assert!(message.contains("level") && message.contains("0.95"), "{message}");
    }
    let narrow = folder.json(&["estimate", "scores.csv", "--json", "--level", "0.5"]);
    let wide = folder.json(&["estimate", "scores.csv", "--json"]);
    assert_eq!(narrow["interval"]["level"], 0.5);
    assert!(narrow["interval"]["low"].as_f64() > wide["interval"]["low"].as_f64());
}

#[test]
fn remedies_are_tried_and_the_first_that_passes_is_proposed() {
    let folder = Folder::new();
    let simulate = ["simulate", "--preset", "three", "--rows", "6000", "--shared", "0.5", "--seed", "2"];
    folder.answered(&[&simulate[..], &["-o", "scores.csv"]].concat());
    let mut table = folder.table("scores.csv");
    let label = table[0].iter().position(|name| name == "label").expect("labels");
    // A cheap test that is right in eight of ten rows, whatever the views do; a number a row is none.
    table[0].extend(["test".to_owned(), "id".to_owned()]);
    for (row, cells) in table.iter_mut().enumerate().skip(1) {
        let said = if row % 10 < 8 { cells[label].clone() } else { (row % 3).to_string() };
        cells.extend([format!("t{said}"), format!("row {row}")]);
    }
    folder.write_table("scores.csv", &table);
    let asked = ["diagnose", "scores.csv", "--remedies", "--quiet"];
    let run = folder.run(&[&asked[..], &["--json", "--report", "page.html"]].concat());
    assert_eq!(run.code, 1, "{run:?}");
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let remedies = &answer["remedies"];
    let tried = remedies["tried"].as_array().expect("remedies");
    assert_eq!(
        tried.iter().map(|it| &it["options"]).collect::<Vec<_>>(),
        ["", "--latent auto", "--witness test"]
    );
    assert_eq!((&tried[0]["trusted"], &remedies["proposed"]), (&false.into(), &"--witness test".into()));
    let truth: Value = serde_json::from_str(&folder.read("scores.truth.json")).expect("JSON");
    let [low, high] = ["low", "high"].map(|end| number(&tried[2]["interval"], end));
    assert!((low..high).contains(&number(&truth, "risk")), "{low} to {high}: {truth}");
    assert!(number(&remedies["labels"][1], "labels") > number(&remedies["labels"][0], "labels"));
    assert!(folder.read("page.html").contains("What may help"));
    let text = folder.run(&asked).stdout;
    assert!(text.contains("Proposed: --witness test") && text.contains("as it is"), "{text}");

    // Of four views every other way to group them, and every three of them.
    let a: Vec<usize> = (0..3)
        .map(|class| table[0].iter().position(|name| *name == format!("a:{class}")).expect("a view"))
        .collect();
    for (row, cells) in table.iter_mut().enumerate() {
        for (class, &at) in a.iter().enumerate() {
            let noise = (row as f64 * (1.7 + class as f64)).sin();
            let cell = if row == 0 {
                format!("d:{class}")
            } else {
                (cells[at].parse::<f64>().expect("a score") + noise).to_string()
            };
            cells.push(cell);
        }
    }
    folder.write_table("four.csv", &table);
    let answer = folder.run(&["diagnose", "four.csv", "--remedies", "--json", "--quiet"]).stdout;
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let tried = answer["remedies"]["tried"].as_array().expect("remedies");
    let of = |option: &str| {
        tried.iter().filter(|it| it["options"].as_str().is_some_and(|o| o.starts_with(option))).count()
    };
    assert_eq!((of("--group"), of("--views"), of("--witness")), (5, 4, 1), "{answer}");

    folder.answered(&["moments", "scores.csv", "-o", "scores.moments"]);
    assert!(folder.refused(&["diagnose", "scores.moments", "--remedies"]).contains("--remedies needs them"));
    assert!(folder.refused(&["diagnose", "-", "--remedies"]).contains("read once"));
}
