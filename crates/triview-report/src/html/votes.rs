//! The page of a crowd.

use super::verdict::{reasons, sentence, share};
use super::{Page, Section, Standing, Tile};
use crate::draw::Table;
use crate::picture;
use crate::text::{
    self, Align, Budget, Share, count, name, names, p_value, percent, percents, plain, shown_annotators,
};
use crate::words::{Front, Subject};
use triview::metrics::Measured;
use triview::votes::{Annotator, Pair, VoteEstimate};

/// Pairs that depend on each other that have a row.
const PAIRS: usize = 20;
/// Room for lists of names.
const NAMES: usize = 160;

/// How often the labels of a crowd are wrong, and who votes how; the annotators have these names.
pub fn votes(estimate: &VoteEstimate, annotators: &[String], budget: Option<&Budget>, front: Front) -> Page {
    let standing = if estimate.trusted() { Standing::Trusted } else { Standing::Doubted };
    let sentence = headline(estimate);
    let reasons = reasons(&estimate.alarms, front, Subject::Rows);
    let (headline, mut lead) = super::verdict::headline(standing, reasons.len(), sentence);
    if estimate.bound.is_some() {
        lead.push(
            "This is the least: what all annotators get wrong together leaves no trace in their votes, and takes items of known class to be \
             seen."
                .to_owned(),
        );
    }
    let mut sections = vec![
        Section::new("How wrong the labels are").picture(picture::labels(estimate).picture()),
        Section::new("Classes").picture(classes(estimate)),
        Section::new("Annotators").picture(picture::annotators(estimate, annotators).picture()),
        mistakes(estimate, annotators),
        depends(estimate, annotators).wide(),
    ];
    sections.extend(
        budget.map(|budget| Section::new("How many known classes would do").words(text::gold_budget(budget))),
    );
    sections.push(looked_at(estimate, annotators));
    let tiles = tiles(estimate, annotators.len());
    Page { about: "a crowd and its labels", standing, headline, lead, reasons, tiles, sections }
}

fn headline(estimate: &VoteEstimate) -> String {
    let said = share(&estimate.error_rate, estimate.level, "of the labels are wrong");
    match estimate.bound {
        Some(_) => said.replacen("About", "At least", 1),
        None => said,
    }
}

fn tiles(estimate: &VoteEstimate, annotators: usize) -> Vec<Tile> {
    let bound = if estimate.bound.is_some() { "at least " } else { "" };
    let rate = &estimate.error_rate;
    let between = percents(rate.interval)
        .map_or("interval unknown".to_owned(), |(_, [low, high])| format!("{low} to {high}"));
    let mut tiles = vec![
        Tile::new(
            "labels that are wrong",
            format!("{bound}{}", Share(rate.value).within(rate.interval)),
            format!("{between} ({})", percent(estimate.level)),
        ),
        Tile::new(
            "floor",
            Share(estimate.agreement.floor).to_string(),
            "of the votes are wrong at the least",
        ),
        Tile::new(
            "worth of the votes",
            plain(estimate.agreement.effective_voters),
            format!("annotators an item who err independently, of {}", plain(estimate.agreement.voters)),
        ),
    ];
    if let Some(gold) = &estimate.gold {
        let remark = format!("the labels of {} are wrong", count(gold.wrong as u64));
        tiles.push(Tile::new("items of known class", count(gold.items as u64), remark));
    }
    let remark = format!("{} votes of {} annotators", count(estimate.votes as u64), count(annotators as u64));
    tiles.push(Tile::new("items", count(estimate.items as u64), remark));
    tiles
}

fn classes(estimate: &VoteEstimate) -> Option<crate::draw::Picture> {
    picture::shares("class", &estimate.classes, &estimate.class_prior, estimate.trusted()).picture()
}

/// Who depends on whom.
fn depends(estimate: &VoteEstimate, annotators: &[String]) -> Section {
    let mut section = Section::new("Who errs together").words(sentence(&text::together(estimate)));
    for group in &estimate.alike {
        let members: Vec<String> = group.iter().map(|a| annotators[*a].clone()).collect();
        section =
            section.words(format!("Look alike (copies, or of one family): {}.", names(&members, NAMES)));
    }
    if estimate.dependent.is_empty() {
        return section;
    }
    let row = |pair: &Pair| {
        let [first, second] = pair.annotators.map(|a| annotators[a].clone());
        let [agree, expected] = [pair.agreement, pair.expected].map(|share| Share(share).to_string());
        vec![first, second, count(pair.items as u64), agree, expected, p_value(pair.p_value)]
    };
    let align = [Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right];
    let columns = ["annotator", "and", "items", "agree", "expected", "p"];
    let columns = columns.iter().zip(align).map(|(name, align)| ((*name).to_owned(), align)).collect();
    let left_out = picture::left_out(estimate.dependent.len().min(PAIRS), estimate.dependent.len(), "pairs");
    section
        .words(left_out)
        .table(Table { columns, rows: estimate.dependent.iter().take(PAIRS).map(row).collect() })
}

/// What annotators mistake for what.
fn mistakes(estimate: &VoteEstimate, annotators: &[String]) -> Section {
    let all: Vec<Annotator> = (0..estimate.annotators()).map(|a| estimate.annotator(a)).collect();
    let row = |&a: &usize| {
        vec![annotators[a].clone(), format!("{:.2}", all[a].worth), confused(estimate, &all[a].confusion)]
    };
    let columns =
        [("annotator", Align::Left), ("a vote is worth", Align::Right), ("mistakes most often", Align::Left)];
    let columns = columns.map(|(name, align)| (name.to_owned(), align)).to_vec();
    let (shown, _) = shown_annotators(&all);
    Section::new("What annotators mistake")
        .words("What a vote is worth is how far it moves the log odds of the item\u{2019}s class on average.")
        .table(Table { columns, rows: shown.iter().map(row).collect() })
}

/// What an annotator takes for what, most often.
fn confused(estimate: &VoteEstimate, cells: &[Vec<Measured>]) -> String {
    match text::most_confused(estimate, cells) {
        Some((vote, class)) => {
            let [said, truth] = [vote, class].map(|class| name(&estimate.classes[class], 60));
            format!("{truth} for {said} ({})", Share(cells[vote][class].value))
        }
        None => String::new(),
    }
}

fn looked_at(estimate: &VoteEstimate, annotators: &[String]) -> Section {
    let facts = [
        ("items", count(estimate.items as u64)),
        ("votes", count(estimate.votes as u64)),
        ("items with one vote", count(estimate.single_votes as u64)),
        ("annotators", format!("{}: {}", annotators.len(), names(annotators, NAMES))),
        ("classes", format!("{}: {}", estimate.classes.len(), names(&estimate.classes, NAMES))),
        ("majority", format!("differs on {} of the items", count(estimate.majority.differs as u64))),
        ("names", text::naming(estimate)),
    ];
    Section::new("What was looked at").facts(facts).wide()
}
