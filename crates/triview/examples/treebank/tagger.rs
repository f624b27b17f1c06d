//! A part-of-speech tagger: a hidden Markov model by counting.

use crate::conllu::Sentence;
use std::collections::BTreeMap;
use std::error::Error;
use triview::sequences::Chain;

/// A hidden Markov model by counting, every count raised a little.
pub(crate) struct Tagger {
    /// In alphabetical order.
    pub(crate) tags: Vec<String>,
    first: Vec<f64>,
    transition: Vec<f64>,
    /// For each word how often it has each tag.
    words: BTreeMap<String, Vec<f64>>,
    /// The same for the last two letters of words.
    endings: BTreeMap<String, Vec<f64>>,
    totals: Vec<f64>,
}

impl Tagger {
    /// Counts which tag follows which, and which words have them.
    pub(crate) fn train(sentences: &[Sentence]) -> Result<Self, Box<dyn Error>> {
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
    pub(crate) fn scores(&self, sentence: &Sentence) -> Vec<f64> {
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

    /// The tags of a sentence or paragraph, where the tagger knows all of them.
    pub(crate) fn path(&self, sentence: &Sentence) -> Option<Vec<usize>> {
        sentence.iter().map(|(_, tag)| self.tags.binary_search(tag).ok()).collect()
    }

    /// The log probabilities of first tags and of what follows them.
    pub(crate) fn chain(&self) -> triview::Result<Chain> {
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
