//! Work that Python waits for: without its lock, ended by Ctrl-C, and telling how far it is.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use triview::interrupt::{Interrupt, Interrupted};
use triview_cli::call::Listener;

create_exception!(
    triview._core,
    TriviewError,
    PyValueError,
    "What cannot be answered: which table, column, row or value is wrong, and what to do."
);

/// How often Python is asked whether to go on.
const TICK: Duration = Duration::from_millis(50);

/// More threads than any machine has cores are a mistake, and would stop it.
const MOST_THREADS: usize = 1_024;

/// How far the work is, and what was noted on the way.
#[derive(Debug, Default)]
pub(crate) struct Told {
    done: AtomicU64,
    doing: Mutex<(&'static str, Option<u64>)>,
    notes: Mutex<Vec<String>>,
}

impl Told {
    /// What was noted.
    pub(crate) fn notes(&self) -> Vec<String> {
        lock(&self.notes).clone()
    }

    fn say(&self, py: Python<'_>, listener: &Py<PyAny>) -> PyResult<()> {
        let (doing, total) = *lock(&self.doing);
        listener.call1(py, (doing, self.done.load(Ordering::Relaxed), total))?;
        Ok(())
    }
}

/// What a thread that panicked left is whole: all that is kept is set at once.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Listener for Told {
    fn begin(&self, doing: &'static str, rows: Option<u64>) {
        *lock(&self.doing) = (doing, rows);
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, rows: u64) {
        self.done.fetch_add(rows, Ordering::Relaxed);
    }

    fn note(&self, text: &str) {
        lock(&self.notes).push(text.to_owned());
    }
}

/// Does some work on other threads and waits for it without Python's lock. `listener` is called with what is being done, how many
/// rows are done and of how many, while it lasts; Ctrl-C, or an error of the listener's, ends the work.
pub(crate) fn wait<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    listener: Option<&Py<PyAny>>,
    work: impl FnOnce(Arc<Told>) -> Result<T, String> + Send + 'static,
) -> PyResult<(T, Arc<Told>)> {
    if let Some(threads) = threads.filter(|threads| !(1..=MOST_THREADS).contains(threads)) {
        let said = format!("`threads` is {threads}: a number from 1 to {MOST_THREADS} is needed");
        return Err(TriviewError::new_err(said));
    }
    let (told, interrupt) = (Arc::new(Told::default()), Interrupt::default());
    let (sender, receiver) = channel();
    // Only a lock may be looked at from where Python's is not held.
    let receiver = Mutex::new(receiver);
    let (shared, own) = (told.clone(), interrupt.clone());
    std::thread::Builder::new()
        .name("triview".into())
        .spawn(move || {
            let run = || own.run(threads, || work(shared));
            // Nobody may wait any more: then nobody is told.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(run)));
        })
        .map_err(|error| TriviewError::new_err(format!("no thread to work with: {error}")))?;
    let mut stopped: Option<PyErr> = None;
    loop {
        let outcome = py.detach(|| lock(&receiver).recv_timeout(TICK));
        match (outcome, stopped.take()) {
            (Err(RecvTimeoutError::Timeout), Some(error)) => stopped = Some(error),
            (Err(RecvTimeoutError::Timeout), None) => {
                let heard = py.check_signals().and_then(|()| listener.map_or(Ok(()), |it| told.say(py, it)));
                if let Err(error) = heard {
                    interrupt.raise();
                    stopped = Some(error);
                }
            }
            (_, Some(error)) => return Err(error),
            (Ok(Ok(Ok(Ok(done)))), None) => return Ok((done, told)),
            (Ok(Ok(Ok(Err(said)))), None) => return Err(TriviewError::new_err(said)),
            (Ok(Ok(Err(Interrupted))), None) => return Err(TriviewError::new_err("interrupted")),
            (Ok(Err(_)) | Err(RecvTimeoutError::Disconnected), None) => {
                return Err(TriviewError::new_err(
                    "internal error: the work ended without an answer; please report it",
                ));
            }
        }
    }
}
