//! A non-linear model adapted without labels: one small network for each view, by dual averaging (algorithm 2).
//!
//! Trains the networks with labels on composites of digits, distorts the digits, and adapts the networks to those from
//! their unlabelled rows alone.
//!
//!     cargo run --release -p triview --example adapt_networks
#![allow(clippy::print_stdout, reason = "an example shows its results")]

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use triview::Params;
use triview::data::{Batch, InMemory, Schema};
use triview::lab::{Composites, Images, Recipe};
use triview::learning::{DualAveraging, FeatureBatch, ViewModel, error_rate, log_loss};
use triview::loss::by_name;
use triview::{Error, Result};

const CLASSES: usize = 10;
const HIDDEN: usize = 16;
const ROWS: usize = 6_000;

/// For each view `s = V tanh(U (1, x))`, with a constant beside the features and one beside the hidden units.
struct Networks {
    widths: Vec<usize>,
}

impl Networks {
    /// Where the parameters of a view begin, `U` first, and how many there are of each layer.
    fn place(&self, view: usize) -> (usize, usize, usize) {
        let sizes = |width: usize| (HIDDEN * (width + 1), CLASSES * (HIDDEN + 1));
        let before = self.widths[..view].iter().map(|&width| sizes(width).0 + sizes(width).1).sum();
        let (first, second) = sizes(self.widths[view]);
        (before, first, second)
    }

    /// The hidden units of a row.
    fn hidden(&self, theta: &[f64], view: usize, x: &[f32]) -> Vec<f64> {
        let (from, first, _) = self.place(view);
        let units = theta[from..from + first].chunks_exact(x.len() + 1);
        units
            .map(|u| (u[0] + u[1..].iter().zip(x).map(|(u, x)| u * f64::from(*x)).sum::<f64>()).tanh())
            .collect()
    }
}

impl ViewModel for Networks {
    fn parameters(&self) -> usize {
        let (from, first, second) = self.place(self.widths.len() - 1);
        from + first + second
    }

    fn scores(&self, theta: &[f64], rows: &FeatureBatch) -> Result<Batch> {
        let m = rows.rows();
        let of_view = |view: usize| {
            let (from, first, second) = self.place(view);
            let output = &theta[from + first..from + first + second];
            let mut scores = vec![0.0; m * CLASSES];
            for row in 0..m {
                let hidden = self.hidden(theta, view, &rows.features(view, row));
                for (class, v) in output.chunks_exact(HIDDEN + 1).enumerate() {
                    scores[class * m + row] =
                        v[0] + v[1..].iter().zip(&hidden).map(|(v, h)| v * h).sum::<f64>();
                }
            }
            scores
        };
        Batch::new(m, (0..self.widths.len()).map(of_view).collect::<Vec<_>>())
    }

    fn pull_back(&self, theta: &[f64], rows: &FeatureBatch, weights: &[Vec<f64>], gradient: &mut [f64]) {
        let m = rows.rows();
        for (view, weights) in weights.iter().enumerate() {
            let (from, first, second) = self.place(view);
            let output = &theta[from + first..from + first + second];
            let (below, above) = gradient[from..from + first + second].split_at_mut(first);
            for row in 0..m {
                let x = rows.features(view, row);
                let hidden = self.hidden(theta, view, &x);
                let mut slopes = vec![0.0; HIDDEN];
                for class in 0..CLASSES {
                    let (w, at) = (weights[class * m + row], class * (HIDDEN + 1));
                    above[at] += w;
                    for (h, unit) in hidden.iter().enumerate() {
                        above[at + 1 + h] += w * unit;
                        slopes[h] += w * output[at + 1 + h] * (1.0 - unit * unit);
                    }
                }
                for (u, slope) in below.chunks_exact_mut(x.len() + 1).zip(&slopes) {
                    u[0] += slope;
                    u[1..].iter_mut().zip(&*x).for_each(|(u, x)| *u += slope * f64::from(*x));
                }
            }
        }
    }
}

/// Trains with labels: AdaGrad on the gradient of the log loss over small batches.
fn train(networks: &Networks, rows: &Composites) -> Result<Vec<f64>> {
    let mut rng = Pcg64::seed_from_u64(1);
    let mut theta: Vec<f64> = (0..networks.parameters()).map(|_| rng.random_range(-0.3..0.3)).collect();
    let mut squares = vec![1e-8; theta.len()];
    for step in 0..3_000 {
        let chosen: Vec<usize> = (0..20).map(|at| (step * 20 + at) % rows.rows()).collect();
        let batch = rows.batch().select(&chosen);
        let scores = networks.scores(&theta, &batch)?;
        let total = |row: usize, class: usize| (0..3).map(|v| scores.column(v, class)[row]).sum::<f64>();
        let mut residual = vec![0.0; 20 * CLASSES];
        for row in 0..20 {
            let weights: Vec<f64> = (0..CLASSES).map(|class| total(row, class).exp()).collect();
            let sum: f64 = weights.iter().sum();
            for (class, weight) in weights.iter().enumerate() {
                let label = f64::from(u8::from(batch.label(row) == Some(class)));
                residual[class * 20 + row] = (weight / sum - label) / 20.0;
            }
        }
        let mut gradient = vec![0.0; theta.len()];
        networks.pull_back(&theta, &batch, &vec![residual; 3], &mut gradient);
        for ((theta, g), square) in theta.iter_mut().zip(&gradient).zip(&mut squares) {
            *square += g * g;
            *theta -= 0.05 * g / square.sqrt();
        }
    }
    Ok(theta)
}

fn main() -> Result<()> {
    let records = include_bytes!("../../../data/digits/digits.bin").chunks_exact(65);
    let pixels = records.clone().flat_map(|record| &record[..64]).map(|&p| f32::from(p) / 16.0).collect();
    let labels = records.map(|record| record[64]).collect();
    let (seen, unseen) = Images::new(8, pixels, labels, CLASSES)?.split(1_000)?;
    let training = Composites::draw(&seen, &Recipe::new(ROWS), 1)?;
    let networks = Networks { widths: training.batch().widths().to_vec() };
    let seed = train(&networks, &training)?;

    let draw = |draw| Composites::draw(&unseen, &Recipe::new(ROWS).distortion(4.0), draw);
    let (rows, fresh) = (draw(2)?, draw(3)?);
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let schema = Schema::new(names(&["a", "b", "c"]), (0..CLASSES).map(|class| class.to_string()).collect())?;
    let views = (0..3).map(|view| rows.batch().view(view).to_vec()).collect();
    let unlabelled = FeatureBatch::new(ROWS, rows.batch().widths().to_vec(), views)?;
    let source = InMemory::new(rows.schema(), [unlabelled]);
    let averaging =
        DualAveraging { loss: by_name("log")?, step: 0.5, steps: 60, estimator: Params::new().check()? };
    let averaged = averaging.run(&source, &networks, &seed, &schema)?;

    println!("{:<10} {:>12} {:>12}", "fresh rows", "error rate", "log loss");
    for (name, theta) in [("seed", &seed), ("adapted", &averaged.theta)] {
        let scores = networks.scores(theta, fresh.batch())?;
        let (error, loss) = (error_rate(&scores, fresh.labels()), log_loss(&scores, fresh.labels()));
        println!("{name:<10} {:>12.4} {:>12.4}", error.value, loss.value);
    }
    let (first, last) = (averaged.risks.first(), averaged.risks.last());
    let (Some(first), Some(last)) = (first, last) else { return Err(Error::Internal("a step was made")) };
    println!("estimated risk on the adapted rows, first and last step: {first:.4} and {last:.4}");
    Ok(())
}
