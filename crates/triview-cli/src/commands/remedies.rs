//! `triview diagnose --remedies`: what may help, tried on all rows.

use crate::args::{Global, InputArgs, MethodArgs, TableArgs};
use crate::inputs::{in_file, refuse_moments};
use crate::progress::Progress;
use anyhow::{Result, bail};
use std::path::Path;
use std::time::{Duration, Instant};
use triview::data::{Partition, VIEWS};
use triview::estimator::Estimate;
use triview::interrupt::run_for;
use triview::latent::Latent;
use triview_report::remedies::{Remedies, Remedy};
use triview_table::Table;

/// All together take no longer than this, or so many times as long as the estimate itself.
const LIMIT: Duration = Duration::from_secs(60);
const TIMES: u32 = 30;
/// Columns that are tried for a witness.
const MOST_WITNESSES: usize = 4;
/// What columns of true classes are called: they are no witnesses but labels.
const LABELS: [&str; 7] = ["label", "labels", "truth", "true", "target", "class", "y"];

/// What is tried.
struct Way {
    options: String,
    table: TableArgs,
    method: MethodArgs,
}

/// Refuses what can be read only once.
pub(super) fn check(args: &InputArgs) -> Result<()> {
    refuse_moments(&args.inputs, "--remedies")?;
    if args.inputs.iter().any(|origin| origin.path() == Some(Path::new("-"))) {
        bail!("--remedies reads the rows several times, and standard input can be read once: give a file");
    }
    Ok(())
}

/// Tries what may help, after an estimate that took so long.
pub(super) fn try_all(
    args: &InputArgs,
    global: &Global,
    (estimate, took): (Estimate, Duration),
    progress: &Progress,
) -> Result<Remedies> {
    let ways = ways(args, &estimate)?;
    let limit = LIMIT.max(took * TIMES);
    progress.note(&format!("remedies are tried for {} seconds at the most: {}", limit.as_secs(), ways.len()));
    let (end, all) = (Instant::now() + limit, ways.len());
    let mut tried = vec![Remedy { options: String::new(), outcome: Ok(estimate) }];
    for (done, way) in ways.into_iter().enumerate() {
        progress.step("trying remedies", "remedies", done, all);
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Remedies { left: all - done, tried });
        }
        let outcome = match run_for(left, || answer(args, &way, global)) {
            Ok(outcome) => outcome.map_err(|error| format!("{error:#}")),
            Err(_) => Err(format!("not done within {} seconds of all", limit.as_secs())),
        };
        tried.push(Remedy { options: way.options, outcome });
    }
    Ok(Remedies { tried, left: 0 })
}

fn answer(args: &InputArgs, way: &Way, global: &Global) -> Result<Estimate> {
    let estimator = way.method.estimator(global)?;
    let table = Table::of(&args.inputs, &way.table.read_options(None))?;
    Ok(in_file(&table, estimator.estimate(&table))?)
}

/// What is tried, in this order: other groups, a view fewer, more latent states, a column for a witness.
fn ways(args: &InputArgs, estimate: &Estimate) -> Result<Vec<Way>> {
    let InputArgs { inputs, table, method } = args;
    let way = |options: String, change: &dyn Fn(&mut TableArgs, &mut MethodArgs)| {
        let (mut table, mut method) = (table.clone(), method.clone());
        change(&mut table, &mut method);
        Way { options, table, method }
    };
    let mut ways = Vec::new();
    for partition in partitions(estimate) {
        let groups = partition.names(&estimate.views).join(",");
        ways.push(way(format!("--group {}", typed(&groups)), &|_, method| {
            method.group = Some(groups.clone())
        }));
    }
    let scored = estimate.scored();
    let judged = |view: &String| estimate.model.as_ref().is_some_and(|model| model.contains(view));
    for left_out in scored.iter().filter(|view| estimate.views.len() > VIEWS && !judged(view)) {
        let views: Vec<String> = scored.iter().filter(|view| *view != left_out).cloned().collect();
        ways.push(way(format!("--views {}", typed(&views.join(","))), &|table, method| {
            (table.views, method.group) = (Some(views.clone()), None);
        }));
    }
    if method.latent.is_none() {
        ways.push(way("--latent auto".to_owned(), &|_, method| method.latent = Some(Latent::Auto)));
    }
    let columns = Table::of(inputs, &table.read_options(None))?;
    let is_label = |name: &str| LABELS.contains(&name.to_lowercase().as_str());
    let named = columns.ignored_columns().iter().filter(|name| !name.contains(':') && !is_label(name));
    let witnesses = named.map(|name| {
        way(format!("--witness {}", typed(name)), &|table, method| {
            table.witness.get_or_insert_default().push(name.clone());
            method.group = None;
        })
    });
    // A column that is no witness, as one with a value a row, is passed over.
    let usable = witnesses.filter(|way| Table::of(inputs, &way.table.read_options(None)).is_ok());
    ways.extend(usable.take(MOST_WITNESSES));
    Ok(ways)
}

/// Other ways to group the views: of four all of them, of more those that were compared already.
fn partitions(estimate: &Estimate) -> Vec<Partition> {
    let others = estimate.grouping.others.iter().map(|other| other.partition.clone());
    match estimate.views.len() {
        ..=VIEWS => Vec::new(),
        4 => {
            let pairs = (0..4).flat_map(|a| (a + 1..4).map(move |b| [a, b]));
            let rest =
                |pair: [usize; 2]| (0..4).filter(move |view| !pair.contains(view)).map(|view| vec![view]);
            let all = pairs.filter_map(|pair| {
                Partition::from_groups([vec![pair.to_vec()], rest(pair).collect()].concat())
            });
            all.filter(|partition| *partition != estimate.partition).collect()
        }
        _ => others.collect(),
    }
}

/// A value as it is typed in a shell.
fn typed(value: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "+,_-.:/@%=".contains(c);
    if value.chars().all(plain) { value.to_owned() } else { format!("'{}'", value.replace('\'', "'\\''")) }
}
