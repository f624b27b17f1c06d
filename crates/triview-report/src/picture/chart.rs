//! Line charts as SVG.

use anyhow::{Result, anyhow, ensure};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use std::ops::Range;

const SIZE: (u32, u32) = (900, 560);
pub(crate) const FONT: &str = "sans-serif";
pub(crate) const INK: RGBColor = RGBColor(0x33, 0x33, 0x33);
const GRID: RGBColor = RGBColor(0xE4, 0xE4, 0xE4);

/// Okabe and Ito's colours, which people with any colour vision can tell apart.
pub(crate) const COLOURS: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0xE6, 0x9F, 0x00),
];

/// Width of the column to the right that holds the legend, and height of one of its lines.
const LEGEND: (u32, i32) = (190, 26);

/// The most ticks on the vertical axis.
const MOST_TICKS: usize = 12;

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn<'a, T = ()> = Result<T, DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

/// A named curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What the legend calls it.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// Error bars: where, from and to. What is beyond the axis is cut off.
    pub bars: Vec<(f64, f64, f64)>,
}

/// Curves over a common axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What stands above.
    pub title: String,
    /// What stands below the horizontal axis.
    pub x_label: String,
    /// What stands beside the vertical axis.
    pub y_label: String,
    /// Whether the vertical axis is logarithmic. Points at or below zero are then left out.
    pub log_y: bool,
    /// The curves, the first one lowest.
    pub series: Vec<Series>,
}

impl Chart {
    /// The chart as an SVG document. Points that are not finite are left out.
    ///
    /// # Errors
    /// When no point is left to draw.
    pub fn svg(&self) -> Result<String> {
        let fits = |x: f64, y: f64| x.is_finite() && y.is_finite() && (y > 0.0 || !self.log_y);
        let curves: Vec<Vec<(f64, f64)>> = self
            .series
            .iter()
            .map(|series| series.points.iter().copied().filter(|(x, y)| fits(*x, *y)).collect())
            .collect();
        ensure!(curves.iter().any(|curve| !curve.is_empty()), "the chart has no point to draw");
        let mut svg = String::new();
        // The backend's error borrows the document, so it is put into words here.
        self.draw(&SVGBackend::with_string(&mut svg, SIZE).into_drawing_area(), &curves)
            .map_err(|error| anyhow!("cannot draw the chart: {error}"))?;
        Ok(svg)
    }

    /// Draws title, axes, curves and legend.
    fn draw<'a>(&self, root: &Canvas<'a>, curves: &[Vec<(f64, f64)>]) -> Drawn<'a> {
        root.fill(&WHITE)?;
        let body = root.margin(8, 0, 0, 0).titled(&self.title, (FONT, 22).into_font().color(&INK))?;
        let (plot, legend) = body.split_horizontally(SIZE.0 - LEGEND.0);

        let x = extent(curves.iter().flatten().map(|point| point.0));
        let y = extent(curves.iter().flatten().map(|point| point.1));
        let y = if self.log_y { Scale::logarithmic(&y) } else { Scale::linear(&y) };
        let y_range = y.range();
        let mut chart = ChartBuilder::on(&plot)
            .margin(12)
            .x_label_area_size(48)
            .y_label_area_size(72)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .axis_desc_style((FONT, 16).into_font().color(&INK))
            .label_style((FONT, 14).into_font().color(&INK))
            .x_label_formatter(&|x| number(*x))
            .axis_style(INK)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .draw()?;
        let ends = (y_range.start, y_range.end);
        for (index, series) in self.series.iter().enumerate() {
            for (x, low, high) in series.bars.iter().filter(|(_, low, high)| (low + high).is_finite()) {
                let [low, high] = [*low, *high].map(|end| end.clamp(ends.0, ends.1));
                chart.draw_series([PathElement::new(
                    [(*x, low), (*x, high)],
                    colour(index).stroke_width(1),
                )])?;
            }
        }
        for (index, curve) in curves.iter().enumerate() {
            chart.draw_series(LineSeries::new(curve.iter().copied(), stroke(index)))?;
            for point in curve {
                draw_marker(root, chart.plotting_area().map_coordinate(point), index)?;
            }
        }
        for (index, series) in self.series.iter().enumerate() {
            let height = 24 + index as i32 * LEGEND.1;
            legend.draw(&PathElement::new([(4, height), (36, height)], stroke(index)))?;
            draw_marker(&legend, (20, height), index)?;
            let style = (FONT, 15).into_font().color(&INK);
            legend.draw(&Text::new(series.name.as_str(), (44, height - 8), style))?;
        }
        root.present()
    }
}

fn colour(index: usize) -> RGBColor {
    COLOURS[index % COLOURS.len()]
}

/// The line of a curve. The first one's is the widest, so that it shows from under another that lies on it.
fn stroke(index: usize) -> ShapeStyle {
    colour(index).stroke_width(if index == 0 { 4 } else { 2 })
}

/// Draws the marker of a curve. Neighbouring curves differ in shape as well as in colour.
fn draw_marker<'a>(canvas: &Canvas<'a>, (x, y): (i32, i32), index: usize) -> Drawn<'a> {
    let (filled, line) = (colour(index).filled(), colour(index).stroke_width(2));
    match index % 4 {
        0 => canvas.draw(&Circle::new((x, y), 6, filled)),
        1 => canvas.draw(&Cross::new((x, y), 4, line)),
        2 => canvas.draw(&TriangleMarker::new((x, y), 5, filled)),
        _ => canvas.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], filled)),
    }
}

/// The range of some values, widened when they are all the same.
fn extent(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low < high { low..high } else { low - 0.5 * low.abs().max(1e-9)..high + 0.5 * high.abs().max(1e-9) }
}

/// A vertical axis with its ticks. Plotters' own logarithmic axis has ticks at powers of ten only.
struct Scale {
    range: Range<f64>,
    ticks: Vec<f64>,
    place: fn(f64) -> f64,
}

impl Scale {
    /// An axis with ticks at multiples of 1, 2 or 5 times a power of ten; it begins at zero if it can.
    fn linear(values: &Range<f64>) -> Self {
        let margin = 0.04 * (values.end - values.start.min(0.0));
        let start = if values.start >= 0.0 { 0.0 } else { values.start - margin };
        let range = start..values.end + margin;
        let rough = (range.end - range.start) / MOST_TICKS as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0].map(|m| m * power).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(10.0 * power);
        let (first, last) = ((range.start / step).ceil() as i64, (range.end / step).floor() as i64);
        Self { range, ticks: (first..=last).map(|tick| tick as f64 * step).collect(), place: |y| y }
    }

    /// An axis with ticks at 1, 2 and 5 times the powers of ten, or at the powers alone when those are many.
    fn logarithmic(values: &Range<f64>) -> Self {
        let margin = (values.end / values.start).powf(0.04);
        let range = values.start / margin..values.end * margin;
        let decades = range.start.log10().floor() as i32..=range.end.log10().ceil() as i32;
        let many = decades.clone().count() * 3 > 2 * MOST_TICKS;
        let steps: &[f64] = if many { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let ticks = decades
            .flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)))
            .filter(|tick| range.contains(tick))
            .collect();
        Self { range, ticks, place: f64::log10 }
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let [start, end, value] = [self.range.start, self.range.end, *value].map(self.place);
        from + (f64::from(to - from) * (value - start) / (end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Scale {
    fn format(value: &f64) -> String {
        number(*value)
    }
}

/// A number on an axis in three significant digits, without the zeros that say nothing.
fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let decimals = (2 - value.abs().log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The curves of the demo, with points that no chart can hold.
    fn demo(log_y: bool) -> Chart {
        let curve = |name: &str, at: fn(f64) -> f64| Series {
            name: name.into(),
            points: (0..=10).map(|a| (f64::from(a), at(f64::from(a)))).collect(),
            bars: (0..=10).map(|a| (f64::from(a), -1.0, 2.0 * at(f64::from(a)))).collect(),
        };
        let mut series = vec![
            curve("true risk", |a| 0.026 * (0.67 * a).exp()),
            curve("estimate", |a| 0.028 * (0.665 * a).exp()),
            curve("validation risk", |_| 0.027),
            curve("predictive <entropy>", |a| 0.06 + 0.03 * a * (-0.05 * a * a).exp()),
        ];
        series[1].points[3].1 = f64::NAN;
        series[1].points[4].1 = f64::INFINITY;
        series[1].points[5].1 = if log_y { -0.1 } else { 0.5 };
        let title = "Risk of a model trained at a = 0, as the images are distorted".into();
        Chart { title, x_label: "distortion a".into(), y_label: "log loss".into(), log_y, series }
    }

    /// Every number in an attribute that holds coordinates.
    fn coordinates(svg: &str) -> Vec<f64> {
        let names = ["x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "points"];
        let values = names.into_iter().flat_map(|name| {
            let attribute = format!(" {name}=\"");
            let starts: Vec<usize> =
                svg.match_indices(&attribute).map(|(at, _)| at + attribute.len()).collect();
            starts.into_iter().filter_map(|start| svg[start..].split('"').next())
        });
        let numbers = values.flat_map(|value| value.split([' ', ',']).filter(|text| !text.is_empty()));
        numbers.map(|text| text.parse().expect("a number")).collect()
    }

    #[test]
    fn every_series_is_named_and_every_coordinate_lies_on_the_page() {
        for log_y in [false, true] {
            let chart = demo(log_y);
            let svg = chart.svg().expect("a chart");
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
            for text in ["true risk", "estimate", "validation risk", "predictive &lt;entropy&gt;"] {
                assert!(svg.contains(text), "{text}");
            }
            for text in [&chart.title, &chart.x_label, &chart.y_label] {
                assert!(svg.contains(text), "{text}");
            }
            let coordinates = coordinates(&svg);
            assert!(coordinates.len() > 4 * 11 * 2);
            assert!(coordinates.iter().all(|c| (0.0..=f64::from(SIZE.0)).contains(c)), "{coordinates:?}");
        }
    }

    #[test]
    fn a_chart_without_points_is_refused() {
        let mut chart = demo(true);
        chart.series.iter_mut().for_each(|series| series.points.iter_mut().for_each(|point| point.1 = -1.0));
        assert!(chart.svg().is_err());
        chart.log_y = false;
        assert!(chart.svg().is_ok(), "a level line is a chart");
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(Scale::linear(&(0.1..25.0)).ticks, [0.0, 5.0, 10.0, 15.0, 20.0, 25.0]);
        assert_eq!(Scale::linear(&(-1.0..0.9)).ticks.len(), 10);
        let values: Vec<String> = Scale::logarithmic(&(0.02..25.0)).ticks.into_iter().map(number).collect();
        assert_eq!(values, ["0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10", "20"]);
        assert_eq!(Scale::logarithmic(&(1e-9..10.0)).ticks.len(), 11);
        assert_eq!([0.0, 0.026, 7.08, 120.0, -0.5].map(number), ["0", "0.026", "7.08", "120", "-0.5"]);
    }
}
