//! Labels that views give each other, and a few that people gave.

use crate::support::{Folder, number};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_ipc::reader::FileReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::{self, File};

/// A folder with `scores.csv`, three classes, and a column `id` before the scores.
fn folder() -> Folder {
    let folder = Folder::with_scores();
    let mut table = folder.table("scores.csv");
    for (row, cells) in table.iter_mut().enumerate() {
        cells.insert(0, if row == 0 { "id".into() } else { format!("r{row}") });
    }
    folder.write_table("scores.csv", &table);
    folder
}

/// The place of a column.
fn at(table: &[Vec<String>], name: &str) -> usize {
    table[0].iter().position(|column| column == name).unwrap_or_else(|| panic!("no column {name}"))
}

/// The numbers of a column.
fn column(table: &[Vec<String>], name: &str) -> Vec<f64> {
    let at = at(table, name);
    table[1..].iter().map(|row| row[at].parse().expect("a number")).collect()
}

fn arrow(folder: &Folder, name: &str) -> RecordBatch {
    let mut reader =
        FileReader::try_new(File::open(folder.path(name)).expect("a file"), None).expect("Arrow");
    let batch = reader.next().expect("a batch").expect("readable");
    assert!(reader.next().is_none());
    batch
}

#[test]
fn surrogates_and_posteriors_in_the_rows_order() {
    let folder = folder();
    let run = folder.answered(&["label", "scores.csv", "-o", "labels.csv"]);
    assert_eq!(run.stdout, "");
    let (scores, labels) = (folder.table("scores.csv"), folder.table("labels.csv"));
    assert_eq!(labels[0][..3], ["id", "label", "surrogate.a:0"]);
    assert_eq!((labels[0].len(), labels[0][13].as_str()), (2 + 3 * 3 + 3, "posterior:2"));
    assert_eq!(labels.len(), scores.len());
    let label = at(&scores, "label");
    for (before, after) in scores.iter().zip(&labels) {
        assert_eq!([&before[0], &before[label]], [&after[0], &after[1]]);
    }
    let classes: Vec<usize> = labels[1..].iter().map(|row| row[1].parse().expect("a class")).collect();
    for name in ["surrogate.a", "surrogate.b", "surrogate.c", "posterior"] {
        let columns = ["0", "1", "2"].map(|class| column(&labels, &format!("{name}:{class}")));
        for row in 0..classes.len() {
            let sum: f64 = columns.iter().map(|column| column[row]).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{name}: {sum}");
        }
        for (i, j) in (0..9).map(|cell| (cell / 3, cell % 3)) {
            let own: Vec<f64> =
                (0..classes.len()).filter(|&row| classes[row] == j).map(|row| columns[i][row]).collect();
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            // The fit to 4,000 rows is known to some three standard errors of a class's 1,300 labels, each about 0.02.
            let one_hot = f64::from(u8::from(i == j));
            assert!(
                (mean - one_hot).abs() < if name == "posterior" { 0.35 } else { 0.12 },
                "{name}: {i} {j} {mean}"
            );
        }
    }
}

#[test]
fn every_format_has_the_same_labels() {
    let folder = folder();
    folder.answered(&["label", "scores.csv", "-o", "labels.csv"]);
    folder.answered(&["label", "scores.csv", "--keep", "label", "-o", "labels.arrow"]);
    folder.answered(&["label", "scores.csv", "-o", "labels.npy"]);
    let table = folder.table("labels.csv");
    let made = &table[0][2..];
    let batch = arrow(&folder, "labels.arrow");
    assert_eq!(batch.schema().field(0).name(), "label");
    assert_eq!(batch.num_columns(), made.len() + 1);
    let array = fs::read(folder.path("labels.npy")).expect("an array");
    assert!(String::from_utf8_lossy(&array[..128]).contains("'shape': (4000, 4, 3)"));
    let numbers: Vec<f64> =
        array[128..].as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    for (place, name) in made.iter().enumerate() {
        let expected = column(&table, name);
        let found = batch.column_by_name(name).expect("a column").as_primitive::<Float64Type>();
        for row in 0..expected.len() {
            assert_eq!(found.value(row).to_bits(), expected[row].to_bits());
            assert_eq!(numbers[row * made.len() + place].to_bits(), expected[row].to_bits());
        }
    }
}

#[test]
fn whole_numbers_and_gaps_go_with_their_rows() {
    let folder = folder();
    let args = ["--label-budget", "0.1", "--label-rows", "rows.arrow", "--keep", "label"];
    folder.answered(&[["estimate", "scores.csv"].as_slice(), &args].concat());
    let rows = arrow(&folder, "rows.arrow");
    let places = rows.column_by_name("row").expect("rows").as_primitive::<Int64Type>();
    assert!(places.len() > 10);
    let scores = folder.table("scores.csv");
    let label = at(&scores, "label");
    let classes = rows.column_by_name("label").expect("labels").as_string::<i32>();
    for chosen in 0..places.len() {
        assert_eq!(scores[places.value(chosen) as usize][label], classes.value(chosen));
    }
    // Two files are one table, and what only one of them has does not go along.
    let mut second = folder.table("scores.csv");
    second[0][0] = "key".into();
    second[7][label].clear();
    folder.write_table("second.csv", &second);
    // Rows that come twice are no independent rows, which the test of independence may mind.
    assert!(folder.run(&["label", "scores.csv", "second.csv", "-o", "both.csv"]).code < 2);
    let both = folder.table("both.csv");
    assert_eq!((both.len(), both[0][0].as_str()), (8001, "label"));
    assert_eq!((both[4007][0].as_str(), both[4008][0].as_str()), ("", second[8][label].as_str()));
}

#[test]
fn labels_that_cannot_be_written() {
    let folder = folder();
    let label = |args: &[&str]| folder.refused(&[["label", "scores.csv"].as_slice(), args].concat());
    assert!(label(&["-o", "scores.csv"]).contains("would be overwritten"));
    assert!(label(&["-o", "labels.txt"]).contains("labels.txt"));
    assert!(label(&["-o", "labels.npy", "--keep", "id"]).contains("an array has none"));
    let unknown = label(&["-o", "labels.csv", "--keep", "idd"]);
    assert!(unknown.contains("no column `idd` to identify by; did you mean `id`?"), "{unknown}");
    assert!(label(&["-o", "labels.csv", "--keep", "a:0"]).contains("cannot be identified by it"));
    folder.answered(&["moments", "scores.csv", "-o", "scores.state"]);
    let state = folder.refused(&["label", "scores.state", "-o", "labels.csv"]);
    assert!(state.contains("`scores.state` holds moments, which have no rows"), "{state}");
}

/// Empties the labels of all but every so-manieth row.
fn few(folder: &Folder, every: usize) -> Vec<Vec<String>> {
    let mut table = folder.table("scores.csv");
    let label = at(&table, "label");
    table
        .iter_mut()
        .enumerate()
        .skip(1)
        .filter(|(row, _)| row % every != 0)
        .for_each(|(_, row)| row[label].clear());
    folder.write_table("few.csv", &table);
    table
}

#[test]
fn a_few_labels_beside_the_estimate_without() {
    let folder = folder();
    few(&folder, 40);
    let plain = folder.json(&["estimate", "few.csv", "--json"]);
    let args = ["estimate", "few.csv", "--label", "label", "--json"];
    let answer = folder.json(&args);
    let labels = &answer["labels"];
    assert_eq!((labels["count"].as_u64(), labels["naming"].as_str()), (Some(100), Some("confirmed")));
    assert_eq!(
        labels["by_class"].as_array().expect("counts").iter().filter_map(|n| n.as_u64()).sum::<u64>(),
        100
    );
    assert!(number(labels, "z").abs() < 3.0 && answer["trusted"] == true);
    // The headline is the labels', by the narrower of their two answers, and what the views say alone stands beside it.
    for key in ["risk", "error_rate"] {
        let first = match labels["leads"][key].as_str() {
            Some("recalibrated") => &labels["recalibrated"][key],
            _ => &labels[key],
        };
        assert_eq!(answer[key], first["value"], "{key}: {labels}");
    }
    for key in ["risk", "standard_error", "interval", "error_rate", "trusted"] {
        assert_eq!(answer["without_labels"][key], plain[key], "{key}");
    }
    let truth: serde_json::Value = serde_json::from_str(&folder.read("scores.truth.json")).expect("JSON");
    for key in ["risk", "error_rate"] {
        let interval = &labels[key]["interval"];
        let [low, high] = ["low", "high"].map(|end| number(interval, end));
        assert!((low..high).contains(&number(&truth, key)), "{key}: {low} to {high}");
        let width = |of: &serde_json::Value| number(&of["interval"], "high") - number(&of["interval"], "low");
        assert!(width(&labels[key]) < width(&labels[key]["alone"]), "{key}");
    }
    let text = folder.answered(&args[..4]).stdout;
    assert!(text.starts_with("risk") && text.contains("(whatever the views do)"), "{text}");
    assert!(text.contains("if the recalibrated posterior is about right"), "{text}");
    assert!(text.contains("the labels confirm it") && text.contains("Without the labels:\n\nrisk"), "{text}");
}

#[test]
fn how_many_labels_would_do() {
    let folder = folder();
    let table = few(&folder, 40);
    let args = [
        "estimate",
        "few.csv",
        "--label",
        "label",
        "--label-budget",
        "0.06",
        "--label-rows",
        "next.csv",
        "--json",
    ];
    let budget = folder.json(&args)["label_budget"].clone();
    let (labels, more) = (number(&budget, "labels"), number(&budget, "more"));
    assert_eq!((labels - more, budget["basis"].as_str()), (100.0, Some("labels")));
    let next = folder.table("next.csv");
    assert_eq!(
        (next.len() as f64 - 1.0, next[0].clone()),
        (more, ["row", "id", "label"].map(str::to_owned).to_vec())
    );
    let (id, label) = (at(&table, "id"), at(&table, "label"));
    let rows: Vec<usize> = column(&next, "row").into_iter().map(|row| row as usize).collect();
    assert!(rows.windows(2).all(|pair| pair[0] < pair[1]));
    for (row, chosen) in rows.iter().zip(&next[1..]) {
        assert_eq!((&table[*row][id], table[*row][label].as_str()), (&chosen[1], ""));
    }
    // With these labels the interval is about as wide as was asked.
    let truth = folder.table("scores.csv");
    let mut labelled = table.clone();
    rows.iter().for_each(|&row| labelled[row][label].clone_from(&truth[row][label]));
    folder.write_table("more.csv", &labelled);
    let answer = folder.json(&["estimate", "more.csv", "--label", "label", "--json"]);
    let interval = &answer["labels"]["risk"]["interval"];
    let width = number(interval, "high") - number(interval, "low");
    assert!((0.045..0.075).contains(&width), "{width} with {labels} labels");
    // Without any labels it is the posterior that says how many.
    let by_posterior = folder.json(&["estimate", "few.csv", "--label-budget", "0.06", "--json"]);
    assert_eq!(by_posterior["label_budget"]["basis"], "posterior");
    let none = folder.answered(&["estimate", "few.csv", "--label-budget", "0.0001"]).stdout;
    assert!(none.contains("no number of labels of these rows"), "{none}");
    let rows = ["estimate", "few.csv", "--label-budget", "0.0001", "--label-rows", "none.csv"];
    assert!(folder.refused(&rows).contains("give a larger --label-budget"));
    assert!(!folder.path("none.csv").exists());
}

#[test]
fn labels_of_every_view_another_model_and_every_segment() {
    let folder = folder();
    let mut table = few(&folder, 20);
    let first: Vec<usize> = ["a:0", "a:1", "a:2"].map(|name| at(&table, name)).to_vec();
    for (row, cells) in table.iter_mut().enumerate() {
        if row == 0 {
            cells.extend(["shop", "p:0", "p:1", "p:2"].map(str::to_owned));
            continue;
        }
        cells.push(["north", "south"][row % 2].into());
        let weights: Vec<f64> =
            first.iter().map(|&at| cells[at].parse::<f64>().expect("a score").exp()).collect();
        let total: f64 = weights.iter().sum();
        cells.extend(weights.iter().map(|weight| (weight / total).to_string()));
    }
    folder.write_table("few.csv", &table);
    let asked = [
        "estimate",
        "few.csv",
        "--label",
        "label",
        "--each",
        "--by",
        "shop",
        "--prediction",
        "p:*",
        "--quiet",
    ];
    let answer = folder.json(&[&asked[..], &["--metrics", "--json"]].concat());
    let labels = &answer["labels"];
    let each = labels["each"].as_array().expect("views");
    assert_eq!(each.iter().map(|view| &view["view"]).collect::<Vec<_>>(), ["a", "b", "c"]);
    for key in ["risk", "error_rate", "brier"] {
        for of in each.iter().chain([&labels["prediction"]]) {
            let valid = &of[key]["valid"]["interval"];
            assert!(number(valid, "low") < number(valid, "high"), "{key}: {of}");
            assert!(
                of[key]["recalibrated"]["value"].is_number() && of[key]["leads"].is_string(),
                "{key}: {of}"
            );
        }
    }
    // The prediction is that of the first view.
    assert_eq!(labels["prediction"]["error_rate"]["valid"]["alone"], each[0]["error_rate"]["valid"]["alone"]);
    assert_eq!(labels["differences"].as_array().map(Vec::len), Some(3));
    let segments = answer["by"]["segments"].as_array().expect("shops");
    let counts: f64 = segments.iter().map(|segment| number(&segment["labels"], "count")).sum();
    assert_eq!((segments.len(), counts), (2, number(labels, "count")));
    for segment in segments {
        assert!(segment["labels"]["error_rate"]["recalibrated"]["value"].is_number(), "{segment}");
    }
    let text = folder.answered(&[&asked[..], &["--report", "page.html"]].concat()).stdout;
    for said in
        ["by the labels", "prediction", "is wrong", "north", "* by the posterior that all labels recalibrate"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(folder.read("page.html").contains("What the labels say, segment by segment"));
}

#[test]
fn labels_of_rows_with_other_chances() {
    let folder = folder();
    let rows = ["estimate", "scores.csv", "--label-budget", "0.1", "--label-rows", "next.csv"];
    folder.answered(&[&rows[..], &["--stratify", "--keep", "id"]].concat());
    let next = folder.table("next.csv");
    assert_eq!(next[0], ["row", "inclusion", "id"]);
    let chances = column(&next, "inclusion");
    let [smallest, largest] =
        chances.iter().fold([1.0_f64, 0.0], |[low, high], c| [low.min(*c), high.max(*c)]);
    assert!(0.0 < smallest && 2.0 * smallest < largest && largest <= 1.0, "{smallest} {largest}");
    // Together they stand for all rows.
    let stand_for: f64 = chances.iter().map(|chance| 1.0 / chance).sum();
    let mut table = folder.table("scores.csv");
    assert!((stand_for - (table.len() - 1) as f64).abs() < 1.0, "{stand_for}");
    let label = at(&table, "label");
    let drawn: Vec<usize> = column(&next, "row").into_iter().map(|row| row as usize).collect();
    table[0].push("chance".into());
    for (row, cells) in table.iter_mut().enumerate().skip(1) {
        match drawn.iter().position(|drawn| *drawn == row) {
            Some(place) => cells.push(next[place + 1][1].clone()),
            None => {
                cells[label].clear();
                cells.push(String::new());
            }
        }
    }
    folder.write_table("few.csv", &table);
    let answer = folder.json(&[
        "estimate",
        "few.csv",
        "--label",
        "label",
        "--label-weight",
        "chance",
        "--json",
        "--quiet",
    ]);
    let truth: serde_json::Value = serde_json::from_str(&folder.read("scores.truth.json")).expect("JSON");
    for key in ["risk", "error_rate"] {
        let of = &answer["labels"][key];
        let z = (number(of, "value") - number(&truth, key)) / number(of, "standard_error");
        // Once in a thousand times beyond 3.3.
        assert!(z.abs() < 3.3, "{key}: {z} {of}");
    }
    assert_eq!(answer["trusted"], true, "{answer}");

    // As if they had been drawn with the same chance they are unlike the others.
    let asked = ["estimate", "few.csv", "--label", "label", "--json", "--quiet"];
    assert_eq!(folder.run(&asked).code, 1);
    let mut refused = |text: &str| {
        let chance = at(&table, "chance");
        table[drawn[0]][chance] = text.into();
        folder.write_table("few.csv", &table);
        folder.refused(&[&asked[..], &["--label-weight", "chance"]].concat())
    };
    for (text, expected) in [
        ("0", "0 for its chance"),
        ("1.5", "1.5 for its chance"),
        ("", "nothing for its chance"),
        ("half", "`half` is not a number"),
    ] {
        let said = refused(text);
        assert!(
            said.contains(expected) && said.contains(&format!("row {}, column `chance`", drawn[0])),
            "{said}"
        );
    }
    let known = [&rows[..], &["--stratify", "--label", "label"]].concat();
    assert!(folder.refused(&known).contains("cannot be used with"));
}

#[test]
fn rows_to_label_are_named_by_their_file() {
    let folder = folder();
    let table = few(&folder, 40);
    let (header, rows) = table.split_first().expect("a header");
    let part = |rows: &[Vec<String>]| [std::slice::from_ref(header), rows].concat();
    folder.write_table("first.csv", &part(&rows[..1_000]));
    folder.write_table("second.csv", &part(&rows[1_000..]));
    let args = ["estimate", "first.csv", "second.csv", "--label", "label", "--label-budget", "0.06"];
    folder.answered(&[args.as_slice(), &["--label-rows", "next.csv"]].concat());
    let next = folder.table("next.csv");
    assert_eq!(next[0][..2], ["file", "row"].map(str::to_owned));
    let id = at(&table, "id");
    for chosen in &next[1..] {
        let row: usize = chosen[1].parse().expect("a row");
        let before = if chosen[0] == "second.csv" { 1_000 } else { 0 };
        assert_eq!(rows[before + row - 1][id], chosen[2], "{chosen:?}");
    }
    assert!(["first.csv", "second.csv"].iter().all(|file| next[1..].iter().any(|row| row[0] == *file)));
}

#[test]
fn labels_that_cannot_be_used() {
    let folder = folder();
    let mut table = few(&folder, 40);
    let label = at(&table, "label");
    let refused = |args: &[&str]| folder.refused(&[["estimate", "few.csv"].as_slice(), args].concat());
    assert!(refused(&["--label", "lable"]).contains("no column `lable` to label by; did you mean `label`?"));
    assert!(refused(&["--label", "a:1"]).contains("rows cannot be labelled by it"));
    assert!(refused(&["--label", "label", "--amplify", "16"]).contains("cannot be used with"));
    assert!(refused(&["--label-weight", "id"]).contains("--label <COLUMN>"));
    assert!(refused(&["--label-rows", "next.csv"]).contains("--label-budget"));
    assert!(refused(&["--label-budget", "0"]).contains("a number above zero, is needed"));
    table[80][label] = "cat".into();
    folder.write_table("few.csv", &table);
    let unknown = refused(&["--label", "label"]);
    assert!(
        unknown.contains("`few.csv`, row 80, column `label`: the label is `cat`, which is no class of the scores; these are of `0`, `1`, `2`"),
        "{unknown}"
    );
    few(&folder, 500);
    assert!(refused(&["--label", "label"]).contains("8 of the rows have a label, and an interval takes 10"));
    folder.answered(&["moments", "few.csv", "-o", "few.state"]);
    assert!(
        folder.refused(&["estimate", "few.state", "--label", "label"]).contains("and --label needs them")
    );
}

#[test]
fn labels_as_floating_point_numbers_with_gaps() {
    let folder = folder();
    let table = few(&folder, 40);
    let label = at(&table, "label");
    let expected = folder.json(&["estimate", "few.csv", "--label", "label", "--json"]);
    let mut floats = table;
    for row in floats.iter_mut().skip(1) {
        row[label] = if row[label].is_empty() { "nan".into() } else { format!("{}.0", row[label]) };
    }
    folder.write_table("few.csv", &floats);
    assert_eq!(folder.json(&["estimate", "few.csv", "--label", "label", "--json"]), expected);
}

#[test]
fn a_soft_map_from_latent_states() {
    let folder = Folder::new();
    folder.answered(&[
        "simulate",
        "--preset",
        "subclasses",
        "--rows",
        "6000",
        "--seed",
        "5",
        "-o",
        "scores.csv",
    ]);
    few(&folder, 30);
    let args = ["estimate", "few.csv", "--label", "label", "--latent", "6", "--json"];
    let run = folder.run(&args);
    assert!(run.code < 2, "{run:?}");
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let map = answer["labels"]["soft_map"]["probability"].as_array().expect("a map").clone();
    assert_eq!(map.len(), 6);
    for state in &map {
        let classes: Vec<f64> =
            state.as_array().expect("classes").iter().filter_map(|p| p.as_f64()).collect();
        assert!(classes.len() == 3 && (classes.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{classes:?}");
        // Each subclass is of one class, and the labels say so.
        assert!(classes.iter().any(|p| *p > 0.6), "{classes:?}");
    }
    let truth: serde_json::Value = serde_json::from_str(&folder.read("scores.truth.json")).expect("JSON");
    let soft = number(&answer["labels"]["soft_map"]["risk"], "value");
    assert!((soft - number(&truth, "risk")).abs() < 0.15, "{soft} {truth}");
}

#[test]
fn from_parquet_to_parquet_the_other_columns_are_copied() {
    let folder = Folder::new();
    folder.answered(&["simulate", "--rows", "4000", "--seed", "3", "-o", "scores.parquet"]);
    folder.answered(&["label", "scores.parquet", "-o", "labels.parquet"]);
    folder.answered(&["label", "scores.parquet", "-o", "labels.csv"]);
    let read = |name: &str| -> RecordBatch {
        let file = File::open(folder.path(name)).expect("a file");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
        let mut batches = reader.with_batch_size(4000).build().expect("columns");
        batches.next().expect("rows").expect("readable")
    };
    let (scores, labels, table) =
        (read("scores.parquet"), read("labels.parquet"), folder.table("labels.csv"));
    assert_eq!(
        labels.schema().fields().iter().map(|field| field.name()).collect::<Vec<_>>(),
        table[0].iter().collect::<Vec<_>>()
    );
    assert_eq!(labels.column_by_name("label"), scores.column_by_name("label"));
    for name in table[0].iter().filter(|name| name.contains(':')) {
        let written = labels.column_by_name(name).expect("a column").as_primitive::<Float64Type>();
        assert_eq!(written.values(), column(&table, name).as_slice());
    }
}
