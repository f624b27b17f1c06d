//! From rows, or from a state, to the risk.

use crate::answer::{Answer, Solution, solve, tensor_risk};
use crate::answer::{check_level, reach};
use crate::data::Sample;
use crate::data::{Schema, Source};
use crate::diagnostics;
use crate::error::{Error, Result};
use crate::estimator::Estimate;
use crate::estimator::Labeller;
use crate::features::FeatureMap;
use crate::latent::Latent;
use crate::loss::{self, LogLoss, Loss, SharedLoss, Whole};
use crate::metrics::{self, Metric, Metrics, Triples, Unmeasured};
use crate::moments::{Accumulator, Header, MOST_CLASSES, Moments, SegmentedAccumulator, Segments};
use crate::planning::{self, Look};
use std::fmt;
use std::str::FromStr;

/// Which feature map to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Features {
    /// The one with the smallest standard error on a first look at the data.
    #[default]
    Auto,
    /// The scores.
    Scores,
    /// A softmax of standardised scores.
    Softmax,
    /// Posteriors by regression of surrogate labels on the scores.
    Regression,
    /// Posteriors by maximum likelihood over a sieve.
    Posterior,
}

impl Features {
    /// Every choice.
    pub const ALL: [Features; 5] =
        [Features::Auto, Features::Scores, Features::Softmax, Features::Regression, Features::Posterior];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Features::Auto => "auto",
            Features::Scores => "scores",
            Features::Softmax => "softmax",
            Features::Regression => "regression",
            Features::Posterior => "posterior",
        }
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Features {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Features::ALL.into_iter().find(|features| features.name() == name).ok_or_else(|| {
            Error::InvalidParameter {
                name: "feature map",
                value: name.into(),
                expected: "one of auto, scores, softmax, regression, posterior",
            }
        })
    }
}

/// What to estimate, and how; checked once by [`Params::check`].
#[derive(Debug, Clone)]
pub struct Params {
    loss: Result<SharedLoss>,
    whole: Option<Whole>,
    features: Features,
    level: f64,
    seed: u64,
    group: Option<String>,
    latent: Latent,
}

impl Default for Params {
    fn default() -> Self {
        Self::new()
    }
}

impl Params {
    /// The log loss, the best feature map, intervals at 0.95, a fixed seed.
    pub fn new() -> Self {
        let loss = Ok(SharedLoss::new(LogLoss));
        let (features, latent) = (Features::Auto, Latent::Classes);
        Self { loss, whole: None, features, level: 0.95, seed: 0, group: None, latent }
    }

    /// The loss, by its name: one of [`loss::names`].
    #[must_use]
    pub fn loss(mut self, name: &str) -> Self {
        self.whole = Whole::named(name);
        self.loss = match self.whole {
            Some(_) => Ok(SharedLoss::new(LogLoss)),
            None => loss::by_name(name)
                .map_err(|_| Error::UnknownLoss { name: name.into(), known: loss::names() }),
        };
        self
    }

    /// A loss of one's own.
    #[must_use]
    pub fn own_loss(mut self, loss: impl Loss + 'static) -> Self {
        self.loss = Ok(SharedLoss::new(loss));
        self.whole = None;
        self
    }

    /// The feature map.
    #[must_use]
    pub fn features(mut self, features: Features) -> Self {
        self.features = features;
        self
    }

    /// How to group the views into three, such as `a+b,c,d+e` (see [`Groups::parse`](crate::data::Groups::parse)).
    /// Otherwise more than three are grouped by what the rows say of them.
    #[must_use]
    pub fn group(mut self, groups: &str) -> Self {
        self.group = Some(groups.into());
        self
    }

    /// How many latent states the views are taken to be independent given: one a class, more, or as few as the test of
    /// independence accepts (the mediating variable, extension 3 of the paper).
    #[must_use]
    pub fn latent(mut self, latent: Latent) -> Self {
        self.latent = latent;
        self
    }

    /// The level of confidence of the intervals.
    #[must_use]
    pub fn level(mut self, level: f64) -> Self {
        self.level = level;
        self
    }

    /// The seed of everything random: the tensor method's starts, and the signs of the independence test.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Checks all of it.
    ///
    /// # Errors
    /// [`Error::UnknownLoss`], and [`Error::InvalidParameter`] for a level that is not between 0 and 1.
    pub fn check(self) -> Result<Estimator> {
        check_level(self.level)?;
        let Self { loss, whole, features, level, seed, group, latent } = self;
        Ok(Estimator { loss: loss?, whole, features, level, seed, group, latent })
    }
}

/// Estimates the risk; made by [`Params::check`].
#[derive(Debug, Clone)]
pub struct Estimator {
    pub(crate) loss: SharedLoss,
    pub(crate) whole: Option<Whole>,
    pub(crate) features: Features,
    pub(crate) level: f64,
    pub(crate) seed: u64,
    pub(crate) group: Option<String>,
    pub(crate) latent: Latent,
}

impl Estimator {
    /// Looks at a sample of the rows, groups the views, and chooses and fits the feature map.
    ///
    /// # Errors
    /// Those of the source, [`Error::NoState`], and whatever keeps these rows from being answered: too few of them,
    /// fewer latent states than classes or more than can be told apart, groups that are not of these views, a view that is
    /// constant, of low rank, or a copy of another.
    pub fn look<S: Source>(&self, source: &S) -> Result<Header, S::Error> {
        fits(source.schema())?;
        Ok(self.look_at(&Sample::of(source)?)?)
    }

    /// The same from a sample that has been taken already.
    ///
    /// # Errors
    /// See [`Estimator::look`].
    pub fn look_at(&self, sample: &Sample) -> Result<Header> {
        let schema = sample.schema().clone();
        fits(&schema)?;
        enough_rows(sample.seen(), schema.k())?;
        let look = Look::new(schema, &self.loss, sample.rows(), self.group.as_deref(), self.seed)?;
        look.header(self.features, &self.latent)
    }

    /// Sums the moments of all rows.
    ///
    /// # Errors
    /// Those of the source, and [`Error::StateMismatch`] when the source's views or classes are not the
    /// header's.
    pub fn moments<S: Source>(&self, source: &S, header: &Header) -> Result<Moments, S::Error> {
        header.expect(source.schema())?;
        let mut sums = Accumulator::new(header.clone())?;
        for batch in source.batches()? {
            sums.update(&batch?)?;
        }
        Ok(sums.finish()?)
    }

    /// Sums the moments of each segment's rows, in one reading: the segments' keys and moments, in the order of
    /// their first rows. Merged, they are the moments of all rows.
    ///
    /// # Errors
    /// Those of [`Estimator::moments`], and [`Error::TooManySegments`].
    ///
    /// # Panics
    /// When the source gives rows without segments: a mistake of the caller's.
    pub fn moments_by<S: Source>(&self, source: &S, header: &Header) -> Result<Segments, S::Error> {
        header.expect(source.schema())?;
        let mut sums = SegmentedAccumulator::new(header.clone())?;
        for batch in source.batches()? {
            sums.update(&batch?)?;
        }
        Ok(sums.finish()?)
    }

    /// The loss of the whole prediction that is asked for, if one is.
    pub fn whole(&self) -> Option<Whole> {
        self.whole
    }

    /// The risk from a state.
    ///
    /// # Errors
    /// Whatever keeps these moments from being answered, see [`Estimator::look`]; [`Error::NoMean`] for a loss of the
    /// whole prediction, which takes rows.
    pub fn solve(&self, moments: &Moments) -> Result<Estimate> {
        if let Some(loss) = self.whole {
            return Err(Error::NoMean { loss: loss.name(), reason: Unmeasured::NoRows });
        }
        Ok(self.solved(moments)?.0)
    }

    /// The risk from a state, and from a sample of its rows the metrics of the whole prediction.
    ///
    /// # Errors
    /// See [`Estimator::solve`]; [`Error::NoMean`] for a loss of the whole prediction where the sample has too few rows,
    /// or all rows are in one block.
    pub fn solve_with(&self, moments: &Moments, sample: &Sample) -> Result<Estimate> {
        let (estimate, solution) = self.solved(moments)?;
        self.measure(estimate, moments, &solution, sample)
    }

    /// Adds the metrics of the whole prediction, and takes one of them for the risk where that is asked.
    pub(crate) fn measure(
        &self,
        mut estimate: Estimate,
        moments: &Moments,
        solution: &Solution,
        sample: &Sample,
    ) -> Result<Estimate> {
        let (rows, needed) = (sample.rows().rows(), rows_needed(moments.header().states()));
        let unmeasured = match solution.deviations.count() {
            _ if (rows as u64) < needed => Some(Unmeasured::FewRows { rows, needed }),
            0 | 1 => Some(Unmeasured::OneBlock),
            _ => None,
        };
        if let Some(reason) = unmeasured {
            estimate.metrics = Err(reason);
            return match self.whole {
                Some(loss) => Err(Error::NoMean { loss: loss.name(), reason }),
                None => Ok(estimate),
            };
        }
        let (triples, reach) = self.triples(moments, solution, sample);
        let metrics = Metrics::new(&triples, reach);
        if let Some(loss) = self.whole {
            estimate = estimate.of_whole(loss, &metrics, triples.parts());
        }
        estimate.metrics = Ok(metrics);
        Ok(estimate)
    }

    /// The mean of any loss at all, a function of a row's scores, view by view, and a class: from a state and a sample of
    /// its rows.
    ///
    /// # Errors
    /// See [`Estimator::solve`].
    pub fn mean_of(
        &self,
        moments: &Moments,
        sample: &Sample,
        loss: impl Fn(&[&[f64]], usize) -> f64 + Sync,
    ) -> Result<Metric> {
        let solution = solve(moments, self.seed)?;
        let (triples, reach) = self.triples(moments, &solution, sample);
        Ok(metrics::mean_of(&triples, loss, reach))
    }

    /// Triples of sampled rows, and how many standard errors intervals reach.
    pub(crate) fn triples<'a>(
        &self,
        moments: &'a Moments,
        solution: &'a Solution,
        sample: &'a Sample,
    ) -> (Triples<'a>, f64) {
        let Answer { labels, mixture, matching, .. } = &solution.main;
        let named = (mixture.prior.as_slice(), matching.names.as_slice());
        let triples = Triples::draw(moments.header(), named, labels, sample, self.seed);
        let reach = reach(self.level, triples.parts(), solution.clarity(moments.rows()));
        (triples, reach)
    }

    /// The risk from a state, and what labels its rows without labels (see [`Labeller`]).
    ///
    /// # Errors
    /// See [`Estimator::solve`].
    pub fn solve_labelling(&self, moments: &Moments) -> Result<(Estimate, Labeller)> {
        let (estimate, solution) = self.solved(moments)?;
        Ok((estimate, Labeller::new(moments.header(), &solution)?))
    }

    /// What a state says, untested.
    pub(crate) fn solution(&self, moments: &Moments) -> Result<Solution> {
        enough_rows(moments.rows(), moments.header().states())?;
        solve(moments, self.seed)
    }

    pub(crate) fn solved(&self, moments: &Moments) -> Result<(Estimate, Solution)> {
        let solution = self.solution(moments)?;
        let tested = diagnostics::test(moments, &solution, self.seed)?;
        Ok((Estimate::new(moments, &solution, tested, self.level)?, solution))
    }

    /// Looks, sums and solves: the risk of the rows of a source, which is read twice.
    ///
    /// For many classes (65 or more) no state of the moments is formed. The features of all rows are kept in memory
    /// instead, `12 k` bytes a row and no more than 4 GiB, and the independence of the views is tested by pair moments.
    ///
    /// # Errors
    /// Those of [`Estimator::look`], [`Estimator::moments`] and [`Estimator::solve`]; for many classes
    /// [`Error::TooManyRows`], and [`Error::TooManyClasses`] beyond 512.
    pub fn estimate<S: Source>(&self, source: &S) -> Result<Estimate, S::Error> {
        if Self::reads_rows(source.schema().k()) {
            return self.estimate_from_rows(source);
        }
        let sample = Sample::of(source)?;
        let header = self.look_at(&sample)?;
        Ok(self.solve_with(&self.moments(source, &header)?, &sample)?)
    }

    /// The risk by the tensor power method alone, without refinement: a point of comparison, up to five times
    /// worse than [`Estimator::solve`]. `None` where that method finds no decomposition.
    ///
    /// # Errors
    /// Whatever keeps these moments from being answered.
    pub fn solve_by_tensor_alone(&self, moments: &Moments) -> Result<Option<f64>> {
        tensor_risk(moments, self.seed)
    }

    /// The header of a second pass: the posteriors that a first pass's moments imply, or the state's own
    /// where it has posteriors already.
    ///
    /// # Errors
    /// Whatever keeps these moments from being answered.
    pub fn posterior(&self, moments: &Moments) -> Result<Header> {
        if let FeatureMap::Posterior { .. } = moments.header().features {
            return Ok(moments.header().clone());
        }
        let solution = solve(moments, self.seed)?;
        let features = planning::discriminant_map(&moments.header().features, &solution)?;
        Ok(Header { features, ceilings: None, ..moments.header().clone() })
    }
}

/// Refuses more classes than there is a state for.
fn fits(schema: &Schema) -> Result<()> {
    let k = schema.k();
    if k > MOST_CLASSES { Err(Error::NoState { k, most: MOST_CLASSES }) } else { Ok(()) }
}

/// Refuses fewer rows than can be answered: the fit has some `3 k^2` unknowns and blocks must not be empty.
pub(crate) fn enough_rows(rows: u64, k: usize) -> Result<()> {
    let needed = rows_needed(k);
    if rows < needed { Err(Error::TooFewRows { rows, needed, k }) } else { Ok(()) }
}

/// The fewest rows that are answered for so many classes, or states.
fn rows_needed(k: usize) -> u64 {
    (30 * k as u64).max(200)
}
