//! The tables of `docs/accuracy.md`: how far estimates are from what labels say of the same rows.
//!
//! `make accuracy` runs all of it in some ten minutes; arguments `mnist`, `overlap` and `rate` choose tables.

mod mnist;

use anyhow::{Context, Result, bail};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::io::Write;
use std::path::Path;
use triview::composite::{Composites, Images, Recipe};
use triview::estimator::{Features, Params};
use triview::learning::{LogisticParams, Mean, log_loss};
use triview::simulate::{Population, Preset};
use triview::views::{Batch, InMemory, Schema};

const SEED: u64 = 1;

// The draws of these tables were not looked at while settings were chosen: that was done on others (populations
// 100 to 123, composites 1000 and 5000 onwards), see `docs/accuracy.md`.

fn main() -> Result<()> {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let wants = |name: &str| chosen.is_empty() || chosen.iter().any(|chosen| chosen == name);
    if let Some(unknown) = chosen.iter().find(|name| !["mnist", "overlap", "rate"].contains(&name.as_str())) {
        bail!("there is no table `{unknown}`; known: mnist, overlap, rate");
    }
    let mut out = std::io::stdout().lock();
    if wants("mnist") {
        composite_mnist(&mut out)?;
    }
    if wants("overlap") {
        overlapping_classes(&mut out)?;
    }
    if wants("rate") {
        rate(&mut out)?;
    }
    Ok(())
}

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

/// Every way of estimating that the tables compare.
const WAYS: [(&str, Features, bool); 7] = [
    ("scores, tensor", Features::Scores, false),
    ("scores, + L-BFGS", Features::Scores, true),
    ("softmax, tensor", Features::Softmax, false),
    ("softmax, + L-BFGS", Features::Softmax, true),
    ("regression", Features::Regression, true),
    ("sieve posterior", Features::Posterior, true),
    ("default", Features::Auto, true),
];

/// Estimates the risk of these rows in every way and adds the errors.
fn compare(schema: &Schema, batch: Batch, truth: Mean, errors: &mut [Errors]) -> Result<()> {
    let source = InMemory::new(schema.clone(), vec![batch]);
    for ((_, features, refined), errors) in WAYS.iter().zip(errors) {
        let estimator = Params::new().features(*features).seed(SEED).check()?;
        let moments = estimator.moments(&source, &estimator.look(&source)?)?;
        if *refined {
            let estimate = estimator.solve(&moments)?;
            errors.add(estimate.risk, estimate.standard_error, truth);
        } else if let Some(risk) = estimator.solve_by_tensor_alone(&moments)? {
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
fn composite_mnist(out: &mut impl Write) -> Result<()> {
    const DRAWS: u64 = 10;
    const ROWS: usize = 10_000;
    let folder = Path::new("data/mnist");
    let read = |part| mnist::read(folder, part).context("run scripts/mnist.sh first");
    let (train, test): (Images, Images) = (read("train")?, read("t10k")?);
    let classes: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
    let schema = Schema::new(["first", "second", "third"].map(String::from).to_vec(), classes)?;
    let distortions = [0.0, 2.5, 5.0, 7.5, 10.0];
    let mut errors = vec![vec![Errors::default(); WAYS.len()]; distortions.len()];
    let mut truths = vec![(0.0, 0.0); distortions.len()];
    for draw in 0..DRAWS {
        let rows = Composites::draw(&train, &Recipe::new(ROWS), 11_000 + draw)?;
        let model = LogisticParams::default().seed(100 + draw).check()?.train(&rows);
        for (at, a) in distortions.into_iter().enumerate() {
            let rows = Composites::draw(&test, &Recipe::new(ROWS).distortion(a), 15_000 + draw)?;
            let scores = model.scores(&rows)?;
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
fn overlapping_classes(out: &mut impl Write) -> Result<()> {
    const DRAWS: u64 = 24;
    const ROWS: usize = 20_000;
    writeln!(
        out,
        "\n### Overlapping classes: RMSE in labelled standard errors, {DRAWS} draws of {ROWS} rows\n"
    )?;
    heading(out, &["preset", "classes"], &["default, median", "beyond 3 own s.e."])?;
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
        let (median, beyond) = errors[WAYS.len() - 1].typical();
        writeln!(
            out,
            "| {preset} | {} | {} | {median:.2} | {:.0}% |",
            setting.classes,
            cells.join(" | "),
            100.0 * beyond
        )?;
        out.flush()?;
    }
    Ok(())
}

/// How the error falls with the rows.
fn rate(out: &mut impl Write) -> Result<()> {
    const DRAWS: u64 = 24;
    writeln!(out, "\n### Error by rows: preset `six`, {DRAWS} draws\n")?;
    writeln!(out, "| rows | RMSE |\n|---|---|")?;
    let estimator = Params::new().seed(SEED).check()?;
    let mut points = Vec::new();
    for doubling in 0..9 {
        let rows = 2_000usize << doubling;
        let mut errors = Errors::default();
        for draw in 0..DRAWS {
            let population = Population::draw(&Preset::Six.setting(), 100 + draw)?;
            let (batch, labels) = population.rows(rows, &mut Pcg64::seed_from_u64(1000 + draw));
            let truth = log_loss(&batch, &labels);
            let estimate = estimator.estimate(&InMemory::new(population.schema().clone(), vec![batch]))?;
            errors.add(estimate.risk, estimate.standard_error, truth);
        }
        writeln!(out, "| {rows} | {:.5} |", errors.rmse())?;
        out.flush()?;
        points.push(((rows as f64).ln(), errors.rmse().ln()));
    }
    writeln!(out, "\nslope of log RMSE by log rows: {:.3}", slope(&points))?;
    Ok(())
}

/// The least squares slope.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let covariance: f64 = points.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    covariance / points.iter().map(|(x, _)| (x - mx).powi(2)).sum::<f64>()
}
