//! More views than three, and views that are missing.

use crate::SEED;
use anyhow::Result;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use rayon::prelude::*;
use std::io::Write;
use triview::data::InMemory;
use triview::diagnostics::{Alarm, LEVEL};
use triview::estimator::{Estimate, Params};
use triview::lab::{Population, Preset, Setting};
use triview::learning::{Mean, log_loss};

/// Rows of a population of its own for each draw: what is estimated, and what labels say of them.
fn draws(setting: &Setting, draws: u64, rows: usize) -> Result<Vec<(Estimate, Mean)>> {
    (0..draws)
        .into_par_iter()
        .map(|draw| {
            let population = Population::draw(setting, 21_000 + draw)?;
            let (batch, labels) = population.rows(rows, &mut Pcg64::seed_from_u64(22_000 + draw));
            let truth = log_loss(&batch, &labels);
            let source = InMemory::new(population.schema().clone(), [batch]);
            Ok((Params::new().seed(SEED).check()?.estimate(&source)?, truth))
        })
        .collect()
}

/// Whether the two views that are copies are found, and what it does to the risk.
pub(crate) fn copies(out: &mut impl Write) -> Result<()> {
    const DRAWS: u64 = 100;
    const ROWS: usize = 20_000;
    writeln!(
        out,
        "\n### Six views, the first two copies up to noise: {DRAWS} draws of {ROWS} rows, 3 classes\n"
    )?;
    writeln!(
        out,
        "| noise of the copy | copies together | others together | within 3 own s.e. | RMSE in labelled s.e. | \
         other groupings disagree | not trusted |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    for copied in [None, Some(0.25), Some(0.5), Some(1.0), Some(2.0)] {
        let setting = Setting { views: 6, copied, ..Preset::Three.setting() };
        let answers = draws(&setting, DRAWS, ROWS)?;
        let count = |of: &dyn Fn(&Estimate, &Mean) -> bool| {
            answers.iter().filter(|(estimate, truth)| of(estimate, truth)).count()
        };
        let mean_square: f64 = answers
            .iter()
            .map(|(estimate, truth)| ((estimate.risk - truth.value) / truth.standard_error).powi(2))
            .sum::<f64>()
            / answers.len() as f64;
        let copies_in = |views: &Vec<usize>| views.starts_with(&[0, 1]);
        writeln!(
            out,
            "| {} | {} | {} | {} | {:.2} | {} | {} |",
            copied.map_or("no copy".to_owned(), |noise| noise.to_string()),
            count(&|estimate, _| estimate.grouping.together.iter().any(copies_in)),
            count(&|estimate, _| estimate.grouping.together.iter().any(|views| *views != [0, 1])),
            count(&|estimate, truth| (estimate.risk - truth.value).abs() <= 3.0 * estimate.standard_error),
            mean_square.sqrt(),
            count(&|estimate, _| estimate
                .alarms
                .iter()
                .any(|alarm| matches!(alarm, Alarm::OtherGroups { .. }))),
            count(&|estimate, _| !estimate.trusted()),
        )?;
        out.flush()?;
    }
    Ok(())
}

/// What it costs that 30% of each view are missing, and whether it biases the risk.
pub(crate) fn missing(out: &mut impl Write) -> Result<()> {
    const DRAWS: u64 = 40;
    const ROWS: usize = 20_000;
    writeln!(out, "\n### Views that are missing at random: {DRAWS} draws of {ROWS} rows\n")?;
    writeln!(
        out,
        "| preset | missing | true risk | median s.e. | median s.e. over that of complete rows | mean z | RMS z | \
         independence rejected | not trusted |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|")?;
    for preset in [Preset::Three, Preset::Six] {
        let mut complete = Vec::new();
        for missing in [0.0, 0.1, 0.3] {
            let answers = draws(&Setting { missing, ..preset.setting() }, DRAWS, ROWS)?;
            let errors: Vec<f64> = answers.iter().map(|(estimate, _)| estimate.standard_error).collect();
            if complete.is_empty() {
                complete.clone_from(&errors);
            }
            let ratios = errors.iter().zip(&complete).map(|(error, complete)| error / complete).collect();
            let z = |(estimate, truth): &(Estimate, Mean)| {
                (estimate.risk - truth.value) / estimate.standard_error
            };
            let mean =
                |of: &dyn Fn(&(Estimate, Mean)) -> f64| answers.iter().map(of).sum::<f64>() / DRAWS as f64;
            let rejected = |estimate: &Estimate| estimate.independence.p_value.is_some_and(|p| p < LEVEL);
            writeln!(
                out,
                "| {preset} | {missing} | {:.4} | {:.4} | {:.2} | {:+.2} | {:.2} | {} | {} |",
                mean(&|answer| answer.1.value),
                median(errors),
                median(ratios),
                mean(&z),
                mean(&|answer| z(answer).powi(2)).sqrt(),
                answers.iter().filter(|(estimate, _)| rejected(estimate)).count(),
                answers.iter().filter(|(estimate, _)| !estimate.trusted()).count(),
            )?;
            out.flush()?;
        }
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
