//! Periods looked at together.

use super::change::evidence;
use super::inputs::{InputChange, Inputs};
use super::limit::{Against, Limit, Quantity, Rule};
use super::{Measure, PeriodAnswer};
use crate::diagnostics::together;
use statrs::distribution::{ContinuousCDF, Normal};
use std::ops::Range;

/// An alarm is raised where the evidence has this factor: at most 5% of all series in which nothing changes have one, over all time.
const ALARM: f64 = 1.0 / LEVEL;
/// The same for changes of the inputs: the level over all time.
const LEVEL: f64 = 0.05;

/// What is normal.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// Its periods.
    pub periods: Range<usize>,
    /// Its risk, over the periods that are to be trusted.
    pub risk: Option<Measure>,
    /// Its error rate, likewise.
    pub error_rate: Option<Measure>,
}

/// What is said of a period beside its own answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The factor by which all data so far favour that the model has become worse.
    pub worse: f64,
    /// What has changed most in the inputs since the baseline, where that can be told.
    pub inputs: Option<InputChange>,
    /// Whether that is more than chance explains, over all periods.
    pub inputs_changed: bool,
}

/// Periods looked at together.
#[derive(Debug, Clone, PartialEq)]
pub struct Watch {
    /// What is normal.
    pub baseline: Baseline,
    /// What is said of each period.
    pub judged: Vec<Judged>,
    /// The first period after which the model has become worse beyond what chance explains.
    pub alarm: Option<usize>,
    /// The period in which that most likely began, behind those right before it of which nothing is known.
    pub since: Option<Range<usize>>,
    /// The first period whose inputs have changed.
    pub inputs_alarm: Option<usize>,
    /// The chance of what all periods show within themselves if the views are independent given the class.
    pub p_value: Option<f64>,
}

/// A limit that is passed, or cannot be judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Passed {
    /// The limit.
    pub limit: String,
    /// What the period has.
    pub value: Option<f64>,
    /// What it is held against.
    pub bound: Option<f64>,
    /// Whether it is passed; otherwise it cannot be judged.
    pub passed: bool,
}

impl Watch {
    /// The level over all time at which an alarm is raised.
    pub const LEVEL: f64 = LEVEL;
    /// The factor from which on it is.
    pub const ALARM: f64 = ALARM;

    /// What is normal by default when so many periods are there: the first quarter of them.
    pub fn first_quarter(periods: usize) -> Range<usize> {
        0..periods.div_ceil(4)
    }

    /// Looks at periods, in the order of time: after each as one who knows only those up to it, and the `complete` first of them raise alarms.
    ///
    /// `baseline` says what is normal when so many periods are there; once an alarm was raised it stays as it was, so that what is worse
    /// does not become normal.
    pub fn new(
        periods: &[&PeriodAnswer],
        baseline: impl Fn(usize) -> Range<usize>,
        complete: usize,
        level: f64,
    ) -> Self {
        let mut judged: Vec<Judged> = Vec::with_capacity(periods.len());
        let mut raised: Option<(usize, Range<usize>)> = None;
        let mut current = Look::at(periods, 0..0);
        let mut since = None;
        for seen in 1..=periods.len() {
            let normal = raised.as_ref().map_or_else(|| baseline(seen), |(_, normal)| normal.clone());
            let look = Look::at(&periods[..seen], normal);
            let [by_risk, by_error] =
                [&look.risks, &look.error_rates].map(|of| evidence(of, look.normal.end));
            // The mean of two such factors is one again.
            let worse = 0.5 * (by_risk.factor + by_error.factor);
            let likelier = if by_risk.factor >= by_error.factor { by_risk } else { by_error };
            let inputs = look.inputs_changed_by(periods);
            let after = (seen - look.normal.end.min(seen)) as f64;
            let inputs_changed =
                inputs.is_some_and(|change| change.p_value < LEVEL / (after * (after + 1.0)));
            judged.push(Judged { worse, inputs, inputs_changed });
            if seen > complete {
                continue;
            }
            since = likelier.since;
            if raised.is_none() && worse >= ALARM {
                raised = Some((seen - 1, look.normal.clone()));
            }
            current = look;
        }
        let alarm = raised.map(|(at, _)| at);
        let of_baseline = |series: &[Option<Measure>]| {
            pooled(series.iter().take(current.normal.end).skip(current.normal.start).flatten(), level)
        };
        Self {
            baseline: Baseline {
                risk: of_baseline(&current.risks),
                error_rate: of_baseline(&current.error_rates),
                periods: current.normal.clone(),
            },
            inputs_alarm: judged.iter().take(complete).position(|judged| judged.inputs_changed),
            judged,
            alarm,
            since: since.filter(|_| alarm.is_some()),
            p_value: current.p_value,
        }
    }

    /// What of the limits is passed in a period, or cannot be judged in it; whose they are is not looked at.
    pub fn passed(&self, limits: &[Limit], at: usize, period: &PeriodAnswer) -> Vec<Passed> {
        limits.iter().filter_map(|limit| self.held(limit, at, period)).collect()
    }

    /// A limit that is passed, or cannot be judged.
    fn held(&self, limit: &Limit, at: usize, period: &PeriodAnswer) -> Option<Passed> {
        let Rule::Of { quantity, above, against } = &limit.rule else {
            let (value, bound) = (Some(self.judged[at].worse), Some(ALARM));
            // Without a baseline the test sees nothing.
            let blind = self.baseline.risk.is_none() && self.baseline.error_rate.is_none();
            let passed = self.alarm.is_some();
            return (passed || blind).then(|| Passed { limit: limit.to_string(), value, bound, passed });
        };
        let measured = match quantity {
            Quantity::Rows => None,
            Quantity::ErrorRate => Some((period.error_rate, self.baseline.error_rate)),
            Quantity::Risk => Some((period.risk, self.baseline.risk)),
        };
        let own = measured.and_then(|(own, _)| own).filter(|_| period.trusted());
        let value = if measured.is_none() { Some(period.rows as f64) } else { own.map(|own| own.value) };
        let bound = match against {
            Against::Number(number) => Some(*number),
            Against::Baseline { plus, errors } => own
                .zip(measured.and_then(|(_, normal)| normal))
                .map(|(own, normal)| normal.value + plus + errors * own.spread.hypot(normal.spread)),
        };
        let passed =
            value.zip(bound).map(|(value, bound)| if *above { value > bound } else { value < bound });
        match passed {
            Some(false) => None,
            _ => Some(Passed { limit: limit.to_string(), value, bound, passed: passed.is_some() }),
        }
    }
}

/// What one sees who knows only the periods so far.
#[derive(Debug)]
struct Look {
    normal: Range<usize>,
    risks: Vec<Option<Measure>>,
    error_rates: Vec<Option<Measure>>,
    p_value: Option<f64>,
}

impl Look {
    fn at(seen: &[&PeriodAnswer], normal: Range<usize>) -> Self {
        let p_values: Vec<f64> = seen.iter().filter_map(|period| period.p_value).collect();
        let p_value = if p_values.is_empty() { None } else { together(&p_values) };
        // Of many periods some are rejected by chance: where all together do not show that views depend on each other, and one by itself not
        // beyond what so many do, it still tells whether something has changed.
        let by_chance = |period: &PeriodAnswer| {
            let alone = period.p_value.is_some_and(|p| p >= LEVEL / seen.len() as f64);
            period.rejected_alone && alone && p_value.is_some_and(|p| p >= LEVEL)
        };
        let known = |of: fn(&PeriodAnswer) -> Option<Measure>| -> Vec<Option<Measure>> {
            // What was before the baseline is not looked at.
            let known = |(at, period): (usize, &&PeriodAnswer)| {
                of(period).filter(|_| (period.trusted() || by_chance(period)) && at >= normal.start)
            };
            seen.iter().enumerate().map(known).collect()
        };
        Self {
            risks: known(|period| period.risk),
            error_rates: known(|period| period.error_rate),
            p_value,
            normal,
        }
    }

    /// What has changed most in the inputs of the last period, where that is not normal.
    fn inputs_changed_by(&self, periods: &[&PeriodAnswer]) -> Option<InputChange> {
        let last = self.risks.len().checked_sub(1).filter(|last| *last >= self.normal.end)?;
        let normal = periods[self.normal.clone()].iter().filter(|period| period.rows > 0);
        let normal = Inputs::pooled(normal.map(|period| (period.rows, &period.inputs)))?;
        periods[last].inputs.change(&normal)
    }
}

/// The mean of several, each by its certainty.
fn pooled<'a>(measures: impl Iterator<Item = &'a Measure>, level: f64) -> Option<Measure> {
    let (mut weights, mut sum) = (0.0, 0.0);
    for measure in measures {
        let weight = measure.spread.powi(-2);
        weights += weight;
        sum += weight * measure.value;
    }
    let spread = f64::sqrt(1.0 / weights);
    let value = sum / weights;
    let reach = Normal::standard().inverse_cdf(0.5 + 0.5 * level) * spread;
    (weights > 0.0).then_some(Measure { value, spread, low: value - reach, high: value + reach })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn period(value: f64) -> PeriodAnswer {
        let measure = Measure { value, spread: 0.01, low: value - 0.02, high: value + 0.02 };
        PeriodAnswer {
            rows: 1_000,
            risk: Some(measure),
            error_rate: Some(measure),
            ..PeriodAnswer::default()
        }
    }

    fn periods(normal: usize, worse: usize) -> Vec<PeriodAnswer> {
        // What is normal is not always the same.
        let value = |at: usize| 0.1 + 0.004 * (at % 3) as f64 + if at >= normal { 0.1 } else { 0.0 };
        (0..normal + worse).map(|at| period(value(at))).collect()
    }

    #[test]
    fn what_is_worse_does_not_become_normal() {
        let all = periods(8, 60);
        let all: Vec<&PeriodAnswer> = all.iter().collect();
        for seen in 1..=all.len() {
            let watch = Watch::new(&all[..seen], Watch::first_quarter, seen, 0.95);
            // The first quarter of all of them would be of worse ones as well.
            let normal = if seen > 8 { 0..3 } else { Watch::first_quarter(seen) };
            assert_eq!(
                (watch.alarm, watch.baseline.periods),
                ((seen > 8).then_some(8), normal),
                "{seen} periods"
            );
            assert_eq!(watch.since, (seen > 8).then_some(8..9));
        }
    }

    #[test]
    fn what_is_not_over_raises_no_alarm() {
        let all = periods(8, 1);
        let all: Vec<&PeriodAnswer> = all.iter().collect();
        let watch = Watch::new(&all, |_| 0..4, 8, 0.95);
        assert!(watch.judged[8].worse > ALARM && watch.judged[7].worse < 1.0, "{:?}", watch.judged);
        assert_eq!((watch.alarm, watch.since), (None, None));
        assert_eq!(Watch::new(&all, |_| 0..4, 9, 0.95).alarm, Some(8));
    }

    #[test]
    fn what_is_normal_has_an_interval_of_the_level() {
        let all = periods(4, 0);
        let all: Vec<&PeriodAnswer> = all.iter().collect();
        let width = |level: f64| {
            let risk = Watch::new(&all, |_| 0..4, 4, level).baseline.risk;
            risk.map_or(0.0, |risk| risk.high - risk.low)
        };
        assert!((width(0.95) - 2.0 * 1.96 * 0.005).abs() < 1e-5, "{}", width(0.95));
        assert!((width(0.5) - 2.0 * 0.6745 * 0.005).abs() < 1e-5, "{}", width(0.5));
    }

    #[test]
    fn worse_than_nothing_cannot_be_judged() {
        let mut all = periods(4, 4);
        all.iter_mut().take(2).for_each(|period| period.alarms = vec!["none".to_owned()]);
        let all: Vec<&PeriodAnswer> = all.iter().collect();
        let passed = |normal: Range<usize>| {
            let limits = ["worse".parse().expect("a limit")];
            Watch::new(&all, |_| normal.clone(), 8, 0.95).passed(&limits, 7, all[7])
        };
        assert_eq!(passed(0..2).iter().map(|limit| limit.passed).collect::<Vec<_>>(), [false]);
        assert_eq!(passed(0..3).iter().map(|limit| limit.passed).collect::<Vec<_>>(), [true]);
    }
}
