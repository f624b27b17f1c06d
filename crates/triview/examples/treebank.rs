//! A part-of-speech tagger whose error is estimated without tags, on any treebank in CoNLL-U format.
//!
//! Trains a hidden Markov model by counting on one file, scores the words of another, estimates the risk and the tagging error of
//! the second without looking at its tags, and then reveals them:
//!
//! ```console
//! $ cargo run --release --example treebank -- train.conllu test.conllu
//! ```
//!
//! Without files, both texts are generated from the small grammar below, the second with another mixture of its rules and half of its
//! words unknown to the first. One-token sentences, words that were never seen and tags that the first file lacks are part of both cases.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use triview::hmm::{Chain, InMemorySequences, SequenceParams, Sequences};

/// A sentence: its words and their tags.
type Sentence = Vec<(String, String)>;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (train, test) = match args.as_slice() {
        [] => (Grammar::new(0.2, 0.0).text(2_000, 1), Grammar::new(0.5, 0.5).text(20_000, 2)),
        [train, test] => (read(train)?, read(test)?),
        _ => return Err("give a file to train on and one to test on, or none".into()),
    };
    let tagger = Tagger::train(&train)?;
    let mut sequences = Sequences::new(tagger.tags.len());
    test.iter().try_for_each(|sentence| sequences.push(&tagger.scores(sentence)))?;
    let chain = tagger.chain()?;
    let source = InMemorySequences::new(tagger.tags.clone(), vec![sequences.clone()]);
    let estimate = SequenceParams::new().check()?.estimate(&chain, &source)?;

    // From here on the tags are looked at.
    let (mut wrong, mut tokens, mut untold) = (0, 0, 0);
    for (scores, sentence) in sequences.iter().zip(&test).filter(|(_, sentence)| sentence.len() > 2) {
        for (said, (_, tag)) in chain.viterbi(scores).into_iter().zip(sentence) {
            tokens += 1;
            wrong += usize::from(tagger.tags[said] != *tag);
            untold += usize::from(!tagger.tags.contains(tag));
        }
    }
    let out = &mut std::io::stdout().lock();
    let error = &estimate.viterbi_error;
    writeln!(out, "{} tags, {} sentences trained on", tagger.tags.len(), train.len())?;
    writeln!(
        out,
        "{} sentences of {} words, {} shorter than three words left out",
        estimate.sequences, estimate.tokens, estimate.too_short
    )?;
    writeln!(
        out,
        "risk a word     {:.3} ± {:.3}",
        estimate.risk_per_token.value, estimate.risk_per_token.standard_error
    )?;
    writeln!(
        out,
        "tagging error   {:.3} ± {:.3} estimated, {:.3} by the model's own confidence, {:.3} by the tags",
        error.estimate.value,
        error.estimate.standard_error,
        error.belief,
        wrong as f64 / f64::from(tokens)
    )?;
    writeln!(out, "words whose tag the tagger does not know: {untold}")?;
    for alarm in &estimate.alarms {
        writeln!(out, "not to be trusted: {alarm}")?;
    }
    Ok(())
}

/// Reads the words and universal tags of a CoNLL-U file: tab-separated columns, sentences apart by empty lines. Comments, ranges of
/// words (`3-4`) and empty nodes (`3.1`) are left out.
fn read(path: &str) -> Result<Vec<Sentence>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read `{path}`: {error}"))?;
    let mut sentences = vec![Vec::new()];
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            sentences.push(Vec::new());
        } else if !line.starts_with('#') {
            let fields: Vec<&str> = line.split('\t').collect();
            let [id, word, _, tag, ..] = fields.as_slice() else {
                return Err(format!("`{path}`, line {}: fewer than four columns", at + 1).into());
            };
            if id.bytes().all(|byte| byte.is_ascii_digit())
                && let Some(sentence) = sentences.last_mut()
            {
                sentence.push((word.to_lowercase(), (*tag).to_owned()));
            }
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    if sentences.is_empty() { Err(format!("`{path}` has no sentences").into()) } else { Ok(sentences) }
}

/// A hidden Markov model by counting, every count raised a little.
struct Tagger {
    tags: Vec<String>,
    first: Vec<f64>,
    transition: Vec<f64>,
    /// For each word how often it has each tag.
    words: BTreeMap<String, Vec<f64>>,
    /// The same for the last two letters of words.
    endings: BTreeMap<String, Vec<f64>>,
    totals: Vec<f64>,
}

impl Tagger {
    fn train(sentences: &[Sentence]) -> Result<Self, Box<dyn Error>> {
        let mut tags: Vec<String> = sentences.iter().flatten().map(|(_, tag)| tag.clone()).collect();
        tags.sort();
        tags.dedup();
        let k = tags.len();
        let place = |tag: &String| tags.binary_search(tag).map_err(|_| "a tag that is not listed");
        let (mut first, mut transition, mut totals) = (vec![1.0; k], vec![1.0; k * k], vec![1.0; k]);
        let (mut words, mut endings) = (BTreeMap::new(), BTreeMap::new());
        for sentence in sentences {
            let mut before = None;
            for (word, tag) in sentence {
                let state = place(tag)?;
                match before.replace(state) {
                    None => first[state] += 1.0,
                    Some(before) => transition[before * k + state] += 1.0,
                }
                totals[state] += 1.0;
                words.entry(word.clone()).or_insert_with(|| vec![0.0; k])[state] += 1.0;
                endings.entry(ending(word)).or_insert_with(|| vec![0.0; k])[state] += 1.0;
            }
        }
        Ok(Self { first, transition, words, endings, totals, tags })
    }

    /// `log p(word | tag)` up to what all tags share: by the word's counts, or by its ending's where it was never seen.
    fn scores(&self, sentence: &Sentence) -> Vec<f64> {
        let of_word = |word: &String| {
            let counts = self.words.get(word).or_else(|| self.endings.get(&ending(word)));
            let score = move |state: usize| {
                let count = counts.map_or(0.0, |counts| counts[state]);
                ((count + 0.05) / self.totals[state]).ln()
            };
            (0..self.tags.len()).map(score).collect::<Vec<f64>>()
        };
        sentence.iter().flat_map(|(word, _)| of_word(word)).collect()
    }

    fn chain(&self) -> triview::Result<Chain> {
        let logs = |counts: &[f64]| -> Vec<f64> {
            let total: f64 = counts.iter().sum();
            counts.iter().map(|count| (count / total).ln()).collect()
        };
        let transition = self.transition.chunks_exact(self.tags.len()).flat_map(logs).collect();
        Chain::new(self.tags.clone(), Some(logs(&self.first)), transition)
    }
}

/// The last two letters of a word.
fn ending(word: &str) -> String {
    let letters: Vec<char> = word.chars().collect();
    letters[letters.len().saturating_sub(2)..].iter().collect()
}

/// Sentences `NP VP .`, `PRON VP .` or a single `INTJ`; `NP -> DET? ADJ* NOUN (ADP NP)?`, `VP -> ADV? VERB (NP)? (ADP NP)?`. Nouns, verbs and
/// adjectives share half of their endings.
struct Grammar {
    /// How often optional parts are there.
    more: f64,
    /// The share of words that are made up of other stems.
    other_words: f64,
}

impl Grammar {
    fn new(more: f64, other_words: f64) -> Self {
        Self { more, other_words }
    }

    fn text(&self, sentences: usize, seed: u64) -> Vec<Sentence> {
        let rng = &mut Pcg64::seed_from_u64(seed);
        (0..sentences).map(|_| self.sentence(rng)).collect()
    }

    fn sentence(&self, rng: &mut Pcg64) -> Sentence {
        let mut words = Vec::new();
        if rng.random::<f64>() < 0.02 {
            self.word("INTJ", rng, &mut words);
            return words;
        }
        match rng.random::<f64>() < 0.3 {
            true => self.word("PRON", rng, &mut words),
            false => self.noun_phrase(rng, &mut words),
        }
        if self.also(rng) {
            self.word("ADV", rng, &mut words);
        }
        self.word("VERB", rng, &mut words);
        if rng.random::<f64>() < 0.7 {
            self.noun_phrase(rng, &mut words);
        }
        if self.also(rng) {
            self.word("ADP", rng, &mut words);
            self.noun_phrase(rng, &mut words);
        }
        self.word("PUNCT", rng, &mut words);
        words
    }

    fn noun_phrase(&self, rng: &mut Pcg64, words: &mut Sentence) {
        if rng.random::<f64>() < 0.8 {
            self.word("DET", rng, words);
        }
        while self.also(rng) {
            self.word("ADJ", rng, words);
        }
        self.word("NOUN", rng, words);
        if rng.random::<f64>() < 0.3 * self.more {
            self.word("ADP", rng, words);
            self.noun_phrase(rng, words);
        }
    }

    fn also(&self, rng: &mut Pcg64) -> bool {
        rng.random::<f64>() < self.more
    }

    /// A word of a tag: open classes have 300 stems each, and endings that others have too.
    fn word(&self, tag: &str, rng: &mut Pcg64, words: &mut Sentence) {
        let (stems, endings): (u32, &[&str]) = match tag {
            "NOUN" => (300, &["er", "on", "al", "ng"]),
            "VERB" => (300, &["es", "ed", "er", "ng"]),
            "ADJ" => (300, &["ic", "al", "ed", "us"]),
            "ADV" => (60, &["ly", "ic"]),
            "DET" => (4, &["the", "ha"]),
            "ADP" => (8, &["of", "on"]),
            "PRON" => (6, &["he", "it"]),
            "PUNCT" => (2, &["."]),
            _ => (10, &["oh"]),
        };
        let ending = endings[rng.random_range(0..endings.len())];
        let open = stems >= 60 && rng.random::<f64>() < self.other_words;
        // Low stems are far more frequent than high ones; open classes share them.
        let stem = (f64::from(stems) * rng.random::<f64>().powi(3)) as u32 + if open { 1000 } else { 0 };
        words.push((format!("{stem}{ending}"), tag.to_owned()));
    }
}
