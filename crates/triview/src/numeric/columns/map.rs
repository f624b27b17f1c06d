//! Functions of one number.

use pulp::{Simd, WithSimd};

/// A function of one number, taken of every lane of a vector.
pub(super) trait Function {
    /// Its value.
    fn of<S: Simd>(&self, simd: S, x: S::f64s) -> S::f64s;
}

/// Replaces every `x` by `f(x)`.
pub(super) struct Map<'a, F> {
    pub(super) f: F,
    pub(super) x: &'a mut [f64],
}

impl<F: Function> WithSimd for Map<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (head, tail) = S::as_mut_simd_f64s(self.x);
        for x in head {
            *x = self.f.of(simd, *x);
        }
        if !tail.is_empty() {
            let x = simd.partial_load_f64s(tail);
            simd.partial_store_f64s(tail, self.f.of(simd, x));
        }
    }
}

/// `t / sqrt(1 + t^2)`.
pub(super) struct Ridge;

impl Function for Ridge {
    #[inline(always)]
    fn of<S: Simd>(&self, simd: S, t: S::f64s) -> S::f64s {
        // From 1e8 on the result is 1 to the last bit, but past 1e154 the square would overflow.
        let t = simd.min_f64s(simd.splat_f64s(1e100), simd.max_f64s(simd.splat_f64s(-1e100), t));
        simd.div_f64s(t, simd.sqrt_f64s(simd.mul_add_e_f64s(t, t, simd.splat_f64s(1.0))))
    }
}

/// `exp(x)`.
pub(super) struct Exp;

impl Function for Exp {
    #[inline(always)]
    fn of<S: Simd>(&self, simd: S, x: S::f64s) -> S::f64s {
        let overflows = simd.add_f64s(x, simd.splat_f64s(f64::INFINITY));
        let below = simd.less_than_or_equal_f64s(x, simd.splat_f64s(RANGE[1]));
        simd.select_f64s(below, exp_below(simd, x), overflows)
    }
}

/// Below the first the result would not be a normal number, above the second it overflows.
const RANGE: [f64; 2] = [-708.0, 709.782_712_893_384];

/// Terms of the series above the constant: the first one left out is at most `0.3466^12 / 12! = 6.3e-15`.
const TERMS: usize = 11;

/// `1 / i!`.
const SERIES: [f64; TERMS + 1] = {
    let mut series = [1.0; TERMS + 1];
    let mut i = 1;
    while i <= TERMS {
        series[i] = series[i - 1] / i as f64;
        i += 1;
    }
    series
};

/// 1.5 * 2^52: a number of magnitude below 2^51 that is added to it is rounded to an integer, which then
/// stands in the lowest bits of the sum.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// The first 33 bits of log 2, whose products with `m` are exact, and the rest (fdlibm, `e_exp.c`).
const LOG_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];

/// `exp(x)` for `x` that does not overflow.
///
/// `exp(x) = 2^m exp(r)` with `m` the integer nearest to `x / log 2`, so that `|r| <= (log 2) / 2`, and the
/// Taylor series of `exp(r)`.
#[inline(always)]
pub(super) fn exp_below<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let rounded = simd.mul_add_e_f64s(x, simd.splat_f64s(std::f64::consts::LOG2_E), simd.splat_f64s(ROUND));
    let m = simd.sub_f64s(rounded, simd.splat_f64s(ROUND));
    let r = simd.negate_mul_add_e_f64s(m, simd.splat_f64s(LOG_2[0]), x);
    let r = simd.negate_mul_add_e_f64s(m, simd.splat_f64s(LOG_2[1]), r);
    let mut series = simd.splat_f64s(SERIES[TERMS]);
    for i in (0..TERMS).rev() {
        series = simd.mul_add_e_f64s(series, r, simd.splat_f64s(SERIES[i]));
    }
    // The exponent begins at bit 52. There is no shift of 64 bits to call; this product compiles to one.
    let exponent = simd.mul_u64s(simd.transmute_u64s_f64s(rounded), simd.splat_u64s(1 << 52));
    let scaled = simd.add_u64s(simd.transmute_u64s_f64s(series), exponent);
    let vanishes = simd.less_than_f64s(x, simd.splat_f64s(RANGE[0]));
    simd.select_f64s(vanishes, simd.splat_f64s(0.0), simd.transmute_f64s_u64s(scaled))
}
