//! Numbers as dots with their intervals, one row a name.

use super::canvas::{Canvas, LETTERS, SMALL};
use super::label;
use super::picture::{EDGE, Picture, Table, WIDTH, note};
use super::scale::{Scale, number, span_decades};
use crate::text::{name, range};
use std::ops::Range;
use triview::answer::Interval;

/// Room between the names and the first panel, and after each panel.
const GAP: f64 = 14.0;
/// Height of a row; of many rows; and what a panel has above them.
const ROW: f64 = 30.0;
const MANY: (usize, f64) = (24, 24.0);
const HEAD: f64 = 26.0;
const FOOT: f64 = 30.0;
/// Up to so many rows panels stand below each other.
const FEW: usize = 4;
/// The share of the width that names may take where panels stand beside each other, and where they do not.
const NAMES: [f64; 2] = [0.27, 0.45];
/// What others say is written at the end of the axis if it is so many times the median, and beyond all that the picture is about: one that
/// is far off must not make all others look alike.
const FAR: f64 = 4.0;
/// Intervals that reach beyond so many times the largest number are drawn to the end of the axis.
const REACH: f64 = 3.0;

/// Where a panel is drawn.
struct Area {
    ends: [f64; 2],
    top: f64,
    bottom: f64,
    row: f64,
    /// Which rows it has.
    rows: Vec<usize>,
}

impl Area {
    fn new(ends: [f64; 2], above: f64, rows: &[usize], lined: bool) -> Self {
        let row = if rows.len() > MANY.0 { MANY.1 } else { ROW };
        let top = above + HEAD + if lined { 20.0 } else { 0.0 };
        Self { ends, top, bottom: top + row * rows.len() as f64, row, rows: rows.to_vec() }
    }

    /// The height of a row's middle.
    fn middle(&self, at: usize) -> f64 {
        self.top + self.row * (at as f64 + 0.5)
    }
}

/// How a dot is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// What the picture is about.
    Own,
    /// What stands beside it.
    Other,
    /// What is not to be trusted.
    Doubted,
}

/// One number.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// The number.
    pub value: f64,
    /// Where it lies.
    pub interval: Option<Interval>,
    /// What is written beside it.
    pub label: String,
    /// How it is marked.
    pub mark: Mark,
}

/// One quantity of all rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Panel {
    /// What it is.
    pub title: String,
    /// Whether it is a share, written in percent.
    pub share: bool,
    /// A line across all rows, and what it is.
    pub line: Option<(String, f64)>,
    /// For each row its number, where there is one.
    pub dots: Vec<Option<Dot>>,
}

/// Some quantities of the same things.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dots {
    /// What it shows.
    pub title: String,
    /// What is to be seen in it.
    pub description: String,
    /// What the rows are, in the table.
    pub kind: String,
    /// What is said below the rows.
    pub note: String,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// The quantities, from left to right.
    pub panels: Vec<Panel>,
}

impl Dots {
    /// The picture; nothing where there is no number to draw. Panels stand beside each other, or below each other where rows are few or their names long.
    pub fn picture(&self) -> Option<Picture> {
        let named = self.rows.iter().map(|row| LETTERS * label::width(&name(row, usize::MAX)));
        let named = named.fold(0.0, f64::max);
        let stacked = self.rows.len() <= FEW || named > NAMES[0] * WIDTH;
        let beside = if stacked { 1.0 } else { self.panels.len().max(1) as f64 };
        let most = NAMES[usize::from(stacked)] * WIDTH;
        let names = EDGE + named.min(most);
        let label_width = |panel: &Panel| {
            panel.dots.iter().flatten().map(|dot| SMALL * label::width(&dot.label)).fold(0.0, f64::max)
        };
        let labels: Vec<f64> = self.panels.iter().map(label_width).collect();
        let labelled = if stacked { labels.iter().copied().fold(0.0, f64::max) } else { labels.iter().sum() };
        let width = (WIDTH - names - GAP - labelled - (2.0 * GAP) * beside) / beside;
        let mut canvas = Canvas::default();
        let mut notes = vec![self.note.clone()];
        let (mut left, mut top, mut end) = (names + GAP, 0.0, 0.0_f64);
        let mut drawn = false;
        for (panel, labels) in self.panels.iter().zip(&labels) {
            // Below each other, panels have only the rows that they have a number for.
            let shown = |at: &usize| !stacked || panel.dots[*at].is_some();
            let rows: Vec<usize> = (0..self.rows.len()).filter(shown).collect();
            let area = Area::new([left, left + width], top, &rows, panel.line.is_some());
            let Some(far) = panel.draw(&mut canvas, &area, &self.rows) else { continue };
            notes.push(far);
            end = end.max(area.bottom + FOOT);
            if stacked || !drawn {
                for (at, row) in rows.iter().enumerate() {
                    canvas.name("e", (names, area.middle(at) + 5.0), &self.rows[*row], most);
                }
                drawn = true;
            }
            match stacked {
                true => top = end + 6.0,
                false => left += width + labels + 2.0 * GAP,
            }
        }
        if self.panels.iter().flat_map(|panel| &panel.dots).flatten().any(|dot| dot.mark == Mark::Doubted) {
            notes.push("Hollow: not to be trusted.".to_owned());
        }
        notes.retain(|note| !note.is_empty());
        let height = end + note(&mut canvas, &notes.join(" "), end);
        let (title, description) = (self.title.clone(), self.description.clone());
        drawn.then(|| Picture { title, description, table: self.table(), height, body: canvas })
    }

    /// The numbers.
    fn table(&self) -> Table {
        let ranged = |panel: &Panel| panel.dots.iter().flatten().any(|dot| dot.interval.is_some());
        let columns = self.panels.iter().flat_map(|panel| {
            let own = [panel.title.clone()].into_iter();
            own.chain(ranged(panel).then(|| "interval".to_owned()))
        });
        let cells = |at: usize| {
            self.panels.iter().flat_map(move |panel| {
                let dot = panel.dots[at].as_ref();
                let doubt = |dot: &Dot| if dot.mark == Mark::Doubted { ", not to be trusted" } else { "" };
                let own = dot.map_or("none".to_owned(), |dot| dot.label.clone() + doubt(dot));
                let interval = || match dot.and_then(|dot| dot.interval) {
                    Some(interval) => panel.range(interval),
                    None => String::new(),
                };
                [own].into_iter().chain(ranged(panel).then(interval))
            })
        };
        let lines = self.panels.iter().filter_map(|panel| Some((panel, panel.line.as_ref()?)));
        let lines = lines.map(|(panel, (what, value))| {
            let own = self.panels.iter().flat_map(|other| {
                let own = std::ptr::eq(other, panel);
                let value = if own { panel.number(*value) } else { String::new() };
                [value].into_iter().chain(ranged(other).then(String::new))
            });
            [what.clone()].into_iter().chain(own).collect()
        });
        let row = |(at, name): (usize, &String)| [name.clone()].into_iter().chain(cells(at)).collect();
        let columns: Vec<String> = [self.kind.clone()].into_iter().chain(columns).collect();
        Table::of_numbers(columns, self.rows.iter().enumerate().map(row).chain(lines))
    }
}

impl Panel {
    /// A number as it is written beside the axis.
    fn number(&self, value: f64) -> String {
        if self.share { number(100.0 * value) + "%" } else { number(value) }
    }

    /// An interval as it is written in the table.
    fn range(&self, interval: Interval) -> String {
        match self.share {
            true => {
                let Interval { low, high } = interval;
                let said = range(Interval { low: 100.0 * low, high: 100.0 * high });
                if said == "unknown" { said } else { said.replace(" to", "% to") + "%" }
            }
            false => range(interval),
        }
    }

    /// The axis: over all that the picture is about, and over what others say where that is not far off. Intervals that reach far beyond
    /// the dots are drawn to its end.
    fn scale(&self, places: Range<f64>) -> Option<Scale> {
        let dots = || self.dots.iter().flatten().filter(|dot| dot.value.is_finite());
        let mut sorted: Vec<f64> = dots().map(|dot| dot.value).collect();
        sorted.sort_by(f64::total_cmp);
        let median = *sorted.get(sorted.len() / 2)?;
        let line = self.line.as_ref().map(|(_, value)| *value).filter(|value| value.is_finite());
        let own: Vec<f64> =
            dots().filter(|dot| dot.mark != Mark::Other).map(|dot| dot.value).chain(line).collect();
        let far = own.iter().copied().fold(FAR * median.abs(), f64::max);
        let mut shown = own;
        let others = dots().filter(|dot| dot.mark == Mark::Other).map(|dot| dot.value);
        shown.extend(others.filter(|value| *value <= far || sorted.len() < 3));
        let log = shown.len() > 2 && span_decades(&shown);
        let largest = shown.iter().map(|value| value.abs()).fold(0.0, f64::max);
        let ends = dots().filter_map(|dot| dot.interval).flat_map(|Interval { low, high }| [low, high]);
        shown.extend(ends.filter(|end| end.abs() <= REACH * largest));
        let ticks = ((places.end - places.start) / 55.0) as usize;
        Scale::of(&shown, places, ticks.max(2), log && shown.iter().all(|value| *value > 0.0))
    }

    /// Draws the panel; says what is beyond its axis, or nothing where there is nothing to draw.
    fn draw(&self, canvas: &mut Canvas, area: &Area, rows: &[String]) -> Option<String> {
        let Area { ends: [left, right], top, bottom, .. } = *area;
        let scale = self.scale(left..right)?;
        canvas.text(
            "v b",
            (left, top - if self.line.is_some() { 30.0 } else { 10.0 }),
            &label::cut(&self.title, (right - left + 60.0) / SMALL),
        );
        let percent = if self.share { "%" } else { "" };
        for tick in &scale.ticks {
            let x = scale.at(*tick);
            canvas.line("g", (x, top), (x, bottom));
        }
        canvas.line("a", (left, bottom), (right, bottom));
        let mut taken = f64::NEG_INFINITY;
        for tick in &scale.ticks {
            let text = self.number(*tick);
            let (x, half) = (scale.at(*tick), 0.5 * SMALL * label::width(&text));
            if x - half >= taken {
                canvas.text("q m", (x, bottom + 18.0), &text);
                taken = x + half + 6.0;
            }
        }
        if let Some((what, value)) = self.line.as_ref().filter(|(_, value)| scale.holds(*value)) {
            let x = scale.at(*value);
            canvas.line("d s2", (x, top - 6.0), (x, bottom));
            let said = format!("{what} {}", if self.share { number(100.0 * value) } else { number(*value) })
                + percent;
            let half = 0.5 * SMALL * label::width(&said);
            canvas.text("q m", (x.clamp(left + half, (right - half).max(left + half)), top - 10.0), &said);
        }
        let mut far = Vec::new();
        let shown = area.rows.iter().enumerate();
        for (at, row, dot) in shown.filter_map(|(at, row)| Some((at, *row, self.dots[*row].as_ref()?))) {
            let y = area.middle(at);
            let kind = usize::from(dot.mark == Mark::Other);
            canvas.text("v", (right + GAP - 4.0, y + 5.0), &dot.label);
            if let Some(Interval { low, high }) = dot.interval.filter(|it| it.low <= it.high) {
                let (from, to) = (scale.at(low), scale.at(high));
                canvas.line(&format!("w s{kind}"), (from, y), (to, y));
                for (end, place) in [(low, from), (high, to)] {
                    match scale.holds(end) {
                        true => canvas.line(&format!("w s{kind}"), (place, y - 5.0), (place, y + 5.0)),
                        false => arrow(canvas, kind, place, y, end > 0.0 && place > left),
                    }
                }
            }
            match scale.holds(dot.value) {
                true => canvas.mark(kind, dot.mark == Mark::Doubted, (scale.at(dot.value), y)),
                false if dot.value.is_finite() => {
                    arrow(canvas, kind, scale.at(dot.value), y, scale.at(dot.value) > left);
                    far.push(name(&rows[row], 24));
                }
                false => {}
            }
        }
        let beyond =
            if far.is_empty() { String::new() } else { format!("Beyond the axis: {}.", far.join(", ")) };
        let log = if scale.is_log() { "The axis is logarithmic." } else { "" };
        Some([beyond.as_str(), log].join(" ").trim().to_owned())
    }
}

/// An arrow at the end of an axis: it goes on.
fn arrow(canvas: &mut Canvas, kind: usize, x: f64, y: f64, right: bool) {
    let back = if right { -9.0 } else { 9.0 };
    canvas.path(&format!("f{kind}"), [(x, y), (x + back, y - 6.0), (x + back, y + 6.0)], true);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(value: f64, interval: Option<[f64; 2]>, mark: Mark) -> Option<Dot> {
        let interval = interval.map(|[low, high]| Interval { low, high });
        Some(Dot { value, interval, label: number(value), mark })
    }

    fn dots(values: Vec<Option<Dot>>) -> Dots {
        let line = Some(("truth".to_owned(), 0.5));
        Dots {
            title: "how wrong".into(),
            description: "who says what".into(),
            kind: "method".into(),
            rows: (0..values.len()).map(|row| format!("row <{row}>")).collect(),
            panels: vec![Panel { title: "risk".into(), line, dots: values, ..Panel::default() }],
            ..Dots::default()
        }
    }

    #[test]
    fn every_row_and_number_is_drawn_and_in_the_table() {
        let rows = vec![
            dot(0.4, Some([0.3, f64::INFINITY]), Mark::Own),
            dot(0.25, None, Mark::Other),
            None,
            dot(0.3, None, Mark::Doubted),
        ];
        let picture = dots(rows).picture().expect("a picture");
        let svg = picture.svg();
        for text in ["how wrong", "who says what", "row &lt;1&gt;", "truth 0.5", "0.4", "0.25", "Hollow"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert!(!svg.contains("row <"));
        assert_eq!(picture.table.rows.len(), 5);
        assert_eq!(picture.table.rows[2], ["row <2>", "none", ""]);
        assert_eq!(picture.table.rows[3][1], "0.3, not to be trusted");
        assert_eq!(picture.table.rows[4], ["truth", "0.5", ""]);
        // The interval without an end is an arrow, and no tick.
        assert_eq!(svg.matches("class=\"f0\"").count(), 2, "{svg}");
    }

    #[test]
    fn one_that_is_far_off_does_not_squeeze_the_rest() {
        let far = |mark: Mark| dots([0.4, 0.5, 0.6, 90.0].map(|value| dot(value, None, mark)).to_vec());
        let own = far(Mark::Own).panels[0].scale(0.0..100.0).expect("an axis");
        assert!(own.holds(90.0), "what the picture is about is all on the axis");
        let picture = far(Mark::Other);
        let scale = picture.panels[0].scale(0.0..100.0).expect("an axis");
        assert!(scale.holds(0.6) && !scale.holds(90.0) && scale.at(0.6) - scale.at(0.4) > 15.0, "{scale:?}");
        assert!(picture.picture().expect("a picture").svg().contains("Beyond the axis: row &lt;3&gt;."));
    }

    #[test]
    fn values_over_decades_are_drawn_by_their_logarithms() {
        let rows = [0.01, 0.9, 3.0, 2.0, 1.0].map(|value| dot(value, None, Mark::Other)).to_vec();
        assert!(dots(rows).panels[0].scale(0.0..300.0).is_some_and(|scale| scale.is_log()));
    }

    #[test]
    fn without_numbers_there_is_no_picture() {
        assert!(dots(vec![None, dot(f64::NAN, None, Mark::Own)]).picture().is_none());
    }
}
