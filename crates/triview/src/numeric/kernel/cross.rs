//! Second moments: sums of products of columns in pairs.

use super::RUN;
use super::tile::{LEFT, RIGHT, add_lanes, column, multiply_add, width};
use pulp::{Simd, WithSimd};

/// The arguments of [`super::cross`]; `symmetric` where `x` and `y` are the same columns.
pub(super) struct Cross<'a> {
    pub(super) x: &'a [f64],
    pub(super) y: &'a [f64],
    pub(super) n: usize,
    pub(super) p: usize,
    pub(super) q: usize,
    pub(super) symmetric: bool,
    pub(super) out: &'a mut [f64],
}

impl WithSimd for Cross<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        self.out = &mut self.out[..self.p * self.q];
        for start in (0..self.n).step_by(RUN) {
            let mut a = 0;
            while a < self.p {
                let width = width(self.p - a, LEFT);
                match width {
                    1 => self.strip::<S, 1>(simd, a, start),
                    2 => self.strip::<S, 2>(simd, a, start),
                    3 => self.strip::<S, 3>(simd, a, start),
                    _ => self.strip::<S, 4>(simd, a, start),
                }
                a += width;
            }
        }
        if self.symmetric {
            self.mirror();
        }
    }
}

impl Cross<'_> {
    /// Adds a run's products of `A` left columns from `a` on with all right columns that are needed.
    #[inline(always)]
    fn strip<S: Simd, const A: usize>(&mut self, simd: S, a: usize, start: usize) {
        let mut b = if self.symmetric { a } else { 0 };
        while b < self.q {
            let width = width(self.q - b, RIGHT);
            match width {
                1 => self.tile::<S, A, 1>(simd, [a, b], start),
                2 => self.tile::<S, A, 2>(simd, [a, b], start),
                _ => self.tile::<S, A, 3>(simd, [a, b], start),
            }
            b += width;
        }
    }

    /// Adds a run's products of `A` left columns from `a` on with `B` right columns from `b` on.
    #[inline(always)]
    fn tile<S: Simd, const A: usize, const B: usize>(&mut self, simd: S, [a, b]: [usize; 2], start: usize) {
        let zero = simd.splat_f64s(0.0);
        let rows = RUN.min(self.n - start);
        let whole = rows / S::F64_LANES;
        let (mut x, mut x_last) = ([[].as_slice(); A], [zero; A]);
        let (mut y, mut y_last) = ([[].as_slice(); B], [zero; B]);
        for j in 0..A {
            let (head, tail) = S::as_simd_f64s(column(self.x, self.n, a + j, start, rows));
            x[j] = &head[..whole];
            x_last[j] = simd.partial_load_f64s(tail);
        }
        for j in 0..B {
            let (head, tail) = S::as_simd_f64s(column(self.y, self.n, b + j, start, rows));
            y[j] = &head[..whole];
            y_last[j] = simd.partial_load_f64s(tail);
        }
        let mut sums = [[zero; B]; A];
        multiply_add(simd, x_last, y_last, &mut sums);
        for i in 0..whole {
            let (mut left, mut right) = ([zero; A], [zero; B]);
            for j in 0..A {
                left[j] = x[j][i];
            }
            for j in 0..B {
                right[j] = y[j][i];
            }
            multiply_add(simd, left, right, &mut sums);
        }
        add_lanes(simd, sums, self.q, &mut self.out[a * self.q + b..]);
    }

    /// Copies the half above the diagonal to the half below.
    fn mirror(&mut self) {
        for a in 0..self.q {
            for b in a + 1..self.q {
                self.out[b * self.q + a] = self.out[a * self.q + b];
            }
        }
    }
}
