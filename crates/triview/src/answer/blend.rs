//! The variants of an answer averaged.

use super::jackknife::Deviations;
use super::numbers::Numbers;
use super::quantities::{Quantities, sum_by_name};
use super::variants::{Variant, Variants};
use crate::moments::{Moments, Settled};
use crate::settings::BLEND_POWER;

/// The weighted mean of all variants of an answer.
#[derive(Debug, Clone)]
pub(crate) struct Blended {
    pub(crate) variants: Variants,
    /// The place of the variant that stands for all where there can be only one: the one with the largest weight.
    main: usize,
    /// How much each variant should count by the standard errors seen here: what a plan that is made of these rows settles.
    pub(crate) weights: Vec<f64>,
    pub(crate) quantities: Quantities,
    pub(crate) deviations: Deviations<Quantities>,
    /// What of the risk was cut off and rests on the fitted posterior.
    pub(crate) tail: f64,
}

impl Blended {
    /// The variant that stands for all where there can be only one.
    pub(crate) fn main(&self) -> &Variant {
        &self.variants.all[self.main]
    }

    /// The prior of each latent state: its share in its class by the main variant, of that class's prior.
    pub(crate) fn state_prior(&self, class_prior: &[f64]) -> Vec<f64> {
        let (names, prior) = (&self.main().matching.names, &self.main().mixture.prior);
        let totals = sum_by_name(names, |z| prior[z]);
        names.iter().zip(prior).map(|(&class, p)| class_prior[class] * p / totals[class]).collect()
    }

    /// The standard error of the risk: the jackknife's, and all that rests on the fitted posterior alone.
    pub(crate) fn standard_error(&self) -> f64 {
        self.deviations.standard_error(|q| q.risk).hypot(self.tail)
    }
}

impl Variants {
    /// Their mean, with the weights that the plan has settled, or, where it has none, the variant with the smallest standard error.
    pub(super) fn blend(self, moments: &Moments) -> Blended {
        let all = &self.all;
        let errors: Vec<f64> = all.iter().map(Variant::standard_error).collect();
        let weights = match moments.plan().look.settled() {
            Some(Settled { blend, .. }) if blend.len() == all.len() => blend.clone(),
            _ if self.implicit => steadiest(&all[0].deviations, &all[1].deviations),
            _ => {
                let best =
                    (0..errors.len()).fold(0, |best, i| if errors[i] < errors[best] { i } else { best });
                (0..errors.len()).map(|i| f64::from(u8::from(i == best))).collect()
            }
        };
        let largest = (0..weights.len()).fold(0, |best, i| if weights[i] > weights[best] { i } else { best });
        // Of many classes both variants have one fit and count about alike, but linear labels are far noisier: the error rate of 100
        // classes by triples drawn by them had a standard error of 1.3, and by pair labels one of 0.2.
        let main = if self.implicit { 1 } else { largest };
        let used: Vec<(&Variant, f64)> =
            all.iter().zip(weights).filter(|(_, weight)| *weight > 0.0).collect();
        let quantities: Vec<_> =
            used.iter().map(|(variant, weight)| (&variant.quantities, *weight)).collect();
        let deviations: Vec<_> =
            used.iter().map(|(variant, weight)| (&variant.deviations, *weight)).collect();
        Blended {
            quantities: Quantities::combine(&quantities),
            deviations: Deviations::mean(&deviations),
            tail: used.iter().map(|(variant, weight)| weight * variant.tail).sum(),
            weights: by_standard_error(&errors),
            main,
            variants: self,
        }
    }
}

/// Weights that fall with the eighth power of the standard error: a variant with twice the error of the best
/// counts for nothing, and of two that are as good neither wins by the chance of how rows fell into blocks.
fn by_standard_error(errors: &[f64]) -> Vec<f64> {
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let raw: Vec<f64> = errors
        .iter()
        .map(|error| if least > 0.0 && least.is_finite() { (least / error).powi(BLEND_POWER) } else { 1.0 })
        .collect();
    let total: f64 = raw.iter().sum();
    raw.iter().map(|weight| weight / total).collect()
}

/// The weights from 0 to 1 of two variants under which their mean has the smallest standard error.
///
/// Linear surrogates are inverse to the other views' class means, pair surrogates proportional to the view's own: an
/// error that the fit makes in all class means alike moves the two variants in opposite ways, and their mean little.
fn steadiest(first: &Deviations<Quantities>, second: &Deviations<Quantities>) -> Vec<f64> {
    let [a, b] = [first, second].map(|deviations| deviations.standard_error(|q| q.risk).powi(2));
    let apart = first.of_difference(|q| q.risk, second, |q| q.risk).powi(2);
    let weight = (0.5 * (b - a + apart) / apart).clamp(0.0, 1.0);
    if weight.is_finite() { vec![weight, 1.0 - weight] } else { vec![0.5, 0.5] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_the_error_counts_for_nothing_and_equal_errors_alike() {
        let weights = by_standard_error(&[1.0, 2.0, 1.0]);
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((weights[0] - weights[2]).abs() < 1e-12 && weights[1] < 0.002, "{weights:?}");
        assert_eq!(by_standard_error(&[f64::INFINITY; 2]), [0.5; 2]);
    }
}
