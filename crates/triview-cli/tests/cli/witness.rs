//! `--witness`: columns without scores.

use crate::support::{Folder, number, uniform};
use serde_json::json;

/// A folder with 12,000 rows of two views of two classes, of five hospitals with prevalences from a tenth to nine tenths, and columns that are
/// no witnesses.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut uniform = uniform();
    let header = "model:ill,nurse:ill,hospital,label,age,row,flat,said,copied,pair,ward";
    let mut lines = vec![header.to_owned()];
    for row in 0..12_000 {
        let hospital = (uniform() * 5.0) as usize;
        let ill = uniform() < 0.1 + 0.2 * hospital as f64;
        // The sum of twelve uniform numbers is as good as normal.
        let mut score = |apart: f64| {
            let noise = (0..12).map(|_| uniform() - 0.5).sum::<f64>();
            apart * (noise + if ill { 0.5 * apart } else { -0.5 * apart })
        };
        let (model, nurse, age) = (3.0 * score(2.4) - 0.5, score(1.9), 50.0 + 8.0 * score(1.5));
        let ward =
            if row % 50 == 0 { format!("ward {}", row / 50 % 40) } else { format!("ward of {hospital}") };
        let said = if model > 0.0 { "send" } else { "keep" };
        let [label, copied] = if ill { ["ill", "true"] } else { ["not ill", "false"] };
        let pair = if row % 2 == 0 { "odd" } else { "even" };
        lines.push(format!(
            "{model:.5},{nurse:.5},{hospital} north,{label},{age:.4},{row},one,{said},{copied},{pair},{ward}"
        ));
    }
    folder.write("wards.csv", lines.join("\n") + "\n");
    folder
}

/// How often the model is wrong, of the rows that are ill and of the others.
fn errors(folder: &Folder) -> [f64; 2] {
    let table = folder.table("wards.csv");
    ["ill", "not ill"].map(|class| {
        let of_class = || table[1..].iter().filter(|row| row[3] == class);
        let wrong = of_class().filter(|row| {
            let ill = row[0].parse::<f64>().expect("a number") > 0.0;
            ill != (class == "ill")
        });
        wrong.count() as f64 / of_class().count() as f64
    })
}

#[test]
fn two_views_and_hospitals_are_enough() {
    let folder = folder();
    let asked = ["estimate", "wards.csv", "--model", "model", "--witness", "hospital"];
    let object = folder.json(&[&asked[..], &["--metrics", "--json", "--quiet"]].concat());
    assert_eq!(object["views"], json!(["model", "nurse", "hospital"]));
    assert_eq!(object["model"], json!(["model"]));
    assert_eq!(object["witnesses"][0]["name"], "hospital");
    assert_eq!(object["witnesses"][0]["values"].as_array().expect("values").len(), 5);
    assert_eq!(object["conditional_risk"].as_object().expect("views").len(), 2);
    let [missed, alarmed] = errors(&folder);
    for (key, truth) in [("sensitivity", 1.0 - missed), ("specificity", 1.0 - alarmed)] {
        let share = &object["metrics"][key];
        assert!(
            (number(share, "value") - truth).abs() < 4.0 * number(share, "standard_error"),
            "{truth} {share}"
        );
        assert!(share["interval"]["low"].is_number() || share["interval"][0].is_number(), "{share}");
    }
    let shown = folder.run(&[&asked[..], &["--metrics", "--quiet"]].concat());
    for part in ["sensitivity", "specificity", "witness", "without scores, 5 values", "of model"] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    // Without it the two views together are judged.
    let both = folder.json(&["estimate", "wards.csv", "--witness", "hospital", "--json", "--quiet"]);
    assert_eq!(both["model"], json!(["model", "nurse"]));
    assert!(number(&both, "error_rate") < number(&object, "error_rate"));
    let each =
        folder.json(&["estimate", "wards.csv", "--witness", "hospital", "--each", "--json", "--quiet"]);
    assert_eq!(each["each"].as_array().expect("views").len(), 2);
    let diagnosis = folder.json(&["diagnose", "wards.csv", "--witness", "hospital", "--json", "--quiet"]);
    assert_eq!(diagnosis["groups"], json!([["model"], ["nurse"], ["hospital"]]));
    let compared =
        ["compare", "wards.csv", "--witness", "hospital", "--model", "model", "--label", "label", "--quiet"];
    let text = folder.run(&compared).stdout;
    assert!(
        text.contains("dawid-skene does not apply: it compares the predictions of three views"),
        "{text}"
    );
    let compared = folder.json(&[&compared[..], &["--json"]].concat());
    let truth = number(&compared["truth"], "error_rate");
    assert!((number(&object, "error_rate") - truth).abs() < 0.02, "{truth}");
}

#[test]
fn numbers_are_binned_and_rare_values_pooled() {
    let folder = folder();
    let run = folder.run(&["estimate", "wards.csv", "--witness", "age", "--json"]);
    assert!(run.stderr.contains("witness `age`: its numbers are cut into"), "{}", run.stderr);
    let run = folder.run(&["estimate", "wards.csv", "--witness", "ward"]);
    assert!(run.stderr.contains("witness `ward`: 40 rare values are taken as one"), "{}", run.stderr);
    assert!(run.stdout.contains("the last for 40 rare ones"), "{}", run.stdout);
    // Two witnesses and two views make four views in three groups.
    let four = folder.json(&["estimate", "wards.csv", "--witness", "hospital,age", "--json", "--quiet"]);
    assert_eq!(four["groups"].as_array().expect("groups").len(), 3);
    let [alone, both] = ["hospital", "hospital,age"]
        .map(|witness| folder.json(&["estimate", "wards.csv", "--witness", witness, "--json", "--quiet"]));
    assert!(number(&both, "standard_error") < number(&alone, "standard_error"));
}

#[test]
fn moments_know_their_witness() {
    let folder = folder();
    let table = folder.table("wards.csv");
    let (first, second) = (&table[..6_001], [&table[..1], &table[6_001..]].concat());
    folder.write_table("first.csv", first);
    folder.write_table("second.csv", &second);
    folder.answered(&["moments", "first.csv", "--witness", "hospital", "-o", "first.moments", "--quiet"]);
    folder.answered(&["moments", "second.csv", "--like", "first.moments", "-o", "second.moments", "--quiet"]);
    let merged = folder.json(&["estimate", "first.moments", "second.moments", "--json", "--quiet"]);
    assert_eq!(
        (merged["rows"].as_u64(), &merged["witnesses"][0]["name"]),
        (Some(12_000), &json!("hospital"))
    );
    let whole = folder.json(&["estimate", "wards.csv", "--witness", "hospital", "--json", "--quiet"]);
    let off = number(&merged, "risk") - number(&whole, "risk");
    assert!(off.abs() < number(&whole, "standard_error"), "{off}");
    let refused = folder.refused(&["estimate", "first.moments", "--witness", "hospital"]);
    assert!(refused.contains("--witness"), "{refused}");
}

#[test]
fn what_is_no_witness_is_refused() {
    let folder = folder();
    let refused = |more: &[&str]| folder.refused(&[&["estimate", "wards.csv"], more].concat());
    for (witness, expected) in [
        ("flat", "has the value `one` in every row"),
        ("row", "12000 values in 12000 rows"),
        ("said", "follows from the scores of view `model`"),
        ("zog", "no column `zog` to identify classes by"),
        ("model:ill", "holds scores"),
    ] {
        let said = refused(&["--witness", witness]);
        assert!(said.contains(expected), "{witness}: {said}");
    }
    let said = refused(&[]);
    assert!(said.contains("2 view(s)") && said.contains("three or more are needed"), "{said}");
    let said = refused(&["--witness", "hospital", "--model", "hospital"]);
    assert!(said.contains("no view `hospital`") && said.contains("model, nurse"), "{said}");
    let said = refused(&["--witness", "hospital", "--views", "model"]);
    assert!(said.contains("--views") && said.contains("two or more are needed"), "{said}");
    let said = refused(&["--witness", "label", "--label", "label"]);
    assert!(said.contains("as the label and as a witness"), "{said}");
    let said = refused(&["--witness", "copied", "--label", "label"]);
    assert!(said.contains("follows from the label"), "{said}");
    // Three classes take three values.
    let mut lines = vec!["a:x,a:y,a:z,b:x,b:y,b:z,sex".to_owned()];
    for row in 0..600_usize {
        let cell = |at: usize| format!("{:.3}", ((row * (at + 3) * 7) % 97) as f64 / 97.0);
        let sex = if (row * row) % 7 < 3 { "f" } else { "m" };
        lines.push((0..6).map(cell).chain([sex.to_owned()]).collect::<Vec<_>>().join(","));
    }
    folder.write("three.csv", lines.join("\n") + "\n");
    let said = folder.refused(&["estimate", "three.csv", "--witness", "sex"]);
    assert!(said.contains("tells 2 values apart, and 3 classes take as many"), "{said}");
}
