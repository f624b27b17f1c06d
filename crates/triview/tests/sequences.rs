//! Sequences with known truth: a reduced version of the table in docs/sequences.md.

use rand::SeedableRng;
use rand_pcg::Pcg64;
use triview::data::InMemory;
use triview::diagnostics::Verdict;
use triview::lab::{ChainPopulation, ChainSetting};
use triview::sequences::{Chain, Identified, Paths, SequenceEstimate, SequenceParams, Sequences};
use triview::{Error, Result};

/// What the labels say: the risk a token and its standard error, and the token error of the Viterbi decoding.
struct Truth {
    risk: f64,
    standard_error: f64,
    viterbi: f64,
}

fn truth(chain: &Chain, sequences: &Sequences, labels: &[Vec<usize>]) -> Truth {
    let k = chain.k();
    let (mut losses, mut wrong) = (Vec::new(), 0.0);
    for (emission, states) in sequences.iter().zip(labels) {
        let mut score = chain.initial()[states[0]];
        for (t, &state) in states.iter().enumerate() {
            score += emission[t * k + state];
            if t > 0 {
                score += chain.transition()[states[t - 1] * k + state];
            }
        }
        losses.push((chain.messages(emission, Paths::All).log_z - score, states.len() as f64));
        wrong += errors(&chain.viterbi(emission), states);
    }
    let tokens = sequences.tokens() as f64;
    let risk = losses.iter().map(|(loss, _)| loss).sum::<f64>() / tokens;
    let squares = losses.iter().map(|(loss, length)| (loss - risk * length).powi(2)).sum::<f64>();
    Truth { risk, standard_error: squares.sqrt() / tokens, viterbi: wrong / tokens }
}

fn errors(said: &[usize], states: &[usize]) -> f64 {
    said.iter().zip(states).filter(|(said, state)| said != state).count() as f64
}

/// Sequences and their labels.
type Drawn = (ChainPopulation, Sequences, Vec<Vec<usize>>);

fn draw(setting: &ChainSetting, count: usize, seed: u64) -> Result<Drawn> {
    let population = ChainPopulation::draw(setting, seed)?;
    let (sequences, labels) = population.sequences(count, &mut Pcg64::seed_from_u64(7000 + seed))?;
    Ok((population, sequences, labels))
}

fn estimate(chain: &Chain, sequences: &Sequences) -> Result<SequenceEstimate> {
    let source = InMemory::new(chain.states().to_vec(), [sequences.clone()]);
    SequenceParams::new().check()?.estimate(chain, &source)
}

#[test]
fn risk_token_error_and_adapted_model() -> Result<()> {
    let setting = ChainSetting { lengths: [5, 60], ..ChainSetting::new(4, 2.2) };
    for seed in [11, 12] {
        let (population, sequences, labels) = draw(&setting, 500, seed)?;
        let chain = population.model();
        let (truth, estimate) = (truth(chain, &sequences, &labels), estimate(chain, &sequences)?);
        assert!(estimate.trusted(), "{seed}: {:?}", estimate.alarms);
        // Two-sided, once in a thousand times beyond 3.3.
        let z = (estimate.risk_per_token.value - truth.risk) / estimate.risk_per_token.standard_error;
        assert!(z.abs() < 3.3, "{seed}: {z} standard errors off");
        let ratio = estimate.risk_per_token.standard_error / truth.standard_error;
        assert!(ratio < 6.0, "{seed}: {ratio} labelled standard errors");
        let parts = estimate.log_partition - estimate.emission.value - estimate.transition.value;
        assert!((parts - estimate.risk.value).abs() < 1e-9 * parts.abs(), "{seed}");
        // The table's figure is one point; with an eighth of its tokens two.
        let off = estimate.viterbi_error.estimate.value - truth.viterbi;
        assert!(off.abs() < 0.02, "{seed}: {off} off {}", truth.viterbi);

        let tokens = sequences.tokens() as f64;
        let adapted: f64 =
            sequences.iter().zip(&labels).map(|(g, y)| errors(&estimate.adapted.viterbi(g), y)).sum();
        assert!(adapted / tokens < 0.75 * truth.viterbi, "{seed}: {} of {}", adapted / tokens, truth.viterbi);
        for (row, expected) in estimate.transition_matrix.iter().zip(population.transition().chunks(4)) {
            for (cell, expected) in row.iter().zip(expected) {
                assert!((cell.value - expected).abs() < 0.06, "{seed}: {} {expected}", cell.value);
            }
        }
    }
    Ok(())
}

#[test]
fn emissions_that_change_along_the_way_are_identified_by_position() -> Result<()> {
    let setting = ChainSetting { lengths: [8, 8], ..ChainSetting::new(3, 1.6) };
    let (population, homogeneous, labels) = draw(&setting, 8000, 21)?;
    let chain = population.model();
    // Every other token is scored by a model that takes the second state for less likely, and is less sure of all.
    let changed = |at: usize, score: f64| match at / 3 % 2 {
        0 => score,
        _ => 0.5 * score - if at % 3 == 1 { 3.0 } else { 0.0 },
    };
    let mut sequences = Sequences::new(3);
    for emission in homogeneous.iter() {
        let scores: Vec<f64> = emission.iter().enumerate().map(|(at, score)| changed(at, *score)).collect();
        sequences.push(&scores)?;
    }
    let truth = truth(chain, &sequences, &labels);
    let source = InMemory::new(chain.states().to_vec(), [sequences]);
    let pooled = SequenceParams::new().check()?.estimate(chain, &source)?;
    assert_eq!(
        pooled.identification.independence.verdict,
        Verdict::Fail,
        "a token's place tells of its neighbours"
    );
    let by_position = SequenceParams::new().by_position(true).check()?.estimate(chain, &source)?;
    assert_eq!(by_position.identified, Identified::ByPosition { positions: 6 });
    assert!(by_position.trusted(), "{:?}", by_position.alarms);
    let risk = &by_position.risk_per_token;
    let z = (risk.value - truth.risk) / risk.standard_error;
    assert!(z.abs() < 3.3, "{z} standard errors off");
    assert!(risk.standard_error < 6.0 * truth.standard_error, "{risk:?} {}", truth.standard_error);
    assert!((by_position.viterbi_error.estimate.value - truth.viterbi).abs() < 0.02, "{}", truth.viterbi);

    let few = InMemory::new(chain.states().to_vec(), [draw(&setting, 100, 21)?.1]);
    let refused = SequenceParams::new().by_position(true).check()?.estimate(chain, &few);
    assert_eq!(refused.err(), Some(Error::FewAtAPosition { sequences: 100, needed: 150 }));
    Ok(())
}

#[test]
fn chains_without_memory_are_not_answered_with_confidence() -> Result<()> {
    let setting = ChainSetting { stay: 0.25, even: true, lengths: [5, 60], ..ChainSetting::new(4, 2.2) };
    let (population, sequences, labels) = draw(&setting, 400, 3)?;
    // The model has no memory either.
    assert_eq!(estimate(population.model(), &sequences).err(), Some(Error::NoMemory));
    // The model believes in memory.
    let stays = |at: usize| if at / 4 == at % 4 { 0.6_f64.ln() } else { (0.4_f64 / 3.0).ln() };
    let chain = Chain::new(population.model().states().to_vec(), None, (0..16).map(stays).collect())?;
    let truth = truth(&chain, &sequences, &labels);
    let estimate = estimate(&chain, &sequences)?;
    let interval = estimate.risk_per_token.interval;
    let covers = interval.low <= truth.risk && truth.risk <= interval.high;
    assert!(covers || !estimate.trusted(), "{interval:?} {}", truth.risk);
    assert!(!estimate.trusted(), "{:?}", estimate.risk_per_token);
    Ok(())
}

#[test]
fn any_number_of_threads_gives_the_same_bits() -> Result<()> {
    let setting = ChainSetting { lengths: [3, 30], ..ChainSetting::new(3, 2.0) };
    let (population, sequences, _) = draw(&setting, 200, 5)?;
    let on = |threads: usize| -> Result<(f64, f64, f64)> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|_| Error::Internal("a pool of threads"))?;
        let found = pool.install(|| estimate(population.model(), &sequences))?;
        Ok((found.risk.value, found.risk.standard_error, found.viterbi_error.estimate.value))
    };
    assert_eq!(on(1)?, on(3)?);
    Ok(())
}

#[test]
fn what_cannot_be_answered_is_refused() -> Result<()> {
    let setting = ChainSetting { lengths: [1, 2], ..ChainSetting::new(3, 2.0) };
    let (population, sequences, _) = draw(&setting, 50, 1)?;
    let chain = population.model();
    assert_eq!(estimate(chain, &sequences).err(), Some(Error::AllTooShort { sequences: 50 }));
    let names: Vec<String> = ["x", "y", "z"].map(str::to_owned).to_vec();
    let source = InMemory::new(names.clone(), [sequences.clone()]);
    let refused = SequenceParams::new().check()?.estimate(chain, &source).err();
    assert_eq!(
        refused,
        Some(Error::OtherStates { emission: names.clone(), potentials: chain.states().to_vec() })
    );
    // Only 0 -> 1 is possible.
    let none = f64::NEG_INFINITY;
    let steps = vec![none, 0.0, none, none, none, none, none, none, none];
    let steps = Chain::new(names.clone(), Some(vec![0.0, none, 0.0]), steps)?;
    let mut long = Sequences::new(3);
    long.push(&[0.0; 6])?;
    long.push(&[0.0; 9])?;
    let source = InMemory::new(names, [long.clone()]);
    let refused = SequenceParams::new().check()?.estimate(&steps, &source).err();
    assert_eq!(refused, Some(Error::ImpossibleSequence { sequence: 0, length: 3 }));
    let broken = long.push(&[0.0, f64::NAN, 0.0]).err();
    assert!(matches!(broken, Some(Error::EmissionNotFinite { sequence: 2, token: 0, state: 1, .. })));
    assert!(SequenceParams::new().level(1.5).check().is_err());
    Ok(())
}
