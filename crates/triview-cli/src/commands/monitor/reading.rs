//! How the tables of a store are read: said with the first, and remembered.

use crate::args::{By, InputKind, TableArgs};
use crate::inputs::read_like;
use crate::monitor_args::MonitorArgs;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use triview::Plan;
use triview_store::Store;
use triview_table::{Keep, Origin, ReadOptions, Table};

/// How the tables of a store are read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Reading {
    pub(super) time: String,
    pub(super) period: String,
    pub(super) by: Option<String>,
    label: Option<String>,
    columns: Option<String>,
    probabilities: Option<bool>,
    cluster: Option<String>,
}

impl Reading {
    /// What it is remembered under.
    pub(super) const NAME: &str = "reading";

    /// That of a store; nothing where nothing has been added yet.
    pub(super) fn of(store: &Store) -> Result<Option<Self>> {
        let found = store.setting(Self::NAME)?;
        found
            .map(|bytes| {
                serde_json::from_slice(&bytes).context("the store is damaged: how its tables are read")
            })
            .transpose()
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(serde_json::to_vec(self)?)
    }

    /// What is said now, and otherwise what is remembered.
    pub(super) fn settled(args: &MonitorArgs, remembered: Option<Self>) -> Result<Self> {
        let TableArgs { columns, input, cluster, .. } = &args.table;
        let said = |name: &str, given: &Option<String>, known: Option<&String>| match (given, known) {
            (Some(given), Some(known)) if given != known => {
                bail!(
                    "the store has {name} `{known}`, and `{given}` is given: a store has one; begin a new one for another"
                )
            }
            (Some(one), _) | (None, Some(one)) => Ok(Some(one.clone())),
            (None, None) => Ok(None),
        };
        let known = remembered.as_ref();
        let period = args.period.map(|period| period.to_string());
        let time = said("the times in column", &args.time, known.map(|known| &known.time))?;
        let period = said("the period", &period, known.map(|known| &known.period))?;
        let by = said("segments by column", &args.by, known.and_then(|known| known.by.as_ref()))?;
        if let (Some(by), Some(Self { by: None, .. })) = (&by, known) {
            bail!("the store has no segments, and --by {by} is given: begin a new one with it");
        }
        let or_known = |given: Option<String>, known: fn(&Self) -> Option<String>| {
            given.or_else(|| remembered.as_ref().and_then(known))
        };
        Ok(Self {
            time: time.context("which column has the times? Say --time COLUMN with the first table")?,
            period: period.context(
                "what are the periods? Say --period hour, day, week, month or a number with the first table",
            )?,
            by,
            label: or_known(args.label.clone(), |known| known.label.clone()),
            columns: or_known(columns.as_ref().map(ToString::to_string), |known| known.columns.clone()),
            probabilities: input
                .map(|input| input == InputKind::Probability)
                .or_else(|| remembered.as_ref().and_then(|known| known.probabilities)),
            cluster: or_known(cluster.clone(), |known| known.cluster.clone()),
        })
    }

    /// Whether rows are put into the same periods and segments.
    pub(super) fn same_periods(&self, other: &Self) -> bool {
        (&self.time, &self.period, &self.by) == (&other.time, &other.period, &other.by)
    }

    pub(super) fn in_words(&self) -> String {
        let by = self.by.as_ref().map_or(String::new(), |by| format!(" by `{by}`"));
        format!("periods of a {} in `{}`{by}", self.period, self.time)
    }

    /// Opens a table whose rows have periods; with a plan, its views and classes are looked for.
    pub(super) fn open(&self, args: &MonitorArgs, origin: &Origin, plan: Option<&Plan>) -> Result<Table> {
        let mut options = self.options(args)?;
        if let Some(plan) = plan {
            read_like(&mut options, plan.schema());
        }
        Ok(Table::of(std::slice::from_ref(origin), &options)?)
    }

    /// Opens it for a first look, to which times and segments are nothing.
    pub(super) fn open_scores(&self, args: &MonitorArgs, origin: &Origin) -> Result<Table> {
        let options = ReadOptions { segment: None, period: None, keep: Keep::Nothing, ..self.options(args)? };
        Ok(Table::of(std::slice::from_ref(origin), &options)?)
    }

    fn options(&self, args: &MonitorArgs) -> Result<ReadOptions> {
        let period = super::period_of(self)?;
        let mut options: ReadOptions =
            args.table.read_options(Some(By { column: &self.time, period: Some(period) }));
        if let Some(columns) = &self.columns {
            options.columns = Some(
                columns.parse().map_err(|_| anyhow::anyhow!("the store's pattern `{columns}` is none"))?,
            );
        }
        options.input = match (self.probabilities, options.input) {
            (Some(true), _) => triview_table::Input::Probability,
            (Some(false), _) => triview_table::Input::Score,
            (None, said) => said,
        };
        options.cluster.clone_from(&self.cluster);
        options.label.clone_from(&self.label);
        options.keep = self.by.clone().map_or(Keep::Nothing, |by| Keep::Named(vec![by]));
        Ok(options)
    }

    /// Refuses labels that no column is named for.
    pub(super) fn expect_labels(&self) -> Result<()> {
        match self.label {
            Some(_) => Ok(()),
            None => bail!("which column has the classes? Say --label COLUMN"),
        }
    }
}
