//! The loss of a prediction that is made of some of the views.

use super::{Form, Loss, SharedLoss};
use faer::Mat;

/// The loss of the prediction that some views make; the others are witnesses, which only identify. Where it is a sum, all views still
/// say which class is which: a model that has become wrong must not name the classes by itself.
pub(crate) struct Judged {
    pub(crate) loss: SharedLoss,
    /// Ascending.
    pub(crate) views: Vec<usize>,
}

impl Judged {
    fn of_views<'a>(&self, all: &[&'a [f64]]) -> Vec<&'a [f64]> {
        self.views.iter().map(|&view| all[view]).collect()
    }

    fn is_sum(&self) -> bool {
        self.loss.form() == Form::Sum
    }
}

impl Loss for Judged {
    fn name(&self) -> &'static str {
        self.loss.name()
    }

    fn form(&self) -> Form {
        self.loss.form()
    }

    fn heavy_tailed(&self) -> bool {
        self.loss.heavy_tailed()
    }

    fn judged(&self) -> Option<&[usize]> {
        Some(&self.views)
    }

    fn range(&self, _views: usize) -> [f64; 2] {
        self.loss.range(self.views.len())
    }

    fn terms(&self, view: usize, rows: usize, scores: &[f64], terms: &mut [f64]) {
        match self.is_sum() || self.judges(view) {
            true => self.loss.terms(view, rows, scores, terms),
            false => terms.fill(self.absent()),
        }
    }

    fn absent(&self) -> f64 {
        self.loss.absent()
    }

    fn share(&self) -> f64 {
        self.loss.share()
    }

    fn offset(&self, rows: usize, scores: &[&[f64]], offset: &mut [f64]) {
        self.loss.offset(rows, &self.of_views(scores), offset);
    }

    fn offset_alone(&self, rows: usize, scores: &[f64], offset: &mut [f64]) {
        self.loss.offset_alone(rows, scores, offset);
    }

    fn term_gradient(&self, view: usize, scores: &[f64], term: usize, gradient: &mut [f64]) {
        match self.judges(view) {
            true => self.loss.term_gradient(view, scores, term, gradient),
            false => gradient.fill(0.0),
        }
    }

    fn offset_gradient(&self, scores: &[&[f64]], gradient: &mut [Vec<f64>]) {
        let mut own = vec![vec![0.0; scores[0].len()]; self.views.len()];
        self.loss.offset_gradient(&self.of_views(scores), &mut own);
        gradient.iter_mut().for_each(|gradient| gradient.fill(0.0));
        self.views.iter().zip(own).for_each(|(&view, own)| gradient[view] = own);
    }

    fn losses(&self, rows: usize, offset: &[f64], terms: &[&[f64]], class: usize, losses: &mut [f64]) {
        match self.is_sum() {
            true => self.loss.losses(rows, offset, &self.of_views(terms), class, losses),
            false => self.loss.losses(rows, offset, terms, class, losses),
        }
    }

    fn risk(&self, mean_offset: f64, prior: &[f64], conditional: &[Mat<f64>], names: &[usize]) -> f64 {
        match self.is_sum() {
            true => {
                let own: Vec<Mat<f64>> = self.views.iter().map(|&view| conditional[view].clone()).collect();
                self.loss.risk(mean_offset, prior, &own, names)
            }
            false => self.loss.risk(mean_offset, prior, conditional, names),
        }
    }
}
