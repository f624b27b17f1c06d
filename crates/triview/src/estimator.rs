//! From rows, or from a state, to the risk.

use crate::error::{Error, Result};
use crate::features::FeatureMap;
use crate::fitting;
use crate::loss;
use crate::moments::{Accumulator, Header, MOST_CLASSES, Moments, SegmentedAccumulator, others};
use crate::sample::sample;
use crate::solution::{Agreement, Solution, solve, tensor_risk};
use crate::views::{Source, VIEWS};
use serde::Serialize;
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
                name: "features",
                value: name.into(),
                expected: "one of auto, scores, softmax, regression, posterior",
            }
        })
    }
}

/// What to estimate, and how; checked once by [`Params::check`].
#[derive(Debug, Clone)]
pub struct Params {
    loss: String,
    features: Features,
    seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self::new()
    }
}

impl Params {
    /// The log loss, the best feature map, a fixed seed.
    pub fn new() -> Self {
        Self { loss: "log".into(), features: Features::Auto, seed: 0 }
    }

    /// The loss, by its name.
    #[must_use]
    pub fn loss(mut self, name: &str) -> Self {
        self.loss = name.into();
        self
    }

    /// The feature map.
    #[must_use]
    pub fn features(mut self, features: Features) -> Self {
        self.features = features;
        self
    }

    /// The seed of the tensor method's starts.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Checks all of it.
    ///
    /// # Errors
    /// [`Error::UnknownLoss`].
    pub fn check(self) -> Result<Estimator> {
        let loss = loss::by_name(&self.loss)?.name();
        Ok(Estimator { loss, features: self.features, seed: self.seed })
    }
}

/// Estimates the risk; made by [`Params::check`].
#[derive(Debug, Clone)]
pub struct Estimator {
    loss: &'static str,
    features: Features,
    seed: u64,
}

impl Estimator {
    /// Looks at a sample of the rows, and chooses and fits the feature map.
    ///
    /// # Errors
    /// Those of the source, and whatever keeps these rows from being answered: too few of them, too many
    /// classes, a view that is constant, of low rank, or a copy of another.
    pub fn look<S: Source>(&self, source: &S) -> Result<Header, S::Error> {
        let schema = source.schema().clone();
        let k = schema.k();
        if k > MOST_CLASSES {
            return Err(Error::TooManyClasses { k, most: MOST_CLASSES }.into());
        }
        let (rows, seen) = sample(source)?;
        let needed = fewest_rows(k);
        if seen < needed {
            return Err(Error::TooFewRows { rows: seen, needed, k }.into());
        }
        let features = fitting::choose(&schema, self.loss, &rows, self.features, self.seed)?;
        Ok(Header { schema, loss: self.loss.into(), features })
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
            sums.update(&batch?);
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
    pub fn moments_by<S: Source>(
        &self,
        source: &S,
        header: &Header,
    ) -> Result<Vec<(u64, Moments)>, S::Error> {
        header.expect(source.schema())?;
        let mut sums = SegmentedAccumulator::new(header.clone())?;
        for batch in source.batches()? {
            sums.update(&batch?)?;
        }
        Ok(sums.finish()?)
    }

    /// The risk from a state.
    ///
    /// # Errors
    /// Whatever keeps these moments from being answered, see [`Estimator::look`].
    pub fn solve(&self, moments: &Moments) -> Result<Estimate> {
        let (rows, k) = (moments.rows(), moments.header().schema.k());
        let needed = fewest_rows(k);
        if rows < needed {
            return Err(Error::TooFewRows { rows, needed, k });
        }
        Ok(Estimate::new(moments, &solve(moments, self.seed)?))
    }

    /// Looks, sums and solves: the risk of the rows of a source, which is read twice.
    ///
    /// # Errors
    /// Those of [`Estimator::look`], [`Estimator::moments`] and [`Estimator::solve`].
    pub fn estimate<S: Source>(&self, source: &S) -> Result<Estimate, S::Error> {
        let header = self.look(source)?;
        Ok(self.solve(&self.moments(source, &header)?)?)
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
        let features = fitting::discriminant_map(&moments.header().features, &solution)?;
        Ok(Header { features, ..moments.header().clone() })
    }
}

/// Fewer rows than this are refused: the fit has some `3 k^2` unknowns and blocks must not be empty.
fn fewest_rows(k: usize) -> u64 {
    (30 * k as u64).max(200)
}

/// How a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// At a minimum, away from every border.
    Converged,
    /// The iterations ran out first.
    IterationLimit,
    /// At a minimum that identifies nothing: a class without rows, or a view that cannot tell two classes
    /// apart. The numbers are not to be trusted.
    Degenerate,
}

/// How the moments were solved for the class prior and the conditional means.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// How it ended.
    pub status: Status,
    /// The start that led to the lowest objective: `tensor` or `posterior`.
    pub start: &'static str,
    /// The feature map.
    pub features: &'static str,
    /// The surrogate labels: `linear` or `pair`.
    pub surrogate: &'static str,
    /// What the fit minimised: `squares` or `kullback-leibler`.
    pub distance: &'static str,
    /// That distance between the moments and the fit.
    pub objective: f64,
    /// Iterations of the refinement.
    pub iterations: usize,
}

/// The quantities of Theorem 1 that say how hard the problem is.
#[derive(Debug, Clone, PartialEq)]
pub struct Conditioning {
    /// For each view, the smallest singular value of the whitened class means of its features.
    pub smallest_singular_value: Vec<f64>,
    /// The smallest class prior.
    pub smallest_prior: f64,
    /// `E[sum_v,j f_v(x_v, j)^2]`.
    pub tau: f64,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The estimated risk.
    pub risk: f64,
    /// Its standard error (jackknife over blocks).
    pub standard_error: f64,
    /// Name of the loss.
    pub loss: String,
    /// Rows it rests on.
    pub rows: u64,
    /// Blocks of rows that the standard error rests on.
    pub blocks: usize,
    /// Names of the views.
    pub views: Vec<String>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Probability of each class.
    pub class_prior: Vec<f64>,
    /// For each view, row `i`, column `j`: `E[f_v(x, i) | y = j]` (eq. 2).
    pub conditional_risk: Vec<Vec<Vec<f64>>>,
    /// By how much the second-best naming of the classes is worse.
    pub matching_gap: f64,
    /// How the moments were solved.
    pub fit: Fit,
    /// How hard the problem was.
    pub conditioning: Conditioning,
    /// What is wrong with it, in words; empty when nothing is.
    pub alarms: Vec<String>,
}

impl Estimate {
    fn new(moments: &Moments, solution: &Solution) -> Self {
        let (header, layout, total) = (moments.header(), moments.layout(), moments.total());
        let k = header.schema.k();
        let n = layout.rows.of(&total)[0];
        let prior = &solution.prior;
        let singular = |means: &faer::Mat<f64>| {
            means.singular_values().ok().and_then(|values| values.get(k - 1).copied()).unwrap_or(0.0)
        };
        let smallest_prior = prior.iter().copied().fold(f64::INFINITY, f64::min);
        let mut alarms = Vec::new();
        for (class, p) in header.schema.classes().iter().zip(prior) {
            if p * n < FEWEST_OF_A_CLASS {
                alarms.push(format!("class `{class}` has a prior of {p:.2e}: next to no rows are its own"));
            }
        }
        alarms.extend(weak_views(header.schema.views(), k, &solution.agreement));
        if !(solution.risk.value.is_finite() && solution.standard_error.is_finite()) {
            alarms.push("the risk is not a finite number".into());
        }
        let status = match (alarms.is_empty(), solution.main.refined.converged) {
            (false, _) => Status::Degenerate,
            (true, true) => Status::Converged,
            (true, false) => {
                alarms.push("the fit did not converge".into());
                Status::IterationLimit
            }
        };
        let cells = |m: &faer::Mat<f64>| (0..k).map(|i| (0..k).map(|j| m[(i, j)]).collect()).collect();
        Self {
            risk: solution.risk.value,
            standard_error: solution.standard_error,
            loss: header.loss.clone(),
            rows: moments.rows(),
            blocks: moments.blocks().iter().filter(|block| layout.rows.of(block)[0] > 0.0).count(),
            views: header.schema.views().to_vec(),
            classes: header.schema.classes().to_vec(),
            class_prior: prior.clone(),
            conditional_risk: solution.risk.conditional.iter().map(cells).collect(),
            matching_gap: solution.main.matching.gap,
            fit: Fit {
                status,
                start: solution.start.name(),
                features: header.features.name(),
                surrogate: solution.main.kind.name(),
                distance: solution.main.distance.name(),
                objective: solution.main.refined.objective,
                iterations: solution.main.refined.iterations,
            },
            conditioning: Conditioning {
                smallest_singular_value: solution.main.mixture.means.iter().map(singular).collect(),
                smallest_prior,
                tau: layout.loss.of(&total)[4] / n,
            },
            alarms,
        }
    }
}

/// A class that has fewer rows than this by the fit is not identified.
const FEWEST_OF_A_CLASS: f64 = 5.0;

/// Names the views that do not tell all classes apart: those that agree with neither of the others in enough
/// directions. Where no single view is to blame, the pairs that do not agree.
fn weak_views(views: &[String], k: usize, agreement: &[Agreement; VIEWS]) -> Vec<String> {
    let weak: Vec<bool> = agreement.iter().map(|pair| pair.correlation < pair.chance).collect();
    let blamed = |v: usize| !weak[v] && others(v).into_iter().all(|a| weak[a]);
    if let Some(v) = (0..VIEWS).find(|&v| blamed(v)) {
        return vec![format!("view `{}` does not tell all {k} classes apart", views[v])];
    }
    let pair = |v: usize| {
        let [a, b] = others(v);
        format!(
            "views `{}` and `{}` agree in fewer than {} directions: not all {k} classes are told apart",
            views[a],
            views[b],
            k - 1
        )
    };
    (0..VIEWS).filter(|&v| weak[v]).map(pair).collect()
}
