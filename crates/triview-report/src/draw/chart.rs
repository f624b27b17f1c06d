//! Curves over a common axis.

use super::canvas::{Canvas, SMALL};
use super::label;
use super::picture::{EDGE, Picture, Table, WIDTH, note};
use super::scale::{Scale, number};
use crate::text::{plain, range};
use triview::answer::Interval;

/// Height of the area that the curves are in, and of one line of the legend.
const HEIGHT: f64 = 270.0;
const LINE: f64 = 22.0;
/// From so many points on a curve has no marks but those that mean something.
const CROWDED: usize = 80;

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where it stands.
    pub x: f64,
    /// Its value.
    pub y: f64,
    /// Where the value lies.
    pub interval: Option<Interval>,
    /// Whether it is not to be trusted.
    pub doubted: bool,
}

impl Point {
    /// A point that is nothing but a value.
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, interval: None, doubted: false }
    }

    /// The same with where the value lies.
    pub fn between(self, interval: Interval) -> Self {
        Self { interval: Some(interval), ..self }
    }
}

/// How intervals are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Spread {
    /// As a bar at each point.
    #[default]
    Bars,
    /// As a band along the curve.
    Band,
}

/// A named curve.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// What the legend calls it.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<Point>,
    /// How intervals are drawn.
    pub spread: Spread,
}

/// A level line.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// What the legend calls it.
    pub name: String,
    /// Its two ends.
    pub from: (f64, f64),
    /// The second.
    pub to: (f64, f64),
}

/// Curves over a common axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What is to be seen in it.
    pub description: String,
    /// What is said below it.
    pub note: String,
    /// What is below the horizontal axis.
    pub x_label: String,
    /// What is along the vertical axis.
    pub y_label: String,
    /// The names of the places 0, 1, 2, ..., where these are no numbers.
    pub names: Vec<String>,
    /// Whether the vertical axis is of logarithms. Points at or below zero are then left out.
    pub log_y: bool,
    /// The curves, the first one lowest.
    pub series: Vec<Series>,
    /// A line to compare them with.
    pub reference: Option<Reference>,
}

impl Chart {
    /// The picture; nothing where there is no point to draw. Points that are not finite are left out.
    pub fn picture(&self) -> Option<Picture> {
        let fits = |p: &&Point| p.x.is_finite() && p.y.is_finite() && (p.y > 0.0 || !self.log_y);
        let curves: Vec<Vec<Point>> =
            self.series.iter().map(|series| series.points.iter().filter(fits).copied().collect()).collect();
        let all = || curves.iter().flatten();
        all().next()?;
        let mut canvas = Canvas::default();
        let legend = self.legend(&mut canvas, all().any(|point| point.doubted));
        let (top, bottom) = (legend + 34.0, legend + 34.0 + HEIGHT);
        let y = self.scale(&curves, bottom..top)?;
        let ticks = y.ticks.iter().map(|tick| (y.at(*tick), number(*tick)));
        let ticks: Vec<(f64, String)> = ticks.collect();
        let widest = ticks.iter().map(|(_, text)| SMALL * label::width(text)).fold(0.0, f64::max);
        let (left, right) = (widest + 14.0, WIDTH - 18.0);
        for (place, text) in &ticks {
            canvas.line("g", (left, *place), (right, *place));
            canvas.text("q e", (left - 8.0, place + 5.0), text);
        }
        canvas.text("q", (EDGE, legend + 20.0), &label::cut(&self.y_label, (WIDTH - 16.0) / SMALL));
        canvas.line("a", (left, bottom), (right, bottom));
        let x = self.along(&mut canvas, all().map(|point| point.x), [left, right, bottom]);
        if let Some(Reference { from, to, .. }) = &self.reference {
            canvas.line("d a", (x.at(from.0), y.at(from.1)), (x.at(to.0), y.at(to.1)));
        }
        for (at, (series, points)) in self.series.iter().zip(&curves).enumerate() {
            draw(&mut canvas, &stroke(at, self.series.len() == 1), (at, series.spread), points, [&x, &y]);
        }
        let height = bottom + if self.x_label.is_empty() { 28.0 } else { 48.0 };
        let height = height + note(&mut canvas, &self.note, height);
        let (title, description) = (self.title.clone(), self.description.clone());
        Some(Picture { title, description, table: self.table(), height, body: canvas })
    }

    /// The vertical axis: over all points, and over the ends of intervals that are not far off.
    fn scale(&self, curves: &[Vec<Point>], places: std::ops::Range<f64>) -> Option<Scale> {
        let mut shown: Vec<f64> = curves.iter().flatten().map(|point| point.y).collect();
        shown.extend(self.reference.iter().flat_map(|line| [line.from.1, line.to.1]));
        let low = shown.iter().copied().fold(f64::INFINITY, f64::min);
        let high = shown.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let near = |end: &f64| match self.log_y {
            true => *end > 0.5 * low && *end < 2.0 * high,
            false => *end >= low - (high - low) && *end <= high + (high - low),
        };
        let ends = curves.iter().flatten().filter_map(|point| point.interval);
        let ends: Vec<f64> = ends.flat_map(|interval| [interval.low, interval.high]).filter(near).collect();
        shown.extend(ends);
        Scale::of(&shown, places, 8, self.log_y)
    }

    /// Draws what is along the horizontal axis, which is returned.
    fn along(
        &self,
        canvas: &mut Canvas,
        all: impl Iterator<Item = f64>,
        [left, right, bottom]: [f64; 3],
    ) -> Scale {
        let (low, high) =
            all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        let (low, high) = if low < high { (low, high) } else { (low - 0.5, high + 0.5) };
        let inset = if self.names.is_empty() { 8.0 } else { 24.0 };
        let scale = Scale::linear(low..high, left + inset..right - inset, 10);
        let ticks: Vec<(f64, String)> = match self.names.is_empty() {
            true => scale.labels(SMALL),
            false => {
                let widest = self.names.iter().map(|it| label::width(it)).fold(0.0, f64::max).min(12.0);
                let room = SMALL * widest + 10.0;
                let places = ((right - left) / room).floor().max(1.0);
                let every = ((self.names.len() as f64 / places).ceil() as usize).max(1);
                let shown = self.names.iter().enumerate().step_by(every);
                shown.map(|(at, name)| (scale.at(at as f64), label::cut(name, widest))).collect()
            }
        };
        for (place, text) in ticks {
            canvas.line("a", (place, bottom), (place, bottom + 5.0));
            let half = 0.5 * SMALL * label::width(&text);
            canvas.text("q m", (place.clamp(half, WIDTH - half), bottom + 21.0), &text);
        }
        canvas.text("q m", (0.5 * (left + right), bottom + 42.0), &self.x_label);
        scale
    }

    /// Draws what the curves are called; what it takes.
    fn legend(&self, canvas: &mut Canvas, doubted: bool) -> f64 {
        let (mut x, mut y) = (EDGE, 14.0);
        let mut place = |text: &str| {
            let wide = 40.0 + SMALL * label::width(text) + 14.0;
            if x + wide > WIDTH && x > EDGE {
                (x, y) = (EDGE, y + LINE);
            }
            let at = (x, y);
            x += wide;
            at
        };
        let cut = |name: &str| label::cut(name, 28.0);
        for (at, series) in self.series.iter().enumerate().filter(|_| self.series.len() > 1 || doubted) {
            let name = cut(&series.name);
            let (x, y) = place(&name);
            canvas.line(&stroke(at, self.series.len() == 1), (x, y), (x + 32.0, y));
            canvas.mark(at, false, (x + 16.0, y));
            canvas.text("v", (x + 40.0, y + 5.0), &name);
        }
        if doubted {
            let (x, y) = place("not to be trusted");
            canvas.mark(0, true, (x + 16.0, y));
            canvas.text("v", (x + 40.0, y + 5.0), "not to be trusted");
        }
        if let Some(reference) = &self.reference {
            let name = cut(&reference.name);
            let (x, y) = place(&name);
            canvas.line("d a", (x, y), (x + 32.0, y));
            canvas.text("v", (x + 40.0, y + 5.0), &name);
        }
        if x > EDGE { y + 10.0 } else { 0.0 }
    }

    /// The numbers: a row for each place.
    fn table(&self) -> Table {
        let mut places: Vec<f64> =
            self.series.iter().flat_map(|series| &series.points).map(|p| p.x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let ranged = |series: &Series| series.points.iter().any(|point| point.interval.is_some());
        let columns = self.series.iter().flat_map(|series| {
            [series.name.clone()].into_iter().chain(ranged(series).then(|| "interval".to_owned()))
        });
        let first = if self.x_label.is_empty() { "place".to_owned() } else { self.x_label.clone() };
        let columns: Vec<String> = [first].into_iter().chain(columns).collect();
        let row = |x: &f64| {
            let named = self.names.get(*x as usize).cloned().unwrap_or_else(|| number(*x));
            let cells = self.series.iter().flat_map(|series| {
                let point = series.points.iter().find(|point| point.x == *x);
                let doubt = |point: &Point| if point.doubted { ", not to be trusted" } else { "" };
                let value = point.map_or("none".to_owned(), |point| plain(point.y) + doubt(point));
                let interval = move || point.and_then(|point| point.interval).map(range).unwrap_or_default();
                [value].into_iter().chain(ranged(series).then(interval))
            });
            [named].into_iter().chain(cells).collect()
        };
        Table::of_numbers(columns, places.iter().map(row).collect::<Vec<_>>())
    }
}

/// The line of a curve. They differ in colour and in dashes; the first of several is whole and wide, so that it shows from under another.
fn stroke(at: usize, alone: bool) -> String {
    match at % 6 {
        0 if alone => "l w s0".to_owned(),
        0 => "l u s0".to_owned(),
        1 => "l s1".to_owned(),
        other => format!("l s{other} d{other}"),
    }
}

/// Draws one curve with its intervals and marks.
fn draw(
    canvas: &mut Canvas,
    stroke: &str,
    (at, spread): (usize, Spread),
    points: &[Point],
    [x, y]: [&Scale; 2],
) {
    let known = || points.iter().filter_map(|p| Some((p.x, p.interval?))).filter(|(_, it)| it.low <= it.high);
    match spread {
        Spread::Band => {
            let low = known().map(|(place, it)| (x.at(place), y.at(it.low)));
            let high: Vec<_> = known().map(|(place, it)| (x.at(place), y.at(it.high))).collect();
            canvas.path(&format!("y f{}", at % 6), low.chain(high.into_iter().rev()), true);
        }
        Spread::Bars => {
            for (place, it) in known() {
                let (place, low, high) = (x.at(place), y.at(it.low), y.at(it.high));
                let class = format!("s{}", at % 6);
                canvas.line(&class, (place, low), (place, high));
                for (end, value) in [(low, it.low), (high, it.high)] {
                    if y.holds(value) {
                        canvas.line(&class, (place - 4.0, end), (place + 4.0, end));
                    }
                }
            }
        }
    }
    canvas.path(stroke, points.iter().map(|point| (x.at(point.x), y.at(point.y))), false);
    for point in points.iter().filter(|point| points.len() < CROWDED || point.doubted) {
        canvas.mark(at, point.doubted, (x.at(point.x), y.at(point.y)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The curves of the demo, with points that no chart can hold.
    fn demo(log_y: bool) -> Chart {
        let curve = |name: &str, at: fn(f64) -> f64| Series {
            name: name.into(),
            points: (0..=10)
                .map(|a| (f64::from(a), at(f64::from(a))))
                .map(|(a, y)| Point::new(a, y).between(Interval { low: -1.0, high: 1.5 * y }))
                .collect(),
            spread: Spread::Bars,
        };
        let mut series = vec![
            curve("true risk", |a| 0.026 * (0.67 * a).exp()),
            curve("estimate", |a| 0.028 * (0.665 * a).exp()),
            curve("predictive <entropy>", |a| 0.06 + 0.03 * a * (-0.05 * a * a).exp()),
        ];
        series[1].points[3].y = f64::NAN;
        series[1].points[4].y = f64::INFINITY;
        series[1].points[5].y = if log_y { -0.1 } else { 0.5 };
        series[1].points[6].doubted = true;
        let (title, description) = ("Risk as images are distorted".into(), "four curves".into());
        let (x_label, y_label) = ("distortion a".into(), "log loss".into());
        Chart { title, description, x_label, y_label, log_y, series, ..Chart::default() }
    }

    /// Every number in an attribute that holds coordinates.
    fn coordinates(svg: &str) -> Vec<f64> {
        let names = ["x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "d"];
        let values = names.into_iter().flat_map(|name| {
            let attribute = format!(" {name}=\"");
            let starts: Vec<usize> =
                svg.match_indices(&attribute).map(|(at, _)| at + attribute.len()).collect();
            starts.into_iter().filter_map(|start| svg[start..].split('"').next())
        });
        let numbers =
            values.flat_map(|value| value.split([' ', ',', 'M', 'L', 'z']).filter(|text| !text.is_empty()));
        numbers.map(|text| text.parse().expect("a number")).collect()
    }

    #[test]
    fn every_series_is_named_and_every_coordinate_lies_on_the_page() {
        for log_y in [false, true] {
            let picture = demo(log_y).picture().expect("a chart");
            let svg = picture.svg();
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
            for text in [
                "true risk",
                "predictive &lt;entropy&gt;",
                "distortion a",
                "log loss",
                "four curves",
                "<title>",
            ] {
                assert!(svg.contains(text), "{text}");
            }
            let coordinates = coordinates(&svg);
            assert!(coordinates.len() > 3 * 11 * 2);
            assert!(coordinates.iter().all(|c| (0.0..=WIDTH).contains(c)), "{coordinates:?}");
            assert_eq!(picture.table.rows.len(), 11);
            assert_eq!(picture.table.columns.len(), 7);
            assert!(picture.table.rows[6][3].ends_with("not to be trusted"), "{:?}", picture.table.rows[6]);
        }
    }

    #[test]
    fn a_chart_without_points_is_no_picture() {
        let mut chart = demo(true);
        chart.series.iter_mut().flat_map(|series| &mut series.points).for_each(|point| point.y = -1.0);
        assert!(chart.picture().is_none());
        chart.log_y = false;
        assert!(chart.picture().is_some(), "a level line is a chart");
        chart.series.iter_mut().for_each(|series| series.points.clear());
        chart.reference = Some(Reference { name: "all rows".into(), from: (0.0, 1.0), to: (5.0, 1.0) });
        assert!(chart.picture().is_none(), "a line to compare with is none without what it is compared with");
    }

    #[test]
    fn a_year_of_weeks_has_names_that_do_not_overlap() {
        let points = (0..52).map(|week| Point::new(f64::from(week), 0.1 + 0.001 * f64::from(week)));
        let series = vec![Series { name: "risk".into(), points: points.collect(), spread: Spread::Band }];
        let names = (0..52).map(|week| format!("2026-W{:02}", week + 1)).collect();
        let svg = Chart { series, names, ..Chart::default() }.picture().expect("a chart").svg();
        let shown = svg.matches("2026-W").count();
        assert!((4..=8).contains(&shown), "{shown} weeks are named");
    }
}
