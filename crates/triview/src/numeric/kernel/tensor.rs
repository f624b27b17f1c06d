//! Third moments: a matrix product of the columns' products in pairs with the third view's columns.

use super::RUN;
use super::tile::{LEFT, RIGHT, add_lanes, column, multiply_add, width};
use pulp::{Simd, WithSimd};

/// The arguments of [`super::tensor`].
pub(super) struct Tensor<'a> {
    pub(super) u: [&'a [f64]; 3],
    pub(super) n: usize,
    pub(super) q: [usize; 3],
    pub(super) out: &'a mut [f64],
}

impl WithSimd for Tensor<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { u: [u1, u2, u3], n, q: [q1, q2, q3], out } = self;
        let out = &mut out[..q1 * q2 * q3];
        if out.is_empty() {
            return;
        }
        let mut packed = Packed::new(q3 * RUN.min(n.next_multiple_of(S::F64_LANES)));
        let mut products = Lines([0.0; LEFT * RUN]);
        let (products, _) = S::as_mut_simd_f64s(&mut products.0);
        let (products, _) = products.as_chunks_mut::<LEFT>();
        for start in (0..n).step_by(RUN) {
            let rows = RUN.min(n - start);
            let len = rows.div_ceil(S::F64_LANES);
            packed.fill((0..q3).map(|c| column(u3, n, c, start, rows)), S::F64_LANES);
            let (right, _) = S::as_simd_f64s(packed.columns());
            let products = &mut products[..len];
            let mut pair = [0, 0];
            for out in out.chunks_mut(LEFT * q3) {
                // Beyond the last pair it is repeated, for sums that `out` has no place for.
                let mut left = [[[].as_slice(); LEFT]; 2];
                for j in 0..LEFT {
                    let [a, b] = pair;
                    left[0][j] = column(u1, n, a, start, rows);
                    left[1][j] = column(u2, n, b, start, rows);
                    if b + 1 < q2 {
                        pair = [a, b + 1];
                    } else if a + 1 < q1 {
                        pair = [a + 1, 0];
                    }
                }
                let first = q3.min(2);
                let (now, later) = right.split_at(first * len);
                match first {
                    1 => form_and_sum::<S, 1>(simd, left, products, now, q3, out),
                    _ => form_and_sum::<S, 2>(simd, left, products, now, q3, out),
                }
                sum_rest(simd, products, later, q3, &mut out[first..]);
            }
        }
    }
}

/// Forms the products of pairs of columns and their sums with the first `B` right columns.
///
/// Done by itself the forming waits for its stores, which the first tile's multiply-adds hide: 32 rather than
/// 30 GFLOP/s at `q = 10`. The products take registers of their own here, so `B` is at most 2.
#[inline(always)]
fn form_and_sum<S: Simd, const B: usize>(
    simd: S,
    left: [[&[f64]; LEFT]; 2],
    products: &mut [[S::f64s; LEFT]],
    right: &[S::f64s],
    stride: usize,
    out: &mut [f64],
) {
    let mut sums = [[simd.splat_f64s(0.0); B]; LEFT];
    let len = products.len();
    let whole = left[0][0].len() / S::F64_LANES;
    let mut right_columns = [[].as_slice(); B];
    let mut left_columns = [[[].as_slice(); LEFT]; 2];
    for b in 0..B {
        right_columns[b] = &right[b * len..][..len];
    }
    for v in 0..2 {
        for a in 0..LEFT {
            left_columns[v][a] = &S::as_simd_f64s(left[v][a]).0[..whole];
        }
    }
    // With lengths this plain the compiler drops every check of bounds in the loop.
    let (products, last) = products.split_at_mut(whole);
    for i in 0..whole {
        for a in 0..LEFT {
            let product = simd.mul_f64s(left_columns[0][a][i], left_columns[1][a][i]);
            products[i][a] = product;
            for b in 0..B {
                sums[a][b] = simd.mul_add_e_f64s(product, right_columns[b][i], sums[a][b]);
            }
        }
    }
    if let [last] = last {
        for a in 0..LEFT {
            let x = simd.partial_load_f64s(S::as_simd_f64s(left[0][a]).1);
            let y = simd.partial_load_f64s(S::as_simd_f64s(left[1][a]).1);
            last[a] = simd.mul_f64s(x, y);
        }
        multiply_add(simd, *last, right_columns.map(|column| column[whole]), &mut sums);
    }
    add_lanes(simd, sums, stride, out);
}

/// The sums of formed products with all further right columns.
#[inline(always)]
fn sum_rest<S: Simd>(
    simd: S,
    products: &[[S::f64s; LEFT]],
    mut right: &[S::f64s],
    stride: usize,
    mut out: &mut [f64],
) {
    let len = products.len();
    while !right.is_empty() {
        let width = width(right.len() / len, RIGHT);
        let (now, later) = right.split_at(width * len);
        match width {
            1 => sum::<S, 1>(simd, products, now, stride, out),
            2 => sum::<S, 2>(simd, products, now, stride, out),
            _ => sum::<S, 3>(simd, products, now, stride, out),
        }
        right = later;
        out = &mut out[width..];
    }
}

/// The sums of formed products with `B` right columns.
#[inline(always)]
fn sum<S: Simd, const B: usize>(
    simd: S,
    products: &[[S::f64s; LEFT]],
    right: &[S::f64s],
    stride: usize,
    out: &mut [f64],
) {
    let mut sums = [[simd.splat_f64s(0.0); B]; LEFT];
    let len = products.len();
    let mut columns = [[].as_slice(); B];
    for b in 0..B {
        columns[b] = &right[b * len..][..len];
    }
    for i in 0..len {
        let mut right = [simd.splat_f64s(0.0); B];
        for b in 0..B {
            right[b] = columns[b][i];
        }
        multiply_add(simd, products[i], right, &mut sums);
    }
    add_lanes(simd, sums, stride, out);
}

/// Numbers that begin on a cache line: a vector that straddles two lines takes two loads.
#[repr(align(64))]
struct Lines([f64; LEFT * RUN]);

/// A run of the third view's columns end to end, from a cache line on, each padded with zeros to whole
/// vectors. All are read once for each tile of pairs, and columns 8 KiB apart, as they are in a chunk of
/// 1,024 rows, would drive each other out of the cache.
struct Packed {
    buffer: Vec<f64>,
    offset: usize,
}

impl Packed {
    /// Room for columns of this total length, padding included.
    fn new(len: usize) -> Self {
        const LINE: usize = 8;
        let buffer: Vec<f64> = Vec::with_capacity(len + LINE);
        let offset = buffer.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
        Self { buffer, offset }
    }

    /// Takes these columns in the place of those it holds.
    fn fill<'a>(&mut self, columns: impl Iterator<Item = &'a [f64]>, lanes: usize) {
        self.buffer.clear();
        self.buffer.resize(self.offset, 0.0);
        for column in columns {
            let end = self.buffer.len() + column.len().next_multiple_of(lanes);
            self.buffer.extend_from_slice(column);
            self.buffer.resize(end, 0.0);
        }
    }

    /// The columns, padded.
    fn columns(&self) -> &[f64] {
        &self.buffer[self.offset..]
    }
}
