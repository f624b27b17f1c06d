//! `triview hmm` and `triview simulate --hmm`.

use crate::support::{Folder, number, without_inputs};
use serde_json::Value;

/// A folder with sequences of three states in `chains.csv`, their model's transitions in `transition.csv`.
fn with_chains(more: &[&str]) -> Folder {
    let folder = Folder::new();
    let mut simulate = vec!["simulate", "--hmm", "--classes", "3", "--seed", "4"];
    for option in [["--sequences", "300"], ["--longest", "30"]] {
        if !more.contains(&option[0]) {
            simulate.extend(option);
        }
    }
    folder.answered(&[&simulate, more].concat());
    folder
}

#[test]
fn the_answer_is_near_the_truth_and_has_all_its_keys() {
    let folder = with_chains(&["-o", "chains.parquet"]);
    let truth: Value = serde_json::from_str(&folder.read("chains.truth.json")).expect("JSON");
    let args = ["hmm", "chains.parquet", "--transition", "transition.csv"];
    let run = folder.answered(
        &[&args[..], &["--json", "--output", "labels.csv", "--save-transition", "new.csv"]].concat(),
    );
    assert!(run.stderr.contains("columns not used: label"), "{}", run.stderr);
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    // Two-sided, once in a thousand times beyond 3.3.
    let z = (number(&answer, "risk") - number(&truth, "risk")) / number(&answer, "standard_error");
    assert!(z.abs() < 3.3, "{z} standard errors off");
    assert_eq!(answer["sequences"], 300);
    assert_eq!(answer["tokens"], truth["tokens"]);
    assert_eq!(answer["states"], serde_json::json!(["0", "1", "2"]));
    assert_eq!(answer["positions"]["risk"], "all");
    for key in
        ["transition_matrix", "model_transition_matrix", "emission_confusion", "model_emission_confusion"]
    {
        assert_eq!(answer[key].as_array().map(Vec::len), Some(3), "{key}");
    }
    let error = number(&answer["token_error"]["viterbi"], "value");
    assert!((error - number(&truth, "viterbi_error")).abs() < 0.05, "{error} {truth}");
    assert!(answer["trusted"].as_bool().expect("a verdict"));
    let labels = folder.table("labels.csv");
    assert_eq!(labels[0], ["sequence", "position", "viterbi", "posterior:0", "posterior:1", "posterior:2"]);
    assert_eq!(labels.len() as u64, 1 + answer["tokens"].as_u64().expect("a number"));
    assert!(folder.read("new.csv").starts_with("state,0,1,2\n0,"));
    let text = folder.answered(&args).stdout;
    assert!(
        text.starts_with("risk") && text.contains("Viterbi error") && text.contains("transitions: row"),
        "{text}"
    );
}

#[test]
fn positions_can_be_identified_by_themselves() {
    let folder =
        with_chains(&["--sequences", "4000", "--shortest", "6", "--longest", "6", "-o", "chains.csv"]);
    let truth: Value = serde_json::from_str(&folder.read("chains.truth.json")).expect("JSON");
    let args = ["hmm", "chains.csv", "-t", "transition.csv", "--by-position"];
    let answer: Value =
        serde_json::from_str(&folder.answered(&[&args[..], &["--json"]].concat()).stdout).expect("JSON");
    assert_eq!(
        answer["positions"],
        serde_json::json!({"risk": "all", "identification": "by position", "identified": 4})
    );
    let z = (number(&answer, "risk") - number(&truth, "risk")) / number(&answer, "standard_error");
    assert!(z.abs() < 3.3, "{z} standard errors off");
    let text = folder.answered(&args).stdout;
    assert!(text.contains("at each of 4 positions by itself"), "{text}");

    let few = with_chains(&["--sequences", "120", "-o", "chains.csv"]);
    let refused = few.refused(&args);
    assert!(refused.contains("120 sequence(s) are too few") && refused.contains("takes 150"), "{refused}");
}

#[test]
fn every_format_gives_the_same_answer() {
    let folder = with_chains(&["-o", "chains.csv"]);
    let answer = |folder: &Folder, table: &str| {
        without_inputs(&folder.answered(&["hmm", table, "-t", "transition.csv", "--json"]).stdout)
    };
    let expected = answer(&folder, "chains.csv");
    for other in ["chains.parquet", "chains.arrow"] {
        assert_eq!(answer(&with_chains(&["-o", other]), other), expected, "{other}");
    }
    // States in another order, positions from 1.
    let rows: Vec<Vec<String>> = folder
        .table("chains.csv")
        .into_iter()
        .map(|row| {
            let position =
                row[1].parse::<i64>().map_or(row[1].clone(), |position| (position + 1).to_string());
            [4, 0, 2, 1, 3]
                .iter()
                .map(|&at| if at == 1 { position.clone() } else { row[at].clone() })
                .collect()
        })
        .collect();
    folder.write_table("moved.csv", &rows);
    assert_eq!(answer(&folder, "moved.csv"), expected);
}

#[test]
fn short_sequences_are_counted_and_skipped() {
    let folder = with_chains(&["-o", "chains.csv", "--shortest", "1"]);
    let run = folder.answered(&["hmm", "chains.csv", "-t", "transition.csv", "--json"]);
    assert!(run.stderr.contains("fewer than three tokens, skipped: "), "{}", run.stderr);
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let [kept, skipped] = ["sequences", "too_short"].map(|key| answer[key].as_u64().expect("a number"));
    assert!(skipped > 0 && kept + skipped == 300);
}

#[test]
fn a_model_that_forbids_what_occurs_is_not_trusted() {
    let folder = with_chains(&["-o", "chains.csv"]);
    let mut transition = folder.table("transition.csv");
    transition[1][2] = "-inf".into();
    transition[2][3] = "-inf".into();
    folder.write_table("forbid.csv", &transition);
    let run = folder.run(&["hmm", "chains.csv", "-t", "forbid.csv"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("the model forbids"), "{}", run.stdout);
}

#[test]
fn bad_sequences_are_refused() {
    let folder = with_chains(&["-o", "chains.csv"]);
    let good = folder.table("chains.csv");
    let refused = |change: &dyn Fn(&mut Vec<Vec<String>>)| {
        let mut table = good.clone();
        change(&mut table);
        folder.write_table("bad.csv", &table);
        folder.refused(&["hmm", "bad.csv", "-t", "transition.csv", "-o", "labels.csv"])
    };
    let gap = refused(&|table| drop(table.remove(3)));
    assert!(gap.contains("row 3: sequence `0` has position 3 where 2 should follow: a gap"), "{gap}");
    let twice = refused(&|table| table.insert(3, table[2].clone()));
    assert!(
        twice.contains("row 3: sequence `0` has position 1 where 2 should follow: a duplicate"),
        "{twice}"
    );
    let late = refused(&|table| {
        let row = table.remove(3);
        table.push(row);
        table.remove(3);
    });
    assert!(late.contains("a gap"), "{late}");
    let interleaved = refused(&|table| {
        let first = table.iter().skip(1).take_while(|row| row[0] == "0").count();
        let last = table.remove(first);
        table.push(last);
    });
    assert!(interleaved.contains("sequence `0` begins at position"), "{interleaved}");
    let half = refused(&|table| table[2][1] = "1.5".into());
    assert!(half.contains("row 2, column `position`: 1.5 is no whole number"), "{half}");
    let nan = refused(&|table| table[2][3] = "NaN".into());
    assert!(nan.contains("row 2, column `emission:1`"), "{nan}");
    let text = refused(&|table| table[2][3] = "much".into());
    assert!(text.contains("row 2, column `emission:1`") && text.contains("much"), "{text}");
    for (column, name) in [(0, "sequence"), (1, "position")] {
        let empty = refused(&|table| table[2][column].clear());
        assert!(empty.contains(&format!("row 2, column `{name}`: the value is missing")), "{empty}");
        let lacking = refused(&|table| table[0][column] = "other".into());
        assert!(lacking.contains(&format!("no column `{name}`")), "{lacking}");
    }
    let unknown = refused(&|table| table[0][4] = "emission:9".into());
    assert!(unknown.contains("`2`") || unknown.contains(":2"), "{unknown}");
    let short =
        refused(&|table| table.retain(|row| !row[1].parse::<i64>().is_ok_and(|position| position > 1)));
    assert!(short.contains("all 300 sequence(s) are shorter than three tokens"), "{short}");
    folder.write("empty.csv", "sequence,position,emission:0,emission:1,emission:2\n");
    assert!(folder.refused(&["hmm", "empty.csv", "-t", "transition.csv"]).contains("no rows"));
}

#[test]
fn bad_transitions_are_refused() {
    let folder = with_chains(&["-o", "chains.csv"]);
    let good = folder.table("transition.csv");
    let refused = |change: &dyn Fn(&mut Vec<Vec<String>>)| {
        let mut table = good.clone();
        change(&mut table);
        folder.write_table("bad.csv", &table);
        folder.refused(&["hmm", "chains.csv", "-t", "bad.csv"])
    };
    let lacking = refused(&|table| drop(table.remove(2)));
    assert!(lacking.contains("`bad.csv`: it has no row for state `1`"), "{lacking}");
    let narrow = refused(&|table| drop(table[2].pop()));
    assert!(narrow.contains("row 2 (`1`) has 2 potential(s) for 3 states"), "{narrow}");
    let unknown = refused(&|table| table[2][0] = "noun".into());
    assert!(unknown.contains("row 2 is of `noun`, which its header does not name"), "{unknown}");
    let twice = refused(&|table| table[2][0] = "0".into());
    assert!(twice.contains("row 2 is the second of `0`"), "{twice}");
    let text = refused(&|table| table[2][1] = "never".into());
    assert!(text.contains("row 2, column `0`") && text.contains("never"), "{text}");
    let plus = refused(&|table| table[2][1] = "inf".into());
    assert!(plus.contains("the log potential from `1` to `0` is inf"), "{plus}");
    let unreachable = refused(&|table| (1..5).for_each(|row| table[row][2] = "-inf".into()));
    assert!(unreachable.contains("no transition leads to state `1`"), "{unreachable}");
    let others = refused(&|table| {
        table[0][3] = "9".into();
        table[3][0] = "9".into();
    });
    assert!(others.contains('9'), "{others}");
    assert!(
        folder
            .refused(&["hmm", "chains.csv", "-t", "nowhere.csv"])
            .contains("there is no file `nowhere.csv`")
    );
    let over = folder.refused(&["hmm", "chains.csv", "-t", "transition.csv", "-o", "transition.csv"]);
    assert!(over.contains("would be overwritten"), "{over}");
    let npy = folder.refused(&["hmm", "chains.csv", "-t", "transition.csv", "-o", "labels.npy"]);
    assert!(npy.contains("labels.npy"), "{npy}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let folder = Folder::new();
    let both = folder.refused(&["simulate", "--hmm", "--preset", "two", "-o", "a.csv"]);
    assert!(both.contains("--preset"), "{both}");
    assert_eq!(folder.run(&["simulate", "--stay", "0.5", "-o", "a.csv"]).code, 2);
    let stay = folder.refused(&["simulate", "--hmm", "--stay", "1.5", "-o", "a.csv"]);
    assert!(stay.contains("stay is 1.5"), "{stay}");
    let lengths = folder.refused(&["simulate", "--hmm", "--shortest", "9", "--longest", "5", "-o", "a.csv"]);
    assert!(lengths.contains("9 to 5"), "{lengths}");
}
