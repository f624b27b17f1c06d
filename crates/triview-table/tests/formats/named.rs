//! Columns that are named in other ways than `view:class`, and views of one column.

use crate::common::*;
use triview::data::Source;
use triview_table::{Input, ReadOptions};

fn options(columns: &str) -> ReadOptions {
    ReadOptions { columns: Some(columns.parse().unwrap()), ..Default::default() }
}

fn views(names: [&str; 3]) -> ReadOptions {
    ReadOptions { views: Some(names.map(str::to_owned).to_vec()), ..Default::default() }
}

#[test]
fn a_pattern_names_views_and_classes() {
    let folder = folder();
    let text = "user_id,text_cat,text_dog,image_cat,image_dog,x:y,sound_cat,sound_dog\n7,1,2,3,4,8,5,6\n";
    let path = put(&folder, "t.csv", text);
    let (table, batches) = read_with(&[&path], &options("{view}_{class}")).unwrap();
    assert_eq!(table.schema().views(), ["text", "image", "sound"]);
    assert_eq!(table.schema().classes(), ["cat", "dog"]);
    assert_eq!(table.ignored_columns(), ["user_id", "x:y"]);
    assert_eq!(rows(&batches), [[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]].map(Vec::from)]);

    let path = put(&folder, "p.csv", text.replace('_', ".").replace("cat", "0").replace("dog", "1"));
    let by_class = read_with(&[&path], &options("{view}.{class}")).unwrap().0;
    assert_eq!(by_class.schema().classes(), ["0", "1"]);
    let subset = ReadOptions { views: views(["sound", "text", "image"]).views, ..options("{view}.{class}") };
    assert_eq!(read_with(&[&path], &subset).unwrap().0.schema().views(), ["sound", "text", "image"]);
}

#[test]
fn messages_name_the_column_as_the_file_does() {
    let folder = folder();
    let path = put(&folder, "t.csv", "a_0,a_1,b_0,b_1,c_0,c_1\n1,2,3,oh,5,6\n");
    let error = read_with(&[&path], &options("{view}_{class}")).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("column `b_1`: `oh`"), "{error}");
}

#[test]
fn of_two_classes_a_view_may_be_one_column() {
    let folder = folder();
    let text = "id,a,b,c\n7,0.5,-1,2\n8,,1,-0.25\n";
    let path = put(&folder, "t.csv", text);
    let (table, batches) = read_with(&[&path], &views(["a", "b", "c"])).unwrap();
    assert_eq!(table.schema().classes(), ["0", "1"]);
    assert_eq!(table.ignored_columns(), ["id"]);
    assert_eq!(
        rows(&batches),
        [[[0.0, 0.5], [0.0, -1.0], [0.0, 2.0]], [[0.0, 0.0], [0.0, 1.0], [0.0, -0.25]]]
            .map(|row| row.map(Vec::from).to_vec())
    );
    assert_eq!(batches[0].missing(), Some([0, 0b001].as_slice()));

    // By a pattern, and by the one class that every view has a column of.
    let patterned = put(&folder, "p.csv", text.replace("a,b,c", "s_a,s_b,s_c"));
    assert_eq!(read_with(&[&patterned], &options("s_{view}")).unwrap().1, batches);
    let classed = put(&folder, "q.csv", text.replace("a,b,c", "a:yes,b:yes,c:yes"));
    let (table, same) = read(&classed).unwrap();
    assert_eq!(table.schema().classes(), ["not yes", "yes"]);
    assert_eq!(same, batches);
    let named =
        ReadOptions { classes: Some(["no", "yes"].map(str::to_owned).to_vec()), ..Default::default() };
    assert_eq!(read_with(&[&classed], &named).unwrap().0.schema().classes(), ["no", "yes"]);
}

#[test]
fn one_column_may_be_a_probability() {
    let folder = folder();
    let path = put(&folder, "t.csv", "a,b,c\n0.5,0.25,1\n,0.125,0.75\n");
    let options = ReadOptions { input: Input::Probability, ..views(["a", "b", "c"]) };
    let (table, batches) = read_with(&[&path], &options).unwrap();
    let found = rows(&batches);
    assert_eq!(found[0][1], [0.75_f64.ln(), 0.25_f64.ln()]);
    assert_eq!(found[0][2], [1e-15_f64.ln(), 0.0]);
    assert_eq!(found[1][0], [0.0, 0.0]);
    assert_eq!(table.clipped(), 1);
}

#[test]
fn one_column_of_a_columnar_file() {
    let folder = folder();
    let column = |values: [f64; 2]| crate::doubles(values.to_vec());
    let columns = vec![("a", column([1.0, -2.0])), ("b", column([3.0, 4.0])), ("c", column([5.0, 6.0]))];
    let path = put_parquet(&folder, "t.parquet", &[record_batch(columns)], 10);
    let found = rows(&read_with(&[&path], &views(["a", "b", "c"])).unwrap().1);
    assert_eq!(found[1], [[0.0, -2.0], [0.0, 4.0], [0.0, 6.0]].map(Vec::from));
}
