//! A part-of-speech tagger whose error is estimated without tags, on any treebank in CoNLL-U format.
//!
//! Trains a hidden Markov model by counting on one file, scores the words of another, estimates the risk and the tagging error of
//! the second without looking at its tags, and then reveals them:
//!
//! ```console
//! $ cargo run --release --example treebank -- train.conllu test.conllu
//! ```
//!
//! Without files, both texts are generated from the small grammar below, the second with other chances and most of its nouns and verbs
//! unknown to the first. One-token sentences, words that were never seen and a tag that the first text lacks are part of it.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use triview::data::InMemory;
use triview::sequences::{Chain, Paths, SequenceParams, Sequences};

/// Sentences of a paragraph.
const SENTENCES: usize = 10;

/// A sentence, or a paragraph of them: words and their tags.
type Sentence = Vec<(String, String)>;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (train, test) = match args.as_slice() {
        [] => {
            let (known, other) =
                (Grammar { shift: 0.0, other_words: 0.0 }, Grammar { shift: 0.5, other_words: 0.8 });
            (known.text(2_000, 1), other.text(20_000, 2))
        }
        [train, test] => (read(train)?, read(test)?),
        _ => return Err("give a file to train on and one to test on, or none".into()),
    };
    let (train, test) = (paragraphs(train), paragraphs(test));
    let tagger = Tagger::train(&train)?;
    let mut sequences = Sequences::new(tagger.tags.len());
    test.iter().try_for_each(|sentence| sequences.push(&tagger.scores(sentence)))?;
    let chain = tagger.chain()?;
    let source = InMemory::new(tagger.tags.clone(), [sequences.clone()]);
    let estimate = SequenceParams::new().check()?.estimate(&chain, &source)?;

    // From here on the tags are looked at.
    let (mut wrong, mut tokens, mut untold) = (0, 0, 0);
    let (mut loss, mut told) = (0.0, 0.0);
    for (scores, sentence) in sequences.iter().zip(&test).filter(|(_, sentence)| sentence.len() > 2) {
        if let Some(path) = tagger.path(sentence) {
            loss += chain.messages(scores, Paths::All).log_z - chain.score(scores, &path);
            told += path.len() as f64;
        }
        for (said, (_, tag)) in chain.viterbi(scores).into_iter().zip(sentence) {
            tokens += 1;
            wrong += usize::from(tagger.tags[said] != *tag);
            untold += usize::from(!tagger.tags.contains(tag));
        }
    }
    let out = &mut std::io::stdout().lock();
    let error = &estimate.viterbi_error;
    writeln!(
        out,
        "{} tags, {} paragraphs of {SENTENCES} sentences trained on",
        tagger.tags.len(),
        train.len()
    )?;
    writeln!(
        out,
        "{} paragraphs of {} words, {} shorter than three words left out",
        estimate.sequences, estimate.tokens, estimate.too_short
    )?;
    writeln!(
        out,
        "risk a word     {:.3} ± {:.3} as estimated, {:.3} by the tags of paragraphs without unknown ones",
        estimate.risk_per_token.value,
        estimate.risk_per_token.standard_error,
        loss / told
    )?;
    writeln!(
        out,
        "tagging error   {:.3}, between {:.3} and {:.3}, as estimated, {:.3} by the model's own confidence, {:.3} by the tags",
        error.estimate.value,
        error.estimate.interval.low,
        error.estimate.interval.high,
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

/// Sentences joined to paragraphs. A tag that stands only at the beginning or the end of its sentence, as a full stop does, would
/// otherwise never have both a past and a future.
fn paragraphs(sentences: Vec<Sentence>) -> Vec<Sentence> {
    sentences.chunks(SENTENCES).map(<[Sentence]>::concat).collect()
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

    /// The tags of a paragraph, where the tagger knows all of them.
    fn path(&self, sentence: &Sentence) -> Option<Vec<usize>> {
        sentence.iter().map(|(_, tag)| self.tags.binary_search(tag).ok()).collect()
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

/// A regular grammar: the tag after each one by chance, from the table below. A full stop that follows another makes a sentence of one
/// token. Nouns and verbs share half of their endings, and unknown words are told by these alone.
struct Grammar {
    /// The share of steps that follow the second table, and not the first.
    shift: f64,
    /// The share of nouns and verbs with stems that the other text does not have, and of interjections, a tag that it
    /// lacks.
    other_words: f64,
}

const TAGS: [&str; 4] = ["DET", "NOUN", "PUNCT", "VERB"];
/// The full stop.
const STOP: usize = 2;
/// The chance of the tag after each one, in per cent: of the first text, and of what the second is mixed with.
const STEPS: [[[u32; 4]; 4]; 2] = [
    [[2, 94, 2, 2], [2, 3, 25, 70], [2, 2, 2, 94], [92, 3, 3, 2]],
    [[2, 90, 3, 5], [3, 5, 32, 60], [5, 5, 4, 86], [80, 10, 6, 4]],
];

impl Grammar {
    fn text(&self, sentences: usize, seed: u64) -> Vec<Sentence> {
        let rng = &mut Pcg64::seed_from_u64(seed);
        (0..sentences).map(|_| self.sentence(rng)).collect()
    }

    /// From the step after a full stop to the next one.
    fn sentence(&self, rng: &mut Pcg64) -> Sentence {
        let mut words = Vec::new();
        let mut at = STOP;
        loop {
            let table = &STEPS[usize::from(rng.random::<f64>() < self.shift)];
            let mut left = rng.random_range(0..100);
            at = (0..TAGS.len())
                .find(|&next| {
                    let chance = table[at][next];
                    let found = left < chance;
                    left = left.saturating_sub(chance);
                    found
                })
                .unwrap_or(STOP);
            words.push(self.word(TAGS[at], rng));
            if at == STOP {
                return words;
            }
        }
    }

    /// A word of a tag: open classes have 300 stems each, and endings that others have too.
    fn word(&self, tag: &str, rng: &mut Pcg64) -> (String, String) {
        let (stems, endings): (u32, &[&str]) = match tag {
            "NOUN" => (300, &["er", "on", "al", "ng"]),
            "VERB" => (300, &["es", "ed", "er", "ng"]),
            "DET" => (4, &["the", "er"]),
            _ => (2, &["."]),
        };
        let ending = endings[rng.random_range(0..endings.len())];
        let other = stems == 300 && rng.random::<f64>() < self.other_words;
        if other && rng.random::<f64>() < 0.005 {
            return ("oh".to_owned(), "INTJ".to_owned());
        }
        // Low stems are far more frequent than high ones; open classes share them.
        let stem = (f64::from(stems) * rng.random::<f64>().powi(3)) as u32 + if other { 1000 } else { 0 };
        (format!("{stem}{ending}"), tag.to_owned())
    }
}
