//! A few labels beside many rows without: an interval that is right whatever the views do.
//!
//! The fitted posterior imputes a loss to every row, `h(x) = sum_y p(y | x) L(x, y)`, without having seen a label. If `n` of the
//! `m` rows, drawn at random, have labels, then for any weight `w`
//!
//! ```text
//!     theta = mean of L over the labelled rows + w (mean of h over all rows - mean of h over the labelled rows)
//! ```
//!
//! is unbiased for the risk, whether or not the posterior is right: prediction-powered inference (Angelopoulos et al. 2023).
//! The weight is tuned to the smallest variance (Angelopoulos, Duchi and Zrnic 2023), which for a mean is the slope of the
//! regression of `L` on `h` among the labelled rows, one at the most. Where the posterior says nothing of the losses that can be
//! told it is zero, and what is left is the mean of the labels alone. With `D = L - w h`,
//!
//! ```text
//!     Var(theta) = Var(D) / n + w^2 Var(h) / m.
//! ```
//!
//! The labels also check what the views say on their own: the names of the classes, the risk, and that the labelled rows
//! are drawn at random ([`check`](Labelled::alarms)); they show how many more would do ([`Worth`]); and with more latent
//! states than classes they give the soft map `P(y | z)` ([`SoftMap`]).

mod asked;
mod check;
mod powered;
mod recalibrated;
mod rows;
mod soft_map;

pub(crate) use asked::Range;
pub use check::{Agreement, Naming};
pub(crate) use powered::skewness_shift;
pub use powered::{Powered, Worth};
pub use recalibrated::{Origin, Sharpened};
pub use soft_map::SoftMap;

use super::{Estimate, Estimator, Labeller};
use crate::data::{Sample, ScoreSource};
use crate::diagnostics::{Alarm, Verdict, heavy_tail};
use crate::error::{Error, Result};
use crate::loss::Whole;
use crate::metrics::Measured;
use crate::moments::Moments;
use asked::{Asked, By, Judged, Questions};
use powered::Imputed;
use recalibrated::{Recalibration, Sums};
use rows::{AllSums, Rows};
use serde::Serialize;

/// The fewest labels that an interval is made of.
pub const FEWEST_LABELS: usize = 10;

/// A mean by labels in two ways, each right under what it takes for granted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ByLabels {
    /// Right whatever the views do; absent where fewer than [`FEWEST_LABELS`] rows of those that count have a label.
    pub valid: Option<Powered>,
    /// By a posterior that the labels recalibrate: mostly narrower, and right as far as that posterior is; absent where rows depend on each other
    /// in clusters.
    pub recalibrated: Option<Measured>,
    /// Which of them comes first.
    pub leads: Lead,
    /// What it says.
    pub leading: Measured,
}

/// Which of two ways comes first: the narrower one whose check passes. Against a recalibrated posterior the labels may speak, and for the mean of
/// skewed losses they may be too few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Lead {
    /// That which is right whatever the views do.
    Valid,
    /// That by a recalibrated posterior.
    Recalibrated,
}

impl ByLabels {
    /// In as many ways as there are enough labels for; nothing where there are for none.
    fn new(valid: Option<Powered>, recalibrated: Option<(Measured, bool)>) -> Option<Self> {
        let width = |measured: &Measured| measured.interval.high - measured.interval.low;
        let (leads, leading) = match (&valid, recalibrated) {
            (None, None) => return None,
            (Some(valid), Some((recalibrated, supported)))
                if !supported || (valid.enough && width(&recalibrated) >= width(&valid.estimate)) =>
            {
                (Lead::Valid, valid.estimate)
            }
            (_, Some((recalibrated, _))) => (Lead::Recalibrated, recalibrated),
            (Some(valid), None) => (Lead::Valid, valid.estimate),
        };
        Some(Self { valid, recalibrated: recalibrated.map(|(measured, _)| measured), leads, leading })
    }
}

/// What labels say of one model: absent where too few rows have one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelByLabels {
    /// Its risk, of another model's output its log loss; absent where the loss is no sum over views.
    pub risk: Option<ByLabels>,
    /// How often it is wrong.
    pub error_rate: Option<ByLabels>,
    /// `sum_i (p_i - 1(y = i))^2` of its probabilities.
    pub brier: Option<ByLabels>,
}

/// What labels say of the rows of a segment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SegmentByLabels {
    /// The segment.
    pub key: u64,
    /// How many of its rows have a label.
    pub labels: usize,
    /// The risk.
    pub risk: Option<ByLabels>,
    /// How often the prediction is wrong.
    pub error_rate: Option<ByLabels>,
}

/// What a few labels say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Labelled {
    /// Rows that have a label.
    pub labels: usize,
    /// All rows.
    pub rows: u64,
    /// The level of confidence of the intervals.
    pub level: f64,
    /// The risk.
    pub risk: ByLabels,
    /// How often the class with the largest summed score is wrong.
    pub error_rate: ByLabels,
    /// `sum_i (p_i - 1(y = i))^2` of the model's probabilities.
    pub brier: ByLabels,
    /// Every view as a model of its own, in the views' order, where that was asked.
    pub each: Vec<ModelByLabels>,
    /// How much more often the first of two views is wrong than the second, for every two of them, where that was asked.
    pub differences: Vec<([usize; 2], Option<ByLabels>)>,
    /// The output of another model, where one rides along with the rows.
    pub prediction: Option<ModelByLabels>,
    /// The rows of each segment, where rows have segments.
    pub segments: Vec<SegmentByLabels>,
    /// How a posterior was recalibrated; absent where rows depend on each other in clusters.
    pub recalibration: Option<Sharpened>,
    /// What the labels say of the classes' names and of the posterior.
    pub agreement: Agreement,
    /// The map from latent states to classes, where there are more states than classes.
    pub soft_map: Option<SoftMap>,
    /// What speaks against the intervals here: nothing that the views do can, but a loss whose variance is infinite does.
    pub alarms: Vec<Alarm>,
}

impl Labelled {
    /// Whether nothing speaks against it.
    pub fn trusted(&self) -> bool {
        self.alarms.is_empty()
    }
}

impl Estimator {
    /// The risk of rows some of which have labels ([`Batch::with_labels`](crate::data::Batch::with_labels)), from their moments and a
    /// sample of them: without the labels, and what the labels say. The source is read twice more.
    ///
    /// # Errors
    /// Those of the source and of [`Estimator::answer`], and [`Error::FewLabels`].
    pub fn solve_labelled<S: ScoreSource + ?Sized>(
        &self,
        source: &S,
        moments: &Moments,
        sample: &Sample,
    ) -> Result<(Estimate, Labelled), S::Error> {
        let solved = self.solve(moments)?;
        let labeller = solved.labeller()?;
        let rows = self.read_labels(source, &labeller, moments, sample.rows().prediction().is_some())?;
        if rows.labels() < FEWEST_LABELS {
            return Err(Error::FewLabels { labels: rows.labels(), needed: FEWEST_LABELS }.into());
        }
        let recalibrated = match rows.clusters() {
            None => {
                let independent = solved.tested.independence.verdict != Verdict::Fail;
                let recalibration = Recalibration::fit(&rows, independent)?;
                let sums = self.recalibrate(source, &labeller, &rows, &recalibration)?;
                Some((recalibration, sums))
            }
            Some(_) => None,
        };
        let mut estimate = self.common.run(|| self.measure(&solved, sample))?;
        let said = Said { rows: &rows, recalibrated: recalibrated.as_ref(), level: self.common.level };
        let views = moments.plan().schema().scored().len();
        let each = if self.each { views } else { 0 };
        let pairs = (0..each).flat_map(|a| (a + 1..each).map(move |b| [a, b]));
        let prediction = sample.rows().prediction().map(|_| said.of(Judged::Prediction));
        let alarms = check::against_chance(&rows).into_iter().chain(heavy_tail(moments)).collect();
        let mut labelled = Labelled {
            labels: rows.labels(),
            rows: rows.count(),
            level: said.level,
            risk: said.of_model(By::Risk)?,
            error_rate: said.of_model(By::Whole(Whole::Error))?,
            brier: said.of_model(By::Whole(Whole::Brier))?,
            each: (0..each).map(|view| said.of(Judged::View(view))).collect(),
            differences: pairs.map(|pair| (pair, said.difference(pair))).collect(),
            prediction,
            segments: said.segments(),
            recalibration: recalibrated.as_ref().map(|(recalibration, _)| recalibration.sharpened()),
            agreement: check::agreement(&rows),
            soft_map: soft_map::fit(&rows, said.level),
            alarms,
        };
        let contradictions = check::contradictions(&estimate, &mut labelled);
        estimate.alarms.extend(contradictions);
        Ok((estimate, labelled))
    }

    /// What labels of these rows would be worth for the risk, by the fitted posterior alone. No label is needed, and none is looked
    /// at.
    ///
    /// # Errors
    /// Those of the source and of [`Estimator::solve`].
    pub fn worth_of_labels<S: ScoreSource + ?Sized>(
        &self,
        source: &S,
        moments: &Moments,
    ) -> Result<Worth, S::Error> {
        let labeller = self.solve(moments)?.labeller()?;
        Ok(self.read_labels(source, &labeller, moments, false)?.risk().expected())
    }

    /// Reads all rows, with what the posterior imputes to each.
    fn read_labels<S: ScoreSource + ?Sized>(
        &self,
        source: &S,
        labeller: &Labeller,
        moments: &Moments,
        prediction: bool,
    ) -> Result<Rows, S::Error> {
        let plan = moments.plan();
        let views = if self.each { plan.schema().scored().len() } else { 0 };
        let mut rows = Rows::new(labeller, Questions::new(&plan.loss, self.whole, views, prediction));
        for batch in source.batches()? {
            rows.update(labeller, &*batch?)?;
        }
        Ok(rows)
    }

    /// Reads all rows once more, with what a posterior imputes to each that the labels have recalibrated.
    fn recalibrate<S: ScoreSource + ?Sized>(
        &self,
        source: &S,
        labeller: &Labeller,
        rows: &Rows,
        recalibration: &Recalibration,
    ) -> Result<AllSums, S::Error> {
        let mut sums = rows.sums();
        for batch in source.batches()? {
            rows.recalibrate(labeller, &*batch?, recalibration, &mut sums)?;
        }
        Ok(sums)
    }
}

/// Everything that is read off the rows.
struct Said<'a> {
    rows: &'a Rows,
    recalibrated: Option<&'a (Recalibration, AllSums)>,
    level: f64,
}

impl Said<'_> {
    fn mean(&self, asked: Asked, imputed: &Imputed, sums: Option<&Sums>) -> Option<ByLabels> {
        let range = self.rows.questions.range(asked);
        let enough = imputed.labels() >= FEWEST_LABELS;
        let valid = enough.then(|| imputed.powered(self.rows.clusters(), self.level, range));
        let recalibrated = self.recalibrated.zip(sums);
        let recalibrated =
            recalibrated.map(|((recalibration, _), sums)| sums.mean(recalibration, self.level, range));
        ByLabels::new(valid, recalibrated)
    }

    /// A mean over all rows; nothing where it was not asked for.
    fn find(&self, asked: Asked) -> Option<ByLabels> {
        let (at, (_, imputed)) = self.rows.asked().enumerate().find(|(_, (own, _))| *own == asked)?;
        self.mean(asked, imputed, self.recalibrated.map(|(_, sums)| &sums.of_all[at]))
    }

    /// Of what is judged, which all rows have.
    fn of_model(&self, by: By) -> Result<ByLabels> {
        self.find(Asked { judged: Judged::Model, by }).ok_or(Error::Internal("a mean by labels is missing"))
    }

    fn of(&self, judged: Judged) -> ModelByLabels {
        let find = |by: By| self.find(Asked { judged, by });
        ModelByLabels {
            risk: find(By::Risk),
            error_rate: find(By::Whole(Whole::Error)),
            brier: find(By::Whole(Whole::Brier)),
        }
    }

    fn difference(&self, pair: [usize; 2]) -> Option<ByLabels> {
        self.find(Asked { judged: Judged::Pair(pair), by: By::Whole(Whole::Error) })
    }

    fn segments(&self) -> Vec<SegmentByLabels> {
        // A segment's labels may be of any of the clusters, and are of few.
        if self.rows.clusters().is_some() {
            return Vec::new();
        }
        let sums = |key: u64, at: usize| {
            self.recalibrated.and_then(|(_, sums)| Some(&sums.of_segments.get(&key)?[at]))
        };
        let mean = |key: u64, imputed: &[Imputed; 2], at: usize, by: By| {
            self.mean(Asked { judged: Judged::Model, by }, &imputed[at], sums(key, at))
        };
        let segment = |(key, imputed): (u64, &[Imputed; 2])| SegmentByLabels {
            key,
            labels: imputed[0].labels(),
            risk: mean(key, imputed, 0, By::Risk),
            error_rate: mean(key, imputed, 1, By::Whole(Whole::Error)),
        };
        self.rows.segments().map(segment).collect()
    }
}
