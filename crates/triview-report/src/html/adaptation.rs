//! The page of an adaptation.

use super::verdict::reasons;
use super::{Page, Section, Standing, Tile};
use crate::draw::{Dots, Mark, Panel};
use crate::picture;
use crate::text::{Share, count, percent, plain, range};
use crate::words::{Front, Subject};
use triview::learning::{Adaptation, Judgement, Verdict};

/// What is known of the adapted model and of the seed, and what to do with them.
pub fn adaptation(adaptation: &Adaptation, level: f64, front: Front) -> Page {
    let judged = adaptation.judgement.as_ref();
    let mut reasons = reasons(&adaptation.seed.alarms, front, Subject::Rows);
    let standing = match (adaptation.supported(), judged) {
        (false, _) => Standing::Doubted,
        (true, None) => Standing::Untested,
        (true, Some(_)) => Standing::Trusted,
    };
    let headline = match judged.map(|it| it.verdict) {
        Some(Verdict::Improved) => {
            "The adapted model is better than the seed model on these rows: use it.".to_owned()
        }
        Some(Verdict::Likely) => {
            "The adapted model is likely better than the seed model on these rows, though not beyond chance."
                .to_owned()
        }
        Some(Verdict::Failed) => {
            reasons.insert(
                0,
                (
                    "the adapted model cannot be told to be better than the seed model on these rows"
                        .to_owned(),
                    "keep the seed model, adapt to more rows, or within a smaller radius".to_owned(),
                ),
            );
            "Keep the seed model: the adaptation failed.".to_owned()
        }
        Some(Verdict::Doubtful) => {
            reasons.insert(0, (
                "the adapted model seems better, but by an estimate that cannot be relied on here".to_owned(),
                "give the class of some rows, drawn at random, cut the views otherwise, take a smaller radius, or keep the seed model".to_owned(),
            ));
            "Keep the seed model for now: whether the adapted one is better cannot be told.".to_owned()
        }
        None => "The adapted model was not judged: nothing is known of it yet.".to_owned(),
    };
    let first = Section::new("Before and after");
    let mut sections = match judged {
        Some(it) => vec![
            first.picture(both(it, adaptation, level).picture()),
            Section::new("The difference").picture(difference(it, level).picture()),
        ],
        None => vec![first.words("There is nothing to compare: the risk of the result was not estimated.")],
    };
    sections.push(Section::new("Class by class").picture(picture::prior(&adaptation.seed).picture()));
    sections.push(super::estimate::independence(&adaptation.seed));
    sections.push(looked_at(adaptation));
    let lead = judged.map(|it| said(it, level)).into_iter().collect();
    Page {
        about: "a model adapted without labels",
        standing,
        headline,
        lead,
        reasons,
        tiles: tiles(adaptation),
        sections,
    }
}

/// What changed, in a sentence.
fn said(judgement: &Judgement, level: f64) -> String {
    let Judgement { seed_error, adapted_error, difference, of_labels, .. } = judgement;
    let rows = if *of_labels {
        "on the rows whose class is known, which the model that is judged has not seen; the views cannot be relied on"
    } else {
        "on rows that neither the model nor its labels have seen"
    };
    format!(
        "The error rate goes from {} to {}, the risk by {} ({}, with {} confidence), {rows}.",
        Share(seed_error.value).within(seed_error.interval),
        Share(adapted_error.value).within(adapted_error.interval),
        plain(difference.value),
        range(difference.interval),
        percent(level)
    )
}

fn tiles(adaptation: &Adaptation) -> Vec<Tile> {
    let mut tiles = Vec::new();
    if let Some(Judgement { adapted, seed, adapted_error, seed_error, .. }) = &adaptation.judgement {
        let was = format!("{} of the seed", Share(seed_error.value).within(seed_error.interval));
        tiles.push(Tile::new(
            "error rate, adapted",
            Share(adapted_error.value).within(adapted_error.interval),
            was,
        ));
        tiles.push(Tile::new(
            "risk, adapted",
            plain(adapted.value),
            format!("{} of the seed", plain(seed.value)),
        ));
    }
    tiles.push(Tile::new("rows", count(adaptation.seed.rows), String::new()));
    tiles.push(Tile::new("radius", plain(adaptation.radius), "of the ball of parameters"));
    tiles
}

/// Risk and error rate of both models.
fn both(judgement: &Judgement, adaptation: &Adaptation, level: f64) -> Dots {
    let Judgement { adapted, seed, adapted_error, seed_error, .. } = judgement;
    let mark = if adaptation.supported() { Mark::Own } else { Mark::Doubted };
    Dots {
        title: "The adapted model beside the seed".to_owned(),
        description: format!(
            "Dots with intervals: the risk is {} of the adapted model and {} of the seed.",
            plain(adapted.value),
            plain(seed.value)
        ),
        kind: "model".to_owned(),
        note: format!("Lines are intervals of {} confidence.", percent(level)),
        rows: ["adapted", "seed"].map(str::to_owned).to_vec(),
        panels: vec![
            Panel {
                title: format!("{} risk", adaptation.loss),
                dots: vec![
                    Some(picture::measured(adapted, mark)),
                    Some(picture::measured(seed, Mark::Other)),
                ],
                ..Panel::default()
            },
            Panel {
                title: "error rate".to_owned(),
                share: true,
                line: None,
                dots: vec![
                    Some(picture::share(adapted_error, mark)),
                    Some(picture::share(seed_error, Mark::Other)),
                ],
            },
        ],
    }
}

/// By how much the risk changes, and what labels say of it.
fn difference(judgement: &Judgement, level: f64) -> Dots {
    let mut rows = Vec::new();
    if !judgement.of_labels {
        rows.push(("without labels", picture::measured(&judgement.difference, Mark::Own)));
    }
    rows.extend(judgement.by_labels.as_ref().map(|it| ("by labels", picture::measured(it, Mark::Own))));
    Dots {
        title: "By how much the adapted model\u{2019}s risk differs from the seed\u{2019}s".to_owned(),
        description: format!(
            "Dots with intervals; below zero the adapted model is better. {}",
            range(judgement.difference.interval)
        ),
        kind: "by".to_owned(),
        note: format!(
            "Below zero the adapted model is better. Lines are intervals of {} confidence.",
            percent(level)
        ),
        rows: rows.iter().map(|(name, _)| (*name).to_owned()).collect(),
        panels: vec![Panel {
            title: "difference of the risk".to_owned(),
            share: false,
            line: Some(("no difference".to_owned(), 0.0)),
            dots: rows.into_iter().map(|(_, dot)| Some(dot)).collect(),
        }],
    }
}

fn looked_at(adaptation: &Adaptation) -> Section {
    let Adaptation { radius, gap, share, seed, loss, passes, .. } = adaptation;
    let mut facts = vec![
        ("loss", (*loss).to_owned()),
        ("rows", count(seed.rows)),
        ("radius", plain(*radius)),
        ("passes over the rows", passes.to_string()),
    ];
    let short = if adaptation.converged {
        ""
    } else {
        ", more than was asked for: the radius is too large for these rows"
    };
    facts.extend(gap.map(|gap| ("minimised to a gap of", plain(gap) + short)));
    facts.extend(share.map(|share| ("weight of the source", share.to_string())));
    facts.push((
        "naming leads by",
        format!("{}, {}", plain(seed.matching_gap), range(seed.matching_gap_interval)),
    ));
    Section::new("What was looked at").facts(facts).wide()
}
