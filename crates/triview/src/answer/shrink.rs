//! The moments' answer, shrunk towards that of the fitted posterior.
//!
//! Surrogate labels are right on average whatever the features are, and noisy. Means under the posterior that the feature
//! map implies are quiet, and off by as much as the posterior is wrong. With `d` the difference of the two risks and `s`
//! its standard error, the share
//!
//! ```text
//!     w = d^2 / (d^2 + c s^2)
//! ```
//!
//! of the difference is believed, `c = 2`. That moves the answer by at most 0.71 such errors, and by less and less as rows
//! are added and `s` falls: what is consistent stays so. With two classes `c = 0`, and nothing is drawn. Where there are more
//! latent states than classes, labels of them are far noisier, and their posterior has a richer sieve: `c = 16`, and the
//! answer moves by at most 2 such errors. Either constant counts by the share of the rows that lack no view: with 30% of the
//! views missing the posterior's risk was 2.5 labelled standard errors too high (six classes, 40 draws), the moments' was not.
//!
//! No labels could make the risk smaller than the mean of each row's smallest loss. An answer of the moments that is, by no
//! more than noise explains, is first taken towards the posterior's until it is possible, with any number of classes.
//! Beyond noise it is a sign that views depend on each other: it is left as it is, and an alarm says so.

use super::blend::Blended;
use super::jackknife::{Deviations, jackknife};
use super::numbers::Numbers;
use super::quantities::Quantities;
use super::risk::{impossible, least_risk, posterior_risk};
use crate::error::Result;
use crate::moments::Moments;
use crate::settings::shrinkage::{CAUTION, CAUTION_OF_STATES, ERROR_POWER};

/// The share of a difference that is believed, given its square and that of its error, times a constant.
pub(crate) fn share_believed(squared: f64, noise: f64) -> f64 {
    if noise > 0.0 { squared / (squared + noise) } else { 1.0 }
}

/// What the posterior of a feature map says, without any labels' help.
pub(crate) struct PlugIn {
    quantities: Quantities,
    deviations: Deviations<Quantities>,
}

impl PlugIn {
    pub(crate) fn new(moments: &Moments) -> Result<Self> {
        let (layout, loss) = (moments.layout(), &*moments.plan().loss);
        let read = |sums: &[f64]| {
            let (prior, risk) = posterior_risk(loss, layout, sums);
            Quantities::of_classes(&prior, &risk)
        };
        let quantities = read(&moments.total());
        let deviations = jackknife(moments, &quantities, |_, left| Ok(read(left)))?;
        Ok(Self { quantities, deviations })
    }

    /// The squared standard error of the difference of the moments' risk from this one.
    pub(crate) fn variance_of_difference(&self, blended: &Blended) -> f64 {
        blended.deviations.of_difference(|q| q.risk, &self.deviations, |q| q.risk).powi(2)
    }
}

/// The share of the rows that lack no view, if views are missing whatever the others do.
fn complete(moments: &Moments) -> f64 {
    let (total, rows) = (moments.total(), moments.rows() as f64);
    moments.layout().missing.of(&total).iter().map(|missing| 1.0 - missing / rows).product()
}

/// The largest share of the way from one risk to another at which it is possible.
fn share_possible(to: f64, from: f64, least: f64) -> f64 {
    if to < least && least < from { (from - least) / (from - to) } else { 1.0 }
}

/// The answer between the moments' and the posterior's: what is printed, and what alarms judge.
#[derive(Debug, Clone)]
pub(crate) struct Shrunk {
    /// The answer of the moments alone.
    pub(crate) blended: Blended,
    pub(crate) quantities: Quantities,
    pub(crate) deviations: Deviations<Quantities>,
    /// The share of the moments.
    pub(crate) share: f64,
}

impl Blended {
    /// Errors of the answer are those of the posterior's mean, and of the moments' difference from it between all, as if
    /// the posterior said nothing, and `sqrt(w)`, as if its own error were known to be of the size of `d`: the geometric
    /// mean of these.
    pub(crate) fn shrink(self, moments: &Moments) -> Result<Shrunk> {
        let (plan, own) = (moments.plan(), &self.quantities);
        let variance = plan.look.settled().map_or(0.0, |settled| settled.variance / moments.rows() as f64);
        if variance == 0.0 {
            return Ok(self.unshrunk());
        }
        let other = PlugIn::new(moments)?;
        let least = least_risk(moments.layout(), &moments.total());
        let possible = match impossible(own.risk, self.standard_error(), least) {
            false => share_possible(own.risk, other.quantities.risk, least),
            true => 1.0,
        };
        let difference = possible * (own.risk - other.quantities.risk);
        let caution = match plan.states() {
            2 => 0.0,
            states if states > plan.schema.k() => CAUTION_OF_STATES,
            _ => CAUTION,
        };
        let caution = caution * complete(moments);
        let share = |squared: f64| share_believed(squared, caution * variance);
        let believed = possible * share(difference * difference);
        if !difference.is_finite() || believed == 1.0 {
            return Ok(self.unshrunk());
        }
        let between = Quantities::combine(&[(own, believed), (&other.quantities, 1.0 - believed)]);
        let remaining = share(difference * difference + variance).powf(ERROR_POWER);
        let deviations =
            Deviations::mean(&[(&self.deviations, remaining), (&other.deviations, 1.0 - remaining)]);
        // The posterior's classes are named, and no naming comes second.
        let quantities = Quantities { gap: own.gap, ..between };
        Ok(Shrunk { quantities, deviations, share: believed, blended: self })
    }

    /// The answer of the moments alone.
    fn unshrunk(self) -> Shrunk {
        let (quantities, deviations) = (self.quantities.clone(), self.deviations.clone());
        Shrunk { quantities, deviations, share: 1.0, blended: self }
    }
}

impl Shrunk {
    /// The standard error of the risk: the jackknife's, and all that rests on the fitted posterior alone.
    pub(crate) fn standard_error(&self) -> f64 {
        self.deviations.standard_error(|q| q.risk).hypot(self.blended.tail)
    }

    /// That of the lead of the best naming, of which the posterior says nothing.
    pub(crate) fn gap_error(&self) -> f64 {
        self.blended.deviations.standard_error(|q| q.gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::solve;
    use crate::data::{InMemory, Sample};
    use crate::estimator::Params;
    use crate::lab::{Population, Preset};
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    fn solved(preset: Preset, seed: u64) -> Result<(Moments, Blended)> {
        let population = Population::draw(&preset.setting(), seed)?;
        let (rows, _) = population.rows(4_000, &mut Pcg64::seed_from_u64(seed));
        let source = InMemory::new(population.schema().clone(), [rows]);
        let estimator = Params::new().check()?;
        let moments = estimator.moments(&source, &estimator.plan(&Sample::of(&source)?)?)?;
        let solution = solve(&moments, 0)?;
        Ok((moments, solution))
    }

    #[test]
    fn the_answer_lies_between_the_two_and_is_near_the_moments() -> Result<()> {
        for preset in [Preset::Three, Preset::Six] {
            let (moments, solution) = solved(preset, 100)?;
            let shrunk = solution.clone().shrink(&moments)?;
            let (_, posterior) = posterior_risk(&*moments.plan().loss, moments.layout(), &moments.total());
            let (own, risk) = (solution.quantities.risk, shrunk.quantities.risk);
            assert!(own.min(posterior.value) <= risk && risk <= own.max(posterior.value));
            // The bound is in standard errors of the first look, which saw the same rows.
            let moved = (risk - own).abs() / solution.standard_error();
            assert!(moved <= 1.2 * 0.71, "{moved}");
            assert!(shrunk.share > 0.0 && shrunk.share < 1.0, "{}", shrunk.share);
            assert!(shrunk.standard_error() < solution.standard_error());
        }
        Ok(())
    }

    #[test]
    fn the_risk_is_that_of_the_prior_and_the_conditional_risk() -> Result<()> {
        let (moments, solution) = solved(Preset::Six, 101)?;
        let shrunk = solution.shrink(&moments)?.quantities;
        let (layout, total) = (moments.layout(), moments.total());
        let offset = layout.offset.scalar(&total) / moments.rows() as f64;
        let names: Vec<usize> = (0..6).collect();
        let again = moments.plan().loss.risk(offset, &shrunk.prior, &shrunk.conditional(), &names);
        assert!((again - shrunk.risk).abs() < 1e-9, "{again} {}", shrunk.risk);
        assert!((shrunk.prior.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        Ok(())
    }

    #[test]
    fn an_answer_that_is_impossible_is_taken_to_where_it_is_not() {
        let share = share_possible(-0.2, 0.3, 0.05);
        assert!((0.3 + share * (-0.2 - 0.3) - 0.05).abs() < 1e-12, "{share}");
        assert_eq!(share_possible(0.1, 0.3, 0.05), 1.0);
        // A posterior that is impossible too has nothing to say.
        assert_eq!(share_possible(-0.2, -0.1, 0.05), 1.0);
    }

    #[test]
    fn two_classes_have_the_moments_answer() -> Result<()> {
        let (moments, solution) = solved(Preset::Two, 100)?;
        let shrunk = solution.clone().shrink(&moments)?;
        assert_eq!(shrunk.quantities.risk.to_bits(), solution.quantities.risk.to_bits());
        assert_eq!(shrunk.standard_error().to_bits(), solution.standard_error().to_bits());
        Ok(())
    }
}
