//! The modified hinge loss (example 2 of the paper).

use super::Loss;

/// `L(x, y) = sum_v (1 + max_(i != y) s_v(i) - s_v(y))_+`: the sum of the views' own multiclass hinge losses.
#[derive(Debug, Clone, Copy)]
pub struct HingeLoss;

impl Loss for HingeLoss {
    fn name(&self) -> &'static str {
        "hinge"
    }

    /// `f_v = -hinge`.
    fn terms(&self, _view: usize, rows: usize, scores: &[f64], terms: &mut [f64]) {
        // The largest score of each row and the next, so that the largest of all but one class is known for each.
        let (mut first, mut second) = (vec![f64::NEG_INFINITY; rows], vec![f64::NEG_INFINITY; rows]);
        for column in scores.chunks_exact(rows) {
            for ((first, second), score) in first.iter_mut().zip(&mut second).zip(column) {
                *second = second.max(first.min(*score));
                *first = first.max(*score);
            }
        }
        for (column, terms) in scores.chunks_exact(rows).zip(terms.chunks_exact_mut(rows)) {
            for (row, term) in terms.iter_mut().enumerate() {
                let rival = if column[row] < first[row] { first[row] } else { second[row] };
                *term = -(1.0 + rival - column[row]).max(0.0);
            }
        }
    }

    fn offset(&self, _rows: usize, _scores: &[&[f64]], offset: &mut [f64]) {
        offset.fill(0.0);
    }

    fn term_gradient(&self, _view: usize, scores: &[f64], term: usize, gradient: &mut [f64]) {
        gradient.fill(0.0);
        let others = (0..scores.len()).filter(|&i| i != term);
        let Some(rival) = others.max_by(|&a, &b| scores[a].total_cmp(&scores[b])) else { return };
        if 1.0 + scores[rival] - scores[term] > 0.0 {
            gradient[term] = 1.0;
            gradient[rival] = -1.0;
        }
    }

    fn offset_gradient(&self, _scores: &[&[f64]], gradient: &mut [Vec<f64>]) {
        gradient.iter_mut().for_each(|gradient| gradient.fill(0.0));
    }
}
