//! Where each sum of a block lies.
//!
//! A block of rows is one flat vector of sums. Adding two blocks is adding two vectors, deleting a block
//! for the jackknife is subtracting one; only this table knows what the numbers are.

use crate::data::{VIEWS, others};
use crate::numeric::linalg::from_rows;
use faer::Mat;

/// One named array inside a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its name, as it stands in a file.
    pub(crate) name: String,
    /// Its shape, slowest index first.
    pub(crate) shape: Vec<usize>,
    /// Where it begins in the block.
    pub(crate) offset: usize,
}

impl Part {
    /// The number of its cells.
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it has no cells.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its cells inside a block.
    pub(crate) fn of<'a>(&self, block: &'a [f64]) -> &'a [f64] {
        &block[self.offset..self.offset + self.len()]
    }

    /// Its only cell.
    pub(crate) fn scalar(&self, block: &[f64]) -> f64 {
        self.of(block)[0]
    }

    /// Its cells inside a block, to be changed.
    pub(crate) fn of_mut<'a>(&self, block: &'a mut [f64]) -> &'a mut [f64] {
        &mut block[self.offset..self.offset + self.len()]
    }
}

/// The moments of one kind of features, `u_v`, and of the loss terms `f_t` with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Family {
    /// `u_1 (x) u_2 (x) u_3`; of the leading ones alone where it is not formed.
    pub(crate) tensor: Part,
    /// Where the third moment is not formed: `u_a (x) u_b` for the two views `a`, `b` other than each one, in order.
    pub(crate) pairs: Option<[Part; VIEWS]>,
    /// `u_v (x) u_v`, for each group of views.
    pub(crate) gram: [Part; VIEWS],
    /// `f_t (x) u_a`, for each holder `t` of terms and each of the two groups `a` other than its own, in order; none for bins
    /// without a third moment.
    pub(crate) cross: Vec<[Part; 2]>,
}

impl Family {
    /// The sums of `u_a u_b^T` for the two views other than `third`, in order.
    pub(crate) fn pair(&self, third: usize, sums: &[f64]) -> Mat<f64> {
        let [a, b] = others(third);
        let [rows, columns] = [a, b].map(|v| self.gram[v].shape[0]);
        if let Some(pairs) = &self.pairs {
            return from_rows(pairs[third].of(sums), rows, columns);
        }
        // The slice of the third moment at the third view's leading one.
        let (cells, [_, d2, d3]) = (self.tensor.of(sums), [0, 1, 2].map(|v| self.tensor.shape[v]));
        Mat::from_fn(rows, columns, |i, j| {
            let mut at = [0; VIEWS];
            (at[a], at[b]) = (i, j);
            cells[(at[0] * d2 + at[1]) * d3 + at[2]]
        })
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        let pairs = self.pairs.iter().flatten();
        [&self.tensor].into_iter().chain(pairs).chain(&self.gram).chain(self.cross.iter().flatten())
    }
}

/// The arrays of a block.
///
/// `u_v` are the features of a group of views with their leading one, `b_v` its bins with theirs, `f_t` the loss terms
/// of a view or, where the loss is a product, of a group, cut where they are, `p` the class posterior that the feature map implies from all
/// groups and `p_-v` from the groups other than `v`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The group of each holder of terms: each view, or each group.
    pub(crate) holders: Vec<usize>,
    /// The class of each latent state that posteriors are of.
    pub(crate) classes: Vec<usize>,
    /// How many latent states each class has, where that is given.
    pub(crate) counts: Option<Vec<usize>>,
    /// Number of rows.
    pub(crate) rows: Part,
    /// Number of rows in which each view is missing.
    pub(crate) missing: Part,
    /// The sum of `A`.
    pub(crate) offset: Part,
    /// That of each view's own `A`, over the rows that have the view; none where views are not judged by themselves.
    pub(crate) alone: Part,
    /// That of `min_j L(x, j)`: no labels could make the risk smaller.
    pub(crate) least_loss: Part,
    /// That of `sum_t |f_t|^2`.
    pub(crate) squared_terms: Part,
    /// That of `l = sum_j p_j L(x, j)^2`, and of `l^2`: how many rows make up the squares of a heavy-tailed loss.
    pub(crate) squared_loss: Part,
    pub(crate) squared_loss_squared: Part,
    /// The moments of the features, from which the answer is made.
    pub(crate) features: Family,
    /// `p (x) u_v`, for each group: the start from the model's own posterior.
    pub(crate) posterior: [Part; VIEWS],
    /// `p_-v (x) u_v`, for each group: calibrates the pair surrogate.
    pub(crate) pair_features: [Part; VIEWS],
    /// `p_-v (x) f_t`, for each holder of terms, `v` its group: what the pair surrogate labels.
    pub(crate) pair_terms: Vec<Part>,
    /// `f_t (x) p`, for each holder of terms, `p` of classes: what the posterior of all groups labels.
    pub(crate) posterior_terms: Vec<Part>,
    /// `(f_t - c_t)_+ (x) p`, for each holder, where the terms are cut at ceilings `c_t`: what was cut off, labelled by the
    /// posterior.
    pub(crate) tails: Vec<Part>,
    /// The moments of the bins, on which the answer's assumption is tested.
    pub(crate) bins: Family,
    /// `b_v (x) u_a`, for each group `v` and each of the two groups `a` other than `v`: the bins' class means.
    pub(crate) bins_features: [[Part; 2]; VIEWS],
    /// The length of a block.
    pub(crate) len: usize,
}

/// What holds the terms of a loss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Terms {
    /// The group of each holder.
    pub(crate) holders: Vec<usize>,
    /// How many terms each holds.
    pub(crate) each: usize,
    /// Whether they are cut.
    pub(crate) cut: bool,
}

/// What a layout follows from.
pub(crate) struct Dimensions {
    /// The number of input views.
    pub(crate) views: usize,
    /// Whether each of them is judged by itself.
    pub(crate) each: bool,
    /// The number of classes.
    pub(crate) k: usize,
    /// The class of each latent state.
    pub(crate) classes: Vec<usize>,
    /// How many of them each class has, where that is given.
    pub(crate) counts: Option<Vec<usize>>,
    pub(crate) terms: Terms,
    /// Of each group's features, the leading one included.
    pub(crate) features: [usize; VIEWS],
    /// Of each group's bins, the leading one included.
    pub(crate) bins: [usize; VIEWS],
    /// Whether third moments are formed, as they are but for many classes.
    pub(crate) third_moment: bool,
}

impl Layout {
    /// The layout for these dimensions.
    pub(crate) fn new(dimensions: Dimensions) -> Self {
        let Dimensions { views, each, k, classes, counts, terms, features, bins, third_moment } = dimensions;
        let Terms { holders, each: terms, cut } = terms;
        let mut len = 0;
        let mut part = |name: String, shape: Vec<usize>| {
            let part = Part { name, shape, offset: len };
            len += part.len();
            part
        };
        let mut family = |prefix: &str, q: [usize; VIEWS], formed: bool, with_terms: bool| Family {
            tensor: part(format!("{prefix}tensor"), if formed { q.to_vec() } else { vec![1; VIEWS] }),
            pairs: (!formed).then(|| {
                std::array::from_fn(|v| {
                    let [a, b] = others(v);
                    part(format!("{prefix}pair.{a}.{b}"), vec![q[a], q[b]])
                })
            }),
            gram: std::array::from_fn(|v| part(format!("{prefix}gram.{v}"), vec![q[v], q[v]])),
            cross: holders
                .iter()
                .enumerate()
                .filter(|_| with_terms)
                .map(|(t, &v)| others(v).map(|a| part(format!("{prefix}cross.{t}.{a}"), vec![terms, q[a]])))
                .collect(),
        };
        let states = classes.len();
        let of_features = family("", features, third_moment, true);
        // Without their third moment bins say nothing of the risk.
        let of_bins = family("bins.", bins, third_moment, third_moment);
        let q = features;
        Self {
            rows: part("rows".into(), vec![1]),
            missing: part("missing".into(), vec![views]),
            offset: part("offset".into(), vec![1]),
            alone: part("alone".into(), vec![if each { views } else { 0 }]),
            least_loss: part("least_loss".into(), vec![1]),
            squared_terms: part("squared_terms".into(), vec![1]),
            squared_loss: part("squared_loss".into(), vec![1]),
            squared_loss_squared: part("squared_loss_squared".into(), vec![1]),
            features: of_features,
            posterior: std::array::from_fn(|v| part(format!("posterior.{v}"), vec![states, q[v]])),
            pair_features: std::array::from_fn(|v| part(format!("pair_features.{v}"), vec![states, q[v]])),
            pair_terms: (0..holders.len())
                .map(|t| part(format!("pair_terms.{t}"), vec![states, terms]))
                .collect(),
            posterior_terms: (0..holders.len())
                .map(|t| part(format!("posterior_terms.{t}"), vec![terms, k]))
                .collect(),
            tails: (0..holders.len())
                .map(|t| part(format!("tails.{t}"), vec![if cut { terms } else { 0 }, k]))
                .collect(),
            bins: of_bins,
            bins_features: std::array::from_fn(|v| {
                others(v).map(|a| part(format!("bins.features.{v}.{a}"), vec![bins[v], q[a]]))
            }),
            len,
            holders,
            classes,
            counts,
        }
    }

    /// All parts.
    pub(crate) fn parts(&self) -> Vec<&Part> {
        let mut parts = vec![&self.rows, &self.missing, &self.offset, &self.least_loss, &self.squared_terms];
        parts.extend([&self.squared_loss, &self.squared_loss_squared]);
        parts.extend(Some(&self.alone).filter(|part| !part.is_empty()));
        parts.extend(self.features.parts());
        parts.extend(&self.posterior);
        parts.extend(&self.pair_features);
        parts.extend(&self.pair_terms);
        parts.extend(&self.posterior_terms);
        parts.extend(self.tails.iter().filter(|part| !part.is_empty()));
        parts.extend(self.bins.parts());
        parts.extend(self.bins_features.iter().flatten());
        parts
    }
}
