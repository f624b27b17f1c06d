//! A model that is no sum of views, and how often intervals of the error rate hold, on composite MNIST.

use crate::trust::model;
use crate::{Mnist, SEED};
use anyhow::{Context, Result};
use std::io::Write;
use triview::data::{Batch, InMemory, Schema};
use triview::estimator::{Estimate, Params};
use triview::lab::{Composites, Recipe};
use triview::learning::error_rate;

const ROWS: usize = 10_000;

fn answered(schema: &Schema, scores: Batch) -> Result<Estimate> {
    Ok(Params::new().seed(SEED).check()?.estimate(&InMemory::new(schema.clone(), [scores]))?)
}

/// The average of the views' probabilities, class by class.
fn average(scores: &Batch) -> Vec<f64> {
    let (n, k) = (scores.rows(), scores.k());
    let mut average = vec![0.0; n * k];
    for view in 0..scores.views() {
        for row in 0..n {
            let score = |class: usize| scores.column(view, class)[row];
            let largest = (0..k).map(score).fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = (0..k).map(|class| (score(class) - largest).exp()).sum();
            for class in 0..k {
                average[class * n + row] += (score(class) - largest).exp() / sum / scores.views() as f64;
            }
        }
    }
    average
}

/// The average of the views' probabilities as another model: its error rate against the labels of the same rows.
pub(crate) fn prediction(out: &mut impl Write) -> Result<()> {
    const DRAWS: u64 = 10;
    let mnist = Mnist::read()?;
    let model = model(&mnist)?;
    writeln!(
        out,
        "\n### The average of the views' probabilities, composite MNIST: {DRAWS} draws of {ROWS} rows\n"
    )?;
    writeln!(
        out,
        "| a | its error rate | that of the summed scores | error in labelled standard errors | the model's belief | covered |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|")?;
    for a in [0.0, 2.5, 5.0] {
        let [mut truth, mut summed, mut squares, mut belief] = [0.0; 4];
        let mut covered = 0;
        for draw in 0..DRAWS {
            let rows = Composites::draw(&mnist.test, &Recipe::new(ROWS).distortion(a), 66_000 + draw)?;
            let scores = model.scores(rows.batch())?;
            let said = average(&scores);
            summed += error_rate(&scores, rows.labels()).value / DRAWS as f64;
            let silent = vec![0.0; said.len()];
            let alone = Batch::new(ROWS, [said.clone(), silent.clone(), silent])?;
            let wrong = error_rate(&alone, rows.labels());
            let estimate = answered(&mnist.schema, scores.with_prediction(said)?)?;
            let own = estimate.prediction.context("it rides along")?.error_rate;
            truth += wrong.value / DRAWS as f64;
            squares += ((own.estimate.value - wrong.value) / wrong.standard_error).powi(2) / DRAWS as f64;
            belief += ((own.belief - wrong.value) / wrong.standard_error).powi(2) / DRAWS as f64;
            let interval = own.estimate.interval;
            covered += usize::from(interval.low <= wrong.value && wrong.value <= interval.high);
        }
        let [root, belief] = [squares.sqrt(), belief.sqrt()];
        writeln!(out, "| {a} | {truth:.4} | {summed:.4} | {root:.2} | {belief:.1} | {covered} |")?;
        out.flush()?;
    }
    Ok(())
}

/// How often the interval of the summed scores' error rate holds the population's.
pub(crate) fn error_rates(out: &mut impl Write) -> Result<()> {
    const DRAWS: u64 = 40;
    let mnist = Mnist::read()?;
    let model = model(&mnist)?;
    writeln!(out, "\n### Intervals of the error rate, composite MNIST: {DRAWS} draws of {ROWS} rows\n")?;
    writeln!(
        out,
        "| a | error rate | intervals that hold | mean width, in labelled standard errors |\n|---|---|---|---|"
    )?;
    for a in [0.0, 5.0, 10.0] {
        let mut population = 0.0;
        for part in 0..10 {
            let rows = Composites::draw(&mnist.test, &Recipe::new(20_000).distortion(a), 62_000 + part)?;
            population += error_rate(&model.scores(rows.batch())?, rows.labels()).value / 10.0;
        }
        let labelled = (population * (1.0 - population) / ROWS as f64).sqrt();
        let (mut held, mut width) = (0, 0.0);
        for draw in 0..DRAWS {
            let rows = Composites::draw(&mnist.test, &Recipe::new(ROWS).distortion(a), 67_000 + draw)?;
            let estimate = answered(&mnist.schema, model.scores(rows.batch())?)?;
            let interval = estimate.metrics.context("rows were at hand")?.error_rate.estimate.interval;
            held += usize::from(interval.low <= population && population <= interval.high);
            width += (interval.high - interval.low) / labelled / DRAWS as f64;
        }
        writeln!(out, "| {a} | {population:.4} | {held} | {width:.1} |")?;
        out.flush()?;
    }
    Ok(())
}
