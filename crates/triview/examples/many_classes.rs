//! A hundred classes: no third moment is formed, and the risk comes from the features of all rows.
//!
//! Once with views that are independent given the class, once with two that share their noise in a tenth of the rows.
//!
//! ```sh
//! cargo run --release --example many_classes
//! ```
#![allow(clippy::print_stdout, reason = "an example prints")]

use rand::SeedableRng;
use rand_pcg::Pcg64;
use triview::data::InMemory;
use triview::estimator::Params;
use triview::lab::{Population, Preset, Setting};
use triview::learning::{error_rate, log_loss};

fn main() -> triview::Result<()> {
    for shared in [0.0, 0.1] {
        let setting = Setting { classes: 100, separation: 0.35, shared, ..Preset::TwoHundred.setting() };
        let population = Population::draw(&setting, 3)?;
        let (rows, labels) = population.rows(50_000, &mut Pcg64::seed_from_u64(4));
        let (truth, wrong) = (log_loss(&rows, &labels), error_rate(&rows, &labels));
        let source = InMemory::new(population.schema().clone(), vec![rows]);
        let estimate = Params::new().check()?.estimate(&source)?;
        println!("noise shared in {:.0}% of the rows", 100.0 * shared);
        println!("  risk by labels     {:.4} ± {:.4}", truth.value, truth.standard_error);
        println!("  risk without       {:.4} ± {:.4}", estimate.risk, estimate.standard_error);
        println!("  error rate         {:.4} by labels", wrong.value);
        if let Ok(metrics) = &estimate.metrics {
            let without = &metrics.error_rate;
            println!("                     {:.4} by the fitted posterior", without.posterior.value);
        }
        for line in &estimate.independence.dependences {
            let [a, b] = line.views.map(|view| estimate.groups[view].as_str());
            println!("  views {a} and {b}      correlation {:.3}, p = {:.3}", line.correlation, line.p_value);
        }
        println!("  trusted            {}", estimate.trusted());
    }
    Ok(())
}
