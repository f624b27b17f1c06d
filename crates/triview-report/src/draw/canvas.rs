//! Lines, areas, marks and text at places of a drawing.

use super::label;
use crate::markup::Markup;

/// The size of most letters, of those of numbers and remarks, and of titles; `picture.css` has the same.
pub(crate) const LETTERS: f64 = 16.0;
pub(crate) const SMALL: f64 = 15.0;
pub(crate) const TITLE: f64 = 19.0;

/// What has been drawn.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Canvas(Markup);

impl Canvas {
    pub(crate) fn markup(&self) -> &Markup {
        &self.0
    }

    /// A line between two places.
    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(tenth);
        self.0.empty("line", &[("class", &class), ("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2)]);
    }

    /// A rectangle: left, top, width and height.
    pub(crate) fn rect(&mut self, class: &str, [x, y, width, height]: [f64; 4]) {
        let [x, y, width, height] = [x, y, width, height].map(tenth);
        let mut attributes: Vec<(&'static str, &dyn std::fmt::Display)> =
            vec![("x", &x), ("y", &y), ("width", &width), ("height", &height)];
        if !class.is_empty() {
            attributes.insert(0, ("class", &class));
        }
        self.0.empty("rect", &attributes);
    }

    /// A line through places, or the area within them.
    pub(crate) fn path(&mut self, class: &str, places: impl IntoIterator<Item = (f64, f64)>, closed: bool) {
        let places: Vec<String> =
            places.into_iter().map(|(x, y)| format!("{} {}", tenth(x), tenth(y))).collect();
        if !places.is_empty() {
            let end = if closed { "z" } else { "" };
            self.0.empty("path", &[("class", &class), ("d", &format!("M{}{end}", places.join("L")))]);
        }
    }

    /// A text at a place.
    pub(crate) fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        self.0.element("text", &[("class", &class), ("x", &tenth(x)), ("y", &tenth(y))], text);
    }

    /// A name at a place, cut where it has no room; it is then told in full to who points at it.
    pub(crate) fn name(&mut self, class: &str, (x, y): (f64, f64), name: &str, room: f64) {
        let short = label::cut(name, room / LETTERS);
        self.0.within("text", &[("class", &class), ("x", &tenth(x)), ("y", &tenth(y))], |text| {
            text.text(&short);
            if short != name {
                text.element("title", &[], name);
            }
        });
    }

    /// The same, slanted upwards from its place.
    pub(crate) fn slanted(&mut self, (x, y): (f64, f64), name: &str, room: f64) {
        let short = label::cut(name, room / SMALL);
        let turned = format!("translate({} {})rotate(-45)", tenth(x), tenth(y));
        self.0.within("text", &[("class", &"v"), ("transform", &turned)], |text| {
            text.text(&short);
            if short != name {
                text.element("title", &[], name);
            }
        });
    }

    /// Some drawing in a group of its own.
    pub(crate) fn group(&mut self, class: &str, inside: impl FnOnce(&mut Canvas)) {
        let mut group = Canvas::default();
        inside(&mut group);
        self.0.within("g", &[("class", &class)], |g| {
            g.add(&group.0);
        });
    }

    /// The mark of a kind at a place; neighbouring kinds differ in shape. A hollow one is doubted.
    pub(crate) fn mark(&mut self, kind: usize, hollow: bool, (x, y): (f64, f64)) {
        let colour = kind % 6;
        let class = if hollow { format!("o s{colour}") } else { format!("f{colour}") };
        let around =
            |corners: &[(f64, f64)]| corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect::<Vec<_>>();
        match kind % 6 {
            0 => {
                let (x, y, r) = (tenth(x), tenth(y), if hollow { 4.5 } else { 5.5 });
                self.0.empty("circle", &[("class", &class), ("cx", &x), ("cy", &y), ("r", &r)]);
            }
            1 => self.path(&class, around(&[(0.0, -6.0), (6.0, 0.0), (0.0, 6.0), (-6.0, 0.0)]), true),
            2 => self.path(&class, around(&[(0.0, -6.0), (6.0, 5.0), (-6.0, 5.0)]), true),
            3 => self.rect(&class, [x - 4.5, y - 4.5, 9.0, 9.0]),
            4 => self.path(&class, around(&[(0.0, 6.0), (6.0, -5.0), (-6.0, -5.0)]), true),
            _ => self.path(
                &class,
                around(&[(-6.0, -2.0), (0.0, -6.0), (6.0, -2.0), (4.0, 5.0), (-4.0, 5.0)]),
                true,
            ),
        }
    }
}

/// A place to a tenth of a unit: more makes files larger and nothing clearer.
fn tenth(place: f64) -> f64 {
    (place * 10.0).round() / 10.0 + 0.0
}
