//! Temporary files that have a name, and so are left behind by a program that is ended.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, TryLockError};

/// Those of this process.
static NAMED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A temporary file, as long as it is one.
#[derive(Debug)]
pub struct Named(PathBuf);

impl Named {
    /// Keeps the name of a file that is about to be made.
    pub fn new(path: &Path) -> Self {
        if let Ok(mut named) = NAMED.lock() {
            named.insert(path.to_owned());
        }
        Self(path.to_owned())
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        if let Ok(mut named) = NAMED.lock() {
            named.remove(&self.0);
        }
    }
}

/// Removes the temporary files of this process that have a name, and makes no more. For a program that is about to end without
/// unwinding: at a signal, or without memory.
pub fn remove_temporary_files() {
    let named = match NAMED.try_lock() {
        Ok(named) => named,
        Err(TryLockError::Poisoned(named)) => named.into_inner(),
        // Whoever keeps or forgets a name has it done by the time that a second look is taken.
        Err(TryLockError::WouldBlock) => {
            std::thread::sleep(std::time::Duration::from_millis(20));
            match NAMED.try_lock() {
                Ok(named) => named,
                _ => return,
            }
        }
    };
    for path in named.iter() {
        let _ = fs::remove_file(path);
    }
    // Nobody gets to make another one.
    std::mem::forget(named);
}
