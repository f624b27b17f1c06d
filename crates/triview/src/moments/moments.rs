//! The finished sums and what they are sums of.

use super::layout::{Dimensions, Layout, Terms};
use crate::data::{Batch, Schema, VIEWS};
use crate::error::{Error, Result};
use crate::features::{Bins, Evaluated, FeatureMap};
use crate::latent::{self, Mediator};
use crate::loss::{Ceilings, Form, SharedLoss};
use crate::planning::Grouping;
use serde::{Deserialize, Serialize};

/// What a state's sums are sums of. Only states with equal headers add up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Views and classes.
    pub schema: Schema,
    /// How the views are grouped into three.
    pub grouping: Grouping,
    /// The loss.
    pub loss: SharedLoss,
    /// The feature map, with everything it was fitted to.
    pub features: FeatureMap,
    /// Where the terms of a heavy-tailed loss are cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceilings: Option<Ceilings>,
    /// For each group, the scores and further features that it has where it is missing: the means of the rows looked at. Any
    /// constant would do, and these leave the least noise.
    pub absent: [Vec<f64>; VIEWS],
    /// The bins of each group of views on which the assumption is tested.
    pub bins: [Bins; VIEWS],
    /// The latent states, where a number of them was asked for; otherwise there is one a class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latent: Option<Mediator>,
}

impl Header {
    /// Where each sum of a state with this header lies.
    ///
    /// # Errors
    /// [`Error::InvalidState`] where the groups are not of these views, or the feature map or the bins not for these
    /// classes.
    pub fn layout(&self) -> Result<Layout> {
        self.lay_out(true)
    }

    /// The same where the third moment is not formed.
    pub(crate) fn layout_without_tensor(&self) -> Result<Layout> {
        self.lay_out(false)
    }

    fn lay_out(&self, third_moment: bool) -> Result<Layout> {
        let k = self.schema.k();
        if !self.grouping.fits(self.schema.views().len()) {
            return Err(Error::InvalidState { reason: "its groups are not of its views".into() });
        }
        if !self.latent.as_ref().is_none_or(|latent| latent.fits(k)) {
            return Err(Error::InvalidState { reason: "its latent states are not of its classes".into() });
        }
        let widths = self.widths();
        self.features.check(k, widths, self.states())?;
        if !self.bins.iter().zip(widths).all(|(bins, width)| bins.fits(width)) {
            return Err(Error::InvalidState { reason: "its bins are broken".into() });
        }
        let whole = |(means, width): (&Vec<f64>, usize)| {
            means.len() == width && means.iter().all(|mean| mean.is_finite())
        };
        if !self.absent.iter().zip(widths).all(whole) {
            return Err(Error::InvalidState { reason: "its mean scores are not of its classes".into() });
        }
        let bins = self.bins.each_ref().map(Bins::dimension);
        let (holders, terms) = (self.holders(), k * self.loss.form().terms());
        if !self.ceilings.as_ref().is_none_or(|ceilings| ceilings.fits(holders.len(), terms)) {
            return Err(Error::InvalidState { reason: "its ceilings are broken".into() });
        }
        let holders = holders.into_iter().map(|holder| holder.group).collect();
        let terms = Terms { holders, each: terms, cut: self.ceilings.is_some() };
        Ok(Layout::new(Dimensions {
            views: self.schema.views().len(),
            k,
            classes: self.classes_of_states(),
            counts: self.latent.as_ref().and_then(|latent| latent.counts.clone()),
            terms,
            features: self.dimensions(),
            bins,
            third_moment,
        }))
    }

    /// How many scores and further features each group of views has.
    pub(crate) fn widths(&self) -> [usize; VIEWS] {
        let mut widths = [self.schema.k(); VIEWS];
        for (width, views) in widths.iter_mut().zip(self.grouping.groups.iter()) {
            *width += self.schema.features_of(views);
        }
        widths
    }

    /// The dimension of what each group of views is identified by, leading one included.
    pub fn dimensions(&self) -> [usize; VIEWS] {
        self.widths().map(|width| self.features.dimension(self.schema.k(), width))
    }

    /// The number of latent states that the views are taken to be independent given.
    pub fn states(&self) -> usize {
        self.latent.as_ref().map_or(self.schema.k(), Mediator::states)
    }

    /// What these are, in words.
    pub(crate) fn latent_noun(&self) -> &'static str {
        if self.states() > self.schema.k() { "latent states" } else { "classes" }
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
                latent::by_class(rows, self.schema.k(), &latent.map, states, work);
                work
            }
            _ => states,
        }
    }

    /// What holds the terms of the loss: each view where it is a sum, each group where it is a product.
    pub fn holders(&self) -> Vec<Holder> {
        let groups = &self.grouping.groups;
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

    /// Names of what holds the terms.
    pub fn holder_names(&self) -> Vec<String> {
        let name = |&view: &usize| self.schema.views()[view].as_str();
        self.holders().iter().map(|of| of.views.iter().map(name).collect::<Vec<_>>().join("+")).collect()
    }

    /// Names of the three groups of views.
    pub fn group_names(&self) -> [String; VIEWS] {
        self.grouping.groups.names(self.schema.views())
    }

    /// Checks that rows with these names are what the sums are over.
    ///
    /// # Errors
    /// [`Error::StateMismatch`].
    pub fn expect(&self, schema: &Schema) -> Result<()> {
        let lists = [
            ("the list of views", self.schema.views(), schema.views()),
            ("the list of classes", self.schema.classes(), schema.classes()),
        ];
        for (what, left, right) in lists {
            if left != right {
                return Err(Error::StateMismatch { what, left: left.join(", "), right: right.join(", ") });
            }
        }
        let features = [&self.schema, schema].map(Schema::all_features);
        if features[0] != features[1] {
            let [left, right] =
                features.map(|all| if all.is_empty() { "empty".into() } else { all.join(", ") });
            return Err(Error::StateMismatch { what: "the list of features", left, right });
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

/// Moments of a data set in blocks of rows: all that is needed to estimate, merge, and resample.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    header: Header,
    layout: Layout,
    blocks: Vec<Vec<f64>>,
}

impl Moments {
    /// A state from its header and its blocks, each of [`Layout::len`] sums.
    ///
    /// # Errors
    /// [`Error::InvalidState`] when the blocks do not fit the header or hold something other than finite
    /// numbers.
    pub fn new(header: Header, blocks: Vec<Vec<f64>>) -> Result<Self> {
        let layout = header.layout()?;
        Self::laid_out(header, layout, blocks)
    }

    /// A state from its blocks, whose sums lie as the layout says.
    pub(crate) fn laid_out(header: Header, layout: Layout, blocks: Vec<Vec<f64>>) -> Result<Self> {
        if blocks.is_empty() {
            return Err(Error::InvalidState { reason: "it has no blocks".into() });
        }
        for (b, block) in blocks.iter().enumerate() {
            if block.len() != layout.len {
                let reason = format!("block {b} has {} sums where {} are needed", block.len(), layout.len);
                return Err(Error::InvalidState { reason });
            }
            if let Some(at) = block.iter().position(|sum| !sum.is_finite()) {
                let reason = format!("block {b} has {} at place {at}", block[at]);
                return Err(Error::InvalidState { reason });
            }
        }
        Ok(Self { header, layout, blocks })
    }

    /// What the sums are sums of.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Where each sum lies in a block.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The sums of each block of rows.
    pub fn blocks(&self) -> &[Vec<f64>] {
        &self.blocks
    }

    /// The sums of the blocks that have rows, each with their number.
    pub(crate) fn filled(&self) -> Vec<(f64, &Vec<f64>)> {
        let counted = self.blocks.iter().map(|block| (self.layout.rows.of(block)[0], block));
        counted.filter(|(rows, _)| *rows > 0.0).collect()
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.blocks.iter().map(|block| self.layout.rows.of(block)[0]).sum::<f64>() as u64
    }

    /// The number of rows in which each view is missing.
    pub fn missing(&self) -> Vec<u64> {
        self.layout.missing.of(&self.total()).iter().map(|rows| *rows as u64).collect()
    }

    /// The sums over all blocks.
    pub(crate) fn total(&self) -> Vec<f64> {
        let mut total = vec![0.0; self.layout.len];
        for block in &self.blocks {
            total.iter_mut().zip(block).for_each(|(total, sum)| *total += sum);
        }
        total
    }

    /// The state of the rows of both.
    ///
    /// # Errors
    /// [`Error::StateMismatch`] when they are not sums of the same things.
    pub fn merge(mut self, other: &Moments) -> Result<Self> {
        let (mine, theirs) = (&self.header, &other.header);
        let differ = |what, left: String, right: String| Err(Error::StateMismatch { what, left, right });
        mine.expect(&theirs.schema)?;
        if mine.grouping.groups != theirs.grouping.groups {
            let named = |header: &Header| header.group_names().join(", ");
            return differ("the list of groups", named(mine), named(theirs));
        }
        if mine.loss != theirs.loss {
            return differ("the loss", mine.loss.name().into(), theirs.loss.name().into());
        }
        if mine.states() != theirs.states() {
            let states = |header: &Header| header.states().to_string();
            return differ("the number of latent states", states(mine), states(theirs));
        }
        let counts = |header: &Header| header.latent.as_ref().and_then(|latent| latent.counts.clone());
        if counts(mine) != counts(theirs) {
            let shown =
                |header: &Header| counts(header).map_or("free".into(), |counts| format!("{counts:?}"));
            return differ("the number of latent states of each class", shown(mine), shown(theirs));
        }
        if mine.features.name() != theirs.features.name() {
            let name = |header: &Header| header.features.name().to_string();
            return differ("the feature map", name(mine), name(theirs));
        }
        if mine.features != theirs.features {
            let name = |header: &Header, n: &str| format!("`{}` fitted to {n}", header.features.name());
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
        if self.blocks.len() != other.blocks.len() {
            let count = |state: &Moments| state.blocks.len().to_string();
            return differ("the number of blocks", count(&self), count(other));
        }
        for (block, added) in self.blocks.iter_mut().zip(&other.blocks) {
            block.iter_mut().zip(added).for_each(|(sum, added)| *sum += added);
        }
        Ok(self)
    }
}
