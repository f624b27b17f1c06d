//! Every format, width and layout gives the same scores.
#![allow(clippy::unwrap_used, reason = "a test that fails by panicking fails")]

mod columnar;
#[path = "../common/mod.rs"]
mod common;
mod csv;
mod every;
mod features;
mod keys;
mod named;
mod npy;
mod wild;

use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, LargeListBuilder};
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, ListArray};
use std::sync::Arc;

/// Scores that every type down to 8-bit integers holds.
pub(crate) fn value(row: usize, view: usize, class: usize) -> f64 {
    ((row * 7 + view * 3 + class) % 11) as f64
}

/// The scores of `n` rows with two classes.
pub(crate) fn expected(n: usize) -> Vec<Vec<Vec<f64>>> {
    let view = |row, view| (0..2).map(|class| value(row, view, class)).collect();
    (0..n).map(|row| (0..3).map(|v| view(row, v)).collect()).collect()
}

/// Columns `view:class` of `n` rows, each made by `array`.
pub(crate) fn columns(n: usize, array: impl Fn(Vec<f64>) -> ArrayRef) -> Vec<(&'static str, ArrayRef)> {
    let names = [["a:x", "a:y"], ["b:x", "b:y"], ["c:x", "c:y"]];
    let mut columns = Vec::new();
    for (view, names) in names.iter().enumerate() {
        for (class, name) in names.iter().enumerate() {
            columns.push((*name, array((0..n).map(|row| value(row, view, class)).collect())));
        }
    }
    columns
}

pub(crate) fn doubles(values: Vec<f64>) -> ArrayRef {
    Arc::new(Float64Array::from(values))
}

/// A list column of one view.
pub(crate) type MakeList = fn(usize, usize) -> ArrayRef;

/// The three kinds of list columns of `n` rows.
pub(crate) const LISTS: [(&str, MakeList); 3] = [
    ("list", |n, view| {
        let rows = (0..n).map(|row| Some([value(row, view, 0), value(row, view, 1)].map(Some)));
        Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(rows))
    }),
    ("large", |n, view| {
        let mut builder = LargeListBuilder::new(Float32Builder::new());
        for row in 0..n {
            builder.append_value([0, 1].map(|class| Some(value(row, view, class) as f32)));
        }
        Arc::new(builder.finish())
    }),
    ("fixed", |n, view| {
        let mut builder = FixedSizeListBuilder::new(Float32Builder::new(), 2);
        for row in 0..n {
            builder.values().append_slice(&[0, 1].map(|class| value(row, view, class) as f32));
            builder.append(true);
        }
        Arc::new(builder.finish())
    }),
];
