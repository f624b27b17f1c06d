//! Clusters of points (k-means, begun at points drawn by their squared distance from those before).

use crate::interrupt;
use rand::RngExt;
use rand_pcg::Pcg64;

/// Rounds of finding the nearest centre of each point and the mean of each centre's points.
const ROUNDS: usize = 20;

/// Points of equal length, one after the other.
pub(crate) struct Points {
    pub(crate) width: usize,
    pub(crate) cells: Vec<f64>,
}

impl Points {
    pub(crate) fn point(&self, at: usize) -> &[f64] {
        &self.cells[at * self.width..(at + 1) * self.width]
    }

    /// The summed squared distance of some points from their mean.
    pub(crate) fn scatter(&self, points: &[usize]) -> f64 {
        let mean = self.mean(points);
        points.iter().map(|&at| squared(&mean, self.point(at))).sum()
    }

    fn mean(&self, points: &[usize]) -> Vec<f64> {
        let mut mean = vec![0.0; self.width];
        for &at in points {
            mean.iter_mut().zip(self.point(at)).for_each(|(mean, x)| *mean += x / points.len() as f64);
        }
        mean
    }

    /// The centres of so many clusters of some points: the tightest of several attempts, as a single one often takes two
    /// clusters for one.
    pub(crate) fn centres(
        &self,
        points: &[usize],
        count: usize,
        attempts: usize,
        rng: &mut Pcg64,
    ) -> Vec<Vec<f64>> {
        let attempt = |_| {
            let centres = self.attempt(points, count, rng);
            let off: f64 = points.iter().map(|&at| nearest(&centres, self.point(at)).1).sum();
            (off, centres)
        };
        let attempts = (0..if count > 1 { attempts } else { 1 }).map(attempt);
        attempts.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, centres)| centres).unwrap_or_default()
    }

    fn attempt(&self, points: &[usize], count: usize, rng: &mut Pcg64) -> Vec<Vec<f64>> {
        let mut centres = vec![match points.is_empty() {
            true => vec![0.0; self.width],
            false => self.point(points[rng.random_range(0..points.len())]).to_vec(),
        }];
        while centres.len() < count {
            let far: Vec<f64> = points.iter().map(|&at| nearest(&centres, self.point(at)).1).collect();
            let mut left = rng.random::<f64>() * far.iter().sum::<f64>();
            let next = far.iter().position(|far| {
                left -= far;
                left < 0.0
            });
            centres.push(next.map_or_else(|| vec![0.0; self.width], |at| self.point(points[at]).to_vec()));
        }
        for _ in 0..ROUNDS {
            interrupt::check();
            let mut members = vec![Vec::new(); count];
            points.iter().for_each(|&at| members[nearest(&centres, self.point(at)).0].push(at));
            for (centre, members) in
                centres.iter_mut().zip(members).filter(|(_, members)| !members.is_empty())
            {
                *centre = self.mean(&members);
            }
        }
        centres
    }
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The nearest centre, and its squared distance.
pub(crate) fn nearest(centres: &[Vec<f64>], point: &[f64]) -> (usize, f64) {
    let distances = centres.iter().map(|centre| squared(centre, point)).enumerate();
    distances.fold((0, f64::INFINITY), |best, next| if next.1 < best.1 { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn clusters_that_lie_apart_are_found() {
        let mut rng = Pcg64::seed_from_u64(1);
        let truth = [[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]];
        let cells = (0..300).flat_map(|at| truth[at % 3].map(|x| x + rng.random_range(-1.0..1.0))).collect();
        let points = Points { width: 2, cells };
        let all: Vec<usize> = (0..300).collect();
        let centres = points.centres(&all, 3, 10, &mut rng);
        for centre in truth {
            // The mean of a hundred numbers with a standard deviation of 0.58 is within 0.3 of their own.
            assert!(nearest(&centres, &centre).1 < 2.0 * 0.3 * 0.3, "{centres:?}");
        }
        let within: f64 = (0..3)
            .map(|part| points.scatter(&all[part..].iter().step_by(3).copied().collect::<Vec<_>>()))
            .sum();
        assert!(within < 0.05 * points.scatter(&all));
    }

    #[test]
    fn no_points_have_a_centre() {
        let points = Points { width: 2, cells: Vec::new() };
        assert_eq!(points.centres(&[], 2, 10, &mut Pcg64::seed_from_u64(1)), vec![vec![0.0; 2]; 2]);
    }
}
