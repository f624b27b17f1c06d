//! Views that are independent given subclasses only.

use crate::SEED;
use anyhow::Result;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use rayon::prelude::*;
use std::io::Write;
use triview::diagnostics::LEVEL;
use triview::estimator::{Estimate, Params};
use triview::learning::{Mean, log_loss};
use triview::mediator::Latent;
use triview::simulate::{Population, Preset, Setting};
use triview::views::InMemory;

const DRAWS: u64 = 20;
const ROWS: usize = 20_000;
/// Estimates within so many labelled standard errors count as right.
const RIGHT: f64 = 5.0;

/// How often one state a class is rejected and wrong, and how often as many as are needed are found and right.
pub(crate) fn subclasses(out: &mut impl Write) -> Result<()> {
    let setting = Preset::Subclasses.setting();
    writeln!(out, "\n### Three classes of two subclasses each: {DRAWS} populations, {ROWS} rows each\n")?;
    writeln!(
        out,
        "| latent states | test accepts | within {RIGHT} labelled s.e. | within 3 own s.e. | median error in labelled s.e. | \
         median own s.e. in labelled s.e. | trusted | trusted and within 3 own s.e. | states found |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|")?;
    for latent in [Latent::Classes, Latent::Auto] {
        let answers = draws(&setting, &latent)?;
        let count = |of: &dyn Fn(&Estimate, &Mean) -> bool| {
            answers.iter().filter(|(estimate, truth)| of(estimate, truth)).count()
        };
        let off = |estimate: &Estimate, truth: &Mean| (estimate.risk - truth.value).abs();
        let honest =
            |estimate: &Estimate, truth: &Mean| off(estimate, truth) <= 3.0 * estimate.standard_error;
        let median = |of: &dyn Fn(&Estimate, &Mean) -> f64| {
            let mut values: Vec<f64> =
                answers.iter().map(|(estimate, truth)| of(estimate, truth) / truth.standard_error).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let mut found: Vec<usize> = answers
            .iter()
            .filter_map(|(estimate, _)| estimate.latent.as_ref().map(|latent| latent.map.len()))
            .collect();
        found.sort_unstable();
        let times = |states: &usize| found.iter().filter(|of| *of == states).count();
        let mut distinct = found.clone();
        distinct.dedup();
        let listed: Vec<String> =
            distinct.iter().map(|states| format!("{states} in {}", times(states))).collect();
        writeln!(
            out,
            "| {latent} | {} | {} | {} | {:.1} | {:.1} | {} | {} | {} |",
            count(&|estimate, _| estimate.independence.p_value.is_some_and(|p| p >= LEVEL)),
            count(&|estimate, truth| off(estimate, truth) <= RIGHT * truth.standard_error),
            count(&honest),
            median(&off),
            median(&|estimate, _| estimate.standard_error),
            count(&|estimate, _| estimate.trusted()),
            count(&|estimate, truth| estimate.trusted() && honest(estimate, truth)),
            listed.join(", "),
        )?;
        out.flush()?;
    }
    Ok(())
}

/// What is estimated of rows of a population of its own for each draw, and what labels say of them.
fn draws(setting: &Setting, latent: &Latent) -> Result<Vec<(Estimate, Mean)>> {
    (0..DRAWS)
        .into_par_iter()
        .map(|draw| {
            let population = Population::draw(setting, 1_000 + draw)?;
            let (batch, labels) = population.rows(ROWS, &mut Pcg64::seed_from_u64(2_000 + draw));
            let truth = log_loss(&batch, &labels);
            let source = InMemory::new(population.schema().clone(), vec![batch]);
            Ok((Params::new().seed(SEED).latent(latent.clone()).check()?.estimate(&source)?, truth))
        })
        .collect()
}
