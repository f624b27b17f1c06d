//! Writing files whole or not at all.

use super::disk::{self, Sink};
use crate::error::Error;
use crate::temporary::Named;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a file is written through.
pub type Output = BufWriter<Sink>;

/// How the names of temporary files begin and end.
const BEGIN: &str = ".triview-";
const END: &str = ".tmp";
/// A temporary file that nobody holds is stale once it is so old: before, it may be about to be held.
const STALE: Duration = Duration::from_secs(60);
/// Names of a folder that are looked at for stale files.
const LOOKED_AT: usize = 10_000;
/// Links that lead to links.
const LINKS: usize = 40;

/// Writes a file through `write`, beside the target first and then renamed over it: when anything fails, what
/// was there before is still there, and nothing half-written is. The bytes are on the disk before the name is, so that the same holds
/// where the power fails.
///
/// A target that is a link stays one: what it leads to is written, whether or not it is there yet. A target that is no regular file (a
/// pipe, a device) is written to directly. Until it is complete the file has no name, where the system has such files: then nothing is
/// left of it however the program ends. What other programs left that were ended is removed.
///
/// # Errors
/// [`Error::Write`] when the system refuses, [`Error::NotKept`] when it does so after the file is in its place, or whatever `write` fails with.
pub fn replace<T, E: From<Error>>(
    path: &Path,
    write: impl FnOnce(&mut Output) -> Result<T, E>,
) -> Result<T, E> {
    let refuse = |source| Error::Write { path: path.into(), source };
    let metadata = fs::metadata(path).ok();
    if metadata.as_ref().is_some_and(Metadata::is_dir) {
        return Err(refuse(io::ErrorKind::IsADirectory.into()).into());
    }
    if metadata.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        let file = OpenOptions::new().write(true).open(path).map_err(refuse)?;
        let mut output = BufWriter::new(Sink::new(file));
        let done = write(&mut output)?;
        output.flush().map_err(refuse)?;
        return Ok(done);
    }
    let target = followed(path).map_err(refuse)?;
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    remove_stale(folder);
    let temporary = Temporary::new(folder, metadata.as_ref()).map_err(refuse)?;
    let sink = Sink::new(temporary.file.try_clone().map_err(refuse)?);
    let mut output = BufWriter::with_capacity(1 << 16, sink);
    let done = write(&mut output)?;
    output.flush().map_err(refuse)?;
    output.get_ref().sync().map_err(refuse)?;
    temporary.put(&target).map_err(refuse)?;
    disk::sync_folder(folder).map_err(|source| Error::NotKept { path: path.into(), source })?;
    Ok(done)
}

/// Where links lead to.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        if !fs::symlink_metadata(&target).is_ok_and(|metadata| metadata.is_symlink()) {
            return Ok(target);
        }
        let link = fs::read_link(&target)?;
        target = target.parent().unwrap_or(Path::new("")).join(link);
    }
    Err(io::Error::other("links that lead to each other"))
}

/// A file that is not complete yet. It is locked, by which others know that somebody writes it.
struct Temporary {
    file: File,
    /// The name that it has, or will have for a moment.
    path: PathBuf,
    /// Whether it has the name.
    exists: bool,
    _named: Named,
}

impl Temporary {
    fn new(folder: &Path, like: Option<&Metadata>) -> io::Result<Self> {
        // Hashers begin at random.
        let number = RandomState::new().hash_one(std::process::id());
        let path = folder.join(format!("{BEGIN}{number:016x}{END}"));
        let named = Named::new(&path);
        let (file, exists) = disk::make(|| match unnamed(folder) {
            Some(file) => Ok((file, false)),
            None => OpenOptions::new().write(true).create_new(true).open(&path).map(|file| (file, true)),
        })?;
        // Not every system has locks.
        let _ = file.lock();
        let temporary = Self { file, path, exists, _named: named };
        if let Some(like) = like {
            temporary.file.set_permissions(like.permissions())?;
        }
        Ok(temporary)
    }

    /// Puts it into its place.
    fn put(mut self, target: &Path) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if !self.exists {
            disk::name(&self.file, &self.path)?;
            self.exists = true;
        }
        disk::rename(&self.path, target)?;
        self.exists = false;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.exists {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A file of a folder that has no name, where the system has such files and can name them later.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let flags = i32::try_from(OFlags::TMPFILE.bits()).ok()?;
    let file = OpenOptions::new().write(true).custom_flags(flags).mode(0o666).open(folder).ok()?;
    Path::new("/proc/self/fd").exists().then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_folder: &Path) -> Option<File> {
    None
}

/// Removes temporary files of programs that were ended before they could do it themselves.
fn remove_stale(folder: &Path) {
    let is_temporary = |name: &OsStr| {
        let number = name.to_str().and_then(|name| name.strip_prefix(BEGIN)?.strip_suffix(END));
        number.is_some_and(|number| number.len() == 16 && number.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.take(LOOKED_AT).flatten().filter(|entry| is_temporary(&entry.file_name())) {
        let old = entry.metadata().is_ok_and(|metadata| {
            let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
            metadata.is_file() && age.is_some_and(|age| age > STALE)
        });
        // Whoever writes it holds a lock.
        if old && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::disk::{Step, faults};
    use super::*;
    use std::time::SystemTime;

    fn write(path: &Path, text: &str) -> Result<(), Error> {
        replace(path, |output| {
            // More than the buffer holds: several writes.
            let failed = |source| Error::Write { path: path.into(), source };
            (0..5).try_for_each(|_| output.write_all(text.repeat(20_000).as_bytes())).map_err(failed)
        })
    }

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).expect("a folder").flatten();
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_step_that_fails_leaves_what_was_there_or_all_that_is_new() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("target");
        let [old, new] = ["old", "new"].map(|text| text.repeat(100_000).into_bytes());
        faults::plan(None, false);
        write(&path, "new").expect("nothing fails");
        let steps = faults::taken();
        assert!(steps.len() > 8 && steps.iter().filter(|step| **step == Step::Write).count() >= 5);
        // With the power gone after any step, the name is never there before the bytes, and is there once all is done.
        let place = |step: Step| steps.iter().rposition(|taken| *taken == step);
        assert!(place(Step::Write) < place(Step::Sync) && place(Step::Sync) < place(Step::Rename));
        assert!(place(Step::Rename) < place(Step::SyncFolder));
        for fails in 0..steps.len() {
            for (for_good, before) in [(false, Some(&old)), (true, Some(&old)), (false, None)] {
                let _ = fs::remove_file(&path);
                if let Some(old) = before {
                    fs::write(&path, old).expect("room");
                }
                faults::plan(Some(fails), for_good);
                let written = write(&path, "new");
                faults::plan(None, false);
                assert!(written.is_err(), "step {fails} fails, and nobody says so");
                let found = fs::read(&path).ok();
                let whole = found.as_ref() == before || found.as_ref() == Some(&new);
                assert!(whole, "step {fails}, {:?}, leaves half", steps[fails]);
                let last = steps[fails] == Step::SyncFolder;
                // Whoever reads the message knows which of the two is there.
                let says = written.map_or_else(|error| error.to_string(), |()| String::new());
                assert_eq!(says.contains("in its place"), last, "{says}");
                assert_eq!(says.contains("still there"), !last, "{says}");
                assert_eq!(found.as_ref() == Some(&new), last, "step {fails}, {:?}", steps[fails]);
                let left = names(folder.path());
                assert!(left.iter().all(|name| name == "target"), "step {fails} leaves {left:?}");
            }
        }
    }

    #[test]
    fn stale_files_of_others_are_removed_and_no_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let put = |name: &str, age: u64| {
            let file = File::create(folder.path().join(name)).expect("a file");
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).expect("a time");
            file
        };
        put(".triview-0123456789abcdef.tmp", 1000);
        put(".triview-0000000000000000.tmp", 1);
        put(".triview-settings", 1000);
        let written = put(".triview-1111111111111111.tmp", 1000);
        written.lock().expect("locks");
        write(&folder.path().join("target"), "new").expect("room");
        let mut left = names(folder.path());
        left.sort();
        let kept =
            [".triview-0000000000000000.tmp", ".triview-1111111111111111.tmp", ".triview-settings", "target"];
        assert_eq!(left, kept);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_whether_or_not_it_leads_to_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("target", &link).expect("a link");
        for text in ["new", "newer"] {
            write(&link, text).expect("room");
            assert!(fs::symlink_metadata(&link).is_ok_and(|link| link.is_symlink()));
            let found = fs::read_to_string(folder.path().join("target")).expect("what it leads to");
            assert!(found.starts_with(text));
        }
        std::os::unix::fs::symlink("round", folder.path().join("round")).expect("a link");
        assert!(write(&folder.path().join("round"), "new").is_err());
    }
}
