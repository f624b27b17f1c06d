//! More latent states than classes: `--latent`, and `simulate --subclasses`.

use crate::support::{Folder, number};
use serde_json::json;

/// A folder with a simulated table of three classes of two subclasses each, its truth beside it.
fn subclasses() -> Folder {
    let folder = Folder::new();
    let simulate =
        ["simulate", "--rows", "8000", "--seed", "1", "--subclasses", "2", "-o", "scores.csv", "-q"];
    folder.answered(&simulate);
    folder
}

#[test]
fn states_are_shown_in_json_and_text() {
    let folder = subclasses();
    let run = folder.run(&["estimate", "scores.csv", "--latent", "4", "--json"]);
    let estimate: serde_json::Value = serde_json::from_str(&run.stdout).expect("one JSON object");
    let latent = &estimate["latent"];
    assert_eq!(latent["states"], json!(4));
    assert!(latent.get("tried").is_none(), "{latent}");
    let map = latent["map"].as_array().expect("a list");
    assert!(map.len() == 4 && ["0", "1", "2"].iter().all(|class| map.contains(&json!(class))), "{latent}");
    let prior: Vec<f64> =
        latent["prior"].as_array().expect("a list").iter().map(|p| p.as_f64().expect("a number")).collect();
    assert!(prior.len() == 4 && (prior.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{latent}");
    assert_eq!(estimate["class_prior"].as_array().map(Vec::len), Some(3));
    assert_eq!(estimate["conditional_risk"]["a"][0].as_array().map(Vec::len), Some(3));

    let text = folder.run(&["diagnose", "scores.csv", "--latent", "4"]).stdout;
    assert!(text.lines().any(|line| line.starts_with("latent") && line.contains("4 states: 0 0.")), "{text}");
    assert!(text.contains("given the latent state"), "{text}");
}

#[test]
fn the_numbers_of_the_classes_may_be_given() {
    let folder = subclasses();
    let run = folder.run(&["estimate", "scores.csv", "--latent", "1=2", "--json"]);
    let estimate: serde_json::Value = serde_json::from_str(&run.stdout).expect("one JSON object");
    assert_eq!(estimate["latent"]["map"], json!(["0", "1", "1", "2"]));
    assert_eq!(estimate["latent"]["given"], json!(true));
    let rank = &estimate["latent"]["rank"];
    assert!(["a", "b", "c"].iter().all(|view| (2.0..=4.0).contains(&number(rank, view))), "{rank}");
    folder.answered(&["moments", "scores.csv", "--latent", "1=2", "-o", "given.state"]);
    let state = folder.run(&["estimate", "given.state", "--json"]).stdout;
    let state: serde_json::Value = serde_json::from_str(&state).expect("one JSON object");
    assert_eq!(state["latent"], estimate["latent"]);
    folder.answered(&["moments", "scores.csv", "--latent", "4", "-o", "free.state"]);
    let refused = folder.refused(&["estimate", "given.state", "free.state"]);
    assert!(
        refused.contains("the number of latent states of each class is [1, 2, 1] in one and free"),
        "{refused}"
    );
    let text = folder.run(&["estimate", "scores.csv", "--latent", "1=2"]).stdout;
    assert!(
        text.lines().any(|line| line.starts_with("latent") && line.contains("4 states, as given: 0 0.")),
        "{text}"
    );
    assert!(
        text.lines().any(|line| line.starts_with("rank") && line.contains("states told apart by a ")),
        "{text}"
    );
}

#[test]
fn the_number_is_found_and_said() {
    // One subclass a class: the first number that is tried is accepted.
    let folder = Folder::with_scores();
    let estimate = folder.json(&["estimate", "scores.csv", "--latent", "auto", "--json"]);
    assert_eq!(estimate["latent"]["map"], json!(["0", "1", "2"]));
    assert_eq!(estimate["latent"]["tried"][0]["states"], json!(3));
    assert!(number(&estimate["latent"]["tried"][0], "p_value") >= 0.05);
    let plain = folder.json(&["estimate", "scores.csv", "--json"]);
    assert_eq!(number(&plain, "risk").to_bits(), number(&estimate, "risk").to_bits());
    assert!(plain.get("latent").is_none());
    let text = folder.answered(&["estimate", "scores.csv", "--latent", "auto"]).stdout;
    assert!(text.lines().any(|line| line.starts_with("tried") && line.contains("3 (p = ")), "{text}");
}

#[test]
fn states_on_disk_have_their_number() {
    let folder = subclasses();
    folder.answered(&["moments", "scores.csv", "--latent", "4", "-o", "four.state"]);
    folder.answered(&["moments", "scores.csv", "--like", "four.state", "-o", "more.state"]);
    folder.answered(&["moments", "scores.csv", "-o", "plain.state"]);
    assert_eq!(folder.json(&["inspect", "four.state", "--json"])["latent"], json!(4));
    assert!(folder.json(&["inspect", "plain.state", "--json"]).get("latent").is_none());
    let inspected = folder.answered(&["inspect", "four.state"]).stdout;
    assert!(
        inspected.lines().any(|line| line.starts_with("latent") && line.contains("4 states")),
        "{inspected}"
    );

    let once = folder.run(&["estimate", "scores.csv", "--latent", "4", "--json"]).stdout;
    let state = folder.run(&["estimate", "four.state", "--json"]).stdout;
    let read = |text: &str, key: &str| number(&serde_json::from_str(text).expect("one JSON object"), key);
    let risk = |text: &str| read(text, "risk");
    assert_eq!(risk(&once).to_bits(), risk(&state).to_bits());
    let twice = folder.run(&["estimate", "four.state", "more.state", "--json"]).stdout;
    // Twice the rows say the same, and are believed more.
    let apart = (risk(&twice) - risk(&once)).abs();
    assert!(apart < read(&once, "standard_error"), "{} {}", risk(&twice), risk(&once));

    let refused = folder.refused(&["estimate", "four.state", "plain.state"]);
    assert!(refused.contains("the number of latent states is 4 in one and 3 in the other"), "{refused}");
    let refused = folder.refused(&["estimate", "four.state", "--latent", "5"]);
    assert!(refused.contains("--latent is for reading tables"), "{refused}");
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = Folder::with_scores();
    let refused = |latent: &str| folder.refused(&["estimate", "scores.csv", "--latent", latent]);
    assert!(refused("2").contains("latent is 2: at least as many latent states as classes are needed"));
    assert!(refused("65").contains("latent is 65: at most 64 latent states can be told apart"));
    for word in ["many", "1.5", ""] {
        assert!(
            refused(word).contains("a number of latent states, auto, or the numbers"),
            "{}",
            refused(word)
        );
    }
    for (text, message) in [
        ("0=2,9=2", "there is no class `9` to have latent states; the classes are 0, 1, 2"),
        ("0=2,0=3", "latent is `0` in 0=2,0=3: each class is named once"),
        ("1=0", "latent is `1` in 1=0: every class has at least one latent state"),
        ("0=60,1=9", "latent is 70: at most 64 latent states can be told apart"),
    ] {
        assert!(refused(text).contains(message), "{}", refused(text));
    }
}
