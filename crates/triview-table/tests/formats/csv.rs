//! Comma-separated values.

use crate::common::*;
use triview::data::Source;
use triview_table::{Input, ReadOptions};

#[test]
fn csv_as_it_is_found_in_the_wild() {
    let folder = folder();
    let text = "\u{feff}\"a:cat\",a:dog,b:cat,note, b:dog,c:cat,c:dog\r\n\
                1,2.5, 3 ,\"text, with\r\n\"\"quotes\"\"\",-4e0,\"5\",+6\r\n\
                .5,1.,1E-3,,0,-0.0,7\r\n\r\n";
    let (table, batches) = read(&put(&folder, "t.csv", text)).unwrap();
    let expected = [[[1.0, 2.5], [3.0, -4.0], [5.0, 6.0]], [[0.5, 1.0], [0.001, 0.0], [-0.0, 7.0]]]
        .map(|row| row.map(Vec::from));
    assert_eq!(rows(&batches), expected.map(Vec::from));
    assert_eq!(table.ignored_columns(), ["note"]);
}

#[test]
fn columns_may_stand_in_any_order() {
    let folder = folder();
    let text = "c:dog,a:dog,id,b:cat,a:cat,c:cat,b:dog\n6,2,0,3,1,5,4\n";
    let path = put(&folder, "t.csv", text);
    let (table, batches) = read(&path).unwrap();
    assert_eq!(table.schema().views(), ["c", "a", "b"]);
    assert_eq!(table.schema().classes(), ["dog", "cat"]);
    assert_eq!(rows(&batches), [[[6.0, 5.0], [2.0, 1.0], [4.0, 3.0]].map(Vec::from)]);

    let options = ReadOptions {
        views: Some(["a", "b", "c"].map(str::to_owned).to_vec()),
        classes: Some(["cat", "dog"].map(str::to_owned).to_vec()),
        ..Default::default()
    };
    let (_, batches) = read_with(&[&path], &options).unwrap();
    assert_eq!(rows(&batches), [[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]].map(Vec::from)]);
}

#[test]
fn probabilities_become_logs_and_zeros_are_counted() {
    let folder = folder();
    let path = put(&folder, "t.csv", csv(&["0.5,0.5,1,0,0.25,0.75", "0,1,1,0,0.5,0.5"]));
    let options = ReadOptions { input: Input::Probability, ..Default::default() };
    let (table, batches) = read_with(&[&path], &options).unwrap();
    let rows = rows(&batches);
    assert_eq!(rows[0][0], [0.5_f64.ln(), 0.5_f64.ln()]);
    assert_eq!(rows[1][1], [0.0, 1e-15_f64.ln()]);
    assert_eq!(table.clipped(), 3);
    assert_eq!(table.batches().unwrap().count(), 1);
    assert_eq!(table.clipped(), 3, "a second reading does not count twice");
}

#[test]
fn a_missing_view_has_no_probabilities() {
    let folder = folder();
    let path = put(&folder, "t.csv", csv(&["0.5,0.5,,,0.25,0.75", "0,1,1,0,,"]));
    let options = ReadOptions { input: Input::Probability, ..Default::default() };
    let (table, batches) = read_with(&[&path], &options).unwrap();
    assert_eq!(batches[0].missing(), Some([0b010, 0b100].as_slice()));
    assert_eq!(batches[0].column(1, 0)[0], 0.0);
    assert_eq!(batches[0].column(2, 1)[0], 0.75_f64.ln());
    assert_eq!(table.clipped(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_are_read_twice_as_well() {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(csv(&["1,2,3,4,5,6"]).as_bytes()).unwrap();
    drop(writer);
    let path = std::path::PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
    assert!(!triview_table::moments::is_moments(&path));
    let (table, once) = read(&path).unwrap();
    assert_eq!(rows(&once), [[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]].map(Vec::from)]);
    assert_eq!(batches(&table).unwrap(), once);
}
