//! The tensor power method (section 2 of the paper; Anandkumar et al. 2012, 2014).

use super::{Mixture, Whitened};
use crate::error::Result;
use crate::interrupt;
use crate::numeric::linalg::{dot, pseudo_inverse, symmetric_eigen};
use crate::settings::power::{ITERATIONS, STARTS};
use faer::{Mat, MatRef};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

/// Decomposes the third moment by power iteration with deflation.
///
/// Views 1 and 2 are carried into view 3 by the pair moments (`P_32 P_12^+ U_1 = U_3`), which makes the second
/// moment `U_3 diag(pi) U_3^T` and the third symmetric; the second whitens the third, whose components are
/// then orthogonal and found one by one. Returns `None` where the second moment has not `k` positive
/// eigenvalues or a component has no weight: there is no such start then.
pub(crate) fn power_method(moments: &Whitened, k: usize, seed: u64) -> Result<Option<Mixture>> {
    let [p12, p13, p23] = [moments.pair(0, 1), moments.pair(0, 2), moments.pair(1, 2)];
    let (p12_inverse, _) = pseudo_inverse(p12.as_ref(), k)?;
    let carry_first = p23.transpose() * &p12_inverse;
    let carry_second = p13.transpose() * p12_inverse.transpose();
    let second = &carry_first * &p12 * carry_second.transpose();
    let second = (&second + second.transpose()) * faer::Scale(0.5);
    let (values, vectors) = symmetric_eigen(second.as_ref())?;
    let d = values.len();
    if values[d - k] <= 1e-10 * values[d - 1] {
        return Ok(None);
    }
    let whiten = Mat::from_fn(d, k, |i, j| vectors[(i, d - 1 - j)] / values[d - 1 - j].sqrt());
    let unwhiten = Mat::from_fn(d, k, |i, j| vectors[(i, d - 1 - j)] * values[d - 1 - j].sqrt());

    let whiten = whiten.transpose().to_owned();
    let [a, b] = [&whiten * &carry_first, &whiten * &carry_second];
    let mut core = Core::new(moments, [&a, &b, &whiten]);
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut prior = Vec::with_capacity(k);
    let mut third = Mat::zeros(d, k);
    for j in 0..k {
        let (weight, vector) = core.strongest(&mut rng);
        if weight.is_nan() || weight <= 0.0 {
            return Ok(None);
        }
        core.deflate(weight, &vector);
        let column: Vec<f64> = (0..d).map(|i| (0..k).map(|l| unwhiten[(i, l)] * vector[l]).sum()).collect();
        // The leading feature is one for every class, which fixes the scale more robustly than 1 / weight^2.
        if column[0].abs() < 1e-8 {
            return Ok(None);
        }
        prior.push(column[0] * column[0]);
        for i in 0..d {
            third[(i, j)] = column[i] / column[0];
        }
    }
    let total: f64 = prior.iter().sum();
    prior.iter_mut().for_each(|p| *p /= total);

    // P_v3 = U_v diag(pi) U_3^T gives the other views.
    let (inverse, _) = pseudo_inverse(third.transpose(), k)?;
    let solve = |pair: &Mat<f64>| {
        let mut means = pair * &inverse;
        for j in 0..k {
            for i in 1..means.nrows() {
                means[(i, j)] /= prior[j];
            }
            means[(0, j)] = 1.0;
        }
        means
    };
    Ok(Some(Mixture { means: [solve(&p13), solve(&p23), third], prior }))
}

/// A symmetric `k x k x k` tensor with nearly orthogonal components.
struct Core {
    k: usize,
    cells: Vec<f64>,
}

impl Core {
    /// `T` contracted with one matrix a view.
    fn new(moments: &Whitened, maps: [&Mat<f64>; 3]) -> Self {
        let k = maps[0].nrows();
        let cells = moments.mapped(maps);
        // Averaging over the orders of the indices removes the part of the noise that is not symmetric.
        let at = |i: usize, j: usize, l: usize| cells[(i * k + j) * k + l];
        let symmetric = |i, j, l| {
            (at(i, j, l) + at(i, l, j) + at(j, i, l) + at(j, l, i) + at(l, i, j) + at(l, j, i)) / 6.0
        };
        let cells = (0..k * k * k).map(|c| symmetric(c / (k * k), c / k % k, c % k)).collect();
        Self { k, cells }
    }

    /// `T(I, x, x)` for each column.
    fn apply(&self, x: &Mat<f64>) -> Mat<f64> {
        let k = self.k;
        let products = MatRef::from_row_major_slice(&self.cells, k * k, k) * x;
        let mut out = Mat::zeros(k, x.ncols());
        for s in 0..x.ncols() {
            let rows = products.col_as_slice(s).chunks_exact(k);
            out.col_as_slice_mut(s)
                .iter_mut()
                .zip(rows)
                .for_each(|(out, row)| *out = dot(row, x.col_as_slice(s)));
        }
        out
    }

    /// The eigenvector with the largest eigenvalue over all starts.
    fn strongest(&self, rng: &mut Pcg64) -> (f64, Vec<f64>) {
        let mut x = Mat::zeros(self.k, STARTS);
        for s in 0..STARTS {
            x.col_as_slice_mut(s).iter_mut().for_each(|x| *x = StandardNormal.sample(rng));
            normalise(x.col_as_slice_mut(s));
        }
        for _ in 0..ITERATIONS {
            interrupt::check();
            let mut next = self.apply(&x);
            let mut moved = 0.0_f64;
            for s in 0..STARTS {
                normalise(next.col_as_slice_mut(s));
                let change = next.col_as_slice(s).iter().zip(x.col_as_slice(s)).map(|(a, b)| (a - b).abs());
                moved = moved.max(change.sum());
            }
            x = next;
            if moved < 1e-12 {
                break;
            }
        }
        let applied = self.apply(&x);
        let mut best = (f64::NEG_INFINITY, vec![0.0; self.k]);
        for s in 0..STARTS {
            let value = dot(applied.col_as_slice(s), x.col_as_slice(s));
            if value > best.0 {
                best = (value, x.col_as_slice(s).to_vec());
            }
        }
        best
    }

    /// Takes a component out.
    fn deflate(&mut self, weight: f64, x: &[f64]) {
        let k = self.k;
        for (at, cell) in self.cells.iter_mut().enumerate() {
            *cell -= weight * x[at / (k * k)] * x[at / k % k] * x[at % k];
        }
    }
}

fn normalise(x: &mut [f64]) {
    let norm = dot(x, x).sqrt();
    if norm > 0.0 {
        x.iter_mut().for_each(|x| *x /= norm);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::Whitening;
    use crate::fit::exact::Exact;

    #[test]
    fn exact_moments_are_decomposed_and_put_together_again() -> Result<()> {
        for (k, values) in [(2, [2, 2, 2]), (3, [4, 3, 5]), (4, [6, 5, 4])] {
            let exact = Exact::new(k, values);
            let whitening = Whitening::of(&exact.family, &exact.sums)?;
            let moments = whitening.apply(&exact.family, &exact.sums);
            let found = power_method(&moments, k, 1)?.expect("a decomposition");
            let [d1, d2, d3] = moments.dims;
            for at in 0..d1 * d2 * d3 {
                let (a, b, c) = (at / (d2 * d3), at / d3 % d2, at % d3);
                let of_class = |j: usize| {
                    found.prior[j] * found.means[0][(a, j)] * found.means[1][(b, j)] * found.means[2][(c, j)]
                };
                let cell: f64 = (0..k).map(of_class).sum();
                // Power iterations stop at changes of 1e-12, which deflation and inverses multiply.
                assert!((cell - moments.tensor[at]).abs() < 1e-8, "{k}: {cell} {}", moments.tensor[at]);
            }
            let (mut prior, mut truth) = (found.prior.clone(), exact.prior.clone());
            prior.sort_by(f64::total_cmp);
            truth.sort_by(f64::total_cmp);
            assert!(prior.iter().zip(&truth).all(|(p, q)| (p - q).abs() < 1e-8), "{prior:?} {truth:?}");
        }
        Ok(())
    }

    #[test]
    fn fewer_classes_than_asked_for_are_no_decomposition() -> Result<()> {
        let exact = Exact::new(2, [4, 4, 4]);
        let whitening = Whitening::of(&exact.family, &exact.sums)?;
        assert!(power_method(&whitening.apply(&exact.family, &exact.sums), 3, 1)?.is_none());
        Ok(())
    }
}
