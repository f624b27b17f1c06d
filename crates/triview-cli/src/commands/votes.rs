//! `triview estimate --votes` and `triview label --votes`: a crowd's annotators, the labels that they give together, and how often
//! these are wrong.

use super::label::kept_values;
use crate::answer::{Answer, FRONT, made};
use crate::args::{EstimateArgs, Global, TableArgs};
use crate::label_args::{LabelArgs, VoteArgs};
use crate::output;
use crate::progress::Progress;
use anyhow::{Result, bail};
use indicatif::HumanCount;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use std::path::{Path, PathBuf};
use triview::votes::{ItemLabel, VoteEstimate, VoteParams};
use triview_report::json::{self, VotesObject};
use triview_report::text::{self, Budget, WIDTH, names};
use triview_table::{Error, Format, Keep, Values, VoteOptions, VoteTable, write_columns};

/// Items whose label is wrong with a smaller chance are not looked at again.
const WORTH_A_LOOK: f64 = 0.01;
/// Rows that are written at once.
const CHUNK: usize = 65_536;

/// What is read and asked of votes.
struct Asked<'a> {
    inputs: &'a [PathBuf],
    table: &'a TableArgs,
    crowd: &'a VoteArgs,
    label: Option<&'a String>,
    keep: Keep,
    level: f64,
}

impl Asked<'_> {
    /// Reads the votes and estimates the crowd behind them.
    fn answer(self, progress: &Progress, global: &Global) -> Result<(VoteTable, VoteEstimate)> {
        let estimator =
            VoteParams::new().level(self.level).smoothing(self.crowd.smoothing).seed(global.seed).check()?;
        if let Some(cuts) = &self.crowd.cuts
            && !(cuts.iter().all(|cut| cut.is_finite()) && cuts.windows(2).all(|pair| pair[0] < pair[1]))
        {
            let given: Vec<String> = cuts.iter().map(f64::to_string).collect();
            bail!("--cuts is {}: numbers are needed, the smallest first", given.join(","));
        }
        let options = VoteOptions {
            annotators: self.table.views.clone(),
            classes: self.table.classes.clone(),
            item: self.crowd.item.clone(),
            annotator: self.crowd.annotator.clone(),
            vote: self.crowd.vote.clone(),
            label: self.label.cloned(),
            gold: self.crowd.gold.clone(),
            cuts: self.crowd.cuts.clone(),
            keep: self.keep,
        };
        progress.spin("reading");
        let table = VoteTable::read(self.inputs, &options)?;
        for (what, columns) in [
            ("columns not used", &table.ignored),
            ("columns that differ within an item, left out", &table.varying),
        ] {
            if !columns.is_empty() {
                progress.note(&format!("{what}: {}", names(columns, WIDTH - 24)));
            }
        }
        for (what, rows) in [
            ("rows without a vote, left out", table.unvoted),
            ("votes given twice by the same annotator, counted once", table.repeated),
        ] {
            if rows > 0 {
                progress.note(&format!("{what}: {}", HumanCount(rows)));
            }
        }
        progress.spin("fitting");
        let estimate = estimator.estimate(&table.votes, &table.classes)?;
        Ok((table, estimate))
    }
}

/// The answer for votes.
pub(crate) fn run(args: &EstimateArgs, global: &Global) -> Result<Answer> {
    let asked = &args.labels;
    if let Some(width) = asked.label_budget.filter(|width| !(width.is_finite() && *width > 0.0)) {
        bail!("--label-budget is {width}: the width of an interval, a number above zero, is needed");
    }
    let mut inputs = args.input.inputs.clone();
    inputs.extend(args.crowd.gold.clone());
    let keep = match &asked.label_rows {
        None => Keep::Nothing,
        Some(path) => {
            output::check(path, &inputs)?;
            asked.keep.clone().map_or(Keep::All, Keep::Named)
        }
    };
    let progress = Progress::new(global.quiet);
    let asked_for = Asked {
        inputs: &args.input.inputs,
        table: &args.input.table,
        crowd: &args.crowd,
        label: asked.label.as_ref(),
        keep,
        level: args.input.method.level,
    };
    let (table, estimate) = asked_for.answer(&progress, global)?;
    let budget = asked.label_budget.map(|width| Budget {
        width,
        present: estimate.gold.as_ref().map_or(0, |gold| gold.items as u64),
        labels: estimate.gold_for(width),
        smallest: estimate.smallest_width(),
    });
    match (&asked.label_rows, budget.as_ref().and_then(Budget::more)) {
        (Some(path), Some(more)) => {
            let items = choose(&table, more, global.seed);
            write_items(path, &table, &items)?;
            progress.note(&format!(
                "{} items to label in `{}`",
                HumanCount(items.len() as u64),
                path.display()
            ));
        }
        (Some(path), None) => progress.note(&format!("no items to label, so no `{}`", path.display())),
        (None, _) => {}
    }
    drop(progress);
    let made = made(global.seed, &inputs);
    let answer = match args.json {
        true => {
            let object = VotesObject::new(&estimate, &table.annotators, FRONT, &made);
            json::to_text(&object.budget(budget.as_ref()))?
        }
        false => {
            let mut shown = text::votes(&estimate, &table.annotators, FRONT);
            if let Some(budget) = &budget {
                shown += &format!("\n{}", text::gold_budget(budget));
            }
            shown
        }
    };
    Ok(Answer::new(answer).trusted(estimate.trusted()))
}

/// So many items without gold, each with the same chance, in their order.
fn choose(table: &VoteTable, count: u64, seed: u64) -> Vec<usize> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let open = (0..table.items.len()).filter(|item| table.votes.gold(*item).is_none());
    let mut drawn: Vec<(u64, usize)> = open.map(|item| (rng.next_u64(), item)).collect();
    drawn.sort_unstable();
    let mut items: Vec<usize> = drawn.into_iter().take(count as usize).map(|(_, item)| item).collect();
    items.sort_unstable();
    items
}

/// Writes items and what goes with them.
fn write_items(path: &Path, table: &VoteTable, items: &[usize]) -> Result<(), Error> {
    let kept = Carried::new(table, &["item"]);
    let names: Vec<String> = ["item".to_owned()].into_iter().chain(kept.names()).collect();
    let mut values = vec![Values::Text(items.iter().map(|item| table.items[*item].clone()).collect())];
    values.extend(kept.values(items));
    write_columns::<Error>(path, &names, std::iter::once(Ok(values)))?;
    Ok(())
}

/// The columns that go with the items, but for those that have the name of one that is made.
struct Carried<'a> {
    columns: Vec<&'a (String, Vec<Option<String>>)>,
    left_out: Vec<String>,
}

impl<'a> Carried<'a> {
    fn new(table: &'a VoteTable, made: &[&str]) -> Self {
        let (left_out, columns): (Vec<_>, Vec<_>) =
            table.kept.iter().partition(|(name, _)| made.contains(&name.as_str()));
        Self { columns, left_out: left_out.into_iter().map(|(name, _)| name.clone()).collect() }
    }

    fn names(&self) -> impl Iterator<Item = String> {
        self.columns.iter().map(|(name, _)| name.clone())
    }

    fn values(&self, items: &[usize]) -> impl Iterator<Item = Values> {
        self.columns
            .iter()
            .map(|(_, texts)| kept_values(items.iter().map(|item| texts[*item].clone()).collect(), false))
    }
}

/// Writes the labels of a crowd's items, and what is asked for beside them.
pub(crate) fn label(args: &LabelArgs, global: &Global) -> Result<Answer> {
    let mut taken: Vec<PathBuf> = args.inputs.iter().chain(&args.crowd.gold).cloned().collect();
    for path in [Some(&args.output), args.annotators.as_ref(), args.review.as_ref()].into_iter().flatten() {
        output::check(path, &taken)?;
        if matches!(Format::of_ending(path), None | Some(Format::Npy)) {
            return Err(Error::OutputFormat { path: path.clone() }.into());
        }
        taken.push(path.clone());
    }
    let progress = Progress::new(global.quiet);
    let asked = Asked {
        inputs: &args.inputs,
        table: &args.table,
        crowd: &args.crowd,
        label: args.label.as_ref(),
        keep: args.keep.clone().map_or(Keep::All, Keep::Named),
        level: args.method.level,
    };
    let (table, estimate) = asked.answer(&progress, global)?;
    progress.spin("writing");
    let all: Vec<usize> = (0..table.items.len()).collect();
    write_labels(&args.output, &table, &estimate, &all, &progress)?;
    if let Some(path) = &args.annotators {
        write_annotators(path, &table, &estimate)?;
        progress.note(&format!(
            "{} annotators in `{}`",
            HumanCount(table.annotators.len() as u64),
            path.display()
        ));
    }
    if let Some(path) = &args.review {
        let items = estimate.review(&table.votes, WORTH_A_LOOK);
        write_review(path, &table, &estimate, &items)?;
        progress.note(&format!(
            "{} items to look at first in `{}`",
            HumanCount(items.len() as u64),
            path.display()
        ));
    }
    progress.note(&format!("{} items in `{}`", HumanCount(all.len() as u64), args.output.display()));
    progress.note(&text::votes_in_a_line(&estimate));
    for alarm in &estimate.alarms {
        progress.note(&format!("not to be trusted: {alarm}; {}", FRONT.remedy(alarm)));
    }
    Ok(Answer::new(String::new()).trusted(estimate.trusted()))
}

/// The numbers that classes are, where there are three or more and all are numbers.
fn numbers(classes: &[String]) -> Option<Vec<f64>> {
    let numbers: Option<Vec<f64>> = classes.iter().map(|class| class.parse().ok()).collect();
    numbers.filter(|numbers| numbers.len() > 2 && numbers.iter().all(|number: &f64| number.is_finite()))
}

/// Writes what is said of items.
fn write_labels(
    path: &Path,
    table: &VoteTable,
    estimate: &VoteEstimate,
    items: &[usize],
    progress: &Progress,
) -> Result<(), Error> {
    let numbers = numbers(&table.classes);
    let mut made: Vec<String> = ["item", "label"].map(str::to_owned).to_vec();
    made.extend(table.classes.iter().map(|class| format!("posterior:{class}")));
    made.extend(numbers.iter().map(|_| "mean".to_owned()));
    made.extend(["majority", "votes", "agreement", "difficulty"].map(str::to_owned));
    let kept = Carried::new(table, &made.iter().map(String::as_str).collect::<Vec<_>>());
    if !kept.left_out.is_empty() {
        progress.note(&format!(
            "columns left out, as their names are those of columns that are made: {}",
            names(&kept.left_out, WIDTH - 24)
        ));
    }
    // The item first, then what goes with it.
    let header: Vec<String> =
        made[..1].iter().cloned().chain(kept.names()).chain(made[1..].iter().cloned()).collect();
    let parts = items.chunks(CHUNK).map(|some| {
        let all: Vec<ItemLabel<'_>> = some.iter().map(|item| estimate.label(&table.votes, *item)).collect();
        let class = |of: &dyn Fn(&ItemLabel<'_>) -> usize| {
            Values::Text(all.iter().map(|label| table.classes[of(label)].clone()).collect())
        };
        let number = |of: &dyn Fn(&ItemLabel<'_>) -> f64| Values::Number(all.iter().map(of).collect());
        let mut values = vec![Values::Text(some.iter().map(|item| table.items[*item].clone()).collect())];
        values.extend(kept.values(some));
        values.push(class(&|label| label.label));
        values.extend((0..table.classes.len()).map(|j| number(&|label| label.posterior[j])));
        values.extend(numbers.iter().map(|numbers| {
            number(&|label| label.posterior.iter().zip(numbers).map(|(p, number)| p * number).sum())
        }));
        values.push(class(&|label| label.majority));
        values.push(Values::Whole(all.iter().map(|label| label.votes as i64).collect()));
        values.push(number(&|label| label.agreement));
        values.push(number(&|label| label.difficulty));
        Ok(values)
    });
    write_columns::<Error>(path, &header, parts)?;
    Ok(())
}

/// Writes the items to look at first.
fn write_review(
    path: &Path,
    table: &VoteTable,
    estimate: &VoteEstimate,
    items: &[usize],
) -> Result<(), Error> {
    let made = ["item", "wrong", "label", "second", "majority", "votes", "agreement", "difficulty"];
    let kept = Carried::new(table, &made);
    let header: Vec<String> = made[..1]
        .iter()
        .map(ToString::to_string)
        .chain(kept.names())
        .chain(made[1..].iter().map(ToString::to_string))
        .collect();
    let all: Vec<ItemLabel<'_>> = items.iter().map(|item| estimate.label(&table.votes, *item)).collect();
    let second = |label: &ItemLabel<'_>| {
        let others = (0..label.posterior.len()).filter(|class| *class != label.label);
        others.max_by(|a, b| label.posterior[*a].total_cmp(&label.posterior[*b])).unwrap_or(label.label)
    };
    let class = |of: &dyn Fn(&ItemLabel<'_>) -> usize| {
        Values::Text(all.iter().map(|label| table.classes[of(label)].clone()).collect())
    };
    let number = |of: &dyn Fn(&ItemLabel<'_>) -> f64| Values::Number(all.iter().map(of).collect());
    let mut values = vec![Values::Text(items.iter().map(|item| table.items[*item].clone()).collect())];
    values.extend(kept.values(items));
    values.extend([
        number(&|label| 1.0 - label.posterior[label.label]),
        class(&|label| label.label),
        class(&second),
        class(&|label| label.majority),
        Values::Whole(all.iter().map(|label| label.votes as i64).collect()),
        number(&|label| label.agreement),
        number(&|label| label.difficulty),
    ]);
    write_columns::<Error>(path, &header, std::iter::once(Ok(values)))?;
    Ok(())
}

/// Writes what is known of annotators, one row each.
fn write_annotators(path: &Path, table: &VoteTable, estimate: &VoteEstimate) -> Result<(), Error> {
    let all: Vec<_> = (0..estimate.annotators()).map(|annotator| estimate.annotator(annotator)).collect();
    let number =
        |of: &dyn Fn(&triview::votes::Annotator) -> f64| Values::Number(all.iter().map(of).collect());
    let whole = |of: &dyn Fn(&triview::votes::Annotator) -> u32| {
        Values::Whole(all.iter().map(|annotator| i64::from(of(annotator))).collect())
    };
    let bound = estimate.annotator_bound.map_or("", |bound| bound.name());
    let mut columns = vec![
        ("annotator".to_owned(), Values::Text(table.annotators.clone())),
        ("votes".to_owned(), whole(&|annotator| annotator.votes)),
        ("error".to_owned(), number(&|annotator| annotator.error.value)),
        ("error_low".to_owned(), number(&|annotator| annotator.error.interval.low)),
        ("error_high".to_owned(), number(&|annotator| annotator.error.interval.high)),
        ("error_bound".to_owned(), Values::Text(vec![bound.to_owned(); all.len()])),
        ("worth".to_owned(), number(&|annotator| annotator.worth)),
        ("agreement_beyond_chance".to_owned(), number(&|annotator| annotator.beyond_chance)),
        ("gold_votes".to_owned(), whole(&|annotator| annotator.gold[0])),
        ("gold_wrong".to_owned(), whole(&|annotator| annotator.gold[1])),
    ];
    for (j, class) in table.classes.iter().enumerate() {
        for (c, vote) in table.classes.iter().enumerate() {
            columns.push((
                format!("vote:{vote}|class:{class}"),
                number(&|annotator| annotator.confusion[c][j].value),
            ));
        }
    }
    let (names, values): (Vec<String>, Vec<Values>) = columns.into_iter().unzip();
    write_columns::<Error>(path, &names, std::iter::once(Ok(values)))?;
    Ok(())
}
