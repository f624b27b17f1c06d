//! What labels say of adapted models, where the views cannot be relied on: the labelled rows, a fifth of all rows at the most, are kept out
//! of the fits, and judge them.
//!
//! That a model does not know the labels of rows would not do: what the other views say of a row is in its fit, and
//! is more right of that row than of new ones.

use super::evaluation::Mean;
use super::fits::{Candidate, ModelFit};
use super::general::LinearScores;
use super::halves::{Compared, Fits, smallest};
use super::logistic::LogisticModel;
use super::parts::{Cached, chosen};
use super::rows::{FeatureBatch, FeatureSchema, FeatureSource};
use super::units::Standard;
use crate::answer::{Interval, reach};
use crate::data::{Batches, Source};
use crate::error::Result;
use crate::estimator::Labeller;
use crate::loss::{losses_of, terms_of};
use crate::metrics::Measured;
use crate::numeric::argmax;
use crate::settings::adaptation::{FOLDS, MOST_JUDGING, PATIENCE};
use std::sync::Arc;

/// What candidates make of rows without those labelled ones that judge them.
pub(super) struct ByLabels {
    seed: Losses,
    /// For each candidate its parameters, and how it fared, where it was tried.
    tried: Vec<Option<(Vec<f64>, Losses)>>,
}

/// The losses of a model on some labelled rows, what they would be if the likeliest other class were the row's, and whether it is wrong, row by
/// row.
#[derive(Debug, Clone, Default)]
struct Losses {
    losses: Vec<f64>,
    of_others: Vec<f64>,
    wrong: Vec<f64>,
}

impl Losses {
    fn mean(&self) -> f64 {
        Mean::of(&self.with_unseen()).value
    }

    /// The losses, and that of one more row, of which the model is as sure as of these and wrong: the loss of a model that is too sure of itself lies in errors
    /// that few labels do not show.
    fn with_unseen(&self) -> Vec<f64> {
        let unseen = Mean::of(&self.of_others).value;
        self.losses.iter().copied().chain([unseen]).collect()
    }

    /// Those of some rows.
    fn of(&self, rows: impl Fn(usize) -> bool) -> Self {
        let of = |values: &[f64]| {
            let values = values.iter().enumerate();
            values.filter(|(row, _)| rows(*row)).map(|(_, value)| *value).collect()
        };
        Self { losses: of(&self.losses), of_others: of(&self.of_others), wrong: of(&self.wrong) }
    }

    fn extend(&mut self, other: &Losses) {
        self.losses.extend(&other.losses);
        self.of_others.extend(&other.of_others);
        self.wrong.extend(&other.wrong);
    }
}

impl Fits<'_> {
    /// How many rows of a source have a label.
    pub(super) fn count_labels<S: FeatureSource>(source: &S) -> Result<usize, S::Error> {
        let mut count = 0;
        for batch in source.batches()? {
            let batch = batch?;
            count += (0..batch.rows()).filter(|&row| batch.label(row).is_some()).count();
        }
        Ok(count)
    }

    /// Fits every candidate to the rows but those labelled ones that judge it.
    pub(super) fn judge_by_labels<S: FeatureSource>(
        &self,
        source: &Cached<'_, S>,
        (labeller, labels, rows): (&Labeller, usize, u64),
    ) -> Result<ByLabels, S::Error> {
        let most = (rows as f64 * MOST_JUDGING).ceil() as usize;
        let every = labels.div_ceil(most.max(1)).max(1);
        let (judging, rest) =
            (Judging { source, every, judging: true }, Judging { source, every, judging: false });
        let judging: Vec<_> = judging.batches()?.collect::<Result<_, _>>()?;
        let rest = Cached::of(&rest)?;
        let linear = LinearScores::of(&rest, self.seed.classes())?;
        let standard = Standard { source: &rest, units: &linear.units };
        let standard = Cached::of(&standard)?;
        let fitting = self.fitting((&rest, &standard), &linear, labeller)?;
        let mut tried: Vec<Option<(Vec<f64>, Losses)>> = Vec::new();
        for (place, &candidate) in self.candidates.iter().enumerate() {
            // Those of the same labels and share, from the strongest penalty on.
            let alike = |at: &usize| {
                let Candidate { share, labels, .. } = self.candidates[*at];
                (share, labels) == (candidate.share, candidate.labels)
            };
            let before: Vec<Option<&(Vec<f64>, Losses)>> =
                (0..place).filter(alike).map(|at| tried[at].as_ref()).collect();
            let risks: Vec<f64> = before.iter().flatten().map(|(_, losses)| losses.mean()).collect();
            let given_up = risks.len() < before.len() || risks.len() > smallest(&risks) + PATIENCE;
            let start = match before.last() {
                Some(Some((standard, _))) => standard.clone(),
                _ => vec![0.0; self.seed.shape().len()],
            };
            let fit = if given_up { None } else { fitting.fit(candidate, &start)? };
            tried.push(match fit {
                Some(ModelFit { standard, .. }) => {
                    let losses = self.losses(&judging, &linear.model(&standard))?;
                    Some((standard, losses)).filter(|(_, losses)| losses.mean().is_finite())
                }
                None => None,
            });
            self.told.fitted();
        }
        Ok(ByLabels { seed: self.losses(&judging, self.seed)?, tried })
    }

    /// The losses of a model on labelled rows.
    fn losses(&self, known: &[Arc<FeatureBatch>], model: &LogisticModel) -> Result<Losses> {
        let mut all = Losses::default();
        for rows in known.iter().filter(|rows| rows.rows() > 0) {
            let labels: Vec<usize> = (0..rows.rows()).filter_map(|row| rows.label(row)).collect();
            let scores = model.scores(rows)?;
            let terms: Vec<Vec<f64>> =
                (0..scores.views()).map(|view| terms_of(self.loss, &scores, view)).collect();
            let sum = |row: usize, class: usize| -> f64 {
                (0..scores.views()).map(|view| scores.column(view, class)[row]).sum()
            };
            let likeliest_but = |row: usize, but: Option<usize>| {
                let own = |class: usize| if Some(class) == but { f64::NEG_INFINITY } else { sum(row, class) };
                argmax((0..scores.k()).map(own))
            };
            let others: Vec<usize> =
                labels.iter().enumerate().map(|(row, &label)| likeliest_but(row, Some(label))).collect();
            all.losses.extend(losses_of(self.loss, &scores, &terms, &labels));
            all.of_others.extend(losses_of(self.loss, &scores, &terms, &others));
            let wrong = labels.iter().enumerate().map(|(row, &label)| likeliest_but(row, None) != label);
            all.wrong.extend(wrong.map(|wrong| f64::from(u8::from(wrong))));
        }
        Ok(all)
    }

    /// The judgement of the labels. Which candidate's loss counts in a fold of them is decided by the other folds.
    pub(super) fn compare_by_labels(&self, by_labels: &ByLabels) -> Option<Compared> {
        let [mut adapted, mut seed] = [Losses::default(), Losses::default()];
        for fold in 0..FOLDS {
            let (_, (_, losses)) = by_labels.best(|row| row % FOLDS != fold)?;
            adapted.extend(&losses.of(|row| row % FOLDS == fold));
            seed.extend(&by_labels.seed.of(|row| row % FOLDS == fold));
        }
        let rows = adapted.losses.len();
        let reach = reach(self.level, rows, f64::INFINITY);
        let measured = |values: &[f64]| {
            let Mean { value, standard_error } = Mean::of(values);
            Measured { value, standard_error, interval: Interval::around(value, reach, standard_error) }
        };
        let share = |wrong: &[f64]| {
            let measured = measured(wrong);
            let interval = Interval::of_share(measured.value, rows as f64, reach);
            // None of so few is not never.
            let standard_error = measured.standard_error.max(0.5 * (interval.high - interval.low) / reach);
            Measured { standard_error, interval, ..measured }
        };
        let [of_adapted, of_seed] = [&adapted, &seed].map(Losses::with_unseen);
        let difference: Vec<f64> =
            of_adapted.iter().zip(&of_seed).map(|(adapted, seed)| adapted - seed).collect();
        Some(Compared {
            adapted: measured(&of_adapted),
            seed: measured(&of_seed),
            difference: measured(&difference),
            adapted_error: share(&adapted.wrong),
            seed_error: share(&seed.wrong),
            by_labels: Some(measured(&difference)),
        })
    }
}

impl ByLabels {
    /// The first candidate whose mean loss over some of the rows is within a standard error of the smallest, by its place: those that are
    /// tied to the seed most come first, and few labels do not speak for others by chance.
    fn best(&self, of: impl Fn(usize) -> bool) -> Option<(usize, &(Vec<f64>, Losses))> {
        let tried = self.tried.iter().enumerate();
        let tried: Vec<_> = tried.filter_map(|(place, tried)| Some((place, tried.as_ref()?))).collect();
        let losses: Vec<Losses> = tried.iter().map(|(_, (_, losses))| losses.of(&of)).collect();
        let smallest = losses.get(smallest(&losses.iter().map(Losses::mean).collect::<Vec<f64>>()))?;
        let close = |losses: &Losses| {
            let (own, smallest) = (losses.with_unseen(), smallest.with_unseen());
            let more = own.iter().zip(&smallest).map(|(own, smallest)| own - smallest);
            let Mean { value, standard_error } = Mean::of(&more.collect::<Vec<f64>>());
            value <= standard_error
        };
        losses.iter().position(close).map(|at| tried[at])
    }

    /// The candidate that all labelled rows are for, and where its fit to all rows starts from.
    pub(super) fn chosen(&self) -> Option<(usize, Vec<f64>)> {
        self.best(|_| true).map(|(place, (standard, _))| (place, standard.clone()))
    }
}

/// The labelled rows of a source that judge, one of so many; or all other rows.
struct Judging<'a, S> {
    source: &'a S,
    every: usize,
    judging: bool,
}

impl<S: FeatureSource> Source for Judging<'_, S> {
    type Schema = FeatureSchema;
    type Batch = FeatureBatch;
    type Error = S::Error;

    fn schema(&self) -> &FeatureSchema {
        self.source.schema()
    }

    fn batches(&self) -> Result<Batches<'_, FeatureBatch, S::Error>, S::Error> {
        let mut labels = 0;
        let mut judges = move |batch: &FeatureBatch, row: usize| {
            let known = batch.label(row).is_some();
            labels += usize::from(known);
            known && (labels - 1).is_multiple_of(self.every)
        };
        Ok(chosen(self.source.batches()?, move |batch, row| judges(batch, row) == self.judging))
    }
}
