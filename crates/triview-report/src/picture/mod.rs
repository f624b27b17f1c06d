//! What of the answers is drawn.

mod classes;
mod dependence;
mod each;
mod matrix;
mod risk;
mod segments;
mod votes;

pub(crate) use classes::{calibration, classes, prior, shares, views};
pub(crate) use dependence::dependence;
pub(crate) use each::each;
pub(crate) use matrix::{confusion, square};
pub(crate) use risk::{measured, risk, share};
pub(crate) use segments::segments;
pub(crate) use votes::{annotators, labels};

/// So many classes have a row or a column of their own; beyond, those that matter most are drawn.
pub(crate) const MOST_CLASSES: usize = 24;

/// Where not all fit, those of the largest weight, in their order.
pub(crate) fn foremost(count: usize, most: usize, weight: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut all: Vec<usize> = (0..count).collect();
    if count > most {
        all.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)).then(a.cmp(&b)));
        all.truncate(most);
        all.sort_unstable();
    }
    all
}

/// That some are left out of a picture, where they are.
pub(crate) fn left_out(shown: usize, all: usize, of: &str) -> String {
    match all - shown {
        0 => String::new(),
        more => format!("{more} of {all} {of} are left out here; the JSON has them all."),
    }
}
