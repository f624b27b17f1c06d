//! The answer, with all that says how far to trust it.

use super::{Each, Solved};
use crate::answer::{Bound, Interval, Quantities};
use crate::data::{Partition, VIEWS, Witness, others};
use crate::diagnostics::{Alarm, Conditioning, Independence, alarms};
use crate::error::{Error, Result, Unmeasured};
use crate::fit::Status;
use crate::latent::States;
use crate::loss::{Form, Whole, of_guessing};
use crate::metrics::{ByPosterior, Metrics, PredictionMetrics};
use crate::moments::Grouping;
use crate::settings::limits;
use serde::{Serialize, Serializer};

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

/// The answer: plain data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// The estimated risk.
    pub risk: f64,
    /// Its standard error: the jackknife's over blocks, and the tail.
    pub standard_error: f64,
    /// What of the risk rests on fitted posteriors alone, because terms of a heavy-tailed loss were cut there.
    pub tail: f64,
    /// How the risk is to be read, where not as equal to what is said.
    pub bound: Option<Bound>,
    /// The interval of the population's risk.
    pub interval: Interval,
    /// The same, wider by how far the views may move it with what they have in common and these rows cannot show; absent where there is no
    /// test, or no interval.
    pub wider_interval: Option<Interval>,
    /// The same for the error rate.
    pub wider_error_rate: Option<Interval>,
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
    /// Names of those that the prediction is made of which is judged, where these are not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Vec<String>>,
    /// The last of the views, which have no scores: they identify, and are not judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub witnesses: Vec<Witness>,
    /// How they form three groups.
    pub partition: Partition,
    /// How these came about.
    pub grouping: Grouping,
    /// Names of the three groups.
    pub groups: Vec<String>,
    /// The covariates of the views that were given, `view:covariate`.
    pub covariates: Vec<String>,
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
    #[serde(serialize_with = "metrics_or_reason")]
    pub metrics: Result<Metrics, Unmeasured>,
    /// Each view as a model of its own, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<Each>,
    /// What another model's output is worth that rides along with the rows, where it does and the metrics are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prediction: Option<PredictionMetrics>,
    /// What is wrong with it; empty when nothing is.
    pub alarms: Vec<Alarm>,
}

impl Estimate {
    /// Whether no diagnostic speaks against it.
    pub fn trusted(&self) -> bool {
        self.alarms.is_empty()
    }

    /// The prediction that the fitted posterior makes, where it would be wrong less often than the summed scores are, beyond error: where the answer is to
    /// be trusted, and the scores of all views that have any are what is judged.
    pub fn better_prediction(&self) -> Option<&ByPosterior> {
        let judged = self.model.as_ref().is_none_or(|model| model.len() == self.scored().len());
        let by_posterior = self.metrics.as_ref().ok()?.by_posterior.as_ref()?;
        Some(by_posterior).filter(|by_posterior| judged && self.trusted() && by_posterior.is_better())
    }

    /// Which of two views is better is said where the answer is to be trusted.
    pub(crate) fn sided(&self, each: Each) -> Each {
        if self.trusted() { each } else { each.undecided() }
    }

    /// Names of the views that have scores.
    pub fn scored(&self) -> &[String] {
        &self.views[..self.views.len() - self.witnesses.len()]
    }

    /// The same answer with the mean of a loss of the whole prediction for its risk.
    pub(crate) fn of_whole(mut self, loss: Whole, metrics: &Metrics, wider: Option<Interval>) -> Self {
        let measured = metrics.of(loss).estimate;
        self.risk = measured.value;
        self.standard_error = measured.standard_error;
        self.interval = measured.interval;
        self.wider_interval = wider;
        // What makes the risk too low may leave these as they are.
        self.bound = None;
        self.tail = 0.0;
        self.blocks = metrics.parts;
        self.loss = loss.name().to_owned();
        let guessing = loss.of_guessing(self.classes.len());
        self.alarms.retain(|alarm| !matches!(alarm, Alarm::OutsideRange { .. } | Alarm::TooWide { .. }));
        self.judged([0.0, loss.largest()], guessing)
    }

    /// The same with an interval that stays in the range of its loss and a standard error only where it is known; raises an alarm where the
    /// risk is out of that range, and where the interval is too wide to be of use.
    pub(crate) fn judged(mut self, [low, high]: [f64; 2], guessing: f64) -> Self {
        let scale = self.risk.abs().max(guessing);
        if self.standard_error > limits::UNKNOWN_ERROR * scale {
            self.standard_error = f64::INFINITY;
            self.interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        self.interval = self.interval.within(low, high);
        let least = self.alarms.iter().find_map(|alarm| match alarm {
            // Of a loss of the whole prediction the log loss that is impossible says nothing.
            Alarm::Impossible { loss, least, .. } if *loss == self.loss => Some(*least),
            _ => None,
        });
        // Of what is impossible only the range is left.
        if let Some(least) = least {
            self.interval = Interval { low: least.max(low), high };
            self.risk = if self.bound.is_some() { self.interval.low } else { self.risk };
            return self;
        }
        let (loss, risk) = (|| self.loss.clone(), self.risk);
        let mut raised = Vec::new();
        if !(low..=high).contains(&risk) && !self.alarms.contains(&Alarm::NotFinite) {
            let high = Some(high).filter(|high| high.is_finite());
            raised.push(Alarm::OutsideRange { loss: loss(), risk, low, high });
        }
        let width = self.interval.high - self.interval.low;
        if width.is_nan() || width > limits::WIDEST * scale {
            raised.push(Alarm::TooWide {
                loss: loss(),
                width: Some(width).filter(|w| w.is_finite()),
                guessing,
            });
        }
        self.alarms.extend(raised);
        self
    }

    /// Refuses a model that does not tell which class is which: the lead of the best naming, `gap(theta_0)`, may be none.
    pub(crate) fn expect_strong_seed(&self) -> Result<()> {
        let Interval { low, high } = self.matching_gap_interval;
        if low > 0.0 { Ok(()) } else { Err(Error::WeakSeed { gap: self.matching_gap, low, high }) }
    }

    /// A copy of what was found.
    pub(crate) fn new(solved: &Solved<'_>) -> Self {
        let Solved { moments, answer, tested, level, .. } = solved;
        let (plan, main) = (moments.plan(), answer.blended.main());
        let k = plan.schema.k();
        let Quantities { risk, gap, prior, .. } = &answer.quantities;
        let conditional = answer.quantities.conditional();
        let deviations = &answer.deviations;
        let reach = solved.reach_of(deviations.count());
        let interval = |value: f64, of: &dyn Fn(&Quantities) -> f64| {
            Interval::around(value, reach, deviations.standard_error(of))
        };
        let cell = |v: usize, i: usize, j: usize| conditional[v][(i, j)];
        // M = (pi M) / pi, to first order.
        let cell_interval = |v: usize, i: usize, j: usize| {
            let mean = cell(v, i, j);
            interval(mean, &|q| (q.joint[v][(i, j)] - mean * q.prior[j]) / prior[j])
        };
        let standard_error = answer.standard_error();
        let conditioning = Conditioning::new(moments, answer);
        let (status, alarms) = alarms(moments, answer, tested, &conditioning);
        // Witnesses have no scores to give, but as factors of a product.
        let silent = if plan.loss.form() == Form::Sum { plan.schema.witnesses().len() } else { 0 };
        let (mut holders, mut holder_groups) = (plan.holder_names(), moments.layout().holders.clone());
        holders.truncate(holders.len() - silent);
        holder_groups.truncate(holders.len());
        let shape = [holders.len(), conditional[0].nrows(), k];
        let views = plan.schema.views().len();
        let range = plan.loss.range(views);
        // Scores that say nothing cost something finite, of however many views.
        let guessing = of_guessing(&*plan.loss, views, k).unwrap_or(0.0);
        let estimate = Self {
            risk: *risk,
            standard_error,
            tail: answer.blended.tail,
            bound: tested.independence.too_much_in_common().then_some(Bound::AtLeast),
            interval: Interval::around(*risk, reach, standard_error),
            wider_interval: None,
            wider_error_rate: None,
            level: *level,
            loss: plan.loss.name().to_owned(),
            rows: moments.rows(),
            missing: moments.missing(),
            blocks: deviations.count(),
            views: plan.schema.views().to_vec(),
            model: plan.judged_names(),
            witnesses: plan.schema.witnesses().to_vec(),
            partition: plan.partition.clone(),
            grouping: plan.look.grouping.clone(),
            groups: plan.group_names().to_vec(),
            covariates: plan.schema.all_covariates(),
            classes: plan.schema.classes().to_vec(),
            class_prior: prior.clone(),
            class_prior_interval: (0..k)
                .map(|j| interval(prior[j], &|q| q.prior[j]).within(0.0, 1.0))
                .collect(),
            latent: latent_states(solved),
            holders,
            holder_groups,
            conditional_risk: matrices(shape, cell),
            conditional_risk_interval: matrices(shape, cell_interval),
            matching_gap: *gap,
            matching_gap_interval: Interval::around(*gap, reach, answer.gap_error()),
            fit: Fit {
                status,
                start: answer.blended.variants.start.name(),
                features: plan.features.name(),
                surrogate: main.labels.kind.name(),
                distance: main.distance.name(),
                objective: main.refined.objective,
                iterations: main.refined.iterations,
                moments_share: answer.share,
            },
            conditioning,
            independence: tested.independence.clone(),
            metrics: Err(Unmeasured::NoRows),
            each: None,
            prediction: None,
            alarms,
        };
        let mut estimate = estimate.judged(range, guessing);
        let interval = Some(estimate.interval).filter(|own| own.low.is_finite() && own.high.is_finite());
        estimate.wider_interval = interval
            .zip(tested.unseen)
            .map(|(interval, unseen)| unseen.widen(interval, 1.0).within(range[0], range[1]));
        estimate.each = solved.each_by(None).map(|each| estimate.sided(each));
        estimate
    }
}

/// The latent states, where a number of them was asked for.
fn latent_states(solved: &Solved<'_>) -> Option<States> {
    let (plan, answer) = (solved.moments.plan(), &solved.answer);
    let (matching, agreement) = (&answer.blended.main().matching, &answer.blended.variants.agreement);
    plan.latent.as_ref().map(|latent| States {
        map: matching.names.clone(),
        prior: answer.blended.state_prior(&answer.quantities.prior),
        given: latent.counts.is_some(),
        overruled: matching.overruled,
        // A view tells as many apart as it agrees on with either of the others.
        rank: (0..VIEWS)
            .map(|v| others(v).into_iter().map(|a| agreement[a].rank).fold(0, usize::max))
            .collect(),
        tried: plan.look.tried.clone(),
    })
}

/// One matrix a holder of terms.
fn matrices<T>(
    [holders, rows, columns]: [usize; 3],
    cell: impl Fn(usize, usize, usize) -> T,
) -> Vec<Vec<Vec<T>>> {
    (0..holders).map(|v| (0..rows).map(|i| (0..columns).map(|j| cell(v, i, j)).collect()).collect()).collect()
}

/// The metrics, or an object that says why there are none.
fn metrics_or_reason<S: Serializer>(
    metrics: &Result<Metrics, Unmeasured>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Absent<'a> {
        absent: &'a Unmeasured,
    }
    match metrics {
        Ok(metrics) => metrics.serialize(serializer),
        Err(absent) => Absent { absent }.serialize(serializer),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failure is what a test is for")]
mod tests {
    use super::*;
    use crate::data::{InMemory, Schema};
    use crate::estimator::Params;
    use crate::lab::{Population, Preset};
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    fn estimate() -> Estimate {
        let population = Population::draw(&Preset::Three.setting(), 1).unwrap();
        let (rows, _) = population.rows(4_000, &mut Pcg64::seed_from_u64(2));
        let schema: Schema = population.schema().clone();
        Params::new().check().unwrap().estimate(&InMemory::new(schema, [rows])).unwrap()
    }

    #[test]
    fn what_no_loss_can_be_is_an_alarm() {
        let sound = estimate();
        assert!(sound.trusted());
        let below = Estimate { risk: -0.02, interval: Interval { low: -0.05, high: 0.01 }, ..sound.clone() };
        let below = below.judged([0.0, f64::INFINITY], 1.1);
        assert!(matches!(below.alarms[..], [Alarm::OutsideRange { risk: -0.02, high: None, .. }]));
        assert_eq!((below.interval.low, below.interval.high), (0.0, 0.01));
        let above = Estimate { risk: 1.2, interval: Interval { low: 0.9, high: 1.5 }, ..sound.clone() };
        let above = above.judged([0.0, 1.0], 1.1);
        assert!(matches!(above.alarms[..], [Alarm::OutsideRange { high: Some(1.0), .. }]));
        assert_eq!(above.interval.high, 1.0);

        // What is nobody's error is unknown, and its interval of no use.
        let unknown = Estimate { standard_error: 1e13, ..sound }.judged([0.0, f64::INFINITY], 1.1);
        assert!(unknown.standard_error.is_infinite() && unknown.interval.high.is_infinite());
        assert!(matches!(unknown.alarms[..], [Alarm::TooWide { width: None, .. }]));
    }
}
