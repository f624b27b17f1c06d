//! A softmax of standardised scores.

use crate::data::is_constant;
use crate::numeric::columns;
use crate::settings::softmax::TEMPERATURE;
use serde::{Deserialize, Serialize};

/// `softmax((s - centre) / scale)` over the classes of one view. A witness, whose scores never change, has the indicators of its values
/// instead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Softmax {
    centre: Vec<f64>,
    inverse_scale: f64,
    /// The number of indicators that stand for scores that never change.
    #[serde(default, skip_serializing_if = "is_none")]
    indicators: usize,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

impl Softmax {
    /// Centres each class on its mean and scales all by the spread of the scores within a row, so that
    /// what all classes of a row have in common does not matter.
    pub(crate) fn fit((rows, k): (usize, usize), inputs: &[f64]) -> Self {
        let (scores, covariates) = inputs.split_at(rows * k);
        let indicators = if is_constant(rows, scores) { covariates.len() / rows } else { 0 };
        let centre: Vec<f64> =
            scores.chunks_exact(rows).map(|column| column.iter().sum::<f64>() / rows as f64).collect();
        let mut common = vec![0.0; rows];
        for (column, centre) in scores.chunks_exact(rows).zip(&centre) {
            common.iter_mut().zip(column).for_each(|(c, s)| *c += (s - centre) / k as f64);
        }
        let mut squares = 0.0;
        for (column, centre) in scores.chunks_exact(rows).zip(&centre) {
            squares += column.iter().zip(&common).map(|(s, c)| (s - centre - c).powi(2)).sum::<f64>();
        }
        let spread = (squares / (rows * k) as f64).sqrt();
        let inverse_scale = if spread > 0.0 { 1.0 / (TEMPERATURE * spread) } else { 0.0 };
        Self { centre, inverse_scale, indicators }
    }

    /// The number of functions: one a class, of which the first is left to be a constant, or one a value more.
    pub(crate) fn len(&self) -> usize {
        if self.indicators > 0 { 1 + self.indicators } else { self.centre.len() }
    }

    /// Whether it is one for `k` classes, and so many scores and covariates.
    pub(crate) fn fits(&self, k: usize, width: usize) -> bool {
        let indicators = self.indicators == 0 || width.checked_sub(k) == Some(self.indicators);
        indicators
            && self.centre.len() == k
            && self.centre.iter().all(|c| c.is_finite())
            && self.inverse_scale.is_finite()
    }

    /// One column a class; what comes after the scores of the classes is left out but for indicators.
    pub(crate) fn evaluate(&self, rows: usize, scores: &[f64], out: &mut Vec<f64>) {
        out.clear();
        if self.indicators > 0 {
            out.resize(rows, 0.0);
            out.extend_from_slice(&scores[rows * self.centre.len()..]);
            return;
        }
        for (column, centre) in scores.chunks_exact(rows).zip(&self.centre) {
            out.extend(column.iter().map(|s| (s - centre) * self.inverse_scale));
        }
        columns::softmax_columns(out, rows, self.centre.len(), None);
    }
}
