//! The risk of many classes, from the rows themselves.
//!
//! The third moment of `k` classes has `k^3` cells, and a state of it is too large beyond some tens of classes. Here the
//! features of all rows are kept instead, in single precision, and the fit reads them once for each of its few steps.

use super::solved::enough_rows;
use super::{Estimate, Estimator};
use crate::data::{Sample, ScoreSource, VIEWS};
use crate::error::{Error, Result};
use crate::settings::many_classes::{FEWEST_CLASSES, MOST_BYTES, MOST_CLASSES};

/// Whether [`Estimator::estimate`] answers for `k` classes from rows, without their third moments.
pub(super) fn reads_rows(k: usize) -> bool {
    k >= FEWEST_CLASSES
}

impl Estimator {
    /// The risk of the rows of a source, which is read twice, from their features.
    pub(crate) fn estimate_from_rows<S: ScoreSource + ?Sized>(
        &self,
        source: &S,
    ) -> Result<Estimate, S::Error> {
        let schema = source.schema();
        let k = schema.k();
        if k > MOST_CLASSES {
            return Err(Error::TooManyClasses { k, most: MOST_CLASSES }.into());
        }
        self.latent.refuse_for_many(k)?;
        if let [covariate, ..] = schema.all_covariates().as_slice() {
            return Err(Error::InvalidParameter {
                name: "covariates",
                value: covariate.clone(),
                expected: "for more than 64 classes views are identified by their scores alone; leave it out",
            }
            .into());
        }
        let sample = Sample::of(source)?;
        let seen = sample.seen();
        enough_rows(seen, k)?;
        let planned = self.common.run(|| self.planner(&sample)?.plan_many(self.features));
        let plan = planned.map_err(|error| sample.named(error))?;
        let numbers: usize = (0..VIEWS).map(|group| plan.features.dimension(group, k)).sum();
        let most = MOST_BYTES / (4 * numbers) as u64;
        if seen > most {
            return Err(Error::TooManyRows { rows: seen, most, k }.into());
        }
        let mut sums = plan.keeping_accumulator()?;
        for batch in source.batches()? {
            let batch = batch?;
            self.common.run(|| sums.update(&batch))?;
        }
        let (moments, rows) = sums.finish_keeping()?;
        let rows = rows.ok_or(Error::Internal("the features of all rows were kept"))?;
        Ok(self.common.run(|| {
            let solved = moments.solve_rows(&rows, self.common.level, self.common.seed)?;
            self.measure(&solved, &sample)
        })?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::InMemory;
    use crate::estimator::Params;
    use crate::lab::{Population, Preset};
    use crate::learning::log_loss;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    #[test]
    fn with_and_without_the_third_moment_the_risk_is_about_the_same() -> Result<()> {
        for seed in 0..3 {
            let population = Population::draw(&Preset::Ten.setting(), seed)?;
            let (rows, labels) = population.rows(20_000, &mut Pcg64::seed_from_u64(100 + seed));
            let source = InMemory::new(population.schema().clone(), [rows.clone()]);
            let estimator = Params::new().check()?;
            let (with, without) = (estimator.estimate(&source)?, estimator.estimate_from_rows(&source)?);
            // The two have other features and other weights for the same rows, and the labels decide between them.
            let truth = log_loss(&rows, &labels);
            for estimate in [&with, &without] {
                let error = estimate.standard_error.hypot(truth.standard_error);
                let z = (estimate.risk - truth.value) / error;
                // Two-sided, once in a thousand times beyond 3.3.
                assert!(z.abs() < 3.3, "{seed}: {z} standard errors off");
            }
            let difference = (with.risk - without.risk) / without.standard_error;
            assert!(difference.abs() < 2.0, "{seed}: {difference} standard errors");
            let ratio = without.standard_error / with.standard_error;
            // Four times the moments', of which drawing towards the posterior leaves two thirds.
            assert!(ratio < 6.0, "{seed}: {ratio} times the standard error");
        }
        Ok(())
    }
}
