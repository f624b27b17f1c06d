//! `triview reproduce`: the paper's experiments on MNIST, redrawn.

mod figures;
mod images;

use crate::answer::Answer;
use crate::args::Global;
use crate::learning_args::ReproduceArgs;
use crate::mnist;
use crate::output::write_text;
use crate::progress::Progress;
use anyhow::{Context, Result};
use triview::composite::{Composites, Images, Recipe};
use triview::estimator::{Features, Params};
use triview::learning::{
    AdaptParams, FeaturesInMemory, LogisticModel, LogisticParams, error_rate, log_loss, predictive_entropy,
};
use triview::views::{InMemory, Schema};

/// The radius of the ball in figures b and c, in standardised features; chosen on other draws (docs/adaptation.md).
const RADIUS: f64 = 2.0;
/// Labelled rows of the seed models of figures b and c.
const SEEDS: [(char, usize); 2] = [('b', 10_000), ('c', 300)];
/// A seed that was too weak is trained again with a step this many times smaller, as in the paper.
const SMALLER_STEP: f64 = 4.0;
/// How often that is tried.
const MOST_RETRAINED: u32 = 2;
/// AdaGrad's step.
const STEP: f64 = 0.04;

/// How much is drawn.
struct Plan {
    draws: u64,
    distortions: Vec<f64>,
    rows: usize,
    clipped: Vec<bool>,
}

impl Plan {
    fn new(quick: bool) -> Self {
        match quick {
            true => Self { draws: 1, distortions: vec![0.0, 4.0], rows: 4_000, clipped: vec![false] },
            false => Self {
                draws: 3,
                distortions: (0..=10).map(f64::from).collect(),
                rows: 10_000,
                clipped: vec![false, true],
            },
        }
    }
}

/// One point of figure a.
pub(super) struct RiskPoint {
    a: f64,
    draw: u64,
    truth: f64,
    truth_error: f64,
    tensor: Option<f64>,
    refined: f64,
    two_passes: f64,
    two_passes_error: f64,
    validation: f64,
    entropy: f64,
}

/// One point of figures b and c: error rates on the adapted rows, and on fresh ones.
pub(super) struct AdaptPoint {
    a: f64,
    draw: u64,
    seed: [f64; 2],
    /// Nothing where no seed told which class is which.
    adapted: Option<[f64; 2]>,
    oracle: [f64; 2],
    matching_gap: f64,
    matching_gap_low: f64,
    /// Times that the seed had to be trained again.
    retrained: u32,
}

/// Runs all of it and writes figures, tables and images.
pub(crate) fn run(args: &ReproduceArgs, global: &Global) -> Result<Answer> {
    let images = [mnist::read(&args.mnist, "train")?, mnist::read(&args.mnist, "t10k")?];
    std::fs::create_dir_all(&args.output)
        .with_context(|| format!("cannot make the folder `{}`", args.output.display()))?;
    let plan = Plan::new(args.quick);
    let progress = Progress::new(global.quiet);
    let mut written = Vec::new();
    let mut write = |name: String, text: String| -> Result<()> {
        write_text(&args.output.join(&name), &text)?;
        if !written.contains(&name) {
            written.push(name);
        }
        Ok(())
    };
    write("images.svg".into(), images::svg(&images, global.seed)?)?;
    for &clipped in &plan.clipped {
        let suffix = if clipped { "-clipped" } else { "" };
        let mut risks = Vec::new();
        let mut adapted = [Vec::new(), Vec::new()];
        // Written after every draw, so that what is done is not lost.
        for draw in 0..plan.draws {
            progress.spin("estimating risks (figure a)");
            risks.extend(risk_points(&images, &plan, clipped, global.seed, draw)?);
            write(format!("figure-a{suffix}.csv"), figures::risk_table(&risks))?;
            write(format!("figure-a{suffix}.svg"), figures::risk_chart(&risks, clipped).svg()?)?;
            for ((name, labels), points) in SEEDS.iter().zip(&mut adapted) {
                progress.spin("adapting models (figures b and c)");
                points.extend(adapt_points(&images, &plan, clipped, *labels, global.seed, draw)?);
                write(format!("figure-{name}{suffix}.csv"), figures::adapt_table(points))?;
                let chart = figures::adapt_chart(points, *labels, clipped);
                write(format!("figure-{name}{suffix}.svg"), chart.svg()?)?;
            }
        }
    }
    drop(progress);
    let lines: Vec<String> =
        written.iter().map(|name| args.output.join(name).display().to_string() + "\n").collect();
    Ok(Answer::new(lines.concat()))
}

/// The seed of one of the random things of a draw.
fn seed_of(seed: u64, draw: u64, what: u64) -> u64 {
    seed.wrapping_mul(1_000_003).wrapping_add(100_000 + 100 * draw + what)
}

fn composites(images: &Images, rows: usize, a: f64, clipped: bool, seed: u64) -> Result<Composites> {
    Ok(Composites::draw(images, &Recipe::new(rows).distortion(a).clipped(clipped), seed)?)
}

fn train(rows: &Composites, step: f64, seed: u64) -> Result<LogisticModel> {
    let trainer = LogisticParams::default().step(step).seed(seed).check()?;
    Ok(trainer.train(rows.batch(), rows.classes()))
}

fn schema(classes: usize) -> Result<Schema> {
    let views = ["a", "b", "c"].map(str::to_owned).to_vec();
    Ok(Schema::new(views, (0..classes).map(|class| class.to_string()).collect())?)
}

/// The points of figure a: a model trained at distortion 0, its risk at others.
fn risk_points(
    [seen, unseen]: &[Images; 2],
    plan: &Plan,
    clipped: bool,
    seed: u64,
    draw: u64,
) -> Result<Vec<RiskPoint>> {
    let training = composites(seen, plan.rows, 0.0, clipped, seed_of(seed, draw, 0))?;
    let model = train(&training, STEP, draw)?;
    let held_out = composites(seen, plan.rows, 0.0, clipped, seed_of(seed, draw, 1))?;
    let validation = log_loss(&model.scores(held_out.batch())?, held_out.labels()).value;
    let mut points = Vec::new();
    for &a in &plan.distortions {
        let rows = composites(unseen, plan.rows, a, clipped, seed_of(seed, draw, 2))?;
        let scores = model.scores(rows.batch())?;
        let truth = log_loss(&scores, rows.labels());
        let entropy = predictive_entropy(&scores).value;
        let source = InMemory::new(schema(rows.classes())?, vec![scores]);
        let by_scores = Params::new().seed(seed).features(Features::Scores).check()?;
        let moments = by_scores.moments(&source, &by_scores.look(&source)?)?;
        let both = Params::new().seed(seed).check()?;
        let two_passes = both.solve(&both.moments(&source, &both.look(&source)?)?)?;
        points.push(RiskPoint {
            a,
            draw,
            truth: truth.value,
            truth_error: truth.standard_error,
            tensor: by_scores.solve_by_tensor_alone(&moments)?,
            refined: by_scores.solve(&moments)?.risk,
            two_passes: two_passes.risk,
            two_passes_error: two_passes.standard_error,
            validation,
            entropy,
        });
    }
    Ok(points)
}

/// The points of figures b and c: a seed model with so many labels at distortion 0, adapted to others.
fn adapt_points(
    [seen, unseen]: &[Images; 2],
    plan: &Plan,
    clipped: bool,
    labels: usize,
    seed: u64,
    draw: u64,
) -> Result<Vec<AdaptPoint>> {
    let training = composites(seen, labels, 0.0, clipped, seed_of(seed, draw, 3))?;
    let first = train(&training, STEP, draw)?;
    let adapter = AdaptParams::default().radius(RADIUS).judged(false).seed(seed).check()?;
    let mut points = Vec::new();
    for &a in &plan.distortions {
        let rows = composites(unseen, plan.rows, a, clipped, seed_of(seed, draw, 4))?;
        let fresh = composites(unseen, plan.rows, a, clipped, seed_of(seed, draw, 5))?;
        let errors = |model: &LogisticModel| -> Result<[f64; 2]> {
            let error = |rows: &Composites| -> Result<f64> {
                Ok(error_rate(&model.scores(rows.batch())?, rows.labels()).value)
            };
            Ok([error(&rows)?, error(&fresh)?])
        };
        // The rows without their labels.
        let (batch, widths) = (rows.batch(), rows.batch().widths().to_vec());
        let views = (0..batch.views()).map(|view| batch.view(view).to_vec()).collect();
        let unlabelled = triview::learning::FeatureBatch::new(batch.rows(), widths, views)?;
        let source = FeaturesInMemory::new(rows.schema(), vec![unlabelled]);
        let (mut model, mut step, mut retrained) = (first.clone(), STEP, 0);
        let schema = schema(rows.classes())?;
        let (adapted, matching_gap, matching_gap_low) = loop {
            match adapter.adapt(&source, &model, &schema) {
                Ok(adaptation) => {
                    let seed = &adaptation.seed;
                    let errors = errors(&adaptation.model)?;
                    break (Some(errors), seed.matching_gap, seed.matching_gap_interval.low);
                }
                Err(triview::Error::WeakSeed { gap, low, .. }) => {
                    if retrained == MOST_RETRAINED {
                        break (None, gap, low);
                    }
                    step /= SMALLER_STEP;
                    retrained += 1;
                    model = train(&training, step, draw)?;
                }
                Err(error) => return Err(error.into()),
            }
        };
        points.push(AdaptPoint {
            a,
            draw,
            seed: errors(&first)?,
            adapted,
            oracle: errors(&train(&rows, STEP, draw)?)?,
            matching_gap,
            matching_gap_low,
            retrained,
        });
    }
    Ok(points)
}
