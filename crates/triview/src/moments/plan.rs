//! What is summed over rows.

use super::first_look::FirstLook;
use super::layout::{Dimensions, Layout, Terms};
use crate::data::{Batch, Partition, Schema, VIEWS};
use crate::error::{Error, Result};
use crate::features::{Bins, Evaluated, FeatureMap};
use crate::latent::{Mediator, by_class};
use crate::loss::{Ceilings, Form, SharedLoss};
use crate::settings::MOST_CLASSES;
use serde::{Deserialize, Serialize};

/// What is summed over rows: small, serialises, and travels to wherever rows are. Only moments of equal plans add up.
///
/// Made by [`Estimator::plan`](crate::Estimator::plan) from a sample of the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Views and classes.
    pub(crate) schema: Schema,
    /// How the views form three groups.
    pub(crate) partition: Partition,
    /// The loss.
    pub(crate) loss: SharedLoss,
    /// Whether each view is also judged as a model of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) each: bool,
    /// The feature map, with everything it was fitted to.
    pub(crate) features: FeatureMap,
    /// Where the terms of a heavy-tailed loss are cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ceilings: Option<Ceilings>,
    /// For each group, the scores and covariates that it has where it is missing: the means of the rows looked at. Any
    /// constant would do, and these leave the least noise.
    pub(crate) absent: [Vec<f64>; VIEWS],
    /// The bins of each group of views on which the assumption is tested.
    pub(crate) bins: [Bins; VIEWS],
    /// The latent states, where a number of them was asked for; otherwise there is one a class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) latent: Option<Mediator>,
    /// What the first look found.
    pub(crate) look: FirstLook,
}

impl Plan {
    /// Views and classes.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// How the views form three groups.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The loss whose mean is the risk.
    pub fn loss(&self) -> &SharedLoss {
        &self.loss
    }

    /// Whether each view is also judged as a model of its own.
    pub fn judges_each(&self) -> bool {
        self.each
    }

    /// The name of the feature map.
    pub fn features(&self) -> &'static str {
        self.features.name()
    }

    /// How many latent states there are, where a number of them was asked for.
    pub fn latent_states(&self) -> Option<usize> {
        self.latent.as_ref().map(Mediator::states)
    }

    /// What the first look found.
    pub fn look(&self) -> &FirstLook {
        &self.look
    }

    /// Refuses more classes, or latent states, than third moments are formed for.
    ///
    /// # Errors
    /// [`Error::NoMoments`].
    pub fn check_size(k: usize) -> Result<()> {
        if k > MOST_CLASSES { Err(Error::NoMoments { k, most: MOST_CLASSES }) } else { Ok(()) }
    }

    /// Where each sum lies.
    ///
    /// # Errors
    /// [`Error::InvalidMoments`] where the groups are not of these views, or the feature map or the bins not for these
    /// classes.
    pub(crate) fn layout(&self) -> Result<Layout> {
        self.lay_out(true)
    }

    /// The same where the third moment is not formed.
    pub(crate) fn layout_without_tensor(&self) -> Result<Layout> {
        self.lay_out(false)
    }

    fn lay_out(&self, third_moment: bool) -> Result<Layout> {
        let k = self.schema.k();
        if !(self.partition.fits(self.schema.views().len()) && self.look.fits(self.schema.views().len())) {
            return Err(Error::InvalidMoments { reason: "its groups are not of its views".into() });
        }
        if !self.latent.as_ref().is_none_or(|latent| latent.fits(k)) {
            return Err(Error::InvalidMoments { reason: "its latent states are not of its classes".into() });
        }
        if self.loss.judged().and_then(<[usize]>::last).is_some_and(|last| *last >= self.schema.views().len())
        {
            return Err(Error::InvalidMoments { reason: "what it judges is none of its views".into() });
        }
        let widths = self.widths();
        self.features.check(k, widths, self.states())?;
        if !self.bins.iter().zip(widths).all(|(bins, width)| bins.fits(width)) {
            return Err(Error::InvalidMoments { reason: "its bins are broken".into() });
        }
        let whole = |(means, width): (&Vec<f64>, usize)| {
            means.len() == width && means.iter().all(|mean| mean.is_finite())
        };
        if !self.absent.iter().zip(widths).all(whole) {
            return Err(Error::InvalidMoments { reason: "its mean scores are not of its classes".into() });
        }
        let bins = self.bins.each_ref().map(Bins::dimension);
        // What is read from bytes may have any number of features and bins, of which no sums have been seen yet.
        let countable = |q: [usize; VIEWS]| q.iter().try_fold(1_usize << 16, |size, q| size.checked_mul(*q));
        if [self.dimensions(), bins].into_iter().any(|q| countable(q).is_none()) {
            return Err(Error::InvalidMoments { reason: "it has more sums than can be counted".into() });
        }
        let (holders, terms) = (self.holders(), k * self.loss.form().terms());
        if !self.ceilings.as_ref().is_none_or(|ceilings| ceilings.fits(holders.len(), terms)) {
            return Err(Error::InvalidMoments { reason: "its ceilings are broken".into() });
        }
        let holders = holders.into_iter().map(|holder| holder.group).collect();
        let terms = Terms { holders, each: terms, cut: self.ceilings.is_some() };
        Ok(Layout::new(Dimensions {
            views: self.schema.views().len(),
            each: self.each && self.loss.form() == Form::Sum,
            k,
            classes: self.classes_of_states(),
            counts: self.latent.as_ref().and_then(|latent| latent.counts.clone()),
            terms,
            features: self.dimensions(),
            bins,
            third_moment,
        }))
    }

    /// How many scores and covariates each group of views has.
    pub(crate) fn widths(&self) -> [usize; VIEWS] {
        let mut widths = [self.schema.k(); VIEWS];
        for (width, views) in widths.iter_mut().zip(self.partition.iter()) {
            *width += self.schema.covariates_of(views);
        }
        widths
    }

    /// The dimension of what each group of views is identified by, leading one included.
    pub fn dimensions(&self) -> [usize; VIEWS] {
        let widths = self.widths();
        std::array::from_fn(|group| self.features.dimension(group, widths[group]))
    }

    /// The number of latent states that the views are taken to be independent given.
    pub fn states(&self) -> usize {
        self.latent.as_ref().map_or(self.schema.k(), Mediator::states)
    }

    /// The class of each state of the feature map.
    pub(crate) fn classes_of_states(&self) -> Vec<usize> {
        match &self.latent {
            Some(latent) => latent.map.clone(),
            None => (0..self.schema.k()).collect(),
        }
    }

    /// A posterior of classes from one of the feature map's states, columns of `rows` numbers.
    pub(crate) fn class_posterior<'a>(
        &self,
        rows: usize,
        states: &'a [f64],
        work: &'a mut Vec<f64>,
    ) -> &'a [f64] {
        match &self.latent {
            Some(latent) if latent.states() > self.schema.k() => {
                by_class(rows, self.schema.k(), &latent.map, states, work);
                work
            }
            _ => states,
        }
    }

    /// What holds the terms of the loss: each view where it is a sum, each group where it is a product.
    pub fn holders(&self) -> Vec<Holder> {
        let groups = &self.partition;
        match self.loss.form() {
            Form::Sum => (0..self.schema.views().len())
                .map(|view| Holder { group: groups.of(view), views: vec![view] })
                .collect(),
            Form::Products(_) => groups
                .iter()
                .enumerate()
                .map(|(group, views)| Holder { group, views: views.clone() })
                .collect(),
        }
    }

    /// What the feature map makes of one group of some rows, whose views are the groups.
    pub(crate) fn evaluate(&self, grouped: &Batch, group: usize) -> Evaluated {
        let (n, missing) = (grouped.rows(), grouped.without(&[group]));
        let mut inputs = grouped.inputs(group).into_owned();
        for (column, absent) in inputs.chunks_exact_mut(n).zip(&self.absent[group]) {
            missing.iter().for_each(|&row| column[row] = *absent);
        }
        let mut evaluated = Evaluated::default();
        self.features.evaluate(group, (n, grouped.k()), &inputs, &missing, &mut evaluated);
        evaluated
    }

    /// Names of the views that the prediction is made of, where these are not all.
    pub fn judged_names(&self) -> Option<Vec<String>> {
        let name = |&view: &usize| self.schema.views()[view].clone();
        self.loss.judged().map(|views| views.iter().map(name).collect())
    }

    /// Names of what holds the terms.
    pub fn holder_names(&self) -> Vec<String> {
        let name = |&view: &usize| self.schema.views()[view].as_str();
        self.holders().iter().map(|of| of.views.iter().map(name).collect::<Vec<_>>().join("+")).collect()
    }

    /// Names of the three groups of views.
    pub fn group_names(&self) -> [String; VIEWS] {
        self.partition.names(self.schema.views())
    }

    /// Checks that rows with these names are what the sums are over.
    ///
    /// # Errors
    /// [`Error::PlansDiffer`].
    pub fn expect(&self, schema: &Schema) -> Result<()> {
        let lists = [
            ("the list of views", self.schema.views(), schema.views()),
            ("the list of classes", self.schema.classes(), schema.classes()),
        ];
        for (what, left, right) in lists {
            if left != right {
                return Err(Error::PlansDiffer { what, left: left.join(", "), right: right.join(", ") });
            }
        }
        let covariates = [&self.schema, schema].map(Schema::all_covariates);
        if covariates[0] != covariates[1] {
            let [left, right] =
                covariates.map(|all| if all.is_empty() { "empty".into() } else { all.join(", ") });
            return Err(Error::PlansDiffer { what: "the list of covariates", left, right });
        }
        Ok(())
    }

    /// Refuses a plan whose moments cannot be added to those of this one.
    ///
    /// # Errors
    /// [`Error::PlansDiffer`].
    pub(crate) fn expect_same(&self, other: &Plan) -> Result<()> {
        let (mine, theirs) = (self, other);
        let differ = |what, left: String, right: String| Err(Error::PlansDiffer { what, left, right });
        mine.expect(&theirs.schema)?;
        if mine.partition != theirs.partition {
            let named = |plan: &Plan| plan.group_names().join(", ");
            return differ("the list of groups", named(mine), named(theirs));
        }
        if mine.loss != theirs.loss {
            let named = |plan: &Plan| match plan.judged_names() {
                None => plan.loss.name().to_owned(),
                Some(views) => format!("{} of {}", plan.loss.name(), views.join(", ")),
            };
            return differ("the loss", named(mine), named(theirs));
        }
        if mine.each != theirs.each {
            let judged = |plan: &Plan| if plan.each { "judged" } else { "not judged" }.to_owned();
            return differ("whether each view is judged by itself", judged(mine), judged(theirs));
        }
        if mine.states() != theirs.states() {
            let states = |plan: &Plan| plan.states().to_string();
            return differ("the number of latent states", states(mine), states(theirs));
        }
        let counts = |plan: &Plan| plan.latent.as_ref().and_then(|latent| latent.counts.clone());
        if counts(mine) != counts(theirs) {
            let shown = |plan: &Plan| counts(plan).map_or("free".into(), |counts| format!("{counts:?}"));
            return differ("the number of latent states of each class", shown(mine), shown(theirs));
        }
        if mine.features.name() != theirs.features.name() {
            let name = |plan: &Plan| plan.features.name().to_string();
            return differ("the feature map", name(mine), name(theirs));
        }
        if mine.features != theirs.features {
            let name = |plan: &Plan, n: &str| format!("`{}` fitted to {n}", plan.features.name());
            return differ("the feature map", name(mine, "one data set"), name(theirs, "another data set"));
        }
        if mine.ceilings != theirs.ceilings {
            let fitted = |n: &str| format!("at quantiles of {n}");
            return differ("where terms are cut", fitted("one data set"), fitted("another data set"));
        }
        if mine.absent != theirs.absent {
            let fitted = |n: &str| format!("taken from {n}");
            return differ("the mean scores", fitted("one data set"), fitted("another data set"));
        }
        if mine.bins != theirs.bins {
            let fitted = |n: &str| format!("cut at quantiles of {n}");
            return differ("the bins", fitted("one data set"), fitted("another data set"));
        }
        if mine.look.settled() != theirs.look.settled() {
            let settled = |n: &str| format!("settled on {n}");
            return differ("how answers are averaged", settled("one data set"), settled("another data set"));
        }
        Ok(())
    }
}

/// What holds terms of a loss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The views they are functions of: one, or all of a group.
    pub views: Vec<usize>,
    /// Their group.
    pub group: usize,
}
