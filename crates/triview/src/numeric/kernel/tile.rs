//! Sums of products of a few columns, held in registers.

use pulp::Simd;

/// The most left columns of a tile.
pub(super) const LEFT: usize = 4;

/// The most right columns of a tile.
pub(super) const RIGHT: usize = 3;

/// How many of the `remaining` columns the next tile takes, at most `most`.
///
/// Tiles are as even as can be, 10 = 4 + 3 + 3 rather than 4 + 4 + 2: a multiply-add takes 4 cycles on
/// each of 2 ports, so a tile of fewer than 8 sums waits for itself.
pub(super) fn width(remaining: usize, most: usize) -> usize {
    remaining.div_ceil(remaining.div_ceil(most))
}

/// Rows `start..start + rows` of column `c` of a chunk of `n` rows.
#[inline(always)]
pub(super) fn column(u: &[f64], n: usize, c: usize, start: usize, rows: usize) -> &[f64] {
    &u[c * n + start..][..rows]
}

/// `sums[a][b] += left[a] * right[b]`, lane by lane.
#[inline(always)]
pub(super) fn multiply_add<S: Simd, const A: usize, const B: usize>(
    simd: S,
    left: [S::f64s; A],
    right: [S::f64s; B],
    sums: &mut [[S::f64s; B]; A],
) {
    for a in 0..A {
        for b in 0..B {
            sums[a][b] = simd.mul_add_e_f64s(left[a], right[b], sums[a][b]);
        }
    }
}

/// `out[a * stride + b] += ` the sum of the lanes of `sums[a][b]`, for the rows that `out` has.
#[inline(always)]
pub(super) fn add_lanes<S: Simd, const A: usize, const B: usize>(
    simd: S,
    sums: [[S::f64s; B]; A],
    stride: usize,
    out: &mut [f64],
) {
    for a in 0..A {
        if let Some(out) = out.get_mut(a * stride..a * stride + B) {
            for b in 0..B {
                out[b] += simd.reduce_sum_f64s(sums[a][b]);
            }
        }
    }
}
