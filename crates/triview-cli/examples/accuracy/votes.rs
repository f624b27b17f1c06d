//! Crowds with known truth.

use anyhow::{Context, Result};
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

/// Independent crowds that the test of all annotators at once should pass: classes, annotators, items, votes an item, spammers.
const INDEPENDENT: [(usize, usize, usize, usize, f64); 8] = [
    (2, 20, 2_000, 5, 0.2),
    (2, 50, 800, 3, 0.4),
    (3, 30, 500, 20, 0.0),
    (4, 50, 1_500, 5, 0.4),
    (4, 500, 3_000, 5, 0.2),
    (5, 100, 1_000, 40, 0.2),
    (10, 50, 1_500, 10, 0.2),
    (10, 500, 3_000, 3, 0.2),
];
const INDEPENDENT_DRAWS: u64 = 25;
const HARD_DRAWS: u64 = 100;

/// How often the test of all annotators at once rejects crowds that err independently, and those with items that are hard for
/// everybody.
pub(crate) fn omnibus(out: &mut impl Write) -> Result<()> {
    let draws = INDEPENDENT_DRAWS * INDEPENDENT.len() as u64;
    writeln!(
        out,
        "\n### Crowds that err together: rejected at 0.05, of {draws} that do not and {HARD_DRAWS} that do\n"
    )?;
    writeln!(
        out,
        "| classes | annotators | items | votes an item | spammers | hard items | draws | rejected | z of hard items | z of overdispersion |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|")?;
    let hard = (4, 50, 5_000, 5, 0.2);
    let lines =
        INDEPENDENT.iter().map(|line| (*line, 0.0, INDEPENDENT_DRAWS)).chain([(hard, 0.1, HARD_DRAWS)]);
    let mut all = 0;
    for ((classes, annotators, items, votes, spammers), hard, draws) in lines {
        let setting =
            CrowdSetting { classes, annotators, items, votes, spammers, hard, ..CrowdSetting::default() };
        let names: Vec<String> = (0..classes).map(|class| class.to_string()).collect();
        let (mut rejected, mut z) = (0, [0.0; 2]);
        for seed in 0..draws {
            let crowd = SimulatedCrowd::draw(&setting, FIRST + seed)?;
            let estimate = VoteParams::new().seed(seed).check()?.estimate(&crowd.votes, &names)?;
            let found = estimate.omnibus.context("enough annotators")?;
            rejected += u64::from(found.p_value < 0.05);
            z = [z[0] + found.hard_items, z[1] + found.overdispersion];
        }
        all += if hard == 0.0 { rejected } else { 0 };
        let [score, spread] = z.map(|sum| sum / draws as f64);
        writeln!(
            out,
            "| {classes} | {annotators} | {items} | {votes} | {spammers} | {hard} | {draws} | {rejected} | {score:.2} | {spread:.2} |"
        )?;
    }
    writeln!(out, "\n{all} of {draws} independent crowds were rejected.")?;
    Ok(())
}
