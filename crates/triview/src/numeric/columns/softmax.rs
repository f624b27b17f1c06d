//! Normalising logits over columns.

use super::map::exp_below;
use pulp::{Simd, WithSimd};

/// Rows that are normalised at a time: their maxima and sums are 4 KiB.
const RUN: usize = 256;

/// The arguments of [`super::softmax_columns`].
pub(super) struct Softmax<'a> {
    pub(super) x: &'a mut [f64],
    pub(super) n: usize,
    pub(super) log_norm: Option<&'a mut [f64]>,
}

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (mut maxima, mut sums) = ([0.0; RUN], [0.0; RUN]);
        for start in (0..self.n).step_by(RUN) {
            let end = self.n.min(start + RUN);
            maxima.fill(f64::NEG_INFINITY);
            sums.fill(0.0);
            let max = S::as_mut_simd_f64s(&mut maxima).0;
            let sum = S::as_mut_simd_f64s(&mut sums).0;
            for column in self.x.chunks_exact_mut(self.n) {
                each(simd, Maximum, &mut column[start..end], max, sum);
            }
            for column in self.x.chunks_exact_mut(self.n) {
                each(simd, Exponential, &mut column[start..end], max, sum);
            }
            if let Some(log_norm) = &mut self.log_norm {
                for (i, log_norm) in log_norm[start..end].iter_mut().enumerate() {
                    *log_norm = maxima[i] + sums[i].ln();
                }
            }
            let max = S::as_mut_simd_f64s(&mut maxima).0;
            let sum = S::as_mut_simd_f64s(&mut sums).0;
            for sum in &mut *sum {
                *sum = simd.div_f64s(simd.splat_f64s(1.0), *sum);
            }
            for column in self.x.chunks_exact_mut(self.n) {
                each(simd, Scale, &mut column[start..end], max, sum);
            }
        }
    }
}

/// What is done to a vector of a column and to the maxima and sums of its rows.
trait Step {
    fn take<S: Simd>(&self, simd: S, x: &mut S::f64s, max: &mut S::f64s, sum: &mut S::f64s);
}

/// Takes a step for every row of a run of a column.
#[inline(always)]
fn each<S: Simd>(simd: S, step: impl Step, x: &mut [f64], max: &mut [S::f64s], sum: &mut [S::f64s]) {
    let (head, tail) = S::as_mut_simd_f64s(x);
    let whole = head.len();
    for ((x, max), sum) in head.iter_mut().zip(&mut *max).zip(&mut *sum) {
        step.take(simd, x, max, sum);
    }
    if !tail.is_empty() {
        let mut x = simd.partial_load_f64s(tail);
        step.take(simd, &mut x, &mut max[whole], &mut sum[whole]);
        simd.partial_store_f64s(tail, x);
    }
}

/// Finds the largest logit of each row.
struct Maximum;

impl Step for Maximum {
    #[inline(always)]
    fn take<S: Simd>(&self, simd: S, x: &mut S::f64s, max: &mut S::f64s, _: &mut S::f64s) {
        *max = simd.max_f64s(*max, *x);
    }
}

/// `exp(x - max)`, and its sum over columns.
struct Exponential;

impl Step for Exponential {
    #[inline(always)]
    fn take<S: Simd>(&self, simd: S, x: &mut S::f64s, max: &mut S::f64s, sum: &mut S::f64s) {
        *x = exp_below(simd, simd.sub_f64s(*x, *max));
        *sum = simd.add_f64s(*sum, *x);
    }
}

/// Multiplies by what now stands in the place of the sum.
struct Scale;

impl Step for Scale {
    #[inline(always)]
    fn take<S: Simd>(&self, simd: S, x: &mut S::f64s, _: &mut S::f64s, sum: &mut S::f64s) {
        *x = simd.mul_f64s(*x, *sum);
    }
}
