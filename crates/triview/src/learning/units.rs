//! The units that parameters are measured in.
//!
//! A ball `|theta| <= rho` means something only once the features have a scale. Here each feature is centred and divided
//! by its standard deviation over the rows at hand, so that no answer depends on whether a length was given in metres
//! or miles; a feature that never changes has no weight.
//!
//! Where rows have no labels of their own, a feature that shows in hardly any of them is given the deviation that it may have in
//! new ones. The variance of `n` rows has a relative variance of about kurtosis over `n`, and one over that is the number of rows that speak of the
//! feature: one of 10,000 where a single row has it. A weight that so few rows decide would be the inverse of a deviation that is a hundredth of the feature's
//! size or less, and the first new row that has it would be scored by hundreds of nats.

use super::cells::Cells;
use super::linear::Shape;
use super::rows::{FeatureBatch, FeatureSchema, FeatureSource};
use crate::data::{Batches, Source};
use crate::error::Result;
use crate::settings::adaptation::UNSEEN;
use crate::settings::ball::ROUNDING;
use std::ops::Range;
use std::sync::Arc;

/// The mean and standard deviation of each feature, view after view.
#[derive(Debug, Clone)]
pub(crate) struct Units {
    shape: Shape,
    mean: Vec<f64>,
    /// One over the standard deviation; zero for a feature that never changes.
    inverse: Vec<f64>,
}

/// Sums around an origin of the first four powers of each feature, and the largest absolute value.
struct Sums {
    powers: [Vec<f64>; 4],
    largest: Vec<f64>,
}

impl Sums {
    /// Adds the rows of a view, whose features are in this place.
    fn add(&mut self, cells: &Cells, origin: &[f64], place: Range<usize>) {
        let origin = &origin[place.clone()];
        let [sum, squares, cubes, fourths] = self.powers.each_mut().map(|sums| &mut sums[place.clone()]);
        let largest = &mut self.largest[place];
        let mut add_times = |at: usize, value: f64, times: f64| {
            let moved = value - origin[at];
            let square = moved * moved;
            sum[at] += times * moved;
            squares[at] += times * square;
            cubes[at] += times * square * moved;
            fourths[at] += times * square * square;
            largest[at] = largest[at].max(value.abs());
        };
        match cells {
            Cells::Sparse(sparse) if sparse.centre().is_none() => {
                let mut zeros = vec![sparse.rows(); origin.len()];
                for row in 0..sparse.rows() {
                    for (at, value) in sparse.held(row) {
                        add_times(at, value, 1.0);
                        zeros[at] -= 1;
                    }
                }
                zeros.into_iter().enumerate().for_each(|(at, zeros)| add_times(at, 0.0, zeros as f64));
            }
            _ => {
                let features = cells.dense(origin.len());
                for (at, value) in (0..origin.len()).cycle().zip(&*features) {
                    add_times(at, f64::from(*value), 1.0);
                }
            }
        }
    }
}

impl Units {
    /// The deviations of the rows themselves. Reads a source once.
    pub(crate) fn of<S: FeatureSource>(source: &S, classes: usize) -> Result<Self, S::Error> {
        Self::with_unseen(source, classes, 0.0)
    }

    /// Those that features may have in new rows: the variance is larger by so many of its squared standard errors as [`UNSEEN`] says.
    pub(crate) fn cautious<S: FeatureSource>(source: &S, classes: usize) -> Result<Self, S::Error> {
        Self::with_unseen(source, classes, UNSEEN)
    }

    fn with_unseen<S: FeatureSource>(source: &S, classes: usize, unseen: f64) -> Result<Self, S::Error> {
        let shape = Shape { widths: source.schema().widths(), classes };
        let features: usize = shape.widths.iter().sum();
        let mut sums = Sums { powers: [(); 4].map(|()| vec![0.0; features]), largest: vec![0.0; features] };
        // Sums around the first row lose no digits to a mean that is far from zero.
        let (mut rows, mut first) = (0.0, None::<Vec<f64>>);
        for batch in source.batches()? {
            let batch = batch?;
            if batch.rows() == 0 {
                continue;
            }
            let origin = first.get_or_insert_with(|| {
                let values = (0..batch.views()).flat_map(|view| batch.features(view, 0).into_owned());
                values.map(f64::from).collect()
            });
            let mut from = 0;
            for (view, width) in shape.widths.iter().enumerate() {
                sums.add(batch.cells(view), origin, from..from + width);
                from += width;
            }
            rows += batch.rows() as f64;
        }
        let Sums { powers, largest } = sums;
        let origin = first.unwrap_or_else(|| vec![0.0; features]);
        let mean: Vec<f64> = powers[0].iter().zip(&origin).map(|(sum, origin)| origin + sum / rows).collect();
        let inverse = (0..features).map(|at| {
            let [moved, square, cube, fourth] = powers.each_ref().map(|sums| sums[at] / rows);
            let variance = (square - moved * moved).max(0.0);
            if variance.sqrt() <= ROUNDING * largest[at] {
                return 0.0;
            }
            let fourth = fourth - 4.0 * moved * cube + 6.0 * moved * moved * square - 3.0 * moved.powi(4);
            // At least one: nothing is more even than two values in half of the rows each.
            let kurtosis = (fourth / (variance * variance)).max(1.0);
            1.0 / (variance * (1.0 + unseen * kurtosis / rows)).sqrt()
        });
        Ok(Self { shape, mean, inverse: inverse.collect() })
    }

    /// Some rows with standardised features.
    pub(crate) fn standardise(&self, rows: &FeatureBatch) -> FeatureBatch {
        let mut from = 0;
        rows.map_views(|view, cells| {
            let features = from..from + self.shape.widths[view];
            from = features.end;
            cells.standardised(&self.mean[features.clone()], &self.inverse[features])
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
            let cells = standard.view(view);
            let column = |f: usize| cells.iter().skip(f).step_by(rows.widths()[view]);
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
