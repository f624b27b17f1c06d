//! Models that were adapted without labels, by labels that nobody saw, and how the error of what that rests on falls with the rows.

use crate::{Mnist, SEED};
use anyhow::Result;
use std::io::Write;
use triview::data::{InMemory, Sample};
use triview::estimator::Params;
use triview::lab::{Composites, Recipe};
use triview::learning::{
    AdaptParams, Adaptation, FeatureBatch, FeatureSchema, LogisticModel, LogisticParams, Verdict, error_rate,
    log_loss,
};

const DRAWS: u64 = 4;
const INDEPENDENT_DRAWS: u64 = 5;
/// Rows of the new domain where those of the old one are used, too.
const FEW_ROWS: usize = 2_000;
const DISTORTION: f64 = 5.0;
/// Draws of rows whose first two views are now and then of one image, their distortion, how often, and how many of them are labelled.
const SHARED_DRAWS: u64 = 20;
const SHARED_DISTORTION: f64 = 4.0;
const SHARED: f64 = 0.2;
const KNOWN: usize = 50;

/// Adapted models at each distortion, the views independent: their error and loss on fresh rows, and what is printed of them.
pub(crate) fn adaptation(out: &mut impl Write) -> Result<()> {
    let mnist = Mnist::read()?;
    let seed = seed(&mnist)?;
    writeln!(
        out,
        "\n### Adaptation: composite MNIST, 10,000 unlabelled rows, {INDEPENDENT_DRAWS} draws, judged on 10,000 fresh ones\n"
    )?;
    writeln!(
        out,
        "| a | seed | adapted | trained with labels | seed's risk | printed | adapted one's risk | printed | printed below it by at most | radius | improved |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|---|")?;
    for a in 0..=10u8 {
        let recipe = Recipe::new(10_000).distortion(f64::from(a));
        let mut sums = [0.0; 8];
        let (mut improved, mut below) = (0, f64::NEG_INFINITY);
        for draw in 0..INDEPENDENT_DRAWS {
            let [rows, fresh] = [5_000, 6_000]
                .map(|from| Composites::draw(&mnist.test, &recipe, from + 100 * draw + u64::from(a)));
            let (rows, fresh) = (rows?, fresh?);
            let adapted = adapted(&mnist, &rows, &seed, 0)?;
            let oracle = LogisticParams::default().check()?.train(rows.batch(), rows.classes());
            let ([seed_error, seed_loss], [error, loss]) = (on(&seed, &fresh)?, on(&adapted.model, &fresh)?);
            let Some(judgement) = &adapted.judgement else { continue };
            let (before, after) = (judgement.seed, judgement.adapted);
            let figures = [
                seed_error,
                error,
                on(&oracle, &fresh)?[0],
                seed_loss,
                before.value,
                loss,
                after.value,
                adapted.radius,
            ];
            sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure / INDEPENDENT_DRAWS as f64);
            for (risk, printed) in [(seed_loss, before), (loss, after)] {
                below = below.max((risk - printed.value) / printed.standard_error);
            }
            improved += u64::from(judgement.verdict == Verdict::Improved);
        }
        let [seed_error, error, oracle, seed_loss, before, loss, after, radius] = sums;
        writeln!(
            out,
            "| {a} | {seed_error:.4} | {error:.4} | {oracle:.4} | {seed_loss:.3} | {before:.3} | {loss:.3} | {after:.3} | {below:.1} | {radius:.1} | {improved} |"
        )?;
        out.flush()?;
    }
    Ok(())
}

/// The same where views depend on each other: how much worse than the seed a model is that would be written, with and without labels.
pub(crate) fn shared(out: &mut impl Write) -> Result<()> {
    let mnist = Mnist::read()?;
    let seed = seed(&mnist)?;
    writeln!(
        out,
        "\n### Adaptation: composite MNIST, a = {SHARED_DISTORTION}, in a share {SHARED} of the rows the first two views of one image, {SHARED_DRAWS} draws of 10,000 rows\n"
    )?;
    writeln!(
        out,
        "| labels | written | error of the seed, fresh | of the written or the seed | most error above the seed | most log risk above the seed | printed risks, largest distance in standard errors |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    for known in [0, KNOWN] {
        let (mut written, mut mean, mut before) = (0, 0.0, 0.0);
        let (mut worse, mut riskier, mut off) = (f64::NEG_INFINITY, f64::NEG_INFINITY, 0.0_f64);
        for draw in 0..SHARED_DRAWS {
            let recipe = Recipe::new(10_000).distortion(SHARED_DISTORTION).shared(SHARED);
            let rows = Composites::draw(&mnist.test, &recipe, 8_000 + draw)?;
            let fresh = Composites::draw(&mnist.test, &recipe, 9_000 + draw)?;
            let adapted = adapted(&mnist, &rows, &seed, known)?;
            let ([seed_error, seed_loss], [error, loss]) = (on(&seed, &fresh)?, on(&adapted.model, &fresh)?);
            before += seed_error / SHARED_DRAWS as f64;
            mean += if adapted.supported() { error } else { seed_error } / SHARED_DRAWS as f64;
            if adapted.supported() {
                written += 1;
                worse = worse.max(error - seed_error);
                riskier = riskier.max(loss - seed_loss);
            }
            if let Some(judgement) = adapted.judgement.as_ref().filter(|_| adapted.supported()) {
                for (printed, truth) in [(judgement.adapted, loss), (judgement.seed, seed_loss)] {
                    off = off.max((printed.value - truth).abs() / printed.standard_error);
                }
            }
        }
        writeln!(
            out,
            "| {known} | {written} | {before:.4} | {mean:.4} | {worse:+.4} | {riskier:+.3} | {off:.1} |"
        )?;
        out.flush()?;
    }
    Ok(())
}

/// Few rows of the new domain, without the labelled rows of the old one and with them: error and loss on fresh rows.
pub(crate) fn source(out: &mut impl Write) -> Result<()> {
    let mnist = Mnist::read()?;
    let training = Composites::draw(&mnist.train, &Recipe::new(10_000), SEED)?;
    let seed = LogisticParams::default().check()?.train(training.batch(), training.classes());
    let label = |row: usize| Some(usize::from(training.labels()[row]));
    let old = training.batch().clone().with_labels((0..training.rows()).map(label).collect())?;
    writeln!(
        out,
        "\n### Adaptation with a labelled source: composite MNIST, {FEW_ROWS} unlabelled rows, one draw, judged on 5,000 fresh ones\n"
    )?;
    writeln!(out, "| a | seed | adapted | adapted with the source | weight of the source |")?;
    writeln!(out, "|---|---|---|---|---|")?;
    for a in [0u8, 1, 2, 4, 8] {
        let recipe = |rows| Recipe::new(rows).distortion(f64::from(a));
        let rows = Composites::draw(&mnist.test, &recipe(FEW_ROWS), 5_900 + u64::from(a))?;
        let fresh = Composites::draw(&mnist.test, &recipe(5_000), 6_900 + u64::from(a))?;
        let batches = InMemory::<FeatureSchema, FeatureBatch>::new(rows.schema(), [rows.batch().clone()]);
        let adapter = AdaptParams::default().seed(SEED).check()?;
        let alone = adapter.adapt(&batches, &seed, &mnist.schema)?;
        let with = adapter.adapt_with(&batches, &old, &seed, &mnist.schema)?;
        let said = |model: &LogisticModel| -> Result<String> {
            let [error, loss] = on(model, &fresh)?;
            Ok(format!("{error:.4}, {loss:.3}"))
        };
        let share = with.share.unwrap_or_default();
        writeln!(
            out,
            "| {a} | {} | {} | {} | {share} |",
            said(&seed)?,
            said(&alone.model)?,
            said(&with.model)?
        )?;
        out.flush()?;
    }
    Ok(())
}

/// A model of 10,000 labelled rows as they are.
fn seed(mnist: &Mnist) -> Result<LogisticModel> {
    let training = Composites::draw(&mnist.train, &Recipe::new(10_000), SEED)?;
    Ok(LogisticParams::default().check()?.train(training.batch(), training.classes()))
}

/// Adapted to rows of which the first few are labelled.
fn adapted(mnist: &Mnist, rows: &Composites, seed: &LogisticModel, known: usize) -> Result<Adaptation> {
    let label = |row: usize| (row < known).then(|| usize::from(rows.labels()[row]));
    let batch = rows.batch().clone().with_labels((0..rows.rows()).map(label).collect())?;
    let source = InMemory::<FeatureSchema, FeatureBatch>::new(rows.schema(), [batch]);
    Ok(AdaptParams::default().seed(SEED).check()?.adapt(&source, seed, &mnist.schema)?)
}

/// The error rate and the log loss of a model by the labels of rows.
fn on(model: &LogisticModel, rows: &Composites) -> Result<[f64; 2]> {
    let scores = model.scores(rows.batch())?;
    Ok([error_rate(&scores, rows.labels()).value, log_loss(&scores, rows.labels()).value])
}

/// The distance of `phi-bar` (eq. 7) without labels from that of the same rows' labels, by the number of rows.
pub(crate) fn phi_bar(out: &mut impl Write) -> Result<()> {
    let mnist = Mnist::read()?;
    let training = Composites::draw(&mnist.train, &Recipe::new(10_000), SEED)?;
    let model = LogisticParams::default().check()?.train(training.batch(), training.classes());
    writeln!(out, "\n### phi-bar: composite MNIST, a = {DISTORTION}, {DRAWS} draws\n")?;
    writeln!(out, "| rows | root mean square distance | times the root of the rows |")?;
    writeln!(out, "|---|---|---|")?;
    for rows in [2_500usize, 5_000, 10_000, 20_000, 40_000] {
        let mut squares = 0.0;
        for draw in 0..DRAWS {
            let recipe = Recipe::new(rows).distortion(DISTORTION);
            let drawn = Composites::draw(&mnist.test, &recipe, 7_000 + draw)?;
            squares += squared_distance(&mnist, &model, &drawn)? / DRAWS as f64;
        }
        let distance = squares.sqrt();
        writeln!(out, "| {rows} | {distance:.4} | {:.2} |", distance * (rows as f64).sqrt())?;
        out.flush()?;
    }
    Ok(())
}

/// `|phi-bar - E[phi(x, y)]|^2`, features in units of their standard deviation.
fn squared_distance(mnist: &Mnist, model: &LogisticModel, rows: &Composites) -> Result<f64> {
    let (batch, m, k) = (rows.batch(), rows.rows(), rows.classes());
    let scores = model.scores(batch)?;
    let source = InMemory::new(mnist.schema.clone(), [scores.clone()]);
    let estimator = Params::new().seed(SEED).check()?;
    let moments = estimator.moments(&source, &estimator.plan(&Sample::of(&source)?)?)?;
    let labeller = estimator.solve(&moments)?.labeller()?;
    let labels = labeller.label(&scores)?;
    let mut squares = 0.0;
    for view in 0..batch.views() {
        let group = labeller.group_of(view);
        // W - e_y for each row and class.
        let beyond = |row: usize, class: usize| {
            let truth = f64::from(u8::from(usize::from(rows.labels()[row]) == class));
            labels.column(group, class)[row] - truth
        };
        let beyond: Vec<f64> = (0..m * k).map(|at| beyond(at / k, at % k)).collect();
        let variances = variances(batch, view);
        for (feature, variance) in variances.iter().enumerate().filter(|(_, variance)| **variance > 0.0) {
            let mut sums = vec![0.0; k];
            for (row, beyond) in beyond.chunks_exact(k).enumerate() {
                let x = f64::from(batch.features(view, row)[feature]);
                sums.iter_mut().zip(beyond).for_each(|(sum, beyond)| *sum += x * beyond);
            }
            squares += sums.iter().map(|sum| (sum / m as f64).powi(2) / variance).sum::<f64>();
        }
    }
    Ok(squares)
}

/// The variance of each feature of a view.
fn variances(batch: &FeatureBatch, view: usize) -> Vec<f64> {
    let rows = batch.rows() as f64;
    let column =
        |feature: usize| (0..batch.rows()).map(move |row| f64::from(batch.features(view, row)[feature]));
    let variance = |feature: usize| {
        let mean = column(feature).sum::<f64>() / rows;
        column(feature).map(|x| (x - mean).powi(2)).sum::<f64>() / rows
    };
    (0..batch.widths()[view]).map(variance).collect()
}
