//! Losses of the whole prediction, which no sum and no product over views gives.

use crate::loss::best;
use crate::numeric::linalg::softmax;

/// A loss of the summed scores: its mean is estimated from rows (see [`metrics`](crate::metrics)). Everything that the
/// estimate rests on, from the features to the names of the classes, is that of the log loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    /// Whether the class with the largest summed score is another than the row's: its mean is the error rate.
    Error,
    /// `sum_i (p_i - 1(y = i))^2` with `p` the softmax of the summed scores.
    Brier,
}

impl Whole {
    /// Every one of them.
    pub const ALL: [Whole; 2] = [Whole::Error, Whole::Brier];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Whole::Error => "error",
            Whole::Brier => "brier",
        }
    }

    /// The one of this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|whole| whole.name() == name)
    }

    /// What a row with these summed scores costs if it is of this class.
    pub fn value(self, scores: &[f64], class: usize) -> f64 {
        match self {
            Whole::Error => f64::from(u8::from(best(scores.iter().copied()) != class)),
            Whole::Brier => {
                let own = |(i, p): (usize, &f64)| (p - f64::from(u8::from(i == class))).powi(2);
                softmax(scores).iter().enumerate().map(own).sum()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand() {
        let scores = [0.0, 3f64.ln()];
        assert_eq!([0, 1].map(|class| Whole::Error.value(&scores, class)), [1.0, 0.0]);
        // Probabilities 1/4 and 3/4.
        let [first, second] = [0, 1].map(|class| Whole::Brier.value(&scores, class));
        assert!((first - 1.125).abs() < 1e-12 && (second - 0.125).abs() < 1e-12, "{first} {second}");
        assert_eq!(Whole::ALL.map(|whole| Whole::named(whole.name())), Whole::ALL.map(Some));
        assert_eq!(Whole::named("log"), None);
    }
}
