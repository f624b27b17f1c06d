//! The handwritten digits that the demo carries with it.

use anyhow::Result;
use triview::lab::Images;

/// One record an image: 64 pixels from 0 to 16, row by row, then the digit.
const RECORDS: &[u8] = include_bytes!("../../../data/digits/digits.bin");
const SIDE: usize = 8;
const BRIGHTEST: f32 = 16.0;
const CLASSES: usize = 10;

/// All images.
pub(crate) fn images() -> Result<Images> {
    let records = RECORDS.chunks_exact(SIDE * SIDE + 1);
    let pixels = records.clone().flat_map(|record| &record[..SIDE * SIDE]).map(|&p| f32::from(p) / BRIGHTEST);
    let labels = records.clone().map(|record| record[SIDE * SIDE]);
    Ok(Images::new(SIDE, pixels.collect(), labels.collect(), CLASSES)?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_digits_are_there() {
        let images = super::images().expect("embedded images");
        assert_eq!((images.len(), images.side(), images.classes()), (1797, 8, 10));
    }
}
