//! Posteriors of more latent states than classes: where their likelihood is climbed from, and which class each is of.

use crate::answer::{call_counted, call_states};
use crate::data::{Batch, VIEWS};
use crate::error::Result;
use crate::features::fit::sieve::Sieve;
use crate::features::{Evaluated, FeatureMap, Way};
use crate::latent::Mediator;
use crate::loss::best;
use crate::planning::{
    Candidate, Present, SIEVE_RIDGE, TRIAL_ITERATIONS, bases, few, model_posterior, start, surrogate_labels,
};
use faer::Mat;
use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Ridge functions of the sieve's basis for each view: states differ in more ways than classes.
const RIDGES: usize = 60;
/// The penalty on the sieve's squared weights is so much over the number of rows. States are narrow and lie close, and what
/// tells them apart are steep posteriors, which a larger penalty makes flat.
const PENALTY: f64 = 2.0;
/// Clusterings of all rows, and as many within each class, that the likelihood is climbed from.
const STARTS: usize = 2;
/// Attempts at each clustering, of which the tightest counts: a single one often takes two clusters for one.
const ATTEMPTS: usize = 10;
/// Iterations of the maximisation from the best start.
const ITERATIONS: usize = 200;
/// Rows that clusters are found from.
const CLUSTERED_ROWS: usize = 8192;
/// Rounds of finding the nearest centre of each row and the mean of each centre's rows.
const ROUNDS: usize = 20;

/// The best of posteriors of so many states from several starts, and the class of each state.
///
/// States must be the same in all views, so starts are clusters of rows by the whitened scores of all views together: of all
/// rows, or of those that the model, or the first pass, takes to be of a class. All are tried on few rows, those with the
/// smallest keys, and the one with the largest likelihood goes on with all of them. Where it is given how many states each
/// class has, so many clusters are sought in it.
pub(crate) fn sieve(
    rows: &Batch,
    keys: &[u64],
    first: &Candidate,
    states: usize,
    counts: Option<&[usize]>,
    seed: u64,
) -> Result<(FeatureMap, Mediator)> {
    let views = Present::all(rows);
    let bases = bases(&views, RIDGES)?;
    let penalty = SIEVE_RIDGE.min(PENALTY / rows.rows() as f64);
    let trials = Sieve::new(&few(rows, keys), &bases, states, penalty);
    let points = Points::new(rows, &views, &bases);
    let (n, k) = (rows.rows(), rows.k());
    let whole = vec![0; n];
    let of_model = hard(n, k, &model_posterior(rows));
    let of_first = {
        let labels = surrogate_labels(rows, first)?;
        let sum: Vec<f64> = (0..n * k).map(|at| labels.iter().map(|labels| labels[at]).sum()).collect();
        hard(n, k, &sum)
    };
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut climbed: Option<(Vec<f64>, f64)> = None;
    let starts = [(&whole, None), (&of_model, counts), (&of_first, counts)];
    for (parts, counts) in starts.into_iter().flat_map(|start| std::iter::repeat_n(start, STARTS)) {
        let clusters = points.clusters(parts, states, counts, &mut rng);
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
    let map = FeatureMap::Posterior { way: Way::Sieve, prior, views, settled: None };
    let mediator = mediator(rows, &map, counts);
    Ok((map, mediator))
}

/// The class with the largest label of each row.
fn hard(rows: usize, k: usize, labels: &[f64]) -> Vec<usize> {
    (0..rows).map(|row| best((0..k).map(|class| labels[class * rows + row]))).collect()
}

/// Calls each state of a feature map by the class with the largest mean summed score in it, or so that each class has as many
/// as are given.
fn mediator(rows: &Batch, map: &FeatureMap, counts: Option<&[usize]>) -> Mediator {
    let (n, k) = (rows.rows(), rows.k());
    let posteriors: [Vec<f64>; VIEWS] = std::array::from_fn(|v| {
        let mut evaluated = Evaluated::default();
        map.evaluate(v, (n, k), &rows.inputs(v), &rows.without(&[v]), &mut evaluated);
        evaluated.posterior
    });
    let mut joint = Vec::new();
    map.combine(n, &posteriors.each_ref().map(Vec::as_slice), &mut joint);
    let states = joint.len() / n;
    let score = |row: usize, class: usize| (0..VIEWS).map(|v| rows.column(v, class)[row]).sum::<f64>();
    let gain = |state: usize, class: usize| {
        let posterior = &joint[state * n..(state + 1) * n];
        posterior.iter().enumerate().map(|(row, p)| p * score(row, class)).sum::<f64>() / n as f64
    };
    let prior: Vec<f64> = joint.chunks_exact(n).map(|column| column.iter().sum()).collect();
    let weights = Mat::from_fn(states, k, gain);
    let matching = match counts {
        Some(counts) => call_counted(&weights, &prior, counts),
        None => call_states(&weights, &prior),
    };
    let mut classes = vec![0; states];
    matching.order.iter().zip(&matching.names).for_each(|(&state, &class)| classes[state] = class);
    Mediator { map: classes, counts: counts.map(<[usize]>::to_vec), tried: Vec::new() }
}

/// The whitened scores and features of all views, row by row; zero, their mean, where a view is missing.
struct Points {
    width: usize,
    cells: Vec<f64>,
}

impl Points {
    fn new(rows: &Batch, views: &[Present; VIEWS], bases: &[crate::features::Basis; VIEWS]) -> Self {
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
        Self { width, cells }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.width..(row + 1) * self.width]
    }

    /// So many clusters, each of rows of one part, as many of each as are given. Otherwise the parts have one each, and the
    /// part whose rows are on the whole farthest from their centres, counted for each of its clusters, gets the next.
    fn clusters(
        &self,
        parts: &[usize],
        count: usize,
        given: Option<&[usize]>,
        rng: &mut Pcg64,
    ) -> Vec<usize> {
        let n = parts.len();
        let mut looked: Vec<usize> = sample(rng, n, n.min(CLUSTERED_ROWS)).into_vec();
        looked.sort_unstable();
        let number = given.map_or_else(|| parts.iter().max().map_or(0, |last| last + 1), <[usize]>::len);
        let members: Vec<Vec<usize>> = (0..number)
            .map(|part| looked.iter().copied().filter(|&row| parts[row] == part).collect())
            .collect();
        let scatter: Vec<f64> = members.iter().map(|rows| self.scatter(rows)).collect();
        let mut counts = given.map_or_else(|| vec![1; number], <[usize]>::to_vec);
        for _ in counts.iter().sum()..count {
            let share = |part: usize| scatter[part] / counts[part] as f64;
            let most = (0..number).max_by(|&a, &b| share(a).total_cmp(&share(b))).unwrap_or(0);
            counts[most] += 1;
        }
        let mut clusters = vec![0; n];
        let mut from = 0;
        for (part, rows) in members.iter().enumerate() {
            let centres = self.tightest(rows, counts[part], rng);
            for row in (0..n).filter(|&row| parts[row] == part) {
                clusters[row] = from + nearest(&centres, self.row(row)).0;
            }
            from += counts[part];
        }
        clusters
    }

    /// The summed squared distance of rows from their mean.
    fn scatter(&self, rows: &[usize]) -> f64 {
        let mean = self.mean(rows);
        rows.iter().map(|&row| squared(&mean, self.row(row))).sum()
    }

    fn mean(&self, rows: &[usize]) -> Vec<f64> {
        let mut mean = vec![0.0; self.width];
        for &row in rows {
            mean.iter_mut().zip(self.row(row)).for_each(|(mean, z)| *mean += z / rows.len() as f64);
        }
        mean
    }

    /// The best of several attempts at finding the centres of clusters of these rows.
    fn tightest(&self, rows: &[usize], count: usize, rng: &mut Pcg64) -> Vec<Vec<f64>> {
        let attempt = |_| {
            let centres = self.centres(rows, count, rng);
            let off: f64 = rows.iter().map(|&row| nearest(&centres, self.row(row)).1).sum();
            (off, centres)
        };
        let attempts = (0..if count > 1 { ATTEMPTS } else { 1 }).map(attempt);
        attempts.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, centres)| centres).unwrap_or_default()
    }

    /// Centres of clusters of these rows (k-means, begun at rows drawn by their squared distance from those before).
    fn centres(&self, rows: &[usize], count: usize, rng: &mut Pcg64) -> Vec<Vec<f64>> {
        let mut centres = vec![match rows.is_empty() {
            true => vec![0.0; self.width],
            false => self.row(rows[rng.random_range(0..rows.len())]).to_vec(),
        }];
        while centres.len() < count {
            let far: Vec<f64> = rows.iter().map(|&row| nearest(&centres, self.row(row)).1).collect();
            let mut left = rng.random::<f64>() * far.iter().sum::<f64>();
            let at = far.iter().position(|far| {
                left -= far;
                left < 0.0
            });
            centres.push(at.map_or_else(|| vec![0.0; self.width], |at| self.row(rows[at]).to_vec()));
        }
        for _ in 0..ROUNDS {
            let mut members = vec![Vec::new(); count];
            rows.iter().for_each(|&row| members[nearest(&centres, self.row(row)).0].push(row));
            for (centre, members) in
                centres.iter_mut().zip(members).filter(|(_, members)| !members.is_empty())
            {
                *centre = self.mean(&members);
            }
        }
        centres
    }
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The nearest centre, and its squared distance.
fn nearest(centres: &[Vec<f64>], point: &[f64]) -> (usize, f64) {
    let distances = centres.iter().map(|centre| squared(centre, point)).enumerate();
    distances.fold((0, f64::INFINITY), |best, next| if next.1 < best.1 { next } else { best })
}
