//! How good the default estimate is on fourteen kinds of rows, one line a draw: what `scripts/ablation.py` compares between builds that differ in
//! one setting.
//!
//! `cargo run --release --example ablation -- 12 0 10000` draws 10,000 rows of each kind twelve times, from the first seed on. Draws are the same in every build, so
//! that differences are paired. Composites of MNIST are left out where `data/mnist` is not there.

#![allow(clippy::print_stdout, reason = "it is what an example is for")]

mod timing;

use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::error::Error;
use std::path::Path;
use timing::processor_seconds;
use triview::data::{Batch, InMemory, Schema};
use triview::estimator::{Estimate, Params};
use triview::lab::{Composites, Images, Population, Preset, Recipe, Setting};
use triview::latent::Latent;
use triview::learning::{LogisticParams, Mean, error_rate, log_loss};

/// Rows that stand for the population.
const MANY: usize = 100_000;
/// Composites that the model is trained on, and half of those that stand for the population.
const COMPOSITES: usize = 10_000;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let [draws, first, rows, only @ ..] = asked.as_slice() else {
        return Err(
            "how many draws of each kind, the first seed, how many rows and, if not all, which kinds".into(),
        );
    };
    let (draws, first, count): (u64, u64, usize) = (draws.parse()?, first.parse()?, rows.parse()?);
    let wanted = |name: &str| only.is_empty() || only.iter().any(|own| own == name);
    println!("kind,draw,risk,rate,covered,rate_covered,width,rate_width,trusted,beyond,seconds");
    for (name, kind) in kinds().into_iter().filter(|(name, _)| wanted(name)) {
        for draw in first..first + draws {
            let population = Population::draw(&kind.setting, 100_000 + draw)?;
            let mut rng = Pcg64::seed_from_u64(200_000 + draw);
            let (rows, labels) = population.rows(count, &mut rng);
            let (many, of_many) = population.rows(MANY, &mut rng);
            let (rows, many) = (kind.rounded(rows)?, kind.rounded(many)?);
            let truth = [log_loss(&many, &of_many).value, error_rate(&many, &of_many).value];
            let own = [log_loss(&rows, &labels), error_rate(&rows, &labels)];
            line(name, draw, population.schema(), rows, kind.latent(), (own, truth))?;
        }
    }
    if wanted("mnist") && Path::new("data/mnist").is_dir() {
        composites(draws, first, count)?;
    }
    Ok(())
}

/// A kind of rows.
struct Kind {
    setting: Setting,
    /// Scores are rounded to whole numbers.
    whole_numbers: bool,
}

impl Kind {
    fn rounded(&self, rows: Batch) -> Result<Batch> {
        if !self.whole_numbers {
            return Ok(rows);
        }
        let scores =
            (0..rows.views()).map(|view| rows.view(view).iter().map(|score| score.round()).collect());
        Ok(Batch::new(rows.rows(), scores.collect::<Vec<Vec<f64>>>())?)
    }

    fn latent(&self) -> Latent {
        match self.setting.subclasses {
            1 => Latent::default(),
            each => Latent::States(self.setting.classes * each),
        }
    }
}

fn kinds() -> Vec<(&'static str, Kind)> {
    let plain = |setting| Kind { setting, whole_numbers: false };
    let six = || Preset::Six.setting();
    let four = Setting { classes: 4, separation: 1.4, ..Preset::Three.setting() };
    vec![
        ("two", plain(Preset::Two.setting())),
        ("three", plain(Preset::Three.setting())),
        ("three-harder", plain(Preset::ThreeHarder.setting())),
        ("six", plain(six())),
        ("ten", plain(Preset::Ten.setting())),
        ("missing", plain(Setting { missing: 0.3, ..six() })),
        ("subclasses", plain(Preset::Subclasses.setting())),
        ("skewed", plain(Setting { prior: Some(vec![0.7, 0.2, 0.07, 0.03]), ..four.clone() })),
        ("rounded", Kind { setting: four.clone(), whole_numbers: true }),
        ("wrong", plain(Setting { model_noise: 1.0, ..four.clone() })),
        ("hard", plain(Setting { hard: 0.2, ..four })),
    ]
}

/// Composites of images, as far from those that the model was trained on as `a` says.
fn composites(draws: u64, first: u64, count: usize) -> Result<()> {
    let (train, test) = (images("train")?, images("t10k")?);
    let classes: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
    let schema = Schema::new(["first", "second", "third"].map(String::from).to_vec(), classes)?;
    for draw in first..first + draws {
        let rows = Composites::draw(&train, &Recipe::new(COMPOSITES), 300_000 + draw)?;
        let model = LogisticParams::default().seed(draw).check()?.train(rows.batch(), rows.classes());
        for (name, a) in [("mnist-0", 0.0), ("mnist-5", 5.0), ("mnist-10", 10.0)] {
            let draw_of = |images: &Images, count, seed| -> Result<_> {
                let rows = Composites::draw(images, &Recipe::new(count).distortion(a), seed)?;
                Ok((model.scores(rows.batch())?, rows.labels().to_vec()))
            };
            let (rows, labels) = draw_of(&test, count, 400_000 + draw)?;
            let (many, of_many) = draw_of(&test, 2 * COMPOSITES, 500_000 + draw)?;
            let truth = [log_loss(&many, &of_many).value, error_rate(&many, &of_many).value];
            let own = [log_loss(&rows, &labels), error_rate(&rows, &labels)];
            line(name, draw, &schema, rows, Latent::default(), (own, truth))?;
        }
    }
    Ok(())
}

/// Images of `scripts/mnist.sh`, which has checked the files: their headers are of 16 and 8 bytes.
fn images(part: &str) -> Result<Images> {
    let read = |what: &str| std::fs::read(format!("data/mnist/{part}-{what}-ubyte"));
    let pixels = read("images-idx3")?.iter().skip(16).map(|&byte| f32::from(byte) / 255.0).collect();
    Ok(Images::new(28, pixels, read("labels-idx1")?.split_off(8), 10)?)
}

/// Estimates, and prints how far off it is.
fn line(
    name: &str,
    draw: u64,
    schema: &Schema,
    rows: Batch,
    latent: Latent,
    (own, truth): ([Mean; 2], [f64; 2]),
) -> Result<()> {
    let source = InMemory::new(schema.clone(), [rows]);
    let estimator = Params::new().latent(latent).threads(1).check()?;
    let begun = processor_seconds();
    let estimate = estimator.estimate(&source);
    let seconds = processor_seconds() - begun;
    let Ok(estimate) = estimate else {
        println!("{name},{draw},nan,nan,0,0,nan,nan,0,0,{seconds:.3}");
        return Ok(());
    };
    let Estimate { risk, interval, .. } = estimate;
    let rate = estimate.metrics.as_ref().ok().map(|metrics| metrics.error_rate.estimate);
    let [labelled, labelled_rate] = own;
    let rate_of = |of: &dyn Fn(triview::metrics::Measured) -> f64| rate.map_or(f64::NAN, of);
    let holds = |low: f64, high: f64, truth: f64| u8::from(low <= truth && truth <= high);
    println!(
        "{name},{draw},{:.5},{:.5},{},{},{:.5},{:.5},{},{},{seconds:.3}",
        (risk - labelled.value) / labelled.standard_error,
        rate_of(&|rate| (rate.value - labelled_rate.value) / labelled_rate.standard_error),
        holds(interval.low, interval.high, truth[0]),
        rate.map_or(0, |rate| holds(rate.interval.low, rate.interval.high, truth[1])),
        (interval.high - interval.low) / (3.92 * labelled.standard_error),
        rate_of(&|rate| (rate.interval.high - rate.interval.low) / (3.92 * labelled_rate.standard_error)),
        u8::from(estimate.trusted()),
        u8::from((risk - truth[0]).abs() > 3.0 * estimate.standard_error),
    );
    Ok(())
}
