//! The moments' answer, drawn towards that of the fitted posterior.
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

use crate::answer::{Deviations, jackknife, share_believed};
use crate::answer::{Quantities, Solution};
use crate::answer::{Risk, least_risk, posterior_risk};
use crate::diagnostics::impossible;
use crate::error::Result;
use crate::moments::Moments;
use faer::Mat;

/// How far a difference must stand out of its error to be believed by half, squared.
const CAUTION: f64 = 2.0;
/// The same where there are more latent states than classes.
const CAUTION_OF_STATES: f64 = 16.0;

/// What the posterior of a feature map says, without any labels' help.
pub(crate) struct PlugIn {
    prior: Vec<f64>,
    risk: Risk,
    /// Of the [`Quantities`]; no naming, and so no lead of one.
    deviations: Deviations,
}

impl PlugIn {
    pub(crate) fn new(moments: &Moments) -> Result<Self> {
        let (layout, loss) = (moments.layout(), &*moments.header().loss);
        let names: Vec<usize> = (0..moments.header().schema.k()).collect();
        let read = |sums: &[f64]| {
            let (prior, risk) = posterior_risk(loss, layout, sums);
            let row = Quantities::row(0.0, &names, &prior, &risk);
            (prior, risk, row)
        };
        let (prior, risk, whole) = read(&moments.total());
        let deviations = jackknife(moments, &whole, |_, left| Ok(read(left).2))?;
        Ok(Self { prior, risk, deviations })
    }

    /// The squared standard error of the difference of the moments' risk from this one.
    pub(crate) fn variance_of_difference(&self, solution: &Solution) -> f64 {
        solution.deviations.of_difference(&self.deviations).powi(2)
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

/// The answer between the moments' and the posterior's.
pub(crate) struct Drawn {
    pub(crate) risk: f64,
    pub(crate) prior: Vec<f64>,
    /// `M_t` of each holder of terms, one column a class.
    pub(crate) conditional: Vec<Mat<f64>>,
    /// Of the [`Quantities`].
    pub(crate) deviations: Deviations,
    /// The share of the moments.
    pub(crate) share: f64,
}

impl Drawn {
    /// Errors of the answer are those of the posterior's mean, and of the moments' difference from it between all, as if
    /// the posterior said nothing, and `sqrt(w)`, as if its own error were known to be of the size of `d`: the geometric
    /// mean of these.
    pub(crate) fn new(moments: &Moments, solution: &Solution) -> Result<Self> {
        let (header, own) = (moments.header(), &solution.risk);
        let variance =
            header.features.settled().map_or(0.0, |settled| settled.variance / moments.rows() as f64);
        if variance == 0.0 {
            return Ok(Self::moments_own(solution));
        }
        let other = PlugIn::new(moments)?;
        let least = least_risk(moments.layout(), &moments.total());
        let possible = match impossible(own.value, solution.standard_error(), least) {
            false => share_possible(own.value, other.risk.value, least),
            true => 1.0,
        };
        let difference = possible * (own.value - other.risk.value);
        let caution = match header.states() {
            2 => 0.0,
            states if states > header.schema.k() => CAUTION_OF_STATES,
            _ => CAUTION,
        };
        let caution = caution * complete(moments);
        let share = |squared: f64| share_believed(squared, caution * variance);
        let believed = possible * share(difference * difference);
        if !difference.is_finite() || believed == 1.0 {
            return Ok(Self::moments_own(solution));
        }
        let between = |own: f64, other: f64| believed * own + (1.0 - believed) * other;
        let prior: Vec<f64> =
            solution.prior.iter().zip(&other.prior).map(|(own, other)| between(*own, *other)).collect();
        // Joint means are drawn, so that the risk of a sum is drawn as they are.
        let conditional =
            own.conditional.iter().zip(&other.risk.conditional).map(|(of_moments, of_posterior)| {
                Mat::from_fn(of_moments.nrows(), of_moments.ncols(), |i, j| {
                    let [own, other] =
                        [solution.prior[j] * of_moments[(i, j)], other.prior[j] * of_posterior[(i, j)]];
                    between(own, other) / prior[j]
                })
            });
        let remaining = share(difference * difference + variance).powf(0.25);
        let deviations =
            Deviations::mean(&[(&solution.deviations, remaining), (&other.deviations, 1.0 - remaining)]);
        Ok(Self {
            risk: between(own.value, other.risk.value),
            conditional: conditional.collect(),
            prior,
            deviations,
            share: believed,
        })
    }

    /// The answer of the moments alone.
    fn moments_own(solution: &Solution) -> Self {
        Self {
            risk: solution.risk.value,
            prior: solution.prior.clone(),
            conditional: solution.risk.conditional.clone(),
            deviations: solution.deviations.clone(),
            share: 1.0,
        }
    }

    /// The standard error of the risk.
    pub(crate) fn standard_error(&self, tail: f64) -> f64 {
        self.deviations.standard_error(Quantities::risk).hypot(tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::solve;
    use crate::data::InMemory;
    use crate::error::Result;
    use crate::estimator::Params;
    use crate::lab::{Population, Preset};
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    fn solved(preset: Preset, seed: u64) -> Result<(Moments, Solution)> {
        let population = Population::draw(&preset.setting(), seed)?;
        let (rows, _) = population.rows(4_000, &mut Pcg64::seed_from_u64(seed));
        let source = InMemory::new(population.schema().clone(), vec![rows]);
        let estimator = Params::new().check()?;
        let moments = estimator.moments(&source, &estimator.look(&source)?)?;
        let solution = solve(&moments, 0)?;
        Ok((moments, solution))
    }

    #[test]
    fn the_answer_lies_between_the_two_and_is_near_the_moments() -> Result<()> {
        for preset in [Preset::Three, Preset::Six] {
            let (moments, solution) = solved(preset, 100)?;
            let drawn = Drawn::new(&moments, &solution)?;
            let (_, posterior) = posterior_risk(&*moments.header().loss, moments.layout(), &moments.total());
            let ends = [solution.risk.value, posterior.value];
            assert!(ends[0].min(ends[1]) <= drawn.risk && drawn.risk <= ends[0].max(ends[1]));
            // The bound is in standard errors of the first look, which saw the same rows.
            let moved = (drawn.risk - solution.risk.value).abs() / solution.standard_error();
            assert!(moved <= 1.2 * 0.71, "{moved}");
            assert!(drawn.share > 0.0 && drawn.share < 1.0, "{}", drawn.share);
            assert!(drawn.standard_error(0.0) < solution.standard_error());
        }
        Ok(())
    }

    #[test]
    fn the_risk_is_that_of_the_prior_and_the_conditional_risk() -> Result<()> {
        let (moments, solution) = solved(Preset::Six, 101)?;
        let drawn = Drawn::new(&moments, &solution)?;
        let (layout, total) = (moments.layout(), moments.total());
        let offset = layout.loss.of(&total)[0] / moments.rows() as f64;
        let names: Vec<usize> = (0..6).collect();
        let again = moments.header().loss.risk(offset, &drawn.prior, &drawn.conditional, &names);
        assert!((again - drawn.risk).abs() < 1e-9, "{again} {}", drawn.risk);
        assert!((drawn.prior.iter().sum::<f64>() - 1.0).abs() < 1e-9);
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
        let drawn = Drawn::new(&moments, &solution)?;
        assert_eq!(drawn.risk.to_bits(), solution.risk.value.to_bits());
        assert_eq!(drawn.standard_error(0.0).to_bits(), solution.standard_error().to_bits());
        Ok(())
    }
}
