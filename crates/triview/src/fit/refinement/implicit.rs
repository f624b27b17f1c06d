//! The squared distance without the third moment.
//!
//! With whitened features `u_v` of the rows and the mixture's class means `U_v`,
//!
//! ```text
//!     1/2 |T - M|^2 = 1/2 |T|^2 - mean over rows of sum_j pi_j prod_v <u_v, U_vj>
//!                     + 1/2 sum_ij pi_i pi_j prod_v <U_vi, U_vj>,
//! ```
//!
//! so that value and gradient take products of the rows with `k x k` matrices, and nothing of size `k^3` is formed.
//! The first term does not depend on the mixture and is left out. For the second derivative stands `J^T J`, with the
//! Jacobian `J` of the mixture's moments (the Gauss-Newton method), which takes inner products of class means only.
//!
//! Whitened features of many classes are far from normal: a view that knows the class has one feature of the order of
//! `sqrt(k)`, and a cell of the third moment as much more noise than one of the second. So the features are scaled down,
//! the leading one apart, until the class means are of length one, which weighs second moments against third as their
//! noise asks for.

use super::newton::{Curve, Preconditioner, conjugate_gradients, polish};
use super::point::{Expansion, Shape, change_of_mixture, gram, inner, product};
use super::pull::Pull;
use super::{Misfit, Refined};
use crate::data::{VIEWS, others};
use crate::fit::Mixture;
use crate::interrupt;
use crate::moments::{Chunk, FeatureRows};
use crate::numeric::linalg::dot;
use crate::settings::implicit::{MOST_ITERATIONS, OF_SAMPLING};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

/// The distance and its [`Pull`], less half the squared length of the moments, as a function of a point.
pub(crate) struct Implicit<'a> {
    features: &'a FeatureRows,
    rows: f64,
    /// For each view what whitened features are scaled by.
    scale: [f64; VIEWS],
    /// For each view the map from plain to scaled features.
    maps: [Mat<f64>; VIEWS],
    pull: Pull,
}

/// What is known of the rows of some blocks at a mixture.
struct Data {
    rows: f64,
    /// The sum of `sum_j pi_j prod_v <u_v, U_vj>`.
    value: f64,
    /// For each view and class the sum of `u_v` times the other views' `<u, U_j>`, in plain features.
    contracted: [Mat<f64>; VIEWS],
}

impl<'a> Implicit<'a> {
    /// From the features of all rows, the map of each view that whitens them, class means that are about right, and
    /// how strongly the fit is drawn to those.
    pub(crate) fn new(
        features: &'a FeatureRows,
        maps: &[Mat<f64>; VIEWS],
        centre: Mixture,
        strength: f64,
    ) -> Self {
        let scale = std::array::from_fn(|v| {
            let squared = dot(&column_products(&centre.means[v], &centre.means[v]), &centre.prior) - 1.0;
            if squared > 1.0 { 1.0 / squared.sqrt() } else { 1.0 }
        });
        let maps = std::array::from_fn(|v| {
            let map = &maps[v];
            let weigh = |i: usize, j: usize| if i == 0 { map[(i, j)] } else { scale[v] * map[(i, j)] };
            Mat::from_fn(map.nrows(), map.ncols(), weigh)
        });
        let rows = features.blocks.iter().flatten().map(|chunk| chunk.rows).sum::<usize>() as f64;
        Self { features, rows, scale, maps, pull: Pull::new(centre.scaled(scale), strength, rows) }
    }

    /// The fit to all rows, from the class means that it is drawn to.
    pub(crate) fn refine(&self) -> Refined {
        let start = self.shape().pack(self.pull.centre());
        let fine = polish(self, start, self.tolerance(), MOST_ITERATIONS);
        Refined {
            mixture: self.unscaled(&fine.point),
            objective: fine.value,
            iterations: fine.iterations,
            converged: fine.converged,
        }
    }

    /// The fits to all rows but those of each block: one step from the fit to all.
    pub(crate) fn without_blocks(&self, fitted: &Mixture) -> Vec<Mixture> {
        let point = self.shape().pack(&fitted.scaled(self.scale));
        let mixture = self.shape().unpack(&point);
        let blocks = self.read(&mixture);
        let at = self.expansion(mixture, &sum(&blocks));
        let curve = self.curve(&at);
        let preconditioner = Preconditioner::parts(&curve);
        (0..blocks.len())
            .into_par_iter()
            .map(|left_out| {
                let others = blocks.iter().enumerate().filter(|(at, _)| *at != left_out);
                let left = self.expansion(at.mixture.clone(), &sum(others.map(|(_, block)| block)));
                let (step, _) = conjugate_gradients(&curve, &left.gradient, &preconditioner);
                self.unscaled(&point.iter().zip(&step).map(|(x, step)| x + step).collect::<Vec<f64>>())
            })
            .collect()
    }

    /// How large an entry of a vanishing gradient may be. An entry is the mean over rows of a class's prior times a scaled
    /// feature times two numbers that are about one within the class, so by sampling alone it is some
    /// `scale / (k^(3/2) sqrt(n))`.
    fn tolerance(&self) -> f64 {
        let (k, n) = (self.shape().k as f64, self.rows);
        let smallest = self.scale.iter().copied().fold(1.0, f64::min);
        OF_SAMPLING * smallest / (k.powf(1.5) * n.sqrt())
    }

    /// The mixture of a point in whitened features.
    fn unscaled(&self, point: &[f64]) -> Mixture {
        self.shape().unpack(point).scaled(self.scale.map(|scale| 1.0 / scale))
    }

    /// Reads all rows. Each block is summed by one thread in order: any number of threads gives the same bits.
    fn read(&self, mixture: &Mixture) -> Vec<Data> {
        // <u, U_j> from plain features.
        let plain: [Mat<f64>; VIEWS] = std::array::from_fn(|v| inner(&self.maps[v], &mixture.means[v]));
        let of_block = |chunks: &Vec<Chunk>| {
            let contracted = plain.each_ref().map(|plain| Mat::zeros(plain.nrows(), plain.ncols()));
            let mut data = Data { rows: 0.0, value: 0.0, contracted };
            for chunk in chunks {
                interrupt::check();
                data.add(chunk, &plain, &mixture.prior);
            }
            data
        };
        self.features.blocks.par_iter().map(of_block).collect()
    }

    /// What is known at a mixture, given the sums over some rows.
    fn expansion(&self, mixture: Mixture, sums: &Data) -> Expansion<[Mat<f64>; VIEWS]> {
        let (prior, means) = (&mixture.prior, &mixture.means);
        let k = prior.len();
        let grams = means.each_ref().map(gram);
        let cell =
            |i: usize, j: usize| prior[i] * prior[j] * grams.iter().map(|g| g[(i, j)]).product::<f64>();
        let squared: f64 = (0..k * k).map(|at| cell(at % k, at / k)).sum();
        let (penalty, pulled) = self.pull.expand(means);
        let slopes = std::array::from_fn(|v| {
            let [a, b] = others(v).map(|a| &grams[a]);
            let coupling = Mat::from_fn(k, k, |l, j| prior[l] * a[(l, j)] * b[(l, j)]);
            let moments = product(&self.maps[v], &sums.contracted[v]) * faer::Scale(1.0 / sums.rows);
            product(&means[v], &coupling) - moments
        });
        let gradient = pack_gradient(self.shape(), &mixture, slopes, &pulled);
        let value = 0.5 * squared - sums.value / sums.rows + penalty;
        Expansion { value, gradient, detail: grams, mixture }
    }
}

impl Misfit for Implicit<'_> {
    /// `U_v^T U_v` for each view.
    type Detail = [Mat<f64>; VIEWS];
    type Curve<'a>
        = GaussNewton<'a>
    where
        Self: 'a;

    fn shape(&self) -> Shape {
        Shape { dims: self.maps.each_ref().map(Mat::nrows), k: self.pull.centre().prior.len() }
    }

    fn expand(&self, point: &[f64]) -> Expansion<Self::Detail> {
        let mixture = self.shape().unpack(point);
        let sums = sum(&self.read(&mixture));
        self.expansion(mixture, &sums)
    }

    fn curve(&self, at: &Expansion<Self::Detail>) -> GaussNewton<'_> {
        GaussNewton {
            shape: self.shape(),
            mixture: at.mixture.clone(),
            grams: at.detail.clone(),
            pull: &self.pull,
        }
    }
}

/// `J^T J`, and the curvature of the pull.
pub(crate) struct GaussNewton<'a> {
    shape: Shape,
    mixture: Mixture,
    grams: [Mat<f64>; VIEWS],
    pull: &'a Pull,
}

impl Curve for GaussNewton<'_> {
    const PRECISION: f64 = 1e-8;

    fn apply(&self, direction: &[f64]) -> Vec<f64> {
        let Mixture { prior, means } = &self.mixture;
        let (d_prior, d_means) = self.shape.change(prior, direction);
        let changes = change_of_mixture((prior, means), &self.grams, (&d_prior, &d_means));
        pack_gradient(self.shape, &self.mixture, changes, &self.pull.curvature(&d_means))
    }

    fn place(&self) -> (Shape, &Mixture) {
        (self.shape, &self.mixture)
    }
}

/// The derivative in a point's entries from that of the distance, for each unit of prior, and that of the pull.
fn pack_gradient(
    shape: Shape,
    mixture: &Mixture,
    mut slopes: [Mat<f64>; VIEWS],
    pulled: &[Mat<f64>; VIEWS],
) -> Vec<f64> {
    let in_prior = column_products(&slopes[0], &mixture.means[0]);
    for (slopes, pulled) in slopes.iter_mut().zip(pulled) {
        for (j, prior) in mixture.prior.iter().enumerate() {
            let columns = slopes.col_as_slice_mut(j).iter_mut().zip(pulled.col_as_slice(j));
            columns.for_each(|(slope, pulled)| *slope += pulled / prior);
        }
    }
    shape.pack_gradient(&mixture.prior, &in_prior, &slopes)
}

/// `<A_j, B_j>` for each column.
fn column_products(a: &Mat<f64>, b: &Mat<f64>) -> Vec<f64> {
    (0..a.ncols()).map(|j| dot(a.col_as_slice(j), b.col_as_slice(j))).collect()
}

/// Sums over blocks, in order.
fn sum<'a>(blocks: impl IntoIterator<Item = &'a Data>) -> Data {
    let mut total = Data { rows: 0.0, value: 0.0, contracted: std::array::from_fn(|_| Mat::new()) };
    for block in blocks {
        total.rows += block.rows;
        total.value += block.value;
        for (sum, part) in total.contracted.iter_mut().zip(&block.contracted) {
            if sum.nrows() == 0 {
                *sum = part.clone();
            } else {
                *sum += part;
            }
        }
    }
    total
}

impl Data {
    /// Adds some rows; `plain` makes `<u, U_j>` of plain features.
    fn add(&mut self, chunk: &Chunk, plain: &[Mat<f64>; VIEWS], prior: &[f64]) {
        let (n, k) = (chunk.rows, prior.len());
        self.rows += n as f64;
        let features: [Vec<f64>; VIEWS] =
            chunk.features.each_ref().map(|columns| columns.iter().map(|&u| f64::from(u)).collect());
        let features: [MatRef<'_, f64>; VIEWS] =
            std::array::from_fn(|v| MatRef::from_column_major_slice(&features[v], n, plain[v].nrows()));
        let projected: [Mat<f64>; VIEWS] = std::array::from_fn(|v| {
            let mut out = Mat::zeros(n, k);
            matmul(out.as_mut(), Accum::Replace, features[v], &plain[v], 1.0, Par::Seq);
            out
        });
        for (j, prior) in prior.iter().enumerate() {
            let [a, b, c] = projected.each_ref().map(|view| view.col_as_slice(j));
            self.value += prior * (0..n).map(|row| a[row] * b[row] * c[row]).sum::<f64>();
        }
        let mut products = Mat::zeros(n, k);
        for v in 0..VIEWS {
            let [a, b] = others(v).map(|a| &projected[a]);
            for j in 0..k {
                let pairs = a.col_as_slice(j).iter().zip(b.col_as_slice(j));
                products.col_as_slice_mut(j).iter_mut().zip(pairs).for_each(|(out, (a, b))| *out = a * b);
            }
            let sums = self.contracted[v].as_mut();
            matmul(sums, Accum::Add, features[v].transpose(), &products, 1.0, Par::Seq);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::refinement::Objective;

    const DIMS: [usize; VIEWS] = [4, 3, 5];
    const K: usize = 3;

    /// Rows of three classes in turn, and a mixture not far from theirs; `size` is how far classes are apart.
    fn example(size: f64) -> (FeatureRows, Mixture) {
        let rows = 30;
        let mean = |v: usize, i: usize, j: usize| match i {
            0 => 1.0,
            _ => size * ((5 * v + 3 * i + 2 * j) as f64).cos(),
        };
        let feature = |v: usize, i: usize, row: usize| match i {
            0 => 1.0,
            _ => mean(v, i, row % K) + 0.2 * ((v * 37 + i * 11 + row * 7) as f64).sin(),
        };
        let chunk = |from: usize| {
            let columns: [Vec<f64>; VIEWS] = std::array::from_fn(|v| {
                (0..DIMS[v]).flat_map(|i| (from..from + rows).map(move |row| feature(v, i, row))).collect()
            });
            Chunk::new(rows, columns.each_ref().map(Vec::as_slice))
        };
        let kept = FeatureRows { blocks: vec![vec![chunk(0), chunk(30)], vec![chunk(60)], vec![chunk(90)]] };
        let means = std::array::from_fn(|v| Mat::from_fn(DIMS[v], K, |i, j| mean(v, i, j)));
        (kept, Mixture { prior: vec![0.2, 0.5, 0.3], means })
    }

    /// The third moment of the rows, in the features that the objective has the class means of.
    fn tensor(implicit: &Implicit<'_>) -> Vec<f64> {
        let [d1, d2, d3] = DIMS;
        let mut cells = vec![0.0; d1 * d2 * d3];
        let chunks = implicit.features.blocks.iter().flatten();
        let mut rows = 0.0;
        for (chunk, row) in chunks.flat_map(|chunk| (0..chunk.rows).map(move |row| (chunk, row))) {
            let feature = |v: usize, i: usize| {
                let scale = if i == 0 { 1.0 } else { implicit.scale[v] };
                scale * f64::from(chunk.features[v][i * chunk.rows + row])
            };
            for (at, cell) in cells.iter_mut().enumerate() {
                *cell += feature(0, at / (d2 * d3)) * feature(1, at / d3 % d2) * feature(2, at % d3);
            }
            rows += 1.0;
        }
        cells.iter().map(|cell| cell / rows).collect()
    }

    fn identities() -> [Mat<f64>; VIEWS] {
        DIMS.map(|d| Mat::identity(d, d))
    }

    #[test]
    fn value_and_gradient_are_those_of_the_explicit_distance() {
        for size in [0.3, 2.0] {
            let (kept, mixture) = example(size);
            let implicit = Implicit::new(&kept, &identities(), mixture, 4.0);
            assert_eq!(implicit.scale[0] < 1.0, size > 1.0, "{:?}", implicit.scale);
            let cells = tensor(&implicit);
            let length = 0.5 * dot(&cells, &cells);
            let explicit = Objective::squares(cells, DIMS, K);
            // At the centre the pull neither counts nor pulls.
            let point = implicit.shape().pack(implicit.pull.centre());
            let (ours, theirs) = (implicit.expand(&point), explicit.expand(&point));
            assert!((ours.value + length - theirs.value).abs() < 1e-12 * theirs.value);
            for (ours, theirs) in ours.gradient.iter().zip(&theirs.gradient) {
                assert!((ours - theirs).abs() < 1e-12, "{ours} {theirs}");
            }
        }
    }

    #[test]
    fn gradient_matches_finite_differences_away_from_the_centre() {
        let (kept, mixture) = example(2.0);
        let implicit = Implicit::new(&kept, &identities(), mixture, 4.0);
        let centre = implicit.shape().pack(implicit.pull.centre());
        let point: Vec<f64> = centre.iter().enumerate().map(|(i, x)| x + 0.3 * (i as f64).sin()).collect();
        let at = implicit.expand(&point);
        for i in 0..point.len() {
            let moved = |step: f64| {
                let mut moved = point.clone();
                moved[i] += step;
                implicit.expand(&moved).value
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((slope - at.gradient[i]).abs() < 1e-8, "{i}: {slope} {}", at.gradient[i]);
        }
    }

    #[test]
    fn curvature_is_that_of_moments_that_the_mixture_fits() {
        let (kept, mixture) = example(2.0);
        let implicit = Implicit::new(&kept, &identities(), mixture, 4.0);
        let point = implicit.shape().pack(implicit.pull.centre());
        let at = implicit.expand(&point);
        let zero = Objective::squares(tensor(&implicit), DIMS, K);
        let explicit = Objective::squares(zero.cells_of(&at.mixture), DIMS, K);
        let there = explicit.expand(&point);
        for i in 0..point.len() {
            let unit: Vec<f64> = (0..point.len()).map(|j| f64::from(u8::from(i == j))).collect();
            let ours = implicit.curve(&at).apply(&unit);
            let (_, d_means) = implicit.shape().change(&at.mixture.prior, &unit);
            let pulled = implicit.pull.curvature(&d_means);
            let none = vec![0.0; K];
            let pulled = pulled.map(|m| Mat::from_fn(m.nrows(), K, |i, j| m[(i, j)] / at.mixture.prior[j]));
            let pulled = implicit.shape().pack_gradient(&at.mixture.prior, &none, &pulled);
            let theirs = explicit.curve(&there).apply(&unit);
            for j in 0..point.len() {
                assert!((ours[j] - pulled[j] - theirs[j]).abs() < 1e-12, "{i} {j}");
            }
        }
    }

    #[test]
    fn without_a_block_the_fit_is_that_of_the_others() {
        let (kept, mixture) = example(1.0);
        let all = Implicit::new(&kept, &identities(), mixture, 4.0);
        let fitted = all.refine();
        assert!(fitted.converged);
        let left = &all.without_blocks(&fitted.mixture)[2];
        // The length of the gradient of the first two blocks.
        let gradient = |mixture: &Mixture| {
            let scaled = mixture.scaled(all.scale);
            let sums = sum(&all.read(&scaled)[..2]);
            let gradient = all.expansion(scaled, &sums).gradient;
            dot(&gradient, &gradient).sqrt()
        };
        let (before, after) = (gradient(&fitted.mixture), gradient(left));
        // One Gauss-Newton step takes off most of the gradient.
        assert!(after < 0.2 * before, "{after} {before}");
    }
}
