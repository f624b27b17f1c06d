//! A first look at the data: grouping the views, choosing and fitting a feature map.

use crate::answer::PlugIn;
use crate::answer::Surrogates;
use crate::answer::{Solution, solve};
use crate::data::Groups;
use crate::data::keys;
use crate::data::{Batch, Schema, VIEWS, take_rows};
use crate::diagnostics::{self, LEVEL, degeneracies};
use crate::error::{Error, Result};
use crate::estimator::Features;
use crate::features::fit::calibrated;
use crate::features::fit::sieve::Sieve;
use crate::features::fit::states;
use crate::features::posterior::discriminant;
use crate::features::{Basis, Bins, FeatureMap, Posterior, Settled, Softmax, Way};
use crate::fit::Whitening;
use crate::latent::{Latent, Mediator, Tried};
use crate::loss::{self, Ceilings, SharedLoss};
use crate::moments::{Accumulator, Header, Holder, MOST_CLASSES, Moments, others};
use crate::numeric::lbfgs::minimise;
use crate::numeric::{columns, kernel};
use crate::planning::{Grouping, OtherGroups, Proposal};
use faer::Mat;

/// Ridge functions of the sieve's basis for each view.
const RIDGES: usize = 18;
/// Penalty on the sieve's squared weights, beside the mean log likelihood.
pub(crate) const SIEVE_RIDGE: f64 = 1e-3;
/// Scores of a view on which starts of the sieve's maximisation are tried, and the fewest rows of them.
const TRIAL_SCORES: usize = 40_960;
const TRIAL_ROWS: usize = 4_096;
/// Iterations of the sieve's maximisation from each start, before the better one goes on.
pub(crate) const TRIAL_ITERATIONS: usize = 12;
/// Iterations of the sieve's maximisation: features need not be at the maximum to be good.
const SIEVE_ITERATIONS: usize = 30;

/// Rows that a latent state must have on average.
const ROWS_A_STATE: usize = 30;

/// The most further features of a group of views: third moments of them and the scores are formed on a first look.
const MOST_FEATURES: usize = 32;

/// What the looked-at rows say under a feature map.
pub(crate) struct Candidate {
    moments: Moments,
    solution: Solution,
}

impl Candidate {
    /// The map, with how good the ways of solving its moments are.
    fn settled(self) -> Result<FeatureMap> {
        match self.moments.header().features.clone() {
            FeatureMap::Posterior { way, prior, views, .. } => {
                let plug_in = PlugIn::new(&self.moments)?;
                let variance = plug_in.variance_of_difference(&self.solution) * self.moments.rows() as f64;
                // Where nothing is known of the error the moments have the last word.
                let variance = if variance.is_finite() { variance } else { 0.0 };
                let settled = Some(Box::new(Settled { blend: self.solution.blend, variance }));
                Ok(FeatureMap::Posterior { way, prior, views, settled })
            }
            map => Ok(map),
        }
    }
}

/// A first look at the data: some of its rows, views grouped.
pub(crate) struct Look<'a> {
    schema: Schema,
    loss: &'a SharedLoss,
    proposal: Proposal,
    rows: &'a Batch,
    /// The same rows, one view a group.
    grouped: Batch,
    /// What deals the rows to blocks.
    keys: Vec<u64>,
    seed: u64,
}

impl<'a> Look<'a> {
    /// Looks at these rows, and groups the views as asked, or by what the rows say.
    pub(crate) fn new(
        schema: Schema,
        loss: &'a SharedLoss,
        rows: &'a Batch,
        groups: Option<&str>,
        seed: u64,
    ) -> Result<Self> {
        check_views(&schema, rows)?;
        let proposal = match groups {
            Some(text) => {
                let groups = Groups::parse(text, schema.views())?;
                Proposal { grouping: Grouping::by_hand(groups), others: Vec::new() }
            }
            None => Proposal::new(rows, seed)?,
        };
        let groups = &proposal.grouping.groups;
        for (name, views) in groups.names(schema.views()).iter().zip(groups.iter()) {
            let features = schema.features_of(views);
            if features > MOST_FEATURES {
                return Err(Error::TooManyFeatures { view: name.clone(), features, most: MOST_FEATURES });
            }
        }
        let grouped = rows.grouped(groups);
        let keys = keys(&grouped);
        Ok(Self { schema, loss, proposal, rows, grouped, keys, seed })
    }

    /// What the sums over all rows are to be sums of: the feature map that is asked for, or, for
    /// [`Features::Auto`], the one with the smallest standard error; more latent states than classes need posteriors.
    pub(crate) fn header(&self, features: Features, latent: &Latent) -> Result<Header> {
        let k = self.schema.k();
        let counts = latent.counts(self.schema.classes())?;
        let states = match (latent, &counts) {
            (Latent::States(states), _) => Some(*states),
            (_, counts) => counts.as_ref().map(|counts| counts.iter().sum()),
        };
        let grouping = Grouping { others: self.compare(), ..self.proposal.grouping.clone() };
        match states {
            None if *latent == Latent::Auto => self.fewest_states(&grouping, features),
            None => Ok(self.with_bins(&grouping, self.choose(features)?, None)),
            Some(states) if states == k => {
                Ok(self.with_bins(&grouping, self.choose(features)?, Some(Mediator::classes(k))))
            }
            Some(states) => {
                self.check_states(states)?;
                let (map, mediator) = self.choose_states(features, states, counts.as_deref())?;
                Ok(self.with_bins(&grouping, map, Some(mediator)))
            }
        }
    }

    /// The same for many classes, of which no third moment is formed; scores must vary and not be copies.
    pub(crate) fn header_of_many(&self, features: Features) -> Result<Header> {
        let grouping = &self.proposal.grouping;
        let header = |features| self.with_bins(grouping, features, None);
        let none = std::array::from_fn(|_| Bins::none(self.schema.k()));
        let mut sums =
            Accumulator::keeping(self.header_with(grouping.clone(), FeatureMap::Scores, none, None))?;
        sums.update(self.rows)?;
        let (scores, _) = sums.finish_keeping()?;
        Whitening::fit(&scores.header().group_names(), scores.layout(), &scores.total())?;
        match features {
            Features::Scores => Ok(header(FeatureMap::Scores)),
            Features::Softmax => Ok(header(softmax(&self.grouped))),
            Features::Auto | Features::Posterior => Ok(header(calibrated(&self.grouped)?)),
            Features::Regression => Err(Error::InvalidParameter {
                name: "feature map",
                value: Features::Regression.to_string(),
                expected: "for so many classes one of auto, scores, softmax, posterior",
            }),
        }
    }

    /// As few latent states as the test of independence accepts; where it accepts none, those with the largest p-value.
    fn fewest_states(&self, grouping: &Grouping, features: Features) -> Result<Header> {
        let k = self.schema.k();
        let mut tried = Vec::new();
        let mut best: Option<(f64, Header)> = None;
        for states in k..=self.most_states() {
            let chosen = match states == k {
                true => self.choose(features).map(|map| (map, Mediator::classes(k))),
                false => self.choose_states(features, states, None),
            };
            let header = chosen.map(|(map, mediator)| self.with_bins(grouping, map, Some(mediator)));
            let tested = header.and_then(|header| Ok((self.p_value(&header)?, header)));
            let (p_value, header) = match tested {
                // What is too much for these rows is no reason not to answer with fewer.
                Err(_) if best.is_some() => break,
                tested => tested?,
            };
            tried.push(Tried { states, p_value });
            // What cannot be tested with one state a class is not tested by more.
            let p = p_value.unwrap_or(if states == k { 1.0 } else { 0.0 });
            if best.as_ref().is_none_or(|(best, _)| p > *best) {
                best = Some((p, header));
            }
            if p >= LEVEL {
                break;
            }
        }
        let (_, mut header) = best.ok_or(Error::Internal("one state a class can be tried"))?;
        header.latent.iter_mut().for_each(|latent| latent.tried.clone_from(&tried));
        Ok(header)
    }

    /// The chance of these rows if the views are independent given the states of a header; nothing where it cannot be tested.
    fn p_value(&self, header: &Header) -> Result<Option<f64>> {
        let moments = self.moments(header.clone())?;
        let solution = solve(&moments, self.seed)?;
        Ok(diagnostics::test(&moments, &solution, self.seed)?.independence.p_value)
    }

    /// The most latent states that are tried: four a class, each with some thirty rows.
    fn most_states(&self) -> usize {
        let k = self.schema.k();
        (4 * k).min(MOST_CLASSES).min(self.rows.rows() / ROWS_A_STATE).max(k)
    }

    /// Refuses fewer states than classes, and more than there is room or are rows for.
    fn check_states(&self, states: usize) -> Result<()> {
        let refuse =
            |expected| Err(Error::InvalidParameter { name: "latent", value: states.to_string(), expected });
        if states < self.schema.k() {
            return refuse("at least as many latent states as classes are needed");
        }
        if states > MOST_CLASSES {
            return refuse("at most 64 latent states can be told apart");
        }
        if states * ROWS_A_STATE > self.rows.rows() {
            return refuse(
                "at least 30 rows for each latent state are needed; ask for fewer, or give more rows",
            );
        }
        Ok(())
    }

    /// Posteriors of more latent states than classes, with how much each way of solving their moments counts.
    fn choose_states(
        &self,
        features: Features,
        states: usize,
        counts: Option<&[usize]>,
    ) -> Result<(FeatureMap, Mediator)> {
        if !matches!(features, Features::Auto | Features::Posterior) {
            return Err(Error::InvalidParameter {
                name: "feature map",
                value: features.to_string(),
                expected: "more latent states than classes are told apart by posteriors: leave it out, or take posterior",
            });
        }
        let groups = &self.proposal.grouping.groups;
        let (rows, first) = (&self.grouped, self.first()?);
        let (map, mediator) = states::sieve(rows, &self.keys, &first, states, counts, self.seed)?;
        let candidate = self.solved(groups, map, Some(mediator.clone()))?;
        Ok((candidate.settled()?, mediator))
    }

    /// The header with bins to test it by.
    fn with_bins(&self, grouping: &Grouping, features: FeatureMap, latent: Option<Mediator>) -> Header {
        let grouped = &self.grouped;
        let states = latent.as_ref().map_or(self.schema.k(), Mediator::states);
        let bins = std::array::from_fn(|v| {
            let (present, inputs) = grouped.present_inputs(v);
            Bins::fit((present, grouped.k()), &inputs, states, present < grouped.rows())
        });
        self.header_with(grouping.clone(), features, bins, latent)
    }

    fn header_with(
        &self,
        grouping: Grouping,
        features: FeatureMap,
        bins: [Bins; VIEWS],
        latent: Option<Mediator>,
    ) -> Header {
        let means: Vec<Vec<f64>> =
            grouping.groups.iter().map(|views| mean_inputs(self.rows, views)).collect();
        let absent = std::array::from_fn(|v| means[v].clone());
        let (schema, loss) = (self.schema.clone(), self.loss.clone());
        let header = Header { schema, grouping, loss, features, ceilings: None, absent, bins, latent };
        let ceilings = ceilings(&header, self.rows);
        Header { ceilings, ..header }
    }

    fn choose(&self, features: Features) -> Result<FeatureMap> {
        let rows = &self.grouped;
        match features {
            Features::Scores => return Ok(FeatureMap::Scores),
            Features::Softmax => return Ok(softmax(rows)),
            _ => {}
        }
        let groups = &self.proposal.grouping.groups;
        let solved = |map| self.solved(groups, map, None);
        let first = self.first()?;
        match features {
            Features::Regression => regression(rows, &first),
            Features::Posterior => sieve(rows, &self.keys, &first).and_then(solved)?.settled(),
            _ => {
                let second = sieve(rows, &self.keys, &first).and_then(solved);
                better(second, Ok(first))?.settled()
            }
        }
    }

    /// The better of the maps that need no fit, with one state a class.
    fn first(&self) -> Result<Candidate> {
        let solved = |map| self.solved(&self.proposal.grouping.groups, map, None);
        better(solved(FeatureMap::Scores), solved(softmax(&self.grouped)))
    }

    /// How far the risk of other groups is from that of the proposed ones, all by a softmax of their scores. Groups that
    /// cannot be solved, or whose fit is degenerate, say nothing.
    fn compare(&self) -> Vec<OtherGroups> {
        let solved = |groups: &Groups| {
            let candidate = self.solved(groups, softmax(&self.rows.grouped(groups)), None).ok()?;
            degeneracies(&candidate.moments, &candidate.solution).is_empty().then_some(candidate.solution)
        };
        if self.proposal.others.is_empty() {
            return Vec::new();
        }
        let Some(own) = solved(&self.proposal.grouping.groups) else { return Vec::new() };
        let compared = self.proposal.others.iter().filter_map(|groups| {
            let other = solved(groups)?;
            Some(OtherGroups {
                groups: groups.clone(),
                difference: other.risk.value - own.risk.value,
                standard_error: other.deviations.of_difference(&own.deviations),
            })
        });
        compared.collect()
    }

    /// What these rows say in these groups under a feature map.
    fn solved(&self, groups: &Groups, map: FeatureMap, latent: Option<Mediator>) -> Result<Candidate> {
        let widths: Vec<usize> =
            groups.iter().map(|views| self.schema.k() + self.schema.features_of(views)).collect();
        let bins = std::array::from_fn(|v| Bins::none(widths[v]));
        let moments = self.moments(self.header_with(Grouping::by_hand(groups.clone()), map, bins, latent))?;
        Ok(Candidate { solution: solve(&moments, self.seed)?, moments })
    }

    /// The moments of these rows, in blocks that do not depend on their order: neither does what is settled by the blocks.
    fn moments(&self, header: Header) -> Result<Moments> {
        let mut sums = Accumulator::new(header)?;
        sums.update_by(self.rows, &self.keys)?;
        sums.finish()
    }
}

/// Where terms are cut, if the loss asks for it and the map has posteriors to label what is cut off.
fn ceilings(header: &Header, rows: &Batch) -> Option<Ceilings> {
    let FeatureMap::Posterior { .. } = header.features else { return None };
    let loss = &*header.loss;
    if !loss.heavy_tailed() {
        return None;
    }
    let grouped = rows.grouped(&header.grouping.groups);
    let posteriors: [Vec<f64>; VIEWS] = std::array::from_fn(|v| {
        let (of_states, mut work) = (header.evaluate(&grouped, v).posterior, Vec::new());
        header.class_posterior(rows.rows(), &of_states, &mut work).to_vec()
    });
    let holders = header.holders();
    let product = |of: &Holder| {
        let mut product = loss::terms_of(loss, rows, of.views[0]);
        for &view in &of.views[1..] {
            let factor = loss::terms_of(loss, rows, view);
            product.iter_mut().zip(factor).for_each(|(product, factor)| *product *= factor);
        }
        product
    };
    let terms: Vec<Vec<f64>> = holders.iter().map(product).collect();
    let views =
        terms.iter().zip(&holders).map(|(terms, of)| (terms.as_slice(), posteriors[of.group].as_slice()));
    Some(Ceilings::fit(rows.rows(), views))
}

/// A softmax of each group's standardised scores.
fn softmax(rows: &Batch) -> FeatureMap {
    let of_group = |v| {
        let (present, scores) = rows.present_scores(&[v]);
        Softmax::fit(present, &scores)
    };
    FeatureMap::Softmax { views: std::array::from_fn(of_group) }
}

/// The means of the summed scores of some views over the rows in which any of them is there, and those of their features.
fn mean_inputs(rows: &Batch, views: &[usize]) -> Vec<f64> {
    let (present, scores) = rows.present_scores(views);
    let scores = scores.chunks_exact(present).map(|column| column.iter().sum::<f64>() / present as f64);
    scores.chain(views.iter().flat_map(|&view| rows.feature_means(view))).collect()
}

/// The candidate with the smaller standard error, or the one that there is.
fn better(a: Result<Candidate>, b: Result<Candidate>) -> Result<Candidate> {
    match (a, b) {
        (Ok(a), Ok(b)) if b.solution.standard_error() < a.solution.standard_error() => Ok(b),
        (Err(_), Ok(b)) => Ok(b),
        (a, _) => a,
    }
}

/// Refuses views that are never there, or whose scores never change, with their names.
fn check_views(schema: &Schema, rows: &Batch) -> Result<()> {
    for (v, view) in schema.views().iter().enumerate() {
        let (present, scores) = rows.present_scores(&[v]);
        if present == 0 {
            return Err(Error::NeverPresent { view: view.clone() });
        }
        if scores.chunks_exact(present).all(|column| column.iter().all(|score| *score == column[0])) {
            return Err(Error::ConstantView { view: view.clone() });
        }
    }
    Ok(())
}

/// Posteriors by maximum likelihood, from the model's own posterior and from the first pass. Both are tried on few rows, those
/// with the smallest keys, and the better one goes on with all of them.
fn sieve(rows: &Batch, keys: &[u64], first: &Candidate) -> Result<FeatureMap> {
    let views = Present::all(rows);
    let bases = bases(&views, RIDGES)?;
    let start = |labels| start(rows, &views, &bases, labels);
    let own = model_posterior(rows);
    let surrogates = surrogate_labels(rows, first)?;
    let starts = [start([&own, &own, &own])?, start(std::array::from_fn(|v| surrogates[v].as_slice()))?];
    let trial = Sieve::new(&few(rows, keys), &bases, rows.k(), SIEVE_RIDGE);
    let [own, first] =
        starts.map(|(weights, prior)| trial.maximise(trial.pack(&weights, &prior), TRIAL_ITERATIONS));
    let best = if own.1 <= first.1 { own.0 } else { first.0 };
    let sieve = Sieve::new(rows, &bases, rows.k(), SIEVE_RIDGE);
    let (best, _) = sieve.maximise(best, SIEVE_ITERATIONS);
    let (views, prior) = sieve.unpack(&best, bases);
    Ok(FeatureMap::Posterior { way: Way::Sieve, prior, views, settled: None })
}

/// The rows with the smallest keys, or all where some view would be missing from each of those.
pub(crate) fn few(rows: &Batch, keys: &[u64]) -> Batch {
    let mut places: Vec<usize> = (0..keys.len()).collect();
    places.sort_unstable_by_key(|&place| keys[place]);
    places.truncate(TRIAL_ROWS.max(TRIAL_SCORES / rows.k()));
    places.sort_unstable();
    let few = rows.select(&places);
    if (0..VIEWS).all(|v| !few.with(&[v]).is_empty()) { few } else { rows.clone() }
}

/// The basis of each view's posterior.
pub(crate) fn bases(views: &[Present; VIEWS], ridges: usize) -> Result<[Basis; VIEWS]> {
    try_views(|v| Basis::fit(views[v].rows.len(), &views[v].inputs, ridges))
}

/// The weights of posteriors that are linear discriminants of the scores by some labels for each view, and the mean label.
pub(crate) fn start(
    rows: &Batch,
    views: &[Present; VIEWS],
    bases: &[Basis; VIEWS],
    labels: [&[f64]; VIEWS],
) -> Result<([Vec<f64>; VIEWS], Vec<f64>)> {
    let mut prior = vec![0.0; labels[0].len() / rows.rows()];
    let weights = try_views(|v| {
        let (n, basis) = (views[v].rows.len(), &bases[v]);
        let functions = views[v].evaluate(basis);
        let linear = &functions[..n * basis.linear()];
        let (of_view, means) = class_means(n, linear, &take_rows(rows.rows(), labels[v], &views[v].rows));
        prior.iter_mut().zip(&of_view).for_each(|(sum, p)| *sum += p / VIEWS as f64);
        let weights = discriminant(&of_view, &second_moment(n, linear), &means)?;
        // The ridge functions start without weight.
        let rest = vec![0.0; basis.len() - basis.linear()];
        Ok(weights.chunks_exact(basis.linear() + 1).flat_map(|row| [row, &rest].concat()).collect())
    })?;
    Ok((weights, prior))
}

/// Posteriors by softmax regression of the other views' surrogate labels on a view's scores: minimises
/// `E[log sum_j exp(B phi)_j - W_-v . B phi]`.
fn regression(rows: &Batch, first: &Candidate) -> Result<FeatureMap> {
    let labels = surrogate_labels(rows, first)?;
    let mut fitted = Vec::with_capacity(VIEWS);
    for (view, labels) in Present::all(rows).into_iter().zip(labels) {
        let n = view.rows.len();
        let basis = Basis::fit(n, &view.inputs, 0)?;
        let (functions, labels) = (view.evaluate(&basis), take_rows(rows.rows(), &labels, &view.rows));
        let (prior, means) = class_means(n, &functions, &labels);
        let start = discriminant(&prior, &second_moment(n, &functions), &means)?;
        let target = label_products(n, &functions, &labels);
        let objective = |weights: &[f64]| softmax_regression(n, rows.k(), &functions, &target, weights);
        fitted.push(Posterior { basis, weights: minimise(objective, start, 1e-6, 100).point });
    }
    let views = fitted.try_into().map_err(|_| Error::Internal("three views make three posteriors"))?;
    let prior = first.solution.main.mixture.prior.iter().map(|p| p.max(1e-6)).collect();
    Ok(FeatureMap::Posterior { way: Way::Regression, prior, views, settled: None })
}

/// Value and gradient of `E[log sum_j exp(B phi)_j] - <B, target>` with a small penalty.
fn softmax_regression(n: usize, k: usize, phi: &[f64], target: &[f64], weights: &[f64]) -> (f64, Vec<f64>) {
    let width = phi.len() / n;
    let mut q = vec![0.0; n * k];
    let mut log_sum = vec![0.0; n];
    columns::affine_columns(phi, n, width, weights, k, &mut q);
    columns::softmax_columns(&mut q, n, k, Some(&mut log_sum));
    let mut value = log_sum.iter().sum::<f64>() / n as f64;
    let mut gradient = label_products(n, phi, &q);
    for i in 0..weights.len() {
        value += 0.5 * SIEVE_RIDGE * weights[i] * weights[i] - weights[i] * target[i];
        gradient[i] += SIEVE_RIDGE * weights[i] - target[i];
    }
    (value, gradient)
}

/// The posteriors that a first pass's moments imply without rows: linear discriminants of its features.
pub(crate) fn discriminant_map(map: &FeatureMap, solution: &Solution) -> Result<FeatureMap> {
    let prior: Vec<f64> = solution.main.mixture.prior.iter().map(|p| p.max(1e-6)).collect();
    let k = prior.len();
    let views = try_views(|v| {
        let (whitening, means) = (&solution.whitening.maps[v], &solution.main.mixture.means[v]);
        let rank = means.nrows() - 1;
        let varying = Mat::from_fn(rank, k, |i, j| means[(i + 1, j)]);
        // Whitened features have no mean and unit covariance.
        let unit: Vec<f64> = (0..rank * rank).map(|at| f64::from(u8::from(at / rank == at % rank))).collect();
        let weights = discriminant(&prior, &unit, &varying)?;
        let row = |i: usize| (0..whitening.ncols()).map(move |c| whitening[(i + 1, c)]);
        match map {
            FeatureMap::Scores => {
                let whitening = (0..rank).flat_map(row).collect();
                Ok(Posterior { basis: Basis::Whitened { whitening, ridges: Vec::new(), rank }, weights })
            }
            FeatureMap::Softmax { views } => {
                let rows = weights.chunks_exact(rank + 1).flat_map(|weights| {
                    (0..whitening.ncols()).map(move |c| {
                        let constant = if c == 0 { weights[0] } else { 0.0 };
                        constant + (0..rank).map(|i| weights[i + 1] * whitening[(i + 1, c)]).sum::<f64>()
                    })
                });
                Ok(Posterior { weights: rows.collect(), basis: Basis::Softmax(views[v].clone()) })
            }
            FeatureMap::Posterior { views, .. } => Ok(views[v].clone()),
        }
    })?;
    Ok(FeatureMap::Posterior { way: Way::Discriminant, prior, views, settled: None })
}

/// The rows in which a view is there, and its scores and further features in them.
pub(crate) struct Present {
    pub(crate) rows: Vec<usize>,
    pub(crate) inputs: Vec<f64>,
}

impl Present {
    /// Of each of three views.
    pub(crate) fn all(rows: &Batch) -> [Self; VIEWS] {
        std::array::from_fn(|v| Self { rows: rows.with(&[v]), inputs: rows.present_inputs(v).1 })
    }

    /// The basis functions of these rows.
    pub(crate) fn evaluate(&self, basis: &Basis) -> Vec<f64> {
        let mut out = Vec::new();
        basis.evaluate(self.rows.len(), &self.inputs, &mut out);
        out
    }
}

/// `E[phi phi^T]`.
fn second_moment(n: usize, phi: &[f64]) -> Vec<f64> {
    let p = phi.len() / n;
    let mut second = vec![0.0; p * p];
    kernel::cross(phi, phi, n, p, p, &mut second);
    second.iter_mut().for_each(|cell| *cell /= n as f64);
    second
}

/// `E[l_j]` and, one column a class, `E[phi l_j] / E[l_j]` for labels that may be soft or signed.
fn class_means(n: usize, phi: &[f64], labels: &[f64]) -> (Vec<f64>, Mat<f64>) {
    let (p, k) = (phi.len() / n, labels.len() / n);
    let products = label_products(n, phi, labels);
    let prior: Vec<f64> = (0..k).map(|j| products[j * (p + 1)].max(1e-4)).collect();
    let means = Mat::from_fn(p, k, |i, j| products[j * (p + 1) + 1 + i] / prior[j]);
    (prior, means)
}

/// `E[l_j [1, phi]]`, one row a class.
fn label_products(n: usize, phi: &[f64], labels: &[f64]) -> Vec<f64> {
    let (p, k) = (phi.len() / n, labels.len() / n);
    let mut inner = vec![0.0; k * p];
    kernel::cross(labels, phi, n, k, p, &mut inner);
    let mut products = Vec::with_capacity(k * (p + 1));
    for j in 0..k {
        products.push(labels[j * n..(j + 1) * n].iter().sum::<f64>() / n as f64);
        products.extend(inner[j * p..(j + 1) * p].iter().map(|cell| cell / n as f64));
    }
    products
}

/// The softmax of the summed scores.
pub(crate) fn model_posterior(rows: &Batch) -> Vec<f64> {
    let mut total = rows.total();
    columns::softmax_columns(&mut total, rows.rows(), rows.k(), None);
    total
}

/// `W_-v` of every row, for each view.
pub(crate) fn surrogate_labels(rows: &Batch, first: &Candidate) -> Result<[Vec<f64>; VIEWS]> {
    let (n, k) = (rows.rows(), rows.k());
    let (layout, total) = (first.moments.layout(), first.moments.total());
    let surrogates =
        Surrogates::new(&first.solution.whitening, &first.solution.main.mixture, &layout.features, &total)?;
    let labels: [Vec<f64>; VIEWS] = std::array::from_fn(|v| {
        let evaluated = first.moments.header().evaluate(rows, v);
        let map = &surrogates.maps[v];
        let weights: Vec<f64> = (0..k).flat_map(|j| (0..map.ncols()).map(move |c| map[(j, c)])).collect();
        let mut labels = vec![0.0; n * k];
        // The leading one of the features is the constant of an affine map.
        columns::affine_columns(&evaluated.features[n..], n, map.ncols() - 1, &weights, k, &mut labels);
        labels
    });
    Ok(std::array::from_fn(|v| {
        let ([a, b], [weight_a, weight_b]) = (others(v), surrogates.weights(v));
        labels[a].iter().zip(&labels[b]).map(|(x, y)| weight_a * x + weight_b * y).collect()
    }))
}

/// One result a view.
fn try_views<T>(mut make: impl FnMut(usize) -> Result<T>) -> Result<[T; VIEWS]> {
    Ok([make(0)?, make(1)?, make(2)?])
}
