//! Linear scores of feature rows, and their transpose: the two products that learning spends its time in.
//!
//! Parameters lie in one vector `theta`: for each view the weights, feature by feature with those of one feature's
//! classes together, then the biases of the classes.

use super::rows::FeatureBatch;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::ops::Range;

/// Rows that one task works on, so that what it adds up does not depend on the number of threads.
const TASK: usize = 1024;
/// Rows that are multiplied at a time: 128 rows of 784 features are 800 KB.
const CHUNK: usize = 128;

/// The sizes of a linear model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) widths: Vec<usize>,
    pub(crate) classes: usize,
}

impl Shape {
    /// The number of parameters.
    pub(crate) fn len(&self) -> usize {
        (self.widths.iter().sum::<usize>() + 1) * self.classes
    }

    /// Where the weights of a view lie.
    pub(crate) fn weights(&self, view: usize) -> Range<usize> {
        let from = self.widths[..view].iter().sum::<usize>() * self.classes;
        from..from + self.widths[view] * self.classes
    }

    /// Where the biases lie.
    pub(crate) fn bias(&self) -> Range<usize> {
        self.len() - self.classes..self.len()
    }

    /// Adds to the scores of a row, one a class, what a view's features say. Zeros are skipped: four in five pixels of
    /// MNIST are zero.
    pub(crate) fn add_scores(&self, weights: &[f64], features: &[f32], scores: &mut [f64]) {
        for (weights, &x) in weights.chunks_exact(self.classes).zip(features) {
            if x != 0.0 {
                let x = f64::from(x);
                scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += weight * x);
            }
        }
    }

    /// The transpose: adds the products of a view's features and numbers of the classes to the weights' sums.
    pub(crate) fn add_products(&self, sums: &mut [f64], features: &[f32], of_classes: &[f64]) {
        for (sums, &x) in sums.chunks_exact_mut(self.classes).zip(features) {
            if x != 0.0 {
                let x = f64::from(x);
                sums.iter_mut().zip(of_classes).for_each(|(sum, r)| *sum += r * x);
            }
        }
    }

    /// The scores of a view for all rows, row by row.
    pub(crate) fn view_scores(
        &self,
        batch: &FeatureBatch,
        view: usize,
        weights: &[f64],
        bias: &[f64],
    ) -> Vec<f64> {
        let (k, width) = (self.classes, self.widths[view]);
        let chunks: Vec<Vec<f64>> = starts(batch.rows(), CHUNK)
            .into_par_iter()
            .map(|start| {
                let rows = start..batch.rows().min(start + CHUNK);
                let mut scores = bias.repeat(rows.len());
                let features = widened(batch, view, &rows);
                multiply(
                    row_major_mut(&mut scores, rows.len(), k),
                    row_major(&features, rows.len(), width),
                    row_major(weights, width, k),
                );
                scores
            })
            .collect();
        chunks.concat()
    }

    /// One pass over a batch: for each row `of_row` is given its summed scores, which it replaces by what the scores are
    /// to be weighed by; it may also add to `extra` sums of its own. Returns the sums over rows of the weights times the
    /// features, in the places of the parameters, then the others.
    ///
    /// Products are in single precision, sums of them in double: features should be standardised. It is where
    /// learning spends its time, and twice as fast.
    pub(crate) fn pass(
        &self,
        batch: &FeatureBatch,
        theta: &[f64],
        extra: usize,
        of_row: impl Fn(&mut [f64], &mut [f64]) + Sync,
    ) -> Vec<f64> {
        let k = self.classes;
        let theta: Vec<f32> = theta.iter().map(|&x| x as f32).collect();
        sum_tasks(batch.rows(), self.len() + extra, |rows, sums| {
            let features = |view: usize| {
                let width = self.widths[view];
                let cells = &batch.view(view)[rows.start * width..rows.end * width];
                MatRef::from_row_major_slice(cells, rows.len(), width)
            };
            let mut scores = theta[self.bias()].repeat(rows.len());
            for view in 0..batch.views() {
                let weights = MatRef::from_row_major_slice(&theta[self.weights(view)], self.widths[view], k);
                let scores = MatMut::from_row_major_slice_mut(&mut scores, rows.len(), k);
                matmul(scores, Accum::Add, features(view), weights, 1.0, Par::Seq);
            }
            let (parameters, others) = sums.split_at_mut(self.len());
            let mut of_classes = vec![0.0; k];
            for scores in scores.chunks_exact_mut(k) {
                of_classes.iter_mut().zip(&*scores).for_each(|(wide, score)| *wide = f64::from(*score));
                of_row(&mut of_classes, others);
                parameters[self.bias()].iter_mut().zip(&of_classes).for_each(|(sum, r)| *sum += *r);
                scores.iter_mut().zip(&of_classes).for_each(|(score, wide)| *score = *wide as f32);
            }
            let residuals = MatRef::from_row_major_slice(&scores, rows.len(), k);
            for view in 0..batch.views() {
                let mut products = vec![0.0; self.widths[view] * k];
                let into = MatMut::from_row_major_slice_mut(&mut products, self.widths[view], k);
                matmul(into, Accum::Replace, features(view).transpose(), residuals, 1.0, Par::Seq);
                let sums = parameters[self.weights(view)].iter_mut();
                sums.zip(&products).for_each(|(sum, product)| *sum += f64::from(*product));
            }
        })
    }

    /// The sums over rows of each view's features times numbers of the classes, `of_view[v][row * k + class]`, in the
    /// places of the weights; the places of the biases are left at zero.
    pub(crate) fn products(&self, batch: &FeatureBatch, of_view: &[Vec<f64>]) -> Vec<f64> {
        let k = self.classes;
        sum_tasks(batch.rows(), self.len(), |rows, sums| {
            for (view, numbers) in of_view.iter().enumerate() {
                let features = widened(batch, view, &rows);
                let x = row_major(&features, rows.len(), self.widths[view]);
                let numbers = row_major(&numbers[rows.start * k..rows.end * k], rows.len(), k);
                let sums = &mut sums[self.weights(view)];
                multiply(row_major_mut(sums, self.widths[view], k), x.transpose(), numbers);
            }
        })
    }
}

/// Sums of what chunks of rows add, in the same order for any number of threads.
fn sum_tasks(rows: usize, length: usize, add: impl Fn(Range<usize>, &mut [f64]) + Sync) -> Vec<f64> {
    let tasks: Vec<Vec<f64>> = starts(rows, TASK)
        .into_par_iter()
        .map(|start| {
            let mut sums = vec![0.0; length];
            let end = rows.min(start + TASK);
            (start..end).step_by(CHUNK).for_each(|from| add(from..end.min(from + CHUNK), &mut sums));
            sums
        })
        .collect();
    let mut total = vec![0.0; length];
    for task in tasks {
        total.iter_mut().zip(task).for_each(|(total, sum)| *total += sum);
    }
    total
}

fn starts(rows: usize, step: usize) -> Vec<usize> {
    (0..rows).step_by(step).collect()
}

/// Some rows of a view in double precision.
fn widened(batch: &FeatureBatch, view: usize, rows: &Range<usize>) -> Vec<f64> {
    let width = batch.widths()[view];
    batch.view(view)[rows.start * width..rows.end * width].iter().map(|&x| f64::from(x)).collect()
}

fn row_major(cells: &[f64], rows: usize, columns: usize) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(cells, rows, columns)
}

fn row_major_mut(cells: &mut [f64], rows: usize, columns: usize) -> MatMut<'_, f64> {
    MatMut::from_row_major_slice_mut(cells, rows, columns)
}

/// Adds a product, on this thread.
fn multiply(sum: MatMut<'_, f64>, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
    matmul(sum, Accum::Add, left, right, 1.0, Par::Seq);
}
