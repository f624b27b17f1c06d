//! How far estimates are from what labels say of the same rows.

use crate::{Mnist, SEED};
use anyhow::Result;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::io::Write;
use std::time::Instant;
use triview::data::{Batch, InMemory, Sample, Schema};
use triview::estimator::Params;
use triview::features::FeatureChoice;
use triview::lab::{Composites, Population, Preset, Recipe, Setting, regression_plan, tensor_risk};
use triview::learning::{LogisticParams, Mean, error_rate, log_loss};

/// Errors of one way of estimating, over draws.
#[derive(Default, Clone)]
struct Errors {
    squared: f64,
    /// In labelled standard errors.
    scaled: f64,
    /// Squared standard errors that the estimator gave itself, in labelled ones.
    own: f64,
    /// Absolute errors in labelled standard errors, and in the estimator's own.
    sizes: Vec<(f64, f64)>,
    draws: f64,
    /// The same of the draws that raised no alarm.
    trusted: f64,
    trusted_scaled: f64,
}

impl Errors {
    fn add(&mut self, estimate: f64, own: f64, truth: Mean) {
        self.squared += (estimate - truth.value).powi(2);
        self.scaled += ((estimate - truth.value) / truth.standard_error).powi(2);
        self.own += (own / truth.standard_error).powi(2);
        let size = (estimate - truth.value).abs();
        self.sizes.push((size / truth.standard_error, size / own));
        self.draws += 1.0;
    }

    fn rmse(&self) -> f64 {
        (self.squared / self.draws).sqrt()
    }

    fn scaled_rmse(&self) -> f64 {
        (self.scaled / self.draws).sqrt()
    }

    /// The median absolute error in labelled standard errors, and the share of draws beyond three of the
    /// estimator's own standard errors.
    fn typical(&self) -> (f64, f64) {
        let mut sizes: Vec<f64> = self.sizes.iter().map(|(size, _)| *size).collect();
        sizes.sort_by(f64::total_cmp);
        let beyond = self.sizes.iter().filter(|(_, own)| *own > 3.0).count();
        (sizes[sizes.len() / 2], beyond as f64 / self.draws)
    }

    fn own_error(&self) -> f64 {
        (self.own / self.draws).sqrt()
    }
}

/// Every way of estimating that the tables compare: features, or regression where there are none, and whether the fit is refined.
const WAYS: [(&str, Option<FeatureChoice>, bool); 6] = [
    ("scores, tensor", Some(FeatureChoice::Scores), false),
    ("scores, + L-BFGS", Some(FeatureChoice::Scores), true),
    ("softmax, tensor", Some(FeatureChoice::Softmax), false),
    ("softmax, + L-BFGS", Some(FeatureChoice::Softmax), true),
    ("regression", None, true),
    ("default", Some(FeatureChoice::Auto), true),
];

/// Estimates the risk of these rows in every way and adds the errors.
fn compare(schema: &Schema, batch: Batch, truth: Mean, errors: &mut [Errors]) -> Result<()> {
    let source = InMemory::new(schema.clone(), [batch]);
    let sample = Sample::of(&source)?;
    for ((_, features, refined), errors) in WAYS.iter().zip(errors) {
        let estimator = Params::new().features(features.unwrap_or_default()).seed(SEED).check()?;
        let plan = match features {
            Some(_) => estimator.plan(&sample)?,
            None => regression_plan(&estimator, &sample)?,
        };
        let moments = estimator.moments(&source, &plan)?;
        if *refined {
            let estimate = estimator.answer(&moments, None)?;
            errors.add(estimate.risk, estimate.standard_error, truth);
            if estimate.trusted() {
                errors.trusted += 1.0;
                errors.trusted_scaled += ((estimate.risk - truth.value) / truth.standard_error).powi(2);
            }
        } else if let Some(risk) = tensor_risk(&moments, SEED)? {
            errors.add(risk, f64::NAN, truth);
        }
    }
    Ok(())
}

fn heading(out: &mut impl Write, before: &[&str], after: &[&str]) -> Result<()> {
    let ways = WAYS.map(|(name, _, _)| name);
    let names: Vec<&str> = [before, &ways, after].concat();
    writeln!(out, "| {} |", names.join(" | "))?;
    writeln!(out, "|{}", "---|".repeat(names.len()))?;
    Ok(())
}

/// Composite MNIST: RMSE against the labelled risk of the same rows.
pub(crate) fn composite_mnist(out: &mut impl Write) -> Result<()> {
    const DRAWS: u64 = 10;
    const ROWS: usize = 10_000;
    let Mnist { train, test, schema } = Mnist::read()?;
    let distortions = [0.0, 2.5, 5.0, 7.5, 10.0];
    let mut errors = vec![vec![Errors::default(); WAYS.len()]; distortions.len()];
    let mut truths = vec![(0.0, 0.0); distortions.len()];
    for draw in 0..DRAWS {
        let rows = Composites::draw(&train, &Recipe::new(ROWS), 11_000 + draw)?;
        let model = LogisticParams::default().seed(100 + draw).check()?.train(rows.batch(), rows.classes());
        for (at, a) in distortions.into_iter().enumerate() {
            let rows = Composites::draw(&test, &Recipe::new(ROWS).distortion(a), 15_000 + draw)?;
            let scores = model.scores(rows.batch())?;
            let truth = log_loss(&scores, rows.labels());
            truths[at].0 += truth.value / DRAWS as f64;
            truths[at].1 += truth.standard_error / DRAWS as f64;
            compare(&schema, scores, truth, &mut errors[at])?;
        }
    }
    writeln!(out, "\n### Composite MNIST: RMSE of the risk, {DRAWS} draws of {ROWS} rows\n")?;
    heading(out, &["a", "true risk", "labelled s.e."], &[])?;
    for (at, a) in distortions.into_iter().enumerate() {
        let cells: Vec<String> = errors[at].iter().map(|errors| format!("{:.4}", errors.rmse())).collect();
        writeln!(out, "| {a} | {:.4} | {:.4} | {} |", truths[at].0, truths[at].1, cells.join(" | "))?;
    }
    writeln!(out, "\nThe default's own standard error over the labelled one:")?;
    for (at, a) in distortions.into_iter().enumerate() {
        let last = &errors[at][WAYS.len() - 1];
        writeln!(out, "a = {a}: {:.2} (RMSE {:.2})", last.own_error(), last.scaled_rmse())?;
    }
    Ok(())
}

/// Overlapping classes: RMSE in labelled standard errors.
pub(crate) fn overlapping_classes(out: &mut impl Write) -> Result<()> {
    const DRAWS: u64 = 24;
    const ROWS: usize = 20_000;
    writeln!(
        out,
        "\n### Overlapping classes: RMSE in labelled standard errors, {DRAWS} draws of {ROWS} rows\n"
    )?;
    let after = ["default, median", "beyond 3 own s.e.", "not trusted", "default, of those trusted"];
    heading(out, &["preset", "classes"], &after)?;
    for preset in [Preset::Two, Preset::ThreeHarder, Preset::Three, Preset::Six] {
        let setting = preset.setting();
        let mut errors = vec![Errors::default(); WAYS.len()];
        for draw in 0..DRAWS {
            let population = Population::draw(&setting, 1_000 + draw)?;
            let (batch, labels) = population.rows(ROWS, &mut Pcg64::seed_from_u64(2_000 + draw));
            let truth = log_loss(&batch, &labels);
            compare(population.schema(), batch, truth, &mut errors)?;
        }
        let cells: Vec<String> = errors.iter().map(|errors| format!("{:.2}", errors.scaled_rmse())).collect();
        let default = &errors[WAYS.len() - 1];
        let (median, beyond) = default.typical();
        writeln!(
            out,
            "| {preset} | {} | {} | {median:.2} | {:.0}% | {} | {:.2} |",
            setting.classes,
            cells.join(" | "),
            100.0 * beyond,
            default.draws - default.trusted,
            (default.trusted_scaled / default.trusted).sqrt()
        )?;
        out.flush()?;
    }
    Ok(())
}

/// How the error falls with the rows.
pub(crate) fn rate(out: &mut impl Write) -> Result<()> {
    const DRAWS: u64 = 24;
    const PRESETS: [Preset; 4] = [Preset::Two, Preset::Three, Preset::Six, Preset::Ten];
    writeln!(out, "\n### Error by rows: RMSE, {DRAWS} draws\n")?;
    writeln!(out, "| rows | {} |", PRESETS.map(|preset| preset.to_string()).join(" | "))?;
    writeln!(out, "|---|{}", "---|".repeat(PRESETS.len()))?;
    let estimator = Params::new().seed(SEED).check()?;
    // For each preset and number of rows, the squared error of each draw.
    let mut squares = PRESETS.map(|_| Vec::new());
    for quadrupling in 0..5 {
        let rows = 2_000usize << (2 * quadrupling);
        let mut cells = Vec::new();
        for (preset, squares) in PRESETS.iter().zip(&mut squares) {
            let mut of_draws = Vec::new();
            for draw in 0..DRAWS {
                let population = Population::draw(&preset.setting(), 1_000 + draw)?;
                let (batch, labels) = population.rows(rows, &mut Pcg64::seed_from_u64(2_000 + draw));
                let truth = log_loss(&batch, &labels).value;
                let estimate = estimator.estimate(&InMemory::new(population.schema().clone(), [batch]))?;
                of_draws.push((estimate.risk - truth).powi(2));
            }
            cells.push(format!("{:.5}", (of_draws.iter().sum::<f64>() / DRAWS as f64).sqrt()));
            squares.push(((rows as f64).ln(), of_draws));
        }
        writeln!(out, "| {rows} | {} |", cells.join(" | "))?;
        out.flush()?;
    }
    let slopes = squares.map(|squares| slope_and_error(&squares));
    let cells = slopes.map(|(slope, error)| format!("{slope:.3} +- {error:.3}"));
    writeln!(out, "| slope | {} |", cells.join(" | "))?;
    let count = slopes.len() as f64;
    let mean = slopes.iter().map(|(slope, _)| slope).sum::<f64>() / count;
    let error = slopes.iter().map(|(_, error)| error * error).sum::<f64>().sqrt() / count;
    writeln!(out, "\nmean slope of log RMSE by log rows: {mean:.3} +- {error:.3} (jackknife over draws)")?;
    Ok(())
}

/// The slope of the logarithm of the root mean square over draws, and its error by leaving out each draw in turn.
fn slope_and_error(squares: &[(f64, Vec<f64>)]) -> (f64, f64) {
    let draws = squares[0].1.len();
    let without = |left: Option<usize>| {
        let points: Vec<(f64, f64)> = squares
            .iter()
            .map(|(log_rows, squares)| {
                let kept = squares.iter().enumerate().filter(|(draw, _)| Some(*draw) != left);
                let kept: Vec<f64> = kept.map(|(_, square)| *square).collect();
                (*log_rows, 0.5 * (kept.iter().sum::<f64>() / kept.len() as f64).ln())
            })
            .collect();
        slope(&points)
    };
    let left: Vec<f64> = (0..draws).map(|draw| without(Some(draw))).collect();
    let mean = left.iter().sum::<f64>() / draws as f64;
    let spread: f64 = left.iter().map(|slope| (slope - mean).powi(2)).sum();
    (without(None), (spread * (draws - 1) as f64 / draws as f64).sqrt())
}

/// Many classes, which are estimated from rows without their third moment: errors in labelled standard errors.
pub(crate) fn many_classes(out: &mut impl Write) -> Result<()> {
    const DRAWS: u64 = 3;
    writeln!(out, "\n### Many classes: errors in labelled standard errors, {DRAWS} draws\n")?;
    writeln!(
        out,
        "| classes | rows | model error | true risk | errors | RMSE | own s.e. | in own s.e. | seconds |"
    )?;
    writeln!(out, "|{}", "---|".repeat(9))?;
    let estimator = Params::new().seed(SEED).check()?;
    let hundred = Setting { classes: 100, separation: 0.345, ..Preset::TwoHundred.setting() };
    for (setting, rows) in [(hundred, 50_000), (Preset::TwoHundred.setting(), 200_000)] {
        let (mut errors, mut seconds) = (Errors::default(), 0.0);
        let (mut cells, mut model_error, mut risk) = (Vec::new(), 0.0, 0.0);
        for draw in 0..DRAWS {
            let population = Population::draw(&setting, 1_000 + draw)?;
            let mut rng = Pcg64::seed_from_u64(2_000 + draw);
            let (batches, labels): (Vec<Batch>, Vec<Vec<usize>>) =
                (0..rows / 4_000).map(|_| population.rows(4_000, &mut rng)).unzip();
            let truth = mean(&batches, &labels, log_loss);
            model_error += mean(&batches, &labels, error_rate).value / DRAWS as f64;
            risk += truth.value / DRAWS as f64;
            let started = Instant::now();
            let estimate = estimator.estimate(&InMemory::new(population.schema().clone(), batches))?;
            seconds += started.elapsed().as_secs_f64() / DRAWS as f64;
            errors.add(estimate.risk, estimate.standard_error, truth);
            cells.push(format!("{:+.1}", (estimate.risk - truth.value) / truth.standard_error));
        }
        let z = (errors.sizes.iter().map(|(_, own)| own * own).sum::<f64>() / errors.draws).sqrt();
        writeln!(
            out,
            "| {} | {rows} | {model_error:.3} | {risk:.4} | {} | {:.2} | {:.2} | {z:.2} | {seconds:.0} |",
            setting.classes,
            cells.join(", "),
            errors.scaled_rmse(),
            errors.own_error()
        )?;
        out.flush()?;
    }
    Ok(())
}

/// The mean over batches of equal length.
fn mean(batches: &[Batch], labels: &[Vec<usize>], of: fn(&Batch, &[usize]) -> Mean) -> Mean {
    let parts: Vec<Mean> = batches.iter().zip(labels).map(|(batch, labels)| of(batch, labels)).collect();
    let n = parts.len() as f64;
    let squares: f64 = parts.iter().map(|part| part.standard_error.powi(2)).sum();
    Mean { value: parts.iter().map(|part| part.value).sum::<f64>() / n, standard_error: squares.sqrt() / n }
}

/// The least squares slope.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let covariance: f64 = points.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    covariance / points.iter().map(|(x, _)| (x - mx).powi(2)).sum::<f64>()
}
