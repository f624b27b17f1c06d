//! The confusion matrix of the prediction.

use super::{Added, Predicted, ratio};

/// Of so many classes.
pub(crate) struct Confusion(pub(crate) usize);

impl Confusion {
    /// The weight of each prediction and class.
    pub(crate) fn len(&self) -> usize {
        self.0 * self.0
    }

    /// What one row adds to which sums, if its classes have these weights.
    pub(crate) fn add(&self, row: &Predicted<'_>, weights: &[f64], out: &mut Added<'_>) {
        weights.iter().enumerate().for_each(|(class, weight)| out.push(row.class * self.0 + class, *weight));
    }

    /// Row `i`, column `j`: of the rows of class `j` the share that is predicted to be `i`; cells row by row.
    pub(crate) fn shares(&self, sums: &[f64]) -> Vec<f64> {
        let k = self.0;
        let of_class: Vec<f64> = (0..k).map(|j| sums[j..].iter().step_by(k).sum()).collect();
        sums.iter().enumerate().map(|(cell, sum)| ratio(*sum, of_class[cell % k])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_sum_to_one() {
        let confusion = Confusion(2);
        let mut sums = vec![0.0; confusion.len()];
        for (scores, class) in [([0.0, -2.0], 0), ([0.0, -1.0], 1), ([0.0, 1.0], 1), ([0.0, 3.0], 1)] {
            let mut weights = [0.0; 2];
            weights[class] = 0.25;
            let mut added = Vec::new();
            confusion.add(&Predicted::new(&scores), &weights, &mut Added { from: 0, out: &mut added });
            added.iter().for_each(|(at, value)| sums[*at] += value);
        }
        let shares = confusion.shares(&sums);
        assert!((shares[0] - 1.0).abs() < 1e-12 && shares[2].abs() < 1e-12);
        assert!((shares[1] - 1.0 / 3.0).abs() < 1e-12 && (shares[3] - 2.0 / 3.0).abs() < 1e-12);
    }
}
