//! Posteriors of classes by maximum likelihood.

use super::discriminant::discriminant;
use super::present::{Present, class_means, model_posterior, second_moment};
use super::sieve::Sieve;
use crate::data::{Batch, VIEWS, take_rows};
use crate::error::Result;
use crate::features::{Basis, FeatureMap, Way};
use crate::settings::posteriors::{ITERATIONS, PENALTY, RIDGES, TRIAL_ITERATIONS, TRIAL_ROWS, TRIAL_SCORES};

/// Posteriors by maximum likelihood, from the model's own posterior and from the labels that a first pass's other views
/// give to each view. Both are tried on few rows, those
/// with the smallest keys, and the better one goes on with all of them.
pub(crate) fn posteriors(rows: &Batch, keys: &[u64], labels: &[Vec<f64>; VIEWS]) -> Result<FeatureMap> {
    let views = Present::all(rows);
    let bases = bases(&views, RIDGES)?;
    let start = |labels| start(rows, &views, &bases, labels);
    let own = model_posterior(rows);
    let starts = [start([&own, &own, &own])?, start(labels.each_ref().map(Vec::as_slice))?];
    let trial = Sieve::new(&few(rows, keys), &bases, rows.k(), PENALTY);
    let [own, first] =
        starts.map(|(weights, prior)| trial.maximise(trial.pack(&weights, &prior), TRIAL_ITERATIONS));
    let best = if own.1 <= first.1 { own.0 } else { first.0 };
    let sieve = Sieve::new(rows, &bases, rows.k(), PENALTY);
    let (best, _) = sieve.maximise(best, ITERATIONS);
    let (views, prior) = sieve.unpack(&best, bases);
    Ok(FeatureMap::Posterior { way: Way::Sieve, prior, views })
}

/// The rows with the smallest keys, or all where some view would be missing from each of those.
pub(crate) fn few(rows: &Batch, keys: &[u64]) -> Batch {
    let mut places: Vec<usize> = (0..keys.len()).collect();
    places.sort_unstable_by_key(|&place| keys[place]);
    places.truncate(TRIAL_ROWS.max(TRIAL_SCORES / rows.k()));
    places.sort_unstable();
    let few = rows.select(&places);
    if (0..VIEWS).all(|v| !few.with(&[v]).is_empty()) { few } else { rows.clone() }
}

/// The basis of each view's posterior.
pub(crate) fn bases(views: &[Present; VIEWS], ridges: usize) -> Result<[Basis; VIEWS]> {
    let of_view = |v: usize| Basis::fit(views[v].rows.len(), &views[v].inputs, ridges);
    Ok([of_view(0)?, of_view(1)?, of_view(2)?])
}

/// The weights of posteriors that are linear discriminants of the scores by some labels for each view, and the mean label.
pub(crate) fn start(
    rows: &Batch,
    views: &[Present; VIEWS],
    bases: &[Basis; VIEWS],
    labels: [&[f64]; VIEWS],
) -> Result<([Vec<f64>; VIEWS], Vec<f64>)> {
    let mut prior = vec![0.0; labels[0].len() / rows.rows()];
    let mut of_view = |v: usize| -> Result<Vec<f64>> {
        let (n, basis) = (views[v].rows.len(), &bases[v]);
        let functions = views[v].evaluate(basis);
        let linear = &functions[..n * basis.linear()];
        let (of_view, means) = class_means(n, linear, &take_rows(rows.rows(), labels[v], &views[v].rows));
        prior.iter_mut().zip(&of_view).for_each(|(sum, p)| *sum += p / VIEWS as f64);
        let weights = discriminant(&of_view, &second_moment(n, linear), &means)?;
        // The ridge functions start without weight.
        let rest = vec![0.0; basis.len() - basis.linear()];
        Ok(weights.chunks_exact(basis.linear() + 1).flat_map(|row| [row, &rest].concat()).collect())
    };
    let weights = [of_view(0)?, of_view(1)?, of_view(2)?];
    Ok((weights, prior))
}
