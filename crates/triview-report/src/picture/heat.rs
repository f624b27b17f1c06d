//! Tables of numbers as shades, in SVG.

use crate::picture::{COLOURS, FONT, INK};
use crate::text::name;
use anyhow::{Result, anyhow};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Width and height of a cell, room for the names of rows, and what is above the cells.
const CELL: (i32, i32) = (56, 48);
const NAMES: i32 = 200;
const ABOVE: i32 = 130;
/// Room below the cells.
const BELOW: i32 = 24;

/// The scale reaches at least this far, so that noise is not drawn as if it were much.
const LEAST_SCALE: f64 = 0.2;

/// A table of non-negative numbers, some of them marked.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// What stands above.
    pub title: String,
    /// What stands below the title.
    pub note: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Row by row, the number and whether it is marked; empty where absent.
    pub cells: Vec<Vec<Option<(f64, bool)>>>,
}

impl HeatMap {
    /// The table as an SVG document.
    ///
    /// # Errors
    /// When the document cannot be drawn.
    pub fn svg(&self) -> Result<String> {
        let width = NAMES + CELL.0 * self.columns.len() as i32 + 24;
        let height = ABOVE + CELL.1 * self.rows.len() as i32 + BELOW;
        let size = (width.max(640).unsigned_abs(), height.unsigned_abs());
        let mut svg = String::new();
        // The backend's error borrows the document, so it is put into words here.
        self.draw(&SVGBackend::with_string(&mut svg, size).into_drawing_area())
            .map_err(|error| anyhow!("cannot draw the table: {error}"))?;
        Ok(svg)
    }

    fn draw<B: DrawingBackend>(
        &self,
        root: &DrawingArea<B, plotters::coord::Shift>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        root.fill(&WHITE)?;
        let style = |size: i32| (FONT, size).into_font().color(&INK);
        let placed = |size: i32, h: HPos, v: VPos| style(size).pos(Pos::new(h, v));
        root.draw(&Text::new(self.title.as_str(), (16, 14), style(22)))?;
        root.draw(&Text::new(self.note.as_str(), (16, 46), style(14)))?;
        for (column, label) in self.columns.iter().enumerate() {
            let at = (NAMES + CELL.0 * column as i32 + CELL.0 / 2, ABOVE - 10);
            root.draw(&Text::new(name(label, 10), at, placed(13, HPos::Center, VPos::Bottom)))?;
        }
        let all = self.cells.iter().flatten().flatten().map(|cell| cell.0);
        let scale = all.filter(|cell| cell.is_finite()).fold(LEAST_SCALE, f64::max);
        for (row, (label, cells)) in self.rows.iter().zip(&self.cells).enumerate() {
            let top = ABOVE + CELL.1 * row as i32;
            let at = (NAMES - 12, top + CELL.1 / 2);
            root.draw(&Text::new(name(label, 24), at, placed(15, HPos::Right, VPos::Center)))?;
            for (column, cell) in cells.iter().enumerate() {
                let Some((value, marked)) = cell else { continue };
                let left = NAMES + CELL.0 * column as i32;
                let shade = if value.is_finite() { value / scale } else { 1.0 };
                let corners = [(left + 1, top + 1), (left + CELL.0 - 1, top + CELL.1 - 1)];
                root.draw(&Rectangle::new(corners, COLOURS[1].mix(shade).filled()))?;
                root.draw(&Rectangle::new(corners, INK.mix(0.15)))?;
                let centre = (left + CELL.0 / 2, top + CELL.1 / 2);
                root.draw(&Text::new(format!("{value:.2}"), centre, placed(13, HPos::Center, VPos::Center)))?;
                if *marked {
                    root.draw(&Circle::new((left + CELL.0 - 9, top + 9), 3, INK.filled()))?;
                }
            }
        }
        root.present()
    }
}
