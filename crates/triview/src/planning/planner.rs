//! From a sample of the rows to the plan: groups the views, chooses and fits a feature map.

use super::grouping::Proposal;
use super::{states, witnesses};
use crate::answer::{Blended, PlugIn, Surrogates, solve};
use crate::data::{Batch, Partition, Schema, VIEWS, is_constant, keys, others};
use crate::diagnostics::degeneracies;
use crate::error::{Error, Result};
use crate::features::fit::{calibrated, posteriors, softmax};
use crate::features::{Bins, FeatureChoice, FeatureMap};
use crate::fit::Whitening;
use crate::latent::{Latent, Mediator};
use crate::loss::{self, Ceilings, SharedLoss};
use crate::moments::{Chosen, FirstLook, Grouping, Holder, Moments, OtherPartition, Plan, Settled};
use crate::numeric::columns;
use crate::settings::planning::MOST_COVARIATES;

/// What the looked-at rows say under a feature map.
pub(super) struct Candidate {
    pub(super) moments: Moments,
    pub(super) solved: Blended,
}

/// A feature map, and how good the answers of its moments are.
pub(super) type SettledMap = (FeatureMap, Option<Settled>);

impl Candidate {
    /// The map, with how good the answers of its moments are.
    pub(super) fn settled(self) -> Result<SettledMap> {
        let map = self.moments.plan().features.clone();
        let FeatureMap::Posterior { .. } = map else { return Ok((map, None)) };
        let plug_in = PlugIn::new(&self.moments)?;
        let variance = plug_in.variance_of_difference(&self.solved) * self.moments.rows() as f64;
        // Where nothing is known of the error the moments have the last word.
        let variance = if variance.is_finite() { variance } else { 0.0 };
        Ok((map, Some(Settled { blend: self.solved.weights, variance })))
    }
}

/// A first look at the data: some of its rows, views grouped.
pub(crate) struct Planner<'a> {
    pub(super) schema: Schema,
    loss: SharedLoss,
    /// Whether each view is judged by itself, too.
    each: bool,
    proposal: Proposal,
    pub(super) rows: &'a Batch,
    /// The same rows, one view a group.
    pub(super) grouped: Batch,
    /// What deals the rows to blocks.
    pub(super) keys: Vec<u64>,
    pub(super) seed: u64,
}

impl<'a> Planner<'a> {
    /// Looks at these rows, and groups the views as asked, or by what the rows say.
    pub(crate) fn new(
        schema: Schema,
        loss: SharedLoss,
        rows: &'a Batch,
        groups: Option<&str>,
        seed: u64,
    ) -> Result<Self> {
        check_views(&schema, rows)?;
        let proposal = match groups {
            Some(text) => Proposal {
                partition: Partition::parse(text, schema.views())?,
                grouping: Grouping::chosen(Chosen::ByHand),
                others: Vec::new(),
            },
            None => Proposal::new(rows, seed)?,
        };
        let partition = &proposal.partition;
        witnesses::check(&schema, partition, rows)?;
        for (name, views) in partition.names(schema.views()).iter().zip(partition.iter()) {
            let covariates = schema.covariates_of(views);
            if covariates > MOST_COVARIATES {
                return Err(Error::TooManyCovariates {
                    view: name.clone(),
                    covariates,
                    most: MOST_COVARIATES,
                });
            }
        }
        let grouped = partition.join(rows);
        let keys = keys(&grouped);
        Ok(Self { schema, loss, each: false, proposal, rows, grouped, keys, seed })
    }

    /// What the sums over all rows are to be sums of: the feature map that is asked for, or, for
    /// [`FeatureChoice::Auto`], the one with the smallest standard error; more latent states than classes need posteriors.
    pub(crate) fn plan(&self, features: FeatureChoice, latent: &Latent) -> Result<Plan> {
        let k = self.schema.k();
        let counts = latent.counts(self.schema.classes())?;
        let states = match (latent, &counts) {
            (Latent::States(states), _) => Some(*states),
            (_, counts) => counts.as_ref().map(|counts| counts.iter().sum()),
        };
        let grouping = Grouping { others: self.compare(), ..self.proposal.grouping.clone() };
        match states {
            None if *latent == Latent::Auto => states::fewest(self, &grouping, features),
            None => Ok(self.with_bins(&grouping, self.choose(features)?, None)),
            Some(states) if states == k => {
                Ok(self.with_bins(&grouping, self.choose(features)?, Some(Mediator::classes(k))))
            }
            Some(states) => {
                states::check(self, states)?;
                let (map, mediator) = states::choose(self, features, states, counts.as_deref())?;
                Ok(self.with_bins(&grouping, map, Some(mediator)))
            }
        }
    }

    /// The same where each view is judged by itself, too.
    pub(crate) fn judging_each(self) -> Self {
        Self { each: true, ..self }
    }

    /// The same for many classes, of which no third moment is formed; scores must vary and not be copies.
    pub(crate) fn plan_many(&self, features: FeatureChoice) -> Result<Plan> {
        let grouping = &self.proposal.grouping;
        let plan = |features| self.with_bins(grouping, (features, None), None);
        let none = std::array::from_fn(|_| Bins::none(self.schema.k()));
        let scores = (FeatureMap::Scores, None);
        let plain = self.plan_with(&self.proposal.partition, grouping.clone(), scores, none, None);
        let mut sums = plain.keeping_accumulator()?;
        sums.update(self.rows)?;
        let (scores, _) = sums.finish_keeping()?;
        Whitening::fit(&scores.plan().group_names(), scores.layout(), &scores.total())?;
        match features {
            FeatureChoice::Scores => Ok(plan(FeatureMap::Scores)),
            FeatureChoice::Softmax => Ok(plan(softmax(&self.grouped))),
            FeatureChoice::Auto | FeatureChoice::Posterior => Ok(plan(calibrated(&self.grouped)?)),
        }
    }

    /// The plan with bins to test it by.
    pub(super) fn with_bins(&self, grouping: &Grouping, map: SettledMap, latent: Option<Mediator>) -> Plan {
        let grouped = &self.grouped;
        let states = latent.as_ref().map_or(self.schema.k(), Mediator::states);
        let bins = std::array::from_fn(|v| {
            let (present, inputs) = grouped.present_inputs(v);
            Bins::fit((present, grouped.k()), &inputs, states, present < grouped.rows())
        });
        self.plan_with(&self.proposal.partition, grouping.clone(), map, bins, latent)
    }

    fn plan_with(
        &self,
        partition: &Partition,
        grouping: Grouping,
        (features, settled): SettledMap,
        bins: [Bins; VIEWS],
        latent: Option<Mediator>,
    ) -> Plan {
        let means: Vec<Vec<f64>> = partition.iter().map(|views| mean_inputs(self.rows, views)).collect();
        let plan = Plan {
            schema: self.schema.clone(),
            partition: partition.clone(),
            loss: self.loss.clone(),
            each: self.each,
            features,
            ceilings: None,
            absent: std::array::from_fn(|v| means[v].clone()),
            bins,
            latent,
            look: FirstLook::of(grouping).settle(settled),
        };
        let ceilings = ceilings(&plan, self.rows);
        Plan { ceilings, ..plan }
    }

    pub(super) fn choose(&self, features: FeatureChoice) -> Result<SettledMap> {
        let rows = &self.grouped;
        match features {
            FeatureChoice::Scores => return Ok((FeatureMap::Scores, None)),
            FeatureChoice::Softmax => return Ok((softmax(rows), None)),
            _ => {}
        }
        let first = self.first()?;
        let solved = |map| self.solved(map, None);
        match features {
            FeatureChoice::Posterior => {
                let labels = surrogate_labels(rows, &first)?;
                posteriors(rows, &self.keys, &labels).and_then(solved)?.settled()
            }
            _ => {
                let labels = surrogate_labels(rows, &first);
                let second = labels.and_then(|labels| posteriors(rows, &self.keys, &labels)).and_then(solved);
                better(second, Ok(first))?.settled()
            }
        }
    }

    /// The better of the maps that need no fit, with one state a class.
    pub(super) fn first(&self) -> Result<Candidate> {
        let solved = |map| self.solved(map, None);
        better(solved(FeatureMap::Scores), solved(softmax(&self.grouped)))
    }

    /// A plan of the proposed groups, with one state a class, whose map is fitted to the rows and to what a first pass says of their classes.
    pub(crate) fn plan_by_labels(
        &self,
        fit: impl FnOnce(&Batch, &[Vec<f64>; VIEWS]) -> Result<FeatureMap>,
    ) -> Result<Plan> {
        let map = fit(&self.grouped, &surrogate_labels(&self.grouped, &self.first()?)?)?;
        Ok(self.with_bins(&self.proposal.grouping, (map, None), None))
    }

    /// How far the risk of other groups is from that of the proposed ones, all by a softmax of their scores. Groups that
    /// cannot be solved, or whose fit is degenerate, say nothing.
    fn compare(&self) -> Vec<OtherPartition> {
        let solved = |partition: &Partition| {
            let map = softmax(&partition.join(self.rows));
            let candidate = self.solved_in(partition, map, None).ok()?;
            degeneracies(&candidate.moments, &candidate.solved).is_empty().then_some(candidate.solved)
        };
        if self.proposal.others.is_empty() {
            return Vec::new();
        }
        let Some(own) = solved(&self.proposal.partition) else { return Vec::new() };
        let compared = self.proposal.others.iter().filter_map(|partition| {
            let other = solved(partition)?;
            Some(OtherPartition {
                partition: partition.clone(),
                difference: other.quantities.risk - own.quantities.risk,
                standard_error: other.deviations.of_difference(|q| q.risk, &own.deviations, |q| q.risk),
            })
        });
        compared.collect()
    }

    /// What these rows say under a feature map.
    pub(super) fn solved(&self, map: FeatureMap, latent: Option<Mediator>) -> Result<Candidate> {
        self.solved_in(&self.proposal.partition, map, latent)
    }

    /// The same in other groups.
    fn solved_in(
        &self,
        partition: &Partition,
        map: FeatureMap,
        latent: Option<Mediator>,
    ) -> Result<Candidate> {
        let widths: Vec<usize> =
            partition.iter().map(|views| self.schema.k() + self.schema.covariates_of(views)).collect();
        let bins = std::array::from_fn(|v| Bins::none(widths[v]));
        let grouping = Grouping::chosen(Chosen::ByHand);
        let moments = self.moments(&self.plan_with(partition, grouping, (map, None), bins, latent))?;
        Ok(Candidate { solved: solve(&moments, self.seed)?, moments })
    }

    /// The moments of these rows, in blocks that do not depend on their order: neither does what is settled by the blocks.
    pub(super) fn moments(&self, plan: &Plan) -> Result<Moments> {
        let mut sums = plan.accumulator()?;
        sums.update_by(self.rows, &self.keys)?;
        sums.finish()
    }
}

/// Where terms are cut, if the loss asks for it and the map has posteriors to label what is cut off.
fn ceilings(plan: &Plan, rows: &Batch) -> Option<Ceilings> {
    let FeatureMap::Posterior { .. } = plan.features else { return None };
    let loss = &*plan.loss;
    if !loss.heavy_tailed() {
        return None;
    }
    let grouped = plan.partition.join(rows);
    let posteriors: [Vec<f64>; VIEWS] = std::array::from_fn(|v| {
        let (of_states, mut work) = (plan.evaluate(&grouped, v).posterior, Vec::new());
        plan.class_posterior(rows.rows(), &of_states, &mut work).to_vec()
    });
    let holders = plan.holders();
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

/// The means of the summed scores of some views over the rows in which any of them is there, and those of their covariates.
fn mean_inputs(rows: &Batch, views: &[usize]) -> Vec<f64> {
    let (present, scores) = rows.present_scores(views);
    let scores = scores.chunks_exact(present).map(|column| column.iter().sum::<f64>() / present as f64);
    scores.chain(views.iter().flat_map(|&view| rows.covariate_means(view))).collect()
}

/// The candidate with the smaller standard error, or the one that there is.
fn better(a: Result<Candidate>, b: Result<Candidate>) -> Result<Candidate> {
    match (a, b) {
        (Ok(a), Ok(b)) if b.solved.standard_error() < a.solved.standard_error() => Ok(b),
        (Err(_), Ok(b)) => Ok(b),
        (a, _) => a,
    }
}

/// Refuses views that are never there, or whose scores never change, with their names, and scores whose sums are no numbers.
fn check_views(schema: &Schema, rows: &Batch) -> Result<()> {
    for (v, view) in schema.views().iter().enumerate() {
        let (present, evidence) = rows.present_evidence(&[v]);
        if present == 0 {
            return Err(Error::NeverPresent { view: view.clone() });
        }
        if mean_inputs(rows, &[v]).iter().any(|mean| !mean.is_finite()) {
            return Err(Error::Overflow);
        }
        let scored = v < schema.scored().len();
        let judged = if scored { &evidence[..present * rows.k()] } else { &evidence };
        if is_constant(present, judged) {
            return Err(match scored {
                true => Error::ConstantView { view: view.clone() },
                false => Error::ConstantWitness { witness: view.clone(), value: None },
            });
        }
    }
    Ok(())
}

/// `W_-v` of every row, for each view.
pub(super) fn surrogate_labels(rows: &Batch, first: &Candidate) -> Result<[Vec<f64>; VIEWS]> {
    let (n, k) = (rows.rows(), rows.k());
    let (layout, total) = (first.moments.layout(), first.moments.total());
    let (whitening, mixture) = (&first.solved.variants.whitening, &first.solved.main().mixture);
    let surrogates = Surrogates::new(whitening, mixture, &layout.features, &total)?;
    let labels: [Vec<f64>; VIEWS] = std::array::from_fn(|v| {
        let evaluated = first.moments.plan().evaluate(rows, v);
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
