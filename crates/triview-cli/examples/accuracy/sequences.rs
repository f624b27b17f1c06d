//! Hidden Markov models with known truth.

use anyhow::Result;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use rayon::prelude::*;
use std::io::Write;
use std::ops::Range;
use triview::data::InMemory;
use triview::lab::{ChainPopulation, ChainSetting};
use triview::sequences::{Chain, Paths, SequenceParams, Sequences};

const SEQUENCES: usize = 2000;
/// For coverage: more draws, of fewer tokens.
const COVERAGE_SEQUENCES: usize = 1000;
/// Where positions are identified by themselves.
const POSITION_SEQUENCES: usize = 4000;
/// The risk of a population is that of so many times as many sequences.
const POPULATION: usize = 10;
/// Token errors of the seed that draws are told apart by.
const TOKEN_ERRORS: [Range<f64>; 3] = [0.0..0.15, 0.15..0.2, 0.2..1.0];

/// What one draw says, in labelled standard errors of the risk a token.
struct Draw {
    error: f64,
    own: f64,
    /// Whether the interval holds the population's risk.
    covered: bool,
    trusted: bool,
    token_error: f64,
    viterbi: f64,
    posterior: f64,
    /// The Viterbi errors of the adapted model, and of one of the seed's kind that was trained with the labels.
    adapted: f64,
    trained: f64,
}

/// The risk, the token error and the adapted model. No setting was chosen on these populations.
pub(crate) fn sequences(out: &mut impl Write) -> Result<()> {
    writeln!(out, "\n### Hidden Markov models: {SEQUENCES} sequences of 5 to 200 tokens\n")?;
    heading(out)?;
    for (states, separation) in [(5, 2.4), (5, 2.0), (10, 1.7)] {
        lines(out, &ChainSetting::new(states, separation), SEQUENCES, 660..680, &SequenceParams::new())?;
    }
    Ok(())
}

/// How often the interval of the risk covers it.
pub(crate) fn coverage(out: &mut impl Write) -> Result<()> {
    writeln!(out, "\n### Hidden Markov models: {COVERAGE_SEQUENCES} sequences of 20 tokens\n")?;
    heading(out)?;
    let setting = ChainSetting { lengths: [20, 20], ..ChainSetting::new(5, 2.2) };
    lines(out, &setting, COVERAGE_SEQUENCES, 2000..2200, &SequenceParams::new())
}

/// The same where states are identified position by position.
pub(crate) fn by_position(out: &mut impl Write) -> Result<()> {
    writeln!(
        out,
        "\n### Hidden Markov models, identified by position: {POSITION_SEQUENCES} sequences of 10 tokens\n"
    )?;
    heading(out)?;
    let setting = ChainSetting { lengths: [10, 10], ..ChainSetting::new(3, 2.2) };
    lines(out, &setting, POSITION_SEQUENCES, 2200..2300, &SequenceParams::new().by_position(true))
}

fn heading(out: &mut impl Write) -> Result<()> {
    writeln!(
        out,
        "| states | separation | draws | token error | RMSE of the risk in labelled s.e. | largest | own s.e. | in the 95% interval | trusted | \
         RMSE of the Viterbi error | largest | of the posterior's | adapted token error | trained with labels | gap closed |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")?;
    Ok(())
}

/// One line for each range of token errors, and one for all draws.
fn lines(
    out: &mut impl Write,
    setting: &ChainSetting,
    count: usize,
    populations: Range<u64>,
    params: &SequenceParams,
) -> Result<()> {
    let draws: Vec<Draw> =
        populations.into_par_iter().map(|seed| draw(setting, count, seed, params)).collect::<Result<_>>()?;
    for range in TOKEN_ERRORS.into_iter().chain([0.0..1.0]) {
        let draws: Vec<&Draw> = draws.iter().filter(|draw| range.contains(&draw.token_error)).collect();
        if draws.is_empty() {
            continue;
        }
        let mean =
            |of: &dyn Fn(&Draw) -> f64| draws.iter().map(|draw| of(draw)).sum::<f64>() / draws.len() as f64;
        let largest = |of: &dyn Fn(&Draw) -> f64| draws.iter().map(|draw| of(draw).abs()).fold(0.0, f64::max);
        let share = |of: &dyn Fn(&Draw) -> bool| 100.0 * mean(&|draw| f64::from(u8::from(of(draw))));
        let mut own: Vec<f64> = draws.iter().map(|draw| draw.own).collect();
        own.sort_by(f64::total_cmp);
        writeln!(
            out,
            "| {} | {} | {} with {} to {} | {:.3} | {:.2} | {:.1} | {:.2} | {:.1}% | {:.1}% | {:.4} | {:.4} | {:.4} | {:.3} | {:.3} | {:.0}% |",
            setting.states,
            setting.separation,
            draws.len(),
            range.start,
            range.end,
            mean(&|draw| draw.token_error),
            mean(&|draw| draw.error.powi(2)).sqrt(),
            largest(&|draw| draw.error),
            own[own.len() / 2],
            share(&|draw| draw.covered),
            share(&|draw| draw.trusted),
            mean(&|draw| draw.viterbi.powi(2)).sqrt(),
            largest(&|draw| draw.viterbi),
            mean(&|draw| draw.posterior.powi(2)).sqrt(),
            mean(&|draw| draw.adapted),
            mean(&|draw| draw.trained),
            100.0 * mean(&|draw| draw.token_error - draw.adapted)
                / mean(&|draw| draw.token_error - draw.trained),
        )?;
    }
    out.flush()?;
    Ok(())
}

fn draw(setting: &ChainSetting, count: usize, seed: u64, params: &SequenceParams) -> Result<Draw> {
    let population = ChainPopulation::draw(setting, seed)?;
    let (sequences, labels) = population.sequences(count, &mut Pcg64::seed_from_u64(1000 + seed))?;
    let chain = population.model();
    let tokens = sequences.tokens() as f64;
    let k = chain.k();
    let wrong = |decode: &dyn Fn(&[f64]) -> Vec<usize>| -> f64 {
        let of = |(scores, states): (&[f64], &Vec<usize>)| {
            decode(scores).iter().zip(states).filter(|(said, state)| said != state).count() as f64
        };
        sequences.iter().zip(&labels).map(of).sum::<f64>() / tokens
    };
    let most_likely = |posteriors: Vec<f64>| -> Vec<usize> {
        let best = |p: &[f64]| (1..k).fold(0, |best, state| if p[state] > p[best] { state } else { best });
        posteriors.chunks_exact(k).map(best).collect()
    };
    let viterbi = wrong(&|scores| chain.viterbi(scores));
    let posterior = wrong(&|scores| most_likely(chain.messages(scores, Paths::All).posteriors()));
    let (weights, counted) = trained(chain, &sequences, &labels)?;
    let (risk, standard_error) = labelled(chain, &sequences, &labels);
    let source = InMemory::new(chain.states().to_vec(), [sequences.clone()]);
    let estimate = params.clone().check()?.estimate(chain, &source)?;
    let interval = estimate.risk_per_token.interval;
    let (others, states) =
        population.sequences(POPULATION * count, &mut Pcg64::seed_from_u64(9000 + seed))?;
    let (of_population, _) = labelled(chain, &others, &states);
    Ok(Draw {
        error: (estimate.risk_per_token.value - risk) / standard_error,
        own: estimate.risk_per_token.standard_error / standard_error,
        covered: (interval.low..=interval.high).contains(&of_population),
        trusted: estimate.trusted(),
        token_error: viterbi,
        viterbi: estimate.viterbi_error.estimate.value - viterbi,
        posterior: estimate.posterior_error.estimate.value - posterior,
        adapted: wrong(&|scores| estimate.adapted.viterbi(scores)),
        trained: wrong(&|scores| counted.viterbi(&discriminant(k, &weights, scores))),
    })
}

/// The risk a token by the labels, and its standard error over sequences.
fn labelled(chain: &Chain, sequences: &Sequences, labels: &[Vec<usize>]) -> (f64, f64) {
    let loss = |(scores, states): (&[f64], &Vec<usize>)| {
        let log_z = chain.messages(scores, Paths::All).log_z;
        (log_z - chain.score(scores, states), states.len() as f64)
    };
    let losses: Vec<(f64, f64)> = sequences.iter().zip(labels).map(loss).collect();
    let tokens = sequences.tokens() as f64;
    let risk = losses.iter().map(|(loss, _)| loss).sum::<f64>() / tokens;
    let squares = losses.iter().map(|(loss, length)| (loss - risk * length).powi(2)).sum::<f64>();
    (risk, squares.sqrt() / tokens)
}

/// Linear discriminants of the emission scores by their labels, one row a state, the constant first, and the counted
/// transitions.
fn trained(chain: &Chain, sequences: &Sequences, labels: &[Vec<usize>]) -> Result<(Vec<f64>, Chain)> {
    let k = chain.k();
    let (mut counts, mut means, mut within) = (vec![0.0; k], vec![0.0; k * k], vec![0.0; k * k]);
    let (mut first, mut pairs) = (vec![1.0; k], vec![1.0; k * k]);
    for (scores, states) in sequences.iter().zip(labels) {
        first[states[0]] += 1.0;
        states.windows(2).for_each(|pair| pairs[pair[0] * k + pair[1]] += 1.0);
        for (x, &state) in scores.chunks_exact(k).zip(states) {
            counts[state] += 1.0;
            (0..k).for_each(|i| means[state * k + i] += x[i]);
            (0..k * k).for_each(|c| within[c] += x[c / k] * x[c % k]);
        }
    }
    let tokens: f64 = counts.iter().sum();
    (0..k * k).for_each(|c| means[c] /= counts[c / k]);
    for c in 0..k * k {
        let between: f64 = (0..k).map(|j| counts[j] * means[j * k + c / k] * means[j * k + c % k]).sum();
        within[c] = (within[c] - between) / tokens;
    }
    let mut weights = Vec::new();
    for mean in means.chunks_exact(k) {
        let row = solve(k, &within, mean);
        weights.push(-0.5 * row.iter().zip(mean).map(|(w, m)| w * m).sum::<f64>());
        weights.extend(row);
    }
    let logs = |counts: &[f64]| -> Vec<f64> {
        let total: f64 = counts.iter().sum();
        counts.iter().map(|count| (count / total).ln()).collect()
    };
    let transition = pairs.chunks_exact(k).flat_map(logs).collect();
    Ok((weights, Chain::new(chain.states().to_vec(), Some(logs(&first)), transition)?))
}

fn discriminant(k: usize, weights: &[f64], scores: &[f64]) -> Vec<f64> {
    let of = |x: &[f64], row: &[f64]| row[0] + row[1..].iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
    scores.chunks_exact(k).flat_map(|x| weights.chunks_exact(k + 1).map(|row| of(x, row))).collect()
}

/// The solution of a small symmetric system, by elimination.
fn solve(k: usize, matrix: &[f64], right: &[f64]) -> Vec<f64> {
    let (mut a, mut x) = (matrix.to_vec(), right.to_vec());
    for p in 0..k {
        for row in (0..k).filter(|&row| row != p) {
            let factor = a[row * k + p] / a[p * k + p];
            (p..k).for_each(|c| a[row * k + c] -= factor * a[p * k + c]);
            x[row] -= factor * x[p];
        }
    }
    (0..k).map(|p| x[p] / a[p * k + p]).collect()
}
