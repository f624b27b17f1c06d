//! What errors are propagated for: anything that is made of numbers.

use faer::Mat;

/// Numbers that can be added and scaled.
pub(crate) trait Numbers: Clone + Send + Sync {
    /// The sum of some, at least one, each times a number.
    fn combine(parts: &[(&Self, f64)]) -> Self;
}

impl Numbers for f64 {
    fn combine(parts: &[(&Self, f64)]) -> Self {
        parts.iter().map(|(x, times)| times * *x).sum()
    }
}

impl Numbers for Vec<f64> {
    fn combine(parts: &[(&Self, f64)]) -> Self {
        let mut sum = vec![0.0; parts[0].0.len()];
        for (numbers, times) in parts {
            sum.iter_mut().zip(*numbers).for_each(|(sum, x)| *sum += times * x);
        }
        sum
    }
}

impl Numbers for Mat<f64> {
    fn combine(parts: &[(&Self, f64)]) -> Self {
        let mut sum = Mat::zeros(parts[0].0.nrows(), parts[0].0.ncols());
        for (matrix, times) in parts {
            sum += *matrix * faer::Scale(*times);
        }
        sum
    }
}

impl Numbers for Vec<Mat<f64>> {
    fn combine(parts: &[(&Self, f64)]) -> Self {
        let at = |place: usize| parts.iter().map(|(all, times)| (&all[place], *times)).collect::<Vec<_>>();
        (0..parts[0].0.len()).map(|place| Mat::combine(&at(place))).collect()
    }
}

impl<T: Numbers, const N: usize> Numbers for [T; N] {
    fn combine(parts: &[(&Self, f64)]) -> Self {
        let at = |place: usize| parts.iter().map(|(all, times)| (&all[place], *times)).collect::<Vec<_>>();
        std::array::from_fn(|place| T::combine(&at(place)))
    }
}
