//! `triview monitor`: the risk over time, from a store.

mod add;
mod follow;
mod reading;
mod show;

use crate::answer::Answer;
use crate::args::Global;
use crate::monitor_args::MonitorArgs;
use crate::output;
use crate::progress::Progress;
use anyhow::{Context, Result, bail};
use indicatif::HumanCount;
use reading::Reading;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use triview_store::{Part, Place, Store};
use triview_table::{Origin, Period, Temporary, in_time, moments};

/// Adds what is given, then shows the store.
pub(crate) fn run(args: &MonitorArgs, global: &Global) -> Result<Answer> {
    let path = args.store.path().context("a store is a file")?;
    let mut taken = vec![path];
    taken.extend(output::files(args.add.iter().chain(&args.labels)));
    taken.extend(args.merge.iter().map(PathBuf::as_path));
    for output in [&args.csv, &args.prometheus, &args.export, &args.save_plan].into_iter().flatten() {
        output::check(output, taken.iter().copied())?;
        taken.push(output);
    }
    args.pictures.check(taken)?;
    if let Some(loss) = args.method.estimator(global)?.whole() {
        bail!(
            "--loss {} is of the whole prediction; a store shows the error rate beside any other loss",
            loss.name()
        );
    }
    if let Some(folder) = args.export.iter().find(|export| export.exists()) {
        bail!("`{}` is there already, and a copy goes to a new file", folder.display());
    }
    let like = args.like.as_deref().map(Step::Like);
    let tables = args.add.iter().map(Step::Add);
    let stores = args.merge.iter().map(|path| Step::Merge(path));
    let steps: Vec<Step<'_>> = like.into_iter().chain(tables).chain(stores).collect();
    let mut steps = steps.into_iter();
    let mut store = match path.exists() {
        // An empty file is one too, which has nothing in it yet.
        true if args.follow.is_some() || steps.len() > 0 => Store::open_or_create(path)?,
        true => Store::open(path)?,
        false => match steps.next() {
            Some(first) => created(path, |store| first.take(args, global, store))?,
            None if args.follow.is_some() => Store::open_or_create(path)?,
            None => Store::open(path)?,
        },
    };
    for step in steps {
        step.take(args, global, &mut store)?;
    }
    for origin in &args.labels {
        add::labels(args, global, &mut store, origin)?;
    }
    if let Some(folder) = &args.follow {
        return follow::folder(args, global, &mut store, folder);
    }
    let shown = show::show(args, global, &mut store)?;
    if let Some(keep) = args.keep_last {
        let_go(&mut store, keep as usize, &show::made_by(args, global), &Progress::new(global))?;
    }
    if let Some(to) = &args.export {
        store.export(to)?;
    }
    if let (Some(to), Some(plan)) = (&args.save_plan, store.plan()?) {
        moments::write_plan(to, &plan)?;
    }
    Ok(shown)
}

/// What is added to a store, one transaction each.
enum Step<'a> {
    Like(&'a Path),
    Add(&'a Origin),
    Merge(&'a Path),
}

impl Step<'_> {
    fn take(&self, args: &MonitorArgs, global: &Global, store: &mut Store) -> Result<()> {
        match self {
            Step::Like(other) => begin_like(store, &Store::open(other)?, other),
            Step::Add(origin) => add::table(args, global, store, origin),
            Step::Merge(other) => merge(args, global, store, other),
        }
    }
}

/// A store that is there once the first is added to it, and not before. Where another process was faster, it is added to that one's.
fn created(path: &Path, first: impl Fn(&mut Store) -> Result<()>) -> Result<Store> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".triview-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let begun = builder.tempfile_in(folder).with_context(|| format!("cannot write `{}`", path.display()))?;
    // Neither it nor its journal is left by a program that is told to end.
    let journal = PathBuf::from(format!("{}-journal", begun.path().display()));
    let _named = [Temporary::new(begun.path()), Temporary::new(&journal)];
    first(&mut Store::open_or_create(begun.path())?.called(path))?;
    match begun.persist_noclobber(path) {
        Ok(_) => Ok(Store::open(path)?),
        Err(refused) if refused.error.kind() == std::io::ErrorKind::AlreadyExists => {
            let mut store = Store::open(path)?;
            first(&mut store)?;
            Ok(store)
        }
        Err(refused) => Err(refused.error).with_context(|| format!("cannot write `{}`", path.display())),
    }
}

/// Seconds since 1970.
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

/// Gives an empty store the plan and the columns of another.
fn begin_like(store: &mut Store, other: &Store, named: &Path) -> Result<()> {
    let nothing = || format!("nothing has been added to `{}` yet", named.display());
    let (plan, reading) = (other.plan()?.with_context(nothing)?, Reading::of(other)?.with_context(nothing)?);
    match (store.plan()?, Reading::of(store)?) {
        (None, _) => {
            let mut adding = store.begin()?;
            adding.set_plan(&plan)?;
            adding.set(Reading::NAME, &reading.to_bytes()?)?;
            Ok(adding.commit()?)
        }
        (Some(own), Some(read)) if own == plan && read.same_periods(&reading) => Ok(()),
        _ => bail!(
            "this store has a plan of its own already, which is not that of `{}`: begin with a new file",
            named.display()
        ),
    }
}

/// Adds what another store holds: all of it, or nothing where all of it is known.
fn merge(args: &MonitorArgs, global: &Global, store: &mut Store, path: &Path) -> Result<()> {
    let progress = Progress::new(global);
    if args.store.path().is_some_and(|own| own.canonicalize().ok() == path.canonicalize().ok()) {
        bail!("`{}` is this store itself", path.display());
    }
    let other = Store::open(path)?;
    let nothing = || format!("nothing has been added to `{}` yet", path.display());
    let reading = Reading::of(&other)?.with_context(nothing)?;
    let plan = other.plan()?.with_context(nothing)?;
    match Reading::of(store)? {
        Some(own) if !own.same_periods(&reading) => {
            bail!("`{}` has {}, and this store {}", path.display(), reading.in_words(), own.in_words())
        }
        _ => {}
    }
    if store.plan()?.is_some_and(|own| own != plan) {
        bail!(
            "`{}` was begun with a plan of its own, and moments of different plans do not add up: begin stores that are to be merged \
             with --like one of them",
            path.display()
        );
    }
    let files = other.files()?;
    let mut adding = store.begin()?;
    let known: Vec<bool> =
        files.iter().map(|file| Ok(adding.known(&file.digest)?.is_some())).collect::<Result<_>>()?;
    match known.iter().filter(|known| **known).count() {
        0 => {}
        all if all == files.len() => {
            progress.note(&format!("all of `{}` is known already: nothing was added", path.display()));
            return Ok(());
        }
        _ => {
            let twice =
                files.iter().zip(&known).find(|(_, known)| **known).map_or("", |(file, _)| &file.name);
            bail!(
                "`{twice}` is in this store and in `{}`, and would count twice: nothing was added",
                path.display()
            );
        }
    }
    if adding.store().plan()?.is_none() {
        adding.set_plan(&plan)?;
        adding.set(Reading::NAME, &reading.to_bytes()?)?;
    }
    for (place, _) in other.places()? {
        let part = other.part(&place)?.with_context(|| {
            format!(
                "`{}` has let go of the rows of {}, which cannot be added any more",
                path.display(),
                place.period
            )
        })?;
        adding.add(&place, part)?;
    }
    for file in &files {
        adding.add_file(file)?;
    }
    adding.commit()?;
    progress.note(&format!("{} files of `{}` added", HumanCount(files.len() as u64), path.display()));
    Ok(())
}

/// Lets go of the moments and rows of all but the last periods, whose answers have been kept.
fn let_go(store: &mut Store, keep: usize, made_by: &str, progress: &Progress) -> Result<()> {
    let places = store.places()?;
    let mut periods: Vec<&str> = places.iter().map(|(place, _)| place.period.as_str()).collect();
    periods.sort_by(|a, b| in_time(a, b));
    periods.dedup();
    let old = &periods[..periods.len().saturating_sub(keep)];
    let mut adding = store.begin()?;
    let mut gone = BTreeSet::new();
    for (place, _) in places.iter().filter(|(place, _)| old.contains(&place.period.as_str())) {
        // What others have added to meanwhile has no answer, and stays.
        if adding.let_go(place, made_by)? {
            gone.insert(&place.period);
        }
    }
    adding.commit()?;
    if !gone.is_empty() {
        progress.note(&format!(
            "let go of the rows of {} periods; their answers stay",
            HumanCount(gone.len() as u64)
        ));
    }
    Ok(())
}

/// What a store's rows are in.
fn period_of(reading: &Reading) -> Result<Period> {
    reading
        .period
        .parse()
        .map_err(|_| anyhow::anyhow!("the store's period `{}` is none that is known", reading.period))
}

/// Nothing but what a place and its sums are.
type Parts = Vec<(Place, Part)>;
