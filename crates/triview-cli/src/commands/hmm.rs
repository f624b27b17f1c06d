//! `triview hmm`: the risk of a sequence model.

use crate::answer::{Answer, made};
use crate::args::{Global, HmmArgs};
use crate::output;
use crate::progress::Progress;
use anyhow::Result;
use indicatif::HumanCount;
use triview::sequences::{Adapted, Chain, Paths, SequenceEstimate, SequenceParams};
use triview_report::html::{self, Page};
use triview_report::json;
use triview_report::json::SequencesObject;
use triview_report::text::{self, WIDTH, names};
use triview_table::{
    Error, Named, SequenceTable, Values, read_transitions, write_columns, write_transitions,
};

/// Estimates the risk of the labelling; writes labels and adapted potentials where asked.
pub(crate) fn run(args: &HmmArgs, global: &Global) -> Result<Answer> {
    let params = SequenceParams::new().level(args.level).seed(global.seed).by_position(args.by_position);
    let estimator = params.check()?;
    let mut taken = output::files(&args.inputs);
    taken.push(&args.transition);
    for path in [&args.output, &args.save_transition].into_iter().flatten() {
        output::check(path, taken.iter().copied())?;
        taken.push(path);
    }
    args.pictures.check(taken)?;
    let chain = read_transitions(&args.transition)?;
    let table = SequenceTable::of(&args.inputs, chain.states())?;
    let progress = Progress::new(global);
    let estimate = estimator.estimate(&chain, &progress.watch(&table, table.rows()))?;
    if !table.ignored_columns().is_empty() {
        progress.note(&format!("columns not used: {}", names(table.ignored_columns(), WIDTH - 24)));
    }
    if estimate.too_short > 0 {
        progress.note(&format!(
            "sequences of fewer than three tokens, skipped: {}; a token needs one before and one after it",
            HumanCount(estimate.too_short)
        ));
    }
    if let Some(path) = &args.output {
        let adapted = args.adapt.then_some(&estimate.adapted);
        let parts = table.named().map(|named| Ok(labelled(&chain, adapted, &named?)));
        write_columns::<Error>(path, &columns(&chain), parts)?;
    }
    if let Some(path) = &args.save_transition {
        write_transitions(path, estimate.adapted.chain())?;
    }
    let page = html::sequences(&estimate, global.front);
    args.pictures.draw(&page, &progress)?;
    drop(progress);
    Ok(answer(args, global, &estimate, &page)?.trusted(estimate.trusted()))
}

fn answer(args: &HmmArgs, global: &Global, estimate: &SequenceEstimate, page: &Page) -> Result<Answer> {
    let made = made(global.seed, &args.inputs);
    let object = json::to_text(&SequencesObject::new(estimate, global.front, &made))?;
    let answer = Answer::new(text::sequences(estimate, global.front)).with_json(object, args.json);
    answer.with_page(page, &made, global, args.pictures.report.as_deref())
}

/// Names of the columns of labels.
fn columns(chain: &Chain) -> Vec<String> {
    let fixed = ["sequence", "position", "viterbi"].map(str::to_owned);
    fixed.into_iter().chain(chain.states().iter().map(|state| format!("posterior:{state}"))).collect()
}

/// The labels of some sequences: those of the model, or of the adapted one.
fn labelled(chain: &Chain, adapted: Option<&Adapted>, named: &Named) -> Vec<Values> {
    let k = chain.k();
    let (mut sequence, mut position, mut viterbi) = (Vec::new(), Vec::new(), Vec::new());
    let mut posteriors = vec![Vec::new(); k];
    for (emission, name) in named.sequences.iter().zip(&named.names) {
        let (path, posterior) = match adapted {
            Some(adapted) => (adapted.viterbi(emission), adapted.posteriors(emission)),
            None => {
                let messages = chain.messages(emission, Paths::All);
                (chain.viterbi(emission), messages.posteriors())
            }
        };
        for (t, state) in path.into_iter().enumerate() {
            sequence.push(name.clone());
            position.push(named.first + t as i64);
            viterbi.push(chain.states()[state].clone());
        }
        for token in posterior.chunks_exact(k) {
            posteriors.iter_mut().zip(token).for_each(|(column, p)| column.push(*p));
        }
    }
    let fixed = [Values::Text(sequence), Values::Whole(position), Values::Text(viterbi)];
    fixed.into_iter().chain(posteriors.into_iter().map(Values::Number)).collect()
}
