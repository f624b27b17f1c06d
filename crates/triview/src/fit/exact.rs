//! A population whose moments are known exactly: three views that take a few values each, independent given the class.

use crate::data::{VIEWS, others};
use crate::moments::{Family, Part};
use faer::Mat;

/// Features of a view are a leading one and indicators of all its values but the first.
pub(crate) struct Exact {
    pub(crate) prior: Vec<f64>,
    /// For each view the class means of its features, one column a class.
    pub(crate) means: [Mat<f64>; VIEWS],
    pub(crate) family: Family,
    /// The moments of a thousand rows that are distributed as the population is.
    pub(crate) sums: Vec<f64>,
}

const ROWS: f64 = 1000.0;

impl Exact {
    /// So many classes, and so many values of each view.
    pub(crate) fn new(k: usize, values: [usize; VIEWS]) -> Self {
        let wave = |at: usize| 1.2 + (at as f64 * 2.3 + 0.7).sin();
        let weights: Vec<f64> = (0..k).map(wave).collect();
        let total: f64 = weights.iter().sum();
        let prior: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let means: [Mat<f64>; VIEWS] = std::array::from_fn(|v| {
            // Each class prefers a value of its own.
            let weight =
                |x: usize, j: usize| wave(7 * v + 3 * x + 5 * j) + if x % k == j { 4.0 } else { 0.0 };
            let column = |j: usize| (0..values[v]).map(|x| weight(x, j)).sum::<f64>();
            Mat::from_fn(values[v], k, |x, j| if x == 0 { 1.0 } else { weight(x, j) / column(j) })
        });
        let mut len = 0;
        let mut part = |shape: Vec<usize>| {
            let part = Part { name: String::new(), shape, offset: len };
            len += part.len();
            part
        };
        let family = Family {
            tensor: part(values.to_vec()),
            pairs: None,
            gram: std::array::from_fn(|v| part(vec![values[v]; 2])),
            cross: (0..VIEWS).map(|v| others(v).map(|a| part(vec![values[v], values[a]]))).collect(),
        };
        let mut sums = vec![0.0; len];
        let mixed =
            |of: &dyn Fn(usize) -> f64| ROWS * prior.iter().enumerate().map(|(j, p)| p * of(j)).sum::<f64>();
        let [d1, d2, d3] = values;
        for at in 0..d1 * d2 * d3 {
            let (a, b, c) = (at / (d2 * d3), at / d3 % d2, at % d3);
            family.tensor.of_mut(&mut sums)[at] =
                mixed(&|j| means[0][(a, j)] * means[1][(b, j)] * means[2][(c, j)]);
        }
        for v in 0..VIEWS {
            let d = values[v];
            for at in 0..d * d {
                let (a, b) = (at / d, at % d);
                // Indicators of different values are never one together.
                let joint = |j: usize| match (a, b) {
                    (0, x) | (x, 0) => means[v][(x, j)],
                    (x, y) => {
                        if x == y {
                            means[v][(x, j)]
                        } else {
                            0.0
                        }
                    }
                };
                family.gram[v].of_mut(&mut sums)[at] = mixed(&joint);
            }
            for (part, other) in family.cross[v].iter().zip(others(v)) {
                for at in 0..part.len() {
                    let (x, y) = (at / values[other], at % values[other]);
                    part.of_mut(&mut sums)[at] = mixed(&|j| means[v][(x, j)] * means[other][(y, j)]);
                }
            }
        }
        Self { prior, means, family, sums }
    }
}
