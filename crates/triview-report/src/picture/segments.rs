//! The risk of each segment: sorted by it, or over time.

use super::left_out;
use super::risk::{measured, share};
use crate::draw::{Chart, Dot, Dots, Mark, Panel, Picture, Point, Reference, Series, Spread};
use crate::segments::{Segment, Segmented};
use crate::text::{name, plain};
use triview::estimator::Estimate;
use triview::metrics::Measured;

/// So many segments have a row of their own, those of the largest risk.
const MOST: usize = 40;

/// The risk of the segments: along the time where they are periods, otherwise the largest first.
pub(crate) fn segments(segmented: &Segmented, whole: &Estimate) -> Option<Picture> {
    match segmented.in_time {
        true => in_time(segmented, whole).picture(),
        false => sorted(segmented, whole).picture(),
    }
}

fn risk_of(estimate: &Estimate) -> Measured {
    let Estimate { risk: value, standard_error, interval, .. } = *estimate;
    Measured { value, standard_error, interval }
}

fn sorted(segmented: &Segmented, whole: &Estimate) -> Dots {
    let known = |segment: &Segment| segment.outcome.as_ref().map_or(f64::NEG_INFINITY, |it| it.risk);
    let mut order: Vec<&Segment> = segmented.segments.iter().collect();
    order.sort_by(|a, b| known(b).total_cmp(&known(a)));
    let (all, shown) = (order.len(), order.len().min(MOST));
    order.truncate(shown);
    let mark = |estimate: &Estimate| if estimate.trusted() { Mark::Own } else { Mark::Doubted };
    let dots = |of: &dyn Fn(&Estimate) -> Option<Dot>| {
        order.iter().map(|segment| segment.outcome.as_ref().ok().and_then(of)).collect()
    };
    let rate = |estimate: &Estimate| {
        let metrics = estimate.metrics.as_ref().ok()?;
        Some(share(&metrics.error_rate.estimate, mark(estimate)))
    };
    let whole_rate = whole.metrics.as_ref().ok().map(|metrics| metrics.error_rate.estimate.value);
    let all_rows = || "all rows".to_owned();
    let mut panels = vec![Panel {
        title: format!("{} risk", name(&whole.loss, 20)),
        share: false,
        line: Some((all_rows(), whole.risk)).filter(|(_, risk)| risk.is_finite()),
        dots: dots(&|estimate| Some(measured(&risk_of(estimate), mark(estimate)))),
    }];
    let rates: Vec<Option<Dot>> = dots(&rate);
    if rates.iter().any(Option::is_some) && whole.loss != "error" {
        let line = whole_rate.map(|rate| (all_rows(), rate));
        panels.push(Panel { title: "error rate".to_owned(), share: true, line, dots: rates });
    }
    let worst =
        order.first().map_or(String::new(), |segment| format!(" The largest is that of {}.", segment.name));
    Dots {
        title: format!("The risk by {}, the largest first", name(&segmented.column, 40)),
        description: format!("Dots with intervals, one row a segment.{worst}"),
        kind: segmented.column.clone(),
        note: left_out(shown, all, "segments"),
        rows: order.iter().map(|segment| segment.name.clone()).collect(),
        panels,
    }
}

fn in_time(segmented: &Segmented, whole: &Estimate) -> Chart {
    let answered = segmented.segments.iter().enumerate();
    let answered = answered.filter_map(|(at, segment)| Some((at, segment.outcome.as_ref().ok()?)));
    let point = |(at, estimate): (usize, &Estimate)| Point {
        doubted: !estimate.trusted(),
        ..Point::new(at as f64, estimate.risk).between(estimate.interval)
    };
    let points: Vec<Point> = answered.map(point).collect();
    let doubted = points.iter().filter(|point| point.doubted).count();
    let last = segmented.segments.len().saturating_sub(1) as f64;
    Chart {
        title: format!("The risk over time, by {}", name(&segmented.column, 40)),
        description: format!(
            "A curve with a band of intervals over {} periods, beside the risk of all rows, {}; {doubted} of them are not to be trusted.",
            segmented.segments.len(),
            plain(whole.risk)
        ),
        x_label: segmented.column.clone(),
        y_label: format!("{} risk, with intervals", name(&whole.loss, 20)),
        names: segmented.segments.iter().map(|segment| segment.name.clone()).collect(),
        series: vec![Series { name: "risk".to_owned(), points, spread: Spread::Band }],
        reference: whole.risk.is_finite().then(|| Reference {
            name: format!("all rows, {}", plain(whole.risk)),
            from: (0.0, whole.risk),
            to: (last, whole.risk),
        }),
        ..Chart::default()
    }
}
