//! What can be asked of a store.

use crate::args::{MORE, MethodArgs, TableArgs};
use crate::picture_args::PictureArgs;
use clap::Args;
use std::path::PathBuf;
use triview::monitoring::Limit;
use triview_table::{Origin, Period};

/// Watch the risk over time: add tables, show, alert
#[derive(Debug, Args)]
#[command(long_about = "Watch the risk over time: add tables, show, alert.\n\n\
    The store is one file. Rows are put into periods by a column of times, and what is left of them is small: moments, and some rows a \
    period. Each period is answered by itself and held against what is normal, the baseline. How the first table is read (columns, views, \
    time, period, segments) is remembered, so that later ones need only --add. A file is known by its content and never added twice; it is \
    added whole or not at all, whatever happens meanwhile.\n\n\
    Whether the model has become worse is said by a test that may be looked at every day: it raises a false alarm in at most 5% of all \
    series in which nothing changes, over all time. Exit status 1 when a --limit is passed in the last complete period, or that period is \
    not to be trusted.")]
#[command(after_help = MORE, after_long_help = "Examples:\n  \
    triview monitor model.store --add week-01.parquet --time when --period week\n  \
    triview monitor model.store --add week-*.parquet\n  \
    triview monitor model.store\n  \
    triview monitor model.store --limit 'error_rate>0.05' --limit 'risk>baseline+3se' --quiet\n  \
    triview monitor models.store --add week-*.parquet --time when --period week --each --limit image:worse\n  \
    triview monitor model.store --limit worse --report model.html --prometheus model.prom\n  \
    triview monitor model.store --labels labelled.csv --label truth\n  \
    triview monitor model.store --follow incoming/ --prometheus model.prom\n\n\
    Several machines, whose stores add up:\n  \
    triview monitor north.store --like model.store --add north.parquet\n  \
    triview monitor model.store --merge north.store")]
pub(crate) struct MonitorArgs {
    /// The store: one file, made by the first table that is added
    #[arg(value_name = "STORE")]
    pub(crate) store: Origin,
    /// Tables to put into their periods, or moments (with --into)
    #[arg(long, value_name = "TABLE", num_args = 1..)]
    pub(crate) add: Vec<Origin>,
    /// The column of times, or of numbers, that says which period a row is in
    #[arg(long, value_name = "COLUMN")]
    pub(crate) time: Option<String>,
    /// hour, day, week, month, or so many units of a column of numbers
    #[arg(long, value_name = "PERIOD")]
    pub(crate) period: Option<Period>,
    /// Also watch each value of this column by itself
    #[arg(long, value_name = "COLUMN")]
    pub(crate) by: Option<String>,
    /// Also watch every view as a model of its own
    #[arg(long)]
    pub(crate) each: bool,
    /// The column of the classes that are known, empty elsewhere
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Rows that were added before and whose class is known now, drawn at random: they correct their periods
    #[arg(long, value_name = "TABLE", num_args = 1.., hide_short_help = true)]
    pub(crate) labels: Vec<Origin>,
    /// The period that added moments are of
    #[arg(long, value_name = "NAME", requires = "add", hide_short_help = true)]
    pub(crate) into: Option<String>,
    /// What is normal, such as 2026-W01..2026-W08 [default: the first quarter of the periods]
    #[arg(long, value_name = "FROM..TO")]
    pub(crate) baseline: Option<String>,
    /// Exit with 1 when this is passed in the last complete period: error_rate>0.05, risk>baseline+3se, rows<1000, or worse;
    /// of a view by itself image:error_rate>0.05
    #[arg(long, value_name = "LIMIT")]
    pub(crate) limit: Vec<Limit>,
    /// Add files as they come to lie in this folder, until it is stopped
    #[arg(long, value_name = "FOLDER", hide_short_help = true)]
    pub(crate) follow: Option<PathBuf>,
    /// Let go of the moments and rows of all but the last so many periods; their answers stay
    #[arg(long, value_name = "PERIODS", value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true)]
    pub(crate) keep_last: Option<u32>,
    /// Begin with the plan and the columns of another store, so that the two can be merged
    #[arg(long, value_name = "STORE", hide_short_help = true)]
    pub(crate) like: Option<PathBuf>,
    /// Add what other stores hold
    #[arg(long, value_name = "STORE", num_args = 1.., hide_short_help = true)]
    pub(crate) merge: Vec<PathBuf>,
    /// Write a copy of the store to a new file
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) export: Option<PathBuf>,
    /// Write the plan of its moments, for `moments --posterior`
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) save_plan: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write the table of periods as CSV
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) csv: Option<PathBuf>,
    /// Also write the last complete period for Prometheus' textfile collector
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) prometheus: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pictures: PictureArgs,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) method: MethodArgs,
}
