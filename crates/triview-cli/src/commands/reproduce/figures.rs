//! The figures as tables and charts.

use super::{AdaptPoint, RiskPoint};
use std::fmt::Write;
use triview::answer::Interval;
use triview_report::draw::{Chart, Point, Series, Spread};

/// Figure a as CSV.
pub(super) fn risk_table(points: &[RiskPoint]) -> String {
    let mut text = String::from(
        "a,draw,truth,truth_standard_error,tensor,tensor_lbfgs,two_passes,two_passes_standard_error,validation,entropy\n",
    );
    for p in points {
        let tensor = p.tensor.map(|risk| risk.to_string()).unwrap_or_default();
        let _ = writeln!(
            text,
            "{},{},{},{},{tensor},{},{},{},{},{}",
            p.a,
            p.draw,
            p.truth,
            p.truth_error,
            p.refined,
            p.two_passes,
            p.two_passes_error,
            p.validation,
            p.entropy
        );
    }
    text
}

/// Figure a.
pub(super) fn risk_chart(points: &[RiskPoint], clipped: bool) -> Chart {
    let curve = |name: &str, of: &dyn Fn(&RiskPoint) -> Option<f64>| {
        series(name, points.iter().filter_map(|p| Some((p.a, of(p)?))))
    };
    Chart {
        title: format!("(a) Risk estimation{}", pixels(clipped)),
        description: "Curves over the distortion: the true risk, three estimates of it without labels, the validation risk and the \
                      model's entropy; bars are one standard deviation between draws."
            .into(),
        x_label: "distortion a".into(),
        y_label: "log loss".into(),
        log_y: true,
        series: vec![
            curve("true risk", &|p| Some(p.truth)),
            curve("two passes", &|p| Some(p.two_passes)),
            curve("tensor + L-BFGS", &|p| Some(p.refined)),
            curve("tensor", &|p| p.tensor),
            curve("validation", &|p| Some(p.validation)),
            curve("entropy", &|p| Some(p.entropy)),
        ],
        ..Chart::default()
    }
}

/// Figures b and c as CSV.
pub(super) fn adapt_table(points: &[AdaptPoint]) -> String {
    let mut text = String::from(
        "a,draw,seed,seed_fresh,adapted,adapted_fresh,oracle,oracle_fresh,matching_gap,matching_gap_low,retrained\n",
    );
    for p in points {
        let adapted = |at: usize| p.adapted.map(|errors| errors[at].to_string()).unwrap_or_default();
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{}",
            p.a,
            p.draw,
            p.seed[0],
            p.seed[1],
            adapted(0),
            adapted(1),
            p.oracle[0],
            p.oracle[1],
            p.matching_gap,
            p.matching_gap_low,
            p.retrained
        );
    }
    text
}

/// Figures b and c: error rates on fresh rows.
pub(super) fn adapt_chart(points: &[AdaptPoint], labels: usize, clipped: bool) -> Chart {
    let curve = |name: &str, of: fn(&AdaptPoint) -> Option<f64>| {
        series(name, points.iter().filter_map(|p| Some((p.a, of(p)?))))
    };
    let letter = if labels == 300 { 'c' } else { 'b' };
    Chart {
        title: format!("({letter}) Domain adaptation from {labels} labels{}", pixels(clipped)),
        description: "Curves over the distortion: error rates of the seed model, of the adapted one and of one trained with labels; bars \
                      are one standard deviation between draws."
            .into(),
        x_label: "distortion a".into(),
        y_label: "error rate on fresh rows".into(),
        log_y: false,
        series: vec![
            curve("seed model", |p| Some(p.seed[1])),
            curve("adapted", |p| p.adapted.map(|errors| errors[1])),
            curve("oracle", |p| Some(p.oracle[1])),
        ],
        ..Chart::default()
    }
}

fn pixels(clipped: bool) -> &'static str {
    if clipped { ", pixels clipped to 1" } else { ", pixels not clipped" }
}

/// The means over draws at each distortion, with bars of one standard deviation between draws.
fn series(name: &str, points: impl Iterator<Item = (f64, f64)>) -> Series {
    let mut groups: Vec<(f64, Vec<f64>)> = Vec::new();
    for (x, y) in points {
        match groups.iter_mut().find(|(at, _)| *at == x) {
            Some((_, values)) => values.push(y),
            None => groups.push((x, vec![y])),
        }
    }
    groups.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let deviation = |values: &[f64]| {
        let centre = mean(values);
        let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
        (squares / (values.len() - 1).max(1) as f64).sqrt()
    };
    let point = |(x, values): &(f64, Vec<f64>)| {
        let (mean, deviation) = (mean(values), deviation(values));
        Point::new(*x, mean).between(Interval { low: mean - deviation, high: mean + deviation })
    };
    Series { name: name.into(), points: groups.iter().map(point).collect(), spread: Spread::Bars }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_averaged_and_their_spread_is_drawn() {
        let series = series("it", [(1.0, 2.0), (0.0, 5.0), (1.0, 4.0)].into_iter());
        let root = 2.0f64.sqrt();
        let bars = [Interval { low: 5.0, high: 5.0 }, Interval { low: 3.0 - root, high: 3.0 + root }];
        let [first, second] = [(0.0, 5.0), (1.0, 3.0)].map(|(x, y)| Point::new(x, y));
        assert_eq!(series.points, [first.between(bars[0]), second.between(bars[1])]);
    }
}
