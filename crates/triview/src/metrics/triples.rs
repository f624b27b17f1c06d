//! Triples of rows drawn by their surrogate labels, and sums over them.

mod calibrated;

use super::left_out::LeftOut;
use super::temperature::sharpen;
use crate::answer::{Deviations, LabelMaps, Labels, Numbers, label_basis};
use crate::data::{Batch, Sample, VIEWS, block_of, others, total};
use crate::features::Evaluated;
use crate::moments::Plan;
use crate::numeric::argmax;
use crate::settings::triples::{DRAWS, MOST_SCALE, PARTS, SCALINGS};
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
    /// Of what is drawn.
    seed: u64,
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
        // The views' posteriors share a prior, which counts once. What prior a model's own probabilities have is not known.
        let scale = match plan.features.prior() {
            Some(prior) => prior.iter().map(|p| p.powi(1 - VIEWS as i32)).collect(),
            None if states == k => scale_to(prior, groups.each_ref().map(|group| group.posterior.as_slice())),
            None => vec![1.0; states],
        };
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
            scale,
            prior: ways(&prior.to_vec(), &labels.moved_prior, parts),
            seed,
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

    /// Draws the triples and weighs them. More latent states than classes are in another order in the posterior than in the labels, so that
    /// one cannot be corrected by the other view by view.
    fn fill(&mut self, seed: u64) {
        let mut rng = Pcg64::seed_from_u64(seed);
        if self.names.len() == self.k { self.fill_view_by_view(&mut rng) } else { self.fill_signed(&mut rng) }
    }

    /// Triples of each class whose rows are drawn by the posterior and, for each view in turn, those in which that view's row is drawn by
    /// how far its labels differ from the posterior.
    fn fill_view_by_view(&mut self, rng: &mut Pcg64) {
        let posteriors = self.row_posteriors();
        let (ways, n) = (self.parts + 1, self.rows as f64);
        let prior: Vec<f64> =
            (0..self.k).map(|class| posteriors[class..].iter().step_by(self.k).sum::<f64>() / n).collect();
        let mut kept = vec![n; ways];
        self.part_of.iter().for_each(|&part| kept[part + 1] -= 1.0);
        let sums = self.feature_sums();
        let of_class = |class: usize| posteriors[class..].iter().step_by(self.k).copied();
        for class in 0..self.k {
            let count = ((prior[class] * DRAWS as f64).round() as usize).max(1);
            let mut rows = [0, 1, 2].map(|_| systematic(of_class(class), count, rng));
            rows[1..].iter_mut().for_each(|rows| rows.shuffle(rng));
            let mut left_out = vec![0.0; ways];
            rows[0].iter().for_each(|&row| left_out[self.part_of[row] + 1] += 1.0);
            for at in 0..count {
                let rows = [rows[0][at], rows[1][at], rows[2][at]];
                let weight = |way: usize| match way == self.part_of[rows[0]] + 1 {
                    true => 0.0,
                    false => prior[class] / (count as f64 - left_out[way]).max(1.0),
                };
                self.weights.extend((0..ways).map(weight));
                self.draws.push(Draw { state: class, rows });
            }
        }
        for v in 0..VIEWS {
            // A third of what the priors differ by comes with each view.
            let scale = |way: usize, class: usize| {
                let mean = self.total(v, class, way, &sums[v][way]) / kept[way];
                (prior[class] + (self.prior[way][class] - prior[class]) / VIEWS as f64) / mean
            };
            let scale: Vec<f64> = (0..ways)
                .flat_map(|way| (0..self.k).map(move |class| (way, class)))
                .map(|(w, c)| scale(w, c))
                .collect();
            let beyond = |at: usize, way: usize| {
                let (row, class) = (at / self.k, at % self.k);
                scale[way * self.k + class] * self.label(v, row, class, way) - posteriors[at]
            };
            let size: Vec<f64> =
                (0..posteriors.len()).into_par_iter().map(|at| beyond(at, 0).abs()).collect();
            let chosen = systematic(size.iter().copied(), DRAWS, rng);
            let step = size.iter().sum::<f64>() / DRAWS as f64;
            let weights: Vec<f64> = chosen
                .par_iter()
                .flat_map_iter(|&at| {
                    let part = self.part_of[at / self.k];
                    let size = size[at].max(f64::MIN_POSITIVE);
                    let beyond = &beyond;
                    let kept = &kept;
                    (0..ways).map(move |way| match way == part + 1 {
                        true => 0.0,
                        false => beyond(at, way) / size * step / kept[way],
                    })
                })
                .collect();
            let mut counts = vec![0; self.k];
            chosen.iter().for_each(|at| counts[at % self.k] += 1);
            let mut others_of: Vec<[Vec<usize>; 2]> = (0..self.k)
                .map(|class| {
                    [0, 1].map(|_| {
                        let mut rows = systematic(of_class(class), counts[class], rng);
                        rows.shuffle(rng);
                        rows
                    })
                })
                .collect();
            let [a, b] = others(v);
            for at in chosen {
                let (row, class) = (at / self.k, at % self.k);
                let mut rows = [row; VIEWS];
                rows[a] = others_of[class][0].pop().unwrap_or(row);
                rows[b] = others_of[class][1].pop().unwrap_or(row);
                self.draws.push(Draw { state: class, rows });
            }
            self.weights.extend(weights);
        }
    }

    /// The fitted posterior of every row, class by class.
    pub(in crate::metrics) fn row_posteriors(&self) -> Vec<f64> {
        (0..self.rows)
            .into_par_iter()
            .flat_map_iter(|row| {
                let mut out = Vec::new();
                self.posterior([row; VIEWS], &mut out);
                out
            })
            .collect()
    }

    /// Triples of every state in proportion to its prior, each row drawn by the absolute label, the signs in the weights.
    fn fill_signed(&mut self, rng: &mut Pcg64) {
        let sums = self.feature_sums();
        for state in 0..self.names.len() {
            let count = ((self.prior[0][state] * DRAWS as f64).round() as usize).max(1);
            let of_state = |v: usize| self.groups[v].labels[state..].iter().step_by(self.names.len());
            let mut rows = [0, 1, 2].map(|v| systematic(of_state(v).map(|label| label.abs()), count, rng));
            rows[1..].iter_mut().for_each(|rows| rows.shuffle(rng));
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

    /// How many views have scores, the first ones.
    pub(super) fn scored(&self) -> usize {
        self.plan.schema.scored().len()
    }

    /// The sum of the triples' absolute weights.
    pub(super) fn mass(&self) -> f64 {
        self.weights.iter().step_by(self.parts + 1).map(|weight| weight.abs()).sum()
    }

    /// The summed scores of all rows.
    pub(super) fn row_scores(&self) -> Vec<f64> {
        self.summed(&self.scores.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    /// The sum of the scores of the views that are judged.
    pub(super) fn summed(&self, views: &[&[f64]]) -> Vec<f64> {
        let judged = views.iter().enumerate().filter(|(view, _)| self.plan.loss.judges(*view));
        total(judged.map(|(_, scores)| *scores))
    }

    /// The scores of each view, those of a group from one row.
    fn scores(&self, rows: [usize; VIEWS]) -> Vec<&[f64]> {
        let groups = &self.plan.partition;
        let of_row = |view: usize| {
            let (row, width) = (rows[groups.of(view)], self.scores[view].len() / self.rows);
            &self.scores[view][row * width..(row + 1) * width]
        };
        (0..self.scores.len()).map(of_row).collect()
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
    /// the scores of each view, the posterior, and the weights of the classes.
    pub(super) fn means(
        &self,
        length: usize,
        add: impl Fn(&[&[f64]], &[f64], &[f64], &mut Vec<(usize, f64)>) + Sync,
    ) -> [LeftOut; 2] {
        let posterior = self.over_rows(length, |row, out| {
            let mut weights = Vec::new();
            self.posterior([row; VIEWS], &mut weights);
            add(&self.scores([row; VIEWS]), &weights, &weights, out);
        });
        let ways = self.parts + 1;
        let parts: Vec<Vec<f64>> = self
            .draws
            .par_chunks(CHUNK)
            .zip(self.weights.par_chunks(CHUNK * ways))
            .map(|(draws, weights)| {
                // All ways of a number lie together.
                let mut sums = vec![0.0; length * ways];
                let (mut added, mut fitted, mut classes) = (Vec::new(), Vec::new(), Vec::new());
                for (draw, weights) in draws.iter().zip(weights.chunks_exact(ways)) {
                    // What the class says beyond the posterior.
                    self.posterior(draw.rows, &mut fitted);
                    classes.clear();
                    classes.extend(fitted.iter().map(|p| -p));
                    classes[self.names[draw.state]] += 1.0;
                    add(&self.scores(draw.rows), &fitted, &classes, &mut added);
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
        let views = self.scored();
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

    /// The rows that have a view.
    pub(super) fn rows_with(&self, view: usize) -> Vec<usize> {
        (0..self.rows).filter(|&row| !self.sample.is_missing(view, row)).collect()
    }

    /// The scores of a view in a row.
    pub(super) fn of_view(&self, view: usize, row: usize) -> &[f64] {
        &self.scores[view][row * self.k..(row + 1) * self.k]
    }

    /// The mean over some rows of what each adds if it is of a class: labelled by the views of the other groups, and by the fitted posterior.
    pub(super) fn labelled_means(
        &self,
        view: usize,
        rows: &[usize],
        length: usize,
        add: impl Fn(usize, usize, &mut Vec<(usize, f64)>) + Sync,
    ) -> [LeftOut; 2] {
        let (g, ways) = (self.plan.partition.of(view), self.parts + 1);
        let parts: Vec<[Vec<f64>; 2]> = rows
            .par_chunks(CHUNK)
            .map(|rows| {
                // All ways of a number lie together; of the posterior each part's by itself.
                let mut sums = [vec![0.0; length * ways], vec![0.0; length * self.parts]];
                let (mut added, mut posterior) = (Vec::new(), Vec::new());
                for &row in rows {
                    let part = self.part_of[row];
                    self.posterior([row; VIEWS], &mut posterior);
                    let labels: Vec<f64> = (0..ways).flat_map(|way| self.class_labels(g, row, way)).collect();
                    for class in 0..self.k {
                        add(row, class, &mut added);
                        for (at, value) in &added {
                            sums[1][at * self.parts + part] += posterior[class] * value;
                            let sums = &mut sums[0][at * ways..(at + 1) * ways];
                            for (way, sum) in sums.iter_mut().enumerate().filter(|(way, _)| *way != part + 1)
                            {
                                *sum += labels[way * self.k + class] * value;
                            }
                        }
                    }
                }
                sums
            })
            .collect();
        let mut counts = vec![0.0; self.parts];
        rows.iter().for_each(|&row| counts[self.part_of[row]] += 1.0);
        let all = rows.len() as f64;
        let sum = |of: usize, at: usize| parts.iter().map(|part| part[of][at]).sum::<f64>();
        let labelled = |way: usize| -> Vec<f64> {
            let kept = all - way.checked_sub(1).map_or(0.0, |part| counts[part]);
            (0..length).map(|at| sum(0, at * ways + way) / kept.max(1.0)).collect()
        };
        let of_parts: Vec<Vec<f64>> = (0..self.parts)
            .map(|part| (0..length).map(|at| sum(1, at * self.parts + part)).collect())
            .collect();
        let labelled = LeftOut { whole: labelled(0), without: (1..ways).map(labelled).collect() };
        [labelled, LeftOut::of_groups(&[of_parts], &counts, length)]
    }

    /// What the other groups say of the class of a row.
    fn class_labels(&self, g: usize, row: usize, way: usize) -> Vec<f64> {
        let mut labels = vec![0.0; self.k];
        for (state, &class) in self.names.iter().enumerate() {
            labels[class] += self.label(g, row, state, way);
        }
        labels
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

/// What the product of three posteriors of each row is to be multiplied by, class by class, so that on average over the rows it is the prior.
fn scale_to(prior: &[f64], posteriors: [&[f64]; VIEWS]) -> Vec<f64> {
    let k = prior.len();
    let [a, b, c] = posteriors.map(|posterior| posterior.chunks_exact(k));
    let products: Vec<f64> = a
        .zip(b)
        .zip(c)
        .flat_map(|((a, b), c)| {
            let products: Vec<f64> = a.iter().zip(b).zip(c).map(|((a, b), c)| a * b * c).collect();
            let largest = products.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            products.into_iter().map(move |product| product / largest)
        })
        .collect();
    let rows = products.len() / k;
    let mut scale = vec![1.0; k];
    for _ in 0..SCALINGS {
        let mut mean = vec![f64::MIN_POSITIVE; k];
        for products in products.chunks_exact(k) {
            let total: f64 = products.iter().zip(&scale).map(|(product, scale)| product * scale).sum();
            let share = 1.0 / (total * rows as f64);
            mean.iter_mut().zip(products).zip(&scale).for_each(|((mean, p), s)| *mean += share * p * s);
        }
        scale.iter_mut().zip(prior).zip(mean).for_each(|((scale, prior), mean)| {
            *scale = (*scale * prior / mean).clamp(1.0 / MOST_SCALE, MOST_SCALE);
        });
    }
    scale
}

/// So many places with chances in proportion to these sizes, evenly spread over them.
fn systematic(sizes: impl Iterator<Item = f64> + Clone, count: usize, rng: &mut Pcg64) -> Vec<usize> {
    let step = sizes.clone().sum::<f64>() / count as f64;
    let mut next = step * rng.random::<f64>();
    let mut places = Vec::with_capacity(count);
    let (mut below, mut last) = (0.0, 0);
    for (place, size) in sizes.enumerate() {
        below += size;
        last = place;
        while next < below && places.len() < count {
            places.push(place);
            next += step;
        }
    }
    // Rounding may leave the last one out.
    places.resize(count, last);
    places
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
