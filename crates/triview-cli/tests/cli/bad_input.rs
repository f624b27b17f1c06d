//! Each kind of bad input has its own message, status 2, nothing on standard output and nothing left behind.

use crate::support::Folder;
use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use std::fs::File;
use std::sync::Arc;

/// What `estimate` says of `scores.csv` after a change to its cells.
fn changed(change: impl FnOnce(&mut Vec<Vec<String>>)) -> String {
    let folder = Folder::with_scores();
    let mut table = folder.table("scores.csv");
    change(&mut table);
    folder.write_table("scores.csv", &table);
    folder.refused(&["estimate", "scores.csv"])
}

/// Leaves out the columns of a table whose names do not fit.
fn keep_columns(table: &mut Vec<Vec<String>>, keep: impl Fn(&str) -> bool) {
    let kept: Vec<bool> = table[0].iter().map(|name| keep(name)).collect();
    for row in table {
        let mut kept = kept.iter();
        row.retain(|_| *kept.next().expect("one for each column"));
    }
}

#[test]
fn a_missing_file() {
    assert_eq!(
        Folder::new().refused(&["estimate", "scores.csv"]),
        "error: there is no file `scores.csv`; check the path"
    );
    assert_eq!(
        Folder::new().refused(&["estimate", "scores.state"]),
        "error: there is no file `scores.state`; check the path"
    );
    assert_eq!(
        Folder::new().refused(&["inspect", "scores.state"]),
        "error: there is no file `scores.state`; check the path"
    );
}

#[test]
fn a_folder() {
    assert_eq!(
        Folder::new().refused(&["estimate", "."]),
        "error: `.` is a folder; name the files in it, such as `./*.parquet`"
    );
}

#[test]
fn an_empty_file() {
    let folder = Folder::new();
    folder.write("scores.csv", "");
    assert_eq!(
        folder.refused(&["estimate", "scores.csv"]),
        "error: `scores.csv` is empty; a score table has a header and rows"
    );
}

#[test]
fn nothing_on_standard_input() {
    let folder = Folder::new();
    let mut command = folder.command(&["estimate", "-"]);
    command.write_stdin("");
    let run = crate::support::Run::of(command);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert_eq!(run.stderr, "error: `standard input` is empty; a score table has a header and rows\n");
}

#[test]
fn a_header_only() {
    assert_eq!(
        changed(|table| table.truncate(1)),
        "error: `scores.csv` has columns but no rows; there is nothing to estimate from"
    );
}

#[test]
fn a_misspelt_view() {
    let folder = Folder::with_scores();
    assert_eq!(
        folder.refused(&["estimate", "scores.csv", "--views", "a,b,d"]),
        "error: `scores.csv` has no view `d`; did you mean `a`? its views are `a`, `b`, `c`"
    );
}

#[test]
fn no_score_columns() {
    assert_eq!(
        changed(|table| keep_columns(table, |name| name == "label")),
        "error: `scores.csv` has no score columns; they are named `view:class` (such as `image:cat`; `--columns` takes other patterns) or are one list a view, or, of two classes, one column a view that `--views` names; hard predictions take `--votes`; found `label`"
    );
}

#[test]
fn a_missing_class_column() {
    assert_eq!(
        changed(|table| keep_columns(table, |name| name != "b:1")),
        "error: `scores.csv`: there is no column `b:1`, though view `a` has that class; every view needs the same classes"
    );
}

#[test]
fn a_misspelt_class_column() {
    assert_eq!(
        changed(|table| table[0][4] = "b:one".to_owned()),
        "error: `scores.csv`: there is no column `b:1`, though view `a` has that class; every view needs the same classes"
    );
}

#[test]
fn classes_that_differ_between_views() {
    let rename = |table: &mut Vec<Vec<String>>| {
        for name in &mut table[0][6..9] {
            *name = name.replace("c:", "c:class ");
        }
    };
    assert_eq!(
        changed(rename),
        "error: `scores.csv`: there is no column `c:0`, though view `a` has that class; every view needs the same classes"
    );
}

#[test]
fn two_views() {
    assert_eq!(
        changed(|table| keep_columns(table, |name| !name.starts_with("c:"))),
        "error: `scores.csv` has 2 view(s): a (3 classes), b (3 classes); three or more are needed: name them in `--views a,b,c` or mend the column names"
    );
}

#[test]
fn one_class() {
    let folder = Folder::with_scores();
    let mut table = folder.table("scores.csv");
    keep_columns(&mut table, |name| name.ends_with(":0"));
    folder.write_table("scores.csv", &table);
    assert_eq!(
        folder.refused(&["estimate", "scores.csv", "--classes", "0"]),
        "error: `scores.csv` has 1 class(es) (0); at least two are needed, one column `view:class` for each"
    );
}

#[test]
fn a_nan_or_an_infinity() {
    assert_eq!(
        changed(|table| table[1234][5] = "NaN".to_owned()),
        "error: `scores.csv`, row 1234, column `b:2`: the score is NaN; scores must be finite: remove the row, or clip probabilities before taking logs"
    );
    assert_eq!(
        changed(|table| table[4000][0] = "-inf".to_owned()),
        "error: `scores.csv`, row 4000, column `a:0`: the score is -inf; scores must be finite: remove the row, or clip probabilities before taking logs"
    );
}

#[test]
fn text_in_a_score_column() {
    assert_eq!(
        changed(|table| table[17][3] = "high".to_owned()),
        "error: `scores.csv`, row 17, column `b:0`: `high` is not a number; mend the value or remove the row"
    );
}

#[test]
fn a_missing_value() {
    assert_eq!(
        changed(|table| table[17][3] = String::new()),
        "error: `scores.csv`, row 17, column `b:0`: the value is missing; fill it in or remove the row"
    );
}

#[test]
fn a_short_row() {
    assert_eq!(
        changed(|table| table[42].truncate(4)),
        "error: `scores.csv`, row 42 has 4 field(s) where the header has 10; look for a missing separator, an unquoted one, or decimal commas"
    );
}

#[test]
fn not_a_probability() {
    let folder = Folder::with_scores();
    let message = folder.refused(&["estimate", "scores.csv", "--input", "probability"]);
    assert!(message.contains("is not a probability"), "{message}");
}

#[test]
fn lists_of_unequal_length() {
    let folder = Folder::new();
    let column = |short: Option<usize>| -> ArrayRef {
        let mut lists = ListBuilder::new(Float64Builder::new());
        for row in 0..300 {
            let length = if short == Some(row) { 2 } else { 3 };
            lists.append_value((0..length).map(|class| Some(f64::from(class * row as i32 % 7))));
        }
        Arc::new(lists.finish())
    };
    let columns = [("a", column(None)), ("b", column(Some(250))), ("c", column(None))];
    let batch = RecordBatch::try_from_iter(columns).expect("equal lengths");
    let file = File::create(folder.path("scores.arrow")).expect("a writable folder");
    let mut writer = FileWriter::try_new(file, &batch.schema()).expect("a writer");
    writer.write(&batch).and_then(|()| writer.finish()).expect("written");
    assert_eq!(
        folder.refused(&["estimate", "scores.arrow"]),
        "error: `scores.arrow`, row 251, column `b`: the list has 2 score(s) where there are 3 classes"
    );
}

#[test]
fn fewer_rows_than_can_be_answered() {
    assert_eq!(
        changed(|table| table.truncate(100)),
        "error: 99 row(s): at least 200 are needed for 3 classes"
    );
}

#[test]
fn constant_scores() {
    let constant = |table: &mut Vec<Vec<String>>| {
        for row in &mut table[1..] {
            row[3..6].fill("0.5".to_owned());
        }
    };
    assert_eq!(
        changed(constant),
        "error: the scores of view `b` are constant: it says nothing of the class; leave it out or mend it"
    );
}

#[test]
fn identical_views() {
    let copy = |table: &mut Vec<Vec<String>>| {
        for row in &mut table[1..] {
            let (first, rest) = row.split_at_mut(3);
            rest[3..6].clone_from_slice(first);
        }
    };
    assert_eq!(
        changed(copy),
        "error: views `a` and `c` are copies of each other: they cannot be independent given the class"
    );
}

#[test]
fn truncated_tables() {
    let truncated = |name: &str| {
        let folder = Folder::new();
        folder.answered(&["simulate", "--rows", "2000", "-o", name]);
        folder.truncate(name, |length| length / 2);
        folder.refused(&["estimate", name])
    };
    assert_eq!(
        truncated("scores.parquet"),
        "error: `scores.parquet` is a truncated Parquet file: it does not end with the footer of one; copy or write it again"
    );
    assert_eq!(
        truncated("scores.arrow"),
        "error: `scores.arrow` is a truncated Arrow IPC file: it does not end with the footer of one; copy or write it again"
    );
    assert_eq!(
        truncated("scores.npy"),
        "error: `scores.npy` is a truncated NPY file: its header promises 144000 bytes of numbers, there are 71936; copy or write it again"
    );
}

#[test]
fn something_else_altogether() {
    let folder = Folder::new();
    folder.write("scores.parquet", "a picture, perhaps");
    assert_eq!(
        folder.refused(&["estimate", "scores.parquet"]),
        "error: `scores.parquet` is named like a Parquet file but does not begin like one; it may be damaged or misnamed"
    );
}

#[test]
fn a_corrupt_state() {
    let folder = Folder::with_scores();
    folder.answered(&["moments", "scores.csv", "--feature-map", "scores", "-o", "scores.state"]);
    folder.truncate("scores.state", |length| length - 100);
    assert_eq!(
        folder.refused(&["estimate", "scores.state"]),
        "error: `scores.state` is a damaged file of moments: incomplete metadata, file not fully covered; make it again"
    );
    assert_eq!(
        folder.refused(&["inspect", "scores.state"]),
        "error: `scores.state` is a damaged file of moments: incomplete metadata, file not fully covered; make it again"
    );
    assert_eq!(
        folder.refused(&["moments", "scores.csv", "--like", "scores.state", "-o", "new.state"]),
        "error: `scores.state` is a damaged file of moments: incomplete metadata, file not fully covered; make it again"
    );
}

#[test]
fn a_foreign_state() {
    let folder = Folder::with_scores();
    folder.write("foreign.state", "PK\u{3}\u{4} not one of ours");
    assert_eq!(
        folder.refused(&["estimate", "foreign.state"]),
        "error: `foreign.state` is not a triview file of the kind asked for (file of moments): it is not in the safetensors format"
    );
    assert_eq!(
        folder.refused(&["moments", "scores.csv", "--posterior", "scores.truth.json", "-o", "new.state"]),
        "error: `scores.truth.json` is not a triview file of the kind asked for (saved posterior): it is something else"
    );
}

#[test]
fn states_that_do_not_match() {
    let folder = Folder::with_scores();
    folder.answered(&["moments", "scores.csv", "--feature-map", "scores", "-o", "one.state"]);
    folder.answered(&["moments", "scores.csv", "--feature-map", "softmax", "-o", "two.state"]);
    assert_eq!(
        folder.refused(&["estimate", "one.state", "two.state"]),
        "error: `two.state`: the moments do not match: the feature map is scores in one and softmax in the other; sum all parts by one plan\n\
         hint: make the parts with `moments --like`"
    );
    folder.answered(&["simulate", "--classes", "2", "--rows", "1000", "-o", "other.csv"]);
    assert_eq!(
        folder.refused(&["moments", "other.csv", "--like", "one.state", "-o", "new.state"]),
        "error: with the views and classes of `one.state`: `other.csv`: there is no column `a:2`, though `--classes` names it; every view needs the same classes"
    );
}

#[test]
fn tables_among_states() {
    let folder = Folder::with_scores();
    folder.answered(&["moments", "scores.csv", "--feature-map", "scores", "-o", "one.state"]);
    assert_eq!(
        folder.refused(&["estimate", "one.state", "scores.csv"]),
        "error: `one.state` holds moments and `scores.csv` does not: estimate from tables or from moments, or turn the tables into moments with `moments --like one.state`"
    );
}

#[test]
fn options_that_a_state_has_settled() {
    let folder = Folder::with_scores();
    folder.answered(&["moments", "scores.csv", "--feature-map", "scores", "-o", "one.state"]);
    assert_eq!(
        folder.refused(&["estimate", "one.state", "--feature-map", "softmax"]),
        "error: --feature-map is for reading tables; moments have it settled: give it to `moments` instead"
    );
}

#[test]
fn an_output_that_cannot_be_written() {
    let folder = Folder::with_scores();
    let moments = |output: &str| folder.refused(&["moments", "scores.csv", "-o", output]);
    assert_eq!(
        moments("nowhere/scores.state"),
        "error: cannot write `nowhere/scores.state`: No such file or directory (os error 2)"
    );
    assert_eq!(moments("."), "error: cannot write `.`: it is a folder; name a file in it");
    assert_eq!(
        folder.refused(&["simulate", "-o", "nowhere/scores.csv"]),
        "error: cannot write `nowhere/scores.csv`: No such file or directory (os error 2)"
    );
    assert_eq!(
        folder.refused(&["simulate", "-o", "new.csv", "--truth", "nowhere/truth.json"]),
        "error: cannot write `nowhere/truth.json`: No such file or directory (os error 2)"
    );
    assert_eq!(
        folder.refused(&["simulate", "-o", "new.xlsx"]),
        "error: `new.xlsx`: cannot tell the format; end the name in .csv, .parquet, .arrow or .npy"
    );
    assert_eq!(
        folder.refused(&["demo", "--svg", "nowhere/demo.svg"]),
        "error: cannot write `nowhere/demo.svg`: No such file or directory (os error 2)"
    );
    assert_eq!(
        folder.refused(&["estimate", "scores.csv", "--save-posterior", "nowhere/posterior.json"]),
        "error: cannot write `nowhere/posterior.json`: No such file or directory (os error 2)"
    );
}

#[test]
fn an_output_that_would_overwrite_an_input() {
    let folder = Folder::with_scores();
    assert_eq!(
        folder.refused(&["moments", "scores.csv", "-o", "./scores.csv"]),
        "error: `./scores.csv` is needed for something else and would be overwritten; choose another output"
    );
    assert_eq!(
        folder.refused(&["simulate", "-o", "new.csv", "--truth", "./new.csv"]),
        "error: `./new.csv` is needed for something else and would be overwritten; choose another output"
    );
}

#[test]
fn a_failure_keeps_what_was_there() {
    let folder = Folder::with_scores();
    let mut table = folder.table("scores.csv");
    table[3999][2] = "oops".to_owned();
    folder.write_table("late.csv", &table);
    folder.write("precious.state", "do not lose me");
    assert_eq!(
        folder.refused(&["moments", "late.csv", "--feature-map", "scores", "-o", "precious.state"]),
        "error: `late.csv`, row 3999, column `a:2`: `oops` is not a number; mend the value or remove the row"
    );
}

#[test]
fn a_loss_that_does_not_exist() {
    let said = Folder::with_scores().refused(&["estimate", "scores.csv", "--loss", "logg"]);
    assert!(said.contains("invalid value 'logg'") && said.contains("[possible values: log, hinge"), "{said}");
}

#[test]
fn scores_whose_exponential_overflows() {
    let folder = Folder::with_scores();
    let mut table = folder.table("scores.csv");
    table[8][1] = "-1000".into();
    folder.write_table("scores.csv", &table);
    assert_eq!(
        folder.refused(&["estimate", "scores.csv", "--loss", "exponential"]),
        "error: `scores.csv`, row 8: the exponential loss of view `a` for class `1` is inf; scale the scores down, or take another loss"
    );
}

#[test]
fn a_question_that_is_not_understood() {
    let folder = Folder::with_scores();
    assert!(folder.refused(&["estimate"]).contains("TABLE|MOMENTS"));
    assert!(folder.refused(&["estimate", "scores.csv", "--threads", "0"]).contains("--threads"));
    assert!(folder.refused(&["estimate", "scores.csv", "--feature-map", "sores"]).contains("scores"));
    assert!(folder.refused(&["simulate", "--classes", "1", "-o", "new.csv"]).contains("--classes"));
    assert!(folder.refused(&["predict"]).contains("predict"));
}
