//! The answers for a program: one object, whose keys are stable.
//!
//! JSON has no word for infinity, nor for what is not a number: what is unknown is `null`. A key that is not asked for is absent.

mod adaptation;
mod each;
mod estimate;
mod labelled;
mod prediction;
mod sequences;
mod votes;

pub use adaptation::AdaptObject;
pub use estimate::{Diagnosis, EstimateObject, GroupingObject};
pub(crate) use labelled::SegmentLabelsObject;
pub use labelled::{BudgetObject, LabelsObject};
pub use sequences::SequencesObject;
pub use votes::VotesObject;

use crate::words::{Front, Subject};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use std::borrow::Cow;
use std::io::{self, Write};
use triview::answer::Interval;
use triview::diagnostics::Alarm;
use triview::metrics::Measured;

/// The version of every object printed here.
pub const SCHEMA: u32 = 1;

/// How an answer was made.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Made {
    /// The version of the program.
    pub version: &'static str,
    /// The seed of everything random.
    pub seed: u64,
    /// What it was made from.
    pub inputs: Vec<String>,
}

/// The interval of the risk.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct LevelledInterval {
    level: f64,
    low: f64,
    high: f64,
}

impl LevelledInterval {
    pub(crate) fn new(level: f64, Interval { low, high }: Interval) -> Self {
        Self { level, low, high }
    }
}

/// An estimate and how far it may be off.
#[derive(Debug, serde::Serialize)]
pub(crate) struct MeasuredObject {
    value: f64,
    standard_error: f64,
    interval: Interval,
}

impl MeasuredObject {
    pub(crate) fn new(measured: &Measured) -> Self {
        let Measured { value, standard_error, interval } = *measured;
        Self { value, standard_error, interval }
    }
}

/// An alarm with its code and numbers, in words, and what to do.
#[derive(Debug, serde::Serialize)]
pub(crate) struct AlarmObject<'a> {
    #[serde(flatten)]
    alarm: &'a Alarm,
    message: String,
    remedy: String,
}

/// Alarms in words, and in detail.
pub(crate) fn alarms(all: &[Alarm], front: Front) -> (Vec<String>, Vec<AlarmObject<'_>>) {
    alarms_of(all, front, Subject::Rows)
}

/// The same, of what they are said.
pub(crate) fn alarms_of(
    all: &[Alarm],
    front: Front,
    subject: Subject,
) -> (Vec<String>, Vec<AlarmObject<'_>>) {
    let details = all.iter().map(|alarm| AlarmObject {
        alarm,
        message: subject.message(alarm),
        remedy: front.remedy_of(alarm, subject),
    });
    (all.iter().map(|alarm| subject.message(alarm)).collect(), details.collect())
}

/// Rows in which each view is missing, where any is.
pub fn missing<'a>(views: &'a [String], rows: &'a [u64]) -> Option<ByName<'a, u64>> {
    rows.iter().any(|rows| *rows > 0).then_some(ByName { names: views, values: rows.into() })
}

/// The names of the views of some sets.
pub fn named<'a, 's>(views: &'a [String], sets: impl Iterator<Item = &'s Vec<usize>>) -> Vec<Vec<&'a str>> {
    sets.map(|set| set.iter().map(|&view| views[view].as_str()).collect()).collect()
}

/// Values under names, in the order of the names.
#[derive(Debug)]
pub struct ByName<'a, T: Clone> {
    /// The keys.
    pub names: &'a [String],
    /// A value for each.
    pub values: Cow<'a, [T]>,
}

impl<T: Serialize + Clone> Serialize for ByName<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.names.len()))?;
        for (name, value) in self.names.iter().zip(&*self.values) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// An object as text: a line for each key, arrays in one line, a line break at the end.
pub fn to_text(object: &impl Serialize) -> serde_json::Result<String> {
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, Layout::default());
    object.serialize(&mut serializer)?;
    text.push(b'\n');
    String::from_utf8(text).map_err(serde::ser::Error::custom)
}

/// Objects over lines as a person reads them, arrays in one line: a matrix would fill pages otherwise.
#[derive(Default)]
struct Layout {
    pretty: PrettyFormatter<'static>,
    arrays: usize,
}

impl Formatter for Layout {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.arrays += 1;
        CompactFormatter.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.arrays -= 1;
        CompactFormatter.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.arrays > 0 { CompactFormatter.begin_object(writer) } else { self.pretty.begin_object(writer) }
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.arrays > 0 { CompactFormatter.end_object(writer) } else { self.pretty.end_object(writer) }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if self.arrays == 0 {
            self.pretty.begin_object_key(writer, first)
        } else if first {
            Ok(())
        } else {
            writer.write_all(b", ")
        }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.arrays > 0 { Ok(()) } else { self.pretty.end_object_value(writer) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_in_arrays_stay_in_their_line() {
        let rows = serde_json::json!({ "rows": [{ "a": 1, "b": [] }, { "a": 2, "b": [3, 4] }], "none": {} });
        let text = to_text(&rows).expect("serialisable");
        let expected =
            "{\n  \"none\": {},\n  \"rows\": [{\"a\": 1, \"b\": []}, {\"a\": 2, \"b\": [3, 4]}]\n}\n";
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("JSON"), rows);
    }
}
