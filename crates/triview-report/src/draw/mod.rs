//! Drawings: dots with intervals, curves with bands or bars, and tables of shades, all in SVG.
//!
//! A [`Picture`] has a title, a description and its numbers as a [`Table`], follows the reader's light or dark, and tells nothing by colour alone.
//! It is drawn by hand: a chart library writes its colours into every element, where no style sheet reaches them, and knows neither titles
//! nor descriptions.

mod canvas;
mod chart;
mod dots;
mod heat;
pub(crate) mod label;
mod picture;
mod scale;

pub use chart::{Chart, Point, Reference, Series, Spread};
pub use dots::{Dot, Dots, Mark, Panel};
pub use heat::{Cell, HeatMap};
pub(crate) use picture::STYLE;
pub use picture::{Picture, Table};
