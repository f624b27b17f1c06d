//! Triples of rows drawn by their surrogate labels, and sums over them.

use super::left_out::LeftOut;
use super::temperature::sharpen;
use crate::answer::{Deviations, LabelMaps, Labels, Numbers, label_basis};
use crate::data::{Batch, Sample, VIEWS, block_of, total};
use crate::features::Evaluated;
use crate::moments::Plan;
use crate::numeric::argmax;
use crate::settings::triples::{DRAWS, PARTS};
use rand::RngExt;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use rayon::prelude::*;

/// Triples, or rows, that one thread works on at a time.
const CHUNK: usize = 4096;

/// One group of views of the sampled rows, row by row.
struct Group {
    /// `q(y | x)` of the group alone, sharpened.
    posterior: Vec<f64>,
    /// What the labels are made of.
    features: Vec<f64>,
    /// `W`: what the other groups say of the row.
    labels: Vec<f64>,
}

/// A latent state, one a class or more, and one row a group.
#[derive(Clone, Copy)]
struct Draw {
    state: usize,
    rows: [usize; VIEWS],
}

/// Sampled rows, triples of them, and the weight of each triple in all ways of leaving rows out.
pub(crate) struct Triples<'a> {
    plan: &'a Plan,
    k: usize,
    /// The class of each latent state.
    names: &'a [usize],
    rows: usize,
    /// The scores of each view, row by row.
    scores: Vec<Vec<f64>>,
    sample: &'a Batch,
    groups: [Group; VIEWS],
    /// What the product of the groups' posteriors of each state is multiplied by.
    scale: Vec<f64>,
    /// Which rows are left out together.
    part_of: Vec<usize>,
    parts: usize,
    /// The labels' maps and the prior, of all rows and with each part left out.
    maps: Vec<LabelMaps>,
    prior: Vec<Vec<f64>>,
    draws: Vec<Draw>,
    /// For each triple its weight, and that without each part.
    weights: Vec<f64>,
}

impl<'a> Triples<'a> {
    /// Draws triples of the sample's rows.
    pub(crate) fn draw(
        plan: &'a Plan,
        (prior, names): (&[f64], &'a [usize]),
        labels: &Labels,
        sample: &'a Sample,
        seed: u64,
    ) -> Self {
        let (batch, k, states) = (sample.rows(), plan.schema.k(), prior.len());
        let (rows, blocks) = (batch.rows(), labels.moved.count());
        let parts = blocks.clamp(2, PARTS);
        let grouped = plan.partition.join(batch);
        let evaluated: [Evaluated; VIEWS] = std::array::from_fn(|g| plan.evaluate(&grouped, g));
        let posteriors = evaluated.each_ref().map(|group| group.posterior.as_slice());
        let features = |g: usize| by_row(rows, &label_basis(plan, labels.kind, &evaluated, g, rows));
        // More states than classes are in the feature map's order, classes in the fit's.
        let own = plan.features.prior().filter(|_| states > k).unwrap_or(prior);
        let sharpened = sharpen(posteriors, own);
        let groups: [Group; VIEWS] = std::array::from_fn(|g| Group {
            posterior: by_row(rows, &sharpened[g]),
            features: features(g),
            labels: Vec::new(),
        });
        // The views' posteriors share a prior, which counts once.
        let scale =
            plan.features.prior().map(|prior| prior.iter().map(|p| p.powi(1 - VIEWS as i32)).collect());
        let mut triples = Self {
            plan,
            k,
            names,
            rows,
            scores: (0..batch.views()).map(|view| by_row(rows, batch.view(view))).collect(),
            sample: batch,
            part_of: (0..rows).map(|row| block_of(batch, 0, row, blocks) % parts).collect(),
            parts,
            maps: ways(&labels.maps, &labels.moved, parts),
            groups,
            scale: scale.unwrap_or_else(|| vec![1.0; states]),
            prior: ways(&prior.to_vec(), &labels.moved_prior, parts),
            draws: Vec::new(),
            weights: Vec::new(),
        };
        let labelled = [0, 1, 2].map(|g| -> Vec<f64> {
            (0..rows * states)
                .into_par_iter()
                .map(|at| triples.label(g, at / states, at % states, 0))
                .collect()
        });
        triples.groups.iter_mut().zip(labelled).for_each(|(group, labels)| group.labels = labels);
        triples.fill(seed);
        triples
    }

    /// Other scores for the same rows and views to be judged by, row by row, one list a view.
    pub(crate) fn score_by(&mut self, scores: Vec<Vec<f64>>) {
        self.scores = scores;
    }

    /// `W_-g,z` of a row.
    fn label(&self, g: usize, row: usize, state: usize, way: usize) -> f64 {
        let (map, features) = (&self.maps[way][g], &self.groups[g].features);
        let width = map.len() / self.names.len();
        let (map, features) = (&map[state * width..(state + 1) * width], &features[row * width..]);
        map.iter().zip(features).map(|(weight, feature)| weight * feature).sum()
    }

    /// Draws the triples of every state in proportion to its prior, and weighs them.
    fn fill(&mut self, seed: u64) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let sums = self.feature_sums();
        for state in 0..self.names.len() {
            let count = ((self.prior[0][state] * DRAWS as f64).round() as usize).max(1);
            let mut rows = [0, 1, 2].map(|v| self.systematic(v, state, count, &mut rng));
            rows[1..].iter_mut().for_each(|rows| rows.shuffle(&mut rng));
            let [first, second, third] = rows;
            let of_state = first.into_iter().zip(second).zip(third);
            self.draws.extend(of_state.map(|((a, b), c)| Draw { state, rows: [a, b, c] }));
            let absolute = self.groups.each_ref().map(|group| {
                group.labels[state..].iter().step_by(self.names.len()).map(|label| label.abs()).sum::<f64>()
            });
            // For each way of leaving rows out what the weights of all its triples share.
            let scale: Vec<f64> = (0..=self.parts)
                .map(|way| {
                    let ratio = |v: usize| absolute[v] / self.total(v, state, way, &sums[v][way]);
                    self.prior[way][state] / count as f64 * (0..VIEWS).map(ratio).product::<f64>()
                })
                .collect();
            let new = &self.draws[self.draws.len() - count..];
            let weights: Vec<f64> = new.par_iter().flat_map_iter(|draw| self.weigh(draw, &scale)).collect();
            self.weights.extend(weights);
        }
    }

    /// So many rows of a view with chances in proportion to the absolute labels of a state, evenly spread over them.
    fn systematic(&self, v: usize, state: usize, count: usize, rng: &mut Pcg64) -> Vec<usize> {
        let labels =
            || self.groups[v].labels[state..].iter().step_by(self.names.len()).map(|label| label.abs());
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

    /// For each group and way of leaving rows out, the sums of what labels are made of over the rows that are kept.
    fn feature_sums(&self) -> [Vec<Vec<f64>>; VIEWS] {
        self.groups.each_ref().map(|group| {
            let width = group.features.len() / self.rows;
            let mut parts = vec![vec![0.0; width]; self.parts];
            for (features, &part) in group.features.chunks_exact(width).zip(&self.part_of) {
                parts[part].iter_mut().zip(features).for_each(|(sum, feature)| *sum += feature);
            }
            let total: Vec<f64> = (0..width).map(|at| parts.iter().map(|part| part[at]).sum()).collect();
            let without =
                |part: &Vec<f64>| total.iter().zip(part).map(|(total, part)| total - part).collect();
            [total.clone()].into_iter().chain(parts.iter().map(without)).collect()
        })
    }

    /// The sum of a state's labels over rows with such a sum of features, away from zero.
    fn total(&self, g: usize, state: usize, way: usize, sums: &[f64]) -> f64 {
        let map = &self.maps[way][g][state * sums.len()..(state + 1) * sums.len()];
        let total: f64 = map.iter().zip(sums).map(|(weight, sum)| weight * sum).sum();
        total.max(f64::EPSILON * self.rows as f64)
    }

    /// The weights of a triple in all ways of leaving rows out.
    fn weigh(&self, draw: &Draw, scale: &[f64]) -> Vec<f64> {
        let Draw { state, rows } = *draw;
        let weight = |way: usize| {
            let ratio = |v: usize| {
                let drawn = self.groups[v].labels[rows[v] * self.names.len() + state];
                match way {
                    0 => drawn.signum(),
                    _ if self.part_of[rows[v]] == way - 1 => 0.0,
                    _ => self.label(v, rows[v], state, way) / drawn.abs(),
                }
            };
            scale[way] * (0..VIEWS).map(ratio).product::<f64>()
        };
        (0..=self.parts).map(weight).collect()
    }

    /// Parts of the rows that are left out in turn.
    pub(crate) fn parts(&self) -> usize {
        self.parts
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
        self.weights.iter().step_by(self.parts + 1).map(|weight| weight.abs()).sum()
    }

    /// The summed scores of all rows.
    pub(super) fn row_scores(&self) -> Vec<f64> {
        total(self.scores.iter().map(Vec::as_slice))
    }

    /// The scores of each view, those of a group from one row.
    fn scores(&self, rows: [usize; VIEWS]) -> Vec<&[f64]> {
        let groups = &self.plan.partition;
        let from = |view: usize| rows[groups.of(view)] * self.k;
        (0..self.scores.len()).map(|view| &self.scores[view][from(view)..from(view) + self.k]).collect()
    }

    /// The fitted posterior of what the views say in these rows.
    fn posterior(&self, rows: [usize; VIEWS], out: &mut Vec<f64>) {
        let states = self.names.len();
        out.clone_from(&self.scale);
        for (group, row) in self.groups.iter().zip(rows) {
            let own = &group.posterior[row * states..(row + 1) * states];
            out.iter_mut().zip(own).for_each(|(product, p)| *product *= p);
        }
        let total: f64 = out.iter().sum();
        out.iter_mut().for_each(|p| *p /= total);
        if states > self.k {
            let of_states = std::mem::take(out);
            self.plan.class_posterior(1, &of_states, out);
        }
    }

    /// Sums over rows with weights of their classes, each part's apart.
    fn over_rows(&self, length: usize, add: impl Fn(usize, &mut Vec<(usize, f64)>) + Sync) -> LeftOut {
        let rows: Vec<usize> = (0..self.rows).collect();
        let parts: Vec<Vec<Vec<f64>>> = rows
            .par_chunks(CHUNK)
            .map(|rows| {
                let mut sums = vec![vec![0.0; length]; self.parts];
                let mut added = Vec::new();
                for &row in rows {
                    add(row, &mut added);
                    let sums = &mut sums[self.part_of[row]];
                    added.iter().for_each(|(at, value)| sums[*at] += value);
                }
                sums
            })
            .collect();
        let mut counts = vec![0.0; self.parts];
        self.part_of.iter().for_each(|&part| counts[part] += 1.0);
        LeftOut::of_groups(&parts, &counts, length)
    }

    /// The mean of what each row adds under the fitted posterior, and the same corrected by the triples. `add` is given
    /// the scores of each view and the weights of the classes.
    pub(super) fn means(
        &self,
        length: usize,
        add: impl Fn(&[&[f64]], &[f64], &mut Vec<(usize, f64)>) + Sync,
    ) -> [LeftOut; 2] {
        let posterior = self.over_rows(length, |row, out| {
            let mut weights = Vec::new();
            self.posterior([row; VIEWS], &mut weights);
            add(&self.scores([row; VIEWS]), &weights, out);
        });
        let ways = self.parts + 1;
        let parts: Vec<Vec<f64>> = self
            .draws
            .par_chunks(CHUNK)
            .zip(self.weights.par_chunks(CHUNK * ways))
            .map(|(draws, weights)| {
                // All ways of a number lie together.
                let mut sums = vec![0.0; length * ways];
                let (mut added, mut classes) = (Vec::new(), Vec::new());
                for (draw, weights) in draws.iter().zip(weights.chunks_exact(ways)) {
                    // What the class says beyond the posterior.
                    self.posterior(draw.rows, &mut classes);
                    classes.iter_mut().for_each(|p| *p = -*p);
                    classes[self.names[draw.state]] += 1.0;
                    add(&self.scores(draw.rows), &classes, &mut added);
                    for (at, value) in &added {
                        let sums = &mut sums[at * ways..(at + 1) * ways];
                        sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight * value);
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
        add: impl Fn(&[&[f64]], &mut Vec<(usize, f64)>) + Sync,
    ) -> Vec<f64> {
        self.over_rows(length, |row, out| add(&self.scores([row; VIEWS]), out)).whole
    }

    /// Half the share of pairs of views, in all rows that have both, of which the classes with the largest score differ.
    pub(super) fn floor(&self) -> f64 {
        let views = self.scores.len();
        let said = |row: usize| {
            let class =
                |view: usize| argmax(self.scores[view][row * self.k..(row + 1) * self.k].iter().copied());
            (0..views).filter(|&view| !self.sample.is_missing(view, row)).map(class).collect::<Vec<_>>()
        };
        let (mut differ, mut pairs) = (0_usize, 0_usize);
        for row in 0..self.rows {
            let said = said(row);
            for (at, class) in said.iter().enumerate() {
                pairs += at;
                differ += said[..at].iter().filter(|other| *other != class).count();
            }
        }
        0.5 * differ as f64 / pairs.max(1) as f64
    }

    /// For each view the mean, over the rows that have it, of the label of one class of each row, a function of the
    /// view's own scores.
    pub(super) fn mean_labels(&self, class_of: impl Fn(&[f64]) -> usize + Sync) -> LeftOut {
        let views = 0..self.scores.len();
        let of_views: Vec<Vec<f64>> =
            views.into_par_iter().map(|view| self.mean_labels_of(view, &class_of)).collect();
        let of_way = |way: usize| of_views.iter().map(|means| means[way]).collect();
        LeftOut { whole: of_way(0), without: (1..=self.parts).map(of_way).collect() }
    }

    /// The same of one view, in all ways of leaving rows out. Labels are linear in features, so these are summed first.
    fn mean_labels_of(&self, view: usize, class_of: impl Fn(&[f64]) -> usize) -> Vec<f64> {
        let g = self.plan.partition.of(view);
        let features = &self.groups[g].features;
        let width = features.len() / self.rows;
        let mut sums = vec![vec![0.0; self.k * width]; self.parts];
        let mut counts = vec![0.0; self.parts];
        for row in (0..self.rows).filter(|&row| !self.sample.is_missing(view, row)) {
            let class = class_of(&self.scores[view][row * self.k..(row + 1) * self.k]);
            let sums = &mut sums[self.part_of[row]][class * width..(class + 1) * width];
            sums.iter_mut().zip(&features[row * width..]).for_each(|(sum, feature)| *sum += feature);
            counts[self.part_of[row]] += 1.0;
        }
        let mean = |way: usize| {
            let kept = || (0..self.parts).filter(|part| part + 1 != way);
            let of_state = |(state, &class): (usize, &usize)| {
                let map = &self.maps[way][g][state * width..(state + 1) * width];
                let label = |part: usize| {
                    let sums = &sums[part][class * width..(class + 1) * width];
                    map.iter().zip(sums).map(|(weight, sum)| weight * sum).sum::<f64>()
                };
                kept().map(label).sum::<f64>()
            };
            let labels: f64 = self.names.iter().enumerate().map(of_state).sum();
            labels / kept().map(|part| counts[part]).sum::<f64>().max(1.0)
        };
        (0..=self.parts).map(mean).collect()
    }
}

/// Numbers from all rows, and without each part of the blocks by what its blocks add to their error.
fn ways<T: Numbers>(whole: &T, moved: &Deviations<T>, parts: usize) -> Vec<T> {
    let without = (0..parts).map(|part| moved.without(whole, part, parts));
    [whole.clone()].into_iter().chain(without).collect()
}

/// Columns of `rows` numbers, row by row.
pub(crate) fn by_row(rows: usize, columns: &[f64]) -> Vec<f64> {
    let width = columns.len() / rows;
    (0..columns.len()).map(|at| columns[at % width * rows + at / width]).collect()
}
