//! Where each sum of a moment state lies.
//!
//! A block of rows is one flat vector of sums. Adding two blocks is adding two vectors, deleting a block
//! for the jackknife is subtracting one; only this table knows what the numbers are.

use crate::views::VIEWS;

/// One named array inside a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name, as it stands in a file.
    pub name: String,
    /// Its shape, slowest index first.
    pub shape: Vec<usize>,
    /// Where it begins in the block.
    pub offset: usize,
}

impl Part {
    /// The number of its cells.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it has no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its cells inside a block.
    pub fn of<'a>(&self, block: &'a [f64]) -> &'a [f64] {
        &block[self.offset..self.offset + self.len()]
    }

    /// Its cells inside a block, to be changed.
    pub fn of_mut<'a>(&self, block: &'a mut [f64]) -> &'a mut [f64] {
        &mut block[self.offset..self.offset + self.len()]
    }
}

/// The arrays of a block for `k` classes and features of `q` dimensions a view.
///
/// `u_v` are a view's features with their leading one, `f_v` its loss terms, `p` the class posterior that the
/// feature map implies from all views and `p_-v` from the views other than `v`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Number of rows.
    pub rows: Part,
    /// Sums of `A`, `A^2`, `sum_j p_j L(x, j)`, `sum_j p_j L(x, j)^2` and `sum_v |f_v|^2`.
    pub loss: Part,
    /// `u_1 (x) u_2 (x) u_3`.
    pub tensor: Part,
    /// `u_v (x) u_v`, for each view.
    pub gram: [Part; VIEWS],
    /// `p (x) u_v`, for each view: the start from the model's own posterior.
    pub posterior: [Part; VIEWS],
    /// `f_v (x) u_a`, for each view `v` and each of the two views `a` other than `v`, in order.
    pub cross: [[Part; 2]; VIEWS],
    /// `p_-v (x) u_v`, for each view: calibrates the pair surrogate.
    pub pair_features: [Part; VIEWS],
    /// `p_-v (x) f_v`, for each view: what the pair surrogate labels.
    pub pair_terms: [Part; VIEWS],
    /// The length of a block.
    pub len: usize,
}

/// The two views other than `view`, in order.
pub fn others(view: usize) -> [usize; 2] {
    match view {
        0 => [1, 2],
        1 => [0, 2],
        _ => [0, 1],
    }
}

impl Layout {
    /// The layout for `k` classes and features of these dimensions, leading one included.
    pub fn new(k: usize, q: [usize; VIEWS]) -> Self {
        let mut len = 0;
        let mut part = |name: String, shape: Vec<usize>| {
            let part = Part { name, shape, offset: len };
            len += part.len();
            part
        };
        Self {
            rows: part("rows".into(), vec![1]),
            loss: part("loss".into(), vec![5]),
            tensor: part("tensor".into(), q.to_vec()),
            gram: std::array::from_fn(|v| part(format!("gram.{v}"), vec![q[v], q[v]])),
            posterior: std::array::from_fn(|v| part(format!("posterior.{v}"), vec![k, q[v]])),
            cross: std::array::from_fn(|v| others(v).map(|a| part(format!("cross.{v}.{a}"), vec![k, q[a]]))),
            pair_features: std::array::from_fn(|v| part(format!("pair_features.{v}"), vec![k, q[v]])),
            pair_terms: std::array::from_fn(|v| part(format!("pair_terms.{v}"), vec![k, k])),
            len,
        }
    }

    /// All parts, in the order of the block.
    pub fn parts(&self) -> Vec<&Part> {
        let mut parts = vec![&self.rows, &self.loss, &self.tensor];
        parts.extend(&self.gram);
        parts.extend(&self.posterior);
        parts.extend(self.cross.iter().flatten());
        parts.extend(&self.pair_features);
        parts.extend(&self.pair_terms);
        parts
    }
}
