//! Steps along noisy slopes.

use crate::settings::adam::{KEPT, RATE, RISE};

/// Adam by slopes that are each scaled by their own running size (Adam: Kingma and Ba 2015), with a rate that rises and then falls to
/// zero as half a cosine.
pub(crate) struct Adam {
    slopes: Vec<f64>,
    squares: Vec<f64>,
    step: usize,
    steps: usize,
    /// Halved whenever it was too fast.
    rate: f64,
}

impl Adam {
    /// So many coordinates, so many steps.
    pub(crate) fn new(coordinates: usize, steps: usize) -> Self {
        Self { slopes: vec![0.0; coordinates], squares: vec![0.0; coordinates], step: 0, steps, rate: RATE }
    }

    /// Goes on at half the rate from another point.
    pub(crate) fn slow_down(&mut self) {
        self.slopes.fill(0.0);
        self.rate *= 0.5;
    }

    /// Moves a point against a slope.
    pub(crate) fn step(&mut self, point: &mut [f64], gradient: &[f64]) {
        let done = self.step as f64 / self.steps as f64;
        let rate = self.rate * (done / RISE).min(1.0) * 0.5 * (1.0 + (std::f64::consts::PI * done).cos());
        self.step += 1;
        let [of_slopes, of_squares] = KEPT.map(|kept| 1.0 - kept.powi(self.step as i32));
        for (at, slope) in gradient.iter().enumerate() {
            self.slopes[at] = KEPT[0] * self.slopes[at] + (1.0 - KEPT[0]) * slope;
            self.squares[at] = KEPT[1] * self.squares[at] + (1.0 - KEPT[1]) * slope * slope;
            let size = (self.squares[at] / of_squares).sqrt() + 1e-12;
            point[at] -= rate * self.slopes[at] / of_slopes / size;
        }
    }
}
