//! Axes: where a value stands, and which values are written beside it.

use crate::draw::label;
use std::ops::Range;

/// From here on the values of an axis are drawn by their logarithm: they span decades.
const DECADES: f64 = 30.0;

/// An axis from one place of the drawing to another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    values: Range<f64>,
    places: Range<f64>,
    log: bool,
    /// Values that are written beside it.
    pub(crate) ticks: Vec<f64>,
}

impl Scale {
    /// An axis with some ticks at multiples of 1, 2 or 5 times a power of ten, between these places.
    pub(crate) fn linear(values: Range<f64>, places: Range<f64>, most: usize) -> Self {
        let rough = (values.end - values.start) / most.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0].map(|m| m * power).into_iter().find(|step| *step >= rough * (1.0 - 1e-9));
        let step = step.unwrap_or(10.0 * power);
        let slack = 1e-9 * step;
        let first = ((values.start - slack) / step).ceil() as i64;
        let last = ((values.end + slack) / step).floor() as i64;
        // Counted, and not added up, so that no tick is 0.30000000000000004.
        let ticks = (first..=last).map(|tick| tick as f64 * step).collect();
        Self { values, places, log: false, ticks }
    }

    /// An axis of logarithms with some ticks at 1, 2 and 5 times the powers of ten, or at powers alone where those are many.
    pub(crate) fn logarithmic(values: Range<f64>, places: Range<f64>, most: usize) -> Self {
        let decades = values.start.log10().floor() as i32..=values.end.log10().ceil() as i32;
        let of = |steps: &[f64], every: usize| -> Vec<f64> {
            let powers = decades.clone().step_by(every).map(|decade| 10f64.powi(decade));
            let all = powers.flat_map(|power| steps.iter().map(move |step| step * power));
            all.filter(|tick| (values.start..=values.end).contains(tick)).collect()
        };
        let some = [of(&[1.0, 2.0, 5.0], 1), of(&[1.0, 3.0], 1), of(&[1.0], 1), of(&[1.0], 2), of(&[1.0], 5)];
        let ticks = some.into_iter().find(|ticks| ticks.len() <= most).unwrap_or_default();
        Self { values, places, log: true, ticks }
    }

    /// The axis that shows these values best: by logarithms if they span decades, from zero if that is near.
    pub(crate) fn of(values: &[f64], places: Range<f64>, most: usize, log: bool) -> Option<Self> {
        let finite = values.iter().copied().filter(|value| value.is_finite());
        let low = finite.clone().fold(f64::INFINITY, f64::min);
        let high = finite.fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            return None;
        }
        if log && low > 0.0 && high > low {
            let margin = (high / low).powf(0.04);
            return Some(Self::logarithmic(low / margin..high * margin, places, most));
        }
        let near = low >= 0.0 && low < 0.6 * high;
        let span = if high > low { high - low } else { high.abs().max(1e-9) };
        let start = if near || low == 0.0 { 0.0 } else { low - 0.06 * span };
        let end = if high > 0.0 || high > low { high + 0.06 * span } else { 0.5 * span };
        Some(Self::linear(start..end, places, most))
    }

    /// The place of a value; what is beyond the axis stands at its end.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let Range { start, end } = self.values;
        let share = match self.log {
            true => (value.max(f64::MIN_POSITIVE).ln() - start.ln()) / (end.ln() - start.ln()),
            false => (value - start) / (end - start),
        };
        self.places.start + share.clamp(0.0, 1.0) * (self.places.end - self.places.start)
    }

    /// Whether a value stands on the axis.
    pub(crate) fn holds(&self, value: f64) -> bool {
        (self.values.start..=self.values.end).contains(&value)
    }

    /// Whether it is of logarithms.
    pub(crate) fn is_log(&self) -> bool {
        self.log
    }

    /// The ticks that have room beside each other, each so many units wide and with its place.
    pub(crate) fn labels(&self, size: f64) -> Vec<(f64, String)> {
        let mut shown: Vec<(f64, String)> = Vec::new();
        let mut taken = f64::NEG_INFINITY;
        for tick in &self.ticks {
            let (place, text) = (self.at(*tick), number(*tick));
            let half = 0.5 * size * label::width(&text);
            if place - half >= taken {
                taken = place + half + 0.6 * size;
                shown.push((place, text));
            }
        }
        shown
    }
}

/// Whether positive values span so much that only their logarithms can be told apart.
pub(crate) fn span_decades(values: &[f64]) -> bool {
    let low = values.iter().copied().filter(|value| value.is_finite()).fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    low > 0.0 && high > DECADES * low
}

/// A number on an axis in three significant digits, without the zeros that say nothing.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..6).contains(&magnitude) {
        return format!("{value:.0e}");
    }
    let decimals = (2 - magnitude).max(0) as usize;
    let text = format!("{value:.decimals$}").replace('-', "\u{2212}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(Scale::linear(0.0..26.0, 0.0..1.0, 6).ticks, [0.0, 5.0, 10.0, 15.0, 20.0, 25.0]);
        assert_eq!(Scale::linear(0.0..0.3, 0.0..1.0, 3).ticks.len(), 4);
        assert_eq!(Scale::linear(-1.0..0.9, 0.0..1.0, 12).ticks.len(), 10);
        let log = Scale::logarithmic(0.02..25.0, 0.0..1.0, 12);
        let values: Vec<String> = log.ticks.into_iter().map(number).collect();
        assert_eq!(values, ["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10", "20"]);
        assert!(Scale::logarithmic(1e-9..10.0, 0.0..1.0, 6).ticks.len() <= 6);
        let shown = [0.0, 0.026, 7.08, 120.0, -0.5, 1e-9, 3e7].map(number);
        assert_eq!(shown, ["0", "0.026", "7.08", "120", "\u{2212}0.5", "1e-9", "3e7"]);
    }

    #[test]
    fn values_stand_between_the_ends() {
        for values in [vec![0.5, 0.7], vec![0.0], vec![-3.0, -1.0], vec![2.0], vec![0.0, 1e-12], vec![-5.0]] {
            let scale = Scale::of(&values, 100.0..200.0, 5, false).expect("values");
            for value in values {
                assert!(scale.holds(value), "{value} on {scale:?}");
                assert!((100.0..=200.0).contains(&scale.at(value)));
            }
            assert!(!scale.ticks.is_empty() || !scale.is_log(), "{scale:?}");
        }
        let log = Scale::of(&[0.01, 10.0], 0.0..100.0, 5, true).expect("values");
        assert!(log.is_log() && log.at(0.316).round() == 50.0);
        assert_eq!(log.at(-1.0), 0.0);
        assert_eq!(Scale::of(&[f64::NAN, f64::INFINITY], 0.0..1.0, 5, false), None);
    }

    #[test]
    fn labels_do_not_run_into_each_other() {
        let scale = Scale::linear(0.0..1.0, 0.0..100.0, 20);
        let labels = scale.labels(14.0);
        assert!(labels.len() > 1 && labels.len() < scale.ticks.len());
        for pair in labels.windows(2) {
            let half = |text: &str| 0.5 * 14.0 * label::width(text);
            assert!(pair[1].0 - pair[0].0 > half(&pair[0].1) + half(&pair[1].1));
        }
    }
}
