//! The smallest value of the risk in a ball (eq. 7), to a stated gap.
//!
//! A minimiser of `F(theta) + lambda / 2 |theta|^2` is the minimiser of `F` in the ball of radius `|theta|`: so the radius is
//! found through the penalty, by L-BFGS from the last point. Whatever the point, in a ball of radius `rho` no value is
//! smaller by more than
//!
//! ```text
//!     gap(theta) = g . theta + rho |g|,    g = gradient of F at theta,
//! ```
//!
//! because `F` is convex. That is what is stated, and what decides when to stop.

use super::linear::Shape;
use super::objective::{labelled_phi, value_and_gradient};
use super::rows::{FeatureBatch, FeatureSchema, FeatureSource};
use super::units::Units;
use crate::data::InMemory;
use crate::error::Result;
use crate::numeric::lbfgs::minimise;
use crate::numeric::linalg::dot;
use crate::settings::ball::{
    ITERATIONS, LONGEST, LOOKS, PASSES, PENALTIES, RAY_STEPS, SHORTEST, STRONGEST, WEAKEST,
};
use std::cell::RefCell;

/// The risk to be minimised: `E[A(theta; x)] - theta . phi` over the rows of a source with standardised features. Labelled
/// rows of an old domain have their log loss in it with a share of their own.
pub(crate) struct LogRisk<'a, S> {
    pub(crate) source: &'a S,
    pub(crate) shape: &'a Shape,
    /// `phi-bar` of standardised features.
    pub(crate) phi: &'a [f64],
    pub(crate) old: Option<(&'a OldRows, f64)>,
}

/// Labelled rows of an old domain in units of their own, and their `phi-bar`.
#[derive(Debug)]
pub(crate) struct OldRows {
    source: InMemory<FeatureSchema, FeatureBatch>,
    phi: Vec<f64>,
}

impl OldRows {
    /// All rows must have a label. In the new domain's units a feature that hardly varies there could be enormous here.
    pub(crate) fn new(schema: &FeatureSchema, shape: &Shape, rows: &FeatureBatch) -> Result<Self> {
        let source = |rows| InMemory::new(schema.clone(), [rows]);
        let units = Units::cautious(&source(rows.clone()), shape.classes)?;
        let phi = units.gradient(&labelled_phi(shape, rows));
        Ok(Self { source: source(units.standardise(rows)), phi })
    }
}

/// A point and what is known of it.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    /// The parameters of standardised features.
    pub(crate) standard: Vec<f64>,
    /// Their norm: the radius of the ball whose minimiser it is.
    pub(crate) radius: f64,
    /// By how much the value may be above the smallest in the ball.
    pub(crate) gap: f64,
    /// How often the rows were read.
    pub(crate) passes: usize,
}

impl<S: FeatureSource> LogRisk<'_, S> {
    /// The value and the gradient.
    fn at(&self, theta: &[f64]) -> Result<(f64, Vec<f64>), S::Error> {
        let (mut value, mut gradient) = value_and_gradient(self.source, self.shape, self.phi, theta)?;
        if let Some((old, share)) = self.old {
            let (of_old, slopes) = value_and_gradient(&old.source, self.shape, &old.phi, theta)?;
            value += share * (of_old - value);
            gradient.iter_mut().zip(slopes).for_each(|(g, slope)| *g += share * (slope - *g));
        }
        Ok((value, gradient))
    }

    /// The minimiser under a penalty, to a gap in the ball of its own radius.
    pub(crate) fn penalised(&self, penalty: f64, start: &[f64], most: f64) -> Result<Point, S::Error> {
        self.penalised_within(penalty, start, most, PASSES)
    }

    /// The same in at most so many passes, or some more.
    fn penalised_within(
        &self,
        penalty: f64,
        start: &[f64],
        most: f64,
        most_passes: usize,
    ) -> Result<Point, S::Error> {
        let failed = RefCell::new(None);
        let passes = RefCell::new(0);
        let function = |standard: &[f64]| {
            *passes.borrow_mut() += 1;
            if *passes.borrow() > most_passes {
                // Nothing is lower than what was found: the search ends.
                return (f64::INFINITY, vec![0.0; standard.len()]);
            }
            match self.at(standard) {
                Ok((value, gradient)) => {
                    let pulled = gradient.iter().zip(standard).map(|(g, x)| g + penalty * x).collect();
                    (value + 0.5 * penalty * dot(standard, standard), pulled)
                }
                Err(error) => {
                    // Nothing is lower than here: the search ends.
                    failed.borrow_mut().get_or_insert(error);
                    (f64::INFINITY, vec![0.0; standard.len()])
                }
            }
        };
        let mut standard = start.to_vec();
        let mut gap = f64::INFINITY;
        // A gradient r is left of the penalised value: g = r - lambda theta, and the gap is some r^2 / (2 lambda).
        let mut tolerance = (penalty * most).sqrt();
        for _ in 0..LOOKS {
            let minimum = minimise(function, standard, tolerance, ITERATIONS);
            if let Some(error) = failed.take() {
                return Err(error);
            }
            standard = minimum.point;
            let (_, gradient) = self.at(&standard)?;
            *passes.borrow_mut() += 1;
            let (radius, before) = (norm(&standard), gap);
            gap = dot(&gradient, &standard) + radius * norm(&gradient);
            let spent = *passes.borrow() > most_passes;
            if gap <= most || (gap > 0.95 * before && minimum.converged) || spent {
                break;
            }
            tolerance *= 0.3;
        }
        Ok(Point { radius: norm(&standard), standard, gap, passes: passes.into_inner() })
    }

    /// The minimiser in the ball of this radius, to a gap, or the point with the smallest gap of those that so many passes lead to: in a
    /// ball that the rows cannot fill, or that is so large that its values are beyond the digits of the sums, no number of passes is enough.
    pub(crate) fn in_ball(&self, radius: f64, start: &[f64], most: f64) -> Result<Point, S::Error> {
        let (mut strong, mut weak) = (STRONGEST.ln(), WEAKEST.ln());
        let mut penalty = 0.1f64;
        let (mut at, mut passes) = (start.to_vec(), 0);
        let mut best: Option<Point> = None;
        // Logarithms of the last penalty, and of the radius that it led to.
        let mut last: Option<(f64, f64)> = None;
        for _ in 0..PENALTIES {
            let point = self.penalised_within(penalty, &at, 0.3 * most, PASSES.saturating_sub(passes))?;
            passes += point.passes + 1;
            let scale = if point.radius > radius { radius / point.radius } else { 1.0 };
            let inside: Vec<f64> = point.standard.iter().map(|x| x * scale).collect();
            let (_, gradient) = self.at(&inside)?;
            let gap = dot(&gradient, &inside) + radius * norm(&gradient);
            if best.as_ref().is_none_or(|best| gap < best.gap) {
                best = Some(Point { radius: norm(&inside), standard: inside, gap, passes });
            }
            if passes >= PASSES || best.as_ref().is_some_and(|best| best.gap <= most) {
                break;
            }
            // The norm falls as the penalty grows, about like a power of it: the secant's, once there are two points.
            let (x, y) = (penalty.ln(), point.radius.max(1e-12).ln());
            if point.radius > radius {
                weak = x
            } else {
                strong = x
            }
            let slope =
                last.map(|(x0, y0)| (x - x0) / (y - y0)).filter(|slope| (-10.0..-0.2).contains(slope));
            let guess = x + slope.unwrap_or(-1.5) * (radius.ln() - y);
            let margin = 0.02 * (strong - weak);
            penalty = guess.clamp(weak + margin, strong - margin).exp();
            last = Some((x, y));
            at = point.standard;
        }
        let mut best = best.unwrap_or(Point { standard: at, radius: 0.0, gap: f64::INFINITY, passes });
        best.passes = passes;
        Ok(best)
    }
}

impl<S: FeatureSource> LogRisk<'_, S> {
    /// The point on the ray through this one where the risk is smallest, up to so many times as long: a penalty that keeps noise out also
    /// makes a model less sure than its labels are.
    pub(crate) fn on_ray(&self, standard: &[f64]) -> Result<Vec<f64>, S::Error> {
        let at = |length: f64| standard.iter().map(|x| length * x).collect::<Vec<f64>>();
        let slope = |length: f64| -> Result<f64, S::Error> { Ok(dot(&self.at(&at(length))?.1, standard)) };
        // The slope grows along the ray, for the risk is convex: regula falsi, with the end that stays put halved (Illinois).
        let (mut low, mut high) = ((SHORTEST, slope(SHORTEST)?), (LONGEST, slope(LONGEST)?));
        if low.1 >= 0.0 || high.1 <= 0.0 {
            return Ok(at(if low.1 >= 0.0 { SHORTEST } else { LONGEST }));
        }
        let mut length = 1.0;
        for _ in 0..RAY_STEPS {
            let here = slope(length)?;
            if here < 0.0 {
                low = (length, here);
                high.1 *= 0.5;
            } else {
                high = (length, here);
                low.1 *= 0.5;
            }
            length = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
        }
        Ok(at(length))
    }
}

/// The Euclidean norm.
pub(crate) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::example::{CLASSES, WIDTHS, rows, unlabelled};
    use super::super::units::Standard;
    use super::*;

    #[test]
    fn the_best_length_is_found() -> Result<()> {
        let rows = rows(400, 0.5, 2);
        let (source, shape) = (unlabelled(&rows), Shape { widths: WIDTHS.to_vec(), classes: CLASSES });
        let units = Units::of(&source, CLASSES)?;
        let phi = units.gradient(&labelled_phi(&shape, &rows));
        let standard = Standard { source: &source, units: &units };
        let risk = LogRisk { source: &standard, shape: &shape, phi: &phi, old: None };
        let short = risk.penalised(0.3, &vec![0.0; shape.len()], 1e-6)?.standard;
        let best = risk.on_ray(&short)?;
        let value = |length: f64| -> Result<f64> {
            Ok(risk.at(&best.iter().map(|x| length * x).collect::<Vec<f64>>())?.0)
        };
        assert!(norm(&best) > 1.1 * norm(&short));
        assert!(value(1.0)? <= value(0.97)? && value(1.0)? <= value(1.03)?);
        Ok(())
    }

    #[test]
    fn the_gap_bounds_what_is_left_to_gain_in_the_ball() -> Result<()> {
        let rows = rows(400, 0.5, 2);
        let (source, shape) = (unlabelled(&rows), Shape { widths: WIDTHS.to_vec(), classes: CLASSES });
        let units = Units::of(&source, CLASSES)?;
        let phi = units.gradient(&labelled_phi(&shape, &rows));
        let risk = LogRisk {
            source: &Standard { source: &source, units: &units },
            shape: &shape,
            phi: &phi,
            old: None,
        };
        let start = vec![0.0; shape.len()];
        let sharp = risk.in_ball(1.5, &start, 1e-6)?;
        assert!((sharp.radius - 1.5).abs() < 1e-3 && sharp.gap <= 1e-6, "{} {}", sharp.radius, sharp.gap);
        let (least, _) = risk.at(&sharp.standard)?;
        for gap in [1e-2, 1e-4] {
            let point = risk.in_ball(1.5, &start, gap)?;
            let (value, _) = risk.at(&point.standard)?;
            assert!(point.radius <= 1.5 + 1e-12 && point.gap <= gap);
            // The least value itself is known to 1e-6, and values to single precision.
            assert!(value - least <= point.gap + 2e-6, "{} {}", value - least, point.gap);
        }
        // A ball that holds the minimiser is not filled.
        let wide = risk.in_ball(1e4, &start, 1e-3)?;
        assert!(wide.radius < 1e4);
        // No point of the rows' distribution has such a mean: the value falls as far as the ball reaches.
        let beyond: Vec<f64> = phi.iter().map(|phi| 3.0 * phi).collect();
        let endless = LogRisk { phi: &beyond, ..risk };
        let point = endless.in_ball(1e6, &start, 1e-3)?;
        // Each penalty ends with one line search more, and two looks.
        assert!(
            point.passes < PASSES + 100 * PENALTIES && point.radius <= 1e6,
            "{} {}",
            point.passes,
            point.radius
        );
        Ok(())
    }
}
