//! Coordinates in which the sampling noise of the third moment is nearly isotropic.

use super::Mixture;
use super::refinement::unfold;
use crate::data::{VIEWS, others};
use crate::error::{Error, Result};
use crate::moments::{Family, Layout};
use crate::numeric::linalg::{RANK_TOLERANCE, pseudo_inverse, symmetric_eigen};
use crate::settings::whitening::COPY_CORRELATION;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// For each view the linear map `Z_v` that centres its features and gives them unit covariance, keeping the
/// leading one and leaving out directions that do not vary. Whitening is linear, so it is applied to sums of
/// moments, never to rows.
#[derive(Debug, Clone)]
pub(crate) struct Whitening {
    /// `Z_v`: whitened by plain features; the first row is the leading one's own.
    pub(crate) maps: [Mat<f64>; VIEWS],
}

/// The moments of some rows in whitened coordinates.
#[derive(Debug, Clone)]
pub(crate) struct Whitened {
    /// Dimensions of the three views.
    pub(crate) dims: [usize; VIEWS],
    /// The third moment, slowest index the first view's.
    pub(crate) tensor: Vec<f64>,
}

impl Whitening {
    /// From the sums over all rows, for groups of these names.
    ///
    /// # Errors
    /// [`Error::ConstantView`], [`Error::RankDeficientView`], [`Error::TooManyStates`] and [`Error::IdenticalViews`]: what no
    /// fit could mend.
    pub(crate) fn fit(names: &[String; VIEWS], layout: &Layout, sums: &[f64]) -> Result<Self> {
        let whitening = Self::of_rank(names, layout, sums)?;
        whitening.refuse_copies(names, layout, sums)?;
        Ok(whitening)
    }

    /// The same for views that are known not to be copies: posteriors of views that know every class agree as if they
    /// were.
    pub(crate) fn of_rank(names: &[String; VIEWS], layout: &Layout, sums: &[f64]) -> Result<Self> {
        let k = layout.posterior[0].shape[0];
        let classes = layout.classes.iter().max().map_or(0, |last| last + 1);
        let whitening = Self::of(&layout.features, sums)?;
        for (v, map) in whitening.maps.iter().enumerate() {
            let rank = map.nrows() - 1;
            if rank == 0 {
                return Err(Error::ConstantView { view: names[v].clone() });
            }
            if rank + 1 < k && rank + 1 >= classes {
                return Err(Error::TooManyStates { view: names[v].clone(), rank, states: k });
            }
            if rank + 1 < k {
                return Err(Error::RankDeficientView { view: names[v].clone(), rank, k: classes });
            }
        }
        Ok(whitening)
    }

    /// From the sums over all rows, whatever the rank.
    pub(crate) fn of(family: &Family, sums: &[f64]) -> Result<Self> {
        let view = |v: usize| whiten(family.gram[v].of(sums), family.gram[v].shape[0]);
        Ok(Self { maps: [view(0)?, view(1)?, view(2)?] })
    }

    /// The moments of these sums, in whitened coordinates.
    pub(crate) fn apply(&self, family: &Family, sums: &[f64]) -> Whitened {
        // The first cell is the sum of ones.
        let tensor = family.tensor.of(sums);
        let dims = [0, 1, 2].map(|v| family.tensor.shape[v]);
        let plain = Whitened { dims, tensor: tensor.iter().map(|cell| cell / tensor[0]).collect() };
        let [first, second, third] = &self.maps;
        Whitened { dims: self.maps.each_ref().map(Mat::nrows), tensor: plain.mapped([first, second, third]) }
    }

    /// The canonical correlations of the features of the two views other than `third`, largest first.
    pub(crate) fn correlations(&self, family: &Family, sums: &[f64], third: usize) -> Result<Vec<f64>> {
        let [a, b] = others(third).map(|v| &self.maps[v]);
        let pair =
            a * family.pair(third, sums) * b.transpose() * faer::Scale(1.0 / family.tensor.of(sums)[0]);
        let varying = pair.submatrix(1, 1, pair.nrows() - 1, pair.ncols() - 1);
        varying.singular_values().map_err(|_| Error::Internal("a singular value problem did not converge"))
    }

    /// For each view the map back, from whitened features to plain ones: the inverse of `Z_v` on its range.
    pub(crate) fn inverses(&self) -> Result<[Mat<f64>; VIEWS]> {
        let invert = |v: usize| Ok(pseudo_inverse(self.maps[v].as_ref(), self.maps[v].nrows())?.0);
        Ok([invert(0)?, invert(1)?, invert(2)?])
    }

    /// A mixture in whitened coordinates from class means of plain features.
    pub(crate) fn mixture(&self, prior: Vec<f64>, plain: [Mat<f64>; VIEWS]) -> Mixture {
        Mixture { prior, means: std::array::from_fn(|v| &self.maps[v] * &plain[v]) }
    }

    /// Views that determine each other have a canonical correlation of one.
    fn refuse_copies(&self, names: &[String; VIEWS], layout: &Layout, sums: &[f64]) -> Result<()> {
        for third in 0..VIEWS {
            if self.correlations(&layout.features, sums, third)?[0] > COPY_CORRELATION {
                let [first, second] = others(third).map(|v| names[v].clone());
                return Err(Error::IdenticalViews { first, second });
            }
        }
        Ok(())
    }
}

impl Whitened {
    /// The third moment of linear functions of the features, one matrix a view.
    pub(crate) fn mapped(&self, maps: [&Mat<f64>; VIEWS]) -> Vec<f64> {
        let mut cells = self.tensor.clone();
        // One mode after the other; each product moves its mode to the end.
        for v in 0..VIEWS {
            let (rest, rows) = (cells.len() / self.dims[v], maps[v].nrows());
            let unfolded = MatRef::from_row_major_slice(&cells, self.dims[v], rest);
            let mut mapped = vec![0.0; rest * rows];
            let out = MatMut::from_column_major_slice_mut(&mut mapped, rows, rest);
            matmul(out, Accum::Replace, maps[v], unfolded, 1.0, Par::Seq);
            cells = mapped;
        }
        cells
    }

    /// The third moment contracted in one view with each column of a matrix: one row a pair of features of the two others, one
    /// column a column.
    pub(crate) fn slices(&self, view: usize, vectors: &Mat<f64>) -> Mat<f64> {
        unfold(&self.tensor, self.dims, view) * vectors
    }

    /// `E[u_a u_b^T]`: the slice at the third view's leading one.
    pub(crate) fn pair(&self, a: usize, b: usize) -> Mat<f64> {
        let [_, d2, d3] = self.dims;
        Mat::from_fn(self.dims[a], self.dims[b], |i, j| {
            let mut at = [0; VIEWS];
            at[a] = i;
            at[b] = j;
            self.tensor[(at[0] * d2 + at[1]) * d3 + at[2]]
        })
    }
}

/// `Z` for one view from the sums of `u u^T`, `u` with its leading one.
pub(crate) fn whiten(gram: &[f64], q: usize) -> Result<Mat<f64>> {
    let n = gram[0];
    if q == 1 {
        return Ok(Mat::identity(1, 1));
    }
    let mean: Vec<f64> = (0..q).map(|i| gram[i] / n).collect();
    let covariance =
        Mat::from_fn(q - 1, q - 1, |i, j| gram[(i + 1) * q + j + 1] / n - mean[i + 1] * mean[j + 1]);
    let scale: Vec<f64> = (0..q - 1).map(|i| gram[(i + 1) * q + i + 1] / n).collect();
    let (values, vectors) = symmetric_eigen(covariance.as_ref())?;
    // A direction counts when it varies both against the others and against rounding in its own mean.
    let rounding = 1e-13 * scale.iter().copied().fold(0.0, f64::max);
    let floor = (RANK_TOLERANCE * values[q - 2]).max(rounding);
    let kept: Vec<usize> = (0..q - 1).rev().filter(|&j| values[j] > floor).collect();
    let mut map = Mat::zeros(kept.len() + 1, q);
    map[(0, 0)] = 1.0;
    for (row, &j) in kept.iter().enumerate() {
        let inverse = 1.0 / values[j].sqrt();
        for i in 0..q - 1 {
            let weight = vectors[(i, j)] * inverse;
            map[(row + 1, i + 1)] = weight;
            map[(row + 1, 0)] -= weight * mean[i + 1];
        }
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::exact::Exact;

    #[test]
    fn whitened_features_have_unit_second_moments() -> Result<()> {
        let exact = Exact::new(3, [4, 3, 5]);
        let whitening = Whitening::of(&exact.family, &exact.sums)?;
        for (map, part) in whitening.maps.iter().zip(&exact.family.gram) {
            let q = part.shape[0];
            let gram = MatRef::from_row_major_slice(part.of(&exact.sums), q, q);
            let second = map * gram * map.transpose() * faer::Scale(1.0 / part.of(&exact.sums)[0]);
            assert_eq!(second.nrows(), q);
            for (i, j) in (0..q * q).map(|at| (at / q, at % q)) {
                let expected = f64::from(u8::from(i == j));
                assert!((second[(i, j)] - expected).abs() < 1e-12, "{i} {j}: {}", second[(i, j)]);
            }
        }
        Ok(())
    }

    #[test]
    fn whitening_can_be_undone() -> Result<()> {
        let exact = Exact::new(3, [4, 3, 5]);
        let whitening = Whitening::of(&exact.family, &exact.sums)?;
        let whitened = whitening.apply(&exact.family, &exact.sums);
        let [first, second, third] = &whitening.inverses()?;
        let rows = exact.family.tensor.of(&exact.sums)[0];
        for (back, cell) in
            whitened.mapped([first, second, third]).iter().zip(exact.family.tensor.of(&exact.sums))
        {
            assert!((back - cell / rows).abs() < 1e-12, "{back} {}", cell / rows);
        }
        Ok(())
    }

    #[test]
    fn directions_that_do_not_vary_are_left_out() -> Result<()> {
        // The last feature is one less the other.
        let rows = [[1.0, 0.0, 1.0], [1.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
        let gram: Vec<f64> =
            (0..9).map(|at| rows.iter().map(|row| row[at / 3] * row[at % 3]).sum()).collect();
        assert_eq!(whiten(&gram, 3)?.nrows(), 2);
        Ok(())
    }
}
