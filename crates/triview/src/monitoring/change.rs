//! Whether a series has become larger, looked at after every period.

use super::Measure;
use statrs::distribution::{ContinuousCDF, Normal};
use std::ops::Range;

/// What a series of periods says against "nothing has become larger".
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The factor by which the data favour a rise since the baseline: looked at after every period, `1 / alpha` is reached in at most a share
    /// `alpha` of all series in which nothing rises, however long they are.
    pub factor: f64,
    /// The period in which the rise most likely began, behind those right before it of which nothing is known: one of these is as likely.
    pub since: Option<Range<usize>>,
}

/// The evidence, as of its last period, that a quantity has become larger than in the first `baseline` periods. Periods of which nothing is
/// known change nothing.
///
/// Let `y_t ~ N(mu + delta [t >= j], s_t^2)` with `mu` unknown. For a rise of `delta` from `j` on the likelihood ratio of all contrasts
/// that `mu` drops out of is `exp(delta S - delta^2 V / 2)`, where, with `q_t = 1 / s_t^2`, `Q` their sum and `A` that from `j` on,
///
/// ```text
///     S = sum_{t >= j} q_t (y_t - mean),   V = A (Q - A) / Q,
/// ```
///
/// a martingale as periods come, if nothing changes. So is its mean over `delta` (half normal, of the size `RISE` times the standard error of a
/// baseline's period) and over `j` (weight `1 / (n (n + 1))` for the n-th period after the baseline), the weight of the periods to come left at
/// one: Ville's inequality bounds its maximum over all time.
pub fn evidence(series: &[Option<Measure>], baseline: usize) -> Evidence {
    let known: Vec<Known> = series
        .iter()
        .enumerate()
        .filter_map(|(at, measure)| Some((at, (*measure)?)))
        .map(|(at, measure)| Known { at, value: measure.value, weight: measure.spread.powi(-2) })
        .filter(|known| known.value.is_finite() && known.weight.is_finite())
        .collect();
    let normal = known.partition_point(|known| known.at < baseline);
    let Some(last) = known.last().filter(|last| normal > 0 && last.at >= baseline) else {
        return Evidence { factor: 1.0, since: None };
    };
    let precision = known[..normal].iter().map(|known| known.weight).sum::<f64>() / normal as f64;
    let size = RISE * precision.sqrt().recip();
    let total: f64 = known.iter().map(|known| known.weight).sum();
    let mean = known.iter().map(|known| known.weight * known.value).sum::<f64>() / total;
    let mut factor = 1.0 / (last.at - baseline + 2) as f64;
    let mut best = (f64::NEG_INFINITY, last.at..last.at + 1);
    let (mut after, mut score) = (0.0, 0.0);
    for place in (normal..known.len()).rev() {
        let Known { at, value, weight } = known[place];
        after += weight;
        score += weight * (value - mean);
        let information = after * (total - after) / total + size.powi(-2);
        let above = Normal::standard().cdf(score / information.sqrt());
        let log_ratio =
            score * score / (2.0 * information) + (2.0 * above / (size * information.sqrt())).ln();
        let ratio = log_ratio.min(MOST).exp();
        // A rise that began where nothing is known is seen from the next period on.
        let from = known[place - 1].at.max(baseline - 1) + 1;
        factor += ratio * (share_from(from - baseline) - share_from(at + 1 - baseline));
        if log_ratio > best.0 {
            best = (log_ratio, from..at + 1);
        }
    }
    Evidence { factor, since: Some(best.1) }
}

#[derive(Debug, Clone, Copy)]
struct Known {
    at: usize,
    value: f64,
    weight: f64,
}

/// The weight of all beginnings from a period after the baseline on.
fn share_from(after: usize) -> f64 {
    1.0 / (after + 1) as f64
}

/// The size of a rise that is looked for, in standard errors of a baseline's period: sizes between 2 and 8 hardly differ, for a mixture pays
/// only the logarithm.
const RISE: f64 = 4.0;

/// Beyond this exponent nobody asks how much more.
const MOST: f64 = 300.0;

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    fn measures(values: impl IntoIterator<Item = f64>) -> Vec<Option<Measure>> {
        values.into_iter().map(|value| Some(Measure { value, spread: 1.0, low: 0.0, high: 0.0 })).collect()
    }

    /// The factors after each period.
    fn factors(series: &[Option<Measure>], baseline: impl Fn(usize) -> usize) -> Vec<f64> {
        (1..=series.len()).map(|seen| evidence(&series[..seen], baseline(seen)).factor).collect()
    }

    #[test]
    fn it_is_a_martingale() {
        // One period after a baseline of one: y_2 - y_1 ~ N(0, 2), whose density the factor integrates to one against.
        let step = 0.01;
        let mean: f64 = (-2_000..2_000)
            .map(|at| f64::from(at) * step)
            .map(|difference| {
                let factor = evidence(&measures([0.0, difference]), 1).factor;
                factor * (-difference * difference / 4.0).exp() / (4.0 * std::f64::consts::PI).sqrt() * step
            })
            .sum();
        assert!((mean - 1.0).abs() < 1e-3, "{mean}");
    }

    #[test]
    fn alarms_are_as_rare_as_stated_and_a_rise_is_seen() {
        let mut rng = Pcg64::seed_from_u64(1);
        let mut draw = |rise: f64| {
            let noise: Vec<f64> = StandardNormal.sample_iter(&mut rng).take(60).collect();
            measures(noise.iter().enumerate().map(|(at, noise)| noise + rise * f64::from(u8::from(at >= 6))))
        };
        // The baseline is settled, or grows with the series: 5% at the most; three standard errors of 1,000 draws above it.
        let baselines: [fn(usize) -> usize; 2] = [|_| 4, |seen| seen.div_ceil(4)];
        for baseline in baselines {
            let alarm = |series: &[Option<Measure>]| factors(series, baseline).iter().any(|f| *f >= 20.0);
            let false_alarms = (0..1_000).filter(|_| alarm(&draw(0.0))).count();
            assert!(false_alarms <= 70, "{false_alarms}");
            // What falls is no rise.
            assert!((0..50).all(|_| !alarm(&draw(-5.0))));
        }
        let seen = (0..200).filter(|_| evidence(&draw(5.0)[..8], 4).factor >= 20.0).count();
        assert!(seen >= 180, "{seen}");
    }

    #[test]
    fn unknown_periods_change_nothing() {
        let mut series = measures([0.0, 0.1, -0.1, 0.0, 0.1, 6.0, 6.0]);
        series[4] = None;
        assert_eq!(evidence(&series[..5], 4).factor, 1.0);
        let found = evidence(&series, 4);
        assert!(found.factor > 20.0);
        // In which of these nobody can tell.
        assert_eq!(found.since, Some(4..6));
        assert_eq!(evidence(&[&series[..], &[None]].concat(), 4), found);
        assert_eq!(evidence(&measures([0.0, 0.1, -0.1, 0.0, 0.1, 6.0, 6.0]), 4).since, Some(5..6));
        assert_eq!(evidence(&[None, None, series[5]], 2).factor, 1.0);
    }
}
