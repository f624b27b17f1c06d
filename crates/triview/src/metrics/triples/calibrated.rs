//! Means over rows as they are of a function of more than one view: the output of a joint model.
//!
//! Such a function exists for the rows that there are, and for no triple of different rows. So the posterior itself is corrected by the labels. Of views that are
//! independent given the class it is `prod_v q_vj(x_v) / pi_j^2` with `q_v` that of view `v` alone, and the labels say what this must be on average:
//! `E[q_vj; x_v in b] = E[W_-v,j; x_v in b]` for any set `b` of what the view may say. With bins of how likely the view finds the class for these sets, each
//! view's own posterior is brought to its sums, as tables are brought to their margins. Sums of few rows are mostly noise: each is moved from the fitted
//! posterior's towards the labels' by as much as stands out of its error.
//!
//! Leaving a part of the rows out does the same again. A posterior that is fitted to rows is known no better than labels would make it, and of that the parts show
//! little: how means of labels differ that are drawn by the posterior counts as well.

use super::{CHUNK, Triples};
use crate::answer::share_believed;
use crate::data::VIEWS;
use crate::metrics::left_out::LeftOut;
use crate::settings::metrics::{CLASS_SHARES, LEAST_SHARE, MARGIN_ROUNDS};
use crate::settings::triples::MOST_SCALE;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;

/// Bins of how likely a view finds a class.
const BINS: usize = CLASS_SHARES.len() + 1;

/// What the rows of a class in each bin of a view are to add up to.
struct Margins {
    /// The bin of each row.
    bins: Vec<u8>,
    /// The sums, in all ways of leaving rows out.
    sums: Vec<[f64; BINS]>,
}

/// Sums over rows, way by way or part by part, of each number together.
struct Sums {
    corrected: Vec<f64>,
    posterior: Vec<f64>,
    drawn: Vec<f64>,
}

impl Triples<'_> {
    /// The mean over rows of what each adds if it is of a class, under the fitted posterior, and under the one that the labels correct.
    pub(in crate::metrics) fn joint_means(
        &self,
        length: usize,
        add: impl Fn(usize, usize, &mut Vec<(usize, f64)>) + Sync,
    ) -> [LeftOut; 2] {
        let (k, parts, ways) = (self.k, self.parts, self.parts + 1);
        let posteriors = self.row_posteriors();
        let corrected = self.corrected(&posteriors);
        let drawn = self.drawn(&corrected[0]);
        let rows: Vec<usize> = (0..self.rows).collect();
        let sums: Vec<Sums> = rows
            .par_chunks(CHUNK)
            .map(|rows| {
                let mut sums = Sums {
                    corrected: vec![0.0; length * ways],
                    posterior: vec![0.0; length * parts],
                    drawn: vec![0.0; length * parts],
                };
                let mut added = Vec::new();
                for &row in rows {
                    let part = self.part_of[row];
                    for class in 0..k {
                        let at_row = row * k + class;
                        // What a label says beyond the posterior that it is drawn by.
                        let beyond =
                            f64::from(u8::from(drawn[row] == class)) - f64::from(corrected[0][at_row]);
                        add(row, class, &mut added);
                        for (at, value) in &added {
                            sums.posterior[at * parts + part] += posteriors[at_row] * value;
                            sums.drawn[at * parts + part] += beyond * value;
                            let of_ways = &mut sums.corrected[at * ways..(at + 1) * ways];
                            for (way, sum) in
                                of_ways.iter_mut().enumerate().filter(|(way, _)| *way != part + 1)
                            {
                                *sum += f64::from(corrected[way][at_row]) * value;
                            }
                        }
                    }
                }
                sums
            })
            .collect();
        let kept = self.kept();
        let sum = |of: fn(&Sums) -> &Vec<f64>, at: usize| sums.iter().map(|sums| of(sums)[at]).sum::<f64>();
        let of_parts = |of: fn(&Sums) -> &Vec<f64>| {
            let counts: Vec<f64> = kept[1..].iter().map(|left| kept[0] - left).collect();
            let part = |part: usize| (0..length).map(|at| sum(of, at * parts + part)).collect();
            LeftOut::of_groups(&[(0..parts).map(part).collect()], &counts, length)
        };
        let [posterior, noise] = [of_parts(|sums| &sums.posterior), of_parts(|sums| &sums.drawn)];
        let way = |way: usize| -> Vec<f64> {
            let noise = |at: usize| match way {
                0 => 0.0,
                _ => noise.without[way - 1][at] - noise.whole[at],
            };
            (0..length)
                .map(|at| sum(|sums| &sums.corrected, at * ways + way) / kept[way] + noise(at))
                .collect()
        };
        let corrected = LeftOut { whole: way(0), without: (1..ways).map(way).collect() };
        [posterior, corrected]
    }

    /// A class for each row, drawn by a posterior.
    fn drawn(&self, posterior: &[f32]) -> Vec<usize> {
        let mut rng = Pcg64::seed_from_u64(self.seed);
        let draw = |of_row: &[f32]| {
            let mut left: f64 = rng.random();
            let beyond = |p: &f32| {
                left -= f64::from(*p);
                left < 0.0
            };
            of_row.iter().position(beyond).unwrap_or(self.k - 1)
        };
        posterior.chunks_exact(self.k).map(draw).collect()
    }

    /// The number of rows in all ways of leaving some out.
    fn kept(&self) -> Vec<f64> {
        let mut kept = vec![self.rows as f64; self.parts + 1];
        self.part_of.iter().for_each(|&part| kept[part + 1] -= 1.0);
        kept
    }

    /// The posterior that the labels correct, in all ways of leaving rows out; in single precision, of which there are many.
    fn corrected(&self, posteriors: &[f64]) -> Vec<Vec<f32>> {
        let kept = self.kept();
        let margins: Vec<Margins> = (0..VIEWS * self.k)
            .into_par_iter()
            .map(|at| self.margins((at / self.k, at % self.k), posteriors, &kept))
            .collect();
        (0..=self.parts)
            .into_par_iter()
            .map(|way| {
                let posterior = self.brought(&margins, way, posteriors.to_vec());
                posterior.into_iter().map(|p| p as f32).collect()
            })
            .collect()
    }

    /// The posterior of views whose own are brought to their margins, in one way of leaving rows out. Where views are independent given a state and not the class,
    /// all of it is brought to the margins of one after the other.
    fn brought(&self, margins: &[Margins], way: usize, mut posterior: Vec<f64>) -> Vec<f64> {
        let k = self.k;
        let of_view = |v: usize| &margins[v * k..(v + 1) * k];
        if self.names.len() > k {
            (0..MARGIN_ROUNDS)
                .flat_map(|_| 0..VIEWS)
                .for_each(|v| self.bring(of_view(v), way, &mut posterior));
            return posterior;
        }
        let prior = self.class_prior(way);
        let once = |class: usize| prior[class].max(f64::MIN_POSITIVE.sqrt()).powi(1 - VIEWS as i32);
        posterior.iter_mut().enumerate().for_each(|(at, p)| *p = once(at % k));
        for v in 0..VIEWS {
            let mut own = self.groups[v].posterior.clone();
            (0..MARGIN_ROUNDS).for_each(|_| self.bring(of_view(v), way, &mut own));
            posterior.iter_mut().zip(own).for_each(|(p, own)| *p *= own);
        }
        posterior.chunks_exact_mut(k).for_each(normalise);
        posterior
    }

    /// Brings the sums of a posterior over the rows that are kept to the margins of a view.
    fn bring(&self, margins: &[Margins], way: usize, posterior: &mut [f64]) {
        let k = self.k;
        let mut sums = vec![[f64::MIN_POSITIVE; BINS]; k];
        let kept = posterior.chunks_exact(k).enumerate().filter(|(row, _)| self.part_of[*row] + 1 != way);
        for (row, of_row) in kept {
            for (class, p) in of_row.iter().enumerate() {
                sums[class][usize::from(margins[class].bins[row])] += p;
            }
        }
        let scale = |class: usize| -> [f64; BINS] {
            std::array::from_fn(|bin| (margins[class].sums[way][bin] / sums[class][bin]).min(MOST_SCALE))
        };
        let scales: Vec<[f64; BINS]> = (0..k).map(scale).collect();
        for (row, of_row) in posterior.chunks_exact_mut(k).enumerate() {
            for (class, p) in of_row.iter_mut().enumerate() {
                *p *= scales[class][usize::from(margins[class].bins[row])];
            }
            normalise(of_row);
        }
    }

    /// The prior of each class, in one way of leaving rows out.
    fn class_prior(&self, way: usize) -> Vec<f64> {
        let mut prior = vec![0.0; self.k];
        self.names.iter().zip(&self.prior[way]).for_each(|(class, of_state)| prior[*class] += of_state);
        prior
    }

    /// What the rows of a class in each bin of a view are to add up to: what they do by the posterior, moved towards what they do by the labels of the other
    /// views. Labels are linear in features, so these are summed first.
    fn margins(&self, (v, class): (usize, usize), posteriors: &[f64], kept: &[f64]) -> Margins {
        let bins = self.class_bins(v, class, posteriors);
        let features = &self.groups[v].features;
        let width = features.len() / self.rows;
        let mut sums = vec![vec![0.0; BINS * width]; self.parts];
        let mut masses = vec![[0.0; BINS]; self.parts];
        for (row, bin) in bins.iter().enumerate() {
            let (part, bin) = (self.part_of[row], usize::from(*bin));
            masses[part][bin] += posteriors[row * self.k + class];
            let sums = &mut sums[part][bin * width..(bin + 1) * width];
            sums.iter_mut().zip(&features[row * width..]).for_each(|(sum, feature)| *sum += feature);
        }
        let own =
            || self.names.iter().enumerate().filter(move |(_, of)| **of == class).map(|(state, _)| state);
        let of_way = |way: usize| -> [[f64; BINS]; 2] {
            let parts = || (0..self.parts).filter(|part| part + 1 != way);
            let label = |state: usize, bin: usize| {
                let map = &self.maps[way][v][state * width..(state + 1) * width];
                let sum = |part: usize| {
                    let sums = &sums[part][bin * width..(bin + 1) * width];
                    map.iter().zip(sums).map(|(weight, sum)| weight * sum).sum::<f64>()
                };
                parts().map(sum).sum::<f64>()
            };
            let labels: [f64; BINS] = std::array::from_fn(|bin| own().map(|state| label(state, bin)).sum());
            let total = labels.iter().sum::<f64>().max(f64::EPSILON * self.rows as f64);
            // As many rows of the class as the prior says.
            let rows = kept[way] * self.class_prior(way)[class];
            let masses = std::array::from_fn(|bin| parts().map(|part| masses[part][bin]).sum::<f64>());
            [labels.map(|label| label / total * rows), masses]
        };
        let all: Vec<[[f64; BINS]; 2]> = (0..=self.parts).map(of_way).collect();
        let beyond = |way: usize, bin: usize| (all[way][0][bin] - all[way][1][bin]) / kept[way];
        let believed: [f64; BINS] = std::array::from_fn(|bin| {
            let without = (1..=self.parts).map(|way| beyond(way, bin)).collect();
            let own = LeftOut { whole: beyond(0, bin), without };
            share_believed(own.whole * own.whole, own.standard_error(|beyond| *beyond).powi(2))
        });
        let moved = |[labels, masses]: &[[f64; BINS]; 2]| -> [f64; BINS] {
            std::array::from_fn(|bin| {
                let moved = masses[bin] + believed[bin] * (labels[bin] - masses[bin]);
                moved.max(LEAST_SHARE * masses[bin])
            })
        };
        Margins { bins, sums: all.iter().map(moved).collect() }
    }

    /// The bin of each row, by how likely a view finds a class: bins end where the class's rows, by the posterior, reach these shares.
    fn class_bins(&self, v: usize, class: usize, posteriors: &[f64]) -> Vec<u8> {
        let mut work = Vec::new();
        let of_rows = self.groups[v].posterior.chunks_exact(self.names.len());
        let likely: Vec<f64> =
            of_rows.map(|of_row| self.plan.class_posterior(1, of_row, &mut work)[class]).collect();
        let mut order: Vec<usize> = (0..self.rows).collect();
        order.sort_by(|a, b| likely[*a].total_cmp(&likely[*b]));
        let own = |row: usize| posteriors[row * self.k + class];
        let total: f64 = (0..self.rows).map(own).sum();
        let (mut below, mut bins) = (0.0, vec![0; self.rows]);
        for row in order {
            let bin = CLASS_SHARES.iter().filter(|share| below > **share * total).count();
            bins[row] = bin as u8;
            below += own(row);
        }
        bins
    }
}

/// Makes some numbers add up to one.
fn normalise(of_row: &mut [f64]) {
    let total = of_row.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    of_row.iter_mut().for_each(|p| *p /= total);
}
