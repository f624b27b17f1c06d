//! Tables of numbers as shades.

use super::canvas::{Canvas, LETTERS, SMALL};
use super::label;
use super::picture::{EDGE, Picture, Table, WIDTH, note};
use super::scale::number;
use crate::text::name;

/// Shades that are told apart. Between the third and the fourth the letters on them change from dark to light, as no letters can be
/// read on what lies between.
const SHADES: usize = 7;
/// The widest and the narrowest cell, its height where there are few rows and where there are many.
const CELL: [f64; 2] = [72.0, 15.0];
const HEIGHT: [f64; 2] = [36.0, 27.0];
const MANY: usize = 8;
/// Room for the names of columns that are written at a slant.
const SLANTED: f64 = 130.0;

/// A number and whether it is marked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// The number, from zero on.
    pub value: f64,
    /// Whether it has a dot.
    pub marked: bool,
}

/// A table of numbers from zero on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeatMap {
    /// What it shows.
    pub title: String,
    /// What is to be seen in it.
    pub description: String,
    /// What is said below it.
    pub note: String,
    /// What the rows and the columns are.
    pub axes: [String; 2],
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Row by row; nothing where there is no number.
    pub cells: Vec<Vec<Option<Cell>>>,
    /// What a cell without a number says.
    pub absent: &'static str,
    /// The darkest shade begins here or below, so that noise is not drawn as if it were much.
    pub full: f64,
}

impl HeatMap {
    /// The picture; nothing where there is no number to draw.
    pub fn picture(&self) -> Option<Picture> {
        let finite =
            || self.cells.iter().flatten().flatten().map(|cell| cell.value).filter(|v| v.is_finite());
        finite().next()?;
        let full = finite().fold(self.full, f64::max);
        let longest =
            |names: &[String]| names.iter().map(|it| label::width(&name(it, usize::MAX))).fold(0.0, f64::max);
        let room = (LETTERS * longest(&self.rows)).min(0.3 * WIDTH);
        let names = EDGE + room.max(32.0);
        let heads = SMALL * longest(&self.columns);
        let count = self.columns.len() as f64;
        let wide = ((WIDTH - names - 16.0) / count).min(CELL[0]);
        let slanted = heads > wide - 4.0;
        // A slanted name leans over the columns to its right.
        let lean = if slanted { 0.75 * heads.min(SLANTED) } else { 0.0 };
        let wide = ((WIDTH - names - 16.0 - lean) / count).clamp(CELL[1], CELL[0]);
        let high = HEIGHT[usize::from(self.rows.len() > MANY)];
        let (left, top) = (names + 10.0, 30.0 + if slanted { lean + 16.0 } else { 20.0 });
        let mut canvas = Canvas::default();
        let [down, across] = &self.axes;
        canvas.text("q", (EDGE, 16.0), &format!("{down} \u{2193}   {across} \u{2192}"));
        for (at, column) in self.columns.iter().enumerate() {
            let middle = left + wide * (at as f64 + 0.5);
            match slanted {
                true => canvas.slanted((middle + 2.0, top - 8.0), column, SLANTED.min(heads)),
                false => canvas.text("v m", (middle, top - 8.0), &name(column, usize::MAX)),
            }
        }
        for (at, (row, cells)) in self.rows.iter().zip(&self.cells).enumerate() {
            let y = top + high * at as f64;
            canvas.name("e", (names, y + 0.5 * high + 5.0), row, room);
            for (at, cell) in cells.iter().enumerate() {
                self.cell(&mut canvas, *cell, [left + wide * at as f64, y, wide, high], full);
            }
        }
        let bottom = top + high * self.rows.len() as f64;
        legend(&mut canvas, left, bottom + 14.0, full);
        let height = bottom + 40.0;
        let height = height + note(&mut canvas, &self.note, height);
        let (title, description) = (self.title.clone(), self.description.clone());
        Some(Picture { title, description, table: self.table(), height, body: canvas })
    }

    /// Draws one cell; one that has no number is an empty frame.
    fn cell(&self, canvas: &mut Canvas, cell: Option<Cell>, [x, y, wide, high]: [f64; 4], full: f64) {
        let place = [x + 1.0, y + 1.0, wide - 2.0, high - 2.0];
        let middle = (x + 0.5 * wide, y + 0.5 * high + 5.0);
        let Some(Cell { value, marked }) = cell.filter(|cell| cell.value.is_finite()) else {
            canvas.rect("z", place);
            canvas.text("q m", middle, "\u{2013}");
            return;
        };
        canvas.group(&format!("h{}", shade(value, full)), |cell| {
            cell.rect("", place);
            let text = short(value);
            if SMALL * label::width(&text) <= wide - 2.0 {
                cell.text("v m", middle, &text);
            }
            if marked {
                cell.rect("x", [x + wide - 9.0, y + 4.0, 5.0, 5.0]);
            }
        });
    }

    /// The numbers.
    fn table(&self) -> Table {
        let columns: Vec<String> =
            [self.axes[0].clone()].into_iter().chain(self.columns.iter().cloned()).collect();
        let cell = |cell: &Option<Cell>| match cell {
            Some(Cell { value, marked }) => {
                format!("{value:.3}{}", if *marked { " \u{25aa}" } else { "" })
            }
            None => self.absent.to_owned(),
        };
        let rows = self.rows.iter().zip(&self.cells);
        let rows = rows.map(|(row, cells)| [row.clone()].into_iter().chain(cells.iter().map(cell)).collect());
        Table::of_numbers(columns, rows)
    }
}

/// The shade of a number.
fn shade(value: f64, full: f64) -> usize {
    // The lightest is for what is next to nothing.
    let share = (value / full).clamp(0.0, 1.0);
    if share < 0.02 { 0 } else { 1 + ((share * (SHADES - 1) as f64) as usize).min(SHADES - 2) }
}

/// A number in as little room as a cell has.
fn short(value: f64) -> String {
    if value >= 9.995 {
        return number(value);
    }
    let text = format!("{value:.2}");
    if value < 0.995 { text.trim_start_matches('0').to_owned() } else { text }
}

/// The shades with what they begin and end with.
fn legend(canvas: &mut Canvas, left: f64, top: f64, full: f64) {
    canvas.text("q e", (left - 6.0, top + 12.0), "0");
    for shade in 0..SHADES {
        canvas
            .group(&format!("h{shade}"), |cell| cell.rect("", [left + 20.0 * shade as f64, top, 19.0, 14.0]));
    }
    canvas.text("q", (left + 20.0 * SHADES as f64 + 6.0, top + 12.0), &number(full));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(columns: usize, name: &str) -> HeatMap {
        let cell = |at: usize| (at > 0).then_some(Cell { value: 0.1 * at as f64, marked: at == 2 });
        HeatMap {
            title: "shades".into(),
            description: "what depends".into(),
            axes: ["pair", "class"].map(str::to_owned),
            columns: (0..columns).map(|at| format!("{name}{at}")).collect(),
            rows: vec!["a and b".into()],
            cells: vec![(0..columns).map(cell).collect()],
            absent: "not tested",
            full: 0.2,
            ..HeatMap::default()
        }
    }

    #[test]
    fn cells_have_shades_numbers_and_marks() {
        let picture = map(4, "c").picture().expect("a picture");
        let svg = picture.svg();
        for text in ["shades", "what depends", "a and b", ">.10<", ">.30<", ">c3<", "pair \u{2193}"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert_eq!(svg.matches("class=\"x\"").count(), 1);
        assert_eq!(svg.matches("class=\"z\"").count(), 1, "a cell without a number has a frame");
        assert_eq!(picture.table.rows[0], ["a and b", "not tested", "0.100", "0.200 \u{25aa}", "0.300"]);
    }

    #[test]
    fn long_names_are_slanted_and_cut() {
        let svg = map(10, &"<b>long</b>".repeat(40)).picture().expect("a picture").svg();
        assert_eq!(svg.matches("rotate(-45)").count(), 10);
        assert!(!svg.contains("<b>"));
        assert!(!map(4, "c").picture().expect("a picture").svg().contains("rotate"));
    }

    #[test]
    fn shades_go_from_nothing_to_all() {
        assert_eq!([0.0, 0.01, 0.03, 0.5, 0.99, 1.0, 7.0].map(|v| shade(v, 1.0)), [0, 0, 1, 4, 6, 6, 6]);
        assert_eq!([0.0, 0.123, 0.996, 1.0, 12.3].map(short), [".00", ".12", "1.00", "1.00", "12.3"]);
    }

    #[test]
    fn without_numbers_there_is_no_picture() {
        assert!(map(1, "c").picture().is_none());
    }
}
