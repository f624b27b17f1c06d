//! The error rate of a part-of-speech tagger on a treebank of which fifty sentences are tagged.
//!
//! Trains a hidden Markov model by counting on one file in CoNLL-U format and judges it on another by the tags of some of its sentences,
//! drawn at random, and what the tagger says of all:
//!
//! ```console
//! $ cargo run --release --example treebank -- train.conllu test.conllu
//! ```
//!
//! Where next to no sentence of the second file has tags (`_` in the fourth column) it names fifty to be tagged. Where all have, fifty are
//! taken, and the tags of the others are revealed at the end; `--draws 20` does so twenty times and counts how often the interval holds.
//! Without files it runs on text from the small grammar in `grammar.rs`, in paragraphs, and uses no tags at all.

mod conllu;
mod grammar;
mod tagger;

use conllu::{Sentence, UNTAGGED};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::error::Error;
use std::io::Write;
use tagger::Tagger;
use triview::data::InMemory;
use triview::estimator::few_labels::{FEWEST_LABELS, Powered};
use triview::metrics::Measured;
use triview::sequences::{
    Chain, SequenceEstimate, SequenceEstimator, SequenceLabels, SequenceParams, Sequences,
};

/// Sentences whose tags are asked for.
const ASKED: usize = 50;
/// Words of a sentence that is judged, at the least: each has one before it and one after it.
const FEWEST_WORDS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<&str>>().as_slice() {
        [] => grammar::run(),
        [train, test] => judge(train, test, None),
        [train, test, "--draws", draws] => judge(train, test, Some(draws.parse()?)),
        _ => {
            Err("give a treebank to train on and one to judge by, and `--draws N` after them, or nothing"
                .into())
        }
    }
}

/// A text to be judged: the scores of its sentences, and the tags of those that have them.
struct Text {
    chain: Chain,
    sequences: Sequences,
    tags: Vec<Option<Vec<usize>>>,
}

impl Text {
    fn new(tagger: &Tagger, sentences: &[Sentence]) -> Result<Self, Box<dyn Error>> {
        let mut sequences = Sequences::new(tagger.tags.len());
        sentences.iter().try_for_each(|sentence| sequences.push(&tagger.scores(sentence)))?;
        let tags = sentences.iter().enumerate().map(|(at, sentence)| {
            let untagged = sentence.iter().filter(|(_, tag)| tag == UNTAGGED).count();
            match untagged {
                0 => tagger.path(sentence).map(Some).ok_or_else(|| {
                    format!("sentence {} has a tag that the tagger does not know: train it on a treebank that has it", at + 1)
                }),
                all if all == sentence.len() => Ok(None),
                _ => Err(format!("sentence {} is tagged only in part: tag all of it, or none", at + 1)),
            }
        });
        Ok(Self { chain: tagger.chain()?, tags: tags.collect::<Result<_, _>>()?, sequences })
    }

    /// The sentences that are long enough.
    fn long(&self) -> Vec<usize> {
        let k = self.sequences.k();
        (0..self.sequences.len()).filter(|&at| self.sequences.get(at).len() >= FEWEST_WORDS * k).collect()
    }

    /// What the tags of these sentences say.
    fn labelled(
        &self,
        estimator: &SequenceEstimator,
        known: &[usize],
        estimate: Option<&SequenceEstimate>,
    ) -> triview::Result<SequenceLabels> {
        let mut tags = vec![None; self.tags.len()];
        known.iter().for_each(|&at| tags[at].clone_from(&self.tags[at]));
        let source = InMemory::new(self.chain.states().to_vec(), [self.sequences.with_labels(tags)]);
        estimator.labelled(&self.chain, &source, estimate)
    }
}

/// So many of some sentences, drawn at random.
fn drawn(from: &[usize], seed: u64) -> Vec<usize> {
    let mut all = from.to_vec();
    all.shuffle(&mut Pcg64::seed_from_u64(seed));
    all.truncate(ASKED);
    all.sort_unstable();
    all
}

/// Trains a tagger and judges it.
fn judge(train: &str, test: &str, draws: Option<u64>) -> Result<(), Box<dyn Error>> {
    let out = &mut std::io::stdout().lock();
    let (known, sentences) = (conllu::read(train)?, conllu::read(test)?);
    let tagger = Tagger::train(&known)?;
    let text = Text::new(&tagger, &sentences)?;
    let long = text.long();
    let tagged: Vec<usize> = long.iter().copied().filter(|&at| text.tags[at].is_some()).collect();
    if tagged.len() < FEWEST_LABELS {
        let untagged: Vec<usize> = long.iter().copied().filter(|&at| text.tags[at].is_none()).collect();
        writeln!(out, "Put the tags of these sentences into the fourth column of `{test}`, and ask again:")?;
        for at in drawn(&untagged, 0) {
            let words: Vec<&str> = sentences[at].iter().map(|(word, _)| word.as_str()).collect();
            writeln!(out, "sentence {}: {}", at + 1, words.join(" "))?;
        }
        return Ok(());
    }
    let estimator = SequenceParams::new().check()?;
    let source = InMemory::new(text.chain.states().to_vec(), [text.sequences.clone()]);
    let (estimate, refused) = match estimator.estimate(&text.chain, &source) {
        Ok(estimate) => (Some(estimate), None),
        Err(error) if error.is_of_identification() => (None, Some(error)),
        Err(error) => return Err(error.into()),
    };
    writeln!(out, "tagger          {} tags, trained on {} sentences", tagger.tags.len(), known.len())?;
    writeln!(
        out,
        "text            {} sentences of {FEWEST_WORDS} words or more, of {}",
        long.len(),
        sentences.len()
    )?;
    let share = |of: &Measured| {
        let [value, low, high] = [of.value, of.interval.low, of.interval.high].map(|share| 100.0 * share);
        format!("{value:.1}% of the words, between {low:.1}% and {high:.1}%")
    };
    let without = match (&estimate, refused) {
        (Some(estimate), _) => {
            let doubt = if estimate.trusted() { "" } else { ", not to be trusted" };
            format!("{}{doubt}", share(&estimate.viterbi_error.estimate))
        }
        (None, refused) => format!("no answer: {}", refused.map_or(String::new(), |error| error.to_string())),
    };
    writeln!(out, "without tags    {without}")?;
    let all_known = tagged.len() == long.len();
    if let Some(draws) = draws {
        if !all_known {
            return Err("to count how often the interval holds, all sentences must have tags".into());
        }
        return measure(out, &text, &estimator, estimate.as_ref(), &tagged, draws);
    }
    let given = if all_known { drawn(&tagged, 0) } else { tagged.clone() };
    let labels = text.labelled(&estimator, &given, estimate.as_ref())?;
    let error = &labels.viterbi_error;
    writeln!(out, "tagged          {} sentences of {} words", labels.labels, labels.labelled_tokens)?;
    writeln!(out, "tagging error   {}  (95% confidence, whatever the tagger does)", share(&error.estimate))?;
    writeln!(out, "by tags alone   {}", share(&error.alone))?;
    writeln!(out, "its own belief  {:.1}%", 100.0 * error.imputed)?;
    if all_known {
        let truth = text.labelled(&estimator, &tagged, None)?;
        writeln!(out, "by all tags     {:.1}%", 100.0 * truth.viterbi_error.alone.value)?;
    }
    for alarm in &labels.alarms {
        writeln!(out, "not to be trusted: {alarm}")?;
    }
    Ok(())
}

/// One of the means that labels say.
type Mean = fn(&SequenceLabels) -> &Powered;

/// How often intervals by fifty sentences hold, and how wide they are beside those of the tags alone.
fn measure(
    out: &mut impl Write,
    text: &Text,
    estimator: &SequenceEstimator,
    estimate: Option<&SequenceEstimate>,
    tagged: &[usize],
    draws: u64,
) -> Result<(), Box<dyn Error>> {
    let truth = text.labelled(estimator, tagged, estimate)?;
    let labels = (0..draws).map(|draw| text.labelled(estimator, &drawn(tagged, draw), estimate));
    let labels: Vec<SequenceLabels> = labels.collect::<triview::Result<_>>()?;
    let kinds: [(&str, Mean); 4] = [
        ("Viterbi error", |labels| &labels.viterbi_error),
        ("posterior error", |labels| &labels.posterior_error),
        ("risk a word", |labels| &labels.risk_per_token),
        ("risk a sentence", |labels| &labels.risk),
    ];
    writeln!(
        out,
        "| of | by all tags | own belief | held | tags alone held | mean width | tags alone | ratio | weight |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|")?;
    for (name, of) in kinds {
        let whole = of(&truth);
        let truth = whole.alone.value;
        let mean = |number: &dyn Fn(&Powered) -> f64| {
            labels.iter().map(|labels| number(of(labels))).sum::<f64>() / labels.len() as f64
        };
        let width = |of: &Measured| of.interval.high - of.interval.low;
        let holds =
            |of: &Measured| f64::from(u8::from(of.interval.low <= truth && truth <= of.interval.high));
        let count = |share: f64| format!("{:.0} of {draws}", share * draws as f64);
        let [own, alone] = [mean(&|of| width(&of.estimate)), mean(&|of| width(&of.alone))];
        writeln!(
            out,
            "| {name} | {truth:.4} | {:.4} | {} | {} | {own:.4} | {alone:.4} | {:.3} | {:.2} |",
            whole.imputed,
            count(mean(&|of| holds(&of.estimate))),
            count(mean(&|of| holds(&of.alone))),
            own / alone,
            mean(&|of| of.weight)
        )?;
    }
    Ok(())
}
