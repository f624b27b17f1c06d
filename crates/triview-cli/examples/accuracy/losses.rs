//! Every loss against its labelled value, on rows whose model is wrong.

use crate::SEED;
use anyhow::Result;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::io::Write;
use triview::data::{Batch, InMemory};
use triview::estimator::Params;
use triview::lab::{Population, Preset, Setting};
use triview::learning::{error_rate, mean_loss};
use triview::loss::{SharedLoss, named};

const DRAWS: u64 = 20;
const ROWS: usize = 20_000;

/// RMSE of each loss's risk in labelled standard errors. Scores are centred in each view, and for the exponential loss
/// also scaled down: at full size the variance of that loss is infinite.
pub(crate) fn losses(out: &mut impl Write) -> Result<()> {
    writeln!(out, "\n### Losses: {DRAWS} draws of {ROWS} rows, 5 classes\n")?;
    writeln!(
        out,
        "| loss | scores times | model error | true risk | labelled s.e. | RMSE | median | truth within the interval | not trusted |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|")?;
    for separation in [1.25, 1.0] {
        for loss in named() {
            let scales: &[f64] = if loss.name() == "exponential" { &[0.25, 0.5] } else { &[1.0] };
            for scale in scales {
                writeln!(out, "{}", line(&loss, separation, *scale)?)?;
                out.flush()?;
            }
        }
    }
    Ok(())
}

/// The table's line of one loss.
fn line(loss: &SharedLoss, separation: f64, scale: f64) -> Result<String> {
    let setting = Setting { classes: 5, separation, ..Preset::Three.setting() };
    let (mut wrong, mut risk, mut error, mut squared) = (0.0, 0.0, 0.0, 0.0);
    let (mut sizes, mut covered, mut doubted) = (Vec::new(), 0, 0);
    for draw in 0..DRAWS {
        let population = Population::draw(&setting, 1_000 + draw)?;
        let (batch, labels) = population.rows(ROWS, &mut Pcg64::seed_from_u64(2_000 + draw));
        let batch = Batch::new(ROWS, [0, 1, 2].map(|v| centred(batch.view(v), scale)))?;
        let truth = mean_loss(&**loss, &batch, &labels);
        wrong += error_rate(&batch, &labels).value / DRAWS as f64;
        let source = InMemory::new(population.schema().clone(), [batch]);
        let estimate = Params::new().loss(loss.name()).seed(SEED).check()?.estimate(&source)?;
        let size = (estimate.risk - truth.value).abs() / truth.standard_error;
        risk += truth.value / DRAWS as f64;
        error += truth.standard_error / DRAWS as f64;
        squared += size * size / DRAWS as f64;
        sizes.push(size);
        let interval = estimate.interval;
        covered += usize::from(interval.low <= truth.value && truth.value <= interval.high);
        doubted += usize::from(!estimate.trusted());
    }
    sizes.sort_by(f64::total_cmp);
    Ok(format!(
        "| {} | {scale} | {wrong:.3} | {risk:.3} | {error:.4} | {:.2} | {:.2} | {covered} | {doubted} |",
        loss.name(),
        squared.sqrt(),
        sizes[sizes.len() / 2],
    ))
}

/// Scores of a view less their mean over the classes, times a scale.
fn centred(scores: &[f64], scale: f64) -> Vec<f64> {
    let k = (scores.len() / ROWS) as f64;
    let mean: Vec<f64> = (0..ROWS).map(|row| scores[row..].iter().step_by(ROWS).sum::<f64>() / k).collect();
    scores.iter().zip(mean.iter().cycle()).map(|(score, mean)| scale * (score - mean)).collect()
}
