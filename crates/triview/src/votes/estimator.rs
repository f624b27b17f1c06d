//! From votes to the crowd behind them.

use super::annotators::trials;
use super::cast::Votes;
use super::dawid_skene::{Crowd, Fitted, Smoothing, Stop, by_majority, climb, dawid_skene};
use super::estimate::{Parts, VoteEstimate};
use super::expected::{ExpectedCounts, Known};
use super::gold::Recalibration;
use super::jackknife::without_groups;
use super::labels::difficulty;
use super::left_out::LeftOut;
use super::omnibus::omnibus;
use super::pairs::pairs;
use super::spectral::{NoSpectralStart, name, spectral};
use crate::error::{Error, Result};
use crate::estimator::{Common, Parameters, Task};
use crate::settings::votes::SHOWN;

/// Without smoothing the likelihood has no sharp top, and goes on rising by little for long.
const UNSMOOTHED: Stop = Stop { iterations: 5_000, tolerance: 1e-9 };

/// How to estimate the crowd behind votes.
pub type VoteParams = Parameters<VoteTask>;

/// The task of [`VoteParams`].
#[derive(Debug, Clone, Default)]
pub struct VoteTask {
    smoothing: Option<f64>,
}

impl VoteParams {
    /// Votes for each class, shared out as all annotators vote, that are added to those of every annotator while the crowd is
    /// fitted; `None` is the [default](default_smoothing). Zero is the most likely crowd, whatever it is.
    #[must_use]
    pub fn smoothing(self, smoothing: Option<f64>) -> Self {
        self.with(|task| task.smoothing = smoothing)
    }
}

impl Task for VoteTask {
    type Checked = VoteEstimator;

    /// Refuses a smoothing that is not a number, zero or more.
    fn check(self, common: Common) -> Result<VoteEstimator> {
        if let Some(smoothing) = self.smoothing.filter(|s| !(s.is_finite() && *s >= 0.0)) {
            return Err(Error::InvalidParameter {
                name: "smoothing",
                value: smoothing.to_string(),
                expected: "a number of votes, zero or more",
            });
        }
        Ok(VoteEstimator { common, smoothing: self.smoothing })
    }
}

/// The votes for each class that are added to every annotator's: `3 + k / 2`, which labels of simulated crowds were the most
/// accurate with.
pub fn default_smoothing(k: usize) -> f64 {
    3.0 + 0.5 * k as f64
}

/// Estimates the crowd behind votes; made by [`VoteParams::check`](crate::estimator::Parameters::check).
///
/// EM climbs from the majority's crowd and from that of the moments of three blocks of annotators; the larger
/// objective wins, so that it is never below that of EM from the majority. Classes are called by the names under which most
/// votes are right: annotators are taken to be better than chance on average.
#[derive(Debug, Clone)]
pub struct VoteEstimator {
    common: Common,
    smoothing: Option<f64>,
}

/// Where EM started from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub enum VoteStart {
    /// The votes' majority.
    Majority,
    /// The moments of three blocks of annotators.
    Spectral,
}

impl VoteStart {
    /// The name that `fit.start` shows.
    pub fn name(self) -> &'static str {
        match self {
            VoteStart::Majority => "majority",
            VoteStart::Spectral => "spectral",
        }
    }
}

/// The fits from both starts.
pub(crate) struct Fits {
    pub(crate) start: VoteStart,
    pub(crate) best: Fitted,
    pub(crate) majority_objective: f64,
    /// The other start's fit, or why there is none.
    pub(crate) other: std::result::Result<Fitted, NoSpectralStart>,
    /// The class prior of the moments, which few votes an annotator do no harm to.
    pub(crate) moments_prior: Option<Vec<f64>>,
    pub(crate) smoothing: Smoothing,
    /// Votes for each class that the smoothing adds.
    pub(crate) strength: f64,
}

impl VoteEstimator {
    /// The crowd, and the error rate of the labels that it gives to items. Classes have these names.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for fewer than two classes or another number of names, [`Error::FewAnnotators`], [`Error::NoThreeVotes`] and
    /// [`Error::UnvotedClass`]: what no fit could mend.
    pub fn estimate(&self, votes: &Votes, classes: &[String]) -> Result<VoteEstimate> {
        self.common.run(|| self.estimate_here(votes, classes))
    }

    fn estimate_here(&self, votes: &Votes, classes: &[String]) -> Result<VoteEstimate> {
        refuse(votes, classes)?;
        let by_majority = by_majority(votes);
        let fits = self.fit(votes, &by_majority)?;
        let pooled = Smoothing::shared_out(&by_majority, default_smoothing(votes.k()));
        let LeftOut { posteriors, tally } = LeftOut::new(votes, &fits.best, &pooled);
        let shown = Smoothing::shared_out(&by_majority, SHOWN);
        let crowd = shown.maximise(&tally);
        let optimism = fits.best.tally.error_rate() - tally.error_rate();
        let by_ballot = votes.by_ballot();
        let pairs = pairs(votes, &by_ballot, &crowd, &posteriors);
        let level = self.common.level;
        let mut gold = Recalibration::new(votes, &posteriors, level);
        let (posteriors, tally, crowd) = match &mut gold {
            None => (posteriors, tally, crowd),
            Some(gold) => {
                let tally = ExpectedCounts::of(votes, &Known(&gold.posteriors));
                let crowd = shown.maximise(&tally);
                (std::mem::take(&mut gold.posteriors), tally, crowd)
            }
        };
        let parts = Parts {
            votes,
            classes,
            deviations: without_groups(votes, &fits.best, &fits.smoothing),
            trials: trials(votes, &by_ballot, &crowd, &posteriors, &shown),
            omnibus: omnibus(votes, &fits.best.crowd, default_smoothing(votes.k()), self.common.seed),
            difficulty: difficulty(votes, &fits.best.crowd),
            matching: name(&tally),
            fits,
            crowd,
            posteriors,
            tally,
            optimism,
            pairs,
            gold,
            level,
        };
        Ok(VoteEstimate::new(parts))
    }

    fn fit(&self, votes: &Votes, by_majority: &ExpectedCounts) -> Result<Fits> {
        let k = votes.k();
        let strength = self.smoothing.unwrap_or_else(|| default_smoothing(k));
        let smoothing = Smoothing::shared_out(by_majority, strength);
        let stop = if strength == 0.0 { UNSMOOTHED } else { Stop::default() };
        // What few votes say of an annotator is noise, and a probability of zero is one for ever: this start is always smoothed.
        let pooled = Smoothing::shared_out(by_majority, default_smoothing(k));
        let moments = spectral(votes, &pooled, self.common.seed)?;
        let moments_prior = moments.as_ref().ok().map(|crowd| crowd.prior.clone());
        let named = |fitted: Fitted| if votes.golds().next().is_some() { fitted } else { named(fitted) };
        let by_majority = named(dawid_skene(votes, smoothing.maximise(by_majority), &smoothing, stop));
        // From a good start the same top is near after a few steps, and the rest of the way need not be gone twice.
        let climbed = |start| climb(votes, start, &smoothing, stop, |fitted| fitted.nears(&by_majority));
        // Gold keeps the names that it has; a start without it is named first.
        let start_named = |start: Crowd| match votes.golds().next() {
            Some(_) => start.reorder(&name(&ExpectedCounts::of(votes, &start)).order),
            None => start,
        };
        let by_moments = moments.map(|start| named(climbed(start_named(start))));
        let majority_objective = by_majority.objective;
        let least = Stop::default().tolerance * votes.len() as f64;
        let (start, best, other) = match by_moments {
            // Where both end at the same top the last digits do not decide.
            Ok(fitted) if fitted.objective > majority_objective + least => {
                (VoteStart::Spectral, fitted, Ok(by_majority))
            }
            other => (VoteStart::Majority, by_majority, other),
        };
        Ok(Fits { start, best, majority_objective, other, moments_prior, smoothing, strength })
    }
}

/// The same fit with classes called by the names under which most votes are right.
fn named(fitted: Fitted) -> Fitted {
    let order = name(&fitted.tally).order;
    Fitted { crowd: fitted.crowd.reorder(&order), tally: fitted.tally.reorder(&order), ..fitted }
}

/// Refuses what cannot be answered.
fn refuse(votes: &Votes, classes: &[String]) -> Result<()> {
    let k = votes.k();
    if k < 2 || classes.len() != k {
        return Err(Error::InvalidParameter {
            name: "classes",
            value: classes.join(", "),
            expected: "at least two are needed, and one name for each",
        });
    }
    let voted = votes.by_annotator().iter().filter(|n| **n > 0).count();
    if voted < 3 {
        return Err(Error::FewAnnotators { annotators: voted });
    }
    if (0..votes.items()).all(|item| votes.of_item(item).len() < 3) {
        return Err(Error::NoThreeVotes { items: votes.items() });
    }
    let cast = votes.cast();
    let unvoted = |class: &usize| cast.iter().skip(*class).step_by(k).all(|n| *n == 0);
    match (0..k).find(unvoted) {
        Some(class) => Err(Error::UnvotedClass { class: classes[class].clone() }),
        None => Ok(()),
    }
}
