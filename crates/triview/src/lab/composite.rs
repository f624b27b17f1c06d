//! Composite images: data whose three views are independent given the class by construction.
//!
//! A composite (section 5 of the paper) takes every third pixel from each of three images of one class.
//! Pixel `p` is then multiplied by `exp(-a (d_p - 0.4))`, where `d_p` is its distance from the centre over
//! the largest such distance: `a = 0` leaves the images alone, a larger `a` dims the border and makes the
//! middle glare.

use crate::data::VIEWS;
use crate::error::{Error, Result};
use crate::learning::{FeatureBatch, FeatureSchema};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Distance from the centre, over the largest, at which the distortion changes nothing.
const UNCHANGED: f64 = 0.4;

/// The strongest distortion, either way: `exp(0.6 * 100)` is still far from the end of `f32`.
const STRONGEST: f64 = 100.0;

/// Labelled square images.
#[derive(Debug, Clone, PartialEq)]
pub struct Images {
    side: usize,
    pixels: Vec<f32>,
    labels: Vec<u8>,
    classes: usize,
}

impl Images {
    /// Images of `side` x `side` pixels, one after the other and row by row, and the class of each.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when images are smaller than 2 x 2, a pixel is outside 0 to 1, pixels and
    /// labels differ in number, a label is not below `classes`, or a class has no image.
    pub fn new(side: usize, pixels: Vec<f32>, labels: Vec<u8>, classes: usize) -> Result<Self> {
        let refuse = |name, value: String, expected| Err(Error::InvalidParameter { name, value, expected });
        if side < 2 {
            return refuse("side of the images", side.to_string(), "at least 2 pixels");
        }
        if pixels.len() != labels.len() * side * side {
            let value = format!("{} for {} labels", pixels.len(), labels.len());
            return refuse("number of pixels", value, "one label for each image of side x side pixels");
        }
        if let Some(pixel) = pixels.iter().find(|pixel| !(0.0..=1.0).contains(*pixel)) {
            return refuse("pixel", pixel.to_string(), "from 0 to 1");
        }
        if let Some(label) = labels.iter().find(|label| usize::from(**label) >= classes) {
            return refuse("label", label.to_string(), "below the number of classes");
        }
        let images = Self { side, pixels, labels, classes };
        match images.by_class().iter().position(Vec::is_empty) {
            Some(class) => refuse("class", class.to_string(), "every class must have an image"),
            None => Ok(images),
        }
    }

    /// The first `count` images, and the others: one part to train on, one to test on.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when there are fewer than `count`, or a part lacks a class.
    pub fn split(&self, count: usize) -> Result<(Self, Self)> {
        if count > self.len() {
            let value = count.to_string();
            let expected = "at most the number of images";
            return Err(Error::InvalidParameter { name: "images in the first part", value, expected });
        }
        let (first, second) = self.labels.split_at(count);
        let (first_pixels, second_pixels) = self.pixels.split_at(count * self.side * self.side);
        let part = |pixels: &[f32], labels: &[u8]| {
            Self::new(self.side, pixels.to_vec(), labels.to_vec(), self.classes)
        };
        Ok((part(first_pixels, first)?, part(second_pixels, second)?))
    }

    /// The number of images.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is no image.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Pixels along an edge.
    pub fn side(&self) -> usize {
        self.side
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The pixels of one image, row by row.
    pub fn image(&self, index: usize) -> &[f32] {
        let area = self.side * self.side;
        &self.pixels[index * area..(index + 1) * area]
    }

    /// Which images belong to each class.
    fn by_class(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.classes];
        for (index, &label) in self.labels.iter().enumerate() {
            members[usize::from(label)].push(index);
        }
        members
    }

    /// What the distortion multiplies each pixel by.
    fn factors(&self, distortion: f64) -> Vec<f32> {
        let centre = (self.side - 1) as f64 / 2.0;
        let largest = centre.hypot(centre);
        (0..self.side * self.side)
            .map(|p| {
                let (row, column) = ((p / self.side) as f64, (p % self.side) as f64);
                let distance = (row - centre).hypot(column - centre) / largest;
                (-distortion * (distance - UNCHANGED)).exp() as f32
            })
            .collect()
    }
}

/// What composites to draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    rows: usize,
    distortion: f64,
    clipped: bool,
    shared: f64,
}

impl Recipe {
    /// So many composites, undistorted, of three images each.
    pub fn new(rows: usize) -> Self {
        Self { rows, distortion: 0.0, clipped: false, shared: 0.0 }
    }

    /// Multiplies pixels by `exp(-a (d - 0.4))`, `d` their distance from the centre.
    #[must_use]
    pub fn distortion(self, distortion: f64) -> Self {
        Self { distortion, ..self }
    }

    /// Clips the result to `[0, 1]`.
    #[must_use]
    pub fn clipped(self, clipped: bool) -> Self {
        Self { clipped, ..self }
    }

    /// The share of composites whose first two views are cut from the same image: those depend on each other.
    #[must_use]
    pub fn shared(self, shared: f64) -> Self {
        Self { shared, ..self }
    }
}

/// Rows of three views that are independent given the class, with the class.
///
/// View `v` is the pixels whose index leaves `v` when divided by three.
#[derive(Debug, Clone, PartialEq)]
pub struct Composites {
    labels: Vec<u8>,
    classes: usize,
    batch: FeatureBatch,
}

impl Composites {
    /// Draws `rows` composites: a class, uniformly, then three images of it, with replacement. The same seed
    /// draws the same images at every distortion `a`.
    ///
    /// The paper does not say whether distorted pixels are clipped to 1. Unclipped, as `clipped = false`
    /// leaves them, a model grows more certain as it grows worse, which is what the paper's figure shows.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when there are no rows, the distortion is not a number from -100 to 100, or the
    /// share is not one from 0 to 1.
    pub fn draw(images: &Images, recipe: &Recipe, seed: u64) -> Result<Self> {
        let refuse = |name, value: String, expected| Err(Error::InvalidParameter { name, value, expected });
        let Recipe { rows, distortion, clipped, shared } = *recipe;
        if rows == 0 {
            return refuse("number of composites", rows.to_string(), "at least 1");
        }
        if !(-STRONGEST..=STRONGEST).contains(&distortion) {
            return refuse("distortion", distortion.to_string(), "from -100 to 100");
        }
        if !(0.0..=1.0).contains(&shared) {
            return refuse("shared", shared.to_string(), "from 0 to 1");
        }
        let factors = images.factors(distortion);
        let brightest = if clipped { 1.0 } else { f32::INFINITY };
        let members = images.by_class();
        let widths: Vec<usize> = (0..VIEWS).map(|v| (factors.len() - v).div_ceil(VIEWS)).collect();
        let mut features: Vec<Vec<f32>> =
            widths.iter().map(|width| Vec::with_capacity(rows * width)).collect();
        let mut labels = Vec::with_capacity(rows);
        let mut rng = Pcg64::seed_from_u64(seed);
        for _ in 0..rows {
            let class = rng.random_range(0..images.classes);
            labels.push(class as u8);
            let shares = shared > 0.0 && rng.random::<f64>() < shared;
            let mut member = 0;
            for (view, features) in features.iter_mut().enumerate() {
                if !(shares && view == 1) {
                    member = members[class][rng.random_range(0..members[class].len())];
                }
                let image = images.image(member);
                let pixels = image.iter().zip(&factors).skip(view).step_by(VIEWS);
                features.extend(pixels.map(|(pixel, factor)| (pixel * factor).min(brightest)));
            }
        }
        let known = labels.iter().map(|&label| Some(usize::from(label))).collect();
        let batch = FeatureBatch::new(rows, widths, features)?.with_labels(known);
        Ok(Self { labels, classes: images.classes, batch: batch? })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The class of each row.
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }

    /// The rows with their labels, as a model takes them.
    pub fn batch(&self) -> &FeatureBatch {
        &self.batch
    }

    /// What the features are: views `a`, `b` and `c`, each with the indices of its pixels.
    pub fn schema(&self) -> FeatureSchema {
        let pixels = |view: usize| {
            (0..self.batch.widths()[view]).map(move |at| (view + VIEWS * at).to_string()).collect()
        };
        FeatureSchema::of_valid(["a", "b", "c"].iter().enumerate().map(|(v, name)| (*name, pixels(v))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four 4 x 4 images whose every pixel tells the image: 0 and 1 of class 0, 2 and 3 of class 1.
    fn four() -> Images {
        let pixels = [0.2f32, 0.4, 0.6, 0.8].iter().flat_map(|&shade| [shade; 16]).collect();
        Images::new(4, pixels, vec![0, 0, 1, 1], 2).expect("valid images")
    }

    fn refused<T: std::fmt::Debug>(result: Result<T>, parameter: &str) {
        match result {
            Err(Error::InvalidParameter { name, .. }) => assert_eq!(name, parameter),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn impossible_images_are_refused() {
        refused(Images::new(1, vec![0.0], vec![0], 1), "side of the images");
        refused(Images::new(2, vec![0.0; 5], vec![0], 1), "number of pixels");
        refused(Images::new(2, vec![f32::NAN; 4], vec![0], 1), "pixel");
        refused(Images::new(2, vec![0.0; 4], vec![1], 1), "label");
        refused(Images::new(2, vec![0.0; 4], vec![0], 2), "class");
        refused(four().split(5), "images in the first part");
        refused(four().split(2), "class");
        refused(Composites::draw(&four(), &Recipe::new(0), 1), "number of composites");
        refused(Composites::draw(&four(), &Recipe::new(1).distortion(f64::NAN), 1), "distortion");
        refused(Composites::draw(&four(), &Recipe::new(1).distortion(101.0), 1), "distortion");
        refused(Composites::draw(&four(), &Recipe::new(1).shared(1.5), 1), "shared");
    }

    #[test]
    fn each_view_is_a_third_of_one_image_of_the_class() {
        let rows = 4_000;
        let composites = Composites::draw(&four(), &Recipe::new(rows), 1).expect("composites");
        assert_eq!(composites.batch().widths(), [6, 5, 5]);
        let mut counts = [[0usize; 4]; VIEWS];
        for row in 0..rows {
            for view in 0..VIEWS {
                let features = composites.batch().features(view, row);
                assert!(features.iter().all(|pixel| *pixel == features[0]));
                let image = (features[0] * 5.0).round() as usize - 1;
                assert_eq!(image / 2, usize::from(composites.labels()[row]));
                counts[view][image] += 1;
            }
        }
        // Every image a quarter of the time, within four binomial standard errors.
        let tolerance = 4.0 * (rows as f64 * 0.25 * 0.75).sqrt();
        for count in counts.iter().flatten() {
            assert!((*count as f64 - rows as f64 / 4.0).abs() < tolerance, "{counts:?}");
        }
    }

    #[test]
    fn distortion_brightens_the_middle_and_dims_the_border() {
        let plain = Composites::draw(&four(), &Recipe::new(50), 7).expect("composites");
        let shifted = Composites::draw(&four(), &Recipe::new(50).distortion(5.0), 7).expect("composites");
        let clipped =
            Composites::draw(&four(), &Recipe::new(50).distortion(5.0).clipped(true), 7).expect("composites");
        assert_eq!(plain.labels(), shifted.labels());
        // Pixel 0 is a corner, at distance 1; pixel 9 one of the middle four, at a third of it.
        for row in 0..50 {
            let ratio = |pixel: usize| {
                let (view, at) = (pixel % VIEWS, pixel / VIEWS);
                f64::from(shifted.batch().features(view, row)[at] / plain.batch().features(view, row)[at])
            };
            assert!((ratio(0) - (-3.0f64).exp()).abs() < 1e-6);
            assert!((ratio(9) - (1.0f64 / 3.0).exp()).abs() < 1e-6);
        }
        for view in 0..VIEWS {
            for (free, bound) in shifted.batch().view(view).iter().zip(&*clipped.batch().view(view)) {
                assert_eq!(free.min(1.0), *bound);
            }
        }
        assert_ne!(shifted, clipped);
    }
}
