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

/// The moments of one kind of features, `u_v`, and of the loss terms `f_v` with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// `u_1 (x) u_2 (x) u_3`.
    pub tensor: Part,
    /// `u_v (x) u_v`, for each view.
    pub gram: [Part; VIEWS],
    /// `f_v (x) u_a`, for each view `v` and each of the two views `a` other than `v`, in order.
    pub cross: [[Part; 2]; VIEWS],
}

impl Family {
    fn parts(&self) -> impl Iterator<Item = &Part> {
        [&self.tensor].into_iter().chain(&self.gram).chain(self.cross.iter().flatten())
    }
}

/// The arrays of a block.
///
/// `u_v` are a view's features with their leading one, `b_v` its bins with theirs, `f_v` its loss terms, cut where they are, `p` the
/// class posterior that the feature map implies from all views and `p_-v` from the views other than `v`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Number of rows.
    pub rows: Part,
    /// Sums of `A`, `A^2`, `sum_j p_j L(x, j)`, `sum_j p_j L(x, j)^2`, `sum_v |f_v|^2` and `min_j L(x, j)`.
    pub loss: Part,
    /// The moments of the features, from which the answer is made.
    pub features: Family,
    /// `p (x) u_v`, for each view: the start from the model's own posterior.
    pub posterior: [Part; VIEWS],
    /// `p_-v (x) u_v`, for each view: calibrates the pair surrogate.
    pub pair_features: [Part; VIEWS],
    /// `p_-v (x) f_v`, for each view: what the pair surrogate labels.
    pub pair_terms: [Part; VIEWS],
    /// `(f_v - c_v)_+ (x) p`, for each view, where the terms are cut at ceilings `c_v`: what was cut off, labelled by the
    /// posterior.
    pub tails: [Part; VIEWS],
    /// The moments of the bins, on which the answer's assumption is tested.
    pub bins: Family,
    /// `b_v (x) u_a`, for each view `v` and each of the two views `a` other than `v`: the bins' class means.
    pub bins_features: [[Part; 2]; VIEWS],
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
    /// The layout for `k` classes, a loss of so many terms a view, cut or not, and features and bins of these dimensions, leading
    /// ones included.
    pub fn new(k: usize, terms: usize, cut: bool, features: [usize; VIEWS], bins: [usize; VIEWS]) -> Self {
        let mut len = 0;
        let mut part = |name: String, shape: Vec<usize>| {
            let part = Part { name, shape, offset: len };
            len += part.len();
            part
        };
        let mut family = |prefix: &str, q: [usize; VIEWS]| Family {
            tensor: part(format!("{prefix}tensor"), q.to_vec()),
            gram: std::array::from_fn(|v| part(format!("{prefix}gram.{v}"), vec![q[v], q[v]])),
            cross: std::array::from_fn(|v| {
                others(v).map(|a| part(format!("{prefix}cross.{v}.{a}"), vec![terms, q[a]]))
            }),
        };
        let (of_features, of_bins) = (family("", features), family("bins.", bins));
        let q = features;
        Self {
            rows: part("rows".into(), vec![1]),
            loss: part("loss".into(), vec![6]),
            features: of_features,
            posterior: std::array::from_fn(|v| part(format!("posterior.{v}"), vec![k, q[v]])),
            pair_features: std::array::from_fn(|v| part(format!("pair_features.{v}"), vec![k, q[v]])),
            pair_terms: std::array::from_fn(|v| part(format!("pair_terms.{v}"), vec![k, terms])),
            tails: std::array::from_fn(|v| part(format!("tails.{v}"), vec![if cut { terms } else { 0 }, k])),
            bins: of_bins,
            bins_features: std::array::from_fn(|v| {
                others(v).map(|a| part(format!("bins.features.{v}.{a}"), vec![bins[v], q[a]]))
            }),
            len,
        }
    }

    /// All parts.
    pub fn parts(&self) -> Vec<&Part> {
        let mut parts = vec![&self.rows, &self.loss];
        parts.extend(self.features.parts());
        parts.extend(&self.posterior);
        parts.extend(&self.pair_features);
        parts.extend(&self.pair_terms);
        parts.extend(self.tails.iter().filter(|part| !part.is_empty()));
        parts.extend(self.bins.parts());
        parts.extend(self.bins_features.iter().flatten());
        parts
    }
}
