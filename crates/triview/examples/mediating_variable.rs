//! Extension 3 of the paper: views that are independent only given a latent state which determines the class.
//!
//! Three classes of two kinds each, which every view shows and the model does not know of. One state a class is not enough, and
//! the test says so; with as many states as it asks for, or as many as are known, the risk is right.
//!
//! ```sh
//! cargo run --release --example mediating_variable
//! ```
#![allow(clippy::print_stdout, reason = "an example prints")]

use rand::SeedableRng;
use rand_pcg::Pcg64;
use triview::data::InMemory;
use triview::estimator::{Estimate, Params};
use triview::lab::{Population, Preset};
use triview::latent::Latent;
use triview::learning::log_loss;

fn main() -> triview::Result<()> {
    let population = Population::draw(&Preset::Subclasses.setting(), 101)?;
    let (rows, labels) = population.rows(12_000, &mut Pcg64::seed_from_u64(601));
    let truth = log_loss(&rows, &labels);
    println!("by labels          {:.4} ± {:.4}", truth.value, truth.standard_error);
    let source = InMemory::new(population.schema().clone(), vec![rows]);
    let known = Latent::map(["0", "0", "1", "1", "2", "2"]);
    for latent in [Latent::Classes, Latent::Auto, Latent::States(6), known] {
        let estimate = Params::new().latent(latent.clone()).check()?.estimate(&source)?;
        show(&latent, &estimate);
    }
    Ok(())
}

/// The risk, the test, and the states with their classes.
fn show(latent: &Latent, estimate: &Estimate) {
    let p = estimate.independence.p_value.map_or("untested".to_owned(), |p| format!("p = {p:.3}"));
    let states =
        estimate.latent.as_ref().map_or(String::new(), |states| format!("states of {:?}", states.map));
    let trusted = if estimate.trusted() { "" } else { "not to be trusted" };
    let name = latent.to_string();
    println!("{name:<18} {:.4} ± {:.4}  {p}  {states}{trusted}", estimate.risk, estimate.standard_error);
}
