//! The tables of `docs/accuracy.md`: how far estimates are from the truth, and whether they know it.
//!
//! `make accuracy` runs all of it in about an hour on two cores; arguments choose tables.

mod adaptation;
mod few_labels;
mod field;
mod latent;
mod losses;
#[path = "../../src/mnist.rs"]
mod mnist;
mod other_models;
mod risk;
mod sequences;
mod trust;
mod views;
mod votes;
mod whole;

use anyhow::{Context, Result, bail};
use std::io::StdoutLock;
use std::path::Path;
use triview::data::Schema;
use triview::lab::Images;

const SEED: u64 = 1;

// The draws of these tables were not looked at while settings were chosen: that was done on others, see
// `docs/accuracy.md`.

/// A table and its name.
type Table = (&'static str, fn(&mut StdoutLock<'static>) -> Result<()>);

const TABLES: [Table; 28] = [
    ("mnist", |out| risk::composite_mnist(out)),
    ("overlap", |out| risk::overlapping_classes(out)),
    ("rate", |out| risk::rate(out)),
    ("many", |out| risk::many_classes(out)),
    ("losses", |out| losses::losses(out)),
    ("metrics", |out| whole::metrics(out)),
    ("coverage", |out| trust::coverage(out)),
    ("healthy", |out| trust::healthy(out)),
    ("error-rates-mnist", |out| other_models::error_rates(out)),
    ("prediction-mnist", |out| other_models::prediction(out)),
    ("coverage-mnist", |out| trust::coverage_mnist(out)),
    ("dependence", |out| trust::dependence(out)),
    ("classifiers", |out| trust::classifiers(out)),
    ("copies", |out| views::copies(out)),
    ("missing", |out| views::missing(out)),
    ("subclasses", |out| latent::subclasses(out)),
    ("few-labels", |out| few_labels::few_labels(out)),
    ("few-labels-mnist", |out| few_labels::few_labels_mnist(out)),
    ("field", |out| field::field(out)),
    ("sequences", |out| sequences::sequences(out)),
    ("coverage-sequences", |out| sequences::coverage(out)),
    ("sequences-by-position", |out| sequences::by_position(out)),
    ("adaptation", |out| adaptation::adaptation(out)),
    ("adaptation-shared", |out| adaptation::shared(out)),
    ("adaptation-source", |out| adaptation::source(out)),
    ("phi-bar", |out| adaptation::phi_bar(out)),
    ("votes", |out| votes::votes(out)),
    ("crowds-that-err-together", |out| votes::omnibus(out)),
];

fn main() -> Result<()> {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let known: Vec<&str> = TABLES.iter().map(|(name, _)| *name).collect();
    if let Some(unknown) = chosen.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("there is no table `{unknown}`; known: {}", known.join(", "));
    }
    let mut out = std::io::stdout().lock();
    for (name, table) in TABLES {
        if chosen.is_empty() || chosen.iter().any(|chosen| chosen == name) {
            table(&mut out)?;
        }
    }
    Ok(())
}

/// The images that composites are made of, and the names of their views and classes.
struct Mnist {
    train: Images,
    test: Images,
    schema: Schema,
}

impl Mnist {
    fn read() -> Result<Self> {
        let folder = Path::new("data/mnist");
        let read = |part| mnist::read(folder, part).context("run scripts/mnist.sh first");
        let classes: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
        let schema = Schema::new(["first", "second", "third"].map(String::from).to_vec(), classes)?;
        Ok(Self { train: read("train")?, test: read("t10k")?, schema })
    }
}
