//! Numbers by several methods as dots beside a line that is the truth, in SVG.

use crate::picture::{COLOURS, FONT, INK};
use crate::text::{name, plain};
use anyhow::{Result, anyhow};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Height of a row, room for the names, width of a panel and the room between two, what is above and below.
const ROW: i32 = 30;
const NAMES: i32 = 210;
const PANEL: i32 = 300;
const GAP: i32 = 70;
const ABOVE: i32 = 96;
const BELOW: i32 = 24;

/// One quantity by all methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What it is.
    pub title: String,
    /// The truth, where it is known.
    pub truth: Option<f64>,
    /// For each method its number and, where it has such, its interval.
    pub values: Vec<Option<(f64, Option<[f64; 2]>)>>,
}

/// Some quantities by the same methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Dots {
    /// What stands above.
    pub title: String,
    /// Names of the methods.
    pub rows: Vec<String>,
    /// The quantities, from left to right.
    pub panels: Vec<Panel>,
}

impl Dots {
    /// The picture as an SVG document.
    ///
    /// # Errors
    /// When the document cannot be drawn.
    pub fn svg(&self) -> Result<String> {
        let width = NAMES + (PANEL + GAP) * self.panels.len() as i32;
        let height = ABOVE + ROW * self.rows.len() as i32 + BELOW;
        let mut svg = String::new();
        let size = (width.unsigned_abs(), height.unsigned_abs());
        // The backend's error borrows the document, so it is put into words here.
        self.draw(&SVGBackend::with_string(&mut svg, size).into_drawing_area())
            .map_err(|error| anyhow!("cannot draw the comparison: {error}"))?;
        Ok(svg)
    }

    fn draw<B: DrawingBackend>(
        &self,
        root: &DrawingArea<B, plotters::coord::Shift>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        root.fill(&WHITE)?;
        let style = |size: i32| (FONT, size).into_font().color(&INK);
        let placed = |size: i32, h: HPos, v: VPos| style(size).pos(Pos::new(h, v));
        let middle = |row: usize| ABOVE + ROW * row as i32 + ROW / 2;
        root.draw(&Text::new(self.title.as_str(), (16, 14), style(22)))?;
        for (row, label) in self.rows.iter().enumerate() {
            let at = (NAMES - 16, middle(row));
            root.draw(&Text::new(name(label, 26), at, placed(15, HPos::Right, VPos::Center)))?;
        }
        let bottom = ABOVE + ROW * self.rows.len() as i32;
        for (at, panel) in self.panels.iter().enumerate() {
            let left = NAMES + (PANEL + GAP) * at as i32;
            let shown = |value: &f64| value.is_finite();
            let all = panel.values.iter().flatten().map(|(value, _)| *value).chain(panel.truth).filter(shown);
            // Intervals without end, and numbers that are far off, must not make all others look alike.
            let largest = all.fold(0.0, f64::max);
            let scale = if largest > 0.0 { 1.05 * largest } else { 1.0 };
            let place =
                |value: f64| left + (f64::from(PANEL) * (value / scale).clamp(0.0, 1.0)).round() as i32;
            root.draw(&Text::new(panel.title.as_str(), (left, 52), style(16)))?;
            for (label, h) in [(0.0, HPos::Left), (largest, HPos::Right)] {
                let x = place(label);
                root.draw(&Text::new(plain(label), (x, ABOVE - 6), placed(12, h, VPos::Bottom)))?;
            }
            root.draw(&PathElement::new([(left, ABOVE), (left + PANEL, ABOVE)], INK.mix(0.4)))?;
            if let Some(truth) = panel.truth {
                let line = [(place(truth), ABOVE), (place(truth), bottom)];
                root.draw(&PathElement::new(line, COLOURS[2].stroke_width(2)))?;
            }
            for (row, (value, interval)) in
                panel.values.iter().enumerate().filter_map(|(row, v)| Some((row, (*v)?)))
            {
                let y = middle(row);
                if let Some([low, high]) = interval.filter(|[low, high]| low.is_finite() && high.is_finite())
                {
                    root.draw(&PathElement::new(
                        [(place(low), y), (place(high), y)],
                        COLOURS[0].stroke_width(2),
                    ))?;
                }
                root.draw(&Circle::new((place(value), y), 5, COLOURS[usize::from(row > 0)].filled()))?;
                let beside = (left + PANEL + 8, y);
                root.draw(&Text::new(plain(value), beside, placed(13, HPos::Left, VPos::Center)))?;
            }
        }
        root.present()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_and_number_is_drawn() {
        let dots = Dots {
            title: "how wrong".into(),
            rows: vec!["triview".into(), "a <b>".into(), "none".into()],
            panels: vec![Panel {
                title: "risk".into(),
                truth: Some(0.5),
                values: vec![Some((0.4, Some([0.3, f64::INFINITY]))), Some((0.25, None)), None],
            }],
        };
        let svg = dots.svg().expect("a picture");
        for text in ["how wrong", "triview", "a &lt;b&gt;", "none", "risk", "0.4000", "0.2500", "0.5000"] {
            assert!(svg.contains(text), "{text}");
        }
        assert_eq!(svg.matches("<circle").count(), 2);
    }
}
