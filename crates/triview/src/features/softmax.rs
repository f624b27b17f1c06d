//! A softmax of standardised scores.

use crate::numeric::columns;
use crate::settings::softmax::TEMPERATURE;
use serde::{Deserialize, Serialize};

/// `softmax((s - centre) / scale)` over the classes of one view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Softmax {
    centre: Vec<f64>,
    inverse_scale: f64,
}

impl Softmax {
    /// Centres each class on its mean and scales all by the spread of the scores within a row, so that
    /// what all classes of a row have in common does not matter.
    pub(crate) fn fit(rows: usize, scores: &[f64]) -> Self {
        let k = scores.len() / rows;
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
        Self { centre, inverse_scale: if spread > 0.0 { 1.0 / (TEMPERATURE * spread) } else { 0.0 } }
    }

    /// The number of classes.
    pub(crate) fn k(&self) -> usize {
        self.centre.len()
    }

    /// Whether it is one for `k` classes.
    pub(crate) fn fits(&self, k: usize) -> bool {
        self.centre.len() == k && self.centre.iter().all(|c| c.is_finite()) && self.inverse_scale.is_finite()
    }

    /// One column a class; what comes after the scores of the classes is left out.
    pub(crate) fn evaluate(&self, rows: usize, scores: &[f64], out: &mut Vec<f64>) {
        out.clear();
        for (column, centre) in scores.chunks_exact(rows).zip(&self.centre) {
            out.extend(column.iter().map(|s| (s - centre) * self.inverse_scale));
        }
        columns::softmax_columns(out, rows, self.centre.len(), None);
    }
}
