//! What is drawn of an answer: the page, and its first picture alone.

use crate::output;
use crate::progress::Progress;
use anyhow::Result;
use clap::Args;
use std::path::{Path, PathBuf};
use triview_report::html::Page;

/// Where to draw an answer.
#[derive(Debug, Args)]
pub(crate) struct PictureArgs {
    /// Also write a page to look at, in one HTML file
    ///
    /// It needs neither script nor network, follows light and dark, and prints.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Also draw the page's first picture by itself, as SVG
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) svg: Option<PathBuf>,
}

impl PictureArgs {
    /// Refuses what cannot be written, before hours are spent, and what would overwrite another file of the same command.
    pub(crate) fn check<'a>(&'a self, others: impl IntoIterator<Item = &'a Path>) -> Result<()> {
        let mut taken: Vec<&Path> = others.into_iter().collect();
        for path in [&self.report, &self.svg].into_iter().flatten() {
            output::check(path, taken.iter().copied())?;
            taken.push(path);
        }
        Ok(())
    }

    /// Draws the first picture where it is asked for.
    pub(crate) fn draw(&self, page: &Page, progress: &Progress) -> Result<()> {
        match (&self.svg, page.picture()) {
            (Some(path), Some(picture)) => output::write_text(path, &picture.svg()),
            (Some(path), None) => {
                progress.note(&format!("there is nothing to draw in `{}`", path.display()));
                Ok(())
            }
            (None, _) => Ok(()),
        }
    }
}
