//! The sums over rows that a moment state consists of, at the speed of the machine's multiply-adds.
//!
//! Features come in chunks of `n` rows, column by column: `u[c * n + i]`. Vector lanes run over rows, so
//! that a sum of products of columns needs no shuffling before its lanes are added up at the very end.
//! A tile of at most 4 left and 3 right columns is held in registers: its 12 sums, 3 right vectors and 1
//! left vector are the 16 registers of AVX2, and 12 multiply-adds for 7 loads keep both arithmetic ports busy.
//!
//! Every sum is formed in an order that depends on the shapes alone: equal inputs give equal bits.

mod cross;
mod tensor;
mod tile;

use pulp::Arch;

/// Rows that are summed before lanes are added up: 4 left columns of 256 rows are 8 KiB, which leaves
/// three quarters of a 32 KiB first-level cache to the right ones.
const RUN: usize = 256;

/// Adds the third moments of a chunk of rows,
/// `out[(a * q[1] + b) * q[2] + c] += sum_i u1[a * n + i] * u2[b * n + i] * u3[c * n + i]`.
///
/// # Panics
/// When a slice is shorter than `n` and `q` say.
pub fn tensor(u1: &[f64], u2: &[f64], u3: &[f64], n: usize, q: [usize; 3], out: &mut [f64]) {
    Arch::new().dispatch(tensor::Tensor { u: [u1, u2, u3], n, q, out });
}

/// Adds the second moments of a chunk of rows, `out[a * q + b] += sum_i x[a * n + i] * y[b * n + i]`, for
/// `p` columns `x` and `q` columns `y`.
///
/// # Panics
/// When a slice is shorter than `n`, `p` and `q` say.
pub fn cross(x: &[f64], y: &[f64], n: usize, p: usize, q: usize, out: &mut [f64]) {
    Arch::new().dispatch(cross::Cross { x, y, n, p, q, symmetric: false, out });
}

/// Adds the second moments of `q` columns with themselves,
/// `out[a * q + b] += sum_i x[a * n + i] * x[b * n + i]`: what [`cross`] of `x` with itself adds, for some
/// two thirds of the work. `out` must be symmetric before, as sums of such moments are: only the half above
/// its diagonal is read.
///
/// # Panics
/// When a slice is shorter than `n` and `q` say.
pub fn gram(x: &[f64], n: usize, q: usize, out: &mut [f64]) {
    Arch::new().dispatch(cross::Cross { x, y: x, n, p: q, q, symmetric: true, out });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use pulp::{Scalar, Simd};
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    fn columns(rng: &mut Pcg64, n: usize, q: usize) -> Vec<f64> {
        (0..n * q).map(|_| rng.random_range(-2.0..2.0)).collect()
    }

    /// Whether sums agree to 1e-12 of the sum of the magnitudes of their terms.
    fn assert_close(actual: &[f64], expected: &[(f64, f64)]) {
        assert_eq!(actual.len(), expected.len());
        for (at, (actual, (sum, size))) in actual.iter().zip(expected).enumerate() {
            assert!((actual - sum).abs() <= 1e-12 * size, "cell {at}: {actual} is not {sum}");
        }
    }

    /// The sum over rows of a product, from `start` on, and of its magnitude.
    fn naive(start: f64, n: usize, term: impl Fn(usize) -> f64) -> (f64, f64) {
        (0..n).map(term).fold((start, start.abs()), |(sum, size), term| (sum + term, size + term.abs()))
    }

    fn naive_tensor(u: &[Vec<f64>], n: usize, q: [usize; 3], start: f64) -> Vec<(f64, f64)> {
        let cells = (0..q[0]).flat_map(|a| (0..q[1]).flat_map(move |b| (0..q[2]).map(move |c| [a, b, c])));
        let cell =
            |[a, b, c]: [usize; 3]| naive(start, n, |i| u[0][a * n + i] * u[1][b * n + i] * u[2][c * n + i]);
        cells.map(cell).collect()
    }

    fn naive_cross(x: &[f64], y: &[f64], n: usize, [p, q]: [usize; 2], start: f64) -> Vec<(f64, f64)> {
        let cells = (0..p).flat_map(|a| (0..q).map(move |b| [a, b]));
        cells.map(|[a, b]| naive(start, n, |i| x[a * n + i] * y[b * n + i])).collect()
    }

    fn check(seed: u64, n: usize, q: [usize; 3]) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let u = q.map(|q| columns(&mut rng, n, q));

        let expected = naive_tensor(&u, n, q, 0.5);
        let start = vec![0.5; q.iter().product()];
        let mut actual = start.clone();
        tensor(&u[0], &u[1], &u[2], n, q, &mut actual);
        assert_close(&actual, &expected);
        let mut portable = start;
        Scalar.vectorize(tensor::Tensor { u: [&u[0], &u[1], &u[2]], n, q, out: &mut portable });
        assert_close(&portable, &expected);

        let expected = naive_cross(&u[0], &u[1], n, [q[0], q[1]], -1.0);
        let mut actual = vec![-1.0; q[0] * q[1]];
        cross(&u[0], &u[1], n, q[0], q[1], &mut actual);
        assert_close(&actual, &expected);

        let expected = naive_cross(&u[2], &u[2], n, [q[2]; 2], 0.0);
        let mut actual = vec![0.0; q[2] * q[2]];
        gram(&u[2], n, q[2], &mut actual);
        assert_close(&actual, &expected);
        for a in 0..q[2] {
            for b in 0..a {
                assert_eq!(actual[a * q[2] + b].to_bits(), actual[b * q[2] + a].to_bits());
            }
        }
    }

    #[test]
    fn every_remainder_of_rows_and_columns() {
        for n in 0..70 {
            check(n as u64, n, [1 + n % 13, 1 + (n / 3) % 13, 1 + (n / 5) % 13]);
        }
        for q in 1..=13 {
            check(q as u64, 37, [q; 3]);
        }
    }

    #[test]
    fn several_runs_and_wide_features() {
        check(1, 2 * RUN + 3, [10, 10, 10]);
        check(2, RUN, [3, 33, 65]);
    }

    #[test]
    fn nothing_to_add() {
        let mut out = [];
        tensor(&[1.0], &[1.0], &[], 1, [1, 1, 0], &mut out);
        cross(&[1.0], &[], 1, 1, 0, &mut out);
        gram(&[], 1, 0, &mut out);
    }

    proptest! {
        #[test]
        fn sums_are_those_of_plain_loops(
            seed: u64, n in 0_usize..300, q1 in 1_usize..14, q2 in 1_usize..14, q3 in 1_usize..14,
        ) {
            check(seed, n, [q1, q2, q3]);
        }

        #[test]
        fn equal_inputs_give_equal_bits_wherever_they_lie(seed: u64, n in 1_usize..300, offset in 0_usize..8) {
            let q = [5, 6, 7];
            let mut rng = Pcg64::seed_from_u64(seed);
            let u = q.map(|q| columns(&mut rng, n, q));
            let moved = u.clone().map(|u| [vec![0.0; offset], u].concat());
            let mut sums = [vec![0.0; 210], vec![0.0; 210]];
            tensor(&u[0], &u[1], &u[2], n, q, &mut sums[0]);
            tensor(&moved[0][offset..], &moved[1][offset..], &moved[2][offset..], n, q, &mut sums[1]);
            prop_assert_eq!(&sums[0], &sums[1]);
        }
    }
}
