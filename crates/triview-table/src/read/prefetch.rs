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
