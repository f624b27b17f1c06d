//! Text from a small grammar, the second with other chances and most of its nouns and verbs unknown to the first. Words that were never seen
//! and a tag that the first text lacks are part of it.

use crate::conllu::Sentence;
use crate::tagger::Tagger;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::error::Error;
use std::io::Write;
use triview::data::InMemory;
use triview::sequences::{Paths, SequenceParams, Sequences};

/// Sentences of a paragraph.
const SENTENCES: usize = 10;

/// Trains on text of the grammar, and estimates the error on other text of it without looking at its tags, which are revealed then.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let (known, other) = (Grammar { shift: 0.0, other_words: 0.0 }, Grammar { shift: 0.5, other_words: 0.8 });
    let (train, test) = (known.text(2_000, 1), other.text(20_000, 2));
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

/// Sentences joined to paragraphs. A tag that stands only at the beginning or the end of its sentence, as a full stop does, would
/// otherwise never have both a past and a future.
fn paragraphs(sentences: Vec<Sentence>) -> Vec<Sentence> {
    sentences.chunks(SENTENCES).map(<[Sentence]>::concat).collect()
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
