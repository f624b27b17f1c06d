//! Linear scores of feature rows, and their transpose: the two products that learning spends its time in.
//!
//! Parameters lie in one vector `theta`: for each view the weights, feature by feature with those of one feature's
//! classes together, then the biases of the classes.

use super::cells::{Cells, Sparse};
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
    pub(crate) fn add_scores(&self, weights: &[f64], cells: &Cells, row: usize, scores: &mut [f64]) {
        let mut add = |weights: &[f64], x: f64| {
            scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += weight * x);
        };
        match cells {
            Cells::Dense(features) => {
                let width = weights.len() / self.classes;
                let features = &features[row * width..(row + 1) * width];
                for (weights, &x) in weights.chunks_exact(self.classes).zip(features) {
                    if x != 0.0 {
                        add(weights, f64::from(x));
                    }
                }
            }
            Cells::Sparse(sparse) => {
                sparse.held(row).for_each(|(at, x)| add(&weights[at * self.classes..][..self.classes], x));
                let centre = sparse.centre().into_iter().flatten();
                weights
                    .chunks_exact(self.classes)
                    .zip(centre)
                    .for_each(|(weights, centre)| add(weights, -centre));
            }
        }
    }

    /// The transpose: adds the products of a view's features and numbers of the classes to the weights' sums.
    pub(crate) fn add_products(&self, sums: &mut [f64], cells: &Cells, row: usize, of_classes: &[f64]) {
        let add = |sums: &mut [f64], x: f64| {
            sums.iter_mut().zip(of_classes).for_each(|(sum, r)| *sum += r * x);
        };
        match cells {
            Cells::Dense(features) => {
                let width = sums.len() / self.classes;
                let features = &features[row * width..(row + 1) * width];
                for (sums, &x) in sums.chunks_exact_mut(self.classes).zip(features) {
                    if x != 0.0 {
                        add(sums, f64::from(x));
                    }
                }
            }
            Cells::Sparse(sparse) => {
                sparse.held(row).for_each(|(at, x)| add(&mut sums[at * self.classes..][..self.classes], x));
                let centre = sparse.centre().into_iter().flatten();
                sums.chunks_exact_mut(self.classes).zip(centre).for_each(|(sums, centre)| add(sums, -centre));
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
        let mut bias = bias.to_vec();
        self.add_centre(batch.cells(view), weights, &mut bias);
        let chunks: Vec<Vec<f64>> = starts(batch.rows(), CHUNK)
            .into_par_iter()
            .map(|start| {
                let rows = start..batch.rows().min(start + CHUNK);
                let mut scores = bias.repeat(rows.len());
                match batch.cells(view) {
                    Cells::Sparse(sparse) => self.add_held_scores(sparse, rows, weights, &mut scores),
                    Cells::Dense(_) => {
                        let features = widened(batch, view, &rows);
                        multiply(
                            row_major_mut(&mut scores, rows.len(), k),
                            row_major(&features, rows.len(), width),
                            row_major(weights, width, k),
                        );
                    }
                }
                scores
            })
            .collect();
        chunks.concat()
    }

    /// Adds to the scores of any row what the centre of its features says, where they have one.
    fn add_centre(&self, cells: &Cells, weights: &[f64], scores: &mut [f64]) {
        for (weights, centre) in weights.chunks_exact(self.classes).zip(centre_of(cells)) {
            scores.iter_mut().zip(weights).for_each(|(score, weight)| *score -= centre * weight);
        }
    }

    /// Adds to the scores of some rows what the numbers that are held say.
    fn add_held_scores(&self, sparse: &Sparse, rows: Range<usize>, weights: &[f64], scores: &mut [f64]) {
        let k = self.classes;
        for (row, scores) in rows.zip(scores.chunks_exact_mut(k)) {
            for (at, x) in sparse.held(row) {
                let weights = &weights[at * k..(at + 1) * k];
                scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += weight * x);
            }
        }
    }

    /// Adds to the weights' sums the products of the numbers that are held and of numbers of the classes, row by row.
    fn add_held_products(&self, sparse: &Sparse, rows: Range<usize>, of_classes: &[f64], sums: &mut [f64]) {
        let k = self.classes;
        for (row, of_classes) in rows.zip(of_classes.chunks_exact(k)) {
            for (at, x) in sparse.held(row) {
                let sums = &mut sums[at * k..(at + 1) * k];
                sums.iter_mut().zip(of_classes).for_each(|(sum, r)| *sum += r * x);
            }
        }
    }

    /// Adds to the weights' sums the products of the centre and of the sums of the numbers of the classes.
    fn add_centre_products(&self, cells: &Cells, total: &[f64], sums: &mut [f64]) {
        for (sums, centre) in sums.chunks_exact_mut(self.classes).zip(centre_of(cells)) {
            sums.iter_mut().zip(total).for_each(|(sum, total)| *sum -= centre * total);
        }
    }

    /// One pass over a batch: for each row `of_row` is given its summed scores, which it replaces by what the scores are
    /// to be weighed by; it may also add to `extra` sums of its own. Returns the sums over rows of the weights times the
    /// features, in the places of the parameters, then the others.
    ///
    /// Products with features that are held with their zeros are in single precision, sums of them in double: features should
    /// be standardised. It is where learning spends its time, and twice as fast.
    pub(crate) fn pass(
        &self,
        batch: &FeatureBatch,
        theta: &[f64],
        extra: usize,
        of_row: impl Fn(&mut [f64], &mut [f64]) + Sync,
    ) -> Vec<f64> {
        let k = self.classes;
        let single: Vec<f32> = theta.iter().map(|&x| x as f32).collect();
        // The biases are in double precision as soon as some products are.
        let any_sparse = (0..batch.views()).any(|view| matches!(batch.cells(view), Cells::Sparse(_)));
        let (mut wide_bias, mut single_bias) = (vec![0.0; k], vec![0.0; k]);
        if any_sparse {
            wide_bias.copy_from_slice(&theta[self.bias()]);
        } else {
            single_bias.copy_from_slice(&single[self.bias()]);
        }
        for view in 0..batch.views() {
            self.add_centre(batch.cells(view), &theta[self.weights(view)], &mut wide_bias);
        }
        let mut total = sum_tasks(batch.rows(), self.len() + extra, |rows, sums| {
            let mut scores = single_bias.repeat(rows.len());
            let mut wide = wide_bias.repeat(rows.len());
            for view in 0..batch.views() {
                match batch.cells(view) {
                    Cells::Sparse(sparse) => {
                        self.add_held_scores(sparse, rows.clone(), &theta[self.weights(view)], &mut wide);
                    }
                    Cells::Dense(features) => {
                        let width = self.widths[view];
                        let weights = MatRef::from_row_major_slice(&single[self.weights(view)], width, k);
                        let scores = MatMut::from_row_major_slice_mut(&mut scores, rows.len(), k);
                        matmul(scores, Accum::Add, of_rows(features, &rows, width), weights, 1.0, Par::Seq);
                    }
                }
            }
            let (parameters, others) = sums.split_at_mut(self.len());
            for (scores, of_classes) in scores.chunks_exact_mut(k).zip(wide.chunks_exact_mut(k)) {
                of_classes.iter_mut().zip(&*scores).for_each(|(wide, score)| *wide += f64::from(*score));
                of_row(of_classes, others);
                parameters[self.bias()].iter_mut().zip(&*of_classes).for_each(|(sum, r)| *sum += *r);
                scores.iter_mut().zip(&*of_classes).for_each(|(score, wide)| *score = *wide as f32);
            }
            let residuals = MatRef::from_row_major_slice(&scores, rows.len(), k);
            for view in 0..batch.views() {
                let sums = &mut parameters[self.weights(view)];
                match batch.cells(view) {
                    Cells::Sparse(sparse) => self.add_held_products(sparse, rows.clone(), &wide, sums),
                    Cells::Dense(features) => {
                        let width = self.widths[view];
                        let mut products = vec![0.0; width * k];
                        let into = MatMut::from_row_major_slice_mut(&mut products, width, k);
                        let features = of_rows(features, &rows, width);
                        matmul(into, Accum::Replace, features.transpose(), residuals, 1.0, Par::Seq);
                        sums.iter_mut().zip(&products).for_each(|(sum, product)| *sum += f64::from(*product));
                    }
                }
            }
        });
        let of_bias = total[self.bias()].to_vec();
        for view in 0..batch.views() {
            self.add_centre_products(batch.cells(view), &of_bias, &mut total[self.weights(view)]);
        }
        total
    }

    /// The sums over rows of each view's features times numbers of the classes, `of_view[v][row * k + class]`, in the
    /// places of the weights; the places of the biases are left at zero.
    pub(crate) fn products(&self, batch: &FeatureBatch, of_view: &[Vec<f64>]) -> Vec<f64> {
        let k = self.classes;
        let mut total = sum_tasks(batch.rows(), self.len(), |rows, sums| {
            for (view, numbers) in of_view.iter().enumerate() {
                let numbers = &numbers[rows.start * k..rows.end * k];
                let sums = &mut sums[self.weights(view)];
                match batch.cells(view) {
                    Cells::Sparse(sparse) => self.add_held_products(sparse, rows.clone(), numbers, sums),
                    Cells::Dense(_) => {
                        let features = widened(batch, view, &rows);
                        let x = row_major(&features, rows.len(), self.widths[view]);
                        let numbers = row_major(numbers, rows.len(), k);
                        multiply(row_major_mut(sums, self.widths[view], k), x.transpose(), numbers);
                    }
                }
            }
        });
        for (view, numbers) in of_view.iter().enumerate() {
            let mut of_classes = vec![0.0; k];
            for numbers in numbers.chunks_exact(k) {
                of_classes.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
            }
            self.add_centre_products(batch.cells(view), &of_classes, &mut total[self.weights(view)]);
        }
        total
    }
}

/// What is to be taken from each feature of every row; nothing where they are not centred.
fn centre_of(cells: &Cells) -> &[f64] {
    match cells {
        Cells::Sparse(sparse) => sparse.centre().unwrap_or_default(),
        Cells::Dense(_) => &[],
    }
}

/// Some rows of features.
fn of_rows<'a>(features: &'a [f32], rows: &Range<usize>, width: usize) -> MatRef<'a, f32> {
    MatRef::from_row_major_slice(&features[rows.start * width..rows.end * width], rows.len(), width)
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
    let features = batch.cells(view).rows(batch.widths()[view], rows.clone());
    features.iter().map(|&x| f64::from(x)).collect()
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
