//! Average thresholded confidence: the share of rows that are less sure than a threshold, which is that share of the old domain's
//! rows that are wrong.
//!
//! Garg et al. (2022), "Leveraging unlabeled data to predict out-of-distribution performance", with the negative entropy as the
//! score, which they recommend.

use super::{Old, Said, beliefs, mean};
use crate::data::Batch;

pub(super) fn thresholded_confidence(rows: &Batch, old: &Old) -> Said {
    let mut sorted = sureness(&old.rows);
    sorted.sort_by(f64::total_cmp);
    let wrong = old.wrong().iter().sum::<f64>().round() as usize;
    // As many of the old rows are below it as are wrong.
    let threshold = sorted.get(wrong).copied().unwrap_or(f64::INFINITY);
    let below = sureness(rows).into_iter().map(|sure| f64::from(u8::from(sure < threshold)));
    Said::error_rate(mean(below.collect::<Vec<_>>().into_iter()))
}

/// `sum_i p_i log p_i`.
fn sureness(rows: &Batch) -> Vec<f64> {
    let term = |p: &f64| if *p > 0.0 { p * p.ln() } else { 0.0 };
    beliefs(rows).iter().map(|p| p.iter().map(term).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows_of;
    use super::*;

    #[test]
    fn by_hand() {
        // Of four old rows, the surer the larger their odds, one is wrong: the threshold is the second's, 2.
        let old = rows_of(&[1.0, 2.0, 3.0, 4.0].map(|odds| [odds, 0.0, 0.0]));
        let old = old.with_labels(vec![Some(1), Some(1), Some(0), Some(1)]).expect("one a row");
        let old = Old::new(&old).expect("labels");
        let new = rows_of(&[0.5, 1.9, -1.5, 2.0, 5.0].map(|odds| [odds, 0.0, 0.0]));
        assert_eq!(thresholded_confidence(&new, &old).error_rate, Some(0.6));
        // Where all are wrong, so is everything.
        let old = rows_of(&[[1.0, 0.0, 0.0]]).with_labels(vec![Some(0)]).expect("one a row");
        assert_eq!(thresholded_confidence(&new, &Old::new(&old).expect("labels")).error_rate, Some(1.0));
    }
}
