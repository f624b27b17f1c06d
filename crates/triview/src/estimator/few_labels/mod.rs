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

mod check;
mod powered;
mod recalibrated;
mod rows;
mod soft_map;

pub use check::{Agreement, Naming};
pub use powered::{Powered, Worth};
pub use recalibrated::{Origin, Recalibrated};
pub use soft_map::SoftMap;

use super::{Estimate, Estimator, Labeller};
use crate::data::{Sample, ScoreSource};
use crate::diagnostics::{Alarm, Verdict, heavy_tail};
use crate::error::{Error, Result};
use crate::loss::{SharedLoss, Whole};
use crate::moments::Moments;
use recalibrated::{Recalibration, Sums};
use rows::Rows;
use serde::Serialize;

/// The fewest labels that an interval is made of.
pub const FEWEST_LABELS: usize = 10;

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
    pub risk: Powered,
    /// How often the class with the largest summed score is wrong.
    pub error_rate: Powered,
    /// The same by a posterior that the labels recalibrate: mostly narrower, and right as far as that posterior is; absent
    /// where rows depend on each other in clusters.
    pub recalibrated: Option<Recalibrated>,
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
        let rows = self.read_labels(source, &labeller, &moments.plan().loss)?;
        if rows.labels() < FEWEST_LABELS {
            return Err(Error::FewLabels { labels: rows.labels(), needed: FEWEST_LABELS }.into());
        }
        let recalibrated = match rows.clusters() {
            None => {
                let independent = solved.tested.independence.verdict != Verdict::Fail;
                Some(self.recalibrate(source, &labeller, &rows, independent)?)
            }
            Some(_) => None,
        };
        let mut estimate = self.common.run(|| self.measure(&solved, sample))?;
        let level = self.common.level;
        let bounded = self.whole == Some(Whole::Error);
        let mut labelled = Labelled {
            labels: rows.labels(),
            rows: rows.count(),
            level,
            risk: rows.risk.powered(rows.clusters(), level, bounded),
            error_rate: rows.error.powered(rows.clusters(), level, true),
            recalibrated,
            agreement: check::agreement(&rows),
            soft_map: soft_map::fit(&rows, level),
            alarms: check::against_chance(&rows).into_iter().chain(heavy_tail(moments)).collect(),
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
        Ok(self.read_labels(source, &labeller, &moments.plan().loss)?.risk.expected())
    }

    /// Reads all rows, with what the posterior imputes to each.
    fn read_labels<S: ScoreSource + ?Sized>(
        &self,
        source: &S,
        labeller: &Labeller,
        loss: &SharedLoss,
    ) -> Result<Rows, S::Error> {
        let mut rows = Rows::new(labeller, loss, self.whole);
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
        independent: bool,
    ) -> Result<Recalibrated, S::Error> {
        let recalibration = Recalibration::fit(rows, independent)?;
        let [k, _] = rows.dimensions();
        let mut sums = [Sums::new(k), Sums::new(k)];
        for batch in source.batches()? {
            rows.recalibrate(labeller, &*batch?, &recalibration, &mut sums)?;
        }
        let [risk, error] = &sums;
        let largest = self.whole.map_or(f64::INFINITY, Whole::largest);
        Ok(recalibration.read(risk, error, self.common.level, largest))
    }
}
