//! How the error of what learning without labels rests on falls with the rows.

use crate::{Mnist, SEED};
use anyhow::Result;
use std::io::Write;
use triview::data::{InMemory, Sample};
use triview::estimator::Params;
use triview::lab::{Composites, Recipe};
use triview::learning::{FeatureBatch, LogisticModel, LogisticParams};

const DRAWS: u64 = 4;
const DISTORTION: f64 = 5.0;

/// The distance of `phi-bar` (eq. 7) without labels from that of the same rows' labels, by the number of rows.
pub(crate) fn phi_bar(out: &mut impl Write) -> Result<()> {
    let mnist = Mnist::read()?;
    let training = Composites::draw(&mnist.train, &Recipe::new(10_000), SEED)?;
    let model = LogisticParams::default().check()?.train(training.batch(), training.classes());
    writeln!(out, "\n### phi-bar: composite MNIST, a = {DISTORTION}, {DRAWS} draws\n")?;
    writeln!(out, "| rows | root mean square distance | times the root of the rows |")?;
    writeln!(out, "|---|---|---|")?;
    for rows in [2_500usize, 5_000, 10_000, 20_000, 40_000] {
        let mut squares = 0.0;
        for draw in 0..DRAWS {
            let recipe = Recipe::new(rows).distortion(DISTORTION);
            let drawn = Composites::draw(&mnist.test, &recipe, 7_000 + draw)?;
            squares += squared_distance(&mnist, &model, &drawn)? / DRAWS as f64;
        }
        let distance = squares.sqrt();
        writeln!(out, "| {rows} | {distance:.4} | {:.2} |", distance * (rows as f64).sqrt())?;
        out.flush()?;
    }
    Ok(())
}

/// `|phi-bar - E[phi(x, y)]|^2`, features in units of their standard deviation.
fn squared_distance(mnist: &Mnist, model: &LogisticModel, rows: &Composites) -> Result<f64> {
    let (batch, m, k) = (rows.batch(), rows.rows(), rows.classes());
    let scores = model.scores(batch)?;
    let source = InMemory::new(mnist.schema.clone(), [scores.clone()]);
    let estimator = Params::new().seed(SEED).check()?;
    let moments = estimator.moments(&source, &estimator.plan(&Sample::of(&source)?)?)?;
    let labeller = estimator.solve(&moments)?.labeller()?;
    let labels = labeller.label(&scores)?;
    let mut squares = 0.0;
    for view in 0..batch.views() {
        let group = labeller.group_of(view);
        // W - e_y for each row and class.
        let beyond = |row: usize, class: usize| {
            let truth = f64::from(u8::from(usize::from(rows.labels()[row]) == class));
            labels.column(group, class)[row] - truth
        };
        let beyond: Vec<f64> = (0..m * k).map(|at| beyond(at / k, at % k)).collect();
        let variances = variances(batch, view);
        for (feature, variance) in variances.iter().enumerate().filter(|(_, variance)| **variance > 0.0) {
            let mut sums = vec![0.0; k];
            for (row, beyond) in beyond.chunks_exact(k).enumerate() {
                let x = f64::from(batch.features(view, row)[feature]);
                sums.iter_mut().zip(beyond).for_each(|(sum, beyond)| *sum += x * beyond);
            }
            squares += sums.iter().map(|sum| (sum / m as f64).powi(2) / variance).sum::<f64>();
        }
    }
    Ok(squares)
}

/// The variance of each feature of a view.
fn variances(batch: &FeatureBatch, view: usize) -> Vec<f64> {
    let rows = batch.rows() as f64;
    let column =
        |feature: usize| (0..batch.rows()).map(move |row| f64::from(batch.features(view, row)[feature]));
    let variance = |feature: usize| {
        let mean = column(feature).sum::<f64>() / rows;
        column(feature).map(|x| (x - mean).powi(2)).sum::<f64>() / rows
    };
    (0..batch.widths()[view]).map(variance).collect()
}
