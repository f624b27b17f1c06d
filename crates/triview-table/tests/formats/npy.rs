//! Arrays.

use crate::common::*;
use crate::{expected, value};
use triview::data::{Batch, Source};
use triview_table::ReadOptions;

#[test]
fn every_kind_of_array() {
    let folder = folder();
    let n = 30;
    let c_order: Vec<f64> = expected(n).concat().concat();
    let fortran: Vec<f64> =
        (0..2).flat_map(|c| (0..3).flat_map(move |v| (0..n).map(move |row| value(row, v, c)))).collect();
    macro_rules! bytes {
        ($values:expr, $type:ty, $to:ident) => {
            $values.iter().flat_map(|value| (*value as $type).$to()).collect::<Vec<u8>>()
        };
    }
    for (values, order) in [(&c_order, false), (&fortran, true)] {
        let halves: Vec<u8> = values.iter().flat_map(|v| half::f16::from_f64(*v).to_le_bytes()).collect();
        let cases = [
            ("'<f8'", bytes!(values, f64, to_le_bytes)),
            ("'>f8'", bytes!(values, f64, to_be_bytes)),
            ("'<f4'", bytes!(values, f32, to_le_bytes)),
            ("'>f4'", bytes!(values, f32, to_be_bytes)),
            ("'<f2'", halves),
            ("'|i1'", bytes!(values, i8, to_le_bytes)),
            ("'>i2'", bytes!(values, i16, to_be_bytes)),
            ("'<i4'", bytes!(values, i32, to_le_bytes)),
            ("'<i8'", bytes!(values, i64, to_le_bytes)),
            ("'|u1'", bytes!(values, u8, to_le_bytes)),
            ("'<u2'", bytes!(values, u16, to_le_bytes)),
            ("'>u4'", bytes!(values, u32, to_be_bytes)),
            ("'<u8'", bytes!(values, u64, to_le_bytes)),
        ];
        for (version, (descr, data)) in (1..=3).cycle().zip(cases) {
            let path = put(&folder, "t.npy", npy(version, descr, order, "(30, 3, 2)", &data));
            assert_eq!(rows(&read(&path).unwrap().1), expected(n), "{descr}, fortran {order}");
        }
    }
}

#[test]
fn views_of_an_array_can_be_chosen() {
    let folder = folder();
    let data: Vec<u8> = (0..4 * 5 * 2).collect();
    let path = put(&folder, "t.npy", npy(1, "'|u1'", false, "(4, 5, 2)", &data));
    let options =
        ReadOptions { views: Some(["5", "1", "2"].map(str::to_owned).to_vec()), ..Default::default() };
    let (table, batches) = read_with(&[&path], &options).unwrap();
    assert_eq!(rows(&batches)[1], [[18.0, 19.0], [10.0, 11.0], [12.0, 13.0]]);
    assert_eq!(table.schema().views(), ["5", "1", "2"]);
    assert_eq!(table.ignored_columns(), ["3", "4"]);
}

#[test]
fn many_classes_make_shorter_batches() {
    let folder = folder();
    let (n, k) = (300, 5000);
    let path = put(&folder, "t.npy", npy(1, "'|u1'", false, "(300, 3, 5000)", &vec![1; n * 3 * k]));
    let (_, batches) = read(&path).unwrap();
    assert_eq!(batches.iter().map(Batch::rows).collect::<Vec<_>>(), [209, 91]);
    assert!(batches.iter().all(|batch| (0..3).all(|v| batch.view(v).iter().all(|score| *score == 1.0))));
}
