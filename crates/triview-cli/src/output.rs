//! Files that a command writes.

use anyhow::{Context, Result, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use triview_table::replace;

/// Refuses an output that cannot be written, before hours are spent on what should go there, and one that would
/// overwrite an input.
pub(crate) fn check(path: &Path, inputs: &[PathBuf]) -> Result<()> {
    if let Ok(real) = path.canonicalize() {
        if inputs.iter().any(|input| input.canonicalize().is_ok_and(|input| input == real)) {
            bail!("`{}` is an input and would be overwritten; choose another output", path.display());
        }
        if real.is_dir() {
            bail!("cannot write `{}`: it is a folder; name a file in it", path.display());
        }
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_device = path.exists() && !path.is_file();
    if !is_device {
        tempfile::tempfile_in(folder).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(())
}

/// Writes a text file, whole or not at all.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<()> {
    replace(path, |file| file.write_all(text.as_bytes()).context("cannot write it"))
        .with_context(|| format!("cannot write `{}`", path.display()))
}
