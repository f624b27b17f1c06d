//! The table of `docs/compare.md`: the estimate beside what others say without labels, on composite MNIST.

use crate::trust::model;
use crate::{Mnist, SEED};
use anyhow::{Context, Result};
use std::io::Write;
use triview::baselines::{self, Old};
use triview::data::{Batch, InMemory};
use triview::estimator::Params;
use triview::lab::{Composites, Recipe};
use triview::learning::{error_rate, log_loss};
use triview::loss::LogLoss;

const ROWS: usize = 10_000;
const DRAWS: u64 = 5;
const DISTORTIONS: [f64; 3] = [0.0, 5.0, 10.0];

/// Mean risk and error rate of a method at each distortion.
type Means = Vec<(&'static str, Vec<[Option<f64>; 2]>)>;

pub(crate) fn field(out: &mut impl Write) -> Result<()> {
    writeln!(
        out,
        "\n### Composite MNIST: means over {DRAWS} draws of {ROWS} rows; the old domain is {ROWS} other labelled rows at a = 0\n"
    )?;
    let columns = DISTORTIONS.map(|a| format!("a = {a}: risk | error rate"));
    writeln!(out, "| | {} |\n|---|{}", columns.join(" | "), "---|".repeat(2 * DISTORTIONS.len()))?;
    let mnist = Mnist::read()?;
    let model = model(&mnist)?;
    let scored = |a: f64, seed: u64| -> Result<(Batch, Vec<usize>)> {
        let rows = Composites::draw(&mnist.test, &Recipe::new(ROWS).distortion(a), seed)?;
        Ok((model.scores(rows.batch())?, rows.labels().iter().map(|label| usize::from(*label)).collect()))
    };
    let (old, labels) = scored(0.0, 81_000)?;
    let old = old.with_labels(labels.into_iter().map(Some).collect())?;
    let old = Old::new(&old).context("the old rows have labels")?;
    let mut means: Means = Vec::new();
    for (at, a) in DISTORTIONS.into_iter().enumerate() {
        for draw in 0..DRAWS {
            let (rows, labels) = scored(a, 82_000 + draw)?;
            let mut add = |name: &'static str, said: [Option<f64>; 2]| {
                let place = means.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                    means.push((name, vec![[Some(0.0); 2]; DISTORTIONS.len()]));
                    means.len() - 1
                });
                for (sum, value) in means[place].1[at].iter_mut().zip(said) {
                    *sum = sum.zip(value).map(|(sum, value)| sum + value / DRAWS as f64);
                }
            };
            let truth = [log_loss(&rows, &labels).value, error_rate(&rows, &labels).value];
            add("truth", truth.map(Some));
            let source = InMemory::new(mnist.schema.clone(), [rows.clone()]);
            let estimate = Params::new().seed(SEED).check()?.estimate(&source)?;
            let error = estimate.metrics.as_ref().ok().map(|metrics| metrics.error_rate.estimate.value);
            add("triview", [Some(estimate.risk), error]);
            for baseline in baselines::all(&rows, Some(&old), &LogLoss) {
                let said = baseline.said.map_or([None; 2], |said| [said.risk, said.error_rate]);
                add(baseline.name, said);
            }
        }
    }
    for (name, cells) in means {
        let shown = |value: &Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
        let cells: Vec<String> = cells.iter().flatten().map(shown).collect();
        writeln!(out, "| {name} | {} |", cells.join(" | "))?;
    }
    out.flush()?;
    Ok(())
}
