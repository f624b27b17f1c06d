//! Crowds with known truth.

use anyhow::Result;
use std::io::Write;
use triview::answer::Interval;
use triview::lab::{CrowdSetting, SimulatedCrowd};
use triview::metrics::Measured;
use triview::votes::VoteParams;

const DRAWS: u64 = 20;
/// Draws from 100 to 109 and from 1000 on are those that constants were chosen on.
const FIRST: u64 = 300;

/// Classes, annotators, items, shares of spammers and adversaries.
const SETTINGS: [(usize, usize, usize, f64, f64); 9] = [
    (2, 20, 2_000, 0.2, 0.05),
    (2, 500, 10_000, 0.3, 0.1),
    (3, 100, 2_000, 0.4, 0.1),
    (4, 50, 20_000, 0.2, 0.05),
    (5, 50, 2_000, 0.2, 0.05),
    (5, 500, 10_000, 0.4, 0.1),
    (10, 20, 2_000, 0.2, 0.05),
    (10, 100, 5_000, 0.2, 0.05),
    (10, 500, 10_000, 0.2, 0.05),
];

/// Sums over draws.
#[derive(Default)]
struct Sums {
    truth: f64,
    squared: f64,
    own: f64,
    covered: f64,
    prior: f64,
    error: f64,
    cells: f64,
    trusted: f64,
    below: f64,
}

/// The error rate of labels, and how often intervals hold what they should.
pub(crate) fn votes(out: &mut impl Write) -> Result<()> {
    writeln!(out, "\n### Votes: {DRAWS} crowds, five votes an item\n")?;
    writeln!(
        out,
        "| classes | annotators | items | spammers | adversaries | error rate of labels | RMSE of its estimate | own s.e. | in its 95% \
         interval | class prior | annotators' errors | confusion matrices | trusted |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|---|---|---|")?;
    for (classes, annotators, items, spammers, adversaries) in SETTINGS {
        let setting =
            CrowdSetting { classes, annotators, items, spammers, adversaries, ..CrowdSetting::default() };
        let mut sums = Sums::default();
        for seed in 0..DRAWS {
            draw(&setting, FIRST + seed, &mut sums)?;
        }
        let mean = |sum: f64| sum / DRAWS as f64;
        writeln!(
            out,
            "| {classes} | {annotators} | {items} | {spammers} | {adversaries} | {:.4} | {:.4} | {:.4} | {:.0}% | {:.0}% | {:.1}% | {:.1}% | {:.0}% |",
            mean(sums.truth),
            mean(sums.squared).sqrt(),
            mean(sums.own).sqrt(),
            100.0 * mean(sums.covered),
            100.0 * mean(sums.prior),
            100.0 * mean(sums.error),
            100.0 * mean(sums.cells),
            100.0 * mean(sums.trusted),
        )?;
        if sums.below < 0.0 {
            writeln!(out, "below EM from the majority by {}", -sums.below)?;
        }
    }
    Ok(())
}

fn holds(interval: Interval, value: f64) -> f64 {
    f64::from(u8::from(interval.low <= value && value <= interval.high))
}

fn draw(setting: &CrowdSetting, seed: u64, sums: &mut Sums) -> Result<()> {
    let crowd = SimulatedCrowd::draw(setting, seed)?;
    let k = setting.classes;
    let names: Vec<String> = (0..k).map(|class| class.to_string()).collect();
    let estimate = VoteParams::new().check()?.estimate(&crowd.votes, &names)?;
    let wrong = estimate.labels().iter().zip(&crowd.classes).filter(|(label, class)| label != class).count();
    let truth = wrong as f64 / setting.items as f64;
    let Measured { value, standard_error, interval } = estimate.error_rate;
    sums.truth += truth;
    sums.squared += (value - truth).powi(2);
    sums.own += standard_error.powi(2);
    sums.covered += holds(interval, truth);
    let prior = estimate.class_prior.iter().zip(&crowd.prior);
    sums.prior += prior.map(|(found, p)| holds(found.interval, *p)).sum::<f64>() / k as f64;
    let annotators = setting.annotators as f64;
    for (annotator, error) in crowd.errors().into_iter().enumerate() {
        let found = estimate.annotator(annotator);
        sums.error += holds(found.error.interval, error) / annotators;
        let cells = found.confusion.iter().flatten().zip(&crowd.confusion[annotator]);
        let held: f64 = cells.map(|(cell, p)| holds(cell.interval, *p)).sum();
        sums.cells += held / (annotators * (k * k) as f64);
    }
    sums.trusted += f64::from(u8::from(estimate.trusted()));
    sums.below = sums.below.min(estimate.fit.objective - estimate.fit.majority_objective);
    Ok(())
}
