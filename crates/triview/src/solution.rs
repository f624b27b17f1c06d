//! A state solved: the fit, its names, its risk and its standard error.

use crate::decomposition::{Mixture, Whitening, power_method};
use crate::error::Result;
use crate::features::FeatureMap;
use crate::interval::jackknife;
use crate::linalg::from_rows;
use crate::loss;
use crate::matching::Matching;
use crate::moments::{Layout, Moments};
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
    pub(crate) mixture: Mixture,
    pub(crate) start: Start,
    pub(crate) distance: Distance,
    pub(crate) refined: Refined,
    pub(crate) matching: Matching,
    pub(crate) kind: Kind,
    pub(crate) risk: Risk,
    pub(crate) standard_error: f64,
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

/// Solves a state: fit from both starts, keep the lower objective, find the names, and of the distances and
/// the kinds of surrogate take those with the smallest standard error.
pub(crate) fn solve(moments: &Moments, seed: u64) -> Result<Solution> {
    let (header, layout, sums) = (moments.header(), moments.layout(), moments.total());
    let loss = loss::by_name(&header.loss)?;
    let whitening = Whitening::fit(&header.schema, layout, &sums)?;
    let problem = Problem::new(moments, &whitening)?;
    let (start, squares) = fit(&problem, &sums, seed)?;
    let (named, _) = identify(loss, &whitening, &squares.mixture, layout, &sums)?;
    let mut best: Option<Solution> = None;
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
        let errors = jackknife(loss, moments, &problem, distance, &whitening, &mixture, values)?;
        for ((kind, risk), standard_error) in Kind::ALL.into_iter().zip(risks).zip(errors) {
            if best.as_ref().is_none_or(|best| standard_error < best.standard_error) {
                best = Some(Solution {
                    whitening: whitening.clone(),
                    mixture: mixture.clone(),
                    start,
                    distance,
                    refined: refined.clone(),
                    matching: matching.clone(),
                    kind,
                    risk,
                    standard_error,
                });
            }
        }
    }
    best.ok_or(crate::Error::Internal("no fit has a standard error"))
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
