//! Writing files whole or not at all.

use crate::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::Builder;

/// Writes a file through `write`, beside the target first and then renamed over it: when anything fails, what
/// was there before is still there, and nothing half-written is.
///
/// A target that is no regular file (a pipe, a device) is written to directly.
///
/// # Errors
/// [`Error::Write`] when the system refuses, or whatever `write` fails with.
pub fn replace<T, E: From<Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>,
) -> Result<T, E> {
    let refuse = |source| Error::Write { path: path.into(), source };
    let metadata = fs::metadata(path).ok();
    if metadata.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(refuse(io::ErrorKind::IsADirectory.into()).into());
    }
    if metadata.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        let file = OpenOptions::new().write(true).open(path).map_err(refuse)?;
        let mut output = BufWriter::new(file);
        let done = write(&mut output)?;
        output.flush().map_err(refuse)?;
        return Ok(done);
    }
    // A link stays a link: what it points to is replaced.
    let target =
        if metadata.is_some() { fs::canonicalize(path).map_err(refuse)? } else { PathBuf::from(path) };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = Builder::new();
    builder.prefix(".triview-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Temporary files are private by default; this one becomes an ordinary file, or like the one it replaces.
        let ordinary = || fs::Permissions::from_mode(0o666);
        builder.permissions(metadata.as_ref().map_or_else(ordinary, fs::Metadata::permissions));
    }
    let temporary = builder.tempfile_in(folder).map_err(refuse)?;
    let mut output = BufWriter::with_capacity(1 << 16, temporary.reopen().map_err(refuse)?);
    let done = write(&mut output)?;
    output.flush().map_err(refuse)?;
    temporary.persist(&target).map_err(|error| refuse(error.error))?;
    Ok(done)
}
