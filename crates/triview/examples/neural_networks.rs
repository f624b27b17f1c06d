//! Example 3 of the paper: one small network a view, their outputs summed, and the log loss and error rate of the whole
//! estimated on shifted data without a label, beside the truth.
//!
//! `cargo run --release --example neural_networks`
#![allow(clippy::print_stdout, reason = "an example prints")]

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use triview::Result;
use triview::data::{Batch, InMemory, Schema};
use triview::estimator::Params;
use triview::lab::{Composites, Images, Recipe};
use triview::learning::{error_rate, log_loss, predictive_entropy};

const ROWS: usize = 10_000;
const HIDDEN: usize = 24;
const EPOCHS: usize = 8;
const STEP: f64 = 0.05;

/// A layer `W x + b`, with the sums of squared gradients of AdaGrad.
struct Layer {
    inputs: usize,
    /// One row an output, the bias last.
    weights: Vec<f64>,
    squares: Vec<f64>,
}

impl Layer {
    fn new(inputs: usize, outputs: usize, rng: &mut Pcg64) -> Self {
        let reach = (6.0 / (inputs + outputs) as f64).sqrt();
        let weights: Vec<f64> =
            (0..outputs * (inputs + 1)).map(|_| rng.random_range(-reach..reach)).collect();
        Self { inputs, squares: vec![1e-8; weights.len()], weights }
    }

    fn forward(&self, x: &[f64]) -> Vec<f64> {
        let output = |row: &[f64]| x.iter().zip(row).map(|(x, w)| x * w).sum::<f64>() + row[self.inputs];
        self.weights.chunks_exact(self.inputs + 1).map(output).collect()
    }

    /// Takes a step against the gradient in the outputs, and returns that in the inputs.
    fn backward(&mut self, x: &[f64], gradient: &[f64]) -> Vec<f64> {
        let mut below = vec![0.0; self.inputs];
        let width = self.inputs + 1;
        for (output, g) in gradient.iter().enumerate() {
            let row = output * width..(output + 1) * width;
            let (weights, squares) = (&mut self.weights[row.clone()], &mut self.squares[row]);
            for (i, (weight, square)) in weights.iter_mut().zip(squares).enumerate() {
                if i < self.inputs {
                    below[i] += g * *weight;
                }
                let slope = g * x.get(i).copied().unwrap_or(1.0);
                *square += slope * slope;
                *weight -= STEP * slope / square.sqrt();
            }
        }
        below
    }
}

/// One hidden layer of hyperbolic tangents.
struct Network {
    hidden: Layer,
    output: Layer,
}

impl Network {
    fn new(inputs: usize, outputs: usize, rng: &mut Pcg64) -> Self {
        Self { hidden: Layer::new(inputs, HIDDEN, rng), output: Layer::new(HIDDEN, outputs, rng) }
    }

    fn activations(&self, x: &[f64]) -> Vec<f64> {
        self.hidden.forward(x).into_iter().map(f64::tanh).collect()
    }

    fn scores(&self, x: &[f64]) -> Vec<f64> {
        self.output.forward(&self.activations(x))
    }

    fn learn(&mut self, x: &[f64], gradient: &[f64]) {
        let activations = self.activations(x);
        let below = self.output.backward(&activations, gradient);
        let slopes: Vec<f64> = below.iter().zip(&activations).map(|(g, a)| g * (1.0 - a * a)).collect();
        self.hidden.backward(x, &slopes);
    }
}

/// The pixels of a view of a row.
fn pixels(rows: &Composites, view: usize, row: usize) -> Vec<f64> {
    rows.batch().features(view, row).iter().map(|pixel| f64::from(*pixel)).collect()
}

/// Trains the three networks together on the log loss of their summed outputs.
fn train(rows: &Composites, rng: &mut Pcg64) -> [Network; 3] {
    let mut networks = [0, 1, 2].map(|view| Network::new(rows.batch().widths()[view], rows.classes(), rng));
    let mut order: Vec<usize> = (0..rows.rows()).collect();
    for _ in 0..EPOCHS {
        order.shuffle(rng);
        for &row in &order {
            let inputs = [0, 1, 2].map(|view| pixels(rows, view, row));
            let mut total = vec![0.0; rows.classes()];
            for (network, x) in networks.iter().zip(&inputs) {
                total.iter_mut().zip(network.scores(x)).for_each(|(total, score)| *total += score);
            }
            let largest = total.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = total.iter().map(|score| (score - largest).exp()).sum();
            let mut gradient: Vec<f64> = total.iter().map(|score| (score - largest).exp() / sum).collect();
            gradient[usize::from(rows.labels()[row])] -= 1.0;
            for (network, x) in networks.iter_mut().zip(&inputs) {
                network.learn(x, &gradient);
            }
        }
    }
    networks
}

/// What the networks say of each view: a network's outputs are the scores of its view.
fn score(networks: &[Network; 3], rows: &Composites) -> Result<Batch> {
    let n = rows.rows();
    let of_view = |view: usize| {
        let mut columns = vec![0.0; n * rows.classes()];
        for row in 0..n {
            for (class, score) in networks[view].scores(&pixels(rows, view, row)).into_iter().enumerate() {
                columns[class * n + row] = score;
            }
        }
        columns
    };
    Batch::new(n, [0, 1, 2].map(of_view))
}

fn main() -> Result<()> {
    let records = include_bytes!("../../../data/digits/digits.bin").chunks_exact(65);
    let pixels = records.clone().flat_map(|record| &record[..64]).map(|&pixel| f32::from(pixel) / 16.0);
    let images = Images::new(8, pixels.collect(), records.map(|record| record[64]).collect(), 10)?;
    let (seen, unseen) = images.split(images.len() / 2)?;
    let mut rng = Pcg64::seed_from_u64(1);
    let networks = train(&Composites::draw(&seen, &Recipe::new(ROWS), 1)?, &mut rng);

    let views = ["first", "second", "third"].map(String::from).to_vec();
    let schema = Schema::new(views, (0..10).map(|digit| digit.to_string()).collect())?;
    println!("{:>5}  {:^31}  {:^31}", "", "log loss", "error rate");
    println!(
        "{:>5}  {:>7} {:>15} {:>7}  {:>7} {:>15} {:>7}",
        "shift", "truth", "estimate", "entropy", "truth", "estimate", "belief"
    );
    for shift in [0.0, 1.0, 2.0, 3.0, 4.0] {
        let rows = Composites::draw(&unseen, &Recipe::new(ROWS).distortion(shift), 2)?;
        let scores = score(&networks, &rows)?;
        let (loss, wrong) = (log_loss(&scores, rows.labels()), error_rate(&scores, rows.labels()));
        let entropy = predictive_entropy(&scores);
        let source = InMemory::new(schema.clone(), vec![scores]);
        let estimate = Params::new().check()?.estimate(&source)?;
        let Ok(metrics) = &estimate.metrics else { continue };
        let rate = &metrics.error_rate;
        println!(
            "{shift:>5}  {:>7.4} {:>7.4} ± {:.4} {:>7.4}  {:>7.4} {:>7.4} ± {:.4} {:>7.4}{}",
            loss.value,
            estimate.risk,
            estimate.standard_error,
            entropy.value,
            wrong.value,
            rate.estimate.value,
            rate.estimate.standard_error,
            rate.belief,
            if estimate.trusted() { "" } else { "  not to be trusted" },
        );
    }
    Ok(())
}
