//! More than three views, of which two are copies of each other up to noise, and views that are missing in some rows.
//!
//! The tool sees which two depend on each other, and puts them into one group.
//!
//! ```sh
//! cargo run --release --example many_views
//! ```
#![allow(clippy::print_stdout, reason = "an example prints")]

use rand::SeedableRng;
use rand_pcg::Pcg64;
use triview::data::InMemory;
use triview::estimator::Params;
use triview::lab::{Population, Preset, Setting};
use triview::learning::log_loss;

fn main() -> triview::Result<()> {
    let copied = Setting { views: 6, copied: Some(0.3), ..Preset::Three.setting() };
    let missing = Setting { views: 6, missing: 0.3, ..Preset::Three.setting() };
    for (name, setting) in [("a copy", copied), ("30% missing", missing)] {
        let population = Population::draw(&setting, 3)?;
        let (rows, labels) = population.rows(20_000, &mut Pcg64::seed_from_u64(4));
        let truth = log_loss(&rows, &labels);
        let source = InMemory::new(population.schema().clone(), vec![rows]);
        let automatic = Params::new().check()?.estimate(&source)?;
        println!("{name}: by labels {:.4} ± {:.4}", truth.value, truth.standard_error);
        println!(
            "  in groups {}: {:.4} ± {:.4}",
            automatic.groups.join(", "),
            automatic.risk,
            automatic.standard_error
        );
        println!("  rows without each view: {:?}", automatic.missing);
        let by_hand = Params::new().group("a+c,b+d,e+f").check()?.estimate(&source)?;
        let trusted = if by_hand.trusted() { "" } else { ", not to be trusted" };
        println!("  in groups a+c, b+d, e+f: {:.4} ± {:.4}{trusted}", by_hand.risk, by_hand.standard_error);
    }
    Ok(())
}
