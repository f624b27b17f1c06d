//! What a first look at the rows found, beside what is to be summed.

use crate::data::Partition;
use crate::latent::Tried;
use serde::{Deserialize, Serialize};

/// Who chose the groups of views.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chosen {
    /// The program, by what the rows say.
    Automatic,
    /// The user.
    ByHand,
}

impl Chosen {
    /// Its name in the answer.
    pub fn name(self) -> &'static str {
        match self {
            Chosen::Automatic => "automatic",
            Chosen::ByHand => "by hand",
        }
    }
}

/// How the groups of views came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grouping {
    /// Who chose them.
    pub chosen: Chosen,
    /// Sets of views that are in one group because they were seen to depend on each other given the class.
    pub together: Vec<Vec<usize>>,
    /// Other ways to group the views that keep those sets whole, and what they say.
    pub others: Vec<OtherPartition>,
}

/// Another way to group the views, and how its risk differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherPartition {
    /// The groups.
    pub partition: Partition,
    /// Their risk less that of the groups that were chosen, by plain features.
    pub difference: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl Grouping {
    /// Of groups that nothing was compared with.
    pub(crate) fn chosen(chosen: Chosen) -> Self {
        Self { chosen, together: Vec::new(), others: Vec::new() }
    }
}

/// What a first look at the rows found: settled once, so that parts of a data set give the answer of the whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FirstLook {
    /// How the groups of views came about.
    pub grouping: Grouping,
    /// The numbers of latent states that were tried to find the one that is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
    /// How good the answers of the moments are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settled: Option<Settled>,
}

/// How good the answers of the moments of a feature map are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Settled {
    /// How much each variant of the answer counts.
    pub(crate) blend: Vec<f64>,
    /// The squared standard error of the difference of their risk from that under the posterior, times the number of rows.
    pub(crate) variance: f64,
}

impl FirstLook {
    /// Where nothing but the groups is known.
    pub(crate) fn of(grouping: Grouping) -> Self {
        Self { grouping, tried: Vec::new(), settled: None }
    }

    /// The same with how good the answers are.
    pub(crate) fn settle(mut self, settled: Option<Settled>) -> Self {
        self.settled = settled;
        self
    }

    /// How good the answers are, where that is settled.
    pub(crate) fn settled(&self) -> Option<&Settled> {
        self.settled.as_ref()
    }

    /// Whether it may be of so many views.
    pub(crate) fn fits(&self, views: usize) -> bool {
        let Grouping { together, others, .. } = &self.grouping;
        let shares = |settled: &Settled| {
            settled.blend.iter().all(|share| *share >= 0.0)
                && (settled.blend.iter().sum::<f64>() - 1.0).abs() < 1e-6
                && settled.variance.is_finite()
                && settled.variance >= 0.0
        };
        together.iter().flatten().all(|&view| view < views)
            && others.iter().all(|other| other.partition.fits(views))
            && self.settled.as_ref().is_none_or(shares)
    }
}
