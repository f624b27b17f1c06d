//! Rows into their periods.

use super::reading::Reading;
use super::{Parts, now, period_of};
use crate::args::Global;
use crate::inputs::{in_file, note_changes};
use crate::monitor_args::MonitorArgs;
use crate::progress::Progress;
use anyhow::{Context, Result, bail};
use indicatif::HumanCount;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use triview::Plan;
use triview::data::{Batch, Sample};
use triview::moments::SegmentedAccumulator;
use triview::monitoring::KeptRows;
use triview_store::{Added, Digest, Part, Place, Store};
use triview_table::{Origin, Stamp, Table, moments};

/// What a row without a time is called, and one without a segment.
const MISSING: &str = "(missing)";

/// Adds a table, or moments, in one transaction; says so where its content is known already.
pub(super) fn table(args: &MonitorArgs, global: &Global, store: &mut Store, origin: &Origin) -> Result<()> {
    let progress = Progress::new(global);
    let (digest, stamp) = origin.digest()?;
    let remembered = Reading::of(store)?;
    if origin.path().is_some_and(moments::is_moments) {
        return summed(args, store, (origin, digest), &progress);
    }
    if let Some(period) = &args.into {
        bail!(
            "--into {period} is for moments, and `{origin}` is a table, whose rows have times of their own"
        );
    }
    let reading = Reading::settled(args, remembered)?;
    // The store is held from here on: where the rows of a period go depends on how many it has.
    let mut adding = store.begin()?;
    if known(&adding.known(&digest)?, origin, &progress) {
        return Ok(());
    }
    let known_plan = adding.store().plan()?;
    let table = reading.open(args, origin, known_plan.as_ref())?;
    let plan = match known_plan {
        Some(plan) => {
            expect_asked(&plan, args)?;
            plan
        }
        None => {
            let estimator = args.method.estimator_of(global, args.each)?;
            let looked_at = reading.open_scores(args, origin)?;
            let sample = Sample::of(&progress.watch(&looked_at, looked_at.rows()))?;
            progress.spin("planning");
            let plan = in_file(&looked_at, estimator.plan(&sample))?;
            adding.set_plan(&plan)?;
            plan
        }
    };
    adding.set(Reading::NAME, &reading.to_bytes()?)?;
    plan.expect(triview::data::Source::schema(&table))?;
    let present: HashMap<Place, u64> = adding.store().places()?.into_iter().collect();
    let rows_of = |place: &Place| present.get(place).copied().unwrap_or(0);
    let (parts, rows) = periods(&table, &plan, digest, &rows_of, &progress)?;
    origin.expect_unchanged(&stamp)?;
    note_changes(&table, &progress);
    let periods = parts.iter().filter(|(place, _)| place.segment.is_none()).count() as u64;
    for (place, part) in parts {
        adding.add(&place, part)?;
    }
    adding.add_file(&Added { digest, name: origin.to_string(), rows, added: now() })?;
    adding.commit()?;
    progress.note(&format!(
        "`{origin}`: {} rows added to {} period{}",
        HumanCount(rows),
        HumanCount(periods),
        if periods == 1 { "" } else { "s" }
    ));
    Ok(())
}

/// Refuses a question that a store's plan is not of.
fn expect_asked(plan: &Plan, args: &MonitorArgs) -> Result<()> {
    let (loss, known) = (args.method.loss.as_deref(), plan.loss().name());
    if let Some(loss) = loss.filter(|loss| *loss != known) {
        bail!("the store is of the {known} loss, and --loss {loss} is given: begin a new one for it");
    }
    expect_each(plan, args)?;
    let judged = plan.judged_names().unwrap_or_else(|| plan.schema().views().to_vec());
    match &args.method.model {
        Some(model) if model.iter().collect::<BTreeSet<_>>() != judged.iter().collect() => bail!(
            "the store judges {}, and --model {} is given: begin a new one for it",
            judged.join(", "),
            model.join(",")
        ),
        _ => Ok(()),
    }
}

/// Refuses to watch views by themselves in a store that does not.
pub(super) fn expect_each(plan: &Plan, args: &MonitorArgs) -> Result<()> {
    if args.each && !plan.judges_each() {
        bail!("the store does not watch each view by itself, and --each is given: begin a new one with it");
    }
    Ok(())
}

/// Whether a file has been added, and says so.
fn known(found: &Option<Added>, origin: &Origin, progress: &Progress) -> bool {
    if let Some(file) = found {
        progress.note(&format!(
            "`{origin}` was added before as `{}` ({} rows): nothing was changed",
            file.name,
            HumanCount(file.rows)
        ));
    }
    found.is_some()
}

/// Adds moments that were made elsewhere to a period.
fn summed(
    args: &MonitorArgs,
    store: &mut Store,
    (origin, digest): (&Origin, Digest),
    progress: &Progress,
) -> Result<()> {
    let path = origin.path().context("moments are a file")?;
    let period = args.into.as_ref().with_context(|| {
        format!(
            "`{origin}` holds moments, which do not know their times: say --into PERIOD, such as 2026-W05"
        )
    })?;
    let mut adding = store.begin()?;
    if adding.store().plan()?.is_none() {
        bail!(
            "the store has no plan yet, which moments have to be of: add a table first, then make them with `moments --posterior` \
               and what `monitor --save-plan` writes"
        );
    }
    if known(&adding.known(&digest)?, origin, progress) {
        return Ok(());
    }
    let periods = Reading::of(adding.store())?.map(|reading| period_of(&reading)).transpose()?;
    if let Some(periods) = periods.filter(|periods| !periods.has(period)) {
        bail!(
            "--into {period}: the store has periods of a {periods}, and this is the name of none; say one such as {}",
            periods.such_as()
        );
    }
    let moments = moments::read(path)?;
    let rows = moments.rows();
    let part = Part { moments, kept: KeptRows::default(), labelled: KeptRows::default() };
    if adding.store().plan()?.is_some_and(|plan| plan != *part.moments.plan()) {
        bail!(
            "`{origin}` is not of the store's plan: make it with `moments --posterior` and what `monitor --save-plan` writes"
        );
    }
    adding.add(&Place::whole(period), part)?;
    adding.add_file(&Added { digest, name: origin.to_string(), rows, added: now() })?;
    adding.commit()?;
    progress.note(&format!("`{origin}`: {} rows added to {period}", HumanCount(rows)));
    Ok(())
}

/// The sums of each period and segment, and the number of all rows.
fn periods(
    table: &Table,
    plan: &Plan,
    digest: Digest,
    present: &dyn Fn(&Place) -> u64,
    progress: &Progress,
) -> Result<(Parts, u64)> {
    let mut sums = Sums::new(plan, digest)?;
    progress.count("adding", table.rows());
    for read in table.keeping()? {
        let (batch, kept) = read?;
        progress.advance(batch.rows());
        sums.update(table, &batch, kept.first().map(Vec::as_slice), present)?;
    }
    if sums.rows == 0 {
        bail!("`{}` has no rows", table.file_of(0).0.display());
    }
    let rows = sums.rows;
    Ok((sums.finish()?, rows))
}

/// What is summed while a table is read.
struct Sums {
    file: u64,
    rows: u64,
    whole: SegmentedAccumulator,
    by: SegmentedAccumulator,
    places: BTreeMap<u64, Place>,
    kept: BTreeMap<u64, [KeptRows; 2]>,
}

impl Sums {
    fn new(plan: &Plan, digest: Digest) -> Result<Self> {
        let (file, _) = digest.split_first_chunk::<8>().context("a digest has sixteen bytes")?;
        Ok(Self {
            file: u64::from_le_bytes(*file),
            rows: 0,
            whole: SegmentedAccumulator::apart(plan.clone())?,
            by: SegmentedAccumulator::apart(plan.clone())?,
            places: BTreeMap::new(),
            kept: BTreeMap::new(),
        })
    }

    fn update(
        &mut self,
        table: &Table,
        batch: &Batch,
        by: Option<&[Option<String>]>,
        present: &dyn Fn(&Place) -> u64,
    ) -> Result<()> {
        let Some(keys) = batch.segments() else { return Ok(()) };
        let mut last = None;
        for (row, &key) in keys.iter().enumerate() {
            if last.replace(key) == Some(key) || self.whole.has(key) {
                continue;
            }
            let period = table.segment_name(key).context("a period has no name")?;
            if period == MISSING {
                let (file, row) = table.file_of(self.rows + row as u64);
                bail!(
                    "`{}`, row {}: the column of times is empty, so the row is in no period; fill it in or remove the row",
                    file.display(),
                    row + 1
                );
            }
            let place = Place::whole(&period);
            self.whole.begin(key, present(&place))?;
            self.places.insert(key, place);
        }
        in_file(table, self.whole.update(batch))?;
        self.keep(batch, keys);
        if let Some(texts) = by {
            let combined = self.segments(keys, texts, present)?;
            let segmented = batch.clone().with_segments(combined.clone())?;
            in_file(table, self.by.update(&segmented))?;
            self.keep(batch, &combined);
        }
        self.rows += batch.rows() as u64;
        Ok(())
    }

    /// The key of each row's period and segment together.
    fn segments(
        &mut self,
        periods: &[u64],
        texts: &[Option<String>],
        present: &dyn Fn(&Place) -> u64,
    ) -> Result<Vec<u64>> {
        let mut combined = Vec::with_capacity(periods.len());
        for (period, text) in periods.iter().zip(texts) {
            let segment = text.as_deref().unwrap_or(MISSING);
            let mut hasher = DefaultHasher::new();
            (period, segment).hash(&mut hasher);
            let key = hasher.finish();
            if !self.by.has(key) {
                let place = Place { segment: Some(segment.to_owned()), ..self.places[period].clone() };
                self.by.begin(key, present(&place))?;
                self.places.insert(key, place);
            }
            combined.push(key);
        }
        Ok(combined)
    }

    /// Keeps some rows of each place, and those with labels.
    fn keep(&mut self, batch: &Batch, keys: &[u64]) {
        let mut rows: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let mut from = 0;
        for run in keys.chunk_by(|a, b| a == b) {
            rows.entry(run[0]).or_default().extend(from..from + run.len());
            from += run.len();
        }
        for (key, rows) in rows {
            let [kept, labelled] = self.kept.entry(key).or_default();
            let placed = |row: &usize| (*row, self.rows + *row as u64);
            kept.offer(batch, self.file, rows.iter().map(placed));
            labelled.offer(
                batch,
                self.file,
                rows.iter().filter(|row| batch.label(**row).is_some()).map(placed),
            );
        }
    }

    fn finish(mut self) -> Result<Parts> {
        let sums = self.whole.finish_apart()?.into_iter().chain(self.by.finish_apart()?);
        let mut parts = Parts::new();
        for (key, moments) in sums {
            let [kept, labelled] = self.kept.remove(&key).unwrap_or_default();
            let place = self.places.remove(&key).context("a period has no name")?;
            parts.push((place, Part { moments, kept, labelled }));
        }
        Ok(parts)
    }
}

/// Remembers the classes of rows that were added before.
pub(super) fn labels(args: &MonitorArgs, global: &Global, store: &mut Store, origin: &Origin) -> Result<()> {
    let progress = Progress::new(global);
    let (digest, stamp): (Digest, Stamp) = origin.digest()?;
    let reading = Reading::settled(args, Reading::of(store)?)?;
    reading.expect_labels()?;
    let mut adding = store.begin()?;
    if known(&adding.known(&digest)?, origin, &progress) {
        return Ok(());
    }
    let plan = adding
        .store()
        .plan()?
        .context("nothing has been added to this store yet: labels are of rows that were")?;
    let table = reading.open(args, origin, Some(&plan))?;
    let (parts, _) = periods(&table, &plan, digest, &|_| 0, &progress)?;
    origin.expect_unchanged(&stamp)?;
    let there: HashMap<Place, u64> = adding.store().places()?.into_iter().collect();
    let mut count = 0;
    for (place, part) in parts {
        if !there.contains_key(&place) {
            bail!(
                "`{origin}` has labels of {}, of which the store has no rows: add the rows first",
                place.period
            );
        }
        if place.segment.is_none() {
            count += part.labelled.len() as u64;
        }
        adding.add_labels(&place, part.labelled)?;
    }
    if count == 0 {
        bail!("`{origin}` has no labels: its column of classes is empty");
    }
    adding.set(Reading::NAME, &reading.to_bytes()?)?;
    adding.add_file(&Added { digest, name: origin.to_string(), rows: 0, added: now() })?;
    adding.commit()?;
    progress.note(&format!("`{origin}`: {} labels added", HumanCount(count)));
    Ok(())
}
