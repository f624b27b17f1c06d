//! The units that parameters are measured in.
//!
//! A ball `|theta| <= rho` means something only once the features have a scale. Here each feature is centred and divided
//! by its standard deviation over the rows at hand, so that no answer depends on whether a length was given in metres
//! or miles; a feature that never changes has no weight.

use super::linear::Shape;
use super::rows::{FeatureBatch, FeatureSchema, FeatureSource};
use crate::data::{Batches, Source};
use crate::error::Result;
use crate::settings::ball::ROUNDING;
use std::sync::Arc;

/// The mean and standard deviation of each feature, view after view.
#[derive(Debug, Clone)]
pub(crate) struct Units {
    shape: Shape,
    mean: Vec<f64>,
    /// One over the standard deviation; zero for a feature that never changes.
    inverse: Vec<f64>,
}

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

    /// Some rows with standardised features.
    pub(crate) fn standardise(&self, rows: &FeatureBatch) -> FeatureBatch {
        let mut from = 0;
        rows.map_views(|view, features| {
            let width = self.shape.widths[view];
            let (mean, inverse) = (&self.mean[from..from + width], &self.inverse[from..from + width]);
            from += width;
            let units = mean.iter().zip(inverse).cycle();
            let standard = |(x, (mean, inverse)): (&f32, (&f64, &f64))| (f64::from(*x) - mean) * inverse;
            features.iter().zip(units).map(|cell| standard(cell) as f32).collect()
        })
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

    /// The transpose: a gradient in the standardised parameters from one in the plain ones, or `phi-bar` of standardised
    /// features.
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

/// A source with standardised features.
pub(crate) struct Standard<'a, S> {
    pub(crate) source: &'a S,
    pub(crate) units: &'a Units,
}

impl<S: FeatureSource> Source for Standard<'_, S> {
    type Schema = FeatureSchema;
    type Batch = FeatureBatch;
    type Error = S::Error;

    fn schema(&self) -> &FeatureSchema {
        self.source.schema()
    }

    fn batches(&self) -> Result<Batches<'_, FeatureBatch, S::Error>, S::Error> {
        Ok(Box::new(self.source.batches()?.map(|batch| Ok(Arc::new(self.units.standardise(&*batch?))))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::LogisticModel;
    use super::super::example::{CLASSES, rows, unlabelled};
    use super::*;
    use crate::numeric::linalg::dot;

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

    #[test]
    fn standardised_features_have_mean_zero_and_variance_one_and_give_the_same_scores() -> Result<()> {
        let rows = rows(500, 3.0, 1);
        let units = Units::of(&unlabelled(&rows), CLASSES)?;
        let standard = units.standardise(&rows);
        assert_eq!(standard.label(7), rows.label(7));
        for view in 0..rows.views() {
            let column = |f: usize| standard.view(view).iter().skip(f).step_by(rows.widths()[view]);
            for f in 0..rows.widths()[view] {
                let sum: f64 = column(f).map(|x| f64::from(*x)).sum();
                let squares: f64 = column(f).map(|x| f64::from(*x).powi(2)).sum();
                assert!((sum / 500.0).abs() < 1e-5 && (squares / 500.0 - 1.0).abs() < 1e-5);
            }
        }
        let theta: Vec<f64> = (0..units.shape.len()).map(|at| (at as f64).sin()).collect();
        let plain = LogisticModel::of_theta(&units.shape, &units.plain(&theta)).scores(&rows)?.total();
        let scores = LogisticModel::of_theta(&units.shape, &theta).scores(&standard)?.total();
        assert!(plain.iter().zip(&scores).all(|(a, b)| (a - b).abs() < 1e-4 * (1.0 + a.abs())));
        Ok(())
    }
}
