//! Views that are independent given subclasses only.

use crate::SEED;
use anyhow::Result;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use rayon::prelude::*;
use std::io::Write;
use triview::data::InMemory;
use triview::diagnostics::LEVEL;
use triview::estimator::{Estimate, Params};
use triview::lab::{Population, Preset};
use triview::latent::Latent;
use triview::learning::{Mean, log_loss};

const DRAWS: usize = 20;
const ROWS: usize = 20_000;
/// The first population that is looked at.
const FIRST: u64 = 3_000;
/// Estimates within so many labelled standard errors count as right.
const RIGHT: f64 = 5.0;

/// How often one state a class is rejected and wrong, and how often as many as are needed are found and right: where the model
/// is right on average about every subclass, which the method takes for granted, and in the populations that were
/// passed over because it is not.
pub(crate) fn subclasses(out: &mut impl Write) -> Result<()> {
    let setting = Preset::Subclasses.setting();
    let (mut named, mut misnamed) = (Vec::new(), Vec::new());
    for seed in FIRST.. {
        let population = Population::draw(&setting, seed)?;
        if population.misnamed() == 0 { &mut named } else { &mut misnamed }.push((seed, population));
        if named.len() == DRAWS {
            break;
        }
    }
    writeln!(
        out,
        "\n### Three classes of two subclasses each: populations from {FIRST} on, {ROWS} rows each\n"
    )?;
    writeln!(
        out,
        "| model's names of subclasses | latent states | populations | test accepts | within {RIGHT} labelled s.e. | both | \
         within 3 own s.e. | RMSE in labelled s.e. | median own s.e. in labelled s.e. | trusted | states found |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|---|")?;
    for (name, populations) in [("all right", &named), ("one or more wrong", &misnamed)] {
        for latent in [Latent::Classes, Latent::Auto] {
            let answers: Vec<(Estimate, Mean)> =
                populations.par_iter().map(|(seed, of)| answer(of, *seed, &latent)).collect::<Result<_>>()?;
            writeln!(out, "| {name} | {latent} | {} |", line(&answers))?;
            out.flush()?;
        }
    }
    Ok(())
}

/// What is estimated of rows of a population, and what labels say of them.
fn answer(population: &Population, seed: u64, latent: &Latent) -> Result<(Estimate, Mean)> {
    let (batch, labels) = population.rows(ROWS, &mut Pcg64::seed_from_u64(1_000 + seed));
    let truth = log_loss(&batch, &labels);
    let source = InMemory::new(population.schema().clone(), [batch]);
    Ok((Params::new().seed(SEED).latent(latent.clone()).check()?.estimate(&source)?, truth))
}

/// The table's cells for some answers.
fn line(answers: &[(Estimate, Mean)]) -> String {
    let off = |(estimate, truth): &(Estimate, Mean)| (estimate.risk - truth.value).abs();
    let accepted =
        |(estimate, _): &(Estimate, Mean)| estimate.independence.p_value.is_some_and(|p| p >= LEVEL);
    let right = |answer: &(Estimate, Mean)| off(answer) <= RIGHT * answer.1.standard_error;
    let honest = |answer: &(Estimate, Mean)| off(answer) <= 3.0 * answer.0.standard_error;
    let count = |of: &dyn Fn(&(Estimate, Mean)) -> bool| answers.iter().filter(|answer| of(answer)).count();
    let squares = answers.iter().map(|answer| (off(answer) / answer.1.standard_error).powi(2));
    let rmse = (squares.sum::<f64>() / answers.len() as f64).sqrt();
    let mut own: Vec<f64> =
        answers.iter().map(|(estimate, truth)| estimate.standard_error / truth.standard_error).collect();
    own.sort_by(f64::total_cmp);
    let states = |(estimate, _): &(Estimate, Mean)| estimate.latent.as_ref().map(|latent| latent.map.len());
    let mut distinct: Vec<usize> = answers.iter().filter_map(states).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let times = |number: usize| count(&|answer| states(answer) == Some(number));
    let found: Vec<String> =
        distinct.iter().map(|&number| format!("{number} in {}", times(number))).collect();
    format!(
        "{} | {} | {} | {} | {} | {rmse:.2} | {:.1} | {} | {}",
        answers.len(),
        count(&accepted),
        count(&right),
        count(&|answer| accepted(answer) && right(answer)),
        count(&honest),
        own.get(own.len() / 2).copied().unwrap_or(f64::NAN),
        count(&|(estimate, _)| estimate.trusted()),
        found.join(", "),
    )
}
