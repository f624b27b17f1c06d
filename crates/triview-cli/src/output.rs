//! Files that a command writes.

use anyhow::{Context, Result, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use triview_table::{Origin, replace};

/// Refuses an output that cannot be written, before hours are spent on what should go there, and one that would
/// overwrite another file of the same command.
pub(crate) fn check<'a>(path: &Path, others: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    if path.is_dir() {
        bail!("cannot write `{}`: it is a folder; name a file in it", path.display());
    }
    if path == Path::new("-") {
        bail!("`-` would be a file of that name; write `./-` if that is meant, or name another");
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_device = path.exists() && !path.is_file();
    if !is_device {
        tempfile::tempfile_in(folder).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    let real = real(path);
    if others.into_iter().any(|other| self::real(other) == real) {
        bail!(
            "`{}` is needed for something else and would be overwritten; choose another output",
            path.display()
        );
    }
    Ok(())
}

/// Those of some tables that are files.
pub(crate) fn files<'a>(origins: impl IntoIterator<Item = &'a Origin>) -> Vec<&'a Path> {
    origins.into_iter().filter_map(Origin::path).collect()
}

/// Where a path leads, whether or not there is a file yet.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    })
}

/// Writes a text file, whole or not at all.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<()> {
    replace(path, |file| file.write_all(text.as_bytes()).context("cannot write it"))
        .with_context(|| format!("cannot write `{}`", path.display()))
}
