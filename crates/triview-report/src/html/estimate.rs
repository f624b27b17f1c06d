//! The page of an estimate, and that of a diagnosis.

use super::verdict::{headline, mean, reasons, sentence, share};
use super::{Page, Section, Standing, Tile};
use crate::draw::Table;
use crate::picture;
use crate::remedies::Remedies;
use crate::segments::{RECALIBRATED, Segmented};
use crate::text::{
    self, Align, Budget, Share, count, facts_of, labels_said, names, p_value, percent, plain, with_error,
};
use crate::words::{Front, Subject, unseen};
use triview::estimator::few_labels::Labelled;
use triview::estimator::{Amplified, Estimate};
use triview::metrics::{Measured, Metric, Metrics, PredictionMetrics};

/// Up to so many classes have a row in the table of scores.
const CLASSES: usize = 24;
/// Up to so many segments have a row in their table.
const SEGMENTS: usize = 400;
/// Room for lists of names.
const NAMES: usize = 160;

/// What stands beside an estimate.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    /// What most of several groups of rows agree on.
    pub amplified: Option<&'a Amplified>,
    /// What each segment's rows say.
    pub segments: Option<&'a Segmented>,
    /// What a few labels say.
    pub labelled: Option<&'a Labelled>,
    /// How many labels would do.
    pub budget: Option<&'a Budget>,
}

/// How far an estimate is to be trusted.
fn standing(estimate: &Estimate) -> Standing {
    match (estimate.trusted(), &estimate.independence.reason) {
        (false, _) => Standing::Doubted,
        (true, Some(_)) => Standing::Untested,
        (true, None) => Standing::Trusted,
    }
}

/// The risk of an estimate.
pub(super) fn risk(estimate: &Estimate) -> Measured {
    let Estimate { risk: value, standard_error, interval, .. } = *estimate;
    Measured { value, standard_error, interval }
}

/// What an estimate says in a sentence.
fn said(risk: &Measured, rate: Option<&Measured>, loss: &str, level: f64) -> String {
    match rate {
        Some(rate) => share(rate, level, "of the predictions are wrong"),
        None => mean(&format!("The mean {} loss", text::name(loss, 20)), risk.value, risk.interval, level),
    }
}

/// The page of an estimate.
pub fn estimate(estimate: &Estimate, beside: Beside<'_>, front: Front) -> Page {
    let Beside { amplified, segments, labelled, budget } = beside;
    let metrics = estimate.metrics.as_ref().ok();
    // With labels the answer is theirs, and holds whatever the views do.
    let (own, rate) = match labelled {
        Some(labelled) => (labelled.risk.leading, Some(labelled.error_rate.leading)),
        None => (risk(estimate), metrics.map(|metrics| metrics.error_rate.estimate)),
    };
    let standing = match labelled {
        Some(labelled) if labelled.trusted() => Standing::Trusted,
        Some(_) => Standing::Doubted,
        None => standing(estimate),
    };
    let alarms = labelled.map_or(&estimate.alarms, |labelled| &labelled.alarms);
    let mut reasons = reasons(alarms, front, Subject::Rows);
    let none_trusted = segments.is_some_and(|segments| !segments.any_trusted());
    let standing = if none_trusted { Standing::Doubted } else { standing };
    if none_trusted {
        let remedy = "see below what speaks against each of them".to_owned();
        reasons.push(("no segment\u{2019}s answer is to be trusted".to_owned(), remedy));
    }
    let estimated = said(&own, rate.as_ref(), &estimate.loss, estimate.level);
    let bounded = labelled.is_none() && estimate.bound.is_some();
    // The error rate may as well be lower.
    let estimated = if bounded && rate.is_none() {
        estimated.replacen("About", "At least", 1).replacen("about", "at least", 1)
    } else {
        estimated
    };
    let (headline, mut lead) = headline(standing, reasons.len(), estimated);
    lead.push(rests_on(estimate, labelled));
    if bounded {
        lead.push("All views agree more than they should, and then the risk comes out too low: read it as \u{201c}at least\u{201d}.".to_owned());
    }
    lead.extend(wider(estimate).filter(|_| labelled.is_none()));
    lead.extend(text::better(estimate).filter(|_| labelled.is_none()));
    let mut sections = Vec::new();
    if let Some(segments) = segments {
        lead.push(segments_said(segments));
        let title = format!("By {}", text::name(&segments.column, 60));
        let section = Section::new(title).picture(picture::segments(segments, estimate));
        sections.push(segments.remarks().into_iter().fold(section, Section::words));
    }
    if let Some(each) = &estimate.each {
        sections.push(
            Section::new("Each view as a model of its own").picture(picture::each(estimate, each).picture()),
        );
    }
    sections
        .push(Section::new("How wrong the model is").picture(picture::risk(estimate, labelled).picture()));
    sections.extend(estimate.prediction.as_ref().map(predicted));
    sections.extend(segments.map(by_segment));
    sections.extend(segments.and_then(alone_by_segment));
    sections.extend(segments.and_then(labels_by_segment));
    if let Some(labelled) = labelled {
        sections.push(Section::new("What the labels say").facts(labels_said(estimate, labelled)));
    }
    sections.extend(budget.map(|budget| {
        Section::new("How many labels would do").words(text::budget(budget, estimate.trusted()))
    }));
    match metrics {
        Some(metrics) => sections.extend(whole(estimate, metrics)),
        None => {
            sections.push(Section::new("Class by class").picture(picture::prior(estimate).picture()));
            sections.push(independence(estimate));
        }
    }
    sections.push(scores(estimate));
    sections.push(looked_at(estimate));
    let tiles = tiles(estimate, (&own, rate.as_ref()), amplified);
    Page { about: "risk without labels", standing, headline, lead, reasons, tiles, sections }
}

/// What the answer would be if the views had in common what the rows cannot show.
fn wider(estimate: &Estimate) -> Option<String> {
    let risk = estimate.wider_interval.filter(|_| estimate.trusted())?;
    let rate = estimate.wider_error_rate.and_then(text::percents);
    let rate =
        rate.map_or(String::new(), |(_, [low, high])| format!(", the error rate between {low} and {high}"));
    let between = text::range(risk).replace(" to ", " and ");
    Some(format!("If the views share what these rows cannot show, the risk may lie between {between}{rate}."))
}

/// What the answer rests on, in a paragraph.
fn rests_on(estimate: &Estimate, labelled: Option<&Labelled>) -> String {
    let unseen = unseen(estimate).join(", ");
    match (labelled, estimate.independence.p_value) {
        (Some(labelled), _) => format!(
            "This is by the labels of {} of {} rows and {}.",
            count(labelled.labels as u64),
            count(estimate.rows),
            text::assumed(
                labelled,
                if estimate.loss == "error" { &labelled.risk } else { &labelled.error_rate }
            )
        ),
        (None, Some(p)) if estimate.trusted() => format!(
            "No label was used. The estimate rests on views that are independent given {}: a test found nothing against it ({}). What no \
             rows without labels can show: {unseen}.",
            text::given(estimate),
            p_value(p)
        ),
        _ => format!("No label was used. What no rows without labels can show: {unseen}."),
    }
}

fn tiles(
    estimate: &Estimate,
    own: (&Measured, Option<&Measured>),
    amplified: Option<&Amplified>,
) -> Vec<Tile> {
    let (risk, rate) = own;
    let level = percent(estimate.level);
    let mut tiles = Vec::new();
    if let Some(rate) = rate {
        let between = text::percents(rate.interval)
            .map_or("interval unknown".to_owned(), |(_, [low, high])| format!("{low} to {high}"));
        tiles.push(Tile::new(
            "error rate",
            Share(rate.value).within(rate.interval),
            format!("{between} ({level})"),
        ));
    }
    if estimate.loss != "error" {
        let remark = format!("{} ({level})", text::range(risk.interval));
        tiles.push(Tile::new(format!("{} risk", text::name(&estimate.loss, 20)), plain(risk.value), remark));
    }
    if let Ok(metrics) = &estimate.metrics {
        let belief = Share(metrics.error_rate.belief).to_string();
        tiles.push(Tile::new("what the model believes", belief, "of its own error rate"));
    }
    if let Some(amplified) = amplified {
        let remark =
            format!("the median of {} of {} groups of rows", amplified.agreed(), amplified.kept.len());
        tiles.push(Tile::new("amplified risk", plain(amplified.risk), remark));
    }
    let test = estimate.independence.p_value.map_or("untested".to_owned(), p_value);
    tiles.push(Tile::new("test of independence", test, "of the views given the class"));
    let (views, classes) = (estimate.views.len(), estimate.classes.len());
    tiles.push(Tile::new("rows", count(estimate.rows), format!("{views} views, {classes} classes")));
    tiles
}

/// What is known of the whole prediction, and the test of what it rests on; parts of about the same height are beside each other.
fn whole(estimate: &Estimate, metrics: &Metrics) -> Vec<Section> {
    vec![
        Section::new("View by view").picture(picture::views(estimate, metrics).picture()),
        Section::new("Class by class").picture(picture::classes(estimate, metrics).picture()),
        Section::new("Confusion").picture(picture::confusion(estimate, metrics).picture()),
        Section::new("Calibration").picture(picture::calibration(metrics).picture()),
        independence(estimate),
        every_metric(metrics),
    ]
}

/// A metric in every way that it is estimated.
fn every_way(metric: &Metric) -> Vec<String> {
    let shown = |measured: &Measured| with_error(measured.value, measured.standard_error);
    let belief = if metric.belief.abs() < 1e-12 { 0.0 } else { metric.belief };
    vec![
        metric.name.to_owned(),
        shown(&metric.estimate),
        text::range(metric.estimate.interval),
        shown(&metric.triples),
        shown(&metric.posterior),
        plain(belief),
    ]
}

/// What another model's output is worth.
fn predicted(prediction: &PredictionMetrics) -> Section {
    let columns = ["metric", "estimate", "interval", "by labels", "by the posterior", "its own belief"];
    Section::new("The prediction that rides along")
        .words("The output of another model, which is no view, judged by what the views say of each row.")
        .words(text::knowing_no_more(prediction))
        .words(text::disagreement(prediction).unwrap_or_default())
        .table(Table::of_numbers(columns, prediction.all().map(every_way)))
        .wide()
}

fn every_metric(metrics: &Metrics) -> Section {
    let columns =
        ["metric", "estimate", "interval", "by triples", "by the posterior", "the model\u{2019}s belief"];
    let disagree: Vec<&str> =
        metrics.all().iter().filter(|metric| metric.disagree).map(|metric| metric.name).collect();
    let words = match disagree.is_empty() {
        true => String::new(),
        false => format!(
            "By triples and by the posterior they disagree beyond their errors: {}; the posterior is not right there.",
            disagree.join(", ")
        ),
    };
    let table = Table::of_numbers(columns, metrics.all().map(every_way));
    Section::new("All metrics of the whole prediction").words(words).table(table).wide()
}

/// The test of what it rests on.
pub(super) fn independence(estimate: &Estimate) -> Section {
    let test = &estimate.independence;
    let section = Section::new("What it rests on: independence given the class").words(match &test.reason {
        Some(reason) => format!("Not tested: {reason}."),
        None => sentence(&text::verdict(estimate)),
    });
    match test.reason {
        Some(_) => section,
        None => section.picture(picture::dependence(estimate).picture()),
    }
}

/// What speaks against each segment's answer.
fn by_segment(segmented: &Segmented) -> Section {
    let mut rows = Vec::new();
    for segment in segmented.segments.iter().take(SEGMENTS) {
        let against = match &segment.outcome {
            Ok(estimate) => estimate.alarms.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
            Err(error) => error.clone(),
        };
        let test = segment.outcome.as_ref().ok().and_then(|estimate| estimate.independence.p_value);
        let test = test.map_or("untested".to_owned(), p_value);
        let trusted = segment.outcome.as_ref().is_ok_and(Estimate::trusted);
        let trusted = if trusted { "yes" } else { "no" };
        rows.push(vec![segment.name.clone(), count(segment.rows), test, trusted.to_owned(), against]);
    }
    let align = [Align::Left, Align::Right, Align::Left, Align::Left, Align::Left];
    let columns = [segmented.column.as_str(), "rows", "independence", "trusted", "what speaks against it"];
    let columns = columns.iter().zip(align).map(|(name, align)| ((*name).to_owned(), align)).collect();
    Section::new("Segment by segment").table(Table { columns, rows }).wide()
}

/// How often one model alone is wrong, segment by segment, where that was asked.
fn alone_by_segment(segmented: &Segmented) -> Option<Section> {
    let mut rows = segmented.alone()?;
    let header = rows.remove(0);
    rows.truncate(SEGMENTS);
    let words = "The error rates of the models that are judged by themselves, with their standard errors.";
    let section = Section::new("One model alone, segment by segment").words(words);
    Some(section.table(Table::of_numbers(header, rows)).wide())
}

/// What the labels say, segment by segment, where there are any.
fn labels_by_segment(segmented: &Segmented) -> Option<Section> {
    let mut rows = segmented.by_labels()?;
    let header = rows.remove(0);
    rows.truncate(SEGMENTS);
    let section = Section::new("What the labels say, segment by segment").words(RECALIBRATED);
    Some(section.table(Table::of_numbers(header, rows)).wide())
}

/// How many segments are to be trusted by themselves.
fn segments_said(segmented: &Segmented) -> String {
    let all = segmented.segments.len();
    let doubted =
        segmented.segments.iter().filter(|it| !it.outcome.as_ref().is_ok_and(Estimate::trusted)).count();
    match doubted {
        0 => format!("By themselves, all {all} segments can be answered."),
        _ => format!(
            "By themselves, {doubted} of the {all} segments are not to be trusted: they have too few rows, or a check speaks against them."
        ),
    }
}

/// What the views say of each class on its own rows.
fn scores(estimate: &Estimate) -> Section {
    let shown = picture::foremost(estimate.classes.len(), CLASSES, |j| estimate.class_prior[j]);
    let cells = |&j: &usize| {
        let scores = estimate.conditional_risk.iter().zip(&estimate.conditional_risk_interval);
        let scores = scores.map(move |(m, i)| format!("{} ({})", plain(m[j][j]), text::range(i[j][j])));
        [estimate.classes[j].clone()].into_iter().chain(scores).collect()
    };
    let columns = ["class".to_owned()].into_iter().chain(estimate.holders.iter().cloned());
    Section::new("What each view says of each class on its own rows")
        .words("The conditional risk: the mean of the view\u{2019}s term of the loss, E[f(x, j) | y = j].")
        .words(picture::left_out(shown.len(), estimate.classes.len(), "classes"))
        .table(Table::of_numbers(columns, shown.iter().map(cells).collect::<Vec<_>>()))
        .wide()
}

/// What was looked at, and how well it could be known.
fn looked_at(estimate: &Estimate) -> Section {
    let model = estimate.model.as_ref().map(|views| ("judged", names(views, NAMES)));
    let facts = [
        ("rows", count(estimate.rows)),
        ("views", names(&estimate.views, NAMES)),
        ("classes", format!("{}: {}", estimate.classes.len(), names(&estimate.classes, NAMES))),
        ("loss", text::name(&estimate.loss, 40)),
    ];
    Section::new("What was looked at")
        .facts(facts)
        .facts(model)
        .facts(text::floor(estimate))
        .facts(facts_of(estimate))
        .wide()
}

/// The page of a diagnosis.
pub fn diagnosis(estimate: &Estimate, remedies: Option<&Remedies>, front: Front) -> Page {
    let standing = standing(estimate);
    let reasons = reasons(&estimate.alarms, front, Subject::Diagnosis);
    let checks = reasons.len();
    let headline = match standing {
        Standing::Trusted => {
            "An estimate from these rows can be relied on: no check speaks against it.".to_owned()
        }
        Standing::Untested => {
            "Whether an estimate from these rows can be relied on could not be tested.".to_owned()
        }
        Standing::Doubted if checks == 1 => {
            "Do not rely on an estimate from these rows: a check speaks against it.".to_owned()
        }
        Standing::Doubted => {
            format!("Do not rely on an estimate from these rows: {checks} checks speak against it.")
        }
    };
    let test = estimate.independence.p_value.map_or("untested".to_owned(), p_value);
    let needed = text::rows_needed(estimate.conditioning.rows_needed);
    let tiles = vec![
        Tile::new("test of independence", test, "of the views given the class"),
        Tile::new("rows", count(estimate.rows), format!("{needed} are needed to tell all classes apart")),
        Tile::new("classes", estimate.classes.len().to_string(), String::new()),
        Tile::new("views", estimate.views.len().to_string(), names(&estimate.groups, 60)),
    ];
    Page {
        about: "whether the views are independent",
        standing,
        headline,
        lead: vec![format!("What no rows without labels can show: {}.", unseen(estimate).join(", "))],
        reasons,
        tiles,
        sections: [Some(independence(estimate).wide())]
            .into_iter()
            .chain([remedies.map(tried)])
            .chain([Some(Section::new("Class by class").picture(picture::prior(estimate).picture()))])
            .chain([Some(looked_at(estimate))])
            .flatten()
            .collect(),
    }
}

/// What was tried, and what it would answer.
fn tried(remedies: &Remedies) -> Section {
    let table = Table::of_numbers(Remedies::COLUMNS, remedies.rows());
    let section = Section::new("What may help").table(table).wide();
    remedies.remarks().into_iter().fold(section, Section::words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Made;
    use crate::text::example;
    use triview::answer::Interval;
    use triview::diagnostics::{Alarm, Verdict};

    fn html(page: &Page) -> String {
        page.html(&Made { version: "1.2.3", seed: 7, inputs: Vec::new() }, "triview estimate")
    }

    #[test]
    fn many_classes_are_cut_and_said_to_be() {
        let page = html(&estimate(&example(100), Beside::default(), Front::CommandLine));
        assert!(page.contains("76 of 100 classes are left out here"), "{page}");
        assert!(page.contains(
            "The mean log loss is about 0.1712; with 95% confidence it is between 0.159 and 0.184."
        ));
        assert!(page.len() < 200_000);
    }

    #[test]
    fn what_is_unknown_is_said_and_never_drawn() {
        let mut unknown = example(3);
        unknown.risk = f64::NAN;
        unknown.standard_error = f64::INFINITY;
        unknown.interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
        unknown.class_prior_interval[1] = Interval { low: f64::NAN, high: f64::NAN };
        unknown.alarms = vec![Alarm::NotFinite, Alarm::NotConverged];
        let page = estimate(&unknown, Beside::default(), Front::CommandLine);
        assert_eq!(page.standing, Standing::Doubted);
        assert_eq!(page.headline, "Do not rely on these numbers: 2 checks speak against them.");
        assert_eq!((page.picture(), page.reasons.len()), (None, 2));
        let page = html(&page);
        assert!(!page.contains("NaN") && !page.contains("inf\"") && page.contains("is not known"), "{page}");
    }

    #[test]
    fn what_could_not_be_tested_says_so() {
        let mut untested = example(3);
        untested.independence.verdict = Verdict::Untestable;
        untested.independence.reason = Some("there is too little to test with".into());
        for page in
            [estimate(&untested, Beside::default(), Front::Python), diagnosis(&untested, None, Front::Python)]
        {
            assert_eq!(page.standing, Standing::Untested);
            let page = html(&page);
            assert!(page.contains("Untested</p>") && page.contains("too little to test with"), "{page}");
        }
        assert_eq!(diagnosis(&untested, None, Front::Python).picture(), None);
    }
}
