//! Triples of rows drawn by their surrogate labels, and sums over them.

use super::left_out::LeftOut;
use super::temperature::sharpen;
use crate::features::{Evaluated, FeatureMap};
use crate::interval::Deviations;
use crate::moments::{block_of, others};
use crate::sample::Sample;
use crate::solution::Labels;
use crate::surrogate::Surrogates;
use crate::views::VIEWS;
use rand::RngExt;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use rayon::prelude::*;

/// Triples that are drawn in all.
const DRAWS: usize = 1 << 16;
/// Groups of rows that the standard errors rest on: sums over triples are made once more without each of them.
const GROUPS: usize = 16;
/// Triples, or rows, that one thread works on at a time.
const CHUNK: usize = 4096;

/// One view of the sampled rows, row by row.
struct View {
    scores: Vec<f64>,
    features: Vec<f64>,
    /// `q_v(y | x_v)`, sharpened.
    posterior: Vec<f64>,
    /// `W_-v`: what the other views say of the row.
    labels: Vec<f64>,
}

/// A class and one row a view.
#[derive(Clone, Copy)]
struct Draw {
    class: usize,
    rows: [usize; VIEWS],
}

/// What the labels are made of, for all rows and with each group left out.
struct Maps {
    /// `S_v`, one row a class.
    surrogates: Vec<[Vec<f64>; VIEWS]>,
    /// The weights of the two views other than each.
    shares: [[f64; 2]; VIEWS],
    prior: Vec<Vec<f64>>,
}

/// Sampled rows, triples of them, and the weight of each triple in all ways of leaving rows out.
pub(crate) struct Triples<'a> {
    features: &'a FeatureMap,
    k: usize,
    rows: usize,
    views: [View; VIEWS],
    /// The group of each row.
    group_of: Vec<usize>,
    groups: usize,
    maps: Maps,
    draws: Vec<Draw>,
    /// For each triple its weight, and that without each group.
    weights: Vec<f64>,
}

impl<'a> Triples<'a> {
    /// Draws triples of the sample's rows.
    pub(crate) fn draw(
        features: &'a FeatureMap,
        prior: &[f64],
        labels: &Labels,
        sample: &Sample,
        seed: u64,
    ) -> Self {
        let (batch, k) = (sample.rows(), prior.len());
        let rows = batch.rows();
        let groups = labels.moved.count().clamp(2, GROUPS);
        let blocks = labels.moved.count();
        let group_of: Vec<usize> =
            (0..rows).map(|row| block_of(batch, 0, row, blocks as u64) as usize % groups).collect();
        let maps = Maps::new(&labels.surrogates, &labels.moved, prior, &labels.moved_prior, groups);
        let mut views: [View; VIEWS] = std::array::from_fn(|v| {
            let mut evaluated = Evaluated::default();
            features.evaluate(v, rows, batch.view(v), &mut evaluated);
            View {
                scores: by_row(rows, batch.view(v)),
                features: by_row(rows, &evaluated.features),
                posterior: by_row(rows, &evaluated.posterior),
                labels: Vec::new(),
            }
        });
        sharpen(views.each_mut().map(|view| &mut view.posterior), prior);
        let labelled = [0, 1, 2].map(|v| -> Vec<f64> {
            (0..rows * k).into_par_iter().map(|at| maps.label(&views, v, at / k, at % k, 0)).collect()
        });
        for (view, labels) in views.iter_mut().zip(labelled) {
            view.labels = labels;
        }
        let mut triples =
            Self { features, k, rows, views, group_of, groups, maps, draws: Vec::new(), weights: Vec::new() };
        triples.fill(seed);
        triples
    }

    /// Draws the triples of every class in proportion to its prior, and weighs them.
    fn fill(&mut self, seed: u64) {
        let mut rng = Pcg64::seed_from_u64(seed);
        for class in 0..self.k {
            let count = ((self.maps.prior[0][class] * DRAWS as f64).round() as usize).max(1);
            let mut rows = [0, 1, 2].map(|v| self.systematic(v, class, count, &mut rng));
            rows[1..].iter_mut().for_each(|rows| rows.shuffle(&mut rng));
            let [first, second, third] = rows;
            let of_class = first.into_iter().zip(second).zip(third);
            self.draws.extend(of_class.map(|((a, b), c)| Draw { class, rows: [a, b, c] }));
            let absolute = self.views.each_ref().map(|view| {
                view.labels[class..].iter().step_by(self.k).map(|label| label.abs()).sum::<f64>()
            });
            // For each way of leaving rows out what the weights of all its triples share.
            let scale: Vec<f64> = (0..=self.groups)
                .map(|way| {
                    let ratio = |v: usize| absolute[v] / self.total(v, class, way);
                    self.maps.prior[way][class] / count as f64 * (0..VIEWS).map(ratio).product::<f64>()
                })
                .collect();
            let new = &self.draws[self.draws.len() - count..];
            let weights: Vec<f64> = new.par_iter().flat_map_iter(|draw| self.weigh(draw, &scale)).collect();
            self.weights.extend(weights);
        }
    }

    /// So many rows of a view with chances in proportion to the absolute labels of a class, evenly spread over them.
    fn systematic(&self, v: usize, class: usize, count: usize, rng: &mut Pcg64) -> Vec<usize> {
        let labels = || self.views[v].labels[class..].iter().step_by(self.k).map(|label| label.abs());
        let step = labels().sum::<f64>() / count as f64;
        let mut next = step * rng.random::<f64>();
        let mut rows = Vec::with_capacity(count);
        let mut below = 0.0;
        for (row, label) in labels().enumerate() {
            below += label;
            while next < below && rows.len() < count {
                rows.push(row);
                next += step;
            }
        }
        // Rounding may leave the last one out.
        rows.resize(count, self.rows - 1);
        rows
    }

    /// The sum of a class's labels over the rows that are not left out, away from zero.
    fn total(&self, v: usize, class: usize, way: usize) -> f64 {
        let kept = (0..self.rows).filter(|&row| way == 0 || self.group_of[row] != way - 1);
        let label = |row: usize| match way {
            0 => self.views[v].labels[row * self.k + class],
            _ => self.maps.label(&self.views, v, row, class, way),
        };
        kept.map(label).sum::<f64>().max(f64::EPSILON * self.rows as f64)
    }

    /// The weights of a triple in all ways of leaving rows out.
    fn weigh(&self, draw: &Draw, scale: &[f64]) -> Vec<f64> {
        let Draw { class, rows } = *draw;
        let weight = |way: usize| {
            let ratio = |v: usize| {
                let drawn = self.views[v].labels[rows[v] * self.k + class];
                match way {
                    0 => drawn.signum(),
                    _ if self.group_of[rows[v]] == way - 1 => 0.0,
                    _ => self.maps.label(&self.views, v, rows[v], class, way) / drawn.abs(),
                }
            };
            scale[way] * (0..VIEWS).map(ratio).product::<f64>()
        };
        (0..=self.groups).map(weight).collect()
    }

    /// Groups of rows that are left out in turn.
    pub(crate) fn groups(&self) -> usize {
        self.groups
    }

    /// Sampled rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The number of classes.
    pub(super) fn classes(&self) -> usize {
        self.k
    }

    /// The sum of the triples' absolute weights.
    pub(super) fn mass(&self) -> f64 {
        self.weights.iter().step_by(self.groups + 1).map(|weight| weight.abs()).sum()
    }

    /// The summed scores of all rows.
    pub(super) fn row_scores(&self) -> Vec<f64> {
        (0..self.rows * self.k).map(|at| self.views.iter().map(|view| view.scores[at]).sum()).collect()
    }

    /// The scores of each view in these rows.
    fn scores(&self, rows: [usize; VIEWS]) -> [&[f64]; VIEWS] {
        std::array::from_fn(|v| &self.views[v].scores[rows[v] * self.k..(rows[v] + 1) * self.k])
    }

    /// The fitted posterior of what the views say in these rows.
    fn posterior(&self, rows: [usize; VIEWS], out: &mut Vec<f64>) {
        let of = |v: usize| &self.views[v].posterior[rows[v] * self.k..(rows[v] + 1) * self.k];
        self.features.combine(1, &[of(0), of(1), of(2)], out);
    }

    /// Sums over rows with weights of their classes, each group's apart.
    fn over_rows(&self, length: usize, add: impl Fn(usize, &mut Vec<(usize, f64)>) + Sync) -> LeftOut {
        let rows: Vec<usize> = (0..self.rows).collect();
        let parts: Vec<Vec<Vec<f64>>> = rows
            .par_chunks(CHUNK)
            .map(|rows| {
                let mut sums = vec![vec![0.0; length]; self.groups];
                let mut added = Vec::new();
                for &row in rows {
                    add(row, &mut added);
                    let sums = &mut sums[self.group_of[row]];
                    added.iter().for_each(|(at, value)| sums[*at] += value);
                }
                sums
            })
            .collect();
        let mut counts = vec![0.0; self.groups];
        self.group_of.iter().for_each(|&group| counts[group] += 1.0);
        LeftOut::of_groups(&parts, &counts, length)
    }

    /// The mean of what each row adds under the fitted posterior, and the same corrected by the triples. `add` is given
    /// the scores of each view and the weights of the classes.
    pub(super) fn means(
        &self,
        length: usize,
        add: impl Fn([&[f64]; VIEWS], &[f64], &mut Vec<(usize, f64)>) + Sync,
    ) -> [LeftOut; 2] {
        let posterior = self.over_rows(length, |row, out| {
            let mut weights = Vec::new();
            self.posterior([row; VIEWS], &mut weights);
            add(self.scores([row; VIEWS]), &weights, out);
        });
        let ways = self.groups + 1;
        let parts: Vec<Vec<Vec<f64>>> = self
            .draws
            .par_chunks(CHUNK)
            .zip(self.weights.par_chunks(CHUNK * ways))
            .map(|(draws, weights)| {
                let mut sums = vec![vec![0.0; length]; ways];
                let (mut added, mut classes) = (Vec::new(), Vec::new());
                for (draw, weights) in draws.iter().zip(weights.chunks_exact(ways)) {
                    // What the class says beyond the posterior.
                    self.posterior(draw.rows, &mut classes);
                    classes.iter_mut().for_each(|p| *p = -*p);
                    classes[draw.class] += 1.0;
                    add(self.scores(draw.rows), &classes, &mut added);
                    for (sums, weight) in sums.iter_mut().zip(weights) {
                        added.iter().for_each(|(at, value)| sums[*at] += weight * value);
                    }
                }
                sums
            })
            .collect();
        let corrected = posterior.plus(&parts);
        [posterior, corrected]
    }

    /// The mean over rows of what each adds.
    pub(super) fn plain_mean(
        &self,
        length: usize,
        add: impl Fn([&[f64]; VIEWS], &mut Vec<(usize, f64)>) + Sync,
    ) -> Vec<f64> {
        self.over_rows(length, |row, out| add(self.scores([row; VIEWS]), out)).whole
    }

    /// For each view the mean over rows of the label of one class of each row, a function of the view's own scores.
    pub(super) fn mean_labels(&self, class_of: impl Fn(&[f64]) -> usize + Sync) -> LeftOut {
        let mean = |v: usize, way: usize| {
            let kept = || (0..self.rows).filter(|&row| way == 0 || self.group_of[row] != way - 1);
            let label = |row: usize| {
                let class = class_of(&self.views[v].scores[row * self.k..(row + 1) * self.k]);
                self.maps.label(&self.views, v, row, class, way)
            };
            kept().map(label).sum::<f64>() / kept().count() as f64
        };
        let mut ways: Vec<Vec<f64>> =
            (0..=self.groups).into_par_iter().map(|way| (0..VIEWS).map(|v| mean(v, way)).collect()).collect();
        let without = ways.split_off(1);
        LeftOut { whole: ways.remove(0), without }
    }
}

impl Maps {
    /// With each group of blocks left out the maps move by what its blocks add to their error.
    fn new(
        surrogates: &Surrogates,
        moved: &Deviations,
        prior: &[f64],
        moved_prior: &Deviations,
        groups: usize,
    ) -> Self {
        let cells: Vec<f64> = surrogates.cells().collect();
        let ways = |whole: &[f64], moved: &Deviations| -> Vec<Vec<f64>> {
            let without = (0..groups).map(|group| moved.without(whole, group, groups));
            [whole.to_vec()].into_iter().chain(without).collect()
        };
        let split = |cells: &Vec<f64>| {
            let mut from = 0;
            surrogates.maps.each_ref().map(|map| {
                let length = map.nrows() * map.ncols();
                from += length;
                cells[from - length..from].to_vec()
            })
        };
        Self {
            surrogates: ways(&cells, moved).iter().map(split).collect(),
            shares: [0, 1, 2].map(|v| surrogates.weights(v)),
            prior: ways(prior, moved_prior),
        }
    }

    /// `W_-v,j` of a row.
    fn label(&self, views: &[View; VIEWS], v: usize, row: usize, class: usize, way: usize) -> f64 {
        let part = |(a, share): (usize, f64)| {
            let map = &self.surrogates[way][a];
            let q = map.len() / self.prior[0].len();
            let (weights, features) =
                (&map[class * q..(class + 1) * q], &views[a].features[row * q..(row + 1) * q]);
            share * weights.iter().zip(features).map(|(w, u)| w * u).sum::<f64>()
        };
        others(v).into_iter().zip(self.shares[v]).map(part).sum()
    }
}

/// Columns of `rows` numbers, row by row.
fn by_row(rows: usize, columns: &[f64]) -> Vec<f64> {
    let width = columns.len() / rows;
    (0..columns.len()).map(|at| columns[at % width * rows + at / width]).collect()
}
