//! The units that parameters are measured in.
//!
//! A ball `|theta| <= rho` means something only once the features have a scale. Here each feature is centred and divided
//! by its standard deviation over the rows at hand, so that no answer depends on whether a length was given in metres
//! or miles; a feature that never changes has no weight.

use super::linear::Shape;
use super::rows::FeatureSource;
use crate::error::Result;

/// The mean and standard deviation of each feature, view after view.
#[derive(Debug, Clone)]
pub(crate) struct Units {
    shape: Shape,
    mean: Vec<f64>,
    /// One over the standard deviation; zero for a feature that never changes.
    inverse: Vec<f64>,
}

/// A standard deviation below this share of the feature's largest value is rounding.
const ROUNDING: f64 = 1e-6;

impl Units {
    /// Reads a source once.
    pub(crate) fn of<S: FeatureSource>(source: &S, classes: usize) -> Result<Self, S::Error> {
        let shape = Shape { widths: source.schema().widths(), classes };
        let features: usize = shape.widths.iter().sum();
        let (mut rows, mut largest) = (0.0, vec![0.0f64; features]);
        // Sums around the first row lose no digits to a mean that is far from zero.
        let mut first: Option<Vec<f64>> = None;
        let (mut sum, mut squares) = (vec![0.0; features], vec![0.0; features]);
        for batch in source.batches()? {
            let batch = batch?;
            for row in 0..batch.rows() {
                let values = (0..batch.views()).flat_map(|view| batch.features(view, row));
                let values: Vec<f64> = values.map(|x| f64::from(*x)).collect();
                let origin = first.get_or_insert_with(|| values.clone());
                for (at, value) in values.into_iter().enumerate() {
                    let moved = value - origin[at];
                    sum[at] += moved;
                    squares[at] += moved * moved;
                    largest[at] = largest[at].max(value.abs());
                }
            }
            rows += batch.rows() as f64;
        }
        let origin = first.unwrap_or_else(|| vec![0.0; features]);
        let mean: Vec<f64> = sum.iter().zip(&origin).map(|(sum, origin)| origin + sum / rows).collect();
        let inverse = (0..features).map(|at| {
            let deviation = (squares[at] / rows - (sum[at] / rows).powi(2)).max(0.0).sqrt();
            if deviation > ROUNDING * largest[at] { 1.0 / deviation } else { 0.0 }
        });
        Ok(Self { shape, mean, inverse: inverse.collect() })
    }

    /// Parameters of the features as they are, from those of the standardised ones.
    pub(crate) fn plain(&self, standard: &[f64]) -> Vec<f64> {
        let (k, mut plain) = (self.shape.classes, standard.to_vec());
        let (weights, bias) = plain.split_at_mut(self.shape.bias().start);
        for ((weights, inverse), mean) in weights.chunks_exact_mut(k).zip(&self.inverse).zip(&self.mean) {
            for (weight, bias) in weights.iter_mut().zip(bias.iter_mut()) {
                *weight *= inverse;
                *bias -= *weight * mean;
            }
        }
        plain
    }

    /// The parameters of standardised features that give the scores of these; a feature that never changes has part in the
    /// bias only.
    pub(crate) fn standard(&self, plain: &[f64]) -> Vec<f64> {
        let (k, mut standard) = (self.shape.classes, plain.to_vec());
        let (weights, bias) = standard.split_at_mut(self.shape.bias().start);
        for ((weights, inverse), mean) in weights.chunks_exact_mut(k).zip(&self.inverse).zip(&self.mean) {
            for (weight, bias) in weights.iter_mut().zip(bias.iter_mut()) {
                *bias += *weight * mean;
                *weight = if *inverse > 0.0 { *weight / inverse } else { 0.0 };
            }
        }
        standard
    }

    /// The transpose: a gradient in the standardised parameters from one in the plain ones.
    pub(crate) fn gradient(&self, plain: &[f64]) -> Vec<f64> {
        let (k, mut standard) = (self.shape.classes, plain.to_vec());
        let (weights, bias) = standard.split_at_mut(self.shape.bias().start);
        for ((weights, inverse), mean) in weights.chunks_exact_mut(k).zip(&self.inverse).zip(&self.mean) {
            for (weight, bias) in weights.iter_mut().zip(bias.iter()) {
                *weight = (*weight - mean * bias) * inverse;
            }
        }
        standard
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::{CLASSES, rows, unlabelled};
    use super::*;
    use crate::linalg::dot;

    #[test]
    fn plain_and_standard_are_inverse_and_the_gradient_is_the_transpose() -> Result<()> {
        let units = Units::of(&unlabelled(&rows(500, 3.0, 1)), CLASSES)?;
        let length = units.shape.len();
        let theta: Vec<f64> = (0..length).map(|at| (at as f64).sin()).collect();
        for (back, theta) in units.standard(&units.plain(&theta)).iter().zip(&theta) {
            assert!((back - theta).abs() < 1e-12);
        }
        let other: Vec<f64> = (0..length).map(|at| (at as f64).cos()).collect();
        let (left, right) = (dot(&units.plain(&theta), &other), dot(&theta, &units.gradient(&other)));
        assert!((left - right).abs() < 1e-9 * left.abs(), "{left} {right}");
        Ok(())
    }
}
