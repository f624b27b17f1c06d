//! Affine maps of columns.

use pulp::{Simd, WithSimd};
use std::ops::Range;

/// Rows whose results are formed before the next rows are read: 90 columns of 256 rows are 180 KiB, which every
/// second-level cache holds until the last result has read them.
const RUN: usize = 256;

/// The most columns of results in a tile, and the most vectors of their rows: 12 sums, 3 vectors of
/// arguments and 1 weight are the 16 registers of AVX2.
const COLUMNS: usize = 4;
const VECTORS: usize = 3;

/// The arguments of [`super::affine_columns`].
pub(super) struct Affine<'a> {
    pub(super) x: &'a [f64],
    pub(super) n: usize,
    pub(super) p: usize,
    pub(super) weights: &'a [f64],
    pub(super) k: usize,
    pub(super) out: &'a mut [f64],
}

impl WithSimd for Affine<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for start in (0..self.n).step_by(RUN) {
            let run = start..self.n.min(start + RUN);
            let mut c = 0;
            while c < self.k {
                // As even as can be: a tile of fewer than 8 sums waits for its own multiply-adds.
                let width = (self.k - c).div_ceil((self.k - c).div_ceil(COLUMNS));
                match width {
                    1 => self.strip::<S, 1>(simd, c, run.clone()),
                    2 => self.strip::<S, 2>(simd, c, run.clone()),
                    3 => self.strip::<S, 3>(simd, c, run.clone()),
                    _ => self.strip::<S, 4>(simd, c, run.clone()),
                }
                c += width;
            }
        }
    }
}

impl Affine<'_> {
    /// These rows of `C` columns of results from `c` on.
    #[inline(always)]
    fn strip<S: Simd, const C: usize>(&mut self, simd: S, c: usize, rows: Range<usize>) {
        let mut i = rows.start / S::F64_LANES;
        let end = rows.end / S::F64_LANES;
        while i < end {
            let vectors = VECTORS.min(end - i);
            match vectors {
                1 => self.tile::<S, C, 1>(simd, c, i),
                2 => self.tile::<S, C, 2>(simd, c, i),
                _ => self.tile::<S, C, 3>(simd, c, i),
            }
            i += vectors;
        }
        if end * S::F64_LANES < rows.end {
            self.last::<S, C>(simd, c);
        }
    }

    /// The weights of `C` columns of results from `c` on.
    #[inline(always)]
    fn weights<const C: usize>(&self, c: usize) -> [&[f64]; C] {
        let mut weights = [[].as_slice(); C];
        for j in 0..C {
            weights[j] = &self.weights[(c + j) * (self.p + 1)..][..self.p + 1];
        }
        weights
    }

    /// `V` vectors of rows from vector `i` on, of `C` columns of results from `c` on.
    #[inline(always)]
    fn tile<S: Simd, const C: usize, const V: usize>(&mut self, simd: S, c: usize, i: usize) {
        let weights = self.weights::<C>(c);
        let mut sums = [[simd.splat_f64s(0.0); V]; C];
        for j in 0..C {
            sums[j] = [simd.splat_f64s(weights[j][0]); V];
        }
        for (m, column) in self.x.chunks_exact(self.n).enumerate() {
            let x = &S::as_simd_f64s(column).0[i..i + V];
            for j in 0..C {
                let weight = simd.splat_f64s(weights[j][m + 1]);
                for v in 0..V {
                    sums[j][v] = simd.mul_add_e_f64s(weight, x[v], sums[j][v]);
                }
            }
        }
        for j in 0..C {
            let column = &mut self.out[(c + j) * self.n..][..self.n];
            S::as_mut_simd_f64s(column).0[i..i + V].copy_from_slice(&sums[j]);
        }
    }

    /// The last rows, too few for a vector, of `C` columns of results from `c` on.
    #[inline(always)]
    fn last<S: Simd, const C: usize>(&mut self, simd: S, c: usize) {
        let weights = self.weights::<C>(c);
        let mut sums = [simd.splat_f64s(0.0); C];
        for j in 0..C {
            sums[j] = simd.splat_f64s(weights[j][0]);
        }
        for (m, column) in self.x.chunks_exact(self.n).enumerate() {
            let x = simd.partial_load_f64s(S::as_simd_f64s(column).1);
            for j in 0..C {
                sums[j] = simd.mul_add_e_f64s(simd.splat_f64s(weights[j][m + 1]), x, sums[j]);
            }
        }
        for j in 0..C {
            let column = &mut self.out[(c + j) * self.n..][..self.n];
            simd.partial_store_f64s(S::as_mut_simd_f64s(column).1, sums[j]);
        }
    }
}
