//! Surrogate labels for rows: the paper's learning algorithm in a form that any learner can use.
//!
//! For a group `v` of views, `W_-v` is a vector of one number a class that is made of the *other* groups, with
//! `E[W_-v | y = j] = e_j`. So for any function `g` of group `v` alone, `E[g(x_v) W_-v,j] = pi_j E[g(x_v) | y = j]`: what
//! takes labels can be had without them.

use crate::answer::{Blended, Deviations, Kind, LabelMaps, label_basis};
use crate::data::{Batch, Schema, VIEWS};
use crate::error::Result;
use crate::features::fit::discriminant_map;
use crate::features::{Evaluated, FeatureMap};
use crate::moments::Plan;
use crate::numeric::columns::linear_columns;

/// What labels rows without labels; made by [`Solved::labeller`](super::Solved::labeller).
#[derive(Debug, Clone)]
pub struct Labeller {
    plan: Plan,
    kind: Kind,
    /// For each group the map from what its labels are made of to the labels: one row a class, cells row by row.
    maps: LabelMaps,
    /// What each block adds to the error of the maps' cells.
    moved: Deviations<LabelMaps>,
    prior: Vec<f64>,
    /// The plan with the posteriors that the fit implies, where the moments' own features are none.
    implied: Option<Box<Plan>>,
}

/// The labels of some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct SurrogateLabels {
    rows: usize,
    /// For each group of views one column a class.
    groups: [Vec<f64>; VIEWS],
}

impl SurrogateLabels {
    /// The labels of a group of views for one class, row by row; the other groups make them.
    pub fn column(&self, group: usize, class: usize) -> &[f64] {
        &self.groups[group][class * self.rows..(class + 1) * self.rows]
    }
}

impl Labeller {
    /// From solved moments. The labels of the latent states of a class are added up.
    pub(crate) fn new(plan: &Plan, solved: &Blended) -> Result<Self> {
        let main = solved.main();
        let k = plan.schema.k();
        let by_class =
            |maps: &LabelMaps| maps.each_ref().map(|cells| sum_rows(cells, &main.matching.names, k));
        let implied = match plan.features {
            FeatureMap::Posterior { .. } => None,
            _ => {
                let (whitening, mixture) = (&solved.variants.whitening, &main.mixture);
                let features =
                    discriminant_map(&plan.features, &mixture.prior, &whitening.maps, &mixture.means)?;
                Some(Box::new(Plan { features, ceilings: None, ..plan.clone() }))
            }
        };
        Ok(Self {
            plan: plan.clone(),
            implied,
            kind: main.labels.kind,
            maps: by_class(&main.labels.maps),
            moved: main.labels.moved.map(by_class),
            prior: solved.quantities.prior.clone(),
        })
    }

    /// The number of latent states that posteriors are of: one a class, or more.
    pub fn states(&self) -> usize {
        self.plan.states()
    }

    /// What the columns of the rows mean.
    pub fn schema(&self) -> &Schema {
        &self.plan.schema
    }

    /// The estimated probability of each class.
    pub fn class_prior(&self) -> &[f64] {
        &self.prior
    }

    /// The group of each view.
    pub fn group_of(&self, view: usize) -> usize {
        self.plan.partition.of(view)
    }

    /// What the labels of each group are linear in, columns of the batch's rows.
    pub(crate) fn bases(&self, batch: &Batch) -> [Vec<f64>; VIEWS] {
        let grouped = self.plan.partition.join(batch);
        let evaluated: [Evaluated; VIEWS] = std::array::from_fn(|g| self.plan.evaluate(&grouped, g));
        std::array::from_fn(|g| label_basis(&self.plan, self.kind, &evaluated, g, batch.rows()))
    }

    /// For each group the map from its basis to its labels, cells row by row.
    pub(crate) fn maps(&self) -> &LabelMaps {
        &self.maps
    }

    /// What each block adds to the error of the maps' cells.
    pub(crate) fn moved(&self) -> &Deviations<LabelMaps> {
        &self.moved
    }

    /// The fitted posterior of each latent state, `prod_v q_v(z | x_v) / pi_z^2`, one column a state: classes where there are
    /// no more states than these. It is made of all views, and no label is looked at.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for rows of other views, classes or covariates.
    pub fn state_posterior(&self, batch: &Batch) -> Result<Vec<f64>> {
        self.plan.schema.expect_rows(batch)?;
        if batch.rows() == 0 {
            return Ok(Vec::new());
        }
        let plan = self.implied.as_deref().unwrap_or(&self.plan);
        let grouped = plan.partition.join(batch);
        let evaluated: [Evaluated; VIEWS] = std::array::from_fn(|g| plan.evaluate(&grouped, g));
        let mut posterior = Vec::new();
        let of_groups = evaluated.each_ref().map(|group| group.posterior.as_slice());
        plan.features.combine(batch.rows(), &of_groups, &mut posterior);
        Ok(posterior)
    }

    /// The fitted posterior of each class, one column a class: that of [`Labeller::state_posterior`], summed over the states of a
    /// class.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for rows of other views, classes or covariates.
    pub fn posterior(&self, batch: &Batch) -> Result<Vec<f64>> {
        Ok(self.class_posterior(batch.rows(), &self.state_posterior(batch)?))
    }

    /// A posterior of classes from one of states, columns of `rows` numbers.
    pub(crate) fn class_posterior(&self, rows: usize, states: &[f64]) -> Vec<f64> {
        let mut work = Vec::new();
        self.plan.class_posterior(rows, states, &mut work).to_vec()
    }

    /// Labels rows by their scores.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for rows of other views, classes or covariates.
    pub fn label(&self, batch: &Batch) -> Result<SurrogateLabels> {
        self.plan.schema.expect_rows(batch)?;
        if batch.rows() == 0 {
            return Ok(SurrogateLabels { rows: 0, groups: Default::default() });
        }
        let k = self.prior.len();
        let bases = self.bases(batch);
        let of_group = |g: usize| linear_columns(&bases[g], batch.rows(), &self.maps[g], k);
        Ok(SurrogateLabels { rows: batch.rows(), groups: std::array::from_fn(of_group) })
    }
}

/// The rows of a matrix of one row a state, summed over the states of each of `k` classes.
fn sum_rows(cells: &[f64], names: &[usize], k: usize) -> Vec<f64> {
    let width = cells.len() / names.len();
    let mut sums = vec![0.0; k * width];
    for (row, &name) in cells.chunks_exact(width).zip(names) {
        sums[name * width..(name + 1) * width].iter_mut().zip(row).for_each(|(sum, cell)| *sum += cell);
    }
    sums
}
