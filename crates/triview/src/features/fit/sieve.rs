//! Posteriors by maximum likelihood over a sieve, without labels.
//!
//! Under conditional independence the rows have density `sum_j omega_j prod_v p(x_v | j)`, and Bayes' rule
//! makes each factor `p(x_v | j) = p(x_v) q_v(j | x_v) / E[q_v(j | x_v)]`. So
//!
//! ```text
//!     sum over rows of  log sum_j omega_j prod_v q_v(j | x_v) / mean(q_vj)
//! ```
//!
//! is, up to what does not depend on `q`, the log likelihood. Its maximum over log-linear `q_v` makes good
//! features. As a plug-in for the risk itself it would be biased by the sieve: features never are.

use crate::data::{Batch, VIEWS};
use crate::features::{Basis, Posterior};
use crate::numeric::columns;
use crate::numeric::kernel;
use crate::numeric::lbfgs::minimise;
use crate::numeric::linalg::softmax;
use crate::settings::sieve::CALIBRATION;
use rayon::prelude::*;
use std::borrow::Cow;

/// Rows worked on at a time, by one thread.
const CHUNK: usize = 248;

/// Basis functions of some rows.
struct Chunk {
    rows: usize,
    basis: [Vec<f64>; VIEWS],
    /// The rows in which each view is missing.
    missing: [Vec<usize>; VIEWS],
}

/// The likelihood of a sample as a function of the weights of all views and the logits of `omega`.
pub(crate) struct Sieve {
    chunks: Vec<Chunk>,
    rows: f64,
    /// Rows in which each view is there.
    present: [f64; VIEWS],
    /// Number of states, one a class or more.
    k: usize,
    /// Number of basis functions of each view.
    widths: [usize; VIEWS],
    ridge: f64,
}

impl Sieve {
    /// The likelihood of so many states over the rows of a batch of three views. A view that is missing says nothing: its factor in the
    /// product is one.
    pub(crate) fn new(batch: &Batch, bases: &[Basis; VIEWS], states: usize, ridge: f64) -> Self {
        let rows = batch.rows();
        let inputs: [Cow<'_, [f64]>; VIEWS] = std::array::from_fn(|v| batch.inputs(v));
        let starts: Vec<usize> = (0..rows).step_by(CHUNK).collect();
        let chunks = starts
            .into_par_iter()
            .map(|start| {
                let end = (start + CHUNK).min(rows);
                let basis = std::array::from_fn(|v| {
                    let columns = inputs[v].chunks_exact(rows);
                    let part: Vec<f64> = columns.flat_map(|column| column[start..end].to_vec()).collect();
                    let mut out = Vec::new();
                    bases[v].evaluate(end - start, &part, &mut out);
                    out
                });
                let rows = end - start;
                let missing = |v| (0..rows).filter(|row| batch.is_missing(v, start + row)).collect();
                Chunk { rows, basis, missing: std::array::from_fn(missing) }
            })
            .collect();
        let present = std::array::from_fn(|v| (rows - batch.without(&[v]).len()) as f64);
        Self {
            chunks,
            rows: rows as f64,
            present,
            k: states,
            widths: std::array::from_fn(|v| bases[v].len()),
            ridge,
        }
    }

    /// Where the weights of each view, and at last the logits, begin in a point.
    fn offsets(&self) -> [usize; VIEWS + 1] {
        let mut offsets = [0; VIEWS + 1];
        for v in 0..VIEWS {
            offsets[v + 1] = offsets[v] + self.k * (self.widths[v] + 1);
        }
        offsets
    }

    /// The mean negative log likelihood with its penalty, and the gradient.
    pub(crate) fn value_and_gradient(&self, point: &[f64]) -> (f64, Vec<f64>) {
        let k = self.k;
        let at = self.offsets();
        let omega = softmax(&point[at[VIEWS]..]);

        // q_v of every row, and their means.
        let mut posteriors: Vec<[Vec<f64>; VIEWS]> = self
            .chunks
            .par_iter()
            .map(|chunk| {
                std::array::from_fn(|v| {
                    let mut q = vec![0.0; chunk.rows * k];
                    let weights = &point[at[v]..at[v + 1]];
                    columns::affine_columns(&chunk.basis[v], chunk.rows, self.widths[v], weights, k, &mut q);
                    columns::softmax_columns(&mut q, chunk.rows, k, None);
                    q
                })
            })
            .collect();
        let mut means = [(); VIEWS].map(|()| vec![0.0; k]);
        for (chunk, q) in self.chunks.iter().zip(&posteriors) {
            for v in 0..VIEWS {
                for (mean, column) in means[v].iter_mut().zip(q[v].chunks_exact(chunk.rows)) {
                    *mean += sum_without(column, &chunk.missing[v]) / self.present[v];
                }
            }
        }
        means.iter_mut().flatten().for_each(|mean| *mean = mean.max(1e-12));
        for (chunk, q) in self.chunks.iter().zip(&mut posteriors) {
            for v in 0..VIEWS {
                for (mean, column) in means[v].iter().zip(q[v].chunks_exact_mut(chunk.rows)) {
                    chunk.missing[v].iter().for_each(|&row| column[row] = *mean);
                }
            }
        }
        let scale: Vec<f64> = (0..k).map(|j| omega[j] / (means[0][j] * means[1][j] * means[2][j])).collect();

        // The joint posterior of every row, and its mean.
        let joint: Vec<(Vec<f64>, f64)> =
            posteriors.par_iter().zip(&self.chunks).map(|(q, chunk)| joint(q, chunk.rows, &scale)).collect();
        let mut mean_joint = vec![0.0; k];
        // The same over the rows in which a view is there.
        let mut mean_present = [(); VIEWS].map(|()| vec![0.0; k]);
        let mut value = 0.0;
        for (chunk, (rho, log_likelihood)) in self.chunks.iter().zip(&joint) {
            value -= log_likelihood / self.rows;
            for (j, column) in rho.chunks_exact(chunk.rows).enumerate() {
                mean_joint[j] += column.iter().sum::<f64>() / self.rows;
                for v in 0..VIEWS {
                    mean_present[v][j] += sum_without(column, &chunk.missing[v]) / self.present[v];
                }
            }
        }

        let mut off = [(); VIEWS].map(|()| vec![0.0; k]);
        let mut pull = vec![0.0; k];
        for v in 0..VIEWS {
            for j in 0..k {
                off[v][j] = (means[v][j] / omega[j]).ln();
                value += 0.5 * CALIBRATION * off[v][j] * off[v][j];
                pull[j] += CALIBRATION * off[v][j];
            }
        }
        // What multiplies q_vj in the gradient of every row: both terms depend on the means.
        let ratios: [Vec<f64>; VIEWS] = std::array::from_fn(|v| {
            let calibration = CALIBRATION * self.rows / self.present[v];
            (0..k).map(|j| (mean_present[v][j] + calibration * off[v][j]) / means[v][j]).collect()
        });

        let parts: Vec<Vec<f64>> = (0..self.chunks.len())
            .into_par_iter()
            .map(|c| {
                let (chunk, q, rho) = (&self.chunks[c], &posteriors[c], &joint[c].0);
                let mut gradient = vec![0.0; at[VIEWS]];
                for v in 0..VIEWS {
                    let mut logits = logit_gradient(chunk.rows, &q[v], rho, &ratios[v]);
                    for column in logits.chunks_exact_mut(chunk.rows) {
                        chunk.missing[v].iter().for_each(|&row| column[row] = 0.0);
                    }
                    add_weight_gradient(
                        chunk,
                        v,
                        self.widths[v],
                        k,
                        &logits,
                        &mut gradient[at[v]..at[v + 1]],
                    );
                }
                gradient
            })
            .collect();
        let mut gradient = vec![0.0; point.len()];
        for part in parts {
            gradient.iter_mut().zip(&part).for_each(|(sum, g)| *sum -= g / self.rows);
        }
        let pulled: f64 = pull.iter().sum();
        for j in 0..k {
            gradient[at[VIEWS] + j] = omega[j] - mean_joint[j] + omega[j] * pulled - pull[j];
        }
        for v in 0..VIEWS {
            let stride = self.widths[v] + 1;
            for i in (at[v]..at[v + 1]).filter(|i| !(i - at[v]).is_multiple_of(stride)) {
                value += 0.5 * self.ridge * point[i] * point[i];
                gradient[i] += self.ridge * point[i];
            }
        }
        (value, gradient)
    }

    /// Climbs from a start; returns the point, and its penalised negative log likelihood.
    pub(crate) fn maximise(&self, start: Vec<f64>, most_iterations: usize) -> (Vec<f64>, f64) {
        let minimum = minimise(|point| self.value_and_gradient(point), start, 1e-5, most_iterations);
        (minimum.point, minimum.value)
    }

    /// The start with these posteriors and prior.
    pub(crate) fn pack(&self, weights: &[Vec<f64>; VIEWS], prior: &[f64]) -> Vec<f64> {
        let mut point = weights.concat();
        point.extend(prior.iter().map(|p| p.max(1e-4).ln()));
        point
    }

    /// The posteriors and the prior of a point.
    pub(crate) fn unpack(&self, point: &[f64], bases: [Basis; VIEWS]) -> ([Posterior; VIEWS], Vec<f64>) {
        let at = self.offsets();
        let mut v = 0;
        let posteriors = bases.map(|basis| {
            let weights = point[at[v]..at[v + 1]].to_vec();
            v += 1;
            Posterior { basis, weights }
        });
        (posteriors, softmax(&point[at[VIEWS]..]))
    }
}

/// The sum of a column but for some of its rows.
fn sum_without(column: &[f64], rows: &[usize]) -> f64 {
    column.iter().sum::<f64>() - rows.iter().map(|&row| column[row]).sum::<f64>()
}

/// `rho_j = scale_j prod_v q_vj`, normalised over the classes of each row, and the sum of the logarithms of
/// what it was normalised by.
fn joint(q: &[Vec<f64>; VIEWS], rows: usize, scale: &[f64]) -> (Vec<f64>, f64) {
    let mut rho: Vec<f64> =
        q[0].iter().zip(&q[1]).zip(&q[2]).map(|((a, b), c)| (a * b * c).max(f64::MIN_POSITIVE)).collect();
    let mut sums = vec![0.0; rows];
    for (column, scale) in rho.chunks_exact_mut(rows).zip(scale) {
        for (p, sum) in column.iter_mut().zip(&mut sums) {
            *p *= scale;
            *sum += *p;
        }
    }
    let log_likelihood = sums.iter().map(|sum| sum.ln()).sum();
    sums.iter_mut().for_each(|sum| *sum = 1.0 / *sum);
    for column in rho.chunks_exact_mut(rows) {
        column.iter_mut().zip(&sums).for_each(|(p, inverse)| *p *= inverse);
    }
    (rho, log_likelihood)
}

/// The derivative of the log likelihood in the logits of `q_v`: with
/// `g_j = rho_j - ratio_j q_j`, where `ratio_j` is `mean(rho_j) / mean(q_j)` and what the calibration adds, it is
/// `g_j - q_j sum_i g_i`.
fn logit_gradient(rows: usize, q: &[f64], rho: &[f64], ratios: &[f64]) -> Vec<f64> {
    let mut gradient = vec![0.0; q.len()];
    let mut sums = vec![0.0; rows];
    let columns = q.chunks_exact(rows).zip(rho.chunks_exact(rows));
    for ((gradient, (q, rho)), ratio) in gradient.chunks_exact_mut(rows).zip(columns).zip(ratios) {
        for (((g, q), rho), sum) in gradient.iter_mut().zip(q).zip(rho).zip(&mut sums) {
            *g = rho - ratio * q;
            *sum += *g;
        }
    }
    for (gradient, q) in gradient.chunks_exact_mut(rows).zip(q.chunks_exact(rows)) {
        for ((g, q), sum) in gradient.iter_mut().zip(q).zip(&sums) {
            *g -= q * sum;
        }
    }
    gradient
}

/// Adds `logits^T [1, phi]`.
fn add_weight_gradient(chunk: &Chunk, v: usize, width: usize, k: usize, logits: &[f64], out: &mut [f64]) {
    let mut inner = vec![0.0; k * width];
    kernel::cross(logits, &chunk.basis[v], chunk.rows, k, width, &mut inner);
    for c in 0..k {
        let row = &mut out[c * (width + 1)..(c + 1) * (width + 1)];
        row[0] += logits[c * chunk.rows..(c + 1) * chunk.rows].iter().sum::<f64>();
        row[1..].iter_mut().zip(&inner[c * width..]).for_each(|(sum, g)| *sum += g);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{Population, Preset};
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    #[test]
    fn gradient_matches_finite_differences() -> crate::Result<()> {
        let population = Population::draw(&Preset::Three.setting(), 1)?;
        let (rows, _) = population.rows(1100, &mut Pcg64::seed_from_u64(2));
        let missing = (0..1100u64).map(|row| (row % 5) & 0b11).collect();
        let rows = rows.with_missing(missing)?;
        let bases = [0, 1, 2].map(|v| Basis::fit(rows.rows(), rows.view(v), 4));
        let [a, b, c] = bases;
        let bases = [a?, b?, c?];
        let sieve = Sieve::new(&rows, &bases, 4, 1e-3);
        let length = sieve.offsets()[VIEWS] + 4;
        let point: Vec<f64> = (0..length).map(|i| (i as f64 * 0.7).sin()).collect();
        let (_, gradient) = sieve.value_and_gradient(&point);
        for i in 0..length {
            let at = |step: f64| {
                let mut moved = point.clone();
                moved[i] += step;
                sieve.value_and_gradient(&moved).0
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - gradient[i]).abs() < 1e-8, "{i}: {slope} {}", gradient[i]);
        }
        Ok(())
    }
}
