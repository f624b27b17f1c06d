//! Independent tests put together.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// The chance of so small chances of independent tests (Fisher): `-2 sum ln p` is chi-squared with two degrees of freedom a test.
pub(crate) fn together(p_values: &[f64]) -> Option<f64> {
    let statistic: f64 = p_values.iter().map(|p| -2.0 * p.max(f64::MIN_POSITIVE).ln()).sum();
    ChiSquared::new(2.0 * p_values.len() as f64).ok().map(|chi| chi.sf(statistic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_put_together() {
        // One test alone is itself.
        assert!((together(&[0.3]).unwrap_or(0.0) - 0.3).abs() < 1e-9);
        // Two of 0.1: 0.01 (1 - ln 0.01).
        assert!((together(&[0.1, 0.1]).unwrap_or(0.0) - 0.01 * (1.0 - 0.01f64.ln())).abs() < 1e-9);
        assert!(together(&[0.0; 3]).is_some_and(|p| p < 1e-9));
    }
}
