//! The answer of rows that change from segment to segment, from those of the segments.
//!
//! Views that are independent given the class in every week are not so in all weeks together, once the weeks differ: what one view says tells
//! the week, and so what another will say. The test of all rows then rejects, and their answer is of a population that nobody has.
//! The risk is the mean over rows all the same, and so the mean of the segments' risks.

use super::Estimate;
use crate::answer::Interval;
use crate::diagnostics::{Alarm, LEVEL, Verdict, together};
use crate::loss::Whole;
use crate::metrics::{Measured, Metric, PredictionMetrics};
use serde::Serialize;

/// Why an answer is that of its segments.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Drift {
    /// The chance of what all rows show if the views were independent given the class and nothing changed.
    pub whole_p_value: f64,
    /// That of what the segments show, all of them together (Fisher's method).
    pub segments_p_value: f64,
    /// The smallest of the segments'.
    pub smallest_p_value: f64,
    /// The largest of the segments'.
    pub largest_p_value: f64,
    /// The squared misfit of all rows.
    pub whole_misfit: f64,
    /// The most that of the segments may be, with 95% confidence: less than that of all rows.
    pub segments_misfit: f64,
}

impl Estimate {
    /// The answer from those of all segments of the rows, where the views depend on each other in all rows and not within the segments: every
    /// one of these is to be trusted, their tests together do not reject, and a dependence as strong as that of all rows would have been seen
    /// in them. Segments have fewer rows: that they show nothing would say nothing. Nothing where that is not so.
    pub fn of_segments(&self, parts: &[&Estimate]) -> Option<(Estimate, Drift)> {
        if self.independence.verdict != Verdict::Fail || parts.len() < 2 {
            return None;
        }
        let p_values: Vec<f64> = parts
            .iter()
            .map(|part| part.independence.p_value.filter(|_| part.trusted()))
            .collect::<Option<_>>()?;
        let drift = Drift {
            whole_p_value: self.independence.p_value?,
            segments_p_value: together(&p_values)?,
            smallest_p_value: p_values.iter().copied().fold(1.0, f64::min),
            largest_p_value: p_values.iter().copied().fold(0.0, f64::max),
            whole_misfit: self.independence.statistic?,
            segments_misfit: largest_misfit(parts)?,
        };
        let explained = drift.segments_p_value >= LEVEL
            && drift.segments_misfit < drift.whole_misfit
            && !self.shared_by(parts);
        explained.then(|| (self.mean_of_segments(parts, drift), drift))
    }

    /// Whether the segments may have as much in common beyond the class as all rows show, where that is what is seen of these.
    fn shared_by(&self, parts: &[&Estimate]) -> bool {
        let rows: u64 = parts.iter().map(|part| part.rows).sum();
        let weight = |part: &Estimate| part.rows as f64 / rows as f64;
        let causes = self.independence.common_causes.iter().enumerate();
        causes.filter(|(_, cause)| cause.p_value < LEVEL).any(|(at, cause)| {
            let of_parts: Option<Vec<_>> = parts
                .iter()
                .map(|part| Some((weight(part), part.independence.common_causes.get(at)?)))
                .collect();
            let Some(of_parts) = of_parts else { return true };
            let mean: f64 = of_parts.iter().map(|(weight, own)| weight * own.share).sum();
            let error = hypot(
                &of_parts.iter().map(|(weight, _)| *weight).collect::<Vec<_>>(),
                of_parts.iter().map(|(_, own)| own.standard_error),
            );
            mean * cause.share.signum() + QUANTILE * error >= cause.share.abs()
        })
    }

    fn mean_of_segments(&self, parts: &[&Estimate], drift: Drift) -> Estimate {
        let rows: u64 = parts.iter().map(|part| part.rows).sum();
        let weights: Vec<f64> = parts.iter().map(|part| part.rows as f64 / rows as f64).collect();
        let mean = |of: &dyn Fn(&Estimate) -> f64| {
            parts.iter().zip(&weights).map(|(part, weight)| weight * of(part)).sum::<f64>()
        };
        let mut pooled = self.clone();
        pooled.risk = mean(&|part| part.risk);
        pooled.standard_error = hypot(&weights, parts.iter().map(|part| part.standard_error));
        pooled.interval =
            around(pooled.risk, &weights, parts.iter().map(|part| reached(part.risk, part.interval)))
                .within(0.0, f64::INFINITY);
        pooled.wider_interval =
            wider(pooled.interval, &weights, parts, |part| Some((part.interval, part.wider_interval?)));
        pooled.bound = None;
        pooled.tail = mean(&|part| part.tail);
        for j in 0..self.classes.len() {
            pooled.class_prior[j] = mean(&|part| part.class_prior[j]);
            let reach = parts.iter().map(|part| reached(part.class_prior[j], part.class_prior_interval[j]));
            pooled.class_prior_interval[j] = around(pooled.class_prior[j], &weights, reach).within(0.0, 1.0);
        }
        for (v, matrix) in pooled.conditional_risk.iter_mut().enumerate() {
            for (i, row) in matrix.iter_mut().enumerate() {
                for (j, cell) in row.iter_mut().enumerate() {
                    // Of the rows of a class, those of each segment count by how many there are.
                    let prior = pooled.class_prior[j];
                    let of_class: Vec<f64> = parts
                        .iter()
                        .zip(&weights)
                        .map(|(part, weight)| weight * part.class_prior[j] / prior)
                        .collect();
                    let cells = parts.iter().map(|part| part.conditional_risk[v][i][j]);
                    *cell = of_class.iter().zip(cells).map(|(weight, cell)| weight * cell).sum();
                    let reach = parts.iter().map(|part| {
                        reached(part.conditional_risk[v][i][j], part.conditional_risk_interval[v][i][j])
                    });
                    pooled.conditional_risk_interval[v][i][j] = around(*cell, &of_class, reach);
                }
            }
        }
        if let Ok(metrics) = &mut pooled.metrics {
            let of_parts: Option<Vec<_>> = parts.iter().map(|part| part.metrics.as_ref().ok()).collect();
            if let Some(of_parts) = of_parts {
                let all = |of: fn(&crate::metrics::Metrics) -> &Metric| {
                    of_parts.iter().map(|metrics| of(metrics)).collect::<Vec<_>>()
                };
                let mean = |of, largest| mean_metric(&weights, &all(of), largest);
                metrics.error_rate = mean(|metrics| &metrics.error_rate, Whole::Error.largest());
                metrics.brier = mean(|metrics| &metrics.brier, Whole::Brier.largest());
                metrics.hinge = mean(|metrics| &metrics.hinge, f64::INFINITY);
            }
            // It is the posterior of all rows, and not of the segments.
            metrics.by_posterior = None;
        }
        if let Some(prediction) = &mut pooled.prediction {
            let of_parts: Option<Vec<_>> = parts.iter().map(|part| part.prediction.as_ref()).collect();
            if let Some(of_parts) = of_parts {
                let all = |of: fn(&PredictionMetrics) -> &Metric| {
                    of_parts.iter().map(|own| of(own)).collect::<Vec<_>>()
                };
                let mean = |of, largest| mean_metric(&weights, &all(of), largest);
                prediction.error_rate = mean(|own| &own.error_rate, Whole::Error.largest());
                prediction.brier = mean(|own| &own.brier, Whole::Brier.largest());
                prediction.log_loss = mean(|own| &own.log_loss, f64::INFINITY);
                let end = |of: fn(&Interval) -> f64| {
                    let ends = of_parts.iter().map(|own| of(&own.error_rate_whatever_known));
                    ends.zip(&weights).map(|(end, weight)| end * weight).sum()
                };
                prediction.error_rate_whatever_known =
                    Interval { low: end(|own| own.low), high: end(|own| own.high) };
            }
        }
        let error_rate = pooled.metrics.as_ref().ok().map(|metrics| metrics.error_rate.estimate.interval);
        pooled.wider_error_rate = error_rate.and_then(|interval| {
            wider(interval, &weights, parts, |part| {
                Some((part.metrics.as_ref().ok()?.error_rate.estimate.interval, part.wider_error_rate?))
            })
        });
        pooled.independence.verdict = Verdict::Pass;
        pooled.independence.p_value = Some(drift.segments_p_value);
        pooled.independence.statistic = None;
        pooled.independence.deviation = None;
        pooled.independence.common_causes.clear();
        pooled.independence.dependences.clear();
        // What is said against the fit of all rows is not said against the fits of the segments, which are all to be trusted.
        pooled.alarms.retain(|alarm| matches!(alarm, Alarm::NoMajority { .. }));
        pooled
    }
}

/// The 95% quantile of the normal distribution.
const QUANTILE: f64 = 1.645;

/// The most that the mean squared misfit within the segments may be, with 95% confidence.
fn largest_misfit(parts: &[&Estimate]) -> Option<f64> {
    let rows: u64 = parts.iter().map(|part| part.rows).sum();
    let (mut mean, mut variance) = (0.0, 0.0);
    for part in parts {
        let weight = part.rows as f64 / rows as f64;
        mean += weight * part.independence.statistic?;
        variance += (weight * part.independence.deviation?).powi(2);
    }
    Some(mean + QUANTILE * variance.sqrt())
}

/// An interval wider by the mean of what the segments' are wider by: what one has in common unseen others may have too.
fn wider(
    interval: Interval,
    weights: &[f64],
    parts: &[&Estimate],
    of: impl Fn(&Estimate) -> Option<(Interval, Interval)>,
) -> Option<Interval> {
    let of_parts: Vec<_> = parts.iter().map(|part| of(part)).collect::<Option<_>>()?;
    let mean = |by: &dyn Fn(&(Interval, Interval)) -> f64| {
        of_parts.iter().zip(weights).map(|(part, weight)| weight * by(part)).sum::<f64>()
    };
    Some(Interval {
        low: interval.low - mean(&|(own, wider)| own.low - wider.low),
        high: interval.high + mean(&|(own, wider)| wider.high - own.high),
    })
}

/// How far an interval reaches to either side, before it was cut to what is possible.
fn reached(value: f64, interval: Interval) -> f64 {
    (interval.high - value).max(value - interval.low)
}

/// The root of the weighted squares.
fn hypot(weights: &[f64], values: impl Iterator<Item = f64>) -> f64 {
    weights.iter().zip(values).map(|(weight, value)| (weight * value).powi(2)).sum::<f64>().sqrt()
}

/// The interval of a mean, of parts whose intervals reach so far.
fn around(value: f64, weights: &[f64], reach: impl Iterator<Item = f64>) -> Interval {
    Interval::around(value, 1.0, hypot(weights, reach))
}

/// A metric that is a mean over rows, from zero to its largest value.
fn mean_metric(weights: &[f64], parts: &[&Metric], largest: f64) -> Metric {
    let mean = |of: &dyn Fn(&Metric) -> f64| {
        parts.iter().zip(weights).map(|(part, weight)| weight * of(part)).sum::<f64>()
    };
    let measured = |of: fn(&Metric) -> &Measured| {
        let value = mean(&|part| of(part).value);
        let parts = || parts.iter().map(|part| of(part));
        let interval = around(value, weights, parts().map(|part| reached(part.value, part.interval)));
        Measured {
            value,
            standard_error: hypot(weights, parts().map(|part| part.standard_error)),
            interval: interval.within(0.0, largest),
        }
    };
    Metric {
        name: parts[0].name,
        estimate: measured(|part| &part.estimate),
        triples: measured(|part| &part.triples),
        posterior: measured(|part| &part.posterior),
        belief: mean(&|part| part.belief),
        disagree: parts.iter().any(|part| part.disagree),
    }
}
