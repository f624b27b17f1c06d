//! The answer, with all that says how far to trust it.

use crate::answer::Drawn;
use crate::answer::{Interval, reach};
use crate::answer::{Quantities, Solution};
use crate::data::VIEWS;
use crate::diagnostics::{Alarm, Conditioning, Independence, Tested, alarms};
use crate::error::{Error, Result};
use crate::latent::States;
use crate::loss::Whole;
use crate::metrics::{Metrics, Unmeasured};
use crate::moments::{Moments, others};
use crate::planning::Grouping;
use serde::Serialize;

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
    /// How far the answer is the moments' own, and not that of the fitted posterior: from 0 to 1.
    pub moments_share: f64,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The estimated risk.
    pub risk: f64,
    /// Its standard error: the jackknife's over blocks, and the tail.
    pub standard_error: f64,
    /// What of the risk rests on fitted posteriors alone, because terms of a heavy-tailed loss were cut there.
    pub tail: f64,
    /// The interval of the population's risk.
    pub interval: Interval,
    /// The level of confidence of all intervals.
    pub level: f64,
    /// Name of the loss.
    pub loss: String,
    /// Rows it rests on.
    pub rows: u64,
    /// Rows in which each view is missing.
    pub missing: Vec<u64>,
    /// Blocks of rows that the standard errors rest on.
    pub blocks: usize,
    /// Names of the input views.
    pub views: Vec<String>,
    /// How they are grouped into three.
    pub grouping: Grouping,
    /// Names of the three groups.
    pub groups: Vec<String>,
    /// The further features of the views that were given, `view:feature`.
    pub features: Vec<String>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Probability of each class.
    pub class_prior: Vec<f64>,
    /// The interval of each.
    pub class_prior_interval: Vec<Interval>,
    /// The latent states, where a number of them was asked for.
    pub latent: Option<States>,
    /// What the conditional risk is given for: the views, or the groups where the loss is a product over views.
    pub holders: Vec<String>,
    /// The group of each of them.
    pub holder_groups: Vec<usize>,
    /// For each of them, row `i`, column `j`: `E[f_v(x, i) | y = j]` (eq. 2). For a loss of several products the rows of
    /// the first come first.
    pub conditional_risk: Vec<Vec<Vec<f64>>>,
    /// The interval of each.
    pub conditional_risk_interval: Vec<Vec<Vec<Interval>>>,
    /// By how much the second-best naming of the classes is worse.
    pub matching_gap: f64,
    /// Its interval.
    pub matching_gap_interval: Interval,
    /// How the moments were solved.
    pub fit: Fit,
    /// How hard the problem was.
    pub conditioning: Conditioning,
    /// Whether the views are independent given the class.
    pub independence: Independence,
    /// The metrics of the whole prediction, or why there are none.
    pub metrics: Result<Metrics, Unmeasured>,
    /// What is wrong with it; empty when nothing is.
    pub alarms: Vec<Alarm>,
}

impl Estimate {
    /// Whether no diagnostic speaks against it.
    pub fn trusted(&self) -> bool {
        self.alarms.is_empty()
    }

    /// The same answer with the mean of a loss of the whole prediction for its risk, from so many parts of the rows.
    pub(crate) fn of_whole(mut self, loss: Whole, metrics: &Metrics, parts: usize) -> Self {
        let measured = metrics.of(loss).estimate;
        self.risk = measured.value;
        self.standard_error = measured.standard_error;
        self.interval = measured.interval;
        self.tail = 0.0;
        self.blocks = parts;
        self.loss = loss.name().to_owned();
        self
    }

    /// Refuses a model that does not tell which class is which: the lead of the best naming, `gap(theta_0)`, may be none.
    pub(crate) fn expect_strong_seed(&self) -> Result<()> {
        let Interval { low, high } = self.matching_gap_interval;
        if low > 0.0 { Ok(()) } else { Err(Error::WeakSeed { gap: self.matching_gap, low, high }) }
    }

    pub(crate) fn new(moments: &Moments, solution: &Solution, tested: Tested, level: f64) -> Result<Self> {
        let header = moments.header();
        let (k, holders) = (header.schema.k(), solution.risk.conditional.len());
        let terms = k * header.loss.form().terms();
        let drawn = Drawn::new(moments, solution)?;
        let deviations = &drawn.deviations;
        let reach = reach(level, deviations.count(), solution.clarity(moments.rows()));
        let interval = |value: f64, of: &dyn Fn(&[f64]) -> f64| {
            Interval::around(value, reach, deviations.standard_error(of))
        };
        let prior = &drawn.prior;
        let conditional = |v: usize, i: usize, j: usize| drawn.conditional[v][(i, j)];
        // M = (pi M) / pi, to first order.
        let of_conditional = |v: usize, i: usize, j: usize| {
            let mean = conditional(v, i, j);
            interval(mean, &|row| {
                (Quantities::joint(row, [terms, k], v, [i, j]) - mean * Quantities::prior(row, j)) / prior[j]
            })
        };
        let gap_error = solution.deviations.standard_error(Quantities::gap);
        let standard_error = drawn.standard_error(solution.risk.tail);
        let conditioning = Conditioning::new(moments, solution);
        let (status, alarms) = alarms(moments, solution, &tested, &conditioning, gap_error);
        Ok(Self {
            risk: drawn.risk,
            standard_error,
            tail: solution.risk.tail,
            interval: Interval::around(drawn.risk, reach, standard_error),
            level,
            loss: header.loss.name().to_owned(),
            rows: moments.rows(),
            missing: moments.missing(),
            blocks: deviations.count(),
            views: header.schema.views().to_vec(),
            grouping: header.grouping.clone(),
            groups: header.group_names().to_vec(),
            features: header.schema.all_features(),
            classes: header.schema.classes().to_vec(),
            class_prior: prior.clone(),
            class_prior_interval: (0..k)
                .map(|j| interval(prior[j], &|row| Quantities::prior(row, j)).within(0.0, 1.0))
                .collect(),
            latent: header.latent.as_ref().map(|latent| States {
                map: solution.main.matching.names.clone(),
                prior: solution.state_prior(prior),
                given: latent.counts.is_some(),
                overruled: solution.main.matching.overruled,
                // A view tells as many apart as it agrees on with either of the others.
                rank: (0..VIEWS)
                    .map(|v| others(v).into_iter().map(|a| solution.agreement[a].rank).fold(0, usize::max))
                    .collect(),
                tried: latent.tried.clone(),
            }),
            holders: header.holder_names(),
            holder_groups: moments.layout().holders.clone(),
            conditional_risk: matrices(holders, terms, k, conditional),
            conditional_risk_interval: matrices(holders, terms, k, of_conditional),
            matching_gap: solution.gap,
            matching_gap_interval: Interval::around(solution.gap, reach, gap_error),
            fit: Fit {
                status,
                start: solution.start.name(),
                features: header.features.name(),
                surrogate: solution.main.kind.name(),
                distance: solution.main.distance.name(),
                objective: solution.main.refined.objective,
                iterations: solution.main.refined.iterations,
                moments_share: drawn.share,
            },
            conditioning,
            independence: tested.independence,
            metrics: Err(Unmeasured::NoRows),
            alarms,
        })
    }
}

/// One matrix a holder of terms.
fn matrices<T>(
    holders: usize,
    rows: usize,
    columns: usize,
    cell: impl Fn(usize, usize, usize) -> T,
) -> Vec<Vec<Vec<T>>> {
    (0..holders).map(|v| (0..rows).map(|i| (0..columns).map(|j| cell(v, i, j)).collect()).collect()).collect()
}
