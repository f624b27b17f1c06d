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

/// The chains of a folder with labels of the first sequences only, in `some.csv`, after a change to every row.
fn with_some_labels(folder: &Folder, labelled: usize, change: &dyn Fn(usize, &mut Vec<String>)) {
    let mut table = folder.table("chains.csv");
    let label = table[0].iter().position(|column| column == "label").expect("labels");
    for (row, cells) in table.iter_mut().enumerate() {
        if row > 0 && cells[0].parse::<usize>().expect("a number") >= labelled {
            cells[label].clear();
        }
        change(row, cells);
    }
    folder.write_table("some.csv", &table);
}

const LABELLED: [&str; 6] = ["hmm", "some.csv", "-t", "transition.csv", "--label", "label"];

#[test]
fn labels_of_some_sequences_stand_beside_a_trusted_answer() {
    let folder = with_chains(&["-o", "chains.csv"]);
    let truth: Value = serde_json::from_str(&folder.read("chains.truth.json")).expect("JSON");
    with_some_labels(&folder, 50, &|_, _| {});
    let json = [&LABELLED[..], &["--json"]].concat();
    let answer: Value = serde_json::from_str(&folder.answered(&json).stdout).expect("JSON");
    let plain: Value =
        serde_json::from_str(&folder.answered(&["hmm", "some.csv", "-t", "transition.csv", "--json"]).stdout)
            .expect("JSON");
    for key in ["risk", "interval", "token_error", "transition_matrix"] {
        assert_eq!(answer[key], plain[key], "{key}");
    }
    assert!(plain.get("labels").is_none() && answer.get("without_labels").is_none());
    let labels = &answer["labels"];
    assert_eq!((&labels["count"], &labels["imputer"]), (&50.into(), &"adapted".into()));
    let holds = |said: &Value, truth: f64| {
        let [low, high] = ["low", "high"].map(|end| number(&said["interval"], end));
        // An interval of 95% that is half as long again misses once in some three hundred times.
        let more = 0.25 * (high - low);
        assert!(low - more <= truth && truth <= high + more, "{said} {truth}");
    };
    holds(&labels["risk"], number(&truth, "risk"));
    holds(&labels["risk_per_token"], number(&truth, "risk_per_token"));
    holds(&labels["token_error"]["viterbi"], number(&truth, "viterbi_error"));
    holds(&labels["token_error"]["posterior"], number(&truth, "posterior_error"));
    assert!(number(&labels["token_error"]["viterbi"], "weight") > 0.0, "{labels}");
    let text = folder.answered(&LABELLED).stdout;
    assert!(
        text.contains("By the labels, whatever the chain does:") && text.contains("50 sequences"),
        "{text}"
    );
}

#[test]
fn labels_answer_where_the_chain_does_not() {
    let folder = with_chains(&["-o", "chains.csv"]);
    // A model without memory.
    with_some_labels(&folder, 60, &|_, _| {});
    let mut transition = folder.table("transition.csv");
    transition[1..].iter_mut().flat_map(|row| &mut row[1..]).for_each(|potential| *potential = "0".into());
    folder.write_table("transition.csv", &transition);
    let refused = folder.refused(&["hmm", "some.csv", "-t", "transition.csv"]);
    assert!(refused.contains("no memory") && refused.contains("`--label`"), "{refused}");
    let answer: Value =
        serde_json::from_str(&folder.answered(&[&LABELLED[..], &["--json"]].concat()).stdout).expect("JSON");
    let reason = answer["without_labels"]["reason"].as_str().expect("a reason");
    assert!(reason.contains("no memory") && answer.get("diagnostics").is_none(), "{answer}");
    assert_eq!((&answer["trusted"], &answer["labels"]["imputer"]), (&true.into(), &"model".into()));
    assert_eq!(answer["risk"], answer["labels"]["risk"]["value"]);
    assert_eq!(
        answer["token_error"]["viterbi"]["value"],
        answer["labels"]["token_error"]["viterbi"]["value"]
    );
    let run = folder.answered(&[&LABELLED[..], &["--report", "page.html"]].concat());
    assert!(
        run.stdout.starts_with("risk") && run.stdout.contains("whatever the chain does"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("Without the labels there is no answer"), "{}", run.stdout);
    assert!(folder.read("page.html").contains("holds whatever the chain does"));
    let adapted = folder.refused(&[&LABELLED[..], &["--save-transition", "new.csv"]].concat());
    assert!(adapted.contains("no model that the data suggest"), "{adapted}");
}

#[test]
fn bad_labels_are_refused() {
    let folder = with_chains(&["-o", "chains.csv"]);
    let refused = |labelled: usize, change: &dyn Fn(usize, &mut Vec<String>)| {
        with_some_labels(&folder, labelled, change);
        folder.refused(&LABELLED)
    };
    let label = 5;
    let part = refused(50, &|row, cells| {
        if row == 3 {
            cells[label].clear();
        }
    });
    assert!(part.contains("row 3, column `label`: sequence `0` is labelled only in part"), "{part}");
    assert!(part.contains("no label"), "{part}");
    let more = refused(0, &|row, cells| {
        if row == 2 {
            cells[label] = "1".into();
        }
    });
    assert!(more.contains("row 2, column `label`: sequence `0`") && more.contains("has a label"), "{more}");
    let unknown = refused(50, &|row, cells| {
        if row == 4 {
            cells[label] = "noun".into();
        }
    });
    assert!(unknown.contains("row 4, column `label`: sequence `0` has the label `noun`"), "{unknown}");
    let few = refused(9, &|_, _| {});
    assert!(few.contains("9 sequence(s)") && few.contains("an interval takes 10"), "{few}");
    let none = folder.refused(&["hmm", "some.csv", "-t", "transition.csv", "--label", "state"]);
    assert!(none.contains("`state`"), "{none}");
}

/// Chains whose model has one more state, `name.csv` and `name.transition.csv`, with labels of the first sequences. What its score is in the cells of a token.
fn with_fourth_state(name: &str, labelled: usize, score: &dyn Fn(&[String]) -> String) -> Folder {
    let folder = with_chains(&["-o", "chains.csv"]);
    with_some_labels(&folder, labelled, &|row, cells| {
        cells.push(if row == 0 { "emission:9".into() } else { score(cells) });
    });
    folder.write_table(&format!("{name}.csv"), &folder.table("some.csv"));
    let mut transition = folder.table("transition.csv");
    transition[0].push("9".into());
    transition[1..].iter_mut().for_each(|row| row.push("-3".into()));
    transition.insert(1, ["9", "-1", "-1", "-1", "-1"].map(String::from).to_vec());
    folder.write_table(&format!("{name}.transition.csv"), &transition);
    folder
}

/// That no token is in.
fn with_rare_state(labelled: usize) -> Folder {
    with_fourth_state("rare", labelled, &|_| "-60".into())
}

/// That only first tokens are in: what comes after them says nothing of it.
fn with_spare_state(labelled: usize) -> Folder {
    with_fourth_state("spare", labelled, &|cells| {
        let scores = cells[2..5].iter().map(|cell| cell.parse::<f64>().expect("a score"));
        if cells[1] == "0" { (scores.fold(f64::MIN, f64::max) + 2.0).to_string() } else { "-60".into() }
    })
}

const RARE: [&str; 4] = ["hmm", "rare.csv", "-t", "rare.transition.csv"];

const SPARE: [&str; 4] = ["hmm", "spare.csv", "-t", "spare.transition.csv"];

#[test]
fn what_is_not_identified_is_the_models_belief_and_says_so() {
    let folder = with_spare_state(60);
    let run = folder.run(&[&SPARE[..], &["--json"]].concat());
    assert_eq!(run.code, 1, "{run:?}");
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!((&answer["standard_error"], &answer["interval"]["high"]), (&Value::Null, &Value::Null));
    assert!(number(&answer["interval"], "low") > 0.0, "what the best labelling costs: {answer}");
    let error = &answer["token_error"]["viterbi"];
    assert_eq!((number(&error["interval"], "low"), number(&error["interval"], "high")), (0.0, 1.0));
    assert_eq!(error["value"], error["belief"]);
    assert_eq!(answer["diagnostics"]["alarm_details"][0]["code"], "not-identified");
    let text = folder.run(&SPARE).stdout;
    assert!(text.contains("the model's own belief") && text.contains("--label"), "{text}");
    assert!(text.contains("(standard error unknown)") && !text.contains("e27"), "{text}");
    assert!(text.contains("interval         at least ") && text.contains("0.00 to 1.00"), "{text}");
    assert!(!text.contains("in the data") && !text.contains("± (95%)"), "{text}");

    // Labels answer instead, and what is said without them stands beside.
    let labelled = folder.answered(&[&SPARE[..], &["--label", "label", "--json"]].concat());
    let answer: Value = serde_json::from_str(&labelled.stdout).expect("JSON");
    assert_eq!((&answer["trusted"], &answer["without_labels"]["trusted"]), (&true.into(), &false.into()));
    assert_eq!((&answer["labels"]["count"], &answer["labels"]["imputer"]), (&60.into(), &"model".into()));
    assert_eq!(
        answer["token_error"]["viterbi"]["value"],
        answer["labels"]["token_error"]["viterbi"]["value"]
    );
    let remedy = answer["diagnostics"]["alarm_details"][0]["remedy"].as_str().expect("a remedy");
    assert!(!remedy.contains("--label"), "{remedy}");
    let text = folder.answered(&[&SPARE[..], &["--label", "label"]].concat()).stdout;
    assert!(text.starts_with("risk") && text.contains("Without the labels:\n\nNOT TO BE TRUSTED"), "{text}");
}

#[test]
fn states_too_rare_to_be_told_apart_are_counted_as_one_and_named() {
    let folder = with_rare_state(60);
    let run = folder.answered(&[&RARE[..], &["--json", "--report", "page.html"]].concat());
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(answer["pooled_states"], serde_json::json!(["0", "9"]));
    assert_eq!(answer["states"], serde_json::json!(["0 or 9", "1", "2"]));
    let page = folder.read("page.html");
    assert!(page.contains("0, 9: too rare to be told apart, counted as one"), "{page}");
    let text = folder.answered(&RARE).stdout;
    assert!(text.contains("pooled     0, 9: too rare to be told apart, counted as one"), "{text}");

    // What is written of the tokens has all states of the model.
    let asked = ["--adapt", "--output", "tokens.csv", "--save-transition", "new.csv"];
    folder.answered(&[&RARE[..], &asked].concat());
    let (tokens, transition) = (folder.table("tokens.csv"), folder.table("new.csv"));
    assert!(tokens[0].contains(&"posterior:9".to_owned()), "{:?}", tokens[0]);
    assert_eq!(transition[0].len(), 5, "{transition:?}");

    let labelled = folder.answered(&[&RARE[..], &["--label", "label", "--json"]].concat());
    let answer: Value = serde_json::from_str(&labelled.stdout).expect("JSON");
    assert_eq!(answer["labels"]["count"], 60);
}

#[test]
fn a_model_that_cannot_be_told_to_be_better_is_not_written() {
    let folder = with_spare_state(60);
    let asked = ["--adapt", "--output", "better.csv", "--save-transition", "new.csv"];
    let run = folder.run(&[&SPARE[..], &asked].concat());
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("not written: `better.csv` and `new.csv`"), "{}", run.stderr);
    assert!(run.stderr.contains("--force") && run.stdout.contains("cannot be told to be better"), "{run:?}");
    assert!(!folder.path("better.csv").exists() && !folder.path("new.csv").exists());
    // The labels of the given model are no question.
    folder.run(&[&SPARE[..], &["--output", "own.csv"]].concat());
    assert!(folder.path("own.csv").exists());
    folder.run(&[&SPARE[..], &asked, &["--force"]].concat());
    assert!(folder.path("better.csv").exists() && folder.path("new.csv").exists());

    // Labels of all sequences know.
    let known = with_chains(&["-o", "chains.csv"]);
    let all = ["hmm", "chains.csv", "-t", "transition.csv", "--label", "label", "--json"];
    let run = known.answered(&[&all[..], &asked].concat());
    let answer: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(
        (&answer["adapted"]["better"], &answer["adapted"]["judged_by"]),
        (&true.into(), &"labels".into())
    );
    assert!(number(&answer["adapted"]["gain"]["interval"], "low") > 0.0, "{answer}");
    assert!(known.path("better.csv").exists() && known.path("new.csv").exists());
}
