//! `triview hmm`: the risk of a sequence model.

use crate::answer::{Answer, made};
use crate::args::{Global, HmmArgs};
use crate::output;
use crate::progress::Progress;
use anyhow::{Result, bail};
use indicatif::HumanCount;
use triview::sequences::{
    Adapted, Chain, Paths, SequenceEstimate, SequenceEstimator, SequenceLabels, SequenceParams,
};
use triview_report::html::{self, Page};
use triview_report::json;
use triview_report::json::SequencesObject;
use triview_report::sequences::SequencesAnswer;
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
    let table = SequenceTable::labelled(&args.inputs, chain.states(), args.label.as_deref())?;
    let progress = Progress::new(global);
    let said = say(&estimator, &chain, &table, &progress, args.label.is_some())?;
    let answer = said.answer(&chain);
    if !table.ignored_columns().is_empty() {
        progress.note(&format!("columns not used: {}", names(table.ignored_columns(), WIDTH - 24)));
    }
    let too_short = said.too_short();
    if too_short > 0 {
        progress.note(&format!(
            "sequences of fewer than three tokens, skipped: {}; a token needs one before and one after it",
            HumanCount(too_short)
        ));
    }
    let asked = args.adapt || args.save_transition.is_some();
    if asked {
        said.adapted()?;
    }
    let kept = asked && !args.force && !answer.adapted_is_better();
    if kept {
        let left = [args.output.as_ref().filter(|_| args.adapt), args.save_transition.as_ref()];
        let left = left.into_iter().flatten().map(|path| format!("`{}`", path.display()));
        progress.note(&global.front.say(&format!(
            "not written: {}; the model that the data suggest cannot be told to be better than the given one, so keep that, give the labels of \
             some whole sequences (--label), or write it all the same (--force)",
            left.collect::<Vec<String>>().join(" and ")
        )));
    }
    if let Some(path) = args.output.as_ref().filter(|_| !(args.adapt && kept)) {
        let adapted = args.adapt.then(|| said.adapted()).transpose()?;
        let parts = table.named().map(|named| Ok(labelled(&chain, adapted, &named?)));
        write_columns::<Error>(path, &columns(&chain), parts)?;
    }
    if let Some(path) = args.save_transition.as_ref().filter(|_| !kept) {
        write_transitions(path, said.adapted()?.chain())?;
    }
    let page = html::sequences(answer, global.front);
    args.pictures.draw(&page, &progress)?;
    drop(progress);
    Ok(shown(args, global, answer, &page)?.trusted(answer.trusted() && !kept))
}

/// What was found out: without labels, or why that could not be, and by the labels.
struct Said {
    estimate: Result<Box<SequenceEstimate>, String>,
    labels: Option<SequenceLabels>,
}

impl Said {
    fn answer<'a>(&'a self, chain: &'a Chain) -> SequencesAnswer<'a> {
        match (&self.estimate, &self.labels) {
            (Ok(estimate), None) => SequencesAnswer::new(estimate),
            (Ok(estimate), Some(labels)) => SequencesAnswer::labelled(chain.states(), Ok(estimate), labels),
            (Err(reason), Some(labels)) => SequencesAnswer::labelled(chain.states(), Err(reason), labels),
            (Err(_), None) => unreachable!("without labels this is an error"),
        }
    }

    /// Sequences that were skipped.
    fn too_short(&self) -> u64 {
        let of_labels = self.labels.as_ref().map(|labels| labels.too_short);
        of_labels.or(self.estimate.as_ref().ok().map(|estimate| estimate.too_short)).unwrap_or(0)
    }

    /// The model that the data suggest.
    fn adapted(&self) -> Result<&Adapted> {
        match &self.estimate {
            Ok(estimate) => Ok(&estimate.adapted),
            Err(reason) => bail!("there is no model that the data suggest: {reason}"),
        }
    }
}

/// Estimates without labels, and by them where there are some: then what the sequences do not say without them is no error.
fn say(
    estimator: &SequenceEstimator,
    chain: &Chain,
    table: &SequenceTable,
    progress: &Progress,
    labelled: bool,
) -> Result<Said> {
    let source = progress.watch(table, table.rows());
    let estimate = estimator.estimate(chain, &source);
    if !labelled {
        return Ok(Said { estimate: Ok(Box::new(estimate?)), labels: None });
    }
    let mut estimate = match estimate {
        Ok(estimate) => Ok(Box::new(estimate)),
        Err(Error::Core(error)) if error.is_of_identification() => Err(error.to_string()),
        Err(error) => return Err(error.into()),
    };
    let labels = estimator.labelled(chain, &source, estimate.as_deref().ok())?;
    if let Ok(estimate) = &mut estimate {
        let contradictions = labels.contradictions(estimate);
        estimate.alarms.extend(contradictions);
    }
    Ok(Said { estimate, labels: Some(labels) })
}

fn shown(args: &HmmArgs, global: &Global, answer: SequencesAnswer<'_>, page: &Page) -> Result<Answer> {
    let made = made(global.seed, &args.inputs);
    let object = json::to_text(&SequencesObject::new(answer, global.front, &made))?;
    let answer = Answer::new(text::sequences(answer, global.front)).with_json(object, args.json);
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
