//! What the items whose class is known say of the labels of all.
//!
//! Posteriors of votes are too sure of themselves wherever annotators err together, and nothing in the votes shows by how much.
//! Gold does: with one power for all posteriors, `p_j^b / sum_l p_l^b`, chosen by the posteriors of gold (each made without its own
//! gold), the mean of the largest over all other items is how often the labels are right. One power cannot be right for every
//! crowd, so its answer is given a standing doubt, and combined with the plain share of gold whose label is wrong, each by its
//! variance. Both rest on the same gold: but for the doubt their errors are taken to go together.

use super::annotators::share;
use super::cast::Votes;
use crate::answer::{Interval, assign};
use crate::metrics::Measured;
use crate::numeric::{argmax, golden_section};
use crate::settings::em::FLOOR;
use crate::settings::gold::{DOUBT, ERRORS, POWER, PRIOR_ITEMS, RANGE, STEP, STEPS};
use faer::Mat;
use statrs::distribution::{ContinuousCDF, Normal};

/// What gold says.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct GoldReport {
    /// Items whose class is known.
    pub items: usize,
    /// How many of them would have another label by their votes.
    pub wrong: usize,
    /// How often labels are wrong by these items alone.
    pub alone: Measured,
    /// The same by the posteriors of all other items, recalibrated; its standard error has the doubt in it.
    pub recalibrated: Measured,
    /// The power that posteriors are raised to: below one where votes are too sure.
    pub power: f64,
    /// What the recalibration may be off by, whatever the gold says.
    pub doubt: f64,
    /// Whether gold would call the classes by other names.
    pub contradicts_names: bool,
}

/// Gold, and what it makes of the posteriors of votes.
pub(crate) struct Recalibration {
    pub(crate) report: GoldReport,
    /// How often the labels of items without gold are wrong.
    pub(crate) error_rate: Measured,
    /// The posteriors, recalibrated; of gold certain.
    pub(crate) posteriors: Vec<f64>,
}

impl Recalibration {
    /// From the posteriors that votes give to every item, gold left out of its own; nothing without gold.
    pub(crate) fn new(votes: &Votes, posteriors: &[f64], level: f64) -> Option<Self> {
        let k = votes.k();
        let of = |item: usize| &posteriors[item * k..(item + 1) * k];
        let items = votes.golds().count();
        if items == 0 {
            return None;
        }
        let quantile = Normal::standard().inverse_cdf(0.5 + 0.5 * level);
        let labels: Vec<[usize; 2]> =
            votes.golds().map(|[item, class]| [class, argmax(of(item).iter().copied())]).collect();
        let wrong = labels.iter().filter(|[class, label]| class != label).count();
        let density = |log_power: f64| -> f64 {
            let power = log_power.exp();
            let of_gold = |[item, class]: [usize; 2]| powered(of(item), power, class);
            votes.golds().map(of_gold).sum::<f64>()
                - ((log_power - POWER.mean) / POWER.deviation).powi(2) / 2.0
        };
        let best = golden_section(RANGE, STEPS, density);
        let curvature = (2.0 * density(best) - density(best + STEP) - density(best - STEP)) / STEP.powi(2);
        let deviation = 1.0 / curvature.max(POWER.deviation.powi(-2)).sqrt();
        let others = (0..votes.items()).filter(|item| votes.gold(*item).is_none()).map(of);
        let error_at = |log_power: f64| error_rate(others.clone(), log_power.exp());
        let value = error_at(best);
        let slope = 0.5 * (error_at(best + deviation) - error_at(best - deviation)).abs();
        let recalibrated = Measured {
            value,
            standard_error: slope.hypot(DOUBT),
            interval: Interval::around(value, quantile, slope.hypot(DOUBT)).within(0.0, 1.0),
        };
        let alone = share(wrong as f64 / items as f64, items as f64, quantile);
        // A share of 0 of 20 is not known without error: the variance is that of a share drawn towards the other answer.
        let n = items as f64;
        let drawn = (wrong as f64 + PRIOR_ITEMS * value) / (n + PRIOR_ITEMS);
        let (weight, error) = combination((drawn * (1.0 - drawn) / n).sqrt(), slope);
        let combined = weight * value + (1.0 - weight) * alone.value;
        let trials = (combined * (1.0 - combined) / error.powi(2)).max(f64::MIN_POSITIVE);
        let report = GoldReport {
            items,
            wrong,
            alone,
            recalibrated,
            power: best.exp(),
            doubt: DOUBT,
            contradicts_names: contradicted(&labels, k),
        };
        let error_rate = Measured {
            value: combined,
            standard_error: error,
            interval: Interval::of_share(combined, trials, quantile),
        };
        Some(Self { report, error_rate, posteriors: recalibrate(votes, posteriors, best.exp()) })
    }
}

/// The weight of the recalibrated error rate beside that of gold alone, and the standard error of both together, from the
/// standard errors that gold gives to the latter and to the former.
fn combination(alone: f64, recalibrated: f64) -> (f64, f64) {
    let other = recalibrated.powi(2) + DOUBT.powi(2);
    let weight = alone.powi(2) / (alone.powi(2) + other);
    (weight, (weight * recalibrated + (1.0 - weight) * alone).hypot(weight * DOUBT))
}

/// How wide the interval of the error rate would be with so many gold items.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    /// The error rate to be expected.
    error_rate: f64,
    /// The variance of the recalibrated one without its doubt, times the number of gold items that it rests on; nothing where there is no
    /// gold yet, and the recalibration is not counted on.
    variance: Option<f64>,
}

impl Plan {
    /// Without any gold yet: from the error rate at the usual power of the posteriors, item by item.
    pub(crate) fn without_gold(posteriors: &[f64], k: usize) -> Self {
        Self { error_rate: error_rate(posteriors.chunks_exact(k), POWER.mean.exp()), variance: None }
    }

    /// From what gold there is, and the error rate that it gives.
    pub(crate) fn with_gold(report: &GoldReport, error_rate: f64) -> Self {
        let variance = report.recalibrated.standard_error.powi(2) - DOUBT.powi(2);
        Self { error_rate, variance: Some(variance.max(0.0) * report.items as f64) }
    }

    /// The width with so many items of gold.
    pub(crate) fn width(&self, items: f64, level: f64) -> f64 {
        let quantile = Normal::standard().inverse_cdf(0.5 + 0.5 * level);
        let spread = self.error_rate * (1.0 - self.error_rate);
        let own = spread / items;
        let error = match self.variance {
            None => own.sqrt(),
            Some(variance) => combination(own.sqrt(), (variance / items).sqrt()).1,
        };
        let Interval { low, high } = Interval::of_share(self.error_rate, spread / error.powi(2), quantile);
        high - low
    }

    /// The fewest items that bring the interval to a width, where that many of so many do.
    pub(crate) fn items_for(&self, width: f64, level: f64, most: u64) -> Option<u64> {
        let enough = |items: u64| self.width(items as f64, level) <= width;
        if most == 0 || !enough(most) {
            return None;
        }
        let (mut few, mut many) = (0, most);
        while many - few > 1 {
            let middle = few + (many - few) / 2;
            if enough(middle) { many = middle } else { few = middle }
        }
        Some(many)
    }
}

/// The logarithm of the probability of a class once a posterior is raised to a power.
fn powered(posterior: &[f64], power: f64, class: usize) -> f64 {
    let log = |p: &f64| power * p.max(FLOOR).ln();
    let most = posterior.iter().map(log).fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = posterior.iter().map(|p| (log(p) - most).exp()).sum();
    log(&posterior[class]) - most - total.ln()
}

/// How often labels are wrong, as their items' posteriors raised to a power have it.
fn error_rate<'a>(posteriors: impl Iterator<Item = &'a [f64]>, power: f64) -> f64 {
    let (mut right, mut items) = (0.0, 0.0_f64);
    for own in posteriors {
        right += powered(own, power, argmax(own.iter().copied())).exp();
        items += 1.0;
    }
    1.0 - right / items.max(1.0)
}

/// All posteriors raised to a power, those of gold certain.
fn recalibrate(votes: &Votes, posteriors: &[f64], power: f64) -> Vec<f64> {
    let k = votes.k();
    let mut out = Vec::with_capacity(posteriors.len());
    for (item, own) in posteriors.chunks_exact(k).enumerate() {
        match votes.gold(item) {
            Some(class) => out.extend((0..k).map(|j| f64::from(u8::from(j == class)))),
            None => out.extend((0..k).map(|j| powered(own, power, j).exp())),
        }
    }
    out
}

/// Whether more gold is right when the labels are called by other names, beyond chance: each pair is a class and its label.
fn contradicted(labels: &[[usize; 2]], k: usize) -> bool {
    let mut counts = vec![0.0; k * k];
    labels.iter().for_each(|[class, label]| counts[class * k + label] += 1.0);
    let names = assign(&Mat::from_fn(k, k, |label, class| counts[class * k + label])).order;
    let (mut own, mut other) = (0.0_f64, 0.0);
    for class in (0..k).filter(|class| names[*class] != *class) {
        own += counts[class * k + class];
        other += counts[class * k + names[class]];
    }
    other - own > ERRORS * (own + other).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::votes::Vote;

    /// Items with the given posterior of the second of two classes, of which the first so many are gold of the given classes.
    fn with_gold(second: &[f64], gold: &[usize]) -> crate::Result<(Votes, Vec<f64>)> {
        let vote = |item: usize| Vote { item: item as u32, annotator: 0, class: 0 };
        let votes: Vec<Vote> = (0..second.len()).map(vote).collect();
        let gold: Vec<[usize; 2]> = gold.iter().enumerate().map(|(item, class)| [item, *class]).collect();
        let posteriors = second.iter().flat_map(|p| [1.0 - p, *p]).collect();
        Ok((Votes::new(2, 1, second.len(), &votes)?.with_gold(&gold)?, posteriors))
    }

    #[test]
    fn posteriors_that_are_too_sure_are_made_less_so() -> crate::Result<()> {
        // Of forty gold items that are thought certain a quarter is wrong; of the others all are thought as certain.
        let second = vec![0.999; 400];
        let gold: Vec<usize> = (0..40).map(|item| usize::from(item % 4 > 0)).collect();
        let (votes, posteriors) = with_gold(&second, &gold)?;
        let found = Recalibration::new(&votes, &posteriors, 0.95).unwrap_or_else(|| unreachable!("gold"));
        assert!(found.report.power < 0.5, "{:?}", found.report);
        assert_eq!((found.report.items, found.report.wrong), (40, 10));
        assert!((found.error_rate.value - 0.25).abs() < 0.03, "{:?}", found.error_rate);
        assert!((found.report.recalibrated.value - 0.25).abs() < 0.05, "{:?}", found.report);
        assert_eq!(&found.posteriors[..4], [1.0, 0.0, 0.0, 1.0]);
        assert!((found.posteriors[399 * 2] - found.report.recalibrated.value).abs() < 1e-9);
        assert!(!found.report.contradicts_names);
        Ok(())
    }

    #[test]
    fn more_gold_is_planned_for_a_narrower_interval() {
        for variance in [None, Some(0.02)] {
            let plan = Plan { error_rate: 0.2, variance };
            let found = plan.items_for(0.1, 0.95, 10_000).unwrap_or(0);
            assert!(plan.width(found as f64, 0.95) <= 0.1 && plan.width(found as f64 - 1.0, 0.95) > 0.1);
            assert_eq!(plan.items_for(0.1, 0.95, found - 1), None);
        }
        // By gold alone: 4 * 1.96^2 * 0.16 / 0.01, about.
        let alone = Plan { error_rate: 0.2, variance: None }.items_for(0.1, 0.95, 10_000);
        assert!(alone.is_some_and(|items| (240..=246).contains(&items)), "{alone:?}");
    }

    #[test]
    fn gold_of_the_other_names_contradicts() -> crate::Result<()> {
        let second: Vec<f64> = (0..30).map(|item| if item % 2 == 0 { 0.9 } else { 0.1 }).collect();
        let (votes, posteriors) = with_gold(&second, &(0..20).map(|item| item % 2).collect::<Vec<_>>())?;
        let found = Recalibration::new(&votes, &posteriors, 0.95).unwrap_or_else(|| unreachable!("gold"));
        assert!(found.report.contradicts_names && found.report.wrong == 20);
        let (votes, posteriors) = with_gold(&second, &[])?;
        assert!(Recalibration::new(&votes, &posteriors, 0.95).is_none());
        Ok(())
    }
}
