//! The risk of many classes, from the rows themselves.
//!
//! The third moment of `k` classes has `k^3` cells, and a state of it is too large beyond some tens of classes. Here the
//! features of all rows are kept instead, in single precision, and the fit reads them once for each of its few steps.

use crate::answer::solve_kept;
use crate::data::Sample;
use crate::data::{Source, VIEWS};
use crate::diagnostics;
use crate::error::{Error, Result};
use crate::estimator::Estimate;
use crate::estimator::{Estimator, enough_rows};
use crate::moments::Accumulator;
use crate::planning::Look;

/// From so many classes on an estimate is made from rows.
const FEWEST_CLASSES: usize = 65;
/// Sums of the second moments of 32 blocks take 2.4 GB for so many classes.
const MOST_CLASSES: usize = 512;
/// The most bytes of features that are kept: 1,789,569 rows of 200 classes.
const MOST_BYTES: u64 = 4 << 30;

impl Estimator {
    /// Whether [`Estimator::estimate`] answers for `k` classes from rows, without a state of their moments.
    pub(crate) fn reads_rows(k: usize) -> bool {
        k >= FEWEST_CLASSES
    }

    /// The risk of the rows of a source, which is read twice, from their features.
    pub(crate) fn estimate_from_rows<S: Source>(&self, source: &S) -> Result<Estimate, S::Error> {
        // Sums inside matrix products are then formed in the same order on any number of threads.
        faer::set_global_parallelism(faer::Par::Seq);
        let schema = source.schema().clone();
        let k = schema.k();
        if k > MOST_CLASSES {
            return Err(Error::TooManyClasses { k, most: MOST_CLASSES }.into());
        }
        self.latent.refuse_for_many(k)?;
        if let [feature, ..] = schema.all_features().as_slice() {
            return Err(Error::InvalidParameter {
                name: "features",
                value: feature.clone(),
                expected: "for more than 64 classes views are identified by their scores alone; leave it out",
            }
            .into());
        }
        let sample = Sample::of(source)?;
        let seen = sample.seen();
        enough_rows(seen, k)?;
        let look = Look::new(schema, &self.loss, sample.rows(), self.group.as_deref(), self.seed)?;
        let header = look.header_of_many(self.features)?;
        drop(look);
        let most = MOST_BYTES / (4 * VIEWS * header.features.dimension(k, k)) as u64;
        if seen > most {
            return Err(Error::TooManyRows { rows: seen, most, k }.into());
        }
        let mut sums = Accumulator::keeping(header)?;
        for batch in source.batches()? {
            sums.update(&batch?)?;
        }
        let (moments, kept) = sums.finish_keeping()?;
        let kept = kept.ok_or(Error::Internal("the features of all rows were kept"))?;
        let solution = solve_kept(&moments, &kept)?;
        let tested = diagnostics::test(&moments, &solution, self.seed)?;
        let estimate = Estimate::new(&moments, &solution, tested, self.level)?;
        Ok(self.measure(estimate, &moments, &solution, &sample)?)
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
            let source = InMemory::new(population.schema().clone(), vec![rows.clone()]);
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
