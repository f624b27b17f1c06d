//! The page of a comparison.

use super::estimate::risk;
use super::verdict::{headline, mean, reasons, share};
use super::{Page, Section, Standing, Tile};
use crate::comparison::{Comparison, Line};
use crate::draw::Table;
use crate::text::{Align, Share, count, name, plain, range};
use crate::words::{Front, Subject};

/// The estimate beside what others say, and beside the truth where labels tell it.
pub fn comparison(comparison: &Comparison<'_>, front: Front) -> Page {
    let estimate = comparison.estimate;
    let rate = estimate.metrics.as_ref().ok().map(|metrics| metrics.error_rate.estimate);
    let own = risk(estimate);
    let sentence = match &rate {
        Some(rate) => share(rate, estimate.level, "of the predictions are wrong, says triview"),
        None => mean("The risk by triview", own.value, own.interval, estimate.level),
    };
    let standing = if estimate.trusted() { Standing::Trusted } else { Standing::Doubted };
    let reasons = reasons(&estimate.alarms, front, Subject::Rows);
    let (headline, mut lead) = headline(standing, reasons.len(), sentence);
    let mut tiles = Vec::new();
    if let Some(truth) = &comparison.truth {
        let [rate, risk] = [truth.error_rate().0, truth.risk().0];
        lead.push(format!(
            "By {} labels, which no method has seen, it is {}.",
            count(truth.rows()),
            Share(rate)
        ));
        tiles.push(Tile::new(
            "true error rate",
            Share(rate).to_string(),
            format!("{} labels", count(truth.rows())),
        ));
        tiles.push(Tile::new("true risk", plain(risk), format!("{} loss", name(&estimate.loss, 20))));
    }
    if let Some(rate) = &rate {
        tiles.push(Tile::new(
            "error rate by triview",
            Share(rate.value).within(rate.interval),
            String::new(),
        ));
    }
    tiles.push(Tile::new("risk by triview", plain(own.value), range(own.interval)));
    tiles.push(Tile::new("rows", count(estimate.rows), String::new()));
    let sample = match (comparison.sampled as u64) < estimate.rows {
        true => format!(
            "The others look at an even sample of {} of the {} rows.",
            count(comparison.sampled as u64),
            count(estimate.rows)
        ),
        false => String::new(),
    };
    let by_method = Section::new("Method by method").words(sample).picture(comparison.picture().picture());
    Page {
        about: "the estimate beside others",
        standing,
        headline,
        lead,
        reasons,
        tiles,
        sections: vec![by_method, methods(comparison)],
    }
}

/// Where each method is from, or why it says nothing.
fn methods(comparison: &Comparison<'_>) -> Section {
    let row = |line: &Line| {
        let said = line.absent.map_or("answers".to_owned(), |why| format!("does not apply: {why}"));
        vec![line.name.to_owned(), said, line.reference.to_owned()]
    };
    let columns = ["method", "here", "published by"].map(|name| (name.to_owned(), Align::Left)).to_vec();
    let table = Table { columns, rows: comparison.lines.iter().map(row).collect() };
    Section::new("The methods").table(table)
}
