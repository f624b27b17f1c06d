//! Posteriors of more latent states than classes: where their likelihood is climbed from.

use super::posteriors::{bases, few, start};
use super::present::{Present, model_posterior};
use super::sieve::Sieve;
use crate::data::{Batch, VIEWS};
use crate::error::Result;
use crate::features::{Basis, FeatureMap, Way};
use crate::numeric::argmax;
use crate::numeric::kmeans::{Points, nearest};
use crate::settings::posteriors::{PENALTY as CLASS_PENALTY, TRIAL_ITERATIONS};
use crate::settings::states::{ATTEMPTS, CLUSTERED_ROWS, ITERATIONS, PENALTY, RIDGES, STARTS};
use rand::SeedableRng;
use rand::seq::index::sample;
use rand_pcg::Pcg64;

/// The best of posteriors of so many states from several starts, given labels of classes that the other views give to each view.
///
/// States must be the same in all views, so starts are clusters of rows by the whitened scores of all views together: of all
/// rows, or of those that the model, or the first pass, takes to be of a class. All are tried on few rows, those with the
/// smallest keys, and the one with the largest likelihood goes on with all of them. Where it is given how many states each
/// class has, so many clusters are sought in it.
pub(crate) fn state_posteriors(
    rows: &Batch,
    keys: &[u64],
    labels: &[Vec<f64>; VIEWS],
    states: usize,
    counts: Option<&[usize]>,
    seed: u64,
) -> Result<FeatureMap> {
    let views = Present::all(rows);
    let bases = bases(&views, RIDGES)?;
    let penalty = CLASS_PENALTY.min(PENALTY / rows.rows() as f64);
    let trials = Sieve::new(&few(rows, keys), &bases, states, penalty);
    let points = points(rows, &views, &bases);
    let (n, k) = (rows.rows(), rows.k());
    let whole = vec![0; n];
    let of_model = hard(n, k, &model_posterior(rows));
    let of_first = {
        let sum: Vec<f64> = (0..n * k).map(|at| labels.iter().map(|labels| labels[at]).sum()).collect();
        hard(n, k, &sum)
    };
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut climbed: Option<(Vec<f64>, f64)> = None;
    let starts = [(&whole, None), (&of_model, counts), (&of_first, counts)];
    for (parts, counts) in starts.into_iter().flat_map(|start| std::iter::repeat_n(start, STARTS)) {
        let clusters = clusters(&points, parts, states, counts, &mut rng);
        let mut labels = vec![0.0; n * states];
        clusters.iter().enumerate().for_each(|(row, cluster)| labels[cluster * n + row] = 1.0);
        let (weights, prior) = start(rows, &views, &bases, [&labels, &labels, &labels])?;
        let trial = trials.maximise(trials.pack(&weights, &prior), TRIAL_ITERATIONS);
        if climbed.as_ref().is_none_or(|(_, value)| trial.1 < *value) {
            climbed = Some(trial);
        }
    }
    let point = climbed.map(|(point, _)| point).unwrap_or_default();
    let sieve = Sieve::new(rows, &bases, states, penalty);
    let (point, _) = sieve.maximise(point, ITERATIONS);
    let (views, prior) = sieve.unpack(&point, bases);
    Ok(FeatureMap::Posterior { way: Way::Sieve, prior, views })
}

/// The class with the largest label of each row.
fn hard(rows: usize, k: usize, labels: &[f64]) -> Vec<usize> {
    (0..rows).map(|row| argmax((0..k).map(|class| labels[class * rows + row]))).collect()
}

/// The whitened scores and covariates of all views, row by row; zero, their mean, where a view is missing.
fn points(rows: &Batch, views: &[Present; VIEWS], bases: &[Basis; VIEWS]) -> Points {
    let width = bases.iter().map(|basis| basis.linear()).sum();
    let mut cells = vec![0.0; rows.rows() * width];
    let mut from = 0;
    for (view, basis) in views.iter().zip(bases) {
        let functions = view.evaluate(basis);
        for (column, values) in functions.chunks_exact(view.rows.len()).take(basis.linear()).enumerate() {
            view.rows.iter().zip(values).for_each(|(row, z)| cells[row * width + from + column] = *z);
        }
        from += basis.linear();
    }
    Points { width, cells }
}

/// So many clusters, each of rows of one part, as many of each as are given. Otherwise the parts have one each, and the
/// part whose rows are on the whole farthest from their centres, counted for each of its clusters, gets the next.
fn clusters(
    points: &Points,
    parts: &[usize],
    count: usize,
    given: Option<&[usize]>,
    rng: &mut Pcg64,
) -> Vec<usize> {
    let n = parts.len();
    let mut looked: Vec<usize> = sample(rng, n, n.min(CLUSTERED_ROWS)).into_vec();
    looked.sort_unstable();
    let number = given.map_or_else(|| parts.iter().max().map_or(0, |last| last + 1), <[usize]>::len);
    let members: Vec<Vec<usize>> =
        (0..number).map(|part| looked.iter().copied().filter(|&row| parts[row] == part).collect()).collect();
    let scatter: Vec<f64> = members.iter().map(|rows| points.scatter(rows)).collect();
    let mut counts = given.map_or_else(|| vec![1; number], <[usize]>::to_vec);
    for _ in counts.iter().sum()..count {
        let share = |part: usize| scatter[part] / counts[part] as f64;
        let most = (0..number).max_by(|&a, &b| share(a).total_cmp(&share(b))).unwrap_or(0);
        counts[most] += 1;
    }
    let mut clusters = vec![0; n];
    let mut from = 0;
    for (part, rows) in members.iter().enumerate() {
        let centres = points.centres(rows, counts[part], ATTEMPTS, rng);
        for row in (0..n).filter(|&row| parts[row] == part) {
            clusters[row] = from + nearest(&centres, points.point(row)).0;
        }
        from += counts[part];
    }
    clusters
}
