//! `triview simulate --hmm`: sequences whose true risk is known.

use crate::answer::Answer;
use crate::args::{Global, SimulateArgs};
use crate::commands::simulate::beside;
use crate::output;
use crate::progress::Progress;
use anyhow::{Result, bail};
use indicatif::HumanCount;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;
use serde::Serialize;
use std::path::Path;
use triview::lab::{ChainPopulation, ChainSetting};
use triview::sequences::{Chain, Paths, Sequences};
use triview_report::json;
use triview_report::text::with_error;
use triview_table::{Error, Values, write_columns, write_transitions};

/// States that are drawn when nothing is said, and how far apart they lie.
const STATES: usize = 5;
const SEPARATION: f64 = 2.0;
/// Sequences that are drawn at a time.
const CHUNK: usize = 256;

/// Draws sequences and writes them part by part; after them the model's potentials and what the labels say.
pub(crate) fn run(args: &SimulateArgs, global: &Global) -> Result<Answer> {
    if args.preset.is_some() || args.loss.is_some() || args.views.is_some() {
        bail!(
            "--preset, --loss and --views are of score tables; with --hmm there are --states and --sequences"
        );
    }
    let truth_path = args.truth.clone().unwrap_or_else(|| beside(&args.output));
    let transition_path =
        args.transition.clone().unwrap_or_else(|| args.output.with_file_name("transition.csv"));
    let mut taken: Vec<&Path> = Vec::new();
    for path in [&args.output, &truth_path, &transition_path] {
        output::check(path, taken.iter().copied())?;
        taken.push(path);
    }
    let states = args.classes.map_or(STATES, usize::from);
    let lengths = [args.shortest, args.longest].map(|length| length as usize);
    let setting = ChainSetting { stay: args.stay, lengths, ..ChainSetting::new(states, SEPARATION) };
    let population = ChainPopulation::draw(&setting, global.seed)?;
    let chain = population.model();
    let progress = Progress::new(global);
    let mut truth = ChainTruth::default();
    let mut rng = Pcg64::seed_from_u64(!global.seed);
    let mut drawn = 0;
    let parts = std::iter::from_fn(|| {
        let next = usize::try_from(args.sequences - drawn).unwrap_or(usize::MAX).min(CHUNK);
        if next == 0 {
            return None;
        }
        let part = population.sequences(next, &mut rng).map(|(sequences, labels)| {
            truth.update(chain, &sequences, &labels);
            table(chain, drawn, &sequences, &labels)
        });
        drawn += next as u64;
        Some(part.map_err(Error::from))
    });
    let fixed = ["sequence", "position"].map(str::to_owned).into_iter();
    let scores = chain.states().iter().map(|state| format!("emission:{state}"));
    let names: Vec<String> = fixed.chain(scores).chain(["label".to_owned()]).collect();
    let tokens = write_columns::<Error>(&args.output, &names, parts)?;
    write_transitions(&transition_path, chain)?;
    output::write_text(&truth_path, &json::to_text(&truth.object(&population, &setting, global.seed))?)?;
    progress.note(&format!(
        "{} sequences of {} tokens in `{}`, the model's transitions in `{}`; their true risk, {} a sequence, is in `{}`",
        HumanCount(args.sequences),
        HumanCount(tokens),
        args.output.display(),
        transition_path.display(),
        with_error(truth.mean(), truth.standard_error()),
        truth_path.display()
    ));
    Ok(Answer::new(String::new()).unprinted())
}

/// The rows of some sequences.
fn table(chain: &Chain, before: u64, sequences: &Sequences, labels: &[Vec<usize>]) -> Vec<Values> {
    let k = chain.k();
    let (mut sequence, mut position, mut label) = (Vec::new(), Vec::new(), Vec::new());
    for (at, states) in labels.iter().enumerate() {
        for (t, &state) in states.iter().enumerate() {
            sequence.push(before as i64 + at as i64);
            position.push(t as i64);
            label.push(chain.states()[state].clone());
        }
    }
    let scores = |state: usize| {
        sequences.iter().flat_map(|emission| emission[state..].iter().step_by(k).copied()).collect()
    };
    let fixed = [Values::Whole(sequence), Values::Whole(position)];
    let scores = (0..k).map(|state| Values::Number(scores(state)));
    fixed.into_iter().chain(scores).chain([Values::Text(label)]).collect()
}

/// What the labels say of the model.
#[derive(Debug, Default)]
struct ChainTruth {
    losses: Vec<f64>,
    lengths: Vec<f64>,
    viterbi_errors: u64,
    posterior_errors: u64,
}

impl ChainTruth {
    fn update(&mut self, chain: &Chain, sequences: &Sequences, labels: &[Vec<usize>]) {
        let k = chain.k();
        for (emission, states) in sequences.iter().zip(labels) {
            let messages = chain.messages(emission, Paths::All);
            self.losses.push(messages.log_z - chain.score(emission, states));
            self.lengths.push(states.len() as f64);
            let path = chain.viterbi(emission);
            self.viterbi_errors +=
                path.iter().zip(states).filter(|(said, state)| said != state).count() as u64;
            let posteriors = messages.posteriors();
            let wrong = |token: &(&[f64], &usize)| token.0.iter().any(|other| *other > token.0[*token.1]);
            self.posterior_errors += posteriors.chunks_exact(k).zip(states).filter(wrong).count() as u64;
        }
    }

    fn mean(&self) -> f64 {
        self.losses.iter().sum::<f64>() / self.losses.len() as f64
    }

    fn tokens(&self) -> f64 {
        self.lengths.iter().sum()
    }

    fn standard_error(&self) -> f64 {
        let (n, mean) = (self.losses.len() as f64, self.mean());
        (self.losses.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / (n * (n - 1.0).max(1.0))).sqrt()
    }

    fn object(&self, population: &ChainPopulation, setting: &ChainSetting, seed: u64) -> TruthObject {
        let tokens = self.tokens();
        let per_token = self.mean() * self.losses.len() as f64 / tokens;
        // Of a ratio of sums over sequences.
        let squares =
            self.losses.iter().zip(&self.lengths).map(|(loss, length)| (loss - per_token * length).powi(2));
        let k = setting.states;
        TruthObject {
            schema: json::SCHEMA,
            risk: self.mean(),
            standard_error: self.standard_error(),
            risk_per_token: per_token,
            risk_per_token_standard_error: squares.sum::<f64>().sqrt() / tokens,
            viterbi_error: self.viterbi_errors as f64 / tokens,
            posterior_error: self.posterior_errors as f64 / tokens,
            sequences: self.losses.len(),
            tokens: tokens as u64,
            state_prior: population.prior().to_vec(),
            transition_matrix: population.transition().chunks_exact(k).map(<[f64]>::to_vec).collect(),
            setting: SettingObject {
                states: k,
                separation: setting.separation,
                model_noise: setting.model_noise,
                stay: setting.stay,
                model_blur: setting.model_blur,
                lengths: setting.lengths,
                seed,
            },
        }
    }
}

/// What is known of simulated sequences: all but the last three are measured with their labels.
#[derive(Debug, Serialize)]
struct TruthObject {
    schema: u32,
    risk: f64,
    standard_error: f64,
    risk_per_token: f64,
    risk_per_token_standard_error: f64,
    viterbi_error: f64,
    posterior_error: f64,
    sequences: usize,
    tokens: u64,
    state_prior: Vec<f64>,
    transition_matrix: Vec<Vec<f64>>,
    setting: SettingObject,
}

/// What they were drawn from.
#[derive(Debug, Serialize)]
struct SettingObject {
    states: usize,
    separation: f64,
    model_noise: f64,
    stay: f64,
    model_blur: f64,
    lengths: [usize; 2],
    seed: u64,
}
