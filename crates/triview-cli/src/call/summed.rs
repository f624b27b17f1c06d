//! Answers of moments whose rows were summed elsewhere, on one machine or on many.

use super::{Asked, FRONT};
use crate::answer::{Answer, in_words, made};
use crate::args::{By, Global, InputArgs};
use crate::commands::label;
use crate::inputs::open_tables;
use anyhow::Result;
use std::collections::HashMap;
use std::sync::Arc;
use triview::data::{Sample, Schema, Source};
use triview::estimator::Labeller;
use triview::{Moments, Plan};
use triview_report::html::{self, Beside};
use triview_report::json::{self, Diagnosis, EstimateObject};
use triview_report::segments::{Segment, Segmented};
use triview_report::text;
use triview_table::Table;

/// The moments of the rows of each value of a column.
#[derive(Debug)]
pub struct SummedBy {
    /// The column.
    pub column: String,
    /// Its values, in the order of the answer, and the moments of their rows.
    pub segments: Vec<(String, Arc<Moments>)>,
}

/// Whether the views of moments are independent given the class.
///
/// # Errors
/// Whatever keeps these moments from being answered.
pub fn diagnose(moments: &Moments, level: f64, seed: u64) -> Result<Answer, String> {
    let solved = moments.solve(level, seed).map_err(|error| in_words(&error.into(), FRONT))?;
    let estimate = solved.estimate();
    let made = made(seed, &[]);
    let object = json::to_text(&Diagnosis::new(&estimate, FRONT, &made));
    let object = object.map_err(|error| error.to_string())?;
    let shown = text::diagnosis(&estimate, FRONT);
    let page = html::diagnosis(&estimate, None, FRONT);
    let command = format!("moments.diagnose(level={level}, seed={seed})");
    let global = Global { front: FRONT, command, ..Global::default() };
    let answer = Answer::new(shown).with_json(object, false).trusted(estimate.trusted());
    answer.with_page(&page, &made, &global, None).map_err(|error| in_words(&error, FRONT))
}

/// What labels the rows of moments.
///
/// # Errors
/// Whatever keeps these moments from being answered.
pub fn labeller(moments: &Moments, seed: u64) -> Result<Labeller, String> {
    // Labels have no intervals, and so no level.
    let labeller = moments.solve(0.95, seed).and_then(|solved| solved.labeller());
    labeller.map_err(|error| in_words(&error.into(), FRONT))
}

/// The names and the values of columns.
pub type Columns = Vec<(String, Vec<f64>)>;

impl Asked {
    /// The views and classes of these rows, and the names of the columns that are not read.
    ///
    /// # Errors
    /// Whatever keeps them from being read, and more classes than moments are formed for.
    pub fn schema(&self) -> Result<(Schema, Vec<String>), String> {
        self.seen().map_err(|error| in_words(&error, FRONT))
    }

    fn seen(&self) -> Result<(Schema, Vec<String>)> {
        self.input.method.estimator(&self.global)?;
        let table = open_tables(&self.input.inputs, &self.input.table, None, None)?;
        Plan::check_size(table.schema().k())?;
        Ok((table.schema().clone(), table.ignored_columns().to_vec()))
    }

    /// The answer of moments, and of each segment's, of whose rows these are an even sample.
    ///
    /// # Errors
    /// Whatever keeps the sample from being read, or the moments from being answered.
    pub fn solve(&self, whole: &Moments, by: Option<&SummedBy>, metrics: bool) -> Result<Answer, String> {
        self.solved(whole, by, metrics).map_err(|error| in_words(&error, FRONT))
    }

    fn solved(&self, whole: &Moments, by: Option<&SummedBy>, metrics: bool) -> Result<Answer> {
        let estimator = self.input.method.estimator(&self.global)?;
        let table = self.like(whole.plan(), by)?;
        let sample = Sample::of(&table)?;
        let mut estimate = estimator.answer(whole, Some(&sample))?;
        let mut segmented = by.map(|by| {
            let keys = keys(&table, &sample);
            let segment = |(name, moments): &(String, Arc<Moments>)| {
                let rows = moments.rows();
                // A segment with none of the sampled rows has moments, but no metrics.
                let sampled = keys.get(name).map(|key| sample.of_segment(*key, rows));
                let outcome = estimator.answer(moments, sampled.as_ref()).map_err(|error| error.to_string());
                Segment { name: name.clone(), rows, outcome, by_labels: None }
            };
            let segments = by.segments.iter().map(segment).collect();
            Segmented { column: by.column.clone(), segments, in_time: false, drift: None }
        });
        if let Some(segmented) = &mut segmented {
            estimate = segmented.judge(estimate);
        }
        let made = made(self.global.seed, &[]);
        let object = EstimateObject::new(&estimate, FRONT, Some(&made)).metrics(metrics);
        let mut shown = text::estimate(&estimate, None, FRONT, false);
        if let (true, Ok(metrics)) = (metrics, &estimate.metrics) {
            shown = format!("{shown}\n{}", text::metrics(&estimate, metrics));
        }
        let object = match &segmented {
            None => json::to_text(&object)?,
            Some(segmented) => {
                shown = format!("{shown}\n{}", segmented.text());
                json::to_text(&segmented.object(object, (FRONT, Some(&made), metrics)))?
            }
        };
        let some_segment = segmented.as_ref().is_none_or(Segmented::any_trusted);
        let page =
            html::estimate(&estimate, Beside { segments: segmented.as_ref(), ..Beside::default() }, FRONT);
        let answer = Answer::new(shown).with_json(object, false).trusted(estimate.trusted() && some_segment);
        answer.with_page(&page, &made, &self.global, None)
    }

    /// The surrogate labels and the posteriors of these rows.
    ///
    /// # Errors
    /// Whatever keeps the rows from being read.
    pub fn label(&self, plan: &Plan, labeller: &Labeller) -> Result<Columns, String> {
        self.labelled(plan, labeller).map_err(|error| in_words(&error, FRONT))
    }

    fn labelled(&self, plan: &Plan, labeller: &Labeller) -> Result<Columns> {
        let mut columns: Columns = label::columns(labeller.schema()).map(|name| (name, Vec::new())).collect();
        for batch in self.like(plan, None)?.batches()? {
            for ((_, values), more) in columns.iter_mut().zip(label::labels(labeller, &*batch?)?) {
                values.extend(more);
            }
        }
        Ok(columns)
    }

    /// These rows, read as those of a plan.
    fn like(&self, plan: &Plan, by: Option<&SummedBy>) -> Result<Table> {
        let InputArgs { inputs, table, .. } = &self.input;
        let by = by.map(|by| By { column: &by.column, period: None });
        open_tables(inputs, table, Some(plan.schema()), by)
    }
}

/// The keys of the segments that sampled rows are of, by name.
fn keys(table: &Table, sample: &Sample) -> HashMap<String, u64> {
    let keys = sample.rows().segments().unwrap_or_default();
    keys.iter().filter_map(|key| Some((table.segment_name(*key)?, *key))).collect()
}
