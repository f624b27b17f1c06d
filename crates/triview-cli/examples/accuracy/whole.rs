//! Metrics of the whole prediction beside those that labels give.

use crate::{Mnist, SEED};
use anyhow::{Context, Result};
use std::io::Write;
use triview::data::InMemory;
use triview::estimator::Params;
use triview::lab::{Composites, Recipe};
use triview::learning::{LogisticParams, error_rate};
use triview::metrics::labelled;

const DRAWS: u64 = 10;
const ROWS: usize = 10_000;

/// Mean squares of the errors of the estimate, triples, posterior and the model's own belief.
type Errors = [f64; 4];

/// Composite MNIST: the error rate in labelled standard errors, the other metrics as they are.
pub(crate) fn metrics(out: &mut impl Write) -> Result<()> {
    let Mnist { train, test, schema } = Mnist::read()?;
    let distortions = [0.0, 2.5, 5.0, 7.5, 10.0];
    let mut names = Vec::new();
    let mut truths = vec![vec![0.0; 6]; distortions.len()];
    let mut errors = vec![vec![[0.0; 4]; 6]; distortions.len()];
    let mut scaled = vec![[0.0; 4]; distortions.len()];
    let mut covered = vec![[0; 2]; distortions.len()];
    for draw in 0..DRAWS {
        let rows = Composites::draw(&train, &Recipe::new(ROWS), 21_000 + draw)?;
        let model = LogisticParams::default().seed(200 + draw).check()?.train(rows.batch(), rows.classes());
        for (at, a) in distortions.into_iter().enumerate() {
            let rows = Composites::draw(&test, &Recipe::new(ROWS).distortion(a), 25_000 + draw)?;
            let scores = model.scores(rows.batch())?;
            let (truth, wrong) = (labelled(&scores, rows.labels()), error_rate(&scores, rows.labels()));
            let source = InMemory::new(schema.clone(), [scores]);
            let estimate = Params::new().seed(SEED).check()?.estimate(&source)?;
            let metrics = estimate.metrics.context("rows were at hand")?;
            names = metrics.all().map(|metric| metric.name).to_vec();
            for (i, metric) in metrics.all().into_iter().enumerate() {
                let ways = [metric.estimate, metric.triples, metric.posterior].map(|way| way.value);
                let off = [ways[0], ways[1], ways[2], metric.belief].map(|x| x - truth[i]);
                truths[at][i] += truth[i] / DRAWS as f64;
                add(&mut errors[at][i], off);
                if i == 0 {
                    add(&mut scaled[at], off.map(|off| off / wrong.standard_error));
                    for (covered, way) in covered[at].iter_mut().zip([&metric.estimate, &metric.posterior]) {
                        let interval = way.interval;
                        *covered += usize::from(interval.low <= truth[0] && truth[0] <= interval.high);
                    }
                }
            }
        }
    }
    writeln!(out, "\n### Composite MNIST: the error rate, {DRAWS} draws of {ROWS} rows\n")?;
    writeln!(out, "RMSE in labelled standard errors; the intervals' coverage of the labelled value.\n")?;
    writeln!(
        out,
        "| a | true error rate | estimate | triples | posterior | the model's belief | covered: estimate | posterior |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|")?;
    for (at, a) in distortions.into_iter().enumerate() {
        let [estimate, triples, posterior, belief] = scaled[at].map(f64::sqrt);
        let [first, second] = covered[at];
        writeln!(
            out,
            "| {a} | {:.4} | {estimate:.2} | {triples:.2} | {posterior:.2} | {belief:.1} | {first} | {second} |",
            truths[at][0]
        )?;
    }
    writeln!(out, "\n### Composite MNIST: RMSE of the other metrics\n")?;
    writeln!(out, "Each as truth: estimate, triples, posterior, the model's belief.\n")?;
    writeln!(out, "| a | {} |\n|---|---|---|---|---|---|", names[1..].join(" | "))?;
    for (at, a) in distortions.into_iter().enumerate() {
        let cell = |i: usize| {
            let [estimate, triples, posterior, belief] = errors[at][i].map(f64::sqrt);
            format!("{:.4}: {estimate:.4}, {triples:.4}, {posterior:.4}, {belief:.4}", truths[at][i])
        };
        writeln!(out, "| {a} | {} |", (1..6).map(cell).collect::<Vec<_>>().join(" | "))?;
    }
    Ok(())
}

/// Adds to means of squares over the draws.
fn add(squares: &mut Errors, off: Errors) {
    squares.iter_mut().zip(off).for_each(|(sum, off)| *sum += off * off / DRAWS as f64);
}
