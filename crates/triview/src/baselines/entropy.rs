//! The predictive entropy: the log loss that the model expects of itself.

use super::{LOG_LOSS, Said, Unsuited};
use crate::data::Batch;
use crate::learning::predictive_entropy as entropy;
use crate::loss::Loss;

/// `E[-sum_i p_i log p_i]` with `p` the softmax of the summed scores.
pub(super) fn predictive_entropy(rows: &Batch, loss: &dyn Loss) -> Result<Said, Unsuited> {
    if loss.name() == "log" { Ok(Said::risk(entropy(rows).value)) } else { Err(LOG_LOSS) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows_of;
    use super::*;
    use crate::loss::{HingeLoss, LogLoss};

    #[test]
    fn by_hand() {
        // Log odds ln 3: probabilities 1/4 and 3/4, entropy 0.562335.
        let rows = rows_of(&[[3f64.ln(), 0.0, 0.0], [0.0, 0.0, 0.0]]);
        let said = predictive_entropy(&rows, &LogLoss).expect("the log loss");
        let risk = said.risk.expect("a risk");
        assert!((risk - 0.5 * (0.562_335_144_6 + 2f64.ln())).abs() < 1e-9, "{risk}");
        assert_eq!(predictive_entropy(&rows, &HingeLoss), Err(LOG_LOSS));
    }
}
