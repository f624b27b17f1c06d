//! A state solved: the fit, its names, its risk and its standard error.

use crate::answer::Matching;
use crate::answer::{Deviations, jackknife};
use crate::answer::{Kind, Surrogates};
use crate::answer::{Risk, identify, linear_risk, risk};
use crate::data::VIEWS;
use crate::error::Result;
use crate::features::{FeatureMap, Settled};
use crate::fit::refinement::{
    Distance, Implicit, Objective, Refined, Refit, STRONG, WEAK, refine, refine_near,
};
use crate::fit::{Mixture, Whitening, power_method};
use crate::loss::Loss;
use crate::moments::{Family, Kept, Layout, Moments, others};
use crate::numeric::linalg::from_rows;
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

/// Everything that a state says, classes in the order of their names, and latent states in the order of their classes.
#[derive(Debug, Clone)]
pub(crate) struct Solution {
    pub(crate) whitening: Whitening,
    pub(crate) start: Start,
    /// What the other start led to, where that is another optimum.
    pub(crate) rival: Option<Rival>,
    /// The fit and surrogate with the largest weight.
    pub(crate) main: Answer,
    /// How much each answer should count by the standard errors seen here, [`Distance::Squares`] first, linear
    /// surrogates first: what a feature map that is fitted on these rows settles.
    pub(crate) blend: Vec<f64>,
    /// The weighted mean of all answers: the class prior, the risk, and the lead of the best naming.
    pub(crate) prior: Vec<f64>,
    pub(crate) risk: Risk,
    pub(crate) gap: f64,
    /// Of the [`Quantities`] of that mean.
    pub(crate) deviations: Deviations,
    pub(crate) agreement: [Agreement; VIEWS],
}

impl Solution {
    /// By how many of its standard errors the weakest direction that classes need shows in so many rows.
    pub(crate) fn clarity(&self, rows: u64) -> f64 {
        let root = (rows as f64).sqrt();
        self.agreement.iter().map(|pair| pair.correlation * root).fold(f64::INFINITY, f64::min)
    }

    /// The prior of each latent state: its share in its class by the main answer, of that class's prior.
    pub(crate) fn state_prior(&self, class_prior: &[f64]) -> Vec<f64> {
        let (names, prior) = (&self.main.matching.names, &self.main.mixture.prior);
        let totals = of_classes(names, |z| prior[z]);
        names.iter().zip(prior).map(|(&class, p)| class_prior[class] * p / totals[class]).collect()
    }

    /// The standard error of the risk: the jackknife's, and all that rests on the fitted posterior alone.
    pub(crate) fn standard_error(&self) -> f64 {
        self.deviations.standard_error(Quantities::risk).hypot(self.risk.tail)
    }
}

/// Another optimum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rival {
    /// By how much its distance from the moments is larger.
    pub(crate) excess: f64,
    /// Its risk, by linear surrogates, less that of the optimum that was kept.
    pub(crate) difference: f64,
}

/// The quantities that intervals are given for, as one row of numbers: the risk, the lead of the best naming, the
/// prior, and holder by holder, term by term, the joint means `pi_j M_v[i, j]`.
pub(crate) struct Quantities;

impl Quantities {
    fn of(loss: &dyn Loss, prior: &[f64], risk: &Risk, matching: &Matching) -> Vec<f64> {
        let gain = |[name, latent]: [usize; 2]| prior[latent] * loss.gain(&risk.conditional, name, latent);
        let pairs = matching.best.iter().zip(&matching.second);
        let gap = pairs.map(|(best, second)| gain(*best) - gain(*second)).sum();
        Self::row(gap, &matching.names, prior, risk)
    }

    /// Of latent states with these names.
    pub(crate) fn row(gap: f64, names: &[usize], prior: &[f64], risk: &Risk) -> Vec<f64> {
        let mut row = vec![risk.value, gap];
        row.extend(of_classes(names, |z| prior[z]));
        for conditional in &risk.conditional {
            for term in 0..conditional.nrows() {
                row.extend(of_classes(names, |z| prior[z] * conditional[(term, z)]));
            }
        }
        row
    }

    pub(crate) fn risk(row: &[f64]) -> f64 {
        row[0]
    }

    pub(crate) fn gap(row: &[f64]) -> f64 {
        row[1]
    }

    pub(crate) fn prior(row: &[f64], j: usize) -> f64 {
        row[2 + j]
    }

    /// Of the holder's term `i` in class `j`, of `k` classes and so many terms a holder.
    pub(crate) fn joint(row: &[f64], [terms, k]: [usize; 2], holder: usize, [i, j]: [usize; 2]) -> f64 {
        row[2 + k + (holder * terms + i) * k + j]
    }
}

/// Sums over the latent states of each class.
fn of_classes(names: &[usize], of_state: impl Fn(usize) -> f64) -> Vec<f64> {
    let k = names.iter().max().map_or(0, |last| last + 1);
    let states = |class: usize| (0..names.len()).filter(move |&z| names[z] == class);
    (0..k).map(|class| states(class).map(&of_state).sum()).collect()
}

/// What one distance and one kind of surrogate say.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) distance: Distance,
    pub(crate) refined: Refined,
    /// The fit, classes in order.
    pub(crate) mixture: Mixture,
    /// How its latent states, one a class or more, are called.
    pub(crate) matching: Matching,
    pub(crate) labels: Labels,
    pub(crate) kind: Kind,
    risk: Risk,
    gap: f64,
    deviations: Deviations,
}

/// Surrogate labels, and what each block adds to the error of what makes them.
#[derive(Debug, Clone)]
pub(crate) struct Labels {
    pub(crate) kind: Kind,
    /// The cells of [`Surrogates::label_maps`], group by group.
    pub(crate) maps: Vec<f64>,
    /// Of these cells.
    pub(crate) moved: Deviations,
    /// Of the prior of the latent states.
    pub(crate) moved_prior: Deviations,
}

impl Answer {
    fn standard_error(&self) -> f64 {
        self.deviations.standard_error(Quantities::risk)
    }
}

/// How far the two views other than one agree in the weakest of the `k - 1` directions that classes (or latent states) need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Agreement {
    /// The `k - 1`-th canonical correlation of the two views.
    pub(crate) correlation: f64,
    /// What views that share one direction fewer would show by chance.
    pub(crate) chance: f64,
    /// One more than the number of directions in which they agree beyond chance: so many classes (or states) both are seen to
    /// tell apart, `k` at the most.
    pub(crate) rank: usize,
}

impl Agreement {
    /// Of the views other than each one. Whitened features of unrelated views have correlations of order
    /// `1 / sqrt(n)`, the largest of `a x b` of them about `(sqrt(a) + sqrt(b)) / sqrt(n)`.
    fn all(whitening: &Whitening, family: &Family, k: usize, sums: &[f64]) -> Result<[Agreement; VIEWS]> {
        // The first cell is the sum of ones.
        let n = family.tensor.of(sums)[0];
        let mut all = [Agreement { correlation: 0.0, chance: 0.0, rank: 0 }; VIEWS];
        for (v, agreement) in all.iter_mut().enumerate() {
            let [a, b] = others(v);
            // After so many directions that the views share.
            let spare = |v: usize, shared: usize| ((whitening.maps[v].nrows() - 1 - shared) as f64).sqrt();
            let chance = |shared: usize| (spare(a, shared) + spare(b, shared) + 1.0) / n.sqrt();
            let correlations = whitening.correlations(family, sums, v)?;
            agreement.correlation = correlations[k - 2];
            agreement.chance = chance(k - 2);
            let shared = (0..k - 1).take_while(|&at| correlations[at] >= chance(at)).count();
            agreement.rank = 1 + shared;
        }
        Ok(all)
    }
}

/// What a fit minimises, for the sums of any rows.
pub(crate) struct Problem<'a> {
    layout: &'a Layout,
    whitening: &'a Whitening,
    /// The features of all rows, where the third moment is not formed.
    kept: Option<&'a Kept>,
    /// Where cells are posteriors': for each view the map from whitened features to the posterior of every
    /// class.
    posteriors: Option<[Mat<f64>; VIEWS]>,
    /// The number of latent states.
    k: usize,
}

impl<'a> Problem<'a> {
    fn new(moments: &'a Moments, kept: Option<&'a Kept>, whitening: &'a Whitening) -> Result<Self> {
        let k = moments.header().states();
        let posteriors = match moments.header().features {
            FeatureMap::Posterior { .. } if kept.is_none() => {
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
        Ok(Self { layout: moments.layout(), whitening, kept, posteriors, k })
    }

    /// The distance of a mixture from the moments of all rows, where the third moment is not formed. Class means are
    /// drawn to those under the feature map's own posterior.
    fn implicit(&self, sums: &[f64], strength: f64) -> Option<Implicit<'_>> {
        let centre = posterior_start(self.whitening, self.layout, sums);
        Some(Implicit::new(self.kept?, &self.whitening.maps, centre, strength))
    }

    /// The distances that these features, and what was formed of their moments, allow.
    fn distances(&self) -> Vec<Distance> {
        match self.posteriors {
            Some(_) => vec![Distance::Squares, Distance::KullbackLeibler],
            None => vec![Distance::Squares],
        }
    }

    /// The distance of a mixture from the moments of these sums.
    pub(crate) fn objective(&self, distance: Distance, sums: &[f64]) -> Objective {
        let whitened = self.whitening.apply(&self.layout.features, sums);
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
    solve_with(moments, None, seed)
}

/// The same for a state whose third moment is not formed, from the features of all its rows.
pub(crate) fn solve_kept(moments: &Moments, kept: &Kept) -> Result<Solution> {
    solve_with(moments, Some(kept), 0)
}

fn solve_with(moments: &Moments, kept: Option<&Kept>, seed: u64) -> Result<Solution> {
    let (header, layout, sums) = (moments.header(), moments.layout(), moments.total());
    let loss = &*header.loss;
    let whitening = match kept {
        Some(_) => Whitening::of_rank(&header.group_names(), layout, &sums)?,
        None => Whitening::fit(&header.group_names(), layout, &sums)?,
    };
    let problem = Problem::new(moments, kept, &whitening)?;
    let Fitted { start, best: squares, other } = fit(&problem, &sums, seed)?;
    let (named, _) = identify(loss, &layout.features, &whitening, &squares.mixture, layout, &sums)?;
    let mut answers = Vec::new();
    for distance in problem.distances() {
        let refined = match distance {
            Distance::Squares => squares.clone(),
            Distance::KullbackLeibler => {
                let objective = problem.objective(distance, &sums);
                refine_near(&objective, &positive(&problem, &named))
            }
        };
        answers.extend(answer(loss, moments, &problem, distance, &refined, &sums)?);
    }
    let rival = match other {
        Some(other) => {
            let (mixture, matching) =
                identify(loss, &layout.features, &whitening, &other.mixture, layout, &sums)?;
            let named = (&mixture, matching.names.as_slice());
            let theirs = linear_risk(loss, &layout.features, &whitening, named, layout, &sums)?.value;
            let difference = theirs - answers[0].risk.value;
            Some(Rival { excess: other.objective - squares.objective, difference })
        }
        None => None,
    };

    let errors: Vec<f64> = answers.iter().map(Answer::standard_error).collect();
    let weights = match header.features.settled() {
        Some(Settled { blend, .. }) if blend.len() == answers.len() => blend.clone(),
        _ if kept.is_some() => steadiest(&answers[0].deviations, &answers[1].deviations),
        _ => {
            let best = (0..errors.len()).fold(0, |best, i| if errors[i] < errors[best] { i } else { best });
            (0..errors.len()).map(|i| f64::from(u8::from(i == best))).collect()
        }
    };
    // Of many classes both answers have one fit and count about alike, but linear labels are far noisier: the error rate of 100
    // classes by triples drawn by them had a standard error of 1.3, and by pair labels one of 0.2.
    let pair = kept.map(|_| 1);
    let largest = (0..weights.len()).fold(0, |best, i| if weights[i] > weights[best] { i } else { best });
    let used: Vec<(&Answer, f64)> = answers.iter().zip(weights).filter(|(_, weight)| *weight > 0.0).collect();
    let mean = |value: &dyn Fn(&Answer) -> f64| used.iter().map(|(a, weight)| weight * value(a)).sum::<f64>();
    let k = header.schema.k();
    let of_class = |a: &Answer, j: usize, of_state: &dyn Fn(usize) -> f64| {
        let names = a.matching.names.iter().enumerate();
        names.filter(|(_, name)| **name == j).map(|(z, _)| of_state(z)).sum::<f64>()
    };
    let prior: Vec<f64> = (0..k).map(|j| mean(&|a| of_class(a, j, &|z| a.mixture.prior[z]))).collect();
    // Joint means E[f_v 1(y = j)] are averaged, so that the risk of a sum is the mean of the risks.
    let terms = k * loss.form().terms();
    let of_holder = |t: usize| {
        Mat::from_fn(terms, k, |i, j| {
            mean(&|a| of_class(a, j, &|z| a.mixture.prior[z] * a.risk.conditional[t][(i, z)])) / prior[j]
        })
    };
    let conditional = (0..layout.holders.len()).map(of_holder).collect();
    let deviations: Vec<(&Deviations, f64)> =
        used.iter().map(|(a, weight)| (&a.deviations, *weight)).collect();
    Ok(Solution {
        start,
        rival,
        risk: Risk { value: mean(&|a| a.risk.value), tail: mean(&|a| a.risk.tail), conditional },
        prior,
        gap: mean(&|a| a.gap),
        deviations: Deviations::mean(&deviations),
        agreement: Agreement::all(&whitening, &layout.features, header.states(), &sums)?,
        main: answers[pair.unwrap_or(largest)].clone(),
        blend: blend(&errors),
        whitening,
    })
}

/// What both kinds of surrogate say of one fit, with their deviations from one jackknife: each block is left out in
/// turn, and the fit is repeated from where it ended.
fn answer(
    loss: &dyn Loss,
    moments: &Moments,
    problem: &Problem<'_>,
    distance: Distance,
    refined: &Refined,
    sums: &[f64],
) -> Result<[Answer; 2]> {
    let (layout, whitening) = (problem.layout, problem.whitening);
    let (mixture, matching) = identify(loss, &layout.features, whitening, &refined.mixture, layout, sums)?;
    let kinds = [Kind::Linear, Kind::Pair];
    let read = |mixture: &Mixture, sums: &[f64]| -> Result<([Risk; 2], Vec<f64>)> {
        let surrogates = Surrogates::new(whitening, mixture, &layout.features, sums)?;
        let risks =
            kinds.map(|kind| risk(loss, kind, &surrogates, (&mixture.prior, &matching.names), layout, sums));
        let quantities = |r| Quantities::of(loss, &mixture.prior, r, &matching);
        let mut row: Vec<f64> = risks.iter().flat_map(quantities).collect();
        for kind in kinds {
            row.extend(surrogates.label_maps(kind, layout, sums).concat());
        }
        row.extend_from_slice(&mixture.prior);
        Ok((risks, row))
    };
    let (risks, whole) = read(&mixture, sums)?;
    let deviations = match (problem.implicit(sums, STRONG), problem.implicit(sums, WEAK)) {
        (Some(strong), Some(weak)) => {
            let fitted = strong.without_blocks(&refined.mixture);
            let refit = |block: usize| fitted[block].reorder(&matching.order);
            let sampling = jackknife(moments, &whole, |block, left| Ok(read(&refit(block), left)?.1))?;
            let (_, otherwise) = read(&weak.refine().mixture.reorder(&matching.order), sums)?;
            sampling.with_doubt(otherwise.iter().zip(&whole).map(|(other, whole)| other - whole).collect())
        }
        _ => {
            let fitted = Refit::new(&problem.objective(distance, sums), &mixture);
            let refit = |left: &[f64]| fitted.to(&problem.objective(distance, left));
            jackknife(moments, &whole, |_, left| Ok(read(&refit(left), left)?.1))?
        }
    };
    // The row holds the quantities of both kinds, then the label maps of both, and the prior of the latent states.
    let length = Quantities::of(loss, &mixture.prior, &risks[0], &matching).len();
    let k = mixture.prior.len();
    let moved_prior = deviations.part(whole.len() - k, whole.len());
    // Of the features of the two other views, each of which is one of two for two views, or of their posterior.
    let features: usize = layout.features.gram.iter().map(|part| part.shape[0]).sum();
    let lengths = [2 * k * features, VIEWS * k * k];
    let answer = |at: usize, risk: Risk| {
        let (from, to) = (at * length, (at + 1) * length);
        let maps_from = 2 * length + lengths[..at].iter().sum::<usize>();
        let maps_to = maps_from + lengths[at];
        Answer {
            distance,
            refined: refined.clone(),
            mixture: mixture.clone(),
            matching: matching.clone(),
            labels: Labels {
                kind: kinds[at],
                maps: whole[maps_from..maps_to].to_vec(),
                moved: deviations.part(maps_from, maps_to),
                moved_prior: moved_prior.clone(),
            },
            kind: kinds[at],
            gap: Quantities::gap(&whole[from..to]),
            risk,
            deviations: deviations.part(from, to),
        }
    };
    let [linear, pair] = risks;
    Ok([answer(0, linear), answer(1, pair)])
}

/// Weights that fall with the eighth power of the standard error: an answer with twice the error of the best
/// counts for nothing, and of two that are as good neither wins by the chance of how rows fell into blocks.
fn blend(errors: &[f64]) -> Vec<f64> {
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let raw: Vec<f64> = errors
        .iter()
        .map(|error| if least > 0.0 && least.is_finite() { (least / error).powi(8) } else { 1.0 })
        .collect();
    let total: f64 = raw.iter().sum();
    raw.iter().map(|weight| weight / total).collect()
}

/// The weights from 0 to 1 of two answers under which their mean has the smallest standard error.
///
/// Linear surrogates are inverse to the other views' class means, pair surrogates proportional to the view's own: an
/// error that the fit makes in all class means alike moves the two answers in opposite ways, and their mean little.
fn steadiest(first: &Deviations, second: &Deviations) -> Vec<f64> {
    let [a, b] = [first, second].map(|deviations| deviations.standard_error(Quantities::risk).powi(2));
    let apart = first.of_difference(second).powi(2);
    let weight = (0.5 * (b - a + apart) / apart).clamp(0.0, 1.0);
    if weight.is_finite() { vec![weight, 1.0 - weight] } else { vec![0.5, 0.5] }
}

/// The risk by the tensor power method alone, linear surrogates and no refinement: what the paper's figure
/// calls the tensor method. `None` where that method finds no decomposition.
pub(crate) fn tensor_risk(moments: &Moments, seed: u64) -> Result<Option<f64>> {
    let (header, layout, sums) = (moments.header(), moments.layout(), moments.total());
    let loss = &*header.loss;
    let whitening = Whitening::fit(&header.group_names(), layout, &sums)?;
    let Some(mixture) = power_method(&whitening.apply(&layout.features, &sums), header.states(), seed)?
    else {
        return Ok(None);
    };
    let (mixture, matching) = identify(loss, &layout.features, &whitening, &mixture, layout, &sums)?;
    let named = (&mixture, matching.names.as_slice());
    Ok(Some(linear_risk(loss, &layout.features, &whitening, named, layout, &sums)?.value))
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

/// The refinements from the two starts.
struct Fitted {
    start: Start,
    best: Refined,
    /// The other start's, where it is another optimum.
    other: Option<Refined>,
}

/// Refines both starts.
fn fit(problem: &Problem<'_>, sums: &[f64], seed: u64) -> Result<Fitted> {
    let (whitening, family) = (problem.whitening, &problem.layout.features);
    if let Some(implicit) = problem.implicit(sums, STRONG) {
        return Ok(Fitted { start: Start::Posterior, best: implicit.refine(), other: None });
    }
    let objective = problem.objective(Distance::Squares, sums);
    let own = refine(&objective, &posterior_start(whitening, problem.layout, sums));
    let Some(start) = power_method(&whitening.apply(family, sums), problem.k, seed)? else {
        return Ok(Fitted { start: Start::Posterior, best: own, other: None });
    };
    let tensor = refine(&objective, &start);
    // Both starts mostly end in the same minimum; which of the two is named must not hang on rounding.
    let same = (tensor.objective - own.objective).abs() <= 1e-9 * own.objective;
    Ok(match (same, tensor.objective < own.objective) {
        (true, _) => Fitted { start: Start::Tensor, best: tensor, other: None },
        (false, true) => Fitted { start: Start::Tensor, best: tensor, other: Some(own) },
        (false, false) => Fitted { start: Start::Posterior, best: own, other: Some(tensor) },
    })
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
