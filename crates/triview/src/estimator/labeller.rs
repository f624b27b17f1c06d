//! Surrogate labels for rows: the paper's learning algorithm in a form that any learner can use.
//!
//! For a group `v` of views, `W_-v` is a vector of one number a class that is made of the *other* groups, with
//! `E[W_-v | y = j] = e_j`. So for any function `g` of group `v` alone, `E[g(x_v) W_-v,j] = pi_j E[g(x_v) | y = j]`: what
//! takes labels can be had without them.

use crate::answer::Deviations;
use crate::answer::Kind;
use crate::answer::{Answer, Solution};
use crate::data::{Batch, Schema, VIEWS};
use crate::error::Result;
use crate::features::{Evaluated, FeatureMap};
use crate::moments::{Header, others};
use crate::numeric::columns::linear_columns;
use crate::planning::discriminant_map;

/// What labels the rows of a state's feature map.
#[derive(Debug, Clone)]
pub struct Labeller {
    header: Header,
    kind: Kind,
    /// For each group the map from what its labels are made of to the labels: one row a class, cells row by row.
    maps: [Vec<f64>; VIEWS],
    /// What each block adds to the error of the maps' cells, group by group.
    moved: Deviations,
    prior: Vec<f64>,
    /// The posteriors that the fit implies, where the state's own features are none.
    implied: Option<Box<Header>>,
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
    /// From a solved state. The labels of the latent states of a class are added up.
    pub(crate) fn new(header: &Header, solution: &Solution) -> Result<Self> {
        let Answer { labels, matching, mixture, .. } = &solution.main;
        let (k, states) = (header.schema.k(), mixture.prior.len());
        let lengths = VIEWS * states;
        debug_assert!(labels.maps.len().is_multiple_of(lengths));
        let width = labels.maps.len() / lengths;
        let by_class = |cells: &[f64]| -> Vec<f64> {
            let mut sums = vec![0.0; VIEWS * k * width];
            for (at, cell) in cells.iter().enumerate() {
                let (group, state, column) = (at / (states * width), at / width % states, at % width);
                sums[(group * k + matching.names[state]) * width + column] += cell;
            }
            sums
        };
        let maps = by_class(&labels.maps);
        let implied = match header.features {
            FeatureMap::Posterior { .. } => None,
            _ => {
                let features = discriminant_map(&header.features, solution)?;
                Some(Box::new(Header { features, ceilings: None, ..header.clone() }))
            }
        };
        Ok(Self {
            header: header.clone(),
            implied,
            kind: labels.kind,
            maps: std::array::from_fn(|g| maps[g * k * width..(g + 1) * k * width].to_vec()),
            moved: labels.moved.map(by_class),
            prior: solution.prior.clone(),
        })
    }

    /// The number of latent states that posteriors are of: one a class, or more.
    pub fn states(&self) -> usize {
        self.header.states()
    }

    /// What the columns of the rows mean.
    pub fn schema(&self) -> &Schema {
        &self.header.schema
    }

    /// The estimated probability of each class.
    pub fn class_prior(&self) -> &[f64] {
        &self.prior
    }

    /// The group of each view.
    pub fn group_of(&self, view: usize) -> usize {
        self.header.grouping.groups.of(view)
    }

    /// What the labels of each group are linear in, columns of the batch's rows.
    pub(crate) fn bases(&self, batch: &Batch) -> [Vec<f64>; VIEWS] {
        let grouped = batch.grouped(&self.header.grouping.groups);
        let evaluated: [Evaluated; VIEWS] = std::array::from_fn(|g| self.header.evaluate(&grouped, g));
        std::array::from_fn(|g| label_basis(&self.header, self.kind, &evaluated, g, batch.rows()))
    }

    /// For each group the map from its basis to its labels, cells row by row.
    pub(crate) fn maps(&self) -> &[Vec<f64>; VIEWS] {
        &self.maps
    }

    /// What each block adds to the error of the maps' cells, group by group.
    pub(crate) fn moved(&self) -> &Deviations {
        &self.moved
    }

    /// The fitted posterior of each latent state, `prod_v q_v(z | x_v) / pi_z^2`, one column a state: classes where there are
    /// no more states than these. It is made of all views, and no label is looked at.
    ///
    /// # Panics
    /// When the batch has other views or classes than the state.
    pub fn state_posterior(&self, batch: &Batch) -> Vec<f64> {
        assert!(batch.rows() == 0 || batch.k() == self.prior.len(), "rows of other classes");
        let header = self.implied.as_deref().unwrap_or(&self.header);
        let grouped = batch.grouped(&header.grouping.groups);
        let evaluated: [Evaluated; VIEWS] = std::array::from_fn(|g| header.evaluate(&grouped, g));
        let mut posterior = Vec::new();
        let of_groups = evaluated.each_ref().map(|group| group.posterior.as_slice());
        header.features.combine(batch.rows(), &of_groups, &mut posterior);
        posterior
    }

    /// The fitted posterior of each class, one column a class: that of [`Labeller::state_posterior`], summed over the states of a
    /// class.
    ///
    /// # Panics
    /// When the batch has other views or classes than the state.
    pub fn posterior(&self, batch: &Batch) -> Vec<f64> {
        self.class_posterior(batch.rows(), &self.state_posterior(batch))
    }

    /// A posterior of classes from one of states, columns of `rows` numbers.
    pub(crate) fn class_posterior(&self, rows: usize, states: &[f64]) -> Vec<f64> {
        let mut work = Vec::new();
        self.header.class_posterior(rows, states, &mut work).to_vec()
    }

    /// Labels rows by their scores.
    ///
    /// # Panics
    /// When the batch has other views or classes than the state.
    pub fn label(&self, batch: &Batch) -> SurrogateLabels {
        let k = self.prior.len();
        assert!(batch.rows() == 0 || batch.k() == k, "rows of other classes");
        let bases = self.bases(batch);
        let of_group = |g: usize| linear_columns(&bases[g], batch.rows(), &self.maps[g], k);
        SurrogateLabels { rows: batch.rows(), groups: std::array::from_fn(of_group) }
    }
}

/// What the labels of a group are linear in: the features of the two others, or their posterior.
pub(crate) fn label_basis(
    header: &Header,
    kind: Kind,
    evaluated: &[Evaluated; VIEWS],
    group: usize,
    rows: usize,
) -> Vec<f64> {
    let [a, b] = others(group).map(|other| &evaluated[other]);
    let mut columns = Vec::new();
    match kind {
        Kind::Linear => {
            columns.extend_from_slice(&a.features);
            columns.extend_from_slice(&b.features);
        }
        Kind::Pair => header.features.combine(rows, &[&a.posterior, &b.posterior], &mut columns),
    }
    columns
}
