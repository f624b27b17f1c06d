//! What a store says.

use super::reading::Reading;
use super::{now, period_of};
use crate::answer::{Answer, made};
use crate::args::Global;
use crate::monitor_args::MonitorArgs;
use crate::output;
use crate::progress::Progress;
use anyhow::{Context, Result, bail};
use indicatif::HumanCount;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use triview::estimator::Estimator;
use triview::monitoring::{PeriodAnswer, Watch};
use triview_report::json;
use triview_report::monitor::{Curve, Monitored, Period};
use triview_store::{Part, Place, Store};
use triview_table::in_time;

/// So many periods are held in memory at once.
const TOGETHER: usize = 16;

/// Answers all periods and shows them, and judges the limits.
pub(super) fn show(args: &MonitorArgs, global: &Global, store: &mut Store) -> Result<Answer> {
    let empty = || format!("nothing has been added to `{}` yet", args.store);
    let reading = Reading::of(store)?.with_context(empty)?;
    let plan = store.plan()?.with_context(empty)?;
    super::add::expect_each(&plan, args)?;
    let views = if plan.judges_each() { plan.schema().scored() } else { &[] };
    expect_views(args, views)?;
    let estimator = args.method.estimator(global)?;
    let progress = Progress::new(global);
    let answers = answers(args, global, store, &estimator, &progress)?;
    drop(progress);
    let (period, now) = (period_of(&reading)?, now());
    let mut names: Vec<&str> =
        answers.keys().filter(|place| place.segment.is_none()).map(|place| place.period.as_str()).collect();
    if names.is_empty() {
        bail!("{}", empty());
    }
    names.sort_by(|a, b| in_time(a, b));
    let asked = baseline(args.baseline.as_deref(), &names)?;
    let normal = |seen: usize| asked.clone().unwrap_or_else(|| Watch::first_quarter(seen));
    let mut segments: Vec<Option<&str>> = answers.keys().map(|place| place.segment.as_deref()).collect();
    segments.sort_unstable();
    segments.dedup();
    let curve = |segment: Option<&str>| {
        // Of a segment, periods in which it has no rows are not there.
        let (mut periods, mut places): (Vec<Period>, Vec<usize>) = Default::default();
        for (at, name) in names.iter().enumerate() {
            let place = Place { period: (*name).to_owned(), segment: segment.map(str::to_owned) };
            if let Some(answer) = answers.get(&place) {
                let complete = period.is_over(name, now);
                periods.push(Period { name: (*name).to_owned(), complete, answer: answer.clone() });
                places.push(at);
            }
        }
        // What is normal for all rows is so for each segment.
        let of_segment = |seen: usize| {
            let Range { start, end } = normal(places[seen - 1] + 1);
            places.partition_point(|&at| at < start)..places.partition_point(|&at| at < end)
        };
        Curve::new(segment.map(str::to_owned), periods, of_segment, args.method.level)
    };
    let curves: Vec<Curve> = segments.into_iter().map(curve).collect();
    let alone = views.iter().map(|view| curves[0].of_view(view, normal, args.method.level));
    let views = alone.collect();
    let added = store.files()?.iter().map(|file| file.added).max();
    let monitored = Monitored {
        curves,
        views,
        time: reading.time,
        period: reading.period,
        by: reading.by,
        loss: plan.loss().name().to_owned(),
        level: args.method.level,
        classes: plan.schema().classes().to_vec(),
        groups: plan.group_names().to_vec(),
        files: store.files()?.len(),
        added,
        now,
        limits: args.limit.clone(),
    };
    let page = monitored.page(global.front);
    args.pictures.draw(&page, &Progress::new(global))?;
    if let Some(path) = &args.csv {
        output::write_text(path, &monitored.csv())?;
    }
    if let Some(path) = &args.prometheus {
        output::write_text(path, &monitored.prometheus())?;
    }
    let made = made(global.seed, std::slice::from_ref(&args.store));
    let object = json::to_text(&monitored.object(Some(&made)))?;
    let answer = Answer::new(monitored.text()).with_json(object, args.json).trusted(monitored.quiet());
    answer.with_page(&page, &made, global, args.pictures.report.as_deref())
}

/// Refuses limits of views that are not watched.
fn expect_views(args: &MonitorArgs, views: &[String]) -> Result<()> {
    for limit in &args.limit {
        let Some(view) = limit.view.as_ref().filter(|view| !views.contains(view)) else { continue };
        match views {
            [] => bail!(
                "--limit {limit}: the store does not watch views by themselves; begin a new one with --each"
            ),
            _ => bail!("--limit {limit}: there is no view `{view}`; there are {}", views.join(", ")),
        }
    }
    Ok(())
}

/// The answer of each period and segment: what was kept, and what has to be made anew, which is kept.
fn answers(
    args: &MonitorArgs,
    global: &Global,
    store: &mut Store,
    estimator: &Estimator,
    progress: &Progress,
) -> Result<BTreeMap<Place, PeriodAnswer>> {
    let made_by = made_by(args, global);
    let mut kept = store.answers()?;
    let mut answers = BTreeMap::new();
    let (mut open, mut older): (Vec<Place>, BTreeMap<Place, String>) = Default::default();
    for (place, rows) in store.places()? {
        match kept.remove(&place) {
            Some((by, answer)) if by == made_by && answer.rows == rows => {
                answers.insert(place, answer);
            }
            other => {
                if let Some((by, answer)) = other {
                    // The only one there will ever be, where the rows are gone.
                    answers.insert(place.clone(), answer);
                    older.insert(place.clone(), by);
                }
                open.push(place);
            }
        }
    }
    progress.count("answering periods", Some(open.len() as u64));
    for some in open.chunks(TOGETHER) {
        let unchanged = store.changes_of_others()?;
        let mut parts: Vec<(&Place, Part)> = Vec::new();
        for place in some {
            if let Some(part) = store.part(place)? {
                older.remove(place);
                parts.push((place, part));
            }
        }
        let made: Vec<(&Place, PeriodAnswer)> = parts
            .par_iter()
            .map(|(place, part)| {
                (*place, PeriodAnswer::new(estimator, &part.moments, &part.kept, &part.labelled))
            })
            .collect();
        if let Some(mut adding) = store.begin_now()? {
            // What others have added to meanwhile is answered at the next look.
            if adding.store().changes_of_others()? == unchanged {
                for (place, answer) in &made {
                    adding.keep_answer(place, &made_by, answer)?;
                }
                adding.commit()?;
            }
        }
        progress.advance(some.len());
        answers.extend(made.into_iter().map(|(place, answer)| (place.clone(), answer)));
    }
    if let Some(by) = older.values().next() {
        progress.note(&format!(
            "the rows of {} of the answers are gone, and these stay as they were made (triview {by})",
            HumanCount(older.len() as u64)
        ));
    }
    Ok(answers)
}

/// What answers are made by.
pub(super) fn made_by(args: &MonitorArgs, global: &Global) -> String {
    format!("{} level {} seed {}", env!("CARGO_PKG_VERSION"), args.method.level, global.seed)
}

/// The periods that are said to be normal.
fn baseline(asked: Option<&str>, names: &[&str]) -> Result<Option<Range<usize>>> {
    let Some(asked) = asked else { return Ok(None) };
    let (from, to) = asked.split_once("..").with_context(|| {
        format!(
            "--baseline {asked}: it is FROM..TO, two periods such as {}..{}",
            names[0],
            names[names.len() - 1]
        )
    })?;
    let place = |name: &str| {
        names.iter().position(|known| *known == name).with_context(|| {
            format!(
                "--baseline {asked}: there is no period `{name}`; there are {} to {}",
                names[0],
                names[names.len() - 1]
            )
        })
    };
    let (from, to) = (place(from.trim())?, place(to.trim())?);
    if to < from {
        bail!("--baseline {asked}: it ends before it begins");
    }
    Ok(Some(from..to + 1))
}
