//! Answers for each value of a column.

use crate::json::{EstimateObject, Made};
use crate::text::{Align, WIDTH, aligned, count, name, range, with_error, wrapped};
use crate::words::Front;
use serde::Serialize;
use triview::diagnostics::LEVEL;
use triview::estimator::{Drift, Estimate};

/// Room for the name of a segment.
const NAME_WIDTH: usize = 24;

/// What the rows of one segment say.
#[derive(Debug)]
pub struct Segment {
    /// The value of the column.
    pub name: String,
    /// How many rows have it.
    pub rows: u64,
    /// The answer, or why there is none.
    pub outcome: Result<Estimate, String>,
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
    },
    Unanswered {
        segment: &'a str,
        rows: u64,
        error: &'a str,
        trusted: bool,
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
            },
            Err(error) => SegmentObject::Unanswered {
                segment: &segment.name,
                rows: segment.rows,
                error,
                trusted: false,
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
