//! The maximum of a function of one number.

use crate::interrupt;

/// Where a function with one maximum between two numbers has it, after so many steps, each of which leaves 0.62 of the range.
pub(crate) fn golden_section([mut low, mut high]: [f64; 2], steps: usize, of: impl Fn(f64) -> f64) -> f64 {
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_left, mut at_right) = (of(left), of(right));
    for _ in 0..steps {
        interrupt::check();
        if at_left > at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - ratio * (high - low);
            at_left = of(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + ratio * (high - low);
            at_right = of(right);
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_of_a_parabola_is_found() {
        for top in [-1.4, 0.0, 0.3, 0.9] {
            let found = golden_section([-1.5, 1.0], 40, |x| -(x - top) * (x - top));
            assert!((found - top).abs() < 1e-7, "{found} {top}");
        }
    }
}
