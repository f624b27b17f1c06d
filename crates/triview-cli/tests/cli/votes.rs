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
    let truth = parsed(&folder.read("votes.truth.json"));
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
        (
            "item,annotator,what\n1,a,x\n",
            "no column whose name tells that it is the vote; name it by --vote",
            vec![],
        ),
        ("what,annotator,vote\n1,a,x\n", "no column whose name tells that it is the item", vec![]),
        (
            "item,answer,response,judge\n1,x,y,a\n",
            "`response`, `answer` may each be the vote; say which by --vote",
            vec![],
        ),
        (long, "has no column `votes`; did you mean `vote`?", vec!["--vote", "votes"]),
        (long, "column `item` is named twice", vec!["--vote", "item"]),
        (
            "q,who,says\nq1,w1,x\nq1,w2,y\nq2,w1,x\nq2,w2,x\n",
            "column `q` has 2 different values, and no other column",
            vec![],
        ),
        ("item,a,b,c\n,x,y,x\n", "row 1, column `item`", vec![]),
        ("item,annotator,vote\n1,a,high\n", "`high` is no number", vec!["--cuts", "0.5"]),
        (
            "{\"item\": 1, \"judge\": \"a\", \"label\": \"x\"}\n{\"item\": [1]}\n",
            "line 2: `item` is a list",
            vec![],
        ),
        ("{\"item\": 1, \"judge\": \"a\", \"label\": \"x\"}\nno object\n", "`bad.csv`, line 2: ", vec![]),
    ];
    for (table, expected, more) in cases {
        folder.write("bad.csv", table);
        let run = folder.run(&[&["estimate", "--votes", "bad.csv"], more.as_slice()].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{table}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{table}: {}", run.stderr);
    }
    let numbers: String = (0..201).map(|row| format!("{row}.5,{row}.25,x\n")).collect();
    folder.write("scores.csv", format!("a,b,c\n{numbers}"));
    let run = folder.run(&["estimate", "--votes", "scores.csv"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("more than 200 different votes"), "{}", run.stderr);
    folder.answered(&["simulate", "--rows", "50", "-o", "scores.npy"]);
    assert!(folder.run(&["estimate", "--votes", "scores.npy"]).stderr.contains("`scores.npy` has no votes"));
    for option in ["--loss=log", "--label=truth", "--label-budget=-0.1", "--item=thing", "--cuts=2,1"] {
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

/// A table by the names of its columns.
fn columns(folder: &Folder, name: &str) -> BTreeMap<String, Vec<String>> {
    let table = folder.table(name);
    let column =
        |(at, name): (usize, &String)| (name.clone(), table[1..].iter().map(|row| row[at].clone()).collect());
    table[0].iter().enumerate().map(column).collect()
}

fn numbers(column: &[String]) -> Vec<f64> {
    column.iter().map(|text| text.parse().expect("a number")).collect()
}

#[test]
fn labels_of_a_crowds_items_come_out_in_their_order() {
    let folder = with_votes(&["-o", "votes.csv"]);
    let run = folder.answered(&[
        "label",
        "--votes",
        "votes.csv",
        "-o",
        "labels.csv",
        "--annotators",
        "annotators.csv",
        "--review",
        "review.csv",
    ]);
    assert!(
        run.stderr.contains("of the labels are wrong, if annotators err independently"),
        "{}",
        run.stderr
    );
    let header = &folder.table("labels.csv")[0];
    let expected =
        "item,truth,label,posterior:0,posterior:1,posterior:2,mean,majority,votes,agreement,difficulty";
    assert_eq!(header.join(","), expected);
    let found = columns(&folder, "labels.csv");
    assert_eq!(found["item"], (0..3000).map(|item| item.to_string()).collect::<Vec<_>>());
    let wrong =
        |by: &str| found[by].iter().zip(&found["truth"]).filter(|(label, truth)| label != truth).count();
    assert!(
        wrong("label") < wrong("majority") && wrong("label") < 600,
        "{} {}",
        wrong("label"),
        wrong("majority")
    );
    let posteriors = ["0", "1", "2"].map(|class| numbers(&found[&format!("posterior:{class}")]));
    for item in 0..3000 {
        let own = [0, 1, 2].map(|class: usize| posteriors[class][item]);
        assert!((own.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let label: usize = found["label"][item].parse().expect("a class");
        assert!(own.iter().all(|p| *p <= own[label]));
        assert!((numbers(&found["mean"][item..=item])[0] - own[1] - 2.0 * own[2]).abs() < 1e-9);
    }
    let annotators = columns(&folder, "annotators.csv");
    assert_eq!(
        (annotators["annotator"].len(), annotators["votes"].iter().any(|votes| votes == "0")),
        (20, false)
    );
    let truth = parsed(&folder.read("votes.truth.json"));
    let held = (0..20).filter(|&a| {
        let error = number(&truth["view_error"], &annotators["annotator"][a]);
        numbers(&annotators["error_low"])[a] <= error && error <= numbers(&annotators["error_high"])[a]
    });
    assert!(held.count() >= 15);
    for class in 0..3 {
        let column = |vote: usize| numbers(&annotators[&format!("vote:{vote}|class:{class}")])[0];
        assert!(((0..3).map(column).sum::<f64>() - 1.0).abs() < 1e-9);
    }
    let review = columns(&folder, "review.csv");
    let chances = numbers(&review["wrong"]);
    assert!(chances.len() > 50 && chances.windows(2).all(|pair| pair[0] >= pair[1]), "{}", chances.len());
    // Other formats hold the same.
    folder.answered(&["label", "--votes", "votes.csv", "-o", "labels.parquet", "--keep", "truth"]);
    folder.answered(&["label", "--votes", "votes.csv", "-o", "labels.arrow"]);
    for refused in ["labels.npy", "labels.txt", "votes.csv"] {
        assert_eq!(folder.run(&["label", "--votes", "votes.csv", "-o", refused]).code, 2, "{refused}");
    }
}

#[test]
fn what_belongs_to_an_item_goes_with_it() {
    let folder = with_votes(&["-o", "votes.csv"]);
    let rows: Vec<Vec<String>> = folder.table("votes.csv")[1..]
        .iter()
        .enumerate()
        .map(|(at, row)| {
            let [item, annotator, vote] = [0, 1, 2].map(|place: usize| row[place].clone());
            vec![item.clone(), annotator, vote, format!("text of {item}"), at.to_string(), "mine".into()]
        })
        .collect();
    let header = ["item", "annotator", "vote", "text", "second", "label"].map(str::to_owned).to_vec();
    folder.write_table("more.csv", &[vec![header], rows].concat());
    let run = folder.answered(&["label", "--votes", "more.csv", "-o", "labels.csv"]);
    assert!(run.stderr.contains("columns that differ within an item, left out: second"), "{}", run.stderr);
    assert!(run.stderr.contains("names are those of columns that are made: label"), "{}", run.stderr);
    let found = columns(&folder, "labels.csv");
    assert_eq!(found["text"][7], "text of 7");
    assert!(!found.contains_key("second") && !found["label"].contains(&"mine".to_owned()));
}

/// A folder with a crowd that has hard items in `votes.csv`, and the class of its first so many items in `gold.csv`.
fn with_hard_items(gold: usize) -> (Folder, Vec<String>) {
    let folder = with_votes(&["--hard", "0.3", "-o", "votes.csv"]);
    let labels = parsed(&folder.read("votes.truth.json"))["labels"].as_array().expect("labels").clone();
    let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
    let rows: String = (0..gold).map(|item| format!("{item},{}\n", labels[item])).collect();
    folder.write("gold.csv", format!("item,label\n{rows}"));
    (folder, labels)
}

#[test]
fn gold_tells_what_votes_do_not() {
    let (folder, truth) = with_hard_items(100);
    let without = folder.run(&["estimate", "--votes", "votes.csv", "--json"]);
    assert_eq!(without.code, 1);
    let without = parsed(&without.stdout);
    assert_eq!((&without["bound"], &without["view_error_bound"]), (&"at least".into(), &"at least".into()));
    assert_eq!(without["effective_voters_bound"], "at most");
    assert_eq!(without["diagnostics"]["independence"]["verdict"], "fail");
    assert!(number(&without, "floor") > 0.1);
    let with = folder.json(&["estimate", "--votes", "votes.csv", "--gold", "gold.csv", "--json"]);
    folder.answered(&[
        "label",
        "--votes",
        "votes.csv",
        "--gold",
        "gold.csv",
        "-o",
        "labels.csv",
        "--review",
        "review.csv",
    ]);
    let labels = columns(&folder, "labels.csv")["label"].clone();
    assert_eq!(labels[..100], truth[..100]);
    let wrong = (100..3000).filter(|item| labels[*item] != truth[*item]).count() as f64 / 2900.0;
    let interval = &with["error_rate_interval"];
    assert!(number(interval, "low") <= wrong && wrong <= number(interval, "high"), "{wrong} {interval}");
    assert!(number(&without, "error_rate") < wrong - 0.02, "{wrong} {}", without["error_rate"]);
    assert_eq!(
        (&with["bound"], &with["trusted"], &with["gold"]["items"]),
        (&Value::Null, &true.into(), &100.into())
    );
    assert!(number(&with, "effective_voters") < number(&without, "effective_voters"));
    // The items that are known are not looked at again.
    assert!(
        columns(&folder, "review.csv")["item"]
            .iter()
            .all(|item| item.parse::<usize>().expect("a number") >= 100)
    );
    // The same as a column of the table.
    let votes = folder.table("votes.csv");
    let with_class = votes.iter().enumerate().map(|(at, row)| {
        let known = match (at, row[0].parse::<usize>()) {
            (0, _) => "known",
            (_, Ok(item)) if item < 100 => truth[item].as_str(),
            _ => "",
        };
        [&row[..3], &[known.to_owned()]].concat()
    });
    folder.write_table("known.csv", &with_class.collect::<Vec<_>>());
    let column = folder.json(&["estimate", "--votes", "known.csv", "--label", "known", "--json"]);
    assert_eq!(column["error_rate"], with["error_rate"]);
}

#[test]
fn the_gold_still_to_be_had_is_counted_and_drawn() {
    let (folder, _) = with_hard_items(40);
    let budget = ["--label-budget", "0.1", "--label-rows", "next.csv"];
    let run =
        folder.run(&[&["estimate", "--votes", "votes.csv", "--gold", "gold.csv"], &budget[..]].concat());
    assert!(run.stdout.contains("label budget: the class of "), "{}", run.stdout);
    let json = folder.json(&[
        "estimate",
        "--votes",
        "votes.csv",
        "--gold",
        "gold.csv",
        "--label-budget",
        "0.1",
        "--json",
    ]);
    let next = columns(&folder, "next.csv");
    assert_eq!(json["label_budget"]["more"], next["item"].len());
    assert!(
        next["item"].len() > 20
            && next["item"].iter().all(|item| item.parse::<usize>().expect("a number") >= 40)
    );
    assert!(next.contains_key("truth"));
}

#[test]
fn gold_that_cannot_be_is_refused_and_nothing_is_written() {
    let (folder, _) = with_hard_items(20);
    for (gold, expected) in [
        ("item,label\n9999,1\n", "`bad.csv`, row 1: nobody votes on item `9999`"),
        (
            "item,label\n1,seven\n",
            "row 1: the class `seven` is not one of those that are voted for, `0`, `1`, `2`",
        ),
        ("item,label\n1,0\n2,1\n1,2\n", "row 3: item `1` is of class `2` and was of class `0` before"),
        ("thing,label\n1,0\n", "no column whose name tells that it is the item"),
        ("item,label\n", "no rows"),
    ] {
        folder.write("bad.csv", gold);
        let run = folder.run(&["label", "--votes", "votes.csv", "--gold", "bad.csv", "-o", "out.csv"]);
        assert_eq!((run.code, folder.path("out.csv").exists()), (2, false), "{gold}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{gold}: {}", run.stderr);
    }
    folder.write("few.csv", "item,label\n1,0\n2,1\n");
    let run = folder.run(&["estimate", "--votes", "votes.csv", "--gold", "few.csv"]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("2 items of known class say next to nothing"), "{}", run.stdout);
}

#[test]
fn the_usual_names_of_columns_and_json_lines_are_known() {
    let folder = with_votes(&["-o", "votes.csv"]);
    let answer = |args: &[&str]| {
        without_inputs(&folder.answered(&[&["estimate", "--votes", "--json"], args].concat()).stdout)
    };
    let expected = answer(&["votes.csv"]);
    let rows: Vec<Vec<String>> = folder.table("votes.csv")[1..].iter().map(|row| row[..3].to_vec()).collect();
    for header in [
        "task,worker,label",
        "item_id,worker_id,response",
        "Task ID,Worker ID,Answer",
        "taskId,judge,verdict",
    ] {
        let header: Vec<String> = header.split(',').map(str::to_owned).collect();
        folder.write_table("other.csv", &[vec![header.clone()], rows.clone()].concat());
        assert_eq!(answer(&["other.csv"]), expected, "{header:?}");
    }
    folder
        .write_table("odd.csv", &[vec![["x", "y", "z"].map(str::to_owned).to_vec()], rows.clone()].concat());
    assert_eq!(answer(&["odd.csv", "--item", "x", "--annotator", "y", "--vote", "z"]), expected);
    let lines: String = rows
        .iter()
        .map(|row| format!("{{\"item\": {}, \"judge\": \"{}\", \"label\": {}}}\n", row[0], row[1], row[2]))
        .collect();
    folder.write("votes.jsonl", lines);
    assert_eq!(answer(&["votes.jsonl"]), expected);
    // A vote given twice counts once, and is said.
    folder.write_table(
        "twice.csv",
        &[vec![["item", "annotator", "vote"].map(str::to_owned).to_vec()], rows.clone(), rows[..3].to_vec()]
            .concat(),
    );
    let run = folder.answered(&["estimate", "--votes", "twice.csv", "--json"]);
    assert_eq!(without_inputs(&run.stdout), expected);
    assert!(run.stderr.contains("counted once: 3"), "{}", run.stderr);
}

#[test]
fn numbers_of_judges_are_cut_into_classes() {
    let folder = with_votes(&["-o", "votes.csv"]);
    let mut rows = folder.table("votes.csv");
    let expected = folder.answered(&["estimate", "--votes", "votes.csv", "--json"]).stdout;
    for (at, row) in rows.iter_mut().enumerate().skip(1) {
        let class: f64 = row[2].parse().expect("a class");
        row[2] = format!("{:.3}", class / 3.0 + 0.3 * (at % 11) as f64 / 11.0);
    }
    folder.write_table("scores.csv", &rows);
    let cut =
        folder.answered(&["estimate", "--votes", "scores.csv", "--cuts", "0.333,0.666", "--json"]).stdout;
    let (cut, expected) = (parsed(&cut), parsed(&expected));
    assert_eq!(cut["classes"], serde_json::json!(["below 0.333", "0.333 to 0.666", "0.666 and above"]));
    assert_eq!(cut["error_rate"], expected["error_rate"]);
}

#[test]
fn three_judges_cannot_be_tested_and_are_not_trusted() {
    let folder = Folder::new();
    folder.answered(&[
        "simulate",
        "--crowd",
        "--classes",
        "2",
        "--annotators",
        "3",
        "--votes",
        "3",
        "--spammers",
        "0",
        "--adversaries",
        "0",
        "-o",
        "votes.csv",
    ]);
    let run = folder.run(&["estimate", "--votes", "votes.csv", "--json"]);
    let answer = parsed(&run.stdout);
    assert_eq!((run.code, &answer["trusted"], &answer["bound"]), (1, &false.into(), &"at least".into()));
    assert_eq!(answer["diagnostics"]["independence"]["verdict"], "untestable");
    assert!(
        folder
            .run(&["estimate", "--votes", "votes.csv"])
            .stdout
            .contains("nothing tells whether 3 annotators err independently")
    );
}
