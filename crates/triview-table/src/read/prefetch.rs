//! Reading ahead on another thread.

use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Builder, JoinHandle};

/// The items of an iterator that runs on its own thread, some items ahead.
#[derive(Debug)]
pub(crate) struct Ahead<T> {
    items: Receiver<T>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Ahead<T> {
    /// Runs `items` at most `depth` items ahead. The thread ends when this is dropped.
    pub(crate) fn new(items: impl Iterator<Item = T> + Send + 'static, depth: usize) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(depth);
        let thread = Builder::new().name("triview-read".into()).spawn(move || {
            for item in items {
                if sender.send(item).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { items: receiver, thread: Some(thread) })
    }
}

impl<T> Iterator for Ahead<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.items.recv().ok().or_else(|| {
            // A closed channel is the end of the items only if the thread ended well.
            if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
                resume_unwind(panic);
            }
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_thread_that_dies_is_no_end_of_the_items() {
        let items = (0..10).inspect(|item| assert!(*item < 4, "the fifth cannot be read"));
        let mut ahead = Ahead::new(items, 2).expect("a thread");
        // All that was read before is there, and then what the thread died of; nobody waits for it.
        assert_eq!(ahead.by_ref().take(4).collect::<Vec<_>>(), [0, 1, 2, 3]);
        let died = catch_unwind(AssertUnwindSafe(|| ahead.next())).expect_err("it died");
        let said = died.downcast_ref::<&str>().copied().unwrap_or_default();
        assert!(said.contains("the fifth cannot be read"), "{said}");
        assert_eq!(ahead.next(), None);
    }

    #[test]
    fn a_thread_that_nobody_listens_to_ends() {
        struct Ended(Arc<AtomicBool>);
        impl Drop for Ended {
            fn drop(&mut self) {
                self.0.store(true, Ordering::SeqCst);
            }
        }
        let ended = Arc::new(AtomicBool::new(false));
        let told = Ended(ended.clone());
        let items = std::iter::repeat_with(move || usize::from(told.0.load(Ordering::SeqCst)));
        let mut ahead = Ahead::new(items, 1).expect("a thread");
        assert_eq!(ahead.next(), Some(0));
        let thread = ahead.thread.take().expect("a thread");
        drop(ahead);
        assert!(thread.join().is_ok() && ended.load(Ordering::SeqCst));
    }
}
