//! What to estimate, and how: a builder that is checked once and then trusted.

use crate::answer::check_level;
use crate::error::{Error, Result};
use crate::estimator::Estimator;
use crate::features::FeatureChoice;
use crate::latent::Latent;
use crate::loss::{self, LogLoss, Loss, SharedLoss, Whole};
use std::sync::Arc;

/// What is to be done with data of one kind, not checked yet.
pub trait Task: Default {
    /// What does it, once it is checked.
    type Checked;

    /// Checks what is of this task alone.
    ///
    /// # Errors
    /// Whatever is out of its range.
    fn check(self, common: Common) -> Result<Self::Checked>;
}

/// What every task has: the level of confidence, the seed, and the threads.
#[derive(Debug, Clone)]
pub struct Common {
    pub(crate) level: f64,
    pub(crate) seed: u64,
    pool: Option<Arc<rayon::ThreadPool>>,
}

impl Common {
    /// Does some work on the threads that were asked for.
    pub(crate) fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

/// What to estimate, and how; checked once by [`Parameters::check`].
///
/// [`Params`] is for score tables, [`SequenceParams`](crate::sequences::SequenceParams) for sequences,
/// [`VoteParams`](crate::votes::VoteParams) for votes and [`AdaptParams`](crate::learning::AdaptParams) for adaptation.
#[derive(Debug, Clone)]
pub struct Parameters<T> {
    level: f64,
    seed: u64,
    threads: Option<usize>,
    pub(crate) task: T,
}

impl<T: Task> Default for Parameters<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Task> Parameters<T> {
    /// Intervals at 0.95, a fixed seed, one thread for each core, and the task's own defaults.
    pub fn new() -> Self {
        Self { level: 0.95, seed: 0, threads: None, task: T::default() }
    }

    /// The level of confidence of the intervals.
    #[must_use]
    pub fn level(self, level: f64) -> Self {
        Self { level, ..self }
    }

    /// The seed of everything random: same input and same seed, same answer.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// How many threads to work with; otherwise those that the program works with. The answer is the same for any number.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// The same with the task changed.
    #[must_use]
    pub(crate) fn with(mut self, change: impl FnOnce(&mut T)) -> Self {
        change(&mut self.task);
        self
    }

    /// Checks all of it.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a level that is not between 0 and 1 or no threads, and those of the task.
    pub fn check(self) -> Result<T::Checked> {
        check_level(self.level)?;
        let pool = self.threads.map(pool).transpose()?.map(Arc::new);
        self.task.check(Common { level: self.level, seed: self.seed, pool })
    }
}

/// So many threads.
fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    let refuse = || Error::InvalidParameter {
        name: "threads",
        value: threads.to_string(),
        expected: "a number from 1 on, of no more threads than the system grants",
    };
    if threads == 0 {
        return Err(refuse());
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|_| refuse())
}

/// The risk of score tables.
///
/// ```
/// use triview::data::{Rows, Schema};
/// use triview::Params;
///
/// # let hash = |x: u64| (x + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40;
/// # let noise = |at: u64| hash(at) as f64 / (1 << 24) as f64 - 0.5;
/// # let score = |at: u64| 2.0 * noise(at) + if hash(at / 6 + 7_777_777) % 2 == at % 2 { 1.0 } else { 0.0 };
/// # let scores: Vec<f64> = (0..3_000 * 6).map(score).collect();
/// // Scores of three views for two classes, row by row.
/// let source = Rows::new(Schema::numbered(3, 2)?, &scores)?;
/// let estimate = Params::new().loss("log").level(0.9).check()?.estimate(&source)?;
/// println!("{:.3}, between {:.3} and {:.3}", estimate.risk, estimate.interval.low, estimate.interval.high);
/// # assert!(estimate.interval.low < estimate.risk && estimate.risk < estimate.interval.high);
/// # Ok::<(), triview::Error>(())
/// ```
pub type Params = Parameters<ScoreTables>;

/// The task of [`Params`].
#[derive(Debug, Clone)]
pub struct ScoreTables {
    loss: Result<SharedLoss>,
    whole: Option<Whole>,
    model: Option<Vec<String>>,
    each: bool,
    features: FeatureChoice,
    group: Option<String>,
    latent: Latent,
}

impl Default for ScoreTables {
    fn default() -> Self {
        Self {
            loss: Ok(SharedLoss::new(LogLoss)),
            whole: None,
            model: None,
            each: false,
            features: FeatureChoice::Auto,
            group: None,
            latent: Latent::Classes,
        }
    }
}

impl Task for ScoreTables {
    type Checked = Estimator;

    fn check(self, common: Common) -> Result<Estimator> {
        let Self { loss, whole, model, each, features, group, latent } = self;
        Ok(Estimator { common, loss: loss?, whole, model, each, features, group, latent })
    }
}

impl Params {
    /// The loss, by its name: one of [`loss::names`]. [`Params::check`] refuses one that does not exist.
    #[must_use]
    pub fn loss(self, name: &str) -> Self {
        let whole = Whole::named(name);
        let loss = match whole {
            Some(_) => Ok(SharedLoss::new(LogLoss)),
            None => loss::by_name(name)
                .map_err(|_| Error::UnknownLoss { name: name.into(), known: loss::names() }),
        };
        self.with(|task| (task.loss, task.whole) = (loss, whole))
    }

    /// A loss of one's own.
    #[must_use]
    pub fn own_loss(self, loss: impl Loss + 'static) -> Self {
        self.with(|task| (task.loss, task.whole) = (Ok(SharedLoss::new(loss)), None))
    }

    /// The views that the prediction is made of which is to be judged: its risk, its error rate and every metric are asked for. The other
    /// views are witnesses, which only identify. Otherwise all views together make the prediction.
    #[must_use]
    pub fn model<T: Into<String>>(self, views: impl IntoIterator<Item = T>) -> Self {
        self.with(|task| task.model = Some(views.into_iter().map(Into::into).collect()))
    }

    /// Whether each view is also to be judged as a model of its own, and any two of them to be compared.
    #[must_use]
    pub fn each(self, each: bool) -> Self {
        self.with(|task| task.each = each)
    }

    /// The feature map.
    #[must_use]
    pub fn features(self, features: FeatureChoice) -> Self {
        self.with(|task| task.features = features)
    }

    /// How to group the views into three, such as `a+b,c,d+e` (see [`Partition::parse`](crate::data::Partition::parse)).
    /// Otherwise more than three are grouped by what the rows say of them.
    #[must_use]
    pub fn group(self, groups: &str) -> Self {
        self.with(|task| task.group = Some(groups.into()))
    }

    /// How many latent states the views are taken to be independent given: one a class, more, or as few as the test of
    /// independence accepts (the mediating variable, extension 3 of the paper).
    #[must_use]
    pub fn latent(self, latent: Latent) -> Self {
        self.with(|task| task.latent = latent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_its_range_is_refused() {
        let name = |params: Params| match params.check() {
            Err(Error::InvalidParameter { name, .. }) => name,
            other => panic!("{other:?}"),
        };
        assert_eq!(name(Params::new().level(1.0)), "level");
        assert_eq!(name(Params::new().level(f64::NAN)), "level");
        assert_eq!(name(Params::new().threads(0)), "threads");
        let refused = Params::new().loss("squared").check();
        assert!(matches!(refused, Err(Error::UnknownLoss { known, .. }) if known == loss::names()));
    }
}
