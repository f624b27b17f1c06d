//! Files that come to lie in a folder.

use super::{add, show};
use crate::answer::{Answer, in_words};
use crate::args::Global;
use crate::monitor_args::MonitorArgs;
use crate::progress::say;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use triview_store::Store;
use triview_table::{Origin, Stamp};

/// How often the folder is looked at. A file that is as it was at the last look is taken to be whole.
const EVERY: Duration = Duration::from_secs(2);
/// How long it is waited before a file is tried again that the store had no room for, or the like.
const AGAIN: Duration = Duration::from_secs(30);
/// What is looked at.
const ENDINGS: [&str; 13] = [
    "csv", "tsv", "jsonl", "ndjson", "parquet", "pq", "arrow", "arrows", "ipc", "feather", "npy", "gz", "zst",
];

/// What has come of a file since it was last written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It is whole if it is the same at the next look.
    Whole,
    /// The store could not be written to, which is said once.
    Refused(Instant),
    /// It is added, or never will be as it is.
    Done,
}

/// Adds the files of a folder as they come, until the process is ended; what is written is written anew after each.
pub(super) fn folder(
    args: &MonitorArgs,
    global: &Global,
    store: &mut Store,
    folder: &Path,
) -> Result<Answer> {
    let mut seen: BTreeMap<PathBuf, (Stamp, State)> = BTreeMap::new();
    loop {
        let mut added = false;
        for path in files(folder)? {
            let origin = Origin::File(path.clone());
            // What is gone again by now is looked at no more.
            let Ok(stamp) = origin.stamp() else { continue };
            match seen.get(&path) {
                Some((last, State::Done)) if *last == stamp => {}
                Some((last, State::Refused(at))) if *last == stamp && at.elapsed() < AGAIN => {}
                Some((last, state)) if *last == stamp => {
                    let state = match add::table(args, global, store, &origin) {
                        Ok(()) => {
                            added = true;
                            State::Done
                        }
                        Err(error) => {
                            let passing = error
                                .downcast_ref::<triview_store::Error>()
                                .is_some_and(|error| error.may_pass());
                            if !(passing && matches!(state, State::Refused(_))) {
                                let then = if passing {
                                    "it is tried again"
                                } else {
                                    "it is left out until it changes"
                                };
                                say(&format!("error: {}; {then}", in_words(&error, global.front)));
                            }
                            if passing { State::Refused(Instant::now()) } else { State::Done }
                        }
                    };
                    seen.insert(path, (stamp, state));
                }
                _ => {
                    seen.insert(path, (stamp, State::Whole));
                }
            }
        }
        if added {
            let answer = show::show(args, global, store)?;
            if !global.quiet {
                answer.print()?;
            }
        }
        triview::interrupt::check();
        thread::sleep(EVERY);
    }
}

/// The tables of a folder, by their names; what begins with a dot is somebody's who is not done.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = || format!("cannot read the folder `{}`", folder.display());
    let mut found = Vec::new();
    for entry in folder.read_dir().with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        if !hidden && path.is_file() && ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
