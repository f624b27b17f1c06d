//! Moments solved and tested: everything that can be asked of them.

use super::{Estimate, Labeller};
use crate::answer::{self, Blended, Interval, Shrunk, reach};
use crate::data::Sample;
use crate::diagnostics::{self, Tested};
use crate::error::{Error, Result, Unmeasured};
use crate::loss::{Whole, of_guessing};
use crate::metrics::{self, Metric, Metrics, PredictionMetrics, Triples};
use crate::moments::{FeatureRows, Moments};
use crate::settings::rows_needed;

/// Moments that are solved and tested; made by [`Moments::solve`].
pub struct Solved<'a> {
    pub(crate) moments: &'a Moments,
    pub(crate) answer: Shrunk,
    pub(crate) tested: Tested,
    pub(crate) level: f64,
    pub(crate) seed: u64,
}

impl Moments {
    /// Solves and tests them; intervals are of this level of confidence.
    ///
    /// # Errors
    /// Whatever keeps these moments from being answered: too few rows, a view that is constant, of low rank, or a copy of another.
    pub fn solve(&self, level: f64, seed: u64) -> Result<Solved<'_>> {
        answer::check_level(level)?;
        enough_rows(self.rows(), self.plan().states())?;
        Solved::new(self, answer::solve(self, seed)?, (level, seed))
    }

    /// The same where the third moment is not formed, from the features of all rows.
    pub(crate) fn solve_rows(&self, rows: &FeatureRows, level: f64, seed: u64) -> Result<Solved<'_>> {
        Solved::new(self, answer::solve_rows(self, rows)?, (level, seed))
    }
}

impl<'a> Solved<'a> {
    fn new(moments: &'a Moments, blended: Blended, (level, seed): (f64, u64)) -> Result<Self> {
        let tested = diagnostics::test(moments, &blended, seed)?;
        Self::tested(moments, blended, tested, (level, seed))
    }

    /// Of what was tested already.
    pub(crate) fn tested(
        moments: &'a Moments,
        blended: Blended,
        tested: Tested,
        (level, seed): (f64, u64),
    ) -> Result<Self> {
        Ok(Self { moments, answer: blended.shrink(moments)?, tested, level, seed })
    }

    /// The answer, without metrics of the whole prediction: these take rows.
    pub fn estimate(&self) -> Estimate {
        Estimate::new(self)
    }

    /// What labels rows of these moments without labels.
    ///
    /// # Errors
    /// [`Error::Internal`] where posteriors that the fit implies cannot be formed.
    pub fn labeller(&self) -> Result<Labeller> {
        Labeller::new(self.moments.plan(), &self.answer.blended)
    }

    /// The metrics of the whole prediction, from a sample of the rows, or why there are none.
    ///
    /// # Errors
    /// [`Unmeasured`], where the sample has too few rows or other rows, or all rows are in one block.
    pub fn metrics(&self, sample: &Sample) -> Result<Metrics, Unmeasured> {
        let (triples, reach) = self.measurable(sample)?;
        Ok(Metrics::new(&triples, reach))
    }

    /// The metrics of another model's output that rides along with the sampled rows, or why there are none; nothing where no row has such an
    /// output ([`Batch::with_prediction`](crate::data::Batch::with_prediction)).
    ///
    /// # Errors
    /// Those of [`Solved::metrics`].
    pub fn prediction(&self, sample: &Sample) -> Result<Option<PredictionMetrics>, Unmeasured> {
        let drawn = self.measurable(sample)?;
        Ok(predicted(&drawn, sample, &Metrics::new(&drawn.0, drawn.1)))
    }

    /// Triples of sampled rows, and how many standard errors intervals reach, where the rows will do.
    pub(crate) fn measurable<'s>(&'s self, sample: &'s Sample) -> Result<(Triples<'s>, f64), Unmeasured> {
        let (rows, needed) = (sample.rows().rows(), rows_needed(self.moments.plan().states()));
        match self.answer.deviations.count() {
            _ if self.expect(sample).is_err() => Err(Unmeasured::OtherRows),
            _ if (rows as u64) < needed => Err(Unmeasured::FewRows { rows, needed }),
            0 | 1 => Err(Unmeasured::OneBlock),
            _ => Ok(self.triples(sample)),
        }
    }

    /// The interval of the mean of a loss of the whole prediction, wider by what the views may have in common unseen: that takes it as far
    /// towards guessing as it takes the risk.
    pub(crate) fn wider(&self, loss: Whole, metrics: &Metrics) -> Option<Interval> {
        let schema = self.moments.plan().schema();
        let guessing = of_guessing(&**self.moments.plan().loss(), schema.views().len(), schema.k()).ok()?;
        let measured = metrics.of(loss).estimate;
        let whole = loss.of_guessing(schema.k()) - measured.value;
        let factor = whole.max(0.0) / (guessing - self.answer.quantities.risk);
        let known = factor >= 0.0 && factor.is_finite() && measured.standard_error.is_finite();
        let wider = self.tested.unseen.filter(|_| known)?.widen(measured.interval, factor);
        Some(wider.within(0.0, loss.largest()))
    }

    /// The mean of any loss at all, a function of a row's scores, view by view, and a class, from a sample of the rows.
    ///
    /// # Errors
    /// [`Error::Shape`] for a sample of other rows than those of the moments.
    pub fn mean_of(&self, sample: &Sample, loss: impl Fn(&[&[f64]], usize) -> f64 + Sync) -> Result<Metric> {
        self.expect(sample)?;
        let (triples, reach) = self.triples(sample);
        Ok(metrics::mean_of(&triples, loss, reach))
    }

    fn expect(&self, sample: &Sample) -> Result<()> {
        self.moments.plan().schema().expect_rows(sample.rows())
    }

    /// Triples of sampled rows, and how many standard errors intervals reach.
    pub(crate) fn triples<'s>(&'s self, sample: &'s Sample) -> (Triples<'s>, f64) {
        triples(self.moments, &self.answer.blended, sample, (self.level, self.seed))
    }

    /// How many standard errors intervals reach that rest on so many blocks.
    pub(crate) fn reach_of(&self, blocks: usize) -> f64 {
        reach(self.level, blocks, self.answer.blended.variants.clarity(self.moments.rows()))
    }
}

/// Triples of sampled rows by solved moments, and how many standard errors intervals of a level reach.
pub(super) fn triples<'a>(
    moments: &'a Moments,
    solved: &'a Blended,
    sample: &'a Sample,
    (level, seed): (f64, u64),
) -> (Triples<'a>, f64) {
    let main = solved.main();
    let named = (main.mixture.prior.as_slice(), main.matching.names.as_slice());
    let triples = Triples::draw(moments.plan(), named, &main.labels, sample, seed);
    let reach = reach(level, triples.parts(), solved.variants.clarity(moments.rows()));
    (triples, reach)
}

/// The metrics of another model's output that rides along with the sampled rows, where it does.
pub(crate) fn predicted(
    (triples, reach): &(Triples<'_>, f64),
    sample: &Sample,
    whole: &Metrics,
) -> Option<PredictionMetrics> {
    let probabilities = sample.rows().prediction()?;
    Some(PredictionMetrics::new(triples, probabilities, whole, *reach))
}

/// Refuses fewer rows than can be answered: the fit has some `3 k^2` unknowns and blocks must not be empty.
pub(crate) fn enough_rows(rows: u64, k: usize) -> Result<()> {
    let needed = rows_needed(k);
    if rows < needed { Err(Error::TooFewRows { rows, needed, k }) } else { Ok(()) }
}
