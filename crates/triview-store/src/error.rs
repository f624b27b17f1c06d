//! What can be wrong with a store.

use std::path::PathBuf;

/// What can be wrong with a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing.
    #[error("there is no store `{}` yet: add a table to make it", path.display())]
    Missing {
        /// The store.
        path: PathBuf,
    },
    /// It is a folder.
    #[error("`{}` is a folder, and a store is a file: name one in it", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// It is a file of another kind.
    #[error("`{}` is another file and no store of triview: {found}; name another one", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What was found.
        found: &'static str,
    },
    /// A newer program made it.
    #[error(
        "store `{}` is of version {found}, and this program knows versions up to {known}: take a newer triview; nothing was changed",
        path.display()
    )]
    Newer {
        /// The store.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest that is known.
        known: i64,
    },
    /// It cannot be written to.
    #[error("store `{}` can be read but not written: {reason}", path.display())]
    ReadOnly {
        /// The store.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// Somebody else writes to it all the time.
    #[error("store `{}` is held by another process that adds to it; waited {seconds} s, try again later", path.display())]
    Busy {
        /// The store.
        path: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The disk is full.
    #[error("no room for store `{}`: the disk is full; the store is as it was", path.display())]
    Full {
        /// The store.
        path: PathBuf,
    },
    /// The disk does not do what it is told to.
    #[error("the disk refuses to read or write store `{}` ({reason}), such as for a limit of the size of files; the store is as it was", path.display())]
    Refused {
        /// The store.
        path: PathBuf,
        /// What the database says.
        reason: String,
    },
    /// What it holds cannot be read.
    #[error("store `{}` is damaged: {reason}", path.display())]
    Damaged {
        /// The store.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Rows of a period whose moments are there no more.
    #[error("store `{}` has let go of the rows of {period}, and only its answer is left: nothing can be added to it", path.display())]
    LetGo {
        /// The store.
        path: PathBuf,
        /// The period.
        period: String,
    },
    /// Rows that are there already, in a file of other bytes.
    #[error(
        "rows of {period} are in the store already: at least {rows} have the very scores of rows that were added before, and would count \
         twice; leave them out, or, where the same things are looked at again and again, begin a store with --cluster and their names"
    )]
    Twice {
        /// The period.
        period: String,
        /// How many were seen among the rows that are kept.
        rows: usize,
    },
    /// The system or the database refuses.
    #[error("store `{}`: {source}", path.display())]
    Database {
        /// The store.
        path: PathBuf,
        /// What it says.
        source: rusqlite::Error,
    },
    /// What the core refuses.
    #[error(transparent)]
    Core(#[from] triview::Error),
}

impl Error {
    /// Whether it may be gone later, and what was asked for is possible then.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Error::Busy { .. }
                | Error::Full { .. }
                | Error::ReadOnly { .. }
                | Error::Refused { .. }
                | Error::Database { .. }
        )
    }
}
