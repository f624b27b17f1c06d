//! Sequences with known truth: a reduced version of the table in docs/sequences.md.

use rand::SeedableRng;
use rand_pcg::Pcg64;
use triview::data::InMemory;
use triview::diagnostics::{Alarm, Verdict};
use triview::lab::{ChainPopulation, ChainSetting};
use triview::metrics::Measured;
use triview::sequences::{Chain, Identified, Imputer, Paths, SequenceEstimate, SequenceParams, Sequences};
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
        assert!(estimate.adapted_is_better(), "{seed}: {:?}", estimate.gain);
        let gain = estimate.gain.map_or(0.0, |gain| gain.value);
        assert!((gain - (truth.viterbi - adapted / tokens)).abs() < 0.03, "{seed}: {gain}");
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

#[test]
fn labels_of_some_sequences_hold_whatever_the_chain_does() -> Result<()> {
    let setting = ChainSetting { lengths: [5, 40], ..ChainSetting::new(4, 1.6) };
    let (population, sequences, labels) = draw(&setting, 1500, 31)?;
    let chain = population.model();
    let truth = truth(chain, &sequences, &labels);
    let estimator = SequenceParams::new().check()?;
    let labelled = |known: &dyn Fn(usize) -> bool| {
        let some = labels.iter().enumerate().map(|(at, states)| known(at).then(|| states.clone())).collect();
        let source = InMemory::new(chain.states().to_vec(), [sequences.with_labels(some)]);
        estimator.labelled(chain, &source, None)
    };
    let all = labelled(&|_| true)?;
    assert!((all.risk_per_token.alone.value - truth.risk).abs() < 1e-9);
    assert!((all.viterbi_error.alone.value - truth.viterbi).abs() < 1e-12);
    let parts = all.log_partition - all.emission.alone.value - all.transition.alone.value;
    assert!((parts - all.risk.alone.value).abs() < 1e-9 * parts.abs());
    assert_eq!((all.imputer, all.gain), (Imputer::Model, None));

    let (mut held, mut ratio) = ([0; 2], 0.0);
    for draw in 0..20 {
        // Draws that have no sequence in common.
        let some = labelled(&|at| at % 30 == draw)?;
        assert_eq!((some.labels, some.sequences, some.trusted()), (50, 1500, true), "{:?}", some.alarms);
        let width = |of: &Measured| of.interval.high - of.interval.low;
        ratio += width(&some.viterbi_error.estimate) / width(&some.viterbi_error.alone) / 20.0;
        let of = [(&some.viterbi_error, truth.viterbi), (&some.risk_per_token, truth.risk)];
        for (held, (powered, truth)) in held.iter_mut().zip(of) {
            let interval = powered.estimate.interval;
            *held += usize::from(interval.low <= truth && truth <= interval.high);
        }
    }
    // Of 20 intervals of 95% fewer than 16 hold three times in a thousand.
    assert!(held.iter().all(|held| *held >= 16), "{held:?}");
    assert!(ratio < 0.95, "{ratio}");
    assert_eq!(labelled(&|at| at < 9).err(), Some(Error::FewLabelledSequences { sequences: 9, needed: 10 }));
    // The longest sequences are not drawn at random.
    let longest = labelled(&|at| labels[at].len() > 37)?;
    assert!(matches!(longest.alarms.as_slice(), [Alarm::LabelsUnlikeOthers { .. }]), "{:?}", longest.alarms);
    Ok(())
}

/// The same sequences with a fourth state, which is that of every so many tokens, if of any, as the model knows.
fn with_a_fourth_state(
    (population, drawn, labels): &Drawn,
    every: Option<usize>,
) -> Result<(Chain, Sequences, Vec<Vec<usize>>)> {
    let model = population.model();
    let potential =
        |at: usize| if at / 4 == 3 || at % 4 == 3 { -3.0 } else { model.transition()[at / 4 * 3 + at % 4] };
    let states = ["0", "1", "2", "9"].map(String::from).to_vec();
    let chain = Chain::new(states, None, (0..16).map(potential).collect())?;
    let (mut sequences, mut known, mut token) = (Sequences::new(4), labels.clone(), 0);
    for (emission, labels) in drawn.iter().zip(&mut known) {
        let mut scores = Vec::new();
        for (g, label) in emission.chunks(3).zip(labels) {
            token += 1;
            let fourth = every.is_some_and(|every| token % every == 0);
            scores.extend(if fourth { [-60.0, -60.0, -60.0, 0.0] } else { [g[0], g[1], g[2], -60.0] });
            *label = if fourth { 3 } else { *label };
        }
        sequences.push(&scores)?;
    }
    Ok((chain, sequences, known))
}

#[test]
fn states_that_hardly_a_token_is_in_count_as_one_with_the_next_rarest() -> Result<()> {
    let setting = ChainSetting { lengths: [5, 60], ..ChainSetting::new(3, 2.2) };
    // The last has some fifty of 20,000 tokens: seen, but too few to be told apart by what is before and after them.
    for (seed, every) in [(14, None), (15, None), (16, None), (14, Some(389))] {
        let drawn = draw(&setting, 600, seed)?;
        let (chain, sequences, labels) = with_a_fourth_state(&drawn, every)?;
        let (truth, estimate) = (truth(&chain, &sequences, &labels), estimate(&chain, &sequences)?);
        assert!(estimate.pooled.len() == 2 && estimate.pooled[1] == "9", "{seed}: {:?}", estimate.pooled);
        assert_eq!(estimate.states.len(), 3);
        assert!(estimate.trusted(), "{seed}: {:?}", estimate.alarms);
        let risk = &estimate.risk_per_token;
        let z = (risk.value - truth.risk) / risk.standard_error;
        assert!(z.abs() < 3.3, "{seed}: {z} standard errors off");
        let error = estimate.viterbi_error.estimate.value;
        assert!((error - truth.viterbi).abs() < 0.02, "{seed}: {error} {}", truth.viterbi);
        // The model that the data suggest has all states.
        let (k, scores) = (4, sequences.get(0));
        assert_eq!(estimate.adapted.chain().states(), chain.states());
        assert_eq!(estimate.adapted.posteriors(scores).len(), scores.len());
        assert!(estimate.adapted.viterbi(scores).into_iter().all(|state| state < k));
    }
    Ok(())
}

#[test]
fn what_is_not_identified_is_left_at_what_the_model_believes() -> Result<()> {
    let setting = ChainSetting { lengths: [5, 30], ..ChainSetting::new(3, 2.2) };
    let (population, drawn, _) = draw(&setting, 300, 4)?;
    // Of two states that the third is made of, neighbours say nothing.
    let model = population.model();
    let potential = |at: usize| {
        let (from, to) = (at / 4, at % 4);
        model.transition()[from.min(2) * 3 + to.min(2)] + if from == 3 && to == 0 { 0.3 } else { 0.0 }
    };
    let states = ["0", "1", "2", "9"].map(String::from).to_vec();
    let chain = Chain::new(states, None, (0..16).map(potential).collect())?;
    let mut sequences = Sequences::new(4);
    for emission in drawn.iter() {
        let split = |(t, g): (usize, &[f64])| [g[0], g[1], g[2], g[2] + 2.0 * (t as f64 * 2.3).sin()];
        sequences.push(&emission.chunks(3).enumerate().flat_map(split).collect::<Vec<f64>>())?;
    }
    let estimate = estimate(&chain, &sequences)?;
    assert_eq!(estimate.alarms[0], Alarm::NotIdentified, "{:?}", estimate.alarms);
    let (mut entropy, mut least, mut wrong) = (0.0, 0.0, 0.0);
    for emission in sequences.iter() {
        let (messages, path) = (chain.messages(emission, Paths::All), chain.viterbi(emission));
        let p = messages.posteriors();
        let mut believed = emission.iter().zip(&p).map(|(g, p)| g * p).sum::<f64>();
        messages.pairs(&chain, |_, pairs| {
            believed += chain.transition().iter().zip(pairs).map(|(f, p)| f * p).sum::<f64>()
        });
        entropy += messages.log_z - believed;
        least += messages.log_z - chain.score(emission, &path);
        wrong += path.iter().enumerate().map(|(t, state)| 1.0 - p[4 * t + state]).sum::<f64>();
    }
    let tokens = sequences.tokens() as f64;
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9 * (1.0 + a.abs());
    let risk = &estimate.risk_per_token;
    assert!(close(risk.value, entropy / tokens) && close(risk.interval.low, least / tokens), "{risk:?}");
    assert_eq!((risk.standard_error, risk.interval.high), (f64::INFINITY, f64::INFINITY));
    assert!(close(estimate.risk.value, entropy / 300.0) && close(estimate.risk.interval.low, least / 300.0));
    let error = &estimate.viterbi_error.estimate;
    assert!(close(error.value, wrong / tokens), "{error:?}");
    assert_eq!((error.interval.low, error.interval.high), (0.0, 1.0));
    assert!(close(estimate.state_prior.iter().map(|prior| prior.value).sum(), 1.0));
    assert!(!estimate.adapted_is_better());
    Ok(())
}
