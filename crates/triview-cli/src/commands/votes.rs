//! `triview estimate --votes` and `triview label --votes`: a crowd's annotators, the labels that they give together, and how often
//! these are wrong.

use super::label::kept_values;
use crate::answer::{Answer, made};
use crate::args::{EstimateArgs, Global, TableArgs};
use crate::label_args::{LabelArgs, VoteArgs};
use crate::output;
use crate::progress::Progress;
use anyhow::{Result, bail};
use indicatif::HumanCount;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use std::path::Path;
use triview::votes::{ItemLabel, VoteEstimate, VoteParams};
use triview_report::html;
use triview_report::json::{self, VotesObject};
use triview_report::text::{self, Budget, WIDTH, names};
use triview_table::{Error, Format, Keep, Memory, Origin, Values, VoteOptions, VoteTable, write_columns};

/// Items whose label is wrong with a smaller chance are not looked at again.
const WORTH_A_LOOK: f64 = 0.01;
/// The column that names the items.
const ITEM: &str = "item";
/// Rows that are written at once.
const CHUNK: usize = 65_536;

/// What is read and asked of votes.
struct Asked<'a> {
    inputs: &'a [Origin],
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
            memory: Memory::default(),
        };
        progress.spin("reading");
        let table = VoteTable::of(self.inputs, &options)?;
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
    asked.check()?;
    let mut inputs = args.input.inputs.clone();
    inputs.extend(args.crowd.gold.clone());
    let mut taken = output::files(&inputs);
    let keep = match &asked.label_rows {
        None => Keep::Nothing,
        Some(path) => {
            output::check(path, taken.iter().copied())?;
            taken.push(path);
            asked.keep.clone().map_or(Keep::All, Keep::Named)
        }
    };
    args.pictures.check(taken)?;
    let progress = Progress::new(global);
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
            write_items(path, &table, &items, &[], |_| Vec::new(), &progress)?;
            progress.note(&format!(
                "{} items to label in `{}`",
                HumanCount(items.len() as u64),
                path.display()
            ));
        }
        (Some(path), None) => progress.note(&format!("no items to label, so no `{}`", path.display())),
        (None, _) => {}
    }
    let page = html::votes(&estimate, &table.annotators, budget.as_ref(), global.front);
    args.pictures.draw(&page, &progress)?;
    drop(progress);
    let made = made(global.seed, &inputs);
    let object = VotesObject::new(&estimate, &table.annotators, global.front, &made);
    let object = json::to_text(&object.budget(budget.as_ref()))?;
    let mut shown = text::votes(&estimate, &table.annotators, global.front);
    if let Some(budget) = &budget {
        shown += &format!("\n{}", text::gold_budget(budget));
    }
    let answer = Answer::new(shown).with_json(object, args.json).trusted(estimate.trusted());
    answer.with_page(&page, &made, global, args.pictures.report.as_deref())
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

/// Writes items: first their names, then what goes with them, then the columns of these names that are made of some items at once.
fn write_items(
    path: &Path,
    table: &VoteTable,
    items: &[usize],
    made: &[String],
    columns: impl Fn(&[usize]) -> Vec<Values>,
    progress: &Progress,
) -> Result<(), Error> {
    let kept = Carried::new(table, made);
    if !kept.left_out.is_empty() {
        progress.note(&format!(
            "columns left out of `{}`, as their names are those of columns that are made: {}",
            path.display(),
            names(&kept.left_out, WIDTH - 24)
        ));
    }
    let header: Vec<String> =
        [ITEM.to_owned()].into_iter().chain(kept.names()).chain(made.iter().cloned()).collect();
    // Without items there is a header all the same.
    let parts = items.chunks(CHUNK).chain(items.is_empty().then_some(items)).map(|some| {
        let mut values = vec![Values::Text(some.iter().map(|item| table.items[*item].clone()).collect())];
        values.extend(kept.values(some));
        values.extend(columns(some));
        Ok(values)
    });
    write_columns::<Error>(path, &header, parts)?;
    Ok(())
}

/// The columns that go with the items, but for those that have the name of one that is made.
struct Carried<'a> {
    columns: Vec<&'a (String, Vec<Option<String>>)>,
    left_out: Vec<String>,
}

impl<'a> Carried<'a> {
    fn new(table: &'a VoteTable, made: &[String]) -> Self {
        let (left_out, columns): (Vec<_>, Vec<_>) =
            table.kept.iter().partition(|(name, _)| name == ITEM || made.contains(name));
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
    let inputs: Vec<Origin> = args.inputs.iter().chain(&args.crowd.gold).cloned().collect();
    let mut taken = output::files(&inputs);
    for path in [Some(&args.output), args.annotators.as_ref(), args.review.as_ref()].into_iter().flatten() {
        output::check(path, taken.iter().copied())?;
        if matches!(Format::of_ending(path), None | Some(Format::Npy)) {
            return Err(Error::OutputFormat { path: path.clone() }.into());
        }
        taken.push(path);
    }
    let progress = Progress::new(global);
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
    write_labels(&args.output, &table, &estimate, &progress)?;
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
        write_review(path, &table, &estimate, &items, &progress)?;
        progress.note(&format!(
            "{} items to look at first in `{}`",
            HumanCount(items.len() as u64),
            path.display()
        ));
    }
    progress.note(&format!("{} items in `{}`", HumanCount(table.items.len() as u64), args.output.display()));
    progress.note(&text::votes_in_a_line(&estimate));
    for alarm in &estimate.alarms {
        progress.note(&format!("not to be trusted: {alarm}; {}", global.front.remedy(alarm)));
    }
    let made = made(global.seed, &inputs);
    let object = json::to_text(&VotesObject::new(&estimate, &table.annotators, global.front, &made))?;
    let shown = text::votes(&estimate, &table.annotators, global.front);
    let answer = Answer::new(shown).with_json(object, false).unprinted().trusted(estimate.trusted());
    let page = html::votes(&estimate, &table.annotators, None, global.front);
    answer.with_page(&page, &made, global, None)
}

/// The numbers that classes are, where there are three or more and all are numbers.
fn numbers(classes: &[String]) -> Option<Vec<f64>> {
    let numbers: Option<Vec<f64>> = classes.iter().map(|class| class.parse().ok()).collect();
    numbers.filter(|numbers| numbers.len() > 2 && numbers.iter().all(|number: &f64| number.is_finite()))
}

/// What is said of some items, column by column.
struct Said<'a> {
    classes: &'a [String],
    all: Vec<ItemLabel<'a>>,
}

impl<'a> Said<'a> {
    fn new(table: &'a VoteTable, estimate: &'a VoteEstimate, items: &[usize]) -> Self {
        let all = items.iter().map(|item| estimate.label(&table.votes, *item)).collect();
        Self { classes: &table.classes, all }
    }

    fn class(&self, of: impl Fn(&ItemLabel<'_>) -> usize) -> Values {
        Values::Text(self.all.iter().map(|label| self.classes[of(label)].clone()).collect())
    }

    fn number(&self, of: impl Fn(&ItemLabel<'_>) -> f64) -> Values {
        Values::Number(self.all.iter().map(of).collect())
    }

    /// The columns of [`VOTED`].
    fn voted(&self) -> [Values; 4] {
        [
            self.class(|label| label.majority),
            Values::Whole(self.all.iter().map(|label| label.votes as i64).collect()),
            self.number(|label| label.agreement),
            self.number(|label| label.difficulty),
        ]
    }
}

/// The columns that say how an item was voted on.
const VOTED: [&str; 4] = ["majority", "votes", "agreement", "difficulty"];

/// Writes what is said of every item.
fn write_labels(
    path: &Path,
    table: &VoteTable,
    estimate: &VoteEstimate,
    progress: &Progress,
) -> Result<(), Error> {
    let numbers = numbers(&table.classes);
    let mut made = vec!["label".to_owned()];
    made.extend(table.classes.iter().map(|class| format!("posterior:{class}")));
    made.extend(numbers.iter().map(|_| "mean".to_owned()));
    made.extend(VOTED.map(str::to_owned));
    let columns = |items: &[usize]| {
        let said = Said::new(table, estimate, items);
        let mut values = vec![said.class(|label| label.label)];
        values.extend((0..table.classes.len()).map(|j| said.number(|label| label.posterior[j])));
        values.extend(numbers.iter().map(|numbers| {
            said.number(|label| label.posterior.iter().zip(numbers).map(|(p, number)| p * number).sum())
        }));
        values.extend(said.voted());
        values
    };
    let items: Vec<usize> = (0..table.items.len()).collect();
    write_items(path, table, &items, &made, columns, progress)
}

/// Writes the items to look at first.
fn write_review(
    path: &Path,
    table: &VoteTable,
    estimate: &VoteEstimate,
    items: &[usize],
    progress: &Progress,
) -> Result<(), Error> {
    let made: Vec<String> =
        ["wrong", "label", "second"].into_iter().chain(VOTED).map(str::to_owned).collect();
    let second = |label: &ItemLabel<'_>| {
        let others = (0..label.posterior.len()).filter(|class| *class != label.label);
        others.max_by(|a, b| label.posterior[*a].total_cmp(&label.posterior[*b])).unwrap_or(label.label)
    };
    let columns = |items: &[usize]| {
        let said = Said::new(table, estimate, items);
        let wrong = said.number(|label| 1.0 - label.posterior[label.label]);
        let mut values = vec![wrong, said.class(|label| label.label), said.class(second)];
        values.extend(said.voted());
        values
    };
    write_items(path, table, items, &made, columns, progress)
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
