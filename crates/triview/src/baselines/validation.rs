//! Validation: what labels said of the old domain, as if nothing had changed.

use super::{Old, Said, mean};
use crate::loss::Loss;

pub(super) fn validation(old: &Old, loss: &dyn Loss) -> Said {
    Said {
        risk: Some(mean(old.losses(loss).into_iter())),
        error_rate: Some(mean(old.wrong().into_iter())),
        view_error: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows_of;
    use super::*;
    use crate::loss::LogLoss;

    #[test]
    fn by_hand() {
        // Probabilities 3/4 of a right and of a wrong class.
        let old =
            rows_of(&[[3f64.ln(), 0.0, 0.0]; 2]).with_labels(vec![Some(1), Some(0)]).expect("one a row");
        let said = validation(&Old::new(&old).expect("labels"), &LogLoss);
        let risk = said.risk.expect("a risk");
        assert!((risk + 0.5 * (0.75f64.ln() + 0.25f64.ln())).abs() < 1e-12, "{risk}");
        assert_eq!(said.error_rate, Some(0.5));
    }
}
