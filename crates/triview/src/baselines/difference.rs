//! Difference of confidence: the old domain's error rate, and by how much less confident the model is now.
//!
//! Guillory et al. (2021), "Predicting with confidence on unseen distributions".

use super::confidence::confidences;
use super::{Old, Said, mean};
use crate::data::Batch;

/// `error_old + (confidence_old - confidence_new)`.
pub(super) fn difference_of_confidence(rows: &Batch, old: &Old) -> Said {
    let confidence = |rows: &Batch| mean(confidences(rows).into_iter());
    let error = mean(old.wrong().into_iter()) + confidence(&old.rows) - confidence(rows);
    Said::error_rate(error.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows_of;
    use super::*;

    #[test]
    fn by_hand() {
        let [three, four] = [3f64.ln(), 4f64.ln()];
        // Confidence 4/5 in the old domain, where one of two is wrong; 3/4 in the new.
        let old = rows_of(&[[four, 0.0, 0.0], [four, 0.0, 0.0]])
            .with_labels(vec![Some(1), Some(0)])
            .expect("one a row");
        let old = Old::new(&old).expect("labels");
        let error =
            difference_of_confidence(&rows_of(&[[three, 0.0, 0.0]]), &old).error_rate.expect("an error rate");
        assert!((error - (0.5 + 0.05)).abs() < 1e-12, "{error}");
    }
}
