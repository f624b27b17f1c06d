//! Whether the views are independent given the class: a test on bins of each view's scores.
//!
//! Under independence the third moment of the bins is that of a mixture over the classes. The mixture is fitted
//! to it, and for each block of rows the residual is taken off the tangent space of the fit, which removes the
//! error of estimation to first order. What is left, `r_b`, has mean zero for each block if the views are
//! independent, and blocks are independent of each other. So
//!
//! ```text
//!     S = sum over b != b' of <r_b, r_b'> / (B (B - 1))
//! ```
//!
//! has mean zero, and estimates the squared misfit if they are not. Signs of the blocks are drawn at random for
//! its distribution: no covariance of a thousand moments has to be inverted.
//!
//! `S` looks in all directions alike. The commonest dependence has one of its own, that of rows which are hard in every view
//! at once, and is looked for there besides: see [`super::causes`].

use super::alarms::given;
use super::causes::{Cause, CommonCause, Unseen, unseen_shares};
use super::dependence::{Block, Dependence, of_pair, within_classes};
use super::pairs;
use super::signs::Products;
use crate::answer::{
    Blended, Deviations, Numbers, Risk, Surrogates, identify, jackknife, linear_risk, refits,
};
use crate::data::{VIEWS, others};
use crate::error::Result;
use crate::fit::refinement::{Curvature, Misfit, Objective, Refined, Refit, refine, refine_near};
use crate::fit::{Mixture, Whitened, Whitening, power_method};
use crate::moments::Moments;
use crate::settings::causes::LEAST_OF_THE_MISFIT;
use crate::settings::independence::{FEWEST_BLOCKS, FLIPS};
use rayon::prelude::*;
use serde::Serialize;

/// Below this p-value the views are taken to be dependent.
pub const LEVEL: f64 = crate::settings::independence::LEVEL;

/// What the test says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No dependence was seen.
    Pass,
    /// The views depend on each other within a class.
    Fail,
    /// Nothing can be tested.
    Untestable,
}

/// The test of conditional independence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Independence {
    /// What it says.
    pub verdict: Verdict,
    /// `S`, an unbiased estimate of the squared misfit in whitened coordinates; absent where untestable.
    pub statistic: Option<f64>,
    /// How large `S` is by chance, one standard deviation; absent where untestable.
    pub deviation: Option<f64>,
    /// The chance of such a statistic if the views are independent; absent where untestable.
    pub p_value: Option<f64>,
    /// What the views have in common beyond the class, as far as it shows: all of them, then each pair; none where untestable, and for
    /// many classes.
    pub common_causes: Vec<CommonCause>,
    /// By how many the moments outnumber what is fitted to them.
    pub degrees_of_freedom: usize,
    /// Why nothing can be tested.
    pub reason: Option<String>,
    /// Each pair of views and, where a pair depends on each other, each class.
    pub dependences: Vec<Dependence>,
}

impl Independence {
    /// Whether the views agree more than they should, all of them, and that is some of what is wrong and not a trifle of it: then the risk is too low,
    /// and by how much nothing says. Noise that views share, and copies, may make it too high as well.
    pub(crate) fn too_much_in_common(&self) -> bool {
        let misfit = self.statistic.unwrap_or(f64::INFINITY).max(0.0);
        let seen = |cause: &CommonCause| cause.p_value < LEVEL && cause.misfit > LEAST_OF_THE_MISFIT * misfit;
        self.verdict == Verdict::Fail && self.common_causes.first().is_some_and(seen)
    }

    pub(super) fn untestable(degrees_of_freedom: usize, reason: String) -> Self {
        Self {
            verdict: Verdict::Untestable,
            statistic: None,
            deviation: None,
            p_value: None,
            common_causes: Vec::new(),
            degrees_of_freedom,
            reason: Some(reason),
            dependences: Vec::new(),
        }
    }
}

/// Corrects some tests for each other: no chance is smaller than that of all of them together, by Cauchy's combination of chances,
/// which holds however the tests depend on each other (Liu and Xie 2020).
pub(crate) fn correct_for_each_other(tests: &mut [Tested]) {
    let chances: Vec<f64> = tests.iter().filter_map(|test| test.independence.p_value).collect();
    if chances.len() < 2 {
        return;
    }
    let together = together(&chances);
    for Tested { independence, .. } in tests {
        if let Some(p) = &mut independence.p_value
            && *p < together
        {
            *p = together;
            if together >= LEVEL && independence.verdict == Verdict::Fail {
                independence.verdict = Verdict::Pass;
            }
        }
    }
}

/// The chance of some tests together, by Cauchy's combination.
fn together(chances: &[f64]) -> f64 {
    // A chance of one would outweigh any number of small ones.
    let quantile = |p: &f64| (std::f64::consts::PI * (0.5 - p.min(1.0 - 1.0 / FLIPS as f64))).tan();
    let mean = chances.iter().map(quantile).sum::<f64>() / chances.len() as f64;
    0.5 - mean.atan() / std::f64::consts::PI
}

/// The test, and the risk by the bins alone, where there are enough of them.
pub(crate) struct Tested {
    pub(crate) independence: Independence,
    pub(crate) by_bins: Option<ByBins>,
    /// How far the risk may be off by what the test cannot see; nothing where there is no test.
    pub(crate) unseen: Option<Unseen>,
}

/// The risk with bins for features.
pub(crate) struct ByBins {
    pub(crate) risk: f64,
    pub(crate) deviations: Deviations<f64>,
}

/// Tests the state that a solution is of.
pub(crate) fn test(moments: &Moments, blended: &Blended, seed: u64) -> Result<Tested> {
    let (layout, sums) = (moments.layout(), moments.total());
    let k = moments.plan().states();
    let needing = given(moments.plan()).all();
    if layout.features.pairs.is_some() {
        let independence = pairs::test(moments, &blended.variants.whitening, seed)?;
        return Ok(Tested { independence, by_bins: None, unseen: None });
    }
    let whitening = Whitening::of(&layout.bins, &sums)?;
    let whitened = whitening.apply(&layout.bins, &sums);
    let untestable = |freedom, reason| {
        Ok(Tested { independence: Independence::untestable(freedom, reason), by_bins: None, unseen: None })
    };
    if let Some(v) = (0..VIEWS).find(|&v| whitened.dims[v] < k) {
        let (view, values) = (&moments.plan().group_names()[v], whitened.dims[v]);
        let reason =
            format!("view `{view}` takes too few values: {values} can be told apart, {k} {needing} need {k}");
        return untestable(0, reason);
    }
    let unknowns = k + whitened.dims.iter().map(|d| k * (d - 1)).sum::<usize>();
    let moments_of = whitened.dims.iter().product::<usize>();
    if moments_of <= unknowns {
        let reason = format!(
            "{} moments of these views determine the {} unknowns of the fit and leave nothing to test it with: give \
             scores rather than votes, or more classes",
            moments_of - 1,
            unknowns - 1
        );
        return untestable(0, reason);
    }
    let freedom = moments_of - unknowns;

    let count = blended.deviations.count();
    if count < FEWEST_BLOCKS {
        return untestable(freedom, few_blocks(count));
    }

    let blocks = whitened_blocks(moments, &whitening);
    let near = BinsFit::near(moments, blended, &whitening, &whitened, &sums)?;
    let first = near.outcome(moments, &blocks, seed)?;
    // A fit that ended in the wrong optimum looks like dependence.
    let other = if first.p_value < LEVEL {
        BinsFit::afresh(moments, &whitening, &whitened, &sums, seed)?
    } else {
        None
    };
    let (fit, outcome) = match other {
        Some(other) if other.refined.objective < near.refined.objective * (1.0 - 1e-9) => {
            let outcome = other.outcome(moments, &blocks, seed)?;
            (other, outcome)
        }
        _ => (near, first),
    };
    let hidden = (0..VIEWS).filter(|&v| whitened.dims[v] == k).count() >= 2;
    let verdict = match (outcome.p_value < LEVEL, fit.refined.converged) {
        (true, _) => Verdict::Fail,
        (false, true) if hidden => {
            let reason = format!(
                "two views or more take no more than {k} values, as votes for {k} classes do: what two voters have in \
                 common can hide in the classes; give scores rather than votes"
            );
            return untestable(freedom, reason);
        }
        (false, true) => Verdict::Pass,
        (false, false) => return untestable(freedom, "the fit to the bins did not converge".into()),
    };
    let refit = Refit::new(&fit.objective, &fit.refined.mixture);
    let (by_bins, dependences) = match fit.read(moments, &refit, &whitened, &blocks, &sums, seed) {
        Ok((by_bins, dependences)) => (Some(by_bins), dependences),
        Err(_) => (None, Vec::new()),
    };
    let unseen = fit.unseen(moments, &refit, &outcome.causes, &sums).ok();
    let independence = Independence {
        verdict,
        statistic: Some(outcome.statistic),
        deviation: Some(outcome.deviation),
        p_value: Some(outcome.p_value),
        common_causes: outcome.causes.into_iter().map(|(_, seen)| seen).collect(),
        degrees_of_freedom: freedom,
        reason: None,
        dependences,
    };
    Ok(Tested { independence, by_bins, unseen })
}

/// Why so few blocks are not compared.
pub(super) fn few_blocks(count: usize) -> String {
    format!(
        "the rows are in {count} blocks, and {FEWEST_BLOCKS} are needed to compare: give more rows, or clusters of fewer rows"
    )
}

/// The moments of the bins, block by block.
fn whitened_blocks(moments: &Moments, whitening: &Whitening) -> Vec<Block> {
    let filled = moments.filled();
    let mean = filled.iter().map(|(rows, _)| rows).sum::<f64>() / filled.len() as f64;
    filled
        .par_iter()
        .map(|(rows, block)| Block {
            weight: rows / mean,
            moments: whitening.apply(&moments.layout().bins, block),
        })
        .collect()
}

/// A mixture fitted to the bins.
struct BinsFit<'a> {
    whitening: &'a Whitening,
    objective: Objective,
    refined: Refined,
    /// The class of each latent state.
    names: Vec<usize>,
}

/// What the residuals of a fit say.
struct Outcome {
    statistic: f64,
    deviation: f64,
    causes: Vec<(Cause, CommonCause)>,
    /// Of all together.
    p_value: f64,
}

fn objective(whitened: Whitened, k: usize) -> Objective {
    Objective::squares(whitened.tensor, whitened.dims, k)
}

impl<'a> BinsFit<'a> {
    /// From the class means of the bins under the solution's surrogate labels: these are unbiased, so the start is
    /// near the optimum, and its classes are in order.
    fn near(
        moments: &Moments,
        blended: &Blended,
        whitening: &'a Whitening,
        whitened: &Whitened,
        sums: &[f64],
    ) -> Result<Self> {
        let layout = moments.layout();
        let mixture = &blended.main().mixture;
        let labels = Surrogates::new(&blended.variants.whitening, mixture, &layout.features, sums)?;
        let plain = std::array::from_fn(|v| {
            let mut means = labels.class_means(v, &mixture.prior, &layout.bins_features[v], sums);
            means.row_mut(0).fill(1.0);
            means
        });
        let start = whitening.mixture(mixture.prior.clone(), plain);
        let objective = objective(whitened.clone(), mixture.prior.len());
        let mut refined = refine_near(&objective, &start);
        if !refined.converged {
            refined = refine(&objective, &start);
        }
        Ok(Self { whitening, objective, refined, names: blended.main().matching.names.clone() })
    }

    /// From the tensor power method, classes put in order.
    fn afresh(
        moments: &Moments,
        whitening: &'a Whitening,
        whitened: &Whitened,
        sums: &[f64],
        seed: u64,
    ) -> Result<Option<Self>> {
        let (plan, layout) = (moments.plan(), moments.layout());
        let (loss, k) = (&*plan.loss, plan.states());
        let Some(start) = power_method(whitened, k, seed)? else { return Ok(None) };
        let objective = objective(whitened.clone(), k);
        let mut refined = refine(&objective, &start);
        let (mixture, matching) = identify(loss, &layout.bins, whitening, &refined.mixture, layout, sums)?;
        refined.mixture = mixture;
        Ok(Some(Self { whitening, objective, refined, names: matching.names }))
    }

    /// The statistic, what the views have in common, and the chance of both.
    fn outcome(&self, moments: &Moments, blocks: &[Block], seed: u64) -> Result<Outcome> {
        let k = self.objective.shape().k;
        let model = self.objective.cells_of(&self.refined.mixture);
        // At moments that the mixture fits perfectly the second derivative of the distance is J^T J.
        let dims = self.objective.shape().dims;
        let perfect = objective(Whitened { dims, tensor: model.clone() }, k);
        let point = perfect.shape().pack(&self.refined.mixture);
        let at = perfect.expand(&point);
        let curvature = Curvature::new(perfect.curve(&at));
        // What the fit leaves off the tangent space: `r - J (J^T J)^-1 J^T r`.
        let off_tangent = |mut residuals: Vec<Vec<f64>>| {
            let gradient = |residual: &Vec<f64>| {
                let moved = residual.iter().zip(&model).map(|(r, model)| model + r).collect();
                objective(Whitened { dims, tensor: moved }, k).expand(&point).gradient
            };
            let gradients: Vec<Vec<f64>> = residuals.par_iter().map(gradient).collect();
            let steps = curvature.steps(&gradients);
            residuals.par_iter_mut().zip(&steps).for_each(|(residual, step)| {
                let explained = perfect.tangent(&at, step);
                residual.iter_mut().zip(explained).for_each(|(r, explained)| *r -= explained);
            });
            residuals
        };
        // Of each block, weighted by its share of the rows.
        let of_block = |Block { weight, moments }: &Block| {
            let cells = moments.tensor.iter().zip(&model);
            cells.map(|(own, model)| weight * (own - model)).collect()
        };
        let residuals: Vec<Vec<f64>> = off_tangent(blocks.par_iter().map(of_block).collect());
        let causes = Cause::all(moments, self.whitening, &self.refined.mixture)?;
        let direction = |cause: &Cause| {
            let own = cause.whitened(self.whitening);
            own.iter().zip(&model).map(|(own, model)| own - model).collect()
        };
        let directions = off_tangent(causes.iter().map(direction).collect());
        let seen = causes.iter().zip(&directions).map(|(cause, along)| cause.seen(&residuals, along, seed));
        let seen: Vec<CommonCause> = seen.collect();
        let causes: Vec<(Cause, CommonCause)> = causes.into_iter().zip(seen).collect();
        let products = Products::of(&residuals);
        let (statistic, p_value) = products.test(FLIPS, 1.0, seed);
        // In all directions, in that of rows that are hard in all views, and in those of two views: each counts a third.
        let chances: Vec<f64> = causes.iter().map(|(_, seen)| seen.p_value).collect();
        let p_value = together(&[p_value, chances[0], together(&chances[1..])]);
        Ok(Outcome { statistic, deviation: products.deviation(), causes, p_value })
    }

    /// The risk of the rows of these sums under a fit.
    fn risk(&self, moments: &Moments, mixture: &Mixture, sums: &[f64]) -> Result<Risk> {
        let (layout, loss) = (moments.layout(), &*moments.plan().loss);
        linear_risk(loss, &layout.bins, self.whitening, (mixture, &self.names), layout, sums)
    }

    /// How far the risk may be off by causes that the test would miss half the time.
    fn unseen(
        &self,
        moments: &Moments,
        refit: &Refit,
        causes: &[(Cause, CommonCause)],
        sums: &[f64],
    ) -> Result<Unseen> {
        let layout = moments.layout();
        let (k, mixture) = (self.objective.shape().k, &self.refined.mixture);
        let whole = self.risk(moments, mixture, sums)?;
        let shifts =
            causes.iter().flat_map(|(cause, seen)| unseen_shares(seen).map(move |share| (cause, share)));
        let mixed: Vec<(Vec<f64>, f64)> = shifts
            .map(|(cause, share)| cause.mixed_in(share, moments, (&whole, mixture, &self.names)))
            .collect();
        let objectives: Vec<Objective> = mixed
            .par_iter()
            .map(|(sums, _)| objective(self.whitening.apply(&layout.bins, sums), k))
            .collect();
        let shifts = mixed.iter().zip(refit.to(&objectives)).map(|((sums, there_would_be), refitted)| {
            Ok(there_would_be - self.risk(moments, &refitted, sums)?.value)
        });
        shifts
            .collect::<Result<Vec<f64>>>()
            .map(|shifts| shifts.into_iter().fold(Unseen::default(), Unseen::or))
    }

    /// The risk under this fit, and how each pair of views depends on each other within each class.
    fn read(
        &self,
        moments: &Moments,
        refit: &Refit,
        whitened: &Whitened,
        blocks: &[Block],
        sums: &[f64],
        seed: u64,
    ) -> Result<(ByBins, Vec<Dependence>)> {
        let layout = moments.layout();
        let k = self.objective.shape().k;
        let read = |mixture: &Mixture, whitened: &Whitened, sums: &[f64]| -> Result<Reading> {
            let risk = self.risk(moments, mixture, sums)?.value;
            let within = |third: usize| within_classes(mixture, whitened, third);
            Ok(Reading { risk, within: [within(0)?, within(1)?, within(2)?] })
        };
        let whole = read(&self.refined.mixture, whitened, sums)?;
        let whitened_left = |left: &[f64]| self.whitening.apply(&layout.bins, left);
        let fitted = refits(moments, refit, |left| objective(whitened_left(left), k));
        let deviations =
            jackknife(moments, &whole, |block, left| read(&fitted[&block], &whitened_left(left), left))?;
        let of_blocks = deviations.values(&whole);
        let named = (self.refined.mixture.prior.as_slice(), self.names.as_slice());
        let mut dependences = Vec::new();
        for third in (0..VIEWS).rev() {
            let within: Vec<Vec<f64>> = of_blocks.iter().map(|block| block.within[third].clone()).collect();
            dependences.extend(of_pair(whitened, blocks, others(third), named, &within, seed)?);
        }
        let deviations = deviations.map(|reading| reading.risk);
        Ok((ByBins { risk: whole.risk, deviations }, dependences))
    }
}

/// What is read off a fit to the bins: the risk, and the covariances within classes of the views other than each one.
#[derive(Clone)]
struct Reading {
    risk: f64,
    within: [Vec<f64>; VIEWS],
}

impl Numbers for Reading {
    fn combine(parts: &[(&Self, f64)]) -> Self {
        let within: Vec<_> = parts.iter().map(|(part, times)| (&part.within, *times)).collect();
        Self {
            risk: parts.iter().map(|(part, times)| times * part.risk).sum(),
            within: Numbers::combine(&within),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trifle_of_what_is_wrong_makes_no_bound() {
        let cause = |misfit: f64, p_value: f64| CommonCause {
            views: vec![0, 1, 2],
            share: 0.1,
            standard_error: 0.02,
            misfit,
            p_value,
        };
        let bound = |verdict, misfit, p_value| {
            let common_causes = vec![cause(misfit, p_value)];
            let tested = Independence::untestable(1, String::new());
            Independence { verdict, statistic: Some(0.01), common_causes, ..tested }.too_much_in_common()
        };
        assert!(bound(Verdict::Fail, 0.005, 0.001));
        assert!(!bound(Verdict::Fail, 0.0005, 0.001), "noise that views share");
        assert!(!bound(Verdict::Fail, 0.005, 0.2) && !bound(Verdict::Pass, 0.005, 0.001));
    }

    #[test]
    fn tests_are_corrected_for_each_other() {
        let tested = |p: f64| {
            let mut independence = Independence::untestable(1, String::new());
            (independence.p_value, independence.verdict) =
                (Some(p), if p < LEVEL { Verdict::Fail } else { Verdict::Pass });
            Tested { independence, by_bins: None, unseen: None }
        };
        let corrected = |chances: &[f64]| -> Vec<(f64, Verdict)> {
            let mut all: Vec<Tested> = chances.iter().map(|p| tested(*p)).collect();
            correct_for_each_other(&mut all);
            all.iter()
                .filter_map(|test| Some((test.independence.p_value?, test.independence.verdict)))
                .collect()
        };
        assert_eq!(corrected(&[0.01]), [(0.01, Verdict::Fail)]);
        // Equal chances stay as they are together; of quantiles 1 and 0 the mean is that of 1/2 - atan(1/2) / pi.
        assert!(
            corrected(&[0.01; 9])
                .iter()
                .all(|(p, verdict)| { (p - 0.01).abs() < 1e-12 && *verdict == Verdict::Fail })
        );
        let [(first, _), (second, _)] = corrected(&[0.25, 0.5])[..] else { unreachable!() };
        let together = 0.5 - 0.5_f64.atan() / std::f64::consts::PI;
        assert!((first - together).abs() < 1e-12 && (second - 0.5).abs() < 1e-12, "{first} {second}");
        // One in twenty of many is what chance has.
        let one_of_many: Vec<f64> = (1..=20).map(|rank| f64::from(rank) / 20.0 - 0.02).collect();
        assert!(corrected(&one_of_many).iter().all(|(_, verdict)| *verdict == Verdict::Pass));
    }
}
