//! `triview demo`: train on digits, shift them, and compare the estimated risk with the truth.

use crate::answer::{Answer, made};
use crate::args::{DemoArgs, Global};
use crate::digits;
use crate::output;
use crate::progress::Progress;
use anyhow::{Context, Result};
use indicatif::HumanCount;
use rayon::prelude::*;
use serde::Serialize;
use triview::answer::Interval;
use triview::data::{InMemory, Schema};
use triview::estimator::{Estimator, Params};
use triview::lab::{Composites, Images, Recipe};
use triview::learning::{LogisticModel, LogisticParams, log_loss, predictive_entropy};
use triview_report::draw::{Chart, Picture, Point, Series, Spread, Table};
use triview_report::html::{Page, Section, Standing, Tile};
use triview_report::json;
use triview_report::text::{Align, WIDTH, aligned, plain, with_error, wrapped};

/// Composites to train on and, at each distortion, to test on: with 5,000 some strong distortions lose a class.
const ROWS: usize = 10_000;
/// AdaGrad's step: these images have 64 pixels, and a model that is nearly calibrated before the shift wants larger
/// weights than the 784 of MNIST do.
const STEP: f64 = 0.2;
/// The strongest distortion.
const STRONGEST: u32 = 10;

/// What is known at one distortion.
#[derive(Debug, Serialize)]
struct Step {
    distortion: u32,
    true_risk: f64,
    true_standard_error: f64,
    estimate: f64,
    standard_error: f64,
    validation_risk: f64,
    predictive_entropy: f64,
    interval: Interval,
    independence_p_value: Option<f64>,
    alarms: Vec<String>,
    trusted: bool,
}

/// The object of `--json`.
#[derive(Debug, Serialize)]
struct DemoObject<'a> {
    schema: u32,
    rows: usize,
    svg: String,
    report: String,
    steps: &'a [Step],
}

/// Trains, shifts, estimates, draws.
pub(crate) fn run(args: &DemoArgs, global: &Global) -> Result<Answer> {
    output::check(&args.svg, [])?;
    output::check(&args.report, [args.svg.as_path()])?;
    let progress = Progress::new(global);
    progress.spin("training on digits, then estimating on shifted ones");
    let images = digits::images()?;
    let (seen, unseen) = images.split(images.len() / 2)?;
    let training = Composites::draw(&seen, &Recipe::new(ROWS), global.seed)?;
    let model = LogisticParams::default()
        .step(STEP)
        .seed(global.seed)
        .check()?
        .train(training.batch(), training.classes());
    let estimator = Params::new().seed(global.seed).check()?;
    let steps = shift(&model, &unseen, &estimator, global.seed)?;
    let curves = chart(&steps).picture().context("the demo has no point to draw")?;
    output::write_text(&args.svg, &curves.svg())?;
    drop(progress);
    let [svg, report] = [&args.svg, &args.report].map(|path| path.display().to_string());
    let shown = text(&steps, training.rows(), &svg, &report);
    let page = page(&steps, curves);
    let object = json::to_text(&DemoObject { schema: json::SCHEMA, rows: ROWS, svg, report, steps: &steps })?;
    let answer =
        Answer::new(shown).with_json(object, args.json).trusted(steps.iter().all(|step| step.trusted));
    answer.with_page(&page, &made(global.seed, &[]), global, Some(&args.report))
}

/// Measures and estimates at every distortion. The images at all of them are the same, and the model has seen none.
fn shift(model: &LogisticModel, images: &Images, estimator: &Estimator, seed: u64) -> Result<Vec<Step>> {
    let classes = (0..images.classes()).map(|digit| digit.to_string()).collect();
    let views = ["first", "second", "third"].map(str::to_owned).to_vec();
    let schema = Schema::new(views, classes)?;
    // Other rows than those of the steps: what would have been set aside for validation before the shift.
    let held_out = Composites::draw(images, &Recipe::new(ROWS), seed.wrapping_add(1))?;
    let validation_risk = log_loss(&model.scores(held_out.batch())?, held_out.labels()).value;
    (0..=STRONGEST)
        .into_par_iter()
        .map(|distortion| {
            let rows = Composites::draw(
                images,
                &Recipe::new(ROWS).distortion(f64::from(distortion)),
                seed.wrapping_add(3),
            )?;
            let scores = model.scores(rows.batch())?;
            let truth = log_loss(&scores, rows.labels());
            let entropy = predictive_entropy(&scores);
            let estimate = estimator
                .estimate(&InMemory::new(schema.clone(), [scores]))
                .with_context(|| format!("at distortion {distortion}"))?;
            Ok(Step {
                distortion,
                true_risk: truth.value,
                true_standard_error: truth.standard_error,
                estimate: estimate.risk,
                standard_error: estimate.standard_error,
                validation_risk,
                predictive_entropy: entropy.value,
                interval: estimate.interval,
                independence_p_value: estimate.independence.p_value,
                trusted: estimate.trusted(),
                alarms: estimate.alarms.iter().map(ToString::to_string).collect(),
            })
        })
        .collect()
}

/// Standard errors that an interval of 95% confidence reaches.
const REACH: f64 = 1.96;

/// The four curves.
fn chart(steps: &[Step]) -> Chart {
    let curve = |name: &str, of: fn(&Step) -> f64, interval: fn(&Step) -> Option<Interval>| Series {
        name: name.to_owned(),
        points: steps
            .iter()
            .map(|step| {
                let point = Point::new(f64::from(step.distortion), of(step));
                Point { interval: interval(step), ..point }
            })
            .collect(),
        spread: Spread::Bars,
    };
    let labelled = |step: &Step| {
        let reach = REACH * step.true_standard_error;
        Some(Interval { low: step.true_risk - reach, high: step.true_risk + reach })
    };
    let mut estimate = curve("estimate, no labels", |step| step.estimate, |step| Some(step.interval));
    estimate.points.iter_mut().zip(steps).for_each(|(point, step)| point.doubted = !step.trusted);
    Chart {
        title: "Risk of a digit classifier as its images are distorted".to_owned(),
        description: "Four curves over the distortion, on a logarithmic axis. The true risk rises a thousandfold and the estimate, made without \
                      labels, lies on it; the validation risk stays level, and the model's entropy falls short."
            .to_owned(),
        note: "Bars are intervals of 95% confidence; where they are shorter than the mark they do not show.".to_owned(),
        x_label: "distortion a".to_owned(),
        y_label: "log loss (logarithmic)".to_owned(),
        log_y: true,
        series: vec![
            curve("true risk", |step| step.true_risk, labelled),
            estimate,
            curve("validation risk", |step| step.validation_risk, |_| None),
            curve("predictive entropy", |step| step.predictive_entropy, |_| None),
        ],
        ..Chart::default()
    }
}

/// The curves with what is to be seen in them.
fn page(steps: &[Step], curves: Picture) -> Page {
    let trusted = steps.iter().all(|step| step.trusted);
    let reasons = steps.iter().flat_map(|step| {
        step.alarms
            .iter()
            .map(move |alarm| (format!("at distortion {}: {alarm}", step.distortion), String::new()))
    });
    let row = |step: &Step| {
        vec![
            step.distortion.to_string(),
            with_error(step.true_risk, step.true_standard_error),
            with_error(step.estimate, step.standard_error),
            if step.trusted { "yes" } else { "no" }.to_owned(),
        ]
    };
    let last = steps.iter().rev().find(|step| step.trusted);
    let headline = match last {
        Some(last) => format!(
            "The model became wrong and nobody had labels: the estimate says {} where the truth is {}.",
            plain(last.estimate),
            plain(last.true_risk)
        ),
        None => "Do not rely on these numbers: checks speak against all of them.".to_owned(),
    };
    let tiles = last.map(|last| {
        vec![
            Tile::new(
                "true risk",
                plain(last.true_risk),
                format!("at distortion {}, with labels", last.distortion),
            ),
            Tile::new("estimate", plain(last.estimate), "without a label"),
            Tile::new("validation risk", plain(last.validation_risk), "measured before the shift"),
            Tile::new("model\u{2019}s entropy", plain(last.predictive_entropy), "what it believes of itself"),
        ]
    });
    Page {
        about: "the demo: digits that are distorted more and more",
        standing: if trusted { Standing::Trusted } else { Standing::Doubted },
        headline,
        lead: vec![format!(
            "A logistic model was trained on composite digits and met {} new ones at each distortion. Validation sees nothing of the shift; \
             the estimate needs no labels.",
            HumanCount(ROWS as u64)
        )],
        reasons: reasons.collect(),
        tiles: tiles.unwrap_or_default(),
        sections: vec![
            Section::new("The four curves").picture(Some(curves)),
            Section::new("Step by step").table(Table::of_numbers(
                ["distortion a", "true risk", "estimate", "trusted"],
                steps.iter().map(row),
            )),
        ],
    }
}

/// The table, what to see in it, and what to do next.
fn text(steps: &[Step], trained: usize, svg: &str, report: &str) -> String {
    let header = ["a", "true risk", "estimate", "validation risk", "entropy", ""].map(str::to_owned).to_vec();
    let mut rows = vec![header];
    rows.extend(steps.iter().map(|step| {
        vec![
            step.distortion.to_string(),
            with_error(step.true_risk, step.true_standard_error),
            with_error(step.estimate, step.standard_error),
            plain(step.validation_risk),
            plain(step.predictive_entropy),
            if !step.trusted { "not to be trusted".to_owned() } else { String::new() },
        ]
    }));
    let mut align = vec![Align::Right; 5];
    align.push(Align::Left);
    let mut parts = vec![
        wrapped(
            &format!(
                "A logistic model was trained on {} composite digits. At each distortion a it meets {} new \
                 ones. Only the first column was computed with labels (log loss, ± one standard error).",
                HumanCount(trained as u64),
                HumanCount(ROWS as u64)
            ),
            WIDTH,
            0,
        ),
        aligned(&align, rows),
    ];
    if let Some(last) = steps.iter().rev().find(|step| step.trusted) {
        let moral = format!(
            "Look at a = {}: the true risk is {}; the estimate, without a label, is {}. The validation risk still \
             says {} and the model's own entropy {}.",
            last.distortion,
            plain(last.true_risk),
            with_error(last.estimate, last.standard_error),
            plain(last.validation_risk),
            plain(last.predictive_entropy)
        );
        parts.push(wrapped(&moral, WIDTH, 0));
    }
    parts.push(format!("The four curves: {svg}; to look at: {report}"));
    parts.push("Next: `triview simulate -o scores.csv`, then `triview estimate scores.csv`.".to_owned());
    parts.join("\n\n") + "\n"
}
