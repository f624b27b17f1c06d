//! Answers for each value of a column.

use crate::json::{EstimateObject, Made, SegmentLabelsObject};
use crate::text::{Align, WIDTH, aligned, count, name, range, with_error, wrapped};
use crate::words::Front;
use serde::Serialize;
use triview::diagnostics::LEVEL;
use triview::estimator::few_labels::{ByLabels, Lead, SegmentByLabels};
use triview::estimator::{Drift, Estimate};
use triview::metrics::Metric;

/// Room for the name of a segment.
const NAME_WIDTH: usize = 24;
/// What is said of numbers with a star.
pub(crate) const RECALIBRATED: &str = "* by the posterior that all labels recalibrate, if it is about right in the segment; the others hold whatever the views do.";

/// What the rows of one segment say.
#[derive(Debug)]
pub struct Segment {
    /// The value of the column.
    pub name: String,
    /// How many rows have it.
    pub rows: u64,
    /// The answer, or why there is none.
    pub outcome: Result<Estimate, String>,
    /// What the labels of some rows say of these, where there are any.
    pub by_labels: Option<SegmentByLabels>,
}

/// The answers of all segments.
#[derive(Debug)]
pub struct Segmented {
    /// The column.
    pub column: String,
    /// One for each of its values, in the order of their first rows, or of time.
    pub segments: Vec<Segment>,
    /// Whether these are periods, in the order of time.
    pub in_time: bool,
    /// Why the answer of all rows is that of the segments, where it is.
    pub drift: Option<Drift>,
}

/// How many of so many segments would be wrong by chance alone: each is judged as if it were the only one.
#[derive(Debug, Clone, Copy, Serialize)]
struct ByChance {
    /// Intervals that do not hold the risk.
    intervals_missed: f64,
    /// Tests of independence that reject what holds.
    tests_failed: f64,
}

/// The object of the whole, and beside its keys those of the segments.
#[derive(Debug, Serialize)]
pub struct SegmentedObject<'a> {
    #[serde(flatten)]
    whole: EstimateObject<'a>,
    by: By<'a>,
}

#[derive(Debug, Serialize)]
struct By<'a> {
    column: &'a str,
    by_chance: ByChance,
    #[serde(skip_serializing_if = "Option::is_none")]
    drift: Option<Drift>,
    segments: Vec<SegmentObject<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum SegmentObject<'a> {
    Answered {
        segment: &'a str,
        #[serde(flatten)]
        estimate: Box<EstimateObject<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        labels: Option<SegmentLabelsObject>,
    },
    Unanswered {
        segment: &'a str,
        rows: u64,
        error: &'a str,
        trusted: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        labels: Option<SegmentLabelsObject>,
    },
}

impl Segmented {
    /// Whether any of the answers is to be trusted.
    pub fn any_trusted(&self) -> bool {
        self.segments.iter().any(|segment| segment.outcome.as_ref().is_ok_and(Estimate::trusted))
    }

    /// Takes the answer of all rows from the segments, where only all of them together make views that depend on each other.
    pub fn judge(&mut self, whole: Estimate) -> Estimate {
        let parts: Result<Vec<&Estimate>, _> =
            self.segments.iter().map(|segment| segment.outcome.as_ref()).collect();
        match parts.ok().and_then(|parts| whole.of_segments(&parts)) {
            Some((pooled, drift)) => {
                self.drift = Some(drift);
                pooled
            }
            None => whole,
        }
    }

    fn by_chance(&self) -> ByChance {
        let answered = self.segments.iter().filter_map(|segment| segment.outcome.as_ref().ok());
        ByChance {
            intervals_missed: answered.clone().map(|estimate| 1.0 - estimate.level).sum(),
            tests_failed: LEVEL
                * answered.filter(|estimate| estimate.independence.p_value.is_some()).count() as f64,
        }
    }

    /// The object of `--json`. A segment has what the whole has: all metrics, or none.
    pub fn object<'a>(
        &'a self,
        whole: EstimateObject<'a>,
        (front, made, metrics): (Front, Option<&'a Made>, bool),
    ) -> SegmentedObject<'a> {
        let segments = self.segments.iter().map(|segment| match &segment.outcome {
            Ok(estimate) => SegmentObject::Answered {
                segment: &segment.name,
                estimate: Box::new(EstimateObject::new(estimate, front, made).metrics(metrics)),
                labels: segment.by_labels.as_ref().map(SegmentLabelsObject::new),
            },
            Err(error) => SegmentObject::Unanswered {
                segment: &segment.name,
                rows: segment.rows,
                error,
                trusted: false,
                labels: segment.by_labels.as_ref().map(SegmentLabelsObject::new),
            },
        });
        let by_chance = self.by_chance();
        let segments = segments.collect();
        SegmentedObject { whole, by: By { column: &self.column, by_chance, drift: self.drift, segments } }
    }

    /// What is to be kept in mind when so many are looked at, and why the answer of all rows is theirs where it is.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let ByChance { intervals_missed, tests_failed } = self.by_chance();
        let chance = format!(
            "Each is judged as if it were the only one: of so many, {intervals_missed:.1} intervals miss their risk and \
             {tests_failed:.1} tests fail by chance."
        );
        let drift = self.drift.as_ref().map(|drift| {
            format!(
                "The answer of all rows is the mean of these: in all rows the views depend on each other (p = {:.3}), within the \
                 segments they do not (p = {:.3} to {:.3}, {:.3} together). Rows that change from segment to segment make it so.",
                drift.whole_p_value, drift.smallest_p_value, drift.largest_p_value, drift.segments_p_value
            )
        });
        [chance].into_iter().chain(drift).collect()
    }

    /// How often each view alone is wrong in each segment, and another model's output, where that was asked: a row a segment after that of the names.
    pub(crate) fn alone(&self) -> Option<Vec<Vec<String>>> {
        let answered = || self.segments.iter().filter_map(|segment| segment.outcome.as_ref().ok());
        let each = answered().find_map(|estimate| estimate.each.as_ref());
        let views = each.map_or(&[][..], |each| &each.views);
        let predicted = answered().any(|estimate| estimate.prediction.is_some());
        if views.is_empty() && !predicted {
            return None;
        }
        let mut header = vec![self.column.clone()];
        header.extend(views.iter().map(|view| view.view.clone()));
        header.extend(predicted.then(|| "prediction".to_owned()));
        let row = |segment: &Segment| {
            let estimate = segment.outcome.as_ref().ok();
            let shown = |metric: Option<&Metric>| {
                metric
                    .map_or("none".to_owned(), |of| with_error(of.estimate.value, of.estimate.standard_error))
            };
            let of_view = |at: usize| {
                let view = estimate.and_then(|estimate| estimate.each.as_ref()?.views.get(at));
                shown(view.and_then(|view| Some(&view.metrics.as_ref()?.error_rate)))
            };
            let said = estimate.and_then(|estimate| estimate.prediction.as_ref());
            let mut row = vec![segment.name.clone()];
            row.extend((0..views.len()).map(of_view));
            row.extend(predicted.then(|| shown(said.map(|said| &said.error_rate))));
            row
        };
        Some([header].into_iter().chain(self.segments.iter().map(row)).collect())
    }

    /// What the labels say of each segment, where there are any: a row a segment after that of the names.
    pub(crate) fn by_labels(&self) -> Option<Vec<Vec<String>>> {
        if self.segments.iter().all(|segment| segment.by_labels.is_none()) {
            return None;
        }
        let header = [self.column.as_str(), "labels", "risk", "interval", "error rate", "interval"];
        let both = |of: Option<&ByLabels>| match of {
            Some(ByLabels { leading, leads, .. }) => {
                let mark = if *leads == Lead::Recalibrated { "*" } else { "" };
                [with_error(leading.value, leading.standard_error) + mark, range(leading.interval)]
            }
            None => ["unknown".to_owned(), String::new()],
        };
        let row = |segment: &Segment| {
            let of = segment.by_labels.as_ref();
            let labels = count(of.map_or(0, |of| of.labels) as u64);
            let risk = both(of.and_then(|of| of.risk.as_ref()));
            let rate = both(of.and_then(|of| of.error_rate.as_ref()));
            [segment.name.clone(), labels].into_iter().chain(risk).chain(rate).collect()
        };
        Some([header.map(str::to_owned).to_vec()].into_iter().chain(self.segments.iter().map(row)).collect())
    }

    /// A line for each segment, then what speaks against some of them.
    pub fn text(&self) -> String {
        let column = name(&self.column, NAME_WIDTH);
        let header = [column.as_str(), "rows", "risk", "interval", "error rate", "independence", ""];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        let mut remarks = Vec::new();
        for segment in &self.segments {
            let label = name(&segment.name, NAME_WIDTH);
            let rows_of = count(segment.rows);
            rows.push(match &segment.outcome {
                Ok(estimate) => {
                    let p = estimate.independence.p_value;
                    remarks.extend(estimate.alarms.iter().map(|alarm| (label.clone(), alarm.to_string())));
                    let error_rate = match &estimate.metrics {
                        Ok(metrics) => {
                            let rate = metrics.error_rate.estimate;
                            with_error(rate.value, rate.standard_error)
                        }
                        Err(why) => {
                            remarks.push((label.clone(), format!("the error rate is not known: {why}")));
                            "none".to_owned()
                        }
                    };
                    vec![
                        label,
                        rows_of,
                        with_error(estimate.risk, estimate.standard_error),
                        range(estimate.interval),
                        error_rate,
                        p.map_or("untestable".to_owned(), |p| format!("p = {p:.3}")),
                        if estimate.trusted() { String::new() } else { "not to be trusted".to_owned() },
                    ]
                }
                Err(error) => {
                    remarks.push((label.clone(), error.clone()));
                    vec![label, rows_of, "none".to_owned()]
                }
            });
        }
        let mut align = [Align::Right; 7];
        (align[0], align[6]) = (Align::Left, Align::Left);
        let mut text = aligned(&align, rows);
        text.push('\n');
        if let Some([header, rows @ ..]) = self.alone().as_deref() {
            let mut align = vec![Align::Right; header.len()];
            align[0] = Align::Left;
            let all = [header]
                .into_iter()
                .chain(rows)
                .map(|row| row.iter().map(|cell| name(cell, NAME_WIDTH)).collect());
            text += &format!("\nerror rates of one model alone\n\n{}\n\n", aligned(&align, all));
        }
        if let Some(rows) = self.by_labels() {
            let mut align = [Align::Right; 6];
            align[0] = Align::Left;
            let short = rows.iter().map(|row| {
                let rest = row[1..].iter().cloned();
                std::iter::once(name(&row[0], NAME_WIDTH)).chain(rest).collect()
            });
            let table = aligned(&align, short.collect::<Vec<Vec<String>>>());
            text += &format!("\nby the labels\n\n{table}\n{}\n\n", wrapped(RECALIBRATED, WIDTH, 0));
        }
        for words in self.remarks() {
            text += &format!("{}\n", wrapped(&words, WIDTH, 0));
        }
        if !remarks.is_empty() {
            text.push('\n');
            for (label, remark) in remarks {
                text += &wrapped(&format!("- {label}: {remark}"), WIDTH, 2);
                text.push('\n');
            }
        }
        text
    }
}
