//! Every loss of the paper, and one of one's own, estimated without labels and set beside the truth.
//!
//! `cargo run --release --example losses`
#![allow(clippy::print_stdout, reason = "an example prints")]

use rand::SeedableRng;
use rand_pcg::Pcg64;
use triview::Result;
use triview::data::{Batch, InMemory};
use triview::estimator::Params;
use triview::lab::{Population, Preset, Setting};
use triview::learning::mean_loss;
use triview::loss::{Form, Loss, SharedLoss, Whole, named};
use triview::metrics::labelled;

const ROWS: usize = 50_000;

/// `(1 - prod_v p_v(y))^2` with `p_v` the softmax of a view's scores: how far the product of the views' own
/// probabilities is from one. Multiplied out it is `1 - 2 prod_v p_v(y) + prod_v p_v(y)^2`, an offset and two products, so
/// independence of the views is enough to estimate it.
struct SquaredProduct;

/// The softmax of one row.
fn softmax(scores: &[f64]) -> Vec<f64> {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// The factor `-2` of the first product goes with the first view.
fn factor(view: usize) -> f64 {
    if view == 0 { -2.0 } else { 1.0 }
}

impl Loss for SquaredProduct {
    fn name(&self) -> &'static str {
        "squared product"
    }

    fn form(&self) -> Form {
        Form::Products(2)
    }

    fn terms(&self, view: usize, rows: usize, scores: &[f64], terms: &mut [f64]) {
        let k = scores.len() / rows;
        for row in 0..rows {
            let of_row: Vec<f64> = scores[row..].iter().step_by(rows).copied().collect();
            for (class, p) in softmax(&of_row).into_iter().enumerate() {
                terms[class * rows + row] = factor(view) * p;
                terms[(k + class) * rows + row] = p * p;
            }
        }
    }

    fn offset(&self, _rows: usize, _scores: &[&[f64]], offset: &mut [f64]) {
        offset.fill(1.0);
    }

    fn term_gradient(&self, view: usize, scores: &[f64], term: usize, gradient: &mut [f64]) {
        let (p, class) = (softmax(scores), term % scores.len());
        let outer = if term < scores.len() { factor(view) } else { 2.0 * p[class] };
        for (i, gradient) in gradient.iter_mut().enumerate() {
            *gradient = outer * p[class] * (f64::from(u8::from(i == class)) - p[i]);
        }
    }

    fn offset_gradient(&self, _scores: &[&[f64]], gradient: &mut [Vec<f64>]) {
        gradient.iter_mut().for_each(|gradient| gradient.fill(0.0));
    }
}

/// Half the scores less their mean over the classes: margins, which is what the exponential loss is made for.
fn margins(scores: &[f64]) -> Vec<f64> {
    let k = (scores.len() / ROWS) as f64;
    let mean = |row: usize| scores[row..].iter().step_by(ROWS).sum::<f64>() / k;
    scores.iter().enumerate().map(|(at, score)| 0.5 * (score - mean(at % ROWS))).collect()
}

fn main() -> Result<()> {
    let setting = Setting { separation: 0.9, ..Preset::Three.setting() };
    let population = Population::draw(&setting, 5)?;
    let (rows, labels) = population.rows(ROWS, &mut Pcg64::seed_from_u64(5));
    let rows = Batch::new(ROWS, [0, 1, 2].map(|view| margins(rows.view(view))))?;
    let source = InMemory::new(population.schema().clone(), vec![rows.clone()]);

    println!("{:<16} {:>9} {:>11} {:>11}", "loss", "truth", "estimate", "± s.e.");
    let show = |loss: SharedLoss, params: Params| -> Result<()> {
        let (truth, estimate) = (mean_loss(&*loss, &rows, &labels), params.check()?.estimate(&source)?);
        let (risk, error) = (estimate.risk, estimate.standard_error);
        println!("{:<16} {:>9.4} {risk:>11.4} {error:>11.4}", loss.name(), truth.value);
        Ok(())
    };
    for loss in named() {
        let params = Params::new().loss(loss.name());
        show(loss, params)?;
    }
    show(SharedLoss::new(SquaredProduct), Params::new().own_loss(SquaredProduct))?;
    // Losses of the whole prediction, which no sum or product over views gives.
    for (loss, truth) in Whole::ALL.into_iter().zip(labelled(&rows, &labels)) {
        let estimate = Params::new().loss(loss.name()).check()?.estimate(&source)?;
        let (risk, error) = (estimate.risk, estimate.standard_error);
        println!("{:<16} {truth:>9.4} {risk:>11.4} {error:>11.4}", loss.name());
    }
    Ok(())
}
