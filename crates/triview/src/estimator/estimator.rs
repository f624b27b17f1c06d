//! From rows, or from their moments, to the answer.

use super::many_classes;
use super::params::Common;
use super::solved::{enough_rows, predicted, triples};
use super::{Estimate, Solved};
use crate::answer::{self, Blended};
use crate::data::{Sample, Schema, ScoreSource};
use crate::error::{Error, Result, Unmeasured};
use crate::features::fit::discriminant_map;
use crate::features::{FeatureChoice, FeatureMap};
use crate::latent::Latent;
use crate::loss::{SharedLoss, Whole};
use crate::metrics::{Metrics, Triples};
use crate::moments::{FirstLook, Moments, Plan, SegmentedAccumulator, Segments};
use crate::planning::Planner;

/// Estimates the risk; made by [`Params::check`](super::Params::check).
#[derive(Debug, Clone)]
pub struct Estimator {
    pub(crate) common: Common,
    pub(crate) loss: SharedLoss,
    pub(crate) whole: Option<Whole>,
    /// The views that are judged, where these are not all.
    pub(crate) model: Option<Vec<String>>,
    /// Whether each view is judged by itself, too.
    pub(crate) each: bool,
    pub(crate) features: FeatureChoice,
    pub(crate) group: Option<String>,
    pub(crate) latent: Latent,
}

impl Estimator {
    /// Plans what is summed over all rows, from a sample of them: groups the views, and chooses and fits the feature map.
    ///
    /// # Errors
    /// [`Error::NoMoments`], [`Error::Shape`] for rows that are not of the sample's schema, and whatever keeps them from being
    /// answered: too few of them, fewer latent states than classes or more than can be told apart, groups that are not of these
    /// views, a view that is constant, of low rank, or a copy of another.
    pub fn plan(&self, sample: &Sample) -> Result<Plan> {
        let schema = sample.schema();
        Plan::check_size(schema.k())?;
        enough_rows(sample.seen(), schema.k())?;
        let planned = self.common.run(|| self.planner(sample)?.plan(self.features, &self.latent));
        planned.map_err(|error| sample.named(error))
    }

    /// The same for the loss, the groups and the number of states of a plan.
    #[must_use]
    pub(crate) fn like(&self, plan: &Plan) -> Self {
        let states = plan.latent_states();
        Self {
            loss: plan.loss().clone(),
            model: None,
            each: plan.each,
            group: Some(plan.group_names().join(",")),
            latent: states.map_or(Latent::default(), Latent::States),
            ..self.clone()
        }
    }

    pub(crate) fn planner<'a>(&'a self, sample: &'a Sample) -> Result<Planner<'a>> {
        sample.schema().expect_rows(sample.rows())?;
        let group = self.group.as_deref();
        let loss = self.loss_of(sample.schema())?;
        let planner = Planner::new(sample.schema().clone(), loss, sample.rows(), group, self.common.seed)?;
        Ok(if self.each { planner.judging_each() } else { planner })
    }

    /// The loss whose mean is the risk of rows with these names: that of the views that are judged, which have scores.
    ///
    /// # Errors
    /// [`Error::NoSuchModel`].
    pub fn loss_of(&self, schema: &Schema) -> Result<SharedLoss> {
        let known = schema.scored();
        let Some(model) = &self.model else {
            return Ok(match schema.witnesses() {
                [] => self.loss.clone(),
                _ => self.loss.clone().of_views((0..known.len()).collect()),
            });
        };
        let place = |view: &String| {
            let unknown = || Error::NoSuchModel { view: view.clone(), views: known.to_vec() };
            known.iter().position(|name| name == view).ok_or_else(unknown)
        };
        let mut views: Vec<usize> = model.iter().map(place).collect::<Result<_>>()?;
        views.sort_unstable();
        views.dedup();
        match views.len() {
            0 => Err(Error::NoSuchModel { view: String::new(), views: known.to_vec() }),
            all if all == schema.views().len() => Ok(self.loss.clone()),
            _ => Ok(self.loss.clone().of_views(views)),
        }
    }

    /// Sums the moments of all rows.
    ///
    /// # Errors
    /// Those of the source, and [`Error::PlansDiffer`] when the source's views or classes are not the plan's.
    pub fn moments<S: ScoreSource + ?Sized>(&self, source: &S, plan: &Plan) -> Result<Moments, S::Error> {
        plan.expect(source.schema())?;
        let mut sums = plan.accumulator()?;
        for batch in source.batches()? {
            let batch = batch?;
            self.common.run(|| sums.update(&batch))?;
        }
        Ok(sums.finish()?)
    }

    /// Sums the moments of each segment's rows, in one reading: the segments' keys and moments, in the order of
    /// their first rows, and those of all rows.
    ///
    /// # Errors
    /// Those of [`Estimator::moments`], [`Error::TooManySegments`], and [`Error::Shape`] for rows without segments.
    pub fn moments_by<S: ScoreSource + ?Sized>(&self, source: &S, plan: &Plan) -> Result<Segments, S::Error> {
        plan.expect(source.schema())?;
        let mut sums = SegmentedAccumulator::new(plan.clone())?;
        for batch in source.batches()? {
            let batch = batch?;
            self.common.run(|| sums.update(&batch))?;
        }
        Ok(sums.finish()?)
    }

    /// The same for a part of the segments: those of [`CountedSegments::parts`](crate::moments::CountedSegments::parts). Rows of others count only in
    /// the moments of all rows, where these are wanted too.
    ///
    /// # Errors
    /// Those of [`Estimator::moments_by`].
    #[expect(clippy::type_complexity, reason = "moments of all rows, and each segment's beside them")]
    pub fn moments_of_part<S: ScoreSource + ?Sized>(
        &self,
        source: &S,
        plan: &Plan,
        keys: &[u64],
        whole: bool,
    ) -> Result<(Option<Moments>, Vec<(u64, Moments)>), S::Error> {
        plan.expect(source.schema())?;
        let mut sums = SegmentedAccumulator::of_part(plan.clone(), keys, whole)?;
        for batch in source.batches()? {
            let batch = batch?;
            self.common.run(|| sums.update(&batch))?;
        }
        if !whole {
            return Ok((None, sums.finish_apart()?));
        }
        let Segments { whole, segments } = sums.finish()?;
        Ok((Some(whole), segments))
    }

    /// The loss of the whole prediction that is asked for, if one is.
    pub fn whole(&self) -> Option<Whole> {
        self.whole
    }

    /// Solves moments, with the level and the seed of this estimator.
    ///
    /// # Errors
    /// Those of [`Moments::solve`].
    pub fn solve<'a>(&self, moments: &'a Moments) -> Result<Solved<'a>> {
        self.common.run(|| moments.solve(self.common.level, self.common.seed))
    }

    /// What moments say, untested.
    pub(crate) fn solve_untested(&self, moments: &Moments) -> Result<Blended> {
        enough_rows(moments.rows(), moments.plan().states())?;
        answer::solve(moments, self.common.seed)
    }

    /// Triples of sampled rows by solved moments, and how many standard errors intervals reach.
    pub(crate) fn triples<'a>(
        &self,
        moments: &'a Moments,
        solved: &'a Blended,
        sample: &'a Sample,
    ) -> (Triples<'a>, f64) {
        triples(moments, solved, sample, (self.common.level, self.common.seed))
    }

    /// The answer of moments and, where there is one, of a sample of their rows, which metrics of the whole prediction take.
    ///
    /// # Errors
    /// Those of [`Estimator::solve`]; [`Error::NoMean`] for a loss of the whole prediction where there are no rows, too few, or
    /// all in one block.
    pub fn answer(&self, moments: &Moments, sample: Option<&Sample>) -> Result<Estimate> {
        if let (Some(loss), None) = (self.whole, sample) {
            return Err(Error::NoMean { loss: loss.name(), reason: Unmeasured::NoRows });
        }
        let solved = self.solve(moments)?;
        match sample {
            Some(sample) => self.common.run(|| self.measure(&solved, sample)),
            None => Ok(solved.estimate()),
        }
    }

    /// The answer with the metrics of the whole prediction, one of which is taken for the risk where that is asked.
    pub(crate) fn measure(&self, solved: &Solved<'_>, sample: &Sample) -> Result<Estimate> {
        let drawn = solved.measurable(sample);
        let metrics =
            drawn.as_ref().map(|(triples, reach)| Metrics::new(triples, *reach)).map_err(|why| *why);
        let estimate = solved.estimate();
        let estimate = match (self.whole, &metrics) {
            (Some(loss), Err(reason)) => return Err(Error::NoMean { loss: loss.name(), reason: *reason }),
            (Some(loss), Ok(metrics)) => estimate.of_whole(loss, metrics, solved.wider(loss, metrics)),
            (None, _) => estimate,
        };
        let wider_error_rate = metrics.as_ref().ok().and_then(|metrics| solved.wider(Whole::Error, metrics));
        let each = solved.each_by(drawn.as_ref().ok()).map(|each| match self.whole {
            Some(loss) => each.of_whole(loss),
            None => each,
        });
        let each = each.map(|each| estimate.sided(each));
        let prediction = drawn.as_ref().ok().zip(metrics.as_ref().ok());
        let prediction = prediction.and_then(|(drawn, metrics)| predicted(drawn, sample, metrics));
        Ok(Estimate { metrics, wider_error_rate, each, prediction, ..estimate })
    }

    /// Plans, sums and solves: the risk of the rows of a source, which is read twice.
    ///
    /// For many classes (65 or more) no third moments are formed. The features of all rows are kept in memory
    /// instead, `12 k` bytes a row and no more than 4 GiB, and the independence of the views is tested by pair moments.
    ///
    /// # Errors
    /// Those of [`Estimator::plan`], [`Estimator::moments`] and [`Estimator::answer`]; for many classes
    /// [`Error::TooManyRows`], and [`Error::TooManyClasses`] beyond 512.
    pub fn estimate<S: ScoreSource + ?Sized>(&self, source: &S) -> Result<Estimate, S::Error> {
        if many_classes::reads_rows(source.schema().k()) {
            return self.estimate_from_rows(source);
        }
        let sample = Sample::of(source)?;
        let plan = self.plan(&sample)?;
        Ok(self.answer(&self.moments(source, &plan)?, Some(&sample))?)
    }

    /// The plan of a second pass: the posteriors that a first pass's moments imply, or the moments' own
    /// where they have posteriors already.
    ///
    /// # Errors
    /// Whatever keeps these moments from being answered.
    pub fn second_plan(&self, moments: &Moments) -> Result<Plan> {
        let plan = moments.plan();
        if let FeatureMap::Posterior { .. } = plan.features {
            return Ok(plan.clone());
        }
        let (whitening, mixture) = self.common.run(|| answer::fitted(moments, self.common.seed))?;
        let features = discriminant_map(&plan.features, &mixture.prior, &whitening.maps, &mixture.means)?;
        let look = FirstLook::of(plan.look.grouping.clone());
        Ok(Plan { features, ceilings: None, look, ..plan.clone() })
    }
}
