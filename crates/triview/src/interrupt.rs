//! Work that can be ended from outside.
//!
//! Fits are loops within loops, most of which cannot fail; an error that only ever means "stop" would pass through all of them. So
//! work that is interrupted unwinds, without a word, to where it was begun.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often it is looked whether work that has a limit is to end.
const TICK: Duration = Duration::from_millis(20);

thread_local! {
    /// What may interrupt this thread.
    static OWN: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
}

/// A request to stop, shared by whoever works and whoever may want it to end.
///
/// ```
/// use triview::interrupt::{Interrupt, Interrupted};
///
/// let interrupt = Interrupt::default();
/// assert_eq!(interrupt.run(Some(1), || 6 * 7), Ok(42));
/// interrupt.raise();
/// # use triview::{Params, data::{Rows, Schema}};
/// # let scores: Vec<f64> = (0..9_000).map(|at| f64::from(at % 7 + at % 5)).collect();
/// # let source = Rows::new(Schema::numbered(3, 3)?, &scores)?;
/// let estimate = interrupt.run(None, || Params::new().check()?.estimate(&source));
/// assert_eq!(estimate.err(), Some(Interrupted));
/// # Ok::<(), triview::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

/// The work was ended before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

impl Interrupt {
    /// Asks the work to end. It does so at its next step, within milliseconds of most work.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work was asked to end.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Does some work on threads of its own, one for each core where no number is given.
    ///
    /// # Errors
    /// [`Interrupted`], if it was asked to end before it was done.
    ///
    /// # Panics
    /// With the work's own panics, and where the system grants no thread.
    pub fn run<T: Send>(
        &self,
        threads: Option<usize>,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, Interrupted> {
        let own = self.clone();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.unwrap_or(0))
            .start_handler(move |_| OWN.set(Some(own.clone())))
            .build()
            .unwrap_or_else(|error| panic!("no threads to work with: {error}"));
        let done = catch_unwind(AssertUnwindSafe(|| pool.install(work)));
        done.or_else(|panic| if panic.is::<Interrupted>() { Err(Interrupted) } else { resume_unwind(panic) })
    }
}

/// Does some work on threads of its own as [`Interrupt::run`] does, for so long at the most. Where the work of this thread is asked to end meanwhile, so
/// is that.
///
/// # Errors
/// [`Interrupted`], if it took longer.
///
/// # Panics
/// As [`Interrupt::run`].
pub fn run_for<T: Send>(limit: Duration, work: impl FnOnce() -> T + Send) -> Result<T, Interrupted> {
    let (own, outer) = (Interrupt::default(), OWN.with_borrow(Clone::clone));
    let (ended, waiting) = channel::<()>();
    let watched = own.clone();
    let done = std::thread::scope(|scope| {
        scope.spawn(move || {
            let end = Instant::now() + limit;
            let raised = || outer.as_ref().is_some_and(Interrupt::is_raised);
            // Hanging up says that the work is done.
            while waiting.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if raised() || Instant::now() >= end {
                    watched.raise();
                }
            }
        });
        let done = own.run(Some(rayon::current_num_threads()), work);
        drop(ended);
        done
    });
    check();
    done
}

/// Ends the work of this thread where it was asked to end. Called in every loop that may be long.
pub fn check() {
    let raised = OWN.with_borrow(|own| own.as_ref().is_some_and(Interrupt::is_raised));
    if raised {
        resume_unwind(Box::new(Interrupted));
    }
}
