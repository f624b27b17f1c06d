//! The answers as pictures: SVG.

mod chart;
mod dependence;
mod dots;
mod heat;

pub(crate) use chart::{COLOURS, FONT, INK};
pub use chart::{Chart, Series};
pub use dependence::dependence;
pub use dots::{Dots, Panel};
pub use heat::HeatMap;
