//! Some composites as pictures: three to train on, three distorted ones, and these with pixels clipped to 1.

use super::{composites, seed_of};
use anyhow::Result;
use std::fmt::Write;
use triview::data::VIEWS;
use triview::lab::{Composites, Images};

/// Images in a row, edge of a pixel and space between images, in units of the drawing.
const COUNT: usize = 3;
const PIXEL: usize = 4;
const SPACE: usize = 16;

/// What is beside the images follows the reader's light or dark.
const STYLE: &str = "<style>.paper{fill:#fff}.ink{fill:#1b2330}@media (prefers-color-scheme:dark){.paper{fill:#0d1117}.ink{fill:#e8edf2}}</style>";

/// Rows of images, each under its title.
pub(super) fn svg([seen, unseen]: &[Images; 2], seed: u64) -> Result<String> {
    let rows = [
        ("a = 0, train", seen, 0.0, false),
        ("a = 5", unseen, 5.0, false),
        ("a = 5, clipped", unseen, 5.0, true),
    ];
    let side = seen.side();
    let (width, height) = (COUNT * (side * PIXEL + SPACE) + SPACE, rows.len() * (side * PIXEL + 3 * SPACE));
    let mut svg = format!(
        "<svg role=\"img\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n<title>Composite digits</title>\n<desc>Three composites of handwritten digits to train on, \
         three distorted ones, and these with pixels clipped to 1.</desc>\n{STYLE}\n\
         <rect width=\"{width}\" height=\"{height}\" class=\"paper\"/>\n"
    );
    for (at, (title, images, a, clipped)) in rows.into_iter().enumerate() {
        let top = at * (side * PIXEL + 3 * SPACE) + 2 * SPACE;
        let _ = writeln!(
            svg,
            "<text x=\"{SPACE}\" y=\"{}\" font-family=\"sans-serif\" font-size=\"14\" class=\"ink\">{title}</text>",
            top - SPACE / 2
        );
        let drawn = composites(images, COUNT, a, clipped, seed_of(seed, 0, 6))?;
        for image in 0..COUNT {
            draw(&mut svg, &drawn, image, side, SPACE + image * (side * PIXEL + SPACE), top);
        }
    }
    Ok(svg + "</svg>\n")
}

/// Draws one composite, the brightest pixel white.
fn draw(svg: &mut String, composites: &Composites, row: usize, side: usize, left: usize, top: usize) {
    let pixel = |p: usize| composites.batch().features(p % VIEWS, row)[p / VIEWS];
    let brightest = (0..side * side).map(pixel).fold(f32::MIN_POSITIVE, f32::max);
    let edge = side * PIXEL;
    let _ =
        writeln!(svg, "<rect x=\"{left}\" y=\"{top}\" width=\"{edge}\" height=\"{edge}\" fill=\"#000000\"/>");
    for p in 0..side * side {
        let shade = (255.0 * pixel(p) / brightest).round() as u8;
        if shade > 0 {
            let (x, y) = (left + p % side * PIXEL, top + p / side * PIXEL);
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{PIXEL}\" height=\"{PIXEL}\" fill=\"#{shade:02x}{shade:02x}{shade:02x}\"/>"
            );
        }
    }
}
