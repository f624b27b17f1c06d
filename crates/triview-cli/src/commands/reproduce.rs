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
use triview::data::{InMemory, Sample, Schema};
use triview::estimator::{Estimate, Params};
use triview::features::FeatureChoice;
use triview::lab::{Composites, Images, Recipe, tensor_risk};
use triview::learning::{
    AdaptParams, Adaptation, Adapter, FeatureBatch, FeatureSchema, LogisticModel, LogisticParams, error_rate,
    log_loss, predictive_entropy,
};
use triview_report::draw::Chart;

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
    fn new(args: &ReproduceArgs) -> Self {
        match args.quick {
            true => Self { draws: 1, distortions: vec![0.0, 4.0], rows: 4_000, clipped: vec![false] },
            false => Self {
                draws: args.draws.into(),
                distortions: (0..=10).map(f64::from).collect(),
                rows: 10_000,
                clipped: vec![false, true],
            },
        }
    }
}

/// The points of all figures, with pixels clipped or not.
#[derive(Default)]
struct Points {
    risks: Vec<RiskPoint>,
    /// Those of figures b and c.
    adapted: [Vec<AdaptPoint>; 2],
}

/// One point of figure a.
#[derive(Clone)]
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
#[derive(Clone)]
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
    let plan = Plan::new(args);
    let progress = Progress::new(global);
    let mut written = Vec::new();
    let mut write = |name: String, text: String| -> Result<()> {
        write_text(&args.output.join(&name), &text)?;
        if !written.contains(&name) {
            written.push(name);
        }
        Ok(())
    };
    write("images.svg".into(), images::svg(&images, global.seed)?)?;
    let mut points: Vec<Points> = plan.clipped.iter().map(|_| Points::default()).collect();
    for draw in 0..plan.draws {
        progress.spin("training the seed models");
        let lot = Lot::new(&images, &plan, global.seed, draw)?;
        for (at, &clipped) in plan.clipped.iter().enumerate() {
            for &a in &plan.distortions {
                progress.spin("estimating risks and adapting models (figures a, b and c)");
                // At distortion 0 no pixel is above 1.
                let known = if at > 0 && a == 0.0 { points[0].at(a, draw) } else { None };
                let (risk, adapted) = match known {
                    Some(known) => known,
                    None => lot.point(a, clipped)?,
                };
                points[at].risks.push(risk);
                points[at].adapted.iter_mut().zip(adapted).for_each(|(points, point)| points.push(point));
            }
            // Written after every draw, so that what is done is not lost.
            let (suffix, Points { risks, adapted }) = (if clipped { "-clipped" } else { "" }, &points[at]);
            write(format!("figure-a{suffix}.csv"), figures::risk_table(risks))?;
            write(format!("figure-a{suffix}.svg"), drawn(&figures::risk_chart(risks, clipped))?)?;
            for ((name, labels), points) in SEEDS.iter().zip(adapted) {
                write(format!("figure-{name}{suffix}.csv"), figures::adapt_table(points))?;
                let chart = figures::adapt_chart(points, *labels, clipped);
                write(format!("figure-{name}{suffix}.svg"), drawn(&chart)?)?;
            }
        }
    }
    drop(progress);
    let lines: Vec<String> =
        written.iter().map(|name| args.output.join(name).display().to_string() + "\n").collect();
    Ok(Answer::new(lines.concat()))
}

/// A figure as a file.
fn drawn(chart: &Chart) -> Result<String> {
    Ok(chart.picture().context("the figure has no point to draw")?.svg())
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

impl Points {
    /// The points of a distortion and draw, where they are there.
    fn at(&self, a: f64, draw: u64) -> Option<(RiskPoint, [AdaptPoint; 2])> {
        let at = self.risks.iter().position(|point| point.a == a && point.draw == draw)?;
        Some((self.risks[at].clone(), self.adapted.each_ref().map(|points| points[at].clone())))
    }
}

/// One draw of everything: seed models, trained at distortion 0, and what tells how they fare at others.
struct Lot<'a> {
    unseen: &'a Images,
    rows: usize,
    seed: u64,
    draw: u64,
    /// Labelled rows and the model trained on them, of figures b and c. Figure a has the model of b.
    seeds: [(Composites, LogisticModel); 2],
    validation: f64,
    adapter: Adapter,
    schema: Schema,
}

impl<'a> Lot<'a> {
    fn new([seen, unseen]: &'a [Images; 2], plan: &Plan, seed: u64, draw: u64) -> Result<Self> {
        let trained = |labels: usize| -> Result<(Composites, LogisticModel)> {
            let rows = composites(seen, labels, 0.0, false, seed_of(seed, draw, 3))?;
            let model = train(&rows, STEP, draw)?;
            Ok((rows, model))
        };
        let [(_, many), (_, few)] = SEEDS;
        let seeds = [trained(many)?, trained(few)?];
        let held_out = composites(seen, plan.rows, 0.0, false, seed_of(seed, draw, 1))?;
        let validation = log_loss(&seeds[0].1.scores(held_out.batch())?, held_out.labels()).value;
        let adapter = AdaptParams::default().radius(RADIUS).judged(false).seed(seed).check()?;
        let schema = schema(held_out.classes())?;
        Ok(Self { unseen, rows: plan.rows, seed, draw, seeds, validation, adapter, schema })
    }

    /// One point of each figure. The two passes of figure a are the adaptation's own first step.
    fn point(&self, a: f64, clipped: bool) -> Result<(RiskPoint, [AdaptPoint; 2])> {
        let drawn =
            |what| composites(self.unseen, self.rows, a, clipped, seed_of(self.seed, self.draw, what));
        let (rows, fresh) = (drawn(4)?, drawn(5)?);
        let errors = |model: &LogisticModel| -> Result<[f64; 2]> {
            let error = |rows: &Composites| -> Result<f64> {
                Ok(error_rate(&model.scores(rows.batch())?, rows.labels()).value)
            };
            Ok([error(&rows)?, error(&fresh)?])
        };
        // The rows without their labels.
        let (batch, widths) = (rows.batch(), rows.batch().widths().to_vec());
        let views = (0..batch.views()).map(|view| batch.view(view).to_vec()).collect();
        let unlabelled = FeatureBatch::new(batch.rows(), widths, views)?;
        let source = InMemory::new(rows.schema(), [unlabelled]);
        let oracle = errors(&train(&rows, STEP, self.draw)?)?;
        let [many, few] = self.seeds.each_ref().map(|seed| -> Result<_> {
            let (adaptation, gap, low, retrained) = self.adapt(&source, seed)?;
            let point = AdaptPoint {
                a,
                draw: self.draw,
                seed: errors(&seed.1)?,
                adapted: adaptation.as_ref().map(|it| errors(&it.model)).transpose()?,
                oracle,
                matching_gap: gap,
                matching_gap_low: low,
                retrained,
            };
            Ok((point, adaptation.filter(|_| retrained == 0).map(|it| it.seed)))
        });
        let ((many, estimate), (few, _)) = (many?, few?);
        Ok((self.risk_point(&rows, a, estimate)?, [many, few]))
    }

    /// A point of figure a, where the two passes' estimate may be known already.
    fn risk_point(&self, rows: &Composites, a: f64, known: Option<Estimate>) -> Result<RiskPoint> {
        let scores = self.seeds[0].1.scores(rows.batch())?;
        let (truth, entropy) = (log_loss(&scores, rows.labels()), predictive_entropy(&scores).value);
        let source = InMemory::new(self.schema.clone(), vec![scores]);
        let by_scores = Params::new().seed(self.seed).features(FeatureChoice::Scores).check()?;
        let moments = by_scores.moments(&source, &by_scores.plan(&Sample::of(&source)?)?)?;
        let two_passes = match known {
            Some(estimate) => estimate,
            None => Params::new().seed(self.seed).check()?.estimate(&source)?,
        };
        Ok(RiskPoint {
            a,
            draw: self.draw,
            truth: truth.value,
            truth_error: truth.standard_error,
            tensor: tensor_risk(&moments, self.seed)?,
            refined: by_scores.solve(&moments)?.estimate().risk,
            two_passes: two_passes.risk,
            two_passes_error: two_passes.standard_error,
            validation: self.validation,
            entropy,
        })
    }

    /// Adapts a seed model, trained again by a smaller step where it is too weak: the result, `gap(theta_0)` with its lower
    /// end, and how often it was trained again.
    fn adapt(
        &self,
        source: &InMemory<FeatureSchema, FeatureBatch>,
        (labelled, seed): &(Composites, LogisticModel),
    ) -> Result<(Option<Adaptation>, f64, f64, u32)> {
        let (mut model, mut step, mut retrained) = (seed.clone(), STEP, 0);
        loop {
            match self.adapter.adapt(source, &model, &self.schema) {
                Ok(it) => {
                    let (gap, low) = (it.seed.matching_gap, it.seed.matching_gap_interval.low);
                    return Ok((Some(it), gap, low, retrained));
                }
                Err(triview::Error::WeakSeed { gap, low, .. }) if retrained == MOST_RETRAINED => {
                    return Ok((None, gap, low, retrained));
                }
                Err(triview::Error::WeakSeed { .. }) => {
                    step /= SMALLER_STEP;
                    retrained += 1;
                    model = train(labelled, step, self.draw)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}
