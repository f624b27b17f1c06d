//! The arithmetic of feature maps on whole columns of rows, in the machine's vectors.
//!
//! A chunk of `n` rows lies column by column, `x[c * n + i]`, as everywhere in this crate. Some 128 to 1,024 rows
//! keep it in the nearer caches, best an odd number of cache lines: 248 rows are 31 lines of 8, while columns
//! of 256 rows contend for the same places of the cache (29 columns to 10 ran at 25 rather than 40 GFLOP/s).
//! Results depend on the arguments alone: equal inputs give equal bits.

mod affine;
mod map;
mod softmax;

use pulp::Arch;

/// Runs some arithmetic compiled for the machine's vectors.
pub(crate) fn dispatch<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(work)
}

/// Replaces every `x` by `exp(x)`: to a relative error of 1e-14 for `x` in [-708, 709], 0 below, infinity where
/// it overflows, NaN for NaN.
pub(crate) fn exp_in_place(x: &mut [f64]) {
    Arch::new().dispatch(map::Map { f: map::Exp, x });
}

/// Replaces every `t` by the smooth ridge function `t / sqrt(1 + t^2)`.
pub(crate) fn ridge_in_place(t: &mut [f64]) {
    Arch::new().dispatch(map::Map { f: map::Ridge, x: t });
}

/// Replaces `k` columns of `n` logits by probabilities over the columns,
/// `x[c * n + i] = exp(x[c * n + i] - l_i)` with `l_i = log sum_c exp(x[c * n + i])`, and writes `l_i` to
/// `log_norm[i]`, where that is wanted.
///
/// # Panics
/// When a slice is not of the length that `n` and `k` say.
pub(crate) fn softmax_columns(x: &mut [f64], n: usize, k: usize, log_norm: Option<&mut [f64]>) {
    assert_eq!(x.len(), n * k, "{n} rows of {k} logits");
    if let Some(log_norm) = &log_norm {
        assert_eq!(log_norm.len(), n, "one normaliser a row");
    }
    Arch::new().dispatch(softmax::Softmax { x, n, log_norm });
}

/// Maps `p` columns to `k` columns, `out[c * n + i] = w[c, 0] + sum_j w[c, j + 1] * x[j * n + i]`, where
/// `weights[c * (p + 1) + j]` is `w[c, j]`.
///
/// # Panics
/// When a slice is not of the length that `n`, `p` and `k` say.
pub(crate) fn affine_columns(x: &[f64], n: usize, p: usize, weights: &[f64], k: usize, out: &mut [f64]) {
    assert_eq!(x.len(), n * p, "{n} rows of {p} columns");
    assert_eq!(weights.len(), k * (p + 1), "{k} rows of 1 + {p} weights");
    assert_eq!(out.len(), n * k, "{n} rows of {k} results");
    Arch::new().dispatch(affine::Affine { x, n, p, weights, k, out });
}

/// Maps columns of `n` numbers to `k` columns without a constant: `out[c * n + i] = sum_j weights[c * p + j] * x[j * n + i]`.
pub(crate) fn linear_columns(x: &[f64], n: usize, weights: &[f64], k: usize) -> Vec<f64> {
    let p = weights.len() / k;
    let with_constant: Vec<f64> =
        weights.chunks_exact(p).flat_map(|row| [0.0].into_iter().chain(row.iter().copied())).collect();
    let mut out = vec![0.0; n * k];
    affine_columns(x, n, p, &with_constant, k, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use pulp::{Scalar, Simd};

    fn assert_close(actual: f64, expected: f64, tolerance: f64) {
        assert!((actual - expected).abs() <= tolerance * expected.abs(), "{actual} is not {expected}");
    }

    #[test]
    fn exp_over_its_whole_range() {
        let x: Vec<f64> = (0..1_000_003).map(|i| -708.0 + 1417.0 * f64::from(i) / 1_000_002.0).collect();
        let (mut vectors, mut portable) = (x.clone(), x.clone());
        exp_in_place(&mut vectors);
        Scalar.vectorize(map::Map { f: map::Exp, x: &mut portable });
        for i in 0..x.len() {
            assert_close(vectors[i], x[i].exp(), 1e-14);
            assert_close(portable[i], x[i].exp(), 1e-14);
        }
    }

    #[test]
    fn exp_at_the_ends() {
        let mut x =
            [f64::NEG_INFINITY, -1e300, -709.0, 0.0, -0.0, 1e-300, 709.7, 709.8, 1e300, f64::INFINITY];
        let expected = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 709.7_f64.exp()].into_iter().chain([f64::INFINITY; 3]);
        exp_in_place(&mut x);
        for (x, expected) in x.into_iter().zip(expected) {
            assert!(x == expected || (x - expected).abs() <= 1e-14 * expected, "{x} is not {expected}");
        }
        let mut nan = [f64::from_bits(0x7FF0_0000_0000_0ABC), f64::NAN, -f64::NAN];
        exp_in_place(&mut nan);
        assert!(nan.iter().all(|x| x.is_nan()));
    }

    #[test]
    fn ridge_is_bounded() {
        let mut t = [-f64::MAX, -1e160, -3.0, -0.0, 0.0, 1e-200, 0.75, 1e8, 1e160, f64::MAX];
        let expected = [-1.0, -1.0, -3.0 / 10.0_f64.sqrt(), 0.0, 0.0, 1e-200, 0.6, 1.0, 1.0, 1.0];
        ridge_in_place(&mut t);
        for (t, expected) in t.into_iter().zip(expected) {
            assert_close(t, expected, 1e-15);
        }
    }

    proptest! {
        #[test]
        fn softmax_of_any_shape(
            n in 0_usize..300, k in 1_usize..12, shift in -1e4..1e4_f64, scale in 0.0..50.0_f64, norm: bool,
        ) {
            let logit = |c: usize, i: usize| shift + scale * ((c * 37 + i * 11) as f64).sin();
            let mut x: Vec<f64> = (0..n * k).map(|at| logit(at / n, at % n)).collect();
            let mut log_norm = vec![0.0; n];
            softmax_columns(&mut x, n, k, norm.then_some(&mut log_norm));
            for i in 0..n {
                let max = (0..k).map(|c| logit(c, i)).fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = (0..k).map(|c| (logit(c, i) - max).exp()).sum();
                for c in 0..k {
                    assert_close(x[c * n + i], (logit(c, i) - max).exp() / sum, 1e-13);
                }
                if norm {
                    prop_assert!((log_norm[i] - (max + sum.ln())).abs() <= 1e-13 * (1.0 + max.abs()));
                }
            }
        }

        #[test]
        fn affine_of_any_shape(n in 0_usize..70, p in 0_usize..14, k in 0_usize..14, portable: bool) {
            let x: Vec<f64> = (0..n * p).map(|at| (at as f64 * 0.7).sin()).collect();
            let weights: Vec<f64> = (0..k * (p + 1)).map(|at| (at as f64 * 1.3).cos()).collect();
            let mut out = vec![f64::NAN; n * k];
            if portable {
                Scalar.vectorize(affine::Affine { x: &x, n, p, weights: &weights, k, out: &mut out });
            } else {
                affine_columns(&x, n, p, &weights, k, &mut out);
            }
            for c in 0..k {
                let w = &weights[c * (p + 1)..][..p + 1];
                for i in 0..n {
                    let expected = (0..p).map(|j| w[j + 1] * x[j * n + i]).sum::<f64>() + w[0];
                    prop_assert!((out[c * n + i] - expected).abs() <= 1e-14 * (p + 1) as f64);
                }
            }
        }
    }
}
