//! A state solved: the fit, its names, its risk and its standard error.

use crate::decomposition::{Mixture, Whitened, Whitening, power_method};
use crate::error::Result;
use crate::features::FeatureMap;
use crate::interval::jackknife;
use crate::linalg::from_rows;
use crate::loss::{self, Loss};
use crate::matching::Matching;
use crate::moments::{Layout, Moments, others};
use crate::refinement::{Distance, Objective, Refined, refine, refine_near};
use crate::risk::{Risk, identify, risk};
use crate::surrogate::Kind;
use crate::views::VIEWS;
use faer::Mat;

/// Where a refinement began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// The tensor power method.
    Tensor,
    /// The posterior that the model (or the fitted map) has of its own.
    Posterior,
}

impl Start {
    /// The name that `fit.start` shows.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Start::Tensor => "tensor",
            Start::Posterior => "posterior",
        }
    }
}

/// Everything that a state says, classes in the order of their names.
#[derive(Debug, Clone)]
pub(crate) struct Solution {
    pub(crate) whitening: Whitening,
    pub(crate) start: Start,
    /// The fit and surrogate with the largest weight.
    pub(crate) main: Answer,
    /// How much each answer should count by the standard errors seen here, [`Distance::Squares`] first, linear
    /// surrogates first: what a feature map that is fitted on these rows settles.
    pub(crate) blend: Vec<f64>,
    /// The class prior, the risk and its standard error of the weighted mean of all answers.
    pub(crate) prior: Vec<f64>,
    pub(crate) risk: Risk,
    pub(crate) standard_error: f64,
    pub(crate) agreement: [Agreement; VIEWS],
}

/// What one distance and one kind of surrogate say.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) distance: Distance,
    pub(crate) refined: Refined,
    /// The fit, classes in order.
    pub(crate) mixture: Mixture,
    pub(crate) matching: Matching,
    pub(crate) kind: Kind,
    risk: Risk,
    /// What each block adds to the error; the root of their sum of squares is the standard error.
    deviations: Vec<f64>,
}

impl Answer {
    fn standard_error(&self) -> f64 {
        norm(&self.deviations)
    }
}

/// The root of the sum of squares; what is not a number counts as infinite.
fn norm(deviations: &[f64]) -> f64 {
    let error = deviations.iter().map(|d| d * d).sum::<f64>().sqrt();
    if error.is_nan() { f64::INFINITY } else { error }
}

/// How far the two views other than one agree in the weakest of the `k - 1` directions that classes need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Agreement {
    /// The `k - 1`-th canonical correlation of the two views.
    pub(crate) correlation: f64,
    /// What views that share one direction fewer would show by chance.
    pub(crate) chance: f64,
}

impl Agreement {
    /// Of the views other than each one. Whitened features of unrelated views have correlations of order
    /// `1 / sqrt(n)`, the largest of `a x b` of them about `(sqrt(a) + sqrt(b)) / sqrt(n)`.
    fn all(whitened: &Whitened, k: usize, n: f64) -> Result<[Agreement; VIEWS]> {
        let mut all = [Agreement { correlation: 0.0, chance: 0.0 }; VIEWS];
        for (v, agreement) in all.iter_mut().enumerate() {
            let [a, b] = others(v);
            let spare = |d: usize| ((d + 1 - k) as f64).sqrt();
            agreement.correlation = whitened.correlations(a, b)?[k - 2];
            agreement.chance = (spare(whitened.dims[a]) + spare(whitened.dims[b]) + 1.0) / n.sqrt();
        }
        Ok(all)
    }
}

/// What a fit minimises, for the sums of any rows.
pub(crate) struct Problem<'a> {
    layout: &'a Layout,
    whitening: &'a Whitening,
    /// Where cells are posteriors': for each view the map from whitened features to the posterior of every
    /// class.
    posteriors: Option<[Mat<f64>; VIEWS]>,
    k: usize,
}

impl<'a> Problem<'a> {
    fn new(moments: &'a Moments, whitening: &'a Whitening) -> Result<Self> {
        let k = moments.header().schema.k();
        let posteriors = match moments.header().features {
            FeatureMap::Posterior { .. } => {
                // Features are the leading one and the posteriors of all classes but the first.
                let all = Mat::from_fn(k, k, |i, j| match (i, j) {
                    (0, 0) => 1.0,
                    (0, _) => -1.0,
                    _ => f64::from(u8::from(i == j)),
                });
                Some(whitening.inverses()?.map(|inverse| &all * inverse))
            }
            _ => None,
        };
        Ok(Self { layout: moments.layout(), whitening, posteriors, k })
    }

    /// The distances that these features allow.
    fn distances(&self) -> Vec<Distance> {
        match self.posteriors {
            Some(_) => vec![Distance::Squares, Distance::KullbackLeibler],
            None => vec![Distance::Squares],
        }
    }

    /// The distance of a mixture from the moments of these sums.
    pub(crate) fn objective(&self, distance: Distance, sums: &[f64]) -> Objective {
        let whitened = self.whitening.apply(self.layout, sums);
        match (&self.posteriors, distance) {
            (Some(maps), Distance::KullbackLeibler) => {
                let cells = whitened.mapped([&maps[0], &maps[1], &maps[2]]);
                Objective::new(distance, cells, maps.clone(), self.k)
            }
            _ => {
                let maps = whitened.dims.map(|d| Mat::identity(d, d));
                Objective::new(Distance::Squares, whitened.tensor, maps, self.k)
            }
        }
    }
}

/// Solves a state: fits from both starts, keeps the lower objective, finds the names, and of the distances and
/// the kinds of surrogate takes the one with the smallest standard error, or their mean with the weights that
/// the feature map was fitted with.
pub(crate) fn solve(moments: &Moments, seed: u64) -> Result<Solution> {
    let (header, layout, sums) = (moments.header(), moments.layout(), moments.total());
    let loss = loss::by_name(&header.loss)?;
    let whitening = Whitening::fit(&header.schema, layout, &sums)?;
    let problem = Problem::new(moments, &whitening)?;
    let (start, squares) = fit(&problem, &sums, seed)?;
    let agreement =
        Agreement::all(&whitening.apply(layout, &sums), header.schema.k(), layout.rows.of(&sums)[0])?;
    let (named, _) = identify(loss, &whitening, &squares.mixture, layout, &sums)?;
    let mut answers = Vec::new();
    for distance in problem.distances() {
        let refined = match distance {
            Distance::Squares => squares.clone(),
            Distance::KullbackLeibler => {
                let objective = problem.objective(distance, &sums);
                refine_near(&objective, &positive(&problem, &named))
            }
        };
        let (mixture, matching) = identify(loss, &whitening, &refined.mixture, layout, &sums)?;
        let [linear, pair] = Kind::ALL.map(|kind| risk(loss, kind, &whitening, &mixture, layout, &sums));
        let risks = [linear?, pair?];
        let values = [risks[0].value, risks[1].value];
        let deviations = jackknife(loss, moments, &problem, distance, &whitening, &mixture, values)?;
        for ((kind, risk), deviations) in Kind::ALL.into_iter().zip(risks).zip(deviations) {
            let (refined, mixture, matching) = (refined.clone(), mixture.clone(), matching.clone());
            answers.push(Answer { distance, refined, mixture, matching, kind, risk, deviations });
        }
    }
    let errors: Vec<f64> = answers.iter().map(Answer::standard_error).collect();
    let weights = match header.features.blend() {
        Some(blend) if blend.len() == answers.len() => blend.to_vec(),
        _ => {
            let best = (0..errors.len()).fold(0, |best, i| if errors[i] < errors[best] { i } else { best });
            (0..errors.len()).map(|i| f64::from(u8::from(i == best))).collect()
        }
    };
    Ok(Solution::mean(loss, &answers, weights, whitening, start, agreement, layout, &sums))
}

impl Solution {
    #[allow(clippy::too_many_arguments, reason = "each is a part of the result")]
    fn mean(
        loss: &dyn Loss,
        answers: &[Answer],
        weights: Vec<f64>,
        whitening: Whitening,
        start: Start,
        agreement: [Agreement; VIEWS],
        layout: &Layout,
        sums: &[f64],
    ) -> Self {
        let k = answers[0].mixture.prior.len();
        let used = || answers.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0);
        let sum = |value: &dyn Fn(&Answer) -> f64| used().map(|(a, w)| w * value(a)).sum::<f64>();
        let prior: Vec<f64> = (0..k).map(|j| sum(&|a| a.mixture.prior[j])).collect();
        // Joint means E[f_v 1(y = j)] are averaged, so that the risk is the mean of the risks.
        let conditional = std::array::from_fn(|v| {
            Mat::from_fn(k, k, |i, j| sum(&|a| a.mixture.prior[j] * a.risk.conditional[v][(i, j)]) / prior[j])
        });
        let mean_offset = layout.loss.of(sums)[0] / layout.rows.of(sums)[0];
        let value = loss.risk(mean_offset, &prior, &conditional);
        let blocks = answers[0].deviations.len();
        let deviations: Vec<f64> = (0..blocks).map(|b| sum(&|a| a.deviations[b])).collect();
        let largest = (0..weights.len()).fold(0, |best, i| if weights[i] > weights[best] { i } else { best });
        Solution {
            whitening,
            start,
            main: answers[largest].clone(),
            prior,
            risk: Risk { value, conditional },
            standard_error: norm(&deviations),
            agreement,
            blend: blend(&answers.iter().map(Answer::standard_error).collect::<Vec<_>>()),
        }
    }
}

/// Weights that fall with the eighth power of the standard error: an answer with twice the error of the best
/// counts for nothing, and of two that are as good neither wins by the chance of how rows fell into blocks.
fn blend(errors: &[f64]) -> Vec<f64> {
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let raw: Vec<f64> =
        errors.iter().map(|error| if least > 0.0 { (least / error).powi(8) } else { 1.0 }).collect();
    let total: f64 = raw.iter().filter(|weight| weight.is_finite()).sum();
    raw.iter().map(|weight| if weight.is_finite() && total > 0.0 { weight / total } else { 0.0 }).collect()
}

/// The risk by the tensor power method alone, linear surrogates and no refinement: what the paper's figure
/// calls the tensor method. `None` where that method finds no decomposition.
pub(crate) fn tensor_risk(moments: &Moments, seed: u64) -> Result<Option<f64>> {
    let (header, layout, sums) = (moments.header(), moments.layout(), moments.total());
    let loss = loss::by_name(&header.loss)?;
    let whitening = Whitening::fit(&header.schema, layout, &sums)?;
    let Some(mixture) = power_method(&whitening.apply(layout, &sums), header.schema.k(), seed)? else {
        return Ok(None);
    };
    let (mixture, _) = identify(loss, &whitening, &mixture, layout, &sums)?;
    Ok(Some(risk(loss, Kind::Linear, &whitening, &mixture, layout, &sums)?.value))
}

/// A start for a distance that needs positive cells: class means of posteriors pulled into the simplex.
fn positive(problem: &Problem<'_>, mixture: &Mixture) -> Mixture {
    let Some(maps) = &problem.posteriors else { return mixture.clone() };
    let floor = 1e-4 / problem.k as f64;
    let means = std::array::from_fn(|v| {
        let posterior = &maps[v] * &mixture.means[v];
        let plain = Mat::from_fn(problem.k, problem.k, |i, j| {
            let clipped = |i: usize| posterior[(i, j)].max(floor);
            if i == 0 { 1.0 } else { clipped(i) / (0..problem.k).map(clipped).sum::<f64>() }
        });
        &problem.whitening.maps[v] * plain
    });
    Mixture { prior: mixture.prior.iter().map(|p| p.max(1e-4)).collect(), means }
}

/// The better of the refinements from the two starts.
fn fit(problem: &Problem<'_>, sums: &[f64], seed: u64) -> Result<(Start, Refined)> {
    let (whitening, layout) = (problem.whitening, problem.layout);
    let objective = problem.objective(Distance::Squares, sums);
    let own = refine(&objective, &posterior_start(whitening, layout, sums));
    match power_method(&whitening.apply(layout, sums), problem.k, seed)? {
        None => Ok((Start::Posterior, own)),
        Some(start) => {
            let tensor = refine(&objective, &start);
            // Both starts mostly end in the same minimum; which of the two is named must not hang on rounding.
            if tensor.objective <= own.objective * (1.0 + 1e-9) {
                Ok((Start::Tensor, tensor))
            } else {
                Ok((Start::Posterior, own))
            }
        }
    }
}

/// The class means under the posterior `p(y | x)` of the feature map.
fn posterior_start(whitening: &Whitening, layout: &Layout, sums: &[f64]) -> Mixture {
    let n = layout.rows.of(sums)[0];
    let k = layout.posterior[0].shape[0];
    let plain: [Mat<f64>; VIEWS] = std::array::from_fn(|v| {
        let part = &layout.posterior[v];
        let weighted = from_rows(part.of(sums), k, part.shape[1]);
        Mat::from_fn(part.shape[1], k, |i, j| weighted[(j, i)] / weighted[(j, 0)].max(f64::MIN_POSITIVE))
    });
    let prior = (0..k).map(|j| layout.posterior[0].of(sums)[j * layout.posterior[0].shape[1]] / n).collect();
    whitening.mixture(prior, plain)
}
