//! A picture with what is needed to read it without seeing it.

use super::canvas::{Canvas, SMALL, TITLE};
use super::label;
use crate::markup::Markup;
use crate::text::Align;

/// Every picture is so wide; on a page it grows and shrinks with its column.
pub(crate) const WIDTH: f64 = 560.0;
/// Where lines of text begin.
pub(crate) const EDGE: f64 = 8.0;

/// Colours and letters of all pictures, for light, dark and paper.
pub(crate) const STYLE: &str = include_str!("picture.css");

/// The numbers of a picture, row by row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// The names of the columns, and how what is in them is aligned.
    pub columns: Vec<(String, Align)>,
    /// The rows, each with its name first.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table of numbers, each row with a name.
    pub fn of_numbers<S: Into<String>>(
        columns: impl IntoIterator<Item = S>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        let align = |(at, name): (usize, S)| (name.into(), if at == 0 { Align::Left } else { Align::Right });
        Self {
            columns: columns.into_iter().enumerate().map(align).collect(),
            rows: rows.into_iter().collect(),
        }
    }
}

/// A picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// What it shows, in a line.
    pub title: String,
    /// What is to be seen in it, for who does not see it.
    pub description: String,
    /// The same numbers.
    pub table: Table,
    pub(super) height: f64,
    pub(super) body: Canvas,
}

impl Picture {
    /// The picture as an SVG document of its own.
    pub fn svg(&self) -> String {
        let lines = label::lines(&self.title, (WIDTH - 16.0) / TITLE);
        let top = 20.0 + 24.0 * lines.len() as f64;
        let mut head = Canvas::default();
        head.rect("p", [0.0, 0.0, WIDTH, top + self.height + 12.0]);
        for (at, line) in lines.iter().enumerate() {
            head.text("t", (EDGE, 28.0 + 24.0 * at as f64), line);
        }
        let (width, height) = (WIDTH, (top + self.height + 12.0).ceil());
        let mut svg = Markup::default();
        let attributes: [(&str, &dyn std::fmt::Display); 6] = [
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("class", &"triview tv"),
            ("role", &"img"),
            ("width", &width),
            ("height", &height),
            ("viewBox", &format!("0 0 {width} {height}")),
        ];
        svg.within("svg", &attributes, |svg| {
            svg.element("title", &[], &self.title).element("desc", &[], &self.description);
            svg.within("style", &[], |style| {
                style.fixed(STYLE);
            });
            svg.add(head.markup()).within("g", &[("transform", &format!("translate(0 {top})"))], |body| {
                body.add(self.body.markup());
            });
        });
        svg.into_string() + "\n"
    }

    /// Adds the picture to a page, whose style it follows and which has its title elsewhere.
    pub(crate) fn inline(&self, page: &mut Markup) {
        let height = self.height.ceil();
        let view = format!("0 0 {WIDTH} {height}");
        page.within("svg", &[("class", &"tv"), ("role", &"img"), ("viewBox", &view)], |svg| {
            svg.element("title", &[], &self.title).element("desc", &[], &self.description);
            svg.add(self.body.markup());
        });
    }
}

/// Lines of a note below a picture, from a height on; what it takes.
pub(super) fn note(canvas: &mut Canvas, text: &str, top: f64) -> f64 {
    let lines = label::lines(text, (WIDTH - 16.0) / SMALL);
    for (at, line) in lines.iter().enumerate() {
        canvas.text("q", (EDGE, top + 16.0 + 19.0 * at as f64), line);
    }
    if lines.is_empty() { 0.0 } else { 8.0 + 19.0 * lines.len() as f64 }
}
